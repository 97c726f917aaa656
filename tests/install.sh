#!/usr/bin/env bash
# `make install` into a stage and into a prefix: exactly the files that belong there, programs built with pkg-config as the
# example's README says, and nothing left after `make uninstall`.
#
# Needs `make lib`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/tools.sh"
need pkg-config pkgconf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
want="select yes (injected_mcp)"

fail() {
    printf 'FAIL  %s\n' "$*"
    exit 1
}
files() { (cd "$1" && find . ! -type d | sed 's,^\./,,' | LC_ALL=C sort); }
installation() { # libdir, below the prefix
    case $(uname -s) in
    Linux) printf "$1/%s\n" libkandev_policy.so libkandev_policy.so.1 "libkandev_policy.so.1.$version" ;;
    Darwin) printf "$1/%s\n" libkandev_policy.dylib libkandev_policy.1.dylib "libkandev_policy.1.$version.dylib" ;;
    esac
    printf "$1/%s\n" libkandev_policy.a pkgconfig/kandev-policy.pc
    printf 'include/kandev_policy.h\n'
    printf 'share/doc/kandev-policy/%s\n' CHANGELOG.md LICENSE-APACHE LICENSE-MIT THIRD-PARTY-NOTICES.md example/README.md example/main.c
}

# --- into a stage, as packages are made -------------------------------------------------------------------------------
stage=(DESTDIR="$work/stage" PREFIX=/opt/kandev libdir=/opt/kandev/lib64)
make -s -C "$root" install "${stage[@]}" >"$work/log"
diff <(installation lib64 | LC_ALL=C sort) <(files "$work/stage/opt/kandev")
[ "$(files "$work/stage" | grep -cv '^opt/kandev/')" = 0 ] || fail "files outside the prefix"
if grep -rlF -e "$work" -e "$root" "$work/stage"; then fail "the files above name the stage or the checkout"; fi
pc=$work/stage/opt/kandev/lib64/pkgconfig/kandev-policy.pc
grep -qx 'prefix=/opt/kandev' "$pc" && grep -qx 'libdir=${prefix}/lib64' "$pc" && grep -qx "Version: $version" "$pc" || fail "$(cat "$pc")"
make -s -C "$root" uninstall "${stage[@]}"
[ -z "$(files "$work/stage")" ] || fail "left by uninstall: $(files "$work/stage")"
printf 'ok    staged with a libdir of its own, and removed\n'

# A prefix is no pattern: the folder beside it, whose name it would match, stays as it is.
stage=(DESTDIR="$work/it's a stage" prefix=/opt/a.b libdir=/opt/a-b/lib)
pc="$work/it's a stage/opt/a-b/lib/pkgconfig/kandev-policy.pc"
make -s -C "$root" install "${stage[@]}" >"$work/log"
grep -qx 'libdir=/opt/a-b/lib' "$pc" && grep -qx 'includedir=${prefix}/include' "$pc" || fail "$(cat "$pc")"
make -s -C "$root" uninstall "${stage[@]}"
[ -z "$(files "$work/it's a stage")" ] || fail "left by uninstall: $(files "$work/it's a stage")"
printf 'ok    a prefix with a dot, and a stage with a quote and spaces\n'

# Another version, installed since, has the links, and then the rest too.
stage=(DESTDIR="$work/two" PREFIX=/opt/kandev)
lib=$work/two/opt/kandev/lib
case $(uname -s) in
Linux) soname=libkandev_policy.so.1 link=libkandev_policy.so other=libkandev_policy.so.1.99.0.0 ;;
Darwin) soname=libkandev_policy.1.dylib link=libkandev_policy.dylib other=libkandev_policy.1.99.0.0.dylib ;;
esac
make -s -C "$root" install "${stage[@]}" >"$work/log"
echo other >"$lib/$other"
ln -sfn "$other" "$lib/$soname"
cp -R "$work/two" "$work/mixed"
sed -i.bak 's/^Version: .*/Version: 99.0.0/' "$lib/pkgconfig/kandev-policy.pc" && rm "$lib/pkgconfig/kandev-policy.pc.bak"
make -s -C "$root" uninstall "${stage[@]}" >"$work/log"
grep -q 'another version is installed' "$work/log" || fail "uninstall says $(cat "$work/log")"
diff <(installation lib | grep -v "$version" | { cat && echo "lib/$other"; } | LC_ALL=C sort) <(files "$work/two/opt/kandev")
[ "$(cat "$lib/$link")" = other ] || fail "the other version's links are broken"
make -s -C "$root" uninstall "${stage[@]}" DESTDIR="$work/mixed" # where only the links are another's
lib=$work/mixed/opt/kandev/lib
diff <(printf '%s\n' "$link" "$soname" "$other" | LC_ALL=C sort) <(files "$lib")
[ "$(cat "$lib/$soname")" = other ] || fail "the other version's link is broken"
printf 'ok    uninstall leaves another installed version alone\n'

if make -s -C "$root" install PREFIX=relative >"$work/log" 2>&1 || ! grep -q "not an absolute folder" "$work/log"; then
    fail "a relative prefix: $(cat "$work/log")"
fi
printf 'ok    a relative prefix is refused\n'

# --- into a prefix, and used from there -------------------------------------------------------------------------------
prefix=$work/prefix
make -s -C "$root" install PREFIX="$prefix" >"$work/log"
diff <(installation lib | LC_ALL=C sort) <(files "$prefix")
cmp "$root/include/kandev_policy.h" "$prefix/include/kandev_policy.h"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
pkg-config --validate kandev-policy
[ "$(pkg-config --modversion kandev-policy)" = "$version" ] || fail "another version in the .pc file"
printf 'ok    installed %s; the .pc file is valid\n' "$version"

# A program that says itself where the library is not, and one without: only the second needs the loader to be told.
cd "$work"
# shellcheck disable=SC2046 # flags are several words
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$root/packaging/example/main.c" -o plain $(pkg-config --cflags --libs kandev-policy)
if [ "$(uname -s)" = Linux ]; then
    readelf -d "$prefix/lib/libkandev_policy.so" plain >dynamic
    if grep -E 'RPATH|RUNPATH' dynamic; then fail "an rpath"; fi
    grep -q 'SONAME.*\[libkandev_policy\.so\.1\]' dynamic || fail "the installed library's SONAME: $(cat dynamic)"
    grep -q 'NEEDED.*\[libkandev_policy\.so\.1\]' dynamic || fail "the program asks for another library: $(cat dynamic)"
    if env -i ./plain >"$work/log" 2>&1; then fail "a program without an rpath found the library: $(cat "$work/log")"; fi
    got=$(env -i LD_LIBRARY_PATH="$prefix/lib" ./plain)
else
    got=$(env -i ./plain)
fi
[ "$got" = "$want" ] || fail "shared: $got"
printf 'ok    shared, without an rpath in library or program\n'

# As the README beside the installed example says, each of its blocks.
cp -R "$prefix/share/doc/kandev-policy/example" example
cd example
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' README.md | sed "s|^prefix=/usr/local\$|prefix=$prefix|" >steps.sh
[ "$(uname -s)" = Linux ] || sed -i.bak '/^cc -static/,$d' steps.sh
[ "$(grep -c '^cc ' steps.sh)" -ge 2 ] || fail "the README has lost its commands"
got=$(env -i PATH="$PATH" bash -e steps.sh)
[ "$got" = "$(for _ in $(grep '^\./decide$' steps.sh); do echo "$want"; done)" ] || fail "the README's commands print: $got"
printf 'ok    the example, as its README says: %d programs\n' "$(grep -c '^cc ' steps.sh)"

# The static archive alone: the program runs when the library is gone.
# shellcheck disable=SC2046
cc main.c -o static $(pkg-config --cflags kandev-policy) $(pkg-config --variable=static_libs kandev-policy)
make -s -C "$root" uninstall PREFIX="$prefix"
[ -z "$(files "$prefix")" ] || fail "left by uninstall: $(files "$prefix")"
[ "$(env -i ./static)" = "$want" ] || fail "the static program needs the installation"
make -s -C "$root" uninstall PREFIX="$prefix"
printf 'ok    removed, once and again; a program with the static archive runs on\n'
