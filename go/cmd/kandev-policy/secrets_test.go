package main_test

import (
	"strings"
	"testing"
)

// TestNothingSecretIsShown plants a word wherever a frame, a hook payload or a config can hold one, in good and in broken
// documents, and looks for it in all that is written.
func TestNothingSecretIsShown(t *testing.T) {
	const secret = "SENTINEL"
	frame := `{"sessionId":"SENTINEL","toolCall":{"toolCallId":"SENTINEL","name":"mcp__kandev__list_tasks","title":"SENTINEL","kind":"other",` +
		`"rawInput":{"token":"SENTINEL"},"_meta":{"x":"SENTINEL","claudeCode":{"toolName":"mcp__kandev__list_tasks","mcpServer":{"name":"kandev","source":"dynamic"}}}},` +
		`"options":[{"optionId":"yes","name":"SENTINEL","kind":"allow_once","_meta":"SENTINEL"}]}`
	hook := `{"session_id":"SENTINEL","tool_name":"Bash","tool_input":{"command":"SENTINEL"},"cwd":"/SENTINEL"}`
	config := `{"agent_type":"claude-acp","port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"},` +
		`{"name":"other","url":"http://SENTINEL","headers":{"Authorization":"SENTINEL"},"env":{"K":"SENTINEL"},"args":["SENTINEL"]}]}`
	requests := []string{frame, hook,
		strings.Replace(frame, `"mcp__kandev__list_tasks"`, `"SENTINEL"`, 1),
		strings.Replace(frame, `"mcp__kandev__list_tasks"`, `["SENTINEL"]`, 1),
		strings.Replace(frame, `"source":"dynamic"`, `"source":"SENTINEL"`, 1),
		strings.Replace(frame, `"kind":"allow_once"`, `"kind":"SENTINEL"`, 1),
		`{"method":"SENTINEL","params":` + frame + "}",
		`{"SENTINEL":` + frame + `}`,
		frame[:len(frame)-1] + "SENTINEL",
		"SENTINEL",
		`{"a":SENTINEL}`,
		`{"a":"SENTINEL`,
		`["SENTINEL"]`,
	}
	configs := []string{config, reviewerConfig,
		strings.Replace(config, "41000", `"SENTINEL"`, 1),
		strings.Replace(config, `"claude-acp"`, `["SENTINEL"]`, 1),
		strings.Replace(config, "{", `{"policy":"SENTINEL",`, 1),
		strings.Replace(config, "{", `{"SENTINEL: pasted here":1,`, 1),
		strings.Replace(config, `[{"name"`, `["SENTINEL",{"name"`, 1),
		strings.Replace(config, `"type":"http"`, `"type":"SENTINEL"`, 1),
		strings.Replace(config, `"port"`, `"port":"SENTINEL","port"`, 1),
		strings.Replace(reviewerConfig, "kcap-review", "SENTINEL", 1),
		strings.Replace(reviewerConfig, "codex", "SENTINEL", 1),
		strings.Replace(reviewerConfig, "{", `{"catalog":{"servers":[{"id":"SENTINEL"}]},`, 1),
		config + "SENTINEL",
	}
	for i, config := range configs {
		for j, request := range requests {
			if i > 0 && j > 1 {
				continue
			}
			folder := write(t, map[string]string{"c.json": config, "good.json": injectedConfig, "f": request})
			for _, args := range []string{"decide -c c.json f", "decide --json -c c.json f", "explain -c c.json f", "explain --json -c c.json f",
				"replay -c c.json f", "replay --json -c c.json f", "replay -c good.json --against c.json f", "watch -c c.json --record r cat f"} {
				r := kandev(t, folder, "", strings.Fields(args)...)
				shown := r.out + r.err
				if strings.HasPrefix(args, "watch") {
					shown = r.err // the output is the agent's own
					if strings.Contains(args, "--record r") && r.status == 0 {
						shown += read(t, folder+"/r")
					}
				}
				if strings.Contains(shown, secret) {
					t.Errorf("%s shows it, config %d, request %d: %s", args, i, j, shown)
				}
			}
		}
	}
}
