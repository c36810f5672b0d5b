#!/bin/sh
# libraries.sh [OPTION...] - functions of libraries at their newest pins, dumped,
# checked and run (scripts/libraries.py), in an environment of their own.
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
venv=build/venv-libraries
if ! [ -x $venv/bin/python ]; then
    with=$(python_for $venv) || {
        echo "libraries: left out (no Python 3.12 or newer was found)"
        exit
    }
    echo "libraries: installing requirements-libraries.txt into $venv"
    "$with" -m venv $venv
    $venv/bin/pip install --disable-pip-version-check -q \
        -r requirements-libraries.txt
fi
exec $venv/bin/python -W ignore scripts/libraries.py "$@"
