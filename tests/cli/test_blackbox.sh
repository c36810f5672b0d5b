# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Black boxes (jaxvet.blackbox): run on the inputs that they keep, read by every
# command, refused where they are no such files.
boxes=tests/data/blackbox

expect 1 run $boxes/step.blackbox
prints '^call 1 of step at train.py:8, JAX 0.10.2 on cpu: an output is not finite$'
prints '^first infinity: train.py:6 in loss: log of 0 gives f32\[2,3\] with -inf at \[1,0\] (2 of 6 elements)$'
prints '^first NaN: train.py:6 in loss: mul of 0 and -inf gives f32\[2,3\] with NaN at \[1,0\] (1 of 6 elements)$'
prints '^out2 f32\[\]: NaN$'
prints '^1 of 3 outputs finite$'
is_silent

# Our own document, where jax.export refuses.
expect 1 run $boxes/document.blackbox
prints '^first NaN: train.py:16 in told: log of -1 gives f32\[\] with NaN$'

# Other inputs, and the kept ones for other purposes.
expect 0 run $boxes/step.blackbox --fill zeros
holds test -z "$(grep 'call 1' "$work/out")"
expect 1 run $boxes/step.blackbox --outputs "$work/out.npz"
expect 1 run $boxes/step.blackbox --expect "$work/out.npz"
prints '^3 of 3 outputs as expected$'
expect 0 run $boxes/step.blackbox --bench 3
prints '^3 calls: '
# In double precision nothing underflows.
expect 0 run $boxes/step.blackbox --domain wide
prints '^3 of 3 outputs finite$'
gzip -c $boxes/step.blackbox >"$work/packed.blackbox.gz"
expect 1 run "$work/packed.blackbox.gz"

# Inputs that could not be kept.
expect 3 run $boxes/lost.blackbox
complains 'in1: was not kept: parts of it lie on devices of other processes$'
expect 0 info $boxes/lost.blackbox
prints '^in1 was not kept: parts of it lie on devices of other processes$'
expect 0 run $boxes/lost.blackbox --fill zeros

# The others take it as a program.
expect 0 info $boxes/step.blackbox
prints '^call 1 of step at train.py:8, JAX 0.10.2 on cpu: an output is not finite$'
expect 0 info $boxes/step.blackbox --format json
prints '"blackbox":{"call":1,"function":"step","place":"train.py:8","why":"an output is not finite","jax":"0.10.2","platform":"cpu","lost":{}}'
expect 0 show $boxes/step.blackbox
prints 'log'
expect 0 show $boxes/step.blackbox --as stablehlo
prints 'stablehlo.log'
expect 0 diff $boxes/step.blackbox $boxes/lost.blackbox
expect 0 check $boxes
prints '^3 programs: '
holds test -z "$(grep EXP004 "$work/out")"

# What is none: one error, and nothing else.
head -c 3000 $boxes/step.blackbox >"$work/cut.blackbox"
expect 3 run "$work/cut.blackbox"
complains 'cut.blackbox: '
holds test "$(wc -l <"$work/err")" -eq 1
expect 3 check "$work/cut.blackbox"
mkdir "$work/folder"
cp "$work/cut.blackbox" "$work/folder"
expect 3 check "$work/folder"
# A letter of the JSON that its checksum knows.
LC_ALL=C sed 's/"format": "jaxvet-blackbox"/"format": "jaxvet-blackbux"/' \
    $boxes/step.blackbox >"$work/changed.blackbox"
expect 3 info "$work/changed.blackbox"
complains 'checksum'
printf 'PK\003\004' >"$work/zip.blackbox"
expect 3 info "$work/zip.blackbox"
