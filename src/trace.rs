//! What `explain` records on the way.

use crate::decision::write_member;
use crate::{Decision, Reason};

/// One step of the order of evaluation. The contract's numbers are in 4.3 and 5.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Config,
    Document,
    Method,
    DecisionPath,
    Options,
    BlanketApproval,
    Identity,
    QualifiedName,
    Provenance,
    Evidence,
    Option,
    Body,
    ResultChannel,
    Token,
    Allowlist,
    Classification,
}

impl Step {
    const fn word(self) -> &'static str {
        match self {
            Step::Config => "config",
            Step::Document => "document",
            Step::Method => "method",
            Step::DecisionPath => "decision_path",
            Step::Options => "options",
            Step::BlanketApproval => "blanket_approval",
            Step::Identity => "identity",
            Step::QualifiedName => "qualified_name",
            Step::Provenance => "provenance",
            Step::Evidence => "evidence",
            Step::Option => "option",
            Step::Body => "body",
            Step::ResultChannel => "result_channel",
            Step::Token => "token",
            Step::Allowlist => "allowlist",
            Step::Classification => "classification",
        }
    }
}

/// A safe thing to say about a passed step: both words are fixed, so nothing of a request can get into a trace.
pub(crate) type Fact = (&'static str, &'static str);

pub(crate) trait Trace {
    fn passed(&mut self, step: Step, fact: Option<Fact>);
    fn stopped(&mut self, step: Step, reason: Reason);
}

/// For a plain decision: records nothing, costs nothing.
pub(crate) struct Untraced;

impl Trace for Untraced {
    #[inline(always)]
    fn passed(&mut self, _: Step, _: Option<Fact>) {}
    #[inline(always)]
    fn stopped(&mut self, _: Step, _: Reason) {}
}

/// What `explain` gives where a decision has no steps to show.
#[cfg(feature = "abi")]
pub(crate) fn untraced_explanation(decision: &Decision<'_>) -> String {
    Recorder::default().finish(decision)
}

/// For `explain`: the steps as the JSON array's members.
#[derive(Default)]
pub(crate) struct Recorder {
    json: String,
}

impl Recorder {
    fn record(&mut self, step: Step, outcome: &str, fact: Option<Fact>) {
        if !self.json.is_empty() {
            self.json.push(',');
        }
        self.json.push_str("{\"step\":\"");
        self.json.push_str(step.word());
        self.json.push('"');
        write_member(&mut self.json, "outcome", outcome);
        if let Some((key, value)) = fact {
            write_member(&mut self.json, key, value);
        }
        self.json.push('}');
    }

    /// The decision's JSON with `detail` and `trace` behind its own members.
    pub(crate) fn finish(self, decision: &Decision<'_>) -> String {
        let mut json = String::with_capacity(256 + self.json.len());
        decision.write_members(&mut json);
        write_member(&mut json, "detail", decision.reason().detail());
        json.push_str(",\"trace\":[");
        json.push_str(&self.json);
        json.push_str("]}");
        json
    }
}

impl Trace for Recorder {
    fn passed(&mut self, step: Step, fact: Option<Fact>) {
        self.record(step, "passed", fact);
    }

    fn stopped(&mut self, step: Step, reason: Reason) {
        self.record(step, "stopped", Some(("reason", reason.word())));
    }
}
