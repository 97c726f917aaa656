//! Reading a config strictly (contract 4.1): every key is seen, a duplicate is never swallowed, and an error names the
//! key, the type found and the type expected, never a value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::decision::{Decision, Kind};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::{json, Reason};

/// Why a config can't be used. Its text names the key and the types, or the place, and holds no value of the config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    key: String,
    problem: Problem,
    unattended: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Problem {
    Encoding,
    TooLarge,
    Syntax { line: usize, column: usize },
    Type { found: &'static str, expected: &'static str },
    Missing { expected: &'static str },
    UnknownKey,
    DuplicateKey,
    Rule(&'static str),
}

impl ConfigError {
    fn new(key: impl Into<String>, problem: Problem) -> Self {
        Self { key: key.into(), problem, unattended: false }
    }

    pub(crate) fn wrong_type(key: impl Into<String>, found: Raw<'_>, expected: &'static str) -> Self {
        Self::new(key, Problem::Type { found: found.type_name(), expected })
    }

    /// A value of the right type that breaks a rule; `rule` says which, in fixed words.
    pub(crate) fn rule(key: impl Into<String>, rule: &'static str) -> Self {
        Self::new(key, Problem::Rule(rule))
    }

    /// Marks the error as one of a reviewer's config, which denies instead of asking.
    pub(crate) fn unattended(self) -> Self {
        Self { unattended: true, ..self }
    }

    /// What every request is answered with under this config.
    pub fn decision(&self) -> Decision<'static> {
        unusable(self.unattended, Reason::MalformedConfig)
    }

    /// Line and column (both counted from 1, columns in bytes) of a syntax error.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self.problem {
            Problem::Syntax { line, column } => Some((line, column)),
            _ => None,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        match &self.problem {
            Problem::Encoding => f.write_str("the config is not UTF-8"),
            Problem::TooLarge => write!(f, "the config is longer than {MAX_DOCUMENT_BYTES} bytes"),
            Problem::Syntax { line, column } => {
                write!(f, "the config is not one strict JSON object: line {line}, column {column}")
            }
            Problem::Type { found, expected } => write!(f, "found {found}, expected {expected}"),
            Problem::Missing { expected } => write!(f, "missing, expected {expected}"),
            Problem::UnknownKey => f.write_str("unknown key"),
            Problem::DuplicateKey => f.write_str("duplicate key"),
            Problem::Rule(rule) => f.write_str(rule),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The answer where there is no policy to ask: `ask`, or `deny` for a reviewer (contract 4.1).
pub(crate) fn unusable(unattended: bool, reason: Reason) -> Decision<'static> {
    if unattended {
        Decision::hook(Kind::Deny, reason)
    } else {
        Decision::acp(Kind::Ask, reason)
    }
}

/// A value of the config, validated but not yet read.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// A document of any type.
    pub(crate) fn of_document(document: &'a [u8]) -> Option<Self> {
        let text = json::text(document, MAX_DOCUMENT_BYTES).ok()?;
        serde_json::from_str::<&RawValue>(text).ok().map(|raw| Raw(raw.get()))
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Null, or an empty string, array or object.
    pub(crate) fn is_empty(self) -> bool {
        let inner = |open, close| self.0.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        self.is_null()
            || self.0 == "\"\""
            || inner('[', ']').or(inner('{', '}')).is_some_and(|inside| inside.trim_ascii().is_empty())
    }

    /// The string, if it is one and holds no lone surrogate.
    pub(crate) fn string(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The integer, if it is written as one and fits into 64 bits.
    pub(crate) fn integer(self) -> Option<i64> {
        // JSON has no leading `+` and no white space here, so this reads exactly `-?[0-9]+`.
        self.0.parse().ok()
    }

    pub(crate) fn elements(self) -> Option<Vec<Raw<'a>>> {
        serde_json::from_str::<Elements<'a>>(self.0).ok().map(|elements| elements.0)
    }

    pub(crate) fn strings(self) -> Option<Vec<String>> {
        self.elements()?.into_iter().map(Raw::string).collect()
    }

    pub(crate) fn members(self) -> Option<Members<'a>> {
        serde_json::from_str(self.0).ok()
    }

    pub(crate) fn type_name(self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'"') if self.string().is_none() => "a string with a lone surrogate",
            Some(b'"') => "string",
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b't' | b'f') => "boolean",
            Some(b'n') => "null",
            _ if self.integer().is_some() => "integer",
            _ => "a number that is no 64-bit integer",
        }
    }
}

/// An object's members in their order, duplicates included. Keys are unescaped bytes, since a key may hold half an emoji
/// and must then merely be another key.
pub(crate) struct Members<'a>(Vec<(Cow<'a, [u8]>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// The document as one object.
    pub(crate) fn of_document(config: &'a [u8]) -> Result<Self, ConfigError> {
        if config.len() > MAX_DOCUMENT_BYTES {
            return Err(ConfigError::new("", Problem::TooLarge));
        }
        let text = json::text(config, MAX_DOCUMENT_BYTES).map_err(|_| ConfigError::new("", Problem::Encoding))?;
        // Keys are read as bytes further on, and there serde_json lets raw control characters pass; here it doesn't.
        serde_json::from_str::<&RawValue>(text).and_then(|_| serde_json::from_str(text)).map_err(|error| {
            // Only the place: the error's own text can hold a value.
            ConfigError::new("", Problem::Syntax { line: error.line(), column: error.column().max(1) })
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], Raw<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }

    /// Every value that stands under `key`.
    pub(crate) fn all<'k>(&'k self, key: &'k str) -> impl Iterator<Item = Raw<'a>> + 'k {
        self.iter().filter(move |(k, _)| *k == key.as_bytes()).map(|(_, value)| value)
    }

    /// The value under `key`; null is absent.
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.all(key).find(|value| !value.is_null())
    }

    /// Refuses duplicates, whatever the keys are.
    pub(crate) fn no_duplicates(&self, path: &str) -> Result<(), ConfigError> {
        match duplicate(self.iter().map(|(key, _)| key)) {
            Some(key) => Err(ConfigError::new(format!("{path}{}", printable(key)), Problem::DuplicateKey)),
            None => Ok(()),
        }
    }

    /// Refuses keys that are not among `known`, and duplicates. `path` is put before the key in an error.
    pub(crate) fn only(&self, path: &str, known: &[&str]) -> Result<(), ConfigError> {
        let mut seen = 0u64;
        for (key, _) in self.iter() {
            match known.iter().position(|k| k.as_bytes() == key) {
                None => return Err(ConfigError::new(format!("{path}{}", printable(key)), Problem::UnknownKey)),
                Some(index) if seen & 1 << index != 0 => {
                    return Err(ConfigError::new(format!("{path}{}", known[index]), Problem::DuplicateKey))
                }
                Some(index) => seen |= 1 << index,
            }
        }
        Ok(())
    }

    /// The value under `key` as `read` gives it; absent when absent or null.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: fn(Raw<'a>) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(value) => Ok(Some(value)),
                None => Err(ConfigError::wrong_type(key, value, expected)),
            },
        }
    }

    /// As [`Members::read`], for a key that must be there; `path` is put before the key in an error.
    pub(crate) fn require<T>(
        &self,
        path: &str,
        key: &str,
        expected: &'static str,
        read: fn(Raw<'a>) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let place = || format!("{path}{key}");
        let value = self.get(key).ok_or_else(|| ConfigError::new(place(), Problem::Missing { expected }))?;
        read(value).ok_or_else(|| ConfigError::wrong_type(place(), value, expected))
    }
}

/// A text that is among the others twice.
pub(crate) fn duplicate<'a>(mut texts: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    let mut seen = Places::new();
    texts.find(|text| seen.insert(text.to_vec(), 0).is_some())
}

/// Where texts stand in a list. One type for all lists that are searched, since each more makes the library larger.
pub(crate) type Places = BTreeMap<Vec<u8>, usize>;

/// An unknown key is shown only if it looks like one, since anything might have been pasted there.
fn printable(key: &[u8]) -> &str {
    let plain = key.len() <= 64 && key.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    std::str::from_utf8(key).ok().filter(|_| plain).unwrap_or("(a key that is no plain word)")
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    members.push((key, Raw(map.next_value::<&RawValue>()?.get())));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

struct Elements<'a>(Vec<Raw<'a>>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(value) = seq.next_element::<&RawValue>()? {
                    elements.push(Raw(value.get()));
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}

/// A key as bytes: as text, serde_json would refuse a lone surrogate.
struct Key<'a>(Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_bytes<E>(self, key: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_vec())))
            }
        }
        deserializer.deserialize_bytes(Reader)
    }
}
