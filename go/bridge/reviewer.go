package bridge

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kandev/kandev-policy/go/policy"
)

// ErrRevoked is returned for a launch of a reviewer whose token is revoked.
var ErrRevoked = errors.New("bridge: the reviewer is revoked")

// sendingPatience is how long a revocation waits for answers that are being sent before it cuts them short. Without a
// client that doesn't read, sending one takes microseconds.
const sendingPatience = 100 * time.Millisecond

// Reviewer is one launch of an unattended reviewer. It prints without its token.
type Reviewer struct {
	bridge  *Bridge
	token   policy.Token
	number  uint64
	vendor  string
	servers []string

	mu      sync.Mutex
	revoked bool
	sending map[*http.ResponseController]struct{} // the answers that are being sent
	idle    chan struct{}                         // made by Revoke, and closed once nothing is being sent any more
}

// RegisterReviewer makes a token for one launch of an unattended reviewer. It is good for agents of the vendor ("codex" or
// "claude", if the bridge enables it), and grants the servers on the allowlist, each an auto-approvable one of the catalog
// in any ASCII case; duplicates collapse, the result channel's name grants nothing more, and an empty allowlist grants no
// server.
//
// The error wraps [policy.ErrRefused] and names the vendor or the entry, or is [ErrClosed]. Then the launch must fail: what
// is launched with BaseURL instead waits for a person who isn't there.
//
// Revoke the reviewer when its process has exited, on every path: [Reviewer.Run] and [Bridge.WithReviewer] do.
func (b *Bridge) RegisterReviewer(vendor string, allowlist []string) (*Reviewer, error) {
	// Not under the lock: a bridge that is closed meanwhile revokes it below.
	minted, err := b.registry.Mint(vendor, allowlist)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		if err == nil {
			b.registry.Revoke(minted.Token.Expose())
		}
		return nil, ErrClosed
	}
	if err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	r := &Reviewer{bridge: b, token: minted.Token, number: minted.Reviewer, vendor: vendor, servers: minted.Servers,
		sending: map[*http.ResponseController]struct{}{}}
	b.reviewers[r.number] = r
	return r, nil
}

// WithReviewer registers a reviewer for as long as launch runs, and revokes it when launch has returned or panicked.
func (b *Bridge) WithReviewer(vendor string, allowlist []string, launch func(*Reviewer) error) error {
	r, err := b.RegisterReviewer(vendor, allowlist)
	if err != nil {
		return err
	}
	defer r.Revoke()
	return launch(r)
}

// URL is where the reviewer asks: the value of [EnvURL] in its process's environment. It holds the reviewer's token.
func (r *Reviewer) URL() string { return r.bridge.url(r.token) }

// Servers are the ids of the servers that the reviewer is bound to, as the catalog spells them.
func (r *Reviewer) Servers() []string { return slices.Clone(r.servers) }

// Number is the reviewer's number on this bridge, counted from 1: what a log may say.
func (r *Reviewer) Number() uint64 { return r.number }

// Vendor is the vendor that the reviewer is bound to.
func (r *Reviewer) Vendor() string { return r.vendor }

// Revoke ends the reviewer's token. Once it has returned, no answer that allows is begun, nor is the rest of one sent, and
// each request on the token is answered as one on an unknown token. It is idempotent.
//
// It waits for an answer that is being sent. A client that doesn't read holds it up for a tenth of a second at most: then
// its answer is cut short.
func (r *Reviewer) Revoke() {
	r.mu.Lock()
	r.revoked = true
	if r.idle == nil {
		r.idle = make(chan struct{})
		r.closeIfIdle()
	}
	r.mu.Unlock()
	r.bridge.registry.Revoke(r.token.Expose())
	r.bridge.mu.Lock()
	delete(r.bridge.reviewers, r.number)
	r.bridge.mu.Unlock()

	patience := time.AfterFunc(sendingPatience, r.cutShort)
	<-r.idle
	patience.Stop()
}

// closeIfIdle lets Revoke return unless an answer is being sent. mu is held.
func (r *Reviewer) closeIfIdle() {
	if len(r.sending) == 0 {
		close(r.idle)
	}
}

// cutShort lets each answer that is being sent fail.
func (r *Reviewer) cutShort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for control := range r.sending {
		_ = control.SetWriteDeadline(time.Unix(1, 0))
	}
}

// Revoked reports whether the token is revoked.
func (r *Reviewer) Revoked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revoked
}

// whileLive sends an answer unless the reviewer is revoked, which it reports. send must wait for nothing but the
// connection of control, and not set its deadline for writing, which a revocation does to end the wait.
func (r *Reviewer) whileLive(control *http.ResponseController, send func()) bool {
	r.mu.Lock()
	if r.revoked {
		r.mu.Unlock()
		return false
	}
	r.sending[control] = struct{}{}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sending, control)
		if r.idle != nil {
			r.closeIfIdle()
		}
	}()
	send()
	return true
}

// Run runs the reviewer's process to its end, with the URL in its environment, and then revokes the reviewer, on every
// path: also when the process can't be started, fails, is killed, or Run panics. The error is that of [exec.Cmd.Run], or
// [ErrRevoked] for a reviewer that has been run or revoked already.
//
// The URL is in the environment of that process alone: not among its arguments, not in this process's environment, not in
// a file, and no longer in cmd when Run has returned. To end the process with a context, make cmd with
// [exec.CommandContext]. As [exec.Cmd.Wait] says, Run waits for the process's output, which a process that it leaves
// behind can hold open: set WaitDelay to bound that.
func (r *Reviewer) Run(cmd *exec.Cmd) error {
	defer r.Revoke()
	if r.Revoked() {
		return ErrRevoked
	}
	env := cmd.Env
	defer func() { cmd.Env = env }()
	cmd.Env = append(ScrubEnv(cmd.Environ()), EnvURL+"="+r.URL())
	return cmd.Run()
}

// String names the reviewer by its number.
func (r *Reviewer) String() string {
	if r == nil {
		return "reviewer"
	}
	return "reviewer " + strconv.FormatUint(r.number, 10)
}

// Format writes what String gives, for every verb.
func (r *Reviewer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue gives what String gives.
func (r *Reviewer) LogValue() slog.Value { return slog.StringValue(r.String()) }
