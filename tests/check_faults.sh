#!/bin/sh
# check_faults.sh - each of tests/seeded_faults still plants its fault where it was
# meant: it applies to the tree as it is, and its neighbours are those it names.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/left_out.sh
if ! command -v patch >/dev/null; then
    left_out faults "there is no patch"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
bad=0

for patch in tests/seeded_faults/*.patch; do
    count=$((count + 1))
    if ! patch --dry-run -p1 -s -f -F0 -r- <"$patch" >"$work/said" 2>&1; then
        echo "faults: $(basename "$patch" .patch) does not apply"
        sed 's/^/    /' "$work/said"
        bad=$((bad + 1))
    fi
done
echo "faults: $count patches, $bad do not apply"
[ "$bad" -eq 0 ] && [ "$count" -gt 0 ]
