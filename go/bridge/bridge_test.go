package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// The test binary is also the process that a launch starts; see run_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	if policy.Engine() == "none" {
		// There is nothing to answer with, and that is said at the start.
		if b, err := Start(context.Background(), Options{}); b != nil || !errors.Is(err, policy.ErrNoEngine) {
			fmt.Println("FAIL: started without an engine:", err)
			os.Exit(1)
		}
		fmt.Println("this build has no engine, and so no bridge")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	allowBody = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
	summary   = `{"session_id":"s-1","hook_event_name":"PermissionRequest","tool_name":"mcp__kcap_review__get_pr_summary","tool_input":{"pr":7}}`
	shell     = `{"session_id":"s-1","tool_name":"Bash","tool_input":{"command":"id"}}`
	result    = `{"session_id":"s-1","tool_name":"mcp__kcap_flow_result__submit_review_result"}`
)

func denyBody(message string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + message + `"}}}`
}

// noPrompt fails the test when somebody is asked.
func noPrompt(t testing.TB) Prompt {
	return func(_ context.Context, r PromptRequest) (Answer, error) {
		t.Errorf("asked about %s", r)
		return Answer{Allow: true}, nil
	}
}

func start(t testing.TB, opts Options) *Bridge {
	t.Helper()
	b, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func register(t testing.TB, b *Bridge, vendor string, allowlist ...string) *Reviewer {
	t.Helper()
	r, err := b.RegisterReviewer(vendor, allowlist)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// client is one kept-alive connection at a time, as an agent's hook may have.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{MaxConnsPerHost: 1, Proxy: nil}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// post posts to a reviewer's or the shared URL and gives status and body.
func post(t testing.TB, c *http.Client, url, vendor, body string) (int, string) {
	t.Helper()
	response, err := c.Post(url+"/"+vendor+"/permission-request", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// expect posts and compares.
func expect(t testing.TB, c *http.Client, url, vendor, body string, status int, want string) {
	t.Helper()
	if got, text := post(t, c, url, vendor, body); got != status || text != want {
		t.Errorf("%.80s: %d %s, want %d %s", body, got, text, status, want)
	}
}

const (
	malformed = `{"decision":"deny","reason":"malformed_request","status":400}`
	missing   = `{"error":"not_found"}`
)

// raw sends bytes on a connection of its own and reads until it is closed, or for a while.
func raw(t testing.TB, b *Bridge, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// logged collects log records as text.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestStartAndClose(t *testing.T) {
	b := start(t, Options{})
	url := b.BaseURL()
	if !strings.HasPrefix(url, "http://127.0.0.1:") || strings.HasSuffix(url, "/") {
		t.Error("BaseURL of another form")
	}
	expect(t, client(t), url, "codex", shell, 200, denyBody("Nobody can be asked, so the request was denied."))
	r := register(t, b, "codex", "kcap-review")
	var closers sync.WaitGroup
	for range 3 {
		closers.Add(1)
		go func() {
			defer closers.Done()
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	closers.Wait()
	if !r.Revoked() || b.Reviewers() != 0 {
		t.Error("Close leaves a reviewer")
	}
	if _, err := b.RegisterReviewer("codex", nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", b.host); err == nil {
		conn.Close()
		t.Error("still listening")
	}
	r.Revoke()
}

// TestDecisionsAreCounted: each answer to a live token once, and nothing else.
func TestDecisionsAreCounted(t *testing.T) {
	var decisions policy.Counters
	b := start(t, Options{Decisions: &decisions})
	r := register(t, b, "codex", "kcap-review")
	c := client(t)
	for range 3 {
		expect(t, c, r.URL(), "codex", `{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary"}`, 200, allowBody)
	}
	expect(t, c, r.URL(), "codex", `{`, 400, malformed)
	expect(t, c, b.BaseURL(), "codex", shell, 200, denyBody("Nobody can be asked, so the request was denied."))
	r.Revoke()
	expect(t, c, r.URL(), "codex", `{`, 404, missing)
	if err := b.Close(); err != nil { // which waits for the last record
		t.Fatal(err)
	}
	want := map[policy.Reason]uint64{policy.ReasonAllowlistedServer: 3, policy.ReasonMalformedRequest: 1, policy.ReasonInteractivePrompt: 1}
	for reason, count := range decisions.All() {
		if count != want[reason] {
			t.Errorf("%s: %d, want %d", reason, count, want[reason])
		}
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := register(t, b, "codex")
	cancel()
	select {
	case <-b.closed:
	case <-time.After(10 * time.Second):
		t.Fatal("still open")
	}
	if !r.Revoked() {
		t.Error("a reviewer is left")
	}
	if _, err := Start(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStartRefusesBadOptions(t *testing.T) {
	for _, opts := range []Options{
		{EnabledVendors: []string{"gemini"}},
		{ResultChannelScope: "all"},
		{Catalog: []byte(`{"servers":[]}`)},
		{MaxConnections: -1},
		{MaxPrompts: -1},
	} {
		if b, err := Start(t.Context(), opts); err == nil {
			b.Close()
			t.Errorf("%+v", opts)
		}
	}
}

func TestLoopbackOnly(t *testing.T) {
	b := start(t, Options{})
	host, _, err := net.SplitHostPort(b.host)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Error(b.host, err)
	}
	other := start(t, Options{})
	if b.host == other.host || b.BaseURL() == other.BaseURL() {
		t.Error("two bridges in one place")
	}
}

// TestKeepAlive: requests of one client share a connection, also across answers of every status.
func TestKeepAlive(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	c := client(t)
	reused := 0
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if info.Reused {
			reused++
		}
	}}
	for i, body := range []string{summary, "{}", shell, result} {
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost,
			r.URL()+"/codex/permission-request", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := c.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if reused != i {
			t.Errorf("request %d on a new connection", i)
		}
	}
}

// TestLimitOfConnections: one more than allowed waits until another ends.
func TestLimitOfConnections(t *testing.T) {
	b := start(t, Options{MaxConnections: 2})
	r := register(t, b, "codex", "kcap-review")
	var idle []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", b.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := post(t, client(t), r.URL(), "codex", summary)
		answered <- status
	}()
	select {
	case <-answered:
		t.Fatal("a third connection was served")
	case <-time.After(200 * time.Millisecond):
	}
	idle[0].Close()
	select {
	case status := <-answered:
		if status != 200 {
			t.Error(status)
		}
	case <-time.After(10 * time.Second):
		t.Error("no answer although a place is free")
	}
}

// TestIdleConnectionsAreClosed, so that they don't keep their places.
func TestIdleConnectionsAreClosed(t *testing.T) {
	b := start(t, Options{MaxConnections: 1, IdleTimeout: 50 * time.Millisecond})
	r := register(t, b, "codex", "kcap-review")
	for range 3 {
		// Each client would keep its connection.
		expect(t, client(t), r.URL(), "codex", summary, 200, allowBody)
	}
	if DefaultIdleTimeout > 15*time.Second {
		t.Error(DefaultIdleTimeout)
	}
}
