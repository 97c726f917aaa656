//! What the fuzzers check. Each function takes one input as a fuzzer makes it, decides it, panics when something is
//! wrong, and gives the reason that it came to, so that the committed corpora can be asked what they reach.

mod answer;
mod frame;
// The oracle: it shares nothing with the engine.
#[path = "../../spec/mod.rs"]
mod spec;

pub use frame::frame;
