#!/usr/bin/env bash
# The Rust tests under the address sanitizer, and the C programs against a library that is instrumented too: what
# tests/c/run.sh runs under the compiler's own sanitizers sees only the C side of a call.
#
#     tests/sanitizers/run.sh          one line per check: PASS or FAIL
#
# A stable compiler has the sanitizer, behind a flag. The exhaustive comparison with the specification is left out: it
# takes hours so, and the same code runs in the other tests.
set -euo pipefail
cd "$(dirname "$0")/../.."

host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
    x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) ;;
    *) echo "there is no address sanitizer for $host" && exit 77 ;;
esac
target=${CARGO_TARGET_DIR:-target}/asan
mkdir -p "$target"
target=$(cd "$target" && pwd)
cc=${CC:-gcc}
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target CARGO_PROFILE_DEV_DEBUG=line-tables-only
export RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=0
# With --target, build scripts and macros are not instrumented.
cargo=(--quiet --target "$host")
failed=0

report() { # PASS|FAIL name text
    printf '%s %s: %s\n' "$1" "$2" "$3"
    [ "$1" = PASS ] || failed=1
}

# --- the sanitizer is really there ------------------------------------------------------------------------------------

# shellcheck disable=SC2086 # the flags are words
rustc $RUSTFLAGS tests/sanitizers/overflow.rs -o "$target/overflow"
if "$target/overflow" >"$target/overflow.log" 2>&1 || ! grep -q heap-buffer-overflow "$target/overflow.log"; then
    cat "$target/overflow.log"
    report FAIL asan-finds "a deliberate overflow is not reported"
    exit 1
fi
report PASS asan-finds "a deliberate overflow is reported"

# --- the Rust tests ---------------------------------------------------------------------------------------------------

tests=(--lib)
for file in tests/*.rs; do
    name=$(basename "$file" .rs)
    [ "$name" = specification ] || tests+=(--test "$name")
done
# A program that has the runtime need not have been compiled for it: the crate's own code must call it.
instrumented() { # what, archive
    local calls
    # An archive also holds what is no object, of which nm complains.
    calls=$(nm "$2" 2>/dev/null | grep -cE ' U __asan_(report_)?load') || true
    if [ "$calls" -gt 0 ]; then
        report PASS asan-linked "$1 is instrumented"
    else
        report FAIL asan-linked "$1 is not instrumented"
    fi
}
if cargo test "${cargo[@]}" --features fault-injection "${tests[@]}" >"$target/tests.log" 2>&1; then
    passed=$(awk '/^test result: ok/ { sum += $4 } END { print sum }' "$target/tests.log")
    report PASS asan-tests "$passed tests"
    for library in "$target/$host"/debug/deps/libkandev_policy*.rlib; do
        instrumented "the crate" "$library"
    done
else
    tail -n 60 "$target/tests.log"
    report FAIL asan-tests "see above"
fi

# --- the C programs, with both sides of a call instrumented -----------------------------------------------------------

cargo rustc "${cargo[@]}" --lib --crate-type staticlib --features capi,fault-injection -- --print native-static-libs \
    2>"$target/native.log" || cat "$target/native.log"
native=$(sed -n 's/^note: native-static-libs: //p' "$target/native.log" | tail -n 1)
library=$target/$host/debug/libkandev_policy.a
instrumented "the archive" "$library"
for program in contract registry; do
    # shellcheck disable=SC2086 # the libraries are words
    if "$cc" -std=c99 -O1 -g -fsanitize=address -fno-omit-frame-pointer -Iinclude \
        -DHEADER_REASONS="$(grep -cE '^ +KANDEV_POLICY_REASON_[A-Z0-9_]+ = [0-9]+,' include/kandev_policy.h)" \
        -DCRATE_VERSION="\"$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)\"" \
        tests/c/$program.c tests/c/check.c "$library" $native -pthread -o "$target/$program" &&
        "$target/$program" >"$target/$program.log" 2>&1; then
        report PASS "asan-c-$program" "$(tail -n 1 "$target/$program.log")"
    else
        tail -n 40 "$target/$program.log" || true
        report FAIL "asan-c-$program" "see above"
    fi
done
exit "$failed"
