// Command processmanager runs an ACP agent as a process manager does: it injects its own MCP server into the session,
// answers the agent's requests for that server itself, and leaves the others to the user.
//
//	processmanager -cwd /path/to/project -prompt "Update the plan of task t-1" -- claude-agent-acp
//
// Events are written to standard output, one JSON object a line, and the log to standard error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/examples/processmanager/injected"
	"github.com/kandev/kandev-policy/go/examples/processmanager/process"
	"github.com/kandev/kandev-policy/go/policy"
)

type flags struct {
	config  config.Config
	prompt  string
	resume  string
	answer  string
	down    bool
	settle  time.Duration
	serve   string
	verbose bool
}

func main() {
	var f flags
	flag.StringVar(&f.config.AgentType, "agent-type", "claude-acp", "the host's id of the agent; selects the dialect")
	flag.IntVar(&f.config.Protocol, "protocol", 1, "version of ACP, 1 or 2")
	flag.StringVar(&f.config.WorkDir, "cwd", ".", "working directory of the session")
	flag.StringVar(&f.config.McpTransport, "transport", "http", "of the injected server, http or sse")
	flag.BoolVar(&f.config.DisableInjection, "no-injection", false, "don't inject the host's MCP server")
	flag.BoolVar(&f.config.AutoApprovePermissions, "auto-approve", false, "blanket approval")
	flag.Func("mcp", "another MCP server, as `name=url`; may be repeated", func(value string) error {
		name, url, ok := strings.Cut(value, "=")
		if !ok {
			return fmt.Errorf("want name=url")
		}
		f.config.McpServers = append(f.config.McpServers, config.McpServerConfig{Name: name, Type: "http", URL: url})
		return nil
	})
	flag.StringVar(&f.prompt, "prompt", "go", "what to tell the agent")
	flag.StringVar(&f.resume, "resume", "", "id of a session to resume; empty opens a fresh one")
	flag.StringVar(&f.answer, "answer", "ask", "what becomes of pending requests: ask (type an option id), reject or cancel")
	flag.BoolVar(&f.down, "injected-down", false, "stop the injected server before the session opens")
	flag.DurationVar(&f.settle, "settle", time.Second, "how long the agent may connect to its MCP servers before the prompt")
	flag.StringVar(&f.serve, "serve", "", "only serve the tools as an MCP server of this `name`, until standard input ends")
	flag.BoolVar(&f.verbose, "v", false, "log why a request stays with the user")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := runAgent
	if f.serve != "" {
		run = serveTools
	}
	if err := run(ctx, f, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "processmanager:", err)
		os.Exit(1)
	}
}

func board() *injected.Tasks {
	return injected.NewTasks(injected.Task{ID: "t-1", Workspace: "w-1", Title: "First task"})
}

// serveTools is a third party's server: the same tools, but not injected by the host.
func serveTools(_ context.Context, f flags, _ []string) error {
	server, err := injected.Start(f.serve, board(), injected.Scope{Workspace: "w-1"})
	if err != nil {
		return err
	}
	defer server.Close()
	print := printer()
	print(map[string]any{"type": "listening", "port": server.Port()})
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	print(map[string]any{"type": "summary", "calls": server.Calls()})
	return nil
}

func runAgent(ctx context.Context, f flags, command []string) error {
	if len(command) == 0 {
		return fmt.Errorf("which agent? give its command after --")
	}
	dir, err := filepath.Abs(f.config.WorkDir)
	if err != nil {
		return err
	}
	f.config.WorkDir = dir
	level := slog.LevelInfo
	if f.verbose {
		level = slog.LevelDebug
	}
	agent := exec.Command(command[0], command[1:]...)
	agent.Dir, agent.Stderr = dir, os.Stderr
	tasks := board()
	// A host with a /debug/vars would publish them there: expvar.Publish("permission_decisions", &decisions).
	var decisions policy.Counters
	host, err := process.Start(ctx, process.Options{
		Config:    f.config,
		Overrides: config.InstanceOverrides{TaskID: "t-1"},
		Scope:     injected.Scope{Workspace: "w-1", TaskID: "t-1"},
		Tasks:     tasks,
		Logger:    slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
		Decisions: &decisions,
		Command:   agent,
	})
	if err != nil {
		return err
	}
	defer host.Close()

	print := printer()
	ctx, cancel := context.WithCancel(ctx)
	var events sync.WaitGroup
	events.Go(func() { readEvents(ctx, f, host, print) })
	defer events.Wait()
	defer cancel()

	if f.down {
		if err := host.Injected().Close(); err != nil {
			return err
		}
	}
	session := f.resume
	if session != "" {
		err = host.ResumeSession(ctx, session)
	} else {
		session, err = host.NewSession(ctx)
	}
	if err != nil {
		return err
	}
	waitForAgent(ctx, f, host)
	print(map[string]any{"type": "session", "session_id": session, "injected_reached": host.Injected().Reached()})
	if err := host.Prompt(ctx, session, f.prompt); err != nil {
		return err
	}
	summary := map[string]any{
		"type": "summary", "pending_allocated": host.PendingAllocated(), "tasks": tasks.List("w-1"), "calls": host.Injected().Calls(),
		"decisions": &decisions,
	}
	print(summary)
	return nil
}

// waitForAgent lets the agent find its MCP servers: real agents connect in the background.
func waitForAgent(ctx context.Context, f flags, host *process.Manager) {
	deadline := time.After(20 * time.Second)
	for host.Config().InjectedKandevMCP && !f.down && !host.Injected().Reached() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			return
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-time.After(f.settle):
	case <-ctx.Done():
	}
}

func readEvents(ctx context.Context, f flags, host *process.Manager, print func(any)) {
	input := bufio.NewScanner(os.Stdin)
	for {
		select {
		case event := <-host.Updates():
			print(event)
			if event.Type == "permission_request" {
				answer(f, host, event, input)
			}
		case <-ctx.Done():
			return
		}
	}
}

func answer(f flags, host *process.Manager, event process.Event, input *bufio.Scanner) {
	respond := func() error { return host.CancelPermission(event.PendingID) }
	switch f.answer {
	case "reject":
		for _, option := range event.Options {
			if strings.HasPrefix(option.Kind, "reject") {
				respond = func() error { return host.RespondToPermission(event.PendingID, option.OptionID) }
				break
			}
		}
	case "ask":
		fmt.Fprint(os.Stderr, "option id (empty cancels): ")
		if input.Scan() && input.Text() != "" {
			respond = func() error { return host.RespondToPermission(event.PendingID, input.Text()) }
		}
	}
	if err := respond(); err != nil {
		fmt.Fprintln(os.Stderr, "processmanager:", err)
	}
}

// printer writes JSON lines, for any number of goroutines.
func printer() func(any) {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	return func(line any) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(line)
	}
}
