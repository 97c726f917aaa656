//go:build (!cgo || !(linux || darwin) || !(amd64 || arm64) || kandev_policy_wasm) && !kandev_policy_none

package policy

import (
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kandev/kandev-policy/go/policy/internal/wasm"
)

// TestTrap: a trap is an internal error, and the next decision comes from another instance.
func TestTrap(t *testing.T) {
	p, err := NewJSON([]byte(reviewerConfig))
	if err != nil {
		t.Fatal(err)
	}
	hook := []byte(`{"session_id":"a","tool_name":"mcp__kcap-review__get_pr_summary"}`)
	allowed := p.DecideFrame(hook)
	if allowed.Kind != Allow {
		t.Fatalf("%s", allowed)
	}
	for range 3 {
		destroy(t, p)
		if got := p.DecideFrame(hook).String(); got != `{"decision":"deny","reason":"internal_error","status":500}` {
			t.Errorf("with a trap: %s", got)
		}
		if got := p.DecideFrame(hook).String(); got != allowed.String() {
			t.Errorf("after it: %s", got)
		}
	}
}

// TestNoInstance: what no instance answers is an internal error.
func TestNoInstance(t *testing.T) {
	p := newTestPolicy(t)
	p.handle.Store(&handle{new(wasm.Policy)}) // which doesn't compile
	for _, d := range []Decision{p.Decide(testRequest()), p.DecideFrame([]byte(testFrame))} {
		if d.String() != `{"decision":"ask","reason":"internal_error"}` {
			t.Errorf("%s", d)
		}
	}
}

// destroy makes a compiled policy's pointers, in the instance that will be asked next, lead nowhere.
func destroy(t *testing.T, p *Policy) {
	t.Helper()
	i, err := instances().Get()
	if err != nil {
		t.Fatal(err)
	}
	defer instances().Put(i)
	address, err := i.Handle(p.handle.Load().policy)
	if err != nil {
		t.Fatal(err)
	}
	const nowhere, first, size = 1<<31 - 16, 64 << 10, 64
	for at := address; at < address+size; at += 4 {
		if word := i.Uint32(at); word > first && word < nowhere {
			binary.LittleEndian.PutUint32(i.Bytes(at, 4), nowhere)
		}
	}
}

// TestRegistryTrap: what is left of a registry whose instance has trapped approves nothing.
func TestRegistryTrap(t *testing.T) {
	r, _, err := NewRegistry(RegistryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	minted, err := r.Mint("codex", []string{"kcap-review"})
	if err != nil {
		t.Fatal(err)
	}
	token, hook := *minted.Token.secret, []byte(`{"session_id":"a","tool_name":"mcp__kcap-review__get_pr_summary"}`)
	if d, _, ok := r.Decide(token, "codex", hook); !ok || d.Kind != Allow {
		t.Fatalf("%s %t", d, ok)
	}
	h := r.handle.Load()
	h.registry = 1<<32 - 16
	for range 2 {
		if d, _, _ := r.Decide(token, "codex", hook); d.Kind != Deny {
			t.Errorf("%s", d)
		}
		h.registry = 0
	}
	if _, ok := r.Find(token, "codex"); ok {
		t.Error("the token is still known")
	}
	if _, err := r.Mint("codex", nil); err == nil {
		t.Error("a token is minted")
	}
}

// TestRevocationTrap: a revocation that traps ends every token.
func TestRevocationTrap(t *testing.T) {
	r, shared := testRegistry(t, RegistryConfig{})
	m := testMint(t, r, "kcap-review")
	r.handle.Load().registry = 1<<32 - 16
	r.Revoke(m.Token.Expose())
	for _, token := range []Token{m.Token, shared} {
		if d, _, ok := r.Decide(token.Expose(), "codex", []byte(testSummary)); ok || d.Kind != Deny {
			t.Errorf("%s %t", d, ok)
		}
	}
}

// TestTokensLeaveNoTrace: what crosses to the registry's instance is wiped there.
func TestTokensLeaveNoTrace(t *testing.T) {
	r, shared, err := NewRegistry(RegistryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	minted, err := r.Mint("codex", []string{"kcap-review"})
	if err != nil {
		t.Fatal(err)
	}
	r.Decide(*minted.Token.secret, "codex", []byte(`{"session_id":"a","tool_name":"Bash"}`))
	i := r.handle.Load().instance
	room, err := i.Room(0)
	if err != nil {
		t.Fatal(err)
	}
	if b := string(i.Bytes(room, 1<<14)); strings.Trim(b, "\x00") != "" || strings.Contains(b, *shared.secret) {
		t.Error("something is left")
	}
}

// TestLoad: 64 goroutines, a million decisions, right to the last one, and no memory that stays.
func TestLoad(t *testing.T) {
	const goroutines = 64
	decisions := 1_000_000
	if testing.Short() || raceDetector {
		decisions = 100_000
	}
	p := newTestPolicy(t)
	run := func(n int) {
		var all sync.WaitGroup
		for range goroutines {
			all.Add(1)
			go func() {
				defer all.Done()
				frame, req := []byte(testFrame), testRequest()
				for i := range n / goroutines {
					var d Decision
					if i%2 == 0 {
						d = p.DecideFrame(frame)
					} else {
						d = p.Decide(req)
					}
					if d.Reason != ReasonInjectedMCP || d.OptionID != "yes" || d.Tool != "list_tasks" {
						t.Errorf("%s", d)
						return
					}
				}
			}()
		}
		all.Wait()
	}
	run(10_000)
	before := heap()
	start := time.Now()
	run(decisions)
	took := time.Since(start)
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d bytes in use before, %d after", before, after)
	}
	t.Logf("%d decisions in %v", decisions, took)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLargeMemoryIsGivenBack: an instance that had to grow for one frame is not kept.
func TestLargeMemoryIsGivenBack(t *testing.T) {
	p := newTestPolicy(t)
	p.DecideFrame([]byte(testFrame))
	before := heap()
	frame := []byte(strings.Replace(testFrame, `{`, `{"rawInput":"`+strings.Repeat("x", 15<<20)+`",`, 1))
	if d := p.DecideFrame(frame); d.String() != testSelected {
		t.Errorf("%s", d)
	}
	frame = nil
	if after := heap(); after > before+8<<20 {
		t.Errorf("%d bytes in use before, %d after", before, after)
	}
}

func BenchmarkWebAssemblyStart(b *testing.B) {
	for b.Loop() {
		startEngine()
	}
}
