func.func @sorts() {
    %a = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
    %b = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
    %0:2 = "stablehlo.sort"(%a, %b) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
        %s = stablehlo.compare LT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    check.expect_eq_const %0#0, dense<[1, 1, 2, 3]> : tensor<4xi32>
    check.expect_eq_const %0#1, dense<[1, 3, 2, 0]> : tensor<4xi32>
    %1:2 = "stablehlo.sort"(%a, %b) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>, %i: tensor<i32>, %j: tensor<i32>):
        %s = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %s : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    check.expect_eq_const %1#1, dense<[0, 2, 1, 3]> : tensor<4xi32>
    return
  }
