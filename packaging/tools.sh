#!/usr/bin/env bash
# Installs what `make dist` and `make dist-check` need on Debian 12 beside Go, GCC and Python, in pinned versions where
# there are any.
#
#     packaging/tools.sh             installs what is missing; apt-get needs root
#
# The compiler is Debian's for WebAssembly builds: the one packaged here that brings the source of its standard library,
# from which that is built for every platform. The linker for every platform is zig's, from PyPI.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
tools=${CARGO_TARGET_DIR:-$root/target}/dist-tools

packages=(
    rustc-web cargo-web rust-web-src    # the compiler
    binutils binutils-aarch64-linux-gnu # static archives for linux, and to look at what was built
    llvm-22 lld-22                      # the same for darwin
    pkg-config unzip                    # for the checks: what a user has,
    debootstrap                         # an older Debian,
    qemu-user libc6-arm64-cross         # and arm64 with its C library
)
missing=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "${missing[@]}" >&2
fi

if ! "$tools/bin/python" -c 'import ziglang' 2>/dev/null || [ "$tools/done" -ot "$root/packaging/requirements.txt" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$root/packaging/requirements.txt"
    touch "$tools/done"
fi
"$tools/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'
