#!/bin/sh
# prove_load.sh [BURNERS] - the same questions three times while other processes
# keep the processors busy: every answer must be the same, byte for byte.  The
# questions are those of $JAXVET_CORPUS/dims (else of tests/prove) and those of
# tests/prove/solver.jsonl, which need the solver or are too hard for it.
set -u
cd "$(dirname "$0")/.." || exit 1
jaxvet=${JAXVET:-build/jaxvet}
burners=${1:-$(($(nproc) * 4))}
questions=${JAXVET_CORPUS:-/nonexistent}/dims/questions.jsonl
[ -f "$questions" ] || questions=tests/prove/questions.jsonl
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT

for _ in $(seq "$burners"); do
    nice -n 5 sh -c 'while :; do :; done' &
    pids="$pids $!"
done
cat "$questions" tests/prove/solver.jsonl |
    sed 's/^{"id": *"\{0,1\}[a-z0-9]*"\{0,1\},/{/' >"$work/questions"
bad=0
for run in 1 2 3; do
    "$jaxvet" prove "$work/questions" >"$work/$run" || bad=1
    cmp "$work/1" "$work/$run" || bad=1
done
echo "prove: $(wc -l <"$work/1") answers, three times under $burners burners:" \
    "$([ $bad = 0 ] && echo the same bytes || echo DIFFERENT)," \
    "$(grep -c '"verdict":"unknown"' "$work/1") unknown"
exit $bad
