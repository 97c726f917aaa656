//go:build cgo && (linux || darwin) && (amd64 || arm64) && !kandev_policy_wasm && !kandev_policy_none

package policy

/*
#include "kandev_policy.h"

#cgo noescape kandev_policy_registry_new
#cgo nocallback kandev_policy_registry_new
#cgo noescape kandev_policy_registry_mint
#cgo nocallback kandev_policy_registry_mint
#cgo noescape kandev_policy_registry_revoke
#cgo nocallback kandev_policy_registry_revoke
#cgo noescape kandev_policy_registry_find
#cgo nocallback kandev_policy_registry_find
#cgo noescape kandev_policy_registry_decide
#cgo nocallback kandev_policy_registry_decide
#cgo noescape kandev_policy_unclassified_tools
#cgo nocallback kandev_policy_unclassified_tools
#cgo nocallback kandev_policy_registry_free
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// registryHandle owns a native registry, as a handle does a policy.
type registryHandle struct {
	native unsafe.Pointer
}

func newRegistry(config, out []byte) (*registryHandle, int, status) {
	var native *C.kandev_policy_registry
	var size C.size_t
	s := status(C.kandev_policy_registry_new(chars(config), C.size_t(len(config)), nil, &native,
		chars(out), C.size_t(len(out)), &size))
	if s != statusOK {
		return nil, int(size), s
	}
	liveHandles.Add(1)
	h := &registryHandle{unsafe.Pointer(native)}
	runtime.AddCleanup(h, freeRegistry, h.native)
	return h, int(size), statusOK
}

// freeRegistry runs once no call can be using the registry: each keeps its *registryHandle alive.
func freeRegistry(native unsafe.Pointer) {
	C.kandev_policy_registry_free((*C.kandev_policy_registry)(native))
	liveHandles.Add(-1)
}

func (h *registryHandle) registry() *C.kandev_policy_registry {
	return (*C.kandev_policy_registry)(h.native)
}

func (h *registryHandle) mint(vendor, allowlist, out []byte) (int, status) {
	var size C.size_t
	s := C.kandev_policy_registry_mint(h.registry(), chars(vendor), C.size_t(len(vendor)),
		chars(allowlist), C.size_t(len(allowlist)), nil, chars(out), C.size_t(len(out)), &size)
	runtime.KeepAlive(h)
	return int(size), status(s)
}

func (h *registryHandle) revoke(token []byte) status {
	s := C.kandev_policy_registry_revoke(h.registry(), chars(token), C.size_t(len(token)))
	runtime.KeepAlive(h)
	return status(s)
}

func (h *registryHandle) find(token, vendor []byte) (uint64, status) {
	var reviewer C.uint64_t
	s := C.kandev_policy_registry_find(h.registry(), chars(token), C.size_t(len(token)),
		chars(vendor), C.size_t(len(vendor)), &reviewer)
	runtime.KeepAlive(h)
	return uint64(reviewer), status(s)
}

func (h *registryHandle) decide(token, vendor, body, out []byte) (uint64, int, status) {
	var reviewer C.uint64_t
	var size C.size_t
	s := C.kandev_policy_registry_decide(h.registry(), chars(token), C.size_t(len(token)),
		chars(vendor), C.size_t(len(vendor)), chars(body), C.size_t(len(body)),
		&reviewer, chars(out), C.size_t(len(out)), &size)
	runtime.KeepAlive(h)
	return uint64(reviewer), int(size), status(s)
}

func unclassifiedTools(catalog, server, toolsList, out []byte) (int, status) {
	var size C.size_t
	s := C.kandev_policy_unclassified_tools(chars(catalog), C.size_t(len(catalog)), chars(server), C.size_t(len(server)),
		chars(toolsList), C.size_t(len(toolsList)), chars(out), C.size_t(len(out)), &size)
	return int(size), status(s)
}
