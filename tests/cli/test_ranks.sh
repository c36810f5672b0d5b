# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run --mpi, --ranks: processes that are devices give the bits of one that is
# all of them; ranks that go separate ways, or can't begin, say so, and all end.

# Open MPI does not give back all that it takes.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export ASAN_OPTIONS

expect 2 run tests/host/scale.json --mpi
complains 'mpirun has not started this process'

if ! command -v mpirun >/dev/null || [ ! -e "$(dirname "$JAXVET")/libjaxvet_mpi.so" ]; then
    left_out "cli: test_ranks" "there is no mpirun, or no libjaxvet_mpi.so (openmpi-bin, libopenmpi-dev)" ||
        fail "ranks are not tested"
elif ! mpirun --allow-run-as-root --oversubscribe -n 2 true >"$work/out" 2>&1; then
    left_out "cli: test_ranks" "mpirun starts nothing here: $(head -n 3 "$work/out" | tr '\n' ' ')" ||
        fail "ranks are not tested"
else

# same PROGRAM RANKS
same() {
    expect 0 run "$1" --fill random:3 --outputs "$work/all.npz"
    expect 0 run "$1" --fill random:3 --ranks "$2" --timeout 60 --expect "$work/all.npz" --bits
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

# Each device's few rows against the same weights, in f32 and, where there are fewer products,
# in f64: no bit depends on who else is there.
cat >"$work/rows.mlir" <<'END'
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<20x300xf32>, %w: tensor<300x90xf32>, %v: tensor<90x11xf32>) -> tensor<20x11xf32> {
    %0 = sdy.manual_computation(%x, %w, %v) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<5x300xf32>, %b: tensor<300x90xf32>, %c: tensor<90x11xf32>) {
      %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x300xf32>, tensor<300x90xf32>) -> tensor<5x90xf32>
      %e = stablehlo.dot_general %d, %c, contracting_dims = [1] x [0] : (tensor<5x90xf32>, tensor<90x11xf32>) -> tensor<5x11xf32>
      sdy.return %e : tensor<5x11xf32>
    } : (tensor<20x300xf32>, tensor<300x90xf32>, tensor<90x11xf32>) -> tensor<20x11xf32>
    return %0 : tensor<20x11xf32>
  }
}
END
same "$work/rows.mlir" 4
program '"x"=4' "$(permuted %r %a '[[0, 1], [1, 3], [3, 0]]')" >"$work/hole.mlir"
same "$work/hole.mlir" 4
# What one computation leaves: the next one takes it cut alike, or otherwise (its axes the other
# way round, along another axis, whole), something else takes it too, or it is a result as well.
chained() { # SECOND_CUT BETWEEN OPERAND RESULTS TYPES
    cat <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x8xf32>) -> ($5) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%a: tensor<2x8xf32>) {
      %r = stablehlo.cosine %a : tensor<2x8xf32>
      sdy.return %r : tensor<2x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
$2
    %1 = sdy.manual_computation($3) in_shardings=[<@mesh, [$1]>] out_shardings=[<@mesh, [$1]>] manual_axes={"x", "y"} (%a: tensor<$6xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<$6xf32>
      %r = stablehlo.multiply %a, %b : tensor<$6xf32>
      sdy.return %r : tensor<$6xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return $4 : $5
  }
}
END
}
one='tensor<8x8xf32>'
chained '{"x", "y"}, {}' '' %0 %1 $one 2x8 >"$work/alike.mlir"
chained '{"y", "x"}, {}' '' %0 %1 $one 2x8 >"$work/turned.mlir"
chained '{}, {"x", "y"}' '' %0 %1 $one 8x2 >"$work/across.mlir"
chained '{"x"}, {"y"}' '' %0 %1 $one 4x4 >"$work/both.mlir"
chained '{"x", "y"}, {}' '    %n = stablehlo.negate %0 : tensor<8x8xf32>' %0 '%n, %1' "$one, $one" 2x8 \
    >"$work/between.mlir"
chained '{"x", "y"}, {}' '    %n = stablehlo.negate %0 : tensor<8x8xf32>' %n %1 $one 2x8 >"$work/passed.mlir"
chained '{"x", "y"}, {}' '' %0 '%0, %1' "$one, $one" 2x8 >"$work/given.mlir"
chained '{"x", "y"}, {}' '    %m = func.call @most(%0, %arg0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>' %m '%t, %1' "$one, $one" 2x8 |
    sed '$d' >"$work/called.mlir"
cat >>"$work/called.mlir" <<'END'
  func.func private @most(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %z = stablehlo.constant dense<0.5> : tensor<f32>
    %h = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %c = stablehlo.compare GT, %a, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
    %r = stablehlo.select %c, %a, %b : tensor<8x8xi1>, tensor<8x8xf32>
    return %r : tensor<8x8xf32>
  }
}
END
for case in alike turned across both between passed given called; do
    same "$work/$case.mlir" 4
done
# Parts that are swapped: of equal and of unequal places, by an operation that is no sum.
cat >"$work/parts.mlir" <<'END'
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>, tensor<2x6xf32>) {
    %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%a: tensor<2x3xf32>) {
      %r = "stablehlo.all_to_all"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<1x6xf32>
      %m = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %h = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %t = stablehlo.multiply %p, %h : tensor<f32>
        %s = stablehlo.subtract %t, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %f = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
      %o = stablehlo.slice %f [0:3] : (tensor<6xf32>) -> tensor<3xf32>
      %l = stablehlo.reshape %o : (tensor<3xf32>) -> tensor<1x3xf32>
      %c = "stablehlo.reduce_scatter"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.maximum %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x3xf32>) -> tensor<1x3xf32>
      %w = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
      %v = stablehlo.concatenate %r, %r, dim = 0 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
      %u = stablehlo.slice %v [0:2, 0:3] : (tensor<2x6xf32>) -> tensor<2x3xf32>
      %z = stablehlo.add %u, %w : tensor<2x3xf32>
      %e = stablehlo.slice %w [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
      sdy.return %z, %l, %e : tensor<2x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
    } : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x3xf32>, tensor<2x6xf32>)
    return %0#0, %0#1, %0#2 : tensor<4x6xf32>, tensor<2x3xf32>, tensor<2x6xf32>
  }
}
END
same "$work/parts.mlir" 4
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
complains 'rank 0 waits in a collective of f32\[2\]'
program '"x"=4' "$(branch "$(permuted %u %a '[[0, 1], [1, 3], [3, 0]]')" "$(sum %u %a)")" \
    >"$work/mixed.mlir"
expect 3 run "$work/mixed.mlir" --ranks 4
complains 'the ranks are at different collectives:'
complains 'rank 0 waits in a permutation of f32\[2\]'
complains 'rank 3 waits in a collective of f32\[2\]'
holds test "$(grep -c '^jaxvet: ' "$work/err")" = 1
holds test -z "$(pgrep -f "$work/mixed.mlir")"

# The same words at the same place are not the same collective in two branches, nor in the
# first turn of one rank and the second of another.
program '"x"=4' "$(branch "$(sum %u %a)" "$(sum %u %a)")" >"$work/two.mlir"
expect 3 run "$work/two.mlir" --ranks 4
complains 'rank 0 waits in a collective of f32\[2\] (number 3)'
complains 'rank 1 waits in a collective of f32\[2\] (number 2)'
cat >"$work/turns.jaxpr" <<'END'
{ lambda ; a:f32[8]. let
    b:f32[8] = shard_map[
      check_vma=False
      in_specs=(P('x',),)
      jaxpr={ lambda ; c:f32[2]. let
          d:i32[] = axis_index[axis_name=x]
          n:i32[2] = iota[dimension=0 dtype=int32 shape=(2,) sharding=None]
          e:f32[2] = scan[
            jaxpr={ lambda ; f:i32[] g:f32[2] h:i32[]. let
                i:i32[] = add f h
                j:i32[] = rem i 2:i32[]
                k:f32[2] = cond[
                  branches=(
                    { lambda ; l:f32[2]. let  in (l,) }
                    { lambda ; l:f32[2]. let
                        m:f32[2] = psum[axes=('x',) axis_index_groups=None] l
                      in (m,) }
                  )
                ] j g
              in (k,) }
            length=2
            linear=(False, False, False)
            num_carry=1
            num_consts=1
            reverse=False
            unroll=1
            _split_transpose=False
          ] d c n
        in (e,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x',),)
    ] a
  in (b,) }
END
expect 3 run "$work/turns.jaxpr" --ranks 4
complains 'rank 0 waits in a collective of f32\[2\] (number 2, turn 1)'
complains 'rank 1 waits in a collective of f32\[2\] (number 2, turn 0)'

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
mpirun --oversubscribe -n 3 "$JAXVET" run --mpi "$work/sum.mlir" : \
    -n 1 "$JAXVET" run --mpi "$work/sum.mlir" --fill random:1 >"$work/out" 2>"$work/err"
holds test $? -eq 3
complains 'rank 3 has other inputs than rank 0'
for option in '--seed 1' '--transform flat' '--numerics xla'; do
    # shellcheck disable=SC2086 # two words
    mpirun --oversubscribe -n 3 "$JAXVET" run --mpi "$work/sum.mlir" : \
        -n 1 "$JAXVET" run --mpi "$work/sum.mlir" $option >"$work/out" 2>"$work/err"
    holds test $? -eq 3
    complains 'rank 3 has other options than rank 0'
done
# Who never begins (another program, or one that hangs) is not waited for for ever.
mpirun --oversubscribe -n 3 "$JAXVET" run --mpi "$work/sum.mlir" --timeout 0.3 : -n 1 sleep 100 \
    >"$work/out" 2>"$work/err"
holds test $? -eq 3
complains 'rank 0 waited 3 s for all processes of mpirun to begin'
holds test "$(grep -c '^jaxvet: ' "$work/err")" = 1
# What watches a run has one process, not silence on what others compute.
expect 2 run "$work/sum.mlir" --ranks 4 --finite
complains 'watch one process, not ranks'
# What all are asked for wrongly, one says.
mpirun --oversubscribe -n 3 "$JAXVET" run --mpi "$work/sum.mlir" --nonsense >"$work/out" 2>"$work/err"
holds test $? -eq 2
holds test "$(grep -c 'unknown option' "$work/err")" = 1

expect 2 run "$work/sum.mlir" --ranks 100000
complains '\-\-ranks: at most 1024'

# Who waits for one that waits for one that computes may go on.
cat >"$work/slow.jaxpr" <<'END'
{ lambda ; a:f32[8]. let
    b:f32[2] = shard_map[
      check_vma=False
      in_specs=(P(('x', 'y'),),)
      jaxpr={ lambda ; c:f32[2]. let
          d:i32[] = axis_index[axis_name=x]
          e:i32[] = axis_index[axis_name=y]
          f:i32[] = mul d e
          g:i32[] = mul f 8000000:i32[]
          h:i32[] i:f32[2] = while[
            body_jaxpr={ lambda ; j:i32[] k:f32[2]. let
                l:i32[] = sub j 1:i32[]
                m:f32[2] = mul k 0.5:f32[]
              in (l, m) }
            body_nconsts=0
            cond_jaxpr={ lambda ; j:i32[] k:f32[2]. let
                l:bool[] = gt j 0:i32[]
              in (l,) }
            cond_nconsts=0
          ] g c
          n:f32[2] = psum[axes=('y',) axis_index_groups=None] i
          o:f32[2] = psum[axes=('x',) axis_index_groups=None] n
        in (o,) }
      mesh=Mesh('x': 2, 'y': 2, axis_types=(Auto, Auto))
      newly_manual_axes=frozenset({'x', 'y'})
      out_specs=(P(),)
    ] a
  in (b,) }
END
same "$work/slow.jaxpr" 4

# What results alone are made of is made by the first rank when all have done what they do
# together, which waits for nothing of it; and the others, who have results for it, too, wait
# as long as that takes, as they do where they all begin again.
cat >"$work/late.jaxpr" <<'END'
{ lambda ; a:f32[8]. let
    b:f32[8] = shard_map[
      check_vma=False
      in_specs=(P('x',),)
      jaxpr={ lambda ; c:f32[2]. let d:f32[2] = mul c 2.0:f32[] in (d,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x',),)
    ] a
    e:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
    f:i32[] g:f32[] = while[
      body_jaxpr={ lambda ; h:i32[] i:f32[]. let
          j:i32[] = sub h 1:i32[]
          k:f32[] = mul i 0.99:f32[]
        in (j, k) }
      body_nconsts=0
      cond_jaxpr={ lambda ; h:i32[] i:f32[]. let
          j:bool[] = gt h 0:i32[]
        in (j,) }
      cond_nconsts=0
    ] 20000000:i32[] e
    l:f32[2] = shard_map[
      check_vma=False
      in_specs=(P('x',),)
      jaxpr={ lambda ; m:f32[2]. let
          n:f32[2] = psum[axes=('x',) axis_index_groups=None] m
        in (n,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P(),)
    ] a
    o:f32[2] = mul l 3.0:f32[]
  in (b, o, g) }
END
expect 0 run "$work/late.jaxpr" --fill random:3 --outputs "$work/all.npz"
expect 0 run "$work/late.jaxpr" --fill random:3 --ranks 4 --timeout 0.2 --bench 2 --expect "$work/all.npz" --bits
prints ' outputs as expected$'
prints '^2 calls: '

# Numbers that the program leaves open are the same for all, whoever needs them, and a program
# that checks itself says what it finds as it does in one process.
drawn() { # OPERATION
    cat <<END
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %o = stablehlo.constant dense<1.0> : tensor<f32>
    %s = stablehlo.constant dense<8> : tensor<1xi64>
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
      %r = stablehlo.add %a, %a : tensor<2xf32>
      sdy.return %r : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %l = stablehlo.reduce(%0 init: %o) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    $1
    %v = stablehlo.rng %z, %o, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
    %1 = sdy.manual_computation(%v) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
      sdy.return %a : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %u, %1 : tensor<8xf32>, tensor<8xf32>
  }
}
END
}
drawn '%u = stablehlo.rng %z, %l, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>' \
    >"$work/drawn.mlir"
same "$work/drawn.mlir" 4
drawn '%u = stablehlo.broadcast_in_dim %l, dims = [] : (tensor<f32>) -> tensor<8xf32>
    check.expect_almost_eq_const %l, dense<0.5> : tensor<f32>' >"$work/checked.mlir"
for option in '--seed 0' '--ranks 4'; do
    # shellcheck disable=SC2086 # two words
    expect 1 run "$work/checked.mlir" --fill random:3 $option
    prints '^the program expects another result: element \[\] is '
done

# One that dies on the way: another one says so, and nobody stays.
cat >"$work/long.jaxpr" <<'END'
{ lambda ; a:f32[8]. let
    b:f32[8] = shard_map[
      check_vma=True
      in_specs=(P('x',),)
      jaxpr={ lambda ; c:f32[2]{V:x}. let
          d:f32[2]{V:x} = scan[
            jaxpr={ lambda ; e:f32[2]{V:x}. let
                f:f32[2]{V:x} = ppermute[
                  axis_name=('x',)
                  perm=((0, 1), (1, 2), (2, 3), (3, 0))
                ] e
              in (f,) }
            length=100000000
            linear=(False,)
            num_carry=1
            num_consts=0
            reverse=False
            unroll=1
            _split_transpose=False
          ] c
        in (d,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x',),)
    ] a
  in (b,) }
END
for pause in 2 4 8 16 32; do # until all have met
    "$JAXVET" run "$work/long.jaxpr" --ranks 4 --timeout 60 >"$work/out" 2>"$work/err" &
    started=$!
    sleep $pause
    kill -9 "$(pgrep -nf "^$JAXVET run $work/long.jaxpr")"
    wait $started
    code=$?
    ! grep -q 'has died' "$work/err" || break
done
holds test "$code" -eq 137
complains 'a rank has died:'
holds test -z "$(pgrep -f "$work/long.jaxpr")"

# One that does not run for a while goes no other way: it is waited for as long as --timeout says.
for pause in 2 4 8 16; do # until all have met
    "$JAXVET" run "$work/long.jaxpr" --ranks 4 --timeout 3 >"$work/out" 2>"$work/err" &
    started=$!
    sleep $pause
    kill -STOP "$(pgrep -nf "^$JAXVET run $work/long.jaxpr")"
    wait $started
    code=$?
    ! grep -q 'waits in' "$work/err" || break
done
holds test "$code" -eq 3
complains 'not all ranks came to a collective in time'
holds test -z "$(pgrep -f "$work/long.jaxpr")"

# All that are stopped, longer than that, and go on one after another, have not waited.
"$JAXVET" run "$work/long.jaxpr" --ranks 4 --timeout 1.5 >"$work/out" 2>"$work/err" &
started=$!
sleep 3
ranks=$(pgrep -f "^$JAXVET run $work/long.jaxpr")
holds test "$(echo "$ranks" | wc -l)" = 4
for rank in $ranks; do kill -STOP "$rank"; done
sleep 3
for rank in $ranks; do
    kill -CONT "$rank"
    sleep 0.05
done
sleep 1
holds kill $started
wait $started
holds test -z "$(grep 'jaxvet: ' "$work/err")"
for pause in 1 2 4 8; do # until they are gone
    ! pgrep -f "$work/long.jaxpr" >"$work/out" || sleep $pause
done
holds test -z "$(pgrep -f "$work/long.jaxpr")"

# Nor is who is stopped when all others have ended: the first rank, another one, before MPI
# ends and after it.
if command -v mpicc >/dev/null; then
    mpicc -O1 -Wall -Wextra -shared -fPIC -o "$work/stop_rank.so" tests/host/stop_rank.c
    for at in '0 before' '0 behind' '2 before' '2 behind'; do
        (
            export ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}"
            export LD_PRELOAD="$work/stop_rank.so" STOP="$at"
            exec timeout 60 "$JAXVET" run "$work/sum.mlir" --ranks 4 >"$work/out" 2>"$work/err"
        )
        holds test $? -eq 3
        complains "rank [01] waited .* for all ranks to end, and rank ${at% *} is stopped"
        holds test -z "$(pgrep -f "$work/sum.mlir")"
    done
fi

# Where ranks can't share memory, one says so, and no file is left.
alone='mount -t tmpfs -o size=4k none /dev/shm && dd if=/dev/zero of=/dev/shm/all bs=4k count=1'
if unshare -m sh -c "$alone" 2>"$work/err"; then
    unshare -m sh -c "$alone"' 2>/dev/null; "$@"; code=$?; ls /dev/shm; exit $code' sh \
        "$JAXVET" run "$work/sum.mlir" --ranks 4 >"$work/out" 2>"$work/err"
    holds test $? -eq 3
    complains 'no memory (/dev/shm) that ranks of one machine share'
    holds test -z "$(grep jaxvet "$work/out")"
fi

fi
