#!/bin/sh
# check_hosts.sh - the hosts of demo/hosts, in each language that is installed: they
# run what JAX exported, and say what is wrong with what they are given.
set -eu
cd "$(dirname "$0")/.."
name=hosts
. tests/host/begin.sh
plugin=$build/libjaxvet_pjrt.so
arrays=demo/hosts/transformer.arrays
# A compiler of Rust would look for the job server of a make that is not its own.
MAKEFLAGS='' BUILD=$build demo/hosts/run.sh "$root" >"$root/log" || { cat "$root/log"; exit 1; }

expect() { # EXIT CODE, TEXT, COMMAND...: how it ends, and what it says there
    wanted=$1 text=$2
    shift 2
    code=0
    "$@" >"$root/out" 2>&1 || code=$?
    if [ "$code" -ne "$wanted" ] || ! grep -qF -e "$text" "$root/out"; then
        echo "hosts: expected $wanted and '$text', found $code: $*"
        cat "$root/out"
        exit 1
    fi
}

command -v g++ >/dev/null || left_out hosts "the one in C++ (there is no g++)"
hosts=
for host in cpp rs; do
    run=$root/host_$host
    [ -x "$run" ] || continue
    hosts="$hosts $host"
    set -- "$root/function.mlir" "$root/derivative.mlir"
    expect 0 'derivative: 11 results' "$run" "$plugin" "$arrays" "$@"
    expect 2 'usage: host PLUGIN' "$run" "$plugin"
    expect 3 /nowhere.so "$run" /nowhere.so "$arrays" "$@"
    expect 3 'not a plugin of PJRT' "$run" libz.so.1 "$arrays" "$@"
    expect 3 'is empty' "$run" "$plugin" "$arrays" /dev/null "$2"
    expect 3 'expected 11 arguments, found 13' "$run" "$plugin" "$arrays" "$1" "$1"
    expect 3 '/nowhere.mlir: ' "$run" "$plugin" "$arrays" "$1" /nowhere.mlir
    head -c 5000 "$arrays" >"$root/cut"
    expect 3 'cut off' "$run" "$plugin" "$root/cut" "$@"
    # The last byte is of a gradient of tokens, of which there is none: false.
    { head -c -1 "$arrays"; printf '\001'; } >"$root/other"
    expect 1 'at most inf' "$run" "$plugin" "$root/other" "$@"
done
echo "hosts:$hosts agree with JAX"
