//! The engine against the executable specification (`tests/spec`): on every vector, on every combination of the abstract
//! space (`tests/space`), and on every short string as a tool name.
//!
//! In full, with every dimension and its values printed (without link-time optimization, which costs more than it saves):
//!
//! ```sh
//! CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
//!     cargo test --release --test specification -- --nocapture --test-threads 1
//! ```

mod space;
mod spec;
mod vectors_support;

use kandev_policy::{decide_json, Policy};

use space::{acp, hooks, is_full, Product};

#[test]
fn on_every_vector() {
    // The specification builds a tree of all that it reads, which takes a debug build seconds for the largest inputs.
    let largest = if is_full() { usize::MAX } else { 256 * 1024 };
    for vector in vectors_support::all() {
        let (input, config) = (vector.input(), vector.config());
        if input.len().max(config.len()) <= largest {
            assert_eq!(spec::decide(&input, &config), vector.expect, "{}: the specification", vector.id);
        }
        assert_eq!(decide_json(&input, &config), vector.expect, "{}: the engine", vector.id);
    }
}

fn exhaust(products: Vec<Product>) {
    let mut total = 0;
    let mut combinations = 0;
    for product in &products {
        combinations += product.size();
        total += product.run(spec::decide).unwrap_or_else(|what| panic!("{what}"));
    }
    println!("{} products, {combinations} combinations, {total} decided alike", products.len());
}

#[test]
fn on_every_combination_of_an_acp_frame() {
    exhaust(acp::products());
}

#[test]
fn on_every_combination_of_a_hook() {
    exhaust(hooks::products());
}

/// Compares reason and split for every tool name of up to `longest` of the fragments behind `prefix`.
fn names(prefix: &str, fragments: &[&str], longest: u32) {
    // No provenance: the decision says whether the name parsed, what it was split into, and whether it is the server.
    let config = b"{}";
    let base = fragments.len() as u64;
    let total: u64 = (0..=longest).map(|length| base.pow(length)).sum();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let policy = Policy::new(config).unwrap();
                for number in (thread..total).step_by(threads as usize) {
                    let (mut rest, mut length) = (number, 0);
                    while rest >= base.pow(length) {
                        rest -= base.pow(length);
                        length += 1;
                    }
                    let mut name = prefix.to_owned();
                    for _ in 0..length {
                        name += fragments[(rest % base) as usize];
                        rest /= base;
                    }
                    let call =
                        format!(r#"{{"toolCall":{{"name":"{name}"}},"options":[{{"optionId":"a","kind":"b"}}]}}"#);
                    let engine = policy.decide(call.as_bytes()).to_json();
                    assert_eq!(engine, spec::decide(call.as_bytes(), config), "{name}");
                }
            });
        }
    });
    println!("{total} names: {prefix:?} and all strings of up to {longest} of {fragments:?}");
}

#[test]
fn on_every_short_name_behind_the_prefix() {
    names("mcp__", &["k", "_", "-", "x", ".", "é"], if is_full() { 8 } else { 5 });
}

#[test]
fn on_every_short_string() {
    names("", &["m", "c", "p", "_", "k", "x", "-", ".", "é"], if is_full() { 7 } else { 4 });
}

#[test]
fn on_every_short_row_of_fragments() {
    names("", &["mcp__", "kandev", "__", "_", "a"], if is_full() { 8 } else { 5 });
}
