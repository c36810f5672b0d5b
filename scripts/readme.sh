#!/bin/sh
# readme.sh [FILE] - prints README.md, or another page, with the output of every
# command in its console blocks as it is now.  `scripts/readme.sh F >r && mv r F`
# renews it.
set -eu
cd "$(dirname "$0")/.."
PATH=$(realpath "${BUILD:-build}"):$PATH
export PATH NO_COLOR=1

awk '
/^```console$/ { on = 1; print; next }
/^```$/ { on = 0 }
on && /^\$ / {
    print
    fflush()
    system("{ " substr($0, 3) "; } 2>&1")
    next
}
!on' "${1:-README.md}"
