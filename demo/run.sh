#!/bin/sh
# run.sh - checks, gradchecks and runs every demo program, and says what came
# of it.  Needs the built command and nothing else: no Python, no network.
#
#   demo/run.sh [JAXVET]       exit status 0 iff all went as the manifest says
set -u
here=$(cd "$(dirname "$0")" && pwd)
jaxvet=${1:-$here/../build/jaxvet}
data=$here/data
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
bold= red= green= dim= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$(printf '\033[1m') red=$(printf '\033[31m') green=$(printf '\033[32m')
    dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
good=0 bad=0 runs=0 found=0 defects=0

# One line per program, and the output of a step that did not go as it should.
fail() {
    bad=$((bad + 1))
    printf '  %s%s%s\n' "$red" "$1" "$plain"
    sed 's/^/    /' "$work/out" | head -n 20
}

# The defect that a program was given must be reported, and nothing else.
judge() { # name, defect
    "$jaxvet" check "$document" --fail-on warning >"$work/check" 2>&1
    checked=$?
    "$jaxvet" gradcheck "$document" --inputs "$data/$npz" >"$work/grad" 2>&1
    graded=$?
    cat "$work/check" "$work/grad" >"$work/out"
    if [ "$2" = - ]; then
        [ $checked = 0 ] && [ $graded = 0 ] || fail "$1: reported, but nothing is wrong with it"
    else
        defects=$((defects + 1))
        if grep -q "\[$2\]" "$work/out"; then
            found=$((found + 1))
        else
            fail "$1: its defect ($2) was not found"
        fi
    fi
}

run_case() { # name, npz
    runs=$((runs + 1))
    "$jaxvet" run "$document" --inputs "$data/$2" --expect "$data/$2" >"$work/out" 2>&1 ||
        fail "$1: running $2 did not give what JAX gives"
}

printf '%s%-26s %-44s %s%s\n' "$bold" program 'claims' 'what it is' "$plain"
last=
while IFS=$tab read -r name doc npz sizes defect about; do
    document=$data/$doc
    before=$bad
    if [ "$doc" != "$last" ]; then
        judge "$name" "$defect"
        claims=$(tail -n 1 "$work/check")
    fi
    run_case "$name" "$npz"
    [ "$bad" = "$before" ] && good=$((good + 1))
    if [ "$doc" != "$last" ]; then
        mark=$green
        [ "$defect" = - ] || mark=$red
        printf '%s%-26s%s %-44s %s%s%s\n' "$mark" "$name" "$plain" "$claims" "$dim" "$about" "$plain"
    fi
    last=$doc
done <"$data/manifest.tsv"

printf '\n%sWhat two of the defects look like%s\n\n' "$bold" "$plain"
"$jaxvet" check "$data/branch_on_equal_sizes.json.gz"
echo
"$jaxvet" gradcheck "$data/huber_rule_wrong.json.gz"
printf '\n%d of %d runs equal to JAX, %d of %d planted defects found, %d surprises\n' \
    "$good" "$runs" "$found" "$defects" "$bad"
[ "$bad" = 0 ]
