package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// hookDenied is what a hook prints whatever fails.
const hookDenied = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The permission bridge gave no answer, so the request was denied."}}}`

func TestHookHandsTheAnswerOn(t *testing.T) {
	b := start(t, Options{Prompt: answering(Answer{Allow: true, UpdatedInput: []byte(`{"a":1}`)}, nil)})
	r := register(t, b, "codex", "kcap-review")
	for _, x := range []struct{ url, vendor, body, want string }{
		{r.URL(), "codex", summary, allowBody},
		{r.URL() + "/", "codex", summary + "\n", allowBody},
		{r.URL(), "codex", shell, denyBody("This reviewer may only use the MCP tools of its launch.")},
		{b.BaseURL(), "codex", shell, denyBody("This agent can't run a call whose input was edited, so the request was denied.")},
		{b.BaseURL(), "claude", shell, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}}`},
	} {
		answer, err := Hook{URL: x.url, Vendor: x.vendor}.Answer(t.Context(), strings.NewReader(x.body))
		if err != nil || string(answer) != x.want {
			t.Errorf("%s %v", answer, err)
		}
	}
}

// TestHookDeniesOnEveryFailure, and its error holds no URL.
func TestHookDeniesOnEveryFailure(t *testing.T) {
	const token = "sentinel-token"
	serve := func(handler http.HandlerFunc) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL + "/" + token
	}
	reply := func(status int, body string) string {
		return serve(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + listener.Addr().String() + "/" + token
	listener.Close()
	endless, keptOpen := io.Pipe()
	defer keptOpen.Close()

	reached := false
	elsewhere := serve(func(http.ResponseWriter, *http.Request) { reached = true })
	for name, x := range map[string]struct {
		url     string
		payload io.Reader
		err     string
	}{
		"no URL":            {"", nil, EnvURL + " is not set"},
		"no server":         {nobody, nil, "connection refused"},
		"foreign host":      {"http://bridge.example/" + token, nil, "no http URL on loopback"},
		"address elsewhere": {"http://192.0.2.1/" + token, nil, "no http URL on loopback"},
		"https":             {"https://127.0.0.1:1/" + token, nil, "no http URL on loopback"},
		"file":              {"file:///" + token, nil, "no http URL on loopback"},
		"userinfo":          {"http://x@127.0.0.1:1/" + token, nil, "no http URL on loopback"},
		"query":             {"http://127.0.0.1:1/" + token + "?a", nil, "no http URL on loopback"},
		"no URL at all":     {"://" + token, nil, "no http URL on loopback"},
		"control character": {"http://127.0.0.1:1/\x7f" + token, nil, "no http URL on loopback"},
		"400":               {reply(400, allowBody), nil, "status 400"},
		"404":               {reply(404, allowBody), nil, "status 404"},
		"500":               {reply(500, ""), nil, "status 500"},
		"201":               {reply(201, allowBody), nil, "status 201"},
		"204":               {reply(204, ""), nil, "status 204"},
		"redirect": {serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}), nil, "status 307"},
		"empty":            {reply(200, ""), nil, "answer is none"},
		"garbage":          {reply(200, "<html>"), nil, "answer is none"},
		"two answers":      {reply(200, allowBody+allowBody), nil, "answer is none"},
		"another event":    {reply(200, strings.Replace(allowBody, "PermissionRequest", "PreToolUse", 1)), nil, "answer is none"},
		"no behaviour":     {reply(200, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}`), nil, "answer is none"},
		"another behavior": {reply(200, strings.Replace(allowBody, "allow", "ask", 1)), nil, "answer is none"},
		"cut short": {serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, allowBody)
		}), nil, "unexpected EOF"},
		"hangs": {serve(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}), nil, "timed out"},
		"endless stdin":   {reply(200, allowBody), endless, "timed out reading the payload"},
		"payload too big": {reply(200, allowBody), strings.NewReader(strings.Repeat(" ", 1<<20+1)), "the payload is longer than 1048576 bytes"},
		"broken stdin":    {reply(200, allowBody), brokenReader{}, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			if x.payload == nil {
				x.payload = strings.NewReader(summary)
			}
			begun := time.Now()
			answer, err := Hook{URL: x.url, Vendor: "codex", Timeout: time.Second}.Answer(t.Context(), x.payload)
			if string(answer) != hookDenied {
				t.Errorf("%s", answer)
			}
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("error %v", err)
			}
			if text := fmt.Sprintf("%v %+v %#v %s", err, err, err, answer); strings.Contains(text, token) {
				t.Error("the token is in", text)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	if reached {
		t.Error("a redirect was followed")
	}
	for _, vendor := range []string{"", "gemini", "Codex", "codex/../claude"} {
		answer, err := Hook{URL: "http://127.0.0.1:1/" + token, Vendor: vendor}.Answer(t.Context(), strings.NewReader(summary))
		if string(answer) != hookDenied || err == nil || !strings.Contains(err.Error(), "vendor") {
			t.Errorf("%q: %s %v", vendor, answer, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer, err := Hook{URL: nobody, Vendor: "codex"}.Answer(ctx, strings.NewReader(summary))
	if string(answer) != hookDenied || err == nil {
		t.Errorf("%s %v", answer, err)
	}
}

// TestHookDeniesWhatHasTwoReadings: only the known members, spelled exactly and each once, are an answer that allows.
func TestHookDeniesWhatHasTwoReadings(t *testing.T) {
	const (
		head  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
		allow = `{"behavior":"allow"}`
	)
	answer := func(body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		defer server.Close()
		got, err := Hook{URL: server.URL, Vendor: "claude"}.Answer(t.Context(), strings.NewReader(summary))
		if (err != nil) != (string(got) == hookDenied) {
			t.Errorf("%s: %s %v", body, got, err)
		}
		return string(got)
	}
	for _, body := range []string{
		head + `{"behavior":"deny","behavior":"allow"}}}`,
		head + `{"behavior":"allow","behavior":"allow"}}}`,
		head + `{"behavior":"deny","Behavior":"allow"}}}`,
		head + `{"BEHAVIOR":"allow"}}}`,
		head + `{"behavior":"allow","interrupt":true}}}`,
		head + `{"behavior":"allow","message":7}}}`,
		head + `{"behavior":["allow"]}}}`,
		head + `{"behavior":"allow","updatedInput":{"command":"ls","command":"rm"}}}}`,
		head + `{"behavior":"allow","updatedInput":{"a":[{"b":1,"\u0062":2}]}}}}`,
		head + `{"behavior":"allow","UpdatedInput":{}}}}`,
		head + allow + `,"Decision":{"behavior":"deny"}}}`,
		head + allow + `,"decision":{"behavior":"deny"}}}`,
		`{"hookSpecificOutput":{"HookEventName":"PermissionRequest","decision":` + allow + `}}`,
		head + allow + `},"HookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}`,
		head + allow + `},"continue":false}`,
		head + allow + `}}]`,
		head + `[` + allow + `]}}`,
		`[` + head + allow + `}}]`,
		`null`,
	} {
		if got := answer(body); got != hookDenied {
			t.Errorf("%s: %s", body, got)
		}
	}
	if got := answer(head + `{"behavior":"allow","updatedInput":{"a":1e999,"b":{"a":[1,{"a":2}]},"A":0}}}}`); !strings.Contains(got, `"allow","updatedInput":{"a":1e999,`) {
		t.Error(got)
	}
	if got := answer(" " + allowBody + "\n"); got != allowBody {
		t.Error(got)
	}
}

// TestHookTakesOnlyACompleteAnswer, and quotes nothing of what came.
func TestHookTakesOnlyACompleteAnswer(t *testing.T) {
	for _, x := range []struct{ answer, want string }{
		{"HTTP/1.1 200 OK\r\n\r\n" + allowBody, hookDenied},
		{"HTTP/1.0 200 OK\r\n\r\n" + allowBody, hookDenied},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + allowBody, hookDenied},
		{fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(allowBody), allowBody), hookDenied},
		{fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(allowBody), allowBody), allowBody},
		{fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(allowBody), allowBody), allowBody},
		{"HTTP/1.1 200 OK\r\nContent-Length: sentinel\r\n\r\n" + allowBody, hookDenied},
		{"HTTP/1.1 200 OK\r\nsentinel\r\n\r\n" + allowBody, hookDenied},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: sentinel\r\n\r\n" + allowBody, hookDenied},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsentinel\r\n", hookDenied},
		{"sentinel 200 OK\r\n\r\n", hookDenied},
		{"HTTP/1.1 sentinel\r\n\r\n", hookDenied},
		{"", hookDenied},
	} {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer listener.Close()
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, request.Body)
			}
			_, _ = io.WriteString(conn, x.answer)
		}()
		got, err := Hook{URL: "http://" + listener.Addr().String(), Vendor: "codex"}.Answer(t.Context(), strings.NewReader(summary))
		if string(got) != x.want || (err != nil) != (x.want == hookDenied) {
			t.Errorf("%q: %s %v", x.answer, got, err)
		}
		if err != nil && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "sentinel") {
			t.Errorf("%q: %v", x.answer, err)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("broken") }

// TestHookDoesNotUseAProxy: the payload and the token stay on the machine.
func TestHookDoesNotUseAProxy(t *testing.T) {
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied = true }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	answer, err := Hook{URL: r.URL(), Vendor: "codex"}.Answer(t.Context(), strings.NewReader(summary))
	if err != nil || string(answer) != allowBody || proxied {
		t.Errorf("%s %v %v", answer, err, proxied)
	}
}

// TestHookAndRevocation: from allowed to denied, on one URL.
func TestHookAndRevocation(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	hook := Hook{URL: r.URL(), Vendor: "codex"}
	if answer, err := hook.Answer(t.Context(), strings.NewReader(summary)); err != nil || string(answer) != allowBody {
		t.Errorf("%s %v", answer, err)
	}
	r.Revoke()
	if answer, err := hook.Answer(t.Context(), strings.NewReader(summary)); err == nil || string(answer) != hookDenied {
		t.Errorf("%s %v", answer, err)
	}
}
