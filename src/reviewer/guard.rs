//! The live guard (contract 5.3): what a server really offers, against what the catalog says about it.

use std::fmt;

use super::catalog::Catalog;
use super::registry::Quoted;
use crate::config::{ConfigError, Members, Places, Raw};
use crate::json::Keys;

/// Why a server's tools could not be compared with the catalog. It doesn't pass for a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GuardError {
    /// The catalog can't be used.
    Catalog(ConfigError),
    /// The catalog has no server of this name.
    UnknownServer(String),
    /// What should be a server's answer to `tools/list` is none.
    NoToolList,
    /// The answer has a `nextCursor`: it is a part of the list only.
    PartOfAList,
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardError::Catalog(error) => error.fmt(f),
            GuardError::UnknownServer(server) => write!(f, "{} is no server of the catalog", Quoted(server)),
            GuardError::NoToolList => f.write_str("not the result of an MCP tools/list request"),
            GuardError::PartOfAList => {
                f.write_str("the tools/list result has a nextCursor, so it is not the whole list")
            }
        }
    }
}

impl std::error::Error for GuardError {}

/// The names of the tools in an MCP `tools/list` result that the catalog doesn't classify as unattended-safe on the
/// server, in the order of the list, each once. None are good news; of a server that no reviewer may be bound to, every
/// tool is unclassified.
///
/// `catalog` is JSON, or `None` for the built-in one. `server` is one of its ids or its result channel's, in any ASCII
/// case. `tools_list` is the result as JSON: an object with `tools`, all pages put together.
///
/// ```
/// let list = br#"{"tools":[{"name":"get_pr_summary","inputSchema":{}},{"name":"merge_pr","inputSchema":{}}]}"#;
/// let unclassified = kandev_policy::unclassified_tools(None, "kcap-review", list)?;
/// assert_eq!(unclassified, ["merge_pr"]);
/// # Ok::<(), kandev_policy::GuardError>(())
/// ```
pub fn unclassified_tools(catalog: Option<&[u8]>, server: &str, tools_list: &[u8]) -> Result<Vec<String>, GuardError> {
    let catalog = match catalog {
        None => Catalog::built_in(),
        Some(document) => Catalog::of_document(document).map_err(GuardError::Catalog)?.into(),
    };
    let classified = catalog.classified(server).ok_or_else(|| GuardError::UnknownServer(server.to_owned()))?;
    let mut named = Places::new();
    let mut unclassified = offered(tools_list)?;
    unclassified.retain(|tool| !classified.contains(tool) && named.insert(tool.as_bytes().to_vec(), 0).is_none());
    Ok(unclassified)
}

impl Catalog {
    /// The tools that are classified on a server, the result channel's included.
    fn classified(&self, server: &str) -> Option<&[String]> {
        let channel = &self.result_channel;
        let servers = self.servers.iter().map(|server| (&server.id, &server.unattended_safe_tools));
        let mut all = servers.chain([(&channel.server, &channel.tools)]);
        all.find(|(id, _)| id.eq_ignore_ascii_case(server)).map(|(_, tools)| tools.as_slice())
    }
}

/// The names in a `tools/list` result.
fn offered(tools_list: &[u8]) -> Result<Vec<String>, GuardError> {
    let result = Members::of_document(tools_list).map_err(|_| GuardError::NoToolList)?;
    if has_rivals(&result) {
        return Err(GuardError::NoToolList);
    }
    let tools = result.get("tools").and_then(Raw::elements).ok_or(GuardError::NoToolList)?;
    match result.get("nextCursor").map(Raw::string) {
        None => {}
        Some(Some(cursor)) if cursor.is_empty() => {}
        Some(Some(_)) => return Err(GuardError::PartOfAList),
        Some(None) => return Err(GuardError::NoToolList),
    }
    tools.into_iter().map(|tool| name(tool).ok_or(GuardError::NoToolList)).collect()
}

fn name(tool: Raw<'_>) -> Option<String> {
    let tool = tool.members().filter(|tool| !has_rivals(tool))?;
    tool.get("name")?.string()
}

/// Whether a key that is read here stands there twice or in a rival spelling, which an MCP client might have read in its
/// place.
#[inline(never)]
fn has_rivals(members: &Members<'_>) -> bool {
    let mut keys = Keys::default();
    for (key, _) in members.iter() {
        keys.take(&["tools", "nextCursor", "name"], key);
    }
    keys.clash()
}
