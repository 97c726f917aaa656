package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// describe says on what was measured, and how.
func describe(w io.Writer, settings settings, started time.Time, loadBefore string) {
	line := func(name, text string) { fmt.Fprintf(w, "- %s: %s\n", name, text) }
	line("machine", fmt.Sprintf("%s, %d CPUs, %s/%s, %s", cpu(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, said("uname", "-sr")))
	line("load average before and after", loadBefore+", "+load())
	line("compilers", strings.Join([]string{said("rustc", "--version"), runtime.Version(), said("cc", "--version")}, "; "))
	line("library", fmt.Sprintf("kandev-policy %s, engine %s", policy.Version(), policy.Engine()))
	line("peers", "cedar-policy 4.14.0, regorus 0.14.0, serde_json (tests/bench/peers/Cargo.lock)")
	line("method", fmt.Sprintf("%d rounds of %s for each figure, interleaved; medians; ratios are medians of each round's ratio; %d distinct frames of each size in turn", settings.rounds, settings.each, distinct))
	line("command", fmt.Sprintf("`make bench`, %s in %.0f s", started.UTC().Format("2006-01-02 15:04 UTC"), time.Since(started).Seconds()))
}

// cpu is the processor's name where the system tells it.
func cpu() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	_, after, _ := strings.Cut(string(info), "model name")
	name, _, _ := strings.Cut(after, "\n")
	return cmp.Or(strings.Trim(name, "\t :"), "unknown CPU")
}

func load() string {
	average, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(average), " ")
	return cmp.Or(first, "unknown")
}

// said is the first line that a program prints.
func said(program string, arguments ...string) string {
	out, _ := exec.Command(program, arguments...).Output()
	first, _, _ := strings.Cut(string(out), "\n")
	return cmp.Or(strings.TrimSpace(first), program+" unknown")
}
