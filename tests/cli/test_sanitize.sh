# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run --sanitize: what a run shows, and who is to blame.
cat >"$work/log.jaxpr" <<'EOP'
{ lambda ; a:f32[3,4]. let
    b:f32[4] = reduce_max[axes=(0,) out_sharding=None] a
    c:f32[4] = sub b b
    d:f32[4] = log c
    e:f32[4] = sub d d
    f:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
    g:f32[4] = sub b b
  in (f, g) }
EOP
expect 1 run "$work/log.jaxpr" --sanitize=nan
prints '^error\[NUM001\] domain: log of 0 gives -inf$'
prints 'at \[0\] of f32\[4\] (4 of 4 elements); it gets to output 0 by sub, reduce_sum$'
prints '^1 program: 0 proved, 0 refuted, 1 witnessed, 0 undecided$'
holds test "$(grep -c '^error' "$work/out")" -eq 1
expect 0 run "$work/log.jaxpr" --sanitize=oob,wrap
holds test "$(wc -l <"$work/out")" -eq 2

# The report of check, in any of its formats, and nothing else.
expect 1 run "$work/log.jaxpr" --sanitize nan --format json
holds python3 -c '
import json, sys
finding, = json.load(open(sys.argv[1]))["programs"][0]["findings"]
assert finding["code"] == "NUM001" and finding["evidence"] == "execution"
assert finding["data"]["witness"] == {
    "of": "run", "backward": False, "index": [0], "count": 4, "value": "-inf",
    "operands": ["0"], "output": 0, "path": ["log", "sub", "reduce_sum"]}' "$work/out"
expect 0 run "$work/log.jaxpr" --sanitize oob --format json
prints '"status":"ok"'

# Results are those of a run that does not look.
expect 0 run "$work/log.jaxpr" --outputs "$work/plain.npz"
expect 1 run "$work/log.jaxpr" --sanitize=nan,oob,wrap --outputs "$work/looked.npz"
holds cmp -s "$work/plain.npz" "$work/looked.npz"

# What a choice leaves out is quiet, also where something else is not finite.
cat >"$work/masked.jaxpr" <<'EOP'
{ lambda ; a:f32[4] m:f32[]. let
    z:f32[4] = sub a a
    l:f32[4] = log z
    p:bool[4] = gt z 0.0:f32[]
    o:f32[4] = broadcast_in_dim[broadcast_dimensions=() shape=(4,) sharding=None] m
    c:f32[4] = select_n p o l
    y:f32[] = exp 1000.0:f32[]
  in (c, y) }
EOP
expect 1 run "$work/masked.jaxpr" --sanitize=nan
prints '^error\[NUM004\] overflow: exp of 1000 gives inf$'
holds test "$(grep -c '^error' "$work/out")" -eq 1

# Through loops, at the turn that overflows.
cat >"$work/loop.jaxpr" <<'EOP'
{ lambda ; a:f32[]. let
    s:f32[] = exp a
    b:i32[] c:f32[] = while[
      cond_jaxpr={ lambda ; d:i32[] e:f32[]. let
          f:bool[] = lt d 10:i32[]
        in (f,) }
      cond_nconsts=0
      body_jaxpr={ lambda ; g:i32[] h:f32[]. let
          i:i32[] = add g 1:i32[]
          j:f32[] = mul h 1e10:f32[]
        in (i, j) }
      body_nconsts=0
    ] 0:i32[] s
  in (c,) }
EOP
expect 1 run "$work/loop.jaxpr" --fill zeros --sanitize=nan
prints '^error\[NUM004\] overflow: mul of 1e+30 and 1e+10 gives inf$'
prints 'of f32\[\], in run 4 of the equation; it gets to output 0 by while$'

# A predicate of which each half is needed twice: what it needs is found in one pass.
{
    echo '{ lambda ; x:f32[]. let'
    echo '    y:f32[] = while['
    echo '      cond_jaxpr={ lambda ; a:f32[]. let'
    echo '          za:bool[] = lt a 3.0:f32[]'
    i=0
    while [ "$i" -lt 60 ]; do
        echo "          z$((i + 1)):bool[] = and z$i z$i"
        i=$((i + 1))
    done | tr '0-9' 'a-j'
    echo '        in (zga,) }'
    echo '      cond_nconsts=0'
    echo '      body_jaxpr={ lambda ; b:f32[]. let c:f32[] = add b 1.0:f32[] in (c,) }'
    echo '      body_nconsts=0'
    echo '    ] x'
    echo '  in (y,) }'
} >"$work/doubled.jaxpr"
expect 0 run "$work/doubled.jaxpr" --fill zeros --sanitize=nan --time 20

# Indices.
cat >"$work/slice.jaxpr" <<'EOP'
{ lambda ; a:f32[8] i:i32[]. let
    j:i32[] = add i 6:i32[]
    b:f32[4] = dynamic_slice[slice_sizes=(4,)] a j
    c:f32[4] = dynamic_slice[slice_sizes=(4,)] a i
  in (b, c) }
EOP
expect 1 run "$work/slice.jaxpr" --fill zeros --sanitize=oob
prints '^error\[IDX002\] slice-moved: index 6 is outside of axis 0: the last that is possible is 4, and the nearest is taken$'
holds test "$(grep -c '^error' "$work/out")" -eq 1
cat >"$work/gather.jaxpr" <<'EOP'
{ lambda ; a:f32[8] i:i32[3,1]. let
    k:i32[3,1] = iota[dimension=0 dtype=int32 shape=(3, 1) sharding=None]
    n:i32[3,1] = mul k 7:i32[]
    b:f32[3] = gather[
      dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
      fill_value=None
      indices_are_sorted=False
      mode=GatherScatterMode.PROMISE_IN_BOUNDS
      slice_sizes=(1,)
      unique_indices=False
    ] a n
  in (b,) }
EOP
expect 1 run "$work/gather.jaxpr" --fill zeros --sanitize=oob
prints '^error\[IDX001\] index-outside: index 14 is outside of axis 0, whose last is 7$'
prints 'note: in row 2 of 3 of indices (1 outside)$'

# Integers.
cat >"$work/wrap.jaxpr" <<'EOP'
{ lambda ; a:i32[2] b:f32[]. let
    c:i32[2] = add a 2147483647:i32[]
    d:i32[2] = add c 1:i32[]
    e:i8[] = convert_element_type[new_dtype=int8 sharding=None weak_type=False] 300:i32[]
    z:i32[2] = sub a a
    f:i32[2] = div c z
    g:f32[] = add b 1e10:f32[]
    h:i32[] = convert_element_type[new_dtype=int32 sharding=None weak_type=False] g
  in (d, e, f, h) }
EOP
expect 1 run "$work/wrap.jaxpr" --fill zeros --sanitize=wrap
prints '^error\[DTY004\] narrow-wraps: add of 2147483647 and 1 wraps in int32 and gives -2147483648$'
prints '^error\[DTY004\] narrow-wraps: 300 is converted to int8, which does not hold it, and becomes 44$'
prints '^error\[NUM001\] domain: 1e+10 is converted to int32, which does not hold it, and becomes 2147483647$'
holds test "$(grep -c '^error' "$work/out")" -eq 3
expect 1 run "$work/wrap.jaxpr" --fill zeros --sanitize=nan
prints '^error\[NUM001\] domain: div of 2147483647 and 0, a division of integers by zero, gives -1$'

# Keys and hashes wrap by their author's wish; unsigned integers anyway.
cat >"$work/hash.jaxpr" <<'EOP'
{ lambda ; a:i32[2] u:u32[]. let
    b:i32[2] = add a 123456789:i32[]
    c:i32[2] = mul b 1103515245:i32[]
    d:i32[2] = shift_right_logical c 16:i32[]
    e:i32[2] = xor d a
    f:i32[2] = mul e 16777619:i32[]
    v:u32[] = sub u 1:u32[]
  in (f, v) }
EOP
expect 0 run "$work/hash.jaxpr" --fill zeros --sanitize=wrap

expect 2 run "$work/log.jaxpr" --sanitize=nan,inf
complains "expected nan, oob, wrap, digits or several with commas between, found 'inf'"
expect 2 run "$work/log.jaxpr" --sanitize=
expect 2 run "$work/log.jaxpr" --sanitize=nan --finite
expect 2 run "$work/log.jaxpr" --format json

# Digits: a variance as a difference of means, and one that is not.
cat >"$work/digits.jaxpr" <<'EOP'
{ lambda ; a:f32[8]. let
    i:f32[8] = iota[dimension=0 dtype=float32 shape=(8,) sharding=None]
    x:f32[8] = add a i
    b:f32[8] = add x 4096.1:f32[]
    q:f32[8] = mul b b
    r:f32[] = reduce_sum[axes=(0,) out_sharding=None] q
    s:f32[] = div r 8.0:f32[]
    t:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
    u:f32[] = div t 8.0:f32[]
    v:f32[] = mul u u
    w:f32[] = sub s v
    y:f32[8] = sub b u
    z:f32[8] = mul y y
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] z
    d:f32[] = div c 8.0:f32[]
  in (w, d) }
EOP
expect 1 run "$work/digits.jaxpr" --fill zeros --sanitize=digits
prints '^error\[NUM005\] cancellation: sub gives .*, and with more digits 5.2.*: more than half of them are lost$'
prints 'it gets to output 0$'
holds test "$(grep -c '^error' "$work/out")" -eq 1
# (x + c) - c rounds on purpose.
cat >"$work/round.jaxpr" <<'EOP'
{ lambda ; a:f32[4]. let
    e:f32[4] = exp a
    f:f32[4] = div e 3.0:f32[]
    b:f32[4] = add f 12582912.0:f32[]
    c:f32[4] = sub b 12582912.0:f32[]
    d:f32[4] = sub f c
  in (c, d) }
EOP
expect 0 run "$work/round.jaxpr" --fill zeros --sanitize=digits
# What computes in double is rounded in other ways.
cat >"$work/double.jaxpr" <<'EOP'
{ lambda ; a:f64[]. let
    b:f64[] = add a 1e-05:f64[]
    c:f64[] = cos b
    d:f64[] = sub 1.0:f64[] c
    e:f64[] = mul b b
    f:f64[] = div d e
    g:f64[] = exp b
  in (f, g) }
EOP
expect 1 run "$work/double.jaxpr" --fill zeros --sanitize=digits
prints '^error\[NUM005\]'
holds test "$(grep -c '^error' "$work/out")" -eq 1
