//! Where the policies meet: a config selects one, and is compiled into it.

#[cfg(feature = "abi")]
use crate::config::unusable;
use crate::config::{ConfigError, Members, Raw};
use crate::decision::Decision;
use crate::fault;
use crate::injected::{Injected, Request};
use crate::reviewer::Reviewer;
use crate::trace::{Recorder, Step, Trace, Untraced};
use crate::Reason;

/// A compiled config: immutable, and safe to share between threads.
///
/// ```
/// let config = br#"{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,
///     "mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}"#;
/// let policy = kandev_policy::Policy::new(config)?;
/// let frame = br#"{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}"#;
/// let decision = policy.decide(frame);
/// assert_eq!(decision.kind(), kandev_policy::Kind::Select);
/// assert_eq!(decision.option_id(), Some("yes"));
/// # Ok::<(), kandev_policy::ConfigError>(())
/// ```
pub struct Policy {
    engine: Engine,
}

enum Engine {
    Injected(Injected),
    Reviewer(Reviewer),
}

/// The words of the config key `policy`.
const INJECTED_MCP: &str = "injected_mcp";
const UNATTENDED_REVIEW: &str = "unattended_review";

impl Policy {
    /// Compiles a config (contract 4.1 or 5.1).
    pub fn new(config: &[u8]) -> Result<Self, ConfigError> {
        fault::point("config");
        let members = Members::of_document(config)?;
        let engine = if is_unattended(&members) {
            Reviewer::compile(&members).map(Engine::Reviewer).map_err(ConfigError::unattended)?
        } else if members.all("policy").nth(1).is_some() {
            // Of two, neither says which keys belong here.
            return Err(ConfigError::duplicate_key("policy"));
        } else {
            match members.read("policy", "string", Raw::text)?.as_deref() {
                None | Some(INJECTED_MCP) => Injected::compile(&members).map(Engine::Injected)?,
                Some(_) => {
                    return Err(ConfigError::rule("policy", "expected \"injected_mcp\" or \"unattended_review\""))
                }
            }
        };
        Ok(Self { engine })
    }

    /// Decides one permission request: an ACP frame, or a hook payload for a reviewer's policy.
    pub fn decide<'a>(&self, request: &'a [u8]) -> Decision<'a> {
        self.evaluate(request, &mut Untraced)
    }

    /// The decision's JSON with `detail` and `trace`.
    pub fn explain(&self, request: &[u8]) -> String {
        let mut trace = Recorder::default();
        trace.passed(Step::Config, None);
        let decision = self.evaluate(request, &mut trace);
        trace.finish(&decision)
    }

    /// Decides a permission request that the host has decoded. A hook payload can't be handed over this way, so a
    /// reviewer's policy denies.
    pub fn decide_request<'a>(&self, request: &'a Request<'a>) -> Decision<'a> {
        match &self.engine {
            Engine::Injected(policy) => policy.decide_request(request, &mut Untraced),
            Engine::Reviewer(_) => Reviewer::malformed(),
        }
    }

    /// As [`Policy::decide_request`], in the C ABI's flat encoding.
    #[cfg(feature = "abi")]
    pub(crate) fn decide_encoded<'a>(&self, request: &'a [u8]) -> Decision<'a> {
        match &self.engine {
            Engine::Injected(policy) => policy.decide_encoded(request, &mut Untraced),
            Engine::Reviewer(_) => Reviewer::malformed(),
        }
    }

    fn evaluate<'a>(&self, request: &'a [u8], trace: &mut impl Trace) -> Decision<'a> {
        match &self.engine {
            Engine::Injected(policy) => policy.decide_frame(request, trace),
            Engine::Reviewer(policy) => policy.decide_body(request, trace),
        }
    }

    /// What a caught panic is answered with under this policy.
    #[cfg(feature = "abi")]
    pub(crate) fn internal_error(&self) -> Decision<'static> {
        unusable(matches!(self.engine, Engine::Reviewer(_)), Reason::InternalError)
    }
}

/// Whether a config, usable or not, is a reviewer's: one JSON object with exactly one `policy`, which says so.
fn is_unattended(members: &Members<'_>) -> bool {
    let mut policies = members.all("policy");
    let first = policies.next();
    policies.next().is_none() && first.is_some_and(|policy| policy.is_string(UNATTENDED_REVIEW))
}

/// What a caught panic is answered with under a config that is used once.
#[cfg(feature = "abi")]
pub(crate) fn internal_error(document: &[u8]) -> Decision<'static> {
    let unattended = Members::of_document(document).is_ok_and(|members| is_unattended(&members));
    unusable(unattended, Reason::InternalError)
}

/// Decides one request under a config that is used once: the decision JSON.
pub fn decide_json(request: &[u8], config: &[u8]) -> String {
    match Policy::new(config) {
        Ok(policy) => policy.decide(request).to_json(),
        Err(error) => error.decision().to_json(),
    }
}

/// As [`decide_json`], with `detail` and `trace`.
pub fn explain_json(request: &[u8], config: &[u8]) -> String {
    match Policy::new(config) {
        Ok(policy) => policy.explain(request),
        Err(error) => {
            let mut trace = Recorder::default();
            trace.stopped(Step::Config, Reason::MalformedConfig);
            trace.finish(&error.decision())
        }
    }
}
