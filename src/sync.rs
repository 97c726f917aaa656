//! Where threads meet. `tests/model` has the model checker's primitives in the place of these.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::RwLock;
