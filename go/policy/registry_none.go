//go:build kandev_policy_none

package policy

// No engine: nothing is minted and nothing is known.

type registryHandle struct{}

func newRegistry(_, _ []byte) (*registryHandle, int, status) { return nil, 0, statusInternalError }

func (*registryHandle) mint(_, _, _ []byte) (int, status) { return 0, statusInternalError }

func (*registryHandle) revoke([]byte) status { return statusInternalError }

func (*registryHandle) find(_, _ []byte) (uint64, status) { return 0, statusInternalError }

func (*registryHandle) decide(_, _, _, _ []byte) (uint64, int, status) {
	return 0, 0, statusInternalError
}

func unclassifiedTools(_, _, _, _ []byte) (int, status) { return 0, statusInternalError }
