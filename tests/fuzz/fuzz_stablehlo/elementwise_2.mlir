func.func @conversions() {
    %a = stablehlo.constant dense<[2.75, -2.75, 0.0]> : tensor<3xf32>
    %0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi8>
    check.expect_eq_const %0, dense<[2, -2, 0]> : tensor<3xi8>
    %1 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi1>
    check.expect_eq_const %1, dense<[true, true, false]> : tensor<3xi1>
    %c = stablehlo.constant dense<[(0.0, 1.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>
    %2 = stablehlo.convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xi1>
    check.expect_eq_const %2, dense<[false, true]> : tensor<2xi1>
    %3 = stablehlo.bitcast_convert %a : (tensor<3xf32>) -> tensor<3x4xui8>
    check.expect_eq_const %3, dense<[[0, 0, 48, 64], [0, 0, 48, 192], [0, 0, 0, 0]]> : tensor<3x4xui8>
    %4 = stablehlo.reduce_precision %a, format = e5m1 : tensor<3xf32>
    check.expect_eq_const %4, dense<[3.0, -3.0, 0.0]> : tensor<3xf32>
    return
  }
