package policy

import (
	"iter"
	"strconv"
	"sync/atomic"
)

// ReasonUnknown is where [Counters] counts a decision whose reason is none of this package's, such as the zero [Decision].
// No decision has it.
const ReasonUnknown Reason = "unknown"

// Counters counts decisions by their reason. The zero value is ready for use, any number of goroutines may use it at once,
// and counting neither allocates nor takes a lock. It must not be copied once it has counted. A nil *Counters counts
// nothing and is zero throughout, for a host that leaves counting to whoever configures it.
//
// It is an expvar.Var; this package doesn't import expvar, which would register an HTTP handler:
//
//	var decisions policy.Counters
//	expvar.Publish("permission_decisions", &decisions)
//	…
//	d := p.Decide(request)
//	decisions.Count(d)
type Counters struct {
	// Not padded: it measures the same whether goroutines count one reason or neighbouring ones (BenchmarkCountParallel).
	counts [len(reasons) + 1]atomic.Uint64 // at the reason's number in the ABI; the last one is ReasonUnknown's
}

// numbers has each reason's number in the ABI.
var numbers = func() map[Reason]int {
	m := make(map[Reason]int, len(reasons))
	for number, reason := range reasons {
		m[reason] = number
	}
	return m
}()

func number(reason Reason) int {
	if n, ok := numbers[reason]; ok {
		return n
	}
	return len(reasons)
}

// Count counts one decision.
func (c *Counters) Count(d Decision) {
	if c != nil {
		c.counts[number(d.Reason)].Add(1)
	}
}

// Get is how many decisions had a reason. For [ReasonUnknown], and for each reason that this package doesn't know, it is
// how many had one that it doesn't know.
func (c *Counters) Get(reason Reason) uint64 {
	if c == nil {
		return 0
	}
	return c.counts[number(reason)].Load()
}

// All goes through all reasons in the order of their numbers in the ABI, also those that no decision had; ReasonUnknown is
// the last. Each count is exact at some moment of the walk, but decisions may be counted in between: the sum is that of no
// one moment.
func (c *Counters) All() iter.Seq2[Reason, uint64] {
	return func(yield func(Reason, uint64) bool) {
		for _, reason := range reasons {
			if !yield(reason, c.Get(reason)) {
				return
			}
		}
		yield(ReasonUnknown, c.Get(ReasonUnknown))
	}
}

// String gives a JSON object with all reasons in the order of All, so that whoever reads it finds the same keys each time.
func (c *Counters) String() string {
	b := []byte{'{'}
	for reason, count := range c.All() {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, reason...)
		b = append(b, '"', ':')
		b = strconv.AppendUint(b, count, 10)
	}
	return string(append(b, '}'))
}

// MarshalJSON gives the bytes of String.
func (c *Counters) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }
