# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Custom calls: what a program expects of itself, and targets that nobody knows.
checks() { # FILE, CALL, PARAMETERS, VALUES
    cat >"$work/$1.jaxpr" <<EOF
{ lambda ; a:f32[2,3] b:f32[2,3]. let
    c:f32[2,3] = mul a 0.0:f32[]
    d:f32[2,3] = mul b 0.0:f32[]
    e:f32[2,3] = add c $3
    f:f32[2,3] = add d $4
    stablehlo.custom_call[call_target_name=$2 has_side_effect=True] e f
  in (e,) }
EOF
}

checks same check.expect_eq 1.5:f32[] 1.5:f32[]
expect 0 run "$work/same.jaxpr" --fill random:1
prints '^out0 f32\[2,3\] = 1.5'
checks other check.expect_eq 1.5:f32[] 1.25:f32[]
expect 1 run "$work/other.jaxpr" --fill random:1
prints 'expects another result: element \[0,0\] is 1.5, expected equal to 1.25'
# Zeros differ in their sign, NaNs agree.
checks zeros check.expect_eq 0.0:f32[] 0.0:f32[]
expect 0 run "$work/zeros.jaxpr" --fill zeros
checks nans check.expect_close nan:f32[] nan:f32[]
expect 0 run "$work/nans.jaxpr" --fill zeros
checks nan check.expect_almost_eq nan:f32[] 1.0:f32[]
expect 1 run "$work/nan.jaxpr" --fill zeros
# Close is three floats apart, almost is 0.001.
checks close check.expect_close 1.0:f32[] 1.0000003:f32[]
expect 0 run "$work/close.jaxpr" --fill zeros
checks far check.expect_close 1.0:f32[] 1.000001:f32[]
expect 1 run "$work/far.jaxpr" --fill zeros
prints 'is 1, expected close to 1.00000095'
checks almost check.expect_almost_eq 1.0:f32[] 1.0009:f32[]
expect 0 run "$work/almost.jaxpr" --fill zeros
checks not check.expect_almost_eq 1.0:f32[] 1.002:f32[]
expect 1 run "$work/not.jaxpr" --fill zeros
prints 'is 1, expected almost equal to 1.00199997'

# An unknown target is named, its results are an assumption.
cat >"$work/mine.jaxpr" <<'EOF'
{ lambda ; a:f32[n]. let
    b:f32[3] = stablehlo.custom_call[call_target_name=mine] a
    c:f32[3] = add b 1.0:f32[]
  in (c,) }
EOF
expect 3 run "$work/mine.jaxpr" --set n=2 --fill zeros
complains 'there is no way to run the custom call @mine'
expect 0 check "$work/mine.jaxpr"
prints 'PRM001'
prints 'stablehlo.custom_call @mine'
prints 'have their declared types'

# Devices that take different branches around a collective wait for ever.
branches() { # FILE, INDEX
    cat >"$work/$1.jaxpr" <<EOF
{ lambda ; a:f32[8]. let
    b:f32[8] = sdy.manual_computation[
      in_shardings=((('x',),),)
      jaxpr={ lambda ; c:f32[2]. let
          d:u32[] = stablehlo.partition_id
          e:u32[] = $2
          f:i32[] = convert_element_type[new_dtype=int32 weak_type=False] e
          g:f32[2] = cond[
            branches=(
              { lambda ; h:f32[2]. let in (h,) }
              { lambda ; h:f32[2]. let
                  i:f32[2] = stablehlo.collective_permute[source_target_pairs=((0, 1), (1, 0))] h
                in (i,) }
            )
          ] f c
        in (g,) }
      manual_axes=('x',)
      mesh=Mesh('x': 4)
      out_shardings=((('x',),),)
    ] a
  in (b,) }
EOF
}

branches together 'mul d 0:u32[]'
expect 0 run "$work/together.jaxpr" --fill zeros
branches apart 'min d 1:u32[]'
expect 3 run "$work/apart.jaxpr" --fill zeros
complains 'devices go separate ways around a collective'

# Outside of such a computation there is one device.
cat >"$work/alone.jaxpr" <<'EOF'
{ lambda ; a:f32[2]. let
    b:f32[2] = stablehlo.collective_permute[source_target_pairs=((0, 0),)] a
  in (b,) }
EOF
expect 0 run "$work/alone.jaxpr" --fill zeros
sed 's/(0, 0)/(0, 1)/' "$work/alone.jaxpr" >"$work/others.jaxpr"
expect 3 run "$work/others.jaxpr" --fill zeros
complains 'several devices take part'

# What is checked in a call or a loop is checked though nobody needs results.
cat >"$work/nested.jaxpr" <<'EOF'
{ lambda ; a:f32[2]. let
    _:f32[2] = jit[
      name=checked
      jaxpr={ lambda ; b:f32[2]. let
          stablehlo.custom_call[call_target_name=check.expect_eq] b 1.0:f32[]
        in (b,) }
    ] a
  in (a,) }
EOF
sed -i 's/ b 1.0:f32\[\]/ b c/; s/let$/let/; s/          stable/          c:f32[2] = add b 1.0:f32[]\n          stable/' "$work/nested.jaxpr"
expect 1 run "$work/nested.jaxpr" --fill zeros
cat >"$work/loop.jaxpr" <<'EOF'
{ lambda ; a:f32[2]. let
    _:i32[] = while[
      body_jaxpr={ lambda ; b:f32[2] c:i32[]. let
          d:f32[2] = add b 1.0:f32[]
          stablehlo.custom_call[call_target_name=check.expect_eq] b d
          e:i32[] = add c 1:i32[]
        in (e,) }
      body_nconsts=1
      cond_jaxpr={ lambda ; c:i32[]. let d:bool[] = lt c 3:i32[] in (d,) }
      cond_nconsts=0
    ] a 0:i32[]
  in (a,) }
EOF
expect 1 run "$work/loop.jaxpr" --fill zeros
prints 'element \[0\] is 0, expected equal to 1'

# LAPACK complains on the terminal where there is nothing to do.
cat >"$work/empty.mlir" <<'EOF'
func.func @main(%a: tensor<2x0x0xf32>) -> (tensor<2x0x0xf32>, tensor<2xi32>) {
  %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x0x0xf32>) -> (tensor<2x0x0xf32>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2x0x0xf32>, tensor<2xi32>
}
EOF
expect 0 run "$work/empty.mlir" --fill zeros
prints '^out1 i32\[2\] = 0 0$'
if grep -q 'illegal value' "$work/out" "$work/err"; then fail "LAPACK complains"; else pass; fi
