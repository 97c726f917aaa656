//! A strict JSON reader (RFC 8259) for the specification: slow, iterative, and blind to nothing.
//!
//! The document is one flat list of nodes in the order of the text, so that neither reading nor dropping it recurses.
//! An object's keys are nodes of their own, in order, so that duplicates stay visible. Strings are WTF-8: UTF-8 in
//! which a lone surrogate keeps its three bytes, so that it is visible as "not UTF-8". Numbers are their text.

pub struct Document<'t> {
    nodes: Vec<Node<'t>>,
}

struct Node<'t> {
    token: Token<'t>,
    /// The index of the first node after this one and all that it contains.
    end: usize,
}

#[derive(PartialEq)]
enum Token<'t> {
    Null,
    Bool(bool),
    Number(&'t str),
    String(Vec<u8>),
    Array,
    Object,
}

/// A value of the document, or its absence: `get` on whatever is no object is absent.
#[derive(Clone, Copy)]
pub struct Value<'d>(Option<(&'d Document<'d>, usize)>);

impl<'d> Value<'d> {
    fn token(self) -> Option<&'d Token<'d>> {
        self.0.map(|(document, at)| &document.nodes[at].token)
    }

    pub fn is_absent(self) -> bool {
        self.0.is_none()
    }

    pub fn is_null(self) -> bool {
        self.token() == Some(&Token::Null)
    }

    /// "Null is absent."
    pub fn is_nothing(self) -> bool {
        self.is_absent() || self.is_null()
    }

    pub fn is_object(self) -> bool {
        self.token() == Some(&Token::Object)
    }

    pub fn is_array(self) -> bool {
        self.token() == Some(&Token::Array)
    }

    pub fn is_string(self) -> bool {
        matches!(self.token(), Some(Token::String(_)))
    }

    pub fn has_lone_surrogate(self) -> bool {
        self.is_string() && self.str().is_none()
    }

    /// A string without a lone surrogate.
    pub fn str(self) -> Option<&'d str> {
        match self.token() {
            Some(Token::String(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    pub fn bool(self) -> Option<bool> {
        match self.token() {
            Some(Token::Bool(truth)) => Some(*truth),
            _ => None,
        }
    }

    /// A number without fraction and exponent that fits signed 64 bits.
    pub fn integer(self) -> Option<i64> {
        match self.token() {
            Some(Token::Number(text)) => text.parse().ok(),
            _ => None,
        }
    }

    /// The values directly inside: an array's elements; an object's keys and values by turns.
    fn inside(self) -> Vec<Value<'d>> {
        let mut values = Vec::new();
        if let Some((document, at)) = self.0.filter(|_| self.is_array() || self.is_object()) {
            let mut next = at + 1;
            while next < document.nodes[at].end {
                values.push(Value(Some((document, next))));
                next = document.nodes[next].end;
            }
        }
        values
    }

    /// The elements of an array; of anything else none.
    pub fn elements(self) -> Vec<Value<'d>> {
        if self.is_array() {
            self.inside()
        } else {
            Vec::new()
        }
    }

    /// The members of an object as (key in WTF-8, value), in order; of anything else none.
    pub fn members(self) -> Vec<(&'d [u8], Value<'d>)> {
        let mut members = Vec::new();
        if self.is_object() {
            for pair in self.inside().chunks(2) {
                if let Some(Token::String(key)) = pair[0].token() {
                    members.push((key.as_slice(), pair[1]));
                }
            }
        }
        members
    }

    /// The first member with exactly this key.
    pub fn get(self, key: &str) -> Value<'d> {
        let found = self.members().into_iter().find(|m| m.0 == key.as_bytes());
        found.map_or(Value(None), |member| member.1)
    }

    /// `""`, `[]` or `{}`.
    pub fn is_empty(self) -> bool {
        match self.token() {
            Some(Token::String(text)) => text.is_empty(),
            Some(Token::Array | Token::Object) => self.inside().is_empty(),
            _ => false,
        }
    }
}

impl Document<'_> {
    pub fn root(&self) -> Value<'_> {
        Value(Some((self, 0)))
    }
}

/// One JSON value in UTF-8, with nothing but JSON white space around it.
pub fn parse(bytes: &[u8]) -> Option<Document<'_>> {
    let mut reader = Reader { text: std::str::from_utf8(bytes).ok()?, at: 0 };
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        // A value, with its key before it when an object is open.
        reader.skip_space();
        if open.last().is_some_and(|&o| nodes[o].token == Token::Object) {
            let token = Token::String(reader.string()?);
            let end = nodes.len() + 1;
            nodes.push(Node { token, end });
            reader.skip_space();
            reader.expect(b':')?;
            reader.skip_space();
        }
        let token = match reader.peek()? {
            b'{' => reader.expect(b'{').map(|()| Token::Object)?,
            b'[' => reader.expect(b'[').map(|()| Token::Array)?,
            b'"' => Token::String(reader.string()?),
            b'n' => reader.word("null").map(|()| Token::Null)?,
            b't' => reader.word("true").map(|()| Token::Bool(true))?,
            b'f' => reader.word("false").map(|()| Token::Bool(false))?,
            _ => Token::Number(reader.number()?),
        };
        let end = nodes.len() + 1;
        let close = closing(&token);
        nodes.push(Node { token, end });
        if let Some(close) = close {
            open.push(nodes.len() - 1);
            reader.skip_space();
            if reader.peek()? != close {
                continue;
            }
        }
        // What follows a value: the ends of what is open, then a comma or the end of the text.
        loop {
            reader.skip_space();
            let Some(&innermost) = open.last() else {
                return (reader.at == bytes.len()).then_some(Document { nodes });
            };
            if reader.expect(b',').is_some() {
                break;
            }
            reader.expect(closing(&nodes[innermost].token)?)?;
            nodes[innermost].end = nodes.len();
            open.pop();
        }
    }
}

fn closing(token: &Token) -> Option<u8> {
    match token {
        Token::Array => Some(b']'),
        Token::Object => Some(b'}'),
        _ => None,
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let here = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        here.then(|| self.at += word.len())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    fn number(&mut self) -> Option<&'t str> {
        let start = self.at;
        let _ = self.expect(b'-');
        if self.expect(b'0').is_none() {
            self.digits()?;
        }
        if self.expect(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(&self.text[start..self.at])
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        self.expect(b'"')?;
        let mut out = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Some(out),
                b'\\' => self.escape(&mut out)?,
                0x00..=0x1f => return None,
                byte => out.push(byte),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Option<()> {
        match self.next()? {
            same @ (b'"' | b'\\' | b'/') => out.push(same),
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let mut code = self.four_hex_digits()?;
                if (0xd800..0xdc00).contains(&code) {
                    if let Some(low) = self.low_surrogate() {
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    }
                }
                push_wtf8(out, code);
            }
            _ => return None,
        }
        Some(())
    }

    fn four_hex_digits(&mut self) -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            code = code * 16 + char::from(self.next()?).to_digit(16)?;
        }
        Some(code)
    }

    /// The second half of a pair, if it comes next; anything else is left where it is.
    fn low_surrogate(&mut self) -> Option<u32> {
        let start = self.at;
        let low = self.word("\\u").and_then(|()| self.four_hex_digits());
        let low = low.filter(|code| (0xdc00..0xe000).contains(code));
        if low.is_none() {
            self.at = start;
        }
        low
    }
}

fn push_wtf8(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(whole) => out.extend(whole.to_string().bytes()),
        None => out.extend([0xed, 0x80 | (code >> 6 & 0x3f) as u8, 0x80 | (code & 0x3f) as u8]),
    }
}
