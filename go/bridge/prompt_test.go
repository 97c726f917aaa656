package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

func answering(answer Answer, err error) Prompt {
	return func(context.Context, PromptRequest) (Answer, error) { return answer, err }
}

// TestSharedTokenAsks: the shared token gives nobody a reviewer's rights.
func TestSharedTokenAsks(t *testing.T) {
	var asked []PromptRequest
	b := start(t, Options{Prompt: func(_ context.Context, r PromptRequest) (Answer, error) {
		asked = append(asked, r)
		return Answer{}, nil
	}})
	register(t, b, "codex", "kcap-review")
	c := client(t)
	for i, body := range []string{summary, shell, strings.Replace(summary, "mcp__kcap_review__get_pr_summary", "get_pr_summary", 1)} {
		expect(t, c, b.BaseURL(), "codex", body, 200, denyBody("The request was denied."))
		expect(t, c, b.BaseURL(), "claude", body, 200, denyBody("The request was denied."))
		if len(asked) != 2*i+2 {
			t.Errorf("asked %d times", len(asked))
		}
	}
	// The result channel is open to any live token, without asking.
	expect(t, c, b.BaseURL(), "codex", result, 200, allowBody)
	if len(asked) != 6 {
		t.Errorf("asked %d times", len(asked))
	}
	first := asked[0]
	if first.Vendor != "codex" || first.SessionID != "s-1" || first.ToolName != "mcp__kcap_review__get_pr_summary" ||
		first.Server != "kcap_review" || first.Tool != "get_pr_summary" ||
		string(first.ToolInput) != `{"pr":7}` || string(first.Payload) != summary {
		t.Errorf("%#v", first)
	}
}

// TestPromptRequestIsTheAgents: what a person sees is what the agent's own decoder sees.
func TestPromptRequestIsTheAgents(t *testing.T) {
	asked := make(chan PromptRequest, 1)
	b := start(t, Options{Prompt: func(_ context.Context, r PromptRequest) (Answer, error) {
		asked <- r
		return Answer{}, nil
	}})
	post(t, client(t), b.BaseURL(), "claude", "\ufeff"+`{"tool_name":"B\u0061sh","session_id":"s","tool_input":{"command":"rm"},"tool_inputs":{"command":"ls"}}`+"\n")
	if r := <-asked; r.ToolName != "Bash" || string(r.ToolInput) != `{"command":"rm"}` || !json.Valid(r.Payload) || r.Server != "" {
		t.Errorf("%q %s %s", r.ToolName, r.ToolInput, r.Payload)
	}
}

// TestPromptIsNotAskedAboutAnotherCall: what Go's decoder doesn't read as the engine does, and what has two readings.
func TestPromptIsNotAskedAboutAnotherCall(t *testing.T) {
	b := start(t, Options{Prompt: noPrompt(t)})
	c := client(t)
	const call = `{"session_id":"s","tool_name":"Bash","tool_input":`
	for _, body := range []string{
		call + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`,
		call + `{"command":"ls"},"tool_input":{"command":"rm"}}`,
		call + `{"command":"ls"},"Tool_Input":{"command":"rm"}}`,
		call + `{"command":"ls"},"tool_\u0069nput":{"command":"rm"}}`,
		`{"session_id":"s","tool_name":"Bash","TOOL_INPUT":{"command":"rm"}}`,
	} {
		expect(t, c, b.BaseURL(), "codex", body, 200, denyBody("Nobody could be asked, so the request was denied."))
	}
}

// TestPromptRequestIsNeverNameless, whatever the engine found.
func TestPromptRequestIsNeverNameless(t *testing.T) {
	for _, body := range []string{``, `[]`, `{}`, `{"session_id":"s"}`, `{"tool_name":"Bash"}`, `{"session_id":"--","tool_name":"Bash"}`,
		`{"session_id":" ","tool_name":"Bash"}`, `{"session_id":"s","tool_name":"\u2003"}`, `{"session_id":"s","tool_name":7}`,
		`{"session_id":"s","tool_name":null}`, shell + shell, `{"session_id":"s","tool_name":"Bash","tool_name":"ls"}`} {
		if r, err := promptRequest("codex", policy.Decision{}, []byte(body)); err == nil {
			t.Errorf("%s: %s", body, r)
		}
	}
	if r, err := promptRequest("codex", policy.Decision{}, []byte(shell)); err != nil || r.ToolName != "Bash" {
		t.Error(r, err)
	}
}

// TestPromptsTakeNoPlacesOfReviewers, and have a limit of their own, whose places come back.
func TestPromptsTakeNoPlacesOfReviewers(t *testing.T) {
	release, asked := make(chan struct{}), make(chan struct{}, 8)
	b := start(t, Options{MaxConnections: 2, MaxPrompts: 3, Prompt: func(ctx context.Context, _ PromptRequest) (Answer, error) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return Answer{Allow: true}, nil
	}})
	r := register(t, b, "codex", "kcap-review")
	answers := make(chan string, 3)
	for range 3 {
		go func() {
			_, body := post(t, client(t), b.BaseURL(), "codex", shell)
			answers <- body
		}()
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Fatal("not asked although a place is free")
		}
	}
	for range 3 {
		c := client(t)
		expect(t, c, r.URL(), "codex", summary, 200, allowBody)
		expect(t, c, b.BaseURL(), "codex", shell, 200, denyBody("Too many requests wait for a person, so the request was denied."))
		c.CloseIdleConnections()
	}
	close(release)
	for range 3 {
		if body := <-answers; body != allowBody {
			t.Error(body)
		}
	}
	// The places are free once the server has closed the connections.
	for deadline := time.Now().Add(10 * time.Second); len(b.waiting) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d places are lost", len(b.waiting))
		}
	}
	expect(t, client(t), b.BaseURL(), "codex", shell, 200, allowBody)
}

// TestEditedCallIsNotRunUnedited: an agent that takes no input of a person's is denied, in the records too, and also by the
// hook if the bridge sent one.
func TestEditedCallIsNotRunUnedited(t *testing.T) {
	denied := denyBody("This agent can't run a call whose input was edited, so the request was denied.")
	var seen logged
	b := start(t, Options{Logger: seen.logger(), Prompt: answering(Answer{Allow: true, UpdatedInput: json.RawMessage(`{"command":"ls"}`)}, nil)})
	expect(t, client(t), b.BaseURL(), "codex", shell, 200, denied)
	b.Close()
	if !strings.Contains(seen.String(), `"decision":"deny","reason":"interactive_prompt"`) {
		t.Error(seen.String())
	}
	for _, input := range []string{`{"command":"ls"}`, `{}`, `null`, `[]`} {
		answer := strings.Replace(allowBody, `"allow"`, `"allow","updatedInput":`+input, 1)
		if got, err := (Hook{Vendor: "codex"}).reshape([]byte(answer)); err != nil || string(got) != denied {
			t.Errorf("%s: %s, %v", answer, got, err)
		}
	}
}

// TestAnswersAreShapedPerVendor, with the permissions that Codex doesn't know left out.
func TestAnswersAreShapedPerVendor(t *testing.T) {
	const (
		head     = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
		noUpdate = `{"behavior":"deny","message":"This agent can't run a call whose input was edited, so the request was denied."}`
	)
	for _, x := range []struct {
		answer        Answer
		codex, claude string
	}{
		{Answer{}, `{"behavior":"deny","message":"The request was denied."}`, ""},
		{Answer{Message: "Not <now> \"please\"\n"}, `{"behavior":"deny","message":"Not <now> \"please\"\n"}`, ""},
		{Answer{Allow: true}, `{"behavior":"allow"}`, ""},
		{Answer{Allow: true, Message: "ignored"}, `{"behavior":"allow"}`, ""},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`{"command":"ls"}`)},
			noUpdate, `{"behavior":"allow","updatedInput":{"command":"ls"}}`},
		{Answer{Allow: true, UpdatedPermissions: json.RawMessage(` [{"type":"addRules"}]`)},
			`{"behavior":"allow"}`, `{"behavior":"allow","updatedPermissions":[{"type":"addRules"}]}`},
		{Answer{UpdatedInput: json.RawMessage(`{}`), UpdatedPermissions: json.RawMessage(`[]`)},
			`{"behavior":"deny","message":"The request was denied."}`, ""},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`[]`)},
			noUpdate, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
		{Answer{Allow: true, UpdatedInput: json.RawMessage{}},
			noUpdate, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`{`)},
			noUpdate, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
		{Answer{Allow: true, UpdatedPermissions: json.RawMessage(`null`)},
			`{"behavior":"allow"}`, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
	} {
		b := start(t, Options{Prompt: answering(x.answer, nil)})
		if x.claude == "" {
			x.claude = x.codex
		}
		expect(t, client(t), b.BaseURL(), "codex", shell, 200, head+x.codex+"}}")
		expect(t, client(t), b.BaseURL(), "claude", shell, 200, head+x.claude+"}}")
		b.Close()
	}
}

// TestPromptFailureDenies: an error, a panic, and no prompt at all.
func TestPromptFailureDenies(t *testing.T) {
	failed := denyBody("Nobody could be asked, so the request was denied.")
	for name, prompt := range map[string]Prompt{
		"error":            answering(Answer{Allow: true}, errors.New("no terminal")),
		"panic":            func(context.Context, PromptRequest) (Answer, error) { panic("no terminal") },
		"panic with nil":   func(context.Context, PromptRequest) (Answer, error) { panic(nil) },
		"cancelled itself": answering(Answer{Allow: true}, context.Canceled),
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Options{Prompt: prompt})
			expect(t, client(t), b.BaseURL(), "codex", shell, 200, failed)
			expect(t, client(t), b.BaseURL(), "codex", shell, 200, failed)
		})
	}
	b := start(t, Options{})
	expect(t, client(t), b.BaseURL(), "codex", shell, 200, denyBody("Nobody can be asked, so the request was denied."))
}

// TestPromptBlocksNobody: while one is open, others are answered, minted and revoked.
func TestPromptBlocksNobody(t *testing.T) {
	release := make(chan struct{})
	waiting := make(chan struct{}, 2)
	b := start(t, Options{BodyTimeout: 100 * time.Millisecond, HeaderTimeout: 100 * time.Millisecond, AnswerTimeout: 100 * time.Millisecond,
		Prompt: func(context.Context, PromptRequest) (Answer, error) {
			waiting <- struct{}{}
			<-release
			return Answer{Allow: true}, nil
		}})
	type got struct {
		status int
		body   string
	}
	answers := make(chan got, 2)
	for range 2 {
		go func() {
			status, body := post(t, client(t), b.BaseURL(), "codex", shell)
			answers <- got{status, body}
		}()
	}
	<-waiting
	<-waiting
	c := client(t)
	for range 10 {
		r := register(t, b, "codex", "kcap-review")
		expect(t, c, r.URL(), "codex", summary, 200, allowBody)
		r.Revoke()
		expect(t, c, r.URL(), "codex", summary, 404, missing)
	}
	time.Sleep(300 * time.Millisecond) // longer than every deadline of ours
	close(release)
	for range 2 {
		if a := <-answers; a.status != 200 || a.body != allowBody {
			t.Error(a)
		}
	}
}

// TestPromptIsCancelledWhenTheClientGoesAway, also for one that doesn't close but resets.
func TestPromptIsCancelledWhenTheClientGoesAway(t *testing.T) {
	asked, cancelled := make(chan struct{}), make(chan struct{})
	b := start(t, Options{Prompt: func(ctx context.Context, _ PromptRequest) (Answer, error) {
		close(asked)
		<-ctx.Done()
		close(cancelled)
		return Answer{Allow: true}, nil
	}})
	conn, err := net.Dial("tcp", b.host)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(b.BaseURL(), "http://"+b.host) + "/codex/permission-request"
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", path, b.host, len(shell), shell)
	<-asked
	conn.Close()
	select {
	case <-cancelled:
	case <-time.After(10 * time.Second):
		t.Fatal("the prompt is still open")
	}
}

// TestCloseEndsPrompts with an answer that denies, even of one that doesn't heed its context.
func TestCloseEndsPrompts(t *testing.T) {
	asked, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	b := start(t, Options{Prompt: func(context.Context, PromptRequest) (Answer, error) {
		close(asked)
		<-never
		return Answer{Allow: true}, nil
	}})
	answer := make(chan string, 1)
	go func() {
		_, body := post(t, client(t), b.BaseURL(), "codex", shell)
		answer <- body
	}()
	<-asked
	begun := time.Now()
	b.Close()
	if took := time.Since(begun); took > DefaultGrace {
		t.Errorf("Close took %v", took)
	}
	if got := <-answer; got != denyBody("Nobody could be asked, so the request was denied.") {
		t.Error(got)
	}
}

func TestAnswerAndHookPrintNoSecret(t *testing.T) {
	a := Answer{Allow: true, Message: "sentinel", UpdatedInput: json.RawMessage(`{"a":"sentinel"}`), UpdatedPermissions: json.RawMessage(`["sentinel"]`)}
	h := Hook{URL: "http://127.0.0.1:1/sentinel", Vendor: "codex"}
	var log logged
	for _, value := range []any{a, h, &a, &h} {
		log.logger().Info("value", "value", value)
		_, _ = io.WriteString(&log, fmt.Sprintf("%v %+v %#v %s %q %x", value, value, value, value, value, value))
	}
	text := log.String()
	for _, form := range []string{"sentinel", fmt.Sprintf("%x", "sentinel"), fmt.Sprint([]byte("sentinel"))} {
		if strings.Contains(text, strings.Trim(form, "[]")) {
			t.Error(text)
		}
	}
	if !strings.Contains(text, "allow") || !strings.Contains(text, "hook of") || (Answer{}).String() != "deny" {
		t.Error(text)
	}
}

func TestPromptRequestPrintsWithoutTheInput(t *testing.T) {
	r := PromptRequest{Vendor: "codex", ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"sentinel"}`), Payload: json.RawMessage(`"sentinel"`)}
	var log logged
	log.logger().Info("asked", "request", r)
	_, _ = io.WriteString(&log, fmt.Sprintf("%v %+v %#v %s", r, r, r, r))
	if strings.Contains(log.String(), "sentinel") || !strings.Contains(log.String(), `Bash`) {
		t.Error(log.String())
	}
}
