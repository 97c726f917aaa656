package judge

import (
	"encoding/json"
	"strings"
	"testing"
)

func newJudge(t testing.TB, config string) *Judge {
	j, err := New([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestLines tells requests, other messages and bad lines from one another.
func TestLines(t *testing.T) {
	deep := strings.Repeat("[", 100000) + strings.Repeat("]", 100000)
	injected, reviewer := newJudge(t, `{}`), newJudge(t, `{"policy":"unattended_review","vendor":"codex","token":"reviewer"}`)
	for _, test := range []struct {
		judge   *Judge
		line    string
		want    Line
		problem string
	}{
		{injected, `{"jsonrpc":"2.0","id":1,"result":{"content":"text"}}`, Other, ""},
		{injected, `{"jsonrpc":"2.0","id":1,"error":{"code":-1}}` + "\r", Other, ""},
		{injected, ` {"id":1,"result":` + deep + `}`, Other, ""},
		{injected, `{"id":1,"result":"` + strings.Repeat("x", 16<<20-20) + `"}`, Other, ""}, // with a method it is too long
		{injected, `{"r\u0065sult":1}`, Other, ""},
		{injected, `{"method":"session/update","method":"session/update"}`, Other, ""},
		{injected, `{"jsonrpc":"2.0","method":"session/request_permission","params":{}}`, Request, ""},
		{injected, `{"method":"session/request_permission","params":{"toolCall":7}}`, Request, ""},
		{injected, `{"result":1,"toolCall":{}}`, Request, ""},
		{injected, `{"options":[7]}`, Request, ""},
		{injected, `{"METHOD":"session/request_permission","params":{}}`, Request, ""},
		{injected, `{"method":"session/request_permission","method":"session/update"}`, Request, ""},
		{injected, `{"method":"session/update","METHOD":"session/request_permission","params":{}}`, Request, ""},
		{injected, `{"result":1,"\u017fubject":null}`, Request, ""},
		{injected, `{"toolcall":{}}`, Request, ""},
		{injected, `{"METHOD":"session/update","params":{}}`, Other, ""},
		{injected, `{"params":{},"params":{}}`, Other, ""},
		{injected, `{"PARAMS":{}}`, Other, ""},
		{injected, `{"params":{"METHOD":"session/request_permission","toolCall":{}},"Params":1}`, Other, ""},
		{injected, `{"toolCall":` + deep[:100000] + "garbage", Bad, "not JSON: unexpected character looking for beginning of value"},
		{injected, "\ufeff" + `{"toolCall":7,"options":[]}`, Bad, "not JSON: unexpected character looking for beginning of value"},
		{injected, "{\"toolCall\":{\"name\":\"\xff\"}}", Request, ""}, // no UTF-8, but a request all the same
		{injected, `{"result":1},"x":{}`, Bad, "more text behind the JSON"},
		{injected, `{"result":1} {"result":1}`, Bad, "more text behind the JSON"},
		{injected, `{"result":1}]`, Bad, "more text behind the JSON"},
		{injected, `{"result":`, Bad, "the JSON ends too early"},
		{injected, "{\"result\":\"\x00\"}", Bad, "not JSON: unexpected character in string literal"},
		{injected, "\xef\xbb\xbf{}", Bad, "not JSON: unexpected character looking for beginning of value"},
		{injected, `[{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}]`, Bad, "expected a JSON object"},
		{injected, `{}`, Bad, unknown},
		{injected, `{"level":"info","message":"result"}`, Bad, unknown},
		{reviewer, `{"session_id":"s","tool_name":"Bash"}`, Request, ""},
		{reviewer, `{"session_id":"s","tool_name":"Bash","hook_event_name":null}`, Request, ""},
		{reviewer, `{"session_id":7,"tool_name":"Bash","hook_event_name":"PermissionRequest"}`, Request, ""},
		{reviewer, `{"session_id":"s","tool_name":"Bash","hook_event_name":"PreToolUse"}`, Other, ""},
		{reviewer, "\ufeff" + `{"session_id":"","tool_name":"mcp__kcap_review__x"}`, Request, ""},
		{reviewer, "\ufeff" + `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash"}`, Other, ""},
		{reviewer, "\ufeff\ufeff" + `{"session_id":"s","tool_name":"Bash"}`, Bad, "not JSON: unexpected character looking for beginning of value"},
		{reviewer, "\ufeff", Bad, "empty, expected a JSON object"},
		{reviewer, `{"session_id":"s"`, Bad, "the JSON ends too early"},
	} {
		_, got, problem := test.judge.Decide([]byte(test.line))
		if got != test.want || got == Bad && problem != test.problem {
			t.Errorf("%.80q: got %d %q, want %d %q", test.line, got, problem, test.want, test.problem)
		}
	}
}

// FuzzIsJSON: what the engine takes for JSON encoding/json does too, as one object.
func FuzzIsJSON(f *testing.F) {
	for _, line := range []string{`{"result":1},"x":{}`, `{"a":[{"b":"]"}]}`, " {\"error\":\"\\u0000\"}\r", `{}`} {
		f.Add([]byte(line))
	}
	j := newJudge(f, `{}`)
	f.Fuzz(func(t *testing.T, line []byte) {
		var object map[string]json.RawMessage
		if j.isJSON(line) && (json.Unmarshal(line, &object) != nil || len(object) == 0) {
			t.Errorf("%q is no JSON object", line)
		}
	})
}
