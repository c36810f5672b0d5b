module @jit_f {
  sdy.mesh @mesh = <["k"=3]>
  func.func public @main(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>) -> (tensor<3x3xf32>) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"k"}, {}]>, <@mesh, [{"k"}, {}]>] out_shardings=[<@mesh, [{"k"}, {}]>] manual_axes={"k"} (%arg2: tensor<1x3xf32>, %arg3: tensor<1x3xf32>) {
      %c = stablehlo.constant dense<2> : tensor<i32>
      %c_0 = stablehlo.constant dense<1> : tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %c_1 = stablehlo.constant dense<3> : tensor<i32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %c_3 = stablehlo.constant dense<1> : tensor<ui32>
      %c_4 = stablehlo.constant dense<3> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c_3 : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_4 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %5 = stablehlo.subtract %4, %c_2 : tensor<i32>
      %6 = func.call @remainder(%5, %c_1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %7 = stablehlo.compare LT, %6, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %8 = stablehlo.add %6, %c_1 : tensor<i32>
      %9 = stablehlo.select %7, %8, %6 : tensor<i1>, tensor<i32>
      %10 = stablehlo.dynamic_slice %arg2, %c_2, %9, sizes = [1, 1] : (tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %11 = stablehlo.dot_general %10, %arg3, contracting_dims = [1] x [0] : (tensor<1x1xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
      %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
      %13 = stablehlo.add %12, %11 : tensor<1x3xf32>
      %14 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %15 = stablehlo.subtract %4, %c_0 : tensor<i32>
      %16 = func.call @remainder(%15, %c_1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %17 = stablehlo.compare LT, %16, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %18 = stablehlo.add %16, %c_1 : tensor<i32>
      %19 = stablehlo.select %17, %18, %16 : tensor<i1>, tensor<i32>
      %20 = stablehlo.dynamic_slice %arg2, %c_2, %19, sizes = [1, 1] : (tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %21 = stablehlo.dot_general %20, %14, contracting_dims = [1] x [0] : (tensor<1x1xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
      %22 = stablehlo.add %13, %21 : tensor<1x3xf32>
      %23 = "stablehlo.collective_permute"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %24 = stablehlo.subtract %4, %c : tensor<i32>
      %25 = func.call @remainder(%24, %c_1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %26 = stablehlo.compare LT, %25, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %27 = stablehlo.add %25, %c_1 : tensor<i32>
      %28 = stablehlo.select %26, %27, %25 : tensor<i1>, tensor<i32>
      %29 = stablehlo.dynamic_slice %arg2, %c_2, %28, sizes = [1, 1] : (tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
      %30 = stablehlo.dot_general %29, %23, contracting_dims = [1] x [0] : (tensor<1x1xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
      %31 = stablehlo.add %22, %30 : tensor<1x3xf32>
      sdy.return %31 : tensor<1x3xf32>
    } : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
  func.func private @remainder(%arg0: tensor<i32> loc(unknown), %arg1: tensor<i32> loc(unknown)) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = call @_where(%1, %c, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %3, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1> loc(unknown), %arg1: tensor<i32> loc(unknown), %arg2: tensor<i32> loc(unknown)) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
