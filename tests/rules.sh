#!/bin/sh
# Shows that the tests hold on to every rule: disables one rule after the other in a copy of the tree, by an edit of the
# source, and looks whether a test notices.
#
# usage: tests/rules.sh [engine|specification|model] [PART_OF_A_RULE'S_NAME]
#
#   engine         tests/rules/engine.rules: edits of src/; `cargo test --test vectors` must fail each time
#   specification  tests/rules/specification.rules: edits of tests/spec/; the comparison with the engine over the
#                  abstract space (tests/space) must find a disagreement each time
#   model          tests/rules/model.rules: edits of src/; the model of tests/model must fail each time
#
# Without an argument: all. Ends with 1 if a rule survives or an edit doesn't apply.
set -eu
exec python3 "$(dirname "$0")/rules/run.py" "$@"
