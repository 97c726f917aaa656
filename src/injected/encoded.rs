//! A request in the C ABI's flat encoding: what a host has decoded itself crosses without any JSON in between.

use super::call::{Call, Metadata};
use super::dialect::Dialect;
use super::options::{Ids, Options};
use super::PermissionRequest;
use crate::claim::Claim;
use crate::json::{self, Field, JsonStr};
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::Reason;

/// Little-endian, as the header describes it at `kandev_policy_evaluate_request`.
mod layout {
    pub(super) const HAS_NAME: u32 = 1 << 0;
    pub(super) const META_MALFORMED: u32 = 1 << 1;
    pub(super) const META_AMBIGUOUS: u32 = 1 << 2;
    pub(super) const HAS_META_TOOL_NAME: u32 = 1 << 3;
    pub(super) const HAS_META_SERVER: u32 = 1 << 4;
    pub(super) const ALL_FLAGS: u32 = (1 << 5) - 1;
    /// The flags, six lengths and the number of options.
    pub(super) const HEAD: usize = 8 * 4;
    /// An option's two lengths.
    pub(super) const OPTION: usize = 2 * 4;
}

pub(super) fn decode(bytes: &[u8], dialect: Dialect) -> Result<PermissionRequest<'_>, Reason> {
    let (mut request, ambiguous) = try_decode(bytes).ok_or(Reason::MalformedFrame)?;
    if ambiguous && dialect.has_metadata() {
        return Err(Reason::MalformedFrame);
    }
    request.call.meta = dialect.only_its_own(request.call.meta);
    Ok(request)
}

/// The request, and whether its metadata is ambiguous; `None` if the encoding is broken or holds no UTF-8.
fn try_decode(bytes: &[u8]) -> Option<(PermissionRequest<'_>, bool)> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return None;
    }
    let mut head = Words(bytes.get(..layout::HEAD)?);
    let flags = head.next()?;
    let lengths: [u32; 6] = [head.next()?, head.next()?, head.next()?, head.next()?, head.next()?, head.next()?];
    let count = usize::try_from(head.next()?).ok()?;
    let table = bytes[layout::HEAD..].get(..count.checked_mul(layout::OPTION)?)?;
    let text = json::text(&bytes[layout::HEAD + table.len()..], MAX_DOCUMENT_BYTES).ok()?;
    if flags & !layout::ALL_FLAGS != 0 {
        return None;
    }

    let mut texts = Texts(text);
    let mut next = |length| texts.take(length).map(JsonStr::plain);
    let [name, title, kind, tool_name, server_name, server_source] = lengths;
    let (name, title, kind) = (next(name)?, next(title)?, next(kind)?);
    let (tool_name, server) =
        (next(tool_name)?, Claim::Server { name: next(server_name)?, source: next(server_source)? });
    let has = |flag| flags & flag != 0;
    let call = Call {
        name: if has(layout::HAS_NAME) { Field::Text(name) } else { Field::Absent },
        title: Field::Text(title),
        kind: Field::Text(kind),
        meta: Metadata {
            malformed: has(layout::META_MALFORMED),
            tool_name: has(layout::HAS_META_TOOL_NAME).then_some(tool_name),
            server: if has(layout::HAS_META_SERVER) { server } else { Claim::Absent },
        },
    };

    let encoded = EncodedOptions { table, texts: texts.0 };
    let mut options = Options::default();
    let rest = encoded.for_each(|id, kind| options.push(JsonStr::plain(id), JsonStr::plain(kind)))?;
    if !rest.is_empty() {
        return None;
    }
    options.set_ids(Ids::Encoded(encoded));
    Some((PermissionRequest { call, options }, has(layout::META_AMBIGUOUS)))
}

/// The options' lengths and the text they cut into ids and kinds.
#[derive(Clone, Copy)]
pub(super) struct EncodedOptions<'a> {
    table: &'a [u8],
    texts: &'a str,
}

impl<'a> EncodedOptions<'a> {
    /// Visits id and kind of each option; the text behind the last one, or `None` where a length cuts wrongly.
    pub(super) fn for_each(self, mut visit: impl FnMut(&'a str, &'a str)) -> Option<&'a str> {
        let mut lengths = Words(self.table);
        let mut texts = Texts(self.texts);
        while let Some(id) = lengths.next() {
            visit(texts.take(id)?, texts.take(lengths.next()?)?);
        }
        Some(texts.0)
    }
}

struct Words<'a>(&'a [u8]);

impl Iterator for Words<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }
}

struct Texts<'a>(&'a str);

impl<'a> Texts<'a> {
    /// The next `length` bytes, if they are there and cut no character.
    fn take(&mut self, length: u32) -> Option<&'a str> {
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(text)
    }
}
