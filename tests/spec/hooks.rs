//! Sections 5.1 to 5.3: the unattended reviewer.

use super::json::{self, Value};
use super::{is_blank, is_name, no_rivals, object, optional_str, qualified_name, quoted, require};
use super::{stop_if, strict_keys, trim_ascii, Decision};

/// 5.1 step 1.
const BODY_LIMIT: usize = 1024 * 1024;

pub fn malformed_config() -> Decision {
    refuse("malformed_config", 500)
}

pub fn decide(body: &[u8], config: &Config) -> Decision {
    steps(body, config).unwrap_or_else(|stopped| stopped)
}

fn steps(body: &[u8], config: &Config) -> Result<Decision, Decision> {
    // Step 1: the body.
    let malformed = || refuse("malformed_request", 400);
    require(body.len() <= BODY_LIMIT).ok_or(malformed())?;
    let bytes = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let document = object(bytes, BODY_LIMIT).ok_or(malformed())?;
    let name = read_body(document.root()).ok_or(malformed())?;

    let parsed = qualified_name(name);
    let names = parsed.ok();
    let bare = !name.starts_with("mcp__");
    let evidence = document.root().get("mcp_server");
    let evidence_name = evidence.get("name").str();
    let evidence_source = evidence.get("source").str();
    let evidence_folds_to = |server: &str| evidence_name.map(fold) == Some(fold(server));

    // Step 2: the result channel, on any live token in scope.
    let result = &config.catalog.result_channel;
    let result_tool = match parsed {
        Ok((server, tool)) => dashes(server) == dashes(&result.id) && result.has_tool(tool),
        Err(_) => bare && result.has_tool(name),
    };
    let in_scope = config.reviewer || !config.reviewers_only;
    let vouched = evidence_folds_to(&result.id) && evidence_source == Some("dynamic");
    let unopposed = evidence.is_nothing() || vouched;
    stop_if(result_tool && in_scope && unopposed, allow("result_channel", names))?;

    // Step 4: a shared token asks. (Here, so that all that follows is step 3, the reviewer token.)
    stop_if(!config.reviewer, answer("ask", "interactive_prompt", names))?;

    // Step 3, a bare name.
    if bare {
        let safe = config.bound.iter().any(|server| server.has_tool(name));
        stop_if(!evidence.is_nothing(), deny("identity_conflict", names))?;
        stop_if(!(config.locked && safe), deny("bare_tool_denied", names))?;
        return Ok(allow("classified_bare_tool", names));
    }

    // Step 3, a qualified name.
    let (server, _) = parsed.map_err(|reason| deny(reason, names))?;
    let bound = config.bound.iter().any(|b| fold(&b.id) == fold(server));
    stop_if(!bound, deny("server_not_allowlisted", names))?;
    if !evidence.is_nothing() {
        let two_strings = evidence_name.is_some() && evidence_source.is_some();
        stop_if(!two_strings, deny("identity_malformed", names))?;
        stop_if(!evidence_folds_to(server), deny("identity_conflict", names))?;
        stop_if(evidence_source != Some("dynamic"), deny("untrusted_server_source", names))?;
    }
    Ok(allow("allowlisted_server", names))
}

/// 5.1 step 1: the tool name of a body that breaks no rule.
fn read_body(body: Value<'_>) -> Option<&str> {
    let server = body.get("mcp_server");
    let event = body.get("hook_event_name");
    require(no_rivals(body, &["session_id", "tool_name", "hook_event_name", "mcp_server"]))?;
    require(no_rivals(server, &["name", "source"]))?;
    require(!server.get("name").has_lone_surrogate())?;
    require(!server.get("source").has_lone_surrogate())?;
    require(!is_blank(&body.get("session_id").str()?.replace('-', "")))?;
    require(!is_blank(body.get("tool_name").str()?))?;
    require(event.is_nothing() || event.str() == Some("PermissionRequest"))?;
    body.get("tool_name").str()
}

/// ASCII case and `-`/`_` alike.
fn fold(server: &str) -> String {
    dashes(server).to_ascii_lowercase()
}

/// `-` and `_` alike, case-sensitive.
fn dashes(server: &str) -> String {
    server.replace('-', "_")
}

// --- Answers (5.1, 5.2) ---------------------------------------------------------------------------------------------

fn refuse(reason: &str, status: u16) -> Decision {
    Decision::new("deny", reason).with("status", status.to_string())
}

fn answer(decision: &str, reason: &str, names: Option<(&str, &str)>) -> Decision {
    let decision = Decision::new(decision, reason).with("status", String::from("200"));
    decision.with_names(names)
}

fn allow(reason: &str, names: Option<(&str, &str)>) -> Decision {
    let behavior = r#"{"behavior":"allow"}"#;
    answer("allow", reason, names).with("response", response(behavior))
}

fn deny(reason: &str, names: Option<(&str, &str)>) -> Decision {
    let message = quoted(message(reason));
    let behavior = format!(r#"{{"behavior":"deny","message":{message}}}"#);
    answer("deny", reason, names).with("response", response(&behavior))
}

fn response(behavior: &str) -> String {
    let output = format!(r#"{{"hookEventName":"PermissionRequest","decision":{behavior}}}"#);
    format!(r#"{{"hookSpecificOutput":{output}}}"#)
}

fn message(reason: &str) -> &'static str {
    match reason {
        "server_not_allowlisted" => "This reviewer may not use that MCP server.",
        "ambiguous_tool_name" => "The tool name does not name one server and one tool beyond doubt.",
        "invalid_tool_name" => "The tool name is not a valid MCP tool name.",
        "identity_malformed" => "The request does not say clearly which MCP server serves the tool.",
        "identity_conflict" => "The tool name and the MCP server in the request disagree.",
        "untrusted_server_source" => "The MCP server was not provided by the host that started this reviewer.",
        "bare_tool_denied" => "This reviewer may only use the MCP tools of its launch.",
        _ => unreachable!("no other reason denies with status 200"),
    }
}

// --- 5.1 The config -------------------------------------------------------------------------------------------------

pub struct Config {
    /// `codex`: the vendor's config is locked.
    locked: bool,
    /// A reviewer token, not the shared one.
    reviewer: bool,
    /// `result_channel_scope` is `reviewer`.
    reviewers_only: bool,
    catalog: Catalog,
    bound: Vec<Server>,
}

const CONFIG_KEYS: [&str; 6] = ["policy", "vendor", "token", "servers", "result_channel_scope", "catalog"];

pub fn read_config(config: Value) -> Option<Config> {
    require(strict_keys(config, &CONFIG_KEYS))?;
    let vendor = config.get("vendor").str()?;
    let token = config.get("token").str()?;
    let scope = optional_str(config.get("result_channel_scope"), "any")?;
    require(vendor == "codex" || vendor == "claude")?;
    require(token == "reviewer" || token == "shared")?;
    require(scope == "any" || scope == "reviewer")?;
    let built_in = json::parse(BUILT_IN.as_bytes())?;
    let catalog = config.get("catalog");
    let catalog = if catalog.is_nothing() { built_in.root() } else { catalog };
    let catalog = read_catalog(catalog)?;
    Some(Config {
        locked: vendor == "codex",
        reviewer: token == "reviewer",
        reviewers_only: scope == "reviewer",
        bound: resolve(config.get("servers"), &catalog)?,
        catalog,
    })
}

/// 5.4, the mint: every entry resolves to an auto-approvable server; the result channel's own name binds nothing.
fn resolve(servers: Value, catalog: &Catalog) -> Option<Vec<Server>> {
    require(servers.is_nothing() || servers.is_array())?;
    let mut bound = Vec::new();
    for entry in servers.elements() {
        let entry = trim_ascii(entry.str()?);
        let same = |server: &&Server| server.id.eq_ignore_ascii_case(entry);
        if !same(&&catalog.result_channel) {
            let server = catalog.servers.iter().find(same)?;
            require(server.auto_approvable)?;
            bound.push(server.clone());
        }
    }
    Some(bound)
}

// --- 5.3 The catalog ------------------------------------------------------------------------------------------------

struct Catalog {
    servers: Vec<Server>,
    result_channel: Server,
}

#[derive(Clone)]
struct Server {
    id: String,
    auto_approvable: bool,
    starts_flows: bool,
    tools: Vec<String>,
}

impl Server {
    fn has_tool(&self, tool: &str) -> bool {
        self.tools.iter().any(|t| t == tool)
    }
}

const BUILT_IN: &str = r#"{
    "servers": [
        {"id": "kcap-review", "auto_approvable": true, "starts_flows": false, "unattended_safe_tools":
            ["get_pr_summary", "list_pr_files", "get_file_context", "search_context", "list_sessions", "get_transcript"]},
        {"id": "kcap-sessions", "auto_approvable": true, "starts_flows": false, "unattended_safe_tools":
            ["search_sessions", "get_session_summary", "get_session_transcript", "get_turn", "list_turns"]},
        {"id": "kcap-memory", "auto_approvable": false, "starts_flows": false, "unattended_safe_tools": []},
        {"id": "kcap-flows", "auto_approvable": false, "starts_flows": true, "unattended_safe_tools": []}
    ],
    "result_channel": {"server": "kcap-flow-result", "tools": ["submit_review_result"]}
}"#;

fn read_catalog(catalog: Value) -> Option<Catalog> {
    require(strict_keys(catalog, &["servers", "result_channel"]))?;
    require(catalog.get("servers").is_array())?;
    let mut servers = Vec::new();
    for server in catalog.get("servers").elements() {
        servers.push(read_server(server)?);
    }
    let result = catalog.get("result_channel");
    require(strict_keys(result, &["server", "tools"]))?;
    let result_channel = Server {
        id: read_name(result.get("server"))?,
        auto_approvable: false,
        starts_flows: false,
        tools: read_tools(result.get("tools"))?,
    };
    for server in &servers {
        let classified = !server.tools.is_empty();
        require(!(server.auto_approvable && server.starts_flows))?;
        require(server.auto_approvable == classified)?;
    }
    // No two ids fold to the same, and the result server is not among the servers.
    let ids = servers.iter().chain([&result_channel]);
    require(distinct(ids.map(|s| fold(&s.id)).collect()))?;
    // No tool twice, in the whole catalog.
    let tools = servers.iter().chain([&result_channel]);
    require(distinct(tools.flat_map(|s| s.tools.clone()).collect()))?;
    Some(Catalog { servers, result_channel })
}

const SERVER_KEYS: [&str; 4] = ["id", "auto_approvable", "starts_flows", "unattended_safe_tools"];

fn read_server(server: Value) -> Option<Server> {
    require(strict_keys(server, &SERVER_KEYS))?;
    Some(Server {
        id: read_name(server.get("id"))?,
        auto_approvable: server.get("auto_approvable").bool()?,
        starts_flows: server.get("starts_flows").bool()?,
        tools: read_tools(server.get("unattended_safe_tools"))?,
    })
}

fn read_tools(tools: Value) -> Option<Vec<String>> {
    require(tools.is_array())?;
    tools.elements().into_iter().map(read_name).collect()
}

/// Non-empty `[A-Za-z0-9_-]`.
fn read_name(name: Value) -> Option<String> {
    require(is_name(name.str()?))?;
    name.str().map(String::from)
}

fn distinct(mut names: Vec<String>) -> bool {
    let all = names.len();
    names.sort();
    names.dedup();
    names.len() == all
}
