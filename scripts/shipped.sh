#!/bin/sh
# shipped.sh SCRIPT [OPTION...] - scripts/found.py or shipped_rules.py, in an environment of
# its own with the libraries of requirements-shipped.txt.
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
venv=build/venv-shipped
if ! [ -x $venv/bin/python ]; then
    with=$(python_for $venv) || {
        echo "shipped: left out (no Python 3.12 or newer was found)"
        exit
    }
    echo "shipped: installing requirements-shipped.txt into $venv"
    "$with" -m venv $venv
    $venv/bin/pip install --disable-pip-version-check -q -r requirements-shipped.txt
fi
script=$1
shift
exec $venv/bin/python -W ignore "scripts/$script" "$@"
