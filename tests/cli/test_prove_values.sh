# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet check --prove: what is proved of values, and where a bound is lost.
cat >"$work/log.jaxpr" <<'EOP'
{ lambda ; x:f32[4] i:i32[2]. let
    a:f32[4] = add x 0.5:f32[]
    b:f32[4] = log a
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
    d:i32[2] = add i 1:i32[]
  in (c, d) }
EOP
expect 0 check "$work/log.jaxpr" --range 'in0 in [0, 1]' --prove finite
prints '^proved: every output is finite, for all finite inputs within their ranges (ieee, ftz, xla)$'
# The text form calls inputs by number; what is not asked is not said.
holds test -z "$(grep 'wraps' "$work/out")"
expect 0 check "$work/log.jaxpr" --range 'in0 in [-0.5, 1]' --prove finite --ignore NUM001
prints 'not proved (ieee, ftz, xla): log gives \[-inf, 0.405[0-9]*\] of \[0, 1.5\]'
prints '1 undecided$'
expect 5 check "$work/log.jaxpr" --range 'in0 in [-0.5, 1]' --prove finite --ignore NUM001 --strict
# Nobody asks, and a proof spares the search.
expect 0 check "$work/log.jaxpr" --range 'in0 in [0, 1]'
prints '^proved: every output is finite'
holds test -z "$(grep '^assumed: outputs are finite' "$work/out")"

# A range of an output; integers; all of them.
expect 0 check "$work/log.jaxpr" --range 'in0 in [0.5, 1]' --range 'in1 in [0, 9]' \
    --prove 'out0 in [0, 2]' --prove no-wrap --prove 'out1 in [1, 10]'
prints '^proved: out0 in \[0, 2\], for all finite inputs within their ranges (ieee, ftz, xla)$'
prints '^proved: no integer wraps, for all'
prints '^proved: out1 in \[1, 10\], for all'
# White space about an end is none of it.
expect 0 check "$work/log.jaxpr" --range 'in0 in [0.5, 1]' --prove "$(printf 'out0 in [\t0, 2\f]')"
prints '^proved: out0 in '
expect 0 check "$work/log.jaxpr" --prove no-wrap --prove 'out0 in [0, 2]'
prints 'an operand of add lies in \[-2.14748365e+09, 2.14748365e+09\]'
prints 'not proved (ieee, ftz, xla): it lies in \[-inf, 354.891876\] or NaN'

# What can't be asked.
expect 3 check "$work/log.jaxpr" --prove finitely
complains 'expected finite, in-bounds, no-wrap, or an output (out0, out1, ...) in \[LO, HI\]'
expect 3 check "$work/log.jaxpr" --prove 'out7 in [0, 1]'
complains 'expected finite, in-bounds, no-wrap, or an output (out0, out1, ...) in \[LO, HI\]'
expect 3 check "$work/log.jaxpr" --prove 'out0 in [2, 1]'
complains 'the smaller end first'

# Indices: of a loop whose turns are known, and of one that ends by its own counter.
cat >"$work/loop.jaxpr" <<'EOP'
{ lambda ; x:f32[8]. let
    a:i32[] b:f32[] = while[
      cond_jaxpr={ lambda ; d:i32[] e:f32[]. let f:bool[] = lt d 5000:i32[] in (f,) }
      cond_nconsts=0
      body_jaxpr={ lambda ; v:f32[8] g:i32[] h:f32[]. let
          m:i32[] = rem g 8:i32[]
          s:f32[1] = dynamic_slice[slice_sizes=(1,)] v m
          t:f32[] = reduce_sum[axes=(0,) out_sharding=None] s
          j:f32[] = max h t
          i:i32[] = add g 1:i32[]
        in (i, j) }
      body_nconsts=1
    ] x 0:i32[] 0.0:f32[]
  in (a, b) }
EOP
expect 0 check "$work/loop.jaxpr" --range 'in0 in [-1, 1]' --prove in-bounds --prove no-wrap \
    --prove 'out0 in [0, 5000]' --prove 'out1 in [0, 1]'
prints '^proved: every index is in bounds'
prints '^proved: no integer wraps'
prints '^proved: out0 in \[0, 5000\]'
prints '^proved: out1 in \[0, 1\]'
sed 's/rem g 8/rem g 9/' "$work/loop.jaxpr" >"$work/out.jaxpr"
expect 0 check "$work/out.jaxpr" --range 'in0 in [-1, 1]' --prove in-bounds --ignore IDX002
prints 'an index of dynamic_slice lies in 8, and may lie in \[0, 7\]'

# The bounds themselves.
expect 0 info "$work/log.jaxpr" --values --range 'in0 in [0.5, 1]' --range 'in1 in [0, 9]'
prints '"output":1,"ieee":\[1.0,10.0\],"ftz":\[1.0,10.0\],"xla":\[1.0,10.0\]'

# What is true and not proved is looked for, and the search says that it found nothing.
cat >"$work/square.jaxpr" <<'EOP'
{ lambda ; x:f32[]. let
    a:f32[] = mul x x
    b:f32[] = sub a x
    c:f32[] = add b 0.5:f32[]
    d:f32[] = log c
  in (d,) }
EOP
expect 0 check "$work/square.jaxpr" --range 'in0 in [-1, 1]'
prints '^assumed: outputs are finite for inputs within their ranges: [0-9]* runs found none'
holds test -z "$(grep '^proved' "$work/out")"

# Ranges of inputs that are sizes: nothing is proved of sizes that can't be.
cat >"$work/slice.mlir" <<'EOM'
func.func @main(%x: tensor<10xf32>, %s: tensor<1xi32>, %l: tensor<1xi32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %one : (tensor<10xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
EOM
expect 0 check "$work/slice.mlir" --prove in-bounds --range 'in1 in [2, 4]' --range 'in2 in [4, 9]'
prints '^proved: every index is in bounds'
for ranges in 'in1 in [20, 30]' 'in2 in [-5, -1]' 'in2 in [0, 4]@in1 in [5, 8]'; do
    expect 0 check "$work/slice.mlir" --prove in-bounds --range "${ranges#*@}" --range "${ranges%@*}"
    prints 'not proved (ieee, ftz, xla): no sizes are as ranges and the program say: `'
    holds test -z "$(grep '^proved' "$work/out")"
done
expect 0 check "$work/slice.mlir" --prove in-bounds --prove finite --where 'arg1_0 <= 3' \
    --range 'in1 in [4, 4]'
prints 'say: `3 >= arg1_0`, `arg1_0 >= 4`'
holds test -z "$(grep '^proved' "$work/out")"

# What a run shows, as files: inputs, and of an exported file a test in plain JAX.
expect 0 check "$work/log.jaxpr" --range 'in0 in [-0.5, 1]' --repro "$work/shown" --grad never
complains "^jaxvet: .*/shown/NUM001-1.npz\$"
holds test ! -e "$work/shown/NUM001-1.py"
expect 0 run "$work/log.jaxpr" --inputs "$work/shown/NUM001-1.npz"
prints '^out0 f32\[\] = -inf'
# What is there stays.
expect 0 check "$work/log.jaxpr" --range 'in0 in [-0.5, 1]' --repro "$work/shown" --grad never
complains "^jaxvet: .*/shown/NUM001-2.npz\$"
expect 0 check "$work/log.jaxpr" --range 'in0 in [0, 1]' --repro "$work/none" --grad never
holds test -d "$work/none"
holds test -z "$(ls "$work/none")"
expect 3 check "$work/log.jaxpr" --range 'in0 in [-0.5, 1]' --repro "$work/log.jaxpr/x"
complains "can't make the folder"
