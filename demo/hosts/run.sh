#!/bin/sh
# run.sh [FOLDER] - takes the modules out of the exported file, builds the hosts that
# a compiler is there for, and runs them; in FOLDER, else in one that is thrown away.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
folder=${1:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
here=demo/hosts

"$build/jaxvet" show --as stablehlo $here/transformer.jaxexport -o "$folder/function.mlir"
"$build/jaxvet" show --as stablehlo --vjp 1 $here/transformer.jaxexport \
    -o "$folder/derivative.mlir"

run() { # LANGUAGE
    echo "$1:"
    "$folder/host_$1" "$build/libjaxvet_pjrt.so" $here/transformer.arrays \
        "$folder/function.mlir" "$folder/derivative.mlir"
}

if command -v g++ >/dev/null; then
    g++ -std=c++17 -O2 -Wall -Wextra -Werror -I. $here/host.cpp -ldl -o "$folder/host_cpp"
    run cpp
fi
if command -v rustc >/dev/null; then
    rustc --edition 2021 -O -D warnings $here/host.rs -o "$folder/host_rs"
    run rs
fi
