# shellcheck shell=sh
# What a program may take: --memory and --time, of each program alone.

cat >"$work/endless.jaxpr" <<'TEXT'
{ lambda ; a:f32[3]. let
    b:f32[3] = while[
      body_jaxpr={ lambda ; c:f32[3]. let d:f32[3] = sin c in (d,) }
      body_nconsts=0
      cond_jaxpr={ lambda ; e:f32[3]. let
          f:f32[] = reduce_sum[axes=(0,)] e
          g:bool[] = eq f f
        in (g,) }
      cond_nconsts=0
    ] a
  in (b,) }
TEXT
# expect_within CODE ARG... - as expect, in less than five seconds.
expect_within() {
    code=$1
    shift
    timeout 5 "$JAXVET" "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ $got -eq "$code" ]; then pass; else fail "jaxvet $*: exit code $got, expected $code"; fi
}
expect 3 run "$work/endless.jaxpr" --fill zeros --time 0.2
complains 'endless.jaxpr: gave up at 0.2 s, the limit, while running'

# Long loops of small and of nothing, and one large operation.
echo '{ lambda ; a:f32[40000000]. let b:f32[40000000] = lgamma a in (b,) }' >"$work/large.jaxpr"
expect 3 run "$work/large.jaxpr" --fill random:1 --time 0.3
complains 'gave up at 0.3 s'
expect 3 run "$work/large.jaxpr" --fill zeros --memory 100MB
complains 'gave up'
is_small() { # KIBIBYTES ARG...: the command's peak of memory
    most=$1
    shift
    peak=$(python3 -c 'import os, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.wait4(p.pid, 0)[2].ru_maxrss)' "$JAXVET" "$@")
    [ "$peak" -lt "$most" ]
}

# A pipe that nobody writes to, or that never ends.
mkfifo "$work/quiet" "$work/idle"
exec 9<>"$work/idle"
for name in "$work/quiet" -; do
    for command in check 'run --fill zeros' info "diff $work/endless.jaxpr"; do
        # shellcheck disable=SC2086 # two words
        expect_within 3 $command "$name" --time 0.2 <&9
        complains 'gave up at 0.2 s, the limit, while reading'
    done
done
exec 9<&-
expect_within 3 info /dev/zero --time 0.2
complains 'gave up at 0.2 s, the limit, while reading'
# One that somebody writes to in time is read.
{ sleep 0.3 && cat tests/host/scale.json; } >"$work/quiet" &
expect 0 check "$work/quiet" --time 9
wait
# What others made not to wait is waited for, either way.
holds python3 - "$JAXVET" tests/host/scale.json <<'PY'
import os, subprocess, sys, time
command, program = sys.argv[1:]
text = open(program, "rb").read()
(from_us, to_it), (from_it, to_us) = os.pipe(), os.pipe()
os.set_blocking(from_us, False)
os.set_blocking(to_us, False)
child = subprocess.Popen([command, "run", "-", "--set", "b=20000", "--outputs", "/dev/stdout"],
                         stdin=from_us, stdout=to_us)
os.close(to_us)
time.sleep(0.3)
os.write(to_it, text)
os.close(to_it)
time.sleep(0.3)
got = b"".join(iter(lambda: os.read(from_it, 1 << 16), b""))
sys.exit(child.wait() or len(got) < 240000)
PY

# Regions have no names: what is called twice in each loop is written out.
python3 - >"$work/doubles.jaxpr" <<'PY'
depth = 24
loop = ("scan[_split_transpose=False jaxpr=f{} length=2 linear=(False,) num_carry=1 "
        "num_consts=0 reverse=False unroll=1]")
head = "{ lambda ; a:f32[4]. let\n    "
for k in range(depth, 0, -1):
    print(f"let f{k} = {head}b:f32[4] = {loop.format(k - 1)} a\n"
          f"    c:f32[4] = {loop.format(k - 1)} b\n  in (c,) }} in")
print(f"let f0 = {head}b:f32[4] = sin a\n  in (b,) }} in")
print(f"{head}b:f32[4] = {loop.format(depth)} a\n  in (b,) }}")
PY
expect 3 show --as stablehlo "$work/doubles.jaxpr" --memory 50MB
complains 'gave up at 48 MiB of memory, the limit, while lowering'

# A gradient that nobody asked for takes no more than the rest does.
python3 - >"$work/loss.jaxpr" <<'PY'
print("{ lambda ; v0:f32[8]. let")
for i in range(0, 40000, 2):
    print(f"    v{i + 1}:f32[8] = max v{i} 1.0:f32[]\n    v{i + 2}:f32[8] = sqrt v{i + 1}")
print("    w:f32[] = reduce_sum[axes=(0,) out_sharding=None] v40000\n  in (w,) }")
PY
expect 0 check "$work/loss.jaxpr" --memory 250MB
prints '^assumed: the gradient is finite: it was not looked at, of 40001 equations'

# Of a program where something shows there are three plans, each of which is kept without what was
# needed to make it.
sed 's/max \(v[0-9]*\) 1.0/mul \1 1.1/' "$work/loss.jaxpr" >"$work/shows.jaxpr"
expect 0 check "$work/shows.jaxpr" --memory 260MB

# A file that may not grow is a full disk, not a death.
(
    ulimit -f 8
    exec "$JAXVET" run tests/host/scale.json --set b=100000 --outputs "$work/large.npz"
) 2>"$work/err"
holds test $? -eq 3
complains "large.npz: can't be written: "
holds test ! -e "$work/large.npz"

# Files that unpack to far more than they are.
head -c 100000000 /dev/zero | tr '\0' ' ' | gzip -1 >"$work/spaces.json.gz"
{
    printf '{"x":[0'
    head -c 20000000 /dev/zero | sed 's/\x00/,0/g'
    printf ']}'
} | gzip -1 >"$work/numbers.json.gz"
for bomb in spaces numbers; do
    for command in check info show run gradcheck "diff $work/endless.jaxpr"; do
        # shellcheck disable=SC2086 # two words
        expect 3 $command "$work/$bomb.json.gz" --memory 50MB
        complains 'gave up at 48 MiB of memory, the limit, while reading'
    done
done
case $JAXVET in
*asan*) ;; # has shadows of its own
*) holds is_small 90000 check "$work/numbers.json.gz" --memory 50MB ;;
esac

# One that gives up does not take the others with it.
mkdir "$work/dir"
cp "$work/numbers.json.gz" "$work/dir/numbers.jaxpr.gz"
cp tests/prims/abs.jaxpr "$work/dir/b.jaxpr"
echo '{ lambda ; a:f32[3]. let b:f32[3] = abs a in (b,) }' >"$work/dir/z.jaxpr"
expect 3 check "$work/dir" --memory 50MB
prints 'numbers.jaxpr.gz: gave up at 48 MiB of memory, the limit, while reading'
prints '^2 errors$\|3 programs'
expect 3 gradcheck "$work/dir/numbers.jaxpr.gz" "$work/dir/z.jaxpr" --memory 50MB
prints '2 programs'

expect 2 check "$work/dir" --memory much
complains 'expected a size such as 512MiB'
expect 2 run "$work/endless.jaxpr" --memory 0
expect 2 run "$work/endless.jaxpr" --time soon

# Questions: the file's share, and each question's own; what is beyond it is
# unknown and the others stay.
python3 - "$work" <<'PY'
import json, sys
ask = lambda i, lhs, **more: json.dumps({"id": i, "lhs": lhs, "op": ">=", "rhs": "a", **more}) + "\n"
with open(sys.argv[1] + "/questions.jsonl", "w") as f:
    f.write(ask(1, "2*a") + ask(2, "a", constraints=["a >= 1"] * 4000 + ["x" * 40000000]) + ask(3, "3*a"))
PY
expect 3 prove "$work/questions.jsonl" --memory 20MB
complains 'questions.jsonl: gave up at 19 MiB of memory, the limit, while reading'
expect 0 prove "$work/questions.jsonl" --memory 130MB
prints '"id":1,"verdict":"true"'
prints '"verdict":"unknown".*gave up at [0-9]* MiB of memory, the limit, while reading'
prints '"id":3,"verdict":"true"'
expect 5 prove "$work/questions.jsonl" --memory 130MB --strict
expect_within 0 prove 'a*b*c >= mod(a, 7)*b^3*c' --time 0.000001
prints 'unknown, no answer'
prints 'why: gave up at 1e-06 s, the limit, while'
expect_within 3 prove /dev/zero --memory 50MB
complains '/dev/zero: gave up at 48 MiB of memory, the limit, while reading'
expect_within 3 prove --check /dev/zero --memory 50MB
complains 'gave up at 48 MiB of memory, the limit, while reading'
expect_within 3 spec 'a, b' --memory 1
complains 'gave up at 1 bytes\?.*the limit'
expect_within 3 spec 'max(a, b*c), b, c' --time 0.000001
complains 'gave up at 1e-06 s, the limit'
for command in "prove a>=1" "spec a"; do
    # shellcheck disable=SC2086 # two words
    expect 2 $command --memory much
    complains 'expected a size such as 512MiB'
    # shellcheck disable=SC2086 # two words
    expect 2 $command --time soon
done

# What a long chain of loops takes grows as it does, not with its square: 8,000 of them.
awk 'BEGIN {
    print "{ lambda ; v0:f32[8]. let"
    for (i = 0; i < 8000; i++)
        printf "    v%d:f32[8] = scan[_split_transpose=False jaxpr={ lambda ; a:f32[8]. let b:f32[8] = sin a; c:f32[8] = mul b 0.5:f32[]; d:f32[8] = add c 1.0:f32[]; e:f32[8] = tanh d in (e,) } length=1000 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] v%d\n", i + 1, i
    print "  in (v8000,) }"
}' >"$work/loops.jaxpr"
expect 0 check "$work/loops.jaxpr" --memory 600MiB

# So does what its derivative takes, where all is kept for the way back: 30,000 equations.
awk 'BEGIN {
    print "{ lambda ; v0:f32[4]. let"
    for (i = 0; i < 30000; i += 2) {
        printf "    v%d:f32[4] = mul v%d 1.01:f32[]\n", i + 1, i
        printf "    v%d:f32[4] = max v%d 0.5:f32[]\n", i + 2, i + 1
    }
    print "    s:f32[] = reduce_sum[axes=(0,) out_sharding=None] v30000"
    print "  in (s,) }"
}' >"$work/loss.jaxpr"
case $JAXVET in
*asan* | *debug*) ;; # verifies as much again
*) holds sh -c "ulimit -t 20; exec \"\$JAXVET\" check \"$work/loss.jaxpr\" >/dev/null" ;;
esac

# Nor with that of loops whose ends nobody knows: 3,000 of them.
awk 'BEGIN {
    print "{ lambda ; v0:f32[4]. let"
    for (i = 0; i < 3000; i++)
        printf "    v%d:f32[4] = while[body_jaxpr={ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) } body_nconsts=0 cond_jaxpr={ lambda ; a:f32[4]. let b:f32[] = reduce_sum[axes=(0,)] a; c:bool[] = gt b 3.0:f32[] in (c,) } cond_nconsts=0] v%d\n", i + 1, i
    print "  in (v3000,) }"
}' >"$work/ends.jaxpr"
expect 0 check "$work/ends.jaxpr" --memory 300MiB

# 4,000 functions of one name.
awk 'BEGIN {
    print "{ lambda ; v0:f32[4]. let"
    for (i = 0; i < 4000; i++)
        printf "    v%d:f32[4] = jit[name=f jaxpr={ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }] v%d\n", i + 1, i
    print "  in (v4000,) }"
}' >"$work/alike.jaxpr"
holds sh -c "ulimit -t 10; exec \"\$JAXVET\" show --as stablehlo \"$work/alike.jaxpr\" >\"$work/out\""
prints '@f_3998('
