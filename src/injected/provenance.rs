//! `provenance_missing`, `server_not_injected`, `server_name_conflict`: whether the host injected the server, by its own
//! marker and its own server list (contract 4.3, step 9). Decided once per config.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::config::{Config, Entry};
use crate::Reason;

/// The transport of the injected server's entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Provenance {
    Http,
    Sse,
}

impl Provenance {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Provenance::Http => "http",
            Provenance::Sse => "sse",
        }
    }
}

pub(super) fn establish(config: &Config<'_>) -> Result<Provenance, Reason> {
    let port = u16::try_from(config.port.unwrap_or(0)).unwrap_or(0);
    if !config.injected_kandev_mcp || port == 0 {
        return Err(Reason::ProvenanceMissing);
    }
    let base = format!("http://{}:{port}", url_host(&config.mcp_host));
    let mut exact = config.kandev_entries.iter().map(|entry| exact(entry, &base));
    let injected = exact.clone().flatten().next().ok_or(Reason::ServerNotInjected)?;
    if exact.any(|entry| entry.is_none()) {
        return Err(Reason::ServerNameConflict);
    }
    Ok(injected)
}

/// The host as it stands in the injected URL.
fn url_host(mcp_host: &str) -> Cow<'_, str> {
    if mcp_host.is_empty() {
        "localhost".into()
    } else if mcp_host.parse::<Ipv6Addr>().is_ok() {
        format!("[{mcp_host}]").into()
    } else {
        mcp_host.into()
    }
}

/// The entry's transport, if the entry is one that the host's injector writes.
fn exact(entry: &Entry<'_>, base: &str) -> Option<Provenance> {
    if entry.has_other_members {
        return None;
    }
    let path = entry.url.as_deref()?.strip_prefix(base)?;
    match (entry.transport.as_deref()?, path) {
        ("http", "/mcp") => Some(Provenance::Http),
        ("sse", "/sse") => Some(Provenance::Sse),
        _ => None,
    }
}
