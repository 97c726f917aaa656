#!/usr/bin/env bash
# A library with another ABI version is refused in each way: it doesn't link, or a program that finds it at run time asks
# it for nothing but its versions, says both, and answers every request with engine_unavailable.
#
# The other library is made here: version 2, and every function but the two that say versions ends the program.
#
# Needs `make lib`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
module=github.com/kandev/kandev-policy/go
[ "$(uname -s)" = Linux ] || { echo "the other library is made with the tools of linux" && exit 77; }
command -v gcc >/dev/null || { echo "no gcc for cgo" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=lib/linux_$(go env GOARCH)

# --- the other library ------------------------------------------------------------------------------------------------
{
    printf '#include <stdint.h>\n#include <stdlib.h>\n'
    printf 'uint32_t kandev_policy_abi_version(void) { return 2; }\n'
    printf 'const char *kandev_policy_version(void) { return "9.9.9"; }\nvoid kandev_policy_abi_2(void) {}\n'
    grep -oE '^[a-z].*\bkandev_policy_[a-z0-9_]+\(' "$root/include/kandev_policy.h" | grep -oE 'kandev_policy_[a-z0-9_]+' |
        sort -u | grep -vxE 'kandev_policy(_abi_version|_version|_abi_[0-9]+|_status)' |
        sed 's/.*/void &(void) { abort(); }/'
} >"$work/other.c"
gcc -shared -fPIC -Wl,-soname,libkandev_policy.so.1 -o "$work/libkandev_policy.so.1" "$work/other.c"
gcc -c -fPIC -o "$work/other.o" "$work/other.c"
ar rcs "$work/libkandev_policy.a" "$work/other.o"

# --- a program, and a copy of the Go module to put the other library in -----------------------------------------------
cp -R "$root/go" "$work/go"
mkdir "$work/host"
cat >"$work/host/main.go" <<'GO'
package main

import (
	"fmt"

	"github.com/kandev/kandev-policy/go/policy"
)

func main() {
	fmt.Println(policy.Engine(), policy.ABIVersion())
	fmt.Println(policy.CheckEngine())
	p, err := policy.New(policy.Config{Port: 41000, InjectedKandevMCP: true, MCPServers: []policy.MCPServer{
		{Name: "kandev", Type: "http", URL: "http://localhost:41000/mcp"}}})
	fmt.Println(err)
	frame := []byte(`{"toolCall":{"name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","kind":"allow_once"}]}`)
	name := "mcp__kandev__list_tasks"
	fmt.Println(p.DecideFrame(frame))
	fmt.Println(p.Decide(policy.Request{ToolName: &name, Options: []policy.Option{{OptionID: "yes", Kind: "allow_once"}}}))
	fmt.Println(policy.DecideJSON(frame, []byte(`{"port":41000,"injected_kandev_mcp":true,"auto_approve_permissions":true}`)))
	_, _, err = policy.NewRegistry(policy.RegistryConfig{})
	fmt.Println(err)
}
GO
cd "$work/host"
go mod init -C . example.test/host 2>/dev/null
go mod edit -require=$module@v0.0.0 -replace=$module=../go
go mod tidy 2>/dev/null

no_engine='policy: no engine: library 9.9.9 has ABI version 2, this package needs 1'
ask='{"decision":"ask","reason":"engine_unavailable"}'
refusal="none 2
$no_engine
<nil>
$ask
$ask
$ask
$no_engine"

fail() {
    printf 'FAIL  %s\n%s\n' "$1" "$2"
    exit 1
}

# documented TEXT: the troubleshooting table has it.
documented() { grep -qF -- "$1" "$root/docs/linking.md" || fail "docs/linking.md has not" "$1"; }
documented "undefined reference to \`kandev_policy_abi_1'"
documented "undefined symbol: kandev_policy_abi_1"
documented "has ABI version 2, this package needs 1"

# refuses WAY: the program builds no more, and the linker says why.
refuses_to_link() {
    if out=$(go build -tags "$2" -o "host-$1-other" . 2>&1); then fail "$1: links with the other library" "$out"; fi
    case $out in
    *"undefined reference to \`kandev_policy_abi_1'"*) printf 'ok    %-7s does not link: undefined reference to kandev_policy_abi_1\n' "$1" ;;
    *) fail "$1: doesn't link, but doesn't say why" "$out" ;;
    esac
}

# --- shared -----------------------------------------------------------------------------------------------------------
go build -o host-shared .
out=$(./host-shared) || true
case $out in "cgo 1"*'"injected_mcp"'*) ;; *) fail "shared: with its own library" "$out" ;; esac
mkdir run
cp host-shared run/
cp "$work/libkandev_policy.so.1" run/
out=$(cd / && env -i "$work/host/run/host-shared" 2>&1) || fail "shared: ends with the other library" "$out"
[ "$out" = "$refusal" ] || fail "shared: with the other library at run time" "$out"
printf 'ok    shared  at run time: %s\n' "$no_engine"
# A loader that looks everything up at once doesn't start the program, and names the version that it has not found.
if out=$(cd / && env -i LD_BIND_NOW=1 "$work/host/run/host-shared" 2>&1); then
    [ "$out" = "$refusal" ] || fail "shared: with the other library, everything looked up at once" "$out"
else
    case $out in
    *"undefined symbol: kandev_policy_abi_1"*) printf 'ok    shared  everything looked up at once: %s\n' "${out#*: }" ;;
    *) fail "shared: with the other library, everything looked up at once" "$out" ;;
    esac
fi
cp "$work/libkandev_policy.so.1" "$work/libkandev_policy.a" "$work/go/policy/$folder/"
refuses_to_link shared ""

# --- static -----------------------------------------------------------------------------------------------------------
refuses_to_link static kandev_policy_static

# --- WebAssembly ------------------------------------------------------------------------------------------------------
# The same, written by hand: a module with the two functions that say versions.
python3 - "$work/go/policy/internal/wasm/kandev_policy.wasm" <<'PY'
import sys
def section(id, content): return bytes([id, len(content)]) + content
def name(s): return bytes([len(s)]) + s
open(sys.argv[1], "wb").write(b"\0asm\1\0\0\0"
    + section(1, b"\1\x60\0\1\x7f") + section(3, b"\2\0\0") + section(5, b"\1\0\1")
    + section(7, b"\3" + name(b"memory") + b"\2\0" + name(b"kandev_policy_abi_version") + b"\0\0" + name(b"kandev_policy_version") + b"\0\1")
    + section(10, b"\2\4\0\x41\2\x0b\4\0\x41\x10\x0b") + section(11, b"\1\0\x41\x10\x0b" + name(b"9.9.9\0")))
PY
for way in "0 -" "1 kandev_policy_wasm"; do
    read -r cgo tags <<<"$way"
    CGO_ENABLED=$cgo go build -tags "${tags/#-/}" -o host-wasm .
    out=$(cd / && env -i "$work/host/host-wasm" 2>&1) || fail "wasm: ends with the other library" "$out"
    [ "$out" = "$refusal" ] || fail "wasm: with the other library" "$out"
    printf 'ok    wasm    at run time: %s\n' "$no_engine"
done
