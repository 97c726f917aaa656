//! Finite products of inputs: every combination of named values, decided by the engine and by the specification.
//!
//! A product crosses dimensions that can interact. A dimension is a list of values, each with the clause of the contract
//! that it stands for. The whole decision space is several products, since dimensions of steps that can't see each
//! other (a server entry's headers and an option's id, say) need not be crossed in full; the product `order` crosses one
//! value per outcome of every step with all the others.
//!
//! A run is *full* (every combination) in a release build and *reduced* (evenly spread combinations, in which each value
//! of each dimension occurs) in a debug build; `EXHAUSTIVE=full`, or a number of combinations of each product,
//! overrides that.

pub mod acp;
pub mod hooks;

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Instant;

use kandev_policy::{decide_json, Policy};

/// A value of a dimension: what it stands for, and its text.
#[derive(Clone)]
pub struct Value {
    pub stands_for: String,
    pub text: String,
}

pub struct Dimension {
    pub name: &'static str,
    pub values: Vec<Value>,
}

/// The texts of one combination, in the order of the dimensions.
pub type Texts<'a> = [&'a str];

pub struct Product {
    pub name: &'static str,
    /// Dimensions of the config; they vary slowest, so that a config is compiled once for all its frames.
    pub config: Vec<Dimension>,
    pub frame: Vec<Dimension>,
    pub write_config: fn(&Texts) -> String,
    pub write_frame: fn(&Texts) -> Vec<u8>,
}

pub fn dimension(name: &'static str, values: &[(&str, &str)]) -> Dimension {
    let value = |(stands_for, text): &(&str, &str)| Value { stands_for: (*stands_for).into(), text: (*text).into() };
    Dimension { name, values: values.iter().map(value).collect() }
}

/// A dimension whose values are all lists of up to `longest` of the given ones, as JSON arrays, and then some more.
pub fn lists(name: &'static str, of: &[(&str, &str)], longest: usize, more: &[(&str, &str)]) -> Dimension {
    let mut all = dimension(name, more).values;
    let mut level = vec![(String::new(), String::new())];
    for _ in 0..=longest {
        for (stands_for, text) in &level {
            all.push(Value { stands_for: format!("[{stands_for}]"), text: format!("[{text}]") });
        }
        let mut next = Vec::new();
        for (stands_for, text) in &level {
            let comma = if text.is_empty() { "" } else { "," };
            next.extend(of.iter().map(|(s, t)| (format!("{stands_for}{comma}{s}"), format!("{text}{comma}{t}"))));
        }
        level = next;
    }
    Dimension { name, values: all }
}

/// Every way to choose one value from each list, as one text.
pub fn crossed(parts: &[&[&str]]) -> Vec<String> {
    parts.iter().fold(vec![String::new()], |texts, part| {
        texts.iter().flat_map(|text| part.iter().map(move |p| format!("{text}{p}"))).collect()
    })
}

/// How many combinations of a product are decided in a reduced run; `None` for a full one.
fn reduced() -> Option<usize> {
    match std::env::var("EXHAUSTIVE").as_deref() {
        Ok("full") => None,
        Ok(number) => Some(number.parse().expect("EXHAUSTIVE is full or a number")),
        Err(_) if cfg!(debug_assertions) => Some(3_000),
        Err(_) => None,
    }
}

pub fn is_full() -> bool {
    reduced().is_none()
}

/// `"key":value`, or nothing for an absent one (an empty text).
pub fn member(key: &str, value: &str) -> String {
    if value.is_empty() {
        String::new()
    } else {
        format!("\"{key}\":{value}")
    }
}

/// An object of members; empty ones are left out.
pub fn object(members: &[String]) -> String {
    let present: Vec<&str> = members.iter().map(String::as_str).filter(|m| !m.is_empty()).collect();
    format!("{{{}}}", present.join(","))
}

impl Product {
    fn sizes(&self) -> Vec<usize> {
        self.config.iter().chain(&self.frame).map(|d| d.values.len()).collect()
    }

    pub fn size(&self) -> usize {
        self.sizes().iter().product()
    }

    fn describe(&self) -> String {
        let mut text = format!("product {}: {} combinations\n", self.name, self.size());
        for (place, dimensions) in [("config", &self.config), ("frame", &self.frame)] {
            for dimension in dimensions {
                let shown: Vec<&str> = dimension.values.iter().take(64).map(|v| v.stands_for.as_str()).collect();
                let rest = dimension.values.len() - shown.len();
                let rest = if rest > 0 { format!(" | … {rest} more") } else { String::new() };
                let count = dimension.values.len();
                writeln!(text, "  {place} × {}: {count}: {}{rest}", dimension.name, shown.join(" | ")).unwrap();
            }
        }
        text
    }

    /// Decides every combination twice. Gives the number of combinations, or says where the two disagree.
    pub fn run(&self, specification: fn(&[u8], &[u8]) -> String) -> Result<usize, String> {
        let started = Instant::now();
        let total = self.size();
        let count = reduced().map_or(total, |count| count.min(total));
        // A reduced run steps through the product by the golden section, which is coprime to it: evenly spread.
        let step = if count == total { 1 } else { coprime(total, (total as f64 * 0.618_033_988_749) as usize) };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
        let stop = AtomicBool::new(false);
        let disagreement = Mutex::new(None);
        let next_block = AtomicUsize::new(0);
        let seen = Mutex::new(self.sizes().iter().map(|n| vec![false; *n]).collect::<Vec<_>>());
        const BLOCK: usize = 4096;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut worker = Worker { product: self, compiled: None };
                    let mut own: Vec<Vec<bool>> = self.sizes().iter().map(|n| vec![false; *n]).collect();
                    'blocks: loop {
                        let start = next_block.fetch_add(BLOCK, Ordering::Relaxed);
                        if start >= count || stop.load(Ordering::Relaxed) {
                            break;
                        }
                        for index in start..count.min(start + BLOCK) {
                            let place = (index as u128 * step as u128 % total as u128) as usize;
                            if let Err(what) = worker.compare(place, specification, &mut own) {
                                stop.store(true, Ordering::Relaxed);
                                disagreement.lock().unwrap().get_or_insert(what);
                                break 'blocks;
                            }
                        }
                    }
                    for (all, own) in seen.lock().unwrap().iter_mut().zip(own) {
                        all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
                    }
                });
            }
        });
        if let Some(what) = disagreement.into_inner().unwrap() {
            return Err(format!("product {}: {what}", self.name));
        }
        for (seen, dimension) in seen.into_inner().unwrap().iter().zip(self.config.iter().chain(&self.frame)) {
            let missing = seen.iter().filter(|seen| !**seen).count();
            assert!(missing == 0 || seen.len() > count, "{}: {missing} values of {} never", self.name, dimension.name);
        }
        let kind = if count == total { "all" } else { "reduced to" };
        println!("{}  {kind} {count} decided alike in {:.1} s", self.describe(), started.elapsed().as_secs_f64());
        Ok(count)
    }
}

struct Worker<'p> {
    product: &'p Product,
    /// The config in use, by its number.
    compiled: Option<(usize, String, Result<Policy, String>)>,
}

impl Worker<'_> {
    fn compare(
        &mut self,
        place: usize,
        specification: fn(&[u8], &[u8]) -> String,
        seen: &mut [Vec<bool>],
    ) -> Result<(), String> {
        let product = self.product;
        let frames: usize = product.frame.iter().map(|d| d.values.len()).product();
        let (number, mut rest) = (place / frames, place % frames);
        let mut indices = vec![0; seen.len()];
        let mut pick = |dimensions: &[Dimension], offset: usize, rest: &mut usize| {
            for (i, dimension) in dimensions.iter().enumerate().rev() {
                indices[offset + i] = *rest % dimension.values.len();
                *rest /= dimension.values.len();
            }
        };
        pick(&product.frame, product.config.len(), &mut rest);
        let mut config_rest = number;
        pick(&product.config, 0, &mut config_rest);
        let mut texts = Vec::with_capacity(indices.len());
        for ((dimension, index), seen) in product.config.iter().chain(&product.frame).zip(&indices).zip(seen) {
            seen[*index] = true;
            texts.push(dimension.values[*index].text.as_str());
        }
        let (config_texts, frame_texts) = texts.split_at(product.config.len());
        if self.compiled.as_ref().is_none_or(|c| c.0 != number) {
            let config = (product.write_config)(config_texts);
            let policy = Policy::new(config.as_bytes()).map_err(|e| e.decision().to_json());
            let frame = (product.write_frame)(frame_texts);
            let one_shot = decide_json(&frame, config.as_bytes());
            let compiled = policy.as_ref().map_or_else(String::clone, |p| p.decide(&frame).to_json());
            if one_shot != compiled {
                return Err(format!("one-shot {one_shot}, compiled {compiled} for\n  config {config}"));
            }
            self.compiled = Some((number, config, policy));
        }
        let Some((_, config, policy)) = &self.compiled else { unreachable!() };
        let frame = (product.write_frame)(frame_texts);
        let engine = policy.as_ref().map_or_else(String::clone, |p| p.decide(&frame).to_json());
        let expected = specification(&frame, config.as_bytes());
        if engine == expected {
            return Ok(());
        }
        let frame = String::from_utf8_lossy(&frame).into_owned();
        let names: Vec<String> = product
            .config
            .iter()
            .chain(&product.frame)
            .zip(&indices)
            .map(|(d, i)| format!("{}: {}", d.name, d.values[*i].stands_for))
            .collect();
        Err(format!(
            "they disagree\n  engine        {engine}\n  specification {expected}\n  config {config}\n  frame  {frame}\n  {}",
            names.join("; ")
        ))
    }
}

fn coprime(total: usize, near: usize) -> usize {
    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 {
            a
        } else {
            gcd(b, a % b)
        }
    }
    (near.max(1)..).find(|step| gcd(total, *step) == 1).unwrap()
}
