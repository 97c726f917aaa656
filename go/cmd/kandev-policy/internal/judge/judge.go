// Package judge decides the lines of a recording under one config.
package judge

import (
	"bytes"
	"strings"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/policy"
)

// Judge decides under one config, which is compiled once. It is for one goroutine.
type Judge struct {
	policy   *policy.Policy
	reviewer bool
	// json knows JSON from other lines, see isJSON.
	json    *policy.Policy
	message []byte
}

// New makes a judge. The error is the engine's, for a config that it can't use.
func New(config []byte) (*Judge, error) {
	p, err := policy.NewJSON(config)
	if err != nil {
		return nil, err
	}
	json, err := policy.New(policy.Config{})
	if err != nil {
		return nil, err
	}
	// Only answers to hooks have a status.
	return &Judge{policy: p, reviewer: p.DecideFrame(nil).Status != 0, json: json}, nil
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
	if j.reviewer {
		line = document.WithoutBOM(line)
	}
	if !j.isJSON(line) {
		if _, problem = document.SyntaxError(line); problem != "" {
			return d, Bad, problem
		}
	}
	if j.reviewer {
		members := document.ReadMembers(line)
		if !members.Null("hook_event_name") && members.Text("hook_event_name") != "PermissionRequest" {
			return d, Other, ""
		}
		return d, Request, ""
	}
	return d, frameOrMessage(line), unknown
}

// isJSON asks the engine, which is many times faster than encoding/json: with a method put in front, a line that is one
// JSON object is a message with another method, of which the engine looks at nothing else. It may say no to what is JSON:
// {}, and what the engine finds ambiguous at the top.
func (j *Judge) isJSON(line []byte) bool {
	members, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t\r"), []byte{'{'})
	if !ok {
		return false
	}
	j.message = append(append(j.message[:0], `{"method":"",`...), members...)
	return j.json.DecideFrame(j.message).Reason == policy.ReasonNotAPermissionRequest
}

const unknown = "neither a JSON-RPC message nor the params of a permission request"

// frameOrMessage tells a permission request that is malformed from a response or another message. Of a key that is there
// twice, or in another spelling, a host's decoder may have taken either: what may be a request counts as one.
func frameOrMessage(line []byte) Line {
	what := Bad
	document.EachMember(line, func(key string, value []byte) {
		is := func(name string) bool { return strings.EqualFold(key, name) } // which folds as encoding/json does
		switch {
		case is("toolCall"), is("subject"), is("options"), is("method") && document.Text(value) == "session/request_permission":
			what = Request
		case what == Bad && (is("method") || is("params") || key == "result" || key == "error"):
			what = Other
		}
	})
	return what
}
