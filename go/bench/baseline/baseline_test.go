package baseline

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestCaptures keeps the baseline honest: it decides every captured frame as the contract does.
func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("../../../tests/vectors/acp-capture-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var c struct {
				ID     string
				Config Config
				Input  string
				Expect map[string]string
			}
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			d := DecideJSON([]byte(c.Input), &c.Config)
			if d.Decision != c.Expect["decision"] || d.Reason != c.Expect["reason"] || d.OptionID != c.Expect["option_id"] || d.Tool != c.Expect["tool"] {
				t.Errorf("%s: got %+v want %v", c.ID, d, c.Expect)
			}
			n++
		}
		f.Close()
	}
	if n < 150 {
		t.Fatalf("only %d captures", n)
	}
}
