#!/usr/bin/env bash
# The Go package on linux/arm64 without cgo, under emulation. Not part of the whole suite, since it takes long. On Debian:
#
#   apt-get install --no-install-recommends qemu-user
set -euo pipefail
cd "$(dirname "$0")/../go"
command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64" && exit 77; }
CGO_ENABLED=0 GOARCH=arm64 go test -short -count=1 -exec qemu-aarch64 ./policy/...
