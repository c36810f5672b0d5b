module @jit__lambda {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<4xf32>) {
    %5 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x4xf32>
    %0 = sdy.manual_computation(%5) in_shardings=[<@mesh, [{}, {"i"}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%arg1: tensor<2x2xf32>) {
      %1 = stablehlo.slice %arg1 [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %2 = stablehlo.slice %arg1 [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
      %6 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<2xf32>
      %7 = stablehlo.reshape %2 : (tensor<1x2xf32>) -> tensor<2xf32>
      %3 = stablehlo.sine %6 : tensor<2xf32>
      %4 = stablehlo.multiply %3, %7 : tensor<2xf32>
      sdy.return %4 : tensor<2xf32>
    } : (tensor<2x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
