//! Decides permission requests of AI coding agents for the host that runs them.
#![deny(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "abi")]
#[allow(unsafe_code)]
pub mod abi;
mod claim;
mod config;
mod decision;
mod fault;
mod injected;
mod json;
pub mod limits;
mod policy;
mod qualified_name;
mod reason;
mod reviewer;
mod sync;
mod trace;

pub use config::ConfigError;
pub use decision::{Decision, Kind, OptionKind};
pub use injected::{Offer, Request, ToolMeta};
pub use policy::{decide_json, explain_json, Policy};
pub use reason::Reason;
pub use reviewer::{
    unclassified_tools, Answer, Entropy, GuardError, MintError, Minted, NoEntropy, Registry, RegistryError, Token,
};
