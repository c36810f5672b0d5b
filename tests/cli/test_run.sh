# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run: sizes, inputs, outputs, what is compared, exit codes.
program=tests/host/scale.json

expect 0 run "$program" --set b=2 --fill zeros
prints '^out0 f32\[2,3\] = 0 0 0 0 0 0$'
prints '^out1 f32\[3\] = 0 0 0$'
is_silent
expect 0 run "$program" --set b=2 --fill random:7
cp "$work/out" "$work/first"
expect 0 run "$program" --set b=2 --fill random:7
holds cmp -s "$work/out" "$work/first"
expect 0 run - --set b=2 --fill random:7 <"$program"
holds cmp -s "$work/out" "$work/first"

# Results come back as what is expected; another size or seed is a mismatch.
expect 0 run "$program" --set b=4 --fill random:7 --outputs "$work/out.npz"
expect 0 run "$program" --set b=4 --fill random:7 --expect "$work/out.npz" --bits
prints '^2 of 2 outputs as expected$'
expect 1 run "$program" --set b=4 --fill random:8 --expect "$work/out.npz"
expect 0 run "$program" --set b=4 --fill random:8 --expect "$work/out.npz" --atol 100
expect 0 run "$program" --set b=4 --bench 5
prints '^5 calls: min .* median .* max '

# What can't be run is refused, by name, before anything is written.
expect 3 run "$program" --set b=1
complains 'b >= 2'
expect 2 run "$program" --set b=0
expect 3 run "$program"
complains 'b'
expect 2 run "$program" --set n=3
complains 'n'
expect 3 run "$program" --inputs "$work/missing.npz"
complains 'missing.npz'
expect 3 run "$program" --inputs "$work/out.npz"
complains 'in0'
head -c 100 "$work/out.npz" >"$work/cut.npz"
expect 3 run "$program" --inputs "$work/cut.npz"
complains 'cut.npz'
expect 3 run "$work/missing.json" --outputs "$work/none.npz"
holds test ! -e "$work/none.npz"
expect 3 run "$program" --set b=2 --outputs "$work/no/such/none.npz"
expect 3 run "$program" --set b=1000000000000
expect 3 run "$program" --set b=1000 --memory 100
complains 'memory\|budget'
expect 2 run
expect 2 run "$program" "$program"
expect 2 run "$program" --set b=2 --fill ones

# Sizes from shapes: what JAX asserts at a call, with the numbers.
cat >"$work/b_b_2d.jaxpr" <<'EOF'
{ lambda ; a:f32[b,b,2*d]. let c:f32[b,b,2*d] = sin a in (c,) }
EOF
expect 0 run "$work/b_b_2d.jaxpr" --shape '(3, 3, 6)' --fill zeros
prints '^out0 f32\[3,3,6\]'
expect 3 run "$work/b_b_2d.jaxpr" --shape 3,3,5
complains 'args\[0\].shape\[2\]: is 5, declared 2\*d: no `d` gives that, since 5 divided by 2 has remainder 1 (the program.s args\[0\].shape = (b, b, 2\*d); b = 3 from args\[0\].shape\[0\])$'
expect 3 run "$work/b_b_2d.jaxpr" --shape 3,4,6
complains 'args\[0\].shape\[1\]: is 4, declared b, which is 3 (.*; b = 3 from args\[0\].shape\[0\])$'
expect 3 run "$work/b_b_2d.jaxpr" --shape 0,0,6
complains 'shape\[0\]: is 0, declared b: so `b` would be 0, expected at least 1'
expect 3 run "$work/b_b_2d.jaxpr" --shape 3,3,0
complains 'shape\[2\]: is 0, declared 2\*d: so `d` would be 0, expected at least 1'
expect 3 run "$work/b_b_2d.jaxpr" --shape 3,3
complains 'args\[0\]: has 2 axes, expected 3'
expect 3 run "$work/b_b_2d.jaxpr" --shape 3,3,6 --set b=4
complains 'shape\[0\]: is 3, declared b, which is 4'
expect 2 run "$work/b_b_2d.jaxpr" --shape 3,3,b
expect 2 run "$work/b_b_2d.jaxpr" --shape '(3,3'
complains 'column 5: expected .).'
expect 2 run "$work/b_b_2d.jaxpr" --shape 3,3,6 --shape 3,3,6
expect 2 run "$work/b_b_2d.jaxpr" --shape 'args[1]=3'
expect 2 run "$work/b_b_2d.jaxpr" --shape 3,3,6 --inputs x.npz

# A product of a known and an unknown is more than JAX solves; a^2 is too much.
cat >"$work/product.jaxpr" <<'EOF'
{ lambda ; a:f32[a*b] b:f32[a,3] c:f32[b + a]. let d:f32[a*b] = sin a in (d,) }
EOF
expect 0 run "$work/product.jaxpr" --shape 6 --shape 'args[2]=5' --shape 'args[1]=2,3'
prints '^out0 f32\[6\]'
expect 3 run "$work/product.jaxpr" --shape 7 --shape 'args[2]=5' --shape 'args[1]=2,3'
complains 'args\[0\].shape\[0\]: is 7, declared a\*b, which is 6 (.*; a = 2 from args\[1\].shape\[0\], b = 3 from args\[2\].shape\[0\] = 5, declared b + a)'
expect 2 run "$work/product.jaxpr" --shape 6 --shape 2,3
complains 'args\[2\]: has symbolic sizes and needs a --shape'
cat >"$work/square.jaxpr" <<'EOF'
{ lambda ; a:f32[a^2]. let b:f32[a^2] = sin a in (b,) }
EOF
expect 3 run "$work/square.jaxpr" --shape 9
complains 'can.t solve for `a`: .*args\[0\].shape\[0\] = 9 is declared a^2'
expect 0 run "$work/square.jaxpr" --shape 9 --set a=3
expect 3 run "$work/square.jaxpr" --shape 9 --set a=2
complains 'is 9, declared a^2, which is 4'

# Sizes wrap as XLA's do: 70000^2 is 605032704 in int32.
cat >"$work/wraps.jaxpr" <<'EOF'
{ lambda ; a:f32[0,k]. let
    b:f32[floordiv(k^2, 70000)] = broadcast_in_dim[
      broadcast_dimensions=()
      shape=(floordiv(k^2, 70000),)
      sharding=None
    ] 1.0:f32[]
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
  in (c,) }
EOF
expect 0 run "$work/wraps.jaxpr" --fill zeros --set k=46340
prints '^out0 f32\[\] = 30677$'
expect 0 run "$work/wraps.jaxpr" --fill zeros --set k=70000
prints '^out0 f32\[\] = 8643$'
expect 3 run "$work/wraps.jaxpr" --fill zeros --set k=46341
complains 'is 30678 here and -30679 in the program.s own integers (IDX004): no array has a negative size$'
expect 0 check "$work/wraps.jaxpr"
prints '^note\[IDX004\] size-arithmetic-wraps: `broadcast_in_dim` computes in int32: `k^2` passes 2147483647 when k = 65536 (4294967296)$'
prints '= safe: nothing wraps here while `k <= 46340`$'
prints '^assumed: sizes are integers in proofs and int32 in the program, where nothing wraps while k <= 46340$'
expect 0 check --format json "$work/wraps.jaxpr"
prints '"safe":\["k <= 46340"\],"wraps_at":{"k":65536},"width":32,'
prints '"conditions":\["k <= 46340"\]}\]}$'
cat >"$work/adds.jaxpr" <<'EOF'
{ lambda ; a:f32[floordiv(k^2, 70000)] b:f32[floordiv(k^2, 70000)] c:f32[0,k]. let
    d:f32[floordiv(k^2, 70000)] = add a b
  in (d,) }
EOF
expect 3 run "$work/adds.jaxpr" --fill zeros --set k=70000
complains '(IDX004): an array that is given or returned can.t have both sizes$'

# A function of the Python process matters only where it is called.
cat >"$work/callback.jaxpr" <<'EOF'
{ lambda ; a:i32[]. let
    debug_print[fmt=x={x} has_placeholders=True ordered=True] a
    b:i32[] = cond[
      branches=(
        { lambda ; c:i32[]. let  in (c,) }
        { lambda ; d:i32[]. let
            e:i32[] = pure_callback[
              callback=<function ask at 0xXXXXXXXXXXXX>
              result_avals=(ShapedArray(int32[]),)
            ] d
          in (e,) }
      )
    ] a a
  in (b,) }
EOF
expect 0 run "$work/callback.jaxpr" --fill zeros
prints '^out0 i32\[\] = 0$'
expect 3 run "$work/callback.jaxpr" --fill random:2
complains '(pure_callback): the program calls the Python function ask, which is not here'

# What acts is called, whoever needs its results; what only gives some is not.
cat >"$work/acting.jaxpr" <<'EOF'
{ lambda ; a:f32[4]. let
    _:f32[4] = io_callback[
      callback=<function log at 0xXXXXXXXXXXXX>
      ordered=False
      result_avals=(ShapedArray(float32[4]),)
      sharding=None
    ] a
    b:f32[4] = add a 1.0:f32[]
  in (b,) }
EOF
expect 3 run "$work/acting.jaxpr"
complains '(io_callback): the program calls the Python function log, which is not here'

# float0 is what XLA has for it, a boolean; complex numbers become it by their
# real part, which they do not when they become bool.
cat >"$work/float0.jaxpr" <<'EOT'
{ lambda ; . let
    a:float0[] = convert_element_type[
      new_dtype=[('float0', 'V')]
      weak_type=False
    ] 3:i32[]
    b:f32[] = convert_element_type[new_dtype=float32 weak_type=False] a
    c:bf16[] = convert_element_type[new_dtype=bfloat16 weak_type=False] a
    d:c64[] = complex 0.0:f32[] 2.0:f32[]
    e:float0[] = convert_element_type[
      new_dtype=[('float0', 'V')]
      weak_type=False
    ] d
    f:i32[] = convert_element_type[new_dtype=int32 weak_type=False] e
    g:bool[] = convert_element_type[new_dtype=bool weak_type=False] d
  in (a, b, c, f, g) }
EOT
expect 0 run "$work/float0.jaxpr"
prints '^out1 f32\[\] = 1$'
prints '^out2 bf16\[\] = 1$'
prints '^out3 i32\[\] = 0$'
prints '^out4 bool\[\] = True$'
expect 0 show "$work/float0.jaxpr"
holds cmp -s "$work/out" "$work/float0.jaxpr"
expect 0 show --as stablehlo "$work/float0.jaxpr"
mv "$work/out" "$work/float0.mlir"
expect 0 run "$work/float0.mlir"
prints '^out1 f32\[\] = 1$'
prints '^out3 i32\[\] = 0$'

# What a loop reads in each turn is there in all of them: its results, which take the
# place of that in the loop around, have memory of their own.
cat >"$work/turns.jaxpr" <<'EOP'
{ lambda ; . let
    w:i32[4] = iota[dimension=0 dtype=int32 shape=(4,) sharding=None]
    a:i32[] b:i32[4] = while[
      body_jaxpr={ lambda ; i:i32[] z:i32[4]. let
          j:i32[] = add i 1:i32[]
          c:i32[] ys:i32[4] = scan[
            jaxpr={ lambda ; v:i32[4] d:i32[]. let
                s:i32[] = reduce_sum[axes=(0,) out_sharding=None] v
                e:i32[] = add s 10:i32[]
              in (e, e) }
            length=4
            num_carry=1
            num_consts=1
            reverse=False
            unroll=1
          ] z 0:i32[]
        in (j, ys) }
      body_nconsts=0
      cond_jaxpr={ lambda ; k:i32[] y:i32[4]. let t:bool[] = lt k 2:i32[] in (t,) }
      cond_nconsts=0
    ] 0:i32[] w
  in (b,) }
EOP
expect 0 run "$work/turns.jaxpr"
prints '^out0 i32\[4\] = 74 74 74 74$'
