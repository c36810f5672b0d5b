func.func public @main(%x: tensor<?x3xf32> loc("x")) -> tensor<?x4xf32> {
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %zero = stablehlo.constant dense<0> : tensor<1xi32>
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %n1, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.dynamic_broadcast_in_dim %f, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %0 = stablehlo.concatenate %x, %b, dim = 1 : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
    %start = stablehlo.concatenate %zero, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %limit = stablehlo.concatenate %n1, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %stride = stablehlo.concatenate %one, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %1 = stablehlo.real_dynamic_slice %0, %start, %limit, %stride : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
    %2 = stablehlo.concatenate %1, %b, dim = 1 : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  } loc(#f)
} loc(#f)
#f = loc("model.py":3:4 to :9)
