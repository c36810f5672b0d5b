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
