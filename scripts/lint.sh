#!/bin/sh
# lint.sh - static checkers over the C sources and the scripts.  What is not
# installed is named and left out.  JX_VERIFY: they are told what is asserted.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

have() {
    command -v "$1" >/dev/null 2>&1 || { echo "left out: $1 (not installed)"; false; }
}

# $1: name, then the command; quiet unless it fails.
run() {
    name=$1
    shift
    if "$@" >build/lint.log 2>&1; then
        echo "$name: clean"
    else
        cat build/lint.log
        echo "$name: found something"
        bad=1
    fi
}

mkdir -p build
# shellcheck disable=SC2046 # lists of files without blanks
{
    # Left out: compound literals in an arm of ?:, which version 2.10 can't parse
    # (internalAstError), and loops that it takes for ones that may not run
    # (uninitvar; the compiler and the sanitizers look for these, too).
    have cppcheck && run cppcheck cppcheck -q --std=c11 --error-exitcode=1 \
        --enable=warning,portability --inline-suppr --library=posix -I. -I"${BUILD:-build}/gen" \
        --suppress=missingIncludeSystem \
        --suppress=internalAstError --suppress=uninitvar -D__x86_64__ -DJX_VERIFY -j2 \
        $(git ls-files '*.c' | grep -v '^tests/')
    have clang-tidy && run clang-tidy clang-tidy --quiet \
        $(git ls-files '*.c' | grep -v '^tests/') -- -std=c11 -D_GNU_SOURCE -DJX_VERIFY -I. -I"${BUILD:-build}/gen"
    # other versions lay some lines out otherwise
    if have clang-format && clang-format --version | grep -q 'version 14\.'; then
        run clang-format clang-format --dry-run -Werror $(git ls-files '*.c' '*.h')
    fi
    # jaxprs and patterns hold what looks like a variable or a command (SC2016)
    have shellcheck && run shellcheck shellcheck -x -e SC2154,SC1090,SC2016 \
        $(git ls-files '*.sh' .ci/run)
}
exit $bad
