// Package darwin_arm64 holds the library for darwin/arm64: libkandev_policy.1.dylib and libkandev_policy.a. It is a package so that
// "go mod vendor" takes them along.
package darwin_arm64
