# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet check --possible: what bounds leave open, and nothing proves or shows.
cat >"$work/open.jaxpr" <<'EOP2'
{ lambda ; x:f32[8] i:i32[] j:i32[8]. let
    a:f32[8] = mul x x
    b:f32[8] = mul a x
    c:f32[8] = sub a b
    d:f32[8] = add c 0.1:f32[]
    e:f32[8] = log d
    s:f32[1] = dynamic_slice[slice_sizes=(1,)] x i
    k:i32[8] = mul j j
  in (e, s, k) }
EOP2
# On [0, 1] x * x - x * x * x is at least 0, which intervals do not see.
expect 0 check "$work/open.jaxpr" --range 'in0 in [0, 1]' --range 'in1 in [0, 7]' --range 'in2 in [0, 9]'
holds test -z "$(grep 'possible:' "$work/out")"
expect 0 check "$work/open.jaxpr" --possible --range 'in0 in [0, 1]' --range 'in1 in [0, 7]' --range 'in2 in [0, 9]'
prints '^note\[NUM001\] domain: possible: log gives .* or NaN of \[-0.8[0-9]*, 1.1[0-9]*\]$'
prints 'note: neither proved not to happen (ieee, ftz, xla) nor shown by a run'
prints '^1 note$'
prints '^1 program: [0-9]* proved, 0 refuted, 0 witnessed, 0 undecided$'
# A note is no obligation.
expect 0 check "$work/open.jaxpr" --possible --strict --range 'in0 in [0, 1]' --range 'in1 in [0, 7]' --range 'in2 in [0, 9]'
expect 1 check "$work/open.jaxpr" --possible --fail-on note --range 'in0 in [0, 1]' --range 'in1 in [0, 7]' --range 'in2 in [0, 9]'
expect 0 check "$work/open.jaxpr" --possible --format json --range 'in0 in [0, 1]'
prints '"level":"note","evidence":"heuristic","message":"possible: log gives'

# Of indices and integers, too; of what is shown nothing is said again.
expect 0 check "$work/open.jaxpr" --possible --select IDX001,DTY004 --range 'in0 in [0.5, 1]'
prints 'note\[IDX001\] index-outside: possible: an index of dynamic_slice lies in \[-2.14748365e+09, 2.14748365e+09\], and may lie in \[0, 7\]'
prints 'note\[DTY004\] narrow-wraps: possible: an operand of mul lies in'
expect 0 check "$work/open.jaxpr" --possible --range 'in0 in [-2, 2]' --range 'in1 in [0, 7]' --range 'in2 in [0, 9]'
prints '^warning\[NUM001\] domain: log of '
holds test -z "$(grep 'possible:' "$work/out")"

# An arm that is left out is no chance, though another value is one.
cat >"$work/arms.jaxpr" <<'EOP2'
{ lambda ; x:f32[8] y:f32[8]. let
    a:bool[8] = gt x 0.0:f32[]
    b:f32[8] = log x
    z:f32[8] = broadcast_in_dim[broadcast_dimensions=() shape=(8,) sharding=None] 0.0:f32[]
    c:f32[8] = select_n a z b
    d:f32[8] = mul y y
    e:f32[8] = mul d y
    f:f32[8] = sub d e
    g:f32[8] = sqrt f
    h:f32[8] = add c g
  in (h,) }
EOP2
expect 0 check "$work/arms.jaxpr" --possible --range 'in0 in [-1, 1]' --range 'in1 in [0, 1]'
prints 'possible: sqrt gives'
holds test -z "$(grep 'possible: log' "$work/out")"
prints '^1 note$'
