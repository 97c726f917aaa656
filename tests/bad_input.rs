//! Input that nobody should send: damaged, huge, deep and wrong. The answer is the documented one, it comes in bounded
//! time, and the next call is unaffected. (Memory: `tests/allocations.rs`.)

mod spec;
mod vectors_support;

use std::time::{Duration, Instant};

use kandev_policy::limits::MAX_DOCUMENT_BYTES;
use kandev_policy::{decide_json, explain_json, Decision, Kind, Policy, Reason};
use vectors_support::{all, Vector};

const CLAUDE: &str = r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#;
const BLANKET: &str = r#"{"agent_type":"claude-acp","auto_approve_permissions":true}"#;
const REVIEWER: &str =
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}"#;
const GOOD: &str = r#"{"toolCall":{"name":"mcp__kandev__list"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#;

/// Generous: it has to hold on a busy machine in a debug build. A quadratic loop takes hours.
const LONGEST: Duration = Duration::from_secs(10);

fn policy(config: &str) -> Policy {
    Policy::new(config.as_bytes()).unwrap()
}

/// Decides within the bound, and shows that the next call is unaffected.
fn bounded(what: &str, frame: &[u8], config: &str) -> String {
    let policy = policy(config);
    let started = Instant::now();
    let decision = policy.decide(frame).to_json();
    let took = started.elapsed();
    assert!(took < LONGEST, "{what}: {took:?}");
    println!("{what}: {} bytes in {took:?}: {}", frame.len(), decision.get(..80).unwrap_or(&decision));
    if config == CLAUDE {
        assert_eq!(policy.decide(GOOD.as_bytes()).reason(), Reason::InjectedMcp);
    }
    decision
}

fn captures(prefix: &str) -> Vec<Vector> {
    let captures: Vec<Vector> = all().into_iter().filter(|v| v.id.starts_with(prefix)).collect();
    assert!(captures.len() > 20, "{} captures of {prefix}", captures.len());
    captures
}

#[test]
fn nothing_and_next_to_nothing() {
    for nothing in
        ["", " ", "\n\t\r ", "\0", "null", "true", "0", "\"\"", "[]", "[{}]", "{}", "{", "}", "\u{feff}", "\u{feff}{}"]
    {
        for config in [CLAUDE, BLANKET, "{}"] {
            assert_eq!(
                decide_json(nothing.as_bytes(), config.as_bytes()),
                r#"{"decision":"ask","reason":"malformed_frame"}"#,
                "{nothing:?}"
            );
        }
        let denied = decide_json(nothing.as_bytes(), REVIEWER.as_bytes());
        assert_eq!(denied, r#"{"decision":"deny","reason":"malformed_request","status":400}"#, "{nothing:?}");
        if nothing != "{}" {
            let asked = decide_json(GOOD.as_bytes(), nothing.as_bytes());
            assert_eq!(asked, r#"{"decision":"ask","reason":"malformed_config"}"#, "{nothing:?}");
        }
    }
}

#[test]
fn bytes_that_are_not_utf_8_at_every_position() {
    // A lone continuation, an overlong slash, half a character, a surrogate, beyond Unicode, never valid.
    const BAD: [&[u8]; 7] =
        [b"\x80", b"\xC0\xAF", b"\xE2\x82", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xF8\x88\x80\x80\x80", b"\xFF"];
    let body = r#"{"session_id":"s","tool_name":"submit_review_result"}"#;
    let cases = [(GOOD, CLAUDE), (GOOD, BLANKET), (body, REVIEWER)];
    for (input, config) in cases {
        let policy = policy(config);
        for bad in BAD {
            for at in 0..=input.len() {
                let bytes = [&input.as_bytes()[..at], bad, &input.as_bytes()[at..]].concat();
                let reason = policy.decide(&bytes).reason();
                assert!(
                    matches!(reason, Reason::MalformedFrame | Reason::MalformedRequest),
                    "{bad:x?} at {at}: {reason:?}"
                );
            }
            for at in 0..=config.len() {
                let bytes = [&config.as_bytes()[..at], bad, &config.as_bytes()[at..]].concat();
                let error = Policy::new(&bytes).err().expect("a config that is not UTF-8");
                assert!(matches!(error.decision().kind(), Kind::Ask), "{bad:x?} at {at}");
            }
        }
    }
}

#[test]
fn captures_cut_off_at_every_byte() {
    let policies = [policy(CLAUDE), policy(BLANKET)];
    for vector in captures("acp-capture") {
        let (frame, own) = (vector.input(), Policy::new(&vector.config()).unwrap());
        for length in 0..frame.trim_ascii_end().len() {
            for policy in policies.iter().chain([&own]) {
                let decision = policy.decide(&frame[..length]);
                assert_eq!(decision.reason(), Reason::MalformedFrame, "{} cut off at {length}", vector.id);
                assert_eq!(decision.kind(), Kind::Ask);
            }
        }
    }
    let policy = policy(REVIEWER);
    for vector in captures("hooks-capture") {
        let body = vector.input();
        for length in 0..body.trim_ascii_end().len() {
            let decision = policy.decide(&body[..length]);
            assert_eq!(
                (decision.kind(), decision.reason()),
                (Kind::Deny, Reason::MalformedRequest),
                "{} at {length}",
                vector.id
            );
        }
    }
}

/// Whether what was selected is in the frame: the very option, and the very name of the tool.
fn is_in_the_frame(decision: &Decision, frame: &[u8]) -> bool {
    let frame: serde_json::Value = serde_json::from_slice(frame).expect("a frame that was selected from is JSON");
    let params = frame.get("params").unwrap_or(&frame);
    let option = &params["options"][decision.option_index().unwrap()];
    let call = params.get("toolCall").unwrap_or(&params["subject"]["toolCall"]);
    let tool = format!("mcp__{}__{}", decision.server().unwrap_or(""), decision.tool().unwrap_or(""));
    let says = |value: &serde_json::Value| value.as_str() == Some(&tool);
    let named = says(&call["name"]) || says(&call["title"]) || says(&call["_meta"]["claudeCode"]["toolName"]);
    option["optionId"].as_str() == decision.option_id() && named
}

#[test]
fn captures_with_each_byte_flipped() {
    // Each byte in one bit, and every 16th of these frames by the specification too; in a release build in all bits,
    // and all by the specification.
    let (bits, every) = if cfg!(debug_assertions) { (1, 16) } else { (8, 1) };
    let mut count = 0;
    let mut selected = 0;
    for vector in captures("acp-capture") {
        let (mut frame, config) = (vector.input(), vector.config());
        let policy = Policy::new(&config).unwrap();
        let is_blanket = String::from_utf8_lossy(&config).contains("auto_approve");
        for at in 0..frame.len() {
            for bit in (0..8).cycle().skip(at % 8).take(bits) {
                frame[at] ^= 1 << bit;
                let decision = policy.decide(&frame);
                if decision.kind() == Kind::Select && !is_blanket {
                    selected += 1;
                    assert!(is_in_the_frame(&decision, &frame), "{} at {at}, bit {bit}: {decision:?}", vector.id);
                }
                if count % every == 0 {
                    assert_eq!(decision.to_json(), spec::decide(&frame, &config), "{} at {at}, bit {bit}", vector.id);
                }
                count += 1;
                frame[at] ^= 1 << bit;
            }
        }
    }
    assert!(selected > 1000, "most of a frame is off the decision path");
    println!("{count} frames with one bit flipped, {selected} of them still approved");
}

/// A value in the raw input of an otherwise good frame.
fn with_raw_input(value: &str) -> String {
    format!(
        r#"{{"toolCall":{{"rawInput":{value},"name":"mcp__kandev__list"}},"options":[{{"optionId":"yes","kind":"allow_once"}}]}}"#
    )
}

#[test]
fn a_million_nested_values() {
    let million = 1_000_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
        let deep = with_raw_input(&format!("{}0{}", open.repeat(million), close.repeat(million)));
        assert!(bounded("nested", deep.as_bytes(), CLAUDE).contains("injected_mcp"));
        let open_only = with_raw_input(&open.repeat(million));
        assert!(bounded("nested, never closed", open_only.as_bytes(), CLAUDE).contains("malformed_frame"));
        let crossed = with_raw_input(&format!("{}0{}", open.repeat(million), close.repeat(million - 1) + "]]"));
        assert!(bounded("nested, closed wrongly", crossed.as_bytes(), CLAUDE).contains("malformed_frame"));
    }
    // On the decision path they are a wrong type, whatever their depth.
    let deep = format!("{}{}", "[".repeat(million), "]".repeat(million));
    for (key, reason) in [("name", "identity_malformed"), ("_meta", "identity_malformed"), ("title", "injected_mcp")] {
        let frame = GOOD.replace(r#"{"name""#, &format!(r#"{{"{key}":{deep},"unused""#));
        let frame = if key == "name" { frame } else { frame.replace(r#""unused""#, r#""name""#) };
        assert!(bounded(key, frame.as_bytes(), CLAUDE).contains(reason), "{key}");
    }
    for frame in [
        format!(r#"{{"params":{deep},"method":"session/request_permission"}}"#),
        GOOD.replace("[{", &format!("[{deep},{{")),
    ] {
        assert!(bounded("on the path", frame.as_bytes(), CLAUDE).contains("malformed_frame"));
    }
}

#[test]
fn half_a_million_options() {
    let count = 500_000;
    let frame = |options: String| format!(r#"{{"toolCall":{{"name":"mcp__kandev__list"}},"options":[{options}]}}"#);
    let distinct: Vec<String> = (0..count).map(|i| format!(r#"{{"optionId":"{i:x}","kind":"a"}}"#)).collect();
    let distinct = distinct.join(",");
    let equal = vec![r#"{"optionId":"a","kind":"b"}"#; count].join(",");
    let allow = r#"{"optionId":"yes","kind":"allow_once"}"#;
    for config in [CLAUDE, BLANKET] {
        let reason = if config == CLAUDE { "injected_mcp" } else { "blanket_approval" };
        for others in [&distinct, &equal] {
            for options in [format!("{allow},{others}"), format!("{others},{allow}")] {
                let frame = frame(options);
                assert!(frame.len() <= MAX_DOCUMENT_BYTES);
                let decision = bounded("options", frame.as_bytes(), config);
                assert!(decision.contains(reason) && decision.contains(r#""option_id":"yes""#), "{decision}");
            }
        }
    }
    // The other one of the same id is the last; and all of them are allowed under one id.
    let twice = frame(format!("{allow},{distinct},{}", r#"{"optionId":"\u0079es","kind":"x"}"#));
    assert!(bounded("an equal id at the end", twice.as_bytes(), CLAUDE).contains("option_id_unusable"));
    let all_allowed = frame(vec![r#"{"optionId":"a","kind":"allow_once"}"#; 400_000].join(","));
    assert!(bounded("all allowed", all_allowed.as_bytes(), CLAUDE).contains("option_id_unusable"));
    assert!(bounded("nothing allowed", frame(distinct).as_bytes(), CLAUDE).contains("no_allow_option"));
}

#[test]
fn sixteen_mebibytes_of_everything() {
    let filled = |before: &str, each: &str, behind: &str| {
        let room = MAX_DOCUMENT_BYTES - before.len() - behind.len();
        let mut frame = format!("{before}{}", each.repeat(room / each.len()));
        frame += &" ".repeat(MAX_DOCUMENT_BYTES - frame.len() - behind.len());
        frame + behind
    };
    let (before, behind) = (
        r#"{"toolCall":{"name":"mcp__kandev__list","rawInput":"#,
        r#"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#,
    );
    for (what, open, each, close, reason) in [
        ("a string", "\"", "text ", "\"", "injected_mcp"),
        ("a string of escapes", "\"", "\\\"\\u00e9", "\"", "injected_mcp"),
        ("a string of half pairs", "\"", "\\ud83c", "\"", "injected_mcp"),
        ("a string of emoji", "\"", "\u{1f600}", "\"", "injected_mcp"),
        ("a number", "1", "9", "", "injected_mcp"),
        ("numbers", "[1", ",-1.5e+3", "]", "injected_mcp"),
        ("tiny members", "{\"a\":0", ",\"\":1", "}", "injected_mcp"),
        ("strings", "[\"\"", ",\"\"", "]", "injected_mcp"),
        ("white space", "[", " \n", "]", "injected_mcp"),
        ("a string that never ends", "\"", "text", "", "malformed_frame"),
        ("backslashes", "\"", "\\\\", "\"", "injected_mcp"),
        ("commas", "[0", ",", "]", "malformed_frame"),
    ] {
        let frame = filled(&format!("{before}{open}"), each, &format!("{close}{behind}"));
        assert_eq!(frame.len(), MAX_DOCUMENT_BYTES);
        assert!(bounded(what, frame.as_bytes(), CLAUDE).contains(reason), "{what}");
        // One byte more is too long, whatever it is.
        assert!(bounded("one byte more", format!("{frame} ").as_bytes(), CLAUDE).contains("malformed_frame"));
    }
    // Keys of the path over and over, long rival keys, a long name, a long id.
    let doubled = filled(r#"{"toolCall":{"name":"mcp__kandev__list""#, r#","name":"x""#, behind);
    assert!(bounded("name over and over", doubled.as_bytes(), CLAUDE).contains("malformed_frame"));
    let keys = filled(r#"{"toolCall":{"name":"mcp__kandev__list""#, r#","\u006eame2":0"#, behind);
    assert!(bounded("keys that begin like one of the path", keys.as_bytes(), CLAUDE).contains("injected_mcp"));
    let name = filled(r#"{"toolCall":{"name":"mcp__kandev__"#, "a", &format!("\"{behind}"));
    assert!(bounded("a long name", name.as_bytes(), CLAUDE).contains("invalid_tool_name"));
    let title = filled(r#"{"toolCall":{"kind":"other","title":"mcp__kandev__"#, "\\u0061", &format!("\"{behind}"));
    assert!(bounded("a long title", title.as_bytes(), CLAUDE).contains("identity_missing"));
    let id = filled(
        r#"{"toolCall":{"name":"mcp__kandev__list"},"options":[{"kind":"allow_once","optionId":""#,
        "\\u0020",
        "\"}]}",
    );
    assert!(bounded("a long blank id", id.as_bytes(), CLAUDE).contains("option_id_unusable"));
    let kind = filled(
        r#"{"toolCall":{"name":"mcp__kandev__list"},"options":[{"optionId":"yes","kind":""#,
        " ",
        "allow_once\"}]}",
    );
    assert!(bounded("a long padded kind", kind.as_bytes(), CLAUDE).contains("injected_mcp"));
}

/// One long id among as many short ones as there is room for, in every place and spelling: comparing a short id with the
/// long one must not cost the long one's length.
#[test]
fn a_long_option_id_among_short_ones() {
    let half = MAX_DOCUMENT_BYTES / 2 - 1024;
    let before = r#"{"toolCall":{"name":"mcp__kandev__list"},"options":["#;
    let option = |id: &str, kind: &str| format!(r#"{{"optionId":"{id}","kind":"{kind}"}}"#);
    for (unit, escape) in [("a", ""), ("a", "\\n"), ("\u{e9}", ""), ("\u{e9}", "\\n"), ("\\u00e9", "")] {
        let long = option(&format!("{escape}{}", unit.repeat(half / unit.len())), "allow_once");
        for short in ["b", "\\u0062", "a", "\\u0061", "\u{e9}", "\\n", "\\n\u{e9}"] {
            let short = option(short, "other");
            let shorts = vec![short.as_str(); half / (short.len() + 1)].join(",");
            for options in [format!("{long},{shorts}"), format!("{shorts},{long}"), format!("{short},{long},{shorts}")]
            {
                let frame = format!("{before}{options}]}}");
                assert!(frame.len() <= MAX_DOCUMENT_BYTES);
                assert!(bounded("a long id among short ones", frame.as_bytes(), CLAUDE).contains("injected_mcp"));
            }
        }
    }
}

#[test]
fn huge_and_deep_configs() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let started = Instant::now();
    let cases = [
        (format!(r#"{{"port":{deep}}}"#), "malformed_config"),
        (format!(r#"{{"unknown":{deep}}}"#), "malformed_config"),
        (format!(r#"{{"mcp_servers":[{{"name":"other","x":{deep}}}]}}"#), "provenance_missing"),
        (CLAUDE.replace(r#""type""#, &format!(r#""args":{deep},"type""#)), "server_not_injected"),
        ("[".repeat(1_000_000), "malformed_config"),
        (format!(r#"{{"mcp_servers":[{}{{}}]}}"#, r#"{"name":"other"},"#.repeat(500_000)), "provenance_missing"),
        (format!(r#"{{"mcp_servers":[{}{{}}]}}"#, r#"{"name":"kandev"},"#.repeat(500_000)), "provenance_missing"),
        (CLAUDE.replacen('{', &format!("{{{}", " ".repeat(MAX_DOCUMENT_BYTES - CLAUDE.len())), 1), "injected_mcp"),
        (
            CLAUDE.replacen('{', &format!("{{{}", " ".repeat(MAX_DOCUMENT_BYTES - CLAUDE.len() + 1)), 1),
            "malformed_config",
        ),
    ];
    for (config, reason) in cases {
        let decision = decide_json(GOOD.as_bytes(), config.as_bytes());
        assert!(decision.contains(reason), "{}…: {decision}", config.get(..60).unwrap());
    }
    assert!(started.elapsed() < LONGEST * 3, "{:?}", started.elapsed());
}

/// What must never be seen again.
const SENTINEL: &str = "s3cr3t-5ent1nel";

/// Everything that can be said about a config and a request under it.
fn all_that_is_said(request: &str, config: &str) -> String {
    let mut said = decide_json(request.as_bytes(), config.as_bytes());
    said += &explain_json(request.as_bytes(), config.as_bytes());
    match Policy::new(config.as_bytes()) {
        Ok(policy) => {
            said += &format!("{:?}{:#?}", policy.decide(request.as_bytes()), policy.decide(request.as_bytes()))
        }
        Err(error) => said += &format!("{error}{error:?}{error:#?}{:?}", error.decision()),
    }
    said
}

#[test]
fn a_config_error_names_key_found_and_expected_and_never_a_value() {
    let string = format!("\"{SENTINEL}\"");
    let found: [(&str, String); 9] = [
        ("string", string.clone()),
        ("boolean", "true".into()),
        ("integer", "7".into()),
        ("a number that is no 64-bit integer", "7.5".into()),
        ("a number that is no 64-bit integer", "18446744073709551616".into()),
        ("array", format!("[{string}]")),
        ("object", format!("{{\"x\":{string}}}")),
        ("a string with a lone surrogate", format!("\"{SENTINEL}\\ud800\"")),
        ("null", "null".into()),
    ];
    let keys = [
        ("", "policy", "string"),
        ("", "agent_type", "string"),
        ("", "port", "integer"),
        ("", "mcp_host", "string"),
        ("", "injected_kandev_mcp", "boolean"),
        ("", "mcp_servers", "array of objects"),
        ("", "auto_approve_permissions", "boolean"),
        ("reviewer", "vendor", "string"),
        ("reviewer", "token", "string"),
        ("reviewer", "servers", "array of strings"),
        ("reviewer", "result_channel_scope", "string"),
        ("reviewer", "catalog", "object"),
    ];
    for (policy, key, expected) in keys {
        for (found, value) in &found {
            let required = key == "vendor" || key == "token";
            let others = match policy {
                "" => vec![("agent_type", "\"claude-acp\"")],
                _ => vec![("policy", "\"unattended_review\""), ("vendor", "\"codex\""), ("token", "\"shared\"")],
            };
            let others: Vec<String> =
                others.iter().filter(|o| o.0 != key).map(|(k, v)| format!("\"{k}\":{v},")).collect();
            let config = format!("{{{}\"{key}\":{value}}}", others.concat());
            let said = all_that_is_said(GOOD, &config);
            assert!(!said.contains(SENTINEL), "{config}: {said}");

            let is_right = expected == *found || (*found == "null" && !required);
            let goes_deeper = *found == "array" && expected.starts_with("array");
            match Policy::new(config.as_bytes()) {
                Ok(_) => assert!(is_right || goes_deeper, "{config}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        text.starts_with(&format!("{key}: ")) || (text.starts_with(key) && (is_right || goes_deeper)),
                        "{config}: {text}"
                    );
                    if !is_right && !goes_deeper {
                        let found = if *found == "null" { "missing" } else { &format!("found {found}") };
                        assert_eq!(text, format!("{key}: {found}, expected {expected}"), "{config}");
                    }
                    assert_eq!(error.decision().reason(), Reason::MalformedConfig);
                    assert_eq!(error.decision().kind(), if policy.is_empty() { Kind::Ask } else { Kind::Deny });
                }
            }
        }
    }
}

#[test]
fn what_is_secret_is_never_said() {
    let s = SENTINEL;
    let frame = |name: &str, more: &str| {
        format!(
            r#"{{"sessionId":"{s}","toolCall":{{"name":"{name}","title":"{s}","kind":"{s}","rawInput":{{"{s}":"{s}"}},"content":["{s}"],"_meta":{{"{s}":1,"claudeCode":{{"{s}":2{more}}}}}}},"options":[{{"optionId":"yes","kind":"allow_once","name":"{s}"}},{{"optionId":"no","kind":"{s}","name":"{s}"}}]}}"#
        )
    };
    let frames = [
        frame("mcp__kandev__list", ""),
        frame("mcp__kandev__list", &format!(r#","mcpServer":{{"name":"{s}","source":"{s}"}}"#)),
        frame("mcp__kandev__list", &format!(r#","mcpServer":{{"name":"kandev","source":"{s}"}}"#)),
        frame("mcp__kandev__list", &format!(r#","toolName":"{s}""#)),
        frame("mcp__kandev__list", &format!(r#","mcpServer":"{s}""#)),
        frame(s, ""),
        frame(&format!("mcp__kandev__a__{s}"), ""),
        frame(&format!("mcp__kandev__a.{s}"), ""),
        frame("mcp__kandev__list", "")[1..].to_owned(),
        format!(r#"{{"method":"{s}","params":{{"{s}":"{s}"}}}}"#),
        format!(r#"{{"toolCall":{{"name":"mcp__kandev__list"}},"options":[{{"optionId":"{s}","kind":"{s}"}}]}}"#),
        format!(
            r#"{{"session_id":"{s}","tool_name":"Bash","cwd":"{s}","tool_input":{{"command":"{s}"}},"mcp_server":{{"name":"{s}","source":"{s}"}}}}"#
        ),
        format!(
            r#"{{"session_id":"{s}","tool_name":"mcp__kcap_review__x","mcp_server":{{"name":"{s}","source":"dynamic"}}}}"#
        ),
        format!(r#"{{"session_id":"s","tool_name":"{s}"}}"#),
    ];
    let entry = format!(
        r#"{{"name":"kandev","type":"http","url":"http://{s}:41000/mcp","command":"{s}","args":["{s}"],"env":{{"{s}":"{s}"}},"headers":{{"Authorization":"{s}"}},"{s}":"{s}"}}"#
    );
    let configs = [
        CLAUDE.to_owned(),
        BLANKET.replace("true", "false"),
        REVIEWER.to_owned(),
        format!(
            r#"{{"agent_type":"{s}","port":41000,"mcp_host":"{s}","injected_kandev_mcp":true,"mcp_servers":[{entry}]}}"#
        ),
        format!(r#"{{"agent_type":"claude-acp","mcp_servers":[{{"name":"kandev","url":"{s}","url":"{s}"}}]}}"#),
        format!(r#"{{"mcp_servers":["{s}"]}}"#),
        format!(r#"{{"policy":"{s}"}}"#),
        format!(r#"{{"policy":"unattended_review","vendor":"{s}","token":"{s}"}}"#),
        format!(r#"{{"policy":"unattended_review","vendor":"codex","token":"{s}"}}"#),
        format!(r#"{{"policy":"unattended_review","vendor":"codex","token":"shared","result_channel_scope":"{s}"}}"#),
        format!(r#"{{"policy":"unattended_review","vendor":"codex","token":"shared","servers":["{s}"]}}"#),
        format!(r#"{{"port":1,"mcp_host":"{s}""#),
        format!(r#"{{"port":1,"mcp_host":"{s}\x"}}"#),
        format!(r#"{{"mcp_host":{s}}}"#),
    ];
    for config in &configs {
        for frame in &frames {
            let said = all_that_is_said(frame, config);
            assert!(!said.contains(s), "{config}\n{frame}\n{said}");
        }
    }
}
