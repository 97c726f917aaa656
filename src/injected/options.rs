//! `no_options`, `blanket_approval`, `no_allow_option`, `option_id_unusable`: the choice among what the agent offers
//! (contract 4.3, steps 5, 6 and 11).

#[cfg(feature = "abi")]
use super::encoded::EncodedOptions;
use super::Offer;
use crate::decision::{Decision, Kind, OptionKind, Selected};
use crate::json::{Cursor, JsonStr, Keys, Malformed};
use crate::Reason;

/// The offered options. They are looked at as they are read; no list of them is kept, since a frame holds up to half a
/// million.
#[derive(Default)]
pub(super) struct Options<'a> {
    count: usize,
    first: Option<Choice<'a>>,
    allow_once: Option<Choice<'a>>,
    allow_always: Option<Choice<'a>>,
    ids: Ids<'a>,
}

/// Where the ids can be read again.
#[derive(Default)]
pub(super) enum Ids<'a> {
    #[default]
    None,
    /// The frame's JSON array, which has been read once and is well-formed.
    Json(&'a str),
    /// A host's decoded options.
    Offers(&'a [Offer<'a>]),
    /// The ABI's encoding of them.
    #[cfg(feature = "abi")]
    Encoded(EncodedOptions<'a>),
}

#[derive(Clone, Copy)]
struct Choice<'a> {
    id: JsonStr<'a>,
    kind: Option<OptionKind>,
    index: usize,
    /// Whether a later option has the same id.
    repeated: bool,
}

impl<'a> Options<'a> {
    /// Takes note of the next option.
    pub(super) fn push(&mut self, id: JsonStr<'a>, kind: JsonStr<'a>) {
        for earlier in [&mut self.allow_once, &mut self.allow_always].into_iter().flatten() {
            earlier.repeated |= id.equals_str(earlier.id);
        }
        let choice = Choice { id, kind: option_kind(kind), index: self.count, repeated: false };
        self.count += 1;
        self.first.get_or_insert(choice);
        match choice.kind {
            Some(OptionKind::AllowOnce) => self.allow_once.get_or_insert(choice),
            Some(OptionKind::AllowAlways) => self.allow_always.get_or_insert(choice),
            _ => return,
        };
    }

    /// Says where the ids of the options that were pushed can be read again.
    pub(super) fn set_ids(&mut self, ids: Ids<'a>) {
        self.ids = ids;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first offered allow option of either kind, else the first option; its id is taken as it is.
    pub(super) fn blanket_approval(&self) -> Decision<'a> {
        let allow = match (self.allow_once, self.allow_always) {
            (Some(once), Some(always)) => Some(if once.index < always.index { once } else { always }),
            (once, always) => once.or(always),
        };
        match allow.or(self.first).and_then(Choice::select) {
            Some(option) => Decision::acp(Kind::Select, Reason::BlanketApproval).with_option(option),
            None => Decision::acp(Kind::Cancel, Reason::NoOptions),
        }
    }

    /// The first `allow_once`, else the first `allow_always`, if its id can only mean this option.
    pub(super) fn choose(&self) -> Result<Selected<'a>, Reason> {
        let choice = self.allow_once.or(self.allow_always).ok_or(Reason::NoAllowOption)?;
        let option = choice.select().ok_or(Reason::OptionIdUnusable)?;
        if is_blank(&option.id) || choice.repeated || self.stands_before(&choice) {
            return Err(Reason::OptionIdUnusable);
        }
        Ok(option)
    }

    /// Whether an option before `choice` has the same id. The choice is nearly always among the first two, and then no
    /// id has to be read again.
    fn stands_before(&self, choice: &Choice<'a>) -> bool {
        match (choice.index, &self.first) {
            (0, _) => false,
            (1, Some(first)) => first.id.equals_str(choice.id),
            _ => self.ids.hold_before(choice),
        }
    }
}

impl<'a> Choice<'a> {
    fn select(self) -> Option<Selected<'a>> {
        Some(Selected { id: self.id.decode()?, kind: self.kind, index: self.index })
    }
}

impl Ids<'_> {
    /// Whether an option before `choice` has its id; if the ids can't be read, it may be so.
    fn hold_before(&self, choice: &Choice<'_>) -> bool {
        let (mut index, mut found) = (0, false);
        let read = self.for_each(|id| {
            found |= index < choice.index && id.equals_str(choice.id);
            index += 1;
        });
        found || read.is_err() || index <= choice.index
    }

    fn for_each(&self, mut visit: impl FnMut(JsonStr<'_>)) -> Result<(), Malformed> {
        match self {
            Ids::None => Ok(()),
            Ids::Json(array) => Cursor::new(array).array(|cursor| {
                let mut keys = Keys::default();
                cursor.object(|cursor, key| match keys.take(&["optionId"], key) {
                    Some(_) => cursor.string().map(&mut visit),
                    None => cursor.skip(),
                })
            }),
            Ids::Offers(offers) => {
                offers.iter().for_each(|offer| visit(JsonStr::plain(offer.option_id)));
                Ok(())
            }
            #[cfg(feature = "abi")]
            Ids::Encoded(options) => {
                options.for_each(|id, _| visit(JsonStr::plain(id)));
                Ok(())
            }
        }
    }
}

/// Nothing but Unicode White_Space.
fn is_blank(id: &str) -> bool {
    id.chars().all(char::is_whitespace)
}

/// The kind as ACP spells it, after trimming ASCII white space and folding ASCII case; `None` if it is not one of ACP's.
fn option_kind(kind: JsonStr<'_>) -> Option<OptionKind> {
    if let Some(known) = kind.unescaped().and_then(OptionKind::of_word) {
        return Some(known);
    }
    let kind = kind.decode()?;
    let kind = kind.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    OptionKind::ALL.into_iter().find(|known| kind.eq_ignore_ascii_case(known.word()))
}
