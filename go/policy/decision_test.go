package policy

import (
	"encoding/json"
	"testing"
)

func TestDecisionJSON(t *testing.T) {
	for want, d := range map[string]Decision{
		`{"decision":"ask","reason":""}`: {},
		`{"decision":"select","reason":"injected_mcp","option_id":"allow-once","option_kind":"allow_once","server":"kandev","tool":"update_task_plan_kandev"}`: {
			Kind: Select, Reason: ReasonInjectedMCP, OptionID: "allow-once", OptionKind: OptionKindAllowOnce, Server: "kandev", Tool: "update_task_plan_kandev",
		},
		`{"decision":"ask","reason":"other_server","server":"other","tool":"search"}`: {Reason: ReasonOtherServer, Server: "other", Tool: "search"},
		`{"decision":"cancel","reason":"no_options"}`:                                 {Kind: Cancel, Reason: ReasonNoOptions},
		`{"decision":"select","reason":"blanket_approval","option_id":""}`:            {Kind: Select, Reason: ReasonBlanketApproval},
		`{"decision":"deny","reason":"malformed_request","status":400}`:               {Kind: Deny, Reason: ReasonMalformedRequest, Status: 400},
		`{"decision":"allow","reason":"result_channel","status":200,"tool":"t","response":{"a":"<&>"}}`: {
			Kind: Allow, Reason: ReasonResultChannel, Status: 200, Tool: "t", Response: json.RawMessage(`{"a":"<&>"}`),
		},
	} {
		if got := decisionJSON(t, d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if b, err := json.Marshal(d); err != nil || !json.Valid(b) {
			t.Errorf("json.Marshal: %s, %v", b, err)
		}
	}
}

func TestKindText(t *testing.T) {
	b, err := json.Marshal(map[Kind]Kind{Select: Deny})
	if err != nil || string(b) != `{"select":"deny"}` {
		t.Errorf("%s, %v", b, err)
	}
	if Kind(200).String() != "ask" {
		t.Errorf("no kind: %s", Kind(200))
	}
}

func TestJSONString(t *testing.T) {
	for s, want := range map[string]string{
		"":                       `""`,
		"plain":                  `"plain"`,
		"\" \\ / \b \f \n \r \t": `"\" \\ / \b \f \n \r \t"`,
		"\x00\x01\x0b\x1f\x7f":   `"\u0000\u0001\u000b\u001f` + "\x7f\"",
		"<>&'\u2028\u2029":       "\"<>&'\u2028\u2029\"",
		"é€😀\ufffd":              `"é€😀` + "\ufffd\"",
		"\xff":                   `"\udcff"`,
		"a\xc3\"b\x80":           `"a\udcc3\"b\udc80"`,
		"\xed\xa0\x80":           `"\udced\udca0\udc80"`,
	} {
		got := string(appendJSONString(nil, s))
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}

// FuzzJSONString: what is text comes back as it was, and what is not stays different from all text.
func FuzzJSONString(f *testing.F) {
	f.Add("a\"\\\x00é\u2028")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(appendJSONString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); back != want { // which has U+FFFD for each byte that is no text, as the decoder does
			t.Errorf("%q came back as %q", s, back)
		}
	})
}
