#!/bin/sh
# jax_newest.sh [FILE...] - the tests that need JAX against PyPI's latest, in
# build/venv-newest: says which JAX that is and what fails.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/environments.sh
newest=build/venv-newest
log=build/jax-newest.log

say() { echo "jax-newest: $*"; }

# What is asked for in requirements-new.txt, the versions left off.
names() { sed -n '/^$/q; s/==.*//p' requirements-new.txt; }

with=$(python_for $newest) || {
    say "no Python $(versions_of $newest | tr ' ' /) with venv was found"
    exit 1
}
# shellcheck disable=SC2046 # a list of words
if ! "$with" -m venv $newest >$log 2>&1 ||
    ! $newest/bin/pip install --disable-pip-version-check --retries 2 -q \
        --upgrade $(names) >$log 2>&1; then
    tail -n 5 $log
    say "can't be installed (see above)"
    exit 1
fi
say "$(describe $newest); pinned is $(sed -n 's/^jax==//p' requirements-new.txt)"
status=0
COLUMNS=160 JAXVET_VENV=$newest scripts/pytests.sh "$@" >$log 2>&1 || status=1
# The outcomes by file, then each with its first line.
sed -n 's/^\(FAILED\|ERROR\) \([^:]*\).*/\2/p' $log | sort | uniq -c
sed -n 's/^\(FAILED\|ERROR\) /\1 /p' $log
sed -n '/^[0-9].* in [0-9.]*s/p' $log
say "$([ $status = 0 ] && echo "nothing fails" || echo "see $log")"
exit $status
