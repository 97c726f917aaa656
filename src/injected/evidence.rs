//! `identity_conflict`, `untrusted_server_source`: the agent's own word about the serving server can veto an approval,
//! never grant one (contract 4.3, step 10).

use super::call::Call;
use crate::claim::{Claim, HOST_SOURCE};
use crate::qualified_name::QualifiedName;
use crate::Reason;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Evidence {
    /// The agent says nothing.
    Absent,
    /// The agent says that the server came with the session.
    Dynamic,
}

impl Evidence {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Evidence::Absent => "absent",
            Evidence::Dynamic => HOST_SOURCE,
        }
    }
}

pub(super) fn examine(call: &Call<'_>, name: &QualifiedName<'_>) -> Result<Evidence, Reason> {
    match call.meta.server {
        Claim::Absent => Ok(Evidence::Absent),
        Claim::Malformed => Err(Reason::IdentityMalformed),
        Claim::Server { name: claimed, .. } if !claimed.equals(name.server()) => Err(Reason::IdentityConflict),
        Claim::Server { source, .. } if !source.equals(HOST_SOURCE) => Err(Reason::UntrustedServerSource),
        Claim::Server { .. } => Ok(Evidence::Dynamic),
    }
}
