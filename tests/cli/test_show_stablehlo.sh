# shellcheck shell=sh
# The lowering and the printer of StableHLO.
cat >"$work/sine.jaxpr" <<'EOF'
{ lambda ; a:f32[3] b:f32[3]. let
    c:f32[3] = sin a
    d:f32[3] = max c b
    e:f32[] = reduce_sum[axes=(0,) out_sharding=None] d
  in (e,) }
EOF
expect 0 show --as stablehlo "$work/sine.jaxpr"
is_silent
prints 'func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>)'
prints '%0 = stablehlo.sine %arg0 : tensor<3xf32>'
prints '%1 = stablehlo.maximum %0, %arg1 : tensor<3xf32>'
prints 'stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = \[0\]'

expect 0 show --as stablehlo --generic "$work/sine.jaxpr"
prints '"stablehlo.sine"(%arg'
prints '<{callee\|<{function_type'
expect 0 show --as stablehlo --locations "$work/sine.jaxpr"
prints '#loc = loc(unknown)'
prints 'loc("sin")'

# What a file of StableHLO holds is printed as it is, whatever the form.
"$JAXVET" show --as stablehlo --generic "$work/sine.jaxpr" >"$work/generic.mlir"
"$JAXVET" show --as stablehlo "$work/sine.jaxpr" >"$work/pretty.mlir"
expect 0 show --as stablehlo "$work/generic.mlir"
holds cmp -s "$work/out" "$work/pretty.mlir"
expect 0 show --as stablehlo --generic "$work/pretty.mlir"
holds cmp -s "$work/out" "$work/generic.mlir"

cat >"$work/constant.mlir" <<'EOF'
func.func @main() -> tensor<5xf32> {
  %0 = stablehlo.constant dense<[1.0, 0.1, 1.0e9, 16777217.0, 0x7FC00000]> : tensor<5xf32>
  return %0 : tensor<5xf32>
}
EOF
expect 0 show --as stablehlo "$work/constant.mlir"
prints 'dense<\[1.000000e+00, 1.000000e-01, 1.000000e+09, 0x4B800000, 0x7FC00000\]>'
expect 0 show --as stablehlo --elide 4 "$work/constant.mlir"
prints 'dense_resource<__elided__> : tensor<5xf32>'

# A symbolic size is found in a shape, and handed on.
cat >"$work/sizes.jaxpr" <<'EOF'
{ lambda ; a:f32[2*b]. let
    c:f32[b,2] = reshape[dimensions=None new_sizes=(b, 2) sharding=None] a
  in (c,) }
EOF
expect 0 show --as stablehlo "$work/sizes.jaxpr"
prints 'stablehlo.get_dimension_size %arg0, dim = 0'
prints '@_wrapped_main(%arg0: tensor<i32> {jax.global_constant = "b"}'
prints 'stablehlo.dynamic_reshape %arg1, %'

cat >"$work/unknown.jaxpr" <<'EOF'
{ lambda ; a:f32[3]. let b:f32[3] = frobnicate a in (b,) }
EOF
expect 3 show --as stablehlo "$work/unknown.jaxpr"
complains '`frobnicate` has no StableHLO form'
expect 2 show --as stablehlo --elide many "$work/sine.jaxpr"

# Integers beyond 64 bits, and those whose type only is.
expect 0 show --as stablehlo tests/mlir/text/rest.mlir
prints 'less = -5 : si65, most = 18446744073709551615 : ui64'
prints 'wide = 5 : i100'

# An algorithm of dot_general is kept, by JAX's names where it has one; what JAX
# has not on a CPU is not run.
cat >"$work/tf32.mlir" <<'EOF'
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
EOF
expect 0 show "$work/tf32.mlir"
prints 'precision=TF32_TF32_F32_X3'
cp "$work/out" "$work/tf32.jaxpr"
expect 0 show "$work/tf32.jaxpr"
holds cmp -s "$work/out" "$work/tf32.jaxpr"
expect 0 show --as stablehlo "$work/tf32.jaxpr"
prints 'algorithm = <lhs_precision_type = tf32, .* num_primitive_operations = 3'
expect 3 run --fill zeros "$work/tf32.mlir"
complains 'the algorithm TF32_TF32_F32_X3 is not one that JAX has on a CPU'

# Axes that have two roles, or none, stand as numbers.
cat >"$work/conv.mlir" <<'EOF'
"a.b"() {x = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 4, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>} : () -> ()
EOF
expect 0 show --as stablehlo --generic "$work/conv.mlir"
prints 'conv<raw input_batch_dimension = 0, .* kernel_output_feature_dimension = 4, '

# Elements of types whose width is no power of two.
for type in i24 ui48 tf32 f6E2M3FN; do
    one=1 zero=0
    case $type in *f*) one=1.0 zero=0.0 ;; esac
    echo "\"a.b\"() {x = dense<[$one, $zero]> : tensor<2x$type>} : () -> ()" >"$work/wide.mlir"
    expect 0 show --as stablehlo --generic "$work/wide.mlir"
    prints "x = dense<\[[0-9A-Fx]*, [0-9x]*\]> : tensor<2x$type>"
done

# What is shown as a jaxpr is read back: computations that stand outside, and
# sizes that are sums.
cat >"$work/sorted.jaxpr" <<'TEXT'
let less = { lambda ; a:f32[] b:f32[]. let c:bool[] = lt a b in (c,) } in
{ lambda ; a:f32[5] b:f32[n,m]. let
    c:f32[5] = stablehlo.sort[comparator=less dimension=0 is_stable=True] a
    d:f32[5] = stablehlo.sort[comparator=less dimension=0 is_stable=True] c
    e:i32[] = add (n - 2):i32[] (-1*n + m):i32[]
  in (d, e) }
TEXT
expect 0 show --as jaxpr "$work/sorted.jaxpr" -o "$work/again.jaxpr"
expect 0 show --as jaxpr "$work/again.jaxpr"
holds cmp -s "$work/out" "$work/again.jaxpr"
prints 'add (n - 2):i32\[\] (- n + m):i32\[\]\|add (n - 2):i32\[\] (m - n):i32\[\]'
