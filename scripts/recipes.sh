#!/bin/sh
# recipes.sh [NAME...] - does adding something take what docs/HACKING.md says?
# tests/recipes/NAME.patch adds a made-up one (`adds:`) to a copy of the tree in as
# many files as `files:` says (documents, reports and pages that scripts write do
# not count); then each command of `run:` must succeed.  With any one of these files
# left out, the copy must not build, or one of the commands fail: what is missing
# has a name.  What was printed is left in build/recipes/NAME.log.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$PWD/build/recipes
tree=$work/tree
mkdir -p "$work"
MAKEFLAGS="-j$(nproc)"
export MAKEFLAGS

# What is built here is built there.
if [ ! -d "$tree/build/obj" ]; then
    make -s all >"$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
    mkdir -p "$tree/build"
    git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$tree"
    cp -a build/obj build/gen build/jaxvet build/jaxvet-solver build/libjaxvet.a \
        build/libjaxvet.so build/z3.flags "$tree/build" 2>/dev/null
fi
scripts/copy_tree.sh "$tree" || exit 1

# Builds the copy and runs the commands of a patch.
try() { # patch, log
    (cd "$tree" && make -s all) >>"$2" 2>&1 </dev/null || return 1
    sed -n 's/^run: //p' "$1" >"$work/commands"
    while read -r command; do
        echo "\$ $command" >>"$2"
        (cd "$tree" && timeout 300 sh -c "$command") >>"$2" 2>&1 </dev/null || return 1
    done <"$work/commands"
}

# The files of a patch that people write.
written() { # patch
    sed -n 's|^+++ b/||p' "$1" |
        grep -v '^tests/rules/\|^tests/golden/\|^docs/CODES.md$'
}

undo() {
    scripts/copy_tree.sh "$tree"
}

if [ $# -eq 0 ]; then
    for patch in tests/recipes/*.patch; do
        set -- "$@" "$(basename "$patch" .patch)"
    done
fi
make -s -C "$tree" all >"$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
bad=0
for name in "$@"; do
    patch=$PWD/tests/recipes/$name.patch
    log=$work/$name.log
    most=$(sed -n 's/^files: //p' "$patch")
    count=$(written "$patch" | wc -l)
    : >"$log"
    (cd "$tree" && patch -p1 -s -f <"$patch") || { echo "recipes: $name: does not apply"; undo; exit 1; }
    if ! try "$patch" "$log"; then
        tail -n 20 "$log"
        echo "recipes: $name: can't be added so"
        bad=1
    elif [ "$count" -gt "$most" ]; then
        echo "recipes: $name: takes $count files, not $most"
        bad=1
    fi
    for file in $(written "$patch"); do
        echo "== without $file" >>"$log"
        if [ -f "$file" ]; then
            cp "$tree/$file" "$work/kept" && cp "$file" "$tree/$file"
        else
            mv "$tree/$file" "$work/kept"
        fi
        if try "$patch" "$log"; then
            echo "recipes: $name: nothing misses $file"
            bad=1
        fi
        cp "$work/kept" "$tree/$file"
    done
    undo
    [ $bad -eq 0 ] &&
        echo "recipes: $(sed -n 's/^adds: //p' "$patch"): $count files, each of them missed"
done
exit $bad
