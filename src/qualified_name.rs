//! `not_mcp_tool`, `invalid_tool_name`, `ambiguous_tool_name`: the strict parser of `mcp__<server>__<tool>`
//! (contract 4.3, step 8).

use std::borrow::Cow;

use crate::limits::MAX_TOOL_NAME_BYTES;
use crate::Reason;

pub(crate) const PREFIX: &str = "mcp__";
const BOUNDARY: &str = "__";

/// A tool name with exactly one boundary between server and tool.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct QualifiedName<'a> {
    name: Cow<'a, str>,
    server_len: usize,
}

impl<'a> QualifiedName<'a> {
    pub(crate) fn parse(name: Cow<'a, str>) -> Result<Self, Reason> {
        let server_len = server_len(&name)?;
        Ok(Self { name, server_len })
    }

    pub(crate) fn server(&self) -> &str {
        &self.name[PREFIX.len()..][..self.server_len]
    }

    pub(crate) fn tool(&self) -> &str {
        &self.name[PREFIX.len() + self.server_len + BOUNDARY.len()..]
    }
}

/// How long the server's half is, if the name is well-formed.
fn server_len(name: &str) -> Result<usize, Reason> {
    let rest = name.strip_prefix(PREFIX).ok_or(Reason::NotMcpTool)?;
    if name.len() > MAX_TOOL_NAME_BYTES {
        return Err(Reason::InvalidToolName);
    }
    // A second pair of underscores, though it share one with the first, begins the tool or stands in it.
    let mut boundaries =
        rest.as_bytes().windows(BOUNDARY.len()).enumerate().filter(|(_, pair)| *pair == BOUNDARY.as_bytes());
    let (server_len, _) = boundaries.next().ok_or(Reason::InvalidToolName)?;
    if boundaries.next().is_some() {
        return Err(Reason::AmbiguousToolName);
    }
    let (server, tool) = (&rest[..server_len], &rest[server_len + BOUNDARY.len()..]);
    if !is_identifier(server) || !is_identifier(tool) {
        return Err(Reason::InvalidToolName);
    }
    Ok(server_len)
}

/// Non-empty `[A-Za-z0-9_-]`.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| IS_IDENTIFIER_BYTE[usize::from(b)])
}

const IS_IDENTIFIER_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-');
        byte += 1;
    }
    table
};
