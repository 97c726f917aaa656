//! What holds for every decision, whatever it was made from.

use kandev_policy::{decide_json, Decision, Policy};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::spec;

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

/// A config, compiled once for all inputs that are decided under it.
pub struct Host {
    config: &'static str,
    /// `None`: unusable.
    policy: Option<Policy>,
    /// A reviewer's config as the specification reads it, which takes it longer than a body.
    reviewer: Option<spec::hooks::Config>,
}

impl Host {
    pub fn new(config: &'static str) -> Host {
        let policy = Policy::new(config.as_bytes()).ok();
        let document = spec::json::parse(config.as_bytes()).unwrap();
        Host { config, policy, reviewer: spec::hooks::read_config(document.root()) }
    }

    /// The host's own marker stands in the config.
    pub fn has_marker(&self) -> bool {
        self.config.contains(r#""injected_kandev_mcp":true"#)
    }

    /// Decides as the specification does, byte for byte; twice alike; explained alike. Also gives the chosen option's
    /// place.
    pub fn decide(&self, input: &[u8]) -> (Answer, Option<usize>) {
        let expected = match &self.reviewer {
            Some(config) => spec::hooks::decide(input, config).to_json(),
            None => spec::decide(input, self.config.as_bytes()),
        };
        let Some(policy) = &self.policy else {
            let json = decide_json(input, self.config.as_bytes());
            assert_eq!(json, expected, "under {}", self.config);
            return (Answer::of(&json), None);
        };
        let decision = policy.decide(input);
        let json = decision.to_json();
        assert_eq!(json, expected, "under {}", self.config);
        assert_eq!(json, policy.decide(input).to_json(), "the second time");
        check_explanation(&policy.explain(input), &json);
        let answer = Answer::of(&json);
        check_accessors(&decision, &answer);
        (answer, decision.option_index())
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
fn check_accessors(decision: &Decision<'_>, answer: &Answer) {
    assert_eq!(decision.kind().word(), answer.decision);
    assert_eq!(decision.reason().word(), answer.reason);
    assert_eq!(decision.status(), answer.status);
    assert_eq!(decision.option_id(), answer.option_id.as_deref());
    assert_eq!(decision.option_kind().map(|kind| kind.word()), answer.option_kind.as_deref());
    assert_eq!(decision.server(), answer.server.as_deref());
    assert_eq!(decision.tool(), answer.tool.as_deref());
    assert_eq!(decision.response().as_deref(), answer.response.as_deref().map(RawValue::get));
}
