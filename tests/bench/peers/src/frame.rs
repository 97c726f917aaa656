//! A frame as a Rust host would decode it for a policy language that reads no JSON: serde_json into borrowed structs.
//!
//! Not done, and done by the library: rival keys, duplicate keys outside these structs, a whole JSON-RPC message, ACP v2.

use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame<'a> {
    #[serde(borrow)]
    pub tool_call: ToolCall<'a>,
    #[serde(borrow)]
    options: Vec<Offer<'a>>,
}

#[derive(Deserialize)]
pub struct ToolCall<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    claude_code: Option<ClaudeCode<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeCode<'a> {
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mcp_server: Option<McpServer<'a>>,
}

#[derive(Deserialize)]
pub struct McpServer<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub source: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    #[serde(borrow)]
    option_id: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

impl<'a> Frame<'a> {
    /// The tool's one name (contract 4.3.7).
    pub fn identity(&self) -> Option<&str> {
        let call = &self.tool_call;
        match (call.name.as_deref(), call.claude().and_then(|claude| claude.tool_name.as_deref())) {
            (Some(name), Some(tool_name)) => (name == tool_name).then_some(name),
            (None, None) => call.title.as_deref().filter(|_| call.kind.as_deref() == Some("other")),
            (one, other) => one.or(other),
        }
    }

    pub fn evidence(&self) -> Option<&McpServer<'a>> {
        self.tool_call.claude()?.mcp_server.as_ref()
    }

    /// The option to answer with (contract 4.3.11).
    pub fn choice(&self) -> Option<&str> {
        let id = ["allow_once", "allow_always"].into_iter().find_map(|kind| {
            let offers = |offer: &&Offer<'_>| offer.kind.trim_ascii().eq_ignore_ascii_case(kind);
            self.options.iter().find(offers).map(|offer| offer.option_id.as_ref())
        })?;
        let unique = self.options.iter().filter(|offer| offer.option_id == id).count() == 1;
        (unique && !id.trim().is_empty()).then_some(id)
    }
}

impl<'a> ToolCall<'a> {
    fn claude(&self) -> Option<&ClaudeCode<'a>> {
        self.meta.as_ref()?.claude_code.as_ref()
    }
}

/// Server and tool of a qualified name (contract 4.3.8).
pub fn split(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__").filter(|_| name.len() <= 256)?.split_once("__")?;
    let identifier = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (!tool.starts_with('_') && !tool.contains("__") && identifier(server) && identifier(tool)).then_some((server, tool))
}
