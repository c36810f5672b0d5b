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

# Python's grammar, `^` for `**`; what begins with a minus is a question.
for true in '(-1%a) >= 0' '-n % 4 >= 0' '-7 // 2 == -4' '2**3**2 == 2^9' \
    '-2**2 == -4' '--n >= 1' '-n//2*2 >= -n - 1' '+n - -n == 2*n' \
    '-a**2 + a*a == 0' '7 - 2 - 1 == 4' '2*7//4 == 3' '-n*2 % 3 <= 2'; do
    expect 0 prove "$true"
    prints ': true, '
done
expect 0 prove --no-solver --where '-n >= -3' '-n >= -3'
prints ': true, '
expect 2 prove --nosolver '-n >= -3'
complains 'unknown option'
expect 3 prove 'n**-1 >= 0'
complains 'column 4: expected a power that is a number'
expect 3 prove '007 >= 0'
complains 'column 1: expected a number that does not begin with 0'

# A question and its mirror image are one.
expect 0 prove --no-solver '2*a*b <= a*a + b*b'
prints ': true, '
expect 0 prove --no-solver 'a*a + b*b >= 2*a*b'
prints ': true, '

# Numbers beyond 64 bits; beyond 128 it is undecided.
expect 0 prove --no-solver 'n >= 1' --where 'n >= 9223372036854775808'
prints ': true, '
expect 0 prove 'n >= 2^100 + 7' --where 'n >= 9223372036854775808'
prints 'holds at: n = 12676506002282294014967032053'
prints 'fails at: n = 9223372036854775808'
expect 0 prove 'n >= 1' --where "n >= 1$(printf '%040d' 0)"
prints 'unknown'
expect 5 prove --strict 'n >= 1' --where "n >= 1$(printf '%040d' 0)"
echo '{"id":123456789012345678901234567890,"base":-99999999999999999999,"lhs":"n","op":">=","rhs":"n"}' \
    >"$work/wide.jsonl"
expect 0 prove "$work/wide.jsonl"
prints '^{"id":123456789012345678901234567890,"verdict":"unknown","why":"too large (base: '

# A divisor that the normal form has lost is one all the same.
expect 0 prove --base 0 '0*(n//d) + n >= 2' --where 'd <= 0'
prints ': contradiction'
prints 'and d != 0'
expect 0 prove '0*(n//(n - 1)) + n >= 2'
prints ': true, '

# Certificates: a dim that does not fit on the way.
expect 0 prove --no-solver --certificate "$work/proofs" \
    'max(5*a + 8, a - 9007199254740994) - mod(4294967295*a - 1, 85070591730234615865843651857942052863) == 5*a - 5' \
    --where 'a >= 1000000001' \
    --where '2*a - 9223372036854775808 < a + 8'
expect 0 prove --check "$work/proofs"
prints '^1 accepted, 0 rejected'

# Certificates are of answers; a file without any is no success.
: >"$work/none"
expect 3 prove --check "$work/none"
complains 'expected a certificate'
cat >"$work/questions" <<'END'
{"id":1,"lhs":"n","op":">=","rhs":"1"}
{"id":2,"constraints":["n >= 5"],"lhs":"n","op":">=","rhs":"3"}
{"id":3,"constraints":["n >= 5","n <= 4","b >= 2"],"lhs":"n","op":">=","rhs":"3"}
{"id":4,"lhs":"n","op":">=","rhs":"3"}
END
expect 0 prove "$work/questions" --certificate "$work/proofs"
cp "$work/out" "$work/answers"
expect 0 prove --check "$work/proofs" --against "$work/answers"
prints '^4 accepted, 0 rejected, 0 malformed$'
prints '^4 answers: 4 with a certificate, 0 without, 0 undecided$'
sed 's/"verdict":"depends"/"verdict":"true"/' "$work/answers" >"$work/others"
expect 1 prove --check "$work/proofs" --against "$work/others"
prints '^4 4: rejected: the answer says otherwise$'
sed '2s/"digest":"./"digest":"x/' "$work/answers" >"$work/others"
expect 1 prove --check "$work/proofs" --against "$work/others"
prints "^2 2: rejected: its question is none of the answers'$"
sed 's/,"digest".*/}/' "$work/answers" >"$work/others"
expect 3 prove --check "$work/proofs" --against "$work/others"
complains 'line 1: expected an answer with its digest'
expect 3 prove --check "$work/proofs" --against "$work/none"
head -n 2 "$work/proofs" >"$work/fewer"
expect 0 prove --check "$work/fewer" --against "$work/answers"
prints '^4 answers: 2 with a certificate, 2 without'
expect 5 prove --strict --check "$work/fewer" --against "$work/answers"
expect 2 prove --against "$work/answers" 'n >= 1'

# False statements with proofs of sorts: a divisor that is 0 at the witness, or
# everywhere, sums of nothing, names given twice, a case that is missing.
expect 1 prove --check tests/prove/false_certificates.jsonl
prints '^0 accepted, 20 rejected, 0 malformed$'
