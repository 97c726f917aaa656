package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/bridge"
)

const (
	hookAllowed = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n"
	hookDenied  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The permission bridge gave no answer, so the request was denied."}}}` + "\n"
	hookPayload = `{"session_id":"s","tool_name":"mcp__kcap_review__get_pr_summary","tool_input":{}}`
)

// TestHook: an answer is printed as it is, whatever fails is a deny, and the exit status is always 0.
func TestHook(t *testing.T) {
	b, err := bridge.Start(t.Context(), bridge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	reviewer, err := b.RegisterReviewer("codex", []string{"kcap-review"})
	if err != nil {
		t.Fatal(err)
	}
	url := reviewer.URL()
	bare := strings.TrimRight(strings.Replace(hookDenied, "The permission bridge gave no answer, so the request was denied.",
		"This reviewer may only use the MCP tools of its launch.", 1), "\n") + "\n"
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "garbage") }))
	defer garbage.Close()
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { time.Sleep(2 * time.Second) }))
	defer hanging.Close()
	for name, c := range map[string]struct {
		url, payload, out, err string
		args                   []string
	}{
		"allowed":          {url, hookPayload, hookAllowed, "", []string{"--vendor", "codex"}},
		"denied":           {url, strings.Replace(hookPayload, "mcp__kcap_review__get_pr_summary", "Bash", 1), bare, "", []string{"--vendor=codex"}},
		"malformed":        {url, "{}", hookDenied, "the bridge answered with status 400\n", []string{"--vendor", "codex"}},
		"no payload":       {url, "", hookDenied, "the bridge answered with status 400\n", []string{"--vendor", "codex"}},
		"another's vendor": {url, hookPayload, hookDenied, "the bridge answered with status 404\n", []string{"--vendor", "claude"}},
		"no URL":           {"", hookPayload, hookDenied, "KCAP_DAEMON_URL is not set\n", []string{"--vendor", "codex"}},
		"garbage":          {garbage.URL, hookPayload, hookDenied, "the bridge's answer is none\n", []string{"--vendor", "codex"}},
		"hanging":          {hanging.URL, hookPayload, hookDenied, "timed out waiting for the bridge\n", []string{"--vendor", "codex", "--timeout", "200ms"}},
		"no vendor":        {url, hookPayload, hookDenied, "the vendor is neither \"codex\" nor \"claude\"\n", nil},
		"unknown vendor":   {url, hookPayload, hookDenied, "the vendor is neither \"codex\" nor \"claude\"\n", []string{"--vendor", "gemini"}},
		"unknown flag":     {url, hookPayload, hookDenied, "unknown flag: --vendors\n", []string{"--vendors", "codex"}},
		"bad timeout":      {url, hookPayload, hookDenied, "", []string{"--vendor", "codex", "--timeout", "soon"}},
		"no time":          {url, hookPayload, hookDenied, "--timeout and --connect-timeout must be positive\n", []string{"--vendor", "codex", "--timeout", "0s"}},
		"an argument":      {url, hookPayload, hookDenied, "arguments are not expected\n", []string{"--vendor", "codex", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			program := exec.Command(command, append([]string{"hook"}, c.args...)...)
			program.Env = append(bridge.ScrubEnv(os.Environ()), bridge.EnvURL+"="+c.url)
			program.Stdin = strings.NewReader(c.payload)
			var errs strings.Builder
			program.Stderr = &errs
			out, err := program.Output()
			if err != nil || string(out) != c.out {
				t.Errorf("%v, %s", err, out)
			}
			if !strings.HasSuffix(errs.String(), c.err) || c.err == "" && name != "bad timeout" && errs.String() != "" {
				t.Errorf("standard error %q", errs.String())
			}
			if token := url[strings.LastIndexByte(url, '/')+1:]; strings.Contains(errs.String(), token) {
				t.Error("the token is on standard error")
			}
		})
	}
}
