#!/bin/sh
# decode.sh SET... - modules of MLIR bytecode (tests/mlir/modules.py says which
# sets there are) decoded and held against jaxlib op by op, written again byte
# for byte, changed to other versions and stripped of their locations.  The
# jaxlib that is asked is $JAXVET_VENV's; other versions of JAX take part when
# $JAX_PYTHONS names their interpreters.
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
build=${BUILD:-build}
out=$build/decode/$($python -c 'import jaxlib; print(jaxlib.__version__)')
: "${JAXVET_CORPUS:?the folder with exported/ and stablehlo/}"

rm -rf "$out"
mkdir -p "$out/modules" "$out/text" "$out/stripped"
"$python" tests/mlir/modules.py "$out/modules" "$@" 2>"$out/modules.log"
for other in "$python" ${JAX_PYTHONS:-}; do
    "$other" tests/mlir/other_jax.py "$out/modules"
done
status=0
find "$out/modules" -name '*.mlirbc' | sort >"$out/files"
xargs "$build/tests/decode" --print "$out/text" <"$out/files" >"$out/log" || status=1
grep -v 'bytes a byte' "$out/log" || true
xargs "$python" tests/mlir/oracle.py "$out/text" <"$out/files" || status=1
xargs "$build/tests/rewrite" strip "$out/stripped" <"$out/files" || status=1
xargs "$python" tests/mlir/loads.py "$out/stripped" <"$out/files" || status=1
exit $status
