package policy

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// vector is one line of tests/vectors/*.jsonl; the README there describes them.
type vector struct {
	id            string
	config, input []byte
	expect        string // the decision's JSON, byte for byte
}

// hook reports whether the vector is one of the reviewer's.
func (v vector) hook() bool { return strings.HasPrefix(v.id, "hooks-") }

// expected is the part of the expectation that tests ask for.
func (v vector) expected(t testing.TB) (out result) {
	t.Helper()
	if err := json.Unmarshal([]byte(v.expect), &out); err != nil {
		t.Fatalf("%s: %v", v.id, err)
	}
	return out
}

// vectors reads the files, found from this one.
func vectors(t testing.TB) []vector {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("no source position")
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(here), "..", "..", "tests", "vectors", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(content))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var line struct {
				ID                    string
				Config, Input, Expect json.RawMessage
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			config := []byte(line.Config)
			if config[0] != '{' {
				config = parts(t, line.Config)
			}
			all = append(all, vector{line.ID, config, parts(t, line.Input), string(line.Expect)})
		}
	}
	if len(all) < 1400 {
		t.Fatalf("only %d vectors in %d files", len(all), len(files))
	}
	return all
}

// parts gives the bytes of a text, or of an array of texts, repetitions and bytes in hex.
func parts(t testing.TB, raw json.RawMessage) []byte {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, raw := range list {
		if raw[0] == '"' {
			b = append(b, parts(t, raw)...)
			continue
		}
		var part struct {
			Repeat string
			Times  int
			Hex    string
		}
		if err := json.Unmarshal(raw, &part); err != nil {
			t.Fatal(err)
		}
		bytes, err := hex.DecodeString(part.Hex)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, bytes...)
		b = append(b, strings.Repeat(part.Repeat, part.Times)...)
	}
	return b
}

// decisionJSON is the decision as the ABI has it.
func decisionJSON(t testing.TB, d Decision) string {
	t.Helper()
	b, err := d.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
