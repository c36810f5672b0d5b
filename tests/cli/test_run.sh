# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run: sizes, inputs, outputs, what is compared, exit codes.
program=tests/host/scale.json

expect 0 run "$program" --set b=2 --fill zeros
prints '^out0 f32\[2,3\] = 0 0 0 0 0 0$'
prints '^out1 f32\[3\] = 0 0 0$'
is_silent
expect 0 run "$program" --set b=2 --fill random:7
cp "$work/out" "$work/first"
expect 0 run "$program" --set b=2 --fill random:7
holds cmp -s "$work/out" "$work/first"
expect 0 run - --set b=2 --fill random:7 <"$program"
holds cmp -s "$work/out" "$work/first"

# Results come back as what is expected; another size or seed is a mismatch.
expect 0 run "$program" --set b=4 --fill random:7 --outputs "$work/out.npz"
expect 0 run "$program" --set b=4 --fill random:7 --expect "$work/out.npz" --bits
prints '^2 of 2 outputs as expected$'
expect 1 run "$program" --set b=4 --fill random:8 --expect "$work/out.npz"
expect 0 run "$program" --set b=4 --fill random:8 --expect "$work/out.npz" --atol 100
expect 0 run "$program" --set b=4 --bench 5
prints '^5 calls: min .* median .* max '

# What can't be run is refused, by name, before anything is written.
expect 3 run "$program" --set b=1
complains 'b >= 2'
expect 2 run "$program" --set b=0
expect 3 run "$program"
complains 'b'
expect 2 run "$program" --set n=3
complains 'n'
expect 3 run "$program" --inputs "$work/missing.npz"
complains 'missing.npz'
expect 3 run "$program" --inputs "$work/out.npz"
complains 'in0'
head -c 100 "$work/out.npz" >"$work/cut.npz"
expect 3 run "$program" --inputs "$work/cut.npz"
complains 'cut.npz'
expect 3 run "$work/missing.json" --outputs "$work/none.npz"
holds test ! -e "$work/none.npz"
expect 3 run "$program" --set b=2 --outputs "$work/no/such/none.npz"
expect 3 run "$program" --set b=1000000000000
expect 3 run "$program" --set b=1000 --memory 100
complains 'memory\|budget'
expect 2 run
expect 2 run "$program" "$program"
expect 2 run "$program" --set b=2 --fill ones
