//! What the fuzzers check. Each function takes one input as a fuzzer makes it, decides it, panics when something is
//! wrong, and gives the reason that it came to, so that the committed corpora can be asked what they reach.

mod abi;
mod answer;
mod catalog;
mod config;
mod frame;
mod hook;
// The oracle: it shares nothing with the engine.
#[path = "../../spec/mod.rs"]
mod spec;

pub use abi::abi;
pub use catalog::catalog;
pub use config::config;
pub use frame::frame;
pub use hook::hook;

/// The targets by their names.
pub const TARGETS: [(&str, fn(&[u8]) -> Option<String>); 5] =
    [("frame", frame), ("config", config), ("hook", hook), ("catalog", catalog), ("abi", abi)];
