// Ops, attributes and forms of StableHLO 1.16 to 1.22 and of the shardy beside it;
// most of them JAX 0.10.2 does not read.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @reductions(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  %1 = sdy.reduce_scatter min [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  %3 = "sdy.reduce_scatter"(%2) <{out_sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>, reduce_scatter_axes = #sdy<list_of_axis_ref_lists[{}, {"x"}]>, reduction_op = 1 : i32}> : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @unreduced(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x", "y"}>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"y"}, unreduced=min{"x"}>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}], unreduced=max{"x", "y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// -----
func.func @compared(%a: tensor<4xf32>, %b: tensor<4xbf16>, %c: tensor<2x4xf8E5M2>) -> (tensor<4xi1>, tensor<4xi1>, tensor<2x4xi1>) {
  %0 = stablehlo.compare EQ, %a, %a, WEAKORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.compare LT, %b, %b, WEAKORDER : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %2 = "stablehlo.compare"(%c, %c) <{compare_type = #stablehlo<comparison_type WEAKORDER>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2x4xf8E5M2>, tensor<2x4xf8E5M2>) -> tensor<2x4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<2x4xi1>
}
// -----
func.func @top(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %v, %i = chlo.top_k(%a, k = 2, is_stable = false) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %x, %k = chlo.top_k(%v, k = 2) : tensor<2xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %x, %k : tensor<2xf32>, tensor<2xi32>
}
// -----
func.func @broadcasts(%a: tensor<4xf32>, %b: tensor<2x2xi8>) -> (tensor<4xf32>, tensor<2x2xi8>) {
  %0:2 = "stablehlo.collective_broadcast"(%a, %b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<2x2xi8>) -> (tensor<4xf32>, tensor<2x2xi8>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<2x2xi8>
}
// -----
func.func @roots(%a: tensor<4xf32>, %r: tensor<1xi32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%a, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @reduced(%a: tensor<4xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_reduce"(%a) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.collective_reduce"(%0, %b) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return %1#0 : tensor<4xf32>
}
// -----
func.func @rooted(%a: tensor<4xf32>, %r: tensor<1xi32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_reduce"(%a, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.minimum %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @tiled(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.custom_call @foo(%a) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], result_tilings = [[dense<[8, 2]> : tensor<2xindex>, dense<2> : tensor<1xindex>]]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @foo(%0) {result_tilings = []} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.custom_call @foo(%1) {backend_config = {a = 1 : i64}, api_version = 4 : i32} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// -----
func.func @started(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<4xf32>):
    %w = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %w : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
func.func @float8(%a: tensor<1x8x8x4xf8E4M3FN>, %b: tensor<3x3x4x2xf8E5M2>) -> tensor<1x6x6x2xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf8E4M3FN>, tensor<3x3x4x2xf8E5M2>) -> tensor<1x6x6x2xf32>
  return %0 : tensor<1x6x6x2xf32>
}
// -----
func.func @algorithm(%a: tensor<2x3xf8E4M3FN>, %b: tensor<3x2xf8E4M3FN>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E4M3FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf8E4M3FN>, tensor<3x2xf8E4M3FN>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// -----
func.func private @f(%a: tensor<4xf32>) -> tensor<f32>
func.func @composed(%a: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.composite "a.r" %a ({
  ^bb0(%b: tensor<4xf32>):
    %1 = stablehlo.constant dense<0.0> : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {decomposition = @f} : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @groups(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">, #stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "p", size = 2>, <name = "q", size = 3>], device_ids=dense<[5, 4, 3, 2, 1, 0]> : tensor<6xi64>>, axes = [#stablehlo.axis_ref<name = "p">]>}> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = "stablehlo.reduce_scatter"(%1) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>]>, scatter_dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %4 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// -----
module @seen <sym_visibility = "private"> attributes {a.b} {
}
