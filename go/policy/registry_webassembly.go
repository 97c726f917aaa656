//go:build (!cgo || !(linux || darwin) || !(amd64 || arm64) || kandev_policy_wasm) && !kandev_policy_none

package policy

import (
	"crypto/rand"
	"runtime"
	"sync"

	"github.com/kandev/kandev-policy/go/policy/internal/wasm"
)

// registryHandle owns an instance with one registry in it: unlike policies, which are compiled in any of them, tokens are
// in one place. Its calls come one after the other, so none ends before a revocation that it has overtaken. Once the
// instance has trapped it knows no token any more, and mints none.
type registryHandle struct {
	*registryInstance
}

type registryInstance struct {
	mu       sync.Mutex
	instance *wasm.Instance
	registry uint32
}

const entropyBytes = 32

func newRegistry(config, out []byte) (*registryHandle, int, status) {
	i, err := instances().Module().Instance()
	if err != nil {
		return nil, 0, statusInternalError
	}
	r := &registryInstance{instance: i}
	n, s := r.call(out, len(config)+entropyBytes+8, func(w *wasm.Writer, buffer, capacity, size uint32) (uint32, error) {
		text, length := w.Put(config)
		entropy := putEntropy(w)
		handle := w.Leave(4)
		s, err := i.Call(wasm.RegistryNew, text, length, entropy, handle, buffer, capacity, size)
		r.registry = i.Uint32(handle)
		return s, err
	})
	if s != statusOK {
		i.Close()
		return nil, n, s
	}
	liveHandles.Add(1)
	h := &registryHandle{r}
	runtime.AddCleanup(h, func(i *wasm.Instance) {
		i.Close()
		liveHandles.Add(-1)
	}, i)
	return h, n, statusOK
}

// putEntropy puts random bytes; crypto/rand ends the program if there are none.
func putEntropy(w *wasm.Writer) uint32 {
	var entropy [entropyBytes]byte
	rand.Read(entropy[:])
	address, _ := w.Put(entropy[:])
	return address
}

// call gives f room for extra bytes of arguments, and for what goes to out. What has been there is wiped: tokens are
// among it.
func (r *registryInstance) call(out []byte, extra int, f func(w *wasm.Writer, buffer, capacity, size uint32) (uint32, error)) (int, status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, err := r.instance.Writer(len(out) + extra + 64)
	if err != nil {
		return 0, statusInternalError
	}
	defer r.instance.Wipe()
	size := w.Leave(8)
	buffer := w.Leave(len(out))
	s, err := f(&w, buffer, uint32(len(out)), size)
	if err != nil {
		return 0, statusInternalError
	}
	n := r.instance.Uint32(size)
	copy(out, r.instance.Bytes(buffer, min(n, uint32(len(out)))))
	return int(n), status(s)
}

func (h *registryHandle) mint(vendor, allowlist, out []byte) (int, status) {
	defer runtime.KeepAlive(h)
	return h.call(out, len(vendor)+len(allowlist)+entropyBytes, func(w *wasm.Writer, buffer, capacity, size uint32) (uint32, error) {
		v, vendorLen := w.Put(vendor)
		a, allowlistLen := w.Put(allowlist)
		return h.instance.Call(wasm.RegistryMint, h.registry, v, vendorLen, a, allowlistLen, putEntropy(w), buffer, capacity, size)
	})
}

func (h *registryHandle) revoke(token []byte) status {
	defer runtime.KeepAlive(h)
	_, s := h.call(nil, len(token), func(w *wasm.Writer, _, _, _ uint32) (uint32, error) {
		t, tokenLen := w.Put(token)
		return h.instance.Call(wasm.RegistryRevoke, h.registry, t, tokenLen)
	})
	return s
}

func (h *registryHandle) find(token, vendor []byte) (reviewer uint64, s status) {
	defer runtime.KeepAlive(h)
	_, s = h.call(nil, len(token)+len(vendor), func(w *wasm.Writer, _, _, number uint32) (uint32, error) {
		t, tokenLen := w.Put(token)
		v, vendorLen := w.Put(vendor)
		s, err := h.instance.Call(wasm.RegistryFind, h.registry, t, tokenLen, v, vendorLen, number)
		reviewer = h.instance.Uint64(number)
		return s, err
	})
	return reviewer, s
}

func (h *registryHandle) decide(token, vendor, body, out []byte) (reviewer uint64, n int, s status) {
	defer runtime.KeepAlive(h)
	n, s = h.call(out, len(token)+len(vendor)+len(body)+8, func(w *wasm.Writer, buffer, capacity, size uint32) (uint32, error) {
		t, tokenLen := w.Put(token)
		v, vendorLen := w.Put(vendor)
		b, bodyLen := w.Put(body)
		number := w.Leave(8)
		s, err := h.instance.Call(wasm.RegistryDecide, h.registry, t, tokenLen, v, vendorLen, b, bodyLen, number, buffer, capacity, size)
		reviewer = h.instance.Uint64(number)
		return s, err
	})
	return reviewer, n, s
}

func unclassifiedTools(catalog, server, toolsList, out []byte) (int, status) {
	pool := instances()
	i, err := pool.Get()
	if err != nil {
		return 0, statusInternalError
	}
	defer pool.Put(i)
	r := &registryInstance{instance: i} // for its call; there is no registry
	return r.call(out, len(catalog)+len(server)+len(toolsList), func(w *wasm.Writer, buffer, capacity, size uint32) (uint32, error) {
		c, catalogLen := w.Put(catalog)
		s, serverLen := w.Put(server)
		l, listLen := w.Put(toolsList)
		return i.Call(wasm.UnclassifiedTools, c, catalogLen, s, serverLen, l, listLen, buffer, capacity, size)
	})
}
