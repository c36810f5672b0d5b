# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run --finite: which equation first gives what is not finite.
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
expect 1 run "$work/log.jaxpr" --finite
prints '^first infinity: log of 0 gives f32\[4\] with -inf at \[0\] (4 of 4 elements)$'
prints '^first NaN: sub of -inf and -inf gives f32\[4\] with NaN at \[0\] (4 of 4 elements)$'
prints '^out0 f32\[\]: NaN$'
prints '^1 of 2 outputs finite$'
holds test "$(grep -n '^first inf' "$work/out" | cut -d: -f1)" -eq 1
expect 0 run "$work/log.jaxpr"
holds test "$(wc -l <"$work/out")" -eq 2

# Results are those of a run that does not look.
expect 0 run "$work/log.jaxpr" --outputs "$work/plain.npz"
expect 1 run "$work/log.jaxpr" --finite --outputs "$work/looked.npz"
holds cmp -s "$work/plain.npz" "$work/looked.npz"

# What a program declares to be infinite is no news: a mask.
cat >"$work/mask.jaxpr" <<'EOP'
{ lambda ; a:f32[4]. let
    b:bool[4] = gt a 100.0:f32[]
    n:f32[4] = broadcast_in_dim[broadcast_dimensions=() shape=(4,) sharding=None] -inf:f32[]
    c:f32[4] = select_n b a n
    d:f32[] = reduce_max[axes=(0,) out_sharding=None] c
    e:f32[4] = exp c
  in (d, e) }
EOP
expect 0 run "$work/mask.jaxpr" --finite
prints '^2 of 2 outputs finite$'
holds test -z "$(grep '^first' "$work/out")"

# In a loop, at the turn that overflows; dtypes by their own range.
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
expect 1 run "$work/loop.jaxpr" --fill zeros --finite
prints '^first infinity: mul of 1.00000002e+30 and 1e+10 gives f32\[\] with inf, in run 4 of it$'
expect 0 run "$work/loop.jaxpr" --fill zeros --finite --domain wide
cat >"$work/small.jaxpr" <<'EOP'
{ lambda ; a:f16[2]. let
    b:f16[2] = add a 300.0:f16[]
    c:f16[2] = mul b b
    d:c64[2] = convert_element_type[new_dtype=complex64 sharding=None weak_type=False] c
    e:c64[2] = sub d d
  in (e,) }
EOP
expect 1 run "$work/small.jaxpr" --fill zeros --finite
prints '^first infinity: mul of 300 and 300 gives f16\[2\] with inf at \[0\] (2 of 2 elements)$'
prints '^first NaN: sub of inf+0j and inf+0j gives c64\[2\] with NaN at \[0\] (2 of 2 elements)$'

# One equation may make both.
cat >"$work/both.jaxpr" <<'EOP'
{ lambda ; a:f32[3]. let
    b:f32[3] = iota[dimension=0 dtype=float32 shape=(3,) sharding=None]
    c:f32[3] = broadcast_in_dim[broadcast_dimensions=() shape=(3,) sharding=None] 1.0:f32[]
    d:f32[3] = sub c b
    e:f32[3] = log d
    f:f32[3] = add e a
  in (f,) }
EOP
expect 1 run "$work/both.jaxpr" --fill zeros --finite
prints '^first NaN: log of -1 gives f32\[3\] with NaN at \[2\] (1 of 3 elements)$'
prints '^first infinity: log of 0 gives f32\[3\] with -inf at \[1\] (1 of 3 elements)$'

# With --expect the worse of both counts.
expect 1 run "$work/log.jaxpr" --finite --expect "$work/plain.npz"
prints '^2 of 2 outputs as expected$'
