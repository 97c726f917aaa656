package wasm

import "fmt"

// A Policy is a config to be compiled in each instance that decides under it.
type Policy struct{ config []byte }

// NewPolicy compiles a config in this instance. On another status than OK there is no policy, and for a bad config problem
// says why; it is no copy, and cut at maxProblem bytes.
func (i *Instance) NewPolicy(config []byte, maxProblem int) (policy *Policy, status uint32, problem []byte, err error) {
	policy = &Policy{append([]byte(nil), config...)}
	status, problem, err = i.compile(policy, maxProblem)
	if err != nil || status != 0 {
		return nil, status, problem, err
	}
	return policy, 0, nil, nil
}

// Handle gives the policy's handle in this instance.
func (i *Instance) Handle(policy *Policy) (uint32, error) {
	if handle, ok := i.handles[policy]; ok {
		return handle, nil
	}
	status, _, err := i.compile(policy, 0)
	if err == nil && status != 0 {
		err = fmt.Errorf("wasm: status %d for a config that was good", status)
	}
	return i.handles[policy], err
}

func (i *Instance) compile(policy *Policy, maxProblem int) (status uint32, problem []byte, err error) {
	w, err := i.Writer(len(policy.config) + maxProblem + 32)
	if err != nil {
		return 0, nil, err
	}
	config, size := w.Put(policy.config)
	handle, problemSize := w.Leave(4), w.Leave(4)
	text := w.Leave(maxProblem)
	status, err = i.Call(New, config, size, handle, text, uint32(maxProblem), problemSize)
	if err != nil {
		return 0, nil, err
	}
	if status == 0 {
		i.handles[policy] = i.Uint32(handle)
	}
	return status, i.Bytes(text, min(i.Uint32(problemSize), uint32(maxProblem))), nil
}

func (i *Instance) free(policy *Policy) {
	if handle, ok := i.handles[policy]; ok {
		delete(i.handles, policy)
		// A trap here is noticed by the next call.
		_, _ = i.Call(Free, handle)
	}
}

// Forget frees a policy in every instance, once nothing uses it any more.
func (p *Pool) Forget(policy *Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.all {
		if i.busy {
			i.gone = append(i.gone, policy)
		} else {
			i.free(policy)
		}
	}
}
