# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# jaxvet show --transform devices:N: what N devices run, written out, does the same
# on one; as text, as a document, and for StableHLO.
same() { # program, devices: ordinary equations, and the same results bit for bit
    expect 0 run "$1" --fill random:3 --outputs "$work/all.npz"
    expect 0 show "$1" --transform "devices:$2" -o "$work/out.jaxpr"
    holds test -z "$(grep -e manual_computation -e all_reduce -e partition_id \
        "$work/out.jaxpr")"
    expect 0 run "$work/out.jaxpr" --fill random:3 --expect "$work/all.npz" --bits
    expect 0 show "$1" --transform "devices:$2" --as json -o "$work/out.json"
    expect 0 run "$work/out.json" --fill random:3 --expect "$work/all.npz" --bits
    expect 0 check "$work/out.json"
    expect 0 show "$1" --transform "devices:$2" --as stablehlo -o "$work/out.mlir"
    expect 0 run "$work/out.mlir" --fill random:3 --expect "$work/all.npz" --bits
}

cat >"$work/neg.jaxpr" <<'END'
{ lambda ; a:f32[8,6]. let
    b:f32[8,3] = sdy.manual_computation[
      in_shardings=((('x',), ('y',)),)
      jaxpr={ lambda ; c:f32[2,3]. let d:f32[2,3] = neg c in (d,) }
      manual_axes=('x', 'y')
      mesh=Mesh('x': 4, 'y': 2)
      out_shardings=((('x',), ()),)
    ] a
  in (b,) }
END
same "$work/neg.jaxpr" 8
holds test "$(grep -c ' neg ' "$work/out.jaxpr")" = 8

# Meshes and specs that are none.
wrong() { # SED MESSAGE
    sed "$1" "$work/neg.jaxpr" >"$work/wrong.jaxpr"
    expect 1 check "$work/wrong.jaxpr"
    prints "$2"
    expect 3 run "$work/wrong.jaxpr"
}
wrong "s/'y': 2/'x': 2/" "the mesh names 'x' twice"
wrong "s/'y': 2/'y': 0/" "the axis 'y' of the mesh has the size 0"
wrong "s/((('x',), ('y',)),)/((('x',), ('x',)),)/" "operand 0: its spec names 'x' twice"
wrong "s/((('x',), ('y',)),)/((('x',), ('z',)),)/" "the mesh has no axis 'z'"
same tests/fuzz/fuzz_bytecode/sharded.mlirbc 8

# Devices with the same operands have one result, and what one computation leaves on its devices
# the next one finds there: nothing is put together to be cut again.
cat >"$work/once.jaxpr" <<'END'
{ lambda ; a:f32[8,6]. let
    b:f32[8,6] = sdy.manual_computation[
      in_shardings=((('x',), ()),)
      jaxpr={ lambda ; c:f32[2,6]. let d:f32[2,6] = neg c in (d,) }
      manual_axes=('x', 'y')
      mesh=Mesh('x': 4, 'y': 2)
      out_shardings=((('x',), ()),)
    ] a
    e:f32[8,6] = sdy.manual_computation[
      in_shardings=((('x',), ()),)
      jaxpr={ lambda ; f:f32[2,6]. let g:f32[2,6] = sin f in (g,) }
      manual_axes=('x', 'y')
      mesh=Mesh('x': 4, 'y': 2)
      out_shardings=((('x',), ()),)
    ] b
  in (e,) }
END
same "$work/once.jaxpr" 8
for name in neg sin slice; do
    holds test "$(grep -c " ${name}[ [].*" "$work/out.jaxpr")" = 4
done
sed 's/ neg c/ rng_uniform[shape=(2, 6)] 0.0:f32[] 1.0:f32[]/' "$work/once.jaxpr" >"$work/drawn.jaxpr"
expect 0 show "$work/drawn.jaxpr" --transform devices:8
holds test "$(grep -c ' rng_uniform' "$work/out")" = 8

# A loop in step, a branch by groups, in a computation that a branch runs.
cat >"$work/loop.mlir" <<'END'
module {
  sdy.mesh @m = <["x"=4]>
  func.func @main(%a: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
    %r = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<8xf32>
    }, {
      %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%u: tensor<2xf32>) {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %three = stablehlo.constant dense<3> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %l:2 = stablehlo.while(%i = %zero, %v = %u) : tensor<i32>, tensor<2xf32>
          cond {
            %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %s = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
              ^bb0(%x: tensor<f32>, %y: tensor<f32>):
              %t = stablehlo.add %x, %y : tensor<f32>
              stablehlo.return %t : tensor<f32>
            }) : (tensor<2xf32>) -> tensor<2xf32>
            %n = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %n, %s : tensor<i32>, tensor<2xf32>
          }
        sdy.return %l#1 : tensor<2xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %0 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
END
same "$work/loop.mlir" 4
expect 3 show "$work/loop.mlir" --transform devices:8
complains 'its mesh has 4 devices, not 8'

# A module of collectives: each device has inputs and results of its own.
cat >"$work/parts.mlir" <<'END'
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.partition_id : tensor<ui32>
    return %0, %1 : tensor<2xf32>, tensor<ui32>
  }
}
END
expect 0 show "$work/parts.mlir" --transform devices:2
prints '^{ lambda ; a:f32\[2\] b:f32\[2\]. let$'
prints '^    c:f32\[2\] = add a b$'
prints '^  in (c, 0:u32\[\], c, 1:u32\[\]) }$'
expect 3 show "$work/parts.mlir" --transform devices:4
complains 'the module is for 2 devices, not 4'
# Replicas are devices, too, where there are no partitions beside them.
sed 's/num_partitions/num_replicas/;s/partition_id/replica_id/' "$work/parts.mlir" >"$work/copies.mlir"
for without in '' 's/, use_global_device_ids//' 's/channel_handle[^>]*>, //;s/, use_global_device_ids//'; do
    sed "$without" "$work/copies.mlir" >"$work/replicas.mlir"
    expect 0 show "$work/replicas.mlir" --transform devices:2
    prints '^    c:f32\[2\] = add a b$'
    prints '^  in (c, 0:u32\[\], c, 1:u32\[\]) }$'
done
sed 's/replica_id/partition_id/' "$work/copies.mlir" >"$work/alone.mlir"
expect 0 show "$work/alone.mlir" --transform devices:2
prints '^  in (c, 0:u32\[\], c, 0:u32\[\]) }$'
sed 's/num_replicas = 2 : i32/num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32/' \
    "$work/copies.mlir" >"$work/both.mlir"
expect 3 show "$work/both.mlir" --transform devices:4
complains 'for 2 replicas of 2 partitions: only one of the two is written out'
cat >"$work/sends.mlir" <<'END'
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
END
expect 3 show "$work/sends.mlir" --transform devices:2
complains 'goes over partitions, of which there is one'
sed 's/, use_global_device_ids//' "$work/parts.mlir" >"$work/local.mlir"
expect 3 show "$work/local.mlir" --transform devices:2
complains 'goes over replicas, of which there is one'

# The same in JAX's words: a shard_map, whose axes are those of its mesh.
same tests/fuzz/fuzz_text/mesh-psum 4

# What runs on one device stays; sizes come first; what is no number is refused.
expect 0 show tests/host/scale.json --transform devices:8 --as json -o "$work/one.json"
expect 0 show tests/host/scale.json --as json -o "$work/same.json"
holds cmp -s "$work/one.json" "$work/same.json"
expect 0 show tests/host/scale.json --transform set:b=4,devices:8
prints '^{ lambda ; a:f32\[4,3\]'
for word in devices: devices:0 devices:-1 devices:8x devices:99999999999999999999; do
    expect 2 show "$work/neg.jaxpr" --transform "$word"
    complains 'expected a number of devices'
done
expect 3 show "$work/neg.jaxpr" --transform devices:1025
complains "can't be simulated, only 1 to 1024"
sed 's/8,/b,/; s/mesh=Mesh(.x.: 4/mesh=Mesh('"'x'"': 4/; s/\[2,/[floordiv(b, 4),/g' "$work/neg.jaxpr" \
    >"$work/open.jaxpr"
expect 3 show "$work/open.jaxpr" --transform devices:8
complains 'the size b has no value'
expect 0 show "$work/open.jaxpr" --transform set:b=8,devices:8

# Groups name each device once, and only those that there are.
for groups in '0, 1' '0, 0' '0, 2' '0, -1'; do
    cat >"$work/groups.mlir" <<EOF
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x8xf32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[$groups]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      sdy.return %1 : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
EOF
    case $groups in
    *' 1') expect 0 check "$work/groups.mlir" && expect 0 run "$work/groups.mlir" ;;
    *0) expect 1 check "$work/groups.mlir" && prints 'replica_groups names device 0 twice' ;;
    *-1) expect 1 check "$work/groups.mlir" && prints 'MSH026.*replica_groups leaves out 1 of 2 devices' ;;
    *2) expect 1 check "$work/groups.mlir" && prints 'row 0 names device 2 of 2' ;;
    esac
done

# What each device sends, in JAX's words and in StableHLO's, in loops and of sizes that are
# open: as rings send it.
cat >"$work/sends.jaxpr" <<'END'
{ lambda ; a:f32[b,8]. let
    c:f32[b,8] = sdy.manual_computation[
      in_shardings=(((), ('x',)),)
      jaxpr={ lambda ; d:f32[b,2]. let
          e:f32[b,8] = stablehlo.all_gather[all_gather_dim=1
            channel_id=1 replica_groups=((0, 1, 2, 3),) use_global_device_ids=True] d
          f:f32[b,8] = scan[_split_transpose=False
            jaxpr={ lambda ; g:f32[b,8]. let
                h:f32[b,8] = stablehlo.collective_permute[channel_id=1
                  source_target_pairs=((0, 1), (1, 2), (2, 0))] g
              in (h,) }
            length=5 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] e
        in (f,) }
      manual_axes=('x',)
      mesh=Mesh('x': 4)
      out_shardings=(((), ()),)
    ] a
  in (c,) }
END
expect 0 info "$work/sends.jaxpr"
prints '^cost of each of 4 devices$'
prints '^  bytes moved  *360\*b, all together 1440\*b$'
prints '^  peak memory  *72\*b$' # 8 b of its own, 32 b gathered, 32 b received
prints '^cost of the whole program$'
prints '^each device sends, in rings$'
prints '^  all_gather  *24\*b bytes in 3 messages, by 1 collective$'
prints '^  permute  *160\*b bytes in 5 messages, by 5 collectives$'
expect 0 info "$work/sends.jaxpr" --format json
prints '"sent":\[{"collective":"all_gather","times":"1","bytes":"24\*b","messages":"3","beside_products":"0"},'
prints '"devices":4,"all":{"flops":"0","transcendentals":"0","moved":"1440\*b"},"device_peak":\["72\*b"\]'
expect 0 diff "$work/sends.jaxpr" "$work/sends.jaxpr"
prints '^cost of each device: the same$'
sed 's/length=5/length=6/' "$work/sends.jaxpr" >"$work/more.jaxpr"
expect 1 diff "$work/sends.jaxpr" "$work/more.jaxpr"
prints 'permute  *160\*b -> 192\*b'
prints '^  bytes of all  *1440\*b -> 1696\*b$'

# run --devices N is the same.
expect 0 run "$work/neg.jaxpr" --fill random:3 --outputs "$work/all.npz"
expect 0 run "$work/neg.jaxpr" --devices 8 --fill random:3 --expect "$work/all.npz" --bits
expect 3 run "$work/neg.jaxpr" --devices 4
complains 'its mesh has 8 devices, not 4'
expect 2 run "$work/neg.jaxpr" --devices 8 --mpi

# A permutation can run beside a product that neither needs nor feeds it.
beside() { # OPERAND OF THE PRODUCT
    cat <<JAXPR
{ lambda ; a:f32[8,8]. let
    b:f32[8,8] = sdy.manual_computation[
      in_shardings=((('x',), ()),)
      jaxpr={ lambda ; c:f32[2,8]. let
          d:f32[2,8] = stablehlo.collective_permute[channel_id=1
            source_target_pairs=((0, 1), (1, 2), (2, 3), (3, 0))] c
          e:f32[2,2] = dot_general[dimension_numbers=(([1], [1]), ([], []))] $1 $1
          f:f32[2,8] = dot_general[dimension_numbers=(([1], [0]), ([], []))] e d
        in (f,) }
      manual_axes=('x',)
      mesh=Mesh('x': 4)
      out_shardings=((('x',), ()),)
    ] a
  in (b,) }
JAXPR
}
beside c >"$work/beside.jaxpr"
expect 0 info "$work/beside.jaxpr"
prints 'by 1 collective, of which 1 can run beside a product$'
prints '^  flops  *128, all together 512$'
prints '^  peak memory  *208$' # its rows, those received, e, and the result: 64 + 64 + 16 + 64
beside d >"$work/after.jaxpr"
expect 0 info "$work/after.jaxpr"
prints 'by 1 collective$'

# Along an axis of one device nothing differs: types may leave it out, and specs, too.
cat >"$work/one.jaxpr" <<'JAXPR'
{ lambda ; a:f32[8,2]. let
    b:f32[4,2] = shard_map[
      check_vma=True
      in_specs=(P('x', 'y'),)
      jaxpr={ lambda ; c:f32[4,2]{V:x}. let
          d:f32[4,2] = psum_invariant[axes=('x',)] c
        in (d,) }
      mesh=Mesh('x': 2, 'y': 1, axis_types=(Explicit, Explicit))
      newly_manual_axes=frozenset({'x', 'y'})
      out_specs=(P(),)
    ] a
  in (b,) }
JAXPR
expect 0 check "$work/one.jaxpr"
prints ' 0 refuted, 0 witnessed, 0 undecided'
sed 's/V:x/V:y/' "$work/one.jaxpr" >"$work/other.jaxpr"
expect 1 check "$work/other.jaxpr"
prints 'it gets f32\[4,2\]{V:(x,y)}, it takes f32\[4,2\]{V:y}'

# The numbers that are sorted along with keys have types of their own.
cat >"$work/sorted.jaxpr" <<'JAXPR'
{ lambda ; a:f32[8]. let
    b:f32[8] c:i32[8] = shard_map[
      check_vma=True
      in_specs=(P('x'),)
      jaxpr={ lambda ; d:f32[4]{V:x}. let
          e:i32[4] = iota[dimension=0 dtype=int32 shape=(4,) sharding=None] 
          f:f32[4]{V:x} g:i32[4] = sort[dimension=0 is_stable=True num_keys=1] d e
          h:i32[4]{V:x} = pvary[axes=('x',)] g
        in (f, h) }
      mesh=Mesh('x': 2, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x'), P('x'))
    ] a
  in (b, c) }
JAXPR
expect 0 check "$work/sorted.jaxpr"
prints ' 0 refuted, 0 witnessed, 0 undecided'
# How long each device takes: 3 messages of 96 bytes, and of half of that both ways at once.
cat >"$work/ring.jaxpr" <<'END'
{ lambda ; a:f32[8,8] b:f32[8,4]. let
    c:f32[8,4] = shard_map[check_vma=False in_specs=(P('i', None), P('i', None))
      jaxpr={ lambda ; d:f32[2,8] e:f32[2,4]. let
          f:f32[8,4] = all_gather[all_gather_dimension=0 axis_index_groups=None axis_name=('i',)
            axis_size=4 tiled=True] e
          g:f32[2,4] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] d f
        in (g,) }
      mesh=Mesh('i': 4, axis_types=(Auto,)) newly_manual_axes=frozenset({'i'}) out_specs=(P('i', None),)] a b
  in (c,) }
END
expect 0 info "$work/ring.jaxpr" --alpha 1 --beta 0.001 --flops 128
prints '^time of each device, at 1 s a message and 0.001 s a byte, 128 operations a second$'
prints '^  computing  *1 s$'
prints '^  sending  *3.096 s in rings, 3.048 s where both directions'
prints '^  in sequence  *4.096 s'
prints '^  critical path  *4.096 s, of which 3.096 s sending'
# Two products of 64 operations each, of which one needs what is received (2 x 8 floats).
expect 0 info "$work/beside.jaxpr" --alpha 1 --beta 0.01 --flops 64
prints '^  in sequence  *3.64 s'
prints '^  critical path  *2.64 s, of which 1.64 s sending'
expect 0 info "$work/after.jaxpr" --alpha 1 --beta 0.0078125 --flops 64 --format json
prints '^{"devices":4,"alpha":1.0,"beta":0.0078125,"flops_per_second":64.0,"computing":2.0,"sending":1.5,"sending_both_ways":1.5,"in_sequence":3.5,"critical_path":3.5,"critical_path_sending":1.5}$'
# Loops: five turns after the other, or as many as are given.
expect 0 info "$work/sends.jaxpr" --set b=2 --alpha 1
prints '^  critical path  *8 s, of which 8 s sending'
expect 3 info "$work/sends.jaxpr" --beta 1
complains 'expected all sizes to be given, as in --set b=8'
sed 's/length=5/length=5000000000/' "$work/sends.jaxpr" >"$work/long.jaxpr"
expect 0 info "$work/long.jaxpr" --set b=2 --alpha 1
prints '^  critical path  *5e+09 s'
expect 2 info "$work/ring.jaxpr" --alpha -1
complains '--alpha: expected a number that is not negative'
expect 2 info "$work/ring.jaxpr" --flops fast

# A pipeline's bubble: 2 stages and 4 inputs take 5 steps, in which each stage idles once.
for filler in zeros nan; do
    expect 0 info "tests/equal/pipeline__$filler.jaxexport.gz" --bubble
    prints '^products of matrices on 2 devices$'
    prints '^  multiplications 2560$'
    prints '^  idle  *512 (20.0 %): what they give reaches no result$'
done
expect 0 info tests/equal/product__loop.jaxexport.gz --bubble --format json
prints '^{"devices":4,"multiplications":256,"idle":0,"fraction":0.0}$'
# What is chosen by numbers counts; what another array is written over does not.
cat >"$work/idle.jaxpr" <<'END'
{ lambda ; a:f32[2,2] b:f32[2,2] c:bool[2,2]. let
    d:f32[2,2] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] a b
    e:f32[2,2] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] b a
    f:f32[2,2] = select_n c d e
    g:f32[2,2] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] a a
    h:f32[1,2] = slice[limit_indices=(1, 2) start_indices=(0, 0) strides=None] a
    i:f32[2,2] = dynamic_update_slice g h 1:i32[] 0:i32[]
  in (f, i) }
END
expect 0 info "$work/idle.jaxpr" --bubble
prints 'takes what is no real number'
sed -e 's/ c:bool\[2,2\]//' -e 's/  *f:f32.*/    c:bool[2,2] = lt a b\n&/' "$work/idle.jaxpr" >"$work/chosen.jaxpr"
expect 0 info "$work/chosen.jaxpr" --bubble
prints '^products of matrices on 1 device$'
prints '^  multiplications 24$'
prints '^  idle  *4 (16.7 %)'
expect 3 info "$work/sends.jaxpr" --bubble
expect 0 info "$work/sends.jaxpr" --bubble --set b=2

# What one computation gives in rows, and the next takes in columns: of 8 columns of one device
# 3 of 4 rows lie elsewhere.
between() { # SPEC OF THE SECOND
    cat <<JAXPR
{ lambda ; a:f32[8,8]. let
    b:f32[8,8] = shard_map[check_vma=False in_specs=(P('i', None),)
      jaxpr={ lambda ; c:f32[2,8]. let d:f32[2,8] = neg c in (d,) }
      mesh=Mesh('i': 4, axis_types=(Auto,)) newly_manual_axes=frozenset({'i'}) out_specs=(P('i', None),)] a
    e:f32[8,8] = shard_map[check_vma=False in_specs=($1,)
      jaxpr={ lambda ; f:f32[$2]. let g:f32[$2] = neg f in (g,) }
      mesh=Mesh('i': 4, axis_types=(Auto,)) newly_manual_axes=frozenset({'i'}) out_specs=($1,)] b
  in (e,) }
JAXPR
}
between "P(None, 'i')" 8,2 >"$work/columns.jaxpr"
expect 0 info "$work/columns.jaxpr"
prints '^resharding that nobody wrote: a device receives at most$'
prints "^  48 bytes of in between, from P('i') to P(None, 'i')$"
expect 0 info "$work/columns.jaxpr" --format json
prints "\"reshards\":\\[{\"of\":\"in between\",\"from\":\"P('i')\",\"to\":\"P(None, 'i')\",\"bytes\":48}\\]"
between 'P()' 8,8 >"$work/whole.jaxpr"
expect 0 info "$work/whole.jaxpr"
prints "^  192 bytes of in between, from P('i') to P()$"
between "P('i')" 2,8 >"$work/same.jaxpr"
expect 0 info "$work/same.jaxpr"
# shellcheck disable=SC2016 # the words of the inner shell
holds sh -c '! grep -q resharding "$1"' - "$work/out"

# What inputs do to a program of many devices is what they do to the one of one device.
expect 0 check tests/rules/MSH020_passes.mlir
prints '^warning\[NUM001\] domain: div of 0 and 0 gives NaN$'
prints 'output 0 is not finite with args\[0\] = 0'
# What is beyond a device's part is said once.
expect 1 check --trust-embedded tests/rules/MSH016_fails.json.gz
prints '^error\[MSH016\]'
holds test -z "$(grep IDX002 "$work/out")"

# StableHLO's words for many devices have derivatives and batches, too: those of what is written
# out.  The axes that its author left to the partitioner say how a scalar lies, which is how it
# is: the computation of a sum is still a sum.
cat >"$work/squares.mlir" <<'END'
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<4x3xf32>) -> tensor<3xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{?}]>] manual_axes={"x"} (%arg1: tensor<2x3xf32>) {
      %1 = stablehlo.multiply %arg1, %arg1 : tensor<2x3xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
      %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        %t = sdy.sharding_constraint %s <@mesh, []> : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<3xf32>) -> tensor<3xf32>
      sdy.return %3 : tensor<3xf32>
    } : (tensor<4x3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
END
cat >"$work/squares.jaxpr" <<'END'
{ lambda ; a:f32[4,3]. let
    b:f32[4,3] = mul a a
    c:f32[3] = reduce_sum[axes=(0,) out_sharding=None] b
  in (c,) }
END
expect 0 equal "$work/squares.mlir" "$work/squares.jaxpr" --grad
prints 'identical over the reals'
prints 'derivatives: identical over the reals'
for transform in jvp vjp 'vmap:0 --set b=2' 'vmap:1,vjp --set b=2'; do
    # shellcheck disable=SC2086 # words
    expect 0 run "$work/squares.jaxpr" --transform $transform --fill random:2 --outputs "$work/squares.npz"
    # shellcheck disable=SC2086
    expect 0 run "$work/squares.mlir" --transform $transform --fill random:2 --expect "$work/squares.npz"
done

# Rows that go to where their senders say: two of four devices get a row of each, and keep what
# they had elsewhere.
cat >"$work/ragged.jaxpr" <<'END'
{ lambda ; a:f32[8,3] o:f32[24,3]. let
    b:f32[24,3] = shard_map[
      check_vma=False
      in_specs=(P('x',), P('x',))
      jaxpr={ lambda ; c:f32[2,3] d:f32[6,3]. let
          e:f32[2,3] = sin c
          f:f32[6,3] = mul d d
          g:i32[] = axis_index[axis_name=x]
          h:i32[4] = iota[dimension=0 dtype=int32 shape=(4,) sharding=None]
          i:bool[4] = eq h 1:i32[]
          j:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] i
          k:bool[4] = lt h 2:i32[]
          l:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] k
          m:i32[4] = broadcast_in_dim[broadcast_dimensions=() shape=(4,) sharding=None] g
          n:bool[4] = lt m 2:i32[]
          q:i32[4] = convert_element_type[new_dtype=int32 weak_type=False] n
          r:f32[6,3] = ragged_all_to_all[axis_index_groups=None axis_name=('x',)] e f j l m q
        in (r,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x',),)
    ] a o
  in (b,) }
END
cat >"$work/rows.jaxpr" <<'END'
{ lambda ; a:f32[8,3] o:f32[24,3]. let
    b:f32[8,3] = sin a
    c:f32[24,3] = mul o o
    d:f32[4,2,3] = reshape[dimensions=None new_sizes=(4, 2, 3) sharding=None] b
    e:f32[4,1,3] = slice[limit_indices=(4, 1, 3) start_indices=(0, 0, 0) strides=None] d
    f:f32[4,3] = reshape[dimensions=None new_sizes=(4, 3) sharding=None] e
    g:f32[4,1,3] = slice[limit_indices=(4, 2, 3) start_indices=(0, 1, 0) strides=None] d
    h:f32[4,3] = reshape[dimensions=None new_sizes=(4, 3) sharding=None] g
    i:f32[2,3] = slice[limit_indices=(6, 3) start_indices=(4, 0) strides=None] c
    j:f32[14,3] = slice[limit_indices=(24, 3) start_indices=(10, 0) strides=None] c
    k:f32[24,3] = concatenate[dimension=0] f i h j
  in (k,) }
END
expect 0 equal "$work/ragged.jaxpr" "$work/rows.jaxpr" --grad
prints 'derivatives: identical over the reals'
for transform in jvp vjp 'vmap:0 --set b=2' 'vjp,vmap:0 --set b=2'; do
    # shellcheck disable=SC2086 # words
    expect 0 run "$work/rows.jaxpr" --transform $transform --fill random:2 --outputs "$work/rows.npz"
    # shellcheck disable=SC2086
    expect 0 run "$work/ragged.jaxpr" --transform $transform --fill random:2 --expect "$work/rows.npz"
done
expect 0 info "$work/ragged.jaxpr"
prints '^  ragged_all_to_all '
# In StableHLO it is the custom call that XLA knows, there and back.
expect 0 show --as stablehlo "$work/ragged.jaxpr" -o "$work/ragged.mlir"
expect 0 equal "$work/ragged.mlir" "$work/rows.jaxpr" --grad
prints 'derivatives: identical over the reals'
expect 0 info "$work/ragged.mlir"
prints '^  ragged_all_to_all '
expect 0 show "$work/ragged.mlir"
prints 'stablehlo.ragged_all_to_all\['
expect 0 show --as stablehlo "$work/ragged.mlir"
prints 'stablehlo.custom_call @ragged_all_to_all(.*channel_id = 1 : i64, replica_groups = dense<\[\[0, 1, 2, 3\]\]>'

# What one device gives to all is differentiated by adding up, where types say what varies and
# where they do not.
for types in 'False ' 'True {V:x}'; do
    cat >"$work/given.jaxpr" <<END
{ lambda ; a:f32[8]. let
    b:f32[8] = shard_map[
      check_vma=${types% *}
      in_specs=(P('x',),)
      jaxpr={ lambda ; c:f32[2]${types#* }. let
          d:f32[2]${types#* } = sin c
          e:f32[2]${types#* } = pbroadcast[axis_name=('x',) source=2] d
          f:f32[2]${types#* } = mul e c
        in (f,) }
      mesh=Mesh('x': 4, axis_types=(Auto,))
      newly_manual_axes=frozenset({'x'})
      out_specs=(P('x',),)
    ] a
  in (b,) }
END
    cat >"$work/taken.jaxpr" <<'END'
{ lambda ; a:f32[8]. let
    b:f32[2] = slice[limit_indices=(6,) start_indices=(4,) strides=None] a
    c:f32[2] = sin b
    d:f32[8] = concatenate[dimension=0] c c c c
    e:f32[8] = mul d a
  in (e,) }
END
    expect 0 equal "$work/given.jaxpr" "$work/taken.jaxpr" --grad
    prints 'derivatives: identical over the reals'
    expect 0 run "$work/taken.jaxpr" --transform vjp --fill random:2 --outputs "$work/taken.npz"
    expect 0 run "$work/given.jaxpr" --transform vjp --fill random:2 --expect "$work/taken.npz"
done
