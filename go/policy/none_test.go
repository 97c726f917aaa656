//go:build kandev_policy_none

package policy

import (
	"errors"
	"testing"
)

// TestNoEngine: everything answers, and nothing is approved.
func TestNoEngine(t *testing.T) {
	if Engine() != "none" || Version() != "" || ABIVersion() != 0 {
		t.Errorf("engine %q, version %q, ABI %d", Engine(), Version(), ABIVersion())
	}
	p, err := New(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	var none *Policy
	for range 2 {
		for _, p := range []*Policy{p, none} {
			for _, d := range []Decision{p.Decide(testRequest()), p.DecideFrame([]byte(testFrame))} {
				if got := d.String(); got != `{"decision":"ask","reason":"engine_unavailable"}` {
					t.Error(got)
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNoEngineVectors: a reviewer's config is answered with a deny, every other with an ask.
func TestNoEngineVectors(t *testing.T) {
	for _, v := range vectors(t) {
		want := `{"decision":"ask","reason":"engine_unavailable"}`
		if v.expected(t).Status != 0 {
			want = `{"decision":"deny","reason":"engine_unavailable","status":500}`
		}
		if got := DecideJSON(v.input, v.config).String(); got != want {
			t.Errorf("%s: %s", v.id, got)
		}
		if e, err := ExplainJSON(v.input, v.config); !errors.Is(err, ErrNoEngine) || e.Decision.String() != want {
			t.Errorf("%s: %s, error %v", v.id, e, err)
		}
		p, err := NewJSON(v.config)
		if err != nil {
			t.Errorf("%s: %v", v.id, err)
			continue
		}
		if got := p.DecideFrame(v.input).String(); got != want {
			t.Errorf("%s: %s", v.id, got)
		}
	}
}
