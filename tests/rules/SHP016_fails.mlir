func.func @main(%arg0: tensor<?xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %arg0 [0:4] : (tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
