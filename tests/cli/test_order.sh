# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# What a few terms add up to is what their order and their dtype make of them.
cat >"$work/order.mlir" <<'EOF'
func.func @main() {
  %a = stablehlo.constant dense<[[16777216.0, 1.0, -16777216.0]]> : tensor<1x3xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<3x2xf32>
  %dot = stablehlo.dot_general %a, %ones, contracting_dims = [1] x [0] : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %dot, dense<0.0> : tensor<1x2xf32>
  %turned = stablehlo.dot_general %a, %ones, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %turned, dense<0.0> : tensor<1x2xf32>

  // (2^24 + i) + (1 + 0i) - 2^24
  %c = stablehlo.constant dense<[[(16777216.0, 1.0), (1.0, 0.0), (-16777216.0, 0.0)]]> : tensor<1x3xcomplex<f32>>
  %u = stablehlo.constant dense<(1.0, 0.0)> : tensor<3x1xcomplex<f32>>
  %cdot = stablehlo.dot_general %c, %u, contracting_dims = [1] x [0] : (tensor<1x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  check.expect_eq_const %cdot, dense<(0.0, 1.0)> : tensor<1x1xcomplex<f32>>

  // The steps of StableHLO's own chlo.cosh.
  %v = stablehlo.constant dense<[0.25, -9.16, 9.16, 80.0]> : tensor<4xf32>
  %half = stablehlo.constant dense<-0.693147182> : tensor<4xf32>
  %up = stablehlo.add %v, %half : tensor<4xf32>
  %down = stablehlo.subtract %half, %v : tensor<4xf32>
  %eu = stablehlo.exponential %up : tensor<4xf32>
  %ed = stablehlo.exponential %down : tensor<4xf32>
  %steps = stablehlo.add %eu, %ed : tensor<4xf32>
  %cosh = chlo.cosh %v : tensor<4xf32> -> tensor<4xf32>
  check.expect_eq %cosh, %steps : tensor<4xf32>
  return
}
EOF
expect 0 run "$work/order.mlir"
sed 's/dense<0.0> : tensor<1x2xf32>/dense<1.0> : tensor<1x2xf32>/' "$work/order.mlir" >"$work/other.mlir"
expect 1 run "$work/other.mlir"
prints 'is 0, expected equal to 1'
