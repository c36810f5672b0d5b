#!/bin/sh
# check_sent.sh - what ranks send to each other, as MPI's profiling interface
# counts it, is what `jaxvet info` says, to the byte: of the programs here and, with
# $JAXVET_CORPUS, of the networks there, in the forms that are there.
set -eu
cd "$(dirname "$0")/.."
name=sent
. tests/host/begin.sh
if ! command -v mpicc >/dev/null || [ ! -e "$build/libjaxvet_mpi.so" ] ||
    ! mpirun --allow-run-as-root --oversubscribe -n 2 true >/dev/null 2>&1; then
    left_out $name "there is no mpicc, or mpirun starts nothing here (openmpi-bin, libopenmpi-dev)"
    exit
fi
mpicc -O1 -Wall -Wextra -shared -fPIC -o "$root/count_sent.so" tests/host/count_sent.c

# As many bytes, in as many messages, of all kinds of collectives.
counts() {
    "$build/jaxvet" info --format json "$1" | python3 -c '
import json, sys
sent = json.load(sys.stdin)["cost"].get("sent", [])
print(sum(int(s["bytes"]) for s in sent), sum(int(s["messages"]) for s in sent))'
}

compared=0
# counted FILE RANKS - what each rank has sent, in $root/sent: rank, bytes, messages
counted() {
    rm -f "$root/sent"
    LD_PRELOAD=$root/count_sent.so SENT=$root/sent \
        "$build/jaxvet" run "$1" --fill random:1 --ranks "$2" --timeout 60 >"$root/out" 2>&1 || {
        cat "$root/out"
        exit 1
    }
    if [ "$(wc -l <"$root/sent")" != "$2" ]; then
        echo "$name: $1: not all of $2 ranks have been counted"
        exit 1
    fi
    compared=$((compared + 1))
}

# same FILE RANKS - every rank sends what `info` says
same() {
    counted "$1" "$2"
    expected=$(counts "$1")
    if [ "$(cut -d' ' -f2- "$root/sent" | sort -u)" != "$expected" ]; then
        echo "$name: $1: a rank sends $(cut -d' ' -f2- "$root/sent" | sort -u | tr '\n' ';')" \
            "(bytes, messages), info says $expected"
        exit 1
    fi
}

# same_in_all FILE RANKS - all ranks together send what `info` says of each, so often: what is
# summed can't be cut into equal parts, and whose part is larger sends it to more
same_in_all() {
    counted "$1" "$2"
    expected=$(counts "$1" | awk -v n="$2" '{ print n * $1, n * $2 }')
    all=$(awk '{ bytes += $2; messages += $3 } END { print bytes, messages }' "$root/sent")
    if [ "$all" != "$expected" ]; then
        echo "$name: $1: $2 ranks send $all (bytes, messages), info says $expected"
        exit 1
    fi
}

cut='in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x4xf32>)'

# module BODY RESULT - of a mesh of four, on f32[8,4] cut along its first axis
module() {
    cat <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> tensor<$2xf32> {
    %0 = sdy.manual_computation(%x) $cut {
$1
    } : (tensor<8x4xf32>) -> tensor<$2xf32>
    return %0 : tensor<$2xf32>
  }
}
END
}
groups='replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids'
channel='channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>'
turn="      %r = \"stablehlo.collective_permute\"(%a) <{$channel, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>"
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
module "$turn" 8x4 >"$root/permute.mlir"
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
cat >"$root/two.mlir" <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%x) $cut {
      %r = stablehlo.add %a, %a : tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %n = stablehlo.negate %0 : tensor<8x4xf32>
    %1 = sdy.manual_computation(%n) $cut {
$turn
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
END
same "$root/two.mlir" 4
[ "$(counts "$root/two.mlir")" = "32 1" ]

# Where a sum has no equal parts each of its elements has one rank that adds it up.
module "      %b = stablehlo.slice %a [0:1, 0:3] : (tensor<2x4xf32>) -> tensor<1x3xf32>
      %s = \"stablehlo.all_reduce\"(%b) <{$channel, $groups}> $sum : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %z = stablehlo.constant dense<1.0> : tensor<f32>
      %r = stablehlo.pad %s, %z, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>" 8x4 >"$root/uneven.mlir"
same_in_all "$root/uneven.mlir" 4
[ "$(counts "$root/uneven.mlir")" = "18 6" ]
[ "$(sort "$root/sent" | tr '\n' ';')" = "0 20 6;1 20 6;2 20 6;3 12 6;" ]

# A collective whose result nobody takes is one all the same, and what is made of results, for
# results alone, is made by the rank that reports: it comes there, and nowhere else.
cat >"$root/unused.mlir" <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> (tensor<f32>, tensor<4xf32>) {
    %0 = sdy.manual_computation(%x) $cut {
      %u = "stablehlo.all_reduce"(%a) <{$channel, $groups}> $sum : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %r = stablehlo.add %a, %a : tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %l = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %m = stablehlo.reduce(%l init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %m, %l : tensor<f32>, tensor<4xf32>
  }
}
END
same "$root/unused.mlir" 4
[ "$(counts "$root/unused.mlir")" = "48 6" ]

# What goes from a rank to itself goes nowhere.
module "      %r = \"stablehlo.collective_permute\"(%a) <{$channel, source_target_pairs = dense<[[0, 0], [1, 1], [2, 2], [3, 3]]> : tensor<4x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
      sdy.return %r : tensor<2x4xf32>" 8x4 >"$root/self.mlir"
same "$root/self.mlir" 4
[ "$(counts "$root/self.mlir")" = "0 0" ]

# A function that runs a computation leaves its result where it is, as does a barrier.
cat >"$root/called.mlir" <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = func.call @turned(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.optimization_barrier %0 : tensor<8x4xf32>
    %2 = func.call @turned(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  func.func private @turned(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = sdy.manual_computation(%x) $cut {
$turn
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
END
same "$root/called.mlir" 4
[ "$(counts "$root/called.mlir")" = "64 2" ]

if [ -d "${JAXVET_CORPUS:-}/sharding/seed" ]; then
    for program in "$JAXVET_CORPUS"/sharding/seed/*.jaxexport \
        "$JAXVET_CORPUS"/sharding/seed/*.mlir "$JAXVET_CORPUS"/sharding/seed/*.jaxpr.txt; do
        case $program in
        */matmul_*) ranks=4 ;;
        */nn_pp_*) ranks=2 ;;
        *) ranks=8 ;;
        esac
        # JAX leaves out the sum of a loss that nobody takes when it lowers a gradient.
        case $program in
        */matmul_* | */nn_tp_* | *_grad.jaxexport | *_grad.*.mlir) same "$program" $ranks ;;
        *) same_in_all "$program" $ranks ;;
        esac
    done
else
    echo "$name: \$JAXVET_CORPUS is not set: the networks there are left out"
fi
echo "$name: ranks send what info says: $compared programs"
