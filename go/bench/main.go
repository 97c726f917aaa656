// Command bench measures decisions beside what else could make them, and prints one table: each figure that is asked of
// the library with its target. The status is 1 when a target is not met.
//
// `make bench` builds the programs in other languages (tests/bench) and runs it with them.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

type settings struct {
	frames   string // write the frames into this folder and do nothing else
	serve    bool   // be a child
	work     string // the folder of what tests/bench/run.sh has built
	library  string // the shared library
	document string // put the table into this document as well
	rounds   int
	each     time.Duration
	growth   int // decisions after which memory must not have grown
}

func main() {
	var s settings
	flag.StringVar(&s.frames, "frames", "", "only write the frames into this `folder`")
	flag.BoolVar(&s.serve, "serve", false, "measure what is asked for on stdin")
	flag.StringVar(&s.work, "work", "", "`folder` with the driver, the peers and the program without cgo")
	flag.StringVar(&s.library, "library", "", "the shared library")
	flag.StringVar(&s.document, "document", "", "put the table into this `file` as well, between its marks")
	flag.IntVar(&s.rounds, "rounds", 15, "how often everything is measured")
	flag.DurationVar(&s.each, "time", 40*time.Millisecond, "how long each measurement takes")
	flag.IntVar(&s.growth, "growth", 10_000_000, "decisions after which memory must not have grown")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	if s.frames != "" {
		return writeFrames(s.frames)
	}
	p, err := policy.New(policyHost)
	if err != nil {
		return err
	}
	defer p.Close()
	decide, err := decisions(p)
	if err != nil {
		return err
	}
	for i, f := range refused() {
		if d := p.DecideFrame(f); d.Kind != policy.Ask {
			return fmt.Errorf("refused frame %d: %v", i, d)
		}
	}
	if s.serve {
		probes := map[string]probe{}
		for name, d := range decide {
			probes[strings.ReplaceAll(name, " ", "-")] = inTurn(d)
		}
		return serve(probes)
	}
	if emptyCall == nil {
		return errors.New("it measures the library through cgo: build it with CGO_ENABLED=1")
	}

	started, loadBefore := time.Now(), load()
	b := newBench(s, decide)
	defer b.stop()
	for range s.rounds {
		if err := b.round(s.each); err != nil {
			return err
		}
		if err := b.loads(); err != nil {
			return err
		}
	}
	t, err := b.table()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	describe(&out, s, started, loadBefore)
	for what, why := range b.missing {
		fmt.Fprintf(&out, "- not measured: %s: %s\n", what, why)
	}
	fmt.Fprintln(&out)
	t.write(&out)
	fmt.Print(out.String())
	if s.work != "" {
		if err := os.WriteFile(filepath.Join(s.work, "..", "bench.md"), out.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if s.document != "" {
		if err := putInto(s.document, out.Bytes()); err != nil {
			return err
		}
	}
	if len(t.missed) > 0 {
		return fmt.Errorf("not met:\n  %s", strings.Join(t.missed, "\n  "))
	}
	return nil
}

// putInto replaces what stands between a document's marks.
func putInto(document string, run []byte) error {
	const begin, end = "<!-- begin: one run of make bench -->\n", "<!-- end -->"
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no marks", document)
	}
	return os.WriteFile(document, slices.Concat(before, []byte(begin), run, []byte(end), after), 0o666)
}
