package process

import (
	"errors"
	"slices"
	"sync"

	"github.com/kandev/kandev-policy/go/examples/processmanager/acpclient"
)

// What resolving a pending request can fail with.
var (
	ErrNotPending    = errors.New("no such pending permission")
	ErrUnknownOption = errors.New("the agent doesn't offer this option")
)

// pendingPermissions are the requests that wait for a person. Whoever takes an entry out of the map, under the lock, is
// the one that answers it; so each is answered exactly once.
type pendingPermissions struct {
	mu   sync.Mutex
	byID map[string]*pendingPermission
}

type pendingPermission struct {
	req    *acpclient.PermissionRequest
	answer chan acpclient.PermissionResponse // holds one, so that nobody waits to answer
}

// add registers a request. One that has the same id is replaced: it is cancelled, and the id belongs to the new one.
func (p *pendingPermissions) add(req *acpclient.PermissionRequest) *pendingPermission {
	entry := &pendingPermission{req: req, answer: make(chan acpclient.PermissionResponse, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.byID[req.PendingID]; old != nil {
		old.answer <- acpclient.PermissionResponse{Cancelled: true}
	}
	if p.byID == nil {
		p.byID = map[string]*pendingPermission{}
	}
	p.byID[req.PendingID] = entry
	return entry
}

// drop takes an entry out, if it is still there: not if it was answered or replaced.
func (p *pendingPermissions) drop(entry *pendingPermission) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[entry.req.PendingID] != entry {
		return false
	}
	delete(p.byID, entry.req.PendingID)
	return true
}

// resolve answers a request, once. An option that was not offered leaves it pending.
func (p *pendingPermissions) resolve(id string, resp acpclient.PermissionResponse) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry := p.byID[id]
	if entry == nil {
		return ErrNotPending
	}
	offered := func(o acpclient.PermissionOption) bool { return o.OptionID == resp.OptionID }
	if !resp.Cancelled && !slices.ContainsFunc(entry.req.Options, offered) {
		return ErrUnknownOption
	}
	delete(p.byID, id)
	entry.answer <- resp
	return nil
}

// cancelAll answers everything that is pending with a cancellation.
func (p *pendingPermissions) cancelAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, entry := range p.byID {
		delete(p.byID, id)
		entry.answer <- acpclient.PermissionResponse{Cancelled: true}
	}
}

func (p *pendingPermissions) ids() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := []string{}
	for id := range p.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
