//! The reason codes: one list for the library, the header and the docs.

/// Why a decision came out as it did. Numbers are never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
#[non_exhaustive]
pub enum Reason {
    /// `internal_error`: An internal error was caught; the request goes the way it went before.
    InternalError = 0,
    /// `engine_unavailable`: No policy engine is available in this build or after closing. Only a host without the library gives it.
    EngineUnavailable = 1,
    /// `malformed_config`: The host's config can't be used.
    MalformedConfig = 2,
    /// `malformed_frame`: The frame is not one strict, unambiguous permission request.
    MalformedFrame = 3,
    /// `not_a_permission_request`: The message has another method than session/request_permission.
    NotAPermissionRequest = 4,
    /// `no_options`: The agent offers no option to choose from.
    NoOptions = 5,
    /// `blanket_approval`: The host approves every request of this session.
    BlanketApproval = 6,
    /// `identity_missing`: The frame doesn't say which tool it is about in a form that can be trusted.
    IdentityMissing = 7,
    /// `identity_malformed`: What says which tool or server it is has a wrong type.
    IdentityMalformed = 8,
    /// `identity_conflict`: Two statements about the tool or its server disagree.
    IdentityConflict = 9,
    /// `not_mcp_tool`: The tool is not one of an MCP server.
    NotMcpTool = 10,
    /// `ambiguous_tool_name`: The tool name can be split into server and tool in more than one way.
    AmbiguousToolName = 11,
    /// `invalid_tool_name`: The tool name is not a well-formed qualified MCP name.
    InvalidToolName = 12,
    /// `other_server`: The tool belongs to another MCP server than the injected one.
    OtherServer = 13,
    /// `provenance_missing`: The host has not stated that it injected its MCP server at a usable port.
    ProvenanceMissing = 14,
    /// `server_not_injected`: No configured server is exactly the one that the host injects.
    ServerNotInjected = 15,
    /// `server_name_conflict`: Another configured server has the injected server's name.
    ServerNameConflict = 16,
    /// `untrusted_server_source`: The agent says that the serving server was not injected by the host.
    UntrustedServerSource = 17,
    /// `no_allow_option`: The agent offers nothing that allows the call.
    NoAllowOption = 18,
    /// `option_id_unusable`: The allow option's id is blank or not unique.
    OptionIdUnusable = 19,
    /// `injected_mcp`: The call goes to the MCP server that the host injected.
    InjectedMcp = 20,
    /// `malformed_request`: The hook payload is not one strict, complete permission request.
    MalformedRequest = 21,
    /// `result_channel`: The call delivers the reviewer's result.
    ResultChannel = 22,
    /// `allowlisted_server`: The call goes to a server that the reviewer's launch allows.
    AllowlistedServer = 23,
    /// `server_not_allowlisted`: The call goes to a server that the reviewer's launch doesn't allow.
    ServerNotAllowlisted = 24,
    /// `classified_bare_tool`: The bare tool name is classified as safe on a server that the launch allows.
    ClassifiedBareTool = 25,
    /// `bare_tool_denied`: The bare tool name is not classified for this reviewer.
    BareToolDenied = 26,
    /// `interactive_prompt`: The request came on the shared token; a person decides.
    InteractivePrompt = 27,
}

impl Reason {
    /// Every reason with its word in the JSON and a fixed sentence for people, in the order of the numbers.
    const TABLE: [(Reason, &'static str, &'static str); 28] = [
        (
            Reason::InternalError,
            "internal_error",
            "An internal error was caught; the request goes the way it went before.",
        ),
        (
            Reason::EngineUnavailable,
            "engine_unavailable",
            "No policy engine is available in this build or after closing.",
        ),
        (Reason::MalformedConfig, "malformed_config", "The host's config can't be used."),
        (Reason::MalformedFrame, "malformed_frame", "The frame is not one strict, unambiguous permission request."),
        (
            Reason::NotAPermissionRequest,
            "not_a_permission_request",
            "The message has another method than session/request_permission.",
        ),
        (Reason::NoOptions, "no_options", "The agent offers no option to choose from."),
        (Reason::BlanketApproval, "blanket_approval", "The host approves every request of this session."),
        (
            Reason::IdentityMissing,
            "identity_missing",
            "The frame doesn't say which tool it is about in a form that can be trusted.",
        ),
        (Reason::IdentityMalformed, "identity_malformed", "What says which tool or server it is has a wrong type."),
        (Reason::IdentityConflict, "identity_conflict", "Two statements about the tool or its server disagree."),
        (Reason::NotMcpTool, "not_mcp_tool", "The tool is not one of an MCP server."),
        (
            Reason::AmbiguousToolName,
            "ambiguous_tool_name",
            "The tool name can be split into server and tool in more than one way.",
        ),
        (Reason::InvalidToolName, "invalid_tool_name", "The tool name is not a well-formed qualified MCP name."),
        (Reason::OtherServer, "other_server", "The tool belongs to another MCP server than the injected one."),
        (
            Reason::ProvenanceMissing,
            "provenance_missing",
            "The host has not stated that it injected its MCP server at a usable port.",
        ),
        (
            Reason::ServerNotInjected,
            "server_not_injected",
            "No configured server is exactly the one that the host injects.",
        ),
        (
            Reason::ServerNameConflict,
            "server_name_conflict",
            "Another configured server has the injected server's name.",
        ),
        (
            Reason::UntrustedServerSource,
            "untrusted_server_source",
            "The agent says that the serving server was not injected by the host.",
        ),
        (Reason::NoAllowOption, "no_allow_option", "The agent offers nothing that allows the call."),
        (Reason::OptionIdUnusable, "option_id_unusable", "The allow option's id is blank or not unique."),
        (Reason::InjectedMcp, "injected_mcp", "The call goes to the MCP server that the host injected."),
        (
            Reason::MalformedRequest,
            "malformed_request",
            "The hook payload is not one strict, complete permission request.",
        ),
        (Reason::ResultChannel, "result_channel", "The call delivers the reviewer's result."),
        (
            Reason::AllowlistedServer,
            "allowlisted_server",
            "The call goes to a server that the reviewer's launch allows.",
        ),
        (
            Reason::ServerNotAllowlisted,
            "server_not_allowlisted",
            "The call goes to a server that the reviewer's launch doesn't allow.",
        ),
        (
            Reason::ClassifiedBareTool,
            "classified_bare_tool",
            "The bare tool name is classified as safe on a server that the launch allows.",
        ),
        (Reason::BareToolDenied, "bare_tool_denied", "The bare tool name is not classified for this reviewer."),
        (Reason::InteractivePrompt, "interactive_prompt", "The request came on the shared token; a person decides."),
    ];

    /// All reasons, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Reason> {
        Self::TABLE.iter().map(|row| row.0)
    }

    /// The word that stands in the decision JSON.
    pub const fn word(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// A short sentence for people. It is fixed, so it can't carry anything of a frame or a config.
    pub const fn detail(self) -> &'static str {
        Self::TABLE[self as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::Reason;

    #[test]
    fn numbers_are_places_in_the_table() {
        for (place, reason) in Reason::all().enumerate() {
            assert_eq!(reason as usize, place, "{reason:?}");
        }
    }
}
