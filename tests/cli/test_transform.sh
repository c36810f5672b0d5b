# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet show --transform: a program at sizes is that program, run or printed.
program=tests/host/scale.json

expect 0 show "$program" --transform set:b=4
prints '^{ lambda ; a:f32\[4,3\]'
expect 0 show "$program" --transform set:b=4 --as json -o "$work/four.json"
holds test -z "$(grep "b >= 2" "$work/four.json")"
expect 0 show "$work/four.json" --as json -o "$work/again.json"
holds cmp -s "$work/four.json" "$work/again.json"
expect 0 run "$program" --set b=4 --outputs "$work/set.npz"
expect 0 run "$work/four.json" --expect "$work/set.npz" --bits
prints '^2 of 2 outputs as expected$'
expect 0 check "$work/four.json"

# What can't be is refused, by name.
expect 3 show "$program" --transform set:b=1
complains 'b >= 2'
expect 2 show "$program" --transform set:n=1
complains 'there are b'
expect 2 show "$program" --transform set:b=4,b=5
complains 'has a size already'
expect 2 show "$program" --transform set:b
expect 2 show "$program" --transform grad
complains 'set:NAME=SIZE'

# Several sizes, in one word or several; some, and the rest stays symbolic.
cat >"$work/two.jaxpr" <<'END'
{ lambda ; a:f32[b,t]. let c:f32[b,t] = sin a in (c,) }
END
expect 0 show "$work/two.jaxpr" --transform set:b=2,t=3
prints 'a:f32\[2,3\]'
expect 0 show "$work/two.jaxpr" --transform set:t=3 --transform set:b=2
prints 'a:f32\[2,3\]'
expect 0 show "$work/two.jaxpr" --transform set:t=3
prints 'a:f32\[b,3\]'
expect 0 show "$work/two.jaxpr" --transform set:t=3,set:b=2
prints 'a:f32\[2,3\]'

# A refined document is one like any other: it is checked, written and read.
expect 0 show tests/rules/SHP010_passes.json.gz --transform set:n=8 --as json -o "$work/8.json"
expect 0 check "$work/8.json" --strict
expect 0 show "$work/8.json" --as json
holds cmp -s "$work/out" "$work/8.json"
expect 0 show "$work/8.json"
prints '^    b:f32\[2,4\] = reshape\[.* new_sizes=(2, 4) '
expect 3 show tests/rules/SHP010_passes.json.gz --transform set:n=7
complains ': specs.py:5: the constraint 4\*floordiv(n, 4) == n is broken: 4 == 7 is false at n = 7$'

# Sizes that make no sense, and words that are no transforms.
for size in 0 -1 x '' 99999999999999999999 2x; do
    expect 2 show "$work/two.jaxpr" --transform "set:b=$size"
done
expect 2 show "$work/two.jaxpr" --transform set:b=1,b=1
complains 'has a size already'
expect 2 show "$work/two.jaxpr" --transform set:b=1 --transform set:b=2
complains 'no size has a variable of that name'
for word in grad set=3 '' devices:2,grad; do
    expect 2 show "$work/two.jaxpr" --transform "$word"
    complains 'there is no such transform; there is jvp, linearize, linear, vjp, vmap:AXIS'
done
for word in set devices vmap jvp:2 jvp,jvp: vmap:x vmap:None vmap:0,None vmap:0.5; do
    expect 2 show "$work/two.jaxpr" --transform "$word"
    complains 'expected '
done
for word in set: 'set:b=2,'; do
    expect 2 show "$work/two.jaxpr" --transform "$word"
    complains 'expected NAME=SIZE'
done

# In the order given: a derivative at sizes, and the sizes of a derivative.
expect 0 show "$work/two.jaxpr" --transform jvp
prints 'a:f32\[b,t\] b:f32\[b,t\]'
expect 0 show "$work/two.jaxpr" --transform set:b=2,t=3,jvp
cp "$work/out" "$work/set-first"
expect 0 show "$work/two.jaxpr" --transform jvp --transform set:b=2,t=3
holds cmp -s "$work/out" "$work/set-first"
expect 0 info "$work/two.jaxpr" --transform jvp
prints 'in   in1: f32\[b,t\]'
expect 0 check --strict "$work/two.jaxpr" --transform jvp
expect 0 diff "$work/two.jaxpr" "$work/two.jaxpr" --transform jvp
expect 0 run "$work/two.jaxpr" --set b=1 --set t=1 --transform jvp
prints '^out1 f32\[1,1\] = '
expect 0 show "$work/two.jaxpr" --transform set:b=4611686018427387904,t=4
prints 'a:f32\[4611686018427387904,4\]'
expect 3 show tests/rules/IDX004_fails.json.gz --transform set:b=4611686018427387904,n=4
complains 'the size b\*n is 18446744073709551616 at b = 4611686018427387904, n = 4$'

# Sizes worth trying, one JSON object a line: the same each time.
expect 0 info "$program" --sizes 3
prints '^{"b":2}$'
holds test "$(wc -l <"$work/out")" -eq 3
cp "$work/out" "$work/sizes"
expect 0 info "$program" --sizes 3
holds cmp -s "$work/out" "$work/sizes"
expect 0 info "$work/two.jaxpr" --sizes 4
prints '^{"b":1,"t":1}$'

# Over an axis more: its size has a name that is not taken; it may be any of an input's.
expect 0 show "$work/two.jaxpr" --transform vmap:0
prints 'a:f32\[b1,b,t\]'
expect 0 show "$work/two.jaxpr" --transform vmap:-1,vmap:1
prints 'a:f32\[b,b2,t,b1\]'
prints 'in (.*,)'
expect 0 run "$work/two.jaxpr" --transform vmap:0,jvp --set b=2 --set t=3 --set b1=4
prints '^out0 f32\[4,2,3\]'
for word in vmap:3 vmap:-4 vmap:99999999999999999999; do
    expect 2 show "$work/two.jaxpr" --transform "$word"
done
expect 2 show "$work/two.jaxpr" --transform vmap:3
complains 'that input has no such axis, with the new one'
cat >"$work/none.jaxpr" <<'END'
{ lambda ; . let a:f32[2] = iota[dimension=0 dtype=float32 shape=(2,) sharding=None] in (a,) }
END
expect 2 show "$work/none.jaxpr" --transform vmap:0
complains 'expected an input that gets the axis'

# Without calls it computes the same: no jit, remat or custom rule is left.
data=demo/data
for name in mlp_flax least_squares.0 fixed_point_rule scan_rnn log_densities; do
    case=$data/${name%.0}.case0.npz
    [ -e "$data/$name.json.gz" ] || continue
    [ -e "$case" ] || continue
    expect 0 run "$data/$name.json.gz" --transform flat --inputs "$case" --expect "$case"
    expect 0 show "$data/$name.json.gz" --transform flat
    holds sh -c "! grep -qE '= (jit|pjit|remat2|checkpoint|custom_j?vjp_call|custom_jvp_call)\[' '$work/out'"
done

# A number stays one in whatever shape: XLA takes x / 4 / 8 for products, and no quotient moves.
cat >"$work/numbers.jaxpr" <<'END'
{ lambda ; a:f32[]. let
    b:f32[1] = broadcast_in_dim[broadcast_dimensions=() shape=(1,) sharding=None] 4.0:f32[]
    c:f32[] = squeeze[dimensions=(0,)] b
    d:f32[] = div a c
    e:f32[] = div d 8.0:f32[]
  in (e,) }
END
expect 0 show "$work/numbers.jaxpr" --transform xla
holds test -z "$(grep ' div ' "$work/out")"
