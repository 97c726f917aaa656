//! A hook payload under one of sixteen reviewers' configs.

use std::sync::OnceLock;

use crate::answer::Host;
use crate::note;

/// A catalog of a host's own. Its ids differ from the built-in ones in what folds.
macro_rules! own_catalog {
    () => {
        r#""catalog":{"servers":[{"id":"Own-Server","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["get_it","Bash"]},{"id":"b_2","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["x"]},{"id":"c","auto_approvable":false,"starts_flows":true,"unattended_safe_tools":[]}],"result_channel":{"server":"own-result","tools":["deliver","submit"]}}"#
    };
}

/// The input's first byte chooses one of them, by its last four bits.
pub const CONFIGS: [&str; 16] = [
    // @ to D: Codex
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}"#,
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-sessions"," KCAP-REVIEW "]}"#,
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer"}"#,
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","result_channel_scope":"reviewer","servers":["kcap-flow-result"]}"#,
    r#"{"policy":"unattended_review","vendor":"codex","token":"shared","servers":["kcap-review"]}"#,
    // E to I: Claude
    r#"{"policy":"unattended_review","vendor":"claude","token":"reviewer","servers":["kcap-review","kcap-sessions"]}"#,
    r#"{"policy":"unattended_review","vendor":"claude","token":"reviewer","servers":[]}"#,
    r#"{"policy":"unattended_review","vendor":"claude","token":"shared"}"#,
    r#"{"policy":"unattended_review","vendor":"claude","token":"shared","result_channel_scope":"reviewer"}"#,
    r#"{"policy":"unattended_review","vendor":"codex","token":"shared","result_channel_scope":"any"}"#,
    // J to L: a catalog of the host's
    concat!(
        r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["own-server"],"#,
        own_catalog!(),
        "}"
    ),
    concat!(
        r#"{"policy":"unattended_review","vendor":"claude","token":"reviewer","servers":["B_2","own-server"],"#,
        own_catalog!(),
        "}"
    ),
    concat!(r#"{"policy":"unattended_review","vendor":"codex","token":"shared","#, own_catalog!(), "}"),
    // M to O: unusable, and no reviewer's
    concat!(
        r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["c"],"#,
        own_catalog!(),
        "}"
    ),
    r#"{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-memory"]}"#,
    "{}",
];

/// The decision is the specification's; a reviewer's token is never answered with a question, the shared token never with
/// an approval of anything but the result channel.
pub fn hook(input: &[u8]) -> Option<String> {
    static HOSTS: OnceLock<[Host; 16]> = OnceLock::new();
    let (choice, body) = input.split_first()?;
    let (chosen, choice) = (choice, usize::from(choice % 16));
    let host = &HOSTS.get_or_init(|| CONFIGS.map(Host::new))[choice];
    let (answer, index) = host.decide(body);
    note(*chosen, &answer.reason);
    if CONFIGS[choice] == "{}" {
        return None; // no reviewer's
    }
    assert!(index.is_none() && answer.option_id.is_none());
    let shared = CONFIGS[choice].contains(r#""token":"shared""#);
    match answer.decision.as_str() {
        "allow" => assert!(!shared || answer.reason == "result_channel"),
        "ask" => assert!(shared),
        "deny" => {}
        other => panic!("{other} is no answer to a hook"),
    }
    let response = answer.response.as_ref().map_or("", |response| response.get());
    let behavior = format!(r#""behavior":"{}""#, answer.decision);
    assert_eq!(response.contains(&behavior), answer.decision != "ask" && answer.status == Some(200));
    Some(answer.reason)
}
