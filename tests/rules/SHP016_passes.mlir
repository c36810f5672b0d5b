func.func @main(%arg0: tensor<?xf32>) -> tensor<4xf32> {
  %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %ok = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "expected 4 elements or more, got {0}"} : (tensor<i1>, tensor<i32>) -> ()
  %0 = stablehlo.slice %arg0 [0:4] : (tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
