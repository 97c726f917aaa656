#!/usr/bin/env bash
# Builds the library and puts it where this Go package links it: lib/<goos>_<goarch>/, as a shared library and as a static
# archive.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
built=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}" 2>/dev/null || echo "${CARGO_TARGET_DIR:-$root/target}")/release

"$root/packaging/cargo.sh" build --quiet --locked --manifest-path "$root/Cargo.toml" --release --features capi

case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "no way to link on $(uname -m)" >&2 && exit 1 ;;
esac
case $(uname -s) in
Linux) os=linux from=libkandev_policy.so to=libkandev_policy.so.1 ;;
Darwin) os=darwin from=libkandev_policy.dylib to=libkandev_policy.1.dylib ;;
*) echo "no way to link on $(uname -s)" >&2 && exit 1 ;;
esac
out=$here/${os}_$arch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The copies are made beside their places and moved: a running program may have the old ones mapped.
place() {
    cp "$1" "$out/.$2.new"
    mv -f "$out/.$2.new" "$out/$2"
}

place "$built/$from" $to
ln -sf $to "$out/$from" # for other linkers; the Go package names the library itself
"$root/packaging/localise.sh" $os "$built/libkandev_policy.a" "$work/libkandev_policy.a"
place "$work/libkandev_policy.a" libkandev_policy.a
cmp -s "$root/include/kandev_policy.h" "$here/../kandev_policy.h" || cp "$root/include/kandev_policy.h" "$here/../kandev_policy.h"
