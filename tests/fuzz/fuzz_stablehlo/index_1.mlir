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
