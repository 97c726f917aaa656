// Command demo decides every captured frame, prints what came of each, and fails when a decision isn't the expected one
// or when another language's decision differs by a byte.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/kandev/kandev-policy/go/policy"
)

type capture struct {
	Agent, Scenario string
	Config, Expect  json.RawMessage
	Input           string
}

func main() {
	others := flag.String("same-as", "", "comma-separated `NAME=FILE` pairs: decisions from other languages, one a line")
	flag.Parse()
	if err := run(*others, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(others string, files []string) error {
	captures, err := read(files)
	if err != nil {
		return err
	}
	decisions := make([]policy.Decision, len(captures))
	for i, c := range captures {
		decisions[i] = policy.DecideJSON([]byte(c.Input), c.Config)
	}
	unexpected := show(captures, decisions)
	languages := []string{"Go"}
	for _, pair := range strings.FieldsFunc(others, func(r rune) bool { return r == ',' }) {
		name, file, _ := strings.Cut(pair, "=")
		if err := compare(name, file, decisions); err != nil {
			return err
		}
		languages = append(languages, name)
	}
	fmt.Print("Under the config of a host that injected kandev over HTTP; tests/vectors/README.md says what each scenario is.\n" +
		"Claude ACP before 0.80 doesn't say where a server comes from: its kandev of a repository (6…) can't be told from the injected one.\n")
	fmt.Printf("%d captured frames, %d as expected; the same bytes from %s; engine %s, library %s\n",
		len(captures), len(captures)-unexpected, strings.Join(languages, ", "), policy.Engine(), policy.Version())
	if unexpected > 0 {
		return fmt.Errorf("%d decisions are not as expected", unexpected)
	}
	return nil
}

// show prints the table and counts the decisions that aren't as expected.
func show(captures []capture, decisions []policy.Decision) (unexpected int) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AGENT\tSCENARIO\tTOOL\tDECISION\tREASON\tOPTION\t")
	for i, c := range captures {
		d := decisions[i]
		mark := ""
		if got, err := d.MarshalJSON(); err != nil || !bytes.Equal(got, c.Expect) {
			mark = "UNEXPECTED: want " + string(c.Expect)
			unexpected++
		}
		tool := ""
		if d.Server != "" {
			tool = d.Server + "/" + d.Tool
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Agent, c.Scenario, tool, d.Kind, d.Reason, d.OptionID, mark)
	}
	table.Flush()
	return unexpected
}

func compare(name, file string, decisions []policy.Decision) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	if len(lines) != len(decisions) {
		return fmt.Errorf("%s decided %d frames, Go %d", name, len(lines), len(decisions))
	}
	for i, d := range decisions {
		if own, err := d.MarshalJSON(); err != nil || !bytes.Equal(own, lines[i]) {
			return fmt.Errorf("frame %d: Go gives %s, %s gives %s", i+1, own, name, lines[i])
		}
	}
	return nil
}

func read(files []string) ([]capture, error) {
	var captures []capture
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<22)
		for number := 1; lines.Scan(); number++ {
			var c capture
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, number, err)
			}
			captures = append(captures, c)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(captures) == 0 {
		return nil, fmt.Errorf("no captures given")
	}
	return captures, nil
}
