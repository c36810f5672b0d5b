"""What frontend/ir/prims.def has a row for; scripts/primitives.py writes this."""

PRIMITIVES = frozenset("""
abs acos acosh add add_any addupdate all_gather all_gather_invariant
all_to_all and approx_top_k argmax argmin asin asinh atan atan2 atanh
axis_index bessel_i0e bessel_i1e bitcast_convert_type broadcast_in_dim
broadcast_to call_exported call_hi_primitive call_hi_primitive_linearized
call_library_primitive cbrt ceil checkpoint cholesky clamp closed_call clz
complex composite concatenate cond conj conv_general_dilated
convert_element_type copy copy_p core_call cos cosh cumlogsumexp cummax
cummin cumprod cumsum custom_jvp_call custom_lin custom_linear_solve
custom_vjp_call custom_vmap_call dce_sink debug_callback debug_print
device_put digamma dim_as_value dimension_size div dot_general dynamic_slice
dynamic_update_slice eig eigh empty empty2 empty_ref eq eq_to erf erf_inv
erfc eval_jaxpr exp exp2 expand_dims expm1 fft floor free_ref freeze gather
ge geqrf get gt hessenberg householder_product igamma igamma_grad_a igammac
imag integer_pow io_callback iota iota_2x32_shape is_finite jit
layout_constraint le le_to lgamma linear_call log log1p log2 logistic lt
lt_to lu lu_pivots_to_permutation max min mul mulhi name ne neg new_ref
nextafter not one_minus_square optimization_barrier or ormqr pad pbroadcast
pjit platform_index pmax pmin polygamma polynomial population_count pow
ppermute program_order psum psum_invariant pure_callback pvary qr
ragged_all_to_all ragged_dot_general random_bits random_clone random_fold_in
random_gamma random_gamma_grad random_seed random_split random_unwrap
random_wrap real reduce reduce_and reduce_max reduce_min reduce_or
reduce_precision reduce_prod reduce_scatter reduce_sum reduce_window
reduce_window_max reduce_window_min reduce_window_sum reduce_xor
regularized_incomplete_beta relayout rem remat2 remat_opt reshape reshard
rev rng_bit_generator rng_uniform round rsqrt run_state scan scatter
scatter-add scatter-max scatter-min scatter-mul scatter-sub schur
select_and_gather_add select_and_scatter_add select_n shape_assertion
shard_map sharding_constraint shift_left shift_right_arithmetic
shift_right_logical sign sin sinh slice sort split sqrt square squeeze stack
stop_gradient sub svd swap tan tanh threefry2x32 tile top_k transpose
triangular_solve tridiagonal tridiagonal_solve unstack while xor zeta
""".split())
