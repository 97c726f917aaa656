// Package config makes the config of an instance.
package config

import "fmt"

type McpServerConfig struct {
	Name    string            `json:"name"`
	URL     string            `json:"url,omitempty"`
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

type Config struct {
	AgentType              string
	AutoApprovePermissions bool
}

type InstanceOverrides struct {
	McpServers []McpServerConfig `json:"mcp_servers,omitempty"`
}

type InstanceConfig struct {
	Port                   int               `json:"port"`
	AgentType              string            `json:"agent_type"`
	McpServers             []McpServerConfig `json:"mcp_servers"`
	AutoApprovePermissions bool              `json:"auto_approve_permissions"`
}

func (c *Config) NewInstanceConfig(port int, overrides *InstanceOverrides) *InstanceConfig {
	cfg := &InstanceConfig{Port: port, AgentType: c.AgentType, AutoApprovePermissions: c.AutoApprovePermissions}
	if overrides != nil {
		cfg.McpServers = overrides.McpServers
	}
	if port > 0 {
		cfg.McpServers = injectLocalKandevMcp(cfg.McpServers, port)
	}
	return cfg
}

func injectLocalKandevMcp(servers []McpServerConfig, port int) []McpServerConfig {
	out := []McpServerConfig{{Name: "kandev", Type: "http", URL: fmt.Sprintf("http://localhost:%d/mcp", port)}}
	for _, server := range servers {
		if server.Name != "kandev" {
			out = append(out, server)
		}
	}
	return out
}
