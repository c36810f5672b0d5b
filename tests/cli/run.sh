#!/bin/sh
# run.sh [FILE] - the command as its users meet it.  Reads tests/cli/test_*.sh,
# all or that one, which call what is defined here; $JAXVET is the command under
# test.
set -u
cd "$(dirname "$0")/../.." || exit 1
JAXVET=$(realpath "${JAXVET:-build/jaxvet}")
export JAXVET
if [ $# -eq 0 ]; then
    for each in tests/cli/test_*.sh; do
        echo "tests/cli/run.sh $each"
    done | scripts/side_by_side.sh | awk '
        /^cli: [0-9]+ passed, [0-9]+ failed$/ { passed += $2; failed += $4; next }
        { print }
        /^failed with / { bad = 1 }
        END {
            print "cli: " passed + 0 " passed, " failed + 0 " failed"
            exit bad || passed == 0
        }'
    exit
fi
. scripts/left_out.sh
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
passed=0
failed=0

fail() {
    echo "cli: $file: $*"
    sed 's/^/    out: /' "$work/out" | head -n 10
    sed 's/^/    err: /' "$work/err" | head -n 10
    failed=$((failed + 1))
}

pass() {
    passed=$((passed + 1))
}

# expect CODE ARG... - runs jaxvet with the arguments (standard input is this
# shell's); its exit code must be CODE.  What it printed is in $work/out and
# $work/err for the lines that follow.
expect() {
    code=$1
    shift
    "$JAXVET" "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ $got -eq "$code" ]; then
        pass
    else
        fail "jaxvet $*: exit code $got, expected $code"
    fi
}

# prints PATTERN, complains PATTERN - what the last command wrote to standard
# output (error) has a line that matches.
prints() {
    if grep -q -e "$1" "$work/out"; then pass; else fail "no '$1' in the output"; fi
}
complains() {
    if grep -q -e "$1" "$work/err"; then pass; else fail "no '$1' in the errors"; fi
}

# is_silent - the last command wrote nothing to standard error.
is_silent() {
    if [ -s "$work/err" ]; then fail "unexpected errors"; else pass; fi
}

# holds COMMAND... - the command succeeds.
holds() {
    if "$@"; then pass; else fail "not so: $*"; fi
}

work=$all/$(basename "$1" .sh)
mkdir "$work"
file=$1
. "$file"
echo "cli: $passed passed, $failed failed"
[ $failed -eq 0 ]
