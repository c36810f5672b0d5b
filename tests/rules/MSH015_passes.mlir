module @jit__lambda {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%arg1: tensor<2xf32>) {
      %c = stablehlo.constant dense<2> : tensor<i32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %c_2 = stablehlo.constant dense<2> : tensor<ui32>
      %c_3 = stablehlo.constant dense<1> : tensor<ui32>
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %2 = stablehlo.add %arg1, %1 : tensor<2xf32>
      %3 = stablehlo.partition_id : tensor<ui32>
      %4 = stablehlo.divide %3, %c_3 : tensor<ui32>
      %5 = stablehlo.remainder %4, %c_2 : tensor<ui32>
      %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i32>
      %7 = stablehlo.subtract %c_1, %6 : tensor<i32>
      %8 = stablehlo.compare LT, %7, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %9 = stablehlo.add %7, %c : tensor<i32>
      %10 = stablehlo.select %8, %9, %7 : tensor<i1>, tensor<i32>
      %11 = stablehlo.dynamic_slice %2, %10, sizes = [1] : (tensor<2xf32>, tensor<i32>) -> tensor<1xf32>
      %12 = "stablehlo.collective_permute"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %12 : tensor<1xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
