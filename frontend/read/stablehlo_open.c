/* stablehlo_open.c - sizes that types leave open: what the type rules make of
 * the equations that compute the results.
 *
 * A size that is open is a variable `?0` while its op is read, which may take
 * several equations.  Each is typed when it is made, and what comes out for a
 * bare variable is what it is; so is what a rule says to be equal to it. */
#include "frontend/read/stablehlo_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* The scope of open sizes: no user's. */
enum { OPEN_SCOPE = 1 << 22, MOST_NUMBERS = 64 };

bool jx_hlo_is_open(const jx_mlir_type *type)
{
    for (int i = 0; type->kind == JX_T_TENSOR && i < type->rank; i++)
        if (type->shape[i] == JX_MLIR_DYNAMIC)
            return true;
    return false;
}

const jx_dim *jx_hlo_open_size(jx_hlo_reader *s)
{
    jx_hlo_open made = {NULL, NULL};
    char name[24];

    snprintf(name, sizeof name, "?%zu", s->open.count);
    made.var = jx_dim_var_atom(s->program->dims, jx_intern_text(s->ctx, name),
                               OPEN_SCOPE);
    if (!made.var)
        return NULL;
    JX_PUSH(s->ctx->arena, &s->open, made);
    return jx_dim_of_atom(s->program->dims, made.var);
}

/* ---- sizes of results */

const jx_dim *const *jx_hlo_sizes_in(jx_hlo_body *b, int operand, int count)
{
    jx_atoms atoms = operand < b->op->nins && count >= 0
                         ? jx_hlo_atoms_of(b, b->op->ins[operand])
                         : (jx_atoms){0, NULL};

    return atoms.count == 1 && jx_sz_count(jx_atom_aval(atoms.at[0])) == count
               ? jx_sz_sizes(b->s->sizes, atoms.at[0])
               : NULL;
}

const jx_dim *const *jx_hlo_shape_in(jx_hlo_body *b, int operand)
{
    const jx_mlir_type *type = b->op->nouts ? b->op->outs[0]->type : NULL;
    const jx_dim **shape =
        type && jx_hlo_is_open(type)
            ? JX_NEW_ARRAY(b->s->ctx->arena, type->rank, const jx_dim *)
            : NULL;
    jx_atoms atoms = operand < b->op->nins
                         ? jx_hlo_atoms_of(b, b->op->ins[operand])
                         : (jx_atoms){0, NULL};

    if (!shape || atoms.count != 1)
        return NULL;
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] == JX_MLIR_DYNAMIC)
            shape[i] = jx_sz_size(b->s->sizes, atoms.at[0], i);
    return shape;
}

const jx_aval *jx_hlo_result(jx_hlo_body *b, int index,
                             const jx_dim *const *known)
{
    const jx_mlir_type *type;
    const jx_dim *shape[JX_HLO_RANK];

    if (!jx_hlo_rank_ok(b, index))
        return NULL;
    type = b->op->outs[index]->type;
    if (!jx_hlo_is_open(type))
        return jx_hlo_aval_of(b, type, NULL);
    for (int i = 0; i < type->rank; i++) {
        bool open = type->shape[i] == JX_MLIR_DYNAMIC;
        shape[i] = open && known ? known[i] : NULL;
        if (open && !shape[i])
            shape[i] = jx_hlo_open_size(b->s);
    }
    return jx_hlo_aval_of(b, type, shape);
}

/* ---- dims */

static jx_hlo_open *open_of(const jx_hlo_reader *s, const jx_dim_atom *var)
{
    size_t index = var->scope == OPEN_SCOPE
                       ? (size_t)strtoul(var->name + 1, NULL, 10)
                       : s->open.count;

    return index < s->open.count ? &s->open.at[index] : NULL;
}

/* With what is known so far; *open: something is not. */
static const jx_dim *settled(const jx_hlo_reader *s, const jx_dim *dim,
                             bool *open)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        dim ? jx_dim_vars(s->program->dims, dim, &count) : NULL;

    *open = false;
    for (int i = 0; vars && i < count; i++) {
        const jx_hlo_open *x = open_of(s, vars[i]);
        if (x && x->is)
            dim = jx_dim_substitute(s->program->dims, dim, x->var, x->is);
        else if (x)
            *open = true;
    }
    return dim;
}

/* The open size that the dim is, and nothing else; or NULL. */
static jx_hlo_open *bare(const jx_hlo_reader *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->program->dims, dim, &count);

    return vars && count == 1 &&
                   dim == jx_dim_of_atom(s->program->dims, vars[0])
               ? open_of(s, vars[0])
               : NULL;
}

static void bind(const jx_hlo_reader *s, jx_hlo_open *x, const jx_dim *dim)
{
    if (dim && jx_dim_nodes(dim) <= JX_SZ_NODES)
        x->is = jx_sz_decided(s->sizes, dim);
}

/* ---- typing */

/* Sizes that have to be numbers. */
typedef struct inferring {
    jx_hlo_reader *s;
    int count;
    const jx_dim *size[MOST_NUMBERS], *number[MOST_NUMBERS];
} inferring;

static void note_number(inferring *in, const jx_dim *size, const jx_dim *number)
{
    if (in->count < MOST_NUMBERS) {
        in->size[in->count] = size;
        in->number[in->count++] = number;
    }
}

static void told(void *env, const jx_dim *a, const jx_dim *b)
{
    inferring *in = env;
    bool open_a, open_b;

    a = settled(in->s, a, &open_a);
    b = settled(in->s, b, &open_b);
    if (!a || !b || a == b || (open_a && open_b))
        return;
    if (open_a && bare(in->s, a))
        bind(in->s, bare(in->s, a), b);
    else if (open_b && bare(in->s, b))
        bind(in->s, bare(in->s, b), a);
    if (open_a || open_b)
        return;
    jx_sz_same(in->s->sizes, a, b);
    if (jx_dim_value(a) < 0 && jx_dim_value(b) >= 0)
        note_number(in, a, b);
    else if (jx_dim_value(b) < 0 && jx_dim_value(a) >= 0)
        note_number(in, b, a);
}

/* A number, where the size has to be one. */
static const jx_dim *best(const inferring *in, const jx_dim *dim)
{
    for (int i = 0; i < in->count; i++)
        if (in->size[i] == dim)
            return in->number[i];
    return dim;
}

static void compare(inferring *in, const jx_aval *declared,
                    const jx_aval *inferred)
{
    for (int i = 0; i < declared->rank && declared->rank == inferred->rank;
         i++) {
        jx_hlo_open *x = bare(in->s, declared->shape[i]);
        bool open;
        const jx_dim *dim = settled(in->s, inferred->shape[i], &open);
        if (x && !x->is && !open)
            bind(in->s, x, best(in, dim));
    }
}

static const jx_aval *settled_aval(const jx_hlo_reader *s, const jx_aval *aval)
{
    const jx_dim *shape[JX_HLO_RANK];
    jx_aval like = *aval;
    bool changed = false, open;

    if (aval->rank > JX_HLO_RANK)
        return aval;
    for (int i = 0; i < aval->rank; i++) {
        shape[i] = settled(s, aval->shape[i], &open);
        if (!shape[i])
            return NULL;
        changed = changed || shape[i] != aval->shape[i];
    }
    like.shape = shape;
    return changed ? jx_aval_add(&s->program->avals, &like) : aval;
}

static void settle_var(const jx_hlo_reader *s, const jx_var *var)
{
    const jx_aval *aval = settled_aval(s, var->aval);

    if (aval)
        ((jx_var *)(uintptr_t)var)->aval = aval;
}

void jx_hlo_infer(jx_hlo_body *b, jx_eqn *eqn)
{
    jx_hlo_reader *s = b->s;
    inferring in = {.s = s};
    const jx_aval **outs;

    if (!s->infer || !eqn->nouts || (!s->open.count && !s->sizes->unifying) ||
        !(outs = JX_NEW_ARRAY(s->ctx->arena, eqn->nouts + 1, const jx_aval *)))
        return;
    s->infer(&s->inferring, s->program, eqn, outs, told, &in);
    for (int i = 0; i < eqn->nouts; i++)
        if (outs[i] && outs[i]->kind == JX_AVAL_ARRAY)
            compare(&in, eqn->outs[i]->aval, outs[i]);
    for (int i = 0; i < eqn->nouts; i++)
        settle_var(s, eqn->outs[i]);
}

/* ---- the end of an op */

static const jx_value *settled_value(jx_hlo_reader *s, const jx_value *value)
{
    const jx_value **items = NULL;
    jx_value like = *value;
    bool open;

    if (value->tag == JX_V_DIM) {
        const jx_dim *dim = settled(s, value->dim, &open);
        return dim == value->dim ? value
               : dim             ? jx_value_of_dim(s->program, dim)
                                 : NULL;
    }
    for (int i = 0; value->items && i < value->count; i++) {
        const jx_value *item = settled_value(s, value->items[i]);
        if (!item)
            return NULL;
        if (item == value->items[i])
            continue;
        if (!items &&
            !(items = jx_arena_copy(s->ctx->arena, value->items,
                                    (size_t)value->count * sizeof *items)))
            return NULL;
        items[i] = item;
    }
    if (!items)
        return value;
    like.items = items;
    return jx_value_add(&s->program->values, &like);
}

static bool settle_params(jx_hlo_reader *s, jx_eqn *eqn)
{
    jx_param *params = NULL;

    for (int i = 0; i < eqn->nparams; i++) {
        const jx_value *value = settled_value(s, eqn->params[i].value);
        if (!value)
            return false;
        if (value == eqn->params[i].value)
            continue;
        if (!params &&
            !(params = jx_arena_copy(s->ctx->arena, eqn->params,
                                     (size_t)eqn->nparams * sizeof *params)))
            return false;
        params[i].value = value;
    }
    return !params || !jx_build_params(&s->build, eqn, eqn->nparams, params);
}

bool jx_hlo_close(jx_hlo_body *b, size_t open, size_t eqn, size_t out)
{
    jx_hlo_reader *s = b->s;

    if (s->open.count == open)
        return true;
    for (size_t i = open; i < s->open.count; i++)
        if (!s->open.at[i].is && !(s->open.at[i].is = jx_sz_free(s->sizes)))
            return false;
    for (size_t i = out; i < b->body.outs.count; i++)
        settle_var(s, b->body.outs.at[i]);
    for (size_t i = eqn; i < b->body.eqns.count; i++)
        if (!settle_params(s, &b->body.eqns.at[i]))
            return jx_ok(s->ctx) &&
                   jx_hlo_refuse(b, "a size that does not fit");
    s->open.count = open;
    return true;
}
