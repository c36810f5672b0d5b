# shellcheck shell=sh
# jaxvet show --as flat, claims, plan: what the stages make of a program.
cat >"$work/twice.jaxpr" <<'EOF'
{ lambda ; a:f32[b,3] c:f32[]. let
    d:f32[b,3] = jit[
      name=f
      jaxpr={ lambda ; a:f32[b,3] c:f32[]. let d:f32[b,3] = mul a c in (d,) }
    ] a c
    e:f32[b,3] = mul a c
    f:f32[b,3] = add d e
    g:f32[b,3] = sin a
    h:f32[3] = reduce_sum[axes=(0,) out_sharding=None] f
  in (h,) }
EOF
expect 0 show --as flat "$work/twice.jaxpr"
is_silent
prints '^  %0 f32\[b,3\] input 0 varies$'
prints '^  %1 f32\[\] input 1 varies splat$'
# Calls are inlined, and what is computed twice is one node.
prints '^  %2 f32\[b,3\] = mul %0 %1 varies 2 times$'
prints '^  %3 f32\[b,3\] = add %2 %2 varies$'
prints '= sin %0 varies dead$'
prints '^results %5$'
expect 0 show --as flat demo/data/lstm_flax.json.gz
prints 'changes, 0 of body 0 at level 1 varies'
prints 'scan .* of bodies that give %.* at '
# Sizes that were put in are numbers there, too.
expect 0 show --as flat --transform set:b=4 "$work/twice.jaxpr"
prints '^  %0 f32\[4,3\] input 0 varies$'

# Each claim has its code, place, goal, verdict and who settled it.
expect 0 show --as claims demo/data/attention.json.gz
prints '^SHP001 trace-decided-by-size: the program at demo/programs/networks.py:57: '
prints '^  JAX asked b >= 0, and was told True$'
prints '^  proved by bounds$'
prints '^6 claims, and 70 that hold at sight$'
cat >"$work/wrong.jaxpr" <<'EOF'
{ lambda ; a:f32[b] c:f32[4]. let d:f32[b] = add a c in (d,) }
EOF
expect 0 show --as claims "$work/wrong.jaxpr"
prints '^SHP010 .*: jaxpr 0, equation 0 (add): '
prints '^  b == 4$'
prints '^  refuted by .* at b = '

# The plan at some sizes: where buffers lie, what lives in what, what runs.
expect 0 show --as plan --set b=2 "$work/twice.jaxpr"
is_silent
prints '^2 inputs, 1 results, 3 operations, '
prints '^  b0  24 bytes, input 0$'
prints 'lives in b'
prints ' bytes, at 0, in use from '
prints '^block 0$'
prints 'mul and others, [23] instructions of b0 f32\[2,3\]; b1 f32\[2,3\] by 0,0'
prints 'f32\[3\] = reduce_sum of '
expect 0 show --as plan --set b=2 demo/data/lstm_flax.json.gz
prints "moves with a loop's turns$"
prints ' = scan of .* runs block 1$'
prints '^block 1$'
expect 3 show --as plan "$work/twice.jaxpr"
complains 'the size b has no value.*--set b=3'
expect 3 show --as plan --set b=3 "$work/wrong.jaxpr"
expect 2 show --as flat --set b=3 "$work/twice.jaxpr"
complains '--set goes with --as plan'

# The same each time.
for as in flat claims plan; do
    set -- show --as $as
    [ $as = plan ] && set -- "$@" --set b=3
    "$JAXVET" "$@" demo/data/lstm_flax.json.gz >"$work/once"
    "$JAXVET" "$@" demo/data/lstm_flax.json.gz >"$work/again"
    holds cmp -s "$work/once" "$work/again"
    holds test -s "$work/once"
done

# What all operands have transposed is computed as they lie; of parts of arrays, and of operands
# that lie in several orders, it is not.
other_order() { # name, what is computed of a, b and their transposes x and y; with results in `c`
    cat >"$work/$1.jaxpr" <<END
{ lambda ; a:f32[5,7,3] b:f32[5,7,3] k:bool[5,7,3]. let
    x:f32[3,7,5] = transpose[permutation=(2, 1, 0)] a
    y:f32[3,7,5] = transpose[permutation=(2, 1, 0)] b
    z:f32[3,5,7] = transpose[permutation=(2, 0, 1)] b
    m:bool[3,7,5] = transpose[permutation=(2, 1, 0)] k
    $2
  in (c,) }
END
    expect 0 run "$work/$1.jaxpr" --fill random:5 --outputs "$work/$1.npz"
}
other_order turned 'd:f32[3,7,5] = mul x y
    e:f32[3,7,5] = add d y
    f:f32[3,7,5] = select_n m e x
    c:f32[5,7,3] = transpose[permutation=(2, 1, 0)] f'
expect 0 show --as plan "$work/turned.jaxpr"
holds test "$(grep -c ' by ' "$work/out")" = 0
other_order straight 'd:f32[5,7,3] = mul a b
    e:f32[5,7,3] = add d b
    c:f32[5,7,3] = select_n k e a'
expect 0 run "$work/turned.jaxpr" --fill random:5 --expect "$work/straight.npz" --bits
other_order mixed 'd:f32[3,7,5] = mul x y
    w:f32[3,7,5] = transpose[permutation=(0, 2, 1)] z
    e:f32[3,7,5] = add d w
    f:f32[3,2,5] = slice[limit_indices=(3, 4, 5) start_indices=(0, 2, 0) strides=None] e
    g:f32[3,2,5] = slice[limit_indices=(3, 4, 5) start_indices=(0, 2, 0) strides=None] y
    c:f32[3,2,5] = sub f g'
other_order plain 'd:f32[5,7,3] = mul a b
    e:f32[5,7,3] = add d b
    f:f32[5,7,3] = sub e b
    g:f32[3,7,5] = transpose[permutation=(2, 1, 0)] f
    c:f32[3,2,5] = slice[limit_indices=(3, 4, 5) start_indices=(0, 2, 0) strides=None] g'
expect 0 run "$work/mixed.jaxpr" --fill random:5 --expect "$work/plain.npz" --bits
other_order whole 'd:f32[3,7,5] = mul x y
    c:f32[3,7,5] = add d 1.0:f32[]'
other_order after 'd:f32[5,7,3] = mul a b
    e:f32[5,7,3] = add d 1.0:f32[]
    c:f32[3,7,5] = transpose[permutation=(2, 1, 0)] e'
expect 0 run "$work/whole.jaxpr" --fill random:5 --expect "$work/after.npz" --bits

# What is read several times in another dtype is converted once.
cat >"$work/converted.jaxpr" <<'END'
{ lambda ; w:f32[32,32] x:f32[4,32]. let
    a:f32[4,32] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] x w
    b:f32[4,32] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] a w
    c:f32[4,32] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] b w
  in (c,) }
END
expect 0 show --as plan "$work/converted.jaxpr"
holds test "$(grep -c 'f64\[32,32\] = ' "$work/out")" = 1
