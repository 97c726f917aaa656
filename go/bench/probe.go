package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A probe measures one thing once: nanoseconds per decision, over at least so long.
type probe func(least time.Duration) (float64, error)

// inTurn measures decisions in this process. Each call of decide gets the next number below distinct, and says whether the
// decision was the right one.
func inTurn(decide func(number int) bool) probe {
	return func(least time.Duration) (float64, error) {
		start, startProcessor, decisions := time.Now(), processorTime(), 0
		for {
			for number := range distinct {
				if !decide(number) {
					return 0, fmt.Errorf("not the right decision")
				}
			}
			decisions += distinct
			took := time.Since(start)
			if took < least {
				continue
			}
			// Where processor time is less, the machine's other programs took the rest. Where it is more, the collector ran
			// on another processor, which is nothing that the decision waited for.
			if busy := processorTime() - startProcessor; busy > 0 {
				took = min(took, busy)
			}
			return float64(took.Nanoseconds()) / float64(decisions), nil
		}
	}
}

// A child is a program that measures what is asked of it: it answers each line `WHAT MILLISECONDS` on its stdin by the
// nanoseconds per decision. Between two questions it waits.
type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	answers *bufio.Reader
}

func startChild(program string, arguments ...string) (*child, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("not built")
	}
	c := &child{command: exec.Command(program, arguments...)}
	c.command.Stderr = os.Stderr
	var err error
	if c.stdin, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.answers = bufio.NewReader(stdout)
	return c, c.command.Start()
}

func (c *child) probe(what string) probe {
	return func(least time.Duration) (float64, error) {
		if _, err := fmt.Fprintf(c.stdin, "%s %d\n", what, least.Milliseconds()); err != nil {
			return 0, err
		}
		answer, err := c.answers.ReadString('\n')
		if err != nil {
			return 0, fmt.Errorf("%s: no answer: %w", what, err)
		}
		return strconv.ParseFloat(strings.TrimSpace(answer), 64)
	}
}

func (c *child) stop() {
	c.stdin.Close()
	c.command.Wait()
}

// serve is the other side, for this program built without cgo.
func serve(probes map[string]probe) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		what, milliseconds, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(milliseconds)
		if err != nil || probes[what] == nil {
			return fmt.Errorf("what is %q?", lines.Text())
		}
		ns, err := probes[what](time.Duration(n) * time.Millisecond)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Printf("%.3f\n", ns)
	}
	return lines.Err()
}

// printed runs a program of its own and gives the numbers that it prints.
func printed(program string, arguments ...string) ([]float64, error) {
	command := exec.Command(program, arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	var numbers []float64
	for word := range strings.FieldsSeq(string(out)) {
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}
