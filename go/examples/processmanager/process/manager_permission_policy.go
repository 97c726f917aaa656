package process

import (
	"log/slog"

	"github.com/kandev/kandev-policy/go/examples/processmanager/acpclient"
	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/policy"
)

// newPolicy compiles the policy of an instance. A session must not fail for it: without a policy every request asks.
func newPolicy(cfg config.InstanceConfig, logger *slog.Logger) *policy.Policy {
	servers := make([]policy.MCPServer, 0, len(cfg.McpServers))
	for _, s := range cfg.McpServers {
		servers = append(servers, policy.MCPServer{
			Name: s.Name, URL: s.URL, Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, Headers: s.Headers,
		})
	}
	p, err := policy.New(policy.Config{
		AgentType:         cfg.AgentType,
		Port:              cfg.Port,
		MCPHost:           config.KandevHost,
		MCPServers:        servers,
		InjectedKandevMCP: cfg.InjectedKandevMCP,
	})
	if err != nil {
		logger.Warn("no automatic approval in this session", "error", err)
	}
	return p
}

// approveInjected is our branch: it answers a call that provably goes to the server that this host injected, and leaves
// everything else to the pending path.
func (m *Manager) approveInjected(req *acpclient.PermissionRequest) (acpclient.PermissionResponse, bool) {
	d := m.decide(req)
	m.decisions.Count(d)
	if d.Kind != policy.Select {
		m.logger.Debug("permission request stays with the user", "reason", string(d.Reason))
		return acpclient.PermissionResponse{}, false
	}
	if !m.injected.Reached() {
		// Agents before 0.80 don't say where a server came from. But one that never listed our server's tools can't be
		// calling them: what answers to the name is another server.
		m.logger.Debug("permission request stays with the user", "reason", "injected_server_not_reached")
		return acpclient.PermissionResponse{}, false
	}
	m.logger.Info("permission approved automatically",
		"reason", string(d.Reason), "tool", d.Tool, "option_kind", d.OptionKind)
	return acpclient.PermissionResponse{OptionID: d.OptionID}, true
}

// decide prefers the frame as it came: there the policy sees duplicate and rival keys, which decoding hides. A client
// that keeps no frames, such as one on typed SDK callbacks, gives what it decoded; if it could not tell which call a frame
// is about, there is nothing to give, and the answer is the one that the policy has for such a frame.
func (m *Manager) decide(req *acpclient.PermissionRequest) policy.Decision {
	if req.Params != nil {
		return m.policy.DecideFrame(req.Params)
	}
	if req.Malformed {
		return policy.Decision{Kind: policy.Ask, Reason: policy.ReasonMalformedFrame}
	}
	options := make([]policy.Option, len(req.Options))
	for i, o := range req.Options {
		options[i] = policy.Option{OptionID: o.OptionID, Name: o.Name, Kind: o.Kind}
	}
	return m.policy.Decide(policy.Request{
		ToolName: req.ToolName, ToolMeta: req.ToolMeta, Title: req.Title, Kind: req.Kind, Options: options,
	})
}
