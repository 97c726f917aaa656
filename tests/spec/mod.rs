//! The executable specification: DESIGN.md sections 4 and 5.1 as slow, obvious code, written from the contract alone.
//! It is the oracle that the engine is compared with, and it shares nothing with it. One rule, one line.

mod acp;
pub mod hooks;
pub mod json;

use json::Value;

/// 4.2: a frame or a config of more bytes is malformed.
const DOCUMENT_LIMIT: usize = 16 * 1024 * 1024;

/// The decision JSON of 4.4 or 5.1.
pub fn decide(frame: &[u8], config: &[u8]) -> String {
    let decision = match object(config, DOCUMENT_LIMIT) {
        None => Decision::new("ask", "malformed_config"), // 4.1: no document, so no policy
        Some(config) if is_unattended_review(config.root()) => match hooks::read_config(config.root()) {
            None => hooks::malformed_config(), // 5.1: the config is judged before the body
            Some(config) => hooks::decide(frame, &config),
        },
        Some(config) => acp::decide(frame, config.root()),
    };
    decision.to_json()
}

/// 4.1: exactly one `policy`, equal to `unattended_review`.
fn is_unattended_review(config: Value) -> bool {
    count(config, "policy") == 1 && config.get("policy").str() == Some("unattended_review")
}

/// 4.2: UTF-8 without a BOM, strict, one object, within the limit.
fn object(bytes: &[u8], limit: usize) -> Option<json::Document<'_>> {
    require(bytes.len() <= limit)?;
    let document = json::parse(bytes)?;
    require(document.root().is_object())?;
    Some(document)
}

// --- Decisions (4.4, 5.1) -------------------------------------------------------------------------------------------

/// The members of a decision, in order; each value is JSON already.
#[derive(Clone)]
pub struct Decision(Vec<(&'static str, String)>);

impl Decision {
    fn new(decision: &str, reason: &str) -> Decision {
        let none = Decision(Vec::new());
        none.with("decision", quoted(decision)).with("reason", quoted(reason))
    }

    fn with(mut self, key: &'static str, json: String) -> Decision {
        self.0.push((key, json));
        self
    }

    /// `server` and `tool` appear once the name has parsed.
    fn with_names(self, names: Option<(&str, &str)>) -> Decision {
        match names {
            Some((server, tool)) => self.with("server", quoted(server)).with("tool", quoted(tool)),
            None => self,
        }
    }

    pub fn to_json(&self) -> String {
        let members: Vec<String> = self.0.iter().map(|m| format!("\"{}\":{}", m.0, m.1)).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// 4.4: strings are escaped minimally, as serde_json does.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

// --- Rules that both policies use -----------------------------------------------------------------------------------

/// A rule: `require(…)?` ends a reading that breaks it.
fn require(rule: bool) -> Option<()> {
    rule.then_some(())
}

/// A step: `stop_if(…)?` ends the evaluation with the step's answer.
fn stop_if(condition: bool, answer: Decision) -> Result<(), Decision> {
    if condition {
        Err(answer)
    } else {
        Ok(())
    }
}

fn count(object: Value, key: &str) -> usize {
    let members = object.members();
    members.iter().filter(|m| m.0 == key.as_bytes()).count()
}

/// 4.1: no unknown key and no duplicate. (Keys of a config are compared exactly.)
fn strict_keys(object: Value, known: &[&str]) -> bool {
    let is_known = |key: &[u8]| known.iter().any(|k| k.as_bytes() == key);
    object.members().iter().all(|m| is_known(m.0)) && known.iter().all(|k| count(object, k) <= 1)
}

/// 4.1: null is absent; anything but a string without lone surrogates is a wrong type.
fn optional_str<'d>(value: Value<'d>, default: &'d str) -> Option<&'d str> {
    if value.is_nothing() {
        Some(default)
    } else {
        value.str()
    }
}

/// 4.2: no path key is there twice, nor in a spelling that Go's decoder would take for it.
fn no_rivals(object: Value, path_keys: &[&str]) -> bool {
    let keys: Vec<&[u8]> = object.members().iter().map(|m| m.0).collect();
    path_keys.iter().all(|path_key| {
        let takes = |key: &&&[u8]| go_fold(key) == go_fold(path_key.as_bytes());
        let taken: Vec<&&[u8]> = keys.iter().filter(takes).collect();
        taken.is_empty() || (taken.len() == 1 && *taken[0] == path_key.as_bytes())
    })
}

/// 4.2: ASCII case, `ſ` for s, U+212A (the Kelvin sign) for k. A key with a lone surrogate folds to no path key.
fn go_fold(key: &[u8]) -> Option<String> {
    let key = std::str::from_utf8(key).ok()?;
    let key = key.replace('\u{17f}', "s").replace('\u{212a}', "k");
    Some(key.to_ascii_lowercase())
}

/// 4.3 step 11: nothing but Unicode White_Space.
fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// 4.3 step 11: space, `\t \n \v \f \r`.
fn trim_ascii(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r'])
}

fn is_name(half: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    !half.is_empty() && half.bytes().all(allowed)
}

/// 4.3 step 8: `mcp__<server>__<tool>`, split into server and tool, or the reason why not.
fn qualified_name(name: &str) -> Result<(&str, &str), &'static str> {
    let rest = name.strip_prefix("mcp__").ok_or("not_mcp_tool")?;
    if name.len() > 256 {
        return Err("invalid_tool_name");
    }
    let (server, tool) = rest.split_once("__").ok_or("invalid_tool_name")?;
    if tool.starts_with('_') || tool.contains("__") {
        return Err("ambiguous_tool_name");
    }
    if !is_name(server) || !is_name(tool) {
        return Err("invalid_tool_name");
    }
    Ok((server, tool))
}
