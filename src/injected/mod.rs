//! The injected-server policy (contract 4): approves the calls to the MCP server that the host itself injected.
//!
//! [`Injected::evaluate`] is the order of evaluation; each step is a module, found by the reasons it gives.

mod call;
mod config;
mod dialect;
#[cfg(feature = "abi")]
mod encoded;
mod evidence;
mod frame;
mod identity;
mod options;
mod provenance;
mod request;

use crate::decision::{Decision, Kind, Selected};
use crate::fault;
use crate::qualified_name::QualifiedName;
use crate::trace::{Step, Trace};
use crate::Reason;

use call::Call;
use dialect::Dialect;
use options::Options;
use provenance::Provenance;

pub use request::{Offer, Request, ToolMeta};

/// The one server name that is ever approved.
const SERVER: &str = "kandev";

/// A compiled config. What depends on the config alone is decided once, so a long server list costs a decision nothing.
pub(crate) struct Injected {
    dialect: Dialect,
    blanket_approval: bool,
    provenance: Result<Provenance, Reason>,
}

/// A permission request, whether it was read from a frame or handed over decoded. A legal frame without an identity has
/// a call in which everything is absent.
#[derive(Default)]
struct PermissionRequest<'a> {
    call: Call<'a>,
    options: Options<'a>,
}

impl Injected {
    /// Decides an ACP frame.
    pub(crate) fn decide_frame<'a>(&self, frame: &'a [u8], trace: &mut impl Trace) -> Decision<'a> {
        let mut request = PermissionRequest::default();
        match frame::read(frame, self.dialect, &mut request, trace) {
            Ok(()) => self.evaluate(&request, trace),
            Err((step, reason)) => {
                trace.stopped(step, reason);
                Decision::acp(Kind::Ask, reason)
            }
        }
    }

    /// Decides what a host holds after decoding a frame.
    pub(crate) fn decide_request<'a>(&self, request: &'a Request<'a>, trace: &mut impl Trace) -> Decision<'a> {
        self.evaluate(&request.read(self.dialect), trace)
    }

    /// Decides a request in the ABI's flat encoding.
    #[cfg(feature = "abi")]
    pub(crate) fn decide_encoded<'a>(&self, request: &'a [u8], trace: &mut impl Trace) -> Decision<'a> {
        match encoded::decode(request, self.dialect) {
            Ok(request) => self.evaluate(&request, trace),
            Err(reason) => Decision::acp(Kind::Ask, reason),
        }
    }

    /// Steps 5 to 12 of the contract's 4.3.
    fn evaluate<'a>(&self, request: &PermissionRequest<'a>, trace: &mut impl Trace) -> Decision<'a> {
        let PermissionRequest { call, options } = request;

        fault::point("options");
        if options.is_empty() {
            trace.stopped(Step::Options, Reason::NoOptions);
            return Decision::acp(Kind::Cancel, Reason::NoOptions);
        }
        trace.passed(Step::Options, None);

        if self.blanket_approval {
            fault::point("blanket_approval");
            trace.stopped(Step::BlanketApproval, Reason::BlanketApproval);
            return options.blanket_approval();
        }
        trace.passed(Step::BlanketApproval, Some(("approval", "off")));

        // From here on every refusal is an ask, with the server and tool once the name has parsed.
        let mut name = None;
        match self.approve(call, options, &mut name, trace) {
            Ok(option) => Decision::acp(Kind::Select, Reason::InjectedMcp).with_option(option).with_name(name),
            Err((step, reason)) => {
                trace.stopped(step, reason);
                Decision::acp(Kind::Ask, reason).with_name(name)
            }
        }
    }

    /// Steps 7 to 11: proves that the call goes to the injected server and finds the option that says so.
    fn approve<'a>(
        &self,
        call: &Call<'a>,
        options: &Options<'a>,
        parsed: &mut Option<QualifiedName<'a>>,
        trace: &mut impl Trace,
    ) -> Result<Selected<'a>, (Step, Reason)> {
        let at = |step| move |reason| (step, reason);

        fault::point("identity");
        let identity = identity::establish(call, self.dialect).map_err(at(Step::Identity))?;
        trace.passed(Step::Identity, Some(("source", identity.source.word())));

        fault::point("qualified_name");
        let name = QualifiedName::parse(identity.name).map_err(at(Step::QualifiedName))?;
        let name = parsed.insert(name);
        if name.server() != SERVER {
            return Err((Step::QualifiedName, Reason::OtherServer));
        }
        trace.passed(Step::QualifiedName, None);

        fault::point("provenance");
        let provenance = self.provenance.map_err(at(Step::Provenance))?;
        trace.passed(Step::Provenance, Some(("transport", provenance.word())));

        fault::point("evidence");
        let evidence = evidence::examine(call, name).map_err(at(Step::Evidence))?;
        trace.passed(Step::Evidence, Some(("evidence", evidence.word())));

        fault::point("option");
        let option = options.choose().map_err(at(Step::Option))?;
        trace.passed(Step::Option, option.kind.map(|kind| ("option_kind", kind.word())));
        Ok(option)
    }
}
