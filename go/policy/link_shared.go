//go:build cgo && (linux || darwin) && (amd64 || arm64) && !kandev_policy_static && !kandev_policy_wasm && !kandev_policy_none

package policy

// The shared library. The loader looks for it beside the program, in ../lib beside that, and in the folder that it was
// linked from; on darwin, where a cgo flag can't name a place relative to the program, in the last one only.

/*
#cgo linux LDFLAGS: -l:libkandev_policy.so.1 -Wl,-rpath,$ORIGIN -Wl,-rpath,$ORIGIN/../lib
#cgo linux,amd64 LDFLAGS: -L${SRCDIR}/lib/linux_amd64 -Wl,-rpath,${SRCDIR}/lib/linux_amd64
#cgo linux,arm64 LDFLAGS: -L${SRCDIR}/lib/linux_arm64 -Wl,-rpath,${SRCDIR}/lib/linux_arm64
#cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libkandev_policy.1.dylib -Wl,-rpath,${SRCDIR}/lib/darwin_amd64
#cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libkandev_policy.1.dylib -Wl,-rpath,${SRCDIR}/lib/darwin_arm64
*/
import "C"
