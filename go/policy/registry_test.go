//go:build !kandev_policy_none

package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	testSummary = `{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}`
	testShell   = `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"id"}}`
)

func testRegistry(t testing.TB, cfg RegistryConfig) (*Registry, Token) {
	t.Helper()
	if Engine() == "none" {
		t.Skip("no engine")
	}
	r, shared, err := NewRegistry(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, shared
}

func testMint(t testing.TB, r *Registry, allowlist ...string) Minted {
	t.Helper()
	m, err := r.Mint("codex", allowlist)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRegistryFromMintToRevocation(t *testing.T) {
	r, shared := testRegistry(t, RegistryConfig{})
	m := testMint(t, r, " KCAP-Review ", "kcap-review", "kcap-flow-result")
	if m.Reviewer != 1 || !slices.Equal(m.Servers, []string{"kcap-review"}) {
		t.Errorf("%d %q", m.Reviewer, m.Servers)
	}
	urlSafe := regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	for _, token := range []Token{shared, m.Token} {
		if !urlSafe.MatchString(token.Expose()) {
			t.Error("a token of another form")
		}
	}
	check := func(token, vendor, body, want string, wantReviewer uint64, wantOK bool) {
		t.Helper()
		d, reviewer, ok := r.Decide(token, vendor, []byte(body))
		if got := d.Kind.String() + " " + string(d.Reason); got != want || reviewer != wantReviewer || ok != wantOK {
			t.Errorf("%s, %d, %v", got, reviewer, ok)
		}
		if reviewer, ok := r.Find(token, vendor); reviewer != wantReviewer || ok != wantOK {
			t.Errorf("found %d, %v", reviewer, ok)
		}
	}
	check(m.Token.Expose(), "codex", testSummary, "allow allowlisted_server", 1, true)
	check(m.Token.Expose(), "codex", testShell, "deny bare_tool_denied", 1, true)
	check(m.Token.Expose(), "codex", "", "deny malformed_request", 1, true)
	check(m.Token.Expose(), "claude", testSummary, "deny engine_unavailable", 0, false)
	check(shared.Expose(), "codex", testShell, "ask interactive_prompt", 0, true)
	check(shared.Expose(), "claude", testShell, "ask interactive_prompt", 0, true)
	check("", "codex", testSummary, "deny engine_unavailable", 0, false)
	check(strings.Repeat("A", 43), "codex", testSummary, "deny engine_unavailable", 0, false)

	r.Revoke("http://127.0.0.1:1/" + m.Token.Expose())
	r.Revoke(m.Token.Expose())
	r.Revoke(shared.Expose())
	r.Revoke("")
	check(m.Token.Expose(), "codex", testSummary, "deny engine_unavailable", 0, false)
	check(shared.Expose(), "codex", testShell, "ask interactive_prompt", 0, true)

	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	check(shared.Expose(), "codex", testShell, "deny engine_unavailable", 0, false)
	if _, err := r.Mint("codex", nil); !errors.Is(err, ErrNoEngine) {
		t.Error(err)
	}
	var none *Registry
	none.Revoke("x")
	if _, ok := none.Find("x", "codex"); ok || none.Close() != nil {
		t.Error("a nil registry")
	}
}

func TestRegistryErrors(t *testing.T) {
	r, _ := testRegistry(t, RegistryConfig{EnabledVendors: []string{"claude"}})
	for _, c := range []struct {
		vendor    string
		allowlist []string
		want      string
	}{
		{"codex", nil, `policy: refused: the vendor "codex" is not enabled`},
		{"gemini", nil, `policy: refused: the vendor "gemini" is unknown`},
		{"claude", []string{"kcap-review", "kcap-flows"}, `policy: refused: allowlist[1]: "kcap-flows" starts flows, so no reviewer may be bound to it`},
		{"claude", []string{"kcap-memory"}, `policy: refused: allowlist[0]: "kcap-memory" is not auto-approvable, so no reviewer may be bound to it`},
		{"claude", []string{"*"}, `policy: refused: allowlist[0]: "*" is no server of the catalog`},
		{"claude", []string{"\xff"}, `policy: refused: allowlist[0]: found a string with a lone surrogate, expected string`},
	} {
		if _, err := r.Mint(c.vendor, c.allowlist); !errors.Is(err, ErrRefused) || err.Error() != c.want {
			t.Errorf("%s %q: %v", c.vendor, c.allowlist, err)
		}
	}
	for _, c := range []struct {
		cfg  RegistryConfig
		want string
	}{
		{RegistryConfig{EnabledVendors: []string{"codex", "x"}}, `policy: bad config: enabled_vendors[1]: expected "codex" or "claude"`},
		{RegistryConfig{ResultChannelScope: "all"}, `policy: bad config: result_channel_scope: expected "any" or "reviewer"`},
		{RegistryConfig{Catalog: json.RawMessage(`{"servers":[]}`)}, `policy: bad config: catalog.result_channel: missing, expected object`},
		{RegistryConfig{Catalog: json.RawMessage(`{},"enabled_vendors":["claude"]`)}, `policy: bad config: catalog: not one strict JSON object`},
		{RegistryConfig{Catalog: json.RawMessage(``)}, `policy: bad config: catalog: not one strict JSON object`},
	} {
		if _, _, err := NewRegistry(c.cfg); !errors.Is(err, ErrBadConfig) || err.Error() != c.want {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	long := make([]string, 5000)
	for i := range long {
		long[i] = "kcap-review"
	}
	if m, err := r.Mint("claude", long); err != nil || len(m.Servers) != 1 {
		t.Error(m, err)
	}
}

// TestRegistryVectors: a token that was minted decides as the reviewer's config of the same content.
func TestRegistryVectors(t *testing.T) {
	if Engine() == "none" {
		t.Skip("no engine")
	}
	compared := 0
	for _, v := range vectors(t) {
		var config struct {
			Vendor, Token string
			Servers       []string
			Scope         string `json:"result_channel_scope"`
			Catalog       json.RawMessage
		}
		if !v.hook() || v.expected(t).Reason == ReasonMalformedConfig || json.Unmarshal(v.config, &config) != nil {
			continue
		}
		if string(config.Catalog) == "null" {
			config.Catalog = nil
		}
		r, shared, err := NewRegistry(RegistryConfig{
			EnabledVendors:     []string{"codex", "claude"},
			ResultChannelScope: config.Scope,
			Catalog:            config.Catalog,
		})
		if err != nil {
			t.Errorf("%s: %v", v.id, err)
			continue
		}
		token := shared
		if config.Token == "reviewer" {
			m, err := r.Mint(config.Vendor, config.Servers)
			if err != nil {
				t.Errorf("%s: %v", v.id, err)
				continue
			}
			token = m.Token
		}
		d, _, ok := r.Decide(token.Expose(), config.Vendor, v.input)
		if got := decisionJSON(t, d); !ok || got != v.expect {
			t.Errorf("%s:\n got %s\nwant %s", v.id, got, v.expect)
		}
		r.Close()
		compared++
	}
	if compared < 450 {
		t.Errorf("compared only %d vectors", compared)
	}
}

func TestRegistryConcurrently(t *testing.T) {
	r, _ := testRegistry(t, RegistryConfig{})
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 50 {
				m, err := r.Mint("codex", []string{"kcap-review"})
				if err != nil {
					t.Error(err)
					return
				}
				if d, reviewer, ok := r.Decide(m.Token.Expose(), "codex", []byte(testSummary)); d.Kind != Allow || reviewer != m.Reviewer || !ok {
					t.Error(d, reviewer, ok)
				}
				r.Revoke(m.Token.Expose())
				if _, _, ok := r.Decide(m.Token.Expose(), "codex", []byte(testSummary)); ok {
					t.Error("decided after the revocation")
				}
			}
		}()
	}
	group.Wait()
}

// TestRegistryMemory: a registry that is forgotten is freed.
func TestRegistryMemory(t *testing.T) {
	if Engine() == "none" {
		t.Skip("no engine")
	}
	settle := func(limit int64) bool {
		for range 100 {
			runtime.GC()
			if liveHandles.Load() <= limit {
				return true
			}
		}
		return false
	}
	settle(0)
	before := liveHandles.Load()
	for i := range 20 {
		r, _, err := NewRegistry(RegistryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			r.Close()
		}
	}
	if !settle(before) {
		t.Errorf("%d handles before, %d after", before, liveHandles.Load())
	}
}

func TestTokenIsRedacted(t *testing.T) {
	secret := "sentinel-token"
	token := Token{&secret}
	hidden := struct{ token Token }{token}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "token", token, "minted", Minted{Token: token})
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "token", token, "hidden", hidden)
	text, err := json.Marshal(map[string]any{"token": token, "minted": Minted{Token: token}})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		log.WriteString(fmt.Sprintf(verb, token) + fmt.Sprintf(verb, hidden) + fmt.Sprintf(verb, Minted{Token: token}))
	}
	log.Write(text)
	if got := log.String(); strings.Contains(got, secret) || strings.Contains(got, fmt.Sprintf("%x", secret)) {
		t.Error(got)
	}
	if token.Expose() != secret || (Token{}).Expose() != "" {
		t.Error("Expose")
	}
}

func TestUnclassifiedTools(t *testing.T) {
	if Engine() == "none" {
		if _, err := UnclassifiedTools(nil, "kcap-review", []byte(`{"tools":[]}`)); !errors.Is(err, ErrNoEngine) {
			t.Error(err)
		}
		return
	}
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf(`{"name":"write_%d_%s"}`, i, strings.Repeat("x", 20)))
	}
	names, err := UnclassifiedTools(nil, "kcap-review", []byte(`{"tools":[{"name":"get_pr_summary"},`+strings.Join(many, ",")+`]}`))
	if err != nil || len(names) != 200 || !strings.HasPrefix(names[199], "write_199_x") {
		t.Errorf("%d names, %v", len(names), err)
	}
	if names, err := UnclassifiedTools(nil, "kcap-review", []byte(`{"tools":[{"name":"get_pr_summary"}]}`)); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
	for _, c := range []struct {
		catalog      json.RawMessage
		server, list string
		want         error
		text         string
	}{
		{nil, "x", `{"tools":[]}`, ErrRefused, `policy: refused: "x" is no server of the catalog`},
		{nil, "kcap-review", `{}`, ErrRefused, `policy: refused: not the result of an MCP tools/list request`},
		{nil, "kcap-review", `{"tools":[],"nextCursor":"a"}`, ErrRefused, `policy: refused: the tools/list result has a nextCursor, so it is not the whole list`},
		{json.RawMessage(`{}`), "kcap-review", `{"tools":[]}`, ErrBadConfig, `policy: bad config: servers: missing, expected array of objects`},
		{json.RawMessage{}, "kcap-review", `{"tools":[]}`, ErrBadConfig, `policy: bad config: the config is not one strict JSON object: line 1, column 1`},
	} {
		names, err := UnclassifiedTools(c.catalog, c.server, []byte(c.list))
		if !errors.Is(err, c.want) || err.Error() != c.text || names != nil {
			t.Errorf("%s: %v, %v", c.text, names, err)
		}
	}
}
