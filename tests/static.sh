#!/usr/bin/env bash
# The static archive: what it exports, that another Rust archive links beside it (and catches its own panics), and that
# the link flags in the Go package are those that the compiler reports.
#
# Needs `make lib`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
module=github.com/kandev/kandev-policy/go
[ "$(uname -s)" = Linux ] || { echo "the archive is taken apart with the tools of linux" && exit 77; }
archive=$root/go/policy/lib/linux_$(go env GOARCH)/libkandev_policy.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- symbols: exactly the header's functions --------------------------------------------------------------------------
grep -oE '^[a-z].*\bkandev_policy_[a-z0-9_]+\(' "$root/include/kandev_policy.h" | grep -oE 'kandev_policy_[a-z0-9_]+\($' |
    tr -d '(' | sort >"$work/header"
nm --defined-only --extern-only --format=posix "$archive" | awk 'NF > 2 { print $1 }' | sort >"$work/exported"
diff "$work/header" "$work/exported"
[ "$(wc -l <"$work/header")" -gt 10 ]
printf 'ok    exports the %d functions of the header, and nothing else\n' "$(wc -l <"$work/header")"

# --- flags ------------------------------------------------------------------------------------------------------------
reported=$(cd "$root" && cargo rustc --quiet --lib --crate-type staticlib --features capi -- --print native-static-libs 2>&1 |
    sed -n 's/.*native-static-libs: //p')
written=$(sed -n 's/^#cgo linux LDFLAGS: //p' "$root/go/policy/link_static.go")
if [ -z "$reported" ] || [ "$reported" != "$written" ]; then
    printf 'FAIL  the compiler reports: %s\n      link_static.go has:    %s\n' "$reported" "$written"
    exit 1
fi
printf 'ok    flags: %s\n' "$written"

# --- another Rust archive ---------------------------------------------------------------------------------------------
mkdir "$work/host"
cd "$work/host"
cat >other.rs <<'RS'
#[no_mangle]
pub extern "C" fn other_catches() -> i32 {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(|| { let v: Vec<i32> = Vec::new(); v[std::process::id() as usize] }).map_or(42, |n| n)
}
RS
rustc --edition 2021 --crate-type staticlib -C opt-level=1 -o libother.a other.rs
cat >main.go <<'GO'
package main

// #cgo LDFLAGS: ${SRCDIR}/libother.a
// int other_catches(void);
import "C"

import "github.com/kandev/kandev-policy/go/policy"

func main() {
	for range 2 {
		d := policy.DecideJSON([]byte(`{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`), []byte(
			`{"port":41000,"injected_kandev_mcp":true,"mcp_servers":[{"name":"kandev","type":"http","url":"http://localhost:41000/mcp"}]}`))
		println(policy.Engine(), d.Reason, C.other_catches())
	}
}
GO
go mod init -C . example.test/host 2>/dev/null
go mod edit -require=$module@v0.0.0 -replace=$module="$root/go"
go mod tidy 2>/dev/null
go build -tags kandev_policy_static -o host .
got=$(cd / && env -i "$work/host/host" 2>&1)
[ "$got" = "cgo injected_mcp 42
cgo injected_mcp 42" ] || { printf 'FAIL  %s\n' "$got" && exit 1; }
if [[ $(ldd host) == *kandev* ]]; then
    echo "FAIL  the program needs our shared library" && exit 1
fi
echo "ok    another Rust archive links beside it, and catches a panic of its own"
