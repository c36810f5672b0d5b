/* dot_algorithm.c - algorithms of dot_general (dot_algorithm.h), as
 * jax.lax.DotAlgorithmPreset has them. */
#include "frontend/ir/dot_algorithm.h"

#include <string.h>

/* Which dtypes of results the product may have; else it has the sum's. */
typedef enum gives {
    SUM,
    NARROW, /* the operands' too, where both are as narrow as an operand may
               be: a product of f16 in f16 */
    FLOATS, /* that of many floats no wider than the sum's */
    ANY,
} gives;

typedef struct preset {
    const char *name;
    bool on_cpu;
    jx_dtype takes[2]; /* what an operand may be, others become the first;
                          none: 8 bits of any format */
    gives gives;
    bool tf32; /* what operands are rounded to, if not to takes[0], or ... */
    jx_dtype rounds; /* ... to this */
    jx_dtype sum;
    int products;
    bool is_fast;
} preset;

static const preset presets[] = {
    {.name = "ANY_F8_ANY_F8_F32",
     .gives = FLOATS,
     .sum = JX_F32,
     .products = 1},
    {.name = "ANY_F8_ANY_F8_F32_FAST_ACCUM",
     .gives = FLOATS,
     .sum = JX_F32,
     .products = 1,
     .is_fast = true},
    {.name = "ANY_F8_ANY_F8_ANY", .gives = ANY, .sum = JX_F32, .products = 1},
    /* JAX says `fast` of the other one alone. */
    {.name = "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
     .gives = ANY,
     .sum = JX_F32,
     .products = 1},
    {.name = "F16_F16_F16",
     .on_cpu = true,
     .takes = {JX_F16},
     .sum = JX_F16,
     .products = 1},
    {.name = "F16_F16_F32",
     .takes = {JX_F16},
     .gives = NARROW,
     .sum = JX_F32,
     .products = 1},
    {.name = "BF16_BF16_BF16",
     .takes = {JX_BF16, JX_F32},
     .sum = JX_BF16,
     .products = 1},
    {.name = "BF16_BF16_F32",
     .on_cpu = true,
     .takes = {JX_BF16, JX_F32},
     .gives = NARROW,
     .sum = JX_F32,
     .products = 1},
    {.name = "BF16_BF16_F32_X3",
     .on_cpu = true,
     .takes = {JX_F32},
     .rounds = JX_BF16,
     .sum = JX_F32,
     .products = 3},
    {.name = "BF16_BF16_F32_X6",
     .on_cpu = true,
     .takes = {JX_F32},
     .rounds = JX_BF16,
     .sum = JX_F32,
     .products = 6},
    {.name = "BF16_BF16_F32_X9",
     .takes = {JX_F32},
     .rounds = JX_BF16,
     .sum = JX_F32,
     .products = 9},
    {.name = "TF32_TF32_F32",
     .takes = {JX_F32},
     .tf32 = true,
     .sum = JX_F32,
     .products = 1},
    {.name = "TF32_TF32_F32_X3",
     .takes = {JX_F32},
     .tf32 = true,
     .sum = JX_F32,
     .products = 3},
    {.name = "F32_F32_F32",
     .on_cpu = true,
     .takes = {JX_F32},
     .sum = JX_F32,
     .products = 1},
    {.name = "F64_F64_F64",
     .on_cpu = true,
     .takes = {JX_F64},
     .sum = JX_F64,
     .products = 1},
};

static const char prefix[] = "DotAlgorithmPreset.";

static const char *preset_name(const jx_value *v)
{
    size_t length = sizeof prefix - 1;

    return v && v->tag == JX_V_ENUM && !strncmp(v->text, prefix, length)
               ? v->text + length
               : NULL;
}

static bool is_record(const jx_value *v)
{
    return v && v->tag == JX_V_RECORD && v->text &&
           !strcmp(v->text, "DotAlgorithm");
}

bool jx_names_algorithm(const jx_value *precision)
{
    return preset_name(precision) || is_record(precision);
}

static bool is_eight_bits(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) && jx_dtype_of(dtype)->bits == 8;
}

static jx_dtype taken(const preset *p, jx_dtype dtype)
{
    return !p->takes[0] || dtype == p->takes[0] || dtype == p->takes[1]
               ? dtype
               : p->takes[0];
}

/* No wider than f32, and of the formats that JAX allows there. */
static bool is_summed_into(jx_dtype dtype)
{
    return dtype == JX_F32 || dtype == JX_F16 || dtype == JX_BF16 ||
           dtype == JX_F8_E4M3FN || dtype == JX_F8_E5M2 ||
           dtype == JX_F8_E5M2FNUZ || dtype == JX_F8_E4M3FNUZ ||
           dtype == JX_F8_E4M3B11FNUZ;
}

static jx_dtype given(const preset *p, jx_dtype lhs, jx_dtype rhs, jx_dtype out)
{
    bool narrow = lhs == p->takes[0] && rhs == p->takes[0] && out == lhs;

    switch (p->gives) {
    case ANY: return out;
    case FLOATS: return is_summed_into(out) ? out : p->sum;
    case NARROW: return narrow ? out : p->sum;
    default: return p->sum;
    }
}

static bool from_preset(const preset *p, jx_dtype lhs, jx_dtype rhs,
                        jx_dtype out, jx_dot_algorithm *to)
{
    jx_dtype rounds = p->rounds ? p->rounds : p->takes[0];

    if (!p->takes[0] && (!is_eight_bits(lhs) || !is_eight_bits(rhs)))
        return false;
    lhs = taken(p, lhs);
    rhs = taken(p, rhs);
    *to = (jx_dot_algorithm){.name = p->name,
                             .on_cpu = p->on_cpu,
                             .lhs = lhs,
                             .rhs = rhs,
                             .product = given(p, lhs, rhs, out),
                             .tf32 = p->tf32,
                             .is_fast = p->is_fast,
                             .lhs_type = rounds ? rounds : lhs,
                             .rhs_type = rounds ? rounds : rhs,
                             .sum = p->sum,
                             .lhs_parts = 1,
                             .rhs_parts = 1,
                             .products = p->products};
    return true;
}

static bool read_dtype(const jx_value *record, const char *name, jx_dtype *to)
{
    const jx_value *v = jx_value_field(record, name);

    *to = v && v->tag == JX_V_DTYPE ? v->dtype : JX_DT_NONE;
    return *to != JX_DT_NONE;
}

static int64_t read_count(const jx_value *record, const char *name)
{
    const jx_value *v = jx_value_field(record, name);

    return v && v->tag == JX_V_INT ? v->integer : 1;
}

static bool from_record(const jx_value *v, jx_dot_algorithm *to)
{
    const jx_value *fast = jx_value_field(v, "allow_imprecise_accumulation");

    *to = (jx_dot_algorithm){
        .name = "DotAlgorithm",
        .lhs_parts = read_count(v, "lhs_component_count"),
        .rhs_parts = read_count(v, "rhs_component_count"),
        .products = read_count(v, "num_primitive_operations"),
        .is_fast = fast && fast->tag == JX_V_BOOL && fast->boolean};
    if (!read_dtype(v, "lhs_precision_type", &to->lhs) ||
        !read_dtype(v, "rhs_precision_type", &to->rhs) ||
        !read_dtype(v, "accumulation_type", &to->sum))
        return false;
    to->lhs_type = to->lhs;
    to->rhs_type = to->rhs;
    to->product = to->sum;
    return true;
}

bool jx_dot_algorithm_of(const jx_value *precision, jx_dtype lhs, jx_dtype rhs,
                         jx_dtype out, jx_dot_algorithm *to)
{
    const char *name = preset_name(precision);

    if (is_record(precision))
        return from_record(precision, to);
    if (name && !strcmp(name, "DEFAULT")) {
        *to = (jx_dot_algorithm){.name = "DEFAULT",
                                 .on_cpu = true,
                                 .is_default = true,
                                 .lhs = lhs,
                                 .rhs = rhs,
                                 .product = out};
        return true;
    }
    for (size_t i = 0; name && i < sizeof presets / sizeof *presets; i++)
        if (!strcmp(name, presets[i].name))
            return from_preset(&presets[i], lhs, rhs, out, to);
    return false;
}

const char *jx_dot_preset(const jx_dot_algorithm *like)
{
    jx_dot_algorithm a;

    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (from_preset(&presets[i], like->lhs, like->rhs, like->product, &a) &&
            a.tf32 == like->tf32 && a.is_fast == like->is_fast &&
            (a.tf32 ||
             (a.lhs_type == like->lhs_type && a.rhs_type == like->rhs_type)) &&
            a.sum == like->sum && a.lhs_parts == like->lhs_parts &&
            a.rhs_parts == like->rhs_parts && a.products == like->products)
            return presets[i].name;
    return NULL;
}
