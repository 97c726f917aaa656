package main

import (
	"encoding/json"
	"strings"

	"github.com/kandev/kandev-policy/go/bench/baseline"
	"github.com/kandev/kandev-policy/go/policy"
)

// frame returns a real frame's shape with about n bytes of prose in the raw input. It is the one of the baseline's own
// benchmarks.
func frame(n int) []byte {
	prose := strings.Repeat("Rewrite the plan so that step three comes before step two. ", n/58+1)[:n]
	return []byte(`{"toolCall":{"toolCallId":"toolu_00_508mz85meo","name":"mcp__kandev__update_task_plan_kandev","status":"pending","rawInput":{"task_id":"t-1","content":"` + prose + `"},"title":"mcp__kandev__update_task_plan_kandev","kind":"other","content":[],"_meta":{"claudeCode":{"toolName":"mcp__kandev__update_task_plan_kandev","mcpServer":{"name":"kandev","source":"dynamic"}}}},"options":[{"optionId":"allow-once","name":"Yes","kind":"allow_once"},{"optionId":"allow-with-updates","name":"Yes, and don't ask again","kind":"allow_always"},{"optionId":"reject","name":"No","kind":"reject_once"}],"sessionId":"c5c5d657-911e-468d-89d4-a2461e1c0b12"}`)
}

// The same session for both sides: three servers, two of them the injected one.
var (
	baselineHost = &baseline.Config{AgentType: "claude-acp", Port: 43210, InjectedKandevMCP: true, MCPServers: []baseline.Server{
		{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"},
		{Name: "kandev", Type: "sse", URL: "http://localhost:43210/sse"},
		{Name: "third-party", Type: "http", URL: "https://mcp.example.test/mcp"},
	}}
	policyHost = policy.Config{AgentType: "claude-acp", Port: 43210, InjectedKandevMCP: true, MCPServers: []policy.MCPServer{
		{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"},
		{Name: "kandev", Type: "sse", URL: "http://localhost:43210/sse"},
		{Name: "third-party", Type: "http", URL: "https://mcp.example.test/mcp"},
	}}
	policyHostJSON = []byte(`{"agent_type":"claude-acp","port":43210,"injected_kandev_mcp":true,"mcp_servers":[` +
		`{"name":"kandev","type":"http","url":"http://localhost:43210/mcp"},` +
		`{"name":"kandev","type":"sse","url":"http://localhost:43210/sse"},` +
		`{"name":"third-party","type":"http","url":"https://mcp.example.test/mcp"}]}`)
)

// decoded gives both sides the same frame decoded, as a host holds it.
func decoded(frame []byte) (*baseline.Frame, policy.Request, error) {
	var f baseline.Frame
	if err := json.Unmarshal(frame, &f); err != nil {
		return nil, policy.Request{}, err
	}
	r := policy.Request{ToolName: f.ToolCall.Name, ToolMeta: f.ToolCall.Meta, Title: *f.ToolCall.Title, Kind: *f.ToolCall.Kind}
	for _, o := range f.Options {
		r.Options = append(r.Options, policy.Option{OptionID: o.OptionID, Name: o.Name, Kind: o.Kind})
	}
	return &f, r, nil
}
