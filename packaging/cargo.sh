#!/usr/bin/env bash
# Runs cargo so that no path of this machine gets into what it builds: one compiler gives the same bytes in every folder.
#
#     packaging/cargo.sh build --release --features capi
#
# CARGO and RUSTC name another compiler, SOURCE another folder with the crate; RUSTFLAGS are added.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
std=$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/src/rust

# shellcheck disable=SC2206 # RUSTFLAGS are words
flags=(
    "--remap-path-prefix=${SOURCE:-$root}=kandev-policy"
    "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    # A standard library that is built along, by its own name and by the one that a symbolic link leads to.
    "--remap-path-prefix=$(realpath -m "$std" 2>/dev/null || echo "$std")=std"
    "--remap-path-prefix=$std=std"
    ${RUSTFLAGS-}
)
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${flags[@]}")
export CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\x1f'}
exec "${CARGO:-cargo}" "$@"
