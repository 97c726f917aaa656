//go:build !kandev_policy_none

package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// fuzzConfigs are sessions that a fuzzer chooses from.
func fuzzConfigs() []Config {
	other := testConfig()
	other.AgentType = "codex-acp"
	blanket := testConfig()
	blanket.AutoApprovePermissions = true
	unmarked := testConfig()
	unmarked.InjectedKandevMCP = false
	conflict := testConfig()
	conflict.MCPServers = append(slices.Clone(conflict.MCPServers), MCPServer{Name: "kandev", Command: "x"})
	ipv6 := testConfig()
	ipv6.MCPHost = "::1"
	ipv6.MCPServers = []MCPServer{{Name: "kandev", Type: "sse", URL: "http://[::1]:41000/sse"}}
	return []Config{testConfig(), other, blanket, unmarked, conflict, ipv6, {}}
}

// fuzzPolicies are those configs compiled, with their JSON.
func fuzzPolicies(f *testing.F) (policies []*Policy, configs [][]byte) {
	if Engine() == "none" {
		f.Skip("this build has no engine")
	}
	for _, config := range fuzzConfigs() {
		policy, err := New(config)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { _ = policy.Close() })
		policies, configs = append(policies, policy), append(configs, config.appendJSON(nil))
	}
	return policies, configs
}

// checkDecision holds for every decision, whatever it was made from.
func checkDecision(t *testing.T, d Decision) []byte {
	t.Helper()
	out, err := d.MarshalJSON()
	if err != nil || !json.Valid(out) {
		t.Fatalf("MarshalJSON: %s, %v", out, err)
	}
	var read struct {
		Decision, Reason string
		OptionID         string `json:"option_id"`
		OptionKind       string `json:"option_kind"`
		Server, Tool     string
		Status           int
		Response         json.RawMessage
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	back := Decision{
		Reason: Reason(read.Reason), OptionID: read.OptionID, OptionKind: read.OptionKind,
		Server: read.Server, Tool: read.Tool, Status: read.Status, Response: read.Response,
	}
	for kind := Ask; kind <= Deny; kind++ {
		if kind.String() == read.Decision {
			back.Kind = kind
		}
	}
	if again, _ := back.MarshalJSON(); !bytes.Equal(again, out) {
		t.Fatalf("%s\nread and written again is\n%s", out, again)
	}
	return out
}

// A compiled policy, the one-shot call and the decoded request always give the same bytes.
func FuzzDecideFrame(f *testing.F) {
	policies, configs := fuzzPolicies(f)
	for choice := range configs {
		f.Add(byte(choice), []byte(testFrame))
	}
	for _, v := range vectors(f) {
		if len(v.input) < 4096 && !v.hook() {
			f.Add(byte(0), v.input)
		}
	}
	f.Fuzz(func(t *testing.T, choice byte, frame []byte) {
		n := int(choice) % len(policies)
		given := bytes.Clone(frame)
		d := policies[n].DecideFrame(frame)
		if !bytes.Equal(given, frame) {
			t.Fatal("the frame was written to")
		}
		out := checkDecision(t, d)
		clear(frame) // results never alias it
		if again := checkDecision(t, d); !bytes.Equal(again, out) {
			t.Fatalf("%s became %s with the frame", out, again)
		}
		if oneShot := checkDecision(t, DecideJSON(given, configs[n])); !bytes.Equal(oneShot, out) {
			t.Fatalf("DecideFrame: %s\nDecideJSON: %s", out, oneShot)
		}
		if request, why := requestOf(given); why == "" {
			if decoded := checkDecision(t, policies[n].Decide(request)); !bytes.Equal(decoded, out) {
				t.Fatalf("DecideFrame: %s\nDecide: %s", out, decoded)
			}
		}
		if d.Kind == Select && d.Reason == ReasonInjectedMCP && !fuzzConfigs()[n].InjectedKandevMCP {
			t.Fatal("an approval without the host's marker")
		}
	})
}

func FuzzDecideJSON(f *testing.F) {
	if Engine() == "none" {
		f.Skip("this build has no engine")
	}
	f.Add([]byte(testFrame), testConfig().appendJSON(nil))
	f.Add([]byte(`{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}`), []byte(reviewerConfig))
	f.Add([]byte("\x00"), []byte("{}\x00"))
	f.Fuzz(func(t *testing.T, frame, config []byte) {
		d := DecideJSON(frame, config)
		out := checkDecision(t, d)
		explanation, err := ExplainJSON(frame, config)
		if err != nil {
			t.Fatal(err)
		}
		if explained := checkDecision(t, explanation.Decision); !bytes.Equal(explained, out) {
			t.Fatalf("decided %s\nexplained %s", out, explained)
		}
		policy, err := NewJSON(config)
		if err != nil {
			if d.Reason != ReasonMalformedConfig {
				t.Fatalf("%v, but decided %s", err, out)
			}
			return
		}
		defer policy.Close()
		if compiled := checkDecision(t, policy.DecideFrame(frame)); !bytes.Equal(compiled, out) {
			t.Fatalf("one shot %s\ncompiled %s", out, compiled)
		}
	})
}

// What a host decoded is decided as the frame that says the same.
func FuzzDecideRequest(f *testing.F) {
	policies, _ := fuzzPolicies(f)
	const name = "mcp__kandev__list_tasks"
	f.Add(byte(0), true, name, "List tasks", "other", `{"claudeCode":{"toolName":"mcp__kandev__list_tasks"}}`, "yes", "allow_once", "no", "reject_once", byte(2))
	f.Add(byte(1), true, name, "", "", ``, "yes", "Allow_Always ", "yes", "x", byte(2))
	f.Add(byte(0), false, "", name, "other", `{"claudeCode":{"mcpServer":{"name":"kandev","source":"dynamic"}}}`, "\x00", "allow_once", "", "", byte(1))
	f.Add(byte(0), false, "", name, "other", `{"claudeCode":{"mcpServer":{"name":1},"toolname":"x"}}`, "y", "allow_once", "", "", byte(1))
	f.Fuzz(func(t *testing.T, choice byte, named bool, name, title, kind, meta, id1, kind1, id2, kind2 string, count byte) {
		policy := policies[int(choice)%len(policies)]
		request := Request{Title: title, Kind: kind}
		if named {
			request.ToolName = &name
		}
		_ = json.Unmarshal([]byte(meta), &request.ToolMeta) // what is no object is no metadata
		offered := []Option{{OptionID: id1, Kind: kind1}, {OptionID: id2, Kind: kind2}, {OptionID: id1, Name: "x", Kind: kind2}}
		request.Options = offered[:int(count)%(len(offered)+1)]

		d := policy.Decide(request)
		out := checkDecision(t, d)
		if d.Kind == Select && !slices.ContainsFunc(request.Options, func(o Option) bool { return o.OptionID == d.OptionID }) {
			t.Fatalf("%s was not offered", out)
		}
		// JSON can't carry what is no UTF-8.
		texts := []string{title, kind}
		if named {
			texts = append(texts, name)
		}
		for _, option := range request.Options {
			texts = append(texts, option.OptionID, option.Kind)
		}
		if !utf8.ValidString(strings.Join(texts, " ")) {
			if d.Kind == Select && d.Reason == ReasonInjectedMCP {
				t.Fatalf("%s for what is no UTF-8", out)
			}
			return
		}
		call := map[string]any{"title": title, "kind": kind, "_meta": request.ToolMeta}
		if named {
			call["name"] = name
		}
		options := []any{}
		for _, option := range request.Options {
			options = append(options, map[string]any{"optionId": option.OptionID, "kind": option.Kind})
		}
		frame, err := json.Marshal(map[string]any{"toolCall": call, "options": options})
		if err != nil {
			t.Fatal(err)
		}
		if framed := checkDecision(t, policy.DecideFrame(frame)); !bytes.Equal(framed, out) {
			t.Fatalf("decoded: %s\nframe:   %s\n%s", out, framed, frame)
		}
	})
}
