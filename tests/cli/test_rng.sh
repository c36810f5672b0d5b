# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Random numbers that nobody prescribes are the same in every run, within their
# bounds, and each equation has its own.
cat >"$work/rng.jaxpr" <<'EOF'
{ lambda ; . let
    a:f32[1000] = stablehlo.rng[rng_distribution=UNIFORM shape=(1000,)] 2.0:f32[] 5.0:f32[]
    b:f32[1000] = stablehlo.rng[rng_distribution=UNIFORM shape=(1000,)] 2.0:f32[] 5.0:f32[]
    c:i8[1000] = stablehlo.rng[rng_distribution=UNIFORM shape=(1000,)] -3:i8[] 4:i8[]
    d:f64[1000] = stablehlo.rng[rng_distribution=NORMAL shape=(1000,)] 10.0:f64[] 0.5:f64[]
    e:f32[] = reduce_min[axes=(0,) out_sharding=None] a
    f:f32[] = reduce_max[axes=(0,) out_sharding=None] a
    g:i8[] = reduce_min[axes=(0,) out_sharding=None] c
    h:i8[] = reduce_max[axes=(0,) out_sharding=None] c
    i:bool[] = ge e 2.0:f32[]
    j:bool[] = lt f 5.0:f32[]
    k:bool[1000] = eq a b
    l:bool[] = reduce_and[axes=(0,) out_sharding=None] k
    m:f64[] = reduce_sum[axes=(0,) out_sharding=None] d
    n:f64[] = sub m 10000.0:f64[]
    o:f64[] = abs n
    p:bool[] = lt o 60.0:f64[]
  in (a, g, h, i, j, l, p) }
EOF
expect 0 run "$work/rng.jaxpr"
prints '^out1 i8\[\] = -3$'
prints '^out2 i8\[\] = 3$'
prints '^out3 bool\[\] = True$'
prints '^out4 bool\[\] = True$'
prints '^out5 bool\[\] = False$'
prints '^out6 bool\[\] = True$'
cp "$work/out" "$work/first"
expect 0 run "$work/rng.jaxpr"
holds cmp -s "$work/out" "$work/first"

# An equation in a loop draws anew at each turn, and another --seed gives other
# numbers; the seed is told.
cat >"$work/turns.jaxpr" <<'EOF'
{ lambda ; . let
    _:i32[] a:f32[] b:f32[] = while[
      body_jaxpr={ lambda ; c:i32[] d:f32[] e:f32[]. let
          f:f32[] = stablehlo.rng[rng_distribution=UNIFORM shape=()] 0.0:f32[] 1.0:f32[]
          g:i32[] = add c 1:i32[]
        in (g, f, d) }
      body_nconsts=0
      cond_jaxpr={ lambda ; c:i32[] d:f32[] e:f32[]. let h:bool[] = lt c 5:i32[] in (h,) }
      cond_nconsts=0
    ] 0:i32[] 0.0:f32[] 0.0:f32[]
    i:bool[] = eq a b
  in (i, a) }
EOF
expect 0 run "$work/turns.jaxpr"
prints '^out0 bool\[\] = False$'
prints '^5 arrays were drawn .* --seed 0$'
cp "$work/out" "$work/first"
expect 0 run "$work/turns.jaxpr" --seed 0
holds cmp -s "$work/out" "$work/first"
expect 0 run "$work/turns.jaxpr" --seed 9000000000
prints '^5 arrays were drawn .* --seed 9000000000$'
grep '^out1' "$work/out" >"$work/other"
grep '^out1' "$work/first" >"$work/zero"
holds [ "$(cat "$work/other")" != "$(cat "$work/zero")" ]
expect 0 run "$work/turns.jaxpr" --bench 3
expect 0 run "$work/turns.jaxpr" --domain wide
prints '^out0 bool\[\] = False$'
# What was drawn with one seed is expected with the same.
expect 0 run "$work/turns.jaxpr" --seed 7 --outputs "$work/seven.npz"
expect 0 run "$work/turns.jaxpr" --seed 7 --expect "$work/seven.npz"
expect 1 run "$work/turns.jaxpr" --seed 8 --expect "$work/seven.npz"

# Two that nobody can tell apart are still two.
cat >"$work/two.mlir" <<'EOM'
func.func @main() -> tensor<4xf32> {
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %1 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
EOM
sed 's/subtract %0, %1/subtract %0, %0/' "$work/two.mlir" >"$work/one.mlir"
expect 0 diff "$work/two.mlir" "$work/two.mlir"
expect 1 diff "$work/two.mlir" "$work/one.mlir"


# Keys of which StableHLO knows nothing are no others.
cat >"$work/philox.jaxpr" <<'EOF'
{ lambda ; a:i64[4]. let
    b:key<phx2>[4] = random_seed[impl=philox2x32] a
    c:u32[4,1] = random_unwrap b
  in (c,) }
EOF
expect 0 run "$work/philox.jaxpr" --fill zeros
expect 3 show "$work/philox.jaxpr" --as stablehlo
complains 'keys of philox2x32 have no StableHLO form'

# Lowered, samples of gamma and bits in two ways are the same at sizes that only the
# inputs have.
cat >"$work/gamma.jaxpr" <<'EOF'
{ lambda ; a:u32[b,2] x:f32[b,c]. let
    k:key<fry>[b] = random_wrap[impl=fry] a
    y:f32[b,c] = random_gamma[log_space=False] k x
    z:u8[b,2*c + 1,3] = random_bits[bit_width=8 shape=(2*c + 1, 3)] k
  in (y, z) }
EOF
expect 0 show "$work/gamma.jaxpr" --as stablehlo
cp "$work/out" "$work/gamma.mlir"
expect 0 run "$work/gamma.jaxpr" --fill random:1 --shape 3,2 --shape 3,4
grep '^out' "$work/out" >"$work/first"
expect 0 run "$work/gamma.mlir" --fill random:1 --shape 3,2 --shape 3,4
grep '^out' "$work/out" >"$work/other"
holds cmp -s "$work/first" "$work/other"
holds test "$(wc -l <"$work/first")" -eq 2
