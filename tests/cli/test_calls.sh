# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Calls within calls double; what they are written down in does not.
mkdir -p "$work/calls"
holds python3 tests/cli/calls.py "$JAXVET" "$work/calls"
