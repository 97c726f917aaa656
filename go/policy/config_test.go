package policy

import (
	"bytes"
	"encoding/gob"
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
	for format, want := range map[string]string{"json": "-", "yaml": "-", "toml": "-", "mapstructure": "-"} {
		if got := field.Tag.Get(format); got != want {
			t.Errorf("%s: tag %q, want %q", format, got, want)
		}
	}
}

// TestGobLosesTheMarker, and nothing else. A stream that says it all the same is none of a Config's.
func TestGobLosesTheMarker(t *testing.T) {
	type host struct {
		Name   string
		Policy Config
	}
	cfg := testConfig()
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(host{"host", cfg}); err != nil {
		t.Fatal(err)
	}
	var back host
	if err := gob.NewDecoder(&stream).Decode(&back); err != nil || back.Policy.InjectedKandevMCP {
		t.Errorf("marker %t, error %v", back.Policy.InjectedKandevMCP, err)
	}
	back.Policy.InjectedKandevMCP = true
	if !reflect.DeepEqual(back, host{"host", cfg}) {
		t.Errorf("round trip: %v, want %v", back, cfg)
	}

	stream.Reset()
	if err := gob.NewEncoder(&stream).Encode(struct{ InjectedKandevMCP bool }{true}); err != nil {
		t.Fatal(err)
	}
	var own Config
	if err := gob.NewDecoder(&stream).Decode(&own); err == nil || own.InjectedKandevMCP {
		t.Errorf("a foreign stream: marker %t, error %v", own.InjectedKandevMCP, err)
	}
}
