//! Finding the keys of the decision path, and refusing every other spelling that Go's decoder would take for them.

use super::JsonStr;

/// The path's keys in one object: which have been seen, and whether two of them (or a rival spelling) clashed.
pub(crate) struct Keys<const N: usize> {
    names: [&'static str; N],
    seen: u8,
    clash: bool,
}

impl<const N: usize> Keys<N> {
    pub(crate) fn new(names: [&'static str; N]) -> Self {
        debug_assert!(N <= 8);
        Self { names, seen: 0, clash: false }
    }

    /// The index of `key` among the names at its first appearance. Duplicates and rivals are noted and give `None`,
    /// like every key that is not on the path.
    // Inlined, so that the names are constants where keys are compared: this runs for each key of each object on the path.
    #[inline(always)]
    pub(crate) fn take(&mut self, key: JsonStr<'_>) -> Option<usize> {
        if let Some(text) = key.unescaped() {
            if let Some(index) = self.names.iter().position(|name| same(text, name)) {
                let bit = 1 << index;
                self.clash |= self.seen & bit != 0;
                self.seen |= bit;
                return Some(index).filter(|_| !self.clash);
            }
            // Nearly every other key: in ASCII, and in no case a name.
            if text.is_ascii() && !self.names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes())) {
                return None;
            }
        }
        self.take_odd(key)
    }

    /// For a key that is escaped, not ASCII, or a name in another case.
    #[cold]
    #[inline(never)]
    fn take_odd(&mut self, key: JsonStr<'_>) -> Option<usize> {
        let index = self.names.iter().position(|name| folds_to(key, name))?;
        let bit = 1 << index;
        self.clash |= self.seen & bit != 0 || !key.equals(self.names[index]);
        self.seen |= bit;
        Some(index).filter(|_| !self.clash)
    }

    /// Whether a duplicate or a rival spelling was seen.
    pub(crate) fn clash(&self) -> bool {
        self.clash
    }
}

/// Byte by byte: most keys differ in length or in the first byte, and that is cheaper to see than to call `memcmp` for.
#[inline(always)]
fn same(text: &[u8], name: &str) -> bool {
    text.len() == name.len() && text.iter().eq(name.as_bytes())
}

/// Whether Go's `encoding/json` would take `key` for `name`. Stops at the first difference, so a long key costs no more
/// than a short one.
fn folds_to(key: JsonStr<'_>, name: &str) -> bool {
    key.chars().map(|c| c.map(fold)).eq(name.chars().map(|c| Some(fold(c))))
}

fn fold(c: char) -> char {
    match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}
