/* sizes.c - what is known of values (see sizes.h). */
#include "frontend/sizes/sizes.h"

#include "frontend/ir/element.h"

#include <string.h>

enum { MOST_OPAQUE = 16, MOST_EQUATIONS = 256 };

/* -- what is known of values ----------------------------------------------- */

typedef struct known {
    const void *value; /* a variable, or a literal that stands for one */
    int input;         /* argument of the entry, or -1 */
    jx_sz_info info;
} known;

static bool same_value(const void *kept, const void *key)
{
    return ((const known *)kept)->value == key;
}

static uint64_t hash_of(const void *pointer)
{
    return jx_hash_mix((uintptr_t)pointer, 0);
}

static known *find_known(const jx_sizes *s, jx_atom atom)
{
    const void *value = atom.var ? (const void *)atom.var : atom.literal;

    return (known *)(uintptr_t)jx_intern_find(&s->values, hash_of(value), value,
                                              same_value);
}

static known *known_of(jx_sizes *s, jx_atom atom)
{
    const void *value = atom.var ? (const void *)atom.var : atom.literal;
    known *k = find_known(s, atom);

    if (k)
        return k;
    if (!(k = JX_NEW(s->ctx->arena, known)))
        return NULL;
    *k = (known){.value = value, .input = -1};
    return jx_intern_add(&s->values, hash_of(value), k) ? k : NULL;
}

bool jx_sz_set(jx_sizes *s, jx_atom atom, jx_sz_info info)
{
    known *k = known_of(s, atom);

    if (k)
        k->info = info;
    return k != NULL;
}

void jx_sz_set_input(jx_sizes *s, const jx_var *var, int input)
{
    known *k = s->plain ? NULL : known_of(s, (jx_atom){var, NULL});

    if (k)
        k->input = input;
}

int64_t jx_sz_count(const jx_aval *aval)
{
    int64_t count;

    return aval->kind == JX_AVAL_ARRAY && aval->rank <= JX_SZ_RANK &&
                   jx_aval_elements(aval, &count)
               ? count
               : -1;
}

static bool is_size_type(jx_dtype dtype)
{
    return jx_dtype_is_integer(dtype) && jx_dtype_of(dtype)->bits >= 32;
}

/* -- literals -------------------------------------------------------------- */

/* The element as it lies in memory. */
static jx_sz_elem element_of(jx_sizes *s, jx_dtype dtype,
                             const unsigned char *at)
{
    uint64_t bits = jx_element_integer(dtype, at);

    if (dtype == JX_BOOL)
        return (jx_sz_elem){NULL, bits ? s->yes : s->no};
    if (jx_dtype_of(dtype)->kind == JX_KIND_UINT)
        return (jx_sz_elem){jx_dim_wide(s->dims, (jx_int)bits), NULL};
    return (jx_sz_elem){jx_dim_int(s->dims, (int64_t)bits), NULL};
}

static jx_sz_info of_literal(jx_sizes *s, const jx_literal *literal)
{
    const jx_aval *aval = literal->aval;
    int64_t count = jx_sz_count(aval);
    const unsigned char *data = literal->bits;
    jx_sz_elem *elems;
    size_t step = 0;

    if (count < 0 || count > JX_SZ_ELEMENTS ||
        (aval->dtype != JX_BOOL && !is_size_type(aval->dtype)) ||
        !(elems = JX_NEW_ARRAY(s->ctx->arena, count + 1, jx_sz_elem)))
        return (jx_sz_info){0};
    if (literal->array) {
        data = literal->array->data;
        step = literal->array->splat ? 0 : jx_dtype_of(aval->dtype)->bytes;
    }
    if (!data || (count && literal->array &&
                  literal->array->bytes <
                      (step ? step * (size_t)count
                            : (size_t)jx_dtype_of(aval->dtype)->bytes)))
        return (jx_sz_info){0};
    for (int64_t i = 0; i < count; i++)
        elems[i] = literal->dim
                       ? (jx_sz_elem){literal->dim, NULL}
                       : element_of(s, aval->dtype, data + (size_t)i * step);
    return (jx_sz_info){(int)count, elems};
}

jx_sz_info jx_sz_info_of(jx_sizes *s, jx_atom atom)
{
    const known *k;

    if (s->plain || (!atom.var && !atom.literal))
        return (jx_sz_info){0};
    k = find_known(s, atom);
    return k          ? k->info
           : atom.var ? (jx_sz_info){0}
                      : of_literal(s, atom.literal);
}

static const jx_dim *opaque(jx_sizes *s, const jx_var *var, int element)
{
    const known *k = find_known(s, (jx_atom){var, NULL});
    bool is_input = k && k->input >= 0;

    return jx_sz_opaque(s, (jx_sz_aux){.of = is_input ? NULL : var,
                                       .input = is_input ? k->input : -1,
                                       .element = element,
                                       .scalar = var->aval->rank == 0});
}

jx_sz_info jx_sz_operand(jx_sizes *s, jx_atom atom)
{
    jx_sz_info info = jx_sz_info_of(s, atom);
    bool unknown = !info.elems && !s->plain && atom.var;
    int64_t count = unknown ? jx_sz_count(atom.var->aval) : -1;
    jx_sz_elem *elems;

    if (count < 0 || count > MOST_OPAQUE ||
        !is_size_type(atom.var->aval->dtype) ||
        !(elems = JX_NEW_ARRAY(s->ctx->arena, count + 1, jx_sz_elem)))
        return info;
    for (int i = 0; i < count; i++)
        elems[i].dim = opaque(s, atom.var, i);
    info = (jx_sz_info){(int)count, elems};
    jx_sz_set(s, atom, info);
    return info;
}

bool jx_sz_same_info(const jx_sz_info *a, const jx_sz_info *b)
{
    return a->count == b->count && !a->elems == !b->elems &&
           (!a->elems ||
            !memcmp(a->elems, b->elems, (size_t)a->count * sizeof *a->elems));
}

/* -- as sizes -------------------------------------------------------------- */

/* The dims without auxiliaries; NULL if one has none, or is opaque. */
static const jx_dim *const *elements(jx_sizes *s, jx_atom atom, bool strictly)
{
    jx_sz_info info = jx_sz_info_of(s, atom);
    const known *k = atom.var ? find_known(s, atom) : NULL;
    const jx_dim **to;

    if (!info.elems && !strictly && k && k->input >= 0)
        info = jx_sz_operand(s, atom);
    if (!info.elems)
        return NULL;
    to = JX_NEW_ARRAY(s->ctx->arena, info.count + 1, const jx_dim *);
    for (int i = 0; to && i < info.count; i++) {
        const jx_dim *dim = info.elems[i].dim;
        if (!dim || jx_sz_is_opaque(s, dim, strictly) ||
            !(to[i] = jx_sz_public(s, dim)))
            return NULL;
    }
    return to;
}

const jx_dim *const *jx_sz_sizes(jx_sizes *s, jx_atom atom)
{
    return elements(s, atom, false);
}

const jx_dim *const *jx_sz_known(jx_sizes *s, jx_atom atom)
{
    return elements(s, atom, true);
}

const jx_dim *const *jx_sz_slice(jx_sizes *s, jx_atom start, jx_atom limit)
{
    jx_sz_info from = jx_sz_info_of(s, start), to = jx_sz_info_of(s, limit);
    const jx_dim **length;

    if (!from.elems || !to.elems || from.count != to.count)
        return NULL;
    length = JX_NEW_ARRAY(s->ctx->arena, to.count + 1, const jx_dim *);
    for (int i = 0; length && i < to.count; i++) {
        const jx_dim *dim =
            jx_dim_sub(s->dims, to.elems[i].dim, from.elems[i].dim);
        if (!dim || jx_sz_is_opaque(s, dim, false) ||
            !(length[i] = jx_sz_public(s, dim)))
            return NULL;
    }
    return length;
}

const jx_dim *jx_sz_size(jx_sizes *s, jx_atom atom, int element)
{
    jx_sz_info info = jx_sz_info_of(s, atom);
    const jx_dim *dim =
        info.elems && element < info.count ? info.elems[element].dim : NULL;

    if (!dim && atom.var && !s->plain)
        dim = opaque(s, atom.var, element);
    return dim && jx_dim_nodes(dim) <= JX_SZ_NODES ? jx_sz_public(s, dim)
                                                   : NULL;
}

/* -- what is the larger one ------------------------------------------------ */

static bool put_decided(void *env, const jx_dim_atom *atom, const jx_dim **put)
{
    jx_sizes *s = env;
    const jx_dim *a, *b, *apart;
    jx_dim_range range = {0};

    if (atom->kind == JX_ATOM_VAR)
        return true;
    a = jx_dim_map(s->dims, atom->a, put_decided, s);
    b = jx_dim_map(s->dims, atom->b, put_decided, s);
    apart = atom->kind == JX_ATOM_MAX || atom->kind == JX_ATOM_MIN
                ? jx_dim_sub(s->dims, a, b)
                : NULL;
    if (apart)
        range = jx_sz_bounds(s, apart);
    if (range.has_low && range.low >= 0)
        *put = atom->kind == JX_ATOM_MAX ? a : b;
    else if (range.has_high && range.high <= 0)
        *put = atom->kind == JX_ATOM_MAX ? b : a;
    else if (a && b && (a != atom->a || b != atom->b))
        *put = jx_dim_apply(s->dims, atom->kind, a, b);
    return a && b && (*put || (a == atom->a && b == atom->b));
}

const jx_dim *jx_sz_decided(jx_sizes *s, const jx_dim *dim)
{
    const jx_dim *made = jx_dim_map(s->dims, dim, put_decided, s);

    return made ? made : dim;
}

/* -- sizes that must be the same ------------------------------------------- */

static const jx_dim *by_equations(jx_sizes *s, const jx_dim *dim)
{
    for (size_t i = 0; dim && i < s->equations.count; i++)
        dim = jx_dim_substitute(s->dims, dim, s->equations.at[i].var,
                                s->equations.at[i].is);
    return dim;
}

static bool occurs(jx_sizes *s, const jx_dim_atom *var, const jx_dim *in)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, in, &count);

    for (int i = 0; vars && i < count; i++)
        if (vars[i] == var)
            return true;
    return !vars;
}

/* The coefficient of a variable that stands alone in one term; 0: none. */
static jx_int factor_of(const jx_dim *dim, const jx_dim_atom *var)
{
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        if (term->nfactors == 1 && term->factors[0].atom == var &&
            term->factors[0].power == 1)
            return term->coefficient;
    }
    return 0;
}

/* Some array may have that size and not be empty: what fits nothing else is
 * wrong, and not a name for the size. */
static bool is_size(const jx_sizes *s, const jx_dim *dim)
{
    jx_dim_range range = jx_sz_bounds(s, dim);

    return !range.has_high || range.high >= 1;
}

/* apart == 0, solved for a variable that nobody named. */
static bool equate(jx_sizes *s, const jx_dim_atom *var, const jx_dim *apart)
{
    jx_int factor = factor_of(apart, var);
    const jx_dim *k, *rest;
    jx_sz_equation made = {var, NULL};

    if (!factor)
        return false;
    k = jx_dim_wide(s->dims, factor);
    rest = jx_dim_sub(
        s->dims, jx_dim_mul(s->dims, k, jx_dim_of_atom(s->dims, var)), apart);
    made.is = rest ? jx_dim_divide_exactly(s->dims, rest, k) : NULL;
    if (!made.is || !is_size(s, made.is) || occurs(s, var, made.is) ||
        !jx_sz_is_given(s, made.is))
        return false;
    JX_PUSH(s->ctx->arena, &s->equations, made);
    return true;
}

void jx_sz_same(jx_sizes *s, const jx_dim *a, const jx_dim *b)
{
    const jx_dim *apart;

    if (!s->unifying || !a || !b || s->equations.count >= MOST_EQUATIONS)
        return;
    a = by_equations(s, a);
    b = by_equations(s, b);
    apart = a && b && a != b ? jx_dim_sub(s->dims, a, b) : NULL;
    /* Of two inputs' sizes the later one is called as the earlier. */
    for (size_t i = s->open.count; apart && i-- > 0;)
        if (equate(s, s->open.at[i], apart))
            return;
}

/* -- the whole ------------------------------------------------------------- */

jx_sizes *jx_sizes_new(jx_ctx *ctx, jx_dims *dims)
{
    jx_sizes *s = JX_NEW(ctx->arena, jx_sizes);

    if (!s)
        return NULL;
    s->ctx = ctx;
    s->dims = dims;
    jx_intern_init(&s->values, ctx->arena);
    jx_map_init(&s->names, ctx->arena);
    jx_intern_init(&s->looks, ctx->arena);
    return jx_sz_value_init(s) ? s : NULL;
}

void jx_sz_forget(jx_sizes *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->vars.count; i++)
        if (s->vars.at[i].origin == JX_SIZE_AXIS ||
            s->vars.at[i].origin == JX_SIZE_INPUT)
            s->vars.at[kept++] = s->vars.at[i];
    s->vars.count = kept;
    s->fresh = 0;
    s->work = 0;
    jx_map_init(&s->names, s->ctx->arena);
    for (size_t i = 0; i < s->vars.count; i++)
        jx_sz_take_name(s, s->vars.at[i].var->name);
    jx_intern_init(&s->values, s->ctx->arena);
    jx_intern_init(&s->looks, s->ctx->arena);
    s->looked.count = 0;
    for (size_t i = 0; i < s->aux.count; i++)
        if (s->aux.at[i]->of)
            s->aux.at[i]->size = NULL;
}
