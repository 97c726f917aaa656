//go:build !kandev_policy_none && (linux || darwin)

package policy

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// whileDeciding runs f while goroutines decide in every way, and says how many decisions that were.
func whileDeciding(t *testing.T, f func()) {
	t.Helper()
	p := newTestPolicy(t)
	r, _ := testRegistry(t, RegistryConfig{})
	m := testMint(t, r, "kcap-review")
	var all sync.WaitGroup
	var stop atomic.Bool
	var decisions atomic.Int64
	for range 4 {
		all.Go(func() {
			frame, req := []byte(testFrame), testRequest()
			config := testConfig().appendJSON(nil)
			for !stop.Load() {
				for _, d := range [...]Decision{p.Decide(req), p.DecideFrame(frame), DecideJSON(frame, config)} {
					if d.String() != testSelected {
						t.Errorf("%s", d)
					}
				}
				if d, _, ok := r.Decide(m.Token.Expose(), "codex", []byte(testSummary)); d.Kind != Allow || !ok {
					t.Errorf("%s %t", d, ok)
				}
				decisions.Add(4)
			}
		})
	}
	f()
	stop.Store(true)
	all.Wait()
	if decisions.Load() == 0 {
		t.Error("nothing was decided")
	}
	t.Logf("%d decisions", decisions.Load())
}

// TestChildrenWhileDeciding: fork and exec from a process whose threads are in the engine.
func TestChildrenWhileDeciding(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whileDeciding(t, func() {
		for range 20 {
			if out, err := exec.Command(self, "-test.run=^$").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	})
}

// TestSignalsWhileDeciding: signals that the program handles, and those that preempt goroutines, arrive during calls.
func TestSignalsWhileDeciding(t *testing.T) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGUSR1)
	defer signal.Stop(arrived)
	whileDeciding(t, func() {
		seen := 0
		for deadline := time.Now().Add(10 * time.Second); seen < 200 && time.Now().Before(deadline); {
			for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGURG} {
				if err := syscall.Kill(os.Getpid(), s); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-arrived:
				seen++
			case <-time.After(time.Second):
			}
		}
		if seen < 200 {
			t.Errorf("only %d signals arrived", seen)
		}
	})
}

// TestProfiledWhileDeciding: a profiler interrupts the calls wherever they are.
func TestProfiledWhileDeciding(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip("another profile is on: ", err)
	}
	defer pprof.StopCPUProfile()
	whileDeciding(t, func() { time.Sleep(300 * time.Millisecond) })
}

// TestRegistryCloseWhileDeciding: no token is good once Close has returned, whatever is under way.
func TestRegistryCloseWhileDeciding(t *testing.T) {
	if Engine() == "none" {
		t.Skip("no engine")
	}
	for range 50 {
		r, _, err := NewRegistry(RegistryConfig{})
		if err != nil {
			t.Fatal(err)
		}
		m := testMint(t, r, "kcap-review")
		var all sync.WaitGroup
		var closed atomic.Bool
		for range 4 {
			all.Go(func() {
				for range 50 {
					after := closed.Load()
					d, _, ok := r.Decide(m.Token.Expose(), "codex", []byte(testSummary))
					if ok != (d.Kind == Allow) || ok && after {
						t.Errorf("%s, known %t, after Close %t", d, ok, after)
					}
					if _, err := r.Mint("codex", nil); err == nil && after {
						t.Error("minted after Close")
					}
				}
			})
		}
		all.Go(func() {
			r.Close()
			closed.Store(true)
			r.Close()
		})
		all.Wait()
	}
}
