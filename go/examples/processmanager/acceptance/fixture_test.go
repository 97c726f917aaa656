package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/examples/processmanager/config"
	"github.com/kandev/kandev-policy/go/examples/processmanager/injected"
	"github.com/kandev/kandev-policy/go/examples/processmanager/process"
	"github.com/kandev/kandev-policy/go/policy"
)

func TestMain(m *testing.M) {
	if policy.Engine() == "none" {
		panic("these tests need a build with a policy engine")
	}
	m.Run()
}

// patience is how long something that has to happen may take on a busy machine.
const patience = 30 * time.Second

// setup says how a session is run. The zero value is a fresh Claude session about task t-1 with the injected server over
// HTTP.
type setup struct {
	agentType string // "" is claude-acp
	sse       bool
	resumed   bool
	quickChat bool
	decoded   bool // the host's client keeps no frames
	blanket   bool
	noInject  bool
	dead      bool // the injected server can't be reached
	foreign   bool // task t-1 is another workspace's
	servers   []config.McpServerConfig
	samePlace bool // the servers' URLs name the instance's own port
	workDir   string
}

func (s setup) String() string {
	pick := func(b bool, yes, no string) string {
		if b {
			return yes
		}
		return no
	}
	return fmt.Sprintf("%s-%s-%s-%s", pick(s.sse, "sse", "http"), pick(s.resumed, "resumed", "fresh"),
		pick(s.quickChat, "quickchat", "task"), pick(s.decoded, "decoded", "frame"))
}

// session is a host and an agent with an open session between them.
type session struct {
	t     *testing.T
	ctx   context.Context
	host  *process.Manager
	agent *agent
	tasks *injected.Tasks
	logs  *buffer

	mu     sync.Mutex
	events []process.Event
	news   chan struct{} // closed and renewed at each event
	turn   chan error
}

// open starts a host, connects it to an agent over pipes, and opens the session that the capture belongs to.
func open(t *testing.T, c capture, s setup) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	workspace := "w-1"
	if s.foreign {
		workspace = "w-2"
	}
	x := &session{
		t: t, ctx: ctx, logs: &buffer{}, news: make(chan struct{}), turn: make(chan error, 1),
		tasks: injected.NewTasks(injected.Task{ID: "t-1", Workspace: workspace, Title: "First"}),
	}
	cfg := config.Config{
		AgentType: "claude-acp", Protocol: c.protocol(), WorkDir: s.workDir, McpServers: s.servers,
		DisableInjection: s.noInject, AutoApprovePermissions: s.blanket,
	}
	if s.agentType != "" {
		cfg.AgentType = s.agentType
	}
	if cfg.WorkDir == "" {
		cfg.WorkDir = t.TempDir()
	}
	if s.sse {
		cfg.McpTransport = "sse"
	}
	var server *injected.Server
	if s.samePlace {
		var err error
		if server, err = injected.Start("kandev", x.tasks, injected.Scope{Workspace: "w-1"}); err != nil {
			t.Fatal(err)
		}
		cfg.McpServers = slices.Clone(cfg.McpServers)
		for i := range cfg.McpServers {
			cfg.McpServers[i].URL = strings.ReplaceAll(cfg.McpServers[i].URL, "PORT", strconv.Itoa(server.Port()))
		}
	}
	task := "t-1"
	if s.quickChat {
		task = ""
	}
	agent, stdin, stdout := newAgent(t, c.sessionID(t), c.protocol())
	x.agent = agent
	host, err := process.Start(ctx, process.Options{
		Config:     cfg,
		Overrides:  config.InstanceOverrides{TaskID: task},
		Scope:      injected.Scope{Workspace: "w-1", TaskID: task},
		Tasks:      x.tasks,
		Server:     server,
		Logger:     slog.New(slog.NewJSONHandler(x.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		DropParams: s.decoded,
		Stdin:      stdin,
		Stdout:     stdout,
	})
	if err != nil {
		t.Fatal(err)
	}
	x.host = host
	reading := make(chan struct{})
	done := make(chan struct{})
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
		close(done)
		<-reading
	})
	go func() {
		defer close(reading)
		for {
			select {
			case event := <-host.Updates():
				x.mu.Lock()
				x.events = append(x.events, event)
				close(x.news)
				x.news = make(chan struct{})
				x.mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	if s.dead {
		if err := host.Injected().Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s.resumed {
		if err := host.ResumeSession(ctx, agent.sessionID); err != nil {
			t.Fatal(err)
		}
	} else if id, err := host.NewSession(ctx); err != nil || id != agent.sessionID {
		t.Fatalf("session %q, %v", id, err)
	}
	return x
}

// start begins a turn in which the agent asks for permission with these frames, one after the other.
func (x *session) start(frames ...capture) {
	x.agent.mu.Lock()
	x.agent.frames, x.agent.calls = nil, nil
	for _, c := range frames {
		x.agent.frames = append(x.agent.frames, c.Frame)
	}
	x.agent.mu.Unlock()
	go func() { x.turn <- x.host.Prompt(x.ctx, x.agent.sessionID, "go") }()
}

// finish waits for the end of the turn and returns what the agent got.
func (x *session) finish() []called {
	x.t.Helper()
	select {
	case err := <-x.turn:
		if err != nil {
			x.t.Fatal(err)
		}
	case <-x.ctx.Done():
		x.t.Fatalf("the turn does not end; pending: %q", x.host.Pending())
	}
	return x.agent.results()
}

// run is a turn with one frame that nobody has to answer.
func (x *session) run(c capture) called {
	x.t.Helper()
	x.start(c)
	return x.finish()[0]
}

// seen returns the events of a type so far.
func (x *session) seen(kind string) []process.Event {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []process.Event
	for _, event := range x.events {
		if event.Type == kind {
			out = append(out, event)
		}
	}
	return out
}

// wait waits until there are n events of a type and returns the last of them. A turn that ends before is a failure.
func (x *session) wait(kind string, n int) process.Event {
	x.t.Helper()
	return x.await(kind, n, x.turn)
}

// await is wait for an event that may come after the turn's end, where turn is nil.
func (x *session) await(kind string, n int, turn <-chan error) process.Event {
	x.t.Helper()
	for {
		x.mu.Lock()
		news := x.news
		x.mu.Unlock()
		if events := x.seen(kind); len(events) >= n {
			return events[n-1]
		}
		select {
		case <-news:
		case err := <-turn:
			x.t.Fatalf("the turn ended (%v) without event %d of type %s; the agent got %+v", err, n, kind, x.agent.results())
		case <-x.ctx.Done():
			x.t.Fatalf("no event %d of type %s", n, kind)
		}
	}
}

// approved runs a frame and requires that it proceeds by itself: the option, and no trace of a prompt.
func (x *session) approved(c capture, option string) called {
	x.t.Helper()
	before := x.host.PendingAllocated()
	x.start(c)
	var got called
	select {
	case err := <-x.turn:
		if err != nil {
			x.t.Fatal(err)
		}
		got = x.agent.results()[0]
	case <-x.prompted(before):
		x.t.Fatalf("a user is asked; want option %q without asking", option)
	case <-x.ctx.Done():
		x.t.Fatal("the turn does not end")
	}
	if got.Err != nil || got.OptionID != option {
		x.t.Fatalf("the agent got option %q, error %v; want option %q", got.OptionID, got.Err, option)
	}
	if n := x.host.PendingAllocated(); n != before {
		x.t.Fatalf("%d pending ids were allocated, want none", n-before)
	}
	if events := x.seen("permission_request"); len(events) != before {
		x.t.Fatalf("a prompt was announced")
	}
	return got
}

// prompted is closed once the host has allocated more pending ids than before.
func (x *session) prompted(before int) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		for x.ctx.Err() == nil {
			x.mu.Lock()
			news := x.news
			x.mu.Unlock()
			if x.host.PendingAllocated() > before {
				close(out)
				return
			}
			select {
			case <-news:
			case <-x.ctx.Done():
			}
		}
	}()
	return out
}

// pending runs a frame and requires that it waits for the user, who then takes an option; "" cancels.
func (x *session) pending(c capture, option string) called {
	x.t.Helper()
	n := len(x.seen("permission_request"))
	x.start(c)
	event := x.wait("permission_request", n+1)
	if ids := x.host.Pending(); len(ids) != 1 || ids[0] != event.PendingID || event.PendingID == "" {
		x.t.Fatalf("pending ids %q, announced %q", ids, event.PendingID)
	}
	if got := x.agent.results(); len(got) != 0 {
		x.t.Fatalf("the agent was answered while the request is pending: %+v", got)
	}
	var err error
	if option == "" {
		err = x.host.CancelPermission(event.PendingID)
	} else {
		err = x.host.RespondToPermission(event.PendingID, option)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	got := x.finish()[0]
	if got.Err != nil || got.OptionID != option {
		x.t.Fatalf("the agent got option %q, error %v; want %q", got.OptionID, got.Err, option)
	}
	return got
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
