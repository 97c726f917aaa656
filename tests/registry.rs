//! The tokens of a bridge (contract 5.4): what a mint accepts and refuses, what a token is good for, what a revocation
//! ends, and that no token shows anywhere.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kandev_policy::{ConfigError, Kind, MintError, Minted, Reason, Registry, RegistryError};

const SUMMARY: &[u8] = br#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}"#;
const SHELL: &[u8] = br#"{"session_id":"s","tool_name":"Bash"}"#;
const RESULT: &[u8] = br#"{"session_id":"s","tool_name":"submit_review_result"}"#;

fn registry(config: &str) -> Registry {
    Registry::new(config.as_bytes(), None).expect(config).0
}

fn config_error(config: &str) -> String {
    match Registry::new(config.as_bytes(), None) {
        Err(RegistryError::Config(error)) => error.to_string(),
        other => panic!("{config}: {other:?}"),
    }
}

fn mint(registry: &Registry, allowlist: &[&str]) -> Minted {
    registry.mint("codex", allowlist, None).expect("a good allowlist")
}

/// The decision's kind and reason; `None` for a token that is good for nothing.
fn decide(registry: &Registry, token: &str, vendor: &str, body: &[u8]) -> Option<(Kind, Reason)> {
    let answer = registry.decide(token.as_bytes(), vendor.as_bytes(), body)?;
    Some((answer.decision.kind(), answer.decision.reason()))
}

#[test]
fn a_mint_resolves_each_entry_to_the_catalogs_spelling() {
    let registry = registry("{}");
    for (allowlist, servers) in [
        (&[][..], &[][..]),
        (&["kcap-review"], &["kcap-review"]),
        (&["KCAP-Review"], &["kcap-review"]),
        (&[" \t\r\n\x0b\x0ckcap-review "], &["kcap-review"]),
        (&["kcap-review", "kcap-sessions"], &["kcap-review", "kcap-sessions"]),
        (&["kcap-sessions", "kcap-review"], &["kcap-sessions", "kcap-review"]),
        (&["kcap-review", "Kcap-Review", " kcap-review"], &["kcap-review"]),
        (&["kcap-flow-result"], &[]),
        (&["KCAP-FLOW-RESULT", "kcap-review"], &["kcap-review"]),
    ] {
        assert_eq!(mint(&registry, allowlist).servers, servers, "{allowlist:?}");
    }
}

#[test]
fn a_mint_names_the_entry_that_it_refuses() {
    let registry = registry("{}");
    let flows = "starts flows, so no reviewer may be bound to it";
    let writes = "is not auto-approvable, so no reviewer may be bound to it";
    let unknown = "is no server of the catalog";
    for (entry, why) in [
        ("kcap-flows", flows),
        ("Kcap-Flows", flows),
        ("kcap-memory", writes),
        ("kcap_review", unknown),
        ("kcap", unknown),
        ("kcap-review2", unknown),
        ("kcap-review,kcap-sessions", unknown),
        ("*", unknown),
        ("", unknown),
        (" ", unknown),
        ("\t\n", unknown),
        ("\u{a0}kcap-review", unknown),
        ("kcap-rev\u{130}ew", unknown),
        ("\u{212A}cap-review", unknown),
        ("github", unknown),
    ] {
        let error = registry.mint("codex", &["kcap-review", entry], None).expect_err(entry);
        assert_eq!(error.to_string(), format!("allowlist[1]: {entry:?} {why}"));
    }
    assert_eq!(registry.reviewers(), 0, "a refused mint registers nobody");
}

#[test]
fn an_entry_is_quoted_and_cut_in_the_error() {
    let error = registry("{}").mint("codex", &["x\n".repeat(5000)], None).expect_err("no server");
    let text = error.to_string();
    assert!(text.starts_with("allowlist[0]: \"x\\nx\\n") && !text.contains('\n'), "{text}");
    assert!(text.len() < 200, "{}", text.len());
}

#[test]
fn a_json_allowlist_is_an_array_of_strings_or_nothing() {
    let registry = registry("{}");
    for json in ["", " ", "null", "[]", " [ ] \n"] {
        let minted = registry.mint_json("codex", json.as_bytes(), None).expect(json);
        assert_eq!(minted.servers, [""; 0], "{json}");
    }
    let minted = registry.mint_json("codex", br#"["kcap-\u0072eview"]"#, None).unwrap();
    assert_eq!(minted.servers, ["kcap-review"]);
    for json in ["{}", "\"kcap-review\"", "1", "[", "[] []", "\u{feff}[]", "[\"kcap-review\",]", "nul"] {
        assert_eq!(registry.mint_json("codex", json.as_bytes(), None).unwrap_err(), MintError::NoList, "{json}");
    }
    assert_eq!(registry.mint_json("codex", b"[\"\xff\"]", None).unwrap_err(), MintError::NoList);
    for (json, text) in [
        (r#"["kcap-review",null]"#, "allowlist[1]: found null, expected string"),
        (r#"[1]"#, "allowlist[0]: found integer, expected string"),
        (r#"[["kcap-review"]]"#, "allowlist[0]: found array, expected string"),
        (r#"["\ud800"]"#, "allowlist[0]: found a string with a lone surrogate, expected string"),
    ] {
        assert_eq!(registry.mint_json("codex", json.as_bytes(), None).unwrap_err().to_string(), text);
    }
}

#[test]
fn only_enabled_vendors_get_reviewers() {
    let mint = |config: &str, vendor: &str| {
        registry(config).mint(vendor, &["kcap-review"], None).map(|_| ()).map_err(|error| error.to_string())
    };
    for (config, vendor) in [
        ("{}", "codex"),
        (r#"{"enabled_vendors":null}"#, "codex"),
        (r#"{"enabled_vendors":["claude"]}"#, "claude"),
        (r#"{"enabled_vendors":["codex","claude"]}"#, "codex"),
        (r#"{"enabled_vendors":["codex","claude"]}"#, "claude"),
    ] {
        assert_eq!(mint(config, vendor), Ok(()), "{config} {vendor}");
    }
    for (config, vendor, text) in [
        ("{}", "claude", "the vendor \"claude\" is not enabled"),
        (r#"{"enabled_vendors":["claude"]}"#, "codex", "the vendor \"codex\" is not enabled"),
        (r#"{"enabled_vendors":[]}"#, "codex", "the vendor \"codex\" is not enabled"),
        ("{}", "Codex", "the vendor \"Codex\" is unknown"),
        ("{}", "", "the vendor \"\" is unknown"),
        ("{}", "codex ", "the vendor \"codex \" is unknown"),
    ] {
        assert_eq!(mint(config, vendor), Err(text.to_owned()), "{config} {vendor}");
    }
}

#[test]
fn a_config_is_read_strictly() {
    for (config, text) in [
        ("", "the config is not one strict JSON object: line 1, column 1"),
        ("[]", "the config is not one strict JSON object: line 1, column 1"),
        (r#"{"vendor":"codex"}"#, "vendor: unknown key"),
        (r#"{"policy":"unattended_review"}"#, "policy: unknown key"),
        (r#"{"catalog":null,"catalog":null}"#, "catalog: duplicate key"),
        (r#"{"enabled_vendors":"codex"}"#, "enabled_vendors: found string, expected array of strings"),
        (r#"{"enabled_vendors":["codex","gemini"]}"#, "enabled_vendors[1]: expected \"codex\" or \"claude\""),
        (r#"{"result_channel_scope":"all"}"#, "result_channel_scope: expected \"any\" or \"reviewer\""),
        (r#"{"catalog":{}}"#, "catalog.servers: missing, expected array of objects"),
    ] {
        assert_eq!(config_error(config), text, "{config}");
    }
}

fn catalog(servers: &str, channel: &str) -> String {
    format!(r#"{{"catalog":{{"servers":[{servers}],"result_channel":{channel}}}}}"#)
}

fn server(id: &str, auto_approvable: bool, starts_flows: bool, tools: &str) -> String {
    format!(
        r#"{{"id":"{id}","auto_approvable":{auto_approvable},"starts_flows":{starts_flows},"unattended_safe_tools":[{tools}]}}"#
    )
}

const CHANNEL: &str = r#"{"server":"out","tools":["send"]}"#;

#[test]
fn a_catalog_that_breaks_an_invariant_says_which() {
    let good = server("a-b", true, false, r#""read""#);
    for (servers, channel, text) in [
        (
            server("", true, false, r#""t""#),
            CHANNEL,
            "ids and tools must be non-empty and hold only letters, digits, _ and -",
        ),
        (
            server("a b", true, false, r#""t""#),
            CHANNEL,
            "ids and tools must be non-empty and hold only letters, digits, _ and -",
        ),
        (
            server("a", true, false, r#""t.u""#),
            CHANNEL,
            "ids and tools must be non-empty and hold only letters, digits, _ and -",
        ),
        (
            good.clone(),
            r#"{"server":"out","tools":[""]}"#,
            "ids and tools must be non-empty and hold only letters, digits, _ and -",
        ),
        (
            format!("{good},{}", server("A_B", false, false, "")),
            CHANNEL,
            "two server ids are the same but for case, - and _",
        ),
        (server("OUT", false, false, ""), CHANNEL, "the result channel's server must not be among the servers"),
        (server("a", true, false, r#""t","t""#), CHANNEL, "a tool is listed twice"),
        (format!("{good},{}", server("c", true, false, r#""read""#)), CHANNEL, "a tool is listed twice"),
        (server("a", true, false, r#""send""#), CHANNEL, "a tool is listed twice"),
        (server("a", true, true, r#""t""#), CHANNEL, "an auto-approvable server must not start flows"),
        (server("a", true, false, ""), CHANNEL, "an auto-approvable server needs unattended-safe tools"),
        (server("a", false, false, r#""t""#), CHANNEL, "only an auto-approvable server can have unattended-safe tools"),
    ] {
        assert_eq!(config_error(&catalog(&servers, channel)), format!("catalog: {text}"), "{servers}");
    }
    let registry = registry(&catalog(&good, CHANNEL));
    assert_eq!(mint(&registry, &["A-B"]).servers, ["a-b"]);
    registry.mint("codex", &["kcap-review"], None).expect_err("a host's catalog replaces the built-in one");
}

#[test]
fn a_token_is_good_for_its_vendor_and_the_shared_one_for_each() {
    let (registry, shared) = Registry::new(br#"{"enabled_vendors":["codex","claude"]}"#, None).unwrap();
    let codex = registry.mint("codex", &["kcap-review"], None).unwrap();
    let claude = registry.mint("claude", &["kcap-review"], None).unwrap();
    let allowed = Some((Kind::Allow, Reason::AllowlistedServer));
    for (token, vendor, expected, number) in [
        (codex.token.expose(), "codex", allowed, Some(1)),
        (codex.token.expose(), "claude", None, None),
        (claude.token.expose(), "claude", allowed, Some(2)),
        (claude.token.expose(), "codex", None, None),
        (codex.token.expose(), "Codex", None, None),
        (codex.token.expose(), "", None, None),
        (shared.expose(), "codex", Some((Kind::Ask, Reason::InteractivePrompt)), Some(0)),
        (shared.expose(), "claude", Some((Kind::Ask, Reason::InteractivePrompt)), Some(0)),
        (shared.expose(), "gemini", None, None),
    ] {
        assert_eq!(decide(&registry, token, vendor, SUMMARY), expected, "{vendor}");
        assert_eq!(registry.find(token.as_bytes(), vendor.as_bytes()), number, "{vendor}");
    }
}

#[test]
fn a_token_grants_what_its_launch_granted_and_no_more() {
    let (registry, shared) = Registry::new(b"{}", None).unwrap();
    let bound = mint(&registry, &["kcap-review"]);
    let unbound = mint(&registry, &[]);
    for (token, body, expected) in [
        (bound.token.expose(), SUMMARY, (Kind::Allow, Reason::AllowlistedServer)),
        (bound.token.expose(), SHELL, (Kind::Deny, Reason::BareToolDenied)),
        (bound.token.expose(), RESULT, (Kind::Allow, Reason::ResultChannel)),
        (bound.token.expose(), b"{}", (Kind::Deny, Reason::MalformedRequest)),
        (unbound.token.expose(), SUMMARY, (Kind::Deny, Reason::ServerNotAllowlisted)),
        (unbound.token.expose(), RESULT, (Kind::Allow, Reason::ResultChannel)),
        (shared.expose(), SHELL, (Kind::Ask, Reason::InteractivePrompt)),
        (shared.expose(), RESULT, (Kind::Allow, Reason::ResultChannel)),
    ] {
        assert_eq!(decide(&registry, token, "codex", body), Some(expected));
    }
}

#[test]
fn the_result_channel_can_be_closed_to_the_shared_token() {
    let (registry, shared) = Registry::new(br#"{"result_channel_scope":"reviewer"}"#, None).unwrap();
    let reviewer = mint(&registry, &[]);
    assert_eq!(decide(&registry, shared.expose(), "codex", RESULT), Some((Kind::Ask, Reason::InteractivePrompt)));
    assert_eq!(decide(&registry, reviewer.token.expose(), "codex", RESULT), Some((Kind::Allow, Reason::ResultChannel)));
}

#[test]
fn what_is_nearly_a_token_is_none() {
    let (registry, _) = Registry::new(b"{}", None).unwrap();
    let minted = mint(&registry, &["kcap-review"]);
    let token = minted.token.expose();
    let other = if token.starts_with('A') { "B" } else { "A" };
    for near in [
        String::new(),
        token[1..].to_owned(),
        format!("{token}="),
        format!("{token}/"),
        format!(" {token}"),
        format!("{other}{}", &token[1..]),
        format!("{token}\0"),
        "A".repeat(token.len()),
    ] {
        assert_eq!(decide(&registry, &near, "codex", SUMMARY), None);
        assert_eq!(registry.find(near.as_bytes(), b"codex"), None);
    }
    assert_eq!(registry.find(&[0xff; 43], b"codex"), None);
}

#[test]
fn a_revocation_is_immediate_idempotent_and_touches_nobody_else() {
    let (registry, shared) = Registry::new(b"{}", None).unwrap();
    let (one, other) = (mint(&registry, &["kcap-review"]), mint(&registry, &["kcap-review"]));
    let base = "http://127.0.0.1:41000/";
    for revoked in [
        one.token.expose().to_owned(),
        one.token.expose().to_owned(),
        format!("{base}{}", one.token.expose()),
        String::new(),
        "unknown".to_owned(),
        base.to_owned(),
        shared.expose().to_owned(),
        format!("{base}{}", shared.expose()),
    ] {
        registry.revoke(revoked.as_bytes());
        assert_eq!(decide(&registry, one.token.expose(), "codex", SUMMARY), None);
        assert_eq!(registry.reviewers(), 1);
    }
    assert!(decide(&registry, other.token.expose(), "codex", SUMMARY).is_some());
    assert!(decide(&registry, shared.expose(), "codex", SUMMARY).is_some(), "the shared token is no reviewer's");

    registry.revoke(format!("{base}{}/codex/permission-request", other.token.expose()).as_bytes());
    assert_eq!(decide(&registry, other.token.expose(), "codex", SUMMARY), None);
    assert_eq!(registry.reviewers(), 0);
    assert_eq!(mint(&registry, &[]).reviewer, 3, "numbers are never used again");
}

#[test]
fn no_decision_begins_once_a_revocation_has_returned() {
    let registry = registry("{}");
    let bystander = mint(&registry, &["kcap-review"]);
    for _ in 0..50 {
        let minted = mint(&registry, &["kcap-review"]);
        let (token, revoked) = (minted.token.expose(), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| loop {
                    let was_revoked = revoked.load(Ordering::SeqCst);
                    match decide(&registry, token, "codex", SUMMARY) {
                        Some(decision) => {
                            assert!(!was_revoked, "decided after the revocation");
                            assert_eq!(decision.0, Kind::Allow);
                        }
                        None => break,
                    }
                    assert!(decide(&registry, bystander.token.expose(), "codex", SUMMARY).is_some());
                });
            }
            thread::yield_now();
            registry.revoke(token.as_bytes());
            revoked.store(true, Ordering::SeqCst);
        });
    }
    assert_eq!(registry.reviewers(), 1);
}

#[test]
fn mints_and_revocations_on_many_threads_lose_nothing() {
    let registry = registry("{}");
    let minted: Vec<Vec<Minted>> = thread::scope(|scope| {
        let work = || {
            (0..200)
                .map(|_| {
                    registry.revoke(mint(&registry, &["kcap-sessions"]).token.expose().as_bytes());
                    mint(&registry, &["kcap-review"])
                })
                .collect()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let minted: Vec<Minted> = minted.into_iter().flatten().collect();
    assert_eq!(registry.reviewers(), 800);
    assert_eq!(minted.iter().map(|m| m.token.expose()).collect::<HashSet<_>>().len(), 800);
    assert_eq!(minted.iter().map(|m| m.reviewer).collect::<HashSet<_>>().len(), 800);
    for minted in &minted {
        let answer = registry.decide(minted.token.expose().as_bytes(), b"codex", SUMMARY).expect("live");
        assert_eq!(answer.reviewer, minted.reviewer);
        registry.revoke(minted.token.expose().as_bytes());
    }
    assert_eq!(registry.reviewers(), 0);
}

#[test]
fn tokens_are_random_in_every_place() {
    let registry = registry("{}");
    let tokens: Vec<Minted> = (0..400).map(|_| mint(&registry, &[])).collect();
    for place in 0..43 {
        let seen: HashSet<u8> = tokens.iter().map(|minted| minted.token.expose().as_bytes()[place]).collect();
        // 256 bits are 42 characters of 6 bits and one of 4. That 400 draws miss half of them has no chance to happen.
        assert!(seen.len() > if place == 42 { 8 } else { 32 }, "place {place} has {} characters", seen.len());
    }
}

#[test]
fn no_token_shows_in_debug_display_or_errors() {
    let (registry, shared) = Registry::new(br#"{"enabled_vendors":["codex"]}"#, None).unwrap();
    let minted = mint(&registry, &["kcap-review"]);
    let answer = registry.decide(minted.token.expose().as_bytes(), b"codex", SUMMARY).unwrap();
    let mut shown = vec![
        format!("{registry:?} {registry:#?} {shared:?} {shared} {minted:?} {minted:#?} {answer:?}"),
        answer.decision.to_json(),
    ];
    for entry in ["kcap-flows", "x"] {
        let error = registry.mint("codex", &[entry], None).unwrap_err();
        shown.push(format!("{error} {error:?}"));
    }
    for text in &shown {
        assert!(!text.contains(shared.expose()) && !text.contains(minted.token.expose()), "{text}");
    }
    assert!(shown[0].contains("redacted"));
}

#[test]
fn errors_are_errors_of_the_standard_library() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<RegistryError>();
    is_error::<MintError>();
    is_error::<ConfigError>();
    is_error::<kandev_policy::GuardError>();
}
