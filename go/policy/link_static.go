//go:build cgo && (linux || darwin) && (amd64 || arm64) && kandev_policy_static && !kandev_policy_wasm && !kandev_policy_none

package policy

// The static archive: the program needs no library of ours any more. What the archive itself needs of the system is what
// `rustc --print native-static-libs` says; a test compares.

/*
#cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/libkandev_policy.a
#cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/libkandev_policy.a
#cgo linux LDFLAGS: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
#cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libkandev_policy.a
#cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libkandev_policy.a
#cgo darwin LDFLAGS: -liconv -lSystem -lc -lm
*/
import "C"
