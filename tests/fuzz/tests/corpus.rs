//! The committed corpora, replayed without a fuzzer: nothing is wrong with any input, and together they reach every
//! reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kandev_policy::Reason;
use kandev_policy_fuzz::TARGETS;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Text(String),
    Hex { hex: String },
}

impl Line {
    fn bytes(self) -> Vec<u8> {
        let byte = |hex: &str, at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits");
        match self {
            Line::Text(text) => text.into_bytes(),
            Line::Hex { hex } => (0..hex.len()).step_by(2).map(|at| byte(&hex, at)).collect(),
        }
    }
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target).with_extension("jsonl");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(|line| serde_json::from_str::<Line>(line).expect("a packed input").bytes()).collect()
}

/// The reasons that the corpora reach, by the targets named.
fn reached(names: &[&str]) -> BTreeSet<String> {
    let targets = TARGETS.iter().filter(|target| names.contains(&target.0));
    targets.flat_map(|(name, check)| corpus(name).into_iter().filter_map(|input| check(&input))).collect()
}

/// The words of reasons: all but those that the engine can't give to an input.
fn reasons(of: impl Fn(Reason) -> bool) -> BTreeSet<String> {
    let given = |r: &Reason| !matches!(r, Reason::InternalError | Reason::EngineUnavailable);
    Reason::all().filter(given).filter(|r| of(*r)).map(|r| r.word().to_owned()).collect()
}

/// Those that only a reviewer's request has.
fn is_reviewers(reason: Reason) -> bool {
    reason as u16 >= Reason::MalformedRequest as u16
}

#[test]
fn frames_reach_every_reason_of_a_frame() {
    assert_eq!(reached(&["frame"]), reasons(|r| !is_reviewers(r)));
}

#[test]
fn hooks_reach_every_reason_of_a_hook() {
    let shared = |r| matches!(r, Reason::MalformedConfig | Reason::IdentityMalformed | Reason::IdentityConflict);
    let names = |r| matches!(r, Reason::AmbiguousToolName | Reason::InvalidToolName | Reason::UntrustedServerSource);
    let expected = reasons(|r| is_reviewers(r) || shared(r) || names(r));
    assert_eq!(reached(&["hook"]), expected);
}

#[test]
fn the_others_find_nothing_wrong() {
    for target in ["config", "catalog", "abi"] {
        let reached = reached(&[target]);
        assert!(reached.len() > 1, "{target}: {reached:?}");
    }
}

#[test]
fn together_they_reach_every_reason() {
    let all = TARGETS.map(|target| target.0);
    assert_eq!(reached(&all), reasons(|_| true));
}
