package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Place is a position in a document: line and column from 1, the column in bytes. The zero value is no place.
type Place struct{ Line, Column int }

// Known says whether it is a place.
func (p Place) Known() bool { return p.Line > 0 }

// at is the place of the byte at an offset.
func at(document []byte, offset int) Place {
	before := document[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Place{Line: bytes.Count(before, []byte{'\n'}) + 1, Column: len(before) - line + 1}
}

// SyntaxError finds where a document stops to be one JSON object. What it says holds nothing of the document. The
// problem is empty if it is one: nesting, keys and text are the engine's to judge.
func SyntaxError(document []byte) (place Place, problem string) {
	if len(document) >= MaxBytes {
		return Place{}, "longer than 16 MiB" // and so not read to its end
	}
	start := len(document) - len(bytes.TrimLeft(document, " \t\r\n"))
	if start == len(document) {
		return at(document, start), "empty, expected a JSON object"
	}
	offset, text := len(document), ""
	var syntax *json.SyntaxError
	if err := json.Unmarshal(document, new(json.RawMessage)); errors.As(err, &syntax) {
		offset, text = int(syntax.Offset)-1, syntax.Error()
		if strings.HasSuffix(text, "exceeded max depth") { // the decoder's limit, not JSON's
			offset, text = deepError(document)
		}
	}
	switch {
	case text == "":
	case text == endsEarly:
		return at(document, len(document)), "the JSON ends too early"
	case strings.HasSuffix(text, "after top-level value"):
		return at(document, offset), "more text behind the JSON"
	default:
		return at(document, offset), "not JSON: " + wording(text)
	}
	if document[start] != '{' {
		return at(document, start), "expected a JSON object"
	}
	return Place{}, ""
}

// HookSyntaxError is SyntaxError for a hook payload, the one document that may begin with a BOM.
func HookSyntaxError(payload []byte) (place Place, problem string) {
	if len(payload) >= MaxBytes {
		return SyntaxError(payload)
	}
	text := WithoutBOM(payload)
	if place, problem = SyntaxError(text); place.Line == 1 {
		place.Column += len(payload) - len(text)
	}
	return place, problem
}

// WithoutBOM is a hook payload without the BOM that it may begin with.
func WithoutBOM(payload []byte) []byte { return bytes.TrimPrefix(payload, []byte("\ufeff")) }

// wording is the decoder's text without the character it stumbled over, which might be part of a secret.
func wording(text string) string {
	text = text[strings.LastIndex(text, "'")+1:]
	return "unexpected character " + strings.TrimPrefix(text, " ")
}

// Key finds a key by the path that the engine names it by, such as "mcp_servers[1].url". A duplicate key is found
// where it stands for the second time. It gives no place if the key isn't there.
func Key(document []byte, path string, duplicate bool) Place {
	decoder := newDecoder(document)
	offset, ok := find(decoder, steps(path), duplicate)
	if !ok {
		return Place{}
	}
	rest := bytes.TrimLeft(document[offset:], " \t\r\n,:")
	return at(document, len(document)-len(rest))
}

// newDecoder reads token by token, which has no limit of depth, and takes a number for no more than its digits.
func newDecoder(document []byte) *json.Decoder {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	return decoder
}

// step is a member's key or an element's index.
type step struct {
	key   string
	index int
}

func steps(path string) []step {
	var list []step
	for _, part := range strings.Split(path, ".") {
		key, rest, _ := strings.Cut(part, "[")
		list = append(list, step{key: key, index: -1})
		for rest != "" {
			digits, after, _ := strings.Cut(rest, "]")
			index, err := strconv.Atoi(digits)
			if err != nil {
				return nil
			}
			list = append(list, step{index: index})
			rest = strings.TrimPrefix(after, "[")
		}
	}
	return list
}

// find descends to the last step and gives the offset behind the token before it.
func find(decoder *json.Decoder, steps []step, duplicate bool) (int, bool) {
	if len(steps) == 0 {
		return 0, false
	}
	open, err := decoder.Token()
	if err != nil {
		return 0, false
	}
	isLast := len(steps) == 1
	wanted := 1
	if duplicate && isLast {
		wanted = 2
	}
	switch {
	case open == json.Delim('{') && steps[0].index < 0:
		for decoder.More() {
			before := int(decoder.InputOffset())
			key, err := decoder.Token()
			if err != nil {
				return 0, false
			}
			if key == steps[0].key {
				if wanted--; wanted == 0 {
					if isLast {
						return before, true
					}
					return find(decoder, steps[1:], duplicate)
				}
			}
			if err := skip(decoder); err != nil {
				return 0, false
			}
		}
	case open == json.Delim('[') && steps[0].index >= 0:
		for i := 0; decoder.More(); i++ {
			if i == steps[0].index {
				if isLast {
					return int(decoder.InputOffset()), true
				}
				return find(decoder, steps[1:], duplicate)
			}
			if err := skip(decoder); err != nil {
				return 0, false
			}
		}
	}
	return 0, false
}

// skip reads one value.
func skip(decoder *json.Decoder) error {
	for depth, begun := 0, false; !begun || depth > 0; begun = true {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}
