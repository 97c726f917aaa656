//! The live guard (contract 5.3): a server's `tools/list` result against its classification in the catalog.

use kandev_policy::{unclassified_tools, GuardError};

fn check(server: &str, list: &str) -> Result<Vec<String>, String> {
    unclassified_tools(None, server, list.as_bytes()).map_err(|error| error.to_string())
}

fn list(tools: &[&str]) -> String {
    let tools: Vec<String> = tools.iter().map(|tool| format!(r#"{{"inputSchema":{{}},"name":"{tool}"}}"#)).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}

#[test]
fn every_unclassified_tool_is_named_once_in_the_order_of_the_list() {
    for (server, tools, unclassified) in [
        ("kcap-review", &[][..], &[][..]),
        ("kcap-review", &["get_pr_summary", "get_transcript"], &[]),
        ("KCAP-Review", &["get_pr_summary"], &[]),
        ("kcap-review", &["merge_pr", "get_pr_summary", "close_pr", "merge_pr"], &["merge_pr", "close_pr"]),
        (
            "kcap-review",
            &["Get_pr_summary", "get-pr-summary", "get_pr_summary ", ""],
            &["Get_pr_summary", "get-pr-summary", "get_pr_summary ", ""],
        ),
        ("kcap-review", &["search_sessions"], &["search_sessions"]),
        ("kcap-sessions", &["search_sessions"], &[]),
        ("kcap-memory", &["remember"], &["remember"]),
        ("kcap-flow-result", &["submit_review_result"], &[]),
        ("kcap-flow-result", &["submit_review_result", "get_pr_summary"], &["get_pr_summary"]),
    ] {
        assert_eq!(check(server, &list(tools)).unwrap(), unclassified, "{server} {tools:?}");
    }
}

#[test]
fn a_name_is_decoded_before_it_is_compared() {
    assert_eq!(check("kcap-review", &list(&["get_pr_summar\\u0079"])).unwrap(), [""; 0]);
    assert_eq!(check("kcap-review", &list(&["a\\n\\\"b"])).unwrap(), ["a\n\"b"]);
}

#[test]
fn what_is_no_whole_list_does_not_pass() {
    let none = "not the result of an MCP tools/list request";
    let part = "the tools/list result has a nextCursor, so it is not the whole list";
    for (text, error) in [
        ("", none),
        ("[]", none),
        ("{}", none),
        (r#"{"tools":null}"#, none),
        (r#"{"tools":{}}"#, none),
        (r#"{"tools":[null]}"#, none),
        (r#"{"tools":["get_pr_summary"]}"#, none),
        (r#"{"tools":[{}]}"#, none),
        (r#"{"tools":[{"name":1}]}"#, none),
        (r#"{"tools":[{"name":"\ud800"}]}"#, none),
        (r#"{"tools":[{"name":"a","name":"get_pr_summary"}]}"#, none),
        (r#"{"tools":[{"name":"get_pr_summary","Name":"a"}]}"#, none),
        (r#"{"tools":[],"tools":[]}"#, none),
        (r#"{"tools":[],"Tools":[{"name":"a"}]}"#, none),
        (r#"{"tools":[]} {}"#, none),
        (r#"{"tools":[],"nextCursor":1}"#, none),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#, none),
        (r#"{"tools":[],"nextCursor":"2"}"#, part),
        (r#"{"nextCursor":"2","tools":[]}"#, part),
    ] {
        assert_eq!(check("kcap-review", text).unwrap_err(), error, "{text}");
    }
    for text in [r#"{"tools":[],"nextCursor":""}"#, r#"{"tools":[],"nextCursor":null,"_meta":{"tools":[1]}}"#] {
        assert_eq!(check("kcap-review", text).unwrap(), [""; 0], "{text}");
    }
}

#[test]
fn a_server_that_the_catalog_does_not_know_is_an_error() {
    assert_eq!(check("kcap", &list(&[])).unwrap_err(), "\"kcap\" is no server of the catalog");
    assert_eq!(check("kcap_review", &list(&[])).unwrap_err(), "\"kcap_review\" is no server of the catalog");
    assert_eq!(check("", &list(&[])).unwrap_err(), "\"\" is no server of the catalog");
}

#[test]
fn a_key_that_a_client_might_read_in_another_s_place_is_no_list() {
    for list in [
        r#"{"tools":[],"Tools":[{"name":"evil"}]}"#,
        r#"{"tools":[],"tool\u017f":[{"name":"evil"}]}"#,
        r#"{"tools":[],"tools":[{"name":"evil"}]}"#,
        r#"{"tools":[],"nextcursor":"2"}"#,
        r#"{"tools":[],"nextCur\u017for":"2"}"#,
        r#"{"tools":[{"name":"get_pr_summary","Name":"evil"}]}"#,
        r#"{"tools":[{"name":"get_pr_summary","\u006eame":"evil"}]}"#,
    ] {
        let error = unclassified_tools(None, "kcap-review", list.as_bytes()).unwrap_err();
        assert_eq!(error, GuardError::NoToolList, "{list}");
    }
    // Other keys are the server's own affair.
    let list = r#"{"tools":[{"name":"get_pr_summary","title":"a","Title":"b"}],"_meta":{},"_Meta":{}}"#;
    assert!(unclassified_tools(None, "kcap-review", list.as_bytes()).unwrap().is_empty());
}

#[test]
fn a_hosts_catalog_replaces_the_built_in_one_and_is_checked() {
    let catalog =
        br#"{"servers":[{"id":"a","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["t"]}],
        "result_channel":{"server":"out","tools":["send"]}}"#;
    let found = |server, tools| unclassified_tools(Some(catalog), server, list(tools).as_bytes());
    assert_eq!(found("a", &["t", "u"]).unwrap(), ["u"]);
    assert_eq!(found("kcap-review", &[]).unwrap_err().to_string(), "\"kcap-review\" is no server of the catalog");
    for (bad, text) in [
        (
            r#"{"servers":[],"result_channel":{"server":"","tools":[]}}"#,
            "ids and tools must be non-empty and hold only letters, digits, _ and -",
        ),
        (r#"{"servers":[]}"#, "result_channel: missing, expected object"),
        (
            r#"{"servers":[1],"result_channel":{"server":"out","tools":[]}}"#,
            "servers[0]: found integer, expected object",
        ),
        ("", "the config is not one strict JSON object: line 1, column 1"),
    ] {
        let error = unclassified_tools(Some(bad.as_bytes()), "a", b"{}").unwrap_err();
        assert_eq!(error.to_string(), text, "{bad}");
    }
}
