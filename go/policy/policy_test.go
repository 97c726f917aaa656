//go:build !kandev_policy_none

package policy

import (
	"errors"
	"strings"
	"testing"
)

func newTestPolicy(t testing.TB) *Policy {
	t.Helper()
	p, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestEngine(t *testing.T) {
	if Engine() != engineName || Version() == "" || ABIVersion() != 1 {
		t.Errorf("engine %q, version %q, ABI %d", Engine(), Version(), ABIVersion())
	}
}

// TestOtherABI: an engine with another ABI is not asked, and the session starts all the same.
func TestOtherABI(t *testing.T) {
	neededABIVersion = 99
	defer func() { neededABIVersion = abiVersion }()
	if Engine() != "none" {
		t.Errorf("engine %q", Engine())
	}
	p, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	want := Decision{Reason: ReasonEngineUnavailable}.String()
	decisions := []Decision{p.Decide(testRequest()), p.DecideFrame([]byte(testFrame)), DecideJSON([]byte(testFrame), testConfig().appendJSON(nil))}
	e, err := ExplainJSON([]byte(testFrame), testConfig().appendJSON(nil))
	if !errors.Is(err, ErrNoEngine) || !strings.Contains(err.Error(), "ABI version 1") {
		t.Errorf("error %v", err)
	}
	for i, d := range append(decisions, e.Decision) {
		if d.String() != want {
			t.Errorf("%d: %s", i, d)
		}
	}
	if d := DecideJSON([]byte("{}"), []byte(reviewerConfig)); d.String() != `{"decision":"deny","reason":"engine_unavailable","status":500}` {
		t.Errorf("reviewer: %s", d)
	}
}

func TestClosed(t *testing.T) {
	p := newTestPolicy(t)
	if got := p.DecideFrame([]byte(testFrame)).String(); got != testSelected {
		t.Errorf("open: %s", got)
	}
	for range 3 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	var none *Policy
	for _, p := range []*Policy{p, none, new(Policy)} {
		for _, d := range []Decision{p.Decide(testRequest()), p.DecideFrame([]byte(testFrame))} {
			if d.Kind != Ask || d.Reason != ReasonEngineUnavailable {
				t.Errorf("closed: %s", d)
			}
		}
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	reviewer, err := NewJSON([]byte(reviewerConfig))
	if err != nil {
		t.Fatal(err)
	}
	if d := reviewer.Decide(testRequest()); d.Kind != Deny || d.Reason != ReasonMalformedRequest {
		t.Errorf("a request to a reviewer's policy: %s", d)
	}
	reviewer.Close()
	if d := reviewer.DecideFrame(nil); d.Kind != Deny || d.Reason != ReasonEngineUnavailable || d.Status != 500 {
		t.Errorf("closed reviewer: %s", d)
	}
}

func TestBadConfig(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		says   string
	}{
		{"agent type", func(c *Config) { c.AgentType = "claude-acp\xff" }, "agent_type: found a string that is not UTF-8, expected string"},
		{"host", func(c *Config) { c.MCPHost = "\xc3" }, "mcp_host: found a string that is not UTF-8, expected string"},
		{"too long", func(c *Config) { c.MCPServers[1].Env = map[string]string{"E": strings.Repeat("x", maxDocumentBytes)} }, "longer than 16777216 bytes"},
	} {
		cfg := testConfig()
		test.change(&cfg)
		p, err := New(cfg)
		if p != nil || !errors.Is(err, ErrBadConfig) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, error %v", test.name, p, err)
		}
	}
	for config, says := range map[string]string{
		`{"port":"secret"}`: "port: found string, expected integer",
		`{"secret-key":1}`:  "unknown key",
		`{`:                 "line 1, column 1",
		``:                  "one strict JSON object",
		"{}\x00":            "line 1, column 3",
	} {
		if _, err := NewJSON([]byte(config)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), `secret"`) {
			t.Errorf("%s: error %v", config, err)
		}
	}
}

// TestServersThatAreNotText: two different byte strings never become the same, and an unrelated entry does no harm.
func TestServersThatAreNotText(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Config)
		reason Reason
	}{
		{"nothing", func(*Config) {}, ReasonInjectedMCP},
		{"unrelated entry", func(c *Config) {
			c.MCPServers[1] = MCPServer{Name: "a\xff", URL: "\xff", Args: []string{"\xfe"}, Env: map[string]string{"\xff": "\xff", "\xfe": "\xff"}}
		}, ReasonInjectedMCP},
		{"name", func(c *Config) { c.MCPServers[0].Name = "kandev\xff" }, ReasonServerNotInjected},
		{"type", func(c *Config) { c.MCPServers[0].Type = "http\xff" }, ReasonServerNotInjected},
		{"url", func(c *Config) { c.MCPServers[0].URL += "\xff" }, ReasonServerNotInjected},
		{"command", func(c *Config) { c.MCPServers[0].Command = "\xff" }, ReasonServerNotInjected},
		{"arg", func(c *Config) { c.MCPServers[0].Args = []string{""} }, ReasonServerNotInjected},
		{"env", func(c *Config) { c.MCPServers[0].Env = map[string]string{"\xff": ""} }, ReasonServerNotInjected},
		{"headers", func(c *Config) { c.MCPServers[0].Headers = map[string]string{"": ""} }, ReasonServerNotInjected},
		{"empty ones", func(c *Config) {
			c.MCPServers[0].Args, c.MCPServers[0].Env, c.MCPServers[0].Headers = []string{}, map[string]string{}, map[string]string{}
		}, ReasonInjectedMCP},
		{"marker", func(c *Config) { c.InjectedKandevMCP = false }, ReasonProvenanceMissing},
		{"port", func(c *Config) { c.Port = -1 }, ReasonProvenanceMissing},
		{"blanket", func(c *Config) { c.AutoApprovePermissions = true }, ReasonBlanketApproval},
		{"host", func(c *Config) { c.MCPHost, c.MCPServers[0].URL = "::1", "http://[::1]:41000/mcp" }, ReasonInjectedMCP},
		{"agent", func(c *Config) { c.AgentType = "" }, ReasonInjectedMCP},
	} {
		cfg := testConfig()
		test.change(&cfg)
		p, err := New(cfg)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		req := testRequest()
		req.ToolMeta = nil
		if d := p.Decide(req); d.Reason != test.reason {
			t.Errorf("%s: %s", test.name, d)
		}
		p.Close()
	}
}

// TestNUL: cut at a NUL, these documents would be good ones.
func TestNUL(t *testing.T) {
	config := testConfig().appendJSON(nil)
	for _, test := range []struct {
		name, frame, config, want string
	}{
		{"none", testFrame, string(config), testSelected},
		{"frame", testFrame + "\x00", string(config), `{"decision":"ask","reason":"malformed_frame"}`},
		{"frame, then more", testFrame + "\x00 {}", string(config), `{"decision":"ask","reason":"malformed_frame"}`},
		{"config", testFrame, string(config) + "\x00", `{"decision":"ask","reason":"malformed_config"}`},
		{"both", "\x00", "\x00", `{"decision":"ask","reason":"malformed_config"}`},
		{"hook", "{}\x00", reviewerConfig, `{"decision":"deny","reason":"malformed_request","status":400}`},
		{"reviewer's config", "{}", reviewerConfig + "\x00", `{"decision":"ask","reason":"malformed_config"}`},
	} {
		if got := DecideJSON([]byte(test.frame), []byte(test.config)).String(); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
		if e, err := ExplainJSON([]byte(test.frame), []byte(test.config)); err != nil || e.Decision.String() != test.want {
			t.Errorf("%s: %s, error %v", test.name, e, err)
		}
	}
	if d := newTestPolicy(t).DecideFrame([]byte(testFrame + "\x00")); d.Reason != ReasonMalformedFrame {
		t.Errorf("compiled: %s", d)
	}
}

// TestLimits: at 16 MiB a frame is good, beyond it is malformed.
func TestLimits(t *testing.T) {
	p := newTestPolicy(t)
	config := testConfig().appendJSON(nil)
	pad := func(n int) []byte { return []byte(testFrame + strings.Repeat(" ", n-len(testFrame))) }
	for n, reason := range map[int]Reason{maxDocumentBytes: ReasonInjectedMCP, maxDocumentBytes + 1: ReasonMalformedFrame} {
		if d := p.DecideFrame(pad(n)); d.Reason != reason {
			t.Errorf("%d bytes: %s", n, d)
		}
		if d := DecideJSON(pad(n), config); d.Reason != reason {
			t.Errorf("%d bytes, one-shot: %s", n, d)
		}
		req := testRequest()
		meta := readMetadata(req.ToolMeta)
		req.Title += strings.Repeat("x", n-int(encodedSize(&req, &meta)))
		if d := p.Decide(req); d.Reason != reason {
			t.Errorf("%d bytes, decoded: %s", n, d)
		}
	}
}

// TestOwnMemory: the decision on a frame survives whatever happens to the frame, and to its own response.
func TestOwnMemory(t *testing.T) {
	id := strings.Repeat("an option's id ", 1000) // larger than the stack's buffer
	for _, frame := range []string{testFrame, strings.ReplaceAll(testFrame, `"yes"`, `"`+id+`"`)} {
		b := []byte(frame)
		d := newTestPolicy(t).DecideFrame(b)
		want := strings.ReplaceAll(testSelected, `"yes"`, `"`+d.OptionID+`"`)
		clear(b)
		if d.OptionID != "yes" && d.OptionID != id || d.String() != want {
			t.Errorf("%s", d)
		}
	}
	p, err := NewJSON([]byte(reviewerConfig))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := p.DecideFrame([]byte(`{"session_id":"a","tool_name":"mcp__kcap-review__get_pr_summary"}`))
	if d.Kind != Allow || len(d.Response) == 0 {
		t.Fatalf("%s", d)
	}
	clear(append(d.Response, "more"...)[:len(d.Response)])
	clear(d.Response)
	if d.Server != "kcap-review" || d.Tool != "get_pr_summary" {
		t.Errorf("%s", d)
	}
}

// TestVerdictsThatDontFit: what an engine with a fault could answer is an internal error, and never an approval.
func TestVerdictsThatDontFit(t *testing.T) {
	req := testRequest()
	selected := verdict{kind: uint8(Select), optionKind: 1, reason: 20, optionIndex: 1, serverLen: 6, toolLen: 10}
	meta := readMetadata(req.ToolMeta)
	var d Decision
	if !req.answer(&d, &selected, &meta) || d.String() != testSelected {
		t.Fatalf("%s", d)
	}
	for name, change := range map[string]func(*verdict){
		"kind":        func(v *verdict) { v.kind = 5 },
		"option kind": func(v *verdict) { v.optionKind = 5 },
		"reason":      func(v *verdict) { v.reason = 999 },
		"index":       func(v *verdict) { v.optionIndex = 2 },
		"no index":    func(v *verdict) { v.optionIndex = 1<<32 - 1 },
		"server":      func(v *verdict) { v.serverLen = 7 },
		"tool":        func(v *verdict) { v.toolLen = 1<<32 - 1 },
	} {
		v := selected
		change(&v)
		if req.answer(&d, &v, &meta) {
			t.Errorf("%s: taken", name)
		}
	}
	v := verdict{kind: uint8(Select), optionIDLen: 1<<32 - 1, serverLen: 1}
	if v.answerWith(&d, []byte("yes")) {
		t.Error("lengths: taken")
	}
}
