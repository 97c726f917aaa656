// Package tally counts decisions.
package tally

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kandev/kandev-policy/go/policy"
)

// maxTools is how many different tools are counted by name. A recording can hold any number of names, and counting
// them must not take more memory the longer it is.
const maxTools = 1000

// OtherTools is where the tools beyond that are counted.
const OtherTools = "(other tools)"

// NoTool is where requests are counted whose tool has no qualified name.
const NoTool = "(no qualified name)"

// Tally is the sum of a replay, and its JSON.
type Tally struct {
	Files    int            `json:"files"`
	Lines    int            `json:"lines"`    // that aren't blank
	Requests int            `json:"requests"` // decided
	Other    int            `json:"other"`    // messages that need no decision
	Bad      int            `json:"bad"`      // lines that are no message
	Changed  *int           `json:"changed,omitempty"`
	Decision map[string]int `json:"decisions"`
	Reason   map[string]int `json:"reasons"` // "decision:reason"
	Tool     map[string]int `json:"tools"`   // "server/tool"
	Changes  map[string]int `json:"changes,omitempty"`
}

// New makes an empty tally.
func New() *Tally {
	return &Tally{Decision: map[string]int{}, Reason: map[string]int{}, Tool: map[string]int{}}
}

// Count counts a decided request.
func (t *Tally) Count(d policy.Decision) {
	t.Requests++
	t.Decision[d.Kind.String()]++
	t.Reason[Key(d)]++
	tool := Tool(d)
	if _, known := t.Tool[tool]; !known && len(t.Tool) >= maxTools {
		tool = OtherTools
	}
	t.Tool[tool]++
}

// Comparing makes the tally one of two configs.
func (t *Tally) Comparing() { t.Changed, t.Changes = new(int), map[string]int{} }

// Compare counts whether another config decides differently.
func (t *Tally) Compare(d, against policy.Decision) (changed bool) {
	if !Differ(d, against) {
		return false
	}
	*t.Changed++
	t.Changes[Key(d)+" → "+Key(against)]++
	return true
}

// Differ compares all of two decisions.
func Differ(a, b policy.Decision) bool {
	x, _ := a.MarshalJSON() // which never fails
	y, _ := b.MarshalJSON()
	return string(x) != string(y)
}

// Key is "decision:reason".
func Key(d policy.Decision) string { return d.Kind.String() + ":" + string(d.Reason) }

// Tool is "server/tool", or NoTool.
func Tool(d policy.Decision) string {
	if d.Server == "" {
		return NoTool
	}
	return d.Server + "/" + d.Tool
}

// Entry is one count.
type Entry struct {
	Name  string
	Count int
}

// Sorted gives counts with the largest first, equal ones by name.
func Sorted(counts map[string]int) []Entry {
	entries := make([]Entry, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		entries = append(entries, Entry{name, counts[name]})
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(b.Count, a.Count) })
	return entries
}
