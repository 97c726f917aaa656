//! Reading a config strictly (contract 4.1): every key is seen, a duplicate is never swallowed, and an error names the
//! key, the type found and the type expected, never a value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;

use crate::decision::{Decision, Kind};
use crate::json::{self, Cursor, JsonStr, Malformed};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::Reason;

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

    pub(crate) fn duplicate_key(key: impl Into<String>) -> Self {
        Self::new(key, Problem::DuplicateKey)
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
        Cursor::new(text).whole(Raw::cut).ok()
    }

    fn cut(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        cursor.token();
        cursor.slice(Cursor::skip).map(Raw)
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
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self.0.strip_prefix('"')?.strip_suffix('"')? {
            plain if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            _ => Cursor::new(self.0).string().ok()?.decode(),
        }
    }

    pub(crate) fn string(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// Whether it is this string.
    pub(crate) fn is_string(self, text: &str) -> bool {
        self.text().is_some_and(|own| own == text)
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
        self.list(Some)
    }

    fn list<T>(self, element: impl Fn(Raw<'a>) -> Option<T>) -> Option<Vec<T>> {
        let mut list = Vec::new();
        let array = Cursor::new(self.0).array(|cursor| {
            list.push(element(Raw::cut(cursor)?).ok_or(Malformed)?);
            Ok(())
        });
        array.is_ok().then_some(list)
    }

    /// Reads an array of objects one after the other, all in the same memory, since a document may hold millions. `read`
    /// gets each one's place in the array and its members; `path` is the array's in errors.
    pub(crate) fn each_object(
        self,
        path: &str,
        mut read: impl FnMut(usize, &Members<'a>) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        let mut members = Members::with_room();
        let (mut index, mut refused) = (0, None);
        let array = Cursor::new(self.0).array(|cursor| {
            let element = match cursor.token() {
                Some(b'{') => {
                    members.refill(cursor)?;
                    read(index, &members)
                }
                _ => Err(ConfigError::wrong_type(format!("{path}[{index}]"), Raw::cut(cursor)?, "object")),
            };
            index += 1;
            element.map_err(|error| {
                refused = Some(error);
                Malformed // ends the reading
            })
        });
        match (array, refused) {
            (_, Some(error)) => Err(error),
            (Err(Malformed), None) => Err(ConfigError::wrong_type(path, self, "array of objects")),
            (Ok(()), None) => Ok(()),
        }
    }

    pub(crate) fn strings(self) -> Option<Vec<String>> {
        self.list(Raw::string)
    }

    pub(crate) fn members(self) -> Option<Members<'a>> {
        Members::read_object(&mut Cursor::new(self.0)).ok()
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

/// An object's members in their order, duplicates included.
pub(crate) struct Members<'a>(Vec<(JsonStr<'a>, Raw<'a>)>);

impl<'a> Members<'a> {
    /// The document as one object.
    pub(crate) fn of_document(config: &'a [u8]) -> Result<Self, ConfigError> {
        if config.len() > MAX_DOCUMENT_BYTES {
            return Err(ConfigError::new("", Problem::TooLarge));
        }
        let text = json::text(config, MAX_DOCUMENT_BYTES).map_err(|_| ConfigError::new("", Problem::Encoding))?;
        Cursor::new(text).whole(Self::read_object).map_err(|Malformed| syntax_error(text))
    }

    fn read_object(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let mut members = Self::with_room();
        members.refill(cursor)?;
        Ok(members)
    }

    /// As many as most objects of a config have.
    fn with_room() -> Self {
        Self(Vec::with_capacity(FEW))
    }

    fn refill(&mut self, cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        self.0.clear();
        cursor.object(|cursor, key| {
            self.0.push((key, Raw::cut(cursor)?));
            Ok(())
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (JsonStr<'a>, Raw<'a>)> + '_ {
        self.0.iter().copied()
    }

    /// Every value that stands under `key`.
    pub(crate) fn all<'k>(&'k self, key: &'k str) -> impl Iterator<Item = Raw<'a>> + 'k {
        self.iter().filter(move |(k, _)| k.equals(key)).map(|(_, value)| value)
    }

    /// The value under `key`; null is absent.
    pub(crate) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.all(key).find(|value| !value.is_null())
    }

    /// Refuses duplicates, whatever the keys are. `path` is put before the key in an error.
    pub(crate) fn no_duplicates(&self, path: impl Fn() -> String) -> Result<(), ConfigError> {
        // A server's few keys are compared with each other sooner than they are put in order.
        let twice = if self.0.len() <= FEW {
            let stands_before =
                |at: usize, key: JsonStr<'_>| self.iter().take(at).any(|(other, _)| other.equals_str(key));
            self.iter().enumerate().find(|(at, (key, _))| stands_before(*at, *key)).map(|(_, (key, _))| key.to_bytes())
        } else {
            let mut keys: Vec<_> = self.iter().map(|(key, _)| key.to_bytes()).collect();
            keys.sort_unstable();
            keys.windows(2).find(|two| two[0] == two[1]).map(|two| two[0].clone())
        };
        match twice {
            Some(key) => Err(ConfigError::duplicate_key(path() + printable(&key))),
            None => Ok(()),
        }
    }

    /// Refuses keys that are not among `known`, and duplicates. `path` is put before the key in an error.
    pub(crate) fn only(&self, path: &str, known: &[&str]) -> Result<(), ConfigError> {
        let mut seen = 0u64;
        for (key, _) in self.iter() {
            match known.iter().position(|k| key.equals(k)) {
                None => {
                    let key = format!("{path}{}", printable(&key.to_bytes()));
                    return Err(ConfigError::new(key, Problem::UnknownKey));
                }
                Some(index) if seen & 1 << index != 0 => {
                    return Err(ConfigError::duplicate_key(format!("{path}{}", known[index])))
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

/// What is wrong with a document that the scanner has refused. `serde_json` says where; its text can hold a value.
#[cold]
fn syntax_error(text: &str) -> ConfigError {
    let (line, column) = match serde_json::from_str::<&RawValue>(text) {
        Err(error) => (error.line(), error.column().max(1)),
        Ok(_) => (1, 1), // well-formed, but no object
    };
    ConfigError::new("", Problem::Syntax { line, column })
}

const FEW: usize = 8;

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
