# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# What is declared of sizes, and what is advised: check, info, --where.

slice=tests/rules/SHP013_fails.jaxpr
expect 1 check "$slice"
prints 'help: declare it: symbolic_shape(..., constraints=\["n >= 4"\])$'
prints 'help: or put `n + 3` for `n` in the spec: args\[0\].shape = (n + 3,)$'
prints 'help: or slice up to core.min_dim(4, n), which is never too large$'
expect 0 check "$slice" --where 'n > 3'
prints ': 5 proved, 0 refuted'
expect 0 check "$slice" --where 'n*(n + 1) >= 20'
expect 1 check "$slice" --where 'n != 3'
prints 'the constraint `n >= 4` would make it hold$'
holds test "$(grep -c 'declare it' "$work/out")" = 0
expect 1 check "$slice" --where 'n > 2'
prints 'constraints=\["n >= 3", "n >= 4"\]'
expect 1 check "$slice" --where 'n >= 3' --where 'n < 3'
prints '^error\[SHP002\] constraints: no sizes satisfy `n >= 3` and `n < 3`$'
prints 'why: the constraints allow no sizes: n >= 3, n < 3$'
expect 0 check "$slice" --where 'n >= 8' --where 'n >= 5'
prints '^note\[SHP002\] constraints: the constraint `n >= 5` says nothing: it follows from the others$'
expect 3 check "$slice" --where 'm > 3'
complains 'no size of the program has a variable `m`'
expect 3 check "$slice" --where 'n > = 3'
complains 'column 5: expected a variable'

# A size from a division, from a comparison, from a quotient.
expect 1 check tests/rules/SHP010_fails.json.gz
prints 'help: or put `4\*n` for `n` in the spec: args\[0\].shape = (4\*n,)$'
expect 1 check tests/rules/SHP001_fails.json.gz
prints 'help: or put `b + 1` for `b` in the spec: args\[0\].shape = (b + 1, 4)$'
prints 'help: or let the running program compare: jnp.where(jnp.array(b) == 1, '

# A negative size: max_dim.
cat >"$work/pad.jaxpr" <<'EOF'
{ lambda ; a:f32[n] b:f32[]. let
    c:f32[n - 3] = pad[padding_config=((-1, -2, 0),)] a b
  in (c,) }
EOF
expect 1 check "$work/pad.jaxpr"
prints '^error\[SHP013\]'
prints 'core.max_dim(n - 3, 0)'

# Unsolvable sizes have the signature of the function that takes them.
cat >"$work/unsolvable.jaxpr" <<'EOF'
{ lambda ; a:f32[a*b,c] b:i32[c + d]. let c:f32[a*b,c] = sin a in (c, b) }
EOF
expect 1 check "$work/unsolvable.jaxpr"
prints '`a` can.t be solved from the inputs. shapes: args\[0\].shape\[0\] = a\*b is not linear in one unknown$'
prints 'def f(dimensions, x0, x1):  # dimensions: i32\[0,a,b\], x0: f32\[a\*b,c\], x1: i32\[d + c\]$'
expect 0 info "$work/unsolvable.jaxpr"
prints '^  call c = args\[0\].shape\[1\]$'
prints '^  call d = args\[1\].shape\[0\] - c$'
prints '^  call check args\[1\].shape\[0\] - c >= 1$'
prints '^  call can.t solve a\*b == args\[0\].shape\[0\]$'

# One value is no variable; what only one value suits is said once.
cat >"$work/forced.jaxpr" <<'EOF'
{ lambda ; a:f32[m,n] b:f32[4,2] c:f32[m]. let
    d:f32[4,n] = dot_general[
      dimension_numbers=(((1,), (0,)), ((), ()))
      out_sharding=None
      precision=None
      preferred_element_type=float32
    ] b a
  in (d, c) }
EOF
expect 1 check "$work/forced.jaxpr"
prints '^warning\[SHP008\] size-fixed: .*`m`, but the program works for m = 2 alone$'
holds test "$(grep -c SHP008 "$work/out")" = 1
expect 1 check "$work/forced.jaxpr" --where 'n <= 1'
prints '`n` is declared as a variable, but the constraints leave it the one value n = 1$'
