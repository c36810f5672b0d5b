# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Factors of a matrix with a NaN: what JAX gives as NaN is NaN, whatever the BLAS
# makes of it.
factors() { # FILE, DTYPE, EQUATION that makes d, SHAPE of d, AXES, NaNs
    cat >"$work/$1.jaxpr" <<EOF
{ lambda ; a:$2[5,5]. let
    b:$2[1,1] = slice[limit_indices=(1, 1) start_indices=(0, 0) strides=None] a
    o:$2[1,1] = add b nan:$2[]
    c:$2[5,5] = pad[padding_config=((1, 3, 0), (1, 3, 0))] o 0.0:$2[]
    q:$2[5,5] = add a c
    $3
    x:bool[$4] = ne d d
    y:i32[$4] = convert_element_type[new_dtype=int32 weak_type=False] x
    z:i32[] = reduce_sum[axes=($5) out_sharding=None] y
  in (z,) }
EOF
    expect 0 run "$work/$1.jaxpr" --fill random:1
    prints "^out0 i32\[\] = $6\$"
}

for dtype in f32 f64; do
    factors qr $dtype "d:${dtype}[5,5] e:${dtype}[5,5] = qr[full_matrices=True pivoting=False use_magma=None] q" 5,5 '0, 1' 20
    factors geqrf $dtype "d:${dtype}[5,5] e:${dtype}[5] = geqrf q" 5,5 '0, 1' 17
    factors pivot $dtype "e:${dtype}[5,5] d:${dtype}[5,5] f:i32[5] = qr[full_matrices=True pivoting=True use_magma=None] q" 5,5 '0, 1' 15
    factors hessenberg $dtype "d:${dtype}[5,5] e:${dtype}[4] = hessenberg q" 5,5 '0, 1' 19
    factors lower $dtype "d:${dtype}[5,5] e:${dtype}[5] f:${dtype}[4] g:${dtype}[4] = tridiagonal[lower=True] q" 5,5 '0, 1' 10
    factors upper $dtype "d:${dtype}[5,5] e:${dtype}[5] f:${dtype}[4] g:${dtype}[4] = tridiagonal[lower=False] q" 5,5 '0, 1' 10
done

# What the triangle that is not given holds is never read: here (0, 2).
for lower in True False; do
    cat >"$work/eigh.jaxpr" <<EOF
{ lambda ; a:f32[3,3]. let
    b:f32[1,1] = slice[limit_indices=(1, 1) start_indices=(0, 0) strides=None] a
    o:f32[1,1] = add b nan:f32[]
    c:f32[3,3] = pad[padding_config=((0, 2, 0), (2, 0, 0))] o 0.0:f32[]
    q:f32[3,3] = add a c
    d:f32[3,3] e:f32[3] = eigh[algorithm=None implementation=None lower=$lower sort_eigenvalues=True subset_by_index=None] q
    x:bool[3] = ne e e
    z:bool[] = reduce_or[axes=(0,) out_sharding=None] x
  in (z,) }
EOF
    expect 0 run "$work/eigh.jaxpr" --fill random:1
    prints "^out0 bool\[\] = $([ $lower = True ] && echo False || echo True)\$"
done
