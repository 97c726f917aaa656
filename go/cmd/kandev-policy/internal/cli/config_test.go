package cli

import (
	"regexp"
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/document"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
	"github.com/kandev/kandev-policy/go/policy"
)

// TestEveryConfigFaultHasAPlace takes all unusable configs of the vectors: what is named must be found in the file, unless it
// is the one that is missing, or a key that isn't shown.
func TestEveryConfigFaultHasAPlace(t *testing.T) {
	list, err := vectors.Read("../../../../../tests/vectors", "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	placed := regexp.MustCompile(`^c\.json:\d+:\d+: ([A-Za-z_]+(\[\d+\]|\.[A-Za-z_]+)*: )?[^"]+( "\w+" or "\w+")?$`)
	missing := regexp.MustCompile(`^c\.json: [a-z_.\[\]0-9]+: missing, expected [a-z ]+$`)
	whole := map[string]bool{
		"c.json: the config is not UTF-8":                                     true,
		"c.json: longer than 16 MiB":                                          true,
		"c.json: (a key that is no plain word): unknown key":                  true,
		"c.json: unknown key":                                                 true, // the empty one
		"c.json: mcp_servers[0].(a key that is no plain word): duplicate key": true,
	}
	seen := map[string]bool{}
	for _, v := range list {
		if v.Reason != "malformed_config" || seen[string(v.Config)] {
			continue
		}
		seen[string(v.Config)] = true
		_, err := policy.NewJSON(v.Config)
		if err == nil {
			t.Errorf("%s (%s): no error", v.ID, v.Why)
			continue
		}
		text := configProblem(document.Document{Name: "c.json", Bytes: v.Config}, err).Error()
		if !placed.MatchString(text) && !missing.MatchString(text) && !whole[text] {
			t.Errorf("%s (%s): %s", v.ID, v.Why, text)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d configs with a fault", len(seen))
	}
}
