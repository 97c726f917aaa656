package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestNothingSecretPrints: every field that can hold a secret holds one here.
func TestNothingSecretPrints(t *testing.T) {
	const secret = "S3CRET"
	server := MCPServer{
		Name: "kandev", Type: "http", URL: "https://user:" + secret + "@host/mcp?token=" + secret, Command: "run --token=" + secret,
		Args:    []string{secret},
		Env:     map[string]string{secret: secret},
		Headers: map[string]string{secret: secret},
	}
	cfg := testConfig()
	cfg.MCPServers = append(cfg.MCPServers, server)
	option := Option{OptionID: "yes", Name: secret, Kind: "allow_once"}
	name := "mcp__kandev__list_tasks"
	req := Request{
		ToolName: &name,
		ToolMeta: map[string]any{secret: secret, "claudeCode": map[string]any{"toolName": secret}},
		Title:    secret,
		Kind:     "other",
		Options:  []Option{option},
	}
	decision := Decision{Kind: Select, Reason: ReasonInjectedMCP, OptionID: "yes", OptionKind: OptionKindAllowOnce, Server: "kandev", Tool: "list_tasks"}

	for _, test := range []struct {
		value any
		shows []string
	}{
		{server, []string{"kandev", "http"}},
		{cfg, []string{"claude-acp", "41000", "kandev"}},
		{option, []string{"yes", "allow_once"}},
		{req, []string{name, "yes"}},
		{decision, []string{"injected_mcp", "list_tasks", "allow_once"}},
		{&server, nil}, {&cfg, nil}, {&option, nil}, {&req, nil}, {&decision, nil},
		{[]MCPServer{server}, nil}, {[]Config{cfg}, nil}, {map[string]Request{"r": req}, nil}, {struct{ C Config }{cfg}, nil},
	} {
		var outputs []string
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t", "%10v"} {
			outputs = append(outputs, fmt.Sprintf(verb, test.value))
		}
		if s, ok := test.value.(fmt.Stringer); ok {
			outputs = append(outputs, s.String())
		}
		if _, ok := test.value.(slog.LogValuer); ok {
			var text, json bytes.Buffer
			slog.New(slog.NewTextHandler(&text, nil)).Info("m", "value", test.value)
			slog.New(slog.NewJSONHandler(&json, nil)).Info("m", "value", test.value)
			outputs = append(outputs, text.String(), json.String())
		}
		for _, output := range outputs {
			if strings.Contains(output, secret) || strings.Contains(output, fmt.Sprintf("%x", secret)) {
				t.Errorf("%T: %s", test.value, output)
			}
			for _, part := range test.shows {
				if !strings.Contains(output, part) {
					t.Errorf("%T: no %s in %s", test.value, part, output)
				}
			}
		}
	}
}

// TestNoEncoderWritesARequest, wherever it is: log/slog's JSON handler asks encoding/json about what is no request itself.
func TestNoEncoderWritesARequest(t *testing.T) {
	const secret = "S3CRET"
	name := "mcp__kandev__list_tasks"
	req := Request{
		ToolName: &name, ToolMeta: map[string]any{secret: secret}, Title: secret,
		Options: []Option{{OptionID: "yes", Name: secret, Kind: "allow_once"}},
	}
	for _, value := range []any{
		req, &req, []Request{req}, []*Request{&req}, map[string]Request{"r": req}, map[string]any{"r": req},
		struct{ R Request }{req}, &struct{ R *Request }{&req},
	} {
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "value", value)
		for _, output := range []string{string(encoded), log.String()} {
			if strings.Contains(output, secret) || !strings.Contains(output, name) || !strings.Contains(output, "yes") {
				t.Errorf("%T: %s", value, output)
			}
		}
	}
}

// TestSlicesPrintAsTheDocumentationSays: what a host is told to log in place of a slice or a map.
func TestSlicesPrintAsTheDocumentationSays(t *testing.T) {
	const secret = "S3CRET"
	server := MCPServer{Name: "kandev", URL: secret, Env: map[string]string{secret: secret}, Headers: map[string]string{secret: secret}}
	cfg := Config{AgentType: "claude-acp", MCPServers: []MCPServer{server}}
	for _, value := range []any{[]MCPServer{server}, map[string]Config{"c": cfg}, []Config{cfg}, []Option{{OptionID: "kandev", Name: secret}}} {
		if text := fmt.Sprint(value); strings.Contains(text, secret) || !strings.Contains(text, "kandev") {
			t.Errorf("%T: %s", value, text)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "value", value)
		if strings.Contains(log.String(), secret) {
			t.Errorf("%T: %s", value, &log)
		}
	}
}

// TestErrorsHoldNoValue: nor do the errors about a config.
func TestErrorsHoldNoValue(t *testing.T) {
	cfg := testConfig()
	cfg.AgentType = "S3CRET\xff"
	if _, err := New(cfg); err == nil || strings.Contains(err.Error(), "S3CRET") {
		t.Errorf("error %v", err)
	}
}
