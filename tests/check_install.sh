#!/bin/sh
# check_install.sh - `make install` into an empty tree, and hosts in C and C++
# that find the library there as their users do, through pkg-config.
set -eu
cd "$(dirname "$0")/.."
name=install
. tests/host/begin.sh

make -s install BUILD="$build" DESTDIR="$root/dest" PREFIX=/opt/jaxvet >"$root/log" 2>&1 ||
    { cat "$root/log"; exit 1; }
prefix=$root/dest/opt/jaxvet
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root/dest"
export LD_LIBRARY_PATH="$prefix/lib"

# shellcheck disable=SC2046 # words
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror tests/host/host.c \
    $(pkg-config --cflags --libs jaxvet) -o "$root/host"
# The command and the library, each started from where it was installed.
version=$("$prefix/bin/jaxvet" --version | head -n 1)
[ "$version" = "jaxvet $(pkg-config --modversion jaxvet)" ]
"$root/host" tests/host/scale.json \
    tests/data/exported/0.10.2-vjp2.jaxexport | head -n 1 | grep -qx "$version"
hosts=C
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2046
    g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror tests/host/host.cpp \
        $(pkg-config --cflags --libs jaxvet) -o "$root/hostpp"
    "$root/hostpp" tests/host/scale.json | head -n 1 | grep -qx "$version"
    hosts="C and C++"
else
    left_out install "a host in C++ (there is no g++)"
fi

# The manual page names every command.
for command in $("$prefix/bin/jaxvet" help |
    sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^\.B jaxvet $command" "$prefix/share/man/man1/jaxvet.1" ||
        { echo "install: jaxvet.1 does not name $command"; exit 1; }
done

make -s uninstall BUILD="$build" DESTDIR="$root/dest" PREFIX=/opt/jaxvet >"$root/log" 2>&1
left=$(find "$root/dest" -type f -o -type l)
[ -z "$left" ] || { echo "install: uninstall leaves $left"; exit 1; }
echo "install: the command and hosts in $hosts work from the installed tree"
