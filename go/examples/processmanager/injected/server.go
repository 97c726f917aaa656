// Package injected is the host's own MCP server: the one that is put into every session, on loopback, over streamable
// HTTP at /mcp and over SSE at /sse.
package injected

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call is one tools/call that reached the server.
type Call struct {
	Tool   string `json:"tool"`
	Failed bool   `json:"failed"` // the tool ran into an error, such as a missing authorization
}

// Server is the MCP server of one session.
type Server struct {
	port    int
	http    *http.Server
	serving sync.WaitGroup
	reached atomic.Bool

	mu    sync.Mutex
	calls []Call
}

// Start serves the tools for one session on a free loopback port until Close.
func Start(name string, tasks *Tasks, scope Scope) (*Server, error) {
	s := &Server{}
	tools := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	tools.AddReceivingMiddleware(s.observe)
	addTools(tools, tasks, scope)

	pick := func(*http.Request) *mcp.Server { return tools }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(pick, nil))
	mux.Handle("/sse", mcp.NewSSEHandler(pick, nil))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	s.serve(listener)
	// "localhost" is often ::1 first. Holding that address too keeps another process from answering in our place; a
	// machine without IPv6 has nothing to hold.
	if listener, err := net.Listen("tcp", net.JoinHostPort("::1", strconv.Itoa(s.port))); err == nil {
		s.serve(listener)
	}
	return s, nil
}

func (s *Server) serve(listener net.Listener) {
	s.serving.Go(func() { _ = s.http.Serve(listener) })
}

// Port is where the server listens.
func (s *Server) Port() int { return s.port }

// Reached reports whether an agent has listed the tools of this server. A call whose agent never did goes elsewhere.
func (s *Server) Reached() bool { return s != nil && s.reached.Load() }

// Calls returns the calls that reached the server so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call{}, s.calls...)
}

// Close stops serving and drops the connections.
func (s *Server) Close() error {
	err := s.http.Close()
	s.serving.Wait()
	return err
}

func (s *Server) observe(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		switch method {
		case "tools/list":
			s.reached.Store(true)
		case "tools/call":
			call := Call{Failed: err != nil}
			if params, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
				call.Tool = params.Name
			}
			if result, ok := result.(*mcp.CallToolResult); ok && result != nil && result.IsError {
				call.Failed = true
			}
			s.mu.Lock()
			s.calls = append(s.calls, call)
			s.mu.Unlock()
		}
		return result, err
	}
}

type none struct{}

type taskRef struct {
	TaskID string `json:"task_id"`
}

type newTask struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

type taskPlan struct {
	TaskID  string `json:"task_id"`
	Content string `json:"content"`
}

func addTools(server *mcp.Server, tasks *Tasks, scope Scope) {
	add(server, "list_tasks_kandev", "List the workspace's tasks.", func(none) ([]Task, error) {
		return tasks.List(scope.Workspace), nil
	})
	add(server, "create_task_kandev", "Create a task.", func(in newTask) (Task, error) {
		return tasks.create(scope, in.Title), nil
	})
	add(server, "update_task_plan_kandev", "Replace a task's plan.", func(in taskPlan) (Task, error) {
		return tasks.setPlan(scope, in.TaskID, in.Content)
	})
	add(server, "delete_task_kandev", "Delete a task.", func(in taskRef) (string, error) {
		return "deleted", tasks.delete(scope, in.TaskID)
	})
	add(server, "archive_workspace_kandev", "Archive the workspace. Administrators only.", func(none) (string, error) {
		return "archived", tasks.archive(scope)
	})
}

// add registers a tool whose error becomes the call's result, as a model has to see it.
func add[In, Out any](server *mcp.Server, name, description string, run func(In) (Out, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, err := run(in)
			if err != nil {
				return nil, nil, err
			}
			return nil, map[string]any{"result": out}, nil
		})
}
