// What lies at the edges of what an op takes.
module @edges {
  // Below 0 is the last branch, also where the index was clamped or chosen.
  func.func @indices_of_branches() {
    %low = stablehlo.constant dense<-2> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %at = stablehlo.constant dense<[-1]> : tensor<1xi32>
    %n = stablehlo.reshape %at : (tensor<1xi32>) -> tensor<i32>
    %0 = stablehlo.clamp %low, %n, %one : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      stablehlo.return %one : tensor<i32>
    }, {
      stablehlo.return %two : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %1, dense<2> : tensor<i32>
    // min(max(x, 0), -2)
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.clamp %zero, %n, %low : tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      stablehlo.return %one : tensor<i32>
    }, {
      stablehlo.return %two : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %3, dense<2> : tensor<i32>
    %4 = "stablehlo.case"(%n) ({
      stablehlo.return %one : tensor<i32>
    }, {
      stablehlo.return %low : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      stablehlo.return %one : tensor<i32>
    }, {
      stablehlo.return %two : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    check.expect_eq_const %5, dense<2> : tensor<i32>
    return
  }
  // Axes that go with the operand's, behind that of the coordinates.
  func.func @batches_behind_coordinates() {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[[0, 1], [2, 0]]]> : tensor<1x2x2xi32>
    %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1]>, slice_sizes = array<i64: 1, 1>} : (tensor<2x3xi32>, tensor<1x2x2xi32>) -> tensor<2x2xi32>
    check.expect_eq_const %0, dense<[[1, 2], [6, 4]]> : tensor<2x2xi32>
    %u = stablehlo.constant dense<[[10, 20], [30, 40]]> : tensor<2x2xi32>
    %1 = "stablehlo.scatter"(%a, %i, %u) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1]>} : (tensor<2x3xi32>, tensor<1x2x2xi32>, tensor<2x2xi32>) -> tensor<2x3xi32>
    check.expect_eq_const %1, dense<[[11, 22, 3], [44, 5, 36]]> : tensor<2x3xi32>
    return
  }
  func.func @powers_of_integers() {
    %a = stablehlo.constant dense<[0, 0, 1, -1, -1, 2]> : tensor<6xi32>
    %b = stablehlo.constant dense<[-1, -2, -3, -3, -2, -1]> : tensor<6xi32>
    %0 = stablehlo.power %a, %b : tensor<6xi32>
    check.expect_eq_const %0, dense<[0, 0, 1, -1, 1, 0]> : tensor<6xi32>
    return
  }
  // In total order a NaN with a sign comes first, also where it stands for all.
  func.func @nans_with_a_sign() {
    %a = stablehlo.constant dense<[2.0, 0x7FC00000, 1.0]> : tensor<3xf32>
    %i = stablehlo.iota dim = 0 : tensor<3xi32>
    %0:2 = "stablehlo.sort"(%a, %i) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>, %u: tensor<i32>, %v: tensor<i32>):
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %nan = stablehlo.constant dense<0xFFC00000> : tensor<f32>
        %1 = stablehlo.compare EQ, %x, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %2 = stablehlo.select %1, %zero, %x : tensor<i1>, tensor<f32>
        %3 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %4 = stablehlo.select %3, %nan, %2 : tensor<i1>, tensor<f32>
        %5 = stablehlo.compare EQ, %y, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %6 = stablehlo.select %5, %zero, %y : tensor<i1>, tensor<f32>
        %7 = stablehlo.compare NE, %y, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %8 = stablehlo.select %7, %nan, %6 : tensor<i1>, tensor<f32>
        %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %9 : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
    check.expect_eq_const %0#1, dense<[1, 2, 0]> : tensor<3xi32>
    // Where there is no -0, its pattern is the NaN, and has a sign.
    %b = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xf8E5M2FNUZ>
    %c = "stablehlo.slice"(%b) {start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xf8E5M2FNUZ>) -> tensor<1xf8E5M2FNUZ>
    %d = stablehlo.reshape %c : (tensor<1xf8E5M2FNUZ>) -> tensor<f8E5M2FNUZ>
    %e = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f8E5M2FNUZ>) -> tensor<3xf8E5M2FNUZ>
    %f = stablehlo.compare LT, %e, %b, TOTALORDER : (tensor<3xf8E5M2FNUZ>, tensor<3xf8E5M2FNUZ>) -> tensor<3xi1>
    %g = stablehlo.convert %f : (tensor<3xi1>) -> tensor<3xi32>
    check.expect_eq_const %g, dense<[1, 0, 1]> : tensor<3xi32>
    return
  }
  // Without a mantissa, half way goes to the even exponent.
  func.func @precision_of_exponents() {
    %a = stablehlo.constant dense<[1.5, 3.0, 0.75, 6.0]> : tensor<4xf32>
    %0 = stablehlo.reduce_precision %a, format = e8m0 : tensor<4xf32>
    check.expect_eq_const %0, dense<[2.0, 2.0, 0.5, 8.0]> : tensor<4xf32>
    // Half floats have five bits of exponent, and numbers below the normal ones.
    %b = stablehlo.constant dense<[2.88e-05, 1.0]> : tensor<2xf16>
    %1 = stablehlo.reduce_precision %b, format = e5m10 : tensor<2xf16>
    check.expect_eq_const %1, dense<[2.88e-05, 1.0]> : tensor<2xf16>
    return
  }
  // A body may take wider elements than the operands have.
  func.func @wider_bodies() {
    %a = stablehlo.constant dense<100> : tensor<5xi8>
    %i = stablehlo.constant dense<0> : tensor<i8>
    %0 = "stablehlo.reduce"(%a, %i) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<5xi8>, tensor<i8>) -> tensor<i32>
    check.expect_eq_const %0, dense<500> : tensor<i32>
    %j = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
    %u = stablehlo.constant dense<100> : tensor<2xi8>
    %1 = "stablehlo.scatter"(%a, %j, %u) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<5xi8>, tensor<2x1xi32>, tensor<2xi8>) -> tensor<5xi32>
    check.expect_eq_const %1, dense<[100, 300, 100, 100, 100]> : tensor<5xi32>
    return
  }
  func.func @narrow_integers() {
    %a = stablehlo.constant dense<[-8, -3, 5]> : tensor<3xi4>
    %0 = stablehlo.abs %a : tensor<3xi4>
    check.expect_eq_const %0, dense<[-8, 3, 5]> : tensor<3xi4>
    return
  }
  // Nothing to reduce, along an axis beside one that has something.
  func.func @reductions_of_nothing() {
    %a = stablehlo.constant dense<> : tensor<4x0xi32>
    %i = stablehlo.constant dense<[-5]> : tensor<1xi32>
    %n = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
    %0 = stablehlo.reduce(%a init: %n) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x0xi32>, tensor<i32>) -> tensor<i32>
    check.expect_eq_const %0, dense<-5> : tensor<i32>
    %1 = stablehlo.reduce(%a init: %n) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x0xi32>, tensor<i32>) -> tensor<i32>
    check.expect_eq_const %1, dense<-5> : tensor<i32>
    return
  }
  // Computations of scalars that use scalars from around them.
  func.func @captured_scalars() {
    %a = stablehlo.constant dense<[5, 1, 4]> : tensor<3xi32>
    %i = stablehlo.constant dense<[3]> : tensor<1xi32>
    %n = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
    %most = stablehlo.constant dense<9> : tensor<i32>
    %0 = "stablehlo.reduce"(%a, %most) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.minimum %x, %y : tensor<i32>
        %t = stablehlo.maximum %s, %n : tensor<i32>
        stablehlo.return %t : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    check.expect_eq_const %0, dense<3> : tensor<i32>
    %1 = "stablehlo.reduce_window"(%a, %most) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.minimum %x, %y : tensor<i32>
        %t = stablehlo.maximum %s, %n : tensor<i32>
        stablehlo.return %t : tensor<i32>
    }) {window_dimensions = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
    check.expect_eq_const %1, dense<[3, 3, 4]> : tensor<3xi32>
    %j = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
    %u = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %2 = "stablehlo.scatter"(%a, %j, %u) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        %t = stablehlo.multiply %s, %n : tensor<i32>
        stablehlo.return %t : tensor<i32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<3xi32>
    check.expect_eq_const %2, dense<[18, 1, 18]> : tensor<3xi32>
    %3 = "stablehlo.sort"(%a) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.subtract %x, %n : tensor<i32>
        %t = stablehlo.subtract %n, %y : tensor<i32>
        %p = stablehlo.compare LT, %t, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %q = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %o = stablehlo.and %p, %q : tensor<i1>
        %z = stablehlo.or %o, %q : tensor<i1>
        stablehlo.return %z : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<3xi32>) -> tensor<3xi32>
    check.expect_eq_const %3, dense<[5, 4, 1]> : tensor<3xi32>
    %4 = "stablehlo.map"(%a) ({
      ^bb0(%x: tensor<i32>):
        %s = stablehlo.multiply %x, %n : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<3xi32>) -> tensor<3xi32>
    check.expect_eq_const %4, dense<[15, 3, 12]> : tensor<3xi32>
    return
  }
  func.func @bits_of_narrow_integers() {
    %a = stablehlo.constant dense<[[0, 3], [1, 3], [2, 1]]> : tensor<3x2xui2>
    %0 = stablehlo.bitcast_convert %a : (tensor<3x2xui2>) -> tensor<3xui4>
    %1 = stablehlo.convert %0 : (tensor<3xui4>) -> tensor<3xi32>
    check.expect_eq_const %1, dense<[12, 13, 6]> : tensor<3xi32>
    %2 = stablehlo.bitcast_convert %0 : (tensor<3xui4>) -> tensor<3x2xui2>
    check.expect_eq %2, %a : tensor<3x2xui2>
    return
  }
  // Padding beyond narrow integers is the least of them, as is what is left of none.
  func.func @extremes_of_narrow_integers() {
    %a = stablehlo.constant dense<[2, -7]> : tensor<2xi4>
    %low = stablehlo.constant dense<-8> : tensor<i4>
    %0 = "stablehlo.reduce_window"(%a, %low) ({
      ^bb0(%x: tensor<i4>, %y: tensor<i4>):
        %m = stablehlo.maximum %x, %y : tensor<i4>
        stablehlo.return %m : tensor<i4>
    }) {window_dimensions = array<i64: 1>, padding = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi4>, tensor<i4>) -> tensor<3xi4>
    %3 = stablehlo.convert %0 : (tensor<3xi4>) -> tensor<3xi32>
    check.expect_eq_const %3, dense<[2, -7, -8]> : tensor<3xi32>
    %b = stablehlo.constant dense<> : tensor<2x0xi4>
    %1 = stablehlo.reduce(%b init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x0xi4>, tensor<i4>) -> tensor<2xi4>
    %4 = stablehlo.convert %1 : (tensor<2xi4>) -> tensor<2xi32>
    check.expect_eq_const %4, dense<-8> : tensor<2xi32>
    %high = stablehlo.constant dense<1> : tensor<i2>
    %c = stablehlo.constant dense<> : tensor<0xi2>
    %2 = stablehlo.reduce(%c init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<0xi2>, tensor<i2>) -> tensor<i2>
    %5 = stablehlo.convert %2 : (tensor<i2>) -> tensor<i32>
    check.expect_eq_const %5, dense<1> : tensor<i32>
    return
  }
}
