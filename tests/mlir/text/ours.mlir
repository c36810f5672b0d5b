// Pretty forms that no JAX of the tests reads: of dialects that are not part of
// it, and of ops that it refuses as they stand here.
func.func @checks(%a: tensor<2xf32>, %i: tensor<2xi32>) -> tensor<2xi32> {
  check.expect_almost_eq_const %a, dense<[0.999999, 2.0]> : tensor<2xf32>, tolerance = 1.0e-3
  check.expect_almost_eq_const %a, dense<1.0> : tensor<2xf32>
  check.expect_almost_eq %a, %a, tolerance = 1.000000e-03 : tensor<2xf32>
  check.expect_almost_eq %a, %a : tensor<2xf32>
  check.expect_eq_const %i, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq %i, %i : tensor<2xi32>
  check.expect_close %a, %a, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %a, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_serialized_eq %i, probe_id = "probe0", iter = 0 : tensor<2xi32>
  interpreter.print %i : tensor<2xi32>
  %0 = interpreter.probe %i, probe_id = "probe0" : tensor<2xi32>
  %1 = arith.constant 5 : i32
  %2 = arith.constant true
  return %0 : tensor<2xi32>
}
func.func @newer(%a: tensor<16x2xf32>, %z: tensor<4xcomplex<f32>>, %i: tensor<4xi32>, %q: tensor<4xf32>, %c: tensor<f32>, %u: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<16x2xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}, {}], unreduced=max{"y"}> : tensor<16x2xf32>
  %1 = sdy.reduce_scatter sum [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x2xf32>
  %2 = sdy.sharded_to_unreduced [{"y"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<16x2xf32>
  %3 = sdy.replicated_to_unreduced {"y"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<16x2xf32>
  %4 = sdy.func_data_flow_edge %3 : tensor<16x2xf32>
  %5 = chlo._asin_acos_kernel %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %6 = chlo.mulhi %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %7:2 = chlo.top_k(%q, k = 2, is_stable = true) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %8:2 = chlo.scan(%q) inits (%c) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %10 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %10, %10 : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  %9 = stablehlo.composite "r" %q ({
    stablehlo.return %c : tensor<f32>
  }) {decomposition = @f} : (tensor<4xf32>) -> tensor<f32>
  %11 = stablehlo.uniform_quantize %q : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8<-100:100>:f32:0, {0.1, 0.2:3, 1.0e-2:-7, 1.000000e+00}>>
  %12 = stablehlo.uniform_dequantize %u : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
  return %4 : tensor<16x2xf32>
}
