module @jit__lambda {
  sdy.mesh @mesh = <["k"=4]>
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<1xf32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"k"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"k"} (%arg1: tensor<1xf32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) : (tensor<1xf32>) -> tensor<1xf32>
      sdy.return %1 : tensor<1xf32>
    } : (tensor<4xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
}
