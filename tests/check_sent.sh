#!/bin/sh
# check_sent.sh - what ranks send to each other, as MPI's profiling interface
# counts it, is what `jaxvet info` says: of the programs here and, with
# $JAXVET_CORPUS, of the networks there.
set -eu
cd "$(dirname "$0")/.."
name=sent
. tests/host/begin.sh
if ! command -v mpicc >/dev/null || [ ! -e "$build/libjaxvet_mpi.so" ] ||
    ! mpirun --allow-run-as-root --oversubscribe -n 2 true >/dev/null 2>&1; then
    echo "$name: left out: there is no mpicc, or mpirun starts nothing here (openmpi-bin, libopenmpi-dev)"
    exit 0
fi
mpicc -O1 -Wall -Wextra -shared -fPIC -o "$root/count_sent.so" tests/host/count_sent.c

# As many of each kind, in as many messages; sizes that can't be cut into equal
# parts are sent whole, which is less often and more.
counts() {
    "$build/jaxvet" info --format json "$1" | python3 -c '
import json, sys
sent = json.load(sys.stdin)["cost"].get("sent", [])
print(sum(int(s["bytes"]) for s in sent), sum(int(s["messages"]) for s in sent))'
}

compared=0
# same FILE RANKS - every rank sends what `info` says
same() {
    rm -f "$root/sent"
    LD_PRELOAD=$root/count_sent.so SENT=$root/sent \
        "$build/jaxvet" run "$1" --fill random:1 --ranks "$2" --timeout 60 >"$root/out" 2>&1 || {
        cat "$root/out"
        exit 1
    }
    expected=$(counts "$1")
    if [ "$(wc -l <"$root/sent")" != "$2" ] ||
        [ "$(cut -d' ' -f2- "$root/sent" | sort -u)" != "$expected" ]; then
        echo "$name: $1: a rank sends $(cut -d' ' -f2- "$root/sent" | sort -u | tr '\n' ';')" \
            "(bytes, messages), info says $expected"
        exit 1
    fi
    compared=$((compared + 1))
}

# module BODY RESULT - of a mesh of four, on f32[8,4] cut along its first axis
module() {
    cat <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> tensor<$2xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
$1
    } : (tensor<8x4xf32>) -> tensor<$2xf32>
    return %0 : tensor<$2xf32>
  }
}
END
}
groups='replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids'
channel='channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>'
sum='({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      })'
module "      %r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, $channel, $groups}> : (tensor<2x4xf32>) -> tensor<8x4xf32>
      sdy.return %r : tensor<8x4xf32>" 32x4 >"$root/gather.mlir"
module "      %r = \"stablehlo.all_reduce\"(%a) <{$channel, $groups}> $sum : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>" 8x4 >"$root/reduce.mlir"
module "      %r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, $channel, $groups}> $sum : (tensor<2x4xf32>) -> tensor<2x1xf32>
      sdy.return %r : tensor<2x1xf32>" 8x1 >"$root/scatter.mlir"
module "      %r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, $channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<2x4xf32>) -> tensor<8x1xf32>
      sdy.return %r : tensor<8x1xf32>" 32x1 >"$root/exchange.mlir"
module "      %r = \"stablehlo.collective_permute\"(%a) <{$channel, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>" 8x4 >"$root/permute.mlir"
for program in gather reduce scatter exchange permute; do
    same "$root/$program.mlir" 4
done
[ "$(counts "$root/gather.mlir")" = "96 3" ]
[ "$(counts "$root/reduce.mlir")" = "48 6" ]
[ "$(counts "$root/scatter.mlir")" = "24 3" ]
[ "$(counts "$root/exchange.mlir")" = "24 3" ]
[ "$(counts "$root/permute.mlir")" = "32 1" ]

# A part that the next computation takes as the last one left it, or after what is
# done element by element, is not sent.
cat >"$root/two.mlir" <<'END'
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
      %r = stablehlo.add %a, %a : tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %n = stablehlo.negate %0 : tensor<8x4xf32>
    %1 = sdy.manual_computation(%n) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x4xf32>) {
      %r = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
END
same "$root/two.mlir" 4
[ "$(counts "$root/two.mlir")" = "32 1" ]

# A sum of one number by each of eight is not counted alike.
if [ -d "${JAXVET_CORPUS:-}/sharding/seed" ]; then
    for program in "$JAXVET_CORPUS"/sharding/seed/*.jaxexport; do
        case $program in
        */matmul_*) same "$program" 4 ;;
        */nn_dp*_grad.* | */nn_fsdp*_grad.* | */nn_tp_grad.*) same "$program" 8 ;;
        */nn_pp_grad.*) same "$program" 2 ;;
        esac
    done
else
    echo "$name: \$JAXVET_CORPUS is not set: the networks there are left out"
fi
echo "$name: of $compared programs every rank sends what info says"
