// Products that sum.
module @contract {
  func.func @dots() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %b = stablehlo.constant dense<[[1, 0, 2], [0, 1, 3]]> : tensor<2x3xi32>
    %0 = stablehlo.dot %a, %b : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    check.expect_eq_const %0, dense<[[1, 2, 8], [3, 4, 18]]> : tensor<2x3xi32>
    %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x2x3xi32>
    check.expect_eq_const %1, dense<[[[1, 0, 2], [2, 0, 4]], [[0, 3, 9], [0, 4, 12]]]> : tensor<2x2x3xi32>
    return
  }
  func.func @convolutions() {
    %a = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
    %k = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x4x1xf32>
    check.expect_eq_const %0, dense<[[[10.0], [21.0], [32.0], [43.0]]]> : tensor<1x4x1xf32>
    %1 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x4x1xf32>
    check.expect_eq_const %1, dense<[[[1.0], [12.0], [23.0], [34.0]]]> : tensor<1x4x1xf32>
    return
  }
  func.func @upper_cholesky() {
    %a = stablehlo.constant dense<[[4.0, 2.0], [0.0, 5.0]]> : tensor<2x2xf32>
    %0 = "stablehlo.cholesky"(%a) {lower = false} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.slice %0 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    check.expect_almost_eq_const %1, dense<[[2.0, 1.0]]> : tensor<1x2xf32>
    return
  }
  func.func @einsum() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %b = stablehlo.constant dense<[[1, 0, 2], [0, 1, 3]]> : tensor<2x3xi32>
    %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "ab,bc->ca"} : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %0, dense<[[1, 3], [2, 4], [8, 18]]> : tensor<3x2xi32>
    %1 = "stablehlo.unary_einsum"(%b) {einsum_config = "ab->b"} : (tensor<2x3xi32>) -> tensor<3xi32>
    check.expect_eq_const %1, dense<[1, 1, 5]> : tensor<3xi32>
    %i = stablehlo.constant dense<[[1, 1, 0, 0], [2, 2, 2, 1]]> : tensor<2x4xi32>
    %2 = "stablehlo.torch_index_select"(%b, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    check.expect_eq_const %2, dense<[[0, 0, 1, 1], [3, 3, 3, 1]]> : tensor<2x4xi32>
    return
  }
  func.func @normalization() {
    %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf32>
    %s = stablehlo.constant dense<[1.0, 10.0]> : tensor<2xf32>
    %o = stablehlo.constant dense<[0.5, 0.0]> : tensor<2xf32>
    %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
    check.expect_almost_eq_const %0#0, dense<[[-0.5, -10.0], [1.5, 10.0]]> : tensor<2x2xf32>
    check.expect_almost_eq_const %0#1, dense<[2.0, 4.0]> : tensor<2xf32>
    check.expect_almost_eq_const %0#2, dense<[1.0, 4.0]> : tensor<2xf32>
    return
  }
}
