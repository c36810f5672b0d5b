// Indexing: what lies beyond is moved inside by gathers, left out by scatters.
module @index {
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
  func.func @scatters() {
    %a = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
    %i = stablehlo.constant dense<[[1], [7], [1]]> : tensor<3x1xi32>
    %u = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %0 = "stablehlo.scatter"(%a, %i, %u) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>
    check.expect_eq_const %0, dense<[10, 24, 30]> : tensor<3xi32>
    %1 = "stablehlo.scatter"(%a, %i, %u) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.subtract %y, %x : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3xi32>
    check.expect_eq_const %1, dense<[10, 22, 30]> : tensor<3xi32>
    return
  }
  func.func @slices() {
    %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %u = stablehlo.constant dense<[8, 9]> : tensor<2xi32>
    %i = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi32>
    %1 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
    check.expect_eq_const %1, dense<[1, 2, 8, 9]> : tensor<4xi32>
    return
  }
}
