module github.com/kandev/kandev-policy/go/bench

go 1.25.0

require github.com/kandev/kandev-policy/go v0.0.0

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

replace github.com/kandev/kandev-policy/go => ../
