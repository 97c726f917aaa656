//! The library itself, as a Rust host uses it.

use crate::Peer;
use kandev_policy::{Kind, Policy};

pub struct Ours(Policy);

impl Ours {
    pub fn new(config: &[u8]) -> Self {
        Self(Policy::new(config).expect("a config"))
    }
}

impl Peer for Ours {
    fn decide(&mut self, frame: &[u8]) -> Option<String> {
        let decision = self.0.decide(frame);
        decision.option_id().filter(|_| decision.kind() == Kind::Select).map(str::to_owned)
    }
}
