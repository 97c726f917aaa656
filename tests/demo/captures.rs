//! Decides every captured frame through the Rust crate; one decision a line, in the order of the files given.

#[path = "../vectors_support/mod.rs"]
mod vectors_support;

use kandev_policy::Policy;

fn main() {
    for file in std::env::args().skip(1) {
        for vector in vectors_support::read(file.as_ref()) {
            let policy = Policy::new(&vector.config()).expect("a capture's config is usable");
            println!("{}", policy.decide(&vector.input()).to_json());
        }
    }
}
