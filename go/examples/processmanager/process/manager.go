// Package process is the process manager: it runs one agent, opens its session, and decides what becomes of its
// permission requests.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kandev/kandev-policy/go/examples/processmanager/acpclient"
	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/examples/processmanager/injected"
	"github.com/kandev/kandev-policy/go/policy"
)

// Event is what a user interface hears about a session. It has no metadata of a tool call.
type Event struct {
	Type       string                       `json:"type"` // permission_request, permission_cancelled, or an ACP session update
	SessionID  string                       `json:"session_id"`
	ToolCallID string                       `json:"tool_call_id,omitempty"`
	Title      string                       `json:"title,omitempty"`
	Status     string                       `json:"status,omitempty"`
	Update     json.RawMessage              `json:"update,omitempty"`     // of a session update
	PendingID  string                       `json:"pending_id,omitempty"` // of a permission event, as are the next two
	RawInput   any                          `json:"raw_input,omitempty"`
	Options    []acpclient.PermissionOption `json:"options,omitempty"`
}

// Options are what a manager is made with.
type Options struct {
	Config    config.Config
	Overrides config.InstanceOverrides
	Scope     injected.Scope
	Tasks     *injected.Tasks
	Server    *injected.Server // one that runs already; nil: start one
	Logger    *slog.Logger     // nil: none
	Decisions *policy.Counters // of all sessions; nil: none

	// DropParams leaves the policy with what was decoded from a frame, as a client on typed SDK callbacks does.
	DropParams bool

	// The agent: a command, or a connection to one that runs already. Closing Stdin has to end the agent.
	Command *exec.Cmd
	Stdin   io.WriteCloser
	Stdout  io.Reader
}

// agentGrace is how long an agent may take to end.
const agentGrace = 10 * time.Second

// Manager runs one agent.
type Manager struct {
	cfg       config.InstanceConfig
	logger    *slog.Logger
	policy    *policy.Policy
	decisions *policy.Counters
	injected  *injected.Server // runs in any case; whether the session is told of it is the config's to say
	client    *acpclient.Client
	command   *exec.Cmd
	stdin     io.Closer

	pending   pendingPermissions
	allocated atomic.Int64
	updates   chan Event
	closing   chan struct{}
	closeOnce sync.Once
}

// Start starts the injected server and the agent, and opens the connection between them and the host.
func Start(ctx context.Context, opts Options) (*Manager, error) {
	logger := opts.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{logger: logger, decisions: opts.Decisions, updates: make(chan Event, 64), closing: make(chan struct{}), command: opts.Command}
	if err := m.start(ctx, opts); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Manager) start(ctx context.Context, opts Options) error {
	m.injected = opts.Server
	if m.injected == nil {
		server, err := injected.Start(config.KandevServer, opts.Tasks, opts.Scope)
		if err != nil {
			return err
		}
		m.injected = server
	}
	m.cfg = opts.Config.NewInstanceConfig(m.injected.Port(), opts.Overrides)
	m.policy = newPolicy(m.cfg, m.logger)

	stdin, stdout := opts.Stdin, opts.Stdout
	if m.command != nil {
		in, err := m.command.StdinPipe()
		if err != nil {
			return err
		}
		out, err := m.command.StdoutPipe()
		if err != nil {
			return err
		}
		if err := m.command.Start(); err != nil {
			m.command = nil
			return err
		}
		stdin, stdout = in, out
	}
	m.stdin = stdin
	m.client = acpclient.New(stdin, stdout, acpclient.Options{
		Protocol:     m.cfg.Protocol,
		DropParams:   opts.DropParams,
		Logger:       m.logger,
		OnUpdate:     m.handleUpdate,
		OnPermission: m.handlePermissionRequest,
	})
	return m.client.Initialize(ctx)
}

// Config is the instance's config, to look at.
func (m *Manager) Config() config.InstanceConfig { return m.cfg }

// Injected is the instance's own MCP server.
func (m *Manager) Injected() *injected.Server { return m.injected }

// Updates are the session's events. They have to be read; the agent waits for its reader.
func (m *Manager) Updates() <-chan Event { return m.updates }

// NewSession opens a fresh session.
func (m *Manager) NewSession(ctx context.Context) (string, error) {
	return m.client.NewSession(ctx, m.cfg.WorkDir, m.cfg.McpServers)
}

// ResumeSession opens an earlier session. Nothing about approvals is stored: the instance's config is all there is.
func (m *Manager) ResumeSession(ctx context.Context, id string) error {
	return m.client.ResumeSession(ctx, id, m.cfg.WorkDir, m.cfg.McpServers)
}

// Prompt runs one turn.
func (m *Manager) Prompt(ctx context.Context, session, text string) error {
	return m.client.Prompt(ctx, session, text)
}

// CancelTurn ends the turn. ACP wants what is pending answered with a cancellation.
func (m *Manager) CancelTurn(ctx context.Context, session string) error {
	err := m.client.Cancel(ctx, session)
	m.pending.cancelAll()
	return err
}

// Close ends the agent and the injected server. It may be called more than once.
func (m *Manager) Close() error {
	var err error
	m.closeOnce.Do(func() {
		close(m.closing)
		if m.stdin != nil {
			err = errors.Join(err, m.stdin.Close())
		}
		m.pending.cancelAll()
		if m.command != nil {
			m.waitForAgent()
		}
		if m.injected != nil {
			err = errors.Join(err, m.injected.Close())
		}
		err = errors.Join(err, m.policy.Close())
	})
	return err
}

// waitForAgent gives the agent, whose standard input is closed, the time to end what it has started itself. One that takes
// too long is killed.
func (m *Manager) waitForAgent() {
	impatient := time.AfterFunc(agentGrace, func() { _ = m.command.Process.Kill() })
	defer impatient.Stop()
	_ = m.command.Wait()
}

func (m *Manager) handleUpdate(ctx context.Context, u acpclient.Update) {
	m.send(ctx, Event{
		Type: u.Kind, SessionID: u.SessionID, ToolCallID: u.ToolCallID, Title: u.Title, Status: u.Status, Update: u.Raw,
	})
}

// handlePermissionRequest is what becomes of a permission request: blanket approval first, then the injected server's,
// then the user.
func (m *Manager) handlePermissionRequest(ctx context.Context, req *acpclient.PermissionRequest) (acpclient.PermissionResponse, error) {
	if m.cfg.AutoApprovePermissions {
		return autoApprovePermission(req), nil
	}
	if resp, ok := m.approveInjected(req); ok {
		return resp, nil
	}
	return m.askUser(ctx, req), nil
}

// autoApprovePermission is blanket approval: the first allow option, else the first option.
func autoApprovePermission(req *acpclient.PermissionRequest) acpclient.PermissionResponse {
	for _, option := range req.Options {
		kind := strings.ToLower(strings.TrimSpace(option.Kind))
		if kind == "allow_once" || kind == "allow_always" {
			return acpclient.PermissionResponse{OptionID: option.OptionID}
		}
	}
	return acpclient.PermissionResponse{OptionID: req.Options[0].OptionID}
}

// askUser announces the request and waits until it is resolved, replaced, or its context ends.
func (m *Manager) askUser(ctx context.Context, req *acpclient.PermissionRequest) acpclient.PermissionResponse {
	number := m.allocated.Add(1)
	if req.PendingID == "" {
		req.PendingID = fmt.Sprintf("permission-%d", number)
	}
	entry := m.pending.add(req)
	event := Event{
		Type: "permission_request", SessionID: req.SessionID, ToolCallID: req.ToolCallID, Title: req.Title,
		PendingID: req.PendingID, RawInput: req.RawInput, Options: req.Options,
	}
	m.send(ctx, event)
	select {
	case resp := <-entry.answer:
		return resp
	case <-ctx.Done():
	case <-m.closing:
	}
	if !m.pending.drop(entry) {
		return <-entry.answer // somebody has answered at the same moment
	}
	m.send(context.WithoutCancel(ctx), Event{
		Type: "permission_cancelled", SessionID: req.SessionID, ToolCallID: req.ToolCallID, PendingID: req.PendingID,
	})
	return acpclient.PermissionResponse{Cancelled: true}
}

// Pending lists the ids of the requests that wait for the user.
func (m *Manager) Pending() []string { return m.pending.ids() }

// PendingAllocated counts the pending ids that were ever given out.
func (m *Manager) PendingAllocated() int { return int(m.allocated.Load()) }

// RespondToPermission answers a pending request with one of its options, exactly once.
func (m *Manager) RespondToPermission(pendingID, optionID string) error {
	return m.pending.resolve(pendingID, acpclient.PermissionResponse{OptionID: optionID})
}

// CancelPermission answers a pending request with a cancellation.
func (m *Manager) CancelPermission(pendingID string) error {
	return m.pending.resolve(pendingID, acpclient.PermissionResponse{Cancelled: true})
}

func (m *Manager) send(ctx context.Context, event Event) {
	select {
	case m.updates <- event:
	case <-m.closing:
	case <-ctx.Done():
	}
}
