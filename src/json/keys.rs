//! Finding the keys of the decision path, and refusing every other spelling that Go's decoder would take for them.

use super::JsonStr;

/// The path's keys in one object: which have been seen, and whether two of them (or a rival spelling) clashed.
#[derive(Default)]
pub(crate) struct Keys {
    seen: u8,
    clash: bool,
}

impl Keys {
    /// The index of `key` among `names` at its first appearance. Duplicates and rivals are noted and give `None`, like
    /// every key that is not on the path. One object's keys are all taken with the same names.
    // Inlined, so that the names are constants where keys are compared: this runs for each key of each object on the path.
    #[inline(always)]
    pub(crate) fn take<const N: usize>(
        &mut self,
        names: &'static [&'static str; N],
        key: JsonStr<'_>,
    ) -> Option<usize> {
        const { assert!(N <= 8) }
        if let Some(text) = key.unescaped() {
            if let Some(index) = names.iter().position(|name| text == name.as_bytes()) {
                return self.first(index, false);
            }
            if !names.iter().any(|name| may_begin(text, name)) {
                return None;
            }
        }
        self.take_odd(names, key.raw(), key.unescaped().is_none())
    }

    /// For a key that is escaped or begins as a name does.
    #[inline(never)]
    fn take_odd(&mut self, names: &[&str], raw: &[u8], escaped: bool) -> Option<usize> {
        let key = JsonStr::new(raw, escaped);
        let index = if !escaped && raw.is_ascii() {
            names.iter().position(|name| raw.eq_ignore_ascii_case(name.as_bytes()))?
        } else {
            names.iter().position(|name| folds_to(key, name))?
        };
        self.first(index, !key.equals(names[index]))
    }

    #[inline(always)]
    fn first(&mut self, index: usize, is_rival: bool) -> Option<usize> {
        let bit = 1 << index;
        self.clash |= self.seen & bit != 0 || is_rival;
        self.seen |= bit;
        Some(index).filter(|_| !self.clash)
    }

    /// Whether a duplicate or a rival spelling was seen.
    pub(crate) fn clash(&self) -> bool {
        self.clash
    }
}

/// Whether the first byte of an unescaped key leaves it possible that the key is a spelling of `name`.
#[inline(always)]
fn may_begin(key: &[u8], name: &str) -> bool {
    let Some(first) = key.first() else { return false };
    let expected = name.as_bytes()[0].to_ascii_lowercase();
    // `ſ` and `K` begin with the bytes C5 and E2.
    first.to_ascii_lowercase() == expected || expected == b's' && *first == 0xC5 || expected == b'k' && *first == 0xE2
}

/// Whether Go's `encoding/json` would take `key` for `name`. Stops at the first difference, so a long key costs no more
/// than a short one.
fn folds_to(key: JsonStr<'_>, name: &str) -> bool {
    key.chars().map(|c| c.map(fold)).eq(name.chars().map(|c| Ok(fold(c))))
}

fn fold(c: char) -> char {
    match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}
