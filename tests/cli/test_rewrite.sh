# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet rewrite: an exported file again, changed as asked and not otherwise.
gunzip -c tests/rules/EXP005_passes.jaxexport.gz >"$work/loss"

# What nobody asked to change is byte for byte what it was.
expect 0 rewrite "$work/loss" -o "$work/again"
prints ' bytes, from '
holds cmp -s "$work/loss" "$work/again"

# Locations go, the program stays; its derivative's go, too.
holds grep -aq EXP005_passes.py "$work/loss"
expect 0 rewrite "$work/loss" --strip-locations -o "$work/small"
holds test "$(wc -c <"$work/small")" -lt "$(wc -c <"$work/loss")"
holds test -z "$(grep -a EXP005_passes.py "$work/small")"
expect 0 diff "$work/loss" "$work/small"
prints '^program: the same$'
expect 0 run "$work/small" --vjp 1

# Derivatives can be left out.
expect 0 rewrite "$work/loss" --drop-vjp -o "$work/short"
expect 3 run "$work/short" --vjp 1
complains 'derivatives up to order 0'
expect 1 diff "$work/loss" "$work/short"
prints '^program: the same$'
prints 'differentiated 0 times instead of 1'

# Versions of StableHLO: an old one and back is the same module again.
expect 0 rewrite "$work/loss" --stablehlo-version 1.0.0 -o "$work/old"
expect 0 info "$work/old"
prints 'StableHLO 1.0.0'
expect 0 run "$work/old" --vjp 1
expect 0 rewrite "$work/old" --stablehlo-version 1.15.0 -o "$work/new"
holds cmp -s "$work/loss" "$work/new"
expect 3 rewrite "$work/loss" --stablehlo-version 9.0.0 -o "$work/none"
holds test ! -e "$work/none"
expect 2 rewrite "$work/loss" --stablehlo-version 1.0 -o "$work/none"
complains '1.13.7'

# For a release of JAX: what keeps it from loading the file is changed.
data=tests/data/exported
expect 0 rewrite $data/0.12.0.1-symbolic.jaxexport --for-jax 0.10.2 -o "$work/for"
expect 0 info "$work/for"
prints '^loads in JAX 0.8.2 to 0.12.0.1$'
prints 'StableHLO 1.17.0'
expect 0 diff $data/0.12.0.1-symbolic.jaxexport "$work/for"
prints '^program: the same$'
expect 0 rewrite $data/0.12.0.1-symbolic.jaxexport --for-jax 0.6.2 -o "$work/for"
expect 0 info "$work/for"
prints '^loads in JAX 0.6.2 to 0.12.0.1$'
expect 0 rewrite $data/0.6.2-vjp2.jaxexport --for-jax 0.12.0.1 -o "$work/for"
expect 0 info "$work/for"
prints '^loads in JAX 0.6.2 to 0.12.0.1$'
expect 0 rewrite "$work/for" --for-jax 0.12.0 -o "$work/same"
holds cmp -s "$work/for" "$work/same"
expect 3 rewrite $data/0.6.2-sharded.jaxexport --for-jax 0.12.0.1 -o "$work/none"
complains 'JAX 0.12.0.1 does not load it: its shardings are protobufs'
expect 3 rewrite $data/0.12.0.1-keys.jaxexport --for-jax 0.6.2 -o "$work/none"
complains "has shardy's dialect"
expect 3 rewrite $data/0.12.0.1-shard_map.jaxexport --for-jax 0.8.3 -o "$work/none"
complains 'needs VHLO 1.16.0'
holds test ! -e "$work/none"
expect 2 rewrite "$work/loss" --for-jax 0.5.0 -o "$work/none"
complains 'a release from 0.6.2 to 0.12.0.1'
expect 2 rewrite "$work/loss" --for-jax 0.10.2 --as text -o "$work/none"

# The module alone, as bytecode or text, is the same program.
expect 0 rewrite "$work/loss" --as bytecode -o "$work/module"
expect 0 check "$work/module"
expect 0 rewrite "$work/loss" --as text -o "$work/text"
expect 0 check "$work/text"
expect 0 rewrite "$work/text" --as bytecode -o "$work/back"
expect 0 diff "$work/module" "$work/back"
prints '^program: the same$'
expect 0 rewrite "$work/text" --as text -o -
prints '^module @jit_loss'

# What can't be done is said.
expect 2 rewrite "$work/loss"
complains '-o FILE'
expect 3 rewrite tests/host/scale.json -o "$work/none"
complains 'expected an exported file'
expect 3 rewrite "$work/text" --for-jax 0.10.2 -o "$work/none"
complains 'expected an exported file, for --for-jax'
printf 'module {}\n// -----\nmodule {}\n' >"$work/two"
expect 3 rewrite "$work/two" --as bytecode -o "$work/none"
complains 'expected one module, found 2'
