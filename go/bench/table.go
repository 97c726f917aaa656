package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A table is Markdown whose columns are aligned, so that it is read on a terminal as well.
type table struct {
	rows   [][4]string
	missed []string // rows whose target is not met
	unrun  []string // rows that could not be measured
}

func (t *table) heading(text string) { t.rows = append(t.rows, [4]string{"**" + text + "**"}) }

// info adds a figure without a target.
func (t *table) info(name, format string, figure float64, measured bool) {
	text := "not measured"
	if measured {
		text = fmt.Sprintf(format, figure)
	}
	t.rows = append(t.rows, [4]string{name, text})
}

// least and most add a figure with its target.
func (t *table) least(name, format string, figure float64, measured bool, target float64) {
	t.judge(name, format, figure, measured, "≥ ", target, figure >= target)
}

func (t *table) most(name, format string, figure float64, measured bool, target float64) {
	t.judge(name, format, figure, measured, "≤ ", target, figure <= target)
}

func (t *table) judge(name, format string, figure float64, measured bool, sign string, target float64, met bool) {
	row := [4]string{name, "not measured", sign + fmt.Sprintf(format, target), "**not met**"}
	switch {
	case !measured:
		t.unrun = append(t.unrun, name)
		row[3] = "not measured"
	case met:
		row[1], row[3] = fmt.Sprintf(format, figure), "met"
	default:
		row[1] = fmt.Sprintf(format, figure)
		t.missed = append(t.missed, fmt.Sprintf("%s: %s, target %s", name, row[1], row[2]))
	}
	t.rows = append(t.rows, row)
}

func (t *table) write(w io.Writer) {
	all := append([][4]string{{"", "figure", "target", ""}}, t.rows...)
	var widths [4]int
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for number, row := range all {
		var cells [4]string
		for i, cell := range row {
			cells[i] = cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells[:], " | "))
		if number == 0 {
			fmt.Fprintf(w, "|%s|\n", strings.Join([]string{dashes(widths[0]), dashes(widths[1]), dashes(widths[2]), dashes(widths[3])}, "|"))
		}
	}
}

func dashes(n int) string { return strings.Repeat("-", n+2) }

// grouped is a number of decisions as people write it.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
