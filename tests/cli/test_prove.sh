# shellcheck shell=sh
# jaxvet prove: one question, many, exit codes, files.

expect 0 prove 'a*b >= a'
prints '^a\*b >= a: true'
is_silent
expect 0 prove 'a >= 2' --strict
prints 'depends'
expect 5 prove 'a*a*a + b*b*b == c*c*c' --no-solver --strict
prints 'unknown'
expect 2 prove 'a >= 1' 'b >= 1'
# What clashes is "needed" only if nothing less was shown to clash.
expect 0 prove 'a >= 1' --where 'a >= 3' --where 'a <= 2' --where 'b >= 2'
prints '^  needs:  a >= 3$'
expect 0 prove 'a >= 1' --where 'a^3 + b^3 == c^3' \
    --where 'a^3 + b^3 == c^3 + 1' --no-solver
prints '^  core:   a^3 + b^3 == c^3$'
prints 'why: not each constraint of the core was shown to be needed$'
expect 2 prove 'a >= 1' --bse 0
complains 'did you mean --base?'
expect 3 prove 'a >= '
complains 'expected'
expect 3 prove no/such/questions.jsonl
complains 'no/such/questions.jsonl'

printf '%s\n' '{"id":1,"constraints":["b >= 2"],"lhs":"a*b","op":">=","rhs":"2*a"}' \
    '{"id":2,"constraints":[],"lhs":"a","op":"==","rhs":"b"}' >"$work/good"
expect 0 prove "$work/good"
prints '"id":1,"verdict":"true"'
prints '"id":2,"verdict":"depends"'
cp "$work/out" "$work/first"
expect 0 prove - <"$work/good"
holds cmp -s "$work/out" "$work/first"
expect 0 prove "$work/good" -o "$work/answers"
holds cmp -s "$work/answers" "$work/first"

# A bad line is answered with an error, the others all the same.
printf '%s\n' '{"id":3,"lhs":"a +","op":"==","rhs":"b"}' >>"$work/good"
expect 3 prove "$work/good"
prints '"id":2,"verdict":"depends"'
prints '"id":3,"verdict":"error"'

# An output that can't be written leaves nothing behind.
expect 3 prove 'a >= 1' -o "$work/no/such/folder/file"
mkdir "$work/shut"
echo old >"$work/shut/file"
holds test "$(ls "$work/shut")" = file

# The solver says which it is; without it the reason says what to do.
echo '{"id":1,"lhs":"a*a + b*b + c*c + d*d","op":">=","rhs":"a*b + b*c + c*d + d*a"}' >"$work/hard"
expect 0 prove "$work/hard"
prints '"verdict":"true","by":"z3","solver":"z3 [0-9.]*"'
expect 0 prove 'a*a + b*b + c*c + d*d >= a*b + b*c + c*d + d*a'
prints '(by z3 [0-9.]*)'
JAXVET_SOLVER=/nonexistent/solver
export JAXVET_SOLVER
expect 0 prove "$work/hard"
prints '"verdict":"unknown".*"why":"no solver: /nonexistent/solver: No such file.*JAXVET_SOLVER'
unset JAXVET_SOLVER

# Certificates: written, counted, checked; a changed or broken one is told apart.
expect 0 prove 'a*b >= a' --certificate "$work/one.cert"
complains '^jaxvet: 1 certificates, no answer without one'
expect 0 prove --check "$work/one.cert"
prints '^1: accepted$'
prints '^1 accepted, 0 rejected, 0 malformed$'
head -n 2 "$work/good" >"$work/two"
expect 0 prove "$work/two" --certificate "$work/two.cert"
expect 0 prove --check "$work/two.cert"
prints '^1 1: accepted$'
prints '^2 2: accepted$'
sed 's/"b >= 2"/"b >= 1"/' "$work/two.cert" >"$work/changed.cert"
expect 1 prove --check "$work/changed.cert"
prints '^1 1: rejected: '
prints '^2 2: accepted$'
echo '{"certificate":1,' >>"$work/changed.cert"
expect 3 prove --check "$work/changed.cert"
prints '^3: malformed: column 18: expected '
echo '[]' >"$work/no.cert"
expect 3 prove --check "$work/no.cert"
prints '^1: malformed: expected an object'
expect 0 prove 'a == b' --where 'a >= 3' --where 'a <= 2' --certificate "$work/clash.cert"
expect 0 prove --check "$work/clash.cert"
holds grep -q '"verdict":"contradiction"' "$work/clash.cert"
expect 3 prove --check "$work/no/such.cert"
expect 2 prove 'a >= 1' --check "$work/one.cert"

# Steps for people: a proof by cases, an evaluation, a contradiction, no steps.
expect 0 prove 'a*a + b*b >= 2*a*b' --explain
prints '^  | suppose it fails: 2\*a\*b >= b^2 + a^2 + 1$'
prints '^  | case b >= a:$'
prints '^  |   put b = a + '
prints '^  | so: true$'
expect 0 prove 'mod(n, 4) <= n - 2' --explain
prints '^  |   mod(n, 4) = 1$'
prints '^  |   so it is 1 <= -1: fails$'
prints '^  | so: depends$'
expect 0 prove 'a == b' --where 'a >= 3' --where '2*a <= 5' --explain
prints '^  | suppose they hold together$'
prints '^  | so: contradiction$'
expect 0 prove 'a*a*a + b*b*b == c*c*c' --no-solver --explain
prints '^  | undecided: there are no steps$'
expect 0 prove "$work/two" --explain
prints '"explain":\["suppose it fails: '
