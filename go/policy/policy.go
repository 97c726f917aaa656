package policy

import (
	"fmt"
	"sync/atomic"
)

// Policy is a compiled [Config]. It is safe for concurrent use. A nil Policy and a closed one answer every request with
// [ReasonEngineUnavailable].
type Policy struct {
	// handle is nil without an engine and after Close. Whoever has loaded it keeps it alive, and with it the native
	// memory, without any count that the processors would have to share.
	handle atomic.Pointer[handle]
	// unattended: nobody is there to ask, so what can't be decided is denied.
	unattended bool
}

// New compiles a config, once for many decisions. The error says which key of the config can't be used, and wraps
// [ErrBadConfig]; it never holds a value of the config. Without an engine New succeeds (see [Engine]), so that a session
// starts as it would have.
//
// The Policy keeps nothing of cfg, and later changes to it have no effect.
func New(cfg Config) (*Policy, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return compilePolicy(cfg.appendJSON(nil), false)
}

// NewJSON compiles a config given as JSON. It is New for tools and hosts that keep their config in a file of their own, and
// fails and succeeds as New does. The config may be an unattended reviewer's: then hook payloads go to [Policy.DecideFrame],
// and [Policy.Decide], which is for frames, denies.
//
// The config is host-authored: like that of [DecideJSON] it may hold "injected_kandev_mcp", which turns provenance on.
// Never pass on what a user can write, and never what a document of a user's was merged into: use [New], whose marker
// only code can set.
func NewJSON(config []byte) (*Policy, error) { return compilePolicy(config, isUnattended(config)) }

// compilePolicy compiles a config from its JSON. unattended says whether that is a reviewer's.
func compilePolicy(config []byte, unattended bool) (*Policy, error) {
	p := &Policy{unattended: unattended}
	if !engineUsable() {
		return p, nil
	}
	h, s, problem := compile(config)
	switch s {
	case statusOK:
		p.handle.Store(h)
		return p, nil
	case statusBadConfig:
		return nil, fmt.Errorf("%w: %s", ErrBadConfig, problem)
	default:
		return nil, fmt.Errorf("%w: status %d", ErrInternal, s)
	}
}

// Close gives the compiled config up. It is idempotent, may come while decisions are being made, and never waits:
// decisions that have begun end as if it had not been called, and those that begin after it has returned answer
// [ReasonEngineUnavailable]. The native memory, which is a few bytes, is freed by the garbage collector once no decision
// uses it any more; so is that of a Policy that is forgotten without Close. The error is always nil.
func (p *Policy) Close() error {
	if p != nil {
		p.handle.Store(nil)
	}
	return nil
}

// load gives the handle, or nil if there is none to decide with.
func (p *Policy) load() *handle {
	if p == nil {
		return nil
	}
	return p.handle.Load()
}

// refuse is the answer where the engine has given none.
func (p *Policy) refuse(reason Reason) Decision { return refusal(p != nil && p.unattended, reason) }
