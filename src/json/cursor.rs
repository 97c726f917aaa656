//! The scanner.

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
    pub(crate) fn document(
        mut self,
        member: impl FnMut(&mut Self, JsonStr<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.object(member)?;
        match self.token() {
            None => Ok(()),
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

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        match self.token() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err(Malformed),
        }
    }

    /// Reads an object; `member` is called behind each colon and must consume the value.
    #[inline(always)]
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, JsonStr<'a>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'{')?;
        if self.token() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            match self.token() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// Reads an array; `element` is called at each element and must consume it.
    #[inline]
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'[')?;
        if self.token() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.token() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
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
            Some(b'"') => Ok(Value::Str(self.string()?)),
            Some(b'n') => self.literal("null").map(|()| Value::Null),
            _ => self.skip().map(|()| Value::Other),
        }
    }

    /// Validates one value of any kind and passes over it. Open brackets are remembered as one bit each.
    pub(crate) fn skip(&mut self) -> Result<(), Malformed> {
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

    fn key(&mut self) -> Result<(), Malformed> {
        self.string()?;
        self.expect(b':')
    }

    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<JsonStr<'a>, Malformed> {
        self.expect(b'"')?;
        let bytes = self.text.as_bytes();
        let start = self.at;
        let end = special(bytes, start);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(JsonStr::new(&bytes[start..end], false));
        }
        self.string_with_escapes(start, end)
    }

    /// Goes on at the first special byte of a string, which is no quote.
    #[inline(never)]
    fn string_with_escapes(&mut self, start: usize, mut at: usize) -> Result<JsonStr<'a>, Malformed> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at = special(bytes, escape(bytes, at)?),
                _ => return Err(Malformed),
            }
        }
        self.at = at + 1;
        Ok(JsonStr::new(&bytes[start..at], true))
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

/// The place behind the escape that begins at `at`.
fn escape(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            _ => Err(Malformed),
        },
        _ => Err(Malformed),
    }
}

const WORD: usize = 8;
const BLOCK: usize = 64;

/// The next quote, backslash or control character at or behind `at`, or the end.
#[inline(always)]
fn special(bytes: &[u8], at: usize) -> usize {
    // Half of all strings end within the first word.
    match bytes[at..].first_chunk() {
        Some(word) => match special_in_word(*word) {
            Some(offset) => at + offset,
            None => special_further_on(bytes, at + WORD),
        },
        None => special_further_on(bytes, at),
    }
}

#[inline(never)]
fn special_further_on(bytes: &[u8], mut at: usize) -> usize {
    // Most of the others end within a few words; only long text is worth the blocks.
    for word in bytes[at..].as_chunks().0.iter().take(BLOCK / WORD) {
        if let Some(offset) = special_in_word(*word) {
            return at + offset;
        }
        at += WORD;
    }
    // No early exit inside a block, so that the compiler looks at many bytes at once.
    let (blocks, _) = bytes[at..].as_chunks::<BLOCK>();
    at +=
        BLOCK * blocks.iter().take_while(|block| !block.iter().fold(false, |found, &b| found | is_special(b))).count();
    bytes[at..].iter().position(|&b| is_special(b)).map_or(bytes.len(), |offset| at + offset)
}

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The first special byte among eight. The tests set the high bit of each byte that meets them; a byte behind the first
/// one can be marked wrongly by a borrow, the first one can't.
#[inline(always)]
fn special_in_word(word: [u8; WORD]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let word = u64::from_le_bytes(word);
    // Flipping 0x02 takes the quote (0x22) to 0x20 and no other printable below 0x21: one test for both.
    let control_or_quote = (word ^ (0x02 * ONES)).wrapping_sub(0x21 * ONES);
    let backslash = (word ^ (b'\\' as u64 * ONES)).wrapping_sub(ONES);
    let found = (control_or_quote | backslash) & !word & HIGH;
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
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
