//! JSON as text: a document whose every spelling can be chosen, and generators of such documents.
#![allow(dead_code)]

use proptest::prelude::*;

/// A JSON value that keeps the order of members, duplicates, and how each number is spelled.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, `true`, `false` or a number, as it stands.
    Word(String),
    /// Text; `None` is a lone surrogate.
    Text(Vec<Option<char>>),
    Array(Vec<Json>),
    Object(Vec<(Vec<Option<char>>, Json)>),
}

pub fn units(text: &str) -> Vec<Option<char>> {
    text.chars().map(Some).collect()
}

pub fn text(text: &str) -> Json {
    Json::Text(units(text))
}

pub fn word(word: &str) -> Json {
    Json::Word(word.to_owned())
}

pub fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (units(key), value)).collect())
}

impl Json {
    pub fn from_value(value: &serde_json::Value) -> Json {
        match value {
            serde_json::Value::String(s) => text(s),
            serde_json::Value::Array(elements) => Json::Array(elements.iter().map(Json::from_value).collect()),
            serde_json::Value::Object(members) => {
                Json::Object(members.iter().map(|(k, v)| (units(k), Json::from_value(v))).collect())
            }
            other => Json::Word(other.to_string()),
        }
    }

    pub fn member(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|m| m.0 == units(key)).map(|m| &m.1),
            _ => None,
        }
    }

    /// The text, if it is one without a lone surrogate.
    pub fn string(&self) -> Option<String> {
        match self {
            Json::Text(units) => units.iter().copied().collect(),
            _ => None,
        }
    }

    /// Plainly: nothing escaped but what must be, no white space.
    pub fn plain(&self) -> String {
        self.spelled(&mut Spelling::plain())
    }

    pub fn spelled(&self, spelling: &mut Spelling) -> String {
        let mut out = String::new();
        self.write(spelling, &mut out);
        out
    }

    fn write(&self, spelling: &mut Spelling, out: &mut String) {
        spelling.space(out);
        match self {
            Json::Word(word) => out.push_str(word),
            Json::Text(text) => spelling.string(text, out),
            Json::Array(elements) => {
                out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    element.write(spelling, out);
                }
                spelling.space(out);
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                let order = spelling.order(members.len());
                for (i, place) in order.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    spelling.space(out);
                    spelling.string(&members[place].0, out);
                    spelling.space(out);
                    out.push(':');
                    members[place].1.write(spelling, out);
                }
                spelling.space(out);
                out.push('}');
            }
        }
        spelling.space(out);
    }
}

/// How to write what can be written in several ways: a source of small numbers decides; a dry one decides plainly.
pub struct Spelling {
    seed: u64,
}

impl Spelling {
    pub fn plain() -> Self {
        Self { seed: 0 }
    }

    /// Any seed but 0 is one way to write.
    pub fn of(seed: u64) -> Self {
        Self { seed: seed.max(1) }
    }

    /// A number below `n`; 0 for a plain spelling. (xorshift64*)
    fn below(&mut self, n: usize) -> usize {
        if self.seed == 0 {
            return 0;
        }
        self.seed ^= self.seed >> 12;
        self.seed ^= self.seed << 25;
        self.seed ^= self.seed >> 27;
        (self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn space(&mut self, out: &mut String) {
        for _ in 0..self.below(8).saturating_sub(5) {
            out.push([' ', '\t', '\n', '\r'][self.below(4)]);
        }
    }

    fn order(&mut self, members: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..members).collect();
        for i in (1..members).rev() {
            let other = if self.seed == 0 { i } else { self.below(i + 1) };
            order.swap(i, other);
        }
        order
    }

    fn string(&mut self, text: &[Option<char>], out: &mut String) {
        out.push('"');
        for unit in text {
            let Some(c) = *unit else {
                // A high one always, so that two in a row are no pair.
                out.push_str("\\uD83c");
                continue;
            };
            let short = match c {
                '"' => Some("\\\""),
                '\\' => Some("\\\\"),
                '/' => Some("\\/"),
                '\u{8}' => Some("\\b"),
                '\u{c}' => Some("\\f"),
                '\n' => Some("\\n"),
                '\r' => Some("\\r"),
                '\t' => Some("\\t"),
                _ => None,
            };
            let must = c < ' ' || c == '"' || c == '\\';
            match self.below(5) {
                4 => self.unicode(c, out),
                3 if short.is_some() => out.push_str(short.unwrap()),
                _ if !must => out.push(c),
                _ => match short {
                    Some(short) => out.push_str(short),
                    None => self.unicode(c, out),
                },
            }
        }
        out.push('"');
    }

    fn unicode(&mut self, c: char, out: &mut String) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            for digit in [*unit >> 12, *unit >> 8 & 15, *unit >> 4 & 15, *unit & 15] {
                let digit = char::from_digit(digit.into(), 16).unwrap();
                out.push(if self.below(2) == 1 { digit.to_ascii_uppercase() } else { digit });
            }
            // The digits come first so that the escape can be put before them.
            out.insert_str(out.len() - 4, "\\u");
        }
    }
}

/// Strings that mean something to a frame, and strings that nearly do.
const TEXTS: &[&str] = &[
    "mcp__kandev__list",
    "mcp__kandev__get",
    "mcp__kandev__a__b",
    "mcp__kandev___x",
    "mcp__other__list",
    "mcp__kandev",
    "Bash",
    "kandev",
    "Kandev",
    "dynamic",
    "project",
    "other",
    "execute",
    "allow_once",
    " Allow_Once\t",
    "allow_always",
    "reject_once",
    "tool_call",
    "command",
    "session/request_permission",
    "session/update",
    "PermissionRequest",
    "mcp__kcap_review__get_pr_summary",
    "mcp__kcap-flow-result__submit_review_result",
    "submit_review_result",
    "get_pr_summary",
    "kcap-review",
    "yes",
    "no",
    "",
    " ",
    "----",
    "\u{2003}",
    "\u{1f600}",
    "a\"b\\c/d\u{7}\n",
];

const KEYS: &[&str] = &[
    "method",
    "params",
    "toolCall",
    "subject",
    "options",
    "type",
    "name",
    "title",
    "kind",
    "_meta",
    "claudeCode",
    "toolName",
    "mcpServer",
    "source",
    "optionId",
    "session_id",
    "tool_name",
    "hook_event_name",
    "mcp_server",
    // Rivals, and what is none.
    "Method",
    "PARAMS",
    "toolcall",
    "\u{17f}ubject",
    "option\u{17f}",
    "\u{212a}ind",
    "Name",
    "optionid",
    "OptionID",
    "sessionId",
    "rawInput",
    "toolCallId",
    "status",
    "",
    "\u{e9}",
    "n\u{e4}me",
];

pub fn texts() -> impl Strategy<Value = Vec<Option<char>>> {
    prop_oneof![
        6 => prop::sample::select(TEXTS).prop_map(units),
        2 => prop::collection::vec(prop::option::weighted(0.95, any::<char>()), 0..12),
        1 => "[a-z_-]{0,40}".prop_map(|s| units(&s)),
    ]
}

pub fn keys() -> impl Strategy<Value = Vec<Option<char>>> {
    prop_oneof![
        8 => prop::sample::select(KEYS).prop_map(units),
        1 => texts(),
    ]
}

/// Keys that are off every decision path, whatever object they stand in.
pub fn keys_off_the_path() -> impl Strategy<Value = Vec<Option<char>>> {
    const OFF: &[&str] =
        &["sessionId", "rawInput", "toolCallId", "status", "content", "locations", "", "nam\u{e9}", "x\u{17f}"];
    prop_oneof![
        prop::sample::select(OFF).prop_map(units),
        "[a-z]{1,3}[0-9]{1,9}".prop_map(|s| units(&s)),
        prop::sample::select(KEYS).prop_map(|key| [units(key), vec![None]].concat()),
        prop::sample::select(KEYS).prop_map(|key| units(&format!("{key}~"))),
    ]
}

pub fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,6})?",
        Just("-0".to_owned()),
        Just("1e999999".to_owned()),
    ]
}

pub fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        1 => prop::sample::select(&["null", "true", "false"][..]).prop_map(word),
        1 => numbers().prop_map(Json::Word),
        3 => texts().prop_map(Json::Text),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((keys(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

/// Frames: mostly right, each part now and then another value, left out, doubled, or with more beside it.
pub fn frames() -> impl Strategy<Value = Json> {
    let some_text = || texts().prop_map(Json::Text);
    let part = |usual: BoxedStrategy<Json>| prop_oneof![12 => usual, 1 => values(), 1 => Just(word("null"))].boxed();
    let name = || {
        let good = Just(text("mcp__kandev__list"));
        part(prop_oneof![3 => good, 1 => some_text()].boxed())
    };
    let server = members(vec![
        ("name", part(prop_oneof![Just(text("kandev")), some_text()].boxed())),
        ("source", part(prop_oneof![Just(text("dynamic")), some_text()].boxed())),
    ]);
    let code = members(vec![("toolName", name()), ("mcpServer", part(server))]);
    let meta = members(vec![("claudeCode", part(code))]);
    let kind = part(prop_oneof![Just(text("other")), some_text()].boxed());
    let call = members(vec![("name", name()), ("title", name()), ("kind", kind), ("_meta", part(meta))]);
    let option_kind = prop::sample::select(&["allow_once", "allow_always", "reject_once", " ALLOW_once\u{b}", "x"][..]);
    let option_id = prop::sample::select(&["a", "b", "c", "d", "e", "\u{1f600}", "", " "][..]);
    let option = members(vec![
        ("optionId", part(option_id.prop_map(text).boxed())),
        ("kind", part(option_kind.prop_map(text).boxed())),
    ]);
    let options = part(prop::collection::vec(part(option), 0..4).prop_map(Json::Array).boxed());
    let subject_type = part(prop_oneof![4 => Just(text("tool_call")), 1 => some_text()].boxed());
    let subject = members(vec![("type", subject_type), ("toolCall", part(call.clone()))]);
    let v1 = members(vec![("toolCall", part(call)), ("options", options.clone())]);
    let v2 = members(vec![("subject", part(subject)), ("options", options)]);
    let params = prop_oneof![v1, v2].boxed();
    let method = part(prop_oneof![6 => Just(text("session/request_permission")), 1 => some_text()].boxed());
    let message = members(vec![("method", method), ("params", part(params.clone()))]);
    prop_oneof![3 => params, 2 => message]
}

/// Hook payloads, in the same manner.
pub fn bodies() -> impl Strategy<Value = Json> {
    let part = |usual: BoxedStrategy<Json>| prop_oneof![12 => usual, 1 => values(), 1 => Just(word("null"))].boxed();
    let tool = prop::sample::select(
        &["mcp__kcap_review__get_pr_summary", "get_pr_summary", "submit_review_result", "Bash"][..],
    );
    let server_name = prop::sample::select(&["kcap-review", "KCAP_review", "kcap-flow-result", "x"][..]);
    let source = prop::sample::select(&["dynamic", "dynamic", "project"][..]);
    let server = members(vec![
        ("name", part(server_name.prop_map(text).boxed())),
        ("source", part(source.prop_map(text).boxed())),
    ]);
    members(vec![
        ("session_id", part(texts().prop_map(Json::Text).boxed())),
        ("tool_name", part(prop_oneof![4 => tool.prop_map(text), 1 => texts().prop_map(Json::Text)].boxed())),
        ("hook_event_name", part(Just(text("PermissionRequest")).boxed())),
        ("mcp_server", part(server)),
    ])
}

/// An object of these members, each there mostly, with more members now and then.
fn members(parts: Vec<(&'static str, BoxedStrategy<Json>)>) -> BoxedStrategy<Json> {
    let all: Vec<_> =
        parts.into_iter().map(|(key, value)| (Just(units(key)), value, prop::bool::weighted(0.88))).collect();
    let usual = (all, any::<u64>())
        .prop_map(|(all, _)| all.into_iter().filter(|m| m.2).map(|m| (m.0, m.1)).collect::<Vec<_>>());
    let more = prop_oneof![
        12 => Just(Vec::new()),
        2 => prop::collection::vec((keys_off_the_path(), values()), 1..3),
        1 => prop::collection::vec((keys(), values()), 1..2),
    ];
    (usual, more, any::<bool>())
        .prop_map(|(usual, more, before)| {
            Json::Object(if before { [more, usual].concat() } else { [usual, more].concat() })
        })
        .boxed()
}
