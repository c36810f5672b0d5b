#!/bin/sh
# z3_wheel.sh VERSION FOLDER - unpacks PyPI's z3-solver of that version into a
# folder: its headers in z3/include, its library in z3/lib.  Does nothing when
# it is there.
set -u
version=$1
folder=$2

say() { echo "z3: $*"; }

[ -f "$folder/z3/include/z3.h" ] &&
    [ -d "$folder/z3_solver-$version.dist-info" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder" || exit 1
python=python3
[ -x build/venv/bin/python ] && python=build/venv/bin/python
say "fetching z3-solver $version"
if ! $python -m pip install --disable-pip-version-check --no-deps -q \
    --retries 1 --timeout 20 --target "$folder" "z3-solver==$version" \
    >"$folder.log" 2>&1; then
    tail -n 2 "$folder.log"
    rm -rf "$folder"
    say "left out: z3-solver $version can't be fetched (no network?)"
    exit 1
fi
