package policy

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestHeader compares the numbers and words in Go with those of kandev_policy.h.
func TestHeader(t *testing.T) {
	header, err := os.ReadFile("kandev_policy.h")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`#define KANDEV_POLICY_ABI_VERSION (\d+)`).FindSubmatch(header); m == nil || string(m[1]) != strconv.Itoa(abiVersion) {
		t.Errorf("ABI version %d, header has %q", abiVersion, m)
	}

	words := func(prefix string) map[int]string {
		found := map[int]string{}
		constant := regexp.MustCompile(`\n *KANDEV_POLICY_` + prefix + `_([A-Z_]+) = (\d+),`)
		for _, m := range constant.FindAllSubmatch(header, -1) {
			n, _ := strconv.Atoi(string(m[2]))
			if found[n] != "" {
				t.Errorf("%s %d twice", prefix, n)
			}
			found[n] = strings.ToLower(string(m[1]))
		}
		return found
	}
	compare := func(prefix string, have map[int]string) {
		t.Helper()
		want := words(prefix)
		if len(want) == 0 || len(want) != len(have) {
			t.Errorf("%s: the header has %d, Go %d", prefix, len(want), len(have))
		}
		for n, word := range want {
			if have[n] != word {
				t.Errorf("%s %d: header %q, Go %q", prefix, n, word, have[n])
			}
		}
	}

	reasonWords := map[int]string{}
	for n, reason := range reasons {
		reasonWords[n] = string(reason)
	}
	compare("REASON", reasonWords)
	compare("KIND", map[int]string{int(Ask): "ask", int(Select): "select", int(Cancel): "cancel", int(Allow): "allow", int(Deny): "deny"})
	compare("OPTION_KIND", map[int]string{0: "none", 1: optionKinds[1], 2: optionKinds[2], 3: optionKinds[3], 4: optionKinds[4]})
	compare("STATUS", map[int]string{
		int(statusOK):              "ok",
		int(statusBufferTooSmall):  "buffer_too_small",
		int(statusInvalidArgument): "invalid_argument",
		int(statusBadConfig):       "bad_config",
		int(statusInternalError):   "internal_error",
		int(statusRefused):         "refused",
		int(statusNoEntropy):       "no_entropy",
		int(statusUnknownToken):    "unknown_token",
	})
	for n, kind := range kinds {
		if Kind(n).String() != kind {
			t.Errorf("kind %d: %q", n, Kind(n))
		}
	}
}

// TestHeaderCopy: the copy that is compiled here is the library's.
func TestHeaderCopy(t *testing.T) {
	original, err := os.ReadFile("../../include/kandev_policy.h")
	if os.IsNotExist(err) {
		t.Skip("not in a checkout of the whole project")
	}
	header, err2 := os.ReadFile("kandev_policy.h")
	if err != nil || err2 != nil || string(header) != string(original) {
		t.Errorf("kandev_policy.h differs from include/kandev_policy.h (%v, %v)", err, err2)
	}
}
