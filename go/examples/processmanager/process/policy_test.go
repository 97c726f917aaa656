package process

import (
	"log/slog"
	"testing"

	"github.com/kandev/kandev-policy/go/examples/processmanager/acpclient"
	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/policy"
)

// Two entries of the reserved name, whichever is first and whatever the host says: agents let one of them win silently.
// The injector leaves no second one; this is for a list that was changed behind its back.
func TestAC001_4_TwoEntriesOfTheName(t *testing.T) {
	injected := config.McpServerConfig{Name: "kandev", Type: "http", URL: "http://localhost:43210/mcp"}
	own := config.McpServerConfig{Name: "kandev", Type: "http", URL: "http://localhost:43998/mcp"}
	withHeader := injected
	withHeader.Headers = map[string]string{"Authorization": "x"}
	other := config.McpServerConfig{Name: "other", Type: "http", URL: "http://localhost:43998/mcp"}
	for name, c := range map[string]struct {
		servers []config.McpServerConfig
		want    policy.Reason
	}{
		"injected alone": {[]config.McpServerConfig{injected}, policy.ReasonInjectedMCP},
		"beside another": {[]config.McpServerConfig{other, injected, other}, policy.ReasonInjectedMCP},
		"own last":       {[]config.McpServerConfig{injected, own}, policy.ReasonServerNameConflict},
		"own first":      {[]config.McpServerConfig{own, injected}, policy.ReasonServerNameConflict},
		"own alone":      {[]config.McpServerConfig{own}, policy.ReasonServerNotInjected},
		"with a header":  {[]config.McpServerConfig{withHeader}, policy.ReasonServerNotInjected},
		"none":           {nil, policy.ReasonServerNotInjected},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.InstanceConfig{AgentType: "claude-acp", Port: 43210, McpServers: c.servers, InjectedKandevMCP: true}
			m := &Manager{policy: newPolicy(cfg, slog.New(slog.DiscardHandler))}
			defer m.policy.Close()
			if d := m.decide(request()); d.Reason != c.want {
				t.Fatalf("%v, want %v", d, c.want)
			}
		})
	}
}

// A config that the policy can't use, or no policy at all, leaves every request with the user.
func TestWithoutAPolicyEverythingAsks(t *testing.T) {
	cfg := config.InstanceConfig{AgentType: "claude-acp\xff", Port: 43210, InjectedKandevMCP: true}
	m := &Manager{logger: slog.New(slog.DiscardHandler), policy: newPolicy(cfg, slog.New(slog.DiscardHandler))}
	if _, ok := m.approveInjected(request()); ok {
		t.Fatal("approved without a policy")
	}
	if m.policy != nil {
		t.Fatal("a bad config was taken")
	}
}

// Each request that the policy is asked about is counted once, by its reason.
func TestDecisionsAreCounted(t *testing.T) {
	var decisions policy.Counters
	cfg := config.InstanceConfig{AgentType: "claude-acp", Port: 43210, McpServers: nil, InjectedKandevMCP: true}
	m := &Manager{logger: slog.New(slog.DiscardHandler), policy: newPolicy(cfg, slog.New(slog.DiscardHandler)), decisions: &decisions}
	defer m.policy.Close()
	for range 3 {
		m.approveInjected(request())
	}
	for reason, count := range decisions.All() {
		if want := reason == policy.ReasonServerNotInjected; want && count != 3 || !want && count != 0 {
			t.Errorf("%s: %d", reason, count)
		}
	}
}

func request() *acpclient.PermissionRequest {
	name := "mcp__kandev__update_task_plan_kandev"
	return &acpclient.PermissionRequest{
		ToolName: &name, Options: []acpclient.PermissionOption{{OptionID: "yes", Kind: "allow_once"}},
	}
}
