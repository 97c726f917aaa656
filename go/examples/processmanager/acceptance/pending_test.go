package acceptance

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kandev/kandev-policy/go/examples/processmanager/process"
)

func TestPendingIsResolvedExactlyOnce(t *testing.T) {
	bash := one(t, "0.101.0-v1", "5_bash_rm")
	x := open(t, bash, setup{})
	x.start(bash)
	id := x.wait("permission_request", 1).PendingID
	if err := x.host.RespondToPermission(id, "made-up"); !errors.Is(err, process.ErrUnknownOption) {
		t.Fatalf("an option that was not offered: %v", err)
	}
	if err := x.host.RespondToPermission("made-up", reject); !errors.Is(err, process.ErrNotPending) {
		t.Fatalf("an id that was not given out: %v", err)
	}
	var done sync.WaitGroup
	var won atomic.Int32
	for range 16 {
		done.Go(func() {
			switch err := x.host.RespondToPermission(id, reject); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, process.ErrNotPending):
				t.Error(err)
			}
		})
	}
	done.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 16 resolved it, want 1", won.Load())
	}
	if got := x.finish()[0]; got.OptionID != reject {
		t.Fatalf("the agent got %+v", got)
	}
	if ids := x.host.Pending(); len(ids) != 0 {
		t.Fatalf("still pending: %q", ids)
	}
}

// The agent takes its request back ($/cancel_request ends the request's context).
func TestPendingEndsWithItsContext(t *testing.T) {
	bash := one(t, "0.101.0-v1", "5_bash_rm")
	x := open(t, bash, setup{})
	x.start(bash)
	event := x.wait("permission_request", 1)
	x.agent.mu.Lock()
	cancel := x.agent.cancel[event.ToolCallID]
	x.agent.mu.Unlock()
	cancel()
	if gone := x.await("permission_cancelled", 1, nil); gone.PendingID != event.PendingID {
		t.Fatalf("%q is gone, want %q", gone.PendingID, event.PendingID)
	}
	if err := x.host.RespondToPermission(event.PendingID, reject); !errors.Is(err, process.ErrNotPending) {
		t.Fatalf("answering after that: %v", err)
	}
	x.finish()
}

// session/cancel answers what is pending with ACP's cancellation.
func TestPendingEndsWithItsTurn(t *testing.T) {
	bash := one(t, "0.101.0-v2", "5_bash_rm")
	x := open(t, bash, setup{})
	x.start(bash)
	x.wait("permission_request", 1)
	if err := x.host.CancelTurn(x.ctx, x.agent.sessionID); err != nil {
		t.Fatal(err)
	}
	sameJSON(t, x.finish()[0].Response, `{"outcome":{"outcome":"cancelled"}}`)
}

func TestPendingIsReplacedWhenItsIDComesAgain(t *testing.T) {
	bash := one(t, "0.101.0-v1", "5_bash_rm")
	x := open(t, bash, setup{})
	type reply struct {
		option string
		err    error
	}
	ask := func() <-chan reply {
		out := make(chan reply, 1)
		go func() {
			option, _, err := x.agent.ask(x.ctx, bash.Frame)
			out <- reply{option, err}
		}()
		return out
	}
	first := ask()
	id := x.wait("permission_request", 1).PendingID
	second := ask()
	if again := x.wait("permission_request", 2).PendingID; again != id {
		t.Fatalf("the same call got the ids %q and %q", id, again)
	}
	if got := <-first; got.option != "" || got.err != nil {
		t.Fatalf("the replaced request got %+v, want a cancellation", got)
	}
	if ids := x.host.Pending(); len(ids) != 1 {
		t.Fatalf("pending: %q", ids)
	}
	if err := x.host.RespondToPermission(id, allowOnce); err != nil {
		t.Fatal(err)
	}
	if got := <-second; got.option != allowOnce || got.err != nil {
		t.Fatalf("the second request got %+v", got)
	}
}

// Requests that name no tool call still get ids of their own.
func TestPendingWithoutAToolCallID(t *testing.T) {
	bash := one(t, "0.101.0-v1", "5_bash_rm")
	anonymous := bash.with("anonymous", strings.Replace(bash.Frame, `"toolCallId":`, `"unknown":`, 1))
	x := open(t, bash, setup{})
	for range 2 {
		go func() { _, _, _ = x.agent.ask(x.ctx, anonymous.Frame) }()
	}
	a, b := x.wait("permission_request", 1), x.wait("permission_request", 2)
	if a.PendingID == "" || a.PendingID == b.PendingID {
		t.Fatalf("ids %q and %q", a.PendingID, b.PendingID)
	}
}
