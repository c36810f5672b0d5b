# shellcheck shell=sh
# A program that typing refuses: whoever indexes shapes by parameters says so, and
# nobody leaves them.

cat >"$work/dot.jaxpr" <<'EOF'
{ lambda ; a:f32[3,4] b:f32[4,5]. let
    c:f32[3,5] = dot_general[dimension_numbers=(([99999999], [0]), ([], []))] a b
  in (c,) }
EOF
cat >"$work/sort.jaxpr" <<'EOF'
{ lambda ; a:f32[3,4]. let
    b:f32[3,4] = sort[dimension=-99999999 is_stable=True num_keys=1] a
  in (b,) }
EOF
# What an operation gives is not what is declared, and the next one goes by that.
cat >"$work/declared.jaxpr" <<'EOF'
{ lambda ; a:f32[3,4]. let
    b:f32[3] = sin a
    c:f32[3] = reduce_sum[axes=(1,) out_sharding=None] b
    d:f32[3] = transpose[permutation=(0,)] c
  in (d,) }
EOF
for name in dot sort declared; do
    file=$work/$name.jaxpr
    expect 1 check "$file"
    prints '^error\[SHP01'
    expect 0 info "$file"
    prints 'not counted: '
    expect 3 info "$file" --fit 1GiB
    complains 'SHP01.*; jaxvet check says more$'
    expect 3 show "$file" --as stablehlo
    complains 'SHP01.*; jaxvet check says more$'
    expect 0 show "$file" --as jaxpr
    expect 3 run "$file" --fill zeros
    complains 'SHP01'
    expect 0 diff "$file" "$file"
    prints 'the same'
done

# Types that differ in weakness alone are a note, and no reason not to run.
cat >"$work/weak.json" <<'EOF'
{"format":"jaxvet-jaxpr","version":1,"producer":{"jaxvet":"0","jax":"0","python":"0","x64":false},"entry":{"jaxpr":1},"avals":[{"dt":"f32","sh":[2]},{"dt":"f32","sh":[2],"weak":true}],"prims":["sin","jit"],"jaxprs":[{"in":[1],"eqns":[[0,[0],[1],{},-1,-1,-1]],"out":[1]},{"in":[0],"eqns":[[1,[0],[1],{"jaxpr":{"$jaxpr":0}},-1,-1,-1]],"out":[1]}]}
EOF
expect 0 check "$work/weak.json"
prints '^note\[SHP011\].*weakly typed'
expect 0 run "$work/weak.json" --fill zeros
