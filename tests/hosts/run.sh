#!/usr/bin/env bash
# Hosts that reach the C ABI by their language's own means replay every vector: Python with ctypes, C# with P/Invoke. A
# library of another ABI version is refused by both, and a wrong expectation is noticed by both.
#
# Needs `make lib`.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
. "$root/tests/tools.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lib=$root/go/policy/lib/$(go env GOOS)_$(go env GOARCH)
vectors=("$root"/tests/vectors/*.jsonl)
case $(uname -s) in
Darwin) path=DYLD_LIBRARY_PATH soname=libkandev_policy.1.dylib link=libkandev_policy.dylib ;;
*) path=LD_LIBRARY_PATH soname=libkandev_policy.so.1 link=libkandev_policy.so ;;
esac

# A library of ABI version 2, which decides nothing.
mkdir "$work/other"
echo 'unsigned kandev_policy_abi_version(void) { return 2; }' >"$work/other.c"
cc -shared -fPIC -o "$work/other/$soname" "$work/other.c"
ln -s "$soname" "$work/other/$link"
# An approval that is expected of a frame that asks for one of another server.
grep -h '"reason":"other_server"' "${vectors[@]}" | sed -n '1s/"reason":"other_server"/"reason":"injected_mcp"/p' >"$work/wrong.jsonl"
[ -s "$work/wrong.jsonl" ]

# host NAME COMMAND…: COMMAND replays the files that are given to it.
host() {
    local name=$1
    shift
    env KANDEV_POLICY_LIBRARY="$lib/$soname" $path="$lib" "$@" "${vectors[@]}"
    if env KANDEV_POLICY_LIBRARY="$lib/$soname" $path="$lib" "$@" "$work/wrong.jsonl" >"$work/log" 2>&1 || ! grep -q 'other_server' "$work/log"; then
        printf 'FAIL  %s: a wrong expectation passes: %s\n' "$name" "$(cat "$work/log")" && exit 1
    fi
    if env KANDEV_POLICY_LIBRARY="$work/other/$soname" $path="$work/other" "$@" "${vectors[@]}" >"$work/log" 2>&1 || ! grep -q "ABI is 2, not 1" "$work/log"; then
        printf 'FAIL  %s: a library of another ABI: %s\n' "$name" "$(cat "$work/log")" && exit 1
    fi
}

# Programs as they are given to others: beside the library, and nothing that says where it is.
mkdir "$work/beside"
cp "$lib/$soname" "$work/beside"
ln -s "$soname" "$work/beside/$link"
beside() { # NAME COMMAND…
    local name=$1
    shift
    if ! (cd / && env -u KANDEV_POLICY_LIBRARY -u $path "$@") >"$work/log" 2>&1; then
        printf 'FAIL  %s: the library beside it is not found: %s\n' "$name" "$(cat "$work/log")" && exit 1
    fi
}

host Python python3 python/replay.py
cp python/kandev_policy.py "$work/beside"
beside Python env PYTHONPATH="$work/beside" python3 -c 'import kandev_policy; assert kandev_policy.decide(b"{}", b"{}")'

need mono mono-mcs mono-runtime
need mcs mono-mcs
mcs -nologo -warnaserror -out:"$work/replay.exe" csharp/*.cs
here=$PWD
csharp() { # program FILE…
    local program=$1
    shift
    # shellcheck disable=SC2317 # called by name
    python3 "$here/vectors.py" "$@" | mono --debug "$program" "$(cat "$@" | wc -l)"
}
export -f csharp
export here
host C# bash -o pipefail -c 'csharp "$@"' csharp "$work/replay.exe"
cp "$work/replay.exe" "$work/beside"
beside C# bash -o pipefail -c 'csharp "$@"' csharp "$work/beside/replay.exe" "${vectors[@]}"
