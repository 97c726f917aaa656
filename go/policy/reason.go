package policy

// Reason says why a decision came out as it did. It is the word that stands in the decision's JSON.
type Reason string

// The reasons.
const (
	// ReasonInternalError: an internal error was caught; the request goes the way it went before.
	ReasonInternalError Reason = "internal_error"
	// ReasonEngineUnavailable: this build has no engine, or the Policy is nil or closed.
	ReasonEngineUnavailable Reason = "engine_unavailable"
	// ReasonMalformedConfig: the host's config can't be used.
	ReasonMalformedConfig Reason = "malformed_config"
	// ReasonMalformedFrame: the frame is not one strict, unambiguous permission request.
	ReasonMalformedFrame Reason = "malformed_frame"
	// ReasonNotAPermissionRequest: the message has another method than session/request_permission.
	ReasonNotAPermissionRequest Reason = "not_a_permission_request"
	// ReasonNoOptions: the agent offers no option to choose from.
	ReasonNoOptions Reason = "no_options"
	// ReasonBlanketApproval: the host approves every request of this session.
	ReasonBlanketApproval Reason = "blanket_approval"
	// ReasonIdentityMissing: the frame doesn't say which tool it is about in a form that can be trusted.
	ReasonIdentityMissing Reason = "identity_missing"
	// ReasonIdentityMalformed: what says which tool or server it is has a wrong type.
	ReasonIdentityMalformed Reason = "identity_malformed"
	// ReasonIdentityConflict: two statements about the tool or its server disagree.
	ReasonIdentityConflict Reason = "identity_conflict"
	// ReasonNotMCPTool: the tool is not one of an MCP server.
	ReasonNotMCPTool Reason = "not_mcp_tool"
	// ReasonAmbiguousToolName: the tool name can be split into server and tool in more than one way.
	ReasonAmbiguousToolName Reason = "ambiguous_tool_name"
	// ReasonInvalidToolName: the tool name is not a well-formed qualified MCP name.
	ReasonInvalidToolName Reason = "invalid_tool_name"
	// ReasonOtherServer: the tool belongs to another MCP server than the injected one.
	ReasonOtherServer Reason = "other_server"
	// ReasonProvenanceMissing: the host has not stated that it injected its MCP server at a usable port.
	ReasonProvenanceMissing Reason = "provenance_missing"
	// ReasonServerNotInjected: no configured server is exactly the one that the host injects.
	ReasonServerNotInjected Reason = "server_not_injected"
	// ReasonServerNameConflict: another configured server has the injected server's name.
	ReasonServerNameConflict Reason = "server_name_conflict"
	// ReasonUntrustedServerSource: the agent says that the serving server was not injected by the host.
	ReasonUntrustedServerSource Reason = "untrusted_server_source"
	// ReasonNoAllowOption: the agent offers nothing that allows the call.
	ReasonNoAllowOption Reason = "no_allow_option"
	// ReasonOptionIDUnusable: the allow option's id is blank or not unique.
	ReasonOptionIDUnusable Reason = "option_id_unusable"
	// ReasonInjectedMCP: the call goes to the MCP server that the host injected.
	ReasonInjectedMCP Reason = "injected_mcp"
	// ReasonMalformedRequest: the hook payload is not one strict, complete permission request.
	ReasonMalformedRequest Reason = "malformed_request"
	// ReasonResultChannel: the call delivers the reviewer's result.
	ReasonResultChannel Reason = "result_channel"
	// ReasonAllowlistedServer: the call goes to a server that the reviewer's launch allows.
	ReasonAllowlistedServer Reason = "allowlisted_server"
	// ReasonServerNotAllowlisted: the call goes to a server that the reviewer's launch doesn't allow.
	ReasonServerNotAllowlisted Reason = "server_not_allowlisted"
	// ReasonClassifiedBareTool: the bare tool name is classified as safe on a server that the launch allows.
	ReasonClassifiedBareTool Reason = "classified_bare_tool"
	// ReasonBareToolDenied: the bare tool name is not classified for this reviewer.
	ReasonBareToolDenied Reason = "bare_tool_denied"
	// ReasonInteractivePrompt: the request came on the shared token; a person decides.
	ReasonInteractivePrompt Reason = "interactive_prompt"
)

// reasons has each reason at its number in the ABI.
var reasons = [...]Reason{
	ReasonInternalError,
	ReasonEngineUnavailable,
	ReasonMalformedConfig,
	ReasonMalformedFrame,
	ReasonNotAPermissionRequest,
	ReasonNoOptions,
	ReasonBlanketApproval,
	ReasonIdentityMissing,
	ReasonIdentityMalformed,
	ReasonIdentityConflict,
	ReasonNotMCPTool,
	ReasonAmbiguousToolName,
	ReasonInvalidToolName,
	ReasonOtherServer,
	ReasonProvenanceMissing,
	ReasonServerNotInjected,
	ReasonServerNameConflict,
	ReasonUntrustedServerSource,
	ReasonNoAllowOption,
	ReasonOptionIDUnusable,
	ReasonInjectedMCP,
	ReasonMalformedRequest,
	ReasonResultChannel,
	ReasonAllowlistedServer,
	ReasonServerNotAllowlisted,
	ReasonClassifiedBareTool,
	ReasonBareToolDenied,
	ReasonInteractivePrompt,
}
