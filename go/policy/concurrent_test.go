//go:build !kandev_policy_none

package policy

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestOpenAndCloseWhileDeciding: 64 goroutines decide on policies that others open and close under them.
func TestOpenAndCloseWhileDeciding(t *testing.T) {
	const goroutines, rounds = 64, 200
	before := settledHandles(t)
	var shared [8]struct {
		sync.Mutex
		p *Policy
	}
	current := func(i int) *Policy {
		slot := &shared[i%len(shared)]
		slot.Lock()
		defer slot.Unlock()
		return slot.p
	}
	var all sync.WaitGroup
	for g := range goroutines {
		all.Add(1)
		go func() {
			defer all.Done()
			frame, req := []byte(testFrame), testRequest()
			for i := range rounds {
				switch slot := &shared[g%len(shared)]; {
				case g < len(shared) && i%4 == 0: // opens, and forgets or closes the one before
					p, err := New(testConfig())
					if err != nil {
						t.Error(err)
					}
					slot.Lock()
					old := slot.p
					slot.p = p
					slot.Unlock()
					if i%8 == 0 {
						old.Close()
					}
				case g < 2*len(shared) && i%4 == 1: // closes
					current(g).Close()
				case g == goroutines-1 && i%20 == 0:
					runtime.GC()
				}
				p := current(i)
				for _, d := range [...]Decision{p.Decide(req), p.DecideFrame(frame)} {
					if d.Reason != ReasonEngineUnavailable && d.String() != testSelected {
						t.Errorf("%s", d)
					}
				}
			}
		}()
	}
	all.Wait()
	for i := range shared {
		shared[i].p.Close()
		shared[i].p = nil
	}
	if after := settledHandles(t); after > before {
		t.Errorf("%d native handles before, %d after", before, after)
	}
}

// TestForgotten: what is closed and what is merely forgotten is freed in the end.
func TestForgotten(t *testing.T) {
	before := settledHandles(t)
	for i := range 1000 {
		p, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			p.Close()
		}
	}
	if after := settledHandles(t); after > before {
		t.Errorf("%d native handles before, %d after", before, after)
	}
}

// settledHandles is the number of native handles once the garbage collector finds no more to free.
func settledHandles(t *testing.T) int64 {
	t.Helper()
	last, same := liveHandles.Load(), 0
	for deadline := time.Now().Add(10 * time.Second); same < 5 && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
		if now := liveHandles.Load(); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	return last
}

// TestUnderCollection decides while the garbage collector runs without a pause and stacks move.
func TestUnderCollection(t *testing.T) {
	p := newTestPolicy(t)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	var deeper func(n int)
	deeper = func(n int) {
		if n == 0 {
			return
		}
		frame := []byte(testFrame)
		if d := p.DecideFrame(frame); d.String() != testSelected {
			t.Errorf("%s", d)
		}
		if d := p.Decide(testRequest()); d.String() != testSelected {
			t.Errorf("%s", d)
		}
		deeper(n - 1)
	}
	for range 20 {
		deeper(50)
	}
	close(stop)
	<-done
}
