#!/bin/sh
# check_typing.sh - documents that fit are typed without a claim, and every
# document of tests/typing/mutants.jsonl.gz, made by scripts/mutate_types.py from
# such ones by one wrong declaration each, is objected to.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
bad=0

# shellcheck disable=SC2086 # CC and CFLAGS are lists of words
${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -g ${CFLAGS:-} -I. -I"$build/gen" \
    tests/typing/typecheck.c "$build/libjaxvet.a" -lz -lm -ldl -pthread \
    -o "$build/typecheck" || exit 1

if ! gzip -dc tests/typing/clean.jsonl.gz |
    "$build/typecheck" --lines - >"$build/typing.log" ||
    ! grep -q ' open 0 unknown 0 ' "$build/typing.log"; then
    cat "$build/typing.log"
    bad=1
fi
gzip -dc tests/typing/mutants.jsonl.gz |
    "$build/typecheck" -s --lines - >"$build/mutants.log"
missed=$(awk -F'\t' '$2 == "unreadable 0" && $3 == "refuted 0" && $4 == "open 0"' \
    "$build/mutants.log")
count=$(grep -c unreadable "$build/mutants.log")
if [ -n "$missed" ] || [ "$count" -lt 500 ]; then
    echo "typing: no objection to these of $count:"
    echo "$missed"
    bad=1
fi
[ $bad = 0 ] && echo "typing: $(tail -n 1 "$build/typing.log" | cut -d' ' -f1-2)" \
    "clean, $((count - 1)) mutants objected to"
exit $bad
