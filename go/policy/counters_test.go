package policy

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// TestCountersCountEveryReason: each reason once more than the one before, so that no two can be mistaken.
func TestCountersCountEveryReason(t *testing.T) {
	var c Counters
	for number, reason := range reasons {
		for range number + 1 {
			c.Count(Decision{Reason: reason})
		}
	}
	unknown := []Decision{{}, {Reason: "a reason to come"}, {Reason: ReasonUnknown}}
	for _, d := range unknown {
		c.Count(d)
	}
	seen := 0
	for reason, count := range c.All() {
		want, wantCount := ReasonUnknown, uint64(len(unknown))
		if seen < len(reasons) {
			want, wantCount = reasons[seen], uint64(seen+1)
		}
		if reason != want || count != wantCount || c.Get(reason) != wantCount {
			t.Errorf("%d: got %s %d, want %s %d", seen, reason, count, want, wantCount)
		}
		seen++
	}
	if seen != len(reasons)+1 {
		t.Errorf("%d reasons", seen)
	}
	if c.Get("") != 3 || c.Get("another to come") != 3 {
		t.Error("an unknown reason is not counted as unknown")
	}
	for reason := range c.All() { // which may be left early
		if reason != reasons[0] {
			t.Error(reason)
		}
		break
	}
}

// TestCountersJSON: the keys are the reasons in their order, and the zero value has them all.
func TestCountersJSON(t *testing.T) {
	var c, zero Counters
	c.Count(Decision{Kind: Select, Reason: ReasonInjectedMCP})
	c.Count(Decision{Kind: Select, Reason: ReasonInjectedMCP})
	for _, counters := range []*Counters{&c, &zero, nil} {
		var object map[string]uint64
		if err := json.Unmarshal([]byte(counters.String()), &object); err != nil {
			t.Fatal(err)
		}
		if len(object) != len(reasons)+1 || object["injected_mcp"] != counters.Get(ReasonInjectedMCP) {
			t.Errorf("got %s", counters)
		}
	}
	d := json.NewDecoder(strings.NewReader(c.String()))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for reason := range c.All() {
		key, err := d.Token()
		if value, _ := d.Token(); err != nil || key != string(reason) || value == nil {
			t.Errorf("got %v %v, want %s", key, value, reason)
		}
	}
	if b, err := json.Marshal(map[string]*Counters{"c": &c}); err != nil || string(b) != `{"c":`+c.String()+`}` {
		t.Errorf("%s, %v", b, err)
	}
}

// TestCountersAreSharedFreely: no count is lost among goroutines, and reading in between sees none go down.
func TestCountersAreSharedFreely(t *testing.T) {
	const goroutines, rounds = 16, 2000
	var c Counters
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			before := uint64(0)
			for i := range rounds {
				c.Count(Decision{Reason: reasons[(g+i)%len(reasons)]})
				c.Count(Decision{})
				if now := c.Get(ReasonUnknown); now <= before {
					t.Errorf("%d after %d", now, before)
				} else {
					before = now
				}
				_ = c.String()
			}
		})
	}
	all.Wait()
	sum := uint64(0)
	for _, count := range c.All() {
		sum += count
	}
	if sum != 2*goroutines*rounds || c.Get(ReasonUnknown) != goroutines*rounds {
		t.Errorf("%d counted, want %d: %s", sum, 2*goroutines*rounds, &c)
	}
}

func TestCountersNil(t *testing.T) {
	var c *Counters
	c.Count(Decision{Reason: ReasonInjectedMCP})
	for reason, count := range c.All() {
		if count != 0 {
			t.Error(reason, count)
		}
	}
}

func TestCountersAllocateNothing(t *testing.T) {
	var c Counters
	decisions := []Decision{{}, {Reason: ReasonInjectedMCP}, {Reason: ReasonInteractivePrompt}, {Reason: Reason("strange " + t.Name())}}
	sum := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		for _, d := range decisions {
			c.Count(d)
			sum += c.Get(d.Reason)
		}
		for _, count := range c.All() {
			sum += count
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCount(b *testing.B) {
	var c Counters
	d := Decision{Reason: ReasonInjectedMCP}
	b.ReportAllocs()
	for b.Loop() {
		c.Count(d)
	}
}

// BenchmarkCountParallel has two kinds of traffic: all goroutines count the same reason, or each one of its own, whose
// words are neighbours.
func BenchmarkCountParallel(b *testing.B) {
	for name, different := range map[string]bool{"same": false, "neighbours": true} {
		b.Run(name, func(b *testing.B) {
			var c Counters
			var next sync.Mutex
			taken := 0
			b.RunParallel(func(pb *testing.PB) {
				next.Lock()
				d := Decision{Reason: reasons[taken%len(reasons)]}
				if different {
					taken++
				}
				next.Unlock()
				for pb.Next() {
					c.Count(d)
				}
			})
		})
	}
}
