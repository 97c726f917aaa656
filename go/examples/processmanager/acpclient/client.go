// Package acpclient is the host's side of ACP, on the ACP Go SDK's connection.
//
// The SDK's typed client decodes a permission request into types that have no field for the tool call's name, and drops
// it. So this client takes the requests from the SDK's connection one step earlier, as raw params, which it keeps. That
// also lets it speak ACP v2, for which the SDK has no types yet.
package acpclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"

	acp "github.com/coder/acp-go-sdk"

	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
)

// Options are what a client is made with. The last three are required.
type Options struct {
	Protocol     int  // 1 or 2
	DropParams   bool // keep no frames, as a client on typed SDK callbacks does
	Logger       *slog.Logger
	OnUpdate     func(context.Context, Update)
	OnPermission func(context.Context, *PermissionRequest) (PermissionResponse, error)
}

// Update is one session/update notification.
type Update struct {
	SessionID  string
	Kind       string // tool_call, tool_call_update, agent_message_chunk, …
	ToolCallID string
	Title      string
	Status     string
	State      string          // v2: running, idle, …
	Raw        json.RawMessage // the update as it came
}

// Client is one connection to one agent.
type Client struct {
	opts Options
	conn *acp.Connection
	idle chan struct{} // v2: the turn has ended
	caps acp.AgentCapabilities
}

// New starts a client on the agent's standard input and output.
func New(stdin io.Writer, stdout io.Reader, opts Options) *Client {
	c := &Client{opts: opts, idle: make(chan struct{}, 1)}
	// The connection reads as soon as it is made; hold its input back until everything is in place.
	gate := &gatedReader{Reader: stdout, open: make(chan struct{})}
	c.conn = acp.NewConnection(c.handle, stdin, gate)
	c.conn.SetLogger(slog.New(messageOnly{opts.Logger.Handler()}))
	close(gate.open)
	return c
}

// Done is closed when the agent has gone.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

func (c *Client) handle(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	switch method {
	case acp.ClientMethodSessionRequestPermission:
		return c.forwardPermissionRequest(ctx, params)
	case acp.ClientMethodSessionUpdate:
		return nil, c.forwardUpdate(ctx, params)
	default: // no file system, no terminal: none is announced in initialize
		return nil, acp.NewMethodNotFound(method)
	}
}

func (c *Client) forwardUpdate(ctx context.Context, params json.RawMessage) *acp.RequestError {
	var notification struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var update struct {
		SessionUpdate string `json:"sessionUpdate"`
		ToolCallID    string `json:"toolCallId"`
		Title         string `json:"title"`
		Status        string `json:"status"`
		State         string `json:"state"`
	}
	err := json.Unmarshal(params, &notification)
	if err == nil {
		err = json.Unmarshal(notification.Update, &update)
	}
	if err != nil {
		return acp.NewInvalidParams(map[string]any{"error": "session update can't be decoded"})
	}
	c.opts.OnUpdate(ctx, Update{
		SessionID: notification.SessionID, Kind: update.SessionUpdate, ToolCallID: update.ToolCallID,
		Title: update.Title, Status: update.Status, State: update.State, Raw: notification.Update,
	})
	if update.SessionUpdate == "state_update" && update.State == "idle" {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	return nil
}

// ErrProtocol is an agent that speaks another version than the one asked for.
var ErrProtocol = errors.New("the agent doesn't speak this version of ACP")

// Initialize opens the connection.
func (c *Client) Initialize(ctx context.Context) error {
	info := acp.Implementation{Name: "processmanager", Version: "1.0.0"}
	if c.opts.Protocol >= 2 {
		got, err := acp.SendRequest[struct {
			ProtocolVersion int `json:"protocolVersion"`
		}](c.conn, ctx, acp.AgentMethodInitialize, map[string]any{
			"protocolVersion": c.opts.Protocol, "info": info, "capabilities": map[string]any{},
		})
		if err == nil && got.ProtocolVersion != c.opts.Protocol {
			err = ErrProtocol
		}
		return err
	}
	got, err := acp.SendRequest[acp.InitializeResponse](c.conn, ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &info,
	})
	c.caps = got.AgentCapabilities
	return err
}

// NewSession opens a session with these MCP servers and returns its id.
func (c *Client) NewSession(ctx context.Context, cwd string, servers []config.McpServerConfig) (string, error) {
	got, err := acp.SendRequest[acp.NewSessionResponse](c.conn, ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{
		Cwd: cwd, McpServers: acpServers(servers),
	})
	return string(got.SessionId), err
}

// ResumeSession opens a session again: with session/resume where the agent has it, else with session/load, which also
// sends the session's history as updates.
func (c *Client) ResumeSession(ctx context.Context, id, cwd string, servers []config.McpServerConfig) error {
	if c.opts.Protocol < 2 && c.caps.SessionCapabilities.Resume == nil {
		_, err := acp.SendRequest[acp.LoadSessionResponse](c.conn, ctx, acp.AgentMethodSessionLoad, acp.LoadSessionRequest{
			SessionId: acp.SessionId(id), Cwd: cwd, McpServers: acpServers(servers),
		})
		return err
	}
	_, err := acp.SendRequest[acp.ResumeSessionResponse](c.conn, ctx, acp.AgentMethodSessionResume, acp.ResumeSessionRequest{
		SessionId: acp.SessionId(id), Cwd: cwd, McpServers: acpServers(servers),
	})
	return err
}

// Prompt runs one turn to its end.
func (c *Client) Prompt(ctx context.Context, id, text string) error {
	select {
	case <-c.idle: // of an earlier turn
	default:
	}
	_, err := acp.SendRequest[json.RawMessage](c.conn, ctx, acp.AgentMethodSessionPrompt, acp.PromptRequest{
		SessionId: acp.SessionId(id), Prompt: []acp.ContentBlock{acp.TextBlock(text)},
	})
	if err != nil || c.opts.Protocol < 2 {
		return err
	}
	select { // in v2 the response only says that the turn has begun
	case <-c.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.Done():
		return io.ErrUnexpectedEOF
	}
}

// Cancel asks the agent to end the turn.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.conn.SendNotification(ctx, acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: acp.SessionId(id)})
}

func acpServers(servers []config.McpServerConfig) []acp.McpServer {
	out := []acp.McpServer{}
	for _, s := range servers {
		headers := []acp.HttpHeader{}
		for name, value := range s.Headers {
			headers = append(headers, acp.HttpHeader{Name: name, Value: value})
		}
		switch {
		case s.Type == "sse":
			out = append(out, acp.McpServer{Sse: &acp.McpServerSseInline{Name: s.Name, Type: "sse", Url: s.URL, Headers: headers}})
		case s.URL != "":
			out = append(out, acp.McpServer{Http: &acp.McpServerHttpInline{Name: s.Name, Type: "http", Url: s.URL, Headers: headers}})
		default:
			env := []acp.EnvVariable{}
			for name, value := range s.Env {
				env = append(env, acp.EnvVariable{Name: name, Value: value})
			}
			out = append(out, acp.McpServer{Stdio: &acp.McpServerStdio{Name: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Env: env}})
		}
	}
	return out
}

// gatedReader lets nothing through until it is opened.
type gatedReader struct {
	io.Reader
	open chan struct{}
	once sync.Once
}

func (r *gatedReader) Read(p []byte) (int, error) {
	r.once.Do(func() { <-r.open })
	return r.Reader.Read(p)
}

// messageOnly drops the attributes of the SDK's diagnostics: it logs a line that it can't parse as it came, arguments and
// credentials included.
type messageOnly struct{ slog.Handler }

func (h messageOnly) Handle(ctx context.Context, record slog.Record) error {
	return h.Handler.Handle(ctx, slog.NewRecord(record.Time, record.Level, "acp: "+record.Message, record.PC))
}

func (h messageOnly) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h messageOnly) WithGroup(string) slog.Handler      { return h }
