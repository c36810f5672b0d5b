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
expect 2 show "$program" --transform jvp
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
