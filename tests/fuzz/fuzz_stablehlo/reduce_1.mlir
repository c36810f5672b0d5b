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
