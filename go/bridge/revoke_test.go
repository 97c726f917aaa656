package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// handling is a logger of the host's.
type handling func(context.Context)

func (handling) Enabled(context.Context, slog.Level) bool          { return true }
func (h handling) Handle(ctx context.Context, _ slog.Record) error { h(ctx); return nil }
func (h handling) WithAttrs([]slog.Attr) slog.Handler              { return h }
func (h handling) WithGroup(string) slog.Handler                   { return h }
func (h handling) logger() *slog.Logger                            { return slog.New(h) }

// dial opens a connection, and gives a request on it that a reviewer is allowed.
func dial(t *testing.T, b *Bridge, r *Reviewer) (conn net.Conn, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn, fmt.Sprintf("POST /%s/codex/permission-request HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
		r.token.Expose(), b.host, len(summary), summary)
}

// TestNoAllowTravelsOnceRevokeHasReturned: nothing of an answer is left in the bridge, however long its record takes.
func TestNoAllowTravelsOnceRevokeHasReturned(t *testing.T) {
	logging, release := make(chan struct{}), make(chan struct{})
	b := start(t, Options{Logger: handling(func(context.Context) {
		close(logging)
		<-release
	}).logger()})
	r := register(t, b, "codex", "kcap-review")
	conn, request := dial(t, b, r)
	_, _ = io.WriteString(conn, request)
	<-logging
	r.Revoke()

	_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	answers := bufio.NewReader(conn)
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Errorf("it has not been sent before the revocation: %v", err)
	} else if body, err := io.ReadAll(response.Body); err != nil || string(body) != allowBody || response.ContentLength != int64(len(allowBody)) {
		t.Errorf("%s, %v", body, err)
	}
	close(release)
	_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if late, _ := io.ReadAll(answers); len(late) > 0 {
		t.Errorf("sent after the revocation: %s", late)
	}
}

// TestClientsThatDontReadDelayNoRevocation, although an answer to each is being sent.
func TestClientsThatDontReadDelayNoRevocation(t *testing.T) {
	const stalled = 2
	b := start(t, Options{AnswerTimeout: time.Hour, Logger: handling(func(ctx context.Context) {
		_ = connection(ctx).Conn.(*net.TCPConn).SetWriteBuffer(4096) // which is full soon
	}).logger()})
	var reviewers [stalled]*Reviewer
	for i := range reviewers {
		r := register(t, b, "codex", "kcap-review")
		conn, request := dial(t, b, r)
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		go func() {
			requests := strings.Repeat(request, 100)
			for {
				if _, err := io.WriteString(conn, requests); err != nil {
					return
				}
			}
		}()
		reviewers[i] = r
	}
	for _, r := range reviewers {
		waitUntilSending(t, r)
	}
	within := func(what string, f func()) {
		t.Helper()
		done, begun := make(chan struct{}), time.Now()
		go func() { defer close(done); f() }()
		select {
		case <-done:
			t.Logf("%s took %v", what, time.Since(begun))
		case <-time.After(10 * time.Second):
			t.Fatalf("%s is still waiting", what)
		}
	}
	within("Revoke", reviewers[0].Revoke)
	within("Revoke once more", reviewers[0].Revoke)
	within("Close", func() { b.Close() })
}

// waitUntilSending waits until one and the same answer has been under way for a while.
func waitUntilSending(t *testing.T, r *Reviewer) {
	t.Helper()
	var last *http.ResponseController
	since := time.Now()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		var now *http.ResponseController
		for control := range r.sending {
			now = control
		}
		r.mu.Unlock()
		if now != last {
			last, since = now, time.Now()
		} else if now != nil && time.Since(since) > 300*time.Millisecond {
			return
		}
	}
	t.Fatal("the answers don't stall")
}
