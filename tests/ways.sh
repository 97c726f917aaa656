#!/usr/bin/env bash
# The whole Go suite, the acceptance tests and the command's tests in each way to link, and `go vet` for each system. `tests/ways.sh WAY…` runs only the ways named.
#
# Needs `make lib`.
set -euo pipefail
cd "$(dirname "$0")/../go"

# way: its name, CGO_ENABLED, its tags
ways=(
    "shared 1 -"
    "static 1 kandev_policy_static"
    "wasm 0 -"
    "wasm-race 1 kandev_policy_wasm"
    "none 0 kandev_policy_none"
)
for way in "${ways[@]}"; do
    read -r name cgo tags <<<"$way"
    if [ "$#" -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    printf '== %s\n' "$name"
    race=()
    [ "$name" = wasm-race ] && race=(-race)
    # A cached result would not notice another library.
    CGO_ENABLED=$cgo go test -count=1 "${race[@]}" -tags "${tags/#-/}" ./...
    # Without an engine there is nothing for the acceptance criteria and the command to show.
    case $name in shared | static | wasm) ;; *) continue ;; esac
    for module in examples/processmanager cmd/kandev-policy; do
        (cd "$module" && CGO_ENABLED=$cgo go test -count=1 -tags "${tags/#-/}" ./...)
    done
done

[ "$#" -gt 0 ] && exit
printf '== vet\n'
for tags in "" kandev_policy_static kandev_policy_wasm kandev_policy_none; do
    go vet -tags "$tags" ./...
done
for system in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
    for tags in "" kandev_policy_none; do
        CGO_ENABLED=0 GOOS=${system%/*} GOARCH=${system#*/} go vet -tags "$tags" ./...
    done
done
