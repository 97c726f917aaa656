// Package acp stands for the pinned fork of the ACP Go SDK, whose tool call has Name and Meta.
package acp

type RequestPermissionRequest struct {
	SessionId string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

type ToolCall struct {
	Meta       map[string]any `json:"_meta,omitempty"`
	Name       *string        `json:"name,omitempty"`
	ToolCallId string         `json:"toolCallId"`
	Title      *string        `json:"title,omitempty"`
	Kind       *string        `json:"kind,omitempty"`
	RawInput   any            `json:"rawInput,omitempty"`
}

type PermissionOption struct {
	OptionId string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

type RequestPermissionResponse struct {
	Selected  string // option id
	Cancelled bool
}
