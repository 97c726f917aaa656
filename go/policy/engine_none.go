//go:build kandev_policy_none

package policy

// No engine: nothing is linked, and nothing is decided.

const engineName = "none"

type handle struct{}

func engineABIVersion() uint32 { return 0 }

func engineVersion() string { return "" }

func compile([]byte) (*handle, status, string) { return nil, statusInternalError, "" }

func (*handle) evaluateRequest([]byte, *verdict) status { return statusInternalError }

func (*handle) evaluateFrame(_, _ []byte, _ *verdict) (int, status) { return 0, statusInternalError }

func oneShot(_, _ []byte, _ bool) []byte { return nil }
