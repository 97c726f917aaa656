package document

import (
	"bytes"
	"encoding/json"
)

// Member is a key, unescaped, and its value as it is written.
type Member struct{ Key, Value string }

// List gives the members at the top of an object, in their order. It gives those in front of what is no JSON.
func List(document []byte) []Member {
	var members []Member
	eachMember(document, func(key string, _ json.Token, value []byte) {
		members = append(members, Member{key, string(value)})
	})
	return members
}

// Members gives the members at the top of an object: their strings as they are, true for all other values, nil for null.
// Of a key that is there twice it gives the last one.
func Members(document []byte) map[string]any {
	members := map[string]any{}
	eachMember(document, func(key string, first json.Token, _ []byte) {
		switch first.(type) {
		case string, nil:
			members[key] = first
		default:
			members[key] = true
		}
	})
	return members
}

// eachMember visits the members at the top of an object, each with its value's first token.
func eachMember(document []byte, visit func(key string, first json.Token, value []byte)) {
	decoder := newDecoder(document)
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return
		}
		start := decoder.InputOffset()
		first, err := skip(decoder)
		if err != nil {
			return
		}
		visit(key.(string), first, bytes.TrimLeft(document[start:decoder.InputOffset()], ": \t\r\n"))
	}
}

// newDecoder reads token by token, which has no limit of depth, and takes a number for no more than its digits.
func newDecoder(document []byte) *json.Decoder {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	return decoder
}
