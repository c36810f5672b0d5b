func.func @gathers() {
    %a = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %i = stablehlo.constant dense<[2, -5, 9]> : tensor<3xi32>
    %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>} : (tensor<3x2xi32>, tensor<3xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %0, dense<[[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi32>
    // The coordinates along the first axis of the indices.
    %j = stablehlo.constant dense<[[0, 2], [1, 0]]> : tensor<2x2xi32>
    %1 = "stablehlo.gather"(%a, %j) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 1>} : (tensor<3x2xi32>, tensor<2x2xi32>) -> tensor<2xi32>
    check.expect_eq_const %1, dense<[2, 5]> : tensor<2xi32>
    return
  }
