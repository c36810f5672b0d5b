# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# What a program calls itself, its files and its parts is shown, and does nothing.
mkdir -p "$work/escapes"
holds python3 tests/cli/escapes.py "$JAXVET" "$work/escapes" \
    tests/rules/SHP010_fails.json.gz tests/data/exported/0.10.2-vjp2.jaxexport
