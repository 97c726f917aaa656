// Package linux_amd64 holds the library for linux/amd64: libkandev_policy.so.1 and libkandev_policy.a. It is a package so that
// "go mod vendor" takes them along.
package linux_amd64
