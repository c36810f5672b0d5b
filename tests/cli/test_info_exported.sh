# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet info: exported files, recognized by content.
exported=tests/data/exported

# The signature as its author wrote it; what the module does not take is marked.
expect 0 info $exported/0.10.2-trees.jaxexport
is_silent
prints "f(params: {'rest': \[f32\[3\], None\], 'w': f32\[3,4\]},"
prints 'pair: tests.Point(x=f32\[4\], y=i32\[\]),'
prints '\*, flag: bool\[2\] (unused),'
prints "^    -> {'y': tests.Point(x=f32\[3\], y=i32\[\]), 'z': \[bf16\[\], ()\]}"
prints '^on 1 device of cpu$'
prints '^exported as by JAX 0.10.2; format 10 (numbered 3), calling convention 10$'
prints '^module for StableHLO 1.15.0 and later, bytecode 6$'
prints '^2220 bytes$'

# Sizes, platforms, checks, derivatives, keys, texts beyond ASCII.
expect 0 info $exported/0.10.2-symbolic.jaxexport
prints 'y: f32\[t,2\*b + 1\]'
prints 'f32\[floordiv(b, 2)\]'
prints '^  size b: from 2$'
prints '^  size t: from 1 to 128$'
prints '^  where mod(t, 4) == 0$'
prints '^  inputs  *12\*b\*t + 4\*t$'
expect 0 info $exported/0.10.2-platforms.jaxexport
prints '^on 1 device of cpu, cuda, tpu$'
expect 0 info $exported/0.10.2-checks.jaxexport
prints '^disabled check: that it runs where it was exported for$'
prints '^disabled check: that the custom call my_call is guaranteed stable$'
expect 0 info $exported/0.10.2-vjp2.jaxexport
prints '^vjp of order 2: 5 inputs (4 used), 3 outputs'
expect 0 info $exported/0.10.2-keys.jaxexport
prints 'k: key<fry>\[\]'
expect 0 info $exported/0.10.2-names.jaxexport
prints 'größe(x: {.a.b.: f32\[2\], .größe.: f32\[1\]})'

# Shardings: by name today, as protobufs in old files, which JAX now refuses.
expect 0 info $exported/0.10.2-sharded.jaxexport
prints '^on 4 devices of cpu$'
prints "P('data', None) on data=2 (explicit), model=2 (explicit) of cpu in device: a, result\[0\]"
expect 0 info $exported/0.6.2-sharded.jaxexport
prints '{devices=\[4\]<=\[4\]}: b, result\[1\]'
prints '^loads in JAX 0.6.2 to 0.11.0$'
prints '^not in JAX 0.11.1 to 0.12.0.1: its shardings are protobufs.*; export it again with JAX 0.9.0'
prints 'calling convention 9'

# Which releases load it, by its table and by what its module needs; what to do.
expect 0 info $exported/0.12.0.1-symbolic.jaxexport
prints '^exported by JAX 0.12.0.1; format 12, calling convention 10$'
prints '^loads in JAX 0.11.0 to 0.12.0.1$'
prints '^not in JAX 0.6.2 to 0.8.1: they take formats numbered 2 and 3 only; jaxvet rewrite --for-jax'
prints '^not in JAX 0.8.2 to 0.10.2: its module needs StableHLO 1.18.0 (custom_call_v2); '
prints '^JAX promises to read it until 2027-01 at least$'
expect 0 info $exported/0.8.3-sharded.jaxexport
prints "^not in JAX 0.6.2: its module has shardy's dialect, sdy; "
expect 0 info $exported/0.6.2-vjp2.jaxexport
prints '^not in JAX 0.11.1 to 0.12.0.1: it counts devices in 16 bits'
expect 0 info --format json $exported/0.12.0.1-shard_map.jaxexport
holds python3 - "$work/out" <<'EOF2'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["format"] == {"version": 12, "stored": 12, "calling_convention": 10,
                           "from": "2026-07-29", "before": None}
assert found["jax"] == "0.12.0.1"
loads = {row["jax"]: row for row in found["loads"]}
assert list(loads)[0] == "0.6.2" and list(loads)[-1] == "0.12.0.1"
assert [name for name, row in loads.items() if row["loads"]][0] == "0.10.1"
assert "1.16.0 (vhlo.replica_group_mesh_axes_v1)" in loads["0.10.0"]["why"]
EOF2
# Of a file that today's JAX refuses, check says so.
expect 0 check $exported/0.6.2-vjp2.jaxexport
prints 'EXP003.*JAX 0.11.1 to 0.12.0.1 refuse the file: it counts devices in 16 bits.*it loads in 0.6.2 to 0.11.0$'
prints 'help: jaxvet rewrite --for-jax'
expect 0 check $exported/0.10.2-vjp2.jaxexport
holds test -z "$(grep EXP003 "$work/out")"

# For programs, and from standard input.
expect 0 info --format json - <$exported/0.10.2-sharded.jaxexport
holds python3 - "$work/out" <<'EOF2'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["kind"] == "exported" and found["devices"] == 4
assert [i["used"] for i in found["inputs"]] == [True] * 3
assert found["inputs"][0]["sharding"] == "P('data', None)"
assert "sharding" not in found["inputs"][2]
module = found["module"]
assert module["stablehlo"] == [1, 15, 0]
assert 0 < module["bytes"] - sum(module["sections"].values()) < 64
assert found["format"]["stored"] == 3 and found["format"]["version"] == 11
EOF2
expect 0 info --format json $exported/0.10.2-trees.jaxexport
holds python3 - "$work/out" <<'EOF2'
import json, sys
found = json.load(open(sys.argv[1]))
assert [i["path"] for i in found["inputs"]] == [
    "params['rest'][0]", "params['w']", "pair.x", "pair.y", "flag",
    "scale"]
assert [o["path"] for o in found["outputs"]] == [
    "result['y'].x", "result['y'].y", "result['z'][0]"]
assert found["in_tree"]["children"][0]["children"][1]["names"] == ["x", "y"]
assert not found["inputs"][4]["used"]
EOF2

expect 0 info --format json $exported/0.10.2-symbolic.jaxexport
holds python3 - "$work/out" <<'EOF2'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["sizes"][1] == {"name": "t", "scope": 0, "low": 1, "high": 128}
assert {"scope": 0, "lhs": "mod(t, 4)", "op": "==", "rhs": "0"} in (
    found["constraints"])
assert found["cost"]["inputs"] == "12*b*t + 4*t"
EOF2

# What is wrong is said with its byte; other commands say what they lack.
head -c 2000 $exported/0.10.2-trees.jaxexport >"$work/cut"
expect 3 info "$work/cut"
complains 'cut: byte [0-9]*: Exported.*: expected'
expect 0 info $exported/0.10.2-checks.jaxexport
prints '^23 operations$'
prints '^ *1 custom call lapack_spotrf_ffi (Cholesky factor; guaranteed stable)$'
