package kandev

# The whole of the rules, from the frame as `input`; `data.host` is what the host knows.

claude := input.toolCall._meta.claudeCode if data.host.agent_type == "claude-acp"

name := claude.toolName if {
	claude.toolName
	not input.toolCall.name != claude.toolName
}

else := input.toolCall.name if not claude.toolName

else := input.toolCall.title if {
	not input.toolCall.name
	not claude.toolName
	input.toolCall.kind == "other"
}

vetoed if claude.mcpServer.name != "kandev"

vetoed if claude.mcpServer.source != "dynamic"

offered(kind) := [option.optionId |
	some option in input.options
	lower(trim_space(option.kind)) == kind
]

choice := offered("allow_once")[0] if true

else := offered("allow_always")[0] if true

decision := {"option_id": choice, "server": "kandev", "tool": parts[2]} if {
	# Not checked: the length, and which characters a segment is made of.
	parts := split(name, "__")
	count(parts) == 3
	parts[0] == "mcp"
	parts[1] == "kandev"
	parts[2] != ""
	not startswith(parts[2], "_")
	data.host.injected
	not data.host.conflict
	not vetoed
	trim_space(choice) != ""
	count([1 | some option in input.options; option.optionId == choice]) == 1
}
