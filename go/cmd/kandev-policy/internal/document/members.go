package document

import (
	"bytes"
	"encoding/json"
)

// Members gives the members at the top of an object: their strings as they are, true for all other values, nil for null.
// Of a key that is there twice it gives the last one. It gives those in front of what is no JSON.
func Members(document []byte) map[string]any {
	members := map[string]any{}
	decoder := newDecoder(document)
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return members
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return members
		}
		first, err := skip(decoder)
		if err != nil {
			return members
		}
		switch first.(type) {
		case string, nil:
			members[key.(string)] = first
		default:
			members[key.(string)] = true
		}
	}
	return members
}

// newDecoder reads token by token, which has no limit of depth, and takes a number for no more than its digits.
func newDecoder(document []byte) *json.Decoder {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	return decoder
}
