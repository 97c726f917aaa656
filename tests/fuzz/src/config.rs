//! A config, under which one of sixteen requests is decided.

use std::collections::HashMap;

use kandev_policy::{decide_json, explain_json, Policy};
use serde_json::value::RawValue;

use crate::answer::{check_explanation, Answer};
use crate::{note, spec};

/// The input's first byte chooses one of them, by its last four bits: @ to G are frames, H to O hook payloads.
pub const REQUESTS: [&str; 16] = [
    r#"{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}"#,
    r#"{"toolCall":{"title":"mcp__kandev__list_tasks","kind":"other","_meta":{"claudeCode":{"mcpServer":{"name":"kandev","source":"dynamic"}}}},"options":[{"optionId":"a","kind":"allow_always"}]}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"subject":{"type":"tool_call","toolCall":{"_meta":{"claudeCode":{"toolName":"mcp__kandev__x"}}}},"options":[{"optionId":"no","kind":"reject_always"},{"optionId":"yes","kind":" Allow_Once "}]}}"#,
    r#"{"toolCall":{"name":"Bash"},"options":[{"optionId":"no","kind":"reject_once"},{"optionId":"other","kind":"x"}]}"#,
    r#"{"toolCall":{"name":"mcp__kandev__x","_meta":{"claudeCode":{"mcpServer":{"name":"kandev","source":"project"}}}},"options":[{"optionId":"yes","kind":"allow_once"}]}"#,
    r#"{"toolCall":{"name":"mcp__kandev__x","_meta":1},"options":[{"optionId":" ","kind":"allow_once"}]}"#,
    r#"{"subject":null,"options":[]}"#,
    "{}",
    r#"{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary","hook_event_name":"PermissionRequest"}"#,
    r#"{"session_id":"s","tool_name":"mcp__KCAP-sessions__list_turns","mcp_server":{"name":"kcap-sessions","source":"dynamic"}}"#,
    r#"{"session_id":"s","tool_name":"get_pr_summary"}"#,
    r#"{"session_id":"s","tool_name":"submit_review_result"}"#,
    r#"{"session_id":"s","tool_name":"mcp__a__b"}"#,
    r#"{"session_id":"s","tool_name":"mcp__kcap_flow_result__submit_review_result"}"#,
    r#"{"session_id":"s","tool_name":"b"}"#,
    r#"{"session_id":"-","tool_name":"b"}"#,
];

/// The decision is the specification's, the compiled config gives the same one, and no approval comes from a config that
/// doesn't ask for it.
pub fn config(input: &[u8]) -> Option<String> {
    let (choice, config) = input.split_first()?;
    let request = REQUESTS[usize::from(choice % 16)].as_bytes();
    let json = decide_json(request, config);
    assert_eq!(json, spec::decide(request, config));
    check_explanation(&explain_json(request, config), &json);
    match Policy::new(config) {
        Ok(policy) => assert_eq!(policy.decide(request).to_json(), json),
        Err(error) => {
            assert_eq!(error.decision().to_json(), json);
            let text = error.to_string();
            assert!(text.len() < 1024 && !text.contains(char::is_control), "{text:?}");
        }
    }
    let answer = Answer::of(&json);
    note(*choice, &answer.reason);
    match answer.reason.as_str() {
        "injected_mcp" => assert!(Says::of(config).is_true("injected_kandev_mcp")),
        "blanket_approval" => assert!(Says::of(config).is_true("auto_approve_permissions")),
        _ if answer.decision == "allow" => assert_eq!(Says::of(config).policy().as_deref(), Some("unattended_review")),
        _ => assert_ne!(answer.decision, "select"),
    }
    Some(answer.reason)
}

/// What an ordinary JSON reader finds in a config that approves something.
struct Says<'c>(HashMap<String, &'c RawValue>);

impl<'c> Says<'c> {
    fn of(config: &'c [u8]) -> Self {
        Says(serde_json::from_slice(config).expect("an object"))
    }

    fn is_true(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| value.get() == "true")
    }

    fn policy(&self) -> Option<String> {
        self.0.get("policy").and_then(|value| serde_json::from_str(value.get()).ok())
    }
}
