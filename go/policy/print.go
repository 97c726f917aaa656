package policy

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
)

// What prints, and what doesn't: headers, environment, arguments, commands, URLs, titles, metadata and the options' display
// names can hold secrets, so of these there is at most a count. Format covers every verb of package fmt (GoString's %#v too),
// String those who call it themselves, LogValue log/slog. What none of them is asked about is at the end of [Config].

// String says what the config is about, without its secrets.
func (c Config) String() string {
	servers := make([]string, len(c.MCPServers))
	for i, server := range c.MCPServers {
		servers[i] = server.String()
	}
	return fmt.Sprintf("{agent_type:%s port:%d mcp_host:%s injected_kandev_mcp:%t auto_approve_permissions:%t mcp_servers:[%s]}",
		known(c.AgentType, "claude-acp"), c.Port, known(c.MCPHost, "localhost", "127.0.0.1", "::1"), c.InjectedKandevMCP, c.AutoApprovePermissions, strings.Join(servers, " "))
}

// Format prints String for every verb.
func (c Config) Format(f fmt.State, _ rune) { writeString(f, c) }

// LogValue is what log/slog writes.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String says which server it is, without its secrets.
func (s MCPServer) String() string {
	return fmt.Sprintf("{name:%q type:%s args:%d env:%d headers:%d}", s.Name, known(s.Type, "http", "sse", "stdio"), len(s.Args), len(s.Env), len(s.Headers))
}

// Format prints String for every verb.
func (s MCPServer) Format(f fmt.State, _ rune) { writeString(f, s) }

// LogValue is what log/slog writes.
func (s MCPServer) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String says what is asked, without title and metadata.
func (r Request) String() string {
	name := "none"
	if r.ToolName != nil {
		name = fmt.Sprintf("%q", *r.ToolName)
	}
	options := make([]string, len(r.Options))
	for i, option := range r.Options {
		options[i] = option.String()
	}
	return fmt.Sprintf("{tool_name:%s kind:%s options:[%s]}", name, known(r.Kind, toolKinds...), strings.Join(options, " "))
}

// Format prints String for every verb.
func (r Request) Format(f fmt.State, _ rune) { writeString(f, r) }

// MarshalText gives String, so that no encoder (encoding/json, log/slog's JSON handler on a slice or a struct, YAML) writes
// more of a request. A host that stores requests stores the frames that they came from.
func (r Request) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// LogValue is what log/slog writes.
func (r Request) LogValue() slog.Value { return slog.StringValue(r.String()) }

// String gives the option's id and kind.
func (o Option) String() string {
	return fmt.Sprintf("{option_id:%q kind:%s}", o.OptionID, known(o.Kind, optionKinds[1:]...))
}

// Format prints String for every verb.
func (o Option) Format(f fmt.State, _ rune) { writeString(f, o) }

// LogValue is what log/slog writes.
func (o Option) LogValue() slog.Value { return slog.StringValue(o.String()) }

// String gives the decision's JSON.
func (d Decision) String() string {
	b, _ := d.MarshalJSON() // which never fails
	return string(b)
}

// Format prints String for every verb.
func (d Decision) Format(f fmt.State, _ rune) { writeString(f, d) }

// LogValue is what log/slog writes: decision, reason, option_kind and tool.
func (d Decision) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("decision", d.Kind.String()), slog.String("reason", string(d.Reason))}
	if d.OptionKind != "" {
		attrs = append(attrs, slog.String("option_kind", d.OptionKind))
	}
	if d.Tool != "" {
		attrs = append(attrs, slog.String("tool", d.Tool))
	}
	return slog.GroupValue(attrs...)
}

// toolKinds are ACP's kinds of tool calls.
var toolKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// known quotes a word that is one of a fixed vocabulary. Any other text came from outside and can hold anything.
func known(word string, vocabulary ...string) string {
	if word == "" || slices.Contains(vocabulary, word) {
		return strconv.Quote(word)
	}
	return "(unknown)"
}

func writeString(f fmt.State, s fmt.Stringer) { _, _ = io.WriteString(f, s.String()) }
