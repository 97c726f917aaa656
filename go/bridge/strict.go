package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

var errAmbiguous = errors.New("bridge: not one JSON object, or one that can be read in two ways")

// member is one of a JSON object's.
type member struct {
	key   string
	value json.RawMessage
}

// members takes a JSON object apart, in order and with the duplicates that a map would hide.
func members(object []byte) ([]member, error) {
	// It is checked first, and to the end: a decoder stops behind the first value.
	if !json.Valid(object) {
		return nil, errAmbiguous
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errAmbiguous
	}
	var all []member
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, errAmbiguous
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errAmbiguous
		}
		all = append(all, member{name, value})
	}
	return all, nil
}

// strictly takes an object apart that may have these keys, spelled in this way, each once, and no other.
func strictly(object []byte, keys ...string) (map[string]json.RawMessage, error) {
	all, err := members(object)
	if err != nil {
		return nil, err
	}
	byKey := make(map[string]json.RawMessage, len(all))
	for _, m := range all {
		if _, twice := byKey[m.key]; twice || !slices.Contains(keys, m.key) {
			return nil, errAmbiguous
		}
		byKey[m.key] = m.value
	}
	return byKey, nil
}

// noKeyTwice reports whether no object in a valid JSON value has a key twice, at any depth.
func noKeyTwice(value []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // one may be beyond what a float holds
	return len(value) == 0 || eachOnce(decoder)
}

// eachOnce reads one value. Its recursion is bounded by the nesting that [json.Valid] takes.
func eachOnce(decoder *json.Decoder) bool {
	open, err := decoder.Token()
	if err != nil {
		return false
	}
	delim, ok := open.(json.Delim)
	if !ok {
		return true
	}
	seen := map[string]bool{}
	for decoder.More() {
		if delim == '{' {
			key, err := decoder.Token()
			name, _ := key.(string)
			if err != nil || seen[name] {
				return false
			}
			seen[name] = true
		}
		if !eachOnce(decoder) {
			return false
		}
	}
	_, err = decoder.Token()
	return err == nil
}
