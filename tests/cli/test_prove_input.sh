# shellcheck shell=sh
# jaxvet prove: what nobody should write.  Each line gets one answer: an error
# with its place, or a verdict, in a second of processor time or less, and the
# good line after it is answered all the same.

# repeat COUNT TEXT - the text that often (`&` in it counts from 0).
repeat() {
    seq 0 $(($1 - 1)) | sed "s/.*/$2/" | tr -d '\n'
}

# asked LHS OP RHS [CONSTRAINTS] - the question as a line, then a good one.
asked() {
    {
        printf '{"id":1,"constraints":[%s],"lhs":"%s","op":"%s","rhs":"%s"}\n' \
            "${4:-}" "$1" "$2" "$3"
        good
    } >"$work/asked"
}
good() {
    printf '%s\n' '{"id":2,"lhs":"a + 1","op":">=","rhs":"2"}'
}

# answered CODE PATTERN - what $work/asked gets.
answered() {
    # shellcheck disable=SC3045 # every sh that we meet has it
    (ulimit -t 3 && exec "$JAXVET" prove "$work/asked") \
        >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" -eq "$1" ]; then pass; else
        fail "prove $(head -c 150 "$work/asked"): exit code $got, expected $1"
    fi
    prints "$2"
    prints '"id":2,"verdict":"true"'
    [ "$(wc -l <"$work/out")" -eq 2 ] || fail "not two answers"
}

# Long, deep, high, wide.
asked "$(repeat 500000 'a+')a" '>=' 1
answered 0 '"id":1,"verdict":"true"'
asked "$(repeat 100000 'b&+')a" '>=' 1
answered 0 '"verdict":"unknown".*gave up at 512 MiB of memory, the limit, while reading'
asked "$(repeat 100000 '(')a$(repeat 100000 ')')" '>=' 1
answered 3 '"column":257,"expected":"less nesting (256 levels)"'
asked "$(repeat 100000 '(')" '>=' 1
answered 3 '"expected":"less nesting'
asked "$(repeat 999 'max(a&,')a$(repeat 999 ')')" '>=' a3
answered 3 '"expected":"less nesting'
asked "$(repeat 200 'max(a&,')a$(repeat 200 ')')" '>=' a3
answered 0 '"id":1,"verdict":"[tu][rn]'
asked "$(repeat 100 'floordiv(')a$(repeat 100 ',2)')" '>=' 1
answered 0 '"id":1,"verdict":"'
asked "$(repeat 16 'floordiv(')a$(repeat 16 ',2)')" '>=' 1
answered 0 '"id":1,"verdict":"depends"'
asked 'a^100000' '>=' 'a^99999'
answered 0 '"id":1,"verdict":"true"'
asked 'floordiv(a, 2)^100000' '>=' 1
answered 0 '"id":1,"verdict":"depends"'
asked '(a+b)^1000' '>=' 1
answered 0 '"verdict":"unknown".*expected a smaller expression'
asked a '>=' "$(repeat 40 1)"
answered 0 '"verdict":"unknown".*column 1: expected a number below 2^127'
asked "a*$(repeat 38 9)*$(repeat 38 9)" '>=' 1
answered 0 '"verdict":"unknown".*expected a smaller expression'
asked "$(repeat 1000 'b&+')a" '>=' 1001
answered 0 '"id":1,"verdict":"true"'
asked "$(repeat 1000 'b&+')a" '>=' 1002
answered 0 '"verdict":"unknown","why":"more than 256 variables"'
asked "$(repeat 20 'b&*')a" '>=' 'b1 + 1'
answered 0 '"id":1,"verdict":"depends"'
asked "$(repeat 1000 'b&*')a" '>=' 2
answered 0 '"id":1,"verdict":"unknown"'
asked a '>=' 1 "$(repeat 299 '"x& >= 1",')\"a >= 1\""
answered 0 '"id":1,"verdict":"true"'
asked a '>=' 1 "$(repeat 4096 '"x& >= 1",')\"a >= 1\""
answered 3 '"expected":"at most 4096 constraints"'
asked x0 '>=' 201 "$(repeat 199 '"x0 >= x& + &",')\"x1 >= 1\""
answered 0 '"id":1,"verdict":"depends"'

# Chains of operators, powers and constraints; the same constraint thousands of times.
asked "a$(repeat 100000 '**1')" '>=' 1
answered 3 '"expected":"less nesting (256 levels)"'
asked "$(repeat 100000 '-')a" '>=' 1
answered 3 '"expected":"less nesting (256 levels)"'
asked "a$(repeat 5000 '\/\/b')" '>=' 1
answered 0 '"verdict":"unknown".*expected a smaller expression'
asked "a$(repeat 100 '\/\/2')" '>=' 1
answered 0 '"id":1,"verdict":"depends"'
asked 'a*b*b' '>=' 3 "$(repeat 4095 '"a*b >= 3",')\"a*b >= 3\""
answered 0 '"id":1,"verdict":"true"'
asked x0 '>=' 1 "$(repeat 4000 '"x& >= y&*2",')\"x1 >= 1\""
answered 0 '"id":1,"verdict":"true"'
asked x0 '>=' x9 "$(repeat 4000 '"x&*x& != x&",')\"x1 >= 1\""
answered 0 '"id":1,"verdict":"'

# Names of any script are names.
asked '日本*é' '>=' '日本' '"a\u0301 >= 2"'
answered 0 '"id":1,"verdict":"true"'
asked 'a\u001b[31m' '>=' 1
answered 3 '"column":2,"expected":"an operator or the end"'

# Operations that are not there, divisors that are 0, nothing at all.
asked a '>=' 1 '"foo(a, 2) >= 3"'
answered 3 '"column":4,"expected":"an operator'
asked a '=>' 1
answered 3 '"column":1,"expected":"one of == != >= <= > <"'
asked a '>=' 1 '"a & 3 == 0"'
answered 3 '"column":3,'
asked '' '>=' 1
answered 3 '"column":1,"expected":"a variable'
asked 'floordiv(a, 0)' '>=' 1
answered 0 '"verdict":"contradiction".*"why":"a divisor is 0 for every assignment"'
asked 'mod(a, b - b)' '==' 0
answered 0 '"verdict":"contradiction".*"why":"a divisor is 0 for every assignment"'
asked a '>=' 1 '"mod(a, 0) == 0"'
answered 0 '"verdict":"contradiction".*"core":\["mod(a, 0) == 0"\]'
asked a '>=' 1 '"a >= 3","b >= 1","a <= 2"'
answered 0 '"verdict":"contradiction".*"core":\["a >= 3","a <= 2"\]'

# Lines that are no questions.
for line in '[1,2]' 3 '"a"' null hello '{"id":1}' '{"id":{},"lhs":"a"}' \
    '{"id":1,"lhs":3,"op":">=","rhs":"1"}' \
    '{"id":1,"id":2,"lhs":"a","op":">=","rhs":"1"}' \
    '{"id":1,"lhs":"a","lhs":"b","op":">=","rhs":"1"}' \
    '{"id":1,"constraints":"a >= 1","lhs":"a","op":">=","rhs":"1"}' \
    '{"id":1,"constraints":[1],"lhs":"a","op":">=","rhs":"1"}' \
    '{"id":1,"base":"x","lhs":"a","op":">=","rhs":"1"}' \
    '{"id":1,"lhs":"a\u0000b","op":">=","rhs":"1"}' \
    "$(repeat 100000 '[')"; do
    { echo "$line" && good; } >"$work/asked"
    answered 3 '"verdict":"error".*"expected":'
done
{ printf '{"id":1,"lhs":"a\377\376","op":">=","rhs":"1"}\n' && good; } >"$work/asked"
answered 3 '"column":17,"expected":"valid UTF-8"'
{ printf '\n  \n\t\n{"id":1,"lhs":"a","op":">=","rhs":"1"}\r\n\n' && good; } >"$work/asked"
answered 0 '"id":1,"verdict":"true"'
# A NUL is no blank.
{ printf '\0\n' && good; } >"$work/asked"
answered 3 '"verdict":"error","column":1'
printf '{"id":7,"lhs":"a","op":">=","rhs":"1"}' >"$work/asked"
expect 0 prove "$work/asked"
prints '"id":7,"verdict":"true"'
: >"$work/asked"
expect 0 prove "$work/asked"

# Of a long question the piece around the mistake is shown.
expect 3 prove "$(repeat 20000 'a+')"
complains 'column 40001: expected'
complains '^  | \.\.\.a+a'
