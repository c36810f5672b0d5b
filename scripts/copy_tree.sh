#!/bin/sh
# copy_tree.sh TREE - makes TREE a copy of what is tracked or could be.  What has
# changed alone is copied, so that what is built there stays; what a patch left that
# was stopped in its midst goes.
set -eu
cd "$(dirname "$0")/.."
tree=$1
mkdir -p "$tree"
git ls-files -co --exclude-standard >"$tree.files"
while read -r file; do
    [ -f "$file" ] || continue
    cmp -s "$file" "$tree/$file" && continue
    mkdir -p "$tree/$(dirname "$file")" && cp "$file" "$tree/$file"
done <"$tree.files"
(cd "$tree" && find . -path ./build -prune -o -type f -print) | sed 's|^\./||' |
    sort >"$tree.there"
sort "$tree.files" | comm -13 - "$tree.there" | while read -r file; do
    rm -f "$tree/$file"
done
rm -f "$tree.files" "$tree.there"
