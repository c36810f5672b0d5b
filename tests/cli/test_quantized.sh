# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Quantized tensors of StableHLO: what is stored, and what it stands for.
program() { # FILE: the body of main, on standard input
    {
        echo 'func.func @main() {'
        cat
        echo 'return }'
    } >"$work/$1.mlir"
}

# Rounded to even, clamped to what may be stored, NaN is 0.
program stores <<'EOF'
  %x = stablehlo.constant dense<[0.25, 0.75, -0.25, 99.0, -99.0, 0x7FC00000]> : tensor<6xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8<-100:120>:f32, 0.5:3>>
  %i = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8<-100:120>:f32, 0.5:3>>) -> tensor<6xi8>
  check.expect_eq_const %i, dense<[4, 4, 2, 120, -100, 0]> : tensor<6xi8>
  %r = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8<-100:120>:f32, 0.5:3>>) -> tensor<6xf32>
  check.expect_eq_const %r, dense<[0.5, 0.5, -0.5, 58.5, -51.5, -1.5]> : tensor<6xf32>
EOF
expect 0 run "$work/stores.mlir"

# Unsigned, 4 bits, 32 bits with a zero point, bf16.
program widths <<'EOF'
  %x = stablehlo.constant dense<[0.0, 2.0, 1000.0]> : tensor<3xf32>
  %a = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<u8:f32, 0.5:250>>
  %b = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<u8:f32, 0.5:250>>) -> tensor<3xf32>
  check.expect_eq_const %b, dense<[0.0, 2.0, 2.5]> : tensor<3xf32>
  %c = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i4:f32, 0.5:-8>>
  %d = stablehlo.uniform_dequantize %c : (tensor<3x!quant.uniform<i4:f32, 0.5:-8>>) -> tensor<3xf32>
  check.expect_eq_const %d, dense<[0.0, 2.0, 7.5]> : tensor<3xf32>
  %e = stablehlo.constant dense<-2147483648> : tensor<i32>
  %f = stablehlo.bitcast_convert %e : (tensor<i32>) -> tensor<!quant.uniform<i32:f32, 1.0:2147483647>>
  %g = stablehlo.uniform_dequantize %f : (tensor<!quant.uniform<i32:f32, 1.0:2147483647>>) -> tensor<f32>
  check.expect_eq_const %g, dense<-4294967296.0> : tensor<f32>
  %y = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xbf16>
  %h = stablehlo.uniform_quantize %y : (tensor<2xbf16>) -> tensor<2x!quant.uniform<i8:bf16, 2.0:-1>>
  %i = stablehlo.bitcast_convert %h : (tensor<2x!quant.uniform<i8:bf16, 2.0:-1>>) -> tensor<2xi8>
  check.expect_eq_const %i, dense<[0, 0]> : tensor<2xi8>
EOF
expect 0 run "$work/widths.mlir"

# A scale and a zero point for each index of an axis; to another such type.
program axes <<'EOF'
  %x = stablehlo.constant dense<[[4.0, 15.0], [-1.0, 1.0]]> : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>
  %i = stablehlo.bitcast_convert %q : (tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>) -> tensor<2x2xi8>
  check.expect_eq_const %i, dense<[[10, 10], [-40, -18]]> : tensor<2x2xi8>
  %p = stablehlo.uniform_quantize %q : (tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-20, 0.2:-30}>>
  %j = stablehlo.bitcast_convert %p : (tensor<2x2x!quant.uniform<i8:f32:1, {0.1:-20, 0.2:-30}>>) -> tensor<2x2xi8>
  check.expect_eq_const %j, dense<[[20, 45], [-30, -25]]> : tensor<2x2xi8>
EOF
expect 0 run "$work/axes.mlir"

# What a check expects is what ends the run, even if nothing needs its answer.
program wrong <<'EOF'
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[1.0, 2.001]> : tensor<2xf32>
  %z = stablehlo.custom_call @check.eq(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
EOF
expect 1 run "$work/wrong.mlir"
prints 'element \[1\] is 2, expected almost equal to 2.00099993'
sed 's/2.001/2.00009/' "$work/wrong.mlir" >"$work/right.mlir"
expect 0 run "$work/right.mlir"
