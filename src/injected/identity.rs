//! `identity_missing`, `identity_malformed`, `identity_conflict`: which tool the frame says it is about (contract 4.3,
//! step 7).

use std::borrow::Cow;

use super::call::Call;
use super::dialect::Dialect;
use crate::json::{Field, JsonStr};
use crate::Reason;

/// The tool's name and where the frame says it. Not yet a qualified name.
pub(super) struct Identity<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) source: Source,
}

/// Which statement the identity was taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Name,
    Metadata,
    Title,
}

impl Source {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Source::Name => "name",
            Source::Metadata => "metadata",
            Source::Title => "title",
        }
    }
}

pub(super) fn establish<'a>(call: &Call<'a>, dialect: Dialect) -> Result<Identity<'a>, Reason> {
    let name = match call.name {
        Field::Absent => None,
        Field::Text(name) => Some(name),
        Field::WrongType => return Err(Reason::IdentityMalformed),
    };
    if call.meta.malformed {
        return Err(Reason::IdentityMalformed);
    }
    match (name, call.meta.tool_name) {
        (Some(name), None) => identity(name, Source::Name),
        (None, Some(name)) => identity(name, Source::Metadata),
        (Some(name), Some(other)) => {
            let identity = identity(name, Source::Name)?;
            if other.equals(&identity.name) {
                Ok(identity)
            } else {
                Err(Reason::IdentityConflict)
            }
        }
        (None, None) => match dialect.name_from_title(call) {
            Some(title) => identity(title, Source::Title),
            None => Err(Reason::IdentityMissing),
        },
    }
}

fn identity(name: JsonStr<'_>, source: Source) -> Result<Identity<'_>, Reason> {
    // The readers have refused torn strings, so this can't fail; if it did, it would be no identity.
    let name = name.decode().ok_or(Reason::IdentityMalformed)?;
    Ok(Identity { name, source })
}
