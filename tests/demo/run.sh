#!/usr/bin/env bash
# Decides the captured frames from Rust, C and Go, shows what came of each, and fails unless every decision is the
# expected one and all three languages give the same bytes. `make lib` comes first.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
out=$target/demo
mkdir -p "$out"

captures=(tests/vectors/acp-capture-*.jsonl)

packaging/cargo.sh run --quiet --release --features capi --example captures -- "${captures[@]}" >"$out/rust.jsonl"

lib=$(echo go/policy/lib/"$(go env GOOS)_$(go env GOARCH)")
cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude -o "$out/captures" \
    tests/demo/captures.c tests/c/jsonl.c tests/c/check.c -L"$lib" -lkandev_policy -Wl,-rpath,"$PWD/$lib" -lpthread
"$out/captures" "${captures[@]}" >"$out/c.jsonl"

files=()
for file in "${captures[@]}"; do files+=("../$file"); done
absolute=$(cd "$out" && pwd)
cd go
go run ./internal/demo -same-as "Rust=$absolute/rust.jsonl,C=$absolute/c.jsonl" "${files[@]}"
