package trace

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/vectors"
	"github.com/kandev/kandev-policy/go/policy"
)

// TestStepsAgree wants a text for each step of the engine, and none for others.
func TestStepsAgree(t *testing.T) {
	source, err := os.ReadFile("../../../../../src/trace.rs")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, match := range regexp.MustCompile(`Step::\w+ => "(\w+)"`).FindAllSubmatch(source, -1) {
		steps = append(steps, string(match[1]))
	}
	slices.Sort(steps)
	if worded := slices.Sorted(maps.Keys(looked)); len(steps) == 0 || !slices.Equal(steps, worded) {
		t.Errorf("the engine has\n%v\nhere are\n%v", steps, worded)
	}
}

// TestFactsAreWorded wants a text for each fact that the engine says about a step, in all vectors.
func TestFactsAreWorded(t *testing.T) {
	list, err := vectors.Read("../../../../../tests/vectors", "*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range list {
		if len(v.Input) > 1<<16 || len(v.Config) > 1<<16 {
			continue
		}
		explanation, err := policy.ExplainJSON(v.Input, v.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range explanation.Trace {
			for key, value := range step.Facts {
				fact := step.Step + " " + key + " " + value
				if _, ok := facts[fact]; !ok && key != "reason" && key != "option_kind" {
					t.Errorf("%s: no words for %q", v.ID, fact)
				}
				seen[fact] = true
			}
		}
	}
	for fact := range facts {
		if !seen[fact] {
			t.Errorf("no vector comes to %q", fact)
		}
	}
}

func TestFindingOfAnUnknownFact(t *testing.T) {
	if got := Finding(policy.Step{Step: "new", Facts: map[string]string{"a": "b"}}); got != "a `b`" {
		t.Errorf("got %q", got)
	}
}
