module @jit_f {
  sdy.mesh @mesh = <["i"=2]>
  func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"i"}]>] out_shardings=[<@mesh, [{"i"}]>] manual_axes={"i"} (%p: tensor<8xf32>) {
      %k = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
      %i = stablehlo.partition_id : tensor<ui32>
      %j = stablehlo.convert %i : (tensor<ui32>) -> tensor<ui64>
      %w = stablehlo.broadcast_in_dim %j, dims = [] : (tensor<ui64>) -> tensor<2xui64>
      %s = stablehlo.add %k, %w : tensor<2xui64>
      %n, %b = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
      %h = stablehlo.constant dense<2147483648> : tensor<8xui32>
      %z = stablehlo.constant dense<0.0> : tensor<8xf32>
      %m = stablehlo.compare LT, %b, %h, UNSIGNED : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
      %d = stablehlo.select %m, %p, %z : tensor<8xi1>, tensor<8xf32>
      sdy.return %d : tensor<8xf32>
    } : (tensor<16xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
