#!/bin/sh
# readme.sh - prints README.md with the output of every command in its console
# blocks as it is now.  `scripts/readme.sh >r && mv r README.md` renews it.
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
!on' README.md
