package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/kandev/kandev-policy/go/examples/processmanager/acpclient"
	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/policy"
)

// sentinel marks everything that must not come out. What may come out (the option's id, the server and the tool) has none.
const sentinel = "SENTINEL"

// secretFrame fills every member of a frame that may hold anything.
func secretFrame(name string) string {
	return `{"sessionId":"SENTINEL-session","_meta":{"SENTINEL-meta-k":"SENTINEL-meta-v"},"SENTINEL-top":1,
		"toolCall":{"toolCallId":"SENTINEL-call","name":"` + name + `","title":"SENTINEL-title","kind":"SENTINEL-kind",
		"status":"pending","rawInput":{"SENTINEL-arg":"SENTINEL-value"},"rawOutput":"SENTINEL-out",
		"content":[{"type":"content","content":{"type":"text","text":"SENTINEL-text"}}],"locations":[{"path":"/SENTINEL"}],
		"_meta":{"SENTINEL-meta-m":"SENTINEL-meta-n","claudeCode":{"toolName":"` + name + `","SENTINEL-meta-o":"SENTINEL-meta-p",
		"mcpServer":{"name":"kandev","source":"dynamic","SENTINEL-meta-q":"SENTINEL-meta-r"}}}},
		"options":[{"optionId":"no","name":"SENTINEL-no","kind":"reject_once","_meta":{"SENTINEL-meta-s":"SENTINEL-meta-t"}},
		{"optionId":"yes","name":"SENTINEL-yes","kind":"allow_once"}]}`
}

func secretServers(port int) []policy.MCPServer {
	return []policy.MCPServer{
		{Name: "kandev", Type: "http", URL: fmt.Sprintf("http://localhost:%d/mcp", port)},
		{
			Name: "other", Type: "SENTINEL-type", URL: "http://SENTINEL/url", Command: "SENTINEL-command",
			Args: []string{"SENTINEL-arg"}, Env: map[string]string{"SENTINEL-env": "SENTINEL-value"},
			Headers: map[string]string{"SENTINEL-header": "SENTINEL-value"},
		},
	}
}

func clean(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.Index(text, sentinel); i >= 0 {
		t.Errorf("%s lets out %q", what, text[i:min(len(text), i+40)])
	}
}

// printed is a value in every way in which a log could print it.
func printed(t *testing.T, what string, value any) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		clean(t, what+" "+verb, fmt.Sprintf(verb, value))
	}
	clean(t, what+" Print", fmt.Sprint(value))
	var text, object bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", value)
	slog.New(slog.NewJSONHandler(&object, nil)).Info("x", "v", value)
	clean(t, what+" slog text", text.String())
	clean(t, what+" slog JSON", object.String())
	if text.Len() == 0 || object.Len() == 0 {
		t.Fatal("nothing was logged")
	}
}

// What the policy takes and gives, printed in every way.
func TestNoSecretIsPrinted(t *testing.T) {
	cfg := policy.Config{
		AgentType: "claude-acp", Port: 43210, MCPServers: secretServers(43210), InjectedKandevMCP: true,
	}
	title, tool := "SENTINEL-title", "mcp__kandev__update_task_plan_kandev"
	req := policy.Request{
		ToolName: &tool, ToolMeta: map[string]any{"SENTINEL": "SENTINEL", "claudeCode": map[string]any{"toolName": title}},
		Title: title, Kind: "SENTINEL-kind", Options: []policy.Option{{OptionID: "yes", Name: "SENTINEL-yes", Kind: "allow_once"}},
	}
	free := cfg
	free.AgentType, free.MCPHost = "SENTINEL-agent", "SENTINEL-host"
	printed(t, "Config", free)
	printed(t, "Option", policy.Option{OptionID: "yes", Name: "SENTINEL-name", Kind: "SENTINEL-kind"})
	printed(t, "Config", cfg)
	printed(t, "*Config", &cfg)
	printed(t, "MCPServer", cfg.MCPServers[1])
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		clean(t, "[]MCPServer "+verb, fmt.Sprintf(verb, cfg.MCPServers))
	}
	printed(t, "Request", req)
	printed(t, "*Request", &req)
	printed(t, "Option", req.Options[0])
	printed(t, "PermissionRequest", &acpclient.PermissionRequest{
		Title: title, Kind: title, ToolName: &title, ToolMeta: req.ToolMeta, RawInput: map[string]any{"SENTINEL": "SENTINEL"},
		Params: []byte(secretFrame("x")),
	})

	p, err := policy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	printed(t, "Policy", p)
	frames := map[string]string{
		"select":    secretFrame("mcp__kandev__update_task_plan_kandev"),
		"other":     secretFrame("mcp__other__search"),
		"malformed": secretFrame("mcp__kandev__x") + "SENTINEL",
		"rival":     strings.Replace(secretFrame("mcp__kandev__x"), `"title"`, `"Title":"SENTINEL","title"`, 1),
		"not mcp":   secretFrame("SENTINEL-tool"),
		"ambiguous": secretFrame("mcp__SENTINEL__a__b"),
	}
	configs := map[string]string{
		"good":     configJSON(t, cfg),
		"unknown":  `{"SENTINEL-key":"SENTINEL"}`,
		"wrong":    `{"port":"SENTINEL"}`,
		"policy":   `{"policy":"SENTINEL"}`,
		"servers":  `{"mcp_servers":[{"name":"kandev","url":"SENTINEL","url":"SENTINEL"}]}`,
		"no JSON":  `{"agent_type":"SENTINEL`,
		"no entry": `{"mcp_servers":["SENTINEL"]}`,
	}
	kinds := map[policy.Kind]int{}
	for name, frame := range frames {
		d := p.DecideFrame([]byte(frame))
		kinds[d.Kind]++
		printed(t, name+" Decision", d)
		encoded, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		clean(t, name+" JSON", string(encoded))
		for which, config := range configs {
			printed(t, name+" DecideJSON", policy.DecideJSON([]byte(frame), []byte(config)))
			// The config named "unknown" has a key of the user's own making; errors name keys, which are the host's.
			explained, err := policy.ExplainJSON([]byte(frame), []byte(config))
			if err != nil && which != "unknown" {
				clean(t, name+" error", err.Error())
			}
			printed(t, name+" Explanation", explained)
			encoded, err := json.Marshal(explained)
			if err != nil {
				t.Fatal(err)
			}
			clean(t, name+" trace", string(encoded))
		}
	}
	if kinds[policy.Select] != 1 || kinds[policy.Ask] != len(frames)-1 {
		t.Fatalf("the frames came out as %v; this test needs one that is selected", kinds)
	}
	bad := cfg
	bad.AgentType = "SENTINEL\xff"
	if _, err := policy.New(bad); err == nil {
		t.Error("a config that is not UTF-8 was taken")
	} else {
		printed(t, "error of New", err)
		for err := err; err != nil; err = errors.Unwrap(err) {
			printed(t, "wrapped error", err)
		}
	}
}

func configJSON(t *testing.T, cfg policy.Config) string {
	t.Helper()
	raw, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(raw), `{`, `{"injected_kandev_mcp":true,`, 1)
}

// What the host logs at its most talkative level, over a session with an automatic approval, a pending request, a line
// that is no JSON and a request that can't be decoded; and what it announces holds no metadata.
func TestNoSecretIsLoggedByTheHost(t *testing.T) {
	for _, decoded := range []bool{false, true} {
		plan := capture{Frame: oneLine(secretFrame("mcp__kandev__update_task_plan_kandev")), ID: "-v1/"}
		x := open(t, plan, setup{decoded: decoded, servers: []config.McpServerConfig{{
			Name: "SENTINEL-name", Type: "stdio", Command: "SENTINEL-command", Args: []string{"SENTINEL"},
			Env: map[string]string{"SENTINEL-env": "SENTINEL"}, Headers: map[string]string{"SENTINEL-header": "SENTINEL"},
		}}})
		x.approved(plan, "yes")
		other := capture{Frame: oneLine(secretFrame("mcp__other__search"))}
		x.pending(other, "no")
		x.agent.wire.line(`SENTINEL this is no JSON`)
		x.agent.wire.line(`{"SENTINEL":"neither id nor method"}`)
		x.agent.wire.line(`{"jsonrpc":"2.0","method":"session/update","params":"SENTINEL"}`)
		x.agent.wire.line(`{"jsonrpc":"2.0","id":99,"method":"session/request_permission","params":{"options":"SENTINEL"}}`)
		x.agent.wire.line(`{"jsonrpc":"2.0","id":98,"method":"SENTINEL/method"}`)
		x.pending(other, "no") // and so everything before has been dealt with

		logs := x.logs.String()
		clean(t, "the host's log", logs)
		for _, want := range []string{"approved automatically", "stays with the user", "failed to parse"} {
			if !strings.Contains(logs, want) {
				t.Errorf("the log has no %q:\n%s", want, logs)
			}
		}
		for _, event := range x.seen("permission_request") {
			raw, err := json.Marshal(event)
			if err != nil {
				t.Fatal(err)
			}
			for _, meta := range []string{"SENTINEL-meta-m", "SENTINEL-meta-n", "SENTINEL-meta-o", "SENTINEL-meta-p", "SENTINEL-meta-s", "claudeCode", "_meta"} {
				if strings.Contains(string(raw), meta) {
					t.Errorf("the announcement holds metadata (%s): %s", meta, raw)
				}
			}
		}
	}
}

// zap takes the three fields as they are.
func TestFieldsForZap(t *testing.T) {
	p, err := policy.New(policy.Config{AgentType: "claude-acp", Port: 43210, MCPServers: secretServers(43210), InjectedKandevMCP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := p.DecideFrame([]byte(secretFrame("mcp__kandev__update_task_plan_kandev")))
	var out bytes.Buffer
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"}), zapcore.AddSync(&out), zap.InfoLevel))
	logger.Info("permission approved automatically",
		zap.String("reason", string(d.Reason)), zap.String("tool", d.Tool), zap.String("option_kind", d.OptionKind))
	want := `{"msg":"permission approved automatically","reason":"injected_mcp","tool":"update_task_plan_kandev","option_kind":"allow_once"}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Fatalf("zap wrote %s, want %s", got, want)
	}
}

func oneLine(text string) string { return strings.NewReplacer("\n", "", "\t", "").Replace(text) }
