package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/kandev/kandev-policy/go/policy"
)

// Prompt asks a person about a request of an interactive session. It may take as long as it likes and blocks nobody else.
// ctx is done when the agent no longer waits or the bridge is closed. An error, a panic, and a context that is done are
// answers that deny; neither error nor panic is logged, since it may quote the request.
type Prompt func(ctx context.Context, request PromptRequest) (Answer, error)

// PromptRequest is what a person is asked. All of it comes from the agent: show it with care, and don't log it. It prints
// without the tool's input.
type PromptRequest struct {
	// Vendor is whose agent it is: "codex" or "claude".
	Vendor string
	// SessionID is the agent's own id of its session, and never blank.
	SessionID string
	// ToolName is what the agent calls the tool, such as "Bash" or "mcp__github__search".
	ToolName string
	// Server and Tool are the two parts of a qualified MCP name; empty if it is none.
	Server, Tool string
	// ToolInput is the tool's input as the agent sent it; nil if there is none.
	ToolInput json.RawMessage
	// Payload is the whole hook payload.
	Payload json.RawMessage
}

// String names vendor and tool.
func (r PromptRequest) String() string { return r.Vendor + " " + strconv.Quote(r.ToolName) }

// Format writes what String gives, for every verb.
func (r PromptRequest) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue gives what String gives.
func (r PromptRequest) LogValue() slog.Value { return slog.StringValue(r.String()) }

// Answer is a person's answer. The zero value denies.
type Answer struct {
	// Allow allows the call.
	Allow bool
	// Message is what a denied agent reads; a fixed sentence if empty.
	Message string
	// UpdatedInput, a JSON object, is the input that the tool is to be called with in place of the agent's, when Allow is
	// set; nil leaves the agent's. Only Claude Code takes one. For another agent any that is not nil denies: a plain allow
	// would run the call that the person has changed.
	UpdatedInput json.RawMessage
	// UpdatedPermissions, a JSON array, are permission rules that Claude Code is to remember, when Allow is set; nil are
	// none. For another agent they are left out, and the call is allowed this once.
	UpdatedPermissions json.RawMessage
}

// String says whether it allows, and nothing of what it holds.
func (a Answer) String() string {
	if a.Allow {
		return "allow"
	}
	return "deny"
}

// Format writes what String gives, for every verb.
func (a Answer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// LogValue gives what String gives.
func (a Answer) LogValue() slog.Value { return slog.StringValue(a.String()) }

const (
	deniedMessage        = "The request was denied."
	internalErrorMessage = "The request was denied because of an internal error."
	noPromptMessage      = "Nobody can be asked, so the request was denied."
	promptFailedMessage  = "Nobody could be asked, so the request was denied."
	noUpdateMessage      = "This agent can't run a call whose input was edited, so the request was denied."
	tooManyMessage       = "Too many requests wait for a person, so the request was denied."
)

// hookAnswer is what an agent reads. It has these members and no other.
type hookAnswer struct {
	Output struct {
		Event    string `json:"hookEventName"`
		Decision struct {
			Behavior           string          `json:"behavior"`
			Message            string          `json:"message,omitempty"`
			UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
			UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

const hookEvent = "PermissionRequest"

var errUnusableAnswer = errors.New("bridge: UpdatedInput is no JSON object, or UpdatedPermissions no JSON array")

// forVendor gives the answer that a vendor's agent is to get: one with what it takes and nothing else, which is allowed only
// if that is all that the person allowed.
func (a Answer) forVendor(vendor string) (Answer, error) {
	switch {
	case !a.Allow:
		return Answer{Message: cmp.Or(a.Message, deniedMessage)}, nil
	case vendor != "claude" && a.UpdatedInput != nil:
		return Answer{Message: noUpdateMessage}, nil
	case vendor != "claude":
		return Answer{Allow: true}, nil
	case !isJSON(a.UpdatedInput, '{') || !isJSON(a.UpdatedPermissions, '['):
		return Answer{}, errUnusableAnswer
	default:
		return Answer{Allow: true, UpdatedInput: a.UpdatedInput, UpdatedPermissions: a.UpdatedPermissions}, nil
	}
}

// body is what an agent reads.
func (a Answer) body() ([]byte, error) {
	var hook hookAnswer
	hook.Output.Event = hookEvent
	decision := &hook.Output.Decision
	decision.Behavior, decision.Message = "deny", a.Message
	if a.Allow {
		decision.Behavior = "allow"
	}
	decision.UpdatedInput, decision.UpdatedPermissions = a.UpdatedInput, a.UpdatedPermissions
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(hook)
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

// isJSON reports whether a value is absent, or JSON that begins in this way. One that is empty but there is neither: a
// person may have cleared it.
func isJSON(value json.RawMessage, open byte) bool {
	return value == nil || json.Valid(value) && bytes.TrimLeft(value, " \t\r\n")[0] == open
}

// denied is the answer that denies.
func denied(message string) []byte {
	body, _ := Answer{Message: message}.body() // which fails for no message
	return body
}

// internalError is the decision after a fault of ours.
func internalError() policy.Decision {
	return policy.Decision{
		Kind:     policy.Deny,
		Reason:   policy.ReasonInternalError,
		Status:   http.StatusOK,
		Response: denied(internalErrorMessage),
	}
}

// ask puts a request to the person, and makes the decision of what comes back.
func (e *exchange) ask(ctx context.Context, d policy.Decision, payload []byte) policy.Decision {
	d.Kind, d.Status = policy.Deny, http.StatusOK
	if e.options.Prompt == nil {
		d.Response = denied(noPromptMessage)
		return d
	}
	request, err := promptRequest(e.vendor, d, payload)
	if err != nil {
		d.Response = denied(promptFailedMessage)
		return d
	}
	// A person may take hours, so the connection moves over to a place among those that wait. It doesn't come back.
	if !connection(ctx).move(e.waiting) {
		d.Response = denied(tooManyMessage)
		return d
	}
	e.w.Header()["Connection"] = []string{"close"}
	answer, err := prompt(ctx, e.options.Prompt, request)
	if err == nil {
		answer, err = answer.forVendor(e.vendor)
	}
	if err == nil {
		d.Response, err = answer.body()
	}
	if err != nil {
		d.Response = denied(promptFailedMessage)
	} else if answer.Allow {
		d.Kind = policy.Allow
	}
	return d
}

// promptRequest reads a payload that the engine has found to be in order. It fails for one in which a person could be shown
// something else than the agent's call: one that Go's decoder takes apart in another way than the engine, or not at all.
func promptRequest(vendor string, d policy.Decision, payload []byte) (PromptRequest, error) {
	payload = bytes.TrimSpace(bytes.TrimPrefix(payload, []byte("\ufeff")))
	request := PromptRequest{Vendor: vendor, Server: d.Server, Tool: d.Tool, Payload: payload}
	all, err := members(payload)
	if err != nil {
		return PromptRequest{}, err
	}
	byKey := make(map[string]json.RawMessage, 3)
	for _, m := range all {
		for _, key := range []string{"session_id", "tool_name", "tool_input"} {
			if !strings.EqualFold(m.key, key) {
				continue
			}
			if _, twice := byKey[key]; twice || m.key != key {
				return PromptRequest{}, errAmbiguous
			}
			byKey[key] = m.value
		}
	}
	if json.Unmarshal(byKey["session_id"], &request.SessionID) != nil || json.Unmarshal(byKey["tool_name"], &request.ToolName) != nil ||
		isBlank(strings.ReplaceAll(request.SessionID, "-", "")) || isBlank(request.ToolName) {
		return PromptRequest{}, errAmbiguous
	}
	request.ToolInput = byKey["tool_input"]
	return request, nil
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

var errPanicked = errors.New("bridge: the prompt panicked")

// prompt asks on a goroutine of its own, so that one that doesn't heed its context keeps neither a connection nor Close.
func prompt(ctx context.Context, ask Prompt, request PromptRequest) (Answer, error) {
	type outcome struct {
		answer Answer
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errPanicked}
		defer func() {
			_ = recover()
			done <- out
		}()
		out.answer, out.err = ask(ctx, request)
	}()
	select {
	case out := <-done:
		return out.answer, errors.Join(out.err, ctx.Err())
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}
