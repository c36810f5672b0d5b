#!/bin/sh
# pytests.sh [FILE...] - the tests that need JAX: every tests/**/test_*.py and
# frontend/python/**/test_*.py, in build/venv.
set -eu
cd "$(dirname "$0")/.."
python=build/venv/bin/python

if ! $python -c 'import jax, pytest' >/dev/null 2>&1; then
    echo "left out: the tests against JAX (build/venv has none; see make setup)"
    [ "${CI:-}" != true ]
    exit
fi
files=${*:-$(find tests frontend/python -name 'test_*.py' | sort)}
# shellcheck disable=SC2086 # a list of words
JAX_PLATFORMS=cpu PYTHONPATH=frontend/python PYTHONDONTWRITEBYTECODE=1 \
    exec $python -m pytest -q -p no:cacheprovider $files
