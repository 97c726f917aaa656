package policy

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// object is a JSON object with its members in their order, duplicates included, which a map would hide.
type object []member

type member struct {
	key   string
	value any // nil, bool, json.Number, string, object or []any
}

// get gives the member of exactly this name.
func (o object) get(key string) (any, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// clear reports whether the object holds each of the names at most once and in no other spelling.
func (o object) clear(names ...string) bool {
	for _, name := range names {
		n := 0
		for _, m := range o {
			if strings.EqualFold(m.key, name) {
				n++
				if m.key != name {
					return false
				}
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// plain gives the object as encoding/json does, and whether nothing got lost on the way.
func (o object) plain() (m map[string]any, lossless bool) {
	m, lossless = make(map[string]any, len(o)), true
	for _, member := range o {
		if _, dup := m[member.key]; dup {
			lossless = false
		}
		value := member.value
		if inner, ok := value.(object); ok {
			var all bool
			value, all = inner.plain()
			lossless = lossless && all
		}
		m[member.key] = value
	}
	return m, lossless
}

// parse reads a document that encoding/json accepts.
func parse(document []byte) (any, bool) {
	if !json.Valid(document) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, bool) {
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, false
			}
			value, ok := parseValue(d)
			if !ok {
				return nil, false
			}
			o = append(o, member{key.(string), value})
		}
		_, err = d.Token()
		return o, err == nil
	case json.Delim('['):
		a := []any{}
		for d.More() {
			value, ok := parseValue(d)
			if !ok {
				return nil, false
			}
			a = append(a, value)
		}
		_, err = d.Token()
		return a, err == nil
	}
	return token, true
}

var (
	surrogatePair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
	surrogateHalf = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// hasLoneSurrogate reports whether a decoder would put U+FFFD for something in the document.
func hasLoneSurrogate(document []byte) bool {
	return surrogateHalf.Match(surrogatePair.ReplaceAll(document, nil))
}

// has reports whether one of the names is there, even as null.
func (o object) has(names ...string) bool {
	for _, name := range names {
		if _, ok := o.get(name); ok {
			return true
		}
	}
	return false
}
