//! Frames as the official crate of the protocol writes them (`agent-client-protocol-schema`), v1 and v2, bare and as
//! JSON-RPC requests, decided like those that are written by hand. A change of the protocol's shape shows here first.

use agent_client_protocol_schema::{rpc::JsonRpcMessage, v1, v2, IntoMaybeUndefined};
use kandev_policy::decide_json;
use serde::Serialize;
use serde_json::{json, Map, Value};

const CLAUDE: &str = r#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#;
const METHOD: &str = "session/request_permission";

const APPROVED: &str = r#"{"decision":"select","reason":"injected_mcp","option_id":"yes","option_kind":"allow_once","server":"kandev","tool":"list"}"#;

/// What a tool call says, in either version of the protocol.
struct Call {
    name: Option<&'static str>,
    title: Option<&'static str>,
    other_kind: bool,
    meta: Option<Value>,
}

/// Each with the decision that the contract gives it.
fn calls() -> Vec<(Call, &'static str)> {
    let meta = |code: Value| Some(json!({ "claudeCode": code, "more": [1, null] }));
    let evidence = |source: &str| meta(json!({"mcpServer": {"name": "kandev", "source": source}}));
    let call = |name, title, other_kind, meta| Call { name, title, other_kind, meta };
    let name = Some("mcp__kandev__list");
    vec![
        (call(name, None, false, None), APPROVED),
        (call(name, Some("List the tasks"), true, evidence("dynamic")), APPROVED),
        (call(None, name, true, None), APPROVED),
        (call(None, Some("A title"), true, meta(json!({"toolName": "mcp__kandev__list"}))), APPROVED),
        (call(None, name, false, None), r#"{"decision":"ask","reason":"identity_missing"}"#),
        (call(Some("Bash"), Some("ls"), false, None), r#"{"decision":"ask","reason":"not_mcp_tool"}"#),
        (
            call(name, None, true, meta(json!({"toolName": "mcp__kandev__get"}))),
            r#"{"decision":"ask","reason":"identity_conflict"}"#,
        ),
        (call(name, None, true, meta(json!({"toolName": 7}))), r#"{"decision":"ask","reason":"identity_malformed"}"#),
        (
            call(name, None, true, evidence("project")),
            r#"{"decision":"ask","reason":"untrusted_server_source","server":"kandev","tool":"list"}"#,
        ),
        (
            call(Some("mcp__other__list"), None, true, None),
            r#"{"decision":"ask","reason":"other_server","server":"other","tool":"list"}"#,
        ),
    ]
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn v1_request(call: &Call, options: Vec<v1::PermissionOption>) -> v1::RequestPermissionRequest {
    let kind = if call.other_kind { v1::ToolKind::Other } else { v1::ToolKind::Execute };
    let mut fields = v1::ToolCallUpdateFields::new()
        .kind(kind)
        .status(v1::ToolCallStatus::Pending)
        .content(vec!["a diff".into()])
        .raw_input(json!({"name": "Bash", "text": "\u{1f600}\n\"quoted\"", "deep": [[[{}]]]}));
    fields.name = call.name.map(Into::into);
    fields.title = call.title.map(Into::into);
    let mut update = v1::ToolCallUpdate::new("toolu_1", fields);
    update.meta = call.meta.as_ref().map(map);
    v1::RequestPermissionRequest::new("session-1", update, options).meta(map(&json!({"name": "Bash"})))
}

fn v2_request(call: &Call, options: Vec<v2::PermissionOption>) -> v2::RequestPermissionRequest {
    let mut update = v2::ToolCallUpdate::new("toolu_1");
    update.kind =
        Some(if call.other_kind { v2::ToolKind::Other } else { v2::ToolKind::Execute }).into_maybe_undefined();
    update.raw_input = Some(json!({"name": "Bash", "text": "\u{1f600}\n\"quoted\""})).into_maybe_undefined();
    update.name = call.name.map(String::from).into_maybe_undefined();
    update.title = call.title.map(String::from).into_maybe_undefined();
    update.meta = call.meta.as_ref().map(map).into_maybe_undefined();
    let subject = v2::RequestPermissionSubject::from(update);
    v2::RequestPermissionRequest::new("session-1", "Run it?", options).description("Why".to_owned()).subject(subject)
}

/// The reject option first, so that the order of arrival can't be what chooses.
fn v1_options() -> Vec<v1::PermissionOption> {
    use v1::PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    [("no", RejectOnce), ("ever", AllowAlways), ("yes", AllowOnce), ("never", RejectAlways)]
        .map(|(id, kind)| v1::PermissionOption::new(v1::PermissionOptionId::new(id), "A label", kind))
        .into()
}

fn v2_options() -> Vec<v2::PermissionOption> {
    use v2::PermissionOptionKind::{AllowAlways, AllowOnce, Other, RejectOnce};
    [("later", Other("_later".into())), ("no", RejectOnce), ("ever", AllowAlways), ("yes", AllowOnce)]
        .map(|(id, kind)| v2::PermissionOption::new(v2::PermissionOptionId::new(id), "A label", kind))
        .into()
}

fn written(value: &impl Serialize) -> [String; 2] {
    [serde_json::to_string(value).unwrap(), serde_json::to_string_pretty(value).unwrap()]
}

/// Params alone, and the request around them, each compact and indented.
fn all_forms<P: Serialize + Clone>(params: &P) -> Vec<String> {
    let request = v1::Request { id: v1::RequestId::Number(3), method: METHOD.into(), params: Some(params.clone()) };
    let text_id =
        v1::Request { id: v1::RequestId::Str("3".into()), method: METHOD.into(), params: Some(params.clone()) };
    [written(params), written(&JsonRpcMessage::wrap(request)), written(&JsonRpcMessage::wrap(text_id))].concat()
}

#[test]
fn v1_frames() {
    for (call, expected) in calls() {
        for frame in all_forms(&v1_request(&call, v1_options())) {
            assert_eq!(decide_json(frame.as_bytes(), CLAUDE.as_bytes()), expected, "{frame}");
        }
    }
}

#[test]
fn v2_frames() {
    for (call, expected) in calls() {
        for frame in all_forms(&v2_request(&call, v2_options())) {
            assert_eq!(decide_json(frame.as_bytes(), CLAUDE.as_bytes()), expected, "{frame}");
        }
    }
}

/// The members that the protocol names are the ones that the decision path reads.
#[test]
fn the_shapes_are_those_of_the_contract() {
    let (call, _) = calls().swap_remove(3);
    let v1 = serde_json::to_value(v1_request(&call, v1_options())).unwrap();
    assert_eq!(v1["toolCall"]["kind"], "other");
    assert_eq!(v1["toolCall"]["_meta"]["claudeCode"]["toolName"], "mcp__kandev__list");
    assert_eq!(v1["options"][2], json!({"optionId": "yes", "name": "A label", "kind": "allow_once"}));
    let v2 = serde_json::to_value(v2_request(&call, v2_options())).unwrap();
    assert_eq!(v2["subject"]["type"], "tool_call");
    assert_eq!(v2["subject"]["toolCall"]["kind"], "other");
    assert!(v2.get("toolCall").is_none());
    let message = v1::Request { id: v1::RequestId::Null, method: METHOD.into(), params: Some(()) };
    assert_eq!(serde_json::to_value(JsonRpcMessage::wrap(message)).unwrap()["method"], METHOD);
}

#[test]
fn other_subjects_and_options() {
    let ask = |reason: &str| format!(r#"{{"decision":"ask","reason":"{reason}"}}"#);
    let decide = |frame: &str| decide_json(frame.as_bytes(), CLAUDE.as_bytes());
    let (call, _) = calls().swap_remove(0);

    // A command, and no subject at all: legal requests that say no tool.
    let mut command = v2_request(&call, v2_options());
    command.subject = Some(v2::CommandPermissionSubject::new("mcp__kandev__list", "/tmp").into());
    let mut nothing = v2_request(&call, v2_options());
    nothing.subject = None;
    for frame in all_forms(&command) {
        assert_eq!(decide(&frame), ask("identity_missing"), "{frame}");
    }
    // The crate leaves an absent subject out, which then is neither v1 nor v2.
    for frame in all_forms(&nothing) {
        assert_eq!(decide(&frame), ask("malformed_frame"), "{frame}");
    }

    for frame in all_forms(&v1_request(&call, Vec::new())) {
        assert_eq!(decide(&frame), r#"{"decision":"cancel","reason":"no_options"}"#, "{frame}");
    }
    let mut reject = v1_options();
    reject.retain(|o| matches!(o.kind, v1::PermissionOptionKind::RejectOnce | v1::PermissionOptionKind::RejectAlways));
    for frame in all_forms(&v1_request(&call, reject)) {
        assert!(decide(&frame).starts_with(r#"{"decision":"ask","reason":"no_allow_option""#), "{frame}");
    }
    let mut same = v1_options();
    same.iter_mut().for_each(|o| o.option_id = v1::PermissionOptionId::new("same"));
    for frame in all_forms(&v1_request(&call, same)) {
        assert!(decide(&frame).starts_with(r#"{"decision":"ask","reason":"option_id_unusable""#), "{frame}");
    }
}

/// A message of another method, as the crate writes it.
#[test]
fn other_methods() {
    let (call, _) = calls().swap_remove(0);
    let params = Some(v1_request(&call, v1_options()));
    let request = v1::Request { id: v1::RequestId::Number(1), method: "session/update".into(), params };
    for frame in written(&JsonRpcMessage::wrap(request)) {
        let decision = decide_json(frame.as_bytes(), CLAUDE.as_bytes());
        assert_eq!(decision, r#"{"decision":"ask","reason":"not_a_permission_request"}"#);
    }
}
