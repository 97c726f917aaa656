#!/usr/bin/env bash
# Checks of what is shipped: the shared library, the header and the packaged crate.
#
#     tests/artifact.sh              builds what it needs; one line per check: PASS, FAIL or SKIP
#
# CARGO_TARGET_DIR (target) is respected. With STRICT=1 a skipped check is a failed one.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
strict=${STRICT:-0}
most_kib=600
failed=0
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

report() { # PASS|FAIL|SKIP name text
    printf '%s %s %s\n' "$1" "$2" "$3"
    if [ "$1" = FAIL ] || { [ "$1" = SKIP ] && [ "$strict" = 1 ]; }; then
        failed=1
    fi
}

# A check is a function that prints what it found and succeeds, or prints what is wrong and fails.
check() { # name function
    local text status
    # Not within a condition, where a failing command would not end the function.
    set +e
    text=$(set -e; "$2" 2>&1)
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        report PASS "$1" "$(tail -n 1 <<<"$text")"
    else
        report FAIL "$1" "$text"
    fi
}

fail() {
    printf '%s\n' "$*"
    exit 1
}

packaging/cargo.sh build --quiet --release --features capi
so=$target/release/libkandev_policy.so
archive=$target/release/libkandev_policy.a

# ---- the shared library ----

declared() {
    sed -n '/^extern "C"/,$p' include/kandev_policy.h | sed '/^ *\/\//d' | grep -oE '\bkandev_policy_[a-z0-9_]+\(' |
        tr -d '(' | sort -u
}

exports() {
    local exported
    exported=$(nm -D --defined-only "$so" | awk '{print $NF}' | sort -u)
    [ -n "$exported" ] || fail "no dynamic symbols"
    diff <(declared) <(printf '%s\n' "$exported") >"$work/exports.diff" ||
        fail "declared (<) and exported (>) differ: $(grep '^[<>]' "$work/exports.diff" | tr '\n' ' ')"
    if grep -v '^kandev_policy_' <<<"$exported"; then
        fail "other symbols are exported"
    fi
    echo "$(wc -l <<<"$exported") functions, all declared in the header"
}

soname() {
    readelf -d "$so" >"$work/dynamic"
    grep -q 'SONAME.*\[libkandev_policy\.so\.1\]' "$work/dynamic" || fail "$(grep SONAME "$work/dynamic" || echo none)"
    if grep -qE 'RPATH|RUNPATH|TEXTREL' "$work/dynamic"; then
        fail "$(grep -E 'RPATH|RUNPATH|TEXTREL' "$work/dynamic")"
    fi
    echo "libkandev_policy.so.1; needs $(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' "$work/dynamic" | tr '\n' ' ')"
}

no_fault_injection() {
    local file
    for file in "$so" "$archive"; do
        strings -a "$file" >"$work/strings"
        nm -a "$file" >"$work/symbols" 2>/dev/null || true
        if grep -hE 'fault_arm|injected fault' "$work/strings" "$work/symbols"; then
            fail "in $(basename "$file")"
        fi
    done
    echo "no trace in the shared library and the archive"
}

size() {
    local bytes
    cp "$so" "$work/stripped.so"
    strip --strip-unneeded "$work/stripped.so"
    bytes=$(wc -c <"$work/stripped.so")
    [ "$bytes" -le $((most_kib * 1024)) ] || fail "$bytes bytes are more than $most_kib KiB"
    echo "$bytes bytes, at most $most_kib KiB"
}

# Where it was built, or by whom, is nobody's business, and the same sources give the same bytes everywhere (below).
no_paths() {
    local file place
    for file in "$so" "$archive"; do
        for place in "$PWD" "$target" "$HOME/" "${CARGO_HOME:-$HOME/.cargo}" "$(rustc --print sysroot)" /home/ /root/ /Users/ /tmp/; do
            if strings -a "$file" | grep -F -m 1 -- "$place"; then
                fail "$place in $(basename "$file")"
            fi
        done
    done
    echo "no folder of this machine in the shared library and the archive"
}

check artifact-exports exports
check artifact-soname soname
check artifact-no-paths no_paths
check artifact-no-fault-injection no_fault_injection
check artifact-size size

# ---- the sources ----

unsafe_code() {
    local allowed
    grep -q '^#!\[deny(unsafe_code)\]' src/lib.rs || fail "src/lib.rs doesn't deny unsafe code"
    # The word as code: comments and what stands behind them are cut off.
    if grep -rn --include='*.rs' . src build.rs | grep -vE '^src/(abi/|json/special\.rs:)' | sed 's,//.*,,' | grep -w unsafe; then
        fail "unsafe code outside src/abi"
    fi
    # One block for the vector instructions, which says what it gains.
    [ "$(sed 's,//.*,,' src/json/special.rs | grep -cw unsafe)" = 1 ] && grep -q '^// .*Measured' src/json/special.rs ||
        fail "src/json/special.rs has more than its one unsafe block"
    allowed=$(grep -rln --include='*.rs' 'allow(unsafe_code)' src build.rs | sort | tr '\n' ' ')
    [ "$allowed" = "src/json/special.rs src/lib.rs " ] && grep -A1 'allow(unsafe_code)' src/lib.rs | grep -qx 'pub mod abi;' ||
        fail "unsafe code is allowed elsewhere: $allowed"
    echo "src/abi has it, and one block of vector instructions"
}
check artifact-unsafe unsafe_code

header_copies() {
    local copy=go/policy/kandev_policy.h
    [ -e "$copy" ] || fail "no $copy"
    cmp include/kandev_policy.h "$copy"
    echo "the Go package has the same"
}
check artifact-header-copies header_copies

# A build in a checkout writes the header; into a copy, from which it has been taken, so that it surely is written.
header_unchanged() {
    mkdir "$work/checkout" "$work/checkout/.git" "$work/checkout/include"
    cp -R Cargo.toml Cargo.lock build.rs cbindgen.toml src "$work/checkout/"
    if [ -e README.md ]; then cp README.md "$work/checkout/"; fi
    CARGO_TARGET_DIR=$target/artifact cargo check --quiet --locked --manifest-path "$work/checkout/Cargo.toml"
    diff include/kandev_policy.h "$work/checkout/include/kandev_policy.h" ||
        fail "include/kandev_policy.h is not what a build generates"
    # The build above has left the committed one alone.
    if git ls-files --error-unmatch include/kandev_policy.h go/policy/kandev_policy.h >"$work/tracked" 2>&1; then
        git diff --exit-code -- include go/policy/kandev_policy.h
        echo "as a build generates it, and as it is committed"
    else
        echo "as a build generates it"
    fi
}
check artifact-header header_unchanged

# ---- the packaged crate ----

# Root writes to what is read-only, so the files' contents are compared as well.
fingerprint() {
    (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

package() {
    local name crate before files
    CARGO_TARGET_DIR=$target/artifact cargo package --quiet --allow-dirty --no-verify
    name=kandev-policy-$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    tar -xf "$target/artifact/package/$name.crate" -C "$work"
    crate=$work/$name
    [ ! -e "$crate/.git" ] || fail "a package with .git"
    [ -e "$crate/include/kandev_policy.h" ] || fail "a package without the header"
    files=$(cargo package --list --allow-dirty | sort)
    if grep -vE '^(src/.*\.rs|include/kandev_policy\.h|Cargo\.toml(\.orig)?|Cargo\.lock|build\.rs|cbindgen\.toml|README\.md|LICENSE.*|\.cargo_vcs_info\.json)$' <<<"$files"; then
        fail "more in the package than a user needs"
    fi
    before=$(fingerprint "$crate")
    chmod -R a-w "$crate"
    SOURCE=$crate CARGO_TARGET_DIR=$target/artifact packaging/cargo.sh build --quiet --locked --release --features capi \
        --manifest-path "$crate/Cargo.toml"
    [ "$before" = "$(fingerprint "$crate")" ] || fail "the build has changed the crate"
    sha256sum "$so" "$target/artifact/release/libkandev_policy.so"
    cmp "$so" "$target/artifact/release/libkandev_policy.so" || fail "the folder has an influence on what is built"
    echo "$(wc -l <<<"$files") files build read-only, without .git, in another folder to the same library: $(sha256sum <"$so" | cut -c -16)"
}
check artifact-package package

exit "$failed"
