#!/usr/bin/env bash
# Compiles and runs the README's Go and C examples, as they stand there, and compares what they print.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lib=$root/go/policy/lib/$(go env GOOS)_$(go env GOARCH)

# The first fenced block of a language.
block() { awk -v fence="\`\`\`$1" '$0 == fence && !done { on = 1; next } on && /^```$/ { on = 0; done = 1 } on' README.md; }

expect() {
    if [ "$2" != "$3" ]; then
        printf '%s: got  %s\n%s: want %s\n' "$1" "$2" "$1" "$3"
        exit 1
    fi
    printf '%s: %s\n' "$1" "$2"
}

mkdir "$work/go"
block go >"$work/go/main.go"
cd "$work/go"
go mod init example.test/readme 2>/dev/null
go mod edit -require github.com/kandev/kandev-policy/go@v0.0.0 -replace "github.com/kandev/kandev-policy/go=$root/go"
go mod tidy 2>/dev/null
expect Go "$(go run .)" "answer with yes because injected_mcp"

cd "$root"
block c >"$work/hello.c"
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude "$work/hello.c" -L"$lib" -Wl,-rpath,"$lib" -lkandev_policy -o "$work/hello"
expect C "$("$work/hello")" "$(block json)"
