// Package acp is the ACP client: it turns frames into requests for the process manager.
package acp

import (
	"context"

	sdk "github.com/kandev/kandev/internal/agentctl/acp"
	"github.com/kandev/kandev/internal/agentctl/types"
)

type Client struct {
	PermissionHandler func(context.Context, *types.PermissionRequest) (*types.PermissionResponse, error)
}

func (c *Client) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	if len(p.Options) == 0 {
		return sdk.RequestPermissionResponse{Cancelled: true}, nil
	}
	return c.forwardPermissionRequest(ctx, p)
}

func (c *Client) forwardPermissionRequest(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	req := &types.PermissionRequest{
		SessionID:     p.SessionId,
		ToolCallID:    p.ToolCall.ToolCallId,
		Title:         deref(p.ToolCall.Title),
		ActionType:    actionType(deref(p.ToolCall.Kind)),
		ActionDetails: map[string]any{"raw_input": p.ToolCall.RawInput},
	}
	for _, option := range p.Options {
		req.Options = append(req.Options, types.PermissionOption{OptionID: option.OptionId, Name: option.Name, Kind: option.Kind})
	}
	resp, err := c.PermissionHandler(ctx, req)
	if err != nil {
		return sdk.RequestPermissionResponse{}, err
	}
	return sdk.RequestPermissionResponse{Selected: resp.OptionID, Cancelled: resp.Cancelled}, nil
}

func actionType(kind string) string {
	switch kind {
	case "execute":
		return "command"
	case "edit":
		return "file_write"
	default:
		return "other"
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
