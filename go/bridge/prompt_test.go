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
	post(t, client(t), b.BaseURL(), "claude", "\ufeff"+`{"tool_name":"B\u0061sh","session_id":"s","tool_input":{"command":"rm"},"Tool_Input":{"command":"ls"}}`+"\n")
	if r := <-asked; r.ToolName != "Bash" || string(r.ToolInput) != `{"command":"rm"}` || !json.Valid(r.Payload) || r.Server != "" {
		t.Errorf("%q %s %s", r.ToolName, r.ToolInput, r.Payload)
	}
}

// TestAnswersAreShapedPerVendor, with what Codex doesn't know left out.
func TestAnswersAreShapedPerVendor(t *testing.T) {
	const head = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
	for _, x := range []struct {
		answer        Answer
		codex, claude string
	}{
		{Answer{}, `{"behavior":"deny","message":"The request was denied."}`, ""},
		{Answer{Message: "Not <now> \"please\"\n"}, `{"behavior":"deny","message":"Not <now> \"please\"\n"}`, ""},
		{Answer{Allow: true}, `{"behavior":"allow"}`, ""},
		{Answer{Allow: true, Message: "ignored"}, `{"behavior":"allow"}`, ""},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`{"command":"ls"}`)},
			`{"behavior":"allow"}`, `{"behavior":"allow","updatedInput":{"command":"ls"}}`},
		{Answer{Allow: true, UpdatedPermissions: json.RawMessage(` [{"type":"addRules"}]`)},
			`{"behavior":"allow"}`, `{"behavior":"allow","updatedPermissions":[{"type":"addRules"}]}`},
		{Answer{UpdatedInput: json.RawMessage(`{}`), UpdatedPermissions: json.RawMessage(`[]`)},
			`{"behavior":"deny","message":"The request was denied."}`, ""},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`[]`)},
			`{"behavior":"allow"}`, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
		{Answer{Allow: true, UpdatedInput: json.RawMessage(`{`)},
			`{"behavior":"allow"}`, `{"behavior":"deny","message":"Nobody could be asked, so the request was denied."}`},
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

func TestPromptRequestPrintsWithoutTheInput(t *testing.T) {
	r := PromptRequest{Vendor: "codex", ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"sentinel"}`), Payload: json.RawMessage(`"sentinel"`)}
	var log logged
	log.logger().Info("asked", "request", r)
	_, _ = io.WriteString(&log, fmt.Sprintf("%v %+v %#v %s", r, r, r, r))
	if strings.Contains(log.String(), "sentinel") || !strings.Contains(log.String(), `Bash`) {
		t.Error(log.String())
	}
}
