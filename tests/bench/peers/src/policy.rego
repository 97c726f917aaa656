package kandev

# The whole of the rules, from the frame as `input`; `data.host` is what the host knows.

claude := input.toolCall._meta.claudeCode if data.host.agent_type == "claude-acp"

stated contains input.toolCall.name

stated contains claude.toolName

name := only if {
	count(stated) == 1
	some only in stated
}

name := input.toolCall.title if {
	count(stated) == 0
	input.toolCall.kind == "other"
}

# Not checked: the length, and which characters a segment is made of.
parts := split(name, "__")

call := {"server": parts[1], "tool": parts[2]} if {
	count(parts) == 3
	parts[0] == "mcp"
	parts[1] != ""
	parts[2] != ""
	not startswith(parts[2], "_")
}

vetoed if claude.mcpServer.name != call.server

vetoed if claude.mcpServer.source != "dynamic"

offered(kind) := [option.optionId |
	some option in input.options
	lower(trim_space(option.kind)) == kind
]

choice := array.concat(offered("allow_once"), offered("allow_always"))[0]

unique if {
	trim_space(choice) != ""
	count([1 | some option in input.options; option.optionId == choice]) == 1
}

decision := {"option_id": choice, "server": call.server, "tool": call.tool} if {
	call.server == "kandev"
	data.host.injected
	not data.host.conflict
	not vetoed
	unique
}
