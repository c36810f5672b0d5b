module @jit_f {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>) {
    %m = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %n = stablehlo.constant dense<0.0> : tensor<2xf32>
    %z = stablehlo.constant dense<0.0> : tensor<2xf32>
    %f = stablehlo.multiply %x, %n : tensor<2xf32>
    %y = stablehlo.select %m, %x, %f : tensor<2xi1>, tensor<2xf32>
    %d = stablehlo.add %y, %y : tensor<2xf32>
    %t = stablehlo.select %m, %d, %z : tensor<2xi1>, tensor<2xf32>
    %e = stablehlo.select %m, %z, %d : tensor<2xi1>, tensor<2xf32>
    %g = stablehlo.multiply %n, %e : tensor<2xf32>
    %r = stablehlo.add %t, %g : tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
