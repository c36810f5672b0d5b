#!/bin/sh
# check_golden.sh - reports on the example programs, byte for byte, in every
# format.  UPDATE=1 writes what is printed now; look at the difference.
set -u
cd "$(dirname "$0")/.." || exit 1
jaxvet=${BUILD:-build}/jaxvet
golden=tests/golden/check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# shellcheck disable=SC2013 # a format is a word
for format in $(sed -n 's/^FORMAT(\(.*\))$/\1/p' reports/formats/formats.def); do
    "$jaxvet" check --trust-embedded --format "$format" tests/rules/S*.json.gz \
        tests/rules/P*.json.gz 2>&1 | sed 's/},{/},\
{/g' >"$work/$format"
    if [ -n "${UPDATE:-}" ]; then
        cp "$work/$format" "$golden/rules.$format"
    elif ! diff -u "$golden/rules.$format" "$work/$format"; then
        echo "golden: $golden/rules.$format differs (UPDATE=1 renews it)"
        bad=1
    fi
done
[ $bad -eq 0 ] && echo "golden: reports are as they were"
exit $bad
