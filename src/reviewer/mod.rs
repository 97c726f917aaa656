//! The policy for unattended reviewers (contract 5): answers the `PermissionRequest` hooks of an agent that runs with
//! nobody watching, so it never leaves a reviewer's request undecided.
//!
//! [`Reviewer::decide_body`] is the order of evaluation.

mod allowlist;
mod body;
mod catalog;
mod config;
mod guard;
mod registry;
mod token;

use std::sync::Arc;

use crate::claim::{Claim, HOST_SOURCE};
use crate::decision::{Decision, Kind};
use crate::fault;
use crate::qualified_name::{QualifiedName, PREFIX};
use crate::trace::{Step, Trace};
use crate::Reason;

use allowlist::folds_to;
use body::Body;
use catalog::Catalog;

pub use guard::{unclassified_tools, GuardError};
pub use registry::{Answer, MintError, Minted, Registry, RegistryError};
pub use token::{Entropy, NoEntropy, Token};

/// A compiled config.
pub(crate) struct Reviewer {
    vendor: Vendor,
    bearer: Bearer,
    /// The ids of the bound servers, as the catalog spells them.
    servers: Vec<String>,
    result_channel_scope: Scope,
    catalog: Arc<Catalog>,
}

/// Whose hook it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vendor {
    Codex,
    Claude,
}

impl Vendor {
    const ALL: [Vendor; 2] = [Vendor::Codex, Vendor::Claude];

    fn word(self) -> &'static str {
        match self {
            Vendor::Codex => "codex",
            Vendor::Claude => "claude",
        }
    }

    fn of_word(word: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.word().as_bytes() == word)
    }

    /// Whether the vendor's own config confines the agent to the launch's servers, so that a bare name can only be a
    /// tool of one of them.
    fn is_locked(self) -> bool {
        self == Vendor::Codex
    }
}

/// What the caller has established about the token that the request came on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bearer {
    Reviewer,
    Shared,
}

/// On which tokens the result channel is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Any,
    Reviewer,
}

/// The tool that a request is about.
enum Tool<'a> {
    Qualified(Result<QualifiedName<'a>, Reason>),
    Bare(&'a str),
}

impl Reviewer {
    /// The answer to what is no hook payload.
    pub(crate) fn malformed() -> Decision<'static> {
        Decision::hook(Kind::Deny, Reason::MalformedRequest)
    }

    /// Decides a hook payload: the steps of the contract's 5.1.
    pub(crate) fn decide_body<'a>(&self, body: &'a [u8], trace: &mut dyn Trace) -> Decision<'a> {
        fault::point("body");
        let Some(body) = Body::read(body) else {
            trace.stopped(Step::Body, Reason::MalformedRequest);
            return Self::malformed();
        };
        trace.passed(Step::Body, None);

        let qualified = body.tool_name.starts_with(PREFIX).then(|| QualifiedName::parse(body.tool_name.clone()));
        let parsed = qualified.as_ref().and_then(|name| name.as_ref().ok());
        let tool = match &qualified {
            Some(name) => Tool::Qualified(name.clone()),
            None => Tool::Bare(&body.tool_name),
        };
        let decide = |kind, step, reason| (kind, step, reason);
        let (kind, step, reason) = if self.is_result_channel(&tool, &body.server) {
            decide(Kind::Allow, Step::ResultChannel, Reason::ResultChannel)
        } else {
            trace.passed(Step::ResultChannel, Some(("result_channel", "no")));
            match self.bearer {
                Bearer::Shared => decide(Kind::Ask, Step::Token, Reason::InteractivePrompt),
                Bearer::Reviewer => {
                    trace.passed(Step::Token, Some(("token", "reviewer")));
                    match self.review(&tool, &body.server, trace) {
                        Ok((step, reason)) => decide(Kind::Allow, step, reason),
                        Err((step, reason)) => decide(Kind::Deny, step, reason),
                    }
                }
            }
        };
        trace.stopped(step, reason);
        Decision::hook(kind, reason).with_name(parsed.cloned())
    }

    /// Step 2: a tool of the result channel, bare or with the result server in front, on a token in scope.
    fn is_result_channel(&self, tool: &Tool<'_>, claim: &Claim<'_>) -> bool {
        fault::point("result_channel");
        let channel = &self.catalog.result_channel;
        let name = match tool {
            Tool::Bare(name) => *name,
            Tool::Qualified(Ok(name)) if allowlist::dashes_alike(name.server(), &channel.server) => name.tool(),
            Tool::Qualified(_) => return false,
        };
        let claimed = match claim {
            Claim::Absent => true,
            Claim::Malformed => false,
            Claim::Server { name, source } => {
                name.decode().is_some_and(|name| folds_to(&name, &channel.server)) && source.equals(HOST_SOURCE)
            }
        };
        let in_scope = self.bearer == Bearer::Reviewer || self.result_channel_scope == Scope::Any;
        in_scope && claimed && channel.tools.iter().any(|tool| tool == name)
    }

    /// Step 3: what a reviewer may call. Nobody is there to ask.
    fn review(
        &self,
        tool: &Tool<'_>,
        claim: &Claim<'_>,
        trace: &mut dyn Trace,
    ) -> Result<(Step, Reason), (Step, Reason)> {
        match tool {
            Tool::Qualified(name) => {
                fault::point("qualified_name");
                let name = name.as_ref().map_err(|reason| (Step::QualifiedName, *reason))?;
                trace.passed(Step::QualifiedName, None);

                fault::point("allowlist");
                if !self.servers.iter().any(|server| folds_to(name.server(), server)) {
                    return Err((Step::Allowlist, Reason::ServerNotAllowlisted));
                }
                trace.passed(Step::Allowlist, None);

                fault::point("evidence");
                examine(claim, name.server()).map_err(|reason| (Step::Evidence, reason))?;
                Ok((Step::Evidence, Reason::AllowlistedServer))
            }
            Tool::Bare(name) => {
                fault::point("classification");
                if !matches!(claim, Claim::Absent) {
                    return Err((Step::Evidence, Reason::IdentityConflict));
                }
                if self.vendor.is_locked() && self.catalog.is_unattended_safe(name, &self.servers) {
                    Ok((Step::Classification, Reason::ClassifiedBareTool))
                } else {
                    Err((Step::Classification, Reason::BareToolDenied))
                }
            }
        }
    }
}

/// The agent's word about the server must agree with the name and say that the host provided it.
fn examine(claim: &Claim<'_>, server: &str) -> Result<(), Reason> {
    match claim {
        Claim::Absent => Ok(()),
        Claim::Malformed => Err(Reason::IdentityMalformed),
        Claim::Server { name, .. } if !name.decode().is_some_and(|name| folds_to(&name, server)) => {
            Err(Reason::IdentityConflict)
        }
        Claim::Server { source, .. } if !source.equals(HOST_SOURCE) => Err(Reason::UntrustedServerSource),
        Claim::Server { .. } => Ok(()),
    }
}
