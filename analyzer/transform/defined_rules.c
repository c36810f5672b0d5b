/* defined_rules.c - derivative, transpose and batch of primitives that their
 * authors defined, by their rules; other calls of libraries are calls. */
#include "analyzer/transform/batch_parts.h"
#include "analyzer/transform/defined.h"
#include "analyzer/transform/jvp_parts.h"
#include "analyzer/transform/transpose_parts.h"

/* A text of that many characters 0. */
static char *mask_of(jx_body *b, int count)
{
    char *mask = jx_arena_alloc(b->in->program->ctx->arena, (size_t)count + 1);

    for (int i = 0; mask && i < count; i++)
        mask[i] = '0';
    if (mask)
        mask[count] = '\0';
    return mask;
}

static bool is_one(const char *mask, int i)
{
    return mask && mask[i] == '1';
}

static jx_making *making_of(jx_body *b)
{
    return (jx_making *)(void *)b->in;
}

/* ---- forward */

bool jx_jvp_library_call(jx_jvp *t)
{
    const jx_eqn *eqn = t->eqn;
    char *mask = mask_of(t->b, eqn->nins);
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), 2 * eqn->nins + 1, jx_atom);
    const jx_definition_pattern *p;
    const jx_atom *made;
    int n = 0, next = eqn->nouts;

    if (!jx_eqn_definition(eqn) || (t->of->stripped && jx_eqn_callee(eqn)))
        return jx_jvp_call(t);
    for (int i = 0; mask && i < eqn->nins; i++)
        mask[i] = jx_is_made(t->tins[i]) ? '0' : '1';
    p = jx_defined_pattern(making_of(t->b), eqn, JX_DEFINED_JVP, mask, NULL);
    if (!p || !ins)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[n++] = t->ins[i];
    for (int i = 0; i < eqn->nins; i++)
        if (!is_one(p->mask, i))
            ins[n++] = jx_jvp_full(t, i);
    made = jx_defined_call(making_of(t->b), t->b, eqn, p, n, ins);
    for (int i = 0; made && i < eqn->nouts; i++) {
        const jx_aval *out = eqn->outs[i]->aval;
        t->outs[i] = jx_defined_as(making_of(t->b), t->b, made[i], out);
        if (!is_one(p->gives, i) && jx_has_tangent(out))
            t->touts[i] = jx_defined_as(making_of(t->b), t->b, made[next], out);
        next += !is_one(p->gives, i);
    }
    return made && jx_ok(t->b->in->program->ctx);
}

/* ---- backwards */

bool jx_transpose_library_call(jx_transpose *t)
{
    const jx_eqn *eqn = t->eqn;
    char *mask = mask_of(t->b, eqn->nins), *zeros = mask_of(t->b, eqn->nouts);
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(t),
                                eqn->nins + eqn->nouts + 1, jx_atom);
    const jx_definition_pattern *p;
    const jx_atom *made;
    int n = 0, next = 0;

    if (!jx_eqn_definition(eqn))
        return jx_transpose_call(t);
    for (int i = 0; mask && i < eqn->nins; i++)
        mask[i] = jx_is_linear(t, i) ? '1' : '0';
    for (int i = 0; zeros && i < eqn->nouts; i++)
        zeros[i] = jx_is_made(t->cts[i]) ? '0' : '1';
    p = zeros ? jx_defined_pattern(making_of(t->b), eqn, JX_DEFINED_TRANSPOSE,
                                   mask, zeros)
              : NULL;
    if (!p || !ins)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!jx_is_linear(t, i))
            ins[n++] = t->ins[i];
    for (int i = 0; i < eqn->nouts; i++)
        if (!is_one(p->zeros, i))
            ins[n++] = jx_transpose_full(t, i);
    made = jx_defined_call(making_of(t->b), t->b, eqn, p, n, ins);
    for (int i = 0, k = 0; made && i < eqn->nins; i++)
        if (jx_is_linear(t, i) && !is_one(p->gives, k++))
            t->gives[i] = jx_defined_as(making_of(t->b), t->b, made[next++],
                                        jx_transpose_in(t, i));
    return made && jx_ok(t->b->in->program->ctx);
}

/* ---- over an axis */

static bool take_result(jx_batch *t, int i, jx_atom made, int axis)
{
    const jx_aval *out = jx_batch_out(t, i);

    if (axis > 0)
        made = jx_batch_to_front(t, made, axis);
    t->gets[i] = axis >= 0;
    t->outs[i] = jx_defined_as(making_of(t->b), t->b, made,
                               axis >= 0 ? jx_batch_aval(t, out) : out);
    return jx_is_made(t->outs[i]);
}

bool jx_batch_library_call(jx_batch *t)
{
    const jx_eqn *eqn = t->eqn;
    char *mask = mask_of(t->b, eqn->nins);
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), eqn->nins + 1, jx_atom);
    const jx_definition_pattern *p;
    const jx_atom *made;

    if (!jx_eqn_definition(eqn))
        return jx_batch_call(t);
    for (int i = 0; mask && i < eqn->nins; i++)
        mask[i] = t->has[i] ? '1' : '0';
    p = jx_defined_pattern(making_of(t->b), eqn, JX_DEFINED_BATCH, mask, NULL);
    if (!p || !ins)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = is_one(p->mask, i) ? jx_batch_full(t, i) : t->ins[i];
    made = jx_defined_call(making_of(t->b), t->b, eqn, p, eqn->nins, ins);
    if (!made)
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (!take_result(t, i, made[i], p->axes ? p->axes[i] : -1))
            return false;
    return true;
}
