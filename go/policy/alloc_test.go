//go:build !kandev_policy_none && !race

package policy

import (
	"fmt"
	"testing"
)

// TestAllocations: none for a request, at most one for a frame. (Not under the race detector, which allocates itself.)
func TestAllocations(t *testing.T) {
	p := newTestPolicy(t)
	plain, many, title, conflict := testRequest(), testRequest(), testRequest(), testRequest()
	plain.ToolMeta = nil
	for i := range 40 {
		many.Options = append(many.Options, Option{OptionID: fmt.Sprintf("a rather long option id, number %d", i), Kind: "allow_always"})
	}
	title.ToolName, title.ToolMeta, title.Title = nil, nil, *title.ToolName
	conflict.ToolMeta = testMeta("mcp__kandev__other", nil)
	conflict.ToolMeta["more"] = 1
	for name, req := range map[string]Request{
		"without metadata": plain, "with metadata": testRequest(), "40 options": many, "title": title, "conflict": conflict, "zero": {},
	} {
		if n := testing.AllocsPerRun(1000, func() { p.Decide(req) }); n != 0 {
			t.Errorf("Decide, %s: %v allocations", name, n)
		}
	}
	for name, test := range map[string]struct {
		frame string
		most  float64
	}{"select": {testFrame, 1}, "ask": {`{}`, 0}, "cancel": {`{"toolCall":{}}`, 0}} {
		frame := []byte(test.frame)
		if n := testing.AllocsPerRun(1000, func() { p.DecideFrame(frame) }); n > test.most {
			t.Errorf("DecideFrame, %s: %v allocations", name, n)
		}
	}
	var closed *Policy
	req := testRequest()
	if n := testing.AllocsPerRun(100, func() { closed.Decide(req) }); n != 0 {
		t.Errorf("closed: %v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	p, req := newTestPolicy(b), testRequest()
	b.ReportAllocs()
	for b.Loop() {
		if p.Decide(req).Kind != Select {
			b.Fatal()
		}
	}
}

func BenchmarkDecideParallel(b *testing.B) {
	p := newTestPolicy(b)
	b.RunParallel(func(pb *testing.PB) {
		req := testRequest()
		for pb.Next() {
			p.Decide(req)
		}
	})
}

func BenchmarkDecideFrame(b *testing.B) {
	p, frame := newTestPolicy(b), []byte(testFrame)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if p.DecideFrame(frame).Kind != Select {
			b.Fatal()
		}
	}
}
