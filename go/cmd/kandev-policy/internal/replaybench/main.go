//go:build linux

// Command replaybench replays a recording of 1 GB, and compares with reading it by wc -l and by encoding/json, in one run.
//
//	go run ./internal/replaybench [-size BYTES]
//
// It writes the recording to the folder for temporary files, and a tenth of it beside it, to see whether memory depends on
// the size. The status is 1 if a program fails, if the requests are not all found, or if memory is not constant.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"text/tabwriter"
	"time"
)

// slack is by how much memory may grow from the small recording to the large one. What the collector leaves over differs
// from run to run.
const slack = 4 << 20

// settled is how much has to be read before a program has all the memory that it will ever need.
const settled = 50e6

func main() {
	size := flag.Int64("size", 1e9, "how many `bytes` the recording has")
	decode := flag.String("decode", "", "read this `file` by encoding/json, and do nothing else")
	flag.Parse()
	var err error
	if *decode != "" {
		err = readByDecoder(*decode)
	} else {
		err = bench(os.Stdout, *size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replaybench:", err)
		os.Exit(1)
	}
}

// readByDecoder is as little as a Go program can do with encoding/json to find the requests of a recording.
func readByDecoder(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	decoder := json.NewDecoder(bufio.NewReaderSize(file, 1<<18))
	requests := 0
	for {
		var message struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			fmt.Println(requests)
			return nil
		case err != nil:
			return err
		}
		if message.Method == "session/request_permission" {
			requests++
		}
	}
}

// run is one program over one recording.
type run struct {
	took   time.Duration
	memory int64
	out    []byte
}

func bench(out io.Writer, size int64) error {
	folder, err := os.MkdirTemp("", "replaybench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	interrupted := context.AfterFunc(ctx, func() {
		os.RemoveAll(folder)
		os.Exit(1)
	})
	defer interrupted() // before stop, which ends the context too
	frames, config, err := recorded(filepath.Join("..", "..", "..", "tests", "vectors"))
	if err != nil {
		return err
	}
	configFile := filepath.Join(folder, "config.json")
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		return err
	}
	native, webAssembly := filepath.Join(folder, "native"), filepath.Join(folder, "webassembly")
	if err := build(native, "CGO_ENABLED=1", "-tags=kandev_policy_static"); err != nil {
		return err
	}
	if err := build(webAssembly, "CGO_ENABLED=0"); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	large, err := record(filepath.Join(folder, "large.ndjson"), size, frames)
	if err != nil {
		return err
	}
	small, err := record(filepath.Join(folder, "small.ndjson"), size/10, frames)
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "%s in %d lines with %d permission requests; %s, %d processors\n\n",
		bytesText(large.size), large.lines, large.requests, runtime.GOARCH, runtime.NumCPU())
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "program\trecording\ttime\trate\twc -l\tencoding/json\tpeak memory\t\n")
	var wc, decoder run
	show := func(name string, r run, over recording) {
		perByte := func(r run, size int64) float64 { return r.took.Seconds() / float64(size) }
		relative := perByte(r, over.size)
		fmt.Fprintf(table, "%s\t%s\t%.2f s\t%s/s\t×%.1f\t×%.2f\t%s\t\n", name, bytesText(over.size), r.took.Seconds(),
			bytesText(int64(float64(over.size)/r.took.Seconds())), relative/perByte(wc, large.size),
			relative/perByte(decoder, large.size), bytesText(r.memory))
	}
	if wc, err = measure("wc", "-l", large.path); err != nil {
		return err
	}
	if decoder, err = measure(self, "-decode", large.path); err != nil {
		return err
	}
	if found := number(decoder.out); found != large.requests {
		return fmt.Errorf("encoding/json finds %d requests, not %d", found, large.requests)
	}
	show("wc -l", wc, large)
	show("encoding/json, method alone", decoder, large)
	var problem error
	for _, engine := range []struct{ name, program string }{{"replay, cgo", native}, {"replay, WebAssembly", webAssembly}} {
		var peaks []int64
		for _, over := range []recording{small, large} {
			r, err := measure(engine.program, "replay", "--summary", "--json", "-c", configFile, over.path)
			if err != nil {
				return err
			}
			if err := over.check(r.out); err != nil {
				problem = errors.Join(problem, fmt.Errorf("%s: %w", engine.name, err))
			}
			show(engine.name, r, over)
			peaks = append(peaks, r.memory)
		}
		if small.size >= settled && peaks[1] > peaks[0]+slack {
			problem = errors.Join(problem, fmt.Errorf("%s: memory grows with the recording", engine.name))
		}
	}
	return errors.Join(table.Flush(), problem)
}

func build(program, cgo string, flags ...string) error {
	command := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), ".")...)
	command.Env = append(os.Environ(), cgo)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s go build: %w\n%s", cgo, err, output)
	}
	return nil
}

// recording is a recording that has been written.
type recording struct {
	path            string
	size            int64
	lines, requests int
}

func record(path string, size int64, frames [][]byte) (recording, error) {
	file, err := os.Create(path)
	if err != nil {
		return recording{}, err
	}
	requests, err := writeRecording(file, size, frames)
	if err = errors.Join(err, file.Close()); err != nil {
		return recording{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return recording{}, err
	}
	lines, err := measure("wc", "-l", path) // which also brings the file into the system's cache
	return recording{path, info.Size(), number(lines.out), requests}, err
}

// check wants all of the recording in a replay's summary.
func (r recording) check(out []byte) error {
	var last struct {
		Summary struct{ Lines, Requests, Bad int }
	}
	if err := json.Unmarshal(out, &last); err != nil {
		return err
	}
	if s := last.Summary; s.Lines != r.lines || s.Requests != r.requests || s.Bad != 0 {
		return fmt.Errorf("%d lines, %d requests, %d bad lines found; there are %d and %d", s.Lines, s.Requests, s.Bad, r.lines, r.requests)
	}
	return nil
}

func measure(program string, args ...string) (run, error) {
	var out bytes.Buffer
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = &out, os.Stderr
	start := time.Now()
	if err := command.Start(); err != nil {
		return run{}, err
	}
	ended := make(chan struct{})
	peak := make(chan int64)
	go func() { peak <- watchMemory(command.Process.Pid, ended) }()
	err := command.Wait()
	took := time.Since(start)
	close(ended)
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(program), err)
	}
	return run{took, <-peak, out.Bytes()}, err
}

// watchMemory gives the largest resident size of a process until it ended. (What wait tells would count the memory of this
// process too, which was the child's before the exec.)
func watchMemory(pid int, ended <-chan struct{}) (peak int64) {
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // which is gone at the end
		if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			peak = int64(number(rest)) << 10
		}
		select {
		case <-ended:
			return peak
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// number is the number that an output begins with.
func number(out []byte) int {
	var n int
	_, _ = fmt.Sscan(string(out), &n) // none is 0, which no recording has
	return n
}

func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e7:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
