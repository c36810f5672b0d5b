#!/bin/sh
# valgrind.sh - the command under valgrind, on a few inputs of each kind: an error or a lost
# block fails, whatever the command says.  $BUILD is the build folder.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OPENBLAS_NUM_THREADS=1
ran=0
bad=0

# Files that end too early, and one with other bytes in it.
head -c 700 tests/fuzz/fuzz_bytecode/attention.mlirbc >"$work/short.mlirbc"
head -c 900 tests/fuzz/fuzz_exported/0.12.0.1-vjp2.jaxexport >"$work/short.jaxexport"
head -c 300 tests/host/scale.json >"$work/short.json"
sed 's/tensor/tenser/3' tests/mlir/text/forms.mlir >"$work/wrong.mlir"

while read -r line; do
    ran=$((ran + 1))
    # shellcheck disable=SC2046 # words
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        --log-file="$work/log" "$build/jaxvet" \
        $(echo "$line" | sed "s#@#tests/#g; s#%#$work/#g") >"$work/out" 2>&1 </dev/null
    if [ $? -eq 99 ]; then
        bad=$((bad + 1))
        echo "valgrind: jaxvet $line"
        cat "$work/log"
    fi
done <<'LIST'
check @rules/SHP001_fails.json.gz
check --format json @rules/DRV001_fails.json.gz
check --format sarif @rules/NUM001_fails.json.gz @rules/DTY001_fails.json.gz
check --transform grad,vmap,lower:tpu @rules/DRV010_fails.json.gz
check @fuzz/fuzz_bytecode/svd_083.mlirbc
check @fuzz/fuzz_blackbox/step.blackbox
check @equal/MSH007_fails.mlir
check @mlir/text/forms.mlir
check %short.mlirbc
check %short.jaxexport
check %short.json
check %wrong.mlir
gradcheck @rules/DRV001_fails.json.gz
gradcheck @rules/DRV012_fails.json.gz
run @fuzz/fuzz_bytecode/conv.mlirbc --fill random:1
run @fuzz/fuzz_bytecode/attention.mlirbc --fill random:1 --sanitize nan,oob,wrap,digits
run @host/scale.json --set b=100 --fill random:1 --numerics xla
equal @equal/product__ring.jaxexport.gz @equal/product_reference.jaxexport.gz
equal @equal/pipeline__zeros.jaxexport.gz @equal/pipeline_reference.jaxexport.gz
info @fuzz/fuzz_exported/0.12.0.1-vjp2.jaxexport
info @fuzz/fuzz_bytecode/scatter.mlirbc
diff @rules/SHP001_fails.json.gz @rules/SHP001_passes.json.gz
show --as stablehlo @rules/DRV001_passes.json.gz
prove a*b+1>=1
LIST
echo "valgrind: $ran commands, $bad with errors"
[ "$bad" -eq 0 ]
