//go:build kandev_policy_vendor

package policy

// Nothing is ever built with this tag. "go mod vendor" follows the imports of every file, whatever its tags, and so takes
// the folders along that hold the libraries.

import (
	_ "github.com/kandev/kandev-policy/go/policy/lib/darwin_amd64"
	_ "github.com/kandev/kandev-policy/go/policy/lib/darwin_arm64"
	_ "github.com/kandev/kandev-policy/go/policy/lib/linux_amd64"
	_ "github.com/kandev/kandev-policy/go/policy/lib/linux_arm64"
)
