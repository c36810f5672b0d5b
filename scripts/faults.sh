#!/bin/sh
# faults.sh [NAME...] - does a debug build notice that it is wrong?  Each
# tests/seeded_faults/NAME.patch breaks one line; a copy of the tree with it, built
# with DEBUG=1, must trip an assertion in one of the commands that the patch names
# (`run:`), which the tree without it passes.  What was printed is left in
# build/faults/NAME.log.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$PWD/build/faults
tree=$work/tree
mkdir -p "$tree" "$work/data" "$work/out"
# shellcheck disable=SC3045 # every sh that we meet has both
{
    ulimit -c 0
    ulimit -v 8000000
}

tests/check_faults.sh || exit 1
scripts/copy_tree.sh "$tree" || exit 1
for archive in sample kernels stablehlo newer; do
    tar -xzf tests/conformance/$archive.tar.gz -C "$work/data"
done

build() {
    make -s -C "$tree" -j"$(nproc)" DEBUG=1 build/debug/jaxvet \
        build/debug/jaxvet-solver build/debug/tests/runner >"$work/make.log" 2>&1 ||
        { cat "$work/make.log"; return 1; }
}

# Runs the commands of a patch until an assertion fails; says where.
tripped() { # patch, log
    : >"$2"
    sed -n 's/^run: //p' "$1" | while read -r command; do
        echo "\$ $command" >>"$2"
        (cd "$tree" && BUILD=build/debug JAXVET=build/debug/jaxvet OUT=$work/out \
            DATA=$work/data timeout 120 sh -c "$command") >>"$2" 2>&1 </dev/null
    done
    grep -a 'Assertion .* failed' "$2" | head -n 1 |
        sed 's/^[^:]*: //' | cut -c 1-140 | grep .
}

if [ $# -eq 0 ]; then
    for patch in tests/seeded_faults/*.patch; do
        set -- "$@" "$(basename "$patch" .patch)"
    done
fi
build || exit 1
bad=0
count=0
for name in "$@"; do
    patch=$PWD/tests/seeded_faults/$name.patch
    if said=$(tripped "$patch" "$work/$name.log"); then
        echo "faults: $name: trips without its fault: $said"
        bad=1
    fi
done
for name in "$@"; do
    patch=$PWD/tests/seeded_faults/$name.patch
    if ! (cd "$tree" && patch -p1 -s -f -F0 <"$patch"); then
        echo "faults: $name: does not apply"
        exit 1
    fi
    build || { (cd "$tree" && patch -R -p1 -s -f <"$patch"); exit 1; }
    if said=$(tripped "$patch" "$work/$name.log"); then
        echo "faults: $name: $said"
        count=$((count + 1))
    else
        echo "faults: $name: NOT SEEN"
        bad=1
    fi
    (cd "$tree" && patch -R -p1 -s -f <"$patch")
done
echo "faults: $count of $# tripped"
exit $bad
