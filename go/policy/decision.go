package policy

import (
	"encoding/json"
	"strconv"
)

// Kind says what a host should do with a request.
type Kind uint8

// The kinds. Ask is the zero value.
const (
	// Ask: let the request go the way it went before.
	Ask Kind = iota
	// Select: answer with the decision's option.
	Select
	// Cancel: answer that the request is cancelled.
	Cancel
	// Allow: allow the call (hooks).
	Allow
	// Deny: deny the call (hooks).
	Deny
)

// kinds has each kind's word at its number in the ABI.
var kinds = [...]string{Ask: "ask", Select: "select", Cancel: "cancel", Allow: "allow", Deny: "deny"}

// String gives the word that stands in the decision's JSON. A number that is no kind is an "ask".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return kinds[Ask]
}

// MarshalText gives the same word as String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// ACP's kinds of permission options, as they stand in [Decision.OptionKind]. In an [Option] they may be spelled with
// other case and with white space around them.
const (
	OptionKindAllowOnce    = "allow_once"
	OptionKindAllowAlways  = "allow_always"
	OptionKindRejectOnce   = "reject_once"
	OptionKindRejectAlways = "reject_always"
)

// optionKinds has each option kind at its number in the ABI; 0 is none.
var optionKinds = [...]string{"", OptionKindAllowOnce, OptionKindAllowAlways, OptionKindRejectOnce, OptionKindRejectAlways}

// Decision is the answer to one permission request. The zero value is an Ask.
type Decision struct {
	// Kind is what to do.
	Kind Kind
	// Reason is why.
	Reason Reason
	// OptionID is, for Select, the chosen option's id, byte for byte as the agent offered it. OptionKind is its kind,
	// empty if that is not one of ACP's four. Server and Tool are the two parts of the qualified tool name, empty unless
	// it has parsed.
	OptionID, OptionKind, Server, Tool string
	// Status is the HTTP status that goes with the answer to a hook; 0 for ACP.
	Status int
	// Response is the body that answers a hook; nil if there is none.
	Response json.RawMessage
}

// refusal is the answer where no engine has decided: ask, or deny where nobody is there to ask.
func refusal(unattended bool, reason Reason) Decision {
	if unattended {
		return Decision{Kind: Deny, Reason: reason, Status: 500}
	}
	return Decision{Kind: Ask, Reason: reason}
}

// MarshalJSON gives the decision's JSON byte for byte as the C ABI does: keys in a fixed order, absent when they don't
// apply, strings escaped minimally. It never fails.
//
// json.Marshal and an Encoder additionally escape <, > and & in what they embed, unless SetEscapeHTML(false) is called.
func (d Decision) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 256+len(d.OptionID)+len(d.Response))
	b = append(b, `{"decision":`...)
	b = appendJSONString(b, d.Kind.String())
	b = appendJSONMember(b, "reason", string(d.Reason))
	if d.Status != 0 {
		b = append(b, `,"status":`...)
		b = strconv.AppendInt(b, int64(d.Status), 10)
	}
	// A blanket approval takes an option's id as it is, and that may be empty.
	if d.Kind == Select || d.OptionID != "" {
		b = appendJSONMember(b, "option_id", d.OptionID)
	}
	if d.OptionKind != "" {
		b = appendJSONMember(b, "option_kind", d.OptionKind)
	}
	if d.Server != "" {
		b = appendJSONMember(b, "server", d.Server)
	}
	if d.Tool != "" {
		b = appendJSONMember(b, "tool", d.Tool)
	}
	if len(d.Response) > 0 {
		b = append(b, `,"response":`...)
		b = append(b, d.Response...)
	}
	return append(b, '}'), nil
}
