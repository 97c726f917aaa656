#!/usr/bin/env bash
# Makes a static archive in which every symbol but kandev_policy_* is local, the Rust standard library's among them: another
# Rust archive links beside it.
#
#     packaging/localise.sh linux|darwin CARGO'S-ARCHIVE NEW-ARCHIVE [ZIG'S-TARGET]
#
# TOOLS is the prefix of the binutils for another processor (aarch64-linux-gnu-). Darwin's objects are joined by Apple's
# linker; elsewhere by what ZIG, LLVM_OBJCOPY and LLVM_AR name.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
os=$1 from=$2 to=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $os in
linux)
    # What is reached from the header's functions goes into one object, whose other symbols then become local. Not the
    # compiler's bitcode: a linker with a plugin for another LLVM would try to read it.
    "${TOOLS-}objcopy" --remove-section=.llvmbc --remove-section=.llvmcmd --strip-debug "$from" "$work/native.a"
    roots=$(grep -oE '^[a-z].*\bkandev_policy_[a-z0-9_]+\(' "$root/include/kandev_policy.h" |
        sed -E 's/.*\b(kandev_policy_[a-z0-9_]+)\($/--undefined=\1/')
    # shellcheck disable=SC2086
    "${TOOLS-}ld" -r --gc-sections --force-group-allocation $roots -o "$work/all.o" "$work/native.a"
    "${TOOLS-}objcopy" --wildcard --keep-global-symbol='kandev_policy_*' --strip-unneeded "$work/all.o" "$work/kandev_policy.o"
    "${TOOLS-}ar" rcsD "$work/new.a" "$work/kandev_policy.o"
    ;;
darwin)
    mkdir "$work/objects"
    cd "$work/objects"
    if [ -z "${ZIG-}" ]; then
        ar x "$from"
        ld -r -exported_symbol '_kandev_policy_*' -o "$work/kandev_policy.o" ./*.o
        libtool -static -o "$work/new.a" "$work/kandev_policy.o"
    else
        "$LLVM_OBJCOPY" --remove-section=__LLVM,__bitcode --remove-section=__LLVM,__cmdline --strip-debug "$from" "$work/native.a"
        "$LLVM_AR" x "$work/native.a"
        "$ZIG" build-obj -target "$4" -fstrip ./*.o -femit-bin="$work/all.o"
        "$LLVM_OBJCOPY" --wildcard --keep-global-symbol='_kandev_policy_*' "$work/all.o" "$work/kandev_policy.o"
        "$LLVM_AR" --format=darwin rcsD "$work/new.a" "$work/kandev_policy.o"
    fi
    ;;
esac
mv "$work/new.a" "$to"
