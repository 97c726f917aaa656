#!/usr/bin/env bash
# Builds what is shipped, for every platform, on one x86_64 machine with Debian 12:
#
#   dist/kandev-policy-VERSION-PLATFORM.tar.gz    library, header, pkg-config file, licences, example
#   dist/kandev-policy-go-vVERSION.zip            the Go module with the libraries in it, as a proxy serves it
#   dist/SHA256SUMS
#
# The same commit gives the same bytes. `packaging/check.sh` then tests these files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
# shellcheck source=packaging/platforms.sh
source "$here/platforms.sh"
# shellcheck source=packaging/static_libs.sh
source "$here/static_libs.sh"
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
build=$target/dist
dist=$root/dist
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022
mkdir -p "$build"

zig_folder=$("$here/tools.sh")
export ZIG=$zig_folder/zig LLVM_OBJCOPY=llvm-objcopy-22 LLVM_AR=llvm-ar-22 ZIG_GLOBAL_CACHE_DIR=$build/zig ZIG_LOCAL_CACHE_DIR=$build/zig

# --- the libraries ----------------------------------------------------------------------------------------------------
# The standard library is built along, for the oldest system and without what prints a backtrace, which nobody would see.
# That is an unstable feature of the compiler.
export RUSTC=/usr/bin/rustc CARGO=/usr/bin/cargo RUSTC_BOOTSTRAP=1
# musl: a shared library needs a shared C library.
export RUSTFLAGS="-Ctarget-feature=-crt-static"
export SDKROOT=$zig_folder/lib/libc/darwin MACOSX_DEPLOYMENT_TARGET=11.0
targets=()
for platform in "${platforms[@]}"; do
    read -r name rust zig <<<"$platform"
    linker=$build/link-$name
    # Nothing needs iconv, which rustc names for darwin and zig doesn't have.
    cat >"$linker" <<END
#!/bin/bash
for argument; do [ "\$argument" = -liconv ] || arguments+=("\$argument"); done
exec "$ZIG" cc -target $zig -s "\${arguments[@]}"
END
    chmod +x "$linker"
    variable=${rust^^}
    export "CARGO_TARGET_${variable//-/_}_LINKER=$linker"
    targets+=(--target "$rust")
done
# Stripped by the linker: cargo would look for a tool that Debian's compiler doesn't have.
"$here/cargo.sh" build --quiet --manifest-path "$root/Cargo.toml" --locked --release --lib --features capi \
    -Z build-std=std,panic_unwind -Z build-std-features=panic-unwind --config 'profile.release.strip=false' \
    "${targets[@]}" --target-dir "$build"

# --- the archives -----------------------------------------------------------------------------------------------------
rm -rf "$dist" "$build/stage"
mkdir -p "$dist" "$build/stage"

pkgconfig() { # the folder may be moved: the file finds the rest from where it is itself
    # shellcheck disable=SC2016 # pkg-config's variable
    sed -e 's|@prefix@|${pcfiledir}/../..|' -e "s|@version@|$version|" -e "s|@libs_private@|$(static_libs "${1%%-*}")|" "$here/kandev-policy.pc.in"
}

# A library for darwin is linked by LLVM's linker, which signs for each processor, from the archive's one object. It doesn't
# know the newest of the architectures that zig's list of the system's symbols names.
darwin_library() { # architecture folder
    sed -E 's/arm64e\.x1-/arm64e-/g' "$SDKROOT/libSystem.tbd" >"$build/libSystem.tbd"
    llvm-ar-22 p "$2/lib/libkandev_policy.a" >"$build/kandev_policy.o"
    ld64.lld-22 -dylib -arch "$1" -platform_version macos "$MACOSX_DEPLOYMENT_TARGET" "$MACOSX_DEPLOYMENT_TARGET" \
        -install_name "@rpath/$soname" -current_version "$version" -compatibility_version "$abi" \
        -exported_symbol '_kandev_policy_*' -dead_strip -S -x -adhoc_codesign \
        "$build/kandev_policy.o" "$build/libSystem.tbd" -o "$2/lib/$file"
}

module=$build/stage/go
(cd "$root" && git ls-files -z go | xargs -0 cp --parents -t "$build/stage")
cp "$root"/LICENSE-* "$here/THIRD-PARTY-NOTICES.md" "$module"

for platform in "${platforms[@]}"; do
    read -r name rust zig <<<"$platform"
    names "$name"
    folder=kandev-policy-$version-$name
    to=$build/stage/$folder
    mkdir -p "$to"/{include,lib/pkgconfig,example}
    cp "$root/include/kandev_policy.h" "$to/include"
    cp "$root"/LICENSE-* "$root/CHANGELOG.md" "$here/THIRD-PARTY-NOTICES.md" "$to"
    cp "$here"/example/* "$to/example"
    pkgconfig "$name" >"$to/lib/pkgconfig/kandev-policy.pc"
    ln -s "$file" "$to/lib/$soname"
    ln -s "$soname" "$to/lib/$link"
    tools=
    case $name in linux-arm64*) tools=aarch64-linux-gnu- ;; esac
    TOOLS=$tools "$here/localise.sh" "${name%%-*}" "$build/$rust/release/libkandev_policy.a" "$to/lib/libkandev_policy.a" "$zig"
    case $name in
    darwin-amd64) darwin_library x86_64 "$to" ;;
    darwin-arm64) darwin_library arm64 "$to" ;;
    *) cp "$build/$rust/release/$link" "$to/lib/$file" ;;
    esac
    chmod 644 "$to/lib/libkandev_policy.a"
    tar -C "$build/stage" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode='u=rwX,go=rX' -cf - "$folder" | gzip -9n >"$dist/$folder.tar.gz"
    case $name in *-musl) continue ;; esac
    cp "$to/lib/$file" "$module/policy/lib/${name/-/_}/$soname"
    cp "$to/lib/libkandev_policy.a" "$module/policy/lib/${name/-/_}"
done

# --- the Go module ----------------------------------------------------------------------------------------------------
(cd "$root/tests/consumers" && go run ./modzip "$module" "v$version" "$build/stage/proxy")
cp "$build/stage/proxy/github.com/kandev/kandev-policy/go/@v/v$version.zip" "$dist/kandev-policy-go-v$version.zip"

cd "$dist"
sha256sum -- * >"$build/SHA256SUMS"
mv "$build/SHA256SUMS" .
wc -c -- *
cat SHA256SUMS
