//! The injected-server policy: contract 4.1 to 4.3.

use super::{crossed, dimension, lists, member, object, Dimension, Product, Value};

pub fn products() -> Vec<Product> {
    vec![order(), identity(), evidence(), provenance(), config(), options(), long_options(), envelope(), keys()]
}

const GOOD_CALL: &str = r#"{"name":"mcp__kandev__list"}"#;
const GOOD_OPTIONS: &str = r#"[{"optionId":"yes","kind":"allow_once"}]"#;
const EVIDENCE: &str = r#"{"name":"kandev","source":"dynamic"}"#;

/// Where the tool call and the options stand.
fn shape() -> Dimension {
    dimension(
        "shape",
        &[
            ("4.2 v1 params", "v1"),
            ("4.2 v2 params", "v2"),
            ("4.2 v2 params, toolCall before type", "v2 reversed"),
            ("4.2 message around v1", "message v1"),
            ("4.2 message around v2, params before method", "message v2"),
            ("4.2 options before the tool call", "v1 reversed"),
        ],
    )
}

/// The first few shapes, for products that cross much else.
fn shapes(names: &[&str]) -> Dimension {
    let mut shape = shape();
    shape.values.retain(|v| names.contains(&v.text.as_str()));
    assert_eq!(shape.values.len(), names.len());
    shape
}

fn frame(shape: &str, call: &str, options: &str) -> Vec<u8> {
    let method = member("method", r#""session/request_permission""#);
    let call = member("toolCall", call);
    let options = member("options", options);
    let subject = |members: &[String]| member("subject", &object(members));
    let kind = member("type", r#""tool_call""#);
    match shape {
        "v1" => object(&[call, options]),
        "v1 reversed" => object(&[options, call]),
        "v2" => object(&[subject(&[kind, call]), options]),
        "v2 reversed" => object(&[options, subject(&[call, kind])]),
        "message v1" => object(&[method, member("params", &object(&[call, options]))]),
        "message v2" => object(&[member("params", &object(&[subject(&[kind, call]), options])), method]),
        other => panic!("no shape {other}"),
    }
    .into_bytes()
}

fn agents() -> Dimension {
    dimension(
        "agent",
        &[
            ("4.3.7 the Claude dialect", r#""claude-acp""#),
            ("4.3.7 another agent", r#""codex-acp""#),
            ("4.3.7 compared byte by byte", r#""Claude-ACP""#),
            ("4.1 absent", ""),
        ],
    )
}

fn blanket() -> Dimension {
    dimension("blanket", &[("4.1 default false", ""), ("4.3.6 on", "true")])
}

fn config_text(agent: &str, blanket: &str) -> String {
    object(&[
        member("agent_type", agent),
        member("port", "41000"),
        member("injected_kandev_mcp", "true"),
        member("mcp_servers", r#"[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]"#),
        member("auto_approve_permissions", blanket),
    ])
}

const NAMES: &[(&str, &str)] = &[
    ("4.3.7 absent", ""),
    ("4.3.7 null is absent", "null"),
    ("4.3.7 wrong type: number", "7"),
    ("4.3.7 wrong type: object", r#"{"name":"mcp__kandev__list"}"#),
    ("4.3.7 wrong type: array", "[]"),
    ("4.3.7 wrong type: boolean", "true"),
    ("4.3.7 empty is authoritative", r#""""#),
    ("4.3.8 bare", r#""Bash""#),
    ("4.3.8 well-formed", r#""mcp__kandev__list""#),
    ("4.2 well-formed, escaped", r#""\u006dcp\u005f_kandev__list""#),
    ("4.3.8 another tool", r#""mcp__kandev__get""#),
    ("4.3.8 another server", r#""mcp__other__list""#),
    ("4.3.8 server compared byte by byte", r#""mcp__Kandev__list""#),
    ("4.3.8 prefix compared byte by byte", r#""MCP__kandev__list""#),
    ("4.3.8 tool starts with _", r#""mcp__kandev___list""#),
    ("4.3.8 tool contains __", r#""mcp__kandev__a__list""#),
    ("4.3.8 ambiguous before invalid", r#""mcp__k.v___list""#),
    ("4.3.8 no boundary", r#""mcp__kandev""#),
    ("4.3.8 empty server", r#""mcp____list""#),
    ("4.3.8 empty tool", r#""mcp__kandev__""#),
    ("4.3.8 look-alike letter", r#""mcp__k\u0430ndev__list""#),
    ("4.3.8 no trimming", r#"" mcp__kandev__list""#),
    ("4.3.8 a character that is not allowed", r#""mcp__kandev__list!""#),
    ("4.2 lone surrogate", r#""mcp__kandev__list\ud83c""#),
];

/// The names, and those at the limit of length.
fn names() -> Dimension {
    let mut names = dimension("name", NAMES);
    let at = |length: usize| format!("\"mcp__kandev__{}\"", "x".repeat(length - "mcp__kandev__".len()));
    let short_in_characters = format!("\"mcp__kandev__{}\"", "é".repeat(122));
    for (stands_for, text) in [
        ("4.3.8 256 bytes long", at(256)),
        ("4.3.8 257 bytes long", at(257)),
        ("4.3.8 257 bytes, fewer characters", short_in_characters),
        ("4.3.8 prefix before length", format!("\"{}\"", "x".repeat(300))),
    ] {
        names.values.push(Value { stands_for: stands_for.into(), text });
    }
    names
}

fn metadata_shapes() -> Dimension {
    dimension(
        "metadata",
        &[
            ("4.3.7 _meta absent", ""),
            ("4.3.7 _meta null", "null"),
            ("4.3.7 _meta a string", r#""claudeCode""#),
            ("4.3.7 _meta an array", "[]"),
            ("4.3.7 _meta without claudeCode", r#"{"other":{}}"#),
            ("4.3.7 claudeCode null", r#"{"claudeCode":null}"#),
            ("4.3.7 claudeCode an array", r#"{"claudeCode":[]}"#),
            ("4.3.7 claudeCode an object", r#"{"claudeCode":{CODE}}"#),
            ("4.2 claudeCode twice", r#"{"claudeCode":{CODE},"claudeCode":{CODE}}"#),
            ("4.2 rival claudeCode", r#"{"claudecode":{CODE}}"#),
            ("4.2 claudeCode escaped", r#"{"claude\u0043ode":{CODE}}"#),
        ],
    )
}

fn call(name: &str, title: &str, kind: &str, meta: &str, tool_name: &str, server: &str) -> String {
    let code = object(&[member("toolName", tool_name), member("mcpServer", server)]);
    let meta = meta.replace("{CODE}", &code);
    object(&[member("name", name), member("_meta", &meta), member("title", title), member("kind", kind)])
}

/// One value for each outcome of each step, crossed with all the others: where two steps would stop, the earlier wins.
fn order() -> Product {
    Product {
        name: "order",
        config: vec![
            dimension("config document", &[("4.3.1 usable", ""), ("4.3.1 unknown key", "7")]),
            dimension("agent", &[("4.3.7 the Claude dialect", r#""claude-acp""#), ("4.3.7 another agent", "")]),
            blanket(),
            dimension(
                "provenance",
                &[
                    ("4.3.9 established", "injected"),
                    ("4.3.9 marker false", "marker"),
                    ("4.3.9 port out of range", "port"),
                    ("4.3.9 no exact entry", "none"),
                    ("4.3.9 an entry that is not exact beside it", "conflict"),
                ],
            ),
        ],
        frame: vec![
            dimension(
                "document",
                &[
                    ("4.3.2 v1 params", "v1"),
                    ("4.3.2 v2 params", "v2"),
                    ("4.3.2 message", "message v1"),
                    ("4.3.2 cut off", "cut"),
                    ("4.3.2 rival key at the top", "rival"),
                    ("4.3.2 frame member beside a message", "beside"),
                    ("4.3.3 another method", "method"),
                    ("4.3.4 both toolCall and subject", "both"),
                ],
            ),
            dimension(
                "name",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 wrong type", "7"),
                    ("4.3.7 empty", r#""""#),
                    ("4.3.8 well-formed", r#""mcp__kandev__list""#),
                    ("4.3.8 not qualified", r#""Bash""#),
                    ("4.3.8 ambiguous", r#""mcp__kandev__a__b""#),
                    ("4.3.8 invalid", r#""mcp__kandev__a.b""#),
                    ("4.3.8 another server", r#""mcp__other__list""#),
                    ("4.2 lone surrogate", r#""\udc00""#),
                ],
            ),
            dimension(
                "metadata",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 malformed", "7"),
                    ("4.2 duplicate", r#"{"claudeCode":{CODE},"claudeCode":{CODE}}"#),
                    ("4.3.7 an object", r#"{"claudeCode":{CODE}}"#),
                ],
            ),
            dimension(
                "toolName",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 wrong type", "null"),
                    ("4.3.7 equal", r#""mcp__kandev__list""#),
                    ("4.3.7 different", r#""mcp__kandev__get""#),
                ],
            ),
            dimension(
                "mcpServer",
                &[
                    ("4.3.10 absent", ""),
                    ("4.3.7 malformed", "{}"),
                    ("4.3.10 dynamic", EVIDENCE),
                    ("4.3.10 another server", r#"{"name":"other","source":"dynamic"}"#),
                    ("4.3.10 another source", r#"{"name":"kandev","source":"project"}"#),
                    ("4.3.10 both", r#"{"name":"other","source":"project"}"#),
                ],
            ),
            dimension("title", &[("4.3.7 absent", ""), ("4.3.7 well-formed", r#""mcp__kandev__list""#)]),
            dimension("kind", &[("4.3.7 other", r#""other""#), ("4.3.7 execute", r#""execute""#)]),
            dimension(
                "options",
                &[
                    ("4.3.5 absent", ""),
                    ("4.3.5 empty", "[]"),
                    ("4.2 no array", "{}"),
                    ("4.3.11 allow_once", GOOD_OPTIONS),
                    ("4.3.11 allow_always", r#"[{"optionId":"ever","kind":"allow_always"}]"#),
                    ("4.3.11 reject only", r#"[{"optionId":"no","kind":"reject_once"}]"#),
                    (
                        "4.3.11 id not unique",
                        r#"[{"optionId":"a","kind":"allow_once"},{"optionId":"a","kind":"reject_once"}]"#,
                    ),
                    ("4.3.11 blank id", r#"[{"optionId":" ","kind":"allow_once"}]"#),
                ],
            ),
        ],
        write_config: |texts| {
            let [unknown, agent, blanket, provenance] = texts else { unreachable!() };
            let exact = r#"{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}"#;
            let servers = match *provenance {
                "none" => "[]".to_owned(),
                "conflict" => format!(r#"[{exact},{{"name":"kandev","command":"x"}}]"#),
                _ => format!("[{exact}]"),
            };
            object(&[
                member("unknown", unknown),
                member("agent_type", agent),
                member("auto_approve_permissions", blanket),
                member("port", if *provenance == "port" { "65536" } else { "41000" }),
                member("injected_kandev_mcp", if *provenance == "marker" { "false" } else { "true" }),
                member("mcp_servers", &servers),
            ])
        },
        write_frame: |texts| {
            let [document, name, meta, tool_name, server, title, kind, options] = texts else { unreachable!() };
            let call = call(name, title, kind, meta, tool_name, server);
            let text = |shape| String::from_utf8(frame(shape, &call, options)).unwrap();
            let method = r#"{"method":"session/request_permission","#;
            match *document {
                "cut" => text("v1")[1..].into(),
                "rival" => text("v1").replacen('{', r#"{"Params":{},"#, 1).into(),
                "beside" => text("message v1").replacen('{', r#"{"options":null,"#, 1).into(),
                "method" => text("message v1").replace(method, r#"{"method":"session/update","#).into(),
                "both" => text("v1").replacen('{', r#"{"subject":null,"#, 1).into(),
                shape => frame(shape, &call, options),
            }
        },
    }
}

fn identity() -> Product {
    Product {
        name: "identity",
        config: vec![agents()],
        frame: vec![
            names(),
            metadata_shapes(),
            dimension(
                "toolName",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 null is a wrong type", "null"),
                    ("4.3.7 a number", "7"),
                    ("4.3.7 empty", r#""""#),
                    ("4.3.7 well-formed", r#""mcp__kandev__list""#),
                    ("4.2 well-formed, escaped", r#""mcp__kandev__lis\u0074""#),
                    ("4.3.7 bare", r#""Bash""#),
                    ("4.2 lone surrogate", r#""\ud83c\ud83c""#),
                ],
            ),
            dimension(
                "mcpServer",
                &[
                    ("4.3.10 absent", ""),
                    ("4.3.10 dynamic", EVIDENCE),
                    ("4.3.7 a string", r#""kandev""#),
                    ("4.3.10 another source", r#"{"name":"kandev","source":"user"}"#),
                ],
            ),
            dimension(
                "title",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 wrong type merely can't match", "{}"),
                    ("4.3.7 well-formed", r#""mcp__kandev__list""#),
                    ("4.3.7 well-formed, escaped", r#""mcp_\u005fkandev__list""#),
                    ("4.3.7 no trimming", r#""mcp__kandev__list ""#),
                    ("4.3.7 not well-formed", r#""mcp__kandev__a__b""#),
                    ("4.3.8 another server", r#""mcp__other__list""#),
                    ("4.2 lone surrogate merely can't match", r#""mcp__kandev__list\udc00""#),
                ],
            ),
            dimension(
                "kind",
                &[
                    ("4.3.7 absent", ""),
                    ("4.3.7 exactly other", r#""other""#),
                    ("4.3.7 other, escaped", r#""oth\u0065r""#),
                    ("4.3.7 case", r#""Other""#),
                    ("4.3.7 wrong type merely can't match", "7"),
                    ("4.2 lone surrogate merely can't match", r#""other\udc00""#),
                ],
            ),
            shapes(&["v1", "message v2"]),
        ],
        write_config: |texts| config_text(texts[0], ""),
        write_frame: |texts| {
            let [name, meta, tool_name, server, title, kind, shape] = texts else { unreachable!() };
            frame(shape, &call(name, title, kind, meta, tool_name, server), GOOD_OPTIONS)
        },
    }
}

fn evidence() -> Product {
    let strings = |own: &'static str, others: &[&'static str]| {
        let mut values = vec![
            ("4.3.7 absent".to_owned(), String::new()),
            ("4.3.7 null".to_owned(), "null".to_owned()),
            ("4.3.7 number".to_owned(), "7".to_owned()),
            ("4.3.7 object".to_owned(), "{}".to_owned()),
            ("4.3.10 empty".to_owned(), r#""""#.to_owned()),
            ("4.2 lone surrogate".to_owned(), r#""\udfff""#.to_owned()),
            (format!("4.3.10 {own}"), format!("\"{own}\"")),
            (format!("4.3.10 {own}, first letter upper"), format!("\"{}{}\"", own[..1].to_uppercase(), &own[1..])),
            (format!("4.3.10 {own}, padded"), format!("\"{own} \"")),
            (format!("4.3.10 {own} is a prefix"), format!("\"{own}x\"")),
            (format!("4.2 {own}, escaped"), format!("\"\\u{:04x}{}\"", own.as_bytes()[0], &own[1..])),
        ];
        values.extend(others.iter().map(|other| (format!("4.3.10 {other}"), format!("\"{other}\""))));
        values.into_iter().map(|(stands_for, text)| Value { stands_for, text }).collect::<Vec<_>>()
    };
    Product {
        name: "evidence",
        config: vec![agents(), blanket()],
        frame: vec![
            dimension(
                "name",
                &[
                    ("4.3.8 well-formed", r#""mcp__kandev__list""#),
                    ("4.3.8 another server", r#""mcp__other__list""#),
                    ("4.3.8 bare", r#""Bash""#),
                    ("4.3.7 absent", ""),
                ],
            ),
            dimension("toolName", &[("4.3.7 absent", ""), ("4.3.7 well-formed", r#""mcp__kandev__list""#)]),
            dimension(
                "mcpServer",
                &[
                    ("4.3.10 absent", ""),
                    ("4.3.10 null is no evidence", "null"),
                    ("4.3.7 a string", r#""kandev""#),
                    ("4.3.7 an array", r#"["kandev","dynamic"]"#),
                    ("4.3.7 a boolean", "false"),
                    ("4.3.7 an object", "{name,source}"),
                    ("4.3.7 an object, reversed, with more", "{source,other,name}"),
                    ("4.2 name twice", "{name,name,source}"),
                    ("4.2 rival source", "{name,source,Source}"),
                    ("4.2 rival name, with the letter ſ in source", "{name,\u{17f}ource}"),
                ],
            ),
            Dimension { name: "mcpServer.name", values: strings("kandev", &["other"]) },
            Dimension {
                name: "mcpServer.source",
                values: strings("dynamic", &["project", "user", "local", "agent", "plugin"]),
            },
            shapes(&["v1", "v2 reversed"]),
        ],
        write_config: |texts| config_text(texts[0], texts[1]),
        write_frame: |texts| {
            let [name, tool_name, server, server_name, source, shape] = texts else { unreachable!() };
            let server = match server.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
                None => (*server).to_owned(),
                Some(keys) => {
                    let value = |key: &str| match key {
                        "name" => (*server_name).to_owned(),
                        "other" => "{}".to_owned(),
                        _ => (*source).to_owned(),
                    };
                    object(&keys.split(',').map(|key| member(key, &value(key))).collect::<Vec<_>>())
                }
            };
            let meta = r#"{"claudeCode":{CODE}}"#;
            frame(shape, &call(name, "", "", meta, tool_name, &server), GOOD_OPTIONS)
        },
    }
}

/// Server entries. `U` stands for `"url":"http://localhost:41000`, `K` for `"name":"kandev","type":"http",U/mcp"`.
const ENTRIES: &[(&str, &str)] = &[
    ("4.3.9 http", r#"{K}"#),
    ("4.3.9 sse", r#"{"name":"kandev","type":"sse",U/sse"}"#),
    ("4.3.9 http at /sse", r#"{"name":"kandev","type":"http",U/sse"}"#),
    ("4.3.9 sse at /mcp", r#"{"name":"kandev","type":"sse",U/mcp"}"#),
    ("4.3.9 type as an exact string", r#"{"name":"kandev","type":"HTTP",U/mcp"}"#),
    ("4.3.9 type absent", r#"{"name":"kandev",U/mcp"}"#),
    ("4.3.9 type of a wrong type", r#"{"name":"kandev","type":7,U/mcp"}"#),
    ("4.3.9 url of a wrong type", r#"{"name":"kandev","type":"http","url":{}}"#),
    ("4.3.9 url absent", r#"{"name":"kandev","type":"http"}"#),
    ("4.3.9 url with more", r#"{"name":"kandev","type":"http",U/mcp/"}"#),
    ("4.3.9 url with a query", r#"{"name":"kandev","type":"http",U/mcp?x"}"#),
    ("4.3.9 https", r#"{"name":"kandev","type":"http","url":"https://localhost:41000/mcp"}"#),
    ("4.3.9 host upper", r#"{"name":"kandev","type":"http","url":"http://LOCALHOST:41000/mcp"}"#),
    ("4.1 127.0.0.1", r#"{"name":"kandev","type":"http","url":"http://127.0.0.1:41000/mcp"}"#),
    ("4.1 [::1]", r#"{"name":"kandev","type":"http","url":"http://[::1]:41000/mcp"}"#),
    ("4.1 ::1", r#"{"name":"kandev","type":"http","url":"http://::1:41000/mcp"}"#),
    ("4.1 no host", r#"{"name":"kandev","type":"http","url":"http://:41000/mcp"}"#),
    ("4.1 port 1", r#"{"name":"kandev","type":"http","url":"http://localhost:1/mcp"}"#),
    ("4.1 port 65535", r#"{"name":"kandev","type":"http","url":"http://localhost:65535/mcp"}"#),
    ("4.1 port 65536", r#"{"name":"kandev","type":"http","url":"http://localhost:65536/mcp"}"#),
    ("4.1 port 0", r#"{"name":"kandev","type":"http","url":"http://localhost:0/mcp"}"#),
    ("4.1 port -1", r#"{"name":"kandev","type":"http","url":"http://localhost:-1/mcp"}"#),
    ("4.3.9 escaped", r#"{"n\u0061me":"k\u0061ndev","type":"htt\u0070","url":"http:\/\/localhost:41000\/mcp"}"#),
    ("4.3.9 empty others", r#"{K,"command":"","args":[ ],"env":{ },"headers":null,"more":""}"#),
    ("4.3.9 a command", r#"{K,"command":"x"}"#),
    ("4.3.9 args", r#"{K,"args":[null]}"#),
    ("4.3.9 env", r#"{K,"env":{"A":""}}"#),
    ("4.3.9 headers", r#"{K,"headers":{"A":"b"}}"#),
    ("4.3.9 an unknown member: false", r#"{K,"disabled":false}"#),
    ("4.3.9 an unknown member: 0", r#"{K,"disabled":0}"#),
    ("4.3.9 an unknown member: null", r#"{K,"disabled":null}"#),
    ("4.3.9 an unknown member: a space", r#"{K,"disabled":" "}"#),
    ("4.3.9 nothing but the name", r#"{"name":"kandev"}"#),
    ("4.1 a duplicate key in an entry named kandev", r#"{K,"args":[],"args":[]}"#),
    ("4.1 a duplicate name", r#"{"name":"other","name":"kandev"}"#),
    ("4.1 a duplicate name, the same", r#"{"name":"other","name":"other"}"#),
    ("4.3.9 another name", r#"{"name":"other","type":"http",U/mcp","command":"x","command":7}"#),
    ("4.3.9 name compared byte by byte", r#"{"name":"Kandev","type":"http",U/mcp"}"#),
    ("4.3.9 name with white space", r#"{"name":"kandev ","command":"x"}"#),
    ("4.1 without a string name", r#"{"name":7,"type":"http",U/mcp","type":7}"#),
    ("4.1 without a name", r#"{"Name":"kandev","type":"http",U/mcp"}"#),
    ("4.1 a name with a lone surrogate", r#"{"name":"kandev\ud800"}"#),
    ("4.1 null", "null"),
    ("4.1 a string", r#""kandev""#),
    ("4.1 an array", r#"["kandev"]"#),
];

fn provenance() -> Product {
    let entries: Vec<(String, String)> = ENTRIES
        .iter()
        .map(|(stands_for, text)| {
            let text = text.replace("{K", r#"{"name":"kandev","type":"http",U/mcp""#);
            ((*stands_for).to_owned(), text.replace("U/", r#""url":"http://localhost:41000/"#))
        })
        .collect();
    let entries: Vec<(&str, &str)> = entries.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
    Product {
        name: "provenance",
        config: vec![
            dimension(
                "marker",
                &[("4.3.9 true", "true"), ("4.1 false", "false"), ("4.1 null", "null"), ("4.1 a string", r#""true""#)],
            ),
            dimension(
                "port",
                &[
                    ("4.1 in range", "41000"),
                    ("4.1 absent", ""),
                    ("4.1 null", "null"),
                    ("4.1 0", "0"),
                    ("4.1 1", "1"),
                    ("4.1 -1", "-1"),
                    ("4.1 65535", "65535"),
                    ("4.1 65536", "65536"),
                    ("4.1 a multiple of 65536 above", "106536"),
                ],
            ),
            dimension(
                "host",
                &[
                    ("4.1 absent: localhost", ""),
                    ("4.1 null: localhost", "null"),
                    ("4.1 empty: localhost", r#""""#),
                    ("4.1 as it is", r#""127.0.0.1""#),
                    ("4.1 IPv6 is bracketed", r#""::1""#),
                    ("4.1 IPv6 bracketed already", r#""[::1]""#),
                    ("4.1 as it is, upper", r#""LOCALHOST""#),
                ],
            ),
            lists(
                "servers",
                &entries,
                2,
                &[("4.1 absent", ""), ("4.1 null", "null"), ("4.1 an object", "{}"), ("4.1 a string", r#""kandev""#)],
            ),
        ],
        frame: vec![dimension("frame", &[("4.3.9 the injected server", "")])],
        write_config: |texts| {
            let [marker, port, host, servers] = texts else { unreachable!() };
            object(&[
                member("injected_kandev_mcp", marker),
                member("port", port),
                member("mcp_host", host),
                member("mcp_servers", servers),
            ])
        },
        write_frame: |_| frame("v1", GOOD_CALL, GOOD_OPTIONS),
    }
}

/// Each key's types crossed, in each form of document.
fn config() -> Product {
    let types = |good: &'static [(&'static str, &'static str)]| {
        let mut values = dimension("", &[("4.1 absent", ""), ("4.1 null is absent", "null")]).values;
        values.extend(dimension("", good).values);
        values
    };
    Product {
        name: "config",
        config: vec![
            dimension(
                "document",
                &[
                    ("4.1 as it is", "{}"),
                    ("4.2 white space around", " \t\r\n{} \t\r\n"),
                    ("4.2 a BOM", "\u{feff}{}"),
                    ("4.2 something behind", "{},"),
                    ("4.2 an array", "[{}]"),
                    ("4.2 no JSON", "{},}"),
                ],
            ),
            Dimension {
                name: "policy",
                values: types(&[
                    ("4.1 injected_mcp", r#""injected_mcp""#),
                    ("4.1 escaped", r#""injected\u005fmcp""#),
                    ("4.1 unattended_review", r#""unattended_review""#),
                    ("4.1 another value", r#""Injected_MCP""#),
                    ("4.1 a wrong type", "true"),
                    ("4.1 a lone surrogate", r#""injected_mcp\udead""#),
                ]),
            },
            Dimension {
                name: "agent_type",
                values: types(&[
                    ("4.1 a string", r#""claude-acp""#),
                    ("4.1 a wrong type", "{}"),
                    ("4.2 torn", r#""\ud800""#),
                ]),
            },
            Dimension {
                name: "port",
                values: types(&[
                    ("4.1 an integer", "41000"),
                    ("4.1 a fraction", "41000.0"),
                    ("4.1 an exponent", "41e3"),
                    ("4.1 the largest of 64 bits", "9223372036854775807"),
                    ("4.1 beyond 64 bits", "9223372036854775808"),
                    ("4.1 the smallest of 64 bits", "-9223372036854775808"),
                    ("4.1 minus zero", "-0"),
                    ("4.1 a string", r#""41000""#),
                ]),
            },
            Dimension {
                name: "mcp_host",
                values: types(&[("4.1 a string", r#""localhost""#), ("4.1 a wrong type", "[]")]),
            },
            Dimension {
                name: "injected_kandev_mcp",
                values: types(&[("4.1 a boolean", "true"), ("4.1 a number", "1")]),
            },
            Dimension {
                name: "auto_approve_permissions",
                values: types(&[("4.1 a boolean", "true"), ("4.1 a string", r#""true""#)]),
            },
            dimension(
                "more",
                &[
                    ("4.1 nothing", ""),
                    ("4.1 an unknown key", r#""unknown":null"#),
                    ("4.1 a key in another case is unknown", r#""Port":1"#),
                    ("4.1 a duplicate policy", r#""policy":"unattended_review""#),
                    ("4.1 a duplicate key, null", r#""port":null,"port":null"#),
                    (
                        "4.1 an escaped key",
                        r#""mcp\u005fservers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]"#,
                    ),
                    ("4.1 a key with a lone surrogate", r#""port\ud800":1"#),
                    ("4.2 a raw control character in a key", "\"mcp_server\ts\":[]"),
                ],
            ),
        ],
        frame: vec![dimension("frame", &[("4.3.1 before 4.3.2", "{"), ("4.3.12", "")])],
        write_config: |texts| {
            let [document, policy, agent, port, host, marker, blanket, more] = texts else { unreachable!() };
            let members = object(&[
                member("policy", policy),
                member("agent_type", agent),
                member("port", port),
                member("mcp_host", host),
                member("injected_kandev_mcp", marker),
                member("auto_approve_permissions", blanket),
                (*more).to_owned(),
            ]);
            document.replace("{}", &members)
        },
        write_frame: |texts| if texts[0].is_empty() { frame("v1", GOOD_CALL, GOOD_OPTIONS) } else { texts[0].into() },
    }
}

fn options() -> Product {
    let kinds = [
        r#""allow_once""#,
        r#""allow_always""#,
        r#""reject_once""#,
        r#""reject_always""#,
        r#""\u000b Allow_ONCE\t\f\r\n""#,
        r#"" ALLOW_always""#,
        r#""Reject_Once ""#,
        r#""allow_once\u00a0""#,
        r#""allow-once""#,
        r#""""#,
    ];
    let ids = [r#""a""#, r#""b""#, r#""""#, r#"" \u3000\u0085""#, r#""\u0061""#];
    let mut each = crossed(&[&[r#"{"optionId":"#], &ids, &[r#","kind":"#], &kinds, &["}"]]);
    for broken in [
        "7",
        "{}",
        r#"{"optionId":"a"}"#,
        r#"{"kind":"allow_once","optionId":null}"#,
        r#"{"optionId":"a","kind":7}"#,
        r#"{"optionId":"\ud83c","kind":"reject_once"}"#,
        r#"{"optionId":"c","kind":"allow_once\ude00"}"#,
        r#"{"optionId":"c","optionId":"c","kind":"allow_once"}"#,
        r#"{"optionId":"c","OptionID":"c","kind":"allow_once"}"#,
        r#"{"optionId":"c","\u212aind":"allow_once"}"#,
    ] {
        each.push(broken.to_owned());
    }
    let each: Vec<(&str, &str)> = each.iter().map(|text| (text.as_str(), text.as_str())).collect();
    Product {
        name: "options",
        config: vec![blanket()],
        frame: vec![
            lists(
                "options: all lists of up to 3",
                &each,
                3,
                &[("4.3.5 absent", ""), ("4.3.5 null", "null"), ("4.2 an object", "{}"), ("4.2 a string", r#""a""#)],
            ),
            shapes(&["v1", "message v2"]),
        ],
        write_config: |texts| config_text("", texts[0]),
        write_frame: |texts| frame(texts[1], GOOD_CALL, texts[0]),
    }
}

/// Fewer values, longer lists: which of several allow options, and where the equal id stands.
fn long_options() -> Product {
    Product {
        name: "long options",
        config: vec![blanket()],
        frame: vec![lists(
            "options: all lists of up to 6",
            &[
                ("once a", r#"{"optionId":"a","kind":"allow_once"}"#),
                ("once b", r#"{"optionId":"b","kind":"allow_once"}"#),
                ("always a", r#"{"optionId":"a","kind":"allow_always"}"#),
                ("always blank", r#"{"optionId":"","kind":"allow_always"}"#),
                ("reject b", r#"{"optionId":"b","kind":"reject_once"}"#),
                ("unknown a", r#"{"optionId":"a","kind":"ask_later"}"#),
            ],
            6,
            &[],
        )],
        write_config: |texts| config_text("", texts[0]),
        write_frame: |texts| frame("v1", GOOD_CALL, texts[0]),
    }
}

/// What stands at the top and in `params`.
fn envelope() -> Product {
    const CALL: &str = r#""toolCall":{"name":"mcp__kandev__list"}"#;
    Product {
        name: "envelope",
        config: vec![
            dimension("agent", &[("4.3.7 the Claude dialect", r#""claude-acp""#), ("4.3.7 another agent", "")]),
            blanket(),
        ],
        frame: vec![
            dimension(
                "method",
                &[
                    ("4.2 absent", ""),
                    ("4.2 present even as null", r#""method":null"#),
                    ("4.3.3 a wrong type", r#""method":{}"#),
                    ("4.2 ours", r#""method":"session/request_permission""#),
                    ("4.2 ours, escaped", r#""method":"session\/request\u005fpermission""#),
                    ("4.3.3 another", r#""method":"session/update""#),
                    ("4.3.3 a lone surrogate is another method", r#""method":"session/request_permission\ud800""#),
                    ("4.2 twice", r#""method":"session/request_permission","method":"session/request_permission""#),
                    ("4.2 rival", r#""Method":"session/request_permission""#),
                ],
            ),
            dimension(
                "params",
                &[
                    ("4.2 absent", ""),
                    ("4.2 present even as null", r#""params":null"#),
                    ("4.2 an array", r#""params":[]"#),
                    ("4.2 neither", r#""params":{"options":OPTIONS}"#),
                    ("4.2 v1", r#""params":{CALL,"options":OPTIONS}"#),
                    ("4.2 v2", r#""params":{"subject":{"type":"tool_call",CALL},"options":OPTIONS}"#),
                    ("4.2 both", r#""params":{CALL,"subject":{"type":"tool_call",CALL},"options":OPTIONS}"#),
                    ("4.2 both, one null", r#""params":{CALL,"subject":null,"options":OPTIONS}"#),
                    ("4.2 both, the other null", r#""params":{"toolCall":null,"subject":null,"options":OPTIONS}"#),
                    (
                        "4.2 a method inside is off the path",
                        r#""params":{CALL,"options":OPTIONS,"method":1,"method":2}"#,
                    ),
                    ("4.2 rival inside", r#""params":{CALL,"toolcall":{},"options":OPTIONS}"#),
                    ("4.2 rival", r#""param\u017f":{CALL,"options":OPTIONS}"#),
                ],
            ),
            dimension(
                "toolCall",
                &[
                    ("4.2 absent", ""),
                    ("4.2 null", r#""toolCall":null"#),
                    ("4.2 an array", r#""toolCall":[]"#),
                    ("4.2 an object", "CALL"),
                    ("4.2 twice", "CALL,CALL"),
                    ("4.2 rival beside", r#"CALL,"Toolcall":7"#),
                ],
            ),
            dimension(
                "subject",
                &[
                    ("4.2 absent", ""),
                    ("4.2 null", r#""subject":null"#),
                    ("4.2 a string", r#""subject":"tool_call""#),
                    ("4.2 tool_call", r#""subject":{"type":"tool_call",CALL}"#),
                    ("4.2 tool_call without a toolCall", r#""subject":{"type":"tool_call"}"#),
                    ("4.2 tool_call, toolCall null", r#""subject":{"toolCall":null,"type":"tool_call"}"#),
                    ("4.2 another type", r#""subject":{"type":"command",CALL}"#),
                    ("4.2 a type of a wrong type", r#""subject":{"type":7,CALL}"#),
                    ("4.2 no type", r#""subject":{CALL}"#),
                    (
                        "4.2 another type: its toolCall is not read",
                        r#""subject":{"toolCall":{"name":1,"name":2,"Name":"\ud800","_meta":{"claudeCode":1,"claudeCode":2}},"type":"command"}"#,
                    ),
                    ("4.2 a type with a lone surrogate", r#""subject":{"type":"command\ud800"}"#),
                    ("4.2 type twice", r#""subject":{"type":"command","type":"command"}"#),
                    ("4.2 rival type", r#""subject":{"type":"command","Type":"tool_call"}"#),
                    ("4.2 another type, toolCall twice", r#""subject":{"type":"command",CALL,CALL}"#),
                ],
            ),
            dimension(
                "options",
                &[
                    ("4.3.5 absent", ""),
                    ("4.3.5 null", r#""options":null"#),
                    ("4.3.5 empty", r#""options":[]"#),
                    ("4.2 an object", r#""options":{}"#),
                    ("4.3.11", r#""options":OPTIONS"#),
                    ("4.2 rival", r#""option\u017f":OPTIONS"#),
                    ("4.2 twice", r#""options":OPTIONS,"options":OPTIONS"#),
                ],
            ),
            dimension("order of members", &[("4.2 any", "forward"), ("4.2 any, reversed", "reversed")]),
        ],
        write_config: |texts| config_text(texts[0], texts[1]),
        write_frame: |texts| {
            let (order, members) = texts.split_last().unwrap();
            let mut members: Vec<String> = members.iter().map(|m| (*m).to_owned()).collect();
            if *order == "reversed" {
                members.reverse();
            }
            object(&members).replace("OPTIONS", GOOD_OPTIONS).replace("CALL", CALL).into_bytes()
        },
    }
}

/// Each key of the decision path, in each of its objects, in each way to spell or to repeat it.
fn keys() -> Product {
    Product {
        name: "keys",
        config: vec![agents(), blanket()],
        frame: vec![
            dimension(
                "key",
                &[
                    ("4.2 method", "top.method"),
                    ("4.2 params", "top.params"),
                    ("4.2 toolCall", "params.toolCall"),
                    ("4.2 subject", "params.subject"),
                    ("4.2 options", "params.options"),
                    ("4.2 subject: type", "subject.type"),
                    ("4.2 subject: toolCall", "subject.toolCall"),
                    ("4.2 call: name", "call.name"),
                    ("4.2 call: title", "call.title"),
                    ("4.2 call: kind", "call.kind"),
                    ("4.2 call: _meta", "call._meta"),
                    ("4.2 _meta: claudeCode", "meta.claudeCode"),
                    ("4.2 claudeCode: toolName", "code.toolName"),
                    ("4.2 claudeCode: mcpServer", "code.mcpServer"),
                    ("4.2 mcpServer: name", "server.name"),
                    ("4.2 mcpServer: source", "server.source"),
                    ("4.2 option: optionId", "option.optionId"),
                    ("4.2 option: kind", "option.kind"),
                    ("4.2 off the path: sessionId", "params.sessionId"),
                    ("4.2 off the path: rawInput", "call.rawInput"),
                    ("4.2 off the path: an option's name", "option.name"),
                ],
            ),
            dimension(
                "spelling",
                &[
                    ("4.2 as it is", "as it is"),
                    ("4.2 twice", "twice"),
                    ("4.2 twice, null behind", "null behind"),
                    ("4.2 twice, null before", "null before"),
                    ("4.2 rival case alone", "rival alone"),
                    ("4.2 rival case before", "rival before"),
                    ("4.2 rival case behind", "rival behind"),
                    ("4.2 rival with ſ or K, alone", "fold alone"),
                    ("4.2 rival with ſ or K, behind", "fold behind"),
                    ("4.2 rival with ſ or K, escaped", "fold escaped"),
                    ("4.2 escapes are decoded first", "escaped"),
                    ("4.2 escaped and plain", "escaped twice"),
                    ("4.2 escaped rival", "escaped rival"),
                    ("4.2 no rival: longer", "longer"),
                    ("4.2 no rival: shorter", "shorter"),
                    ("4.2 no rival: accented", "accented"),
                    ("4.2 no rival: lone surrogate behind", "torn"),
                    ("4.2 no rival: empty", "empty"),
                    ("4.2 missing", "missing"),
                ],
            ),
            shape(),
            dimension(
                "value",
                &[("4.2 the good one", ""), ("4.2 null", "null"), ("4.2 a number", "7"), ("4.2 torn", r#""\ud800""#)],
            ),
        ],
        write_config: |texts| config_text(texts[0], texts[1]),
        write_frame: |texts| {
            let [slot, spelling, shape, value] = texts else { unreachable!() };
            let at = |place: &str, key: &str, good: &str| {
                spelled(*slot == format!("{place}.{key}"), key, good, spelling, value)
            };
            let server = object(&[at("server", "name", r#""kandev""#), at("server", "source", r#""dynamic""#)]);
            let code = object(&[at("code", "toolName", r#""mcp__kandev__list""#), at("code", "mcpServer", &server)]);
            let meta = object(&[at("meta", "claudeCode", &code)]);
            let call = object(&[
                at("call", "name", r#""mcp__kandev__list""#),
                at("call", "title", r#""mcp__kandev__list""#),
                at("call", "rawInput", "{}"),
                at("call", "kind", r#""other""#),
                at("call", "_meta", &meta),
            ]);
            let option = object(&[
                at("option", "optionId", r#""yes""#),
                at("option", "name", r#""Yes""#),
                at("option", "kind", r#""allow_once""#),
            ]);
            let options = at("params", "options", &format!("[{option}]"));
            let session = at("params", "sessionId", r#""s""#);
            let subject = |members: &[String]| at("params", "subject", &object(members));
            let kind = at("subject", "type", r#""tool_call""#);
            let v1 = at("params", "toolCall", &call);
            let v2 = at("subject", "toolCall", &call);
            let method = at("top", "method", r#""session/request_permission""#);
            match *shape {
                "v1" => object(&[session, v1, options]),
                "v1 reversed" => object(&[options, v1, session]),
                "v2" => object(&[session, subject(&[kind, v2]), options]),
                "v2 reversed" => object(&[options, subject(&[v2, kind]), session]),
                "message v1" => object(&[method, at("top", "params", &object(&[session, v1, options]))]),
                _ => object(&[at("top", "params", &object(&[subject(&[kind, v2]), session, options])), method]),
            }
            .into_bytes()
        },
    }
}

/// A member under the given spelling of its key; one that is not `chosen` is written as it is.
pub fn spelled(chosen: bool, key: &str, good: &str, spelling: &str, value: &str) -> String {
    if !chosen {
        return member(key, good);
    }
    let value = if value.is_empty() { good } else { value };
    let own = member(key, value);
    let as_key = |key: &str| member(key, value);
    let flip = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let rival: String = key.chars().map(flip).collect();
    let folded = key.replace('s', "\u{17f}").replace('k', "\u{212a}");
    let folded = if folded == key { rival.clone() } else { folded };
    let escaped = format!("\\u{:04X}{}", key.as_bytes()[0], &key[1..]);
    let escape_all = |text: &str| text.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<String>();
    let both = |first: String, second: String| format!("{first},{second}");
    match spelling {
        "as it is" => own,
        "twice" => both(own.clone(), own),
        "null behind" => both(own, member(key, "null")),
        "null before" => both(member(key, "null"), own),
        "rival alone" => as_key(&rival),
        "rival before" => both(as_key(&rival), own),
        "rival behind" => both(own, as_key(&rival)),
        "fold alone" => as_key(&folded),
        "fold behind" => both(own, as_key(&folded)),
        "fold escaped" => both(own, as_key(&escape_all(&folded))),
        "escaped" => as_key(&escaped),
        "escaped twice" => both(as_key(&escaped), own),
        "escaped rival" => both(as_key(&escape_all(&rival)), own),
        "longer" => both(own, as_key(&format!("{rival}x"))),
        "shorter" => both(as_key(&rival[1..]), own),
        "accented" => both(own, as_key(&format!("{}é", &rival[1..]))),
        "torn" => both(own, as_key(&format!("{rival}\\ud800"))),
        "empty" => both(as_key(""), own),
        "missing" => String::new(),
        other => panic!("no spelling {other}"),
    }
}
