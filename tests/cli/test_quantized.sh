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

# Ops are what they are on reals; regions take what is stored, of the type that
# they say; what only moves elements moves what is stored.
program ops <<'EOF'
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [60.0, 60.0, 60.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>
  %i = stablehlo.uniform_quantize %z : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 0.5:-2>>
  %s = "stablehlo.reduce"(%q, %i) ({
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:-2>>, %b: tensor<!quant.uniform<i8:f32, 0.5:-2>>):
      %c = stablehlo.add %a, %b : tensor<!quant.uniform<i8:f32, 0.5:-2>>
      stablehlo.return %c : tensor<!quant.uniform<i8:f32, 0.5:-2>>
  }) {dimensions = array<i64: 1>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:-2>>
  %f = stablehlo.uniform_dequantize %s : (tensor<2x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2xf32>
  check.expect_eq_const %f, dense<[6.0, 64.5]> : tensor<2xf32>
  // a body with wider storage
  %t = "stablehlo.reduce"(%q, %i) ({
    ^bb0(%a: tensor<!quant.uniform<i32:f32, 0.25:1>>, %b: tensor<!quant.uniform<i32:f32, 0.25:1>>):
      %c = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f32, 0.25:1>>
      stablehlo.return %c : tensor<!quant.uniform<i32:f32, 0.25:1>>
  }) {dimensions = array<i64: 1>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x!quant.uniform<i32:f32, 0.25:1>>
  %g = stablehlo.uniform_dequantize %t : (tensor<2x!quant.uniform<i32:f32, 0.25:1>>) -> tensor<2xf32>
  check.expect_eq_const %g, dense<[6.0, 180.0]> : tensor<2xf32>
  %w = "stablehlo.reduce_window"(%q, %i) ({
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:-2>>, %b: tensor<!quant.uniform<i8:f32, 0.5:-2>>):
      %c = stablehlo.maximum %a, %b : tensor<!quant.uniform<i8:f32, 0.5:-2>>
      stablehlo.return %c : tensor<!quant.uniform<i8:f32, 0.5:-2>>
  }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>
  %wf = stablehlo.uniform_dequantize %w : (tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x2xf32>
  check.expect_eq_const %wf, dense<[[2.0, 3.0], [60.0, 60.0]]> : tensor<2x2xf32>
  %o = "stablehlo.sort"(%q) ({
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:-2>>, %b: tensor<!quant.uniform<i8:f32, 0.5:-2>>):
      %c = stablehlo.compare GT, %a, %b, FLOAT : (tensor<!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>
  %of = stablehlo.uniform_dequantize %o : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3xf32>
  check.expect_eq_const %of, dense<[[3.0, 2.0, 1.0], [60.0, 60.0, 60.0]]> : tensor<2x3xf32>
  %p = stablehlo.pad %q, %i, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<3x3x!quant.uniform<i8:f32, 0.5:-2>>
  %cat = stablehlo.concatenate %p, %q, dim = 0 : (tensor<3x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<5x3x!quant.uniform<i8:f32, 0.5:-2>>
  %pf = stablehlo.uniform_dequantize %cat : (tensor<5x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<5x3xf32>
  check.expect_eq_const %pf, dense<[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [60.0, 60.0, 60.0], [1.0, 2.0, 3.0], [60.0, 60.0, 60.0]]> : tensor<5x3xf32>
  %ss = "stablehlo.select_and_scatter"(%q, %w, %i) ({
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:-2>>, %b: tensor<!quant.uniform<i8:f32, 0.5:-2>>):
      %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }, {
    ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:-2>>, %b: tensor<!quant.uniform<i8:f32, 0.5:-2>>):
      %c = stablehlo.add %a, %b : tensor<!quant.uniform<i8:f32, 0.5:-2>>
      stablehlo.return %c : tensor<!quant.uniform<i8:f32, 0.5:-2>>
  }) {window_dimensions = array<i64: 1, 2>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<2x2x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>
  %ssf = stablehlo.uniform_dequantize %ss : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3xf32>
  check.expect_eq_const %ssf, dense<[[0.0, 2.0, 3.0], [60.0, 60.0, 0.0]]> : tensor<2x3xf32>
  %hw = stablehlo.constant dense<[[1.0, -1.0], [2.0, 0.5], [0.0, 1.0]]> : tensor<3x2xf32>
  %hq = stablehlo.uniform_quantize %hw : (tensor<3x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:-1}>>
  %hd = stablehlo.dot_general %x, %hq, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:-1}>>) -> tensor<2x2xf32>
  check.expect_eq_const %hd, dense<[[5.0, 3.0], [180.0, 30.0]]> : tensor<2x2xf32>
  %qd = stablehlo.dot_general %q, %hq, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:-1}>>) -> tensor<2x2x!quant.uniform<i32:f32:1, {0.25:0, 0.125:0}>>
  %qi = stablehlo.bitcast_convert %qd : (tensor<2x2x!quant.uniform<i32:f32:1, {0.25:0, 0.125:0}>>) -> tensor<2x2xi32>
  check.expect_eq_const %qi, dense<[[20, 24], [720, 240]]> : tensor<2x2xi32>
  %ht = stablehlo.transpose %hq, dims = [1, 0] : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:-1}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>
  %htf = stablehlo.uniform_dequantize %ht : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3, 0.25:-1}>>) -> tensor<2x3xf32>
  check.expect_eq_const %htf, dense<[[1.0, 2.0, 0.0], [-1.0, 0.5, 1.0]]> : tensor<2x3xf32>
  %lo = stablehlo.constant dense<2> : tensor<!quant.uniform<i8:f32, 0.5:-2>>
  %hi = stablehlo.constant dense<100> : tensor<!quant.uniform<i8:f32, 0.5:-2>>
  %cl = stablehlo.clamp %lo, %q, %hi : (tensor<!quant.uniform<i8:f32, 0.5:-2>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>, tensor<!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>
  %clf = stablehlo.uniform_dequantize %cl : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-2>>) -> tensor<2x3xf32>
  check.expect_eq_const %clf, dense<[[2.0, 2.0, 3.0], [51.0, 51.0, 51.0]]> : tensor<2x3xf32>
EOF
expect 0 run "$work/ops.mlir"
expect 0 check "$work/ops.mlir"

# Along the axis of the scales elements meet other scales.
program turned <<'EOF'
  %x = stablehlo.constant dense<[1.0, -4.0]> : tensor<2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 2.0:-1}>>
  %r = stablehlo.reverse %q, dims = [0] : tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 2.0:-1}>>
  %i = stablehlo.bitcast_convert %r : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 2.0:-1}>>) -> tensor<2xi8>
  check.expect_eq_const %i, dense<[-5, 0]> : tensor<2xi8>
EOF
expect 0 run "$work/turned.mlir"

# Symbolic sizes go through; an axis of scales is one more size that must agree.
cat >"$work/open.mlir" <<'EOF'
func.func @main(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %q = stablehlo.uniform_quantize %a : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>
  %s = stablehlo.add %q, %q : tensor<?x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>
  %r = stablehlo.uniform_dequantize %s : (tensor<?x2x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20}>>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
EOF
expect 0 check --strict "$work/open.mlir"
prints ' 0 refuted, [0-9]* witnessed, 0 undecided'
sed 's/f32:1/f32:0/g' "$work/open.mlir" >"$work/agree.mlir"
expect 0 check "$work/agree.mlir"
prints "are the same: arg0_0 = 2"

# Types that mean nothing are refused, with the place.
refused() { # TYPE, WHAT IS SAID
    program refused <<EOF
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<$1>>
EOF
    expect 3 run "$work/refused.mlir"
    complains 'refused.mlir: line 3, column'
    complains "$2"
}
refused 'i8:f32, 0.0' 'expected a scale, finite and above 0'
refused 'i8:f32, -1.0:3' 'expected a scale, finite and above 0'
refused 'i8:f32, 1.0e-60' 'scale 1e-60 is not positive'
refused 'i8:f32, 1.0:300' 'zero point 300 is not between -128 and 127'
refused 'i8<-200:100>:f32, 1.0' 'from -128 to 127'
refused 'i8:f32:0, {1.0, 2.0, 3.0}' 'axis 0 of 3 elements'
refused 'i8:f32:1, {1.0, 2.0}' 'axis 1 of 2 elements'
refused 'i8:f64, 1.0' 'expected values of float64, found float32'
refused 'i8:i32, 1.0' 'integers of at most 32 bits for reals'

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
