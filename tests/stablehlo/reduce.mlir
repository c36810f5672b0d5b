// Reductions, windows and sorts, by one op and by any body.
module @reduce {
  func.func @sums_begin_where_they_are_told() {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<100> : tensor<i32>
    %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %0, dense<[106, 115]> : tensor<2xi32>
    %1 = stablehlo.reduce(%a init: %i) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
    check.expect_eq_const %1, dense<1> : tensor<i32>
    return
  }
  func.func @argmax() {
    %a = stablehlo.constant dense<[[3.0, 9.0, 2.0], [7.0, 1.0, 7.0]]> : tensor<2x3xf32>
    %n = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%a init: %low), (%n init: %z) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
      reducer(%x: tensor<f32>, %y: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
        %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %2 = stablehlo.select %1, %x, %y : tensor<i1>, tensor<f32>
        %3 = stablehlo.select %1, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
      }
    check.expect_eq_const %0#0, dense<[9.0, 7.0]> : tensor<2xf32>
    check.expect_eq_const %0#1, dense<[1, 0]> : tensor<2xi32>
    return
  }
  func.func @windows() {
    %a = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.reduce_window"(%a, %z) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<5xi32>, tensor<i32>) -> tensor<3xi32>
    check.expect_eq_const %0, dense<[1, 5, 9]> : tensor<3xi32>
    // A cumulative sum, the way JAX writes it, from the end.
    %1 = "stablehlo.reduce_window"(%a, %z) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {window_dimensions = array<i64: 5>, padding = dense<[[0, 4]]> : tensor<1x2xi64>} : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
    check.expect_eq_const %1, dense<[15, 14, 12, 9, 5]> : tensor<5xi32>
    return
  }
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
}
