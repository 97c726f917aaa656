package acpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	acp "github.com/coder/acp-go-sdk"
)

// PermissionRequest is what the process manager works with: one frame, decoded, with the identity of the call preserved.
type PermissionRequest struct {
	PendingID  string // the same for the same tool call of the same session; empty: the agent named no tool call
	SessionID  string
	ToolCallID string
	Title      string
	Kind       string
	RawInput   any
	Options    []PermissionOption

	// Malformed: which call the frame is about can't be told. What is decoded is for the user, not for the policy.
	Malformed bool

	// The next three are for the policy alone. They never go into an announcement, a snapshot or a log.

	ToolName *string         // toolCall.name; nil: the agent sent none
	ToolMeta map[string]any  // toolCall._meta
	Params   json.RawMessage // the whole frame as it came
}

// PermissionOption is a choice that the agent offers.
type PermissionOption struct {
	OptionID string `json:"option_id"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

// PermissionResponse answers a request with one of its options, or cancels it.
type PermissionResponse struct {
	OptionID  string
	Cancelled bool
}

// Format prints ids alone, whatever the verb: titles, inputs and metadata can hold secrets.
func (r *PermissionRequest) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "permission request %q with %d options", r.ToolCallID, len(r.Options))
}

// LogValue is the same for log/slog.
func (r *PermissionRequest) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

// toolCall is the SDK's tool call and the member that its newest release has no field for.
type toolCall struct {
	acp.ToolCallUpdate
	Name any `json:"name"`
}

// permissionParams are the params of a request in ACP v1 (toolCall) and v2 (subject). Those two stay raw here, because a
// null and an absent one differ.
type permissionParams struct {
	SessionID acp.SessionId          `json:"sessionId"`
	ToolCall  json.RawMessage        `json:"toolCall"`
	Subject   json.RawMessage        `json:"subject"`
	Options   []acp.PermissionOption `json:"options"`
}

// call is the tool call that the request is about, by the rules of contract 4.2. A subject that is null or of another type
// than tool_call is about none, whatever it holds: the call is empty. The call is nil if the frame is malformed: toolCall
// and subject together, even as null, or neither, or no object where one has to be.
func (p *permissionParams) call() (*toolCall, error) {
	raw := p.ToolCall
	switch {
	case (p.ToolCall == nil) == (p.Subject == nil):
		return nil, nil
	case p.Subject != nil:
		if string(p.Subject) == "null" {
			return &toolCall{}, nil
		}
		if !isObject(p.Subject) {
			return nil, nil
		}
		var subject struct {
			Type     any             `json:"type"`
			ToolCall json.RawMessage `json:"toolCall"`
		}
		if err := json.Unmarshal(p.Subject, &subject); err != nil {
			return nil, err
		}
		if subject.Type != "tool_call" {
			return &toolCall{}, nil
		}
		raw = subject.ToolCall
	}
	if !isObject(raw) {
		return nil, nil
	}
	call := &toolCall{}
	return call, json.Unmarshal(raw, call)
}

// isObject is for a value that the decoder has cut out: it is JSON without white space around it.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// forwardPermissionRequest hands a frame to the process manager and its answer to the agent.
func (c *Client) forwardPermissionRequest(ctx context.Context, raw json.RawMessage) (any, *acp.RequestError) {
	var params permissionParams
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, acp.NewInvalidParams(map[string]any{"error": "permission request can't be decoded"})
	}
	if len(params.Options) == 0 {
		return wireResponse(PermissionResponse{Cancelled: true}), nil
	}
	call, err := params.call()
	if err != nil {
		return nil, acp.NewInvalidParams(map[string]any{"error": "permission request can't be decoded"})
	}
	malformed := call == nil
	if malformed {
		call = &toolCall{}
	}

	req := &PermissionRequest{
		Malformed:  malformed,
		SessionID:  string(params.SessionID),
		ToolCallID: string(call.ToolCallId),
		RawInput:   call.RawInput,
		ToolMeta:   call.Meta,
	}
	if req.ToolCallID != "" {
		req.PendingID = req.SessionID + "/" + req.ToolCallID
	}
	if !c.opts.DropParams {
		req.Params = raw
	}
	if call.Title != nil {
		req.Title = *call.Title
	}
	if call.Kind != nil {
		req.Kind = string(*call.Kind)
	}
	if call.Name != nil {
		name, _ := call.Name.(string) // a name of another type is one that matches nothing
		req.ToolName = &name
	}
	for _, option := range params.Options {
		req.Options = append(req.Options, PermissionOption{
			OptionID: string(option.OptionId), Name: option.Name, Kind: string(option.Kind),
		})
	}

	resp, err := c.opts.OnPermission(ctx, req)
	if err != nil {
		return nil, acp.NewInternalError(map[string]any{"error": "permission request failed"})
	}
	return wireResponse(resp), nil
}

// wireResponse is ACP's own answer, the same in v1 and v2.
func wireResponse(resp PermissionResponse) acp.RequestPermissionResponse {
	if resp.Cancelled {
		return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(resp.OptionID))}
}
