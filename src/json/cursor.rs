//! The scanner.

use super::special;
use super::JsonStr;

/// The document is not one strict JSON object.
#[derive(Debug)]
pub(crate) struct Malformed;

/// A value on the decision path.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Null,
    Str(JsonStr<'a>),
    /// A value of any other type, validated and skipped.
    Other,
}

/// A place in the document.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The whole document: one object with nothing but white space around it.
    #[inline(always)]
    pub(crate) fn document(
        self,
        member: impl FnMut(&mut Self, JsonStr<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.whole(|cursor| cursor.object(member))
    }

    /// One value, which `read` passes over, with nothing but white space around it.
    #[inline(always)]
    pub(crate) fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> Result<T, Malformed>) -> Result<T, Malformed> {
        let value = read(&mut self)?;
        match self.token() {
            None => Ok(value),
            Some(_) => Err(Malformed),
        }
    }

    /// The first byte of the next token, white space skipped; `None` at the end.
    #[inline(always)]
    pub(crate) fn token(&mut self) -> Option<u8> {
        match self.text.as_bytes().get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => self.token_behind_space(),
        }
    }

    #[cold]
    #[inline(never)]
    fn token_behind_space(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += space;
        rest.get(space).copied()
    }

    /// Passes over `byte`, which must be the next token.
    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        // Most documents have no white space.
        if self.text.as_bytes().get(self.at) != Some(&byte) && self.token_behind_space() != Some(byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether another member or element follows the last one, behind a comma; otherwise passes over `close`.
    #[inline(always)]
    fn more(&mut self, close: u8) -> Result<bool, Malformed> {
        let token = self.token();
        if token != Some(b',') && token != Some(close) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(token == Some(b','))
    }

    /// Passes over an opening bracket and, where nothing is inside, over `close` too: then `true`.
    #[inline(always)]
    fn opens_empty(&mut self, open: u8, close: u8) -> Result<bool, Malformed> {
        self.expect(open)?;
        let empty = self.token() == Some(close);
        self.at += usize::from(empty);
        Ok(empty)
    }

    /// Reads an object; `member` is called behind each colon and must consume the value.
    #[inline(always)]
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, JsonStr<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut more = !self.opens_empty(b'{', b'}')?;
        while more {
            let key = self.key()?;
            member(self, key)?;
            more = self.more(b'}')?;
        }
        Ok(())
    }

    /// Reads an array; `element` is called at each element and must consume it.
    #[inline(always)]
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut more = !self.opens_empty(b'[', b']')?;
        while more {
            element(self)?;
            more = self.more(b']')?;
        }
        Ok(())
    }

    /// The text that `read` goes over.
    pub(crate) fn slice(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<&'a str, Malformed> {
        let start = self.at;
        read(self)?;
        Ok(&self.text[start..self.at])
    }

    #[inline(always)]
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Malformed> {
        match self.token() {
            Some(b'"') => {
                self.at += 1;
                Ok(Value::Str(self.string_behind_quote()?))
            }
            Some(b'n') => self.literal("null").map(|()| Value::Null),
            _ => self.skip_any().map(|()| Value::Other),
        }
    }

    /// Validates one value of any kind and passes over it.
    #[inline(always)]
    pub(crate) fn skip(&mut self) -> Result<(), Malformed> {
        match self.token() {
            Some(b'"') => {
                self.at += 1;
                self.string_behind_quote().map(|_| ())
            }
            _ => self.skip_any(),
        }
    }

    /// As [`Cursor::skip`]. Open brackets are remembered as one bit each.
    #[inline(never)]
    fn skip_any(&mut self) -> Result<(), Malformed> {
        let mut open = Brackets::default();
        loop {
            match self.token().ok_or(Malformed)? {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    if self.token() != Some(b'}') {
                        open.push(true);
                        self.key()?;
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    if self.token() != Some(b']') {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return Err(Malformed),
            }
            // A value has ended: close what it closes, and go on behind the next comma.
            loop {
                let Some(in_object) = open.top() else { return Ok(()) };
                match (self.token(), in_object) {
                    (Some(b','), _) => {
                        self.at += 1;
                        if in_object {
                            self.key()?;
                        }
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(Malformed),
                }
            }
        }
    }

    #[inline(always)]
    fn key(&mut self) -> Result<JsonStr<'a>, Malformed> {
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<JsonStr<'a>, Malformed> {
        self.expect(b'"')?;
        self.string_behind_quote()
    }

    #[inline(always)]
    fn string_behind_quote(&mut self) -> Result<JsonStr<'a>, Malformed> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let special = special::next(bytes, start);
        let (end, escaped) = match bytes.get(special) {
            Some(b'"') => (special, false),
            _ => (end_behind_escapes(bytes, special).ok_or(Malformed)?, true),
        };
        self.at = end + 1;
        Ok(JsonStr::new(&bytes[start..end], escaped))
    }

    fn literal(&mut self, word: &str) -> Result<(), Malformed> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Malformed);
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Malformed> {
        self.accept(|b| b == b'-');
        if !self.accept(|b| b == b'0') {
            self.digits()?;
        }
        if self.accept(|b| b == b'.') {
            self.digits()?;
        }
        if self.accept(|b| matches!(b, b'e' | b'E')) {
            self.accept(|b| matches!(b, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        if !self.accept(|b| b.is_ascii_digit()) {
            return Err(Malformed);
        }
        while self.accept(|b| b.is_ascii_digit()) {}
        Ok(())
    }

    fn accept(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let found = self.text.as_bytes().get(self.at).is_some_and(|&b| wanted(b));
        self.at += usize::from(found);
        found
    }
}

/// The quote that ends a string, from its first special byte on, which is no quote.
#[inline(never)]
fn end_behind_escapes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at = special::next(bytes, escape(bytes, at)?),
            _ => return None,
        }
    }
}

/// The place behind the escape that begins at `at`.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 6),
        _ => None,
    }
}

/// The open brackets around a skipped value: a set bit is an object. The outer ones move to the heap 64 at a time.
#[derive(Default)]
struct Brackets {
    depth: usize,
    top: u64,
    below: Vec<u64>,
}

impl Brackets {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.top & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or(0);
        }
    }
}
