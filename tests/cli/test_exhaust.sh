# shellcheck shell=sh
# shellcheck disable=SC2154,SC2016 # $work is run.sh's; backquotes are meant
# gradcheck --exhaust from outside: every input of a dtype, told from a sample of them.
cat >"$work/exp.jaxpr" <<'END'
{ lambda ; a:bf16[]. let b:bf16[] = exp a in (b,) }
END
expect 0 gradcheck --exhaust "$work/exp.jaxpr"
prints ': exhausted: all 65536 inputs of bf16, against float64$'
prints ': value: at most 0\.[0-9]* ULP off, at '
prints ': derivative: at most 0\.[0-9]* ULP off, at '
expect 0 gradcheck --exhaust --format json "$work/exp.jaxpr"
prints '"evidence":"exhausted","dtype":"bf16","arguments":1,"inputs":65536,"step":1,'

# Some of the inputs are a sample, and called that.
expect 0 gradcheck --exhaust=100 "$work/exp.jaxpr"
prints ': sampled: every 100-th input of bf16, 656 of them, against float64$'
expect 0 gradcheck --exhaust=100 --format json "$work/exp.jaxpr"
prints '"evidence":"sampled"'
expect 2 gradcheck --exhaust=0 "$work/exp.jaxpr"
expect 2 gradcheck --exhaust=x "$work/exp.jaxpr"
expect 2 gradcheck --reference "$work/exp.jaxpr" "$work/exp.jaxpr"

# Two arguments of 16 bits are pairs; of f32 there are too many.
cat >"$work/mul.jaxpr" <<'END'
{ lambda ; a:f16[3] b:f16[3]. let c:f16[3] = mul a b in (c,) }
END
expect 0 gradcheck --exhaust=65537 "$work/mul.jaxpr"
prints ': sampled: every 65537-th pair of f16, '
prints ': derivative along the second argument: off by less than 0.001 ULP$'
sed 's/f16/f32/g' "$work/mul.jaxpr" >"$work/pairs.jaxpr"
expect 3 gradcheck --exhaust=65537 "$work/pairs.jaxpr"
complains 'pairs of f32 are too many'

# What cancels is told: in bf16, and in float64, which is no reference there.
cat >"$work/cosm1.jaxpr" <<'END'
{ lambda ; a:f16[]. let
    b:f16[] = cos a
    c:f16[] = sub 1.0:f16[] b
    d:f16[] = mul a a
    e:f16[] = div c d
  in (e,) }
END
expect 0 gradcheck --exhaust "$work/cosm1.jaxpr"
prints ': value: [0-9]* inputs off by 1 ULP or more'
prints ': value: not monotone [0-9]* times, first at '
prints ': value: [0-9]* inputs NaN though the reference is not: \[-0.00017'

# i1e'(0) is 1/2, and so it is around: 1/x overflows in f16 before x is 0.
cat >"$work/i1e.jaxpr" <<'END'
{ lambda ; a:f16[]. let b:f16[] = bessel_i1e a in (b,) }
END
expect 0 gradcheck --exhaust --format json "$work/i1e.jaxpr"
prints '"derivatives":\[{.*"not_finite":{"inputs":0,'

# A number that stands apart is no step of a function that goes up.
cat >"$work/spike.jaxpr" <<'END'
{ lambda ; a:f32[]. let
    b:bool[] = eq a 2.0:f32[]
    c:f32[] = mul a 0.5:f32[]
    d:f32[] = select_n b a c
  in (d,) }
END
expect 0 gradcheck --exhaust=4096 "$work/spike.jaxpr"
prints ': value: not monotone 1 times, first at 2 (0x40000000): 1 after '

# The first equation that is not elementwise is named.
cat >"$work/sum.jaxpr" <<'END'
{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
    d:f32[3] = cumsum[axis=0 reverse=False] a
    e:f32[3] = mul d c
  in (e,) }
END
expect 3 gradcheck --exhaust "$work/sum.jaxpr"
complains 'there is no elementwise function to exhaust: reduce_sum is not elementwise'
expect 0 gradcheck "$work/sum.jaxpr"
cat >"$work/int.jaxpr" <<'END'
{ lambda ; a:i32[]. let b:i32[] = neg a in (b,) }
END
expect 3 gradcheck --exhaust "$work/int.jaxpr"
complains 'its argument is no float'
sed 's/bf16/f64/g' "$work/exp.jaxpr" >"$work/wide.jaxpr"
expect 3 gradcheck --exhaust "$work/wide.jaxpr"
complains 'only f32, f16 and bf16 are exhausted'

# Limits hold, and the bytes do not depend on how many threads there are.
sed 's/bf16/f32/g' "$work/exp.jaxpr" >"$work/long.jaxpr"
expect 3 gradcheck --exhaust --time 0.3 "$work/long.jaxpr"
complains 'gave up'
expect 0 gradcheck --exhaust=1999 "$work/long.jaxpr"
cp "$work/out" "$work/both"
if command -v taskset >/dev/null; then
    taskset -c 0 "$JAXVET" gradcheck --exhaust=1999 "$work/long.jaxpr" >"$work/out" 2>&1
    if cmp -s "$work/out" "$work/both"; then pass; else fail "one thread says something else"; fi
fi
