package wasm

import (
	"runtime"
	"sync"
)

// A Pool has as many instances as can run at once: one that runs is not interrupted by Go, so that more would only wait.
type Pool struct {
	module *Module

	mu    sync.Mutex
	back  sync.Cond // an instance has come back, or one more may be made
	idle  []*Instance
	all   map[*Instance]struct{}
	count int // of all, and of those that are being made
}

// NewPool makes a pool, without any instance yet.
func NewPool(m *Module) *Pool {
	p := &Pool{module: m, all: map[*Instance]struct{}{}}
	p.back.L = &p.mu
	return p
}

// Module is what the pool has instances of.
func (p *Pool) Module() *Module { return p.module }

// Get gives an instance to be used by the caller alone, and to be given back with Put. It waits while all are in use.
func (p *Pool) Get() (*Instance, error) {
	p.mu.Lock()
	for len(p.idle) == 0 && p.count >= max(2, runtime.GOMAXPROCS(0)) {
		p.back.Wait()
	}
	if n := len(p.idle); n > 0 {
		i := p.idle[n-1] // the last one that came back: its memory is still in the processor's cache
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		i.busy = true
		p.mu.Unlock()
		return i, nil
	}
	p.count++
	p.mu.Unlock()

	i, err := p.module.Instance()

	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.count--
		p.back.Signal()
		return nil, err
	}
	i.busy = true
	p.all[i] = struct{}{}
	return i, nil
}

// Put takes an instance back. One that has trapped, or whose memory has become large, is replaced by a new one.
func (p *Pool) Put(i *Instance) {
	if i.worn() {
		p.mu.Lock()
		delete(p.all, i)
		p.count--
		p.back.Signal()
		p.mu.Unlock()
		i.Close()
		return
	}
	p.mu.Lock()
	for len(i.gone) > 0 {
		gone := i.gone
		i.gone = nil
		p.mu.Unlock()
		for _, policy := range gone {
			i.free(policy)
		}
		p.mu.Lock()
	}
	i.busy = false
	p.idle = append(p.idle, i)
	p.back.Signal()
	p.mu.Unlock()
}
