#!/bin/sh
# lowering.sh [GROUP...] - lowers JAX's harnesses to StableHLO, runs the modules
# by XLA's CPU client and compares with the answers.  The harnesses are those in
# $JAXVET_HARNESSES, or the part of them that is checked in, with the programs
# of newer releases (scripts/dump_newer.py) where XLA is new enough to read them;
# XLA is that of $JAXVET_VENV (build/venv).
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need_jax lowering
if [ -z "${JAXVET_HARNESSES:-}" ]; then
    tar -xzf tests/conformance/sample.tar.gz -C "$work"
    ! "$python" -c 'import jax; jax.lax.log2' 2>/dev/null ||
        tar -xzf tests/conformance/newer.tar.gz -C "$work"
    JAXVET_HARNESSES=$work
fi
JAXVET=${JAXVET:-build/jaxvet} JAX_PLATFORMS=cpu \
    "$python" tests/mlir/lowering.py "$JAXVET_HARNESSES" "$@"
