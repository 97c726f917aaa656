//! Strict JSON, read in place.
//!
//! One pass over the bytes: what the caller asks for is handed out as slices of the document, everything else is
//! validated and skipped without decoding, without recursion and without an allocation that grows with its size.
//! A frame scanner of our own is here because the frames are most of a decision's cost (`docs/performance.md`);
//! `serde_json` is its oracle in the tests, and names the place of a config's syntax error.

mod cursor;
mod field;
mod keys;
mod special;
mod string;

pub(crate) use cursor::{Cursor, Malformed, Value};
pub(crate) use field::Field;
pub(crate) use keys::Keys;
pub(crate) use string::JsonStr;

/// The document as text: strict UTF-8 of at most `limit` bytes. A BOM is no white space, so the cursor refuses it.
pub(crate) fn text(document: &[u8], limit: usize) -> Result<&str, Malformed> {
    if document.len() > limit {
        return Err(Malformed);
    }
    simdutf8::basic::from_utf8(document).map_err(|_| Malformed)
}
