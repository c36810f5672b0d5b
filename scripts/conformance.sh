#!/bin/sh
# conformance.sh [RUNNER OPTION...] - runs JAX's own test harnesses and compares
# with what JAX gives.  Documents and answers lie in $JAXVET_HARNESSES
# (build/harnesses), where they are made if there are none: that takes JAX and
# half an hour.  The JAX is that of $JAXVET_VENV (build/venv); the harnesses of
# build/venv-new are in build/harnesses-new.
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
harnesses=${JAXVET_HARNESSES:-build/harnesses${venv#build/venv}}

if [ ! -e "$harnesses/ANSWERS.jsonl" ]; then
    echo "conformance: making documents and answers in $harnesses"
    mkdir -p "$harnesses"
    JAX_PLATFORMS=cpu "$python" scripts/dump_harnesses.py "$harnesses" --x64
    JAX_PLATFORMS=cpu "$python" scripts/dump_answers.py "$harnesses" --x64
fi
exec build/tests/runner "$harnesses" --off tests/conformance/jax_is_off.txt \
    --misses build/conformance-misses.txt "$@"
