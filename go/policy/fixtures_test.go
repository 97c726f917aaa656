package policy

// testConfig is a session whose host has injected its server.
func testConfig() Config {
	return Config{
		AgentType: "claude-acp",
		Port:      41000,
		MCPServers: []MCPServer{
			{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"},
			{Name: "other", Type: "http", URL: "https://mcp.example.test/mcp", Headers: map[string]string{"Authorization": "x"}},
		},
		InjectedKandevMCP: true,
	}
}

const testFrame = `{"sessionId":"s","toolCall":{"toolCallId":"c","name":"mcp__kandev__list_tasks","title":"List tasks","kind":"other",` +
	`"_meta":{"claudeCode":{"toolName":"mcp__kandev__list_tasks","mcpServer":{"name":"kandev","source":"dynamic"}}}},` +
	`"options":[{"optionId":"no","name":"No","kind":"reject_once"},{"optionId":"yes","name":"Yes","kind":"allow_once"}]}`

const testSelected = `{"decision":"select","reason":"injected_mcp","option_id":"yes","option_kind":"allow_once","server":"kandev","tool":"list_tasks"}`

// testRequest is testFrame decoded.
func testRequest() Request {
	name := "mcp__kandev__list_tasks"
	return Request{
		ToolName: &name,
		ToolMeta: testMeta(name, map[string]any{"name": "kandev", "source": "dynamic"}),
		Title:    "List tasks",
		Kind:     "other",
		Options:  []Option{{"no", "No", "reject_once"}, {"yes", "Yes", "allow_once"}},
	}
}

func testMeta(toolName, server any) map[string]any {
	return map[string]any{"claudeCode": map[string]any{"toolName": toolName, "mcpServer": server}}
}

const reviewerConfig = `{"policy":"unattended_review","vendor":"codex","token":"reviewer","servers":["kcap-review"]}`
