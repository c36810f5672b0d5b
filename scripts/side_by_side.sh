#!/bin/sh
# side_by_side.sh - runs the commands on standard input, one a line, as many at a
# time as there are processors, and prints what each said, in their order.  Exit
# code 1, and their names at the end, if any of them failed.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"; kill 0' INT TERM
trap 'rm -rf "$work"' EXIT
count=0
while IFS= read -r command; do
    count=$((count + 1))
    printf '%s\n' "$command" >"$work/$count.sh"
done

# shellcheck disable=SC2016 # these are the inner shell's
seq "$count" | xargs -P "${JOBS:-$(nproc)}" -I{} sh -c '
    sh "$1/$2.sh" >"$1/$2.out" 2>&1 </dev/null
    echo $? >"$1/$2.now" && mv "$1/$2.now" "$1/$2.code"' sh "$work" {} &

i=0
while [ "$i" -lt "$count" ]; do
    i=$((i + 1))
    until [ -e "$work/$i.code" ]; do sleep 0.05; done
    cat "$work/$i.out"
    read -r code <"$work/$i.code"
    if [ "$code" -ne 0 ]; then
        echo "failed with $code: $(cat "$work/$i.sh")" >>"$work/failed"
    fi
done
wait
if [ -e "$work/failed" ]; then
    cat "$work/failed"
    exit 1
fi
