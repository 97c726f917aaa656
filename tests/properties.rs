//! What holds for every input: on names, documents and frames that proptest makes up.
//!
//! `PROPTEST_CASES=200000 cargo test --release --test properties` looks further than a plain run.

mod json_text;
mod spec;

use json_text::{bodies, frames, keys_off_the_path, numbers, texts, values, Json, Spelling};
use kandev_policy::{decide_json, explain_json, Kind, Offer, OptionKind, Policy, Reason, Request, ToolMeta};
use proptest::prelude::*;

const CLAUDE: &str = r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#;
const GENERIC: &str = r#"{"agent_type":"x","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"sse","url":"http://localhost:41000/sse"}]}"#;
const BLANKET: &str = r#"{"agent_type":"claude-acp","auto_approve_permissions":true}"#;
const REVIEWER: &str =
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}"#;
const SHARED: &str =
    r#"{"policy":"unattended_review","vendor":"claude","token":"shared","result_channel_scope":"reviewer"}"#;
const CONFIGS: [&str; 5] = [CLAUDE, GENERIC, BLANKET, REVIEWER, SHARED];

fn configs() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&CONFIGS[..])
}

fn inputs() -> impl Strategy<Value = Json> {
    prop_oneof![4 => frames(), 2 => bodies(), 1 => values()]
}

/// Compares all ways to one decision with the specification; gives the decision.
fn decided(input: &[u8], config: &str) -> Result<String, TestCaseError> {
    let expected = spec::decide(input, config.as_bytes());
    prop_assert_eq!(&decide_json(input, config.as_bytes()), &expected, "one-shot");
    if let Ok(policy) = Policy::new(config.as_bytes()) {
        prop_assert_eq!(&policy.decide(input).to_json(), &expected, "compiled");
    }
    let explained = explain_json(input, config.as_bytes());
    prop_assert!(explained.starts_with(expected.strip_suffix('}').unwrap()), "explained: {explained}");
    Ok(expected)
}

fn frame_with_name(name: &[Option<char>]) -> String {
    let name = Json::Text(name.to_vec()).plain();
    format!(r#"{{"toolCall":{{"name":{name}}},"options":[{{"optionId":"yes","kind":"allow_once"}}]}}"#)
}

/// What damages a document.
#[derive(Clone, Debug)]
enum Damage {
    Truncate(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index),
    Before(Vec<u8>),
    Behind(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    const PIECES: &[&[u8]] = &[
        b"\xEF\xBB\xBF",
        b"\0",
        b"\"",
        b"\\",
        b",",
        b":",
        b"{",
        b"}",
        b"[",
        b"]",
        b" ",
        b"\x0b",
        b"\xC2\xA0",
        b"\xFF",
        b"\xED\xA0\x80",
        b"\xC0\xAF",
        b"\xE2\x80",
        b"0",
        b"-",
        b"NaN",
        b"\\ud800",
        b"\\u00",
        b"//",
        b"\x7F",
        b"\n",
    ];
    let pieces = prop::sample::select(PIECES).prop_map(<[u8]>::to_vec);
    prop_oneof![
        1 => index().prop_map(Damage::Truncate),
        3 => (index(), 0u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        3 => (index(), pieces.clone()).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        2 => index().prop_map(Damage::Remove),
        1 => pieces.clone().prop_map(Damage::Before),
        1 => pieces.prop_map(Damage::Behind),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        let length = bytes.len();
        match damage {
            Damage::Truncate(at) => bytes.truncate(at.index(length + 1)),
            Damage::Flip(at, bit) if length > 0 => bytes[at.index(length)] ^= 1 << bit,
            Damage::Insert(at, piece) => {
                let at = at.index(length + 1);
                bytes.splice(at..at, piece.iter().copied());
            }
            Damage::Remove(at) if length > 0 => {
                bytes.remove(at.index(length));
            }
            Damage::Before(piece) => bytes = [piece, bytes.as_slice()].concat(),
            Damage::Behind(piece) => bytes.extend(piece),
            Damage::Flip(..) | Damage::Remove(_) => {}
        }
    }
    bytes
}

/// Puts a member into the object that a walk of `path` ends in.
fn put(json: &mut Json, path: &[prop::sample::Index], key: Vec<Option<char>>, value: Json) {
    let inside: Vec<&mut Json> = match json {
        Json::Array(elements) => elements.iter_mut().collect(),
        Json::Object(members) => members.iter_mut().map(|m| &mut m.1).collect(),
        _ => return,
    };
    let mut nested: Vec<&mut Json> =
        inside.into_iter().filter(|j| matches!(j, Json::Array(_) | Json::Object(_))).collect();
    match path.split_first() {
        Some((step, path)) if !nested.is_empty() => {
            let chosen = step.index(nested.len());
            put(nested.swap_remove(chosen), path, key, value);
        }
        _ => {
            if let Json::Object(members) = json {
                members.push((key, value));
            }
        }
    }
}

/// What a host's decoder keeps of a frame; `None` where a `Request` has no place for what the frame says.
fn decode(frame: &str, config: &str) -> Option<String> {
    let frame: serde_json::Value = serde_json::from_str(frame).ok()?;
    let params = frame.get("params").unwrap_or(&frame);
    let none = serde_json::Value::Null;
    let subject = params.get("subject").unwrap_or(&none);
    let call = match params.get("toolCall") {
        Some(call) => call,
        None if subject.get("type").and_then(|t| t.as_str()) == Some("tool_call") => subject.get("toolCall")?,
        None => &none,
    };
    let name = call.get("name").unwrap_or(&none);
    if !name.is_null() && !name.is_string() {
        return None;
    }
    let meta = call.get("_meta").unwrap_or(&none);
    let code = meta.get("claudeCode");
    let tool_name = code.and_then(|c| c.get("toolName"));
    let server = code.and_then(|c| c.get("mcpServer")).filter(|s| !s.is_null());
    let both = server.map(|s| (s["name"].as_str(), s["source"].as_str()));
    let malformed = !(meta.is_null() || meta.is_object())
        || code.is_some_and(|c| !c.is_object())
        || tool_name.is_some_and(|n| !n.is_string())
        || both.is_some_and(|(name, source)| name.is_none() || source.is_none());
    let server = both.and_then(|(name, source)| Some((name?, source?)));
    let options: Vec<Offer> = params
        .get("options")
        .and_then(|o| o.as_array())
        .into_iter()
        .flatten()
        .map(|o| Offer { option_id: o["optionId"].as_str().unwrap(), kind: o["kind"].as_str().unwrap() })
        .collect();
    let text = |key| call.get(key).and_then(|t| t.as_str()).unwrap_or("");
    let tool_meta = ToolMeta { malformed, tool_name: tool_name.and_then(|n| n.as_str()), server };
    let request =
        Request { tool_name: name.as_str(), tool_meta, title: text("title"), kind: text("kind"), options: &options };
    Some(Policy::new(config.as_bytes()).unwrap().decide_request(&request).to_json())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A name is split in exactly one way, or not at all, and putting the halves together gives the name back.
    #[test]
    fn names(name in prop_oneof![
        texts(),
        "mcp__[a-zA-Z_.é-]{0,12}__?[a-zA-Z_.é-]{0,12}".prop_map(|s| json_text::units(&s)),
        "mcp__kandev__[a-z_]{1,260}".prop_map(|s| json_text::units(&s)),
    ]) {
        let frame = frame_with_name(&name);
        decided(frame.as_bytes(), GENERIC)?;
        let policy = Policy::new(GENERIC.as_bytes()).unwrap();
        let decision = policy.decide(frame.as_bytes());
        if let (Some(server), Some(tool)) = (decision.server(), decision.tool()) {
            let whole: String = name.iter().copied().map(Option::unwrap).collect();
            prop_assert_eq!(format!("mcp__{server}__{tool}"), whole.as_str());
            prop_assert!(whole.len() <= 256);
            prop_assert_eq!(whole[5..].match_indices("__").count(), 1);
            prop_assert_eq!(decision.kind() == Kind::Select, server == "kandev");
        } else {
            prop_assert_eq!(decision.kind(), Kind::Ask);
        }
    }

    #[test]
    fn documents_in_any_spelling(input in inputs(), seed in any::<u64>(), config in configs()) {
        decided(input.spelled(&mut Spelling::of(seed)).as_bytes(), config)?;
    }

    #[test]
    fn damaged_documents(
        input in inputs(),
        seed in any::<u64>(),
        damages in prop::collection::vec(damage(), 1..4),
        config in configs(),
    ) {
        let seed = if seed % 2 == 0 { Spelling::plain() } else { Spelling::of(seed) };
        let bytes = damaged(input.spelled(&mut { seed }).into_bytes(), &damages);
        decided(&bytes, config)?;
    }

    #[test]
    fn damaged_configs(
        frame in frames(),
        config in configs(),
        damages in prop::collection::vec(damage(), 1..3),
        more in prop::option::of((prop::collection::vec(any::<prop::sample::Index>(), 0..3), json_text::keys(), values())),
    ) {
        let mut json = Json::from_value(&serde_json::from_str(config).unwrap());
        if let Some((path, key, value)) = more.clone() {
            put(&mut json, &path, key, value);
        }
        let config = if more.is_some() { json.plain().into_bytes() } else { damaged(config.into(), &damages) };
        let frame = frame.plain();
        prop_assert_eq!(decide_json(frame.as_bytes(), &config), spec::decide(frame.as_bytes(), &config));
    }

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), config in configs()) {
        decided(&bytes, config)?;
        decided(CLAUDE.as_bytes(), &String::from_utf8_lossy(&bytes))?;
    }

    /// The scanner takes a value exactly when serde_json does, wherever the value stands.
    #[test]
    fn the_scanner_and_serde_json_accept_the_same(
        value in prop_oneof![values().prop_map(|v| v.plain()), numbers()],
        damages in prop::collection::vec(damage(), 0..3),
    ) {
        let value = damaged(value.into_bytes(), &damages);
        let accepts = |bytes: &[u8]| {
            std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
        };
        let surrounded = |before: &str, behind: &str| [before.as_bytes(), &value, behind.as_bytes()].concat();
        let policy = Policy::new(CLAUDE.as_bytes()).unwrap();
        // (A damaged value may close its surroundings and open others: then the whole can be JSON though it is not.)
        let is_value = accepts(&value);

        // As a member off the path, where it is skipped.
        let frame = surrounded(
            r#"{"toolCall":{"name":"mcp__kandev__list","rawInput":"#,
            r#"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#,
        );
        let reason = policy.decide(&frame).reason();
        if is_value {
            prop_assert_eq!(reason, Reason::InjectedMcp);
        } else if !accepts(&frame) {
            prop_assert_eq!(reason, Reason::MalformedFrame);
        }

        // As the document, and in one: the trace says whether that step was passed.
        let is_document = |bytes: &[u8]| policy.explain(bytes).contains(r#"{"step":"document","outcome":"passed""#);
        let is_object = is_value && value.trim_ascii().starts_with(b"{");
        prop_assert!(is_object || !is_document(&value));
        let document = surrounded("{\"x\":", "}");
        if is_value {
            prop_assert!(is_document(&document));
        } else if !accepts(&document) {
            prop_assert!(!is_document(&document));
        }
    }

    /// Escapes, white space and the order of members say nothing.
    #[test]
    fn spelling_never_matters(input in inputs(), seed in any::<u64>(), config in configs()) {
        let plain = decide_json(input.plain().as_bytes(), config.as_bytes());
        let other = decide_json(input.spelled(&mut Spelling::of(seed)).as_bytes(), config.as_bytes());
        prop_assert_eq!(plain, other);
    }

    /// What stands off the decision path says nothing, whatever it is.
    #[test]
    fn members_off_the_path_never_matter(
        input in prop_oneof![frames(), bodies()],
        path in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        key in keys_off_the_path(),
        value in values(),
        config in configs(),
    ) {
        let mut more = input.clone();
        put(&mut more, &path, key, value);
        let (before, after) = (input.plain(), more.plain());
        prop_assert_eq!(
            decide_json(before.as_bytes(), config.as_bytes()),
            decide_json(after.as_bytes(), config.as_bytes()),
            "with {}", after
        );
    }

    /// A selection is one of the offered options, byte for byte; an approval is never a reject option.
    #[test]
    fn selections(frame in frames(), seed in any::<u64>(), config in configs()) {
        let bytes = frame.spelled(&mut Spelling::of(seed));
        let policy = Policy::new(config.as_bytes()).unwrap();
        let decision = policy.decide(bytes.as_bytes());
        prop_assert_eq!(decision.kind() == Kind::Select, decision.option_id().is_some());
        prop_assert_eq!(decision.kind() == Kind::Select, decision.option_index().is_some());
        prop_assert_eq!(
            decision.kind() == Kind::Select,
            matches!(decision.reason(), Reason::InjectedMcp | Reason::BlanketApproval)
        );
        if let Some(index) = decision.option_index() {
            let params = frame.member("params").unwrap_or(&frame);
            let Some(Json::Array(options)) = params.member("options") else { panic!("no options") };
            let string = |i: usize, key| options[i].member(key).and_then(Json::string);
            let id = string(index, "optionId");
            prop_assert_eq!(id.as_deref(), decision.option_id());
            if decision.reason() == Reason::InjectedMcp {
                let allow = matches!(decision.option_kind(), Some(OptionKind::AllowOnce | OptionKind::AllowAlways));
                prop_assert!(allow);
                let kind = string(index, "kind").unwrap().to_ascii_lowercase();
                prop_assert!(kind.contains("allow") && !kind.contains("reject"));
                let same = (0..options.len()).filter(|i| string(*i, "optionId").as_deref() == decision.option_id());
                prop_assert_eq!(same.count(), 1);
                prop_assert_eq!(decision.server(), Some("kandev"));
            }
        }
    }

    /// A frame is decided as the host's decoded request is.
    #[test]
    fn decoded_requests(frame in frames(), config in prop::sample::select(&[CLAUDE, GENERIC, BLANKET][..])) {
        let frame = frame.plain();
        let decision = decide_json(frame.as_bytes(), config.as_bytes());
        // What a decoder can't see, or what keeps a host from decoding at all.
        let beyond = ["malformed_config", "malformed_frame", "not_a_permission_request"];
        if !beyond.iter().any(|reason| decision.contains(reason)) {
            if let Some(decoded) = decode(&frame, config) {
                prop_assert_eq!(decoded, decision);
            }
        }
    }
}

/// The generators above are worth something: they reach the deep reasons.
#[test]
fn the_generated_frames_reach_every_reason() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..3_000 {
        let (frame, body) = (frames().new_tree(&mut runner).unwrap(), bodies().new_tree(&mut runner).unwrap());
        for config in CONFIGS {
            let policy = Policy::new(config.as_bytes()).unwrap();
            let input = if config.contains("vendor") { body.current() } else { frame.current() };
            *counts.entry(policy.decide(input.plain().as_bytes()).reason().word()).or_insert(0) += 1;
        }
    }
    println!("{counts:?}");
    let unreachable = [
        // By the host's fault alone, or by its config.
        "internal_error",
        "engine_unavailable",
        "malformed_config",
        "provenance_missing",
        "server_not_injected",
        "server_name_conflict",
    ];
    for reason in Reason::all().map(Reason::word).filter(|word| !unreachable.contains(word)) {
        assert!(counts.get(reason).is_some_and(|n| *n >= 3), "{reason} in {counts:?}");
    }
}
