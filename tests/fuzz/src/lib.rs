//! What the fuzzers check. Each function takes one input as a fuzzer makes it, decides it, panics when something is
//! wrong, and gives the reason that it came to, so that the committed corpora can be asked what they reach.

use std::sync::atomic::{AtomicU8, Ordering};

use kandev_policy::Reason;

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

/// One for each reason under each config. libFuzzer takes them for coverage, so that an input that comes to another reason
/// is worth keeping, by whichever branches it came there.
#[cfg_attr(target_os = "linux", link_section = "__libfuzzer_extra_counters")]
static REACHED: [[AtomicU8; 32]; 16] = [const { [const { AtomicU8::new(0) }; 32] }; 16];

fn note(choice: u8, reason: &str) {
    if let Some(number) = Reason::all().position(|r| r.word() == reason) {
        REACHED[usize::from(choice % 16)][number].store(1, Ordering::Relaxed);
    }
}
