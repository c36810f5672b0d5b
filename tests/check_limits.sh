#!/bin/sh
# check_limits.sh - a host's limits of memory and time, and its wish to stop.
set -eu
cd "$(dirname "$0")/.."
name=limits
. tests/host/begin.sh
gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. tests/host/limits.c \
    -L"$build" -ljaxvet -pthread -lm -o "$root/host"
mkdir "$root/lib"
ln -s "$(realpath "$build")/libjaxvet.so" "$root/lib/libjaxvet.so.0"
LD_LIBRARY_PATH="$root/lib" "$root/host"
