//! Every reason is reached by at least three vectors, and those of the injected-server policy's frames in the shapes of
//! both protocol versions.

mod vectors_support;

use std::collections::{BTreeMap, BTreeSet};

use kandev_policy::Reason;
use serde_json::Value;
use vectors_support::all;

/// No vector can reach these: the one is for a host without an engine, the other for a caught panic.
const OUT_OF_REACH: [&str; 2] = ["engine_unavailable", "internal_error"];

/// What the config alone decides, or what a broken document does, has no shape; these are looked for in both.
const SHAPELESS: [&str; 1] = ["malformed_config"];

/// `v1` or `v2`, if the frame's members say so.
fn shape(frame: &[u8]) -> Option<&'static str> {
    let frame: Value = serde_json::from_slice(frame).ok()?;
    let params = frame.get("params").unwrap_or(&frame);
    match (params.get("toolCall"), params.get("subject")) {
        (Some(_), None) => Some("v1"),
        (None, Some(_)) => Some("v2"),
        _ => None,
    }
}

#[test]
fn every_reason_is_reached() {
    let mut by_reason: BTreeMap<String, usize> = BTreeMap::new();
    let mut shapes: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for vector in all() {
        let expect: Value = serde_json::from_str(&vector.expect).expect("an expectation is JSON");
        let reason = expect["reason"].as_str().expect("an expectation has a reason").to_owned();
        *by_reason.entry(reason.clone()).or_default() += 1;
        let is_hook = expect.get("status").is_some();
        if !is_hook {
            shapes.entry(reason).or_default().extend(shape(&vector.input()));
        }
    }

    let known: BTreeSet<&str> = Reason::all().map(Reason::word).collect();
    let unknown: Vec<&String> = by_reason.keys().filter(|reason| !known.contains(reason.as_str())).collect();
    assert!(unknown.is_empty(), "reasons that the library doesn't know: {unknown:?}");

    // A hook's reasons are those from `malformed_request` on; what both policies give is an ACP reason first.
    let is_acp = |reason: Reason| (reason as u16) < Reason::MalformedRequest as u16;
    let mut missing = Vec::new();
    for reason in Reason::all().filter(|reason| !OUT_OF_REACH.contains(&reason.word())) {
        let word = reason.word();
        let count = by_reason.get(word).copied().unwrap_or(0);
        if count < 3 {
            missing.push(format!("{word}: {count} vectors, at least 3 are wanted"));
        }
        if is_acp(reason) && !SHAPELESS.contains(&word) {
            let seen = shapes.get(word).cloned().unwrap_or_default();
            missing.extend(
                ["v1", "v2"].iter().filter(|s| !seen.contains(*s)).map(|s| format!("{word}: none in {s} shape")),
            );
        }
    }
    for word in OUT_OF_REACH {
        assert_eq!(by_reason.get(word), None, "{word} can't be a vector's reason");
    }
    assert!(missing.is_empty(), "the vectors lack:\n{}", missing.join("\n"));
    println!("{by_reason:?}");
}
