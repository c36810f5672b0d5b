# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# What StableHLO says in its own way is found, or left alone, as in jaxprs.

lacks() {
    if grep -q -e "$1" "$work/out"; then fail "'$1' in the output"; else pass; fi
}

# A size that is a product is an operand there: int32 that wraps.
cat >"$work/mean.mlir" <<'EOF'
func.func @main(%x: tensor<?x?xf32>) -> tensor<f32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %nm = stablehlo.multiply %n, %m : tensor<i32>
  %f = stablehlo.convert %nm : (tensor<i32>) -> tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
  %mean = stablehlo.divide %sum, %f : tensor<f32>
  func.return %mean : tensor<f32>
}
EOF
expect 0 check "$work/mean.mlir"
prints 'note\[IDX004\] size-arithmetic-wraps: a size for `convert_element_type` is computed in int32: '
expect 0 check "$work/mean.mlir" --where 'arg0_0*arg0_1 <= 1000'
lacks 'IDX004'
cat >"$work/mean.jaxpr" <<'EOF'
{ lambda ; a:f32[n,m]. let
    b:i32[] = dim_as_value[dim=n*m]
    c:f32[] = convert_element_type[new_dtype=float32 weak_type=False] b
    d:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] a
    e:f32[] = div d c
  in (e,) }
EOF
expect 0 check "$work/mean.jaxpr"
prints 'note\[IDX004\] size-arithmetic-wraps: `dim_as_value` computes in int32: '

# What only an assertion computes is no finding of its own, as a constraint is
# none elsewhere; it is said under which sizes nothing wraps.
cat >"$work/asserted.mlir" <<'EOF'
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %nm = stablehlo.multiply %n, %m : tensor<i32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %ok = stablehlo.compare GE, %nm, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %nm) {error_message = "too few"} : (tensor<i1>, tensor<i32>) -> ()
  func.return %x : tensor<?x?xf32>
}
EOF
expect 0 check "$work/asserted.mlir" --select IDX004
prints 'nothing wraps while .* <= 2147483647'
lacks 'IDX004'

# The elements that random bits are drawn for are counted in uint64: nobody
# wrote that computation.  One that somebody wrote is found.
counts() {
    cat <<EOF
func.func @main(%k: tensor<ui32>) -> tensor<64x64xui32> {
  %i = stablehlo.iota dim = 0 : tensor<64x64x$1>
  %j = stablehlo.iota dim = 1 : tensor<64x64x$1>
  %w = stablehlo.constant dense<64> : tensor<64x64x$1>
  %r = stablehlo.multiply %w, %i : tensor<64x64x$1>
  %n = stablehlo.add %r, %j : tensor<64x64x$1>
  %s = stablehlo.constant dense<3> : tensor<64x64x$1>
  %h = stablehlo.shift_right_logical %n, %s : tensor<64x64x$1>
  %c = stablehlo.convert %h : (tensor<64x64x$1>) -> tensor<64x64xui32>
  %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<ui32>) -> tensor<64x64xui32>
  %x = stablehlo.add %b, %c : tensor<64x64xui32>
  func.return %x : tensor<64x64xui32>
}
EOF
}
counts ui64 >"$work/counts.mlir"
expect 0 check "$work/counts.mlir"
lacks 'STG001'
counts i32 >"$work/counts.mlir"
expect 0 check "$work/counts.mlir"
prints 'STG001.*shift_right_logical'

# A loop under vmap: a predicate per row, and rows that end at different turns.
cat >"$work/rows.jaxpr" <<'EOF'
{ lambda ; a:i32[3,2]. let
    b:i32[3] = iota[dimension=0 dtype=int32 shape=(3,) sharding=None]
    c:i32[3] = mul b 3:i32[]
    d:i32[3] e:i32[3,2] = while[
      body_jaxpr={ lambda ; f:i32[3] g:i32[3,2]. let
          h:i32[3] = add f 2:i32[]
          i:i32[3,2] = add g 1:i32[]
        in (h, i) }
      body_nconsts=0
      cond_jaxpr={ lambda ; j:i32[3] k:i32[3,2]. let l:bool[3] = lt j 5:i32[] in (l,) }
      cond_nconsts=0
    ] c a
  in (d, e) }
EOF
expect 0 run "$work/rows.jaxpr" --fill zeros
prints 'out0 i32\[3\] = 6 5 6$'
prints 'out1 i32\[3,2\] = 3 3 1 1 0 0$'
sed 's/in (d, e)/in (e, d)/; s/j 5/j -1/' "$work/rows.jaxpr" >"$work/none.jaxpr"
expect 0 run "$work/none.jaxpr" --fill zeros
prints 'out1 i32\[3\] = 0 3 6$'
sed 's/a:i32\[3,2\]\./a:i32[2,3]./; s/i32\[3,2\]/i32[2,3]/g' "$work/rows.jaxpr" >"$work/other.jaxpr"
expect 3 run "$work/other.jaxpr" --fill zeros
complains 'what cond_jaxpr gives and the carry, component 1, axis 0 (SHP010)'

# jnp.diagonal has a branch for Mosaic alone: what it takes and computes from no
# input is no finding, what other branches do is one.
diagonal() {
    cat <<EOF
{ lambda ; a:f32[64,64]. let
    b:i32[64,64] = iota[dimension=0 dtype=int32 shape=(64, 64) sharding=None]
    c:i32[64,64] = iota[dimension=1 dtype=int32 shape=(64, 64) sharding=None]
    d:bool[64,64] = eq b c
    e:f32[64,64] = convert_element_type[new_dtype=float32 weak_type=False] d
    f:i32[] = platform_index[platforms=(('$1',), None)]
    g:f32[64,64] h:f32[64,64] = cond[
      branches=(
        { lambda ; i:f32[64,64] j:f32[64,64]. let
            k:f32[64,64] = mul i j
            l:f32[64,64] = sin i
          in (k, l) }
        { lambda ; m:f32[64,64] n:f32[64,64]. let o:f32[64,64] = neg n in (o, n) }
      )
      branches_platforms=(('$1',), None)
    ] f e a
  in (g, h) }
EOF
}
diagonal mosaic >"$work/diagonal.jaxpr"
expect 0 check "$work/diagonal.jaxpr"
lacks 'STG001'
diagonal tpu >"$work/diagonal.jaxpr"
expect 0 check "$work/diagonal.jaxpr"
prints 'STG001.*`eq` makes bool\[64,64\]'

# A constant of equal elements is one element in StableHLO.
constant() {
    cat <<EOF
func.func @main(%x: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %c = stablehlo.constant dense<$1> : tensor<200x200xf32>
  %y = stablehlo.add %x, %c : tensor<200x200xf32>
  func.return %y : tensor<200x200xf32>
}
EOF
}
constant 2.5 >"$work/constant.mlir"
expect 0 check "$work/constant.mlir"
lacks 'STG002'
constant "\"0x$(printf '0000803F%.0s' $(seq 20000))$(printf '00000040%.0s' $(seq 20000))\"" >"$work/constant.mlir"
expect 0 check "$work/constant.mlir"
prints 'STG002.* f32\[200,200\]'

# An input is named as its user writes it.
expect 0 check tests/rules/EXP012_fails.jaxexport.gz
prints 'EXP012.*: args\[[0-9]\].*: an input that the module does not take$'
lacks 'GRF001'

# What a reader lets pass is written down as what it is.
echo '{ lambda ; _:f32[]. let  in () }' >"$work/blank.jaxpr"
expect 0 show "$work/blank.jaxpr"
prints '{ lambda ; a:f32\[\]. let'
expect 0 show "$work/blank.jaxpr" --as json -o "$work/blank.json"
expect 0 diff "$work/blank.jaxpr" "$work/blank.json"
cat >"$work/frame.mlir" <<'EOF'
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.sine %x : tensor<f32> loc("model.py":3:1)
  func.return %y : tensor<f32>
}
EOF
expect 0 show "$work/frame.mlir" --as json -o "$work/frame.json"
expect 0 show "$work/frame.json"
prints 'sin a'
cat >"$work/unreduced.mlir" <<'EOF'
module {
  sdy.mesh @m = <["x"=2]>
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.all_reduce {} %a out_sharding=<@m, [{}], unreduced=max{}> : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
EOF
expect 0 rewrite "$work/unreduced.mlir" --as text -o "$work/unreduced2.mlir"
expect 0 diff "$work/unreduced.mlir" "$work/unreduced2.mlir"

# jaxpr text has the types of constants alone: it is checked, and not run.
cat >"$work/constant.jaxpr" <<'EOT'
{ lambda a:u32[2]; b:u32[2]. let c:u32[2] = add a b in (c,) }
EOT
expect 0 check "$work/constant.jaxpr"
expect 3 run "$work/constant.jaxpr"
complains 'the values of a constant are not in the program'
