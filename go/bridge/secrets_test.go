package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// TestTokensAreInNoOutput: with every kind of answer given and every value printed, neither token nor anything else of a
// request is found in a log line, an error, a printed value, a decision, an argument list or a file.
func TestTokensAreInNoOutput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var seen logged
	defaultLogger := slog.Default()
	defer slog.SetDefault(defaultLogger)
	slog.SetDefault(seen.logger())

	const sentinel = "sentinel-argument"
	prompts := 0
	b := start(t, Options{Logger: seen.logger(), Prompt: func(_ context.Context, r PromptRequest) (Answer, error) {
		_, _ = io.WriteString(&seen, fmt.Sprintf("%v %+v %#v", r, r, r))
		switch prompts++; prompts {
		case 1:
			return Answer{Allow: true}, nil
		case 2:
			return Answer{}, errors.New("wrong: " + string(r.Payload))
		default:
			panic("wrong: " + string(r.Payload))
		}
	}})
	r := register(t, b, "codex", "kcap-review")
	c := client(t)
	for _, url := range []string{r.URL(), b.BaseURL()} {
		for _, body := range []string{
			`{"session_id":"` + sentinel + `","tool_name":"mcp__kcap_review__get_pr_summary","tool_input":"` + sentinel + `"}`,
			`{"session_id":"` + sentinel + `","tool_name":"` + sentinel + `","tool_input":{"a":"` + sentinel + `"}}`,
			`{"session_id":"` + sentinel + `","tool_name":"Bash"}`,
			`{"` + sentinel, sentinel,
		} {
			_, answer := post(t, c, url, "codex", body)
			_, _ = io.WriteString(&seen, answer)
			d, _, _ := b.registry.Decide(r.token.Expose(), "codex", []byte(body))
			decision, err := json.Marshal(d)
			_, _ = io.WriteString(&seen, fmt.Sprintf("%s %v %v %+v %#v", decision, err, d, d, d))
		}
	}
	_, answer := post(t, c, "http://"+b.host+"/"+sentinel, "codex", sentinel)
	_, _ = io.WriteString(&seen, answer+raw(t, b, "POST /"+sentinel+" HTTP/1.1\r\nHost: "+b.host+"\r\n"+sentinel+"\r\n\r\n"))

	cmd := childCommand(t.Context(), "show")
	other := register(t, b, "codex", "kcap-sessions")
	tokens := []string{b.shared.Expose(), r.token.Expose(), other.token.Expose()}
	out, runErr := &logged{}, error(nil)
	cmd.Stdout = out
	runErr = other.Run(cmd)
	_, args, _ := strings.Cut(out.String(), "\n")
	_, _ = io.WriteString(&seen, args)
	_, mintErr := b.RegisterReviewer("codex", []string{"kcap-flows"})
	_, hookErr := Hook{URL: r.URL(), Vendor: "codex"}.Answer(t.Context(), strings.NewReader("{"))
	b.Close()
	_, closedErr := Hook{URL: r.URL(), Vendor: "codex"}.Answer(t.Context(), strings.NewReader("{"))
	for _, err := range []error{runErr, mintErr, hookErr, closedErr} {
		_, _ = io.WriteString(&seen, fmt.Sprintf("%v %+v %#v %q", err, err, err, err))
	}
	holder := struct {
		r *Reviewer
		b *Bridge
	}{r, b}
	type named struct{ Token policy.Token }
	for _, value := range []any{b, r, []*Reviewer{r}, map[string]*Bridge{"b": b}, named{r.token}, holder.r, holder.b} {
		_, _ = io.WriteString(&seen, fmt.Sprintf("%v %+v %#v %s %q %x", value, value, value, value, value, value))
		slog.Info("value", "value", value)
		text, err := json.Marshal(value)
		_, _ = io.WriteString(&seen, fmt.Sprint(string(text), err))
	}
	for _, variable := range os.Environ() {
		_, _ = io.WriteString(&seen, variable)
	}
	_, _ = io.WriteString(&seen, strings.Join(os.Args, " "))

	text := seen.String()
	for _, token := range append(tokens, sentinel) {
		for _, form := range []string{token, token[:16], fmt.Sprintf("%x", token), fmt.Sprintf("%X", token)} {
			if at := strings.Index(text, form); at >= 0 && !(token == sentinel && isPrompt(text, at)) {
				t.Errorf("a secret is in %q", strings.ReplaceAll(text[max(0, at-80):at+10], token, "…"))
			}
		}
	}
	if !strings.Contains(text, `"reason":"allowlisted_server"`) || !strings.Contains(text, `"reason":"not_found"`) {
		t.Error("nothing was logged")
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}

// isPrompt: a request that a person is asked about prints its tool's name, which is the one thing that may be shown.
func isPrompt(text string, at int) bool {
	return strings.HasSuffix(text[:at], `codex "`)
}

// TestRecords: one for each answer, with what happened and for whom.
func TestRecords(t *testing.T) {
	var seen logged
	b := start(t, Options{Logger: seen.logger(), Prompt: answering(Answer{Allow: true}, nil)})
	r := register(t, b, "codex", "kcap-review")
	c, records := client(t), 0
	// An answer comes before its record, and the next may be on a connection of its own.
	post := func(url, vendor, body string) {
		post(t, c, url, vendor, body)
		records++
		for deadline := time.Now().Add(10 * time.Second); strings.Count(seen.String(), "\n") < records; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d records at most:\n%s", records-1, seen.String())
			}
		}
	}
	post(r.URL(), "codex", summary)
	post(r.URL(), "codex", shell)
	post(r.URL(), "codex", "{}")
	post(b.BaseURL(), "claude", shell)
	post(b.BaseURL(), "gemini", shell)
	r.Revoke()
	post(r.URL(), "codex", summary)
	b.Close()
	want := []string{
		`"level":"INFO","msg":"permission request","decision":"allow","reason":"allowlisted_server","status":200,"vendor":"codex","reviewer":1,"server":"kcap_review","tool":"get_pr_summary","took":`,
		`"level":"INFO","msg":"permission request","decision":"deny","reason":"bare_tool_denied","status":200,"vendor":"codex","reviewer":1,"took":`,
		`"level":"INFO","msg":"permission request","decision":"deny","reason":"malformed_request","status":400,"vendor":"codex","reviewer":1,"took":`,
		`"level":"INFO","msg":"permission request","decision":"allow","reason":"interactive_prompt","status":200,"vendor":"claude","reviewer":0,"took":`,
		`"level":"DEBUG","msg":"permission request","decision":"deny","reason":"not_found","status":404,"took":`,
		`"level":"DEBUG","msg":"permission request","decision":"deny","reason":"not_found","status":404,"took":`,
	}
	lines := strings.Split(strings.TrimSpace(seen.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d records:\n%s", len(lines), seen.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("%s\nwant %s", line, want[i])
		}
	}
}
