package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/reasons"
	"github.com/kandev/kandev-policy/go/cmd/kandev-policy/internal/tally"
	"github.com/kandev/kandev-policy/go/policy"
)

// The conditions of --fail-on that are no decision.
const (
	onBadLine = "bad_line"
	onChanged = "changed"
)

var decisionWords = []string{
	policy.Ask.String(), policy.Select.String(), policy.Cancel.String(), policy.Allow.String(), policy.Deny.String(),
}

// checkConditions refuses a misspelt condition, which would never come true.
func checkConditions(conditions []string, comparing bool) error {
	for _, condition := range conditions {
		word, reason, hasReason := strings.Cut(condition, ":")
		_, known := reasons.Find(reason)
		switch {
		case condition == onBadLine, condition == onChanged && comparing:
		case condition == onChanged:
			return errors.New("--fail-on changed needs --against")
		case !slices.Contains(decisionWords, word):
			return fmt.Errorf("--fail-on: %q is no decision; expected one of %s, or %s, or %s",
				word, strings.Join(decisionWords, ", "), onBadLine, onChanged)
		case hasReason && !known:
			return fmt.Errorf("--fail-on: %q is no reason; they are listed in %s", reason, reasons.Page)
		}
	}
	return nil
}

// met gives the conditions that a tally meets, each with how often.
func met(conditions []string, sum *tally.Tally) []string {
	var list []string
	for _, condition := range conditions {
		count := sum.Decision[condition] + sum.Reason[condition]
		switch {
		case condition == onBadLine:
			count = sum.Bad
		case condition == onChanged && sum.Changed != nil:
			count = *sum.Changed
		}
		if count > 0 {
			list = append(list, fmt.Sprintf("%s (%d)", condition, count))
		}
	}
	return list
}

// completions are all conditions, for the shell.
func completions() []string {
	list := append([]string{onBadLine, onChanged}, decisionWords...)
	for _, reason := range reasons.All() {
		list = append(list, policy.Ask.String()+":"+reason.Code, policy.Deny.String()+":"+reason.Code)
	}
	return list
}
