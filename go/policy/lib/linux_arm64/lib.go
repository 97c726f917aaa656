// Package linux_arm64 holds the library for linux/arm64: libkandev_policy.so.1 and libkandev_policy.a. It is a package so that
// "go mod vendor" takes them along.
package linux_arm64
