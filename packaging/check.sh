#!/usr/bin/env bash
# Tests the files of dist/ as a user has them: unpacked elsewhere, with nothing of the build. One line per check and file.
#
#     packaging/check.sh             needs root, for the older systems that it makes below target/
#
# Programs run on this system, in an older Debian, in folders with nothing else in them, and under emulation of arm64.
# Darwin's files are examined, and programs linked with them; nothing of theirs is run.
# shellcheck disable=SC2317 # the checks are called by their names
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
# shellcheck source=packaging/platforms.sh
source "$here/platforms.sh"
dist=$root/dist
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
older=bullseye # the oldest that Debian's mirrors still have
most_kib=600   # a shared library for linux-amd64
zig_folder=$("$here/tools.sh")
zig=$zig_folder/zig
export ZIG_GLOBAL_CACHE_DIR=$target/dist/zig ZIG_LOCAL_CACHE_DIR=$target/dist/zig
work=$(mktemp -d)
cleanup() {
    chmod -R u+w "$work"
    rm -rf "$work"
}
trap cleanup EXIT
failed=0
want='select yes (injected_mcp)'

fail() {
    printf '%s\n' "$*"
    exit 1
}

# A check is a function that prints what it found and succeeds, or prints what is wrong and fails.
check() { # name function arguments…
    local name=$1 text status
    shift
    # Not within a condition, where a failing command would not end the function.
    set +e
    text=$(set -e; "$@" 2>&1)
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        printf 'ok    %-17s %-15s %s\n' "$current" "$name" "$(tail -n 1 <<<"$text")"
    else
        printf 'FAIL  %-17s %-15s %s\n' "$current" "$name" "$text"
        failed=1
    fi
}

declared() { sed -n '/^extern "C"/,$p' "$1" | sed '/^ *\/\//d' | grep -oE '\bkandev_policy_[a-z0-9_]+\(' | tr -d '(' | sort -u; }

same_functions() { # header symbols
    [ "$(declared "$1" | wc -l)" -gt 10 ] || fail "the header declares too little"
    diff <(declared "$1") <(sort -u <<<"$2") || fail "declared (<) and exported (>) differ"
    echo "$(declared "$1" | wc -l) functions, those of the header"
}

# --- every archive ----------------------------------------------------------------------------------------------------
sums() {
    (cd "$dist" && sha256sum --check --strict --quiet SHA256SUMS)
    diff <(cd "$dist" && printf '%s\n' * | grep -vx SHA256SUMS | sort) <(awk '{ print $2 }' "$dist/SHA256SUMS" | sort)
    echo "$(wc -l <"$dist/SHA256SUMS") files, each as SHA256SUMS says"
}

contents() {
    (cd "$at" && find . -mindepth 1 ! -type d -printf '%P %l\n' | sed 's/ $//' | LC_ALL=C sort) >"$work/contents"
    printf '%s\n' CHANGELOG.md LICENSE-APACHE LICENSE-MIT THIRD-PARTY-NOTICES.md example/README.md example/main.c include/kandev_policy.h \
        "lib/$file" lib/libkandev_policy.a "lib/$soname $file" "lib/$link $soname" lib/pkgconfig/kandev-policy.pc |
        LC_ALL=C sort | diff - "$work/contents"
    tar -tvzf "$archive" >"$work/listing"
    [ "$(awk '{ print $2 }' "$work/listing" | sort -u)" = 0/0 ] || fail "not every file belongs to 0/0"
    [ "$(awk '{ print $4, $5 }' "$work/listing" | sort -u | wc -l)" = 1 ] || fail "several times of change"
    echo "$(wc -l <"$work/contents") files, of nobody and of one time"
}

# What would tell where and by whom it was built, or is of use on one machine only.
no_paths() {
    local places=(/root/ /home/ /Users/ /tmp/ /build/ /usr/src/ /usr/lib/rustlib /.cargo/ "$HOME/" "$root" "$target" "$zig_folder" "$(id -un)@$(hostname)")
    for built in "$at/lib/$file" "$at/lib/libkandev_policy.a" "$at/lib/pkgconfig/kandev-policy.pc"; do
        strings -a "$built" >"$work/strings"
        for place in "${places[@]}"; do
            if grep -F -m 3 -- "$place" "$work/strings"; then fail "$place in $(basename "$built")"; fi
        done
    done
    echo "neither in the libraries nor in the .pc file"
}

size() {
    local bytes most=$((most_kib * 1024))
    case $1 in linux-amd64) ;; *) most=$((most * 5 / 4)) ;; esac
    bytes=$(wc -c <"$at/lib/$file")
    [ "$bytes" -le "$most" ] || fail "$bytes bytes are more than $most"
    echo "$bytes bytes (at most $most), the static archive $(wc -c <"$at/lib/libkandev_policy.a"), packed $(wc -c <"$archive")"
}

pkg_config() {
    mkdir -p "$work/moved"
    cp -R "$at" "$work/moved/here"
    moved() { PKG_CONFIG_PATH=$work/moved/here/lib/pkgconfig pkg-config "$@" kandev-policy; }
    [ "$(moved --modversion)" = "$version" ] || fail "another version: $(moved --modversion)"
    [ "$(cd "$(moved --variable=libdir)" && pwd)" = "$work/moved/here/lib" ] || fail "not relocatable: $(moved --variable=libdir)"
    [ -e "$(moved --variable=includedir)/kandev_policy.h" ] || fail "no header in $(moved --cflags)"
    echo "version $version, from wherever it is unpacked; static: $(moved --variable=static_libs | cut -d ' ' -f 2-)"
    rm -r "$work/moved"
}

# --- linux ------------------------------------------------------------------------------------------------------------
elf() { # machine, as readelf calls it
    local members
    [ "$(readelf -h "$at/lib/$file" | sed -n 's/ *Machine: *//p')" = "$1" ] || fail "another machine"
    members=$(readelf -h "$at/lib/libkandev_policy.a" | sed -n 's/ *Machine: *//p' | sort -u)
    [ "$members" = "$1" ] || fail "in the archive: $members"
    echo "$1, library and archive"
}

elf_exports() {
    same_functions "$at/include/kandev_policy.h" "$(nm -D --defined-only "$at/lib/$file" | awk '{ print $NF }')"
}

archive_exports() { # nm
    same_functions "$at/include/kandev_policy.h" \
        "$("$1" --defined-only --extern-only --format=posix "$at/lib/libkandev_policy.a" | awk 'NF > 2 { sub(/^_/, "", $1); print $1 }')"
}

elf_names() { # libc
    local dynamic needed
    dynamic=$(readelf -d "$at/lib/$file")
    grep -q "SONAME.*\[$soname\]" <<<"$dynamic" || fail "$(grep SONAME <<<"$dynamic")"
    if grep -E 'RPATH|RUNPATH|TEXTREL' <<<"$dynamic"; then fail "above"; fi
    needed=$(sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' <<<"$dynamic")
    if grep -vxE "$1" <<<"$needed"; then fail "also needed, above"; fi
    echo "$soname, needs $(paste -sd ' ' <<<"$needed")"
}

symbol_versions() { # the newest that may be
    local newest
    newest=$(readelf -V "$at/lib/$file" | grep -oE 'Name: [A-Z]+_[0-9.]+' | cut -d ' ' -f 2 | sort -uV)
    [ -n "$newest" ] || fail "no versions"
    if grep -v '^GLIBC_' <<<"$newest"; then fail "not of the C library, above"; fi
    newest=$(tail -n 1 <<<"$newest")
    [ "$(printf '%s\n' "$newest" "GLIBC_$1" | sort -V | tail -n 1)" = "GLIBC_$1" ] || fail "$newest is newer than $1"
    echo "no symbol is newer than $newest, at most GLIBC_$1"
}

# A C program that replays the vectors, linked by zig.
c_vectors() { # zig's target, output, flags…
    local for=$1 out=$2
    shift 2
    "$zig" cc -target "$for" -std=c99 -O1 -I"$at/include" "$root"/tests/c/{vectors,jsonl,check}.c "$@" -pthread -o "$out"
}

passes() { # command…: as the C tests do
    local last
    last=$("$@" | tail -n 1)
    [[ $last == PASS\ * ]] || fail "$last"
    echo "${last#PASS }"
}

prints() { # command…
    local got
    got=$("$@")
    [ "$got" = "$want" ] || fail "printed '$got'"
    echo "prints '$got'"
}

vectors=("$root"/tests/vectors/*.jsonl)

# The example as its README says, here.
example_here() {
    export PKG_CONFIG_PATH=$at/lib/pkgconfig
    mkdir "$work/example"
    cd "$work/example"
    # shellcheck disable=SC2046
    cc "$at/example/main.c" -o shared $(pkg-config --cflags --libs kandev-policy) -Wl,-rpath,"$(pkg-config --variable=libdir kandev-policy)"
    # shellcheck disable=SC2046
    cc "$at/example/main.c" -o static $(pkg-config --cflags kandev-policy) $(pkg-config --variable=static_libs kandev-policy)
    # shellcheck disable=SC2046
    cc -static "$at/example/main.c" -o alone $(pkg-config --static --cflags --libs kandev-policy)
    readelf -d shared | grep -q "NEEDED.*\[$soname\]" || fail "the program doesn't need $soname"
    prints env -i ./shared
    prints env -i ./static
    prints env -i ./alone
    echo "built by $(cc --version | head -n 1 | cut -d ' ' -f 1), shared, static and without any shared library: prints '$want'"
}

c_vectors_here() {
    cc -std=c99 -O1 -I"$at/include" "$root"/tests/c/{vectors,jsonl,check}.c -L"$at/lib" -lkandev_policy -Wl,-rpath,"$at/lib" -pthread -o "$work/vectors"
    passes "$work/vectors" "${vectors[@]}"
}

# The Go package's own replay of the vectors: from the module's zip, with the library of the archive.
go_vectors() { # goarch zig's target way
    local tags=
    [ "$3" = shared ] || tags=kandev_policy_static
    (
        cd "$module/policy"
        export CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC="$zig cc -target $2" CGO_LDFLAGS=-L$at/lib
        go test -c -tags "$tags" -o "$module/policy/vectors-$1-$3" .
    )
}
go_run() { # command of the test…
    local text
    text=$("$@" -test.v -test.run '^TestVectors|^TestEngine$' -test.count 1) || fail "$text"
    [ "$(grep -c '^--- PASS: TestVectors' <<<"$text")" = 4 ] && grep -q '^--- PASS: TestEngine' <<<"$text" || fail "$text"
    if grep -q '^ *--- SKIP' <<<"$text"; then fail "$text"; fi
    echo "$(grep -c '^--- PASS' <<<"$text") tests pass"
}

go_here() { # way
    go_vectors amd64 x86_64-linux-gnu.2.17 "$1"
    cp "$at/lib/$soname" "$module/policy/"
    cd "$module/policy"
    go_run env -i HOME=/ "./vectors-amd64-$1"
}

# The same library in the module as in the archive.
in_module() {
    cmp "$at/lib/$file" "$module/policy/lib/${1/-/_}/$soname"
    cmp "$at/lib/libkandev_policy.a" "$module/policy/lib/${1/-/_}/libkandev_policy.a"
    echo "the Go module has the same library and archive"
}

# --- an older Debian: its compiler, and only the unpacked archive -----------------------------------------------------
older_root=$target/dist/$older
make_older() {
    [ -e "$older_root/done" ] && return
    rm -rf "$older_root"
    debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config "$older" "$older_root" >"$target/dist/debootstrap.log" 2>&1 ||
        { tail "$target/dist/debootstrap.log" && return 1; }
    touch "$older_root/done"
}
in_older() { chroot "$older_root" env -i PATH=/usr/bin:/bin HOME=/root "$@"; }

older_c() {
    rm -rf "$older_root/opt/kandev-policy"
    cp -R "$at" "$older_root/opt/kandev-policy"
    mkdir "$older_root/opt/kandev-policy/tests"
    cp "$root"/tests/c/*.[ch] "${vectors[@]}" "$older_root/opt/kandev-policy/tests"
    in_older sh -euc 'cd /opt/kandev-policy
export PKG_CONFIG_PATH=$PWD/lib/pkgconfig
rpath="-Wl,-rpath,$PWD/lib"
cc example/main.c -o shared $(pkg-config --cflags --libs kandev-policy) $rpath
cc example/main.c -o static $(pkg-config --cflags kandev-policy) $(pkg-config --variable=static_libs kandev-policy)
cc -static example/main.c -o alone $(pkg-config --static --cflags --libs kandev-policy)
cc -std=c99 -O1 -Iinclude tests/vectors.c tests/jsonl.c tests/check.c -Llib -lkandev_policy $rpath -pthread -o vectors'
    for program in shared static alone; do prints in_older "/opt/kandev-policy/$program" || fail "$program"; done
    echo "$older, $(in_older ldd --version | head -n 1 | grep -oE '[0-9.]+$'), $(in_older gcc -dumpversion): the example prints '$want' each way;" \
        "$(passes in_older sh -c '/opt/kandev-policy/vectors /opt/kandev-policy/tests/*.jsonl')"
}

older_go() {
    local there=$older_root$module/policy
    rm -rf "${older_root:?}/tmp"/*
    mkdir -p "$there" "$older_root$module/../tests"
    cp "$module/policy/vectors-amd64-shared" "$module/policy/vectors-amd64-static" "$at/lib/$soname" "$there"
    cp -R "$root/tests/vectors" "$older_root$(dirname "$module")/tests/"
    # The place that the program itself names is found through /proc, which isn't there.
    for way in shared static; do go_run in_older LD_LIBRARY_PATH="$module/policy" "$module/policy/vectors-amd64-$way" || return 1; done
    echo "shared and static"
    rm -rf "${older_root:?}/tmp"/*
}

# --- musl: a folder with nothing else in it ---------------------------------------------------------------------------
musl_program() { # zig's target
    rm -rf "$work/empty"
    mkdir "$work/empty"
    # shellcheck disable=SC2046
    "$zig" cc -target "$1" -static -I"$at/include" "$at/example/main.c" "$at/lib/libkandev_policy.a" -lunwind -o "$work/empty/example"
    c_vectors "$1" "$work/empty/vectors" -static "$at/lib/libkandev_policy.a" -lunwind
    if readelf -l "$work/empty/example" | grep INTERP; then fail "needs a loader"; fi
    cp "${vectors[@]}" "$work/empty"
}
musl_static() { # zig's target
    musl_program "$1"
    prints chroot "$work/empty" /example
    echo "alone in a folder: prints '$want'; $(passes chroot "$work/empty" /vectors "${vectors[@]##*/}")"
}
# Debian 12 has musl 1.2.3, which is too old: the package of Debian 13, unpacked.
musl_root=$target/dist/musl
make_musl() {
    [ -e "$musl_root/done" ] && return
    local apt
    rm -rf "$musl_root"
    mkdir -p "$musl_root/lists/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >"$musl_root/sources.list"
    apt=(apt-get -qq -o "Dir::Etc::SourceList=$musl_root/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$musl_root/lists"
        -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$musl_root" && "${apt[@]}" download musl)
    dpkg-deb -x "$musl_root"/musl_*.deb "$musl_root"
    touch "$musl_root/done"
}
musl_shared() { # zig's target
    make_musl
    rm -rf "$work/empty"
    mkdir -p "$work/empty/lib"
    "$zig" cc -target "$1" -dynamic -I"$at/include" "$at/example/main.c" -L"$at/lib" -lkandev_policy -o "$work/empty/example"
    c_vectors "$1" "$work/empty/vectors" -dynamic -L"$at/lib" -lkandev_policy
    cp "${vectors[@]}" "$work/empty"
    cp "$at/lib/$soname" "$work/empty/lib"
    cp -L "$musl_root/usr/lib/ld-musl-x86_64.so.1" "$work/empty/lib"
    readelf -d "$work/empty/example" | grep -q "NEEDED.*\[$soname\]" || fail "the program doesn't need $soname"
    prints chroot "$work/empty" /example
    echo "with musl's loader beside it: prints '$want'; $(passes chroot "$work/empty" /vectors "${vectors[@]##*/}")"
}

# --- arm64, emulated --------------------------------------------------------------------------------------------------
emulated() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"; }

arm64_c() { # zig's target
    "$zig" cc -target "$1" -I"$at/include" "$at/example/main.c" -L"$at/lib" -lkandev_policy -Wl,-rpath,"$at/lib" -o "$work/arm64"
    "$zig" cc -target "$1" -I"$at/include" "$at/example/main.c" "$at/lib/libkandev_policy.a" -lgcc_s -lutil -lrt -lpthread -lm -ldl -o "$work/arm64-static"
    c_vectors "$1" "$work/arm64-vectors" -L"$at/lib" -lkandev_policy -Wl,-rpath,"$at/lib"
    prints emulated "$work/arm64"
    prints emulated "$work/arm64-static"
    echo "emulated, shared and static: prints '$want'; $(passes emulated "$work/arm64-vectors" "${vectors[@]}")"
}
arm64_go() { # way
    go_vectors arm64 aarch64-linux-gnu.2.17 "$1"
    cp "$at/lib/$soname" "$module/policy/"
    cd "$module/policy"
    echo "emulated, $(go_run emulated "./vectors-arm64-$1")"
}
arm64_musl() { # zig's target
    musl_program "$1"
    prints qemu-aarch64 "$work/empty/example"
    echo "emulated, without any other file: prints '$want'; $(passes qemu-aarch64 "$work/empty/vectors" "${vectors[@]}")"
}

# --- darwin -----------------------------------------------------------------------------------------------------------
macho() { # architecture
    local header
    header=$(llvm-otool-22 -hv "$at/lib/$file" | tail -n 1)
    [[ $header == *" $1 "*DYLIB* ]] || fail "$header"
    header=$(llvm-otool-22 -hv "$at/lib/libkandev_policy.a" | grep MH_MAGIC)
    [[ $header == *" $1 "*OBJECT* ]] || fail "in the archive: $header"
    echo "$1, library and archive"
}
load_commands() {
    local commands
    commands=$(llvm-otool-22 -l "$at/lib/$file")
    [ "$(llvm-otool-22 -D "$at/lib/$file" | tail -n 1)" = "@rpath/$soname" ] || fail "$(llvm-otool-22 -D "$at/lib/$file")"
    grep -A4 LC_BUILD_VERSION <<<"$commands" | grep -qx ' *platform 1' || fail "not for macOS"
    grep -A4 LC_BUILD_VERSION <<<"$commands" | grep -qx ' *minos 11.0' || fail "$(grep -A4 LC_BUILD_VERSION <<<"$commands")"
    if grep LC_RPATH <<<"$commands"; then fail "an rpath"; fi
    needed=$(llvm-otool-22 -L "$at/lib/$file" | tail -n +3 | awk '{ print $1 }')
    if grep -vE '^/usr/lib/lib(System\.B|iconv\.2)\.dylib$' <<<"$needed"; then fail "also needed, above"; fi
    echo "@rpath/$soname, macOS 11.0, needs $(paste -sd ' ' <<<"$needed")"
}
macho_exports() {
    same_functions "$at/include/kandev_policy.h" \
        "$(llvm-objdump-22 --macho --exports-trie "$at/lib/$file" | awk '$1 ~ /^0x/ { sub(/^_/, "", $2); print $2 }')"
}
darwin_links() { # zig's target
    "$zig" cc -target "$1" -I"$at/include" "$at/example/main.c" -L"$at/lib" -lkandev_policy -Wl,-rpath,@executable_path -o "$work/darwin"
    "$zig" cc -target "$1" -I"$at/include" "$at/example/main.c" "$at/lib/libkandev_policy.a" -o "$work/darwin-static"
    llvm-otool-22 -L "$work/darwin" | grep -q "@rpath/$soname" || fail "the program doesn't need the library"
    if llvm-otool-22 -L "$work/darwin-static" | grep kandev; then fail "the program needs the library"; fi
    echo "the example links, shared and static; not run on a Mac"
}

# --- all of them ------------------------------------------------------------------------------------------------------
current=dist
check sums sums
module=$work/unzipped/github.com/kandev/kandev-policy/go
mkdir -p "$work/unzipped"
unzip -q "$dist/kandev-policy-go-v$version.zip" -d "$work/unzipped"
# Beside the vectors, where the tests look for them.
mv "$module@v$version" "$module"
mkdir "$(dirname "$module")/tests"
cp -R "$root/tests/vectors" "$(dirname "$module")/tests/"

for platform in "${platforms[@]}"; do
    read -r current _ for <<<"$platform"
    names "$current"
    archive=$dist/kandev-policy-$version-$current.tar.gz
    at=$work/kandev-policy-$version-$current
    tar -C "$work" -xzf "$archive"
    check contents contents
    check size size "$current"
    check no-paths no_paths
    check pkg-config pkg_config
    case $current in
    linux-*)
        case $current in *amd64*) machine="Advanced Micro Devices X86-64" ;; *) machine=AArch64 ;; esac
        check architecture elf "$machine"
        check exports elf_exports
        check archive-exports archive_exports nm
        ;;
    darwin-*)
        case $current in *amd64) machine=X86_64 ;; *) machine=ARM64 ;; esac
        check architecture macho "$machine"
        check load-commands load_commands
        check exports macho_exports
        check archive-exports archive_exports llvm-nm-22
        check signature "$here/signature.py" "$at/lib/$file"
        check links darwin_links "$for"
        ;;
    esac
    case $current in
    linux-*-musl) check soname elf_names 'libc\.so' ;;
    linux-*)
        check soname elf_names 'lib(c|pthread|dl|m|rt|util)\.so\.[0-9]|ld-linux-(x86-64|aarch64)\.so\.[0-9]'
        check versions symbol_versions 2.17
        ;;
    esac
    case $current in *-musl) ;; *) check module in_module "$current" ;; esac
    case $current in
    linux-amd64)
        check example example_here
        check c-vectors c_vectors_here
        for way in shared static; do check "go-$way" go_here $way; done
        make_older
        check "$older-c" older_c
        check "$older-go" older_go
        ;;
    linux-arm64)
        check arm64-c arm64_c "$for"
        for way in shared static; do check "go-$way" arm64_go $way; done
        ;;
    linux-amd64-musl)
        check musl-static musl_static "$for"
        check musl-shared musl_shared "$for"
        ;;
    linux-arm64-musl) check musl-static arm64_musl "$for" ;;
    esac
done
[ "$failed" = 0 ] && echo "every check passes; the libraries for darwin were not run on a Mac"
exit "$failed"
