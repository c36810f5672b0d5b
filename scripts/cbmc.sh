#!/bin/sh
# cbmc.sh FILE [OPTION...] - runs the bounded model checker on a file: the one that
# is installed, else Debian's, which Debian 12 has not: that of Debian 13 is then
# unpacked in build/cbmc, with the libraries it wants, and installed nowhere.
set -eu
cd "$(dirname "$0")/.."
. scripts/debian.sh
own=$PWD/build/cbmc

give_up() {
    echo "cbmc: $*" >&2
    exit 1
}

# apt with a folder of its own, in which Debian 13 is all there is.
apt() {
    command=$1
    shift
    "apt-$command" -qq -o Dir::State="$own/state" -o Dir::Cache="$own/cache" \
        -o Dir::State::status="$own/state/status" \
        -o Dir::Etc::sourcelist="$own/sources" -o Dir::Etc::sourceparts=/dev/null \
        "$@"
}

unpack() {
    from=$(debian_packages)
    [ -n "$from" ] || give_up "apt has no Debian (set JAXVET_DEBIAN=URL)"
    mkdir -p "$own/state/lists/partial" "$own/cache/archives/partial" "$own/packages"
    : >"$own/state/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from trixie main" \
        >"$own/sources"
    {
        apt get update &&
            (cd "$own/packages" &&
                apt get -o APT::Sandbox::User=root download \
                    cbmc minisat libc6 libgcc-s1 libstdc++6)
    } >"$own/log" 2>&1 || give_up "Debian 13 has it, but it can't be had (see $own/log)"
    for package in "$own"/packages/*.deb; do
        dpkg -x "$package" "$own/root"
    done
    rm -r "$own/state" "$own/cache" "$own/packages"
}

if command -v cbmc >/dev/null 2>&1; then
    exec cbmc "$@"
fi
[ -x "$own/root/usr/bin/cbmc" ] || unpack
libraries=$(dirname "$(find "$own/root" -name libc.so.6 | head -n 1)")
exec "$libraries"/ld-linux-*.so.* \
    --library-path "$libraries:$own/root/usr/lib" "$own/root/usr/bin/cbmc" "$@"
