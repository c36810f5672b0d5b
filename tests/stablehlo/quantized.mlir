// Quantized values are what they store: value = scale * (stored - zero).
module @quantized {
  func.func @per_tensor() {
    %a = stablehlo.constant dense<[0.0, 1.0, 100.0, -100.0, 0.26]> : tensor<5xf32>
    %q = stablehlo.uniform_quantize %a : (tensor<5xf32>) -> tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>
    %s = stablehlo.bitcast_convert %q : (tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>) -> tensor<5xi8>
    check.expect_eq_const %s, dense<[-10, -8, 127, -128, -9]> : tensor<5xi8>
    %0 = stablehlo.add %q, %q : (tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>, tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>) -> tensor<5x!quant.uniform<i8:f32, 2.000000e+00:0>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<5x!quant.uniform<i8:f32, 2.000000e+00:0>>) -> tensor<5xf32>
    check.expect_eq_const %1, dense<[0.0, 2.0, 136.0, -118.0, 0.0]> : tensor<5xf32>
    %2 = stablehlo.reverse %q, dims = [0] : tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>
    %3 = stablehlo.uniform_dequantize %2 : (tensor<5x!quant.uniform<i8:f32, 5.000000e-01:-10>>) -> tensor<5xf32>
    check.expect_eq_const %3, dense<[0.5, -59.0, 68.5, 1.0, 0.0]> : tensor<5xf32>
    return
  }
  func.func @per_axis() {
    %a = stablehlo.constant dense<[[1.0, 1.0], [2.0, -2.0]]> : tensor<2x2xf32>
    %q = stablehlo.uniform_quantize %a : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00:3, 5.000000e-01:0}>>
    %s = stablehlo.bitcast_convert %q : (tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00:3, 5.000000e-01:0}>>) -> tensor<2x2xi8>
    check.expect_eq_const %s, dense<[[4, 2], [5, -4]]> : tensor<2x2xi8>
    // Floats by quantized weights.
    %0 = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00:3, 5.000000e-01:0}>>) -> tensor<2x2xf32>
    check.expect_eq_const %0, dense<[[3.0, -1.0], [-2.0, 6.0]]> : tensor<2x2xf32>
    return
  }
}
