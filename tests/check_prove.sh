#!/bin/sh
# check_prove.sh - `jaxvet prove` on the questions of tests/prove: every verdict
# is the expected one, twice the same bytes, with and without JSON and from C; and a second
# solver, where there is one, contradicts none of them.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/left_out.sh
jaxvet=${BUILD:-build}/jaxvet
questions=tests/prove/questions.jsonl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
    echo "prove: $*"
    bad=1
}

# "id verdict" per line of answers, and "id expected" per line of questions.
verdicts() {
    sed 's/^{"id":\([0-9]*\),"verdict":"\([a-z]*\)".*/\1 \2/' "$1"
}
expected() {
    sed 's/^{"id":\([0-9]*\),.*"expect":"\([a-z]*\)"}$/\1 \2/' $questions
}

"$jaxvet" prove $questions >"$work/answers" || fail "exit code $?"
"$jaxvet" prove - <$questions >"$work/again"
cmp -s "$work/answers" "$work/again" || fail "two runs differ"
verdicts "$work/answers" >"$work/got"
expected >"$work/want"
diff "$work/want" "$work/got" >"$work/diff" || {
    sed 's/^/    /' "$work/diff" | head -n 20
    fail "expected (<) other verdicts (>)"
}

# jaxvet_prove() says what the command says: one path.
same_by_api() {
    "$jaxvet" prove "$1" | sed 's/^{"id":[^,]*,/{"id":null,/' >"$work/command"
    "${BUILD:-build}/tests/ask_api" "$1" >"$work/api" || fail "ask_api: $?"
    diff "$work/command" "$work/api" >"$work/diff" || {
        cut -c 1-300 "$work/diff" | head -n 8
        fail "$1: the command (<) and jaxvet_prove (>) differ"
    }
}
same_by_api $questions
same_by_api tests/prove/asked.jsonl
"$jaxvet" prove tests/prove/asked.jsonl |
    sed 's/.*"verdict":"\([a-z]*\)".*/\1/' >"$work/got.asked"
sed 's/.*"expect":"\([a-z]*\)"}$/\1/' tests/prove/asked.jsonl |
    diff - "$work/got.asked" || fail "asked.jsonl: expected (<) other verdicts (>)"

# Without the solver an answer may be unknown, never another.
"$jaxvet" prove --no-solver $questions >"$work/alone"
verdicts "$work/alone" | grep -v unknown >"$work/alone.known"
[ "$(grep -c -v -x -F -f "$work/want" "$work/alone.known")" -eq 0 ] ||
    fail "other verdicts without the solver"

# The same scripts that Z3 gets ask for a counterexample: `sat` would refute
# what we call true, `unsat` what we say can fail.
if command -v cvc5 >/dev/null 2>&1; then
    "$jaxvet" prove --smt2 $questions >"$work/scripts" || fail "--smt2: $?"
    cvc5 --lang smt2 --tlimit-per=300 -q "$work/scripts" >"$work/cvc5" \
        2>"$work/cvc5.errors"
    paste -d ' ' "$work/got" "$work/cvc5" >"$work/both"
    [ "$(wc -l <"$work/cvc5")" -eq "$(wc -l <"$work/got")" ] ||
        fail "cvc5 answered $(wc -l <"$work/cvc5") scripts: $(head -n 3 "$work/cvc5.errors")"
    awk '($2 == "true" || $2 == "contradiction") && $3 == "sat" ||
         ($2 == "false" || $2 == "depends") && $3 == "unsat" {
             print "    question " $1 ": we say " $2 ", cvc5 " $3; bad = 1 }
         END { exit bad }' "$work/both" || fail "cvc5 disagrees"
    agreed=$(grep -c -E ' (sat|unsat)$' "$work/both")
    echo "prove: $(wc -l <"$work/got") questions, cvc5 confirms $agreed"
else
    echo "prove: $(wc -l <"$work/got") questions"
    left_out "prove" "cvc5 is not installed" || bad=1
fi
exit $bad
