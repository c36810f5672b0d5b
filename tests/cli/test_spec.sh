# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet spec: what specs mean, what a call checks, which shapes fit.

# The assertions that the documentation of shape polymorphism lists.
expect 0 spec 'b, b, 2*d'
is_silent
cat >"$work/want" <<'EOF'
args[0].shape = (b, b, 2*d)
  b = args[0].shape[0]
  d = args[0].shape[2] // 2
  check args[0].shape[0] >= 1
  check args[0].shape[1] == b
  check args[0].shape[2] % 2 == 0
  check args[0].shape[2] // 2 >= 1
EOF
holds cmp -s "$work/out" "$work/want"
expect 0 spec 'b, b, 2*d' --shape 3,3,6
prints '^b = 3$'
prints '^d = 3$'
expect 3 spec 'b, b, 2*d' --shape 3,3,5
complains 'args\[0\].shape\[2\]: is 5, declared 2\*d: .* remainder 1 '

# Placeholders, pytrees of arguments, sums and differences.
expect 0 spec '(b, _, _)' None 'a, ...' --like 3,4,5 --like 2 --like 7
prints '^args\[0\].shape = (b, 4, 5)$'
prints '^args\[1\].shape = (2,)$'
prints '^args\[2\].shape = (a,)$'
expect 0 spec 'a, b + 2*a, 10 - c, 3*d - 2*a*b, e^2'
prints '^  b = args\[0\].shape\[1\] - 2\*a$'
prints '^  c = 10 - args\[0\].shape\[2\]$'
prints '^  d = (args\[0\].shape\[3\] - (- 2\*a\*b)) // 3$'
prints '^  check (args\[0\].shape\[3\] - (- 2\*a\*b)) % 3 == 0$'
prints '^  can.t solve e^2 == args\[0\].shape\[4\]$'

# Equalities rewrite; other constraints are checked.
expect 0 spec 'a, 2*b*a, a*b*b, c, d' --where 'a * b == c + d'
prints '^args\[0\].shape = (a, 2\*d + 2\*c, b\*d + b\*c, c, d)$'
prints '^  check a \* b == c + d$'
expect 3 spec a b --where 'a > 2*b' --shape 4 --shape 2
complains 'the constraint `a > 2\*b` does not hold: 4 >= 5 is false; a = 4 from args\[0\].shape\[0\], b = 2 from args\[1\].shape\[0\]$'
expect 3 spec a b --where 'a != b' --shape 4 --shape 4
complains 'the constraint `a != b` does not hold: 4 != 4 is false'
expect 0 spec a b --where 'a != b' --shape 4 --shape 3

expect 0 spec 'max(c, a), 2*min(a, c) + 1, max(a, d)' --where 'a + 1 >= 2*c'
prints '^args\[0\].shape = (a, 2\*c + 1, max(a, d))$'
expect 0 spec a --where 'a >= b'
prints '^  can.t check a >= b: no input.s shape has b$'

# What can't be read is named with its column; what can't be is named, too.
expect 3 spec 'a,,b'
complains 'spec: column 3: expected a variable'
expect 3 spec 'a, _'
complains 'column 4: expected a size'
expect 3 spec a --where 'a + b == 3'
complains 'a + b == 3: expected one product'
expect 3 spec a --where 'a = 3'
complains 'column 3: expected an operator or a comparison'
expect 3 spec a --where 'a >= 8' --where 'a <= b' --where '2*a <= 15'
complains 'no sizes satisfy `a >= 8` and `2\*a <= 15`$'
expect 2 spec
expect 2 spec a --like 3 --like 4

# Nothing divides by what is always 0.
expect 3 spec 'a//(b - b)'
complains 'column 1: expected a size that does not divide by 0'
