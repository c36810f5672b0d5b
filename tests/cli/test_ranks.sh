# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run --mpi, --ranks: processes that are devices give the bits of one that is
# all of them; ranks that go separate ways, or can't begin, say so, and all end.

expect 2 run tests/host/scale.json --mpi
complains 'mpirun has not started this process'

if ! command -v mpirun >/dev/null || [ ! -e "$(dirname "$JAXVET")/libjaxvet_mpi.so" ]; then
    echo "cli: test_ranks: left out: there is no mpirun, or no libjaxvet_mpi.so (openmpi-bin, libopenmpi-dev)"
    [ "${CI:-}" != true ] || fail "ranks are not tested"
else

# same PROGRAM RANKS
same() {
    expect 0 run "$1" --fill random:3 --outputs "$work/all.npz"
    expect 0 run "$1" --fill random:3 --ranks "$2" --expect "$work/all.npz" --bits
    prints ' outputs as expected$'
}

# program AXES BODY - a function of f32[8], which four devices cut
program() {
    cat <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <[$1]>
  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %case = stablehlo.convert %first : (tensor<i1>) -> tensor<i32>
$2
      sdy.return %r : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
END
}
sum() { # NAME OF
    cat <<END
      $1 = "stablehlo.all_reduce"($2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
END
}
permuted() { # NAME OF PAIRS
    echo "      $1 = \"stablehlo.collective_permute\"($2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<$3> : tensor<3x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>"
}

program '"x"=4' "$(sum %r %a)" >"$work/sum.mlir"
same "$work/sum.mlir" 4
program '"x"=4' "$(permuted %r %a '[[0, 1], [1, 3], [3, 0]]')" >"$work/hole.mlir"
same "$work/hole.mlir" 4
for exported in tests/data/exported/0.10.2-shard_map*.jaxexport; do
    same "$exported" "$("$JAXVET" info "$exported" | sed -n 's/^on \([0-9]*\) devices.*/\1/p')"
done

# A branch that only the first takes: the others sum, or have ended.
branch() { # IN THE BRANCH OF THE FIRST, IN THAT OF THE OTHERS
    echo '      %r = "stablehlo.case"(%case) ({'
    printf '%s\n        stablehlo.return %%u : tensor<2xf32>\n      }, {\n' "$2"
    printf '%s\n        stablehlo.return %%u : tensor<2xf32>\n' "$1"
    echo '      }) : (tensor<i32>) -> tensor<2xf32>'
}
twice='        %u = stablehlo.add %a, %a : tensor<2xf32>'
program '"x"=4' "$(branch "$(sum %u %a)" "$twice")" >"$work/alone.mlir"
expect 3 run "$work/alone.mlir" --ranks 4
complains 'rank 0 waits in a collective of f32\[1,2\]'
program '"x"=4' "$(branch "$(permuted %u %a '[[0, 1], [1, 3], [3, 0]]')" "$(sum %u %a)")" \
    >"$work/mixed.mlir"
expect 3 run "$work/mixed.mlir" --ranks 4
complains 'the ranks are at different collectives:'
complains 'rank 0 waits in a permutation of f32\[2\]'
complains 'rank 3 waits in a collective of f32\[1,2\]'
holds test "$(grep -c '^jaxvet: ' "$work/err")" = 1
holds test -z "$(pgrep -f "$work/mixed.mlir")"

# Who can't begin says it once, and all end.
expect 3 run "$work/sum.mlir" --ranks 3
complains 'its mesh has 4 devices, not 3'
holds test "$(grep -c '^jaxvet: ' "$work/err")" = 1
expect 3 run "$work/nothing.mlir" --ranks 2
holds test "$(grep -c '^jaxvet: ' "$work/err")" = 1
cp "$work/sum.mlir" "$work/other.mlir"
echo '// another' >>"$work/other.mlir"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -n 3 "$JAXVET" run --mpi "$work/sum.mlir" : \
    -n 1 "$JAXVET" run --mpi "$work/other.mlir" >"$work/out" 2>"$work/err"
holds test $? -eq 3
complains 'rank 3 reads another program than rank 0'

fi
