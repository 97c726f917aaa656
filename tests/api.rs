//! What a Rust host reads of the library besides the decision's JSON: a decision's parts, errors, `Debug`, traces.

mod vectors_support;

use kandev_policy::{decide_json, explain_json, OptionKind, Policy, Registry, RegistryError};
use serde_json::Value;
use vectors_support::all;

#[test]
fn a_decisions_parts_say_what_its_json_says() {
    let (mut selected, mut answered) = (0, 0);
    for vector in all() {
        let input = vector.input();
        let Ok(policy) = Policy::new(&vector.config()) else { continue };
        let decision = policy.decide(&input);
        let json: Value = serde_json::from_str(&vector.expect).unwrap();
        let text = |key: &str| json.get(key).map(|value| value.as_str().unwrap());
        assert_eq!(text("decision"), Some(decision.kind().word()), "{}", vector.id);
        assert_eq!(text("reason"), Some(decision.reason().word()), "{}", vector.id);
        assert_eq!(text("option_id"), decision.option_id(), "{}", vector.id);
        assert_eq!(text("option_kind"), decision.option_kind().map(OptionKind::word), "{}", vector.id);
        assert_eq!(text("server"), decision.server(), "{}", vector.id);
        assert_eq!(text("tool"), decision.tool(), "{}", vector.id);
        assert_eq!(json.get("status").and_then(Value::as_u64), decision.status().map(u64::from), "{}", vector.id);
        assert_eq!(
            json.get("response").map(Value::to_string).is_some(),
            decision.response().is_some(),
            "{}",
            vector.id
        );
        assert_eq!(format!("{decision:?}"), vector.expect, "{}", vector.id);
        if let Some(index) = decision.option_index() {
            let frame: Value = serde_json::from_slice(&input).unwrap_or_default();
            let params = frame.get("params").unwrap_or(&frame);
            if let Some(option) = params["options"].get(index) {
                assert_eq!(option["optionId"].as_str(), decision.option_id(), "{}", vector.id);
                selected += 1;
            }
        }
        answered += usize::from(decision.response().is_some());
        assert_eq!(decision.option_index().is_some(), decision.option_id().is_some(), "{}", vector.id);
    }
    assert!(selected > 100 && answered > 100, "{selected} {answered}");
}

/// The place of an option is counted from the first one.
#[test]
fn the_index_is_the_chosen_options() {
    let policy = Policy::new(br#"{"auto_approve_permissions":true}"#).unwrap();
    for chosen in 0..4 {
        let kind = |at| if at == chosen { "allow_once" } else { "reject_once" };
        let option = |at: usize| format!(r#"{{"optionId":"{at}","kind":"{}"}}"#, kind(at));
        let frame = format!(r#"{{"toolCall":{{}},"options":[{}]}}"#, (0..4).map(option).collect::<Vec<_>>().join(","));
        let decision = policy.decide(frame.as_bytes());
        assert_eq!(decision.option_index(), Some(chosen));
        assert_eq!(decision.option_id(), Some(&*chosen.to_string()));
    }
    assert_eq!(policy.decide(b"{}").option_index(), None);
}

fn config_error(config: &[u8]) -> kandev_policy::ConfigError {
    Policy::new(config).err().unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(config)))
}

#[test]
fn a_config_error_names_the_key_and_the_types() {
    for (config, text) in [
        (r#"{"port":"secret"}"#, "port: found string, expected integer"),
        (r#"{"port":1.5}"#, "port: found a number that is no 64-bit integer, expected integer"),
        (r#"{"port":99999999999999999999}"#, "port: found a number that is no 64-bit integer, expected integer"),
        (r#"{"port":["secret"]}"#, "port: found array, expected integer"),
        (r#"{"port":true}"#, "port: found boolean, expected integer"),
        (r#"{"port":false}"#, "port: found boolean, expected integer"),
        (r#"{"agent_type":7}"#, "agent_type: found integer, expected string"),
        (r#"{"agent_type":-7}"#, "agent_type: found integer, expected string"),
        (r#"{"mcp_host":{"secret":1}}"#, "mcp_host: found object, expected string"),
        (r#"{"mcp_servers":[null]}"#, "mcp_servers[0]: found null, expected object"),
        (r#"{"policy":"unattended_review"}"#, "vendor: missing, expected string"),
        (r#"{"ports":1}"#, "unknown key"),
        (r#"{"port":1,"port":2}"#, "port: duplicate key"),
        (r#"{"policy":"unattended_review","policy":"unattended_review"}"#, "policy: duplicate key"),
        (r#"{"policy":"unattended_review","vendor":"codex","policy":null}"#, "policy: duplicate key"),
        (r#"{"policy":"injected_mcp","policy":5}"#, "policy: duplicate key"),
        (r#"{"mcp_servers":[{},{},3]}"#, "mcp_servers[2]: found integer, expected object"),
        (r#"{"mcp_servers":[{},{"name":"kandev","a":1,"a":2},3]}"#, "mcp_servers[1].a: duplicate key"),
    ] {
        let error = config_error(config.as_bytes());
        assert!(error.to_string().ends_with(text), "{config}: {error}");
        assert_eq!(error.position(), None, "{config}");
    }
    let surrogate = config_error(br#"{"agent_type":"\ud800 secret"}"#).to_string();
    assert!(surrogate.contains("surrogate") && !surrogate.contains("secret"), "{surrogate}");
}

/// Anything might have been pasted in a key's place.
#[test]
fn an_unknown_key_is_shown_only_if_it_looks_like_one() {
    let longest = "k".repeat(64);
    for (key, shown) in [
        ("ports", true),
        (&*longest, true),
        (&*format!("{longest}k"), false),
        ("a secret", false),
        ("sk-secret/", false),
        (r"gehe\u0069m", true),
        ("gehéim", false),
    ] {
        let error = config_error(format!(r#"{{"{key}":1}}"#).as_bytes()).to_string();
        let plain = key.replace(r"\u0069", "i");
        let want = if shown { plain } else { "(a key that is no plain word)".into() };
        assert_eq!(error, format!("{want}: unknown key"));
    }
}

#[test]
fn a_config_error_without_a_key_names_none() {
    assert_eq!(config_error(b"{\"agent_type\":\"\xff\"}").to_string(), "the config is not UTF-8");
    assert_eq!(config_error(&vec![b' '; (16 << 20) + 1]).to_string(), "the config is longer than 16777216 bytes");
}

#[test]
fn a_syntax_error_has_a_place() {
    for (config, place) in [
        ("{\"port\":1,}", (1, 11)),
        ("{\"port\":1,\n  secret}", (2, 3)),
        ("{\n\n\"port\": 01}", (3, 10)),
        ("{} secret", (1, 4)),
    ] {
        let error = config_error(config.as_bytes());
        assert_eq!(error.position(), Some(place), "{config:?}");
        let (line, column) = place;
        assert_eq!(
            error.to_string(),
            format!("the config is not one strict JSON object: line {line}, column {column}"),
            "{config:?}"
        );
    }
}

#[test]
fn a_registrys_error_and_debug_say_something() {
    let error = Registry::new(br#"{"port":1}"#, None).unwrap_err();
    assert!(matches!(&error, RegistryError::Config(inner) if inner.to_string() == error.to_string()));
    assert!(error.to_string().ends_with("unknown key"), "{error}");
    assert_eq!(RegistryError::NoEntropy.to_string(), "no randomness to make a token from");
    assert_eq!(kandev_policy::MintError::NoEntropy.to_string(), kandev_policy::NoEntropy.to_string());
    let (registry, _) = Registry::new(b"{}", None).unwrap();
    registry.mint("codex", &["kcap-review"], None).unwrap();
    assert!(format!("{registry:?}").contains("reviewers: 1"), "{registry:?}");
}

const ACP: &str = r#"{"agent_type":"claude-acp","port":1,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"TYPE","url":"http://localhost:1/PATH"}]}"#;
const REVIEWER: &str =
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}"#;

#[test]
fn a_trace_says_what_was_relied_on() {
    let http = ACP.replace("TYPE", "http").replace("PATH", "mcp");
    let sse = ACP.replace("TYPE", "sse").replace("PATH", "sse");
    let options = r#""options":[{"optionId":"y","kind":"allow_once"}]"#;
    let call = |call: &str| format!(r#"{{"toolCall":{{{call}}},{options}}}"#);
    let claim = r#""mcpServer":{"name":"kandev","source":"dynamic"}"#;
    let title = call(&format!(r#""title":"mcp__kandev__t","kind":"other","_meta":{{"claudeCode":{{{claim}}}}}"#));
    let metadata = call(r#""_meta":{"claudeCode":{"toolName":"mcp__kandev__t"}}"#);
    let name = call(r#""name":"mcp__kandev__t""#);
    let message = format!(r#"{{"method":"session/request_permission","params":{name}}}"#);
    let v2 = format!(r#"{{"subject":{{"type":"tool_call","toolCall":{{"name":"mcp__kandev__t"}}}},{options}}}"#);
    let hook = |tool: &str| format!(r#"{{"session_id":"s","tool_name":"{tool}"}}"#);
    for (config, input, facts) in [
        (
            &*http,
            &name,
            &[r#""source":"name""#, r#""transport":"http""#, r#""evidence":"absent""#, r#""protocol":"v1""#][..],
        ),
        (&sse, &title, &[r#""source":"title""#, r#""transport":"sse""#, r#""evidence":"dynamic""#]),
        (&http, &metadata, &[r#""source":"metadata""#, r#""option_kind":"allow_once""#, r#""approval":"off""#]),
        (&http, &message, &[r#""shape":"message""#, r#""protocol":"v1""#]),
        (&http, &v2, &[r#""shape":"params""#, r#""protocol":"v2""#]),
        (
            REVIEWER,
            &hook("mcp__kcap_review__x"),
            &[r#""result_channel":"no""#, r#""token":"reviewer""#, r#""step":"allowlist""#],
        ),
        (REVIEWER, &hook("get_pr_summary"), &[r#""step":"classification""#]),
    ] {
        let explanation = explain_json(input.as_bytes(), config.as_bytes());
        for fact in facts {
            assert!(explanation.contains(fact), "{fact}: {explanation}");
        }
        let trace: Value = serde_json::from_str(&explanation).unwrap();
        let steps = trace["trace"].as_array().unwrap();
        assert!(steps.len() > 3 && steps[0]["step"] == "config", "{explanation}");
        assert!(steps[1..steps.len() - 1].iter().all(|step| step["outcome"] == "passed"), "{explanation}");
        assert!(explanation.starts_with(decide_json(input.as_bytes(), config.as_bytes()).trim_end_matches('}')));
    }
}
