#!/bin/sh
# check_left_out.sh - a check whose tool is missing says so, and fails under CI=true.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
count=0

ends() { # CODE, CI, CHECK
    PATH=$work/bin CI=$2 BUILD=build "tests/check_$3.sh" >"$work/out" 2>&1
    code=$?
    count=$((count + 1))
    if [ $code -ne "$1" ] || ! grep -q "^$3: left out: " "$work/out"; then
        echo "left out: $3 with CI='$2' ends with $code, not $1, and says"
        cat "$work/out"
        bad=1
    fi
}

# All tools of this machine but those.
mkdir "$work/bin"
echo "$PATH" | tr : '\n' | while read -r folder; do
    find "$folder/" -maxdepth 1 -exec ln -s -t "$work/bin" {} + 2>/dev/null
done
rm -f "$work/bin/patch" "$work/bin/localedef" "$work/bin/mpicc"
for check in faults locale sent; do
    ends 0 '' $check
    ends 1 true $check
done
echo "left out: $count checks without their tools end as they should"
exit $bad
