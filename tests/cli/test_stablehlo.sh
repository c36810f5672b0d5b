# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# StableHLO text: the files of tests/stablehlo check themselves.
for mlir in tests/stablehlo/*.mlir; do
    case $mlir in
    */dynamic.mlir) continue ;;
    esac
    expect 0 run "$mlir"
    expect 0 check "$mlir"
    prints ' 0 refuted, [0-9]* witnessed, 0 undecided'
    # What a program says of itself is what runs.
    sed 's/\(check.expect.*dense<\)\(\[*\)\([0-9]\)/\1\24\3/' "$mlir" \
        >"$work/wrong.mlir"
    if ! cmp -s "$mlir" "$work/wrong.mlir"; then
        expect 1 run "$work/wrong.mlir"
        prints 'expects another result'
    fi
done

# Functions, their names and their calls.
cat >"$work/calls.mlir" <<'EOM'
module @jit_step {
  func.func public @main(%arg0: tensor<3xf32> loc("params['w']"), %arg1: tensor<3xf32> loc("x")) -> (tensor<3xf32> {jax.result_info = "result[0]"}) {
    %0 = call @square(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @square(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
EOM
expect 0 show "$work/calls.mlir"
prints 'name=square'
prints 'mul a a'
expect 0 run "$work/calls.mlir" --fill zeros
prints '^out0 f32\[3\] = 0 0 0$'

# Sizes that operands bring, at any size; a constant is a literal.
expect 0 show tests/stablehlo/dynamic.mlir
prints 'limit_indices=(arg0_0, 3)'
prints 'f32\[arg0_0,4\] = concatenate\[dimension=1\]'
expect 0 run tests/stablehlo/dynamic.mlir --fill zeros --set arg0_0=2
prints '^out0 f32\[2,4\] = 0 0 0 2 0 0 0 2$'
expect 0 run tests/stablehlo/dynamic.mlir --fill zeros --set arg0_0=1
prints '^out0 f32\[1,4\] = 0 0 0 1$'

# An op that nobody knows is named once; what depends on it is undecided.
cat >"$work/unknown.mlir" <<'EOM'
func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "other.op"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "other.op"(%0) : (tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
EOM
expect 0 check "$work/unknown.mlir"
prints 'other.op'
expect 3 run "$work/unknown.mlir" --fill zeros
complains 'no way to run the primitive other.op'

cat >"$work/bits.mlir" <<'EOM'
func.func @main(%arg0: tensor<64xi1>) -> tensor<i64> {
  %c = stablehlo.constant dense<1.0> : tensor<2xf6E2M3FN>
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<64xi1>) -> tensor<i64>
  return %0 : tensor<i64>
}
EOM
expect 0 check "$work/bits.mlir"
prints 'stablehlo.bitcast_convert'
prints 'stablehlo.constant'

# What is wrong is said at its line.
broken() { # NAME, then the body's lines; complains what follows on stdin
    cat >"$work/$1.mlir"
    expect 3 check "$work/$1.mlir"
}
broken axis <<'EOM'
func.func @main(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
EOM
complains "line 2.*stablehlo.transpose: attribute 'permutation': expected distinct axes below 2"
broken recursion <<'EOM'
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
EOM
complains 'a function that calls itself'
broken missing <<'EOM'
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = func.call @g(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
EOM
complains "func.call: expected the name of a function of the module, found 'g'"
broken slices <<'EOM'
func.func @main(%arg0: tensor<4xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
EOM
complains "attribute 'start_indices': expected 1 integers"

broken elements <<'EOM'
func.func @main() -> tensor<2xi32> {
  %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
EOM
complains "attribute 'value': expected elements of the result's type"
broken layouts <<'EOM'
func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @f(%arg0) {operand_layouts = [dense<[0, 1]> : tensor<2xi32>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
EOM
complains "attribute 'operand_layouts': expected a list of the orders of axes"

# Axes that are broadcast otherwise than from the last are undecided.
cat >"$work/leading.mlir" <<'EOM'
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<2x2xf32> {
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
EOM
expect 3 run "$work/leading.mlir" --fill zeros
complains 'no way to run the primitive chlo.broadcast_add'
sed 's/i64: 0/i64: 1/' "$work/leading.mlir" >"$work/trailing.mlir"
expect 0 run "$work/trailing.mlir" --fill zeros

# A type that is not what the op gives is a finding at the user's line.
cat >"$work/wrong_type.mlir" <<'EOM'
func.func @main(%arg0: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.concatenate"(%0, %0) {dimension = 0 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32> loc(#where)
  return %1 : tensor<3x4xf32>
}
#line = loc("model.py":12:5 to :20)
#jax = loc("/venv/lib/python3.11/site-packages/jax/_src/numpy/lax_numpy.py":30:1)
#f = loc("f"(#line))
#inner = loc("concatenate"(#jax))
#where = loc("jit(f)/concatenate"(callsite(#inner at #f)))
EOM
expect 1 check "$work/wrong_type.mlir"
prints 'SHP011'
prints 'model.py:12'

# What gives only known sizes is read, too, where it does something else.
cat >"$work/asserts.mlir" <<'EOM'
func.func private @rows(%a: tensor<?xf32>) -> tensor<i32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<4> : tensor<i32>
  %p = stablehlo.compare GE, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p) {error_message = "too few", has_side_effect = true} : (tensor<i1>) -> ()
  return %n : tensor<i32>
}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %n = func.call @rows(%a) : (tensor<?xf32>) -> tensor<i32>
  return %a : tensor<?xf32>
}
EOM
expect 1 check "$work/asserts.mlir"
prints 'too few'
expect 3 run "$work/asserts.mlir" --fill zeros --set arg0_0=2
complains 'too few'
cat >"$work/checks.mlir" <<'EOM'
func.func private @shape(%a: tensor<3xi32>) -> tensor<1xi32> {
  %n = stablehlo.constant dense<3> : tensor<1xi32>
  %b = stablehlo.constant dense<7> : tensor<3xi32>
  check.expect_eq %a, %b : tensor<3xi32>
  return %n : tensor<1xi32>
}
func.func @main(%a: tensor<3xi32>) -> tensor<3xi32> {
  %n = func.call @shape(%a) : (tensor<3xi32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dynamic_broadcast_in_dim %c, %n, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
EOM
expect 1 run "$work/checks.mlir" --fill zeros
prints 'expected equal to 7'
# Neither is it left out when programs are compared.
expect 0 diff "$work/asserts.mlir" "$work/asserts.mlir"
prints 'program: the same'
sed 's/dense<4>/dense<5>/' "$work/asserts.mlir" >"$work/asserts5.mlir"
expect 1 diff "$work/asserts.mlir" "$work/asserts5.mlir"
prints 'program: other effects'
expect 0 diff "$work/checks.mlir" "$work/checks.mlir"
grep -v check.expect "$work/checks.mlir" >"$work/unchecked.mlir"
expect 1 diff "$work/checks.mlir" "$work/unchecked.mlir"
prints 'old: stablehlo.custom_call'

# Devices in another order than the mesh's, parts of axes, and parts that make a
# value when added up: nobody computes that here, and it is said.
cat >"$work/mesh.mlir" <<'EOM'
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%x: tensor<2xf32>) {
    %p = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>
    %r = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %y = stablehlo.add %x, %r : tensor<2xf32>
    sdy.return %y : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
EOM
expect 0 run "$work/mesh.mlir" --fill zeros
prints '= 0 0 1 1 2 2 3 3$'
for change in 's/=4]>/=4], device_ids=[3, 2, 1, 0]>/' \
    's/=4]>/=8]>/; s/{"x"}[]]/{"x":(1)4}]/g'; do
    sed "$change" "$work/mesh.mlir" >"$work/other_mesh.mlir"
    expect 3 run "$work/other_mesh.mlir" --fill zeros
    complains 'no way to run the primitive sdy.manual_computation (in another form)'
    expect 0 check "$work/other_mesh.mlir"
    prints 'undecided.PRM001'
done
# What each device has of a result is added up.
sed 's/\(out_shardings=.<@mesh, \)[[]{"x"}[]]/\1[{}], unreduced={"x"}/
    s/-> tensor<8xf32>/-> tensor<2xf32>/; s/return %0 : tensor<8xf32>/return %0 : tensor<2xf32>/' \
    "$work/mesh.mlir" >"$work/summed_mesh.mlir"
expect 0 run "$work/summed_mesh.mlir" --fill zeros
prints '= 6 6$'

# One device gives what it gets; what several hold is not in the program.
cat >"$work/alone.mlir" <<'EOM'
module {
  func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<2xf32>, tensor<ui32>
  }
}
EOM
expect 0 run "$work/alone.mlir" --fill zeros
prints '^out1 u32\[\] = 0$'
sed 's/^module/module attributes {mhlo.num_replicas = 2 : i32}/' "$work/alone.mlir" >"$work/two.mlir"
expect 3 run "$work/two.mlir" --fill zeros
complains 'several devices take part'
sed '/all_reduce/,/^    })/d; s/return %0/return %a/' "$work/two.mlir" >"$work/two_ids.mlir"
expect 3 run "$work/two_ids.mlir" --fill zeros
complains 'several devices take part'

# The size that an axis has already may be set.
cat >"$work/set.mlir" <<'EOM'
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %n = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
EOM
expect 0 run "$work/set.mlir" --fill zeros
prints '= 0 0 0 0$'
sed 's/dense<4>/dense<3>/' "$work/set.mlir" >"$work/set_less.mlir"
expect 3 run "$work/set_less.mlir" --fill zeros
complains 'no way to run the primitive stablehlo.set_dimension_size'

# An attribute that nobody knows the meaning of here is not passed over.
cat >"$work/tilings.mlir" <<'EOM'
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Sharding", result_tilings = []} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
EOM
expect 0 run "$work/tilings.mlir" --fill zeros
sed 's/result_tilings = \[\]/result_tilings = [dense<2> : tensor<1xindex>]/' "$work/tilings.mlir" >"$work/tiled.mlir"
expect 3 run "$work/tiled.mlir" --fill zeros
complains 'stablehlo.custom_call (in another form)'

# What wraps without any size that could be named: no assignment to keep.
cat >"$work/wraps.mlir" <<'EOM'
module @m {
  func.func public @main(%arg0: tensor<50000x60000xi8>) -> tensor<i32> {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<50000x60000xi8>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<50000x60000xi8>) -> tensor<i32>
    %2 = stablehlo.multiply %0, %1 : tensor<i32>
    return %2 : tensor<i32>
  }
}
EOM
expect 0 check "$work/wraps.mlir"
prints 'IDX004.*`2147483647` is less than `3000000000`'

# An op whose name is shorter than any of StableHLO's.
cat >"$work/short.mlir" <<'EOM'
module @m {
  func.func public @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = "a.b"(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
EOM
expect 5 check --strict "$work/short.mlir"
prints 'a\.b'
