// Package config holds what an instance of the host is started with, and is the one place that knows whether the host
// put its own MCP server into the list.
package config

import (
	"net"
	"slices"
	"strconv"
)

// KandevServer is the reserved name of the host's own MCP server.
const KandevServer = "kandev"

// KandevHost is the host of its URL. Injection and policy have to agree on it, since the policy compares the whole URL.
const KandevHost = "localhost"

// McpServerConfig is one MCP server that an agent is told about: a remote one has a URL, a local one a Command.
type McpServerConfig struct {
	Name    string            `json:"name" yaml:"name" toml:"name" mapstructure:"name"`
	URL     string            `json:"url,omitempty" yaml:"url,omitempty" toml:"url,omitempty" mapstructure:"url"`
	Type    string            `json:"type,omitempty" yaml:"type,omitempty" toml:"type,omitempty" mapstructure:"type"`
	Command string            `json:"command,omitempty" yaml:"command,omitempty" toml:"command,omitempty" mapstructure:"command"`
	Args    []string          `json:"args,omitempty" yaml:"args,omitempty" toml:"args,omitempty" mapstructure:"args"`
	Env     map[string]string `json:"env,omitempty" yaml:"env,omitempty" toml:"env,omitempty" mapstructure:"env"`
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty" toml:"headers,omitempty" mapstructure:"headers"`
}

// Config is what a user can write: a profile, a document, flags. It is where an instance starts from.
type Config struct {
	AgentType              string            `json:"agent_type" yaml:"agent_type" toml:"agent_type" mapstructure:"agent_type"`
	Protocol               int               `json:"protocol" yaml:"protocol" toml:"protocol" mapstructure:"protocol"` // ACP version, 1 or 2; 0 is 1
	WorkDir                string            `json:"work_dir" yaml:"work_dir" toml:"work_dir" mapstructure:"work_dir"`
	McpServers             []McpServerConfig `json:"mcp_servers" yaml:"mcp_servers" toml:"mcp_servers" mapstructure:"mcp_servers"`
	McpTransport           string            `json:"mcp_transport" yaml:"mcp_transport" toml:"mcp_transport" mapstructure:"mcp_transport"` // of the injected server, "http" or "sse"; "" is "http"
	DisableInjection       bool              `json:"disable_injection" yaml:"disable_injection" toml:"disable_injection" mapstructure:"disable_injection"`
	AutoApprovePermissions bool              `json:"auto_approve_permissions" yaml:"auto_approve_permissions" toml:"auto_approve_permissions" mapstructure:"auto_approve_permissions"`
}

// InstanceOverrides is what a caller may change for one instance. Provenance is not among it.
type InstanceOverrides struct {
	WorkDir                string            `json:"work_dir,omitempty" yaml:"work_dir,omitempty" toml:"work_dir,omitempty" mapstructure:"work_dir"`
	TaskID                 string            `json:"task_id,omitempty" yaml:"task_id,omitempty" toml:"task_id,omitempty" mapstructure:"task_id"` // empty: a quick chat
	McpServers             []McpServerConfig `json:"mcp_servers,omitempty" yaml:"mcp_servers,omitempty" toml:"mcp_servers,omitempty" mapstructure:"mcp_servers"`
	AutoApprovePermissions *bool             `json:"auto_approve_permissions,omitempty" yaml:"auto_approve_permissions,omitempty" toml:"auto_approve_permissions,omitempty" mapstructure:"auto_approve_permissions"`
}

// InstanceConfig is one running agent: the config, the overrides, and what the host itself added.
type InstanceConfig struct {
	AgentType              string            `json:"agent_type" yaml:"agent_type" toml:"agent_type" mapstructure:"agent_type"`
	Protocol               int               `json:"protocol" yaml:"protocol" toml:"protocol" mapstructure:"protocol"`
	Port                   int               `json:"port" yaml:"port" toml:"port" mapstructure:"port"`
	WorkDir                string            `json:"work_dir" yaml:"work_dir" toml:"work_dir" mapstructure:"work_dir"`
	TaskID                 string            `json:"task_id" yaml:"task_id" toml:"task_id" mapstructure:"task_id"`
	McpServers             []McpServerConfig `json:"mcp_servers" yaml:"mcp_servers" toml:"mcp_servers" mapstructure:"mcp_servers"`
	AutoApprovePermissions bool              `json:"auto_approve_permissions" yaml:"auto_approve_permissions" toml:"auto_approve_permissions" mapstructure:"auto_approve_permissions"`

	// InjectedKandevMCP is the host's own knowledge that McpServers has its server. Only NewInstanceConfig sets it; no
	// document, override or request can. With squash, decoding into this type by mapstructure is an error: with "-" alone the
	// key "-" would set it.
	InjectedKandevMCP bool `json:"-" yaml:"-" toml:"-" mapstructure:"-,squash" xml:"-"`
}

// NewInstanceConfig makes the config of one instance. With a port the host's own server, which listens there, goes into
// the list; that is what the marker says.
func (c *Config) NewInstanceConfig(port int, overrides InstanceOverrides) InstanceConfig {
	cfg := InstanceConfig{
		AgentType:              c.AgentType,
		Protocol:               max(c.Protocol, 1),
		Port:                   port,
		WorkDir:                c.WorkDir,
		TaskID:                 overrides.TaskID,
		McpServers:             slices.Concat(c.McpServers, overrides.McpServers),
		AutoApprovePermissions: c.AutoApprovePermissions,
	}
	if overrides.WorkDir != "" {
		cfg.WorkDir = overrides.WorkDir
	}
	if overrides.AutoApprovePermissions != nil {
		cfg.AutoApprovePermissions = *overrides.AutoApprovePermissions
	}
	if port > 0 && !c.DisableInjection {
		cfg.McpServers = injectKandevServer(cfg.McpServers, c.McpTransport, port)
		cfg.InjectedKandevMCP = true
	}
	return cfg
}

// injectKandevServer puts the host's server first and drops every other entry that has its name: the name is reserved.
func injectKandevServer(servers []McpServerConfig, transport string, port int) []McpServerConfig {
	injected := McpServerConfig{Name: KandevServer, Type: "http", URL: serverURL(port, "/mcp")}
	if transport == "sse" {
		injected.Type, injected.URL = "sse", serverURL(port, "/sse")
	}
	out := []McpServerConfig{injected}
	for _, server := range servers {
		if server.Name != KandevServer {
			out = append(out, server)
		}
	}
	return out
}

func serverURL(port int, path string) string {
	return "http://" + net.JoinHostPort(KandevHost, strconv.Itoa(port)) + path
}
