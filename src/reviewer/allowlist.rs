//! Which servers a reviewer is bound to (contract 5.4), and when a name in a request is one of them.

use super::catalog::Catalog;
use crate::config::Places;

/// Whether two server names are the same one to a reviewer: ASCII case and `-`/`_` alike, whole names.
pub(super) fn folds_to(name: &str, server: &str) -> bool {
    alike(name, server, fold)
}

/// What names that are the same one have in common.
pub(super) fn folded(name: &str) -> Vec<u8> {
    name.bytes().map(fold).collect()
}

/// As [`folds_to`], but case counts.
pub(super) fn dashes_alike(name: &str, server: &str) -> bool {
    alike(name, server, fold_dash)
}

fn alike(name: &str, server: &str, fold: fn(u8) -> u8) -> bool {
    name.len() == server.len() && name.bytes().map(fold).eq(server.bytes().map(fold))
}

fn fold(byte: u8) -> u8 {
    fold_dash(byte.to_ascii_lowercase())
}

fn fold_dash(byte: u8) -> u8 {
    if byte == b'-' {
        b'_'
    } else {
        byte
    }
}

/// An entry that stands for no server a reviewer may be bound to.
pub(super) struct Unresolved {
    /// Its place in the list.
    pub(super) place: usize,
    pub(super) why: &'static str,
}

/// The ids of the servers that a launch's allowlist names, each once. The result channel's own name is accepted and
/// binds nothing, since the channel is open anyway.
pub(super) fn resolve(entries: &[impl AsRef<str>], catalog: &Catalog) -> Result<Vec<String>, Unresolved> {
    let mut bound = Vec::new();
    let mut seen = Places::new();
    for (place, entry) in entries.iter().enumerate() {
        let entry = entry.as_ref().trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
        if entry.eq_ignore_ascii_case(&catalog.result_channel.server) {
            continue;
        }
        let id = bindable(entry, catalog).map_err(|why| Unresolved { place, why })?;
        if seen.insert(id.as_bytes().to_vec(), place).is_none() {
            bound.push(id.to_owned());
        }
    }
    Ok(bound)
}

/// The catalog's spelling of a server that a reviewer may be bound to, or why it may not.
fn bindable<'c>(entry: &str, catalog: &'c Catalog) -> Result<&'c str, &'static str> {
    match catalog.server(entry) {
        None => Err("is no server of the catalog"),
        Some(server) if server.starts_flows => Err("starts flows, so no reviewer may be bound to it"),
        Some(server) if !server.auto_approvable => Err("is not auto-approvable, so no reviewer may be bound to it"),
        Some(server) => Ok(&server.id),
    }
}
