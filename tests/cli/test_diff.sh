# shellcheck shell=sh
# jaxvet diff: what is no difference, and what can't be compared.

# Text does not say what is weakly typed: a note, and nothing breaks.
head -n 1 tests/prims/dim_as_value.jaxpr >"$work/size.jaxpr"
expect 0 show --as json "$work/size.jaxpr" -o "$work/size.json"
expect 0 diff "$work/size.jaxpr" "$work/size.json"
prints 'contract: a drop-in replacement'
prints 'note: result 0: one is weakly typed'
expect 0 diff "$work/size.json" "$work/size.jaxpr"

# Where no input gives a size, that is said.
head -n 3 tests/prims/iota.jaxpr >"$work/iota.jaxpr"
expect 1 diff "$work/iota.jaxpr" "$work/iota.jaxpr"
prints 'undecided: result 0, axis 0, of the new program: no size of its inputs gives n'
holds sh -c '! grep -q "too large" "$1"' - "$work/out"

# What is known by a name alone is not said to differ, what is done with it is.
named() { # NAME EQUATION THEN
    printf '{ lambda ; a:f32[3]. let b:f32[3] = %s a; c:f32[3] = %s b in (c,) }\n' \
        "$2" "$3" >"$work/$1.jaxpr"
}
named frob 'frobnicate[how=<function f at 0x12>]' sin
named frobbed 'frobnicate[how=<function f at 0x12>]' cos
named called 'pure_callback[callback=<function f at 0x12> result_avals=(ShapeDtypeStruct(shape=(3,), dtype=float32),) sharding=None vmap_method=None]' sin
for program in frob called; do
    expect 1 diff "$work/$program.jaxpr" "$work/$program.jaxpr"
    prints 'program: not compared: the same but for functions of the Python process'
    expect 0 diff --fail-on contract "$work/$program.jaxpr" "$work/$program.jaxpr"
done
expect 1 diff "$work/frob.jaxpr" "$work/frobbed.jaxpr"
prints 'computed differently'
