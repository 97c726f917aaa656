package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	acp "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is the SDK's agent side with captured frames to send. It does with the host's MCP servers what real agents do:
// it connects when the session opens, lists the tools, and runs a call for real once it is allowed.
type agent struct {
	sessionID string
	protocol  int
	wire      *wire
	conn      *acp.AgentSideConnection

	mu      sync.Mutex
	servers []acp.McpServer
	clients map[string]*mcp.ClientSession
	frames  []string
	loaded  bool
	cancel  map[string]context.CancelFunc // by tool call
	calls   []called
}

// called is what became of one permission request, as the agent saw it.
type called struct {
	Response json.RawMessage // the JSON-RPC result as it stood on the wire
	OptionID string          // empty: cancelled
	Ran      bool            // the MCP call was made
	Failed   bool            // and the server refused it
	Text     string          // what it returned
	Err      error           // of the permission request
}

func newAgent(t *testing.T, sessionID string, protocol int) (a *agent, stdin io.WriteCloser, stdout io.Reader) {
	hostToAgentR, hostToAgentW := io.Pipe()
	agentToHostR, agentToHostW := io.Pipe()
	a = &agent{
		sessionID: sessionID, protocol: protocol,
		clients: map[string]*mcp.ClientSession{}, cancel: map[string]context.CancelFunc{},
	}
	a.wire = &wire{out: agentToHostW, raw: map[string]string{}, asked: map[string]string{}, answers: map[string]json.RawMessage{}}
	a.conn = acp.NewAgentSideConnection(a, a.wire, a.wire.watch(hostToAgentR))
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		hostToAgentR.Close()
		agentToHostW.Close()
		<-a.conn.Done()
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, client := range a.clients {
			client.Close()
		}
	})
	return a, hostToAgentW, agentToHostR
}

func (a *agent) Initialize(_ context.Context, req acp.InitializeRequest) (acp.InitializeResponse, error) {
	return acp.InitializeResponse{
		ProtocolVersion:   req.ProtocolVersion,
		AgentCapabilities: acp.AgentCapabilities{LoadSession: true, McpCapabilities: acp.McpCapabilities{Http: true, Sse: true}},
	}, nil
}

func (a *agent) NewSession(ctx context.Context, req acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	a.open(ctx, req.McpServers)
	return acp.NewSessionResponse{SessionId: acp.SessionId(a.sessionID)}, nil
}

func (a *agent) LoadSession(ctx context.Context, req acp.LoadSessionRequest) (acp.LoadSessionResponse, error) {
	if string(req.SessionId) != a.sessionID {
		return acp.LoadSessionResponse{}, fmt.Errorf("no session %q", req.SessionId)
	}
	a.open(ctx, req.McpServers)
	a.mu.Lock()
	a.loaded = true
	a.mu.Unlock()
	return acp.LoadSessionResponse{}, nil
}

func (a *agent) ResumeSession(ctx context.Context, req acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	_, err := a.LoadSession(ctx, acp.LoadSessionRequest{SessionId: req.SessionId, Cwd: req.Cwd, McpServers: req.McpServers})
	return acp.ResumeSessionResponse{}, err
}

// open connects to the servers that can be reached and skips the others, as Claude Code does.
func (a *agent) open(ctx context.Context, servers []acp.McpServer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.servers = servers
	for _, server := range servers {
		var transport mcp.Transport
		var name string
		switch {
		case server.Http != nil:
			name, transport = server.Http.Name, &mcp.StreamableClientTransport{Endpoint: server.Http.Url, MaxRetries: -1, DisableStandaloneSSE: true}
		case server.Sse != nil:
			name, transport = server.Sse.Name, &mcp.SSEClientTransport{Endpoint: server.Sse.Url}
		default:
			continue
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
		// A client's streams live as long as the context that it was connected with.
		session, err := client.Connect(context.WithoutCancel(ctx), transport, nil)
		if err != nil {
			continue
		}
		if _, err := session.ListTools(ctx, nil); err != nil {
			session.Close()
			continue
		}
		a.clients[name] = session
	}
}

// Prompt sends the frames, one tool call after the other.
func (a *agent) Prompt(ctx context.Context, req acp.PromptRequest) (acp.PromptResponse, error) {
	ctx = context.WithoutCancel(ctx) // after session/cancel an agent still waits for the host's answers
	a.mu.Lock()
	frames := a.frames
	a.mu.Unlock()
	for _, frame := range frames {
		result := a.call(ctx, frame)
		a.mu.Lock()
		a.calls = append(a.calls, result)
		a.mu.Unlock()
	}
	if a.protocol >= 2 {
		a.wire.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"state_update","state":"idle"}}}`, a.sessionID))
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (a *agent) call(ctx context.Context, frame string) (result called) {
	type toolCall struct {
		ToolCallID string          `json:"toolCallId"`
		Name       any             `json:"name"`
		Title      string          `json:"title"`
		RawInput   json.RawMessage `json:"rawInput"`
	}
	var params struct {
		ToolCall json.RawMessage                   `json:"toolCall"`
		Subject  json.RawMessage                   `json:"subject"`
		Options  []struct{ OptionID, Kind string } `json:"options"`
	}
	if err := json.Unmarshal([]byte(frame), &params); err != nil {
		return called{Err: err}
	}
	// The agent knows its call, whatever it says of it: it takes what it finds.
	var tool toolCall
	var subject struct{ ToolCall json.RawMessage }
	_ = json.Unmarshal(params.Subject, &subject)
	_ = json.Unmarshal(subject.ToolCall, &tool)
	_ = json.Unmarshal(params.ToolCall, &tool)
	id := acp.ToolCallId(tool.ToolCallID)

	update := acp.StartToolCall(id, tool.Title, acp.WithStartStatus(acp.ToolCallStatusPending))
	if err := a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: acp.SessionId(a.sessionID), Update: update}); err != nil {
		return called{Err: err}
	}

	askCtx, cancel := context.WithCancel(ctx)
	a.mu.Lock()
	a.cancel[tool.ToolCallID] = cancel
	a.mu.Unlock()
	defer cancel()
	result.OptionID, result.Response, result.Err = a.ask(askCtx, frame)

	allowed := false
	for _, option := range params.Options {
		allowed = allowed || option.OptionID == result.OptionID && strings.HasPrefix(option.Kind, "allow")
	}
	status := acp.ToolCallStatusFailed
	name, ok := tool.Name.(string)
	if !ok {
		name = tool.Title
	}
	if parts := strings.SplitN(name, "__", 3); allowed && len(parts) == 3 && a.client(parts[1]) != nil {
		result.Ran = true
		out, err := a.client(parts[1]).CallTool(ctx, &mcp.CallToolParams{Name: parts[2], Arguments: tool.RawInput})
		switch {
		case err != nil:
			result.Failed, result.Text = true, err.Error()
		default:
			result.Failed = out.IsError
			for _, content := range out.Content {
				if text, ok := content.(*mcp.TextContent); ok {
					result.Text += text.Text
				}
			}
		}
		if !result.Failed {
			status = acp.ToolCallStatusCompleted
		}
	}
	done := acp.UpdateToolCall(id, acp.WithUpdateStatus(status),
		acp.WithUpdateContent([]acp.ToolCallContent{acp.ToolContent(acp.TextBlock(result.Text))}))
	if err := a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: acp.SessionId(a.sessionID), Update: done}); err != nil && result.Err == nil {
		result.Err = err
	}
	return result
}

// ask sends a frame, byte for byte, as the params of a permission request of the SDK's agent side.
func (a *agent) ask(ctx context.Context, frame string) (optionID string, response json.RawMessage, err error) {
	key := a.wire.register(frame)
	resp, err := a.conn.RequestPermission(ctx, acp.RequestPermissionRequest{
		SessionId: acp.SessionId(key), ToolCall: acp.ToolCallUpdate{ToolCallId: "replaced"}, Options: []acp.PermissionOption{},
	})
	response = a.wire.answer(key)
	if resp.Outcome.Selected != nil {
		optionID = string(resp.Outcome.Selected.OptionId)
	}
	return optionID, response, err
}

func (a *agent) client(name string) *mcp.ClientSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clients[name]
}

func (a *agent) results() []called {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]called{}, a.calls...)
}

var errUnused = errors.New("not used by this host")

func (a *agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, errUnused
}
func (a *agent) Cancel(context.Context, acp.CancelNotification) error { return nil }
func (a *agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, errUnused
}
func (a *agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, errUnused
}
func (a *agent) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, errUnused
}
func (a *agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, errUnused
}

// wire is the agent's end of the connection. The SDK's types can't hold a captured frame (they lose the tool call's name,
// and duplicate keys), so a permission request gets the frame's bytes for its params here, on the way out.
type wire struct {
	mu      sync.Mutex
	out     io.Writer
	next    int
	raw     map[string]string          // key to frame
	asked   map[string]string          // JSON-RPC id to key
	answers map[string]json.RawMessage // key to result
}

func (w *wire) register(frame string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	key := fmt.Sprintf("frame-%d", w.next)
	w.raw[key] = frame
	return key
}

func (w *wire) answer(key string) json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers[key]
}

func (w *wire) line(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.out, text+"\n")
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var message struct {
		ID     json.RawMessage            `json:"id"`
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	out := p
	if json.Unmarshal(p, &message) == nil && message.Method == acp.ClientMethodSessionRequestPermission {
		var key string
		_ = json.Unmarshal(message.Params["sessionId"], &key)
		w.asked[string(message.ID)] = key
		out = []byte(`{"jsonrpc":"2.0","id":` + string(message.ID) + `,"method":"session/request_permission","params":` + w.raw[key] + "}\n")
	}
	if _, err := w.out.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// watch notes the host's answers as they pass.
func (w *wire) watch(from io.Reader) io.Reader {
	r, to := io.Pipe()
	go func() {
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadBytes('\n')
			var message struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Result json.RawMessage `json:"result"`
			}
			if json.Unmarshal(line, &message) == nil && message.Method == "" {
				w.mu.Lock()
				if key, ok := w.asked[string(message.ID)]; ok {
					w.answers[key] = bytes.Clone(message.Result)
				}
				w.mu.Unlock()
			}
			if _, writeErr := to.Write(line); err == nil {
				err = writeErr
			}
			if err != nil {
				to.CloseWithError(err)
				return
			}
		}
	}()
	return r
}
