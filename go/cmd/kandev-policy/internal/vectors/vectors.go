// Package vectors reads the project's decision vectors, for tests.
package vectors

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Vector is one decision: a config, an input, and the exact bytes of the answer.
type Vector struct {
	ID, Why       string
	Config, Input []byte
	Expect        json.RawMessage
	// Decision and Reason are those of Expect.
	Decision, Reason string
}

// Read gives the vectors of the files that match a pattern, in a folder that is named relative to the caller's.
func Read(folder, pattern string) ([]Vector, error) {
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no vectors in %s", filepath.Join(folder, pattern))
	}
	var all []Vector
	for _, file := range files {
		content, readErr := os.ReadFile(file)
		if readErr != nil {
			return nil, readErr
		}
		for _, line := range bytes.Split(bytes.TrimSpace(content), []byte{'\n'}) {
			vector, lineErr := parse(line)
			if lineErr != nil {
				return nil, fmt.Errorf("%s: %w", file, lineErr)
			}
			all = append(all, vector)
		}
	}
	return all, err
}

func parse(line []byte) (Vector, error) {
	var raw struct {
		ID, Why               string
		Config, Input, Expect json.RawMessage
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Vector{}, err
	}
	v := Vector{ID: raw.ID, Why: raw.Why, Expect: raw.Expect}
	var expect struct{ Decision, Reason string }
	if err := json.Unmarshal(raw.Expect, &expect); err != nil {
		return Vector{}, err
	}
	v.Decision, v.Reason = expect.Decision, expect.Reason
	var err error
	if v.Config, err = text(raw.Config); err == nil {
		v.Input, err = text(raw.Input)
	}
	return v, err
}

// text is an object's bytes, a string's text, or the sum of an array's parts.
func text(value json.RawMessage) ([]byte, error) {
	switch value[0] {
	case '{':
		return value, nil
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		return []byte(text), err
	default:
		return parts(value)
	}
}

func parts(value json.RawMessage) ([]byte, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, err
	}
	var sum []byte
	for _, part := range list {
		var object struct {
			Repeat, Hex string
			Times       int
		}
		var text string
		if part[0] == '"' {
			if err := json.Unmarshal(part, &text); err != nil {
				return nil, err
			}
			sum = append(sum, text...)
			continue
		}
		if err := json.Unmarshal(part, &object); err != nil {
			return nil, err
		}
		bytes, err := hex.DecodeString(object.Hex)
		if err != nil {
			return nil, err
		}
		sum = append(append(sum, strings.Repeat(object.Repeat, object.Times)...), bytes...)
	}
	return sum, nil
}
