"""Programs with claims about what they compute, each true or false for all inputs and sizes."""
import jax
import jax.numpy as jnp
from jax import export, lax

FINITE, BOUNDS, WRAP = "finite", "in-bounds", "no-wrap"
F32, I32 = jnp.float32, jnp.int32
#: (name, function, specs, ranges, what holds, what does not)
PROGRAMS = []
SIZES = {}


def array(*shape, dtype=F32):
    return jax.ShapeDtypeStruct(shape, dtype)


def sized(shape, dtype=F32, constraints=()):
    """Sizes of one name are one size within a program."""
    known = SIZES.setdefault(constraints, export.SymbolicScope(constraints))
    return jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=known), dtype)


def asked(*specs, ranges=None, holds=(), fails=()):
    def take(function):
        PROGRAMS.append((function.__name__, function, specs, ranges or {}, holds, fails))
        return function
    return take


@asked(sized("n"), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n - 1")},
       holds=[BOUNDS, FINITE])
def idx0n(x, i):
    return x[i]


@asked(sized("n"), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n")},
       holds=[FINITE],
       fails=[BOUNDS])
def idx1n(x, i):
    return x[i]


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[BOUNDS])
def take_iota(x):
    return x[jnp.arange(x.shape[0])]


@asked(sized("n"), ranges={"x": (0, 1)}, fails=[BOUNDS])
def take_iota_p1(x):
    return x[jnp.arange(x.shape[0])+1]


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[BOUNDS])
def rev_iota(x):
    return x[x.shape[0]-1-jnp.arange(x.shape[0])]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1), "i": (0, "n - 1")}, holds=[BOUNDS])
def gather_sym(x, i):
    return x[i]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1)}, holds=[BOUNDS])
def clip_sym(x, i):
    return x[jnp.clip(i,0,x.shape[0]-1)]


@asked(sized("n"), sized("n"), ranges={"x": (0, 1), "y": (0, 1)}, holds=[BOUNDS])
def argmax_sym(x, y):
    return y[jnp.argmax(x)]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1)}, holds=[BOUNDS])
def mod_sym(x, i):
    return x[i % x.shape[0]]


@asked(sized("n"), sized("n"), ranges={"x": (0, 1), "y": (0, 1)}, holds=[BOUNDS])
def argsort_sym(x, y):
    return y[jnp.argsort(x)]


@asked(sized("n", constraints=("n >= 8", )), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n - 4")},
       holds=[BOUNDS])
def dslice(x, i):
    return lax.dynamic_slice(x,(i,),(4,))


@asked(sized("n", constraints=("n >= 8", )), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n - 3")},
       fails=[BOUNDS])
def dslice_bad(x, i):
    return lax.dynamic_slice(x,(i,),(4,))


@asked(sized("n, m"), array(dtype=I32), ranges={"x": (0, 1), "i": (0, "n - 1")}, fails=[BOUNDS])
def other_sym(x, i):
    return x[0,i]


@asked(array(10), array(5, dtype=I32), ranges={"x": (0, 1)}, holds=[BOUNDS])
def where_idx(x, i):
    return x[jnp.where((i>=0)&(i<10),i,0)]


@asked(array(10), array(5, dtype=I32), ranges={"x": (0, 1)}, fails=[BOUNDS])
def where_idx_bad(x, i):
    return x[jnp.where((i>=0)&(i<=10),i,0)]


@asked(array(10), array(5, dtype=I32), ranges={"x": (0, 1), "i": (-10, 9)}, holds=[BOUNDS])
def neg_idx(x, i):
    return x[i]


@asked(array(10), array(5, dtype=I32), ranges={"x": (0, 1), "i": (-11, 9)}, fails=[BOUNDS])
def neg_idx_bad(x, i):
    return x[i]


@asked(array(10), ranges={"x": (0, 1)}, holds=[BOUNDS, FINITE])
def loopidx(x):
    return lax.fori_loop(0,10,lambda i,c:c+x[i],0.)


@asked(array(10), ranges={"x": (0, 1)}, fails=[BOUNDS])
def loopidx_bad(x):
    return lax.fori_loop(0,11,lambda i,c:c+x[i],0.)


@asked(array(1000), ranges={"x": (0, 1)}, holds=[BOUNDS, FINITE])
def loopidx_long(x):
    return lax.fori_loop(0,1000,lambda i,c:jnp.maximum(c,x[i]),0.)


@asked(array(dtype=I32), array(dtype=I32),
       ranges={"a": (0, 10**9), "b": (0, 10**9)},
       holds=[WRAP])
def wrap_sum(a, b):
    return a+b


@asked(array(dtype=I32), array(dtype=I32),
       ranges={"a": (0, 2*10**9), "b": (0, 10**9)},
       fails=[WRAP])
def wrap_sum_bad(a, b):
    return a+b


@asked(array(dtype=I32), fails=[WRAP])
def wrap_neg(a):
    return -a


@asked(array(dtype=I32), fails=[WRAP])
def wrap_abs(a):
    return abs(a)


@asked(array(dtype=I32), ranges={"a": (0, 127)}, holds=[WRAP])
def wrap_conv(a):
    return a.astype(jnp.int8)


@asked(array(dtype=I32), ranges={"a": (0, 128)}, fails=[WRAP])
def wrap_conv_bad(a):
    return a.astype(jnp.int8)


@asked(array(dtype=I32), ranges={"a": (0, 10)}, holds=[WRAP])
def wrap_pow(a):
    return a**9


@asked(array(dtype=I32), ranges={"a": (0, 10)}, fails=[WRAP])
def wrap_pow_bad(a):
    return a**10


@asked(array(1000, dtype=I32), ranges={"a": (0, 2147483)}, holds=[WRAP])
def wrap_sumred(a):
    return jnp.sum(a)


@asked(array(1000, dtype=I32), ranges={"a": (0, 2147484)}, fails=[WRAP])
def wrap_sumred_bad(a):
    return jnp.sum(a)


@asked(array(dtype=I32), array(dtype=I32),
       ranges={"a": (0, 2*10**9), "b": (0, 2*10**9)},
       fails=[WRAP])
def wrap_mid(a, b):
    return (a+b)//2


@asked(array(), ranges={"x": (0, 1e9)}, holds=[WRAP])
def float2int(x):
    return x.astype(I32)


@asked(array(), ranges={"x": (0, 3e9)}, fails=[WRAP])
def float2int_bad(x):
    return x.astype(I32)


@asked(array(dtype=I32), array(dtype=I32), ranges={"b": (-1, -1)}, fails=[WRAP])
def div_min(a, b):
    return lax.div(a,b)


@asked(array(8, 64),
       ranges={"x": (-50, 50)},
       holds=[FINITE, "out0 in [0, 1]"],
       fails=["out0 in [0, 0.9]"])
def softmax_le1(x):
    return jax.nn.softmax(x)


@asked(array(8, 64),
       ranges={"x": (-50, 50)},
       holds=["out0 in [0.999, 1.001]"],
       fails=["out0 in [0, 1]"])
def softmaxsum1(x):
    return jnp.sum(jax.nn.softmax(x),-1)


@asked(array(8), ranges={"p": (0, 1)}, fails=[FINITE])
def log1m(p):
    return jnp.log((1-p)+1e-15)


@asked(array(8), ranges={"p": (0, 1)}, holds=[FINITE])
def log1m_ok(p):
    return jnp.log((1-p)+1e-6)


@asked(array(8), ranges={"x": (-88, 88)}, holds=[FINITE])
def exp88(x):
    return jnp.exp(x)


@asked(array(8), ranges={"x": (-88, 89)}, fails=[FINITE])
def exp89(x):
    return jnp.exp(x)


@asked(array(8), ranges={"x": (-200, 200)}, fails=[FINITE])
def logexp(x):
    return jnp.log(jnp.exp(x))


@asked(array(8), ranges={"x": (1e-30, 1)}, fails=[FINITE])
def subn(x):
    return 1/(x*1e-15)


@asked(array(8), ranges={"x": (1e-30, 1)}, fails=[FINITE])
def ftz_only(x):
    return jnp.log(x*1e-10)


@asked(array(64), ranges={"x": (-100, 100)}, fails=[FINITE])
def varsqrt(x):
    return jnp.sqrt(jnp.mean(x*x)-jnp.mean(x)**2)


@asked(array(64), ranges={"x": (-100, 100)}, holds=[FINITE])
def varsqrt_ok(x):
    return jnp.sqrt(jnp.mean((x-jnp.mean(x))**2))


@asked(array(8), ranges={"x": (-100, 100)}, fails=[FINITE])
def norm_div(x):
    return x/jnp.linalg.norm(x)


@asked(array(8), ranges={"x": (-100, 100)}, holds=[FINITE])
def norm_div_ok(x):
    return x/(jnp.linalg.norm(x)+1e-6)


@asked(array(8), array(8), ranges={"x": (1, 2), "y": (1, 2)}, fails=[FINITE])
def arccos_dot(x, y):
    return jnp.arccos(jnp.dot(x/jnp.linalg.norm(x),y/jnp.linalg.norm(y)))


@asked(array(8), ranges={"x": (-200, 200)}, fails=[FINITE])
def sigm_log(x):
    return jnp.log(jax.nn.sigmoid(x))


@asked(array(8), ranges={"x": (-200, 200)}, holds=[FINITE])
def log_sigm(x):
    return jax.nn.log_sigmoid(x)


@asked(array(8), ranges={"x": (0, 1)}, holds=[FINITE])
def sqrt_m(x):
    return jnp.sqrt(1-x)


@asked(array(8), ranges={"x": (-1, 1)}, fails=[FINITE])
def sqrt_m2(x):
    return jnp.sqrt(1-x*x*1.0000002)


@asked(array(8), ranges={"x": (-1, 1)}, holds=[FINITE])
def sqrt_x2(x):
    return jnp.sqrt(1-x*x)


@asked(array(8, dtype=jnp.bfloat16), ranges={"x": (0, 100)}, fails=[FINITE])
def bf16(x):
    return jnp.exp(x)


@asked(array(8, dtype=jnp.float16), ranges={"x": (0, 300)}, fails=[FINITE])
def f16(x):
    return x*x


@asked(array(8, dtype=jnp.float16), ranges={"x": (0, 255)}, holds=[FINITE])
def f16_ok(x):
    return x*x


@asked(array(300, dtype=jnp.float16), ranges={"x": (0, 255)}, fails=[FINITE])
def f16_sum(x):
    return jnp.sum(x)


@asked(array(), ranges={"x": (1, 2)}, fails=[FINITE])
def while_inf(x):
    return lax.while_loop(lambda c:c<1e38,lambda c:c*1e10,x)


@asked(array(), ranges={"x": (1, 2)}, holds=[FINITE])
def while_ok(x):
    return lax.while_loop(lambda c:c<1e20,lambda c:c*2,x)


@asked(sized("n", constraints=("n >= 0", )), ranges={"x": (0, 1)}, fails=[FINITE])
def emptymax(x):
    return jnp.mean(x[:0])


@asked(array(8, 10), array(8, dtype=I32), ranges={"x": (-50, 50), "y": (0, 9)}, holds=[FINITE])
def onehot_ce(x, y):
    return -jnp.mean(jnp.sum(jax.nn.one_hot(y,10)*jax.nn.log_softmax(x),-1))


@asked(array(8), ranges={"x": (0, 1)}, fails=[FINITE])
def xlogx(x):
    return x*jnp.log(x)


@asked(array(8), ranges={"x": (0, 2)}, fails=[FINITE])
def pow(x):
    return x**-0.5


@asked(array(8),
       ranges={"x": (-9, 9)},
       holds=["out0 in [-1, 1]", FINITE],
       fails=["out0 in [-0.9, 1]"])
def tanhle1(x):
    return jnp.tanh(x)


@asked(array(8), ranges={"x": (-20, 20)}, fails=[FINITE])
def atanh_tanh(x):
    return jnp.arctanh(jnp.tanh(x))


@asked(array(64), ranges={"x": (-5, 5)}, holds=[FINITE])
def cummax_sqrt(x):
    return jnp.sqrt(lax.cummax(x)-x)


@asked(array(64), ranges={"x": (-5, 5)}, holds=[FINITE])
def sort_sqrt(x):
    s=jnp.sort(x)
    return jnp.sqrt(s[1:]-s[:-1])


@asked(array(64), ranges={"x": (-5, 5)}, fails=[FINITE])
def sort_sqrt_bad(x):
    s=jnp.sort(x)
    return jnp.sqrt(s[:-1]-s[1:])


@asked(array(64), ranges={"x": (-5, 5)}, holds=[FINITE])
def sort_range(x):
    s=jnp.sort(x)
    return jnp.sqrt(s[-1]-s[0])


@asked(array(64), ranges={"x": (-5, 5)}, holds=[FINITE])
def ptp(x):
    return jnp.sqrt(jnp.ptp(x))


@asked(array(8, dtype=I32), holds=["out0 in [0, 1]"])
def onehot_sum(i):
    return jnp.sum(jax.nn.one_hot(i,10),-1)


@asked(array(8, dtype=I32), ranges={"i": (0, 9)}, holds=["out0 in [1, 1]"])
def onehot_log(i):
    return jnp.sum(jax.nn.one_hot(i,10),-1)


@asked(array(8, dtype=I32), ranges={"i": (0, 9)}, fails=["out0 in [0, 1]"])
def onehot_twice(i):
    return jnp.sum(jax.nn.one_hot(i,10)+jax.nn.one_hot(0*i,10),-1)


@asked(array(8, 10), ranges={"x": (-30, 30)}, holds=[FINITE])
def entropy(x):
    p=jax.nn.softmax(x)
    return -jnp.sum(p*jnp.log(p+1e-9),-1)


@asked(array(8, 16), ranges={"x": (-1e18, 1e18)}, holds=[FINITE])
def rsq(x):
    return x*lax.rsqrt(jnp.mean(x*x,-1,keepdims=True)+1e-6)


@asked(array(8, 16), ranges={"x": (-1e20, 1e20)}, fails=[FINITE])
def rsq_bad(x):
    return jnp.mean(x*x)


@asked(array(16, dtype=I32), ranges={"x": (0, 1000)}, holds=["out0 in [2, 2]"])
def cong(x):
    return (x*4+2)%4


@asked(array(dtype=I32), array(dtype=I32), ranges={"a": (0, 9), "b": (0, 9)}, fails=[WRAP])
def div0(a, b):
    return a//b


@asked(array(100, dtype=I32), ranges={"x": (0, 9)}, holds=[BOUNDS])
def hist(x):
    return jnp.zeros(10).at[x].add(1.)


@asked(array(100, dtype=I32), ranges={"x": (0, 10)}, fails=[BOUNDS])
def hist_bad(x):
    return jnp.zeros(10).at[x].add(1.)


@asked(array(100), array(5), ranges={"x": (0, 1), "v": (0, 1)}, fails=[BOUNDS])
def searchs(x, v):
    return x[jnp.searchsorted(x,v)]


@asked(array(100), ranges={"x": (0, 1)}, fails=[BOUNDS])
def quant(x):
    return jnp.arange(10.)[(x*10).astype(I32)]


@asked(array(100), ranges={"x": (0, 0.99)}, holds=[BOUNDS])
def quant_ok(x):
    return jnp.arange(10.)[(x*10).astype(I32)]


@asked(array(4, 5), array(dtype=I32), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, 3), "j": (0, 4)},
       holds=[BOUNDS])
def flat_idx(x, i, j):
    return x.reshape(-1)[i*5+j]


@asked(array(4, 5), array(dtype=I32), array(dtype=I32),
       ranges={"x": (0, 1), "i": (0, 3), "j": (0, 5)},
       fails=[BOUNDS])
def flat_idx_bad(x, i, j):
    return x.reshape(-1)[i*5+j]


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[FINITE])
def sumsym(x):
    return jnp.sum(x)


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[FINITE])
def meansym(x):
    return jnp.mean(x)


@asked(sized("n", dtype=jnp.float16), ranges={"x": (0, 1)}, fails=[FINITE])
def sumsym16(x):
    return jnp.sum(x)


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[BOUNDS])
def sym_loop(x):
    return lax.fori_loop(0,x.shape[0],lambda i,c:jnp.maximum(c,x[i]),0.)


@asked(sized("n"), ranges={"x": (0, 1)}, fails=[BOUNDS])
def sym_loop_bad(x):
    return lax.fori_loop(0,x.shape[0]+1,lambda i,c:jnp.maximum(c,x[i]),0.)


@asked(sized("n"), ranges={"x": (0, 1)}, fails=[BOUNDS])
def sym_loop_bad2(x):
    return lax.fori_loop(0,x.shape[0],lambda i,c:jnp.maximum(c,x[i+1]),0.)


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[BOUNDS])
def sym_scan(x):
    return lax.scan(lambda c,_:((c[0]+1,c[1]+x[c[0]]),None),(0,0.),x)[0][1]


@asked(sized("n"), ranges={"x": (0, 1)}, fails=[BOUNDS])
def sym_scan_bad(x):
    return lax.scan(lambda c,_:((c[0]+1,c[1]+x[c[0]+1]),None),(0,0.),x)[0][1]


@asked(array(200), ranges={"x": (0, 1)}, holds=[BOUNDS, WRAP])
def scan_step2(x):
    return lax.scan(lambda c,_:((c[0]+2,c[1]+x[c[0]+1]),None),(0,0.),None,length=100)[0][1]


@asked(array(199), ranges={"x": (0, 1)}, fails=[BOUNDS])
def scan_step2_bad(x):
    return lax.scan(lambda c,_:((c[0]+2,c[1]+x[c[0]+1]),None),(0,0.),None,length=100)[0][1]


@asked(array(100), ranges={"x": (0, 1)}, holds=[BOUNDS])
def scan_down(x):
    return lax.scan(lambda c,_:((c[0]-1,c[1]+x[c[0]]),None),(99,0.),None,length=100)[0][1]


@asked(array(101), ranges={"x": (0, 1)}, holds=[BOUNDS])
def scan_after(x):
    return x[lax.scan(lambda c,_:(c+1,None),0,None,length=100)[0]]


@asked(array(100), ranges={"x": (0, 1)}, fails=[BOUNDS])
def scan_after_bad(x):
    return x[lax.scan(lambda c,_:(c+1,None),0,None,length=100)[0]]


@asked(array(10), array(5, dtype=I32), ranges={"x": (0, 1)}, holds=[BOUNDS])
def mod_fixed(x, i):
    return x[i % 10]


@asked(array(9), array(5, dtype=I32), ranges={"x": (0, 1)}, fails=[BOUNDS])
def mod_fixed_bad(x, i):
    return x[i % 10]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1)}, holds=[BOUNDS])
def where_sym(x, i):
    return x[jnp.where((i>=0)&(i<x.shape[0]),i,0)]


@asked(sized("n"), sized("n", dtype=I32), ranges={"x": (0, 1)}, fails=[BOUNDS])
def where_sym_rev(x, i):
    return x[jnp.where((i>=0)&(i<x.shape[0]),i[::-1],0)]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1)}, fails=[BOUNDS])
def where_sym_bad(x, i):
    return x[jnp.where((i>=0)&(i<=x.shape[0]),i,0)]


@asked(sized("n"), array(5, dtype=I32),
       ranges={"x": (0, 1), "i": ("-n", "n - 1")},
       holds=[BOUNDS])
def neg_sym(x, i):
    return x[i]


@asked(sized("n"), array(5, dtype=I32),
       ranges={"x": (0, 1), "i": ("-n - 1", "n - 1")},
       fails=[BOUNDS])
def neg_sym_bad(x, i):
    return x[i]


@asked(sized("n"), array(dtype=I32), ranges={"x": (0, 1), "i": (0, 1000)}, holds=[BOUNDS])
def cond_sym(x, i):
    return lax.cond(i<x.shape[0],lambda:lax.dynamic_slice(x,(i,),(1,))[0],lambda:0.)


@asked(sized("n"), array(dtype=I32), ranges={"x": (0, 1), "i": (0, 1000)}, fails=[BOUNDS])
def cond_sym_bad(x, i):
    return lax.cond(i<x.shape[0],lambda:0.,lambda:lax.dynamic_slice(x,(i,),(1,))[0])


@asked(sized("n"), ranges={"x": (0, 1)}, holds=[BOUNDS])
def pair(x):
    i=jnp.arange(x.shape[0])
    return x[jnp.maximum(i-1,0)]+x[jnp.minimum(i+1,x.shape[0]-1)]


@asked(sized("n"), ranges={"x": (0, 1)}, fails=[BOUNDS])
def pair_bad(x):
    i=jnp.arange(x.shape[0])
    return x[jnp.maximum(i-1,0)]+x[jnp.minimum(i+1,x.shape[0])]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1), "i": (0, "n - 1")}, holds=[BOUNDS])
def scatter_sym(x, i):
    return x.at[i].add(1.)


@asked(sized("n, m"), array(5, dtype=I32), array(5, dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n - 1"), "j": (0, "m - 1")},
       holds=[BOUNDS])
def scatter2_sym(x, i, j):
    return x.at[i,j].add(1.)


@asked(sized("n, m"), array(5, dtype=I32), array(5, dtype=I32),
       ranges={"x": (0, 1), "i": (0, "n - 1"), "j": (0, "m - 1")},
       fails=[BOUNDS])
def scatter2_sym_bad(x, i, j):
    return x.at[j,i].add(1.)


@asked(sized("n", constraints=("n >= 3", )), array(3), array(dtype=I32),
       ranges={"x": (0, 1), "y": (0, 1), "i": (0, "n - 3")},
       holds=[BOUNDS])
def dyn_upd(x, y, i):
    return lax.dynamic_update_slice(x,y,(i,))


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1), "i": (0, "n - 1")}, fails=[BOUNDS])
def overflow_idx(x, i):
    return x[(i+2147483647)-2147483647]


@asked(sized("n"), array(5, dtype=I32), ranges={"x": (0, 1)}, fails=[BOUNDS])
def overflow_idx2(x, i):
    return x[jnp.minimum(i+1,x.shape[0])-1]


# -- places that quotients and remainders of sizes give --------------------------------

@asked(sized("n"), holds=[BOUNDS])
def middle(x):
    n = x.shape[0]
    return x[jnp.asarray(n // 2)] + x[jnp.asarray((n - 1) // 2)] + x[jnp.asarray(3 * n // 4)]


@asked(sized("n"), fails=[BOUNDS])
def above_the_middle(x):
    return x[jnp.asarray((x.shape[0] + 1) // 2)]


@asked(sized("n"), fails=[BOUNDS])
def beyond_three_quarters(x):
    return x[jnp.asarray((3 * x.shape[0] + 1) // 4)]


@asked(sized("n"), holds=[BOUNDS])
def remainder_by_a_size(x):
    return x[jnp.asarray(7 % x.shape[0])]


@asked(sized("n"), fails=[BOUNDS])
def remainder_of_a_size(x):
    return x[jnp.asarray(x.shape[0] % 7)]


@asked(sized("n"), ranges={"x": (0, 1)},
       holds=[BOUNDS, "out0 in [0, 1]"],
       fails=["out0 in [0, 0.9]"])
def median(x):
    x, n = jnp.sort(x), x.shape[0]
    return (x[jnp.asarray((n - 1) // 2)] + x[jnp.asarray(n // 2)]) / 2


@asked(sized("n"), holds=[BOUNDS])
def halves(x):
    i = jnp.arange(x.shape[0])
    return x[i // 2] + x[(i + 1) // 2] + x[jnp.arange(2 * x.shape[0]) // 2][i]


@asked(sized("n"), fails=[BOUNDS])
def halves_of_one_more(x):
    return x[(jnp.arange(2 * x.shape[0]) + 1) // 2]


@asked(sized("n"), array(dtype=I32), ranges={"i": (-1, "2*n - 1")}, holds=[BOUNDS])
def half_toward_zero(x, i):
    return lax.dynamic_slice(x, (lax.div(i, jnp.int32(2)),), (1,))


@asked(sized("n"), array(dtype=I32), ranges={"i": (-4, "2*n - 1")}, fails=[BOUNDS])
def half_below_zero(x, i):
    return lax.dynamic_slice(x, (lax.div(i, jnp.int32(2)),), (1,))


@asked(sized("n, m"), array(dtype=I32), ranges={"i": (0, "n*m - 1")}, holds=[BOUNDS])
def row_and_column(x, i):
    return x[i // x.shape[1], i % x.shape[1]]


@asked(sized("n, m"), array(dtype=I32), ranges={"i": (0, "n*m")}, fails=[BOUNDS])
def row_beyond(x, i):
    return x[i // x.shape[1], i % x.shape[1]]


@asked(sized("n"), holds=[BOUNDS])
def from_both_ends(x):
    def turn(i, c):
        return c + x[i] * x[x.shape[0] - 1 - i]
    return lax.fori_loop(0, (x.shape[0] + 1) // 2, turn, 0.)


@asked(sized("n"), fails=[BOUNDS])
def beyond_the_end(x):
    return lax.fori_loop(0, x.shape[0] // 2, lambda i, c: c + x[x.shape[0] - i], 0.)


FEW = ("n <= 100000",)


@asked(sized("n", constraints=FEW), holds=[BOUNDS])
def neighbours(x):
    return lax.fori_loop(0, x.shape[0] // 2, lambda i, c: c + x[2 * i] * x[2 * i + 1], 0.)


@asked(sized("n", constraints=FEW), fails=[BOUNDS])
def neighbours_of_the_next(x):
    return lax.fori_loop(0, x.shape[0] // 2, lambda i, c: c + x[2 * i] * x[2 * i + 2], 0.)


@asked(sized("n"), holds=[BOUNDS])
def scan_of_places(x):
    def turn(c, i):
        return c + x[i] * x[x.shape[0] - 1 - i], x[i // 2]
    return lax.scan(turn, 0., jnp.arange(x.shape[0]))


@asked(sized("n"), fails=[BOUNDS])
def scan_beyond(x):
    return lax.scan(lambda c, i: (c, x[i + 1]), 0., jnp.arange(x.shape[0]))[1]


@asked(sized("n"), array(5, 2, dtype=I32), ranges={"i": (0, "n - 1")}, holds=[BOUNDS])
def scan_of_indices(x, i):
    return lax.scan(lambda c, row: (c, x[row].sum()), 0., i)[1]


@asked(sized("n"), array(5, 2, dtype=I32), ranges={"i": (0, "n")}, fails=[BOUNDS])
def scan_of_indices_beyond(x, i):
    return lax.scan(lambda c, row: (c, x[row].sum()), 0., i)[1]


# -- means ----------------------------------------------------------------------------

SOME = ("n <= 4096",)


@asked(sized("n", constraints=SOME), ranges={"x": (0, 1)},
       holds=["out0 in [0, 1]"],
       fails=["out0 in [0, 0.9999]"])
def mean(x):
    return x.mean()


@asked(sized("n", constraints=SOME), ranges={"x": (0, 0.3)},
       holds=["out0 in [0, 0.3001]"],
       fails=["out0 in [0, 0.3]"])
def mean_that_is_rounded(x):
    return x.mean()


@asked(sized("n", constraints=SOME), ranges={"x": (0.5, 1)},
       holds=["out0 in [0.4999, 1]"],
       fails=["out0 in [0.5, 1]"])
def mean_by_an_inverse(x):
    """Compiled it is the sum times a rounded inverse."""
    return x.mean()


@asked(sized("n"), ranges={"x": (0, 1)},
       holds=[FINITE, "out0 in [0, inf]"],
       fails=["out0 in [0, 1]"])
def mean_of_any_number(x):
    return x.mean()


@asked(sized("n", constraints=SOME), ranges={"x": (-1, 1)},
       holds=["out0 in [0, 1]"],
       fails=["out0 in [0, 0.9]"])
def mean_of_squares(x):
    return (x * x).mean()


@asked(sized("n", constraints=SOME), ranges={"x": (-1, 1)},
       holds=["out0 in [0, 4.01]"],
       fails=["out0 in [0, 0.9]"])
def variance(x):
    return x.var()


@asked(sized("n", constraints=SOME), ranges={"x": (-1, 1)}, fails=[FINITE])
def variance_of_one_less(x):
    return x.var(ddof=1)


@asked(array(41), ranges={"x": (0, 1)}, holds=["out0 in [0, 1]"])
def mean_of_41(x):
    return x.mean()


@asked(array(41), ranges={"x": (0, 1)}, fails=["out0 in [0, 1]"])
def sum_of_one_more(x):
    return x.sum() / 40


@asked(sized("n"), ranges={"x": (0, 1)}, holds=["out0 in [0, 1]"], fails=["out0 in [0.1, 1]"])
def below_the_greatest(x):
    return x.max() - x


@asked(sized("n"), ranges={"x": (0, 1)}, holds=["out0 in [-1, 0]"])
def above_the_least(x):
    return x.min() - x


@asked(array(3, 3), ranges={"x": (0, 1)}, fails=["out0 in [0, 1]"])
def greatest_of_others(x):
    return x.max(1) - x


# -- guards ---------------------------------------------------------------------------

@asked(array(), ranges={"x": (-3, 3)}, holds=[FINITE])
def within_by_size(x):
    return jnp.where(jnp.abs(x) < 1, jnp.arctanh(x), 0.)


@asked(array(), ranges={"x": (-3, 3)}, fails=[FINITE])
def at_the_pole_by_size(x):
    return jnp.where(jnp.abs(x) <= 1, jnp.arctanh(x), 0.)


@asked(array(), ranges={"x": (-3, 3)},
       holds=["out0 in [-0.7, 1.1]"],
       fails=["out0 in [-0.69, 1.1]"])
def negated_guard(x):
    return jnp.where(-x > 0.5, jnp.log(-x), 0.)


@asked(array(dtype=jnp.int8), fails=["out0 in [-99, 99]"])
def the_least_integer_has_no_size(x):
    return jnp.where(jnp.abs(x) < 100, x, jnp.int8(0))


@asked(array(), array(), ranges={"x": (0, 2), "y": (0, 2)},
       holds=[FINITE],
       fails=["out0 in [0, 16777216]"])
def product_that_is_not_rounded(x, y):
    """Half a step below 1, where a compiled product goes into the difference as it is."""
    return jnp.where(x * y < 1, 1 / (1 - x * y), 0.)


@asked(array(dtype=jnp.bfloat16), ranges={"x": (0, 2)}, fails=["out0 in [0, 300]"])
def sixteen_bits_that_are_not_rounded(x):
    y = x * jnp.bfloat16(1.0078125)
    return jnp.where(y < 1, 1 / (1 - y), jnp.bfloat16(0))
