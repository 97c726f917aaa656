//! What holds for every decision, whatever it was made from.

use kandev_policy::Decision;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A decision as any JSON reader sees it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub decision: String,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Box<RawValue>>,
}

impl Answer {
    /// Reads a decision: one JSON object of known keys in the contract's order (4.4, 5.1), escaped as serde_json does.
    pub fn of(json: &str) -> Answer {
        let answer: Answer = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"));
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        answer
    }
}

/// An explanation is its decision with two more members behind it.
pub fn check_explanation(explanation: &str, decision: &str) {
    let open = decision.strip_suffix('}').unwrap();
    let rest = explanation.strip_prefix(open).unwrap_or_else(|| panic!("{explanation} is not of {decision}"));
    assert!(rest.starts_with(r#","detail":""#), "{explanation}");
    serde_json::from_str::<&RawValue>(explanation).unwrap();
}

/// The accessors say what the JSON says.
pub fn check_accessors(decision: &Decision<'_>, answer: &Answer) {
    assert_eq!(decision.kind().word(), answer.decision);
    assert_eq!(decision.reason().word(), answer.reason);
    assert_eq!(decision.status(), answer.status);
    assert_eq!(decision.option_id(), answer.option_id.as_deref());
    assert_eq!(decision.option_kind().map(|kind| kind.word()), answer.option_kind.as_deref());
    assert_eq!(decision.server(), answer.server.as_deref());
    assert_eq!(decision.tool(), answer.tool.as_deref());
    assert_eq!(decision.response().as_deref(), answer.response.as_deref().map(RawValue::get));
}
