#!/usr/bin/env bash
# Builds the library and puts it where this Go package links it: lib/<goos>_<goarch>/, as a shared library and as a static
# archive.
#
# In the archive every symbol but kandev_policy_* is local, the Rust standard library's among them: another Rust archive
# links beside it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
built=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}" 2>/dev/null || echo "${CARGO_TARGET_DIR:-$root/target}")/release

cargo build --quiet --manifest-path "$root/Cargo.toml" --release --features capi

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
case $os in
linux)
    # What is reached from the header's functions goes into one object, whose other symbols then become local. Not the
    # compiler's bitcode: a linker with a plugin for another LLVM would try to read it.
    objcopy --remove-section=.llvmbc --remove-section=.llvmcmd --strip-debug "$built/libkandev_policy.a" "$work/native.a"
    roots=$(grep -oE '^[a-z].*\bkandev_policy_[a-z0-9_]+\(' "$root/include/kandev_policy.h" |
        sed -E 's/.*\b(kandev_policy_[a-z0-9_]+)\($/--undefined=\1/')
    # shellcheck disable=SC2086
    ld -r --gc-sections --force-group-allocation $roots -o "$work/all.o" "$work/native.a"
    objcopy --wildcard --keep-global-symbol='kandev_policy_*' --strip-unneeded "$work/all.o" "$work/kandev_policy.o"
    ar rcsD "$work/libkandev_policy.a" "$work/kandev_policy.o"
    ;;
darwin)
    mkdir "$work/objects"
    (cd "$work/objects" && ar x "$built/libkandev_policy.a")
    ld -r -exported_symbol '_kandev_policy_*' -o "$work/kandev_policy.o" "$work"/objects/*.o
    libtool -static -o "$work/libkandev_policy.a" "$work/kandev_policy.o"
    ;;
esac
place "$work/libkandev_policy.a" libkandev_policy.a
cmp -s "$root/include/kandev_policy.h" "$here/../kandev_policy.h" || cp "$root/include/kandev_policy.h" "$here/../kandev_policy.h"
