# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet run --numerics: as written, without subnormal numbers, with excess digits.
cat >"$work/excess.jaxpr" <<'EOP'
{ lambda ; a:f32[] b:f32[]. let
    m:f32[] = mul a b
    p:f32[] = mul a b
    s:f32[] = sub m p
    x:bf16[] = convert_element_type[new_dtype=bfloat16 sharding=None weak_type=False] a
    y:bf16[] = add x 0.001953125:bf16[]
    z:bf16[] = add y 0.001953125:bf16[]
    w:bf16[] = sub z x
    d:f32[] = mul a 1e-30:f32[]
    e:f32[] = mul d 1e-10:f32[]
    f:f32[] = mul e 1e10:f32[]
    g:f32[] = mul f 1e30:f32[]
  in (s, w, g) }
EOP
python3 - "$work/ab.npz" <<'EOP'
import struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as to:
    for name, value in (("in0", 1.1), ("in1", 1.3)):
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (), }"
        head += b" " * (118 - len(head) - 1) + b"\n"
        to.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
                    head + struct.pack("<f", value))
EOP
expect 0 run "$work/excess.jaxpr" --inputs "$work/ab.npz"
cp "$work/out" "$work/plain"
expect 0 run "$work/excess.jaxpr" --inputs "$work/ab.npz" --numerics ieee
holds cmp -s "$work/plain" "$work/out"
prints '^out0 f32\[\] = 0$'
prints '^out1 bf16\[\] = 0$'
prints '^out2 f32\[\] = 1.1000'
expect 0 run "$work/excess.jaxpr" --inputs "$work/ab.npz" --numerics ftz
prints '^out0 f32\[\] = 0$'
prints '^out1 bf16\[\] = 0$'
prints '^out2 f32\[\] = 0$'
expect 0 run "$work/excess.jaxpr" --inputs "$work/ab.npz" --numerics xla
prints '^out0 f32\[\] = 3.09944'
prints '^out1 bf16\[\] = 0.00390625$'
prints '^out2 f32\[\] = 0$'

# A product that is a result, too, or that two sums take, stays rounded; differences of both
# orders are right.
cat >"$work/shared.jaxpr" <<'EOP'
{ lambda ; a:f32[] b:f32[]. let
    m:f32[] = mul a b
    q:f32[] = neg m
    s:f32[] = add m q
    n:f32[] = mul a 2.0:f32[]
    t:f32[] = sub n b
    k:f32[] = mul b 2.0:f32[]
    u:f32[] = sub a k
  in (s, t, u) }
EOP
expect 0 run "$work/shared.jaxpr" --inputs "$work/ab.npz" --numerics xla
prints '^out0 f32\[\] = 0$'
prints '^out1 f32\[\] = 0.9'
prints '^out2 f32\[\] = -1.4999'

expect 2 run "$work/excess.jaxpr" --numerics fast
expect 2 run "$work/excess.jaxpr" --numerics xla --domain wide
expect 2 run "$work/excess.jaxpr" --numerics xla --sanitize nan
