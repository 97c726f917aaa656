//! Reads `tests/vectors/*.jsonl` (the format is in `tests/vectors/README.md`).
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

/// One line of a vector file.
#[derive(Deserialize)]
struct Line {
    id: String,
    why: String,
    config: Box<RawValue>,
    input: Text,
    expect: Box<RawValue>,
}

/// Text, or parts of it for what a line can't hold.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Repeat { repeat: String, times: usize },
    Hex { hex: String },
}

pub struct Vector {
    pub id: String,
    pub why: String,
    /// The decision JSON, byte for byte.
    pub expect: String,
    config: Box<RawValue>,
    input: Text,
}

impl Vector {
    pub fn config(&self) -> Vec<u8> {
        let raw = self.config.get();
        if raw.starts_with('{') {
            raw.as_bytes().to_vec()
        } else {
            serde_json::from_str::<Text>(raw).expect("a config is an object, a string or parts").bytes()
        }
    }

    pub fn input(&self) -> Vec<u8> {
        self.input.bytes()
    }
}

impl Text {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Text::Whole(text) => text.as_bytes().to_vec(),
            Text::Parts(parts) => parts.iter().flat_map(Part::bytes).collect(),
        }
    }
}

impl Part {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Part::Text(text) => text.as_bytes().to_vec(),
            Part::Repeat { repeat, times } => repeat.repeat(*times).into_bytes(),
            Part::Hex { hex } => (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits"))
                .collect(),
        }
    }
}

/// Every vector of every file, files in the order of their names.
pub fn all() -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).expect("tests/vectors").map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    assert!(!files.is_empty(), "no vectors in {}", folder.display());
    files.iter().flat_map(|path| read(path)).collect()
}

/// The vectors of one file.
pub fn read(path: &Path) -> Vec<Vector> {
    let text = fs::read_to_string(path).expect("a vector file is UTF-8");
    let parse = |(number, line): (usize, &str)| {
        let line: Line =
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{}:{}: {e}", path.display(), number + 1));
        let Line { id, why, config, input, expect } = line;
        Vector { id, why, config, input, expect: expect.get().to_owned() }
    };
    text.lines().enumerate().map(parse).collect()
}
