//! Which servers a reviewer is bound to (contract 5.4), and when a name in a request is one of them.

use super::catalog::Catalog;

/// Whether two server names are the same one to a reviewer: ASCII case and `-`/`_` alike, whole names.
pub(super) fn folds_to(name: &str, server: &str) -> bool {
    alike(name, server, |b| fold_dash(b.to_ascii_lowercase()))
}

/// As [`folds_to`], but case counts.
pub(super) fn dashes_alike(name: &str, server: &str) -> bool {
    alike(name, server, fold_dash)
}

fn alike(name: &str, server: &str, fold: fn(u8) -> u8) -> bool {
    name.len() == server.len() && name.bytes().map(fold).eq(server.bytes().map(fold))
}

fn fold_dash(byte: u8) -> u8 {
    if byte == b'-' {
        b'_'
    } else {
        byte
    }
}

/// An entry that stands for no server a reviewer may be bound to, by its place in the list.
pub(super) struct Unresolved(pub(super) usize);

/// The ids of the servers that a launch's allowlist names, each once. The result channel's own name is accepted and
/// binds nothing, since the channel is open anyway.
pub(super) fn resolve(entries: &[String], catalog: &Catalog) -> Result<Vec<String>, Unresolved> {
    let mut bound = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let entry = entry.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
        if entry.eq_ignore_ascii_case(&catalog.result_channel.server) {
            continue;
        }
        let server = catalog.servers.iter().find(|s| s.auto_approvable && s.id.eq_ignore_ascii_case(entry));
        let id = &server.ok_or(Unresolved(place))?.id;
        if !bound.contains(id) {
            bound.push(id.clone());
        }
    }
    Ok(bound)
}
