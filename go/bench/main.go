// Command bench measures decisions through package policy beside what a Go host would write without it (package
// baseline), in one run, and prints one table. The status is 1 when the least that is asked of it is not reached.
//
// Every row runs in turn, round after round, so that a machine that slows down slows all of them; the figures are medians
// over the rounds, the ratios medians of each round's ratio.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/bench/baseline"
	"github.com/kandev/kandev-policy/go/policy"
)

// What a run must reach.
const (
	leastFrameRatio   = 6 // DecideFrame against the baseline's JSON path, at the smallest frame
	mostFrameAllocs   = 1
	mostRequestAllocs = 0
)

// emptyCall crosses to C and back, which every decision through cgo pays for; nil without cgo.
var emptyCall func()

// proses are the lengths of the prose in the frames: frames of 0.6, 5 and 66 KB.
var proses = []int{0, 4 << 10, 64 << 10}

// row is one measured function. baseline names the row that it is compared with.
type row struct {
	name, baseline string
	run            func() bool // one decision; false: not the right one
	mostAllocs     int64       // anyAllocs: no limit
	leastRatio     float64     // 0: no limit
	ns             []float64   // by round
	allocs         int64
}

const anyAllocs = -1

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 5, "how often each row is measured")
	each := flag.Duration("time", 150*time.Millisecond, "how long each measurement takes")
	flag.Parse()
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		fail(err)
	}

	p, err := policy.New(policyHost)
	if err != nil {
		fail(err)
	}
	defer p.Close()
	rows, err := build(p)
	if err != nil {
		fail(err)
	}
	for range *rounds {
		for _, r := range rows {
			if err := r.measure(); err != nil {
				fail(err)
			}
		}
	}
	print(rows, *rounds, *each)
	if missed := judge(rows); len(missed) > 0 {
		fail(fmt.Errorf("not reached: %s", strings.Join(missed, "; ")))
	}
}

func build(p *policy.Policy) ([]*row, error) {
	var rows []*row
	for i, n := range proses {
		f := frame(n)
		size := fmt.Sprintf("frame %.1f KB, ", float64(len(f))/1000)
		plain := &row{name: size + "baseline JSON", mostAllocs: anyAllocs, run: func() bool {
			return baseline.DecideJSON(f, baselineHost).Decision == "select"
		}}
		compiled := &row{name: size + "DecideFrame", baseline: plain.name, mostAllocs: mostFrameAllocs, run: func() bool {
			return p.DecideFrame(f).Kind == policy.Select
		}}
		if i == 0 {
			compiled.leastRatio = leastFrameRatio
		}
		oneShot := &row{name: size + "DecideJSON", baseline: plain.name, mostAllocs: anyAllocs, run: func() bool {
			return policy.DecideJSON(f, policyHostJSON).Kind == policy.Select
		}}
		rows = append(rows, plain, compiled, oneShot)
	}
	f, req, err := decoded(frame(proses[0]))
	if err != nil {
		return nil, err
	}
	rules := &row{name: "decoded, baseline rules", mostAllocs: anyAllocs, run: func() bool {
		return baseline.Decide(f, baselineHost).Decision == "select"
	}}
	decide := &row{name: "decoded, Decide", baseline: rules.name, mostAllocs: mostRequestAllocs, run: func() bool {
		return p.Decide(req).Kind == policy.Select
	}}
	rows = append(rows, rules, decide)
	if emptyCall != nil {
		rows = append(rows, &row{name: "empty cgo call", mostAllocs: anyAllocs, run: func() bool { emptyCall(); return true }})
	}
	return rows, nil
}

func (r *row) measure() error {
	wrong := false
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if !r.run() {
				wrong = true
			}
		}
	})
	if wrong || result.N == 0 {
		return fmt.Errorf("%s: not the expected decision", r.name)
	}
	r.ns = append(r.ns, float64(result.T.Nanoseconds())/float64(result.N))
	r.allocs = max(r.allocs, result.AllocsPerOp())
	return nil
}

// ratio is how many times as fast as its baseline a row is: the median of the rounds.
func (r *row) ratio(rows []*row) (float64, bool) {
	i := slices.IndexFunc(rows, func(other *row) bool { return other.name == r.baseline })
	if i < 0 {
		return 0, false
	}
	ratios := make([]float64, len(r.ns))
	for round, ns := range r.ns {
		ratios[round] = rows[i].ns[round] / ns
	}
	return median(ratios), true
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func print(rows []*row, rounds int, each time.Duration) {
	fmt.Printf("%s, %d CPUs, %s/%s, %s, engine %s %s, %d rounds of %s, medians\n\n",
		cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), policy.Engine(), policy.Version(), rounds, each)
	fmt.Printf("%-28s %12s %10s %18s\n", "", "ns/decision", "allocs", "times as fast")
	for _, r := range rows {
		ratio := ""
		if x, ok := r.ratio(rows); ok {
			ratio = fmt.Sprintf("%.2f", x)
		}
		fmt.Printf("%-28s %12.0f %10d %18s\n", r.name, median(r.ns), r.allocs, ratio)
	}
}

// cpu is the processor's name where the system tells it.
func cpu() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, after, _ := strings.Cut(string(info), "model name")
	name, _, _ := strings.Cut(after, "\n")
	return cmp.Or(strings.Trim(name, "\t :"), "unknown CPU")
}

// judge names what the run has not reached.
func judge(rows []*row) (missed []string) {
	for _, r := range rows {
		if r.mostAllocs != anyAllocs && r.allocs > r.mostAllocs {
			missed = append(missed, fmt.Sprintf("%s: %d allocations, at most %d", r.name, r.allocs, r.mostAllocs))
		}
		if x, _ := r.ratio(rows); x < r.leastRatio {
			missed = append(missed, fmt.Sprintf("%s: %.1f times as fast as the baseline, at least %.0f", r.name, x, r.leastRatio))
		}
	}
	return missed
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}
