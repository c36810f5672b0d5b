func.func @movements() {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %0, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
    %1 = stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %1, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %2 = stablehlo.reverse %a, dims = [1] : tensor<2x3xi32>
    check.expect_eq_const %2, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
    %3 = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %3, dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>
    %4 = stablehlo.pad %a, %z, low = [1, -1], high = [0, 0], interior = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x4xi32>
    check.expect_eq_const %4, dense<[[0, 0, 0, 0], [0, 2, 0, 3], [0, 5, 0, 6]]> : tensor<3x4xi32>
    %5 = stablehlo.concatenate %a, %3, dim = 1 : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x5xi32>
    check.expect_eq_const %5, dense<[[1, 2, 3, 1, 3], [4, 5, 6, 4, 6]]> : tensor<2x5xi32>
    %6 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    check.expect_eq_const %6, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
    %7 = "stablehlo.broadcast"(%z) {broadcast_sizes = array<i64: 2>} : (tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %7, dense<0> : tensor<2xi32>
    return
  }
