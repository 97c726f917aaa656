package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestSyntaxError(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 20000)
	for _, test := range []struct {
		document string
		place    Place
		problem  string
	}{
		{"{}", Place{}, ""},
		{" {\"a\":[1,{\"b\":null}]}\r\n", Place{}, ""},
		{strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), Place{}, ""},
		{"", Place{1, 1}, "empty, expected a JSON object"},
		{" \n", Place{2, 1}, "empty, expected a JSON object"},
		{"7", Place{1, 1}, "expected a JSON object"},
		{"\n\n \"x\"", Place{3, 2}, "expected a JSON object"},
		{"{\"a\"", Place{1, 5}, "the JSON ends too early"},
		{"{\n\"a\":1\n\n", Place{4, 1}, "the JSON ends too early"},
		{"{\"a\":\n\t01}", Place{2, 3}, "not JSON: unexpected character after object key:value pair"},
		{"{\"a\":NaN}", Place{1, 6}, "not JSON: unexpected character looking for beginning of value"},
		{"{\"ä\":'}", Place{1, 7}, "not JSON: unexpected character looking for beginning of value"},
		{"{'a':1}", Place{1, 2}, "not JSON: unexpected character looking for beginning of object key string"},
		{"{\"a\":\"\n\"}", Place{1, 7}, "not JSON: unexpected character in string literal"},
		{"{\"a\":\"\\x\"}", Place{1, 8}, "not JSON: unexpected character in string escape code"},
		{"{} {}", Place{1, 4}, "more text behind the JSON"},
		{"{" + strings.Repeat(" ", MaxBytes-3) + "}", Place{}, ""},
		{"{" + strings.Repeat(" ", MaxBytes-2) + "}", Place{}, "longer than 16 MiB"},
		{deep + "garbage\n", Place{1, 20006}, "not JSON: unexpected character looking for beginning of value"},
		{deep + "1,\n}", Place{2, 1}, "not JSON: unexpected character looking for beginning of value"},
		{deep + "01]", Place{1, 20007}, "not JSON: unexpected character after array element"},
		{deep, Place{1, 20006}, "the JSON ends too early"},
		{deep + strings.Repeat("]", 20000) + "}}", Place{1, 40007}, "more text behind the JSON"},
		{deep + strings.Repeat("]", 20000) + "}", Place{}, ""},
		{deep[5:] + strings.Repeat("]", 20000), Place{1, 1}, "expected a JSON object"},
		{"\xef\xbb\xbf{}", Place{1, 1}, "not JSON: unexpected character looking for beginning of value"},
	} {
		if place, problem := SyntaxError([]byte(test.document)); place != test.place || problem != test.problem {
			t.Errorf("%.40q: got %v %q, want %v %q", test.document, place, problem, test.place, test.problem)
		}
	}
}

func TestHookSyntaxError(t *testing.T) {
	for _, test := range []struct {
		payload string
		place   Place
		problem string
	}{
		{"\ufeff{}", Place{}, ""},
		{"{}", Place{}, ""},
		{"\ufeff{,", Place{1, 5}, "not JSON: unexpected character looking for beginning of object key string"},
		{"\ufeff\n{,", Place{2, 2}, "not JSON: unexpected character looking for beginning of object key string"},
		{"\ufeff\ufeff{}", Place{1, 4}, "not JSON: unexpected character looking for beginning of value"},
		{" \ufeff{}", Place{1, 2}, "not JSON: unexpected character looking for beginning of value"},
		{"\ufeff{" + strings.Repeat(" ", MaxBytes), Place{}, "longer than 16 MiB"},
		{("\ufeff{" + strings.Repeat(" ", MaxBytes))[:MaxBytes], Place{}, "longer than 16 MiB"},
	} {
		if place, problem := HookSyntaxError([]byte(test.payload)); place != test.place || problem != test.problem {
			t.Errorf("%.40q: got %v %q, want %v %q", test.payload, place, problem, test.place, test.problem)
		}
	}
}

// FuzzDeepError compares with encoding/json on what is not deep.
func FuzzDeepError(f *testing.F) {
	for _, document := range []string{
		`{"a":[1,{"b":null}],"c":"\\"" }`, `{}`, ` [ ] `, ``, ` `, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1 2}`, `{"a":1]`,
		`[1,]`, `[1 2]`, `[1}`, `[,`, `[}`, `]`, `}`, `:`, `,`, `01`, `[01]`, `-`, `[-]`, `[1.]`, `[1e]`, `1e5 `, `tru`, `[tru,`, `truex`, `[nul`, `[nullx]`, `NaN`,
		`"`, `"\`, `"\x"`, `"\u12"`, `["\u12G4"]`, "[\"\n\"]", `{"a\`, `{"\q":1}`, `{7:1}`, `{'a':1}`, `1 1`, `{} []`, `["a""b"]`, `{"a""b"}`, "[\x00]", "\"\xff\"",
	} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		wantOffset, want := len(document), ""
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(document, new(json.RawMessage)), &syntax) {
			wantOffset, want = len(document), syntax.Error()
			if want != endsEarly {
				wantOffset, want = int(syntax.Offset)-1, wording(want)
			}
		}
		if strings.HasSuffix(want, "exceeded max depth") {
			return
		}
		offset, text := deepError(document)
		if text != "" && text != endsEarly {
			text = wording(text)
		}
		if offset != wantOffset || text != want {
			t.Errorf("%q: got %d %q, want %d %q", document, offset, text, wantOffset, want)
		}
	})
}

func TestKey(t *testing.T) {
	const document = `{
  "a": {"b": [1, {"c": 2}]},
  "s": [ "x",
    7 ] , "s" : 1,
  "\u0061\u0062": "a"
}`
	for _, test := range []struct {
		path      string
		duplicate bool
		place     Place
	}{
		{"a", false, Place{2, 3}},
		{"a.b", false, Place{2, 9}},
		{"a.b[0]", false, Place{2, 15}},
		{"a.b[1]", false, Place{2, 18}},
		{"a.b[1].c", false, Place{2, 19}},
		{"s", false, Place{3, 3}},
		{"s[1]", false, Place{4, 5}},
		{"s", true, Place{4, 11}},
		{"ab", false, Place{5, 3}},
		{"none", false, Place{}},
		{"a", true, Place{}},
		{"a[0]", false, Place{}},
		{"s[2]", false, Place{}},
		{"s[x]", false, Place{}},
		{"", false, Place{}},
	} {
		if place := Key([]byte(document), test.path, test.duplicate); place != test.place {
			t.Errorf("%s: got %v, want %v", test.path, place, test.place)
		}
	}
}

func TestMembers(t *testing.T) {
	members := ReadMembers([]byte(" {\"a\":\"x\" ,\"b\":null,\"c\" : [{\"d\":1,\"e\":\"]}\"},2,\"f\"],\r\n\"e\":1" + strings.Repeat("0", 5000) +
		`,"t":true,"o":{"g":{}},"q\u0075\"":"\\","s":"\\\"}","a":"y\u0041", "z":-1.5e3 }` + "\n"))
	want := map[string]string{"a": `"y\u0041"`, "b": "null", "c": "[", "e": "1" + strings.Repeat("0", 5000), "t": "true", "o": "{",
		`qu"`: `"\\"`, "s": `"\\\"}"`, "z": "-1.5e3"}
	for key, value := range want {
		if string(members[key]) != value {
			t.Errorf("%s: got %s, want %s", key, members[key], value)
		}
	}
	if len(members) != len(want) {
		t.Errorf("got %d members, want %d", len(members), len(want))
	}
	if members.Text("a") != "yA" || members.Text("e") != "" || members.Text("none") != "" ||
		!members.Null("b") || !members.Null("none") || members.Null("a") || !members.Has("b") || members.Has("d") {
		t.Error("a member is not what it is")
	}
	for _, document := range []string{"", "[]", "{", `{"a"`, `{"a`, `{"a":`, `"`, `\`, `}]`, `{"a":"`, "\x00", `[1,2,{"a":1}]`} {
		if members := ReadMembers([]byte(document)); len(members) > 1 {
			t.Errorf("%q: got %q", document, members)
		}
	}
}

// FuzzMembers compares with encoding/json, over all that it takes for one object.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"]"}],"c":"\\\"","a":null,"d":{}, "\u0065" : 1.0 }`))
	f.Fuzz(func(t *testing.T, document []byte) {
		members := ReadMembers(document)
		var want map[string]json.RawMessage
		if json.Unmarshal(document, &want) != nil || want == nil {
			return
		}
		if len(members) != len(want) {
			t.Errorf("%q: got %q, want %q", document, members, want)
		}
		for key, value := range want {
			if !bytes.HasPrefix(value, members[key]) || value[0] != '{' && value[0] != '[' && len(value) != len(members[key]) || len(members[key]) == 0 {
				t.Errorf("%q: %s is %q, want %q", document, key, members[key], value)
			}
		}
	})
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plan.json": "plan.json", "mit Leerzeichen ä": "mit Leerzeichen ä", "": `""`,
		"\x1b[2J": `"\x1b[2J"`, "a\u202eb": `"a\u202eb"`, "a\xff": `"a\xff"`, "a\nb": `"a\nb"`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: got %s", text, got)
		}
	}
}
