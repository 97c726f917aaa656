//! Measures what else could decide a frame, beside the library: the same job, from the frame's bytes to a decision.
//!
//! usage: peers FOLDER [check]
//!
//! The folder holds the frames that `go/bench` writes. Each line on stdin, `PEER SIZE MILLISECONDS`, is answered by a
//! line with the nanoseconds per decision. With `check`, or before the first line: every peer must approve each frame
//! that is measured, and none of those that the contract refuses.

mod cedar;
mod frame;
mod ours;
mod rego;

use std::collections::HashMap;
use std::io::{stdin, BufRead};
use std::path::Path;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Decides one frame: the id of the option to answer with, or nothing for *ask*.
trait Peer {
    fn decide(&mut self, frame: &[u8]) -> Option<String>;
}

const SIZES: [&str; 3] = ["small", "medium", "large"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("the folder with the frames");
    let frames: HashMap<&str, Vec<Vec<u8>>> =
        SIZES.iter().chain(&["refused"]).map(|&name| (name, read(Path::new(&folder), name))).collect();
    let config = std::fs::read(Path::new(&folder).join("config.json")).expect("config.json");
    let mut peers: Vec<(&str, Box<dyn Peer>)> = vec![
        ("ours", Box::new(ours::Ours::new(&config))),
        ("cedar", Box::new(cedar::Cedar::new())),
        ("rego", Box::new(rego::Interpreter::new())),
        ("rego-vm", Box::new(rego::Machine::new())),
    ];
    for (name, peer) in &mut peers {
        check(name, peer.as_mut(), &frames);
    }
    if arguments.next().is_some() {
        return;
    }
    for line in stdin().lock().lines() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split(' ').collect();
        let [name, size, milliseconds] = words[..] else { panic!("not PEER SIZE MILLISECONDS: {line}") };
        let (_, peer) = peers.iter_mut().find(|(other, _)| *other == name).expect("a peer");
        let least = Duration::from_millis(milliseconds.parse().expect("milliseconds"));
        println!("{}", measure(peer.as_mut(), &frames[size], least));
    }
}

fn read(folder: &Path, name: &str) -> Vec<Vec<u8>> {
    let frames: Vec<_> =
        (0..).map_while(|number| std::fs::read(folder.join(format!("{name}-{number}.json"))).ok()).collect();
    assert!(!frames.is_empty(), "no frames {name}");
    frames
}

fn check(name: &str, peer: &mut dyn Peer, frames: &HashMap<&str, Vec<Vec<u8>>>) {
    for size in SIZES {
        for frame in &frames[size] {
            assert_eq!(peer.decide(frame).as_deref(), Some("allow-once"), "{name}, {size}");
        }
    }
    for (number, frame) in frames["refused"].iter().enumerate() {
        assert_eq!(peer.decide(frame), None, "{name}, refused-{number}");
    }
}

/// Nanoseconds per decision, over at least so long, one frame after the other: wall time, or processor time where that is
/// less, since the machine's other programs took the rest.
fn measure(peer: &mut dyn Peer, frames: &[Vec<u8>], least: Duration) -> f64 {
    let (start, start_processor, mut decisions) = (Instant::now(), ProcessTime::now(), 0);
    loop {
        for frame in frames {
            assert!(peer.decide(frame).is_some());
        }
        decisions += frames.len();
        let took = start.elapsed();
        if took >= least {
            return took.min(start_processor.elapsed()).as_nanos() as f64 / decisions as f64;
        }
    }
}
