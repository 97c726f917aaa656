//go:build !kandev_policy_none

package policy_test

import (
	"expvar"
	"fmt"
	"log/slog"
	"os"

	"github.com/kandev/kandev-policy/go/policy"
)

// The host injects its server, says so, and answers what is proven to go there.
func Example() {
	p, err := policy.New(policy.Config{
		AgentType: "claude-acp",
		Port:      41000,
		MCPServers: []policy.MCPServer{
			{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"},
			{Name: "search", Type: "http", URL: "https://mcp.example.test/mcp"},
		},
		InjectedKandevMCP: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()

	for _, name := range []string{"mcp__kandev__list_tasks", "mcp__search__web", "Bash"} {
		d := p.Decide(policy.Request{
			ToolName: &name,
			Options: []policy.Option{
				{OptionID: "allow", Name: "Allow", Kind: "allow_once"},
				{OptionID: "reject", Name: "Reject", Kind: "reject_once"},
			},
		})
		switch d.Kind {
		case policy.Select:
			fmt.Println("answer with", d.OptionID)
		case policy.Cancel:
			fmt.Println("answer cancelled")
		default:
			fmt.Println("prompt:", d.Reason)
		}
	}
	// Output:
	// answer with allow
	// prompt: other_server
	// prompt: not_mcp_tool
}

func ExampleNew_badConfig() {
	_, err := policy.New(policy.Config{AgentType: "claude-acp\xff"})
	fmt.Println(err)
	// Output: policy: bad config: agent_type: found a string that is not UTF-8, expected string
}

func ExamplePolicy_Decide() {
	p, _ := policy.New(policy.Config{
		AgentType:         "claude-acp",
		Port:              41000,
		MCPServers:        []policy.MCPServer{{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"}},
		InjectedKandevMCP: true,
	})
	defer p.Close()

	// The agent says itself that a server of the repository serves the call.
	fmt.Println(p.Decide(policy.Request{
		ToolMeta: map[string]any{"claudeCode": map[string]any{
			"toolName":  "mcp__kandev__list_tasks",
			"mcpServer": map[string]any{"name": "kandev", "source": "project"},
		}},
		Options: []policy.Option{{OptionID: "allow", Kind: "allow_once"}},
	}))
	// Output: {"decision":"ask","reason":"untrusted_server_source","server":"kandev","tool":"list_tasks"}
}

func ExamplePolicy_DecideFrame() {
	p, _ := policy.New(policy.Config{
		Port:              41000,
		MCPServers:        []policy.MCPServer{{Name: "kandev", Type: "sse", URL: "http://localhost:41000/sse"}},
		InjectedKandevMCP: true,
	})
	defer p.Close()

	d := p.DecideFrame([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{
		"toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks"},
		"options":[{"optionId":"yes","name":"Yes","kind":"allow_always"}]}}`))
	fmt.Println(d.Kind, d.OptionID, d.Tool)
	// Output: select yes list_tasks
}

func ExampleDecideJSON() {
	d := policy.DecideJSON(
		[]byte(`{"session_id":"a1","tool_name":"Bash","tool_input":{"command":"make"}}`),
		[]byte(`{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}`))
	fmt.Println(d.Kind, d.Reason, d.Status)
	// Output: deny bare_tool_denied 200
}

func ExampleExplainJSON() {
	e, err := policy.ExplainJSON(
		[]byte(`{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`),
		[]byte(`{"agent_type":"claude-acp","port":41000}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Decision.Kind, e.Detail)
	for _, step := range e.Trace {
		fmt.Println(step.Step, step.Outcome, step.Facts)
	}
	// Output:
	// ask The host has not stated that it injected its MCP server at a usable port.
	// config passed map[]
	// document passed map[shape:params]
	// method passed map[]
	// decision_path passed map[protocol:v1]
	// options passed map[]
	// blanket_approval passed map[approval:off]
	// identity passed map[source:name]
	// qualified_name passed map[]
	// provenance stopped map[reason:provenance_missing]
}

// A host counts what it decides and publishes the counts, here under /debug/vars.
func ExampleCounters() {
	p, _ := policy.New(policy.Config{
		Port:              41000,
		MCPServers:        []policy.MCPServer{{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"}},
		InjectedKandevMCP: true,
	})
	defer p.Close()

	var decisions policy.Counters
	expvar.Publish("permission_decisions", &decisions)

	for _, name := range []string{"mcp__kandev__list_tasks", "Bash", "mcp__kandev__list_tasks"} {
		d := p.Decide(policy.Request{ToolName: &name, Options: []policy.Option{{OptionID: "yes", Kind: "allow_once"}}})
		decisions.Count(d)
	}
	for reason, count := range decisions.All() {
		if count > 0 {
			fmt.Println(reason, count)
		}
	}
	fmt.Println(expvar.Get("permission_decisions").String() == decisions.String())
	// Output:
	// not_mcp_tool 1
	// injected_mcp 2
	// true
}

// A config file of the host's own, as the command line reads it. The marker in it is taken for the host's word.
func ExampleNewJSON() {
	p, err := policy.NewJSON([]byte(`{"port":41000,"injected_kandev_mcp":true,
		"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()

	d := p.DecideFrame([]byte(`{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`))
	fmt.Println(d.Kind, d.OptionID)

	_, err = policy.NewJSON([]byte(`{"port":"41000"}`))
	fmt.Println(err)
	// Output:
	// select yes
	// policy: bad config: port: found string, expected integer
}

// A log line says reason, tool and the option's kind, whatever else a decision holds.
func ExampleDecision_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	d := policy.Decision{Kind: policy.Select, Reason: policy.ReasonInjectedMCP, OptionID: "yes", OptionKind: policy.OptionKindAllowOnce, Server: "kandev", Tool: "list_tasks"}
	log.Info("permission", "policy", d)
	// Output: level=INFO msg=permission policy.decision=select policy.reason=injected_mcp policy.option_kind=allow_once policy.tool=list_tasks
}
