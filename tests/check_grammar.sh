#!/bin/sh
# check_grammar.sh - random expressions, read by us and by Python's eval
# ($EXPRESSIONS of them, 20,000; make grammar-random: 10^6).
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build} exec python3 tests/prove/grammar.py \
    "${EXPRESSIONS:-20000}" "${SEED:-1}"
