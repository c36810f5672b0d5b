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
