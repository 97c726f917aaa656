// Package types holds what the layers exchange.
package types

type PermissionRequest struct {
	SessionID     string
	ToolCallID    string
	Title         string
	Options       []PermissionOption
	ActionType    string
	ActionDetails map[string]any
	PendingID     string
}

type PermissionOption struct {
	OptionID string
	Name     string
	Kind     string
}

type PermissionResponse struct {
	OptionID  string
	Cancelled bool
}
