//! A decision, and the JSON it has for every host (contract 4.4 and 5.1).

use std::borrow::Cow;
use std::fmt;

use crate::qualified_name::QualifiedName;
use crate::Reason;

/// What the host should do with a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// Let the request go the way it went before.
    #[default]
    Ask = 0,
    /// Answer with the decision's option.
    Select = 1,
    /// Answer that the request is cancelled.
    Cancel = 2,
    /// Allow the call (hooks).
    Allow = 3,
    /// Deny the call (hooks).
    Deny = 4,
}

impl Kind {
    /// The word that stands in the decision JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Ask => "ask",
            Kind::Select => "select",
            Kind::Cancel => "cancel",
            Kind::Allow => "allow",
            Kind::Deny => "deny",
        }
    }
}

/// ACP's kinds of permission options.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum OptionKind {
    /// `allow_once`
    AllowOnce = 1,
    /// `allow_always`
    AllowAlways = 2,
    /// `reject_once`
    RejectOnce = 3,
    /// `reject_always`
    RejectAlways = 4,
}

impl OptionKind {
    pub(crate) const ALL: [OptionKind; 4] =
        [OptionKind::AllowOnce, OptionKind::AllowAlways, OptionKind::RejectOnce, OptionKind::RejectAlways];

    /// The word that stands in frames and in the decision JSON.
    pub const fn word(self) -> &'static str {
        match self {
            OptionKind::AllowOnce => "allow_once",
            OptionKind::AllowAlways => "allow_always",
            OptionKind::RejectOnce => "reject_once",
            OptionKind::RejectAlways => "reject_always",
        }
    }

    /// The kind that is spelled exactly so.
    #[inline]
    pub(crate) fn of_word(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|known| word == known.word().as_bytes())
    }
}

/// The offered option that a `select` answers with.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Selected<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) kind: Option<OptionKind>,
    /// Its place among the offered ones.
    pub(crate) index: usize,
}

/// The answer to one permission request.
///
/// It borrows from the request it answers. `Debug` and the JSON show the decision, its reason, the chosen option's id
/// and kind, and the server and tool; nothing else of a request is ever kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Decision<'a> {
    kind: Kind,
    reason: Reason,
    option: Option<Selected<'a>>,
    name: Option<QualifiedName<'a>>,
    hook: bool,
}

impl<'a> Decision<'a> {
    /// An answer to an ACP frame.
    pub(crate) fn acp(kind: Kind, reason: Reason) -> Self {
        Self { kind, reason, option: None, name: None, hook: false }
    }

    /// An answer to a hook payload.
    pub(crate) fn hook(kind: Kind, reason: Reason) -> Self {
        Self { hook: true, ..Self::acp(kind, reason) }
    }

    pub(crate) fn with_option(self, option: Selected<'a>) -> Self {
        Self { option: Some(option), ..self }
    }

    pub(crate) fn with_name(self, name: Option<QualifiedName<'a>>) -> Self {
        Self { name, ..self }
    }

    /// What to do.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The chosen option's id, byte for byte as it was offered (after unescaping).
    pub fn option_id(&self) -> Option<&str> {
        self.option.as_ref().map(|o| &*o.id)
    }

    /// The chosen option's kind, if it is one of ACP's four.
    pub fn option_kind(&self) -> Option<OptionKind> {
        self.option.as_ref().and_then(|o| o.kind)
    }

    /// The chosen option's place among the offered ones, counted from 0.
    pub fn option_index(&self) -> Option<usize> {
        self.option.as_ref().map(|o| o.index)
    }

    /// The server's segment of the qualified tool name, once that has parsed.
    pub fn server(&self) -> Option<&str> {
        self.name.as_ref().map(QualifiedName::server)
    }

    /// The tool's segment of the qualified tool name, once that has parsed.
    pub fn tool(&self) -> Option<&str> {
        self.name.as_ref().map(QualifiedName::tool)
    }

    /// Hooks: the HTTP status that goes with the answer.
    pub fn status(&self) -> Option<u16> {
        self.hook.then_some(match self.reason {
            Reason::MalformedRequest => 400,
            Reason::MalformedConfig | Reason::InternalError | Reason::EngineUnavailable => 500,
            _ => 200,
        })
    }

    /// Hooks: the body that answers the agent's hook (contract 5.2); for an allow, and for a deny of status 200.
    pub fn response(&self) -> Option<String> {
        if self.status() != Some(200) {
            return None;
        }
        let decision = match self.kind {
            Kind::Allow => r#""behavior":"allow""#.to_owned(),
            Kind::Deny => format!(r#""behavior":"deny","message":"{}""#, deny_message(self.reason)),
            _ => return None,
        };
        Some(format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{{decision}}}}}}}"#))
    }

    /// The decision JSON.
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(192);
        self.write_members(&mut json);
        json.push('}');
        json
    }

    /// Everything of the JSON but its closing brace, for `explain` to go on from.
    pub(crate) fn write_members(&self, json: &mut String) {
        json.push_str("{\"decision\":");
        write_string(json, self.kind.word());
        write_member(json, "reason", self.reason.word());
        if let Some(status) = self.status() {
            json.push_str(",\"status\":");
            json.push_str(&status.to_string());
        }
        if let Some(option) = &self.option {
            write_member(json, "option_id", &option.id);
            if let Some(kind) = option.kind {
                write_member(json, "option_kind", kind.word());
            }
        }
        if let Some(name) = &self.name {
            write_member(json, "server", name.server());
            write_member(json, "tool", name.tool());
        }
        if let Some(response) = self.response() {
            json.push_str(",\"response\":");
            json.push_str(&response);
        }
    }
}

/// The sentence that a denied agent reads: one per reason, fixed.
fn deny_message(reason: Reason) -> &'static str {
    match reason {
        Reason::ServerNotAllowlisted => "This reviewer may not use that MCP server.",
        Reason::AmbiguousToolName => "The tool name does not name one server and one tool beyond doubt.",
        Reason::InvalidToolName => "The tool name is not a valid MCP tool name.",
        Reason::IdentityMalformed => "The request does not say clearly which MCP server serves the tool.",
        Reason::IdentityConflict => "The tool name and the MCP server in the request disagree.",
        Reason::UntrustedServerSource => "The MCP server was not provided by the host that started this reviewer.",
        Reason::BareToolDenied => "This reviewer may only use the MCP tools of its launch.",
        _ => "The request was denied.",
    }
}

pub(crate) fn write_member(json: &mut String, key: &str, value: &str) {
    json.push(',');
    write_string(json, key);
    json.push(':');
    write_string(json, value);
}

/// Escaped minimally. Ids and names hardly ever need it, so plain text takes no detour.
fn write_string(json: &mut String, text: &str) {
    if text.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        // Text always has a JSON form, so there is no error to tell of.
        json.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

impl fmt::Debug for Decision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}
