//! The engine's own sources with two modules exchanged: the model checker's primitives in the place of `sync`, and stages
//! that tell the model where a decision is in the place of `fault`.
#![allow(dead_code, unused_imports, unexpected_cfgs)]

#[path = "../../src/claim.rs"]
mod claim;
#[path = "../../src/config.rs"]
mod config;
#[path = "../../src/decision.rs"]
mod decision;
#[path = "../../src/injected/mod.rs"]
mod injected;
#[path = "../../src/json/mod.rs"]
mod json;
#[path = "../../src/limits.rs"]
pub mod limits;
#[path = "../../src/policy.rs"]
mod policy;
#[path = "../../src/qualified_name.rs"]
mod qualified_name;
#[path = "../../src/reason.rs"]
mod reason;
#[path = "../../src/reviewer/mod.rs"]
mod reviewer;
#[path = "../../src/trace.rs"]
mod trace;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use loom::sync::RwLock;
}

pub mod fault {
    use std::cell::RefCell;

    type Watch = Box<dyn Fn(&'static str)>;

    loom::thread_local! {
        static WATCH: RefCell<Option<Watch>> = RefCell::new(None);
    }

    /// Calls `watch` at each stage that this thread's decisions come to.
    pub fn watch(watch: impl Fn(&'static str) + 'static) {
        WATCH.with(|slot| *slot.borrow_mut() = Some(Box::new(watch)));
    }

    pub(crate) fn point(stage: &'static str) {
        WATCH.with(|slot| {
            if let Some(watch) = &*slot.borrow() {
                watch(stage);
            }
        });
    }
}

pub use config::ConfigError;
pub use decision::{Decision, Kind, OptionKind};
pub use reason::Reason;
pub use reviewer::{Entropy, Minted, NoEntropy, Registry, Token};
