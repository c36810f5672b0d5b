#!/bin/sh
# check_readme.sh - what README.md shows is what the commands print.
set -eu
cd "$(dirname "$0")/.."
now=$(mktemp)
trap 'rm -f "$now"' EXIT

scripts/readme.sh >"$now"
if ! diff -u README.md "$now"; then
    echo "readme: README.md shows something else than its commands print"
    exit 1
fi
echo "readme: $(grep -c '^\$ ' README.md) commands print what it shows"
