// What is not a pretty form: attributes, types, locations, aliases, constants.
#loc = loc(unknown)
#loc1 = loc("in.py":12:3)
#loc2 = loc("in.py":12:3 to :9)
#loc3 = loc("in.py":12:3 to 14:2)
#loc4 = loc("scope"(#loc1))
#loc5 = loc(callsite(#loc4 at callsite(#loc2 at "main.py":1:0)))
#loc6 = loc(fused[#loc1, "x"])
#loc7 = loc(fused<"meta">[#loc3])
#dims = array<i64: 1, 0>
!t = tensor<2x3xf32>
!f = (!t) -> !t
module @rest attributes {a.array = [1, -2 : i8, 3.5, "x", @f, @f::@g, unit, true, i32, tensor<*xf32>], a.dict = {b = {}, "odd name" = 1 : ui64, most = 18446744073709551615 : ui64, wide = 5 : i100, less = -5 : si65}} {
  func.func @f(%arg0: !t loc("x"), %arg1: !t {jax.arg = "y"} loc(#loc1)) -> !t {
    %0 = stablehlo.transpose %arg0, dims = #dims : (!t) -> tensor<3x2xf32> loc(#loc8)
    "test.graph"(%arg1) {one, two.three = 0x7FC00000 : f32} : (!t) -> () loc(#loc5)
    return %arg1 : !t loc(#loc9)
  } loc(#loc6)
} loc(#loc7)
#loc8 = loc("late"(#loc7))
#loc9 = loc(#loc8)
// -----
func.func @constants() {
  %0 = stablehlo.constant dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi32>
  %1 = stablehlo.constant dense<"0x0100FF7F"> : tensor<2xi16>
  %2 = stablehlo.constant dense<> : tensor<0x3xf32>
  %3 = stablehlo.constant dense<[[], []]> : tensor<2x0xf32>
  %4 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %5 = stablehlo.constant dense<(1.0, -2.5)> : tensor<2xcomplex<f32>>
  %6 = stablehlo.constant dense<[(1.0, 2.0), (0x7F800000, 0xFFC00000)]> : tensor<2xcomplex<f32>>
  %7 = stablehlo.constant dense<[0.1, 1.0e-3, 448.0]> : tensor<3xf8E4M3FN>
  %8 = stablehlo.constant dense<0xFF80> : tensor<2x2xbf16>
  %9 = stablehlo.constant dense<[18446744073709551615, 0xFF]> : tensor<2xui64>
  %10 = stablehlo.constant dense<"0xFF"> : tensor<9xi1>
  %11 = stablehlo.constant dense_resource<blob> : tensor<2xi32>
  %12 = stablehlo.constant() <{value = dense<1> : tensor<i32>}> {a.b} : () -> tensor<i32>
  %13 = stablehlo.constant {note.x = array<f32: 1.0, 2.5>, note.y = array<i1: true, false>, note.z = array<i8>} dense<[3,
     // a comment with > in it
     4]> : tensor<2xi4>
  %14:3 = "test.three"() : () -> (tensor<i32>, index, none)
  %15 = "test.types"(%14#0) : (tensor<i32>) -> tuple<tensor<2x?xf32, #stablehlo.bounds<?, 5>>, !stablehlo.token, memref<2xf32>, memref<2xf32, 1>, vector<4xf32>, complex<f64>, si8, ui4, f8E5M2, !stablehlo.future<tensor<2xf32>>>
  return
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000100000002000000"
    }
  }
#-}
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> i32, sym_name = "blocks"}> ({
  ^bb0(%arg0: i1):
    "test.cond_br"(%arg0)[^bb2, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:
    "test.br"(%later)[^bb3] : (i32) -> ()
  ^bb2:
    %later = "test.value"() : () -> i32
    "test.br"()[^bb1] : () -> ()
  ^bb3(%0: i32):
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
func.func @records(%x: tensor<3x4x2xf32>, %s: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>, %l: tensor<1x4x2xf32>, %r: tensor<1x2x3xf32>, %g: tensor<1xi64>, %v: tensor<1x8x4xf32>, %w: tensor<3x4x16xf32>) -> tensor<3x4x2xf32> {
  %0 = "stablehlo.gather"(%x, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xf32>
  %1 = "stablehlo.scatter"(%x, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  %2 = "chlo.ragged_dot"(%l, %r, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = []>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]} : (tensor<1x4x2xf32>, tensor<1x2x3xf32>, tensor<1xi64>) -> tensor<1x1x4x3xf32>
  %3 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<3x4x2xf32>) -> tensor<3x8x2xf32>
  %4 = "stablehlo.convolution"(%v, %w) {old.style = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1], kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0], output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>, batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return %1 : tensor<3x4x2xf32>
}
