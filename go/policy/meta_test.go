//go:build !kandev_policy_none

package policy

import "testing"

// TestMetadata: what metadata can hold, and what it is understood as.
func TestMetadata(t *testing.T) {
	type object = map[string]any
	type named map[string]any
	const name = "mcp__kandev__list_tasks"
	dynamic := object{"name": "kandev", "source": "dynamic"}
	code := func(o object) object { return object{"claudeCode": o} }
	text := name
	for _, test := range []struct {
		about  string
		meta   map[string]any
		reason Reason
	}{
		{"nil", nil, ReasonIdentityMissing},
		{"empty", object{}, ReasonIdentityMissing},
		{"other keys", object{"codex": 1, "x": object{"claudeCode": 1}}, ReasonIdentityMissing},
		{"claudeCode nil", object{"claudeCode": nil}, ReasonIdentityMalformed},
		{"claudeCode nil map", object{"claudeCode": object(nil)}, ReasonIdentityMalformed},
		{"claudeCode string", object{"claudeCode": "x"}, ReasonIdentityMalformed},
		{"claudeCode named map", object{"claudeCode": named{}}, ReasonIdentityMalformed},
		{"claudeCode map of strings", object{"claudeCode": map[string]string{}}, ReasonIdentityMalformed},
		{"claudeCode empty", code(object{}), ReasonIdentityMissing},
		{"toolName", code(object{"toolName": name}), ReasonInjectedMCP},
		{"toolName and others", code(object{"toolName": name, "x": 1, "tool": 2}), ReasonInjectedMCP},
		{"toolName nil", code(object{"toolName": nil}), ReasonIdentityMalformed},
		{"toolName number", code(object{"toolName": 1.0}), ReasonIdentityMalformed},
		{"toolName pointer", code(object{"toolName": &text}), ReasonIdentityMalformed},
		{"toolName bytes", code(object{"toolName": []byte(name)}), ReasonIdentityMalformed},
		{"toolName empty", code(object{"toolName": ""}), ReasonNotMCPTool},
		{"toolName not UTF-8", code(object{"toolName": name + "\xff"}), ReasonMalformedFrame},
		{"toolName with NUL", code(object{"toolName": name + "\x00"}), ReasonInvalidToolName},
		{"mcpServer", code(object{"toolName": name, "mcpServer": dynamic}), ReasonInjectedMCP},
		{"mcpServer nil", code(object{"toolName": name, "mcpServer": nil}), ReasonInjectedMCP},
		{"mcpServer nil map", code(object{"toolName": name, "mcpServer": object(nil)}), ReasonInjectedMCP},
		{"mcpServer nil map of strings", code(object{"toolName": name, "mcpServer": map[string]string(nil)}), ReasonInjectedMCP},
		{"mcpServer nil named map", code(object{"toolName": name, "mcpServer": named(nil)}), ReasonInjectedMCP},
		{"mcpServer nil slice", code(object{"toolName": name, "mcpServer": []any(nil)}), ReasonInjectedMCP},
		{"mcpServer nil pointer", code(object{"toolName": name, "mcpServer": (*object)(nil)}), ReasonInjectedMCP},
		{"mcpServer nil func", code(object{"toolName": name, "mcpServer": (func())(nil)}), ReasonIdentityMalformed},
		{"mcpServer empty slice", code(object{"toolName": name, "mcpServer": []any{}}), ReasonIdentityMalformed},
		{"mcpServer pointer", code(object{"toolName": name, "mcpServer": &dynamic}), ReasonIdentityMalformed},
		{"mcpServer named map", code(object{"toolName": name, "mcpServer": named(dynamic)}), ReasonIdentityMalformed},
		{"toolName nil pointer", code(object{"toolName": (*string)(nil)}), ReasonIdentityMalformed},
		{"claudeCode nil pointer", object{"claudeCode": (*object)(nil)}, ReasonIdentityMalformed},
		{"source nil pointer", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": (*string)(nil)}}), ReasonIdentityMalformed},
		{"mcpServer string", code(object{"toolName": name, "mcpServer": "kandev"}), ReasonIdentityMalformed},
		{"mcpServer false", code(object{"toolName": name, "mcpServer": false}), ReasonIdentityMalformed},
		{"mcpServer empty", code(object{"toolName": name, "mcpServer": object{}}), ReasonIdentityMalformed},
		{"no source", code(object{"toolName": name, "mcpServer": object{"name": "kandev"}}), ReasonIdentityMalformed},
		{"source nil", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": nil}}), ReasonIdentityMalformed},
		{"name number", code(object{"toolName": name, "mcpServer": object{"name": 1, "source": "dynamic"}}), ReasonIdentityMalformed},
		{"more in it", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": "dynamic", "x": 1}}), ReasonInjectedMCP},
		{"other name", code(object{"toolName": name, "mcpServer": object{"name": "Kandev", "source": "dynamic"}}), ReasonIdentityConflict},
		{"other source", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": "project"}}), ReasonUntrustedServerSource},
		{"source not UTF-8", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": "\xed\xa0\x80"}}), ReasonMalformedFrame},
		{"rival claudeCode alone", object{"claudecode": object{}}, ReasonMalformedFrame},
		{"rival claudeCode beside", object{"claudeCode": object{"toolName": name}, "CLAUDECODE": nil}, ReasonMalformedFrame},
		{"rival toolName", code(object{"toolName": name, "toolname": 1}), ReasonMalformedFrame},
		{"rival toolName alone", code(object{"ToolName": name}), ReasonMalformedFrame},
		{"rival mcpServer", code(object{"toolName": name, "mcp\u017ferver": nil}), ReasonMalformedFrame},
		{"rival name", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": "dynamic", "Name": 1}}), ReasonMalformedFrame},
		{"rival source", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "\u017fource": "dynamic"}}), ReasonMalformedFrame},
		{"look-alike", code(object{"toolName": name, "mcpServer": object{"name": "kandev", "source": "dynamic", "n\u0430me": 1}}), ReasonInjectedMCP},
		{"keys that are not UTF-8", code(object{"toolName": name, "toolName\xff": 1}), ReasonInjectedMCP},
	} {
		req := testRequest()
		req.ToolName, req.ToolMeta = nil, test.meta
		if d := newTestPolicy(t).Decide(req); d.Reason != test.reason {
			t.Errorf("%s: %s", test.about, d)
		}
	}
}

// TestRequestText: a text that is not UTF-8 is malformed wherever it is read, and NUL is a character like others.
func TestRequestText(t *testing.T) {
	p := newTestPolicy(t)
	for _, test := range []struct {
		about  string
		change func(*Request)
		reason Reason
	}{
		{"as it is", func(*Request) {}, ReasonInjectedMCP},
		{"title", func(r *Request) { r.Title = "\xff" }, ReasonMalformedFrame},
		{"kind", func(r *Request) { r.Kind = "other\xff" }, ReasonMalformedFrame},
		{"name", func(r *Request) { *r.ToolName = "\xed\xa0\x80" }, ReasonMalformedFrame},
		{"half characters side by side", func(r *Request) { r.Title, r.Kind = "\xc3", "\xa9" }, ReasonMalformedFrame},
		{"option id", func(r *Request) { r.Options[0].OptionID = "\xff" }, ReasonMalformedFrame},
		{"option kind", func(r *Request) { r.Options[0].Kind = "\xff" }, ReasonMalformedFrame},
		{"option name", func(r *Request) { r.Options[0].Name = "\xff" }, ReasonInjectedMCP},
		{"NUL in title", func(r *Request) { r.Title = "\x00" }, ReasonInjectedMCP},
		{"NUL in id", func(r *Request) { r.Options[1].OptionID = "\x00" }, ReasonInjectedMCP},
		{"NUL in kind", func(r *Request) { r.Options[1].Kind = "allow_once\x00" }, ReasonNoAllowOption},
		{"folded kind", func(r *Request) { r.Options[1].Kind = " Allow_Once\n" }, ReasonInjectedMCP},
		{"blank id", func(r *Request) { r.Options[1].OptionID = "\u2003" }, ReasonOptionIDUnusable},
		{"same id", func(r *Request) { r.Options[0].OptionID = "yes" }, ReasonOptionIDUnusable},
		{"no options", func(r *Request) { r.Options = nil }, ReasonNoOptions},
		{"empty name", func(r *Request) { r.ToolMeta, *r.ToolName = nil, "" }, ReasonNotMCPTool},
		{"title instead", func(r *Request) { r.ToolMeta, r.Title, r.ToolName = nil, *r.ToolName, nil }, ReasonInjectedMCP},
		{"other name in metadata", func(r *Request) { *r.ToolName = "mcp__kandev__x" }, ReasonIdentityConflict},
	} {
		req := testRequest()
		test.change(&req)
		d := p.Decide(req)
		if d.Reason != test.reason {
			t.Errorf("%s: %s", test.about, d)
		}
		if d.Kind == Select && (d.OptionID != req.Options[1].OptionID || d.Server != "kandev" || d.Tool != "list_tasks") {
			t.Errorf("%s: %s", test.about, d)
		}
	}
}

// TestAnotherAgentsMetadata is not read.
func TestAnotherAgentsMetadata(t *testing.T) {
	cfg := testConfig()
	cfg.AgentType = "codex-acp"
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, meta := range []map[string]any{
		nil,
		{"claudeCode": 1},
		{"CLAUDECODE": 1},
		testMeta("mcp__other__tool", nil),
		testMeta(nil, map[string]any{"name": "other", "source": "project"}),
	} {
		req := testRequest()
		req.ToolMeta = meta
		if d := p.Decide(req); d.Reason != ReasonInjectedMCP {
			t.Errorf("%v: %s", meta, d)
		}
	}
}
