#!/bin/sh
# The instruction budget: what each kind of decision costs, counted by Valgrind's callgrind in the library as it is
# shipped, against what is recorded for this compiler in tests/budget/counts.json. No time is measured.
#
# usage: tests/budget.sh [--record|--prove]
#
#   (nothing)  fails when a count is more than 5 % over its record
#   --record   counts, and records that for this compiler
#   --prove    slows the library down in a copy of the tree, by an edit of the source: the budget must notice each
#
# A compiler that nothing is recorded for fails nothing: its counts are printed, and the last line says so.
set -eu
exec python3 "$(dirname "$0")/budget/run.py" "$@"
