# shellcheck shell=sh
# shellcheck disable=SC2154,SC2016 # $work is run.sh's; backquotes are meant
# check: what a document says of the function at concrete sizes.

# document FACTOR RETRACES COMPARISONS - x * FACTOR for f32[b]; jaxpr 1 is
# x * 10 at b = 1, 2 is FACTOR * x at 1 in other words, 3 is x * FACTOR at 4.
document() {
    cat <<END
{"format":"jaxvet-jaxpr","version":1,"producer":{"jaxvet":"0.1.0","jax":"0.10.2","python":"3.11.7","x64":false},"entry":{"jaxpr":0,"name":"f","in_paths":["x"],"out_paths":[""]},"files":[["model.py","user",{"3":"    return x * factor","7":"    if n == 1:"}]],"frames":[[0,"f",3,11,3,21],[0,"f",7,7,7,13]],"stacks":[[0],[1]],"scopes":[{"constraints":[["geq","12","b","b <= 12"]],"stack":1}],"avals":[{"dt":"f32","sh":["b"]},{"dt":"f32"},{"dt":"f32","sh":[1]},{"dt":"f32","sh":[4]},{"dt":"f32","sh":[40]}],"prims":["mul","copy","add"],"jaxprs":[{"in":[0],"eqns":[[0,[0,{"a":1,"v":$1}],[0],{"out_dtype":null},0,-1,-1]],"out":[1]},{"in":[2],"eqns":[[0,[0,{"a":1,"v":10.0}],[2],{"out_dtype":null},0,-1,-1]],"out":[1]},{"in":[2],"eqns":[[1,[0],[2],{},0,-1,-1],[0,[1,{"a":1,"v":$1}],[2],{"out_dtype":null},-1,-1,-1]],"out":[2]},{"in":[3],"eqns":[[0,[0,{"a":1,"v":$1}],[3],{"out_dtype":null},0,-1,-1]],"out":[1]},{"in":[3],"eqns":[[2,[0,0],[3],{},0,-1,-1]],"out":[1]}],"comparisons":[$3],"retraces":[$2]}
END
}
one='{"sizes":{"b":1},"jaxpr":1}'
same='{"sizes":{"b":1},"jaxpr":2}'
four='{"sizes":{"b":4},"jaxpr":3}'
twice='{"sizes":{"b":4},"jaxpr":4}'
asked='{"op":"==","lhs":"b","rhs":"1","verdict":false,"n":1,"stack":1,"site":["model.py","f"]}'

# A difference is an error at the user's line, with both results.
document 2.0 "$one,$four" "" >"$work/differs.json"
expect 1 check "$work/differs.json"
prints '^error\[SHP001\] trace-decided-by-size: traced again at b = 1, the function gives out0\[0\] = -*[0-9.]*, the exported program -*[0-9.]*$'
prints ' --> model.py:3:12$'
prints 'traced again at b = 4: no difference at these sizes'
prints '^1 program: .* 0 refuted, 1 witnessed, 0 undecided$'
expect 1 check --format json "$work/differs.json"
prints '"sizes":{"b":1}'
prints '"evidence":"execution"'

# The same program, in other words; another one that gives the same.
document 2.0 "$same,$four" "" >"$work/same.json"
expect 0 check "$work/same.json"
prints 'traced again at b = 1; b = 4: no difference at these sizes$'
document 2.0 "$twice" "" >"$work/runs.json"
expect 0 check "$work/runs.json"
prints 'traced again at b = 4: no difference at these sizes (1 of 1 by running both)$'

# A wrong answer matters where the function is another program there; where it
# is the same, it is a note; elsewhere nothing is known of it.
document 2.0 "$one,$four" "$asked" >"$work/matters.json"
expect 1 check "$work/matters.json"
prints '`b == 1` was taken to be false, but it is true when b = 1'
prints 'traced again at b = 1, the function gives'
prints '^1 program: .* 1 refuted, 0 witnessed, 0 undecided$'
document 2.0 "$same,$four" "$asked" >"$work/harmless.json"
expect 0 check "$work/harmless.json"
prints '^note\[SHP001\].*`b == 1` was taken to be false, but it is true when b = 1'
prints 'note: traced again where the answer is wrong, the function shows no difference$'
prints '^1 program: .* 1 refuted, 0 witnessed, 0 undecided$'
document 2.0 "$four" "$asked" >"$work/elsewhere.json"
expect 1 check "$work/elsewhere.json"
prints '^1 program: .* 1 refuted, 0 witnessed, 0 undecided$'

# Who asked needs no line for that.
document 2.0 "$four" '{"op":"==","lhs":"b","rhs":"1","verdict":false,"n":1,"site":["model.py","f"]}' >"$work/nowhere.json"
expect 1 check "$work/nowhere.json"
prints '`b == 1` was taken to be false, but it is true when b = 1'

# What the function raises is no breach; what can't be compared is undecided.
raised='{"sizes":{"b":1},"raised":"ValueError: one","stack":1}'
document 2.0 "$raised,$four" "" >"$work/raised.json"
expect 0 check --strict "$work/raised.json"
prints 'traced again at b = 1, the function raises ValueError: one (model.py:7); the exported program takes these sizes$'
document 2.0 "$raised,$four" "$asked" >"$work/asked.json"
expect 0 check --strict "$work/asked.json"
prints 'traced again where it is, the function shows no difference, or raises$'
document 2.0 "$raised" "" >"$work/everywhere.json"
expect 5 check --strict "$work/everywhere.json"
prints 'raised at every size where it was traced again'
for row in '{"sizes":{"b":1},"undecided":"it is random"}' \
    '{"sizes":{"b":99},"jaxpr":3}' '{"sizes":{"c":1},"jaxpr":2}' \
    '{"sizes":{},"jaxpr":2}'; do
    document 2.0 "$row" "" >"$work/undecided.json"
    expect 0 check "$work/undecided.json"
    prints '^undecided\[SHP001\]'
    expect 5 check --strict "$work/undecided.json"
done

# Inputs of other sizes than the retrace says are no comparison either.
document 2.0 '{"sizes":{"b":2},"jaxpr":3}' "" >"$work/other.json"
expect 0 check "$work/other.json"
prints '^undecided\[SHP001\]'

# Another structure that does no harm comes first: the line is the one after
# which values differ.
cat >"$work/later.json" <<'END'
{"format":"jaxvet-jaxpr","version":1,"producer":{"jaxvet":"0.1.0","jax":"0.10.2","python":"3.11.7","x64":false},"entry":{"jaxpr":0,"name":"f","in_paths":["x"],"out_paths":[""]},"files":[["model.py","user",{"3":"    y = x + x","4":"    return y * factor"}]],"frames":[[0,"f",3,8,3,13],[0,"f",4,11,4,21]],"stacks":[[0],[1]],"scopes":[{"stack":1}],"avals":[{"dt":"f32","sh":["b"]},{"dt":"f32"},{"dt":"f32","sh":[2]}],"prims":["mul","add"],"jaxprs":[{"in":[0],"eqns":[[0,[0,{"a":1,"v":2.0}],[0],{"out_dtype":null},0,-1,-1],[0,[1,{"a":1,"v":3.0}],[0],{"out_dtype":null},1,-1,-1]],"out":[2]},{"in":[2],"eqns":[[1,[0,0],[2],{},0,-1,-1],[0,[1,{"a":1,"v":4.0}],[2],{"out_dtype":null},1,-1,-1]],"out":[2]}],"retraces":[{"sizes":{"b":2},"jaxpr":1}]}
END
expect 1 check "$work/later.json"
prints '^ --> model.py:4:12$\|^  *--> model.py:4:12$'

# Hundreds of sizes are not an invitation to take hours.
rows=$four
for _ in $(seq 70); do rows="$rows,$four"; done
document 2.0 "$rows" "" >"$work/many.json"
expect 5 check --strict "$work/many.json"
prints 'so many sizes are not compared'
