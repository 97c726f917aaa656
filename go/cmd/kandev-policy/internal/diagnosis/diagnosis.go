// Package diagnosis finds out which key makes a config unusable.
//
// It knows none of the engine's rules. It puts the config's members into a config that is known to be usable, one by
// one, and asks the engine again; the first member that spoils it is the one to name. The two tables hold only the words
// for it.
package diagnosis

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
)

// Problem is what is wrong with a config. It holds no value of it.
type Problem struct {
	// Path is the key, such as "mcp_servers[1]"; empty if it is about the whole.
	Path string
	// Duplicate: the key is there twice.
	Duplicate bool
	// Text says what is wrong.
	Text string
}

// expected has the type of each key.
var expected = map[string]string{
	"policy":                   "string",
	"agent_type":               "string",
	"port":                     "integer",
	"mcp_host":                 "string",
	"injected_kandev_mcp":      "boolean",
	"mcp_servers":              "array of objects",
	"auto_approve_permissions": "boolean",
	"vendor":                   "string",
	"token":                    "string",
	"servers":                  "array of strings",
	"result_channel_scope":     "string",
	"catalog":                  "object",
}

// rules words what can be wrong with a value of the right type.
var rules = map[string]string{
	"policy":               `expected "injected_mcp" or "unattended_review"`,
	"port":                 "found a number that is no 64-bit integer, expected integer",
	"vendor":               `expected "codex" or "claude"`,
	"token":                `expected "reviewer" or "shared"`,
	"result_channel_scope": `expected "any" or "reviewer"`,
	"servers":              "is no server that a reviewer may be bound to",
	"mcp_servers":          "duplicate key in this entry",
	"catalog":              "breaks a rule of catalogs: every member there once and of its type, ids and tools well-formed and unique, tools classified only and always for auto-approvable servers, and these start no flows",
}

// The smallest usable configs.
var (
	injected = []member{}
	reviewer = []member{{"policy", `"unattended_review"`}, {"vendor", `"codex"`}, {"token", `"reviewer"`}}
)

// Find says what is wrong with a config that is one JSON object and that usable refuses. It gives no text if it finds
// nothing.
func Find(config []byte, usable func(config []byte) bool) Problem {
	if !utf8.Valid(config) {
		return Problem{Text: "not UTF-8"}
	}
	members := read(config)
	base := injected
	if value(members, "policy") == `"unattended_review"` {
		base = reviewer
	}
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.key] {
			return Problem{Path: name(m.key), Duplicate: true, Text: "duplicate key"}
		}
		seen[m.key] = true
	}
	// The allowlist is resolved against the catalog, so that is judged first and then stays.
	if catalog := value(members, "catalog"); catalog != "" && usable(write(with(base, member{"catalog", catalog}))) {
		base = with(base, member{"catalog", catalog})
	}
	for _, m := range members {
		if !usable(write(with(base, m))) {
			return locate(base, m, usable)
		}
	}
	for _, m := range base {
		if found := value(members, m.key); found == "" || found == "null" {
			return Problem{Path: m.key, Text: "found null, expected " + expected[m.key]}
		}
	}
	return Problem{}
}

// locate words the problem with one member, or with one element of it.
func locate(base []member, m member, usable func([]byte) bool) Problem {
	want, known := expected[m.key]
	if !known || !usable(write(with(base, member{m.key, "null"}))) && !isIn(base, m.key) {
		return Problem{Path: name(m.key), Text: "unknown key"}
	}
	elementType, isArray := strings.CutPrefix(want, "array of ")
	if found := typeOf(m.value); isArray && found == "array" {
		elementType = strings.TrimSuffix(elementType, "s")
		var elements []json.RawMessage
		_ = json.Unmarshal([]byte(m.value), &elements) // it has been read before
		for i, element := range elements {
			if usable(write(with(base, member{m.key, "[" + string(element) + "]"}))) {
				continue
			}
			problem := Problem{Path: m.key + "[" + strconv.Itoa(i) + "]", Text: rules[m.key]}
			if found := typeOf(string(element)); found != elementType {
				problem.Text = fmt.Sprintf("found %s, expected %s", found, elementType)
			}
			return problem
		}
		return Problem{Path: m.key, Text: rules[m.key]}
	} else if found != want && (found != "number" || want != "integer") {
		return Problem{Path: m.key, Text: fmt.Sprintf("found %s, expected %s", found, want)}
	}
	if rule, ok := rules[m.key]; ok {
		return Problem{Path: m.key, Text: rule}
	}
	return Problem{Path: m.key, Text: "found a string with half a surrogate pair, expected string"}
}

// member is a key, unescaped, and its value as it is written.
type member struct{ key, value string }

func read(config []byte) []member {
	var members []member
	for _, m := range document.List(config) {
		members = append(members, member{m.Key, m.Value})
	}
	return members
}

func write(members []member) []byte {
	object := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			object = append(object, ',')
		}
		key, _ := json.Marshal(m.key) // a string always marshals
		object = append(append(append(object, key...), ':'), m.value...)
	}
	return append(object, '}')
}

// with replaces a member, or adds it.
func with(members []member, m member) []member {
	var list []member
	for _, other := range members {
		if other.key != m.key {
			list = append(list, other)
		}
	}
	return append(list, m)
}

func value(members []member, key string) string {
	for _, m := range members {
		if m.key == key {
			return m.value
		}
	}
	return ""
}

func isIn(members []member, key string) bool { return value(members, key) != "" }

func typeOf(value string) string {
	switch value[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if _, err := strconv.ParseInt(value, 10, 64); err != nil {
		return "number"
	}
	return "integer"
}

// name is a key as it may be shown: anything might have been pasted in its place.
func name(key string) string {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}
	if key == "" || len(key) > 64 || strings.ContainsFunc(key, odd) {
		return "(a key that is no plain word)"
	}
	return key
}
