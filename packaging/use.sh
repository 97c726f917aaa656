#!/usr/bin/env bash
# Uses an archive on the system that it is for, with nothing of this checkout's library: the C example as its README says,
# the vectors from Python, and the Go package's tests with the shared library and with the static archive.
#
#     packaging/use.sh dist/kandev-policy-VERSION-OS-ARCH.tar.gz
#
# It replaces the library that `make lib` put into the Go package.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
[ "$#" = 1 ] || { sed -n '2,/^set/{/^#/p;}' "$0" && exit 2; }
mkdir "$work/archive"
tar -xzf "$1" -C "$work/archive" --strip-components 1
case $(uname -s) in
Linux) shared=libkandev_policy.so.1 ;;
Darwin) shared=libkandev_policy.1.dylib ;;
esac

readme=$(find "$work/archive" -path '*example/README.md')
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme" | sed "s|^prefix=/usr/local\$|prefix=$work/archive|" >"$work/steps.sh"
if [ "$(uname -s)" != Linux ]; then sed -i.bak '/^cc -static/,$d' "$work/steps.sh"; fi
got=$(cd "$(dirname "$readme")" && bash -e "$work/steps.sh")
want=$(grep '^\./decide$' "$work/steps.sh" | sed 's/.*/select yes (injected_mcp)/')
[ -n "$want" ] && [ "$got" = "$want" ] || { printf 'FAIL  the C example prints: %s\n' "$got" && exit 1; }
printf 'ok    C: %d programs\n' "$(wc -l <<<"$got")"

KANDEV_POLICY_LIBRARY=$work/archive/lib/$shared python3 "$root/tests/hosts/python/replay.py" "$root"/tests/vectors/*.jsonl | tail -n 1

folder=$root/go/policy/lib/$(go env GOOS)_$(go env GOARCH)
rm -f "$folder"/*libkandev_policy*
cp -L "$work/archive/lib/$shared" "$work/archive/lib/libkandev_policy.a" "$folder/"
cd "$root/go"
# A cached result or program would not notice another library.
CGO_ENABLED=1 go test -count=1 ./policy
CGO_ENABLED=1 go test -count=1 -a -tags kandev_policy_static ./policy
