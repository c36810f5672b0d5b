#!/bin/sh
# check_rules.sh - the programs that `jaxvet explain` shows: the one that has a
# finding has it, on the line that says so, and the other has none of its code.
# tests/rules is made by scripts/rule_examples.py from the texts themselves.
set -u
cd "$(dirname "$0")/.." || exit 1
jaxvet=${BUILD:-build}/jaxvet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
run=0
skipped=

fail() {
    echo "rules: $*"
    sed 's/^/    /' "$work/out" | head -n 20
    bad=1
}

# The document of an example, in whichever form it is kept.
example() { # code, fails or passes
    for form in json.gz jaxpr jaxexport.gz mlir; do
        [ -e "tests/rules/$1_$2.$form" ] && echo "tests/rules/$1_$2.$form"
    done
}

# The line of the failing program that its `#! CODE` marks.
marked() { # code
    "$jaxvet" explain "$1" | awk -v code="$1" '
        /^Has it:/ { on = 1; getline; next }
        /^Has it not:/ { exit }
        on { line++ }
        on && $0 ~ ("#! " code "$") { print line; exit }'
}

try() { # code, fails or passes
    trust= # these programs carry the source that they are about
    [ "${command%% *}" = check ] && trust=--trust-embedded
    # What compares two programs compares each with the one that passes.
    other=
    [ "${command%% *}" = equal ] && other=$(example "$1" passes)
    # shellcheck disable=SC2086 # a command with its options, options or none
    "$jaxvet" $command $trust "$(example "$1" "$2")" $other >"$work/out" 2>"$work/err"
    status=$?
    run=$((run + 1))
    if [ "$status" -ne 0 ] && [ "$status" -ne 1 ]; then
        cat "$work/err" >>"$work/out"
        fail "$1: the program that $2 gives exit code $status"
    fi
}

for code in $("$jaxvet" rules | cut -c1-6); do
    command=$("$jaxvet" explain "$code" | sed -n '1s/.*said by jaxvet \([a-z: -]*\)).*/\1/p')
    if ! "$jaxvet" help "${command%% *}" >/dev/null 2>&1; then
        skipped="$skipped $code (no jaxvet $command)"
        continue
    fi
    if [ -z "$(example "$code" fails)" ] || [ -z "$(example "$code" passes)" ]; then
        : >"$work/out"
        fail "$code: tests/rules has no example; run scripts/rule_examples.py"
        continue
    fi
    "$jaxvet" info "$(example "$code" fails)" >"$work/out" 2>&1 ||
        if grep -q 'expected a program' "$work/out"; then
            skipped="$skipped $code (its form of program is not read yet)"
            continue
        fi
    try "$code" fails
    line=$(marked "$code")
    grep -A1 "^[a-z]*\[$code\]" "$work/out" >"$work/found" ||
        fail "$code: the program that fails has no finding"
    if [ -n "$line" ] && ! grep -q -- "--> ${code}_fails.py:$line\(:\|\$\)" "$work/found"; then
        fail "$code: no finding on line $line"
    fi
    try "$code" passes
    grep -q "^[a-z]*\[$code\]" "$work/out" &&
        fail "$code: the program that passes has a finding"
done
[ -n "$skipped" ] && echo "rules: left out:$skipped"
echo "rules: $run programs"
exit $bad
