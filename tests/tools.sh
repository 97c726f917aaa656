# shellcheck shell=bash
# Sourced by suites that need a program which a new machine may not have.

# need COMMAND PACKAGE…: installs Debian's packages if the command is missing and that can be done; else skips the suite.
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; } >&2 || true
    fi
    command -v "$command" >/dev/null || { echo "no $command: install $*" && exit 77; }
}
