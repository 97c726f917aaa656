//! The tool call as far as the decision path goes, still undecoded.

use crate::claim::Claim;
use crate::json::{Field, JsonStr};

#[derive(Clone, Copy, Default)]
pub(super) struct Call<'a> {
    pub(super) name: Field<'a>,
    pub(super) title: Field<'a>,
    pub(super) kind: Field<'a>,
    pub(super) meta: Metadata<'a>,
}

/// What an agent's metadata says, in whatever place its dialect keeps it.
#[derive(Clone, Copy, Default)]
pub(super) struct Metadata<'a> {
    /// A member has another type than the dialect gives it.
    pub(super) malformed: bool,
    pub(super) tool_name: Option<JsonStr<'a>>,
    pub(super) server: Claim<'a>,
}
