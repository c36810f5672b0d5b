#!/bin/sh
# pytests.sh [FILE...] - the tests that need JAX: every tests/**/test_*.py and
# frontend/python/**/test_*.py, in build/venv and in build/venv-new at the same
# time; in $JAXVET_VENV alone if that is set.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/environments.sh
files=${*:-$(find tests frontend/python -name 'test_*.py' | sort)}
work=$(mktemp -d)
pids=
# shellcheck disable=SC2086 # a list of words
trap 'kill $pids 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

run() {
    echo "pytest with $(describe "$1")"
    # Read by each of some hundred processes.
    "$1/bin/python" -m compileall -q frontend/python
    # shellcheck disable=SC2086 # a list of words
    JAX_PLATFORMS=cpu PYTHONPATH=frontend/python PYTHONDONTWRITEBYTECODE=1 \
        exec "$1/bin/python" -m pytest -q -p no:cacheprovider $files
}

bad=
for each in ${JAXVET_VENV:-$environments}; do
    if has_jax "$each"; then
        log=$work/$(basename "$each")
        : >"$log" # is there before tail is
        run "$each" >"$log" 2>&1 &
        pids="$pids $!"
        echo "$each $!" >>"$work/running"
    elif [ "$each" = build/venv-new ] && ! python_for "$each" >/dev/null; then
        echo "left out: the tests against the newest JAX (no Python for it)"
    else
        echo "left out: the tests against JAX ($each has none; see make setup)"
        [ "${CI:-}" != true ] || bad="$bad $each"
    fi
done

# One after the other, so that their lines are not mixed; a failure of one does
# not keep the other from being heard.
[ -e "$work/running" ] || : >"$work/running"
while read -r each pid; do
    tail -n +1 -f --pid="$pid" "$work/$(basename "$each")"
    wait "$pid" || bad="$bad $each"
done <"$work/running"
pids=
[ -z "$bad" ] || echo "pytests: FAILED in$bad"
[ -z "$bad" ]
