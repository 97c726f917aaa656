package document

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is text as it may be shown on a terminal: what could move the cursor or hide something is quoted.
func Printable(text string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	if text != "" && !strings.ContainsFunc(text, odd) {
		return text
	}
	return strconv.Quote(text)
}
