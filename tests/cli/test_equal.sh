# shellcheck shell=sh
# jaxvet equal: what it says of pairs, and what it refuses.

f() { # NAME TYPES BODY...: a program of one line per equation
    name=$1
    shift
    printf '{ lambda ; %s. let\n' "$1" >"$work/$name.jaxpr"
    shift
    while [ $# -gt 1 ]; do
        printf '    %s\n' "$1" >>"$work/$name.jaxpr"
        shift
    done
    printf '  in (%s,) }\n' "$1" >>"$work/$name.jaxpr"
}
# pair CODE A B - compares two of them.
pair() {
    expect "$1" equal "$work/$2.jaxpr" "$work/$3.jaxpr"
}
never() { # PATTERN: no line has it
    # shellcheck disable=SC2016 # the words of the inner shell
    holds sh -c '! grep -q -e "$2" "$1"' - "$work/out" "$1"
}

# ---- the words for what is the same
f factored 'a:f32[3] b:f32[3]' 'c:f32[3] = add b 1.0:f32[]' 'd:f32[3] = mul a c' d
f expanded 'a:f32[3] b:f32[3]' 'c:f32[3] = mul a b' 'd:f32[3] = add c a' d
pair 0 factored factored
prints ': the same by terms$'
pair 0 factored expanded
prints 'identical over the reals, error below 2^-[4-9][0-9]; no difference in floats at 8 points$'
prints '0 undecided'
never ': equal\|: proved'
expect 0 equal --grad "$work/factored.jaxpr" "$work/expanded.jaxpr"
prints 'derivatives: identical over the reals'

# ---- what differs is shown
f less 'a:f32[3] b:f32[3]' 'c:f32[3] = mul a b' 'd:f32[3] = sub c a' d
pair 1 less expanded
prints 'different$'
prints '^error\[EQL001\] programs-differ: result 0 differs: element \[0\] is .*, and .* in the other program (3 of 3 elements at ordinary numbers)'
f thrice 'a:f32[3] b:f32[3]' 'c:f32[3] = mul a b' 'd:f32[3] = add c a' 'e:f32[3] = mul d 3.0:f32[]' e
pair 1 thrice expanded
prints 'note: it is 3 times the other, everywhere'
pair 1 expanded thrice
prints 'note: it is 1/3 times the other, everywhere'
expect 1 equal "$work/less.jaxpr" "$work/expanded.jaxpr" --witness "$work/case.npz"
holds test -s "$work/case.npz"
expect 0 run "$work/less.jaxpr" --inputs "$work/case.npz"
expect 1 equal "$work/less.jaxpr" "$work/expanded.jaxpr" --format json
prints '"equal":\[{"verdict":"different","of":"values","points":1,"devices":\[1,1\]}\]'
prints '"witness":{"of":"equal","point":"ordinary numbers","output":0,"index":0,"inputs":\[{"dtype":"float32","shape":\[3\],"values":'

# ---- what fields alone would call the same
f x 'a:f32[8]' 'b:f32[8] = mul a 2.0:f32[]' 'c:f32[8] = sub b a' c
f ones 'a:f32[8]' 'b:f32[8] = sub a a' 'c:f32[8] = add b 1.0:f32[]' c
f at_zero 'a:f32[8]' 'b:bool[8] = eq a 0.0:f32[]' 'f:f32[8] = broadcast_in_dim[broadcast_dimensions=() shape=(8,) sharding=None] 5.0:f32[]' 'c:f32[8] = select_n b a f' c
pair 1 at_zero x
prints 'small integers, of which many are equal'
f ratio 'a:f32[8]' 'b:f32[8] = div a a' b
pair 1 ratio ones
prints 'nan, and 1 in the other program'
f far 'a:f32[8]' 'b:f32[8] = add a 1e8:f32[]' 'c:f32[8] = sub b 1e8:f32[]' c
pair 1 far x
prints '^error\[EQL002\] floats-differ: result 0 differs in floats, though it is the same over the reals'
f square 'a:f32[64]' 'b:f32[64] = mul a a' 'c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b' 'd:f32[] = div c 64.0:f32[]' 'e:f32[] = reduce_sum[axes=(0,) out_sharding=None] a' 'f:f32[] = div e 64.0:f32[]' 'g:f32[] = mul f f' 'h:f32[] = sub d g' h
f twice 'a:f32[64]' 'e:f32[] = reduce_sum[axes=(0,) out_sharding=None] a' 'f:f32[] = div e 64.0:f32[]' 'g:f32[64] = sub a f' 'b:f32[64] = mul g g' 'c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b' 'd:f32[] = div c 64.0:f32[]' d
pair 1 square twice
prints 'EQL002.*numbers of mean 10000'
f huge 'a:f32[8]' 'b:f32[8] = mul a 2305843009213693952.0:f32[]' b
pair 1 huge x

# ---- what is open
f tiny 'a:f32[8]' 'b:f32[8] = add a 1e-9:f32[]' b
pair 0 tiny x
prints 'undecided: they differ as formal expressions; no difference in floats at 8 points'
prints '1 undecided$'
expect 5 equal --strict "$work/tiny.jaxpr" "$work/x.jaxpr"
f sorted 'a:f32[8]' 'b:f32[8] = sort[dimension=0 is_stable=True num_keys=1] a' b
pair 0 sorted sorted
prints 'the same by terms'
f nan_aside 'a:f32[8]' 'b:bool[8] = ne a a' 'f:f32[8] = broadcast_in_dim[broadcast_dimensions=() shape=(8,) sharding=None] 0.0:f32[]' 'c:f32[8] = select_n b a f' c
pair 0 nan_aside x
prints 'assuming that inputs are finite (one asks for that)'

# What needs all ways that comparisons go.
f abs 'a:f32[8]' 'b:f32[8] = abs a' 'c:f32[8] = mul b b' c
f squared 'a:f32[8]' 'b:f32[8] = mul a a' b
pair 0 abs squared
prints 'identical over the reals'
f never 'a:f32[8]' 'b:bool[8] = gt a 1.0:f32[]' 'c:bool[8] = lt a 0.0:f32[]' 'd:bool[8] = and b c' 'f:f32[8] = broadcast_in_dim[broadcast_dimensions=() shape=(8,) sharding=None] 5.0:f32[]' 'e:f32[8] = select_n d a f' e
pair 0 never x
prints 'identical over the reals'
f cone 'a:f32[8]' 'b:bool[8] = ge a 0.0:f32[]' 'c:f32[8] = neg a' 'd:f32[8] = select_n b c a' d
f kink 'a:f32[8]' 'b:bool[8] = ge a 0.0:f32[]' 'c:f32[8] = sub a a' 'f:f32[8] = add c 1.0:f32[]' 'g:f32[8] = neg f' 'd:f32[8] = select_n b g f' d
f sign 'a:f32[8]' 'b:f32[8] = sign a' b
pair 1 kink sign
f cubed 'a:f32[8]' 'b:f32[8] = mul a a' 'c:f32[8] = sqrt b' c
pair 1 cubed x

# ---- integers: what a program tells from others is meant, an index outside is not
f placed 'a:f32[4] b:i32[]' 'c:f32[1] = dynamic_slice[slice_sizes=(1,)] a b' 'd:f32[] = reduce_sum[axes=(0,) out_sharding=None] c' d
f one_hot 'a:f32[4] b:i32[]' 'c:i32[4] = iota[dimension=0 dtype=int32 shape=(4,) sharding=None]' 'd:bool[4] = eq c b' 'e:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] d' 'g:f32[4] = mul e a' 'h:f32[] = reduce_sum[axes=(0,) out_sharding=None] g' h
f left_out 'a:f32[4] b:i32[]' 'c:f32[1] = dynamic_slice[slice_sizes=(1,)] a b' 'd:f32[] = reduce_sum[axes=(0,) out_sharding=None] c' 'e:bool[] = ge b 0:i32[]' 'g:f32[] = select_n e 0.0:f32[] d' g
f kept 'a:f32[4] b:i32[]' 'c:f32[1] = dynamic_slice[slice_sizes=(1,)] a b' 'd:f32[] = reduce_sum[axes=(0,) out_sharding=None] c' 'e:bool[] = lt b 0:i32[]' 'g:f32[] = select_n e d 0.0:f32[]' g
pair 0 placed one_hot
prints 'identical over the reals where input 1 is from 0 to 3, error below'
prints '^  outside: result 0 differs where input 1 is below 0, not from 0 to 3: it is .*, and 0 in the other program (1 of 1 element at ordinary numbers)$'
expect 0 equal "$work/one_hot.jaxpr" "$work/placed.jaxpr" --format json
prints '"verdict":"identical",.*"outside":{"within":"input 1 is from 0 to 3","message":"result 0 differs where .*","witness":{"of":"equal",'
pair 1 left_out placed
prints '^error\[EQL001\] programs-differ: result 0 differs where input 1 is below 0, and at no other integers that were drawn: it is 0, and '
pair 1 placed left_out
prints 'differs where input 1 is below 0, and at no .*: it is .*, and 0 in the other'
pair 0 left_out kept
prints 'identical over the reals, error below'
never 'outside:'
f halved 'a:f32[4] b:i32[4]' 'c:i32[4] = div b 2:i32[]' 'd:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] c' 'e:f32[4] = mul d a' e
f shifted 'a:f32[4] b:i32[4]' 'c:i32[4] = shift_right_arithmetic b 1:i32[]' 'd:f32[4] = convert_element_type[new_dtype=float32 weak_type=False] c' 'e:f32[4] = mul d a' e
pair 1 halved shifted
prints 'differs where input 1 is below 0, not from 0 to 3: '

# Places of numbers, held against an axis of one element.
f stretched 'a:f32[8,10] b:i32[8,1]' 'c:f32[8,3] d:i32[8,3] = top_k[axis=1 k=3 operand=None] a' 'e:bool[8,3] = eq d b' e
f turned 'a:f32[8,10] b:i32[8,1]' 'c:f32[8,3] d:i32[8,3] = top_k[axis=1 k=3 operand=None] a' 'e:bool[8,3] = eq b d' e
pair 0 stretched turned

# ---- sizes
f mean 'a:f32[b]' 'c:f32[] = reduce_sum[axes=(0,) out_sharding=None] a' c
f total 'a:f32[b]' 'c:f32[b] = mul a 2.0:f32[]' 'd:f32[] = reduce_sum[axes=(0,) out_sharding=None] c' 'e:f32[] = div d 2.0:f32[]' e
pair 0 mean total
prints ' at b = 1,'
prints ' at b = 2,'
expect 0 equal --set b=5 "$work/mean.jaxpr" "$work/total.jaxpr"
prints 'identical over the reals at b = 5'
expect 2 equal --set c=5 "$work/mean.jaxpr" "$work/total.jaxpr"
complains 'c=5'
f eight 'a:f32[8]' 'c:f32[] = reduce_sum[axes=(0,) out_sharding=None] a' c
pair 0 eight mean
prints 'the same by terms at b = 8'
pair 0 mean eight

# ---- what can't be compared
pair 3 x factored
complains 'it takes 2 arrays and gives 1, and .*x.jaxpr takes 1 and gives 1: expected two programs that take and give the same'
pair 3 eight x
complains 'result 0 is f32\[8\], and f32\[\] in .*eight.jaxpr'
f wide 'a:f64[8]' 'b:f64[8] = mul a 2.0:f64[]' b
pair 3 wide x
complains 'input 0 is f32\[8\], and f64\[8\]'
expect 2 equal "$work/x.jaxpr"
complains 'expected two programs'
expect 3 equal "$work/x.jaxpr" "$work/nobody.jaxpr"
expect 2 equal --format xml "$work/x.jaxpr" "$work/x.jaxpr"

# ---- nothing to compare
f empty 'a:f32[0]' 'b:f32[0] = mul a 2.0:f32[]' b
f empty_sum 'a:f32[0]' 'b:f32[0] = add a a' b
pair 0 empty empty_sum
prints 'the same by terms'

# ---- many devices: each against the program that is right
for mesh in MSH002 MSH005 MSH006 MSH007 MSH008 MSH009 MSH010 MSH012 MSH013 MSH014 MSH015 MSH016 \
    MSH017 MSH018 MSH019 MSH020 MSH021 MSH022 MSH026 MSH027; do
    folder=tests/rules # those whose pages are of `check` lie elsewhere
    [ -e "$folder/${mesh}_fails.mlir" ] || folder=tests/equal
    expect 1 equal "$folder/${mesh}_fails.mlir" "$folder/${mesh}_passes.mlir"
    prints "^error\[$mesh\]"
done
expect 1 equal tests/equal/MSH025_fails.mlir tests/equal/MSH025_passes.mlir
prints '^warning\[MSH025\]'
expect 1 equal tests/equal/MSH010_fails.mlir tests/equal/MSH010_passes.mlir
prints 'devices go separate ways around a collective'

expect 1 equal tests/equal/MSH002_passes.mlir tests/equal/MSH002_fails.mlir
prints 'result 0 of shard_map in the second program is declared to be the same on devices 0 and 1, and is not'

# ---- whole programs, made by JAX: each is its reference, on all of its devices
for program in tests/equal/*.jaxexport.gz; do
    case $program in *_reference.jaxexport.gz) continue ;; esac
    of=${program%.jaxexport.gz}
    expect 0 equal "$program" "${of%%__*}_reference.jaxexport.gz"
    prints 'identical over the reals, error below 2^-[4-9][0-9].* (the first on [248] devices)'
    prints '0 undecided'
done

# Derivatives that we make of them, where devices have copies of a result.
for program in loss__data loss__fsdp product__both_ways attention__ring; do
    expect 0 equal --grad "tests/equal/$program.jaxexport.gz" \
        "tests/equal/${program%%__*}_reference.jaxexport.gz"
    prints 'derivatives: identical over the reals'
done
expect 1 equal --grad tests/equal/pipeline__nan.jaxexport.gz tests/equal/pipeline_reference.jaxexport.gz
prints '^error\[MSH019\] nan-trap: derivative 0 differs'
prints 'NaN reaches [0-9]* of 128 elements'

# ---- meshes of all sizes: read from the order of sums, the rest is for the prover
for program in gathered ring loop scattered scattered_ring both_ways; do
    expect 0 equal --all-sizes "tests/equal/product__$program.jaxexport.gz" \
        tests/equal/product_reference.jaxexport.gz
    prints 'all sizes of the mesh: identical over the reals, for all S >= 1 where .*S divides axis [01] of input [01].*, error below 2^-[4-9][0-9], assuming that on meshes of other sizes, too, .*, generalised from the program for 4 devices alone'
    prints '0 undecided'
done
expect 0 equal --all-sizes tests/equal/product__both_ways.jaxexport.gz tests/equal/product_reference.jaxexport.gz
prints '2 S divides axis 0 of input 1 and axis 1 of input 0'
prints 'the first of 2 parts of chunk (d - i) mod S and the second of 2 parts of chunk (d + i) mod S'
expect 0 equal --all-sizes --grad tests/equal/product__ring.jaxexport.gz tests/equal/product_reference.jaxexport.gz
prints 'derivatives: all sizes of the mesh: identical over the reals'

# A ring of N devices that shifts by STRIDE, for matrices of 15 columns.
ring() { # NAME N STRIDE
    size=$((15 / $2))
    perm=
    i=0
    while [ $i -lt "$2" ]; do
        perm="$perm${perm:+, }($i, $(((i + $3) % $2)))"
        i=$((i + 1))
    done
    {
        echo '{ lambda ; a:f32[15,15] b:f32[15,2]. let'
        echo '  z:f32[15,2] = shard_map[check_vma=False'
        echo "    in_specs=(P('i', None), P('i', None)) jaxpr={ lambda ; c:f32[$size,15] r0:f32[$size,2]. let"
        echo '      d:i32[] = axis_index[axis_name=i]'
        i=0
        while [ $i -lt "$2" ]; do
            [ $i -eq 0 ] || echo "      r$i:f32[$size,2] = ppermute[axis_name=('i',) perm=($perm)] r$((i - 1))"
            echo "      e$i:i32[] = sub d $(($3 * i)):i32[]"
            echo "      f$i:i32[] = add e$i $(($3 * $2)):i32[]"
            echo "      g$i:i32[] = rem f$i $2:i32[]"
            echo "      h$i:i32[] = mul g$i $size:i32[]"
            echo "      k$i:f32[$size,$size] = dynamic_slice[slice_sizes=($size, $size)] c 0:i32[] h$i"
            echo "      m$i:f32[$size,2] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] k$i r$i"
            if [ $i -eq 0 ]; then
                echo "      s0:f32[$size,2] = copy m0"
            else
                echo "      s$i:f32[$size,2] = add s$((i - 1)) m$i"
            fi
            i=$((i + 1))
        done
        echo "      in (s$(($2 - 1)),) }"
        echo "    mesh=Mesh('i': $2, axis_types=(Auto,)) newly_manual_axes=frozenset({'i'}) out_specs=(P('i', None),)] a b"
        echo '  in (z,) }'
    } >"$work/$1.jaxpr"
}
f whole 'a:f32[15,15] b:f32[15,2]' 'c:f32[15,2] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] a b' c
ring on3 3 1
ring on5 5 1
ring by2_on3 3 2
ring by2_on5 5 2
expect 0 equal --all-sizes "$work/on3.jaxpr" "$work/on5.jaxpr" "$work/whole.jaxpr"
prints 'S divides axis 0 of input 0 and axis 0 of input 1 and axis 0 of result 0 and axis 1 of input 0'
prints 'block d of axis 0 of result 0 adds up chunk (d - i) mod S of the S chunks of axis 1 of input 0 and axis 0 of input 1, generalised from the programs for 3 and 5 devices; that each chunk is added once is proved (by elementary)$'
# A stride of 2 is right on 3 and on 5 devices, and not on 4.
expect 0 equal --all-sizes "$work/by2_on3.jaxpr" "$work/by2_on5.jaxpr" "$work/whole.jaxpr"
prints 'all sizes of the mesh: undecided: that (d - 2\*i) mod S takes each value once does not hold for all S: steps i and j have one chunk at .*S = 4$'
expect 5 equal --strict --all-sizes "$work/by2_on3.jaxpr" "$work/by2_on5.jaxpr" "$work/whole.jaxpr"
# Shifted by 1 on 3, by 2 on 5: each is right, and no rule is that of both.
expect 0 equal --all-sizes "$work/on3.jaxpr" "$work/by2_on5.jaxpr" "$work/whole.jaxpr"
prints 'all sizes of the mesh: undecided: no ring is recognised'
expect 0 equal --all-sizes "$work/on5.jaxpr" "$work/whole.jaxpr" --format json
prints '"verdict":"identical","of":"values","mesh_sizes":"all","sizes":"S >= 1 where S divides'
expect 0 equal --all-sizes "$work/whole.jaxpr" "$work/whole.jaxpr"
prints 'undecided: the first program is for one device'
# What is wrong at a size is different, and nothing is said of others.
for mesh in MSH006 MSH008 MSH013 MSH015; do
    folder=tests/rules
    [ -e "$folder/${mesh}_fails.mlir" ] || folder=tests/equal
    expect 1 equal --all-sizes "$folder/${mesh}_fails.mlir" "$folder/${mesh}_passes.mlir"
    never 'all sizes'
done
expect 2 equal "$work/on3.jaxpr" "$work/on5.jaxpr" "$work/whole.jaxpr"
complains 'expected two programs, or more with --all-sizes'
expect 2 equal --all-sizes "$work/on3.jaxpr"
expect 3 equal --all-sizes "$work/on3.jaxpr" "$work/on5.jaxpr" "$work/eight.jaxpr"
complains 'expected two programs that take and give the same'

# More devices than a word has bits.
f forty 'a:f32[40,40] b:f32[40,1]' 'c:f32[40,1] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] a b' c
f on40 'a:f32[40,40] b:f32[40,1]' "c:f32[40,1] = shard_map[check_vma=False in_specs=(P('i', None), P('i', None)) jaxpr={ lambda ; d:f32[1,40] e:f32[1,1]. let
    f:f32[40,1] = all_gather[all_gather_dimension=0 axis_index_groups=None axis_name=('i',) axis_size=40 tiled=True] e
    g:f32[1,1] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] d f
    in (g,) } mesh=Mesh('i': 40, axis_types=(Auto,)) newly_manual_axes=frozenset({'i'}) out_specs=(P('i', None),)] a b" c
expect 0 equal --all-sizes "$work/on40.jaxpr" "$work/forty.jaxpr"
prints 'identical over the reals, error .* (the first on 40 devices)$'
prints 'all sizes of the mesh: identical over the reals'

# A mesh of one device: what it sends, it has; a sum is its own.
cat >"$work/alone.mlir" <<'END'
module @m attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %b = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %c = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %d = stablehlo.add %b, %c : tensor<4xf32>
    return %d : tensor<4xf32>
  }
}
END
cat >"$work/twice.jaxpr" <<'END'
{ lambda ; a:f32[4]. let b:f32[4] = add a a in (b,) }
END
expect 0 equal "$work/alone.mlir" "$work/twice.jaxpr"
prints 'the same by terms'
sed 's/add %b, %c/multiply %b, %c/' "$work/alone.mlir" >"$work/squared.mlir"
expect 1 equal "$work/squared.mlir" "$work/twice.jaxpr"

# Equations that are alike are planned once: many of one kind take little memory.
slices() { # FACTOR - the sum of 1536 slices of one element, which go that way through the array
    echo '{ lambda ; x:f32[64]. let'
    echo ' s0:f32[1] = dynamic_slice[slice_sizes=(1,)] x 0:i32[]'
    echo ' a0:f32[1] = mul s0 0.0:f32[]'
    awk -v factor="$1" 'BEGIN {
        for (i = 1; i <= 1536; i++)
            printf " s%d:f32[1] = dynamic_slice[slice_sizes=(1,)] x %d:i32[]\n a%d:f32[1] = add a%d s%d\n",
                i, i * factor % 64, i, i - 1, i
    }'
    echo ' in (a1536,) }'
}
slices 7 >"$work/slices.jaxpr"
slices 25 >"$work/turned.jaxpr"
expect 0 equal --memory 64MiB "$work/slices.jaxpr" "$work/turned.jaxpr"
prints 'identical over the reals'
