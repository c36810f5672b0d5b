#!/bin/sh
# setup.sh [build|packages|all] - installs what is missing and nothing else.
#
# `build` is what compiling and the demo need, from Debian's packages; `packages`
# adds those that the offline tests need; `all` adds the pinned JAX of
# requirements.txt in build/venv, and the newer one of requirements-new.txt in
# build/venv-new where a Python for it is found.  Does nothing when all is there.
# Without root it prints the one command to run.  What can't be had is named: for
# the build that is a failure, for the rest it is one only under CI=true.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/environments.sh
what=${1:-all}

say() { echo "setup: $*"; }

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() {
    printf '#include <stdio.h>\n#include <%s>\n' "$1" |
        cc -E -x c - >/dev/null 2>&1
}
# Whether a program can load it: another library may bring the same headers.
has_library() {
    echo 'int main(void) { return 0; }' |
        cc -x c - -Wl,--no-as-needed "-l:$1" -o build/probe >/dev/null 2>&1 &&
        build/probe >/dev/null 2>&1
    found=$?
    rm -f build/probe
    return $found
}

# Packages whose probe fails.  Needed: gcc make pkg-config and the libraries;
# cvc5 (a second solver), libmpfr, Open MPI (for run --mpi), locales and patch serve
# the tests.
missing_packages() {
    has_command gcc || echo gcc
    has_command cc || echo libc6-dev
    has_command make || echo make
    has_command pkg-config || echo pkg-config
    while read -r package header; do
        has_header "$header" || echo "$package"
    done <<EOF
libc6-dev stdlib.h
libz3-dev z3.h
zlib1g-dev zlib.h
EOF
    has_library libopenblas.so.0 || echo libopenblas0
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>
#include <setjmp.h>\n#include <cmocka.h>\n' | cc -E -x c - >/dev/null 2>&1 ||
        echo libcmocka-dev
    [ "$what" = build ] && return
    has_command g++ || echo g++
    has_header mpfr.h || echo libmpfr-dev
    has_command cvc5 || echo cvc5
    has_command mpirun || echo openmpi-bin
    has_command mpicc || echo libopenmpi-dev
    has_command patch || echo patch
    has_command localedef || echo libc-bin
    [ -f /usr/share/i18n/locales/tr_TR ] || echo locales
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || echo python3-venv
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        "$@" >build/setup.log 2>&1
}

# The build can do without these.
only_for_tests() {
    for package; do
        case $package in
        g++ | libmpfr-dev | cvc5 | openmpi-bin | libopenmpi-dev | locales | libc-bin | patch | python3-venv) ;;
        *) return 1 ;;
        esac
    done
}

install_packages() {
    packages=$(missing_packages | sort -u | tr '\n' ' ')
    [ -z "$packages" ] && return 0
    if ! has_command apt-get; then
        say "missing: $packages(Debian's names); install them and run again"
    elif [ "$(id -u)" != 0 ]; then
        say "missing: $packages"
        say "run this, then try again:"
        echo "  sudo apt-get install -y --no-install-recommends $packages"
        return 1
    else
        say "installing $packages"
        # shellcheck disable=SC2086 # a list of words
        if apt_install $packages ||
            { apt-get update >build/setup.log 2>&1 && apt_install $packages; }
        then
            return 0
        fi
        tail -n 5 build/setup.log
    fi
    # shellcheck disable=SC2046,SC2086
    packages=$(missing_packages | sort -u | tr '\n' ' ')
    say "left out: $packages"
    # shellcheck disable=SC2086
    [ "${CI:-}" != true ] && only_for_tests $packages
}

# Whether the environment has exactly the pinned versions.
is_there() {
    [ -x "$1/bin/python" ] && "$1/bin/python" - "$(requirements_of "$1")" <<'EOF'
import importlib.metadata as metadata
import sys

for line in open(sys.argv[1]):
    name, _, version = line.split('#')[0].strip().partition('==')
    try:
        if name and metadata.version(name) != version:
            sys.exit(1)
    except metadata.PackageNotFoundError:
        sys.exit(1)
EOF
}

# Makes an environment, if it is not as it should be.
install_jax() {
    pins=$(requirements_of "$1")
    jax=$(sed -n 's/^jax==/JAX /p' "$pins")
    is_there "$1" && return 0
    if ! with=$(python_for "$1"); then
        say "left out: $jax: no Python $(versions_of "$1" | tr ' ' /) with venv" \
            "was found (JAXVET_PYTHON=FILE names one)"
        # The older one is for every machine.
        [ "${CI:-}" != true ] || [ "$1" != build/venv ]
        return
    fi
    say "installing $jax into $1, for $("$with" --version) (some minutes)"
    if "$with" -m venv "$1" >build/setup.log 2>&1 &&
        "$1/bin/pip" install --disable-pip-version-check --retries 2 -q \
            -r "$pins" >build/setup.log 2>&1 && is_there "$1"; then
        return 0
    fi
    tail -n 5 build/setup.log
    say "left out: $jax and the tests against it (see above)"
    [ "${CI:-}" != true ]
}

mkdir -p build
install_packages || exit 1
[ "$what" = all ] || exit 0
bad=0
for each in $environments; do
    install_jax "$each" || bad=1
done
exit $bad
