# shellcheck shell=sh
# jaxvet check: exit codes, what can't be read, folders, outputs.

# A program that is fine, one whose sizes disagree, one with a primitive that is
# unknown; each on one line.
fine=tests/host/scale.json
head='{"format":"jaxvet-jaxpr","version":1,"producer":{"jaxvet":"0","jax":"0.10.2","python":"3.11.7","x64":false},"entry":{"jaxpr":0,"name":"f"},"files":[["model.py","user",{"7":"    return x + y"}]],"frames":[[0,"f",7,11,7,16]],"stacks":[[0]],'
printf '%s\n' "$head"'"avals":[{"dt":"f32","sh":["a"]},{"dt":"f32","sh":["b"]}],"prims":["add"],"jaxprs":[{"in":[0,1],"eqns":[[0,[0,1],[0],{},0,-1,-1]],"out":[2]}]}' >"$work/wrong.json"
printf '%s\n' "$head"'"avals":[{"dt":"f32","sh":["a"]}],"prims":["frobnicate"],"jaxprs":[{"in":[0],"eqns":[[0,[0],[0],{},0,-1,-1]],"out":[1]}]}' >"$work/unknown.json"

expect 0 check "$fine"
prints '^1 program: [0-9]* proved, 0 refuted, 0 witnessed, 0 undecided$'
is_silent
expect 1 check "$work/wrong.json"
prints '^error\[SHP010\]'
prints 'model.py:7:12'
prints 'return x + y'
prints 'counterexample: a = '
prints ' 1 refuted, '
expect 0 check "$work/wrong.json" --fail-on never
expect 0 check "$work/wrong.json" --ignore SHP
expect 2 check "$work/wrong.json" --select NOPE
complains 'NOPE'
expect 0 check "$work/unknown.json"
prints '[1-9][0-9]* undecided$'
expect 5 check "$work/unknown.json" --strict
prints 'PRM001'

# The first that applies: unreadable before findings before undecided.
expect 1 check "$work/unknown.json" "$work/wrong.json" --strict
expect 3 check "$work/wrong.json" "$work/missing.json"
expect 2 check
expect 2 check --format xml "$fine"

# Every way of being unreadable says where and what was expected, and is exit 3.
: >"$work/empty"
head -c 200 "$fine" >"$work/cut"
printf '\377\376' >"$work/binary"
sed 's/"version":1/"version":99/' "$fine" >"$work/version"
sed 's/\[0,1\],\[0\]/[0,9],[0]/' "$fine" >"$work/index"
{ cat "$fine"; echo '{}'; } >"$work/twice"
gzip -c "$fine" | head -c 100 >"$work/cut.gz"
awk 'BEGIN { printf "{\"format\":"; for (i = 0; i < 100000; i++) printf "["; print "" }' >"$work/deep"
for bad in empty cut binary version index twice cut.gz deep missing; do
    expect 3 check "$work/$bad"
    grep -q "$bad" "$work/out" "$work/err" || fail "$bad is not named"
    expect 3 check "$work/$bad" --format json
    holds grep -q '"status":"unreadable"' "$work/out"
done
expect 3 check - </dev/null

# Standard input, a gzip, the same bytes twice.
expect 0 check - <"$fine"
gzip -c "$fine" >"$work/fine.gz"
expect 0 check "$work/fine.gz"
for format in text json sarif github; do
    expect 1 check --format $format "$work/wrong.json" "$work/unknown.json"
    cp "$work/out" "$work/first"
    expect 1 check --format $format "$work/wrong.json" "$work/unknown.json" -o "$work/report"
    holds cmp -s "$work/first" "$work/report"
done

# A folder: files that are no programs are counted and skipped.
mkdir "$work/folder"
cp "$fine" "$work/folder/fine.json"
echo 'not a program' >"$work/folder/README"
echo '{"other":"json"}' >"$work/folder/other.json"
expect 0 check "$work/folder"
prints '^1 program'
prints 'skipped'

# Colours only when asked for; an output is whole or not there.
expect 1 check "$work/wrong.json" --color always
prints "$(printf '\033')"
expect 1 check "$work/wrong.json"
if grep -q "$(printf '\033')" "$work/out"; then fail 'colours in a file'; else pass; fi
expect 3 check "$fine" -o "$work/no/such/folder/report"
complains 'no/such/folder/report'
expect 3 check "$fine" -o /dev/full
echo old >"$work/kept"
expect 3 check "$work/missing" -o "$work/kept"

# Standard output that is full.
"$JAXVET" check "$fine" >/dev/full 2>"$work/err"
got=$?
holds test $got -eq 3
