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

# A folder: programs by what they hold or what they are called. One that can't be
# read is named, whatever else is fine; what is no program is counted.
rules=tests/rules
many=$work/many
mkdir -p "$many/deep" "$work/nothing/deeper"
file=tests/data/exported/0.10.2-vjp2.jaxexport
cp "$file" "$many/ok.jaxexport"
cp $rules/SHP001_passes.json.gz "$many/ok.json.gz"
gzip -dc $rules/SHP001_passes.json.gz >"$many/ok.json"
echo '{"tokenizer": 1}' >"$many/other.json"
echo '{"tokenizer": 1}' | gzip >"$many/other.json.gz"
echo 'text' >"$many/deep/notes.txt"
expect 0 check "$many" --strict
prints '^3 other files skipped$'
expect 0 check "$many" --list-skipped
prints "^skipped: $many/deep/notes.txt\$"
expect 0 check "$many" --list-skipped --format json
prints '"skipped":\[".*/deep/notes.txt",".*/other.json",".*/other.json.gz"\]}$'
cuts=0
for name in model.jaxexport m.mlir m.mlirbc m.stablehlo m.jaxpr M.JAXEXPORT m.mlir.gz \
    c.json c.json.gz e.json e.mlirbc; do
    case $name in
    *.json.gz) head -c 200 $rules/SHP001_fails.json.gz ;;
    c.json) head -c 20 "$many/ok.json" ;;
    m.mlir.gz) gzip -c "$file" | head -c 200 ;;
    e.*) : ;;
    *) head -c 333 "$file" ;;
    esac >"$many/deep/$name"
    cuts=$((cuts + 1))
    expect 3 check "$many"
    prints "^unreadable: $many/deep/$name: "
    complains "$many/deep/$name: "
    prints "^$cuts programs* can't be read\$"
    expect 3 check "$many" --format github
    prints "^::error file=$many/deep/$name,title=unreadable::"
done
ln -s nowhere "$many/deep/gone.jaxexport"
mkfifo "$many/deep/pipe.mlir" "$many/deep/pipe.json"
expect 3 check "$many"
prints "^unreadable: $many/deep/gone.jaxexport: can't be opened: No such file"
prints "^unreadable: $many/deep/pipe.mlir: is no regular file"
prints "^$((cuts + 2)) programs can't be read\$"

# A folder without a program is a wrong folder, wherever it stands.
expect 3 check "$work/nothing"
prints "^unreadable: $work/nothing: no program is in this folder"
expect 3 check --strict --format json "$work/nothing"
expect 3 check "$many/ok.json" "$work/nothing"
expect 0 check --allow-empty "$work/nothing"
prints '^0 programs: '
expect 3 check "$work/no-such-folder" "$many/ok.json"
prints '^2 programs: [1-9]'

# What the system says of a folder of which one is closed, for who isn't root.
mkdir -p "$work/closed/inner"
cp "$many/ok.json" "$work/closed"
chmod 0 "$work/closed/inner"
if ls "$work/closed/inner" >/dev/null 2>&1; then
    expect 0 check "$work/closed"
else
    expect 3 check "$work/closed"
    prints "^unreadable: $work/closed/inner: can't be opened: Permission denied"
fi
chmod 755 "$work/closed/inner"
# One whose names can be read and nothing else, nor what lies deeper than a path
# can say: neither is a folder without programs.
cp "$many/ok.json" "$work/closed/inner"
chmod 444 "$work/closed/inner"
if ls "$work/closed/inner/ok.json" >/dev/null 2>&1; then
    expect 0 check "$work/closed"
else
    expect 3 check "$work/closed"
    prints "^unreadable: $work/closed/inner/ok.json: can't be opened: Permission denied"
fi
chmod 755 "$work/closed/inner"
python3 - "$work/long" "$many/ok.json" <<'PY'
import os, sys
program = open(sys.argv[2]).read()
os.mkdir(sys.argv[1])
os.chdir(sys.argv[1])
open("ok.json", "w").write(program)
for _ in range(25):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("cut.mlir", "w").write("module {")
PY
expect 3 check "$work/long"
prints "^unreadable: $work/long/ddd.*: can't be opened: File name too long"

# Lines and columns at the ends of what an int holds are not known.
gzip -dc tests/rules/SHP010_fails.json.gz >"$work/frame.json"
for frame in '[1,"f",3,11,2147483647,2147483647]' '[1,"f",2147483647,2147483647,2147483647,2147483647]' \
    '[1,"f",2147483640,2147483647,2147483647,-1]' '[1,"f",3,2147483647,3,2147483647]'; do
    python3 - "$work/frame.json" "$work/edge.json" "$frame" <<'PY'
import json, sys
given = json.load(open(sys.argv[1]))
given["frames"][1] = json.loads(sys.argv[3])
json.dump(given, open(sys.argv[2], "w"))
PY
    for format in text json sarif github; do
        expect 1 check --format $format "$work/edge.json"
    done
done
# What a file compares without a message is written as it prints.
cat >"$work/asserts.mlir" <<'EOF'
module {
  func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1) {api_version = 2 : i32, error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
    return %arg0 : tensor<?x4xf32>
  }
}
EOF
expect 0 show --as json "$work/asserts.mlir"
prints '"constraints":\[\["geq","arg0_0","2","arg0_0 >= 2"\]\]'

# The same finding in many files is said once; of a file as a whole in a line.
mkdir -p "$work/same"
for i in 1 2 3; do
    cp tests/rules/EXP006_fails.* "$work/same/$i.mlir"
    cp $rules/SHP010_fails.json.gz "$work/same/p$i.json.gz"
done
expect 1 check "$work/same"
prints "^note\[EXP006\] path-leaked in 3 files, the first $work/same/1.mlir: [1-9]"
prints '= note: the same in 2 other files$'
holds test "$(grep -c 'EXP006' "$work/out")" = 1
holds test "$(grep -c '^error\[SHP010\]' "$work/out")" = 1
prints '^3 errors, 3 notes$'
expect 1 check --format json "$work/same"
holds test "$(grep -o '"code":"EXP006"' "$work/out" | wc -l)" = 3
expect 1 check --format sarif "$work/same"
# ... and each file's own has a fingerprint of its own.
holds test "$(python3 -c '
import json, sys
found = [r for r in json.load(sys.stdin)["runs"][0]["results"] if r["ruleId"] == "EXP006"]
print(len({r["partialFingerprints"]["jaxvet/v1"] for r in found}))' <"$work/out")" = 3
# Counters of random bits are cut into words on purpose.
expect 0 check --fail-on note tests/data/random-normal.jaxexport --select IDX004
holds test "$(grep -c IDX004 "$work/out")" = 0

# Links to folders are not followed, and are counted among what is skipped.
mkdir "$work/linked" "$work/beyond"
cp tests/prims/abs.jaxpr "$work/beyond/b.jaxpr"
echo '{ lambda ; a:f32[3]. let b:f32[3] = abs a in (b,) }' >"$work/linked/a.jaxpr"
ln -s ../beyond "$work/linked/more"
expect 0 check "$work/linked" --list-skipped
prints '1 program'
prints '1 other file skipped'
prints 'skipped: .*linked/more$'
expect 0 check --help
prints 'links to folders, which are not followed'
