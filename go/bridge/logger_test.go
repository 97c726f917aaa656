package bridge

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"
)

// handler is a slog.Handler that does what the host's might.
type handler func()

func (h handler) Enabled(context.Context, slog.Level) bool  { return true }
func (h handler) Handle(context.Context, slog.Record) error { h(); return nil }
func (h handler) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h handler) WithGroup(string) slog.Handler             { return h }
func logger(handle func()) *slog.Logger                     { return slog.New(handler(handle)) }

// TestALoggerLosesNoAnswer, neither one that panics nor one that takes longer than an answer may.
func TestALoggerLosesNoAnswer(t *testing.T) {
	for name, handle := range map[string]func(){
		"panics": func() { panic("no disk") },
		"slow":   func() { time.Sleep(300 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Options{Logger: logger(handle), AnswerTimeout: 100 * time.Millisecond})
			r := register(t, b, "codex", "kcap-review")
			for range 2 {
				c := client(t)
				expect(t, c, r.URL(), "codex", summary, http.StatusOK, allowBody)
				expect(t, c, r.URL(), "codex", shell, http.StatusOK, denyBody("This reviewer may only use the MCP tools of its launch."))
				expect(t, c, r.URL(), "codex", "{", http.StatusBadRequest, malformed)
				expect(t, c, r.URL(), "claude", summary, http.StatusNotFound, missing)
				expect(t, c, b.BaseURL(), "codex", shell, http.StatusOK, denyBody("Nobody can be asked, so the request was denied."))
			}
		})
	}
}

// TestNoAllowLeavesAfterRevoke: an answer whose record is being written when the reviewer is revoked has left before.
func TestNoAllowLeavesAfterRevoke(t *testing.T) {
	logging, revoked := make(chan struct{}), make(chan struct{})
	b := start(t, Options{Logger: logger(func() { close(logging); <-revoked })})
	r := register(t, b, "codex", "kcap-review")
	answered := make(chan string, 1)
	go func() {
		_, body := post(t, client(t), r.URL(), "codex", summary)
		answered <- body
	}()
	<-logging
	r.Revoke()
	defer close(revoked)
	select {
	case body := <-answered:
		if body != allowBody {
			t.Error(body)
		}
	case <-time.After(10 * time.Second):
		t.Error("no answer until the logger is done, which is after the revocation")
	}
}
