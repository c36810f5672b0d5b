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

# Files that unpack to far more than they are.
head -c 100000000 /dev/zero | tr '\0' ' ' | gzip -1 >"$work/spaces.json.gz"
{
    printf '{"x":[0'
    head -c 20000000 /dev/zero | sed 's/\x00/,0/g'
    printf ']}'
} | gzip -1 >"$work/numbers.json.gz"
for bomb in spaces numbers; do
    for command in check info show run gradcheck 'diff endless.jaxpr'; do
        # shellcheck disable=SC2086 # two words
        expect 3 $command "$work/$bomb.json.gz" --memory 50MB
        complains 'gave up at 48 MiB of memory, the limit, while reading\|endless'
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
