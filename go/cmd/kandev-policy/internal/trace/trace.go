// Package trace words the steps of an explanation for people.
package trace

import (
	"fmt"
	"strings"

	"github.com/kandev/kandev-policy/go/policy"
)

// looked says what each step looks at. A test keeps it in step with the engine's list.
var looked = map[string]string{
	"config":           "the host's config: keys and types",
	"document":         "the whole input: one strict JSON object, nothing in it that reads in two ways",
	"method":           "`method`, if it is a JSON-RPC message",
	"decision_path":    "`toolCall` or `subject`, and `options`: types, duplicate and rival keys",
	"options":          "`options`: whether anything is offered",
	"blanket_approval": "the config's `auto_approve_permissions`",
	"identity":         "`toolCall.name`; for Claude also `_meta.claudeCode.toolName`, and `title` with `kind`",
	"qualified_name":   "the tool's name: `mcp__<server>__<tool>`, and whether the server is `kandev`",
	"provenance":       "the config's `injected_kandev_mcp`, `port` and the entries named `kandev` in `mcp_servers`",
	"evidence":         "what the agent says about the serving server: `_meta.claudeCode.mcpServer`",
	"option":           "the option that allows, and whether its id is usable",
	"body":             "the whole payload: `session_id`, `tool_name`, `hook_event_name`",
	"result_channel":   "whether the tool hands in the review's result",
	"token":            "the config's `token`: what the caller established about it",
	"allowlist":        "the config's `servers`: whether the tool's server is bound to the launch",
	"classification":   "the catalog: whether the bare name is classified, and the config's `vendor`",
}

// lookedByReviewer is where a reviewer's step looks elsewhere than a frame's step of the same name.
var lookedByReviewer = map[string]string{
	"qualified_name": "the tool's name: `mcp__<server>__<tool>`",
	"evidence":       "what the agent says about the serving server: `mcp_server`",
}

// Looked says what a step looked at.
func Looked(step policy.Step, reviewer bool) string {
	if text, ok := lookedByReviewer[step.Step]; ok && reviewer {
		return text
	}
	return looked[step.Step]
}

// facts words a fact by step, key and value; {} is the value.
var facts = map[string]string{
	"document shape message":           "a JSON-RPC message",
	"document shape params":            "plain params",
	"decision_path protocol v1":        "ACP v1",
	"decision_path protocol v2":        "ACP v2",
	"blanket_approval approval off":    "off",
	"identity source name":             "taken from `toolCall.name`",
	"identity source metadata":         "taken from `_meta.claudeCode.toolName`",
	"identity source title":            "taken from `title`, since `kind` is `other` and nothing else names the tool",
	"provenance transport http":        "the injected entry is there, over `http`",
	"provenance transport sse":         "the injected entry is there, over `sse`",
	"evidence evidence absent":         "the agent says nothing, which is no objection",
	"evidence evidence dynamic":        "`kandev`, from the session (`dynamic`)",
	"result_channel result_channel no": "it doesn't, or may not on this token",
	"token token reviewer":             "a reviewer's own token",
}

// Finding says what a step found. A fact that has no wording yet is shown as it is.
func Finding(step policy.Step) string {
	var found []string
	for key, value := range step.Facts {
		switch text, ok := facts[step.Step+" "+key+" "+value]; {
		case ok:
			found = append(found, text)
		case key == "reason":
		case key == "option_kind":
			found = append(found, fmt.Sprintf("chosen: `%s`", value))
		default:
			found = append(found, fmt.Sprintf("%s `%s`", key, value))
		}
	}
	return strings.Join(found, ", ")
}
