// Every pretty form, in chunks that MLIR's own reader takes, too.
func.func @unary(%a: tensor<2x3xf32>, %i: tensor<2xi32>, %z: tensor<2xcomplex<f32>>) -> tensor<2x3xf32> {
  %0 = stablehlo.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = stablehlo.cbrt %a : tensor<2x3xf32>
  %2 = stablehlo.ceil %a : tensor<2x3xf32>
  %3 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %4 = stablehlo.cosine %a : tensor<2x3xf32>
  %5 = stablehlo.count_leading_zeros %i : tensor<2xi32>
  %6 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
  %7 = stablehlo.exponential_minus_one %a : tensor<2x3xf32>
  %8 = stablehlo.floor %a : tensor<2x3xf32>
  %9 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %10 = stablehlo.log %a : tensor<2x3xf32>
  %11 = stablehlo.log_plus_one %a : tensor<2x3xf32>
  %12 = stablehlo.logistic %a : tensor<2x3xf32>
  %13 = stablehlo.negate %a : tensor<2x3xf32>
  %14 = stablehlo.not %i : tensor<2xi32>
  %15 = stablehlo.popcnt %i : tensor<2xi32>
  %16 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %17 = stablehlo.round_nearest_afz %a : tensor<2x3xf32>
  %18 = stablehlo.round_nearest_even %a : tensor<2x3xf32>
  %19 = stablehlo.rsqrt %a : tensor<2x3xf32>
  %20 = stablehlo.sign %a : tensor<2x3xf32>
  %21 = stablehlo.sine %a : tensor<2x3xf32>
  %22 = stablehlo.sqrt %a : tensor<2x3xf32>
  %23 = stablehlo.tan %a : tensor<2x3xf32>
  %24 = stablehlo.tanh %a {some.attr} : tensor<2x3xf32>
  %25 = stablehlo.is_finite %a : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %26 = stablehlo.reduce_precision %a, format = e5m10 : tensor<2x3xf32>
  func.return %24 : tensor<2x3xf32>
}
func.func @binary(%a: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>, %s: tensor<f32>) {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  %1 = stablehlo.and %i, %i : tensor<2xi32>
  %2 = stablehlo.atan2 %a, %a : tensor<2xf32>
  %3 = stablehlo.divide %a, %a : tensor<2xf32>
  %4 = stablehlo.maximum %a, %a : tensor<2xf32>
  %5 = stablehlo.minimum %a, %a : tensor<2xf32>
  %6 = stablehlo.multiply %a, %a : tensor<2xf32>
  %7 = stablehlo.or %p, %p : tensor<2xi1>
  %8 = stablehlo.power %a, %a : tensor<2xf32>
  %9 = stablehlo.remainder %i, %i : tensor<2xi32>
  %10 = stablehlo.shift_left %i, %i : tensor<2xi32>
  %11 = stablehlo.shift_right_arithmetic %i, %i : tensor<2xi32>
  %12 = stablehlo.shift_right_logical %i, %i : tensor<2xi32>
  %13 = stablehlo.subtract %a, %a : tensor<2xf32>
  %14 = stablehlo.xor %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %15 = stablehlo.complex %a, %a : tensor<2xcomplex<f32>>
  %16 = stablehlo.complex %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %17 = stablehlo.compare LT, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %18 = stablehlo.compare GE, %i, %i, SIGNED {my.note = "x"} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  %19 = stablehlo.select %p, %a, %a : tensor<2xi1>, tensor<2xf32>
  %20 = stablehlo.select %p, %a, %a : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %21 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %22 = stablehlo.clamp %a, %a, %a : tensor<2xf32>
  return
}
// -----
func.func @shapes(%a: tensor<2x3xf32>, %s: tensor<2xi32>, %i: tensor<i32>, %f: tensor<f32>, %d: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<4x5xi32>
  %1 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.slice %a [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %3 = stablehlo.slice %f [] : (tensor<f32>) -> tensor<f32>
  %4 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %5 = stablehlo.dynamic_update_slice %a, %4, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %6 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %7 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %8 = stablehlo.dynamic_reshape %a, %s : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %9 = stablehlo.real_dynamic_slice %a, %s, %s, %s : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %10 = stablehlo.dynamic_pad %a, %f, %s, %s, %s : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %11 = stablehlo.broadcast %a, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %12 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %13 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %14 = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] {known_expanding_dimensions = array<i64>} : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %15 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %16 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %17 = stablehlo.set_dimension_size %a, %i, dim = 0 : (tensor<2x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<2, ?>>
  %18 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>
  %19 = stablehlo.pad %a, %f, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %20 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %21:2 = stablehlo.optimization_barrier %a, %20 : tensor<2x3xf32>, tensor<3x2xf32>
  stablehlo.optimization_barrier ()
  %22 = stablehlo.tuple %a, %f : tuple<tensor<2x3xf32>, tensor<f32>>
  %23 = stablehlo.get_tuple_element %22[1] : (tuple<tensor<2x3xf32>, tensor<f32>>) -> tensor<f32>
  %24 = stablehlo.tuple : tuple<>
  return %21#0, %18 : tensor<2x3xf32>, tensor<2x3xf32>
}
// -----
func.func @more(%a: tensor<4x4xf32>, %k: tensor<2xui64>, %f: tensor<f32>, %n: tensor<2xi64>, %x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  %3 = stablehlo.replica_id : tensor<ui32>
  %4 = stablehlo.partition_id {a.b = 1 : i64} : tensor<ui32>
  %5 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %6 = stablehlo.cholesky %a : tensor<4x4xf32>
  %7 = stablehlo.dot %a, %a, precision = [HIGH, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = stablehlo.dot %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %11 = stablehlo.dot_general %a, %a, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4x4x4xf32>
  %12 = stablehlo.einsum %a, %a, config = "ab,bc->ac" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %13 = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<4x4xf32>) -> tensor<4xf32>
  %14 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
  %15 = stablehlo.rng %f, %f, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %16:2 = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  %17 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x3x6x16xf32>
  %18 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  %19 = stablehlo.custom_call @foo(%a) {api_version = 2 : i32, backend_config = "", called_computations = [@more], has_side_effect = true, mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  stablehlo.custom_call @"odd name"() : () -> ()
  %20 = stablehlo.composite "my.op" %a, %f {composite_attributes = {n = 1 : i64, s = "x"}, decomposition = @decomposed, version = 2 : i32} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
func.func @without_precision(%a: tensor<4x4xf32>) {
  %0 = stablehlo.dot %a, %a, precision = [] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0], precision = [] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
func.func private @decomposed(%a: tensor<4x4xf32>, %f: tensor<f32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
// -----
func.func @control(%a: tensor<2x3xf32>, %z: tensor<f32>, %i: tensor<i32>, %n: tensor<i32>, %p: tensor<i1>, %j: tensor<2x3xi32>) -> tensor<i32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %1:2 = stablehlo.reduce(%a init: %z), (%j init: %i) across dimensions = [1] {a.b} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%x: tensor<f32>, %xa: tensor<f32>) (%y: tensor<i32>, %ya: tensor<i32>)  {
    %10 = stablehlo.maximum %x, %xa : tensor<f32>
    %11 = stablehlo.add %y, %ya : tensor<i32>
    stablehlo.return %10, %11 : tensor<f32>, tensor<i32>
  }
  %2:2 = stablehlo.while(%c = %i, %m = %n) : tensor<i32>, tensor<i32> attributes {a.b = "x"}
    cond {
    %10 = stablehlo.compare LT, %c, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %10 : tensor<i1>
  } do {
    %10 = stablehlo.add %c, %i : tensor<i32>
    stablehlo.return %10, %m : tensor<i32>, tensor<i32>
  }
  %3:2 = "stablehlo.case"(%i) ({
    stablehlo.return %z, %i : tensor<f32>, tensor<i32>
  }, {
    %10 = stablehlo.constant dense<1.5> : tensor<f32>
    stablehlo.return %10, %n : tensor<f32>, tensor<i32>
  }) : (tensor<i32>) -> (tensor<f32>, tensor<i32>)
  %4 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }, {
    "stablehlo.return"(%3#1) : (tensor<i32>) -> ()
  }) : (tensor<i1>) -> tensor<i32>
  %5 = call @callee(%4) {x.y = 1 : i64} : (tensor<i32>) -> tensor<i32>
  %14 = func.call @callee(%5) : (tensor<i32>) -> tensor<i32>
  %6 = func.constant @callee : (tensor<i32>) -> tensor<i32>
  %7 = func.call_indirect %6(%5) : (tensor<i32>) -> tensor<i32>
  %8 = builtin.unrealized_conversion_cast %7 : tensor<i32> to tensor<i32> {a.b}
  %9 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %10 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %10 : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %8 : tensor<i32>
}
func.func private @callee(tensor<i32> {a.b = "x"}) -> (tensor<i32> {c.d})
func.func nested @empty() attributes {some.thing = unit}  {
  return
}
// -----
func.func @chlo(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %p: tensor<2x3xi1>, %i: tensor<2xi32>) {
  %0 = chlo.acos %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = chlo.acosh %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = chlo.asin %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = chlo.asinh %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %4 = chlo.atan %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %5 = chlo.atanh %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %6 = chlo.bessel_i1e %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %7 = chlo.conj %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %8 = chlo.cosh %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %9 = chlo.digamma %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %10 = chlo.erf %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %11 = chlo.erf_inv %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %12 = chlo.erfc %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %13 = chlo.is_inf %a : tensor<2x3xf32> -> tensor<2x3xi1>
  %14 = chlo.is_neg_inf %a : tensor<2x3xf32> -> tensor<2x3xi1>
  %15 = chlo.is_pos_inf %a : tensor<2x3xf32> -> tensor<2x3xi1>
  %16 = chlo.lgamma %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %17 = chlo.sinh %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %18 = chlo.square %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %19 = chlo.tan %a : tensor<2x3xf32> -> tensor<2x3xf32>
  %20 = chlo.next_after %a, %a : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %21 = chlo.polygamma %a, %a : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %22 = chlo.zeta %a, %a : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %23:2 = chlo.top_k(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %24 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %25 = chlo.broadcast_and %p, %p : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %26 = chlo.broadcast_atan2 %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %27 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type FLOAT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %28 = chlo.broadcast_complex %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  %29 = chlo.broadcast_divide %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %30 = chlo.broadcast_maximum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %31 = chlo.broadcast_minimum %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %32 = chlo.broadcast_multiply %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %33 = chlo.broadcast_next_after %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %34 = chlo.broadcast_or %p, %p : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %35 = chlo.broadcast_polygamma %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %36 = chlo.broadcast_power %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %37 = chlo.broadcast_remainder %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %38 = chlo.broadcast_select %p, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %39 = chlo.broadcast_shift_left %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %40 = chlo.broadcast_shift_right_arithmetic %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %41 = chlo.broadcast_shift_right_logical %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %42 = chlo.broadcast_subtract %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %43 = chlo.broadcast_xor %p, %p : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %44 = chlo.broadcast_zeta %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %45 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  %46 = "chlo.constant_like"(%a) {value = 3.2 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
module @sharded attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @permuted = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
  sdy.mesh @ordered = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>
  sdy.mesh @one = <[], device_ids=[3]>
  sdy.mesh @none = <[]>
  func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"y":(2)2}>}, %b: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {?}]>}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %1 = sdy.reshard %0 <@mesh, [{}, {"y"}], unreduced={"x"}> : tensor<8x8xf32>
    %2 = sdy.manual_computation(%1, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x8xf32>, %d: tensor<8x8xf32>) {
      %10 = stablehlo.add %c, %c : tensor<4x8xf32>
      sdy.return %10 : tensor<4x8xf32>
    } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.sharding_group %2 group_id=21 : tensor<8x8xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8x8xf32>
    %4 = sdy.named_computation<"f">(%3) in_shardings=[<@mesh, [{"x"}, {}]>] (%c: tensor<8x8xf32>) {
      sdy.return %c : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = stablehlo.add %4, %4 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8}, custom>} : tensor<8x8xf32>
    %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %7 = sdy.data_flow_edge %6 sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %10 = stablehlo.add %a, %b : tensor<8x8xf32>
    %8 = sdy.data_flow_edge %10 : tensor<8x8xf32>
    %9 = sdy.constant dense<1.0> : tensor<8x8xf32>
    return %8 : tensor<8x8xf32>
  }
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @collectives(%a: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x2xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x2xf32>
  %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x2xf32>
  %2 = sdy.all_to_all [{"y"}: 0->1] %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x2xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x2xf32>
  %4 = sdy.all_reduce {"y"} %3 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x2xf32>
  %5 = sdy.reduce_scatter [{"y"}, {}] %4 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x2xf32>
  return %5 : tensor<16x2xf32>
}
// -----
func.func @scans(%a: tensor<4x2xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %0:3 = chlo.scan(%a, %a) inits (%c) dimension=0 {
  ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>):
    %10 = stablehlo.add %x, %z : tensor<2xf32>
    stablehlo.return %10, %y, %10 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<2xf32>)
  %1:2 = chlo.scan(%a) inits (%c) dimension=0 attributes {a.b, is_reverse = true} {
  ^bb0(%x: tensor<2xf32>, %z: tensor<2xf32>):
    stablehlo.return %x, %z : tensor<2xf32>, tensor<2xf32>
  } : (tensor<4x2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>)
  %2 = func.constant {a.b} @scans : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = func.constant @scans : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = call_indirect %3(%a, %c) {a.b} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5:2 = builtin.unrealized_conversion_cast to tensor<2xf32>, tensor<f32>
  %6 = chlo.constant {a.b} dense<1.0> : tensor<2xf32>
  return %4 : tensor<2xf32>
}
