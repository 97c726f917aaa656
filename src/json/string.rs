//! A string of the document, still as it was written.

use std::borrow::Cow;

/// What stands between the quotes, validated but undecoded; or, for a caller that has no JSON, plain text.
///
/// It is kept as bytes: most strings are only compared, and cutting a `str` would check its ends each time.
#[derive(Clone, Copy)]
pub(crate) struct JsonStr<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> JsonStr<'a> {
    pub(super) fn new(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// Text that is no JSON: every character stands for itself.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self::new(text.as_bytes(), false)
    }

    pub(super) fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The text's bytes, when no escape stands in the way.
    #[inline(always)]
    pub(crate) fn unescaped(self) -> Option<&'a [u8]> {
        (!self.escaped).then_some(self.raw)
    }

    /// The text, or `None` when it holds a lone surrogate and so is no text.
    pub(crate) fn decode(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            self.chars().collect::<Result<String, _>>().ok().map(Cow::Owned)
        } else {
            simdutf8::basic::from_utf8(self.raw).ok().map(Cow::Borrowed)
        }
    }

    pub(crate) fn is_text(self) -> bool {
        !self.escaped || self.chars().all(|c| c.is_ok())
    }

    /// Compares without decoding into a copy. A lone surrogate equals nothing.
    #[inline]
    pub(crate) fn equals(self, text: &str) -> bool {
        match self.unescaped() {
            Some(own) => own == text.as_bytes(),
            None => self.equals_when_decoded(text),
        }
    }

    #[inline(never)]
    fn equals_when_decoded(self, text: &str) -> bool {
        self.chars().eq(text.chars().map(Ok))
    }

    /// As [`JsonStr::equals`], for two strings of documents.
    pub(crate) fn equals_str(self, other: JsonStr<'_>) -> bool {
        match (self.unescaped(), other.unescaped()) {
            (Some(own), Some(other)) => own == other,
            _ => self.chars().eq(other.chars()),
        }
    }

    /// The text in UTF-8, and a lone surrogate as UTF-8 would write it if it were a character: different strings have
    /// different bytes.
    pub(crate) fn to_bytes(self) -> Cow<'a, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut bytes = Vec::with_capacity(self.raw.len());
        for c in self.chars() {
            match c {
                Ok(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(Surrogate(unit)) => {
                    bytes.extend([
                        0xE0 | (unit >> 12) as u8,
                        0x80 | (unit >> 6 & 0x3F) as u8,
                        0x80 | (unit & 0x3F) as u8,
                    ]);
                }
            }
        }
        Cow::Owned(bytes)
    }

    pub(super) fn chars(self) -> Chars<'a> {
        Chars { rest: self.raw, escaped: self.escaped }
    }
}

/// Half of a character: a surrogate without the other one beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Surrogate(u16);

/// The characters of a string, each decoded only when it is asked for, so that a comparison costs no more than what is
/// alike.
pub(super) struct Chars<'a> {
    rest: &'a [u8],
    escaped: bool,
}

impl Chars<'_> {
    /// The next character as it is written. The document has been checked to be UTF-8, and a quote cuts no character.
    fn written(&mut self) -> Option<char> {
        let len = match self.rest.first()? {
            0x00..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
        };
        let (c, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        std::str::from_utf8(c).ok()?.chars().next()
    }

    /// Takes the four hex digits of a `\u` escape, which the cursor has checked.
    fn unit(&mut self) -> Option<u16> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// What a `\u` escape stands for, together with the one behind it where the two are one character.
    fn unicode(&mut self) -> Option<Result<char, Surrogate>> {
        let first = self.unit()?;
        let mut ahead = Chars { rest: self.rest.strip_prefix(b"\\u").unwrap_or_default(), escaped: true };
        let (c, both) = match ahead.unit() {
            Some(second) => (char::decode_utf16([first, second]).next()?, true),
            None => (char::decode_utf16([first]).next()?, false),
        };
        if both && c.as_ref().is_ok_and(|c| c.len_utf16() == 2) {
            self.rest = ahead.rest;
        }
        Some(c.map_err(|unpaired| Surrogate(unpaired.unpaired_surrogate())))
    }
}

impl Iterator for Chars<'_> {
    type Item = Result<char, Surrogate>;

    // Only odd strings come here, so it is small rather than fast.
    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        let c = self.written()?;
        if c != '\\' || !self.escaped {
            return Some(Ok(c));
        }
        match self.written()? {
            'b' => Some(Ok('\u{8}')),
            'f' => Some(Ok('\u{c}')),
            'n' => Some(Ok('\n')),
            'r' => Some(Ok('\r')),
            't' => Some(Ok('\t')),
            'u' => self.unicode(),
            itself => Some(Ok(itself)),
        }
    }
}
