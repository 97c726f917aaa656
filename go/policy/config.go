package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MCPServer is an entry of the host's list of MCP servers, with Kandev's names. A local server has a Command, a remote
// one a URL. Only entries with the injected server's name are looked at.
//
// It prints without its secrets, within the limits that [Config] names.
type MCPServer struct {
	Name    string            `json:"name" yaml:"name" toml:"name" mapstructure:"name"`
	URL     string            `json:"url,omitempty" yaml:"url,omitempty" toml:"url,omitempty" mapstructure:"url"`
	Type    string            `json:"type,omitempty" yaml:"type,omitempty" toml:"type,omitempty" mapstructure:"type"`
	Command string            `json:"command,omitempty" yaml:"command,omitempty" toml:"command,omitempty" mapstructure:"command"`
	Args    []string          `json:"args,omitempty" yaml:"args,omitempty" toml:"args,omitempty" mapstructure:"args"`
	Env     map[string]string `json:"env,omitempty" yaml:"env,omitempty" toml:"env,omitempty" mapstructure:"env"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty" toml:"headers,omitempty" mapstructure:"headers"`
}

// Config is what the host knows about a session. The zero value proves nothing, so it approves nothing.
//
// Give it a field with a name in the host's own types. Embedding it would promote its methods: the outer type would print,
// and be decoded by mapstructure and encoding/gob, as if it had no other fields. So it is with a [Request].
//
// A Config, an [MCPServer], a [Request] and an [Option] print without what can be secret (see String), by every verb of
// package fmt and by log/slog. Two things get past that. Package fmt calls no method of an unexported field: a struct that
// has one of these types in such a field prints all of it, and so does slog's text handler. And a Config, an MCPServer and an
// Option are encoded whole by encoding/json, since that is what their tags are for; slog's JSON handler encodes what is not
// itself such a value, but a slice, map or struct with one in it. So log the value itself, or what fmt.Sprint makes of
// a slice or map of them.
type Config struct {
	// AgentType is the host's own id of the agent, such as "claude-acp". It selects the agent's dialect and is compared
	// byte by byte.
	AgentType string `json:"agent_type" yaml:"agent_type" toml:"agent_type" mapstructure:"agent_type"`
	// Port is the instance's port, from the injected URL. Outside 1 to 65535 there is no provenance.
	Port int `json:"port" yaml:"port" toml:"port" mapstructure:"port"`
	// MCPHost is the host of the injected URL; empty is localhost. An IPv6 address needs no brackets.
	MCPHost string `json:"mcp_host" yaml:"mcp_host" toml:"mcp_host" mapstructure:"mcp_host"`
	// MCPServers is the whole list that the session was started with.
	MCPServers []MCPServer `json:"mcp_servers" yaml:"mcp_servers" toml:"mcp_servers" mapstructure:"mcp_servers"`
	// AutoApprovePermissions approves every request: the first allow option, else the first option of any kind. It is for
	// hosts that have no such branch of their own.
	AutoApprovePermissions bool `json:"auto_approve_permissions" yaml:"auto_approve_permissions" toml:"auto_approve_permissions" mapstructure:"auto_approve_permissions"`
	// InjectedKandevMCP is the host's word that it has put its own server into MCPServers. Only host code sets it: it is
	// excluded from JSON, YAML, TOML, XML, mapstructure and gob, and a round trip through one of them loses it. Copying the
	// struct keeps it.
	//
	// One way in is left, for hosts that take it: a Config that is squashed into another struct by a mapstructure decoder
	// with a TagName of its own, such as "json" or "yaml". Decode into a named field, or into a type without the marker.
	InjectedKandevMCP bool `json:"-" yaml:"-" toml:"-" mapstructure:"-" xml:"-"`

	// No room, no value: it makes mapstructure fail where it would read the fields one by one.
	markerIsSetInCode [0]bool `mapstructure:",squash"`
}

// How mapstructure is kept out. It skips "-" when it encodes but takes it for a field's name when it decodes, so that the
// document {"-": true} would set the marker. From 2.5 on it calls UnmarshalMapstructure for a Config. Older ones, and all of
// them for a Config that is squashed into another struct, read the fields' tags: what is no struct can't be squashed, so that
// each such decoding, whatever the document, is an error about the field markerIsSetInCode.

// UnmarshalMapstructure decodes as JSON does, strictly typed and without the marker.
func (c *Config) UnmarshalMapstructure(document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, c)
}

// GobEncode leaves the marker out, which gob has no tag for.
func (c Config) GobEncode() ([]byte, error) { return json.Marshal(c) }

// GobDecode takes what GobEncode gives.
func (c *Config) GobDecode(document []byte) error { return json.Unmarshal(document, c) }

// check refuses what would only be found out about in the engine, where it has another name than in Go. In the servers
// nothing is refused: an entry that says nothing usable must not disable the injected one.
func (c Config) check() error {
	for _, field := range [...]struct{ key, value string }{{"agent_type", c.AgentType}, {"mcp_host", c.MCPHost}} {
		if !utf8.ValidString(field.value) {
			return fmt.Errorf("%w: %s: found a string that is not UTF-8, expected string", ErrBadConfig, field.key)
		}
	}
	return nil
}

// appendJSON appends the config as the engine reads it. It is written by hand since the marker is no part of the type's own
// JSON, and since encoding/json replaces what is not UTF-8 (see appendJSONString).
func (c Config) appendJSON(b []byte) []byte {
	b = append(b, `{"agent_type":`...)
	b = appendJSONString(b, c.AgentType)
	b = append(b, `,"port":`...)
	b = strconv.AppendInt(b, int64(c.Port), 10)
	b = appendJSONMember(b, "mcp_host", c.MCPHost)
	b = append(b, `,"injected_kandev_mcp":`...)
	b = strconv.AppendBool(b, c.InjectedKandevMCP)
	b = append(b, `,"auto_approve_permissions":`...)
	b = strconv.AppendBool(b, c.AutoApprovePermissions)
	b = append(b, `,"mcp_servers":[`...)
	for i, server := range c.MCPServers {
		if i > 0 {
			b = append(b, ',')
		}
		b = server.appendJSON(b)
	}
	return append(b, ']', '}')
}

func (s MCPServer) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = appendJSONString(b, s.Name)
	b = appendJSONMember(b, "type", s.Type)
	b = appendJSONMember(b, "url", s.URL)
	b = appendJSONMember(b, "command", s.Command)
	b = append(b, `,"args":[`...)
	for i, arg := range s.Args {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, arg)
	}
	b = append(b, `],"env":`...)
	b = appendJSONMap(b, s.Env)
	b = append(b, `,"headers":`...)
	b = appendJSONMap(b, s.Headers)
	return append(b, '}')
}

func appendJSONMap(b []byte, m map[string]string) []byte {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, key)
		b = append(b, ':')
		b = appendJSONString(b, m[key])
	}
	return append(b, '}')
}
