// What one op computes from numbers; every check is of the file itself.
module @elementwise {
  func.func @booleans() {
    %a = stablehlo.constant dense<[true, true, false, false]> : tensor<4xi1>
    %b = stablehlo.constant dense<[true, false, true, false]> : tensor<4xi1>
    %0 = stablehlo.add %a, %b : tensor<4xi1>
    check.expect_eq_const %0, dense<[true, true, true, false]> : tensor<4xi1>
    %1 = stablehlo.multiply %a, %b : tensor<4xi1>
    check.expect_eq_const %1, dense<[true, false, false, false]> : tensor<4xi1>
    %2 = stablehlo.maximum %a, %b : tensor<4xi1>
    check.expect_eq_const %2, dense<[true, true, true, false]> : tensor<4xi1>
    return
  }
  func.func @total_order() {
    %a = stablehlo.constant dense<[-0.0, 0.0, 0x7FC00000, 1.0]> : tensor<4xf32>
    %b = stablehlo.constant dense<[0.0, -0.0, 1.0, 0x7FC00000]> : tensor<4xf32>
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    check.expect_eq_const %0, dense<[true, false, false, true]> : tensor<4xi1>
    %1 = stablehlo.compare GE, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    check.expect_eq_const %1, dense<[false, true, true, false]> : tensor<4xi1>
    %2 = stablehlo.compare NE, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    check.expect_eq_const %2, dense<true> : tensor<4xi1>
    %3 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    check.expect_eq_const %3, dense<false> : tensor<4xi1>
    return
  }
  func.func @weak_order() {
    %a = stablehlo.constant dense<[-0.0, 0xFFC00000, 0x7FC00000, 1.0, 0xFFC00001, 0x7F800000, -2.0]> : tensor<7xf32>
    %b = stablehlo.constant dense<[0.0, 0x7FC00000, 1.0, 0x7FC00000, 0x7F800000, 0x7F800000, 3.0]> : tensor<7xf32>
    %0 = stablehlo.compare EQ, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %0, dense<[true, true, false, false, false, true, false]> : tensor<7xi1>
    %1 = stablehlo.compare NE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %1, dense<[false, false, true, true, true, false, true]> : tensor<7xi1>
    %2 = stablehlo.compare LT, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %2, dense<[false, false, false, true, false, false, true]> : tensor<7xi1>
    %3 = stablehlo.compare LE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %3, dense<[true, true, false, true, false, true, true]> : tensor<7xi1>
    %4 = stablehlo.compare GT, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %4, dense<[false, false, true, false, true, false, false]> : tensor<7xi1>
    %5 = stablehlo.compare GE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    check.expect_eq_const %5, dense<[true, true, true, false, true, true, false]> : tensor<7xi1>
    return
  }
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
  func.func @rounding() {
    %a = stablehlo.constant dense<[0.5, 1.5, -2.5]> : tensor<3xf32>
    %0 = stablehlo.round_nearest_afz %a : tensor<3xf32>
    check.expect_eq_const %0, dense<[1.0, 2.0, -3.0]> : tensor<3xf32>
    %1 = stablehlo.round_nearest_even %a : tensor<3xf32>
    check.expect_eq_const %1, dense<[0.0, 2.0, -2.0]> : tensor<3xf32>
    return
  }
  func.func @powers_of_integers() {
    %a = stablehlo.constant dense<[2, -3, 1, -1, 2, 0]> : tensor<6xi32>
    %b = stablehlo.constant dense<[10, 3, -7, -3, -1, 0]> : tensor<6xi32>
    %0 = stablehlo.power %a, %b : tensor<6xi32>
    check.expect_eq_const %0, dense<[1024, -27, 1, -1, 0, 1]> : tensor<6xi32>
    return
  }
  func.func @parts_of_real_numbers() {
    %a = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %0 = stablehlo.real %a : tensor<2xf32>
    check.expect_eq_const %0, dense<[1.5, -2.0]> : tensor<2xf32>
    %1 = stablehlo.imag %a : tensor<2xf32>
    check.expect_eq_const %1, dense<0.0> : tensor<2xf32>
    return
  }
  func.func @choices() {
    %p = stablehlo.constant dense<true> : tensor<i1>
    %a = stablehlo.constant dense<[1, 5]> : tensor<2xi32>
    %b = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
    %low = stablehlo.constant dense<2> : tensor<i32>
    %high = stablehlo.constant dense<4> : tensor<i32>
    %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<2xi32>
    check.expect_eq_const %0, dense<[1, 5]> : tensor<2xi32>
    %1 = stablehlo.clamp %low, %a, %high : (tensor<i32>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
    return
  }
  func.func @chlo() {
    %a = stablehlo.constant dense<[[1.0], [0x7F800000]]> : tensor<2x1xf32>
    %b = stablehlo.constant dense<[10.0, 20.0, 0xFF800000]> : tensor<3xf32>
    %0 = chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.slice %0 [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
    check.expect_eq_const %1, dense<[[11.0, 21.0, 0xFF800000]]> : tensor<1x3xf32>
    %2 = chlo.is_inf %b : tensor<3xf32> -> tensor<3xi1>
    check.expect_eq_const %2, dense<[false, false, true]> : tensor<3xi1>
    %3 = chlo.is_pos_inf %b : tensor<3xf32> -> tensor<3xi1>
    check.expect_eq_const %3, dense<false> : tensor<3xi1>
    return
  }
}
