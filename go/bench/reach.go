package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// What is asked of the library.
const (
	mostDecideRatio   = 1.5 // of the rules alone in Go
	mostDecideAllocs  = 0
	mostFrameAllocs   = 1
	mostNativeAllocs  = 1
	leastCedarRatio   = 10   // at the smallest frame
	leastRegoRatio    = 40   // its usual way, the interpreter
	mostServersRatio  = 1.02 // "no more", but for what a measurement can't tell
	leastThreadsRatio = 0.9
	mostOneShotRatio  = 2.5
	mostSizeKB        = 600
	mostLoadMs        = 1
	mostGrowthKB      = 0
	mostWithoutCgoUs  = 10
)

// leastFrameRatio is how many times as fast as the baseline a frame is decided, by size.
var leastFrameRatio = map[string]float64{"small": 12, "medium": 25, "large": 40}

// bench is everything that one run measures.
type bench struct {
	*samples
	settings settings
	decide   map[string]func(int) bool
	children []*child
	missing  map[string]string // what could not be started, and why
	firsts   []float64         // load and first decision, in nanoseconds
}

// Peers in the order of the table: the name that the program has for it, and what it is.
var peers = [][2]string{
	{"cedar", "Cedar 4.14, after serde_json"},
	{"rego", "regorus 0.14, its interpreter"},
	{"rego-vm", "regorus 0.14, its virtual machine"},
}

// newBench lines up what is compared with one another side by side.
func newBench(s settings, decide map[string]func(int) bool) *bench {
	b := &bench{samples: newSamples(), settings: s, decide: decide, missing: map[string]string{}}
	inFrames := filepath.Join(s.work, "frames")
	rust := b.start("Cedar and regorus", "peers", inFrames)
	native := b.start("the C ABI", "driver", s.library, inFrames, "serve")
	without := b.start("the engine without cgo", "bench-without-cgo", "-serve")
	here := func(name string) { b.add(name, inTurn(decide[name])) }
	there := func(c *child, prefix, what string) {
		if c != nil {
			b.add(prefix+what, c.probe(what))
		}
	}
	for _, size := range sizes {
		here(baselineJSON + "/" + size.name)
		here(decideFrame + "/" + size.name)
		for _, peer := range peers {
			if rust != nil {
				b.add(peer[0]+"/"+size.name, rust.probe(peer[0]+" "+size.name))
			}
		}
		if rust != nil {
			b.add("ours/"+size.name, rust.probe("ours "+size.name))
		}
		there(native, "", "json/"+size.name)
		there(native, "", "verdict/"+size.name)
	}
	here(decideJSON + "/small")
	there(native, "", "one-shot/small")
	here(baselineRules)
	here(decideRequest)
	there(native, "", "request/small")
	here(emptyCgoCall)
	for _, f := range fillers {
		there(native, "", "verdict/"+f.name+"-short")
		there(native, "", "verdict/"+f.name+"-long")
	}
	there(native, "", "one-server/small")
	there(native, "", "many-servers/small")
	there(native, "", "threads/small")
	there(native, "", "processes/small")
	for _, what := range []string{decideFrame + "/small", decideFrame + "/medium", decideFrame + "/large", decideRequest} {
		there(without, "wasm ", what)
	}
	return b
}

// start starts a child; nil, and the reason among the missing, if it can't.
func (b *bench) start(what, program string, arguments ...string) *child {
	c, err := startChild(filepath.Join(b.settings.work, program), arguments...)
	if err != nil {
		b.missing[what] = err.Error()
		return nil
	}
	b.children = append(b.children, c)
	return c
}

func (b *bench) stop() {
	for _, c := range b.children {
		c.stop()
	}
}

func (b *bench) driver(arguments ...string) ([]float64, error) {
	program := filepath.Join(b.settings.work, "driver")
	return printed(program, append([]string{b.settings.library, filepath.Join(b.settings.work, "frames")}, arguments...)...)
}

func (b *bench) hasDriver() bool { return b.missing["the C ABI"] == "" }

// loads starts fresh processes that load the library and decide once.
func (b *bench) loads() error {
	const perRound = 5
	if !b.hasDriver() {
		return nil
	}
	for range perRound {
		ns, err := b.driver("load")
		if err != nil {
			return err
		}
		b.firsts = append(b.firsts, ns[0])
	}
	return nil
}

func (b *bench) table() (*table, error) {
	t := &table{}
	b.frameRows(t)
	b.requestRows(t)
	if err := b.allocationRows(t); err != nil {
		return nil, err
	}
	b.skippingRows(t)
	b.configRows(t)
	return t, b.footprintRows(t)
}

func (b *bench) frameRows(t *table) {
	for _, size := range sizes {
		t.heading("A frame of " + size.text + ": bytes in, decision out")
		row := func(text, name string) {
			ns, ok := b.of(name + "/" + size.name)
			t.info(text, "%.2f µs", ns/1000, ok)
		}
		row("Go: `encoding/json` into structs and the rules in Go", baselineJSON)
		for _, peer := range peers {
			row("Rust: "+peer[1], peer[0])
		}
		row("ours, Rust: `Policy::decide`", "ours")
		row("ours, C: `kandev_policy_evaluate`, to JSON", "json")
		row("ours, C: `kandev_policy_evaluate_frame`, to numbers", "verdict")
		row("**ours, Go: `DecideFrame`**", decideFrame)
		ours := decideFrame + "/" + size.name
		x, ok := b.ratio(baselineJSON+"/"+size.name, ours)
		t.least("`DecideFrame`, times as fast as Go's", "%.1f ×", x, ok, leastFrameRatio[size.name])
		for _, peer := range peers {
			x, ok := b.ratio(peer[0]+"/"+size.name, ours)
			name := "`DecideFrame`, times as fast as " + peer[1]
			switch {
			case size.name != "small":
				t.info(name, "%.1f ×", x, ok)
			case peer[0] == "cedar":
				t.least(name, "%.1f ×", x, ok, leastCedarRatio)
			case peer[0] == "rego":
				t.least(name, "%.1f ×", x, ok, leastRegoRatio)
			default:
				t.info(name, "%.1f ×", x, ok)
			}
		}
	}
}

func (b *bench) requestRows(t *table) {
	t.heading("A request that the host has decoded")
	row := func(text, name string) {
		ns, ok := b.of(name)
		t.info(text, "%.0f ns", ns, ok)
	}
	row("Go: the rules in Go", baselineRules)
	row("ours, C: `kandev_policy_evaluate_request`", "request/small")
	row("**ours, Go: `Decide`**", decideRequest)
	row("an empty cgo call", emptyCgoCall)
	x, ok := b.ratio(decideRequest, baselineRules)
	t.most("`Decide`, of the time of the rules in Go", "%.2f ×", x, ok, mostDecideRatio)
}

func (b *bench) allocationRows(t *table) error {
	t.heading("Heap allocations of one decision")
	t.most("Go: `Decide`", "%.0f", b.goAllocations(decideRequest), true, mostDecideAllocs)
	for _, size := range sizes {
		t.most("Go: `DecideFrame`, "+size.text, "%.0f", b.goAllocations(decideFrame+"/"+size.name), true, mostFrameAllocs)
	}
	for _, way := range [][2]string{{"json", "`kandev_policy_evaluate`"}, {"verdict", "`kandev_policy_evaluate_frame`"}} {
		for _, size := range sizes {
			var most []float64
			if b.hasDriver() {
				var err error
				if most, err = b.driver("allocations", way[0]+"/"+size.name); err != nil {
					return err
				}
			}
			x, ok := median(most)
			t.most("Rust: "+way[1]+", "+size.text, "%.0f", x, ok, mostNativeAllocs)
		}
	}
	return nil
}

func (b *bench) goAllocations(name string) float64 {
	number := 0
	return testing.AllocsPerRun(1000, func() {
		b.decide[name](number)
		number = (number + 1) % distinct
	})
}

func (b *bench) skippingRows(t *table) {
	t.heading("Each byte that is skipped, UTF-8 validation included")
	for _, f := range fillers {
		perByte, ok := b.each("verdict/"+f.name+"-long", "verdict/"+f.name+"-short", func(long, short float64) float64 {
			return (long - short) / (fillerLong - fillerShort)
		})
		t.most(f.text, "%.3f ns", perByte, ok, f.most)
	}
}

func (b *bench) configRows(t *table) {
	t.heading("Configs, threads, one shot")
	x, ok := b.ratio("many-servers/small", "one-server/small")
	t.most("a config with 10,000 servers, of the time with 1", "%.2f ×", x, ok, mostServersRatio)
	x, ok = b.ratio("processes/small", "threads/small")
	t.least("two threads, of the decisions of two processes", "%.2f ×", x, ok, leastThreadsRatio)
	x, ok = b.ratio("one-shot/small", "json/small")
	t.most("C: `kandev_policy_decide`, of the handle's time, three servers", "%.2f ×", x, ok, mostOneShotRatio)
	x, ok = b.ratio(decideJSON+"/small", decideFrame+"/small")
	// No target: what is judged is the library's call, and this one reads the answer's JSON besides.
	t.info("Go: `DecideJSON`, of the time of `DecideFrame`, three servers", "%.2f ×", x, ok)
}

func (b *bench) footprintRows(t *table) error {
	t.heading("Footprint")
	info, err := os.Stat(b.settings.library)
	if err == nil {
		t.most("the stripped shared library", "%.1f KB", float64(info.Size())/1000, true, mostSizeKB)
	} else {
		t.most("the stripped shared library", "%.1f KB", 0, false, mostSizeKB)
	}
	first, ok := median(b.firsts)
	t.most("load and first decision, in a fresh process", "%.2f ms", first/1e6, ok, mostLoadMs)
	var grown []float64
	if b.hasDriver() {
		if grown, err = b.driver("growth", strconv.Itoa(b.settings.growth)); err != nil {
			return err
		}
	} else {
		grown = []float64{0, 0}
	}
	t.most("resident memory grown over "+grouped(b.settings.growth)+" decisions", "%.0f KB", grown[0]/1000, b.hasDriver(), mostGrowthKB)
	t.most("heap blocks left behind by them", "%.0f", grown[1], b.hasDriver(), 0)
	for _, size := range sizes {
		ns, ok := b.of("wasm " + decideFrame + "/" + size.name)
		name := "without cgo: `DecideFrame`, " + size.text
		if size.name == "small" {
			t.most(name, "%.1f µs", ns/1000, ok, mostWithoutCgoUs)
		} else {
			t.info(name, "%.1f µs", ns/1000, ok)
		}
	}
	ns, ok := b.of("wasm " + decideRequest)
	t.info("without cgo: `Decide`", "%.1f µs", ns/1000, ok)
	return nil
}
