//! Replays the decision vectors and compares each whole decision, byte for byte: one-shot, compiled and explained.

mod vectors_support;

use kandev_policy::{decide_json, explain_json, Policy};
use vectors_support::all;

#[test]
fn every_vector() {
    let mut failures = Vec::new();
    let vectors = all();
    for vector in &vectors {
        let (config, input) = (vector.config(), vector.input());
        let one_shot = decide_json(&input, &config);
        if one_shot != vector.expect {
            failures.push(format!("{}: {}\n  got  {one_shot}\n  want {}", vector.id, vector.why, vector.expect));
            continue;
        }
        if let Ok(policy) = Policy::new(&config) {
            assert_eq!(policy.decide(&input).to_json(), vector.expect, "{}: compiled", vector.id);
        }
        let members = vector.expect.strip_suffix('}').unwrap();
        assert!(
            explain_json(&input, &config).starts_with(&format!("{members},\"detail\":\"")),
            "{}: explained",
            vector.id
        );
    }
    assert!(failures.is_empty(), "{} of {} vectors fail:\n{}", failures.len(), vectors.len(), failures.join("\n"));
}
