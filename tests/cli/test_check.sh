# shellcheck shell=sh
# shellcheck disable=SC2154,SC2016 # $work is run.sh's; backquotes are meant
# check, info, explain and rules from outside: exit codes, selection, folders.
rules=tests/rules
wrong=$rules/SHP001_fails.json.gz
right=$rules/SHP001_passes.json.gz
noted=$rules/STG001_fails.json.gz
warned=$rules/STG002_fails.json.gz
open=$rules/PRM001_fails.json.gz

# Exit codes follow --fail-on and --strict.
expect 0 check "$right"
prints '^1 program: 3 proved, 0 refuted, 0 witnessed, 0 undecided$'
is_silent
expect 1 check "$wrong"
prints '^error\[SHP001\] trace-decided-by-size: '
prints ' --> SHP001_fails.py:3:8$'
prints '^ 3 |     if x.shape\[0\] == 1:'
prints '^   |        ^^^^^^^^^^^^^^^$'
prints 'counterexample: b = 1'
prints 'the constraint `b >= 2` would make it hold'
prints '^1 program: 1 proved, 1 refuted, 0 witnessed, 0 undecided$'
expect 0 check --fail-on never "$wrong"
expect 0 check "$noted"
expect 1 check --fail-on note "$noted"
expect 0 check --fail-on warning "$noted"
expect 0 check "$warned"
expect 1 check --fail-on warning "$warned"
expect 0 check "$open"
prints '^undecided\[PRM001\] unknown-primitive: '
expect 5 check --strict "$open"
expect 1 check --strict "$open" "$wrong"
expect 1 check --no-solver "$wrong"

# Selection.
expect 0 check --ignore SHP001 "$wrong"
prints '0 refuted'
expect 0 check --select STG "$wrong"
expect 1 check --select STG,SHP "$wrong"
expect 1 check --select trace-decided-by-size "$wrong"
expect 2 check --select SHQ "$wrong"
complains "no code is or begins with 'SHQ'"
expect 0 check --min-elements 300000 --fail-on note "$noted"
expect 1 check --min-elements 262144 --fail-on note "$noted"

# What can't be read is said, and worse than findings.
expect 3 check "$work/none.json"
complains 'none.json: '
printf 'not a program' >"$work/text"
expect 3 check "$work/text" "$wrong"
complains 'text: .*expected a program'
prints '^error\[SHP001\]'
prints '^1 program can.t be read$'
gzip -dc "$wrong" | head -c 300 >"$work/cut.json"
expect 3 check "$work/cut.json"
expect 2 check
expect 2 check --format xml "$wrong"

# Standard input, folders, formats, files.
gzip -dc "$wrong" >"$work/in.json"
expect 1 check - <"$work/in.json"
mkdir -p "$work/folder/b" "$work/folder/.hidden"
cp "$wrong" "$work/folder/b/one.json.gz"
cp "$right" "$work/folder/a.json.gz"
cp "$wrong" "$work/folder/.hidden/two.json.gz"
echo 'x = 1' >"$work/folder/b/code.py"
expect 1 check "$work/folder"
prints '^1 other file skipped$'
prints '^2 programs: 4 proved, 1 refuted, 0 witnessed, 0 undecided$'
expect 1 check --format json "$work/folder"
prints '"path":"[^"]*a.json.gz","status":"ok".*"path":"[^"]*one.json.gz","status":"findings"'
expect 1 check --format sarif -o "$work/report" "$work/folder"
is_silent
holds test ! -s "$work/out"
holds grep -q '"version":"2.1.0"' "$work/report"
expect 1 check --format github "$wrong"
prints '^::error file=SHP001_fails.py,line=3,col=8,endColumn=23,title=SHP001 '
expect 3 check -o "$work/no/such/folder" "$right"

# Colour is asked for, or not there.
expect 1 check --color always "$wrong"
prints "$(printf '\033')"
expect 1 check "$wrong"
holds test "$(grep -c "$(printf '\033')" "$work/out")" -eq 0

# The same input gives the same bytes, in every format.
for format in text json sarif github; do
    "$JAXVET" check --format $format $rules >"$work/first" 2>/dev/null
    "$JAXVET" check --format $format $rules >"$work/second" 2>/dev/null
    holds test -s "$work/first"
    holds cmp -s "$work/first" "$work/second"
done

# Times are there when asked for.
expect 0 check --timing "$right"
prints 'SHP001_passes.json.gz: [0-9.]* ms, 1 equation$'
expect 0 check --timing --format json "$right"
prints '"milliseconds":[0-9.]*}'

# Suppressions: used, unused, and unknown to this command.
expect 1 check "$rules/SUP001_passes.json.gz"
expect 0 check --trust-embedded "$rules/SUP001_passes.json.gz"
prints '^1 finding is suppressed by a comment$'
prints ' 1 refuted'
expect 1 check --trust-embedded --fail-on warning "$rules/SUP001_fails.json.gz"
prints '^warning\[SUP001\]'
expect 0 check --trust-embedded --fail-on warning "$rules/SUP001_fails.json.gz" --ignore SUP

# What is in a program.
expect 0 info "$right"
prints '^  in   \[0\]: f32\[b,4\]$'
prints '^  size b: from 2$'
prints '^  where b >= 2$'
expect 0 info --format json "$right"
prints '"sizes":\[{"name":"b","scope":0,"low":2}\]'
prints '"primitives":\[{"name":"reduce_sum","count":1,"known":true}\]'
expect 0 info "$open"
prints ' 1 twice (unknown)$'
expect 3 info "$work/text"
expect 2 info

# What codes mean.
expect 0 rules
prints '^SHP001  error    trace-decided-by-size '
expect 0 rules --format json
prints '"code":"STG001"'
expect 0 explain SHP001
prints '    if x.shape\[0\] == 1:  #! SHP001$'
expect 0 explain large-constant
prints '^STG002 large-constant (warning'
expect 0 explain --format json SHP001
prints '"fails":"# f32\[b,4\]'
expect 2 explain SHP999
complains "there is no code 'SHP999'"
expect 2 explain

# The derivative rules of a document are run, unless that is left out.
swish=demo/data/swish_rule_wrong.json.gz
expect 1 check "$swish"
prints '^error\[DRV001\] jvp-rule-wrong: '
prints 'the rule gives .*, finite differences '
expect 0 check --no-rules "$swish"
prints '^1 program: .* 0 witnessed'
expect 0 check --ignore DRV "$swish"
prints '^1 program: .* 0 witnessed'
expect 0 check demo/data/log1pexp_rule.json.gz
prints '^assumed: 1 derivative rule is right: no disagreement at [1-9][0-9]* points '
expect 5 check --strict demo/data/odeint_adjoint.0.json.gz
prints '^undecided\[DRV002\] .*: whether the vjp rule of '
# One that raises may be meant to: a program that is not differentiated there is fine.
expect 0 check --strict demo/data/odeint_pendulum.json.gz
prints '^assumed: nothing is differentiated through the vjp rule of .*, which raises: '

# Within ranges, inputs are looked for that give what is not finite.
expect 1 check --trust-embedded --fail-on warning "$rules/NUM001_fails.json.gz"
prints '^warning\[NUM001\] domain: log of 0 gives -inf$'
prints 'output 0 is not finite with x = .*, w = .*; as written (ieee)$'
expect 0 check --fail-on warning --ignore NUM "$rules/NUM001_fails.json.gz"
expect 0 check --fail-on warning "$rules/NUM001_passes.json.gz"
prints '^proved: every output is finite, for all finite inputs within their ranges (ieee, ftz, xla)$'
expect 0 check --fail-on warning demo/data/log_densities.json.gz
# The corner of a range is the number of the dtype next to its end: 0.6 itself is none.
cat >"$work/corner.jaxpr" <<'EOP'
{ lambda ; x:f32[3] y:f16[3]. let
    a:f32[3] = sub 0.59999996423721313:f32[] x
    b:f32[3] = log a
    c:f16[3] = mul y 0.5:f16[]
  in (b, c) }
EOP
expect 0 check "$work/corner.jaxpr" --range 'in0 in [0, 0.6]' --range 'in1 in [-inf, inf]'
prints '^warning\[NUM001\] domain: log of 0 gives -inf$'
holds test -z "$(grep -E 'in1 = \[?-?inf' "$work/out")"
for range in 'nobody in [0, 1]' 'x in [1, 0]' 'x in [0, many]' 'x [0, 1]'; do
    expect 3 check --range "$range" "$rules/NUM001_passes.json.gz"
    complains 'range'
done

# What is run without being watched, for as long as nothing shows, is found where it is: forward,
# and in the derivative.
long() { # EQUATION that makes v1503 of v1502
    awk -v last="$1" 'BEGIN {
        print "{ lambda ; v0:f32[4]. let"
        for (i = 0; i < 1500; i++)
            printf "    v%d:f32[4] = %s v%d\n", i + 1, i % 2 ? "sin" : "mul 0.5:f32[]", i
        print "    v1501:f32[4] = mul 0.0:f32[] v1500"
        print "    v1502:f32[4] = add v0 v1501"
        print "    " last
        print "    v1504:f32[] = reduce_sum[axes=(0,) out_sharding=None] v1503"
        print "  in (v1504,) }"
    }' >"$work/long.jaxpr"
}
long 'v1503:f32[4] = log v1502'
expect 1 check --fail-on warning "$work/long.jaxpr" --range 'in0 in [0, 1]'
prints '^warning\[NUM001\] domain: log of 0 gives -inf$'
long 'v1503:f32[4] = sqrt v1502'
expect 0 check "$work/long.jaxpr" --range 'in0 in [0, 1]'
prints '^note\[NUM003\]'
expect 0 check "$work/long.jaxpr" --range 'in0 in [1, 2]'
holds test -z "$(grep NUM "$work/out")"
