package bridge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

func TestMintBindsTheResolvedServers(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", " KCAP-Review\t", "kcap-sessions", "kcap-review", "kcap-flow-result")
	if want := []string{"kcap-review", "kcap-sessions"}; !slices.Equal(r.Servers(), want) {
		t.Errorf("%q", r.Servers())
	}
	r.Servers()[0] = "changed"
	if r.Servers()[0] != "kcap-review" || r.Vendor() != "codex" || r.Number() != 1 || b.Reviewers() != 1 {
		t.Error("a reviewer's own data")
	}
	other := register(t, b, "codex")
	if other.URL() == r.URL() || other.URL() == b.BaseURL() || r.URL() == b.BaseURL() || len(other.Servers()) != 0 {
		t.Error("two launches share a URL")
	}
}

// TestMintFailsFastNamingTheEntry, and never falls back to the shared token.
func TestMintFailsFastNamingTheEntry(t *testing.T) {
	b := start(t, Options{})
	for _, c := range []struct {
		vendor    string
		allowlist []string
		names     string
	}{
		{"codex", []string{"kcap-review", "kcap-memory"}, `allowlist[1]: "kcap-memory"`},
		{"codex", []string{"kcap-flows"}, `allowlist[0]: "kcap-flows"`},
		{"codex", []string{"unknown"}, `allowlist[0]: "unknown"`},
		{"codex", []string{"*"}, `allowlist[0]: "*"`},
		{"codex", []string{""}, `allowlist[0]: ""`},
		{"codex", []string{"  "}, `allowlist[0]: "  "`},
		{"claude", []string{"kcap-review"}, `vendor "claude" is not enabled`},
		{"Codex", []string{"kcap-review"}, `vendor "Codex" is unknown`},
	} {
		launched := false
		err := b.WithReviewer(c.vendor, c.allowlist, func(*Reviewer) error {
			launched = true
			return nil
		})
		if !errors.Is(err, policy.ErrRefused) || !strings.Contains(err.Error(), c.names) || launched {
			t.Errorf("%q: %v, launched %v", c.allowlist, err, launched)
		}
		r, err := b.RegisterReviewer(c.vendor, c.allowlist)
		if r != nil || err == nil {
			t.Errorf("%q: %v", c.allowlist, r)
		}
	}
	if b.Reviewers() != 0 {
		t.Error("a refused mint registers somebody")
	}
}

// TestReviewerRequests: allowed and denied at once, and nobody is ever asked.
func TestReviewerRequests(t *testing.T) {
	b := start(t, Options{Prompt: noPrompt(t), EnabledVendors: []string{"codex", "claude"}})
	codex, claude := register(t, b, "codex", "kcap-review"), register(t, b, "claude", "kcap-review")
	c := client(t)
	call := func(tool, more string) string { return `{"session_id":"s","tool_name":"` + tool + `"` + more + `}` }
	notAllowed := denyBody("This reviewer may not use that MCP server.")
	ambiguous := denyBody("The tool name does not name one server and one tool beyond doubt.")
	bare := denyBody("This reviewer may only use the MCP tools of its launch.")
	conflict := denyBody("The tool name and the MCP server in the request disagree.")
	source := denyBody("The MCP server was not provided by the host that started this reviewer.")
	for _, x := range []struct{ codex, claude, tool, more string }{
		// qualified, bare, and the result channel
		{allowBody, allowBody, "mcp__kcap_review__get_pr_summary", ""},
		{allowBody, allowBody, "mcp__kcap-review__get_pr_summary", ""},
		{allowBody, allowBody, "mcp__Kcap-Review__get_pr_summary", `,"mcp_server":{"name":"Kcap-Review","source":"dynamic"}`},
		{allowBody, bare, "get_pr_summary", ""},
		{allowBody, allowBody, "submit_review_result", ""},
		{allowBody, allowBody, "mcp__kcap_flow_result__submit_review_result", ""},
		// out of the list
		{notAllowed, notAllowed, "mcp__kcap_sessions__list_turns", ""},
		{notAllowed, notAllowed, "mcp__kcap_memory__remember", ""},
		{notAllowed, notAllowed, "mcp__github__merge", ""},
		{bare, bare, "list_turns", ""},
		{bare, bare, "Get_pr_summary", ""},
		// look-alikes
		{notAllowed, notAllowed, "mcp__evil_kcap_flow_result__submit_review_result", ""},
		{ambiguous, ambiguous, "mcp__kcap_review__x__y", ""},
		{notAllowed, notAllowed, "mcp__kcap_review_x__y", ""},
		{bare, bare, "Bash", ""},
		{bare, bare, "apply_patch", ""},
		{ambiguous, ambiguous, "mcp__kcap__review__get", ""},
		{conflict, conflict, "mcp__kcap_review__get_pr_summary", `,"mcp_server":{"name":"kcap.review","source":"dynamic"}`},
		{source, source, "mcp__kcap_review__get_pr_summary", `,"mcp_server":{"name":"kcap-review","source":"project"}`},
	} {
		expect(t, c, codex.URL(), "codex", call(x.tool, x.more), 200, x.codex)
		expect(t, c, claude.URL(), "claude", call(x.tool, x.more), 200, x.claude)
	}
}

// TestMalformedBodies: 400, on every token, before any approval and without asking.
func TestMalformedBodies(t *testing.T) {
	b := start(t, Options{Prompt: noPrompt(t)})
	r := register(t, b, "codex", "kcap-review")
	c := client(t)
	for _, url := range []string{r.URL(), b.BaseURL()} {
		for _, body := range []string{
			"", "{", "[]", "null", "not json",
			`{"tool_name":"submit_review_result"}`,
			`{"session_id":null,"tool_name":"submit_review_result"}`,
			`{"session_id":7,"tool_name":"submit_review_result"}`,
			`{"session_id":"","tool_name":"submit_review_result"}`,
			`{"session_id":" ","tool_name":"submit_review_result"}`,
			`{"session_id":"----","tool_name":"submit_review_result"}`,
			`{"session_id":" - - ","tool_name":"submit_review_result"}`,
			`{"session_id":"s"}`,
			`{"session_id":"s","tool_name":""}`,
			`{"session_id":"s","tool_name":" "}`,
			`{"session_id":"s","tool_name":["submit_review_result"]}`,
			`{"session_id":"s","tool_name":"submit_review_result","tool_name":"submit_review_result"}`,
			`{"session_id":"s","tool_name":"Bash","Tool_Name":"submit_review_result"}`,
			`{"session_id":"s","tool_name":"submit_review_result","hook_event_name":"PreToolUse"}`,
			summary + summary,
			summary + "\x00",
			strings.Replace(summary, "s-1", "s-\xff", 1),
		} {
			expect(t, c, url, "codex", body, 400, malformed)
		}
	}
	expect(t, c, r.URL(), "codex", "\ufeff \r\n"+summary+"\n", 200, allowBody)
}

// TestBodyCap: 1 MiB is read, and not a byte more, whether or not the client says how much it sends.
func TestBodyCap(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	const limit = 1 << 20
	pad := func(n int) string { return summary + strings.Repeat(" ", n-len(summary)) }
	expect(t, client(t), r.URL(), "codex", pad(limit), 200, allowBody)
	expect(t, client(t), r.URL(), "codex", pad(limit+1), 400, malformed)

	path := strings.TrimPrefix(r.URL(), "http://"+b.host) + "/codex/permission-request"
	head := "POST " + path + " HTTP/1.1\r\nHost: " + b.host + "\r\n"
	// Declared: refused without waiting for any of it.
	if got := raw(t, b, head+"Content-Length: 9000000000\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, malformed) {
		t.Error(got)
	}
	// In chunks: answered once the cap is passed, however much is still announced.
	conn, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n")
	chunk := "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n"
	for range limit/0x10000 + 1 {
		if _, err := io.WriteString(conn, chunk); err != nil {
			break // it has answered and closed
		}
	}
	answer, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "Connection: close") {
		t.Errorf("%.200q", answer)
	}
	// Cut short: not complete, so not decided.
	conn2, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn2.Close()
	_ = conn2.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn2, head+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(summary)+1, summary))
	_ = conn2.(*net.TCPConn).CloseWrite()
	if answer, _ := io.ReadAll(conn2); strings.Contains(string(answer), "allow") {
		t.Errorf("%.200q", answer)
	}
}

// TestNotFound: whatever is not right about the address is answered in one way, and nobody is asked.
func TestNotFound(t *testing.T) {
	b := start(t, Options{Prompt: noPrompt(t), EnabledVendors: []string{"codex", "claude"}, BodyTimeout: time.Second})
	r := register(t, b, "codex", "kcap-review")
	revoked := register(t, b, "codex", "kcap-review")
	revoked.Revoke()
	token := r.token.Expose()
	path := "/" + token + "/codex/permission-request"
	escaped := fmt.Sprintf("/%%%02X%s/codex/permission-request", token[0], token[1:])
	shared := "/" + b.shared.Expose()

	const first = "HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 21\r\nContent-Type: application/json\r\n"
	request := func(method, target, host, more string) string {
		if host != "" {
			more = "Host: " + host + "\r\n" + more
		}
		return fmt.Sprintf("%s %s HTTP/1.1\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", method, target, more, len(summary), summary)
	}
	good := request("POST", path, b.host, "")
	if got := raw(t, b, good); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(got, allowBody) {
		t.Fatal(got)
	}
	port := b.host[strings.LastIndexByte(b.host, ':'):]
	for what, text := range map[string]string{
		"unknown token":       request("POST", "/"+strings.Repeat("A", 43)+"/codex/permission-request", b.host, ""),
		"revoked token":       request("POST", "/"+revoked.token.Expose()+"/codex/permission-request", b.host, ""),
		"no token":            request("POST", "//codex/permission-request", b.host, ""),
		"half a token":        request("POST", "/"+token[:21]+"/codex/permission-request", b.host, ""),
		"another case":        request("POST", "/"+strings.ToUpper(token)+"/codex/permission-request", b.host, ""),
		"escaped token":       request("POST", escaped, b.host, ""),
		"unknown vendor":      request("POST", shared+"/gemini/permission-request", b.host, ""),
		"vendor's case":       request("POST", shared+"/Codex/permission-request", b.host, ""),
		"no vendor":           request("POST", shared+"/permission-request", b.host, ""),
		"another's vendor":    request("POST", "/"+token+"/claude/permission-request", b.host, ""),
		"other path":          request("POST", "/"+token+"/codex/permission-requests", b.host, ""),
		"path's case":         request("POST", "/"+token+"/codex/Permission-Request", b.host, ""),
		"longer path":         request("POST", path+"/", b.host, ""),
		"doubled slash":       request("POST", "/"+path, b.host, ""),
		"dots":                request("POST", "/x/.."+path, b.host, ""),
		"query":               request("POST", path+"?", b.host, ""),
		"the root":            request("POST", "/", b.host, ""),
		"absolute form":       request("POST", "http://"+b.host+path, b.host, ""),
		"GET":                 request("GET", path, b.host, ""),
		"PUT":                 request("PUT", path, b.host, ""),
		"OPTIONS":             request("OPTIONS", path, b.host, ""),
		"OPTIONS *":           request("OPTIONS", "*", b.host, ""),
		"post":                request("post", path, b.host, ""),
		"foreign Host":        request("POST", path, "evil.example"+port, ""),
		"Host by name":        request("POST", path, "localhost"+port, ""),
		"Host without a port": request("POST", path, "127.0.0.1", ""),
		"Host of other port":  request("POST", path, "127.0.0.1:1", ""),
		"Origin":              request("POST", path, b.host, "Origin: http://"+b.host+"\r\n"),
		"null Origin":         request("POST", path, b.host, "Origin: null\r\n"),
		"empty Origin":        request("POST", path, b.host, "Origin:\r\n"),
	} {
		got := raw(t, b, text)
		date := strings.Index(got, "Date: ")
		if date < 0 || got[:date] != first || !strings.HasSuffix(got, "\r\n\r\n"+missing) {
			t.Errorf("%s: %s", what, got)
		}
	}
	// What HTTP itself refuses is no approval either.
	for what, text := range map[string]string{
		"no Host":           request("POST", path, "", ""),
		"two Hosts":         request("POST", path, b.host, "Host: "+b.host+"\r\n"),
		"HTTP/1.0":          strings.Replace(request("POST", path, "", ""), "HTTP/1.1", "HTTP/1.0", 1),
		"two lengths":       request("POST", path, b.host, "Content-Length: 5\r\n"),
		"length and chunks": request("POST", path, b.host, "Transfer-Encoding: chunked\r\n"),
		"garbage":           "\x16\x03\x01\r\n\r\n",
	} {
		if got := raw(t, b, text); strings.Contains(got, "allow") || strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestUnknownTokenIsNotReadFor: its body isn't asked for, nor waited for.
func TestUnknownTokenIsNotReadFor(t *testing.T) {
	b := start(t, Options{})
	head := "POST /" + strings.Repeat("A", 43) + "/codex/permission-request HTTP/1.1\r\nHost: " + b.host + "\r\nContent-Length: 100\r\n"
	for _, more := range []string{"Expect: 100-continue\r\n", ""} {
		begun := time.Now()
		got := raw(t, b, head+more+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 404 ") || strings.Contains(got, "100 Continue") {
			t.Error(got)
		}
		if took := time.Since(begun); took > DefaultBodyTimeout/2 {
			t.Errorf("%q took %v", more, took)
		}
	}
}

// TestNotFoundClosesTheConnection, so that clients without a token hold no places.
func TestNotFoundClosesTheConnection(t *testing.T) {
	b := start(t, Options{MaxConnections: 2, IdleTimeout: time.Hour, HeaderTimeout: time.Hour})
	r := register(t, b, "codex", "kcap-review")
	for range 4 {
		conn, err := net.Dial("tcp", b.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(conn, "POST /%s/codex/permission-request HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", strings.Repeat("A", 43), b.host)
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404 ") {
			t.Errorf("%q, %v", answer, err)
		}
	}
	expect(t, client(t), r.URL(), "codex", summary, 200, allowBody)
}

// TestRevokedIsNotFoundOnAKeptAliveConnection: on the very connection that an answer came on, which is then closed.
func TestRevokedIsNotFoundOnAKeptAliveConnection(t *testing.T) {
	t.Run("one connection", func(t *testing.T) {
		b := start(t, Options{Prompt: noPrompt(t)})
		r := register(t, b, "codex", "kcap-review")
		conn, err := net.Dial("tcp", b.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		answers := bufio.NewReader(conn)
		send := func() (status int, closes bool) {
			fmt.Fprintf(conn, "POST /%s/codex/permission-request HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
				r.token.Expose(), b.host, len(summary), summary)
			response, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			_, _ = io.Copy(io.Discard, response.Body)
			return response.StatusCode, response.Close
		}
		if status, closes := send(); status != 200 || closes {
			t.Error(status, closes)
		}
		r.Revoke()
		if status, closes := send(); status != 404 || !closes {
			t.Error(status, closes)
		}
		if _, err := answers.ReadByte(); err != io.EOF {
			t.Error("still open:", err)
		}
	})
	b := start(t, Options{Prompt: noPrompt(t)})
	r, other := register(t, b, "codex", "kcap-review"), register(t, b, "codex", "kcap-review")
	c := client(t)
	expect(t, c, r.URL(), "codex", summary, 200, allowBody)
	r.Revoke()
	for range 2 {
		expect(t, c, r.URL(), "codex", summary, 404, missing)
		expect(t, c, r.URL(), "codex", result, 404, missing)
		expect(t, c, other.URL(), "codex", summary, 200, allowBody)
		r.Revoke()
	}
	if b.Reviewers() != 1 {
		t.Error(b.Reviewers())
	}
}

// TestRevocationOvertakesARequest: one that is revoked while its body still travels isn't allowed any more.
func TestRevocationOvertakesARequest(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	path := strings.TrimPrefix(r.URL(), "http://"+b.host) + "/codex/permission-request"
	conn, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	half := len(summary) / 2
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", path, b.host, len(summary), summary[:half])
	time.Sleep(50 * time.Millisecond)
	r.Revoke()
	_, _ = io.WriteString(conn, summary[half:])
	if answer, _ := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.1 404 ") {
		t.Errorf("%s", answer)
	}
}

// TestNoAnswerIsBegunOnceRevokeHasReturned: with the decision made, the revocation is still in time.
func TestNoAnswerIsBegunOnceRevokeHasReturned(t *testing.T) {
	b := start(t, Options{})
	r := register(t, b, "codex", "kcap-review")
	r.Revoke()
	begun := false
	if r.whileLive(new(http.ResponseController), func() { begun = true }) || begun {
		t.Error("an answer was begun")
	}
	// And while requests race it.
	for range 20 {
		r := register(t, b, "codex", "kcap-review")
		var racers sync.WaitGroup
		revoked := make(chan struct{})
		for range 4 {
			racers.Add(1)
			go func() {
				defer racers.Done()
				for {
					var after bool
					select {
					case <-revoked:
						after = true
					default:
					}
					live := r.whileLive(new(http.ResponseController), func() {})
					if after && live {
						t.Error("begun after the revocation")
					}
					if !live {
						return
					}
				}
			}()
		}
		r.Revoke()
		close(revoked)
		racers.Wait()
	}
}

func TestConcurrentReviewersAreIndependent(t *testing.T) {
	b := start(t, Options{})
	review, sessions := register(t, b, "codex", "kcap-review"), register(t, b, "codex", "kcap-sessions")
	c := client(t)
	turns := strings.Replace(summary, "mcp__kcap_review__get_pr_summary", "mcp__kcap_sessions__list_turns", 1)
	no := denyBody("This reviewer may not use that MCP server.")
	expect(t, c, review.URL(), "codex", summary, 200, allowBody)
	expect(t, c, review.URL(), "codex", turns, 200, no)
	expect(t, c, sessions.URL(), "codex", turns, 200, allowBody)
	expect(t, c, sessions.URL(), "codex", summary, 200, no)
	review.Revoke()
	expect(t, c, review.URL(), "codex", summary, 404, missing)
	expect(t, c, sessions.URL(), "codex", turns, 200, allowBody)
}

// TestOptionsReachTheEngine: catalog, scope and vendors of the host.
func TestOptionsReachTheEngine(t *testing.T) {
	b := start(t, Options{
		Catalog: []byte(`{"servers":[{"id":"own","auto_approvable":true,"starts_flows":false,"unattended_safe_tools":["look"]}],
			"result_channel":{"server":"out","tools":["send"]}}`),
		ResultChannelScope: "reviewer",
		EnabledVendors:     []string{"claude"},
	})
	r := register(t, b, "claude", "own")
	c := client(t)
	send := `{"session_id":"s","tool_name":"mcp__out__send"}`
	expect(t, c, r.URL(), "claude", `{"session_id":"s","tool_name":"mcp__own__look"}`, 200, allowBody)
	expect(t, c, r.URL(), "claude", send, 200, allowBody)
	expect(t, c, b.BaseURL(), "claude", send, 200, denyBody("Nobody can be asked, so the request was denied."))
	if _, err := b.RegisterReviewer("codex", nil); err == nil {
		t.Error("codex is not enabled")
	}
}

// TestSlowClients: who trickles a header or a body is dropped in time, and holds nobody else up.
func TestSlowClients(t *testing.T) {
	b := start(t, Options{HeaderTimeout: 300 * time.Millisecond, BodyTimeout: 300 * time.Millisecond})
	r := register(t, b, "codex", "kcap-review")
	path := strings.TrimPrefix(r.URL(), "http://"+b.host) + "/codex/permission-request"
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\n", path, b.host)
	var slow sync.WaitGroup
	for i, start := range []string{head, head + "Content-Length: 1000\r\n\r\n{", head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
		slow.Add(1)
		go func() {
			defer slow.Done()
			conn, err := net.Dial("tcp", b.host)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			begun := time.Now()
			_, _ = io.WriteString(conn, start)
			go func() {
				for range 100 {
					if _, err := io.WriteString(conn, "a"); err != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			answer, _ := io.ReadAll(conn)
			if took := time.Since(begun); took > 5*time.Second || strings.Contains(string(answer), "allow") {
				t.Errorf("client %d: %v, %q", i, took, answer)
			}
			if i > 0 && len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") && !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
				t.Errorf("client %d: %q", i, answer)
			}
		}()
	}
	c := client(t)
	for range 20 {
		expect(t, c, r.URL(), "codex", summary, 200, allowBody)
	}
	slow.Wait()
}
