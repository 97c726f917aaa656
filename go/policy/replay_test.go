//go:build !kandev_policy_none

package policy

import (
	"errors"
	"testing"
	"unicode/utf8"
)

// TestVectorsDecideJSON replays every vector through the one-shot call.
func TestVectorsDecideJSON(t *testing.T) {
	for _, v := range vectors(t) {
		if got := decisionJSON(t, DecideJSON(v.input, v.config)); got != v.expect {
			t.Errorf("%s:\n got %s\nwant %s", v.id, got, v.expect)
		}
	}
}

// TestVectorsExplainJSON: an explanation has the same decision, and ends where it was made.
func TestVectorsExplainJSON(t *testing.T) {
	for _, v := range vectors(t) {
		e, err := ExplainJSON(v.input, v.config)
		if err != nil {
			t.Errorf("%s: %v", v.id, err)
			continue
		}
		if got := decisionJSON(t, e.Decision); got != v.expect {
			t.Errorf("%s:\n got %s\nwant %s", v.id, got, v.expect)
		}
		if e.Detail == "" || len(e.Trace) == 0 || len(e.Raw) == 0 {
			t.Errorf("%s: %+v", v.id, e)
		}
		for _, step := range e.Trace {
			if step.Step == "" || step.Outcome != "passed" && step.Outcome != "stopped" {
				t.Errorf("%s: step %+v", v.id, step)
			}
		}
	}
}

// TestVectorsDecideFrame replays every vector through a compiled policy.
func TestVectorsDecideFrame(t *testing.T) {
	for _, v := range vectors(t) {
		p, err := NewJSON(v.config)
		if (err != nil) != (v.expected(t).Reason == ReasonMalformedConfig) {
			t.Errorf("%s: error %v, want %s", v.id, err, v.expect)
		}
		if err != nil {
			if !errors.Is(err, ErrBadConfig) {
				t.Errorf("%s: %v", v.id, err)
			}
			continue
		}
		frame := append([]byte(nil), v.input...)
		d := p.DecideFrame(frame)
		clear(frame) // the decision must not notice
		if got := decisionJSON(t, d); got != v.expect {
			t.Errorf("%s:\n got %s\nwant %s", v.id, got, v.expect)
		}
		p.Close()
	}
}

// TestUnattendedAsTheEngineSeesIt: where the engine can't answer, Go must know whether to ask or to deny.
func TestUnattendedAsTheEngineSeesIt(t *testing.T) {
	for _, v := range vectors(t) {
		expected := v.expected(t)
		if isUnattended(v.config) != (expected.Status != 0) {
			t.Errorf("%s: unattended %t, want %s", v.id, isUnattended(v.config), v.expect)
		}
	}
}

// TestVectorsDecide decodes each vector's frame as a host does and decides the request. Left out is exactly where a
// decoder hides what the decision was about, or where a Request can't say it (see requestOf).
func TestVectorsDecide(t *testing.T) {
	const atLeast = 900
	compared, left := 0, map[string]int{}
	for _, v := range vectors(t) {
		if v.hook() {
			continue
		}
		p, err := NewJSON(v.config)
		if err != nil {
			left["unusable config"]++
			continue
		}
		req, why := requestOf(v.input)
		if why != "" {
			left[why]++
			continue
		}
		compared++
		if got := decisionJSON(t, p.Decide(req)); got != v.expect {
			t.Errorf("%s:\n got %s\nwant %s", v.id, got, v.expect)
		}
		p.Close()
	}
	t.Logf("compared %d, left out %v", compared, left)
	if compared < atLeast {
		t.Errorf("only %d vectors compared", compared)
	}
}

// requestOf decodes a frame into what a host holds, or says why no host's Request is the same as the frame. Metadata is left
// as it is, whatever it holds: judging that is Decide's own work.
func requestOf(frame []byte) (req Request, why string) {
	const (
		noDocument = "not decodable"
		tooSlow    = "longer than 1 MiB, which takes this test's decoder long"
		noRequest  = "no permission request that a host's protocol layer would hand on"
		hidden     = "hidden by decoding: duplicate key, rival spelling or lone surrogate"
		untyped    = "a type that a Request can't have"
	)
	if len(frame) > 1<<20 {
		return req, tooSlow
	}
	tree, ok := parse(frame)
	top, isObject := tree.(object)
	if !ok || !isObject || !utf8.Valid(frame) {
		return req, noDocument
	}
	if hasLoneSurrogate(frame) {
		return req, hidden
	}
	if !top.clear("method", "params", "toolCall", "subject", "options") {
		return req, hidden
	}
	_, hasMethod := top.get("method")
	if params, hasParams := top.get("params"); hasMethod || hasParams {
		method, _ := top.get("method")
		inner, isObject := params.(object)
		if method != "session/request_permission" || !isObject || top.has("toolCall", "subject", "options") {
			return req, noRequest
		}
		top = inner
	}
	if !top.clear("toolCall", "subject", "options") {
		return req, hidden
	}
	if top.has("toolCall") == top.has("subject") {
		return req, noRequest
	}
	call, _ := top.get("toolCall")
	if subject, isV2 := top.get("subject"); isV2 {
		inner, isObject := subject.(object)
		if subject != nil && !isObject {
			return req, noRequest
		}
		if !inner.clear("type", "toolCall") {
			return req, hidden
		}
		call = object{} // a request about something else than a tool call
		if kind, _ := inner.get("type"); kind == "tool_call" {
			call, _ = inner.get("toolCall")
		}
	}
	toolCall, isObject := call.(object)
	if !isObject {
		return req, noRequest
	}
	if !toolCall.clear("name", "title", "kind", "_meta") {
		return req, hidden
	}
	if name, _ := toolCall.get("name"); name != nil {
		text, isText := name.(string)
		if !isText {
			return req, untyped
		}
		req.ToolName = &text
	}
	if meta, _ := toolCall.get("_meta"); meta != nil {
		inner, isObject := meta.(object)
		if !isObject {
			return req, untyped
		}
		var lossless bool
		if req.ToolMeta, lossless = inner.plain(); !lossless {
			return req, hidden
		}
	}
	title, _ := toolCall.get("title")
	req.Title, _ = title.(string)
	kind, _ := toolCall.get("kind")
	req.Kind, _ = kind.(string)

	options, _ := top.get("options")
	list, isArray := options.([]any)
	if options != nil && !isArray {
		return req, untyped
	}
	for _, each := range list {
		option, isObject := each.(object)
		if !option.clear("optionId", "kind") {
			return req, hidden
		}
		id, _ := option.get("optionId")
		kind, _ := option.get("kind")
		idText, isText := id.(string)
		kindText, isText2 := kind.(string)
		if !isObject || !isText || !isText2 {
			return req, untyped
		}
		req.Options = append(req.Options, Option{OptionID: idText, Kind: kindText})
	}
	return req, ""
}
