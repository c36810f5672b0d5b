// Branches and loops, whose regions use values from around them.
module @control {
  func.func @branches() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.negate %a : tensor<2xi32>
    %i = stablehlo.constant dense<[-1]> : tensor<1xi32>
    %n = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
    %0 = "stablehlo.case"(%n) ({
      stablehlo.return %a : tensor<2xi32>
    }, {
      %1 = stablehlo.add %b, %b : tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }) : (tensor<i32>) -> tensor<2xi32>
    check.expect_eq_const %0, dense<[-2, -4]> : tensor<2xi32>
    %p = stablehlo.compare LT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<2xi32>
    }, {
      stablehlo.return %b : tensor<2xi32>
    }) : (tensor<i1>) -> tensor<2xi32>
    check.expect_eq_const %2, dense<[-1, -2]> : tensor<2xi32>
    return
  }
  func.func @loops() {
    %ten = stablehlo.constant dense<[10]> : tensor<1xi32>
    %limit = stablehlo.reshape %ten : (tensor<1xi32>) -> tensor<i32>
    %step = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i32>, tensor<i32>
    cond {
      %1 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = func.call @next(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %3 = stablehlo.add %s, %limit : tensor<i32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
    }
    check.expect_eq_const %0#0, dense<12> : tensor<i32>
    check.expect_eq_const %0#1, dense<40> : tensor<i32>
    return
  }
  func.func private @next(%i: tensor<i32>, %step: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %i, %step : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @computations_of_scalars() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = "stablehlo.map"(%a, %a) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %1 = stablehlo.multiply %x, %y : tensor<i32>
        %2 = stablehlo.add %1, %y : tensor<i32>
        stablehlo.return %2 : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %0, dense<[2, 6]> : tensor<2xi32>
    %3 = stablehlo.composite "my.twice" %a {decomposition = @twice} : (tensor<2xi32>) -> tensor<2xi32>
    check.expect_eq_const %3, dense<[2, 4]> : tensor<2xi32>
    return
  }
  func.func private @twice(%a: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.add %a, %a : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
}
