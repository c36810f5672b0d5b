# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Symbolic sizes of StableHLO: names, constraints, assertions, sizes that are
# values of inputs.
sizes() {
    cat <<END
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x2x4xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %six = stablehlo.constant dense<$1> : tensor<i32>
  %rest = stablehlo.remainder %n, %two : tensor<i32>
  %even = stablehlo.compare EQ, %rest, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%even, %rest) {error_message = "Input shapes do not match the polymorphic shapes specification. Division had remainder {0} when computing the value of 'b'. Using the following polymorphic shapes specifications: args[0].shape = (2*b, 4). Obtained dimension variables: ."} : (tensor<i1>, tensor<i32>) -> ()
  %b = func.call @half(%n) : (tensor<i32>) -> tensor<i32>
  %some = stablehlo.compare GE, %b, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%some, %b, %n) {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (2*b, 4). Obtained dimension variables: 'b' = {0} from specification '2*b' for dimension args[0].shape[0] (= {1}), ."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %ok = stablehlo.compare GE, %n, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %d = stablehlo.subtract %n, %six : tensor<i32>
  stablehlo.custom_call @shape_assertion(%ok, %d) {error_message = "Input shapes do not match the symbolic shape constraint b>=3. Expected '2*b - 6' to be greater or equal to 0, but found {0}.  Using the following polymorphic shapes specifications: args[0].shape = (2*b, 4). Obtained dimension variables: ."} : (tensor<i1>, tensor<i32>) -> ()
  %0 = func.call @half(%n) : (tensor<i32>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
  %3 = stablehlo.dynamic_reshape %a, %2 : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x2x4xf32>
  func.return %3 : tensor<?x2x4xf32>
}
func.func private @half(%n: tensor<i32>) -> tensor<i32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.divide %n, %two : tensor<i32>
  func.return %0 : tensor<i32>
}
END
}

# The message names the sizes, the arithmetic becomes theirs.
sizes 6 >"$work/half.mlir"
expect 0 show "$work/half.mlir"
prints 'a:f32\[2\*b,4\]'
prints 'f32\[b,2,4\]'
expect 0 check "$work/half.mlir"
prints ' 0 refuted.* 0 undecided'
# A shape that only a message says is not one.
sed '/even, %rest/d' "$work/half.mlir" >"$work/odd.mlir"
expect 0 show "$work/odd.mlir"
prints 'a:f32\[arg0_0,4\]'
expect 0 check "$work/odd.mlir"
prints 'requires `4\*arg0_0 == 8\*floordiv(arg0_0, 2)` (SHP010'
expect 0 run "$work/half.mlir" --set b=3
prints 'f32\[3,2,4\]'
expect 3 run "$work/half.mlir" --set b=2
complains 'b>=3'
complains "asserts: .*Expected '2\*b - 6' to be .* but found -2\."
expect 3 show "$work/half.mlir" --transform set:b=2
complains "asserts: .* but found -2\."

# What is checked counts, not what the message says.
sizes 8 >"$work/says.mlir"
expect 3 run "$work/says.mlir" --set b=3
complains '2\*b >= 8'
expect 0 run "$work/says.mlir" --set b=4
expect 0 check "$work/says.mlir"
prints 'warning\[EXP015\].*says `2\*floordiv(args\[0\].shape\[0\], 2) - 6 >= 0`.*they differ at args\[0\].shape\[0\] = 6$'
expect 1 check "$work/says.mlir" --fail-on warning --format json
prints '"code":"EXP015".*"evidence":"counterexample".*"sizes":{"args\[0\].shape\[0\]":'
# Numbers that the message shows and that are others, or none.
sed 's/(= {1})/(= {0})/' "$work/half.mlir" >"$work/other.mlir"
expect 0 check "$work/other.mlir"
prints 'EXP015.*shows {0} as `args\[0\].shape\[0\]`, the program gives `floordiv('
sed 's/(= {1})/(= {2})/' "$work/half.mlir" >"$work/beyond.mlir"
expect 0 check "$work/beyond.mlir"
prints 'EXP015.*shows {2} and it has 2 numbers: XLA refuses'

# An assertion in a function that some sizes break is refuted, with them.
cat >"$work/inner.mlir" <<'END'
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @f(%a) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
func.func private @f(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %ok = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "too few, {0}"} : (tensor<i1>, tensor<i32>) -> ()
  func.return %a : tensor<?xf32>
}
END
expect 1 check "$work/inner.mlir"
prints 'SHP015.*too few.*is less than'
expect 3 run "$work/inner.mlir" --shape 3
complains 'too few.*asserts: too few, 3'
expect 0 run "$work/inner.mlir" --shape 4
sed 's/ %c = stablehlo.*/ %c = stablehlo.constant dense<0> : tensor<i32>/' \
    "$work/inner.mlir" >"$work/fits.mlir"
expect 0 check "$work/fits.mlir"

# However it is computed: with `or`, `not`, in vectors, in functions, or never.
inner() {
    cat <<END
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @f(%a) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
func.func private @f(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<$1> : tensor<i32>
  %x = stablehlo.compare LT, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  $2
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "not {0}"} : (tensor<i1>, tensor<i32>) -> ()
  func.return %a : tensor<?xf32>
}
func.func private @more(%n: tensor<i32>, %c: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %0 : tensor<i1>
}
END
}
for how in '%ok = stablehlo.not %x : tensor<i1>' \
    '%ok = func.call @more(%n, %c) : (tensor<i32>, tensor<i32>) -> tensor<i1>' \
    '%y = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
     %z = stablehlo.compare EQ, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
     %ok = stablehlo.or %z, %y : tensor<i1>' \
    '%v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
     %w = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
     %g = stablehlo.compare GE, %v, %w, SIGNED : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
     %t = stablehlo.constant dense<true> : tensor<i1>
     %ok = stablehlo.reduce(%g init: %t) applies stablehlo.and across dimensions = [0] : (tensor<1xi1>, tensor<i1>) -> tensor<i1>'; do
    inner 0 "$how" >"$work/how.mlir"
    expect 0 check --strict "$work/how.mlir"
    prints ' 0 refuted, [0-9]* witnessed, 0 undecided'
    inner 4 "$how" >"$work/how.mlir"
    expect 1 check --strict "$work/how.mlir"
    prints 'SHP015.*not {0}.* when arg0_0 = '
    prints ' 0 undecided'
    expect 0 run "$work/how.mlir" --shape 4
    expect 3 run "$work/how.mlir" --shape 3
    complains 'asserts: not 3$'
done
inner 0 '%ok = stablehlo.constant dense<false> : tensor<i1>' >"$work/no.mlir"
expect 1 check "$work/no.mlir"
prints 'error\[SHP004\].*not {0}'

# Sizes as integers: by --set, or by the input's value.
cat >"$work/values.mlir" <<'END'
func.func @main(%n: tensor<i64>, %a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.dynamic_broadcast_in_dim %z, %0, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %2 = stablehlo.add %1, %a : tensor<?xf32>
  %3 = stablehlo.convert %n : (tensor<i64>) -> tensor<f32>
  %4 = stablehlo.dynamic_broadcast_in_dim %3, %0, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %5 = stablehlo.multiply %2, %4 : tensor<?xf32>
  func.return %5 : tensor<?xf32>
}
END
expect 0 info "$work/values.mlir"
prints 'size arg0: from 0'
expect 0 show "$work/values.mlir"
prints 'a:i64\[\] b:f32\[arg0\]'
expect 0 check "$work/values.mlir"
expect 0 run "$work/values.mlir" --set arg0=2 --fill zeros
prints 'out0 f32\[2\] = 2 2'
expect 0 run "$work/values.mlir" --set arg0=3 --outputs "$work/three.npz"
expect 0 show "$work/values.mlir" --transform set:arg0=3 --as json \
    -o "$work/three.json"
expect 0 run "$work/three.json" --expect "$work/three.npz" --bits
# A document has these sizes, too, and that they may be 0.
expect 0 show "$work/values.mlir" --as json -o "$work/values.json"
holds grep -q '"base":0,"valued":\[\[0,0,"arg0"\]\]' "$work/values.json"
expect 0 show "$work/values.json" --as json -o "$work/again.json"
holds cmp "$work/values.json" "$work/again.json"
expect 0 run "$work/values.json" --set arg0=3 --expect "$work/three.npz" --bits
expect 0 run "$work/values.json" --set arg0=0
prints 'out0 f32\[0\]'
for wrong in '[[2,0,"arg0"]]' '[[0,-1,"arg0"]]' '[[1,0,"arg0"]]' '[[0,0,""]]' '[[0,0]]' '1'; do
    sed "s/\"valued\":\[\[0,0,\"arg0\"]]/\"valued\":$wrong/" "$work/values.json" \
        >"$work/wrong.json"
    expect 3 show "$work/wrong.json"
    complains '/entry/valued'
done
sed 's/"base":0/"base":1/' "$work/values.json" >"$work/wrong.json"
expect 3 show "$work/wrong.json"
complains '/entry/base'
# The shape of the other input says it, too; alone it has to be given.
expect 0 run "$work/values.mlir" --shape '' --shape 3
prints 'out0 f32\[3\]'
sed 's/tensor<?xf32>) -> tensor<?xf32> {/tensor<f32>) -> tensor<?xf32> {/
     s/add %1, %a/add %1, %1/' "$work/values.mlir" >"$work/alone.mlir"
expect 3 run "$work/alone.mlir" --shape '' --shape ''
complains 'give it with --set arg0=SIZE'

# A module that declares nothing requires what its operations need of the sizes
# of its inputs: a note, once, and the rest is proved under it.
cat >"$work/needs.mlir" <<'EOF'
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<?xf32>) {
  %0 = stablehlo.slice %a [0:4] : (tensor<?xf32>) -> tensor<4xf32>
  %1 = stablehlo.slice %a [1:3] : (tensor<?xf32>) -> tensor<2xf32>
  %2 = stablehlo.add %a, %b : tensor<?xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<2xf32>, tensor<?xf32>
}
EOF
expect 0 check "$work/needs.mlir"
prints 'note\[SHP016\] input-requirement: requires `arg0_0 >= 4` (SHP013, .*when arg0_0 = '
prints '^assumed: sizes of the inputs are as the program requires: `arg0_0 >= 4`$'
prints '^assumed: sizes of inputs that meet in an operation are the same: arg1_0 = arg0_0$'
prints '^1 note$'
prints ' 1 refuted, 0 witnessed, 0 undecided'
expect 1 check "$work/needs.mlir" --fail-on note
expect 0 check "$work/needs.mlir" --where 'arg0_0 >= 4' --fail-on note
prints ' 0 refuted'
expect 3 run "$work/needs.mlir" --shape 3 --shape 3
expect 0 run "$work/needs.mlir" --shape 5 --shape 5
# What no sizes satisfy, or none but 0, is an error, and so is what is required
# of sizes that the program computes.
sed 's/%a, %b :/%a, %c :/
     s/^  %2 = /  %c = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>\n&/' \
    "$work/needs.mlir" >"$work/never.mlir"
expect 1 check "$work/never.mlir"
prints 'error\[SHP010\]'
prints 'error\[SHP013\]'
cat >"$work/made.mlir" <<'EOF'
func.func @main(%a: tensor<f32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.reduce(%k init: %a) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %i = stablehlo.convert %s : (tensor<f32>) -> tensor<i32>
  %n = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.slice %0 [0:4] : (tensor<?xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
EOF
expect 1 check "$work/made.mlir"
prints 'error\[SHP013\]'
# A module of JAX has declared its sizes: what they do not exclude is wrong.
sed 's/^  func.return %3/  %s = stablehlo.slice %a [0:5, 0:4] : (tensor<?x4xf32>) -> tensor<5x4xf32>\n&/' \
    "$work/half.mlir" | sed 's/dense<6>/dense<2>/' >"$work/declared.mlir"
expect 1 check "$work/declared.mlir"
prints 'error\[SHP013\]'

# What an assertion computes may wrap just where it is to be enforced: its own
# constraint does not keep it from that.
cat >"$work/product.mlir" <<'EOF'
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %k = stablehlo.constant dense<100> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %p = stablehlo.multiply %n, %m : tensor<i32>
  %d = stablehlo.subtract %k, %p : tensor<i32>
  %ok = stablehlo.compare GE, %d, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %d) {error_message = "too many: {0}"} : (tensor<i1>, tensor<i32>) -> ()
  func.return %a : tensor<?xf32>
}
EOF
expect 0 check "$work/product.mlir"
prints 'where nothing wraps while arg0_0\*arg1_0 <= 2147483748$'
expect 3 run "$work/product.mlir" --shape 11 --shape 10
complains 'asserts: too many: -10$'

# A window whose size is an input's is never empty.
cat >"$work/window.mlir" <<'EOF'
module {
  func.func @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?x?xf32> {
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %ones = stablehlo.constant dense<1> : tensor<2xi32>
    %pad = stablehlo.constant dense<0> : tensor<2x2xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %window = stablehlo.concatenate %one, %size, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg0, %zero, %window, %ones, %ones, %ones, %pad) {called_computations = [@add]} : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
EOF
expect 0 run "$work/window.mlir" --shape 3,4
prints '^out0 f32\[3,2\]'
expect 3 run "$work/window.mlir" --shape 0,4

# What each device has of an array is a part of it, along axes of open sizes, too.
cat >"$work/parts.mlir" <<'EOF'
module {
  sdy.mesh @mesh = <["x"=2, "y"=3]>
  func.func public @main(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"y", "x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<?x?xf32>) {
      %1 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>, use_global_device_ids}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
      sdy.return %1 : tensor<?x?xf32>
    } : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
EOF
expect 0 check "$work/parts.mlir"
prints 'sizes of the inputs are as the program requires: `mod(arg0_0, 2) == 0`, `mod(arg0_1, 3) == 0`'
expect 0 show "$work/parts.mlir"
prints 'f32\[6\*floordiv(arg0_0, 2),3\*floordiv(arg0_1, 3)\] = sdy.manual_computation'

# What nobody here understands may make any size: undecided, once, and no error.
cat >"$work/house.mlir" <<'EOF'
module {
  func.func public @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = "house.halve_rows"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = stablehlo.add %0, %x : tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
}
EOF
expect 0 check "$work/house.mlir"
prints '^undecided\[PRM001\] unknown-primitive: house.halve_rows'
holds sh -c "! grep -q 'error\[' '$work/out'"
expect 5 check "$work/house.mlir" --strict

# What sizes are added up from counts, too.
cat >"$work/begun.mlir" <<'EOF'
module {
  func.func public @main(%x: tensor<?x?xf32>) -> (tensor<i32>, tensor<?xi32>) {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %3 = stablehlo.reduce(%2 init: %ten) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    return %3, %5 : tensor<i32>, tensor<?xi32>
  }
}
EOF
expect 0 run "$work/begun.mlir" --shape 2,3
prints '^out0 i32\[\] = 15'
prints '^out1 i32\[15\]'

# Operands of one op have one shape: a size that is 1 in one is not repeated.
for op in 'divide %a, %y' 'select %p, %a, %y'; do
    cat >"$work/alike.mlir" <<EOF
module {
  func.func public @main(%a: tensor<1xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    %p = stablehlo.constant dense<true> : tensor<i1>
    %r = "stablehlo.${op%% *}"(${op#* }) : ($(case $op in sel*) echo 'tensor<i1>, ' ;; esac)tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}
EOF
    expect 0 check "$work/alike.mlir"
    prints 'meet in an operation are the same: arg1_0 = 1$'
    expect 3 run "$work/alike.mlir" --shape 1 --shape 3
    complains 'args\[1\].shape\[0\]: is 3, expected 1'
    expect 0 run "$work/alike.mlir" --shape 1 --shape 1
done

# An operand that says a result's shape is held against the call's own rule.
for rows in 2 0; do
    cat >"$work/said.mlir" <<EOF
module {
  func.func public @main(%a: tensor<2x4x3xf32>, %t: tensor<2x3xf32>) -> tensor<?x4x3xf32> {
    %s = stablehlo.constant dense<[$rows, 4, 3]> : tensor<3xi32>
    %0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %t, %s) {indices_of_shape_operands = dense<2> : tensor<1xi64>, mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<3xi32>) -> tensor<?x4x3xf32>
    return %0 : tensor<?x4x3xf32>
  }
}
EOF
    expect $((rows == 0)) check "$work/said.mlir"
    [ $rows -ne 0 ] || prints '^error\[SHP011\].*f32\[0,4,3\]'
done
