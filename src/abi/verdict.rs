//! A decision as numbers.

use std::ffi::{c_char, CStr, CString};

use once_cell::sync::Lazy;

use crate::{Decision, Kind, OptionKind, Reason};

/// A decision as numbers. A zeroed one is an `ask` with `internal_error`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Verdict {
    /// What to do.
    pub kind: Kind,
    /// The chosen option's kind; `KANDEV_POLICY_OPTION_KIND_NONE` if there is none or it is not one of ACP's four.
    pub option_kind: OptionKindOrNone,
    /// Why.
    pub reason: Reason,
    /// Hooks: the HTTP status that goes with the answer; 0 for ACP.
    pub status: u16,
    /// 0.
    pub reserved: u16,
    /// The chosen option's place among the offered ones, from 0; `UINT32_MAX` if none is chosen.
    pub option_index: u32,
    /// Length in bytes of the chosen option's id.
    pub option_id_len: u32,
    /// Length in bytes of the server's segment of the tool's name; 0 until the name has parsed.
    pub server_len: u32,
    /// Length in bytes of the tool's segment; 0 until the name has parsed.
    pub tool_len: u32,
    /// Hooks: length in bytes of the answer's body; 0 if there is none.
    pub response_len: u32,
}

/// The kind of the chosen option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OptionKindOrNone {
    /// No option is chosen, or its kind is not one of ACP's four.
    None = 0,
    /// `allow_once`
    AllowOnce = 1,
    /// `allow_always`
    AllowAlways = 2,
    /// `reject_once`
    RejectOnce = 3,
    /// `reject_always`
    RejectAlways = 4,
}

impl From<Option<OptionKind>> for OptionKindOrNone {
    fn from(kind: Option<OptionKind>) -> Self {
        match kind {
            None => OptionKindOrNone::None,
            Some(OptionKind::AllowOnce) => OptionKindOrNone::AllowOnce,
            Some(OptionKind::AllowAlways) => OptionKindOrNone::AllowAlways,
            Some(OptionKind::RejectOnce) => OptionKindOrNone::RejectOnce,
            Some(OptionKind::RejectAlways) => OptionKindOrNone::RejectAlways,
        }
    }
}

impl Verdict {
    pub(super) fn of(decision: &Decision<'_>, response_len: usize) -> Self {
        // No length is over 16 MiB, so all of them fit.
        let len = |text: Option<&str>| text.map_or(0, |text| text.len() as u32);
        Self {
            kind: decision.kind(),
            option_kind: decision.option_kind().into(),
            reason: decision.reason(),
            status: decision.status().unwrap_or(0),
            reserved: 0,
            option_index: decision.option_index().map_or(u32::MAX, |index| index as u32),
            option_id_len: len(decision.option_id()),
            server_len: len(decision.server()),
            tool_len: len(decision.tool()),
            response_len: response_len as u32,
        }
    }
}

/// The reasons' words with a NUL behind each, for as long as the library is loaded.
static WORDS: Lazy<Vec<CString>> = Lazy::new(|| Reason::all().filter_map(|r| CString::new(r.word()).ok()).collect());

pub(super) fn reason_word(reason: u16) -> *const c_char {
    WORDS.get(usize::from(reason)).map_or(std::ptr::null(), |word| CStr::as_ptr(word))
}
