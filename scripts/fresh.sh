#!/bin/sh
# fresh.sh RELEASE [COMMAND...] - the two commands of the README on a machine that
# has nothing: a bare Debian (bookworm is 12, trixie is 13) in a folder, a clone
# of what is committed, `make demo` and `make test` in it by chroot; both built
# and run once more where netlib's BLAS is what the machine takes for one and the
# locale writes 0,5.  With a command, that one, on the machine as an earlier call
# left it.
#
# Needs root and debootstrap.  The packages come from where this machine's apt
# has Debian's, or from $JAXVET_DEBIAN (a URL); the machines lie in
# $JAXVET_FRESH (build/fresh), a few GB each once JAX is in them.
set -eu
cd "$(dirname "$0")/.."
. scripts/debian.sh
release=${1:?a release of Debian: bookworm, trixie}
shift
root=${JAXVET_FRESH:-build/fresh}/$release
trusted=/etc/ssl/certs/ca-certificates.crt

say() { echo "fresh $release: $*"; }
give_up() {
    say "$*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || give_up "needs root (chroot)"
# What is mounted in the machine is seen by this script alone, and gone with it:
# no later rm can reach /proc or the tree through it.
if [ -z "${JAXVET_FRESH_MOUNTS:-}" ]; then
    JAXVET_FRESH_MOUNTS=private exec unshare --mount --propagation private \
        scripts/fresh.sh "$release" "$@"
fi

# Nothing but Debian's minimum, git and make, and this machine's way out: its
# resolver, its proxies, the certificates it trusts.
bare_machine() {
    command -v debootstrap >/dev/null ||
        apt-get install -y --no-install-recommends debootstrap \
            >"$root.log" 2>&1 || give_up "debootstrap can't be installed"
    from=$(debian_packages)
    [ -n "$from" ] || give_up "apt has no Debian (set JAXVET_DEBIAN=URL)"
    rm -rf --one-file-system "$root"
    say "bare machine in $root"
    debootstrap --variant=minbase --include=git,make "$release" "$root" \
        "$from" >"$root.log" 2>&1 || {
        tail -n 5 "$root.log"
        give_up "debootstrap failed (see $root.log)"
    }
    apt-config dump | grep -E '^Acquire::(https?|Check)' \
        >"$root/etc/apt/apt.conf.d/99outside" || true
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
        [ ! -f $file ] || cat $file >"$root$file"
    done
    # Not under its own name, which Debian's package renews.
    [ ! -f $trusted ] || cat $trusted >"$root/etc/outside.crt"
    git clone -q --no-hardlinks . "$root/src/jaxvet"
}

# $@: a command, run in the machine's clone with nothing of our environment but
# what leads out.
inside() {
    [ ! -f "$root/etc/outside.crt" ] || PIP_CERT=/etc/outside.crt
    chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${PIP_CERT:+PIP_CERT="$PIP_CERT"} ${CI:+CI="$CI"} \
        ${http_proxy:+http_proxy="$http_proxy"} \
        ${https_proxy:+https_proxy="$https_proxy"} \
        ${comma:+LC_ALL="$comma"} \
        sh -c 'cd /src/jaxvet && exec "$@"' sh "$@"
}

# What another's machine may have: netlib's BLAS first, a comma in numbers.
another_mans_machine() {
    inside apt-get install -y --no-install-recommends libblas-dev liblapack-dev \
        locales >"$root.log" 2>&1 || give_up "no netlib BLAS (see $root.log)"
    multiarch=$(inside sh -c 'cd /usr/lib && echo *-linux-gnu*/blas')
    multiarch=${multiarch%/blas}
    for name in blas lapack; do
        inside update-alternatives --set "lib$name.so.3-$multiarch" \
            "/usr/lib/$multiarch/$name/lib$name.so.3" >>"$root.log" 2>&1 ||
            give_up "netlib's $name can't be chosen (see $root.log)"
    done
    inside localedef -i de_DE -f UTF-8 de_DE.UTF-8 >>"$root.log" 2>&1 ||
        give_up "no locale with a comma (see $root.log)"
    [ "$(comma=de_DE.UTF-8 inside sh -c 'locale decimal_point')" = , ] ||
        give_up "the locale has no comma"
}

bad=0 comma=
# $1: words for the machine.
both_commands() {
    for target in demo test; do
        began=$(date +%s)
        ended=passed
        inside make "$target" || ended=FAILED bad=1
        say "make $target$1: $ended, $(($(date +%s) - began)) s"
    done
}

mkdir -p "$(dirname "$root")"
if [ $# = 0 ]; then
    bare_machine
elif [ ! -d "$root/src/jaxvet" ]; then
    give_up "no machine in $root (run without a command first)"
else
    git -C "$root/src/jaxvet" fetch -q "$PWD" HEAD
    git -C "$root/src/jaxvet" checkout -q --detach FETCH_HEAD
fi
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev/shm"
if [ $# != 0 ]; then
    inside "$@"
    exit
fi
both_commands ""
another_mans_machine
inside make clean
comma=de_DE.UTF-8
both_commands ", netlib's BLAS and a comma"
exit $bad
