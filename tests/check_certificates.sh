#!/bin/sh
# check_certificates.sh - proofs of the questions of tests/prove have
# certificates, the checker accepts each of them, and rejects them once their
# meaning is changed ($MUTANTS of them, 2,000; make mutate: 10,000).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
jaxvet=$build/jaxvet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
    echo "certificates: $*"
    bad=1
}

"$jaxvet" prove tests/prove/questions.jsonl --certificate "$work/all" \
    >"$work/answers" 2>"$work/said" || fail "prove: exit code $?"
"$jaxvet" prove --check "$work/all" >"$work/checked" ||
    fail "check: exit code $?: $(grep -v accepted "$work/checked" | head -n 3)"
"$jaxvet" prove tests/prove/questions.jsonl --certificate "$work/again" \
    >/dev/null 2>&1
cmp -s "$work/all" "$work/again" || fail "two runs differ"

# The closing line counts them, and so do we.
made=$(wc -l <"$work/all")
proofs=$(grep -c -E '"verdict":"(true|false|contradiction)"' "$work/answers")
proved=$(grep -c -E '"verdict":"(true|false|contradiction)"' "$work/all")
grep -q "^$made accepted, 0 rejected, 0 malformed" "$work/checked" ||
    fail "$(tail -n 1 "$work/checked")"
[ $((proved * 100)) -ge $((proofs * 85)) ] ||
    fail "only $proved of $proofs proofs have a certificate"

"$build/tests/mutate_certificates" "$work/all" "${MUTANTS:-2000}" \
    >"$work/mutants" || {
    grep -v '^was' "$work/mutants" | cut -c 1-300 | head -n 5
    fail "a mutant was accepted"
}
tail -n 1 "$work/mutants"
[ $bad -eq 0 ] && echo "certificates: $proved of $proofs proofs have one"
exit $bad
