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

    /// The text's bytes, when no escape stands in the way.
    pub(super) fn unescaped(self) -> Option<&'a [u8]> {
        (!self.escaped).then_some(self.raw)
    }

    /// The text, or `None` when it holds a lone surrogate and so is no text.
    pub(crate) fn decode(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            self.chars().collect::<Option<String>>().map(Cow::Owned)
        } else {
            simdutf8::basic::from_utf8(self.raw).ok().map(Cow::Borrowed)
        }
    }

    pub(crate) fn is_text(self) -> bool {
        !self.escaped || self.chars().all(|c| c.is_some())
    }

    /// Compares without decoding into a copy. A lone surrogate equals nothing.
    pub(crate) fn equals(self, text: &str) -> bool {
        match self.unescaped() {
            Some(own) => own == text.as_bytes(),
            None => self.chars().eq(text.chars().map(Some)),
        }
    }

    /// As [`JsonStr::equals`], for two strings of documents.
    pub(crate) fn equals_str(self, other: JsonStr<'_>) -> bool {
        match (self.unescaped(), other.unescaped()) {
            (Some(own), Some(other)) => own == other,
            _ => self.chars().eq(other.chars()),
        }
    }

    pub(super) fn chars(self) -> Chars<'a> {
        Chars { rest: self.raw, escaped: self.escaped }
    }
}

/// The characters of a string, each decoded only when it is asked for, so that a comparison costs no more than what is
/// alike. `None` stands for a lone surrogate.
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
    fn unit(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        // A high surrogate counts only with the low one right behind it.
        let before = self.rest;
        self.rest = self.rest.strip_prefix(b"\\u")?;
        let second = self.unit()?;
        if (0xDC00..0xE000).contains(&second) {
            return char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        }
        self.rest = before;
        None
    }
}

impl Iterator for Chars<'_> {
    type Item = Option<char>;

    // Only odd strings come here, so it is small rather than fast.
    #[inline(never)]
    fn next(&mut self) -> Option<Option<char>> {
        let c = self.written()?;
        if c != '\\' || !self.escaped {
            return Some(Some(c));
        }
        Some(match self.written()? {
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => self.unicode(),
            itself => Some(itself),
        })
    }
}
