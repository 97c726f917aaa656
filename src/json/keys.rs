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
    pub(crate) fn take(&mut self, key: JsonStr<'_>) -> Option<usize> {
        let index = match key.unescaped() {
            Some(text) if text.is_ascii() => {
                // Nearly every key: a spelling can only be a rival if it is as long.
                let index = self.names.iter().position(|n| n.len() == text.len() && text.eq_ignore_ascii_case(n))?;
                if text != self.names[index] {
                    self.clash = true;
                    return None;
                }
                index
            }
            _ => {
                let index = self.names.iter().position(|n| folds_to(key, n))?;
                if !key.equals(self.names[index]) {
                    self.clash = true;
                    return None;
                }
                index
            }
        };
        let bit = 1 << index;
        if self.seen & bit != 0 {
            self.clash = true;
            return None;
        }
        self.seen |= bit;
        Some(index)
    }

    /// Whether a duplicate or a rival spelling was seen.
    pub(crate) fn clash(&self) -> bool {
        self.clash
    }
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
