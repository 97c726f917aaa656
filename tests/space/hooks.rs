//! The reviewer policy: contract 5.1 to 5.4.

use super::acp::spelled;
use super::{crossed, dimension, lists, member, object, Dimension, Product, Value};

pub fn products() -> Vec<Product> {
    vec![decision(), body(), keys(), config(), catalog()]
}

fn config_text(vendor: &str, token: &str, scope: &str, servers: &str, catalog: &str) -> String {
    object(&[
        member("policy", r#""unattended_review""#),
        member("vendor", vendor),
        member("token", token),
        member("result_channel_scope", scope),
        member("servers", servers),
        member("catalog", catalog),
    ])
}

/// A catalog whose ids hold upper case and underscores, and whose result channel has two tools.
const OWN_CATALOG: &str = r#"{"servers":[{"id":"Own_Server","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["Read","get_pr_summary"]},{"id":"flows","auto_approvable":false,"starts_flows":true,"unattended_safe_tools":[]}],"result_channel":{"server":"Own-Result","tools":["deliver","submit_review_result"]}}"#;

fn vendors() -> Dimension {
    dimension("vendor", &[("5.1 codex is locked", r#""codex""#), ("5.1 claude is not", r#""claude""#)])
}

fn tokens() -> Dimension {
    dimension("token", &[("5.1.3 reviewer", r#""reviewer""#), ("5.1.4 shared", r#""shared""#)])
}

fn scopes() -> Dimension {
    dimension("scope", &[("5.1 default any", ""), ("5.1 any", r#""any""#), ("5.1 reviewer", r#""reviewer""#)])
}

fn decision() -> Product {
    let sources = ["dynamic", "Dynamic", "project", ""];
    let names = ["kcap-review", "KCAP_review", "kcap-flow-result", "kcap_Flow_Result", "Own_Result", "own-server", ""];
    let quoted = |texts: &[&str]| texts.iter().map(|t| format!("\"{t}\"")).collect::<Vec<_>>();
    let (names, sources) = (quoted(&names), quoted(&sources));
    let as_strs = |texts: &[String]| texts.iter().map(|t| t.clone().leak() as &str).collect::<Vec<&str>>();
    let mut claims = dimension(
        "mcp_server",
        &[
            ("5.1.3 absent", ""),
            ("5.1.3 null", "null"),
            ("5.1.3 a string", r#""kcap-review""#),
            ("5.1.3 an array", "[]"),
            ("5.1.3 empty", "{}"),
            ("5.1.3 no source", r#"{"name":"kcap-review"}"#),
            ("5.1.3 no name", r#"{"source":"dynamic"}"#),
            ("5.1.3 name null", r#"{"name":null,"source":"dynamic"}"#),
            ("5.1.3 source a number", r#"{"name":"kcap-review","source":7}"#),
            ("4.2 escaped", r#"{"n\u0061me":"kcap\u002dreview","source":"dyn\u0061mic"}"#),
        ],
    );
    let all = crossed(&[&[r#"{"name":"#], &as_strs(&names), &[r#","source":"#], &as_strs(&sources), &["}"]]);
    claims.values.extend(all.into_iter().map(|text| Value { stands_for: text.clone(), text }));
    Product {
        name: "hook decision",
        config: vec![
            vendors(),
            tokens(),
            scopes(),
            dimension(
                "servers",
                &[
                    ("5.1 absent: none", ""),
                    ("5.4 null binds nothing", "null"),
                    ("5.4 empty binds nothing", "[]"),
                    ("5.4 bound", r#"["kcap-review"]"#),
                    ("5.4 trimmed, case folded, twice", r#"["\t KCAP-Review\u000b","kcap-review"]"#),
                    ("5.4 two", r#"["kcap-sessions","kcap-review"]"#),
                    ("5.4 the result channel's name binds nothing", r#"["kcap-FLOW-result"]"#),
                    ("5.4 not auto-approvable", r#"["kcap-review","kcap-memory"]"#),
                    ("5.4 unknown", r#"["kcap_review"]"#),
                    ("5.4 of the host's own catalog", r#"["own_server"]"#),
                ],
            ),
            dimension("catalog", &[("5.3 built-in", ""), ("5.3 null", "null"), ("5.3 the host's own", OWN_CATALOG)]),
        ],
        frame: vec![
            dimension(
                "tool_name",
                &[
                    ("5.1.3 bound server", "mcp__kcap_review__get_pr_summary"),
                    ("5.1.3 bound server, any tool of it", "mcp__kcap-review__anything"),
                    ("5.1.3 ASCII case alike", "mcp__Kcap_REVIEW__get_pr_summary"),
                    ("5.1.3 whole segment", "mcp__kcap-review-2__get_pr_summary"),
                    ("5.1.3 another bound server", "mcp__kcap_sessions__get_turn"),
                    ("5.1.3 not auto-approvable", "mcp__kcap_memory__remember"),
                    ("5.1.3 the host's own", "mcp__own-server__Read"),
                    ("5.1.3 ambiguous", "mcp__kcap_review___get"),
                    ("5.1.3 ambiguous, another way", "mcp__kcap__review__get_pr_summary"),
                    ("5.1.3 invalid", "mcp__kcap_review"),
                    ("5.1.3 invalid character", "mcp__kcap_review__gét"),
                    ("5.1.2 result channel", "mcp__kcap-flow-result__submit_review_result"),
                    ("5.1.2 - and _ alike", "mcp__kcap_flow_result__submit_review_result"),
                    ("5.1.2 case-sensitive server", "mcp__Kcap-flow-result__submit_review_result"),
                    ("5.1.2 case-sensitive tool", "mcp__kcap-flow-result__Submit_review_result"),
                    ("5.1.2 whole segment", "mcp__kcap-flow-result2__submit_review_result"),
                    ("5.1.2 another tool", "mcp__kcap-flow-result__other"),
                    ("5.1.2 ambiguous", "mcp__kcap-flow-result___submit_review_result"),
                    ("5.1.2 another server's", "mcp__kcap_review__submit_review_result"),
                    ("5.1.2 the host's own", "mcp__Own_Result__deliver"),
                    ("5.1.2 bare", "submit_review_result"),
                    ("5.1.2 bare, the host's own", "deliver"),
                    ("5.1.2 bare, another case", "Submit_Review_Result"),
                    ("5.1.2 bare, dashes", "submit-review-result"),
                    ("5.1.3 bare, classified", "get_pr_summary"),
                    ("5.1.3 bare, classified on another server", "get_turn"),
                    ("5.1.3 bare, exact name", "Get_PR_Summary"),
                    ("5.1.3 bare, no trimming", " get_pr_summary"),
                    ("5.1.3 bare, the host's own", "Read"),
                    ("5.1.3 bare, unknown", "Bash"),
                    ("5.1 bare: another prefix", "MCP__kcap_review__get_pr_summary"),
                    ("5.1 bare: half a prefix", "mcp_"),
                    ("5.1 not bare: nothing but the prefix", "mcp__"),
                ],
            ),
            claims,
        ],
        write_config: |texts| config_text(texts[0], texts[1], texts[2], texts[3], texts[4]),
        write_frame: |texts| {
            let tool = member("tool_name", &format!("\"{}\"", texts[0]));
            object(&[member("session_id", r#""s1""#), tool, member("mcp_server", texts[1])]).into_bytes()
        },
    }
}

/// Configs under which a body of each kind is allowed, denied and asked about.
fn few_configs() -> Vec<Dimension> {
    vec![
        vendors(),
        tokens(),
        dimension("servers", &[("5.4 bound", r#"["kcap-review"]"#), ("5.4 a bad one", r#"["*"]"#)]),
    ]
}

fn body() -> Product {
    let strings = |name, values: &[(&str, &str)]| {
        let mut all = dimension(
            name,
            &[
                ("5.1.1 absent", ""),
                ("5.1.1 null", "null"),
                ("5.1.1 a number", "7"),
                ("5.1.1 an array", "[]"),
                ("5.1.1 empty", r#""""#),
                ("5.1.1 blank", r#"" \t\u2003\u0085""#),
                ("4.2 lone surrogate", r#""x\ud800""#),
            ],
        );
        all.values.extend(dimension("", values).values);
        all
    };
    Product {
        name: "hook body",
        config: few_configs(),
        frame: vec![
            dimension(
                "form",
                &[
                    ("5.1.1 one object", "{}"),
                    ("5.1.1 one BOM is allowed", "\u{feff}{}"),
                    ("5.1.1 two BOMs are not", "\u{feff}\u{feff}{}"),
                    ("5.1.1 white space, then a BOM", " \u{feff}{}"),
                    ("4.2 white space around", "\r\n {} \t"),
                    ("4.2 something behind", "{} 7"),
                    ("4.2 an array", "[{}]"),
                    ("4.2 cut", "{}CUT"),
                    ("4.2 not UTF-8", "{}BAD"),
                    ("4.2 a trailing comma", "{},}"),
                ],
            ),
            strings(
                "session_id",
                &[
                    ("5.1.1 good", r#""019a-77""#),
                    ("5.1.1 nothing but dashes", r#""----""#),
                    ("5.1.1 dashes and blanks", r#""- -\u00a0-""#),
                    ("5.1.1 other dashes are no dashes", r#""\u2014""#),
                ],
            ),
            strings(
                "tool_name",
                &[
                    ("5.1.3 bound server", r#""mcp__kcap_review__get""#),
                    ("5.1.2 result channel", r#""submit_review_result""#),
                    ("5.1.3 bare", r#""Bash""#),
                    ("5.1.1 dashes are not blank", r#""-""#),
                ],
            ),
            strings(
                "hook_event_name",
                &[
                    ("5.1.1 ours", r#""PermissionRequest""#),
                    ("5.1.1 ours, escaped", r#""Permission\u0052equest""#),
                    ("5.1.1 another", r#""PreToolUse""#),
                    ("5.1.1 another case", r#""permissionrequest""#),
                ],
            ),
            dimension(
                "mcp_server",
                &[
                    ("5.1.3 absent", ""),
                    ("5.1.3 dynamic", r#"{"name":"kcap-review","source":"dynamic"}"#),
                    ("5.1.3 a number", "7"),
                    ("4.2 lone surrogate in the name", r#"{"name":"\ud800","source":"dynamic"}"#),
                    ("4.2 lone surrogate in the source", r#"{"name":"kcap-review","source":"\udc00"}"#),
                    ("4.2 lone surrogate elsewhere", r#"{"name":"kcap-review","source":"dynamic","x\ud800":"\ud800"}"#),
                ],
            ),
        ],
        write_config: |texts| config_text(texts[0], texts[1], "", texts[2], ""),
        write_frame: |texts| {
            let [form, session, tool, event, server] = texts else { unreachable!() };
            let text = object(&[
                member("session_id", session),
                member("tool_name", tool),
                member("hook_event_name", event),
                member("mcp_server", server),
            ]);
            match *form {
                "{}CUT" => text[..text.len() - 1].into(),
                "{}BAD" => [&text.as_bytes()[..text.len() - 1], b",\"x\":\"\xff\"}"].concat(),
                form => form.replace("{}", &text).into_bytes(),
            }
        },
    }
}

fn keys() -> Product {
    Product {
        name: "hook keys",
        config: few_configs(),
        frame: vec![
            dimension(
                "key",
                &[
                    ("5.1.1 session_id", "session_id"),
                    ("5.1.1 tool_name", "tool_name"),
                    ("5.1.1 hook_event_name", "hook_event_name"),
                    ("5.1.1 mcp_server", "mcp_server"),
                    ("5.1.1 mcp_server: name", "name"),
                    ("5.1.1 mcp_server: source", "source"),
                    ("5.1.1 off the path", "tool_input"),
                ],
            ),
            dimension(
                "spelling",
                &[
                    ("4.2 as it is", "as it is"),
                    ("4.2 twice", "twice"),
                    ("4.2 twice, null behind", "null behind"),
                    ("4.2 rival case alone", "rival alone"),
                    ("4.2 rival case before", "rival before"),
                    ("4.2 rival with ſ or K, alone", "fold alone"),
                    ("4.2 rival with ſ or K, escaped", "fold escaped"),
                    ("4.2 escapes are decoded first", "escaped"),
                    ("4.2 escaped and plain", "escaped twice"),
                    ("4.2 no rival: longer", "longer"),
                    ("4.2 no rival: shorter", "shorter"),
                    ("4.2 no rival: lone surrogate behind", "torn"),
                    ("4.2 missing", "missing"),
                ],
            ),
            dimension("value", &[("5.1.1 the good one", ""), ("5.1.1 null", "null"), ("5.1.1 a number", "7")]),
        ],
        write_config: |texts| config_text(texts[0], texts[1], "", texts[2], ""),
        write_frame: |texts| {
            let [chosen, spelling, value] = texts else { unreachable!() };
            let at = |key: &str, good: &str| spelled(*chosen == key, key, good, spelling, value);
            let server = object(&[at("name", r#""kcap-review""#), at("source", r#""dynamic""#)]);
            object(&[
                at("session_id", r#""s""#),
                at("tool_name", r#""mcp__kcap_review__get""#),
                at("hook_event_name", r#""PermissionRequest""#),
                at("mcp_server", &server),
                at("tool_input", "{}"),
            ])
            .into_bytes()
        },
    }
}

/// Each key's types crossed.
fn config() -> Product {
    let types = |name, good: &[(&str, &str)]| {
        let mut all = dimension(name, &[("5.1 absent", ""), ("5.1 null", "null"), ("5.1 a wrong type", "7")]);
        all.values.extend(dimension("", good).values);
        all
    };
    Product {
        name: "hook config",
        config: vec![
            types(
                "policy",
                &[("5.1 unattended_review", r#""unattended_review""#), ("5.1 escaped", r#""unattended\u005freview""#)],
            ),
            types(
                "vendor",
                &[("5.1 codex", r#""codex""#), ("5.1 claude", r#""claude""#), ("5.1 another", r#""Codex""#)],
            ),
            types(
                "token",
                &[("5.1 reviewer", r#""reviewer""#), ("5.1 shared", r#""shared""#), ("5.1 another", r#""""#)],
            ),
            types(
                "scope",
                &[("5.1 any", r#""any""#), ("5.1 reviewer", r#""reviewer""#), ("5.1 another", r#""shared""#)],
            ),
            types(
                "servers",
                &[
                    ("5.4 bound", r#"["kcap-review"]"#),
                    ("5.4 trimmed", r#"[" kcap-review\f"]"#),
                    ("5.4 no other white space is trimmed", r#"["kcap-review\u00a0"]"#),
                    ("5.4 blank", r#"[" "]"#),
                    ("5.4 a star", r#"["*"]"#),
                    ("5.4 starts flows", r#"["kcap-flows"]"#),
                    ("5.4 one bad among good ones", r#"["kcap-review","nope"]"#),
                    ("5.1 no string", r#"["kcap-review",7]"#),
                    ("5.1 an object", "{}"),
                    ("4.2 lone surrogate", r#"["kcap-review\ud800"]"#),
                ],
            ),
            dimension(
                "more",
                &[
                    ("5.1 nothing", ""),
                    ("4.1 an unknown key", r#""Vendor":"codex""#),
                    ("5.1 a key of the other policy", r#""port":1"#),
                    ("4.1 a duplicate key", r#""vendor":"codex""#),
                    ("4.1 a duplicate policy", r#""policy":"unattended_review""#),
                    ("4.1 an escaped key", r#""c\u0061talog":null"#),
                    ("4.2 a raw control character in a key", "\"vend\nor\":null"),
                    ("4.2 a raw control character in a value", "\"vendor\":\"cod\tex\""),
                ],
            ),
        ],
        frame: vec![dimension("body", &[("5.1 allowed", ""), ("5.1 the config is judged before the body", "{")])],
        write_config: |texts| {
            let [policy, vendor, token, scope, servers, more] = texts else { unreachable!() };
            object(&[
                member("vendor", vendor),
                member("token", token),
                member("policy", policy),
                member("result_channel_scope", scope),
                member("servers", servers),
                (*more).to_owned(),
            ])
        },
        write_frame: |texts| match texts[0] {
            "" => br#"{"session_id":"s","tool_name":"mcp__kcap_review__get"}"#.to_vec(),
            broken => broken.into(),
        },
    }
}

/// The invariants of a catalog that a host brings.
fn catalog() -> Product {
    const SERVERS: &[(&str, &str)] = &[
        (
            "5.3 auto-approvable",
            r#"{"id":"a-b","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x"]}"#,
        ),
        (
            "5.3 another, its tool too",
            r#"{"id":"c","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["y","z"]}"#,
        ),
        ("5.3 neither", r#"{"id":"d","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#),
        ("5.3 starts flows", r#"{"id":"e","auto_approvable":false,"starts_flows":true,"unattended_safe_tools":[]}"#),
        (
            "5.3 an id that folds to another",
            r#"{"id":"A_B","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#,
        ),
        (
            "5.3 the result server's id",
            r#"{"id":"R-s","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#,
        ),
        (
            "5.3 a tool of another server",
            r#"{"id":"f","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x"]}"#,
        ),
        (
            "5.3 a tool twice",
            r#"{"id":"g","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["v","v"]}"#,
        ),
        (
            "5.3 auto-approvable and starts flows",
            r#"{"id":"h","auto_approvable":true,"starts_flows":true,"unattended_safe_tools":["u"]}"#,
        ),
        (
            "5.3 auto-approvable, not classified",
            r#"{"id":"i","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":[]}"#,
        ),
        (
            "5.3 classified, not auto-approvable",
            r#"{"id":"j","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":["t"]}"#,
        ),
        ("5.3 an empty id", r#"{"id":"","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#),
        (
            "5.3 an id with another character",
            r#"{"id":"k.l","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#,
        ),
        (
            "5.3 a tool with another character",
            r#"{"id":"m","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x y"]}"#,
        ),
        ("5.3 a member missing", r#"{"id":"n","auto_approvable":false,"unattended_safe_tools":[]}"#),
        ("5.3 a member null", r#"{"id":"o","auto_approvable":false,"starts_flows":null,"unattended_safe_tools":[]}"#),
        (
            "5.3 a member unknown",
            r#"{"id":"p","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[],"x":1}"#,
        ),
        (
            "5.3 a member twice",
            r#"{"id":"q","id":"q","auto_approvable":false,"starts_flows":false,"unattended_safe_tools":[]}"#,
        ),
        (
            "5.3 a tool that is no string",
            r#"{"id":"r","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":[1]}"#,
        ),
        ("5.3 no object", "7"),
    ];
    Product {
        name: "hook catalog",
        config: vec![
            lists(
                "catalog servers: all lists of up to 2",
                SERVERS,
                2,
                &[("5.3 missing", ""), ("5.3 null", "null"), ("5.3 an object", "{}")],
            ),
            dimension(
                "result channel",
                &[
                    ("5.3 good", r#"{"server":"r_s","tools":["w"]}"#),
                    ("5.3 no tools", r#"{"server":"r_s","tools":[]}"#),
                    ("5.3 a tool of a server", r#"{"server":"r_s","tools":["x"]}"#),
                    ("5.3 a tool twice", r#"{"server":"r_s","tools":["w","w"]}"#),
                    ("5.3 an empty tool", r#"{"server":"r_s","tools":[""]}"#),
                    ("5.3 an empty server", r#"{"server":"","tools":["w"]}"#),
                    ("5.3 a server of a wrong type", r#"{"server":7,"tools":["w"]}"#),
                    ("5.3 tools missing", r#"{"server":"r_s"}"#),
                    ("5.3 unknown member", r#"{"server":"r_s","tools":["w"],"x":1}"#),
                    ("5.3 missing", ""),
                    ("5.3 null", "null"),
                ],
            ),
            dimension(
                "servers",
                &[
                    ("5.4 none", ""),
                    ("5.4 resolved in this catalog", r#"["A-b"]"#),
                    ("5.4 the result server", r#"["r_S"]"#),
                ],
            ),
            dimension("more", &[("5.3 nothing", ""), ("5.3 unknown", r#""x":1"#)]),
        ],
        frame: vec![dimension(
            "tool_name",
            &[
                ("5.1.3 classified", r#""x""#),
                ("5.1.3 qualified", r#""mcp__a_b__q""#),
                ("5.1.2 result tool", r#""w""#),
                ("5.1.2 qualified", r#""mcp__r-s__w""#),
            ],
        )],
        write_config: |texts| {
            let [list, result, servers, more] = texts else { unreachable!() };
            let catalog = object(&[member("servers", list), member("result_channel", result), (*more).to_owned()]);
            config_text(r#""codex""#, r#""reviewer""#, "", servers, &catalog)
        },
        write_frame: |texts| object(&[member("session_id", r#""s""#), member("tool_name", texts[0])]).into_bytes(),
    }
}
