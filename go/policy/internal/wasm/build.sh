#!/usr/bin/env bash
# Builds kandev_policy.wasm, the engine of Go programs without cgo, from the sources of the library.
#
#   build.sh           builds it and puts it here, with its fingerprint beside it
#   build.sh --check   builds it elsewhere, twice and from two places, and compares with what is here: all the same bytes?
#   build.sh --sources needs no compiler: is the file the one of the fingerprint, and were the sources then these?
#
# The same toolchain gives the same bytes on every machine. Where it isn't, the exit code is 77 and the last line says
# what is missing. On Debian 12 it is:
#
#   apt-get install --no-install-recommends rustc-web cargo-web rust-web-src lld
#
# RUSTC and CARGO name another compiler; it needs the source of its standard library.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
target=wasm32-unknown-unknown
work=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")/wasm
export RUSTC=${RUSTC:-/usr/bin/rustc} CARGO=${CARGO:-/usr/bin/cargo}
linker=wasm-ld

skip() {
    echo "$1"
    exit 77
}

# The sources by their content. After a change that leaves the file as it was, build again all the same.
sources() {
    (cd "$root" && find src Cargo.toml Cargo.lock -type f | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1)
}

if [ "${1-}" = --sources ]; then
    file=$(sha256sum <"$here/kandev_policy.wasm" | cut -d ' ' -f 1)
    if ! diff <(printf 'sha256 %s\nsources %s\n' "$file" "$(sources)") <(grep -E '^(sha256|sources) ' "$here/fingerprint"); then
        echo "kandev_policy.wasm is not built from these sources (above): run go/policy/internal/wasm/build.sh"
        exit 1
    fi
    echo "kandev_policy.wasm is built from these sources"
    exit
fi

[ -x "$RUSTC" ] && [ -x "$CARGO" ] || skip "no $RUSTC or no $CARGO to build WebAssembly with"
command -v $linker >/dev/null || skip "no $linker to link WebAssembly with"
std=$("$RUSTC" --print sysroot)/lib/rustlib/src/rust
[ -d "$std/library/std" ] || skip "no source of Rust's standard library in $std"

# The standard library is built along, without what only a panic's message needs: a panic is a trap, and nobody would
# read its message. That is an unstable feature of the compiler.
export RUSTC_BOOTSTRAP=1

# build SOURCE TARGET: from the library in SOURCE, with TARGET for what is built.
build() {
    local source=$1 dir=$2 flags
    flags=(
        -Zunstable-options -Cpanic=immediate-abort
        -Ctarget-feature=+simd128,+bulk-memory
        # No path of this machine is in the file, nor does one influence it.
        "--remap-path-prefix=$source=kandev-policy"
        "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
        "--remap-path-prefix=$(realpath "$std")=std"
        "--remap-path-prefix=$std=std"
    )
    (
        cd "$source"
        export CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker
        CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f' "${flags[@]}")
        CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS%$'\x1f'}
        "$CARGO" rustc --quiet --locked --lib --crate-type cdylib --profile wasm --features capi --target $target \
            -Z build-std=std,panic_abort -Z build-std-features=optimize_for_size --target-dir "$dir"
    )
    built=$dir/$target/wasm/kandev_policy.wasm
}

fingerprint() {
    printf 'sha256 %s\n' "$(sha256sum <"$1" | cut -d ' ' -f 1)"
    printf 'sources %s\n' "$(sources)"
    printf 'rustc  %s\n' "$("$RUSTC" --version)"
    printf 'linker %s\n' "$($linker --version | head -n 1)"
}

case ${1-} in
"")
    build "$root" "$work"
    cp "$built" "$here/kandev_policy.wasm"
    chmod 644 "$here/kandev_policy.wasm"
    fingerprint "$built" >"$here/fingerprint"
    cat "$here/fingerprint"
    stat -c 'bytes  %s' "$here/kandev_policy.wasm"
    ;;
--check)
    committed=$here/kandev_policy.wasm
    if ! diff <(fingerprint "$committed" | tail -n 2) <(tail -n 2 "$here/fingerprint"); then
        skip "the toolchain is not the one that the file was built with (above: this one <, that one >)"
    fi
    if ! diff <(fingerprint "$committed") "$here/fingerprint"; then
        echo "kandev_policy.wasm is not the file that its fingerprint is of"
        exit 1
    fi
    build "$root" "$work"
    if ! cmp "$built" "$committed"; then
        echo "kandev_policy.wasm is not what the sources give: run go/policy/internal/wasm/build.sh"
        exit 1
    fi
    # From another place, with another name: no path may matter.
    elsewhere=$(mktemp -d)
    trap 'rm -rf "$elsewhere"' EXIT
    mkdir "$elsewhere/a copy"
    cp -R "$root"/{Cargo.toml,Cargo.lock,build.rs,cbindgen.toml,src,include} "$elsewhere/a copy"
    build "$elsewhere/a copy" "$elsewhere/target"
    if ! cmp "$built" "$committed"; then
        echo "kandev_policy.wasm depends on where it is built"
        exit 1
    fi
    echo "kandev_policy.wasm is what the sources give"
    ;;
*)
    sed -n '2,/^set/{/^#/p}' "$0"
    exit 2
    ;;
esac
