package bridge

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLoggersSpoilNoAnswer: whatever the host's does, each answer is whole, and its connection serves the next request.
func TestLoggersSpoilNoAnswer(t *testing.T) {
	var reported logged
	lastResort.SetOutput(&reported)
	defer lastResort.SetOutput(os.Stderr)
	const timeout = 300 * time.Millisecond // which a busy machine doesn't spend on an answer
	for name, handle := range map[string]handling{
		"panics": func(context.Context) { panic("sentinel") },
		"slow":   func(context.Context) { time.Sleep(2 * timeout) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Options{Logger: handle.logger(), AnswerTimeout: timeout, Prompt: answering(Answer{Allow: true}, nil)})
			r := register(t, b, "codex", "kcap-review")
			c := client(t)
			expect(t, c, r.URL(), "codex", summary, 200, allowBody)
			expect(t, c, r.URL(), "codex", shell, 200, denyBody("This reviewer may only use the MCP tools of its launch."))
			expect(t, c, r.URL(), "codex", "{", 400, malformed)
			expect(t, client(t), b.BaseURL(), "codex", shell, 200, allowBody)
			expect(t, client(t), b.BaseURL(), "gemini", shell, 404, missing)
			b.Close() // which waits for the last record
		})
	}
	if text := reported.String(); strings.Count(text, "bridge: the logger panicked with a string, so a record is lost\n") != 5 ||
		strings.Count(text, "\n") != 5 || strings.Contains(text, "sentinel") {
		t.Error(text)
	}
}
