#!/usr/bin/env bash
# Installs what `make lib` has built, or removes it again; `make install` and `make uninstall` call it.
#
#     packaging/install.sh install|uninstall
#
# The folders come as in GNU makefiles: prefix, libdir, includedir, docdir, and DESTDIR before each of them. docs/linking.md
# says what goes where.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
prefix=${prefix:-/usr/local}
libdir=${libdir:-$prefix/lib}
includedir=${includedir:-$prefix/include}
docdir=${docdir:-$prefix/share/doc/kandev-policy}
pkgconfigdir=${pkgconfigdir:-$libdir/pkgconfig}
DESTDIR=${DESTDIR:-}

for folder in "$prefix" "$libdir" "$includedir" "$docdir" "$pkgconfigdir"; do
    case $folder in
    *[!A-Za-z0-9/._+@,:~-]*) echo "a .pc file can't hold the folder '$folder'" >&2 && exit 1 ;;
    /*) ;;
    *) echo "'$folder' is not an absolute folder" >&2 && exit 1 ;;
    esac
done

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
abi=$(sed -n 's/^#define KANDEV_POLICY_ABI_VERSION \([0-9]*\)$/\1/p' "$root/include/kandev_policy.h")
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "no library for $(uname -m)" >&2 && exit 1 ;;
esac
# The file has the library's own version behind the ABI's: two installed versions never write to the same file.
case $(uname -s) in
Linux) os=linux soname=libkandev_policy.so.$abi file=libkandev_policy.so.$abi.$version link=libkandev_policy.so ;;
Darwin)
    os=darwin soname=libkandev_policy.$abi.dylib file=libkandev_policy.$abi.$version.dylib link=libkandev_policy.dylib
    ;;
*) echo "no library for $(uname -s)" >&2 && exit 1 ;;
esac
built=$root/go/policy/lib/${os}_$arch
docs=("$root"/LICENSE-MIT "$root"/LICENSE-APACHE "$root"/CHANGELOG.md "$here"/THIRD-PARTY-NOTICES.md)
example=("$here"/example/*)

# shellcheck source=packaging/static_libs.sh
source "$here/static_libs.sh"

below_prefix() { # a folder as a .pc file names it
    case $1 in
    "$prefix"/*) printf '${prefix}/%s\n' "${1#"$prefix"/}" ;;
    *) printf '%s\n' "$1" ;;
    esac
}

pkgconfig() {
    sed -e "s|@prefix@|$prefix|" -e "s|@version@|$version|" -e "s|@libs_private@|$(static_libs "$os")|" \
        -e "s|^libdir=.*|libdir=$(below_prefix "$libdir")|" -e "s|^includedir=.*|includedir=$(below_prefix "$includedir")|" \
        "$here/kandev-policy.pc.in"
}

put() { # mode source target: a running program may have the old one mapped, so it is replaced, not overwritten.
    local new
    new=$(dirname "$3")/.$(basename "$3").new
    install -m "$1" "$2" "$new"
    mv -f "$new" "$3"
}

case ${1-} in
install)
    [ -e "$built/$soname" ] || { echo "there is no $built/$soname: run 'make lib'" >&2 && exit 1; }
    for folder in "$libdir" "$includedir" "$pkgconfigdir" "$docdir/example"; do
        install -d "$DESTDIR$folder"
    done
    put 644 "$root/include/kandev_policy.h" "$DESTDIR$includedir/kandev_policy.h"
    put 755 "$built/$soname" "$DESTDIR$libdir/$file"
    if [ "$os" = darwin ]; then # as is the custom there: a program finds it without an rpath
        install_name_tool -id "$libdir/$soname" "$DESTDIR$libdir/$file"
        codesign --force --sign - "$DESTDIR$libdir/$file"
    fi
    ln -sfn "$file" "$DESTDIR$libdir/$soname"
    ln -sfn "$soname" "$DESTDIR$libdir/$link"
    put 644 "$built/libkandev_policy.a" "$DESTDIR$libdir/libkandev_policy.a"
    pkgconfig >"$DESTDIR$pkgconfigdir/kandev-policy.pc"
    chmod 644 "$DESTDIR$pkgconfigdir/kandev-policy.pc"
    for doc in "${docs[@]}"; do put 644 "$doc" "$DESTDIR$docdir/$(basename "$doc")"; done
    for doc in "${example[@]}"; do put 644 "$doc" "$DESTDIR$docdir/example/$(basename "$doc")"; done
    echo "installed $version in $DESTDIR$prefix"
    if [ "$os" = linux ] && [ -z "$DESTDIR" ]; then
        echo "in a folder of the loader's, run ldconfig"
    fi
    ;;
uninstall)
    # What another version has put in place since is that one's: the links, and all that has no version in its name.
    pc=$DESTDIR$pkgconfigdir/kandev-policy.pc
    rm -f "$DESTDIR$libdir/$file"
    if [ "$(readlink "$DESTDIR$libdir/$soname")" = "$file" ]; then rm -f "$DESTDIR$libdir/$soname"; fi
    if [ ! -e "$DESTDIR$libdir/$soname" ]; then rm -f "$DESTDIR$libdir/$link"; fi
    if [ -e "$pc" ] && ! grep -qxF "Version: $version" "$pc"; then
        echo "another version is installed in $DESTDIR$prefix, and stays"
        exit
    fi
    rm -f "$DESTDIR$includedir/kandev_policy.h" "$DESTDIR$libdir/libkandev_policy.a" "$pc"
    for doc in "${docs[@]}"; do rm -f "$DESTDIR$docdir/$(basename "$doc")"; done
    for doc in "${example[@]}"; do rm -f "$DESTDIR$docdir/example/$(basename "$doc")"; done
    for folder in "$docdir/example" "$docdir"; do
        if [ -d "$DESTDIR$folder" ]; then rmdir "$DESTDIR$folder"; fi
    done
    ;;
*) sed -n '2,/^set/{/^#/p;}' "$0" && exit 2 ;;
esac
