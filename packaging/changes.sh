#!/usr/bin/env bash
# Prints what the changelog says of a version.
#
#     packaging/changes.sh 1.2.3
set -euo pipefail
cd "$(dirname "$0")/.."
text=$(awk -v head="## [$1]" 'index($0, "## [") == 1 { on = index($0, head) == 1; next } /^\[[^]]*\]: / { on = 0 } on' CHANGELOG.md)
[ -n "$text" ] || { echo "CHANGELOG.md says nothing of $1" >&2 && exit 1; }
printf '%s\n' "$text"
