#!/bin/sh
# run.sh - checks, gradchecks and runs every demo program, and says what came
# of it.  Needs the built command and nothing else: no Python, no network.
#
#   demo/run.sh [JAXVET]       exit status 0 iff all went as the manifest says
set -u
jaxvet=$(realpath "${1:-$(dirname "$0")/../build/jaxvet}")
cd "$(dirname "$0")/.." || exit 1
data=demo/data
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
bold='' red='' green='' dim='' plain=''
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
        [ $((checked + graded)) = 0 ] || fail "$1: reported, but nothing is wrong with it"
    else
        defects=$((defects + 1))
        if grep -q "\[$2\]" "$work/out"; then
            found=$((found + 1))
        else
            fail "$1: its defect ($2) was not found"
        fi
    fi
}

run_case() { # name, npz, absolute tolerance
    runs=$((runs + 1))
    set -- "$1" "$2" "${3#-}" # `-`: the default
    "$jaxvet" run "$document" --inputs "$data/$2" --expect "$data/$2" ${3:+--rtol 1e-5 --atol "$3"} >"$work/out" 2>&1 ||
        fail "$1: running $2 did not give what JAX gives"
}

# "1 program: 12 proved, 0 refuted, 1 witnessed, 0 undecided" without the zeros.
short() {
    tail -n 1 "$work/check" | sed 's/^1 program: //; s/\(^\|, \)0 [a-z]*//g; s/^, //'
}

# A row per program, in the colour of how it went; what failed stands above.
row() {
    [ -n "$shown" ] || return
    mark=$green
    [ "$defect" = - ] || mark=$bold
    [ "$bad" = "$before" ] || mark=$red
    printf '%s%-22s%s %-24s %-8s %-9s %s%s%s\n' "$mark" "$shown" "$plain" "$claims" \
        "$(echo "$defect" | tr -d -)" "$equal of $cases" "$dim" "$what" "$plain"
}

printf '%s%-22s %-24s %-8s %-9s %s%s\n' "$bold" program 'claims about sizes' finding \
    '= JAX' 'what it is' "$plain"
last='' shown=''
while IFS=$tab read -r name doc npz atol planted about; do
    document=$data/$doc
    if [ "$name" != "$shown" ]; then
        row
        before=$bad shown=$name defect=$planted what=$about equal=0 cases=0
    fi
    if [ "$doc" != "$last" ]; then
        judge "$name" "$defect"
        claims=$(short)
    fi
    failures=$bad
    run_case "$name" "$npz" "$atol"
    cases=$((cases + 1))
    [ "$bad" = "$failures" ] && equal=$((equal + 1)) && good=$((good + 1))
    last=$doc
done <"$data/manifest.tsv"
row

printf '\n%sWhat two of the defects look like%s\n\n' "$bold" "$plain"
"$jaxvet" check "$data/branch_on_equal_sizes.json.gz"
echo
"$jaxvet" gradcheck "$data/huber_rule_wrong.json.gz"
printf '\n%d of %d runs equal to JAX, planted defects found in %d of %d documents, %d surprises\n' \
    "$good" "$runs" "$found" "$defects" "$bad"
[ "$bad" = 0 ]
