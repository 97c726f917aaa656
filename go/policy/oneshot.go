package policy

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// DecideJSON decides one request under a config that is used once: an ACP frame, or a hook payload for a config with
// "policy":"unattended_review". The config is host-authored JSON, and here and in [NewJSON] JSON turns provenance on: never
// pass on what a user can write. To decide often, compile the config with [New] or NewJSON.
//
// Whatever is wrong with frame or config is an Ask with its reason, or a Deny for a reviewer's config. A document that
// holds a NUL byte, which no JSON does, or that is over the limit, is malformed and never copied.
func DecideJSON(frame, config []byte) Decision {
	if !engineUsable() {
		return refusal(isUnattended(config), ReasonEngineUnavailable)
	}
	var out result
	if json.Unmarshal(oneShot(crossing(frame), crossing(config), false), &out) != nil {
		return refusal(isUnattended(config), ReasonInternalError)
	}
	d, ok := out.decision()
	if !ok {
		return refusal(isUnattended(config), ReasonInternalError)
	}
	return d
}

// crossing is the document as it crosses to a C string. Cut at a NUL it would be another document, so one with a NUL
// crosses as an empty one, which is as malformed; so does one over the limit, which saves copying it.
func crossing(document []byte) []byte {
	if len(document) > maxDocumentBytes || bytes.IndexByte(document, 0) >= 0 {
		return nil
	}
	return document
}

// result is the JSON of a decision, or of an explanation.
type result struct {
	Decision   string              `json:"decision"`
	Reason     Reason              `json:"reason"`
	Status     int                 `json:"status"`
	OptionID   string              `json:"option_id"`
	OptionKind string              `json:"option_kind"`
	Server     string              `json:"server"`
	Tool       string              `json:"tool"`
	Response   json.RawMessage     `json:"response"`
	Detail     string              `json:"detail"`
	Trace      []map[string]string `json:"trace"`
}

// decision is not ok for a word that is no decision.
func (r *result) decision() (d Decision, ok bool) {
	for kind, word := range kinds {
		if word == r.Decision {
			return Decision{
				Kind:       Kind(kind),
				Reason:     r.Reason,
				OptionID:   r.OptionID,
				OptionKind: r.OptionKind,
				Server:     r.Server,
				Tool:       r.Tool,
				Status:     r.Status,
				Response:   r.Response,
			}, true
		}
	}
	return d, false
}

// isUnattended reports whether a config is a reviewer's: one JSON object with exactly one "policy", which says so. It is
// asked only where the engine can't answer.
func isUnattended(config []byte) bool {
	if len(config) > maxDocumentBytes || !utf8.Valid(config) || !json.Valid(config) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(config))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	var policies int
	var unattended bool
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
		if key == "policy" {
			var word string
			policies++
			unattended = json.Unmarshal(value, &word) == nil && word == "unattended_review"
		}
	}
	return policies == 1 && unattended
}
