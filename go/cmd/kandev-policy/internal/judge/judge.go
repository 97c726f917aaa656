// Package judge decides the lines of a recording under one config.
package judge

import (
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/policy"
)

// Judge decides under one config, which is compiled once.
type Judge struct {
	policy   *policy.Policy
	reviewer bool
}

// New makes a judge. The error is the engine's, for a config that it can't use.
func New(config []byte) (*Judge, error) {
	p, err := policy.NewJSON(config)
	if err != nil {
		return nil, err
	}
	// Only answers to hooks have a status.
	return &Judge{policy: p, reviewer: p.DecideFrame(nil).Status != 0}, nil
}

// Reviewer says whether the config is a reviewer's, so that lines are hook payloads.
func (j *Judge) Reviewer() bool { return j.reviewer }

// What a line is.
type Line uint8

const (
	// Request is a permission request; it has been decided.
	Request Line = iota
	// Other is another message, which needs no decision.
	Other
	// Bad is nothing that such a recording holds.
	Bad
)

// Decide decides a line, if it is a permission request, and says what is wrong with a bad one.
func (j *Judge) Decide(line []byte) (d policy.Decision, what Line, problem string) {
	d = j.policy.DecideFrame(line)
	switch d.Reason {
	case policy.ReasonNotAPermissionRequest:
		return d, Other, ""
	case policy.ReasonMalformedFrame, policy.ReasonMalformedRequest:
		// The engine says of everything that it can't use that it is malformed. Only now is it worth finding out whether
		// a request is malformed, or whether it is no request.
	default:
		return d, Request, ""
	}
	if _, problem = document.SyntaxError(line); problem != "" {
		return d, Bad, problem
	}
	members := document.Members(line)
	if j.reviewer {
		if event, ok := members["hook_event_name"]; ok && event != "PermissionRequest" && event != nil {
			return d, Other, ""
		}
		return d, Request, ""
	}
	return d, frameOrMessage(members), unknown
}

const unknown = "neither a JSON-RPC message nor the params of a permission request"

// frameOrMessage tells a permission request that is malformed from a response or another message.
func frameOrMessage(members map[string]any) Line {
	has := func(key string) bool { _, ok := members[key]; return ok }
	switch {
	case members["method"] == "session/request_permission", has("toolCall"), has("subject"), has("options"):
		return Request
	case has("method"), has("result"), has("error"):
		return Other
	default:
		return Bad
	}
}
