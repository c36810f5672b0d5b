func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<8> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %some = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%some, %n) {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b,). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), ."} : (tensor<i1>, tensor<i32>) -> ()
  %ok = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %rest = stablehlo.subtract %n, %c : tensor<i32>
  stablehlo.custom_call @shape_assertion(%ok, %rest, %n) {error_message = "Input shapes do not match the symbolic shape constraint b>=8. Expected 'b - 8' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (b,). Obtained dimension variables: 'b' = {1} from specification 'b' for dimension args[0].shape[0] (= {1}), ."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %arg0 : tensor<?xf32>
}
