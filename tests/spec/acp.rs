//! Section 4: injected-server approval.

use super::json::Value;
use super::{count, is_blank, no_rivals, object, optional_str, qualified_name, quoted, require};
use super::{stop_if, strict_keys, trim_ascii, Decision, DOCUMENT_LIMIT};
use std::collections::BTreeSet;

fn ask(reason: &str) -> Decision {
    Decision::new("ask", reason)
}

/// 4.3: the order of evaluation.
pub fn decide(frame: &[u8], config: Value) -> Decision {
    steps(frame, config).unwrap_or_else(|stopped| stopped)
}

fn steps(frame: &[u8], config: Value) -> Result<Decision, Decision> {
    // Step 1: the config.
    let config = read_config(config).ok_or(ask("malformed_config"))?;

    // Step 2: the document, and its top.
    let document = object(frame, DOCUMENT_LIMIT).ok_or(ask("malformed_frame"))?;
    let top = document.root();
    let has = |key| !top.get(key).is_absent();
    let message = has("method") || has("params");
    let frame_members = has("toolCall") || has("subject") || has("options");
    stop_if(!no_rivals(top, &TOP), ask("malformed_frame"))?;
    stop_if(message && frame_members, ask("malformed_frame"))?;

    // Step 3: the method.
    let method = top.get("method").str();
    let ours = method == Some("session/request_permission");
    stop_if(message && !ours, ask("not_a_permission_request"))?;

    // Step 4: the decision path.
    let params = if message { top.get("params") } else { top };
    let call = read_call(params, config.claude).ok_or(ask("malformed_frame"))?;
    let options = read_options(params).ok_or(ask("malformed_frame"))?;

    // Step 5: no options.
    stop_if(options.is_empty(), Decision::new("cancel", "no_options"))?;

    // Step 6: blanket approval: the first allow option, else the first option; the id unchecked.
    let blanket = options.iter().find(|o| o.allows()).unwrap_or(&options[0]);
    stop_if(config.blanket, select("blanket_approval", blanket))?;

    // Step 7: the identity.
    let name = identity(call, config.claude)?;

    // Step 8: the qualified name.
    let (server, tool) = qualified_name(name).map_err(ask)?;
    let ask = |reason| ask(reason).with_names(Some((server, tool)));
    stop_if(server != "kandev", ask("other_server"))?;

    // Step 9: provenance.
    let exact = config.kandev.iter().filter(|e| is_exact(**e, &config)).count();
    let provenance = config.marker && (1..=65535).contains(&config.port);
    stop_if(!provenance, ask("provenance_missing"))?;
    stop_if(exact == 0, ask("server_not_injected"))?;
    stop_if(exact < config.kandev.len(), ask("server_name_conflict"))?;

    // Step 10: evidence.
    if config.claude {
        let evidence = call.get("_meta").get("claudeCode").get("mcpServer");
        let (key, source) = (evidence.get("name").str(), evidence.get("source").str());
        let given = !evidence.is_nothing();
        stop_if(given && key != Some(server), ask("identity_conflict"))?;
        stop_if(given && source != Some("dynamic"), ask("untrusted_server_source"))?;
    }

    // Step 11: the option.
    let once = options.iter().find(|o| o.kind == "allow_once");
    let always = options.iter().find(|o| o.kind == "allow_always");
    let chosen = once.or(always).ok_or(ask("no_allow_option"))?;
    let offered = options.iter().filter(|o| o.id == chosen.id).count();
    stop_if(is_blank(chosen.id), ask("option_id_unusable"))?;
    stop_if(offered != 1, ask("option_id_unusable"))?;

    // Step 12.
    Ok(select("injected_mcp", chosen).with_names(Some((server, tool))))
}

fn select(reason: &str, option: &Offered) -> Decision {
    let decision = Decision::new("select", reason).with("option_id", quoted(option.id));
    if KINDS.contains(&option.kind.as_str()) {
        decision.with("option_kind", quoted(&option.kind))
    } else {
        decision
    }
}

// --- 4.1 The config -------------------------------------------------------------------------------------------------

struct Config<'d> {
    claude: bool,
    port: i64,
    host: &'d str,
    marker: bool,
    blanket: bool,
    /// The entries named `kandev`.
    kandev: Vec<Value<'d>>,
}

const CONFIG_KEYS: [&str; 7] =
    ["policy", "agent_type", "port", "mcp_host", "injected_kandev_mcp", "mcp_servers", "auto_approve_permissions"];

fn read_config(config: Value) -> Option<Config> {
    require(strict_keys(config, &CONFIG_KEYS))?;
    require(optional_str(config.get("policy"), "injected_mcp")? == "injected_mcp")?;
    Some(Config {
        claude: optional_str(config.get("agent_type"), "")? == "claude-acp",
        port: optional_port(config.get("port"))?,
        host: optional_str(config.get("mcp_host"), "")?,
        marker: optional_bool(config.get("injected_kandev_mcp"))?,
        blanket: optional_bool(config.get("auto_approve_permissions"))?,
        kandev: kandev_entries(config.get("mcp_servers"))?,
    })
}

/// Null is absent, and absent is false.
fn optional_bool(value: Value) -> Option<bool> {
    if value.is_nothing() {
        Some(false)
    } else {
        value.bool()
    }
}

/// Null is absent, and absent is out of range.
fn optional_port(value: Value) -> Option<i64> {
    if value.is_nothing() {
        Some(0)
    } else {
        value.integer()
    }
}

fn kandev_entries(servers: Value) -> Option<Vec<Value>> {
    require(servers.is_nothing() || servers.is_array())?;
    let mut kandev = Vec::new();
    for entry in servers.elements() {
        require(entry.is_object())?;
        require(count(entry, "name") <= 1)?;
        if entry.get("name").str() == Some("kandev") {
            let mut seen = BTreeSet::new();
            require(entry.members().iter().all(|m| seen.insert(m.0)))?;
            kandev.push(entry);
        }
    }
    Some(kandev)
}

/// Step 9: `http` at `/mcp` or `sse` at `/sse`, as exact strings, and nothing else in it.
fn is_exact(entry: Value, config: &Config) -> bool {
    let base = format!("http://{}:{}", url_host(config.host), config.port);
    let (kind, url) = (entry.get("type").str(), entry.get("url").str());
    let http = kind == Some("http") && url == Some(&format!("{base}/mcp"));
    let sse = kind == Some("sse") && url == Some(&format!("{base}/sse"));
    let others = entry.members().into_iter();
    let mut others = others.filter(|m| ![b"name".as_slice(), b"type", b"url"].contains(&m.0));
    (http || sse) && others.all(|m| m.1.is_null() || m.1.is_empty())
}

/// 4.1 `mcp_host`: empty is `localhost`; an unbracketed IPv6 address is bracketed.
fn url_host(host: &str) -> String {
    if host.is_empty() {
        String::from("localhost")
    } else if host.parse::<std::net::Ipv6Addr>().is_ok() {
        format!("[{host}]")
    } else {
        String::from(host)
    }
}

// --- 4.2 The frame: the decision path (step 4) ----------------------------------------------------------------------

const TOP: [&str; 5] = ["method", "params", "toolCall", "subject", "options"];

/// The tool call; absent in a legal frame without an identity.
fn read_call(params: Value, claude: bool) -> Option<Value> {
    require(params.is_object())?;
    require(no_rivals(params, &["toolCall", "subject", "options"]))?;
    let (call, subject) = (params.get("toolCall"), params.get("subject"));
    require(call.is_absent() != subject.is_absent())?;
    if subject.is_absent() {
        check_call(call, claude)?;
        return Some(call);
    }
    require(subject.is_null() || subject.is_object())?;
    require(no_rivals(subject, &["type", "toolCall"]))?;
    require(!subject.get("type").has_lone_surrogate())?;
    if subject.get("type").str() == Some("tool_call") {
        check_call(subject.get("toolCall"), claude)?;
        return Some(subject.get("toolCall"));
    }
    Some(call) // absent: null, or of another type
}

fn check_call(call: Value, claude: bool) -> Option<()> {
    require(call.is_object())?;
    require(no_rivals(call, &["name", "title", "kind", "_meta"]))?;
    require(!call.get("name").has_lone_surrogate())?;
    if claude {
        let meta = call.get("_meta");
        let code = meta.get("claudeCode");
        let evidence = code.get("mcpServer");
        require(no_rivals(meta, &["claudeCode"]))?;
        require(no_rivals(code, &["toolName", "mcpServer"]))?;
        require(no_rivals(evidence, &["name", "source"]))?;
        require(!code.get("toolName").has_lone_surrogate())?;
        require(!evidence.get("name").has_lone_surrogate())?;
        require(!evidence.get("source").has_lone_surrogate())?;
    }
    Some(())
}

struct Offered<'d> {
    id: &'d str,
    /// Folded (step 11).
    kind: String,
}

/// ACP's four.
const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];

impl Offered<'_> {
    fn allows(&self) -> bool {
        self.kind == "allow_once" || self.kind == "allow_always"
    }
}

fn read_options(params: Value) -> Option<Vec<Offered>> {
    let options = params.get("options");
    require(options.is_nothing() || options.is_array())?;
    let mut offered = Vec::new();
    for option in options.elements() {
        require(option.is_object())?;
        require(no_rivals(option, &["optionId", "kind"]))?;
        let id = option.get("optionId").str()?; // a string without lone surrogates
        let kind = option.get("kind").str()?; // likewise
        let kind = trim_ascii(kind).to_ascii_lowercase();
        offered.push(Offered { id, kind });
    }
    Some(offered)
}

// --- 4.3 step 7: the identity ---------------------------------------------------------------------------------------

fn identity(call: Value<'_>, claude: bool) -> Result<&str, Decision> {
    let malformed = || ask("identity_malformed");
    let name = call.get("name");
    stop_if(!name.is_nothing() && !name.is_string(), malformed())?;
    if !claude {
        return name.str().ok_or(ask("identity_missing"));
    }
    let meta = call.get("_meta");
    let code = meta.get("claudeCode");
    let tool_name = code.get("toolName");
    let evidence = code.get("mcpServer");
    let two_strings = evidence.get("name").is_string() && evidence.get("source").is_string();
    stop_if(!meta.is_nothing() && !meta.is_object(), malformed())?;
    stop_if(!code.is_absent() && !code.is_object(), malformed())?;
    stop_if(!tool_name.is_absent() && !tool_name.is_string(), malformed())?;
    stop_if(!evidence.is_nothing() && !two_strings, malformed())?;
    match (name.str(), tool_name.str()) {
        (Some(name), Some(tool_name)) if name != tool_name => Err(ask("identity_conflict")),
        (Some(name), _) => Ok(name),
        (None, Some(tool_name)) => Ok(tool_name),
        (None, None) => title(call).ok_or(ask("identity_missing")),
    }
}

/// The title, only if it is exactly a well-formed qualified name and `kind` is exactly `other`.
fn title(call: Value<'_>) -> Option<&str> {
    let title = call.get("title").str()?;
    require(qualified_name(title).is_ok())?;
    require(call.get("kind").str() == Some("other"))?;
    Some(title)
}
