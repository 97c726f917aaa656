#!/usr/bin/env bash
# Builds what go/bench measures beside itself, and runs it: one table, also in target/bench.md.
#
#     tests/bench/run.sh [FLAGS OF go/bench]     needs `make lib`; the first time the peers take minutes to build
#
# What can't be built (the peers come from crates.io) is said in the table. CARGO_TARGET_DIR (target) and CC are respected.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/bench"
target=$(cd "$target" && pwd)
work=$target/bench
library=$PWD/go/policy/lib/$(go env GOOS)_$(go env GOARCH)/libkandev_policy.so

# attempt WHAT COMMAND...: the former WHAT is not measured in place of one that can't be built.
attempt() {
    local what=$1
    shift
    rm -f "$work/$what"
    "$@" || echo "$what: not built, so not measured" >&2
}

peers() {
    CARGO_TARGET_DIR=$target/peers cargo build --quiet --release --locked --manifest-path tests/bench/peers/Cargo.toml &&
        cp "$target/peers/release/peers" "$work/"
}

without_cgo() { (cd go/bench && CGO_ENABLED=0 go build -o "$work/bench-without-cgo" .); }

echo "building what is compared (some minutes the first time) …" >&2
attempt peers peers
attempt driver "${CC:-cc}" -std=gnu11 -O2 -Iinclude tests/bench/driver.c -pthread -o "$work/driver"
attempt bench-without-cgo without_cgo
(cd go/bench && go build -o "$work/bench" .)
rm -rf "$work/frames"
"$work/bench" -frames "$work/frames"
exec "$work/bench" -work "$work" -library "$library" "$@"
