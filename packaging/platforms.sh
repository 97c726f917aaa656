# What is shipped, one platform a line; to be sourced where root is set.
# shellcheck shell=bash disable=SC2034,SC2154

# its name in an archive's name, Rust's name, zig's name with the oldest system that it runs on
platforms=(
    "linux-amd64 x86_64-unknown-linux-gnu x86_64-linux-gnu.2.17"
    "linux-arm64 aarch64-unknown-linux-gnu aarch64-linux-gnu.2.17"
    "linux-amd64-musl x86_64-unknown-linux-musl x86_64-linux-musl"
    "linux-arm64-musl aarch64-unknown-linux-musl aarch64-linux-musl"
    "darwin-amd64 x86_64-apple-darwin x86_64-macos.11.0"
    "darwin-arm64 aarch64-apple-darwin aarch64-macos.11.0"
)
# PLATFORMS names fewer, to look at a change sooner.
if [ -n "${PLATFORMS-}" ]; then
    chosen=()
    for platform in "${platforms[@]}"; do
        case " $PLATFORMS " in *" ${platform%% *} "*) chosen+=("$platform") ;; esac
    done
    platforms=("${chosen[@]}")
fi

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
abi=$(sed -n 's/^#define KANDEV_POLICY_ABI_VERSION \([0-9]*\)$/\1/p' "$root/include/kandev_policy.h")

# names PLATFORM: sets soname, what a program looks for; file, which holds the library's own version too; link, for linkers.
names() {
    case $1 in
    linux-*) soname=libkandev_policy.so.$abi file=libkandev_policy.so.$abi.$version link=libkandev_policy.so ;;
    darwin-*) soname=libkandev_policy.$abi.dylib file=libkandev_policy.$abi.$version.dylib link=libkandev_policy.dylib ;;
    esac
}
