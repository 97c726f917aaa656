package document

import (
	"bytes"
	"encoding/json"
)

// Members are the members at the top of an object by their keys, unescaped: strings, numbers and words as they are written,
// of objects and arrays the bracket alone. Of a key that is there twice it is the last one.
type Members map[string][]byte

// ReadMembers reads the members of a document that is one JSON object; of another document it gives some or none.
func ReadMembers(document []byte) Members {
	members := Members{}
	EachMember(document, func(key string, value []byte) { members[key] = value })
	return members
}

// EachMember gives each member, also one whose key is there again. It takes no more memory the deeper the document is,
// and passes over strings without looking at them.
func EachMember(document []byte, member func(key string, value []byte)) {
	var key []byte
	depth := 0
	for i := 0; i < len(document); i++ {
		start := i
		switch c := document[i]; c {
		case ' ', '\t', '\r', '\n', ':':
			continue
		case ',':
			if depth == 1 {
				key = nil
			}
			continue
		case '}', ']':
			depth--
			continue
		case '{', '[':
			depth++
			if depth != 2 {
				continue
			}
		case '"':
			i = closingQuote(document, i)
		default:
			for i+1 < len(document) && bytes.IndexByte([]byte(" \t\r\n,]}"), document[i+1]) < 0 {
				i++
			}
		}
		if depth > 2 || depth == 2 && document[start] != '{' && document[start] != '[' {
			continue
		}
		token := document[start:min(i+1, len(document))]
		if key == nil {
			key = token
			continue
		}
		var name string
		if json.Unmarshal(key, &name) == nil {
			member(name, token)
		}
	}
}

// closingQuote is the place of the quote that ends the string which begins at i.
func closingQuote(document []byte, i int) int {
	for i++; ; i++ {
		next := bytes.IndexByte(document[i:], '"')
		if next < 0 {
			return len(document)
		}
		i += next
		backslashes := 0
		for document[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
	}
}

// Has says whether there is such a member.
func (m Members) Has(key string) bool {
	_, ok := m[key]
	return ok
}

// Text is the text of a member that is a string, else empty.
func (m Members) Text(key string) string { return Text(m[key]) }

// Text is the text of a value that is a string, else empty.
func Text(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// Null says whether there is no such member, or whether it is null.
func (m Members) Null(key string) bool { return !m.Has(key) || string(m[key]) == "null" }
