package tally

import (
	"fmt"
	"testing"

	"github.com/kandev/kandev-policy/go/policy"
)

// TestToolsAreBounded wants the memory of a tally to have an end.
func TestToolsAreBounded(t *testing.T) {
	sum := New()
	for i := range 3 * maxTools {
		sum.Count(policy.Decision{Server: "s", Tool: fmt.Sprint(i)})
		sum.Count(policy.Decision{Server: "s", Tool: "0"})
	}
	if len(sum.Tool) != maxTools+1 || sum.Tool[OtherTools] != 2*maxTools || sum.Tool["s/0"] != 3*maxTools+1 || sum.Requests != 6*maxTools {
		t.Errorf("%d tools, %d other, %d of one, %d requests", len(sum.Tool), sum.Tool[OtherTools], sum.Tool["s/0"], sum.Requests)
	}
}

func TestSorted(t *testing.T) {
	got := Sorted(map[string]int{"b": 1, "a": 1, "c": 3})
	if fmt.Sprint(got) != "[{c 3} {a 1} {b 1}]" {
		t.Errorf("got %v", got)
	}
}
