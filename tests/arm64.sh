#!/usr/bin/env bash
# The Go suite on linux/arm64, under emulation: cgo shared, cgo static and WebAssembly. Not part of the whole suite, since it
# takes long. `tests/arm64.sh WAY…` runs only the ways named.
#
# Besides what go/policy/internal/wasm/build.sh needs, on Debian 12:
#
#   apt-get install --no-install-recommends qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64" && exit 77; }
[ "$#" -gt 0 ] || set -- wasm shared static
export GOARCH=arm64 QEMU_LD_PREFIX=/usr/aarch64-linux-gnu

if [[ " $* " == *" shared "* || " $* " == *" static "* ]]; then
    command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no aarch64-linux-gnu-gcc" && exit 77; }
    export CC=aarch64-linux-gnu-gcc
    "$root/go/policy/lib/build.sh" arm64
fi
cd "$root/go"
for way; do
    case $way in
    wasm) cgo=0 tags= ;;
    shared) cgo=1 tags= ;;
    static) cgo=1 tags=kandev_policy_static ;;
    *) echo "no way $way" && exit 2 ;;
    esac
    printf '== linux/arm64 %s\n' "$way"
    CGO_ENABLED=$cgo go test -short -count=1 -exec qemu-aarch64 -tags "$tags" ./policy/...
done
