#!/bin/sh
# check_readme.sh - what README.md and the pages of docs/ show is what the commands
# print.
set -eu
cd "$(dirname "$0")/.."
now=$(mktemp)
trap 'rm -f "$now"' EXIT

# shellcheck disable=SC2046 # names without spaces
set -- README.md $(grep -l '^```console$' docs/*.md)
for page; do
    scripts/readme.sh "$page" >"$now"
    if ! diff -u "$page" "$now"; then
        echo "readme: $page shows something else than its commands print"
        exit 1
    fi
done
echo "readme: $(cat "$@" | grep -c '^\$ ') commands on $# pages print what these show"
