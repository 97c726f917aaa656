package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// What a document may go on with.
type next uint8

const (
	value next = iota
	valueOrEnd
	key
	keyOrEnd
	colon
	comma // or the end of the object or array
)

// deepError finds where a document stops to be one JSON value, as encoding/json does, which gives up on what is nested
// more than 10,000 deep: the offset, and the decoder's wording. It recurses for nothing and leaves what is no bracket to
// encoding/json.
func deepError(document []byte) (offset int, text string) {
	var open []byte // the brackets that are open
	want := value
	for i := 0; ; {
		i = len(document) - len(bytes.TrimLeft(document[i:], " \t\r\n"))
		isEnd := i == len(document)
		switch {
		case want == comma && len(open) == 0 && isEnd:
			return i, ""
		case isEnd:
			return i, endsEarly
		case want == comma && len(open) == 0:
			return i, "after top-level value"
		}
		c := document[i]
		switch {
		case c == '}' && want == keyOrEnd, c == ']' && want == valueOrEnd, want == comma && c == open[len(open)-1]+2: // in ASCII
			open, want = open[:len(open)-1], comma
		case want == comma && c == ',':
			want = value
			if open[len(open)-1] == '{' {
				want = key
			}
		case want == comma && open[len(open)-1] == '[':
			return i, "after array element"
		case want == comma:
			return i, "after object key:value pair"
		case want == colon && c == ':':
			want = value
		case want == colon:
			return i, "after object key"
		case (want == key || want == keyOrEnd) && c != '"':
			return i, "looking for beginning of object key string"
		case c == '{':
			open, want = append(open, c), keyOrEnd
		case c == '[':
			open, want = append(open, c), valueOrEnd
		default:
			length, text := scalar(document[i:])
			if i += length; text != "" {
				return i, text
			}
			if want == key || want == keyOrEnd {
				want = colon
			} else {
				want = comma
			}
			continue
		}
		i++
	}
}

const endsEarly = "unexpected end of JSON input"

// scalar reads the string, number or word that a text begins with: its length or, with what is wrong, the offset of that.
func scalar(text []byte) (length int, problem string) {
	end := 1
	if text[0] == '"' {
		end = min(closingQuote(text, 0)+1, len(text))
	} else {
		for end < len(text) && strings.IndexByte(" \t\r\n,:[]{}\"", text[end]) < 0 {
			end++
		}
	}
	if json.Valid(text[:end]) {
		return end, ""
	}
	err := json.Unmarshal(text[:min(end+1, len(text))], new(json.RawMessage)) // with what stands in place of the rest
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Error() == endsEarly {
		return len(text), endsEarly
	}
	if strings.HasSuffix(syntax.Error(), "after top-level value") {
		return int(syntax.Offset) - 1, "" // and what follows is no part of it
	}
	return int(syntax.Offset) - 1, syntax.Error()
}
