//go:build cgo && (linux || darwin) && (amd64 || arm64) && !kandev_policy_wasm && !kandev_policy_none

package policy

import "testing"

// TestFailedRevocation: what can't be revoked ends with all the others.
func TestFailedRevocation(t *testing.T) {
	r, _ := testRegistry(t, RegistryConfig{})
	m := testMint(t, r, "kcap-review")
	working := r.handle.Load()
	r.handle.Store(&registryHandle{}) // a call on which fails
	r.Revoke(m.Token.Expose())
	if r.handle.Load() != nil {
		t.Error("the registry is still open")
	}
	r.handle.Store(working)
	r.Revoke(m.Token.Expose())
	if r.handle.Load() != working {
		t.Error("a revocation has closed the registry")
	}
}
