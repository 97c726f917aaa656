// Package darwin_amd64 holds the library for darwin/amd64: libkandev_policy.1.dylib and libkandev_policy.a. It is a package so that
// "go mod vendor" takes them along.
package darwin_amd64
