#!/bin/sh
# Runs JAX's own test harnesses: documents and answers from dump_harnesses.py
# and dump_answers.py, by default in build/harness-x64 ($JAXVET_HARNESSES).
set -eu
dir=${JAXVET_HARNESSES:-build/harness-x64}
if [ ! -d "$dir" ]; then
    echo "conformance: there is no $dir; make it (once, some 20 minutes):" >&2
    echo "  build/venv/bin/python scripts/dump_harnesses.py --x64 $dir" >&2
    echo "  build/venv/bin/python scripts/dump_answers.py --x64 $dir" >&2
    exit 1
fi
${MAKE:-make} -s build/tests/runner
build/tests/runner "$dir" --off tests/conformance/jax_is_off.txt \
    --misses build/conformance-misses.txt || echo "misses: build/conformance-misses.txt"
