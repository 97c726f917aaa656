package main_test

import (
	"strings"
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/reasons"
)

// TestExplanationForPeople shows explanations of captured requests, whole.
func TestExplanationForPeople(t *testing.T) {
	const claude = "acp-capture-claude-agent-acp-"
	for name, id := range map[string]string{
		"explain-injected_mcp.txt":            claude + "0.60.0-v1/1_update_task_plan",
		"explain-identity_missing.txt":        claude + "0.60.0-v1/d_bash_exact_title",
		"explain-untrusted_server_source.txt": claude + "0.101.0-v2/6b_project",
		"explain-server_name_conflict.txt":    claude + "0.101.0-v1/9_same_name_twice_injected",
		"explain-not_mcp_tool.txt":            claude + "0.101.0-v1/5_bash",
		"explain-identity_conflict.txt":       "hooks-capture-claude-2.1.332/collide-dot-under",
		"explain-bare_tool_denied.txt":        "hooks-capture-codex-0.171.0/app-sh-allow",
	} {
		v := vector(t, id)
		folder := write(t, map[string]string{"c.json": string(v.Config), "f.json": string(v.Input)})
		r := kandev(t, folder, "", "explain", "-c", "c.json", "f.json")
		golden(t, name, r.out)
		r.want(t, 0, r.out, "")
	}
}

// TestEveryReasonIsExplained takes one vector for each reason that a readable config and a readable request can have,
// and wants the paragraphs of the page.
func TestEveryReasonIsExplained(t *testing.T) {
	explained := map[string]bool{
		// A readable config and an engine leave no way to these three.
		"malformed_config": true, "engine_unavailable": true, "internal_error": true,
	}
	for _, v := range readVectors(t, "*.jsonl") {
		if explained[v.Reason] || len(v.Input) > 1<<16 {
			continue
		}
		folder := write(t, map[string]string{"c.json": string(v.Config), "f.json": string(v.Input)})
		r := kandev(t, folder, "", "explain", "-c", "c.json", "f.json")
		if r.status != 0 {
			continue // no JSON
		}
		explained[v.Reason] = true
		reason, ok := reasons.Find(v.Reason)
		if !ok {
			t.Errorf("%s: nothing is written about it", v.Reason)
			continue
		}
		words := " " + strings.Join(strings.Fields(r.out), " ")
		for _, paragraph := range reason.Paragraphs {
			// Behind a heading a text begins with a capital.
			if !strings.Contains(words, paragraph.Text[1:]) || !strings.Contains(words, paragraph.Label) {
				t.Errorf("%s: %q is missing in\n%s", v.Reason, paragraph.Label, r.out)
			}
		}
		if !strings.HasPrefix(r.out, v.Decision+"  "+v.Reason+"\n") || !strings.HasSuffix(r.out, "docs/reasons.md#"+v.Reason+"\n") {
			t.Errorf("%s: first or last line of\n%s", v.Reason, r.out)
		}
	}
	for _, reason := range reasons.All() {
		if !explained[reason.Code] {
			t.Errorf("%s: no vector gives it", reason.Code)
		}
	}
}

// TestExplanationJSON wants the library's bytes: the decision's, then detail and trace.
func TestExplanationJSON(t *testing.T) {
	folder := write(t, map[string]string{"c.json": injectedConfig, "f.json": goodFrame})
	kandev(t, folder, "", "explain", "--json", "-c", "c.json", "f.json").want(t, 0, selected[:len(selected)-1]+
		`,"detail":"The call goes to the MCP server that the host injected.","trace":[{"step":"config","outcome":"passed"},`+
		`{"step":"document","outcome":"passed","shape":"params"},{"step":"method","outcome":"passed"},`+
		`{"step":"decision_path","outcome":"passed","protocol":"v1"},{"step":"options","outcome":"passed"},`+
		`{"step":"blanket_approval","outcome":"passed","approval":"off"},{"step":"identity","outcome":"passed","source":"name"},`+
		`{"step":"qualified_name","outcome":"passed"},{"step":"provenance","outcome":"passed","transport":"http"},`+
		`{"step":"evidence","outcome":"passed","evidence":"absent"},{"step":"option","outcome":"passed","option_kind":"allow_once"}]}`+"\n", "")
}
