module @jit__lambda {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%arg0: tensor<6xf32>) -> (tensor<4xf32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%arg1: tensor<6xf32>) {
      %c = stablehlo.constant dense<6> : tensor<i32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %c_1 = stablehlo.constant dense<2> : tensor<i32>
      %c_2 = stablehlo.constant dense<1> : tensor<ui32>
      %c_3 = stablehlo.constant dense<2> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c_2 : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_3 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %5 = stablehlo.multiply %c_1, %4 : tensor<i32>
      %6 = stablehlo.compare LT, %5, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.add %5, %c : tensor<i32>
      %8 = stablehlo.select %6, %7, %5 : tensor<i1>, tensor<i32>
      %9 = stablehlo.dynamic_slice %arg1, %8, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
      sdy.return %9 : tensor<2xf32>
    } : (tensor<6xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
