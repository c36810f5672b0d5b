/* extents_random.c - bounds of values, against what random programs compute.
 *
 *     extents_random [--programs N] [--seed K] [--rows]
 *
 * Programs are made as text: up to eight equations of the primitives whose values are
 * bounded, on f32, f16, bf16 and f64, with ranges of their inputs.  Every value is an output.
 * Each program runs as written (ieee), with subnormals flushed (ftz), and as XLA's simplifier
 * leaves it (xla), at corners, at random and where the greatest or least value so far was,
 * moved a little toward an end: what lies outside of the bounds of that semantics is printed
 * with its program.  Exits with 1 if anything does.  --rows says how often each primitive
 * was tried. */
#include "analyzer/transform/xla.h"
#include "analyzer/values/values.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "frontend/read/text.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradcall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, SIDE = 4, ELEMENTS = SIDE * SIDE, MOST_VALUES = 40, TRIES = 14 };

typedef struct rng {
    uint64_t state;
} rng;

static uint64_t draw(rng *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return r->state >> 33;
}

static int below(rng *r, int n)
{
    return (int)(draw(r) % (uint64_t)n);
}

static double uniform(rng *r)
{
    return (double)draw(r) / (double)((uint64_t)1 << 31);
}

/* -- programs ------------------------------------------------------------------------- */

/* What is made of one value of the program's float dtype and shape (or of two: `a b`). */
static const char *const forms[] = {
    "neg a",
    "abs a",
    "sign a",
    "floor a",
    "ceil a",
    "round[rounding_method=1] a",
    "exp a",
    "exp2 a",
    "expm1 a",
    "log a",
    "log1p a",
    "logistic a",
    "tanh a",
    "sin a",
    "cos a",
    "tan a",
    "asin a",
    "acos a",
    "atan a",
    "sinh a",
    "cosh a",
    "asinh a",
    "acosh a",
    "atanh a",
    "sqrt a",
    "rsqrt a",
    "cbrt a",
    "square a",
    "erf a",
    "erfc a",
    "erf_inv a",
    "lgamma a",
    "digamma a",
    "bessel_i0e a",
    "bessel_i1e a",
    "integer_pow[y=2] a",
    "integer_pow[y=3] a",
    "integer_pow[y=-1] a",
    "integer_pow[y=-2] a",
    "reduce_precision[exponent_bits=5 mantissa_bits=4] a",
    "copy a",
    "cumsum[axis=1 reverse=False] a",
    "cummax[axis=0 reverse=True] a",
    "cummin[axis=1 reverse=False] a",
    "cumprod[axis=1 reverse=False] a",
    "cumlogsumexp[axis=1 reverse=False] a",
    "rev[dimensions=(1,)] a",
    "transpose[permutation=(1, 0)] a",
    "add a b",
    "sub a b",
    "mul a b",
    "div a b",
    "max a b",
    "min a b",
    "rem a b",
    "pow a b",
    "atan2 a b",
    "nextafter a b",
    "add_any a b",
    "add a 0.5:$[]",
    "mul a -3.0:$[]",
    "sub 1.0:$[] a",
    "div a 3.0:$[]",
    "div 1.0:$[] a",
    "add a 1e-05:$[]",
    "max a 0.0:$[]",
    "min a 2.0:$[]",
    "pow a 0.5:$[]",
    "pow a 2.0:$[]",
    "clamp -1.0:$[] a 2.0:$[]",
    "mul a 0.0:$[]",
    "sub a 2.5:$[]",
    "dot_general[dimension_numbers=(([1], [0]), ([], []))] a b",
};

/* Rows of four that an array of integers tells. */
#define INDICES \
    "%0:i32[4,4] = convert_element_type[new_dtype=int32 weak_type=False] a\n" \
    "%1:i32[4,4] = add %0 1:i32[]\n" \
    "%2:i32[4,1] = slice[limit_indices=(4, 1) start_indices=(0, 0) strides=None] %1\n"
#define ROWS \
    "GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), " \
    "operand_batching_dims=(), start_indices_batching_dims=())"
#define SCATTERED \
    "dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), " \
    "scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), " \
    "scatter_indices_batching_dims=()) indices_are_sorted=False " \
    "mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=()"

/* Several equations that belong together: `%` numbers what is new, from the first; bodies have
 * `|` between their equations. */
static const char *const idioms[] = {
    "%0:$[4] = reduce_max[axes=(1,)] a\n"
    "%1:$[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %0\n"
    "%2:$[4,4] = sub a %1\n%3:$[4,4] = exp %2\n%4:$[4] = reduce_sum[axes=(1,)] %3\n"
    "%5:$[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %4\n"
    "%6:$[4,4] = div %3 %5\n",
    "%0:$[4] = reduce_sum[axes=(0,)] a\n%1:$[4] = div %0 4.0:$[]\n"
    "%2:$[4,4] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(4, 4) sharding=None] %1\n"
    "%3:$[4,4] = sub a %2\n%4:$[4,4] = mul %3 %3\n",
    "%0:$[4] = reduce_min[axes=(1,)] a\n"
    "%1:$[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %0\n"
    "%2:$[4,4] = sub a %1\n%3:$[] = reduce_max[axes=(0, 1)] %2\n%4:$[4,4] = div %2 %3\n",
    "%0:bool[4,4] = gt a b\n%1:$[4,4] = select_n %0 b a\n",
    "%0:bool[4,4] = gt a 0.5:$[]\n%1:$[4,4] = log a\n%2:$[4,4] = select_n %0 b %1\n",
    "%0:bool[4,4] = lt a 1.0:$[]\n%1:bool[4,4] = ge a -1.0:$[]\n%2:bool[4,4] = and %0 %1\n"
    "%3:$[4,4] = select_n %2 0.5:$[] a\n",
    "%0:bool[4,4] = ne a 0.0:$[]\n%1:$[4,4] = select_n %0 1.0:$[] a\n%2:$[4,4] = div b %1\n",
    "%0:bool[4,4] = eq a b\n%1:$[4,4] = convert_element_type[new_dtype=@ weak_type=False] %0\n"
    "%2:$[4,4] = mul %1 a\n",
    "%0:i32[4,4] = convert_element_type[new_dtype=int32 weak_type=False] a\n"
    "%1:i32[4,4] = add %0 7:i32[]\n%2:i32[4,4] = mul %1 3:i32[]\n"
    "%3:$[4,4] = convert_element_type[new_dtype=@ weak_type=False] %2\n",
    "%0:bf16[4,4] = convert_element_type[new_dtype=bfloat16 weak_type=False] a\n"
    "%1:bf16[4,4] = mul %0 %0\n%2:$[4,4] = convert_element_type[new_dtype=@ weak_type=False] %1\n",
    "%0:f16[4,4] = convert_element_type[new_dtype=float16 weak_type=False] a\n"
    "%1:f16[4,4] = exp %0\n%2:$[4,4] = convert_element_type[new_dtype=@ weak_type=False] %1\n",
    "%0:$[8,4] = concatenate[dimension=0] a b\n"
    "%1:$[4,4] = slice[limit_indices=(6, 4) start_indices=(2, 0) strides=None] %0\n",
    "%0:$[5,5] = pad[padding_config=((1, 0, 0), (0, 1, 0))] a 2.0:$[]\n"
    "%1:$[4,4] = slice[limit_indices=(4, 4) start_indices=(0, 0) strides=None] %0\n",
    "%0:$[4,4] = sort[dimension=1 is_stable=True num_keys=1] a\n",
    "%0:i32[4] = argmax[axes=(1,) index_dtype=int32] a\n"
    "%1:$[4] = convert_element_type[new_dtype=@ weak_type=False] %0\n"
    "%2:$[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %1\n",
    "%0:$[16] = reshape[dimensions=None new_sizes=(16,) sharding=None] a\n"
    "%1:$[] = reduce_prod[axes=(0,)] %0\n%2:$[4,4] = mul a %1\n",
    "%0:$[4,4] = sub 1.0:$[] a\n%1:$[4,4] = add %0 1e-15:$[]\n%2:$[4,4] = log %1\n",
    "%0:$[4,4] = exp a\n%1:$[4,4] = exp b\n%2:$[4,4] = div %0 %1\n%3:$[4,4] = mul %0 %1\n",
    "%0:$[4,4] = exp a\n%1:$[4,4] = log %0\n%2:$[4,4] = pow %0 b\n",
    "%0:$[4,4] = div a b\n%1:$[4,4] = div %0 3.0:$[]\n%2:$[4,4] = div a %0\n",
    "%0:$[4,4] = mul a a\n%1:$[4,4] = sqrt %0\n%2:$[4,4] = div b %1\n",
    "%0:bool[4,4] = is_finite a\n%1:$[4,4] = select_n %0 0.0:$[] a\n",
    "%0:i32[4,4] = iota[dimension=1 dtype=int32 shape=(4, 4) sharding=None] \n"
    "%1:$[4,4] = convert_element_type[new_dtype=@ weak_type=False] %0\n%2:$[4,4] = mul a %1\n",
    "%0:$[4,4] = nextafter a b\n%1:bool[4,4] = ge %0 0.0:$[]\n%2:$[4,4] = select_n %1 0.0:$[] %0\n",
    "%0:$[4,4] = nextafter a b\n%1:bool[4,4] = eq %0 0.0:$[]\n%2:$[4,4] = select_n %1 1.0:$[] %0\n",
    /* Signs of products; what a mask fills in. */
    "%0:$[4,4] = mul 0.5:$[] a\n%1:$[4,4] = mul %0 a\n%2:$[4,4] = sqrt %1\n",
    "%0:$[4,4] = neg a\n%1:$[4,4] = mul %0 b\n%2:$[4,4] = mul %1 a\n%3:$[4,4] = mul b %2\n",
    "%0:bool[4,4] = gt b 0.5:$[]\n%1:$[4,4] = div a 3.0:$[]\n"
    "%2:$[4,4] = broadcast_in_dim[broadcast_dimensions=() shape=(4, 4) sharding=None] -30000.0:$[]\n"
    "%3:$[4,4] = select_n %0 %2 %1\n%4:$[4] = reduce_max[axes=(1,)] %3\n"
    "%5:$[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %4\n"
    "%6:$[4,4] = sub %3 %5\n%7:$[4,4] = exp %6\n",
    /* What takes places. */
    INDICES "%3:$[4,4] = gather[dimension_numbers=" ROWS " fill_value=None indices_are_sorted=False "
            "mode=GatherScatterMode.CLIP slice_sizes=(1, 4) unique_indices=False] b %2\n",
    INDICES "%3:$[4,4] = gather[dimension_numbers=" ROWS " fill_value=None indices_are_sorted=False "
            "mode=GatherScatterMode.FILL_OR_DROP slice_sizes=(1, 4) unique_indices=False] b %2\n",
    INDICES "%3:$[4,4] = scatter-add[" SCATTERED " update_jaxpr={ lambda ; p:$[] q:$[]. let "
            "r:$[] = add p q in (r,) }] a %2 b\n",
    INDICES "%3:$[4,4] = scatter[" SCATTERED " update_jaxpr={ lambda ; p:$[] q:$[]. let "
            " in (q,) }] a %2 b\n",
    INDICES "%3:i32[4,1] = clamp 0:i32[] %2 3:i32[]\n%4:i32[4,1] = iota[dimension=0 dtype=int32 "
            "shape=(4, 1) sharding=None] \n%5:i32[4,2] = concatenate[dimension=1] %3 %4\n"
            "%6:$[4] = gather[dimension_numbers=GatherDimensionNumbers(offset_dims=(), "
            "collapsed_slice_dims=(0, 1), start_index_map=(0, 1), operand_batching_dims=(), "
            "start_indices_batching_dims=()) fill_value=None indices_are_sorted=False "
            "mode=GatherScatterMode.PROMISE_IN_BOUNDS slice_sizes=(1, 1) unique_indices=False] a %5\n",
    "%0:i32[4,4] = convert_element_type[new_dtype=int32 weak_type=False] b\n"
    "%1:i32[] = reduce_max[axes=(0, 1)] %0\n%2:$[2,4] = dynamic_slice[slice_sizes=(2, 4)] a %1 0:i32[]\n"
    "%3:$[4,4] = dynamic_update_slice b %2 1:i32[] %1\n",
    "%0:$[1,4,4,1] = reshape[dimensions=None new_sizes=(1, 4, 4, 1) sharding=None] a\n"
    "%1:$[2,2] = slice[limit_indices=(2, 2) start_indices=(0, 0) strides=None] b\n"
    "%2:$[2,2,1,1] = reshape[dimensions=None new_sizes=(2, 2, 1, 1) sharding=None] %1\n"
    "%3:$[1,4,4,1] = conv_general_dilated[batch_group_count=1 dimension_numbers=ConvDimensionNumbers("
    "lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2)) feature_group_count=1 "
    "lhs_dilation=(1, 1) padding=((1, 0), (0, 1)) precision=None preferred_element_type=None "
    "rhs_dilation=(1, 1) window_strides=(1, 1)] %0 %2\n"
    "%4:$[4,4] = reshape[dimensions=None new_sizes=(4, 4) sharding=None] %3\n",
    /* Loops and branches. */
    "%0:$[4] = reduce_sum[axes=(1,)] b\n%1:$[4] = scan[jaxpr={ lambda ; p:$[4] q:$[4]. let|"
    "r:$[4] = mul p q|s:$[4] = tanh r|in (s,) } length=4 num_carry=1 num_consts=0 reverse=False "
    "unroll=1] %0 a\n",
    "%0:$[4] = reduce_max[axes=(1,)] b\n%1:$[4] %2:$[4,4] = scan[jaxpr={ lambda ; p:$[4] q:$[4]. let|"
    "r:$[4] = mul 0.5:$[] p|s:$[4] = add r q|t:$[4] = sub q s|in (s, t) } length=4 num_carry=1 "
    "num_consts=0 reverse=True unroll=1] %0 a\n",
    "%0:i32[] %1:$[4,4] = while[body_jaxpr={ lambda ; p:i32[] q:$[4,4]. let|r:i32[] = add p 1:i32[]|"
    "s:$[4,4] = mul q q|in (r, s) } body_nconsts=0 cond_jaxpr={ lambda ; p:i32[] q:$[4,4]. let|"
    "r:bool[] = lt p 3:i32[]|in (r,) } cond_nconsts=0] 0:i32[] a\n",
    "%0:i32[] %1:$[4,4] = while[body_jaxpr={ lambda ; p:i32[] q:$[4,4]. let|r:i32[] = add p 1:i32[]|"
    "s:$[4,4] = add q 0.75:$[]|in (r, s) } body_nconsts=0 cond_jaxpr={ lambda ; p:i32[] q:$[4,4]. let|"
    "r:$[] = reduce_max[axes=(0, 1)] q|s:bool[] = lt r 5.0:$[]|t:bool[] = lt p 300:i32[]|"
    "u:bool[] = and s t|in (u,) } cond_nconsts=0] 0:i32[] a\n",
    "%0:$[] = reduce_max[axes=(0, 1)] b\n%1:bool[] = gt %0 1.0:$[]\n"
    "%2:i32[] = convert_element_type[new_dtype=int32 weak_type=False] %1\n"
    "%3:$[4,4] = cond[branches=( { lambda ; p:$[4,4] q:$[]. let|r:$[4,4] = mul p q|in (r,) } "
    "{ lambda ; p:$[4,4] q:$[]. let|r:$[4,4] = div p q|in (r,) } )] %2 a %0\n",
    "%0:bool[4,4] = gt a b\n%1:bool[4] = reduce_or[axes=(1,)] %0\n"
    "%2:bool[4,4] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(4, 4) sharding=None] %1\n"
    "%3:$[4,4] = select_n %2 a b\n",
};

typedef struct making {
    rng *r;
    const char *dtype, *name; /* "f32", "float32" */
    int count;                /* values so far */
    int whole[MOST_VALUES];   /* those of the float dtype and 4 by 4 */
    int nwhole;
    char text[8192], values[1024];
} making;

static void put(making *m, const char *format, const char *text, int number)
{
    size_t length = strlen(m->text);

    snprintf(m->text + length, sizeof m->text - length, format, text, number);
}

static void put_char(making *m, char c)
{
    size_t length = strlen(m->text);

    if (length + 1 < sizeof m->text) {
        m->text[length] = c;
        m->text[length + 1] = 0;
    }
}

static void add_value(making *m, bool whole)
{
    char name[16];

    snprintf(name, sizeof name, "%sv%d", *m->values ? ", " : "", m->count);
    strcat(m->values, name);
    if (whole)
        m->whole[m->nwhole++] = m->count;
    m->count++;
}

/* Operands a and b are two of those that there are; $ and @ the dtype. */
static void put_form(making *m, const char *form, int first)
{
    int a = m->whole[below(m->r, m->nwhole)], b = m->whole[below(m->r, m->nwhole)];

    for (const char *at = form; *at; at++) {
        bool alone = (at == form || at[-1] == ' ') && (!at[1] || at[1] == ' ' || at[1] == '\n');
        if (*at == '$')
            put(m, "%s", m->dtype, 0);
        else if (*at == '@')
            put(m, "%s", m->name, 0);
        else if (*at == '|')
            put_char(m, '\n');
        else if (*at == '%')
            put(m, "%sv%d", "", first + *++at - '0');
        else if (alone && (*at == 'a' || *at == 'b'))
            put(m, "%sv%d", "", *at == 'a' ? a : b);
        else
            put_char(m, *at);
    }
}

static void add_form(making *m)
{
    put(m, "%sv%d:", "", m->count);
    put(m, "%s[4,4] = ", m->dtype, 0);
    put_form(m, forms[below(m->r, sizeof forms / sizeof *forms)], m->count);
    put(m, "%s\n", "", 0);
    add_value(m, true);
}

static void add_idiom(making *m)
{
    const char *form = idioms[below(m->r, sizeof idioms / sizeof *idioms)];

    put_form(m, form, m->count);
    for (const char *at = form; *at; at += strcspn(at, "\n"), at += *at == '\n')
        for (const char *result = at; *result == '%'; result += strcspn(result, " ") + 1)
            add_value(m, strncmp(result + 2, ":$[4,4]", 7) == 0);
}

static void make(making *m, rng *r)
{
    static const char *const dtypes[][2] = {{"f32", "float32"},
                                            {"f32", "float32"},
                                            {"f16", "float16"},
                                            {"bf16", "bfloat16"},
                                            {"f64", "float64"}};
    const char *const *dtype = dtypes[below(r, 5)];
    int steps = 1 + below(r, 5);

    *m = (making){.r = r, .dtype = dtype[0], .name = dtype[1]};
    put(m, "%s", "{ lambda ;", 0);
    for (int i = 0; i < INPUTS; i++) {
        put(m, "%s v%d:", "", i);
        put(m, "%s[4,4]", m->dtype, 0);
        m->whole[m->nwhole++] = m->count++;
    }
    put(m, "%s", ". let\n", 0);
    for (int i = 0; i < steps && m->count < MOST_VALUES - 12; i++)
        (below(r, 3) ? add_form : add_idiom)(m);
    put(m, "in (%s,) }\n", m->values, 0);
}

/* -- runs ------------------------------------------------------------------------------- */

typedef struct trial {
    rng r;
    const char *text;
    jx_program *program;
    double low[INPUTS], high[INPUTS];
    char ranges[INPUTS][96];
    long outside, values, runs;
} trial;

static double end_of(rng *r)
{
    static const double ends[] = {-1e30, -1000, -100, -10, -3, -1, -.5, -1e-3, 0,    0,
                                  1e-30, 1e-3,  .5,   1,   2,  8,  60,  100,   1000, 1e30};

    return below(r, 4) ? ends[below(r, sizeof ends / sizeof *ends)] : 20 * uniform(r) - 10;
}

static bool take_ranges(trial *t, jx_dtype dtype)
{
    double most = dtype == JX_F16 ? 60000 : 1e30;

    for (int i = 0; i < INPUTS; i++) {
        double a = end_of(&t->r), b = end_of(&t->r);
        a = fmin(fmax(a, -most), most);
        b = fmin(fmax(b, -most), most);
        t->low[i] = fmin(a, b);
        t->high[i] = fmax(a, b);
        /* As the dtype has them, inward. */
        double low = jx_round_to(dtype, t->low[i]), high = jx_round_to(dtype, t->high[i]);
        t->low[i] = low;
        t->high[i] = high;
        snprintf(t->ranges[i], sizeof t->ranges[i], "in%d in [%.17g, %.17g]", i, low, high);
        if (!jx_range_parse(t->program, t->ranges[i]))
            return false;
    }
    return true;
}

static void fill(trial *t, int how, double at[INPUTS][ELEMENTS], double best[INPUTS][ELEMENTS])
{
    for (int i = 0; i < INPUTS; i++) {
        double low = t->low[i], high = t->high[i], same = uniform(&t->r);
        int corner = below(&t->r, 2);
        for (int k = 0; k < ELEMENTS; k++) {
            double part = uniform(&t->r);
            switch (how) {
            case 0: at[i][k] = corner ? low : high; break;
            case 1: at[i][k] = below(&t->r, 2) ? low : high; break;
            case 2: at[i][k] = low + same * (high - low); break;
            case 3:
                at[i][k] =
                    below(&t->r, 2) ? (low > 0 || high < 0 ? low : 0) : low + part * (high - low);
                break;
            case 4:
            case 5: at[i][k] = low + part * (high - low); break;
            default: /* from the best so far, some elements to an end */
                at[i][k] = below(&t->r, 4)   ? best[i][k]
                           : below(&t->r, 2) ? (below(&t->r, 2) ? low : high)
                                             : best[i][k] + (part - .5) * .1 * (high - low);
            }
            at[i][k] = fmin(fmax(at[i][k], low), high);
        }
    }
}

static void show(const trial *t, const char *semantics, int out, double value, jx_extent is)
{
    printf("%s%s\n%s\n%s\n%s: output %d is %.17g outside of [%.17g, %.17g]%s\n\n", t->text,
           t->ranges[0], t->ranges[1], t->ranges[2], semantics, out, value, is.lo, is.hi,
           is.nan ? " or NaN" : "");
}

/* One program at many inputs, within the extents of a semantics. */
static void run(trial *t, jx_program *program, jx_semantics semantics, const jx_extents *extents)
{
    const jx_typed *typed = jx_program_fits(program, false, 0, NULL);
    const jx_plan_options how = {.domain = JX_DECLARED};
    double at[INPUTS][ELEMENTS], best[INPUTS][ELEMENTS], seen = -INFINITY;
    jx_callee f;
    int goal, sign = below(&t->r, 2) ? 1 : -1;

    if (!typed || !jx_callee_open(&f, typed, &program->entry, &how)) {
        jx_error_clear(program->ctx);
        return;
    }
    goal = below(&t->r, f.nouts);
    jx_exec_flush(f.exec, semantics != JX_IEEE);
    for (int n = 0; n < TRIES; n++) {
        fill(t, n, at, best);
        for (int i = 0; i < INPUTS; i++)
            jx_convert(JX_F64, jx_plan_in(f.plan, i)->dtype, at[i], f.in[i], ELEMENTS);
        if (!jx_callee_run(&f))
            break;
        t->runs++;
        for (int o = 0; o < f.nouts; o++) {
            const jx_port *port = jx_plan_out(f.plan, o);
            jx_extent is = extents->outs[o];
            double most = -INFINITY;
            for (int64_t k = 0; k < port->count; k++) {
                double value = 0;
                jx_convert(port->dtype, JX_F64,
                           (const char *)jx_exec_out(f.exec, o) +
                               (size_t)k * jx_dtype_of(port->dtype)->bytes,
                           &value, 1);
                t->values++;
                if (isnan(value) ? !is.nan : value < is.lo || value > is.hi) {
                    if (!t->outside++)
                        show(t, jx_semantics_name(semantics), o, value, is);
                }
                most = fmax(most, sign * value);
            }
            if (o == goal && (n == 0 || most >= seen)) {
                seen = most;
                memcpy(best, at, sizeof best);
            }
        }
    }
    jx_callee_close(&f);
}

static void count_rows(const jx_program *program, long *rows)
{
    for (int i = 0; i < program->entry.jaxpr->neqns; i++)
        rows[program->entry.jaxpr->eqns[i].prim->id]++;
}

/* A program of that seed; whether all lies within. */
static bool try(uint64_t seed, trial *all, long *rows)
{
    static making m; /* large; nobody else is here */
    trial t = {.r = {seed * 2654435761u + 12345}};
    jx_ctx *ctx = jx_ctx_new((size_t)256 << 20);
    bool matters;

    draw(&t.r);
    make(&m, &t.r);
    t.text = m.text;
    t.program = jx_read_text(ctx, "random", m.text, strlen(m.text));
    if (!t.program) {
        printf("%s%s\n", m.text, ctx->error.message ? ctx->error.message : "");
        jx_ctx_free(ctx);
        return false;
    }
    if (take_ranges(&t, jx_atom_aval((jx_atom){t.program->entry.jaxpr->vars[0], NULL})->dtype)) {
        const jx_extents *ieee = jx_program_extents(t.program, JX_IEEE);
        const jx_extents *ftz = jx_program_extents(t.program, JX_FTZ);
        const jx_extents *xla = jx_program_extents(t.program, JX_XLA);
        jx_program *compiled = jx_program_as_xla(t.program, &matters);
        count_rows(t.program, rows);
        if (ieee)
            run(&t, t.program, JX_IEEE, ieee);
        if (ftz)
            run(&t, t.program, JX_FTZ, ftz);
        if (xla && compiled)
            run(&t, compiled, JX_XLA, xla);
    }
    all->values += t.values;
    all->runs += t.runs;
    all->outside += t.outside > 0;
    if (ctx->error.kind != JX_E_NONE)
        printf("seed %llu: %s\n", (unsigned long long)seed, ctx->error.message);
    jx_ctx_free(ctx);
    return !t.outside;
}

int main(int argc, char **argv)
{
    long programs = 2000, seed = 0, least = -1;
    trial all = {.values = 0};
    long *rows = calloc(JX_NPRIMS, sizeof *rows);
    bool tell = false;

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--programs") && i + 1 < argc)
            programs = atol(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = atol(argv[++i]);
        else if (!strcmp(argv[i], "--rows"))
            tell = true;
    for (long i = 0; i < programs; i++)
        if (!try((uint64_t)(seed + i), &all, rows))
            fflush(stdout);
    for (int id = 1; id < JX_NPRIMS; id++) {
        if (!rows[id])
            continue;
        least = least < 0 || rows[id] < least ? rows[id] : least;
        if (tell)
            printf("%8ld %s\n", rows[id], jx_prim_of((jx_prim_id)id)->name);
    }
    printf("extents: %ld programs, %ld runs, %ld values, each primitive in %ld or more; %ld "
           "programs with a value outside\n",
           programs, all.runs, all.values, least, all.outside);
    free(rows);
    return all.outside > 0;
}
