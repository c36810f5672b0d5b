module @jit_f {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4xf32>) -> tensor<f32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%p: tensor<2xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32> loc("jit(f)/transpose(jvp())/reduce_sum")
      %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
      sdy.return %2 : tensor<1xf32>
    } : (tensor<4xf32>) -> tensor<2xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %r = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  }
}
