package policy

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestConfigJSON(t *testing.T) {
	cfg := Config{
		AgentType: "claude-acp",
		Port:      43210,
		MCPHost:   "127.0.0.1",
		MCPServers: []MCPServer{
			{Name: "kandev", Type: "http", URL: "http://127.0.0.1:43210/mcp"},
			{Name: "l\"", Command: "c", Args: []string{"a", "b"}, Env: map[string]string{"B": "2", "A": "1"}, Headers: map[string]string{"H": "h"}},
		},
		AutoApprovePermissions: true,
		InjectedKandevMCP:      true,
	}
	const want = `{"agent_type":"claude-acp","port":43210,"mcp_host":"127.0.0.1","injected_kandev_mcp":true,"auto_approve_permissions":true,"mcp_servers":[` +
		`{"name":"kandev","type":"http","url":"http://127.0.0.1:43210/mcp","command":"","args":[],"env":{},"headers":{}},` +
		`{"name":"l\"","type":"","url":"","command":"c","args":["a","b"],"env":{"A":"1","B":"2"},"headers":{"H":"h"}}]}`
	if got := string(cfg.appendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const zero = `{"agent_type":"","port":0,"mcp_host":"","injected_kandev_mcp":false,"auto_approve_permissions":false,"mcp_servers":[]}`
	if got := string(Config{}.appendJSON(nil)); got != zero {
		t.Errorf("got  %s\nwant %s", got, zero)
	}
}

// TestProvenanceIsNoPartOfADocument: neither by its own name nor by the config's.
func TestProvenanceIsNoPartOfADocument(t *testing.T) {
	var cfg Config
	for _, document := range []string{
		`{"injected_kandev_mcp":true,"InjectedKandevMCP":true,"injectedkandevmcp":true,"-":true,"port":1}`,
	} {
		if err := json.Unmarshal([]byte(document), &cfg); err != nil || cfg.InjectedKandevMCP || cfg.Port != 1 {
			t.Errorf("%s: %v %v", document, cfg, err)
		}
	}
	cfg = testConfig()
	b, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(b, &back); err != nil || back.InjectedKandevMCP {
		t.Errorf("round trip: %v %v", back, err)
	}
	back.InjectedKandevMCP = true
	if !reflect.DeepEqual(back, cfg) {
		t.Errorf("round trip: %v, want %v", back, cfg)
	}
	field, _ := reflect.TypeFor[Config]().FieldByName("InjectedKandevMCP")
	for _, format := range []string{"json", "yaml", "toml", "mapstructure"} {
		if field.Tag.Get(format) != "-" {
			t.Errorf("%s: tag %q", format, field.Tag.Get(format))
		}
	}
}
