/* flat_sizes.c - see flat_sizes.h. */
#include "analyzer/lint/flat_sizes.h"
#include "frontend/ir/signature.h"
#include "frontend/sizes/sizes.h"

#include <string.h>

struct jx_flat_sizes {
    const jx_flat *flat;
    jx_sizes *sizes;
    jx_atom *atoms; /* by value: what stands for it */
};

/* -- words ---------------------------------------------------------------- */

/* Whether a value is this number in all its elements. */
static bool is_splat_of(const jx_flat *flat, int value, unsigned number)
{
    const jx_flat_value *v = &flat->values.at[value];
    unsigned char bits[8] = {(unsigned char)number};

    while (v->node >= 0 &&
           flat->nodes.at[v->node].eqn->prim->id == JX_PRIM_broadcast_in_dim)
        v = &flat->values.at[flat->nodes.at[v->node].ins[0]];
    return v->literal && !v->literal->dim && !v->literal->array &&
           memcmp(v->literal->bits, bits, sizeof bits) == 0;
}

bool jx_flat_takes_a_word(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_aval *from, *to;
    int bits;

    if (node->eqn->prim->id != JX_PRIM_convert_element_type)
        return false;
    from = flat->values.at[node->ins[0]].aval;
    to = flat->values.at[node->outs[0]].aval;
    bits = jx_dtype_of(to->dtype)->bits;
    if (!jx_dtype_is_integer(from->dtype) ||
        jx_dtype_of(to->dtype)->kind != JX_KIND_UINT ||
        jx_dtype_of(from->dtype)->bits <= bits)
        return false;
    for (size_t i = 0; i < flat->nodes.count; i++) {
        const jx_flat_node *shift = &flat->nodes.at[i];
        if (shift->eqn->prim->id == JX_PRIM_shift_right_logical &&
            shift->ins[0] == node->ins[0] && shift->live &&
            is_splat_of(flat, shift->ins[1], (unsigned)bits))
            return true;
    }
    return false;
}

/* -- values --------------------------------------------------------------- */

static jx_atom stand_in(jx_ctx *ctx, const jx_flat_value *value)
{
    jx_literal *literal;
    jx_var *var;

    if (value->literal)
        return (jx_atom){NULL, value->literal};
    if (value->array) {
        if ((literal = JX_NEW(ctx->arena, jx_literal)))
            *literal = (jx_literal){.aval = value->aval, .array = value->array};
        return (jx_atom){NULL, literal};
    }
    if ((var = JX_NEW(ctx->arena, jx_var)))
        var->aval = value->aval;
    return (jx_atom){var, NULL};
}

/* What XLA makes of a division by 0 is no quotient. */
static bool may_divide_by_zero(const jx_flat_sizes *f, const jx_flat_node *node)
{
    jx_prim_id prim = node->eqn->prim->id;
    jx_sz_info by;

    if (prim != JX_PRIM_div && prim != JX_PRIM_rem)
        return false;
    by = jx_sz_info_of(f->sizes, f->atoms[node->ins[1]]);
    for (int i = 0; i < by.count; i++) {
        const jx_dim *dim = by.elems[i].dim;
        jx_dim_range range =
            dim ? jx_sz_bounds(f->sizes, dim) : (jx_dim_range){0};
        if (!(range.has_low && range.low > 0) &&
            !(range.has_high && range.high < 0))
            return true;
    }
    return !by.elems;
}

static bool follow(jx_flat_sizes *f, const jx_flat_node *node)
{
    jx_eqn eqn = *node->eqn;
    jx_atom *ins;
    const jx_var *out;

    if (node->nouts != 1 || f->flat->values.at[node->outs[0]].varies ||
        may_divide_by_zero(f, node) || jx_flat_takes_a_word(f->flat, node))
        return true;
    ins = JX_NEW_ARRAY(f->sizes->ctx->arena, node->nins + 1, jx_atom);
    out = f->atoms[node->outs[0]].var;
    for (int i = 0; ins && i < node->nins; i++)
        ins[i] = f->atoms[node->ins[i]];
    eqn.ins = ins;
    eqn.outs = &out;
    if (ins)
        jx_sz_follow(f->sizes, &eqn);
    return ins != NULL;
}

int jx_flat_scope(const jx_flat *flat)
{
    const jx_jaxpr *entry = flat->program->entry.jaxpr;

    for (int i = 0; i < entry->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        for (int k = 0; k < aval->rank; k++) {
            int count = 0;
            const jx_dim_atom *const *vars =
                jx_dim_vars(flat->program->dims, aval->shape[k], &count);
            if (vars && count)
                return vars[0]->scope;
        }
    }
    return 0;
}

static bool start(jx_flat_sizes *f)
{
    const jx_program *program = f->flat->program;
    int scope = jx_flat_scope(f->flat), vars = 0;

    f->sizes->base = program->base;
    f->sizes->plain = !jx_program_vars(program, &vars) || !vars;
    for (int i = 0;
         scope < program->nscopes && i < program->scopes[scope].nconstraints;
         i++)
        JX_PUSH(program->ctx->arena, &f->sizes->constraints,
                program->scopes[scope].constraints[i]);
    for (size_t v = 0; !f->sizes->plain && v < f->flat->values.count; v++) {
        f->atoms[v] = stand_in(program->ctx, &f->flat->values.at[v]);
        if (!f->atoms[v].var && !f->atoms[v].literal)
            return false;
    }
    return true;
}

jx_flat_sizes *jx_flat_follow(const jx_flat *flat)
{
    jx_ctx *ctx = flat->program->ctx;
    jx_flat_sizes *f = JX_NEW(ctx->arena, jx_flat_sizes);

    if (!f)
        return NULL;
    f->flat = flat;
    f->atoms = JX_NEW_ARRAY(ctx->arena, flat->values.count + 1, jx_atom);
    f->sizes = jx_sizes_new(ctx, flat->program->dims);
    if (!f->atoms || !f->sizes || !start(f))
        return NULL;
    for (size_t n = 0; !f->sizes->plain && n < flat->nodes.count; n++)
        if (!follow(f, &flat->nodes.at[n]))
            return NULL;
    return jx_ok(ctx) ? f : NULL;
}

const jx_dim *const *jx_flat_sizes_of(const jx_flat_sizes *f, int value,
                                      int *count)
{
    const jx_dim *const *dims =
        f->sizes->plain ? NULL : jx_sz_known(f->sizes, f->atoms[value]);

    *count = dims ? (int)jx_sz_count(f->flat->values.at[value].aval) : 0;
    return *count ? dims : NULL;
}
