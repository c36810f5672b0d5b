module @jit_f {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<4xf32>) -> (tensor<f32>) {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, []>] manual_axes={"i"} (%p: tensor<2xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %m = stablehlo.multiply %1, %h : tensor<f32>
      %2 = "stablehlo.all_reduce"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      sdy.return %2 : tensor<f32>
    } : (tensor<4xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
