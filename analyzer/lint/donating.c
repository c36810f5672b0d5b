/* donating.c - arrays that a jitted function is given for good (jit's
 * donate_argnums).
 *
 * A donated array gives its memory to a result, and is deleted.  That happens
 * where Python calls the jitted function: a call inside another jit donates
 * nothing.  So only what the program itself calls counts, as it is when
 * nothing is around it.
 *
 * Which result takes whose memory is decided as JAX and XLA do it: one of the
 * same type, else one of as many elements and bytes. */
#include "analyzer/lint/lint.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/params.h"

typedef struct donation {
    jx_linter *lint;
    const jx_eqn *call;
    const bool *donated; /* by operand */
    bool *placed;        /* by operand: has found a result */
    bool *taken;         /* by result */
} donation;

/* NULL for what is no array. */
static const jx_dim *elements(const donation *d, const jx_aval *aval)
{
    jx_dims *dims = d->lint->program->dims;
    const jx_dim *product =
        aval->kind == JX_AVAL_ARRAY ? jx_dim_int(dims, 1) : NULL;

    for (int i = 0; product && i < aval->rank; i++)
        product = jx_dim_mul(dims, product, aval->shape[i]);
    return product;
}

static bool fits(const donation *d, const jx_aval *in, const jx_aval *out,
                 bool as_it_is)
{
    const jx_dim *have;

    if (as_it_is)
        return jx_aval_same_values(in, out);
    have = elements(d, in);
    return have && have == elements(d, out) &&
           jx_dtype_of(in->dtype)->bytes == jx_dtype_of(out->dtype)->bytes;
}

static void place(donation *d, bool as_it_is)
{
    for (int i = 0; i < d->call->nins; i++)
        for (int k = 0; d->donated[i] && !d->placed[i] && k < d->call->nouts;
             k++)
            if (!d->taken[k] && fits(d, jx_atom_aval(d->call->ins[i]),
                                     d->call->outs[k]->aval, as_it_is))
                d->placed[i] = d->taken[k] = true;
}

static jx_claim *tell(const donation *d, int operand, const char *what)
{
    const jx_jaxpr *entry = d->lint->program->entry.jaxpr,
                   *body = jx_eqn_callee(d->call)->jaxpr;
    const char *name = body->arg_names ? body->arg_names[operand] : NULL;
    jx_buffer text = jx_ctx_text(d->lint->ctx);
    jx_claim *claim;

    if (name && *name) {
        jx_buffer_putc(&text, '`');
        jx_utf8_show(name, &text);
        jx_buffer_putc(&text, '`');
    } else {
        jx_buffer_printf(&text, "argument %d", operand);
    }
    jx_buffer_puts(&text, " (");
    jx_aval_print(jx_atom_aval(d->call->ins[operand]), &text);
    jx_buffer_printf(&text, ") is donated, and %s", what);
    claim = jx_lint_claim(d->lint, JX_CODE_EXP008, NULL,
                          jx_arena_take(d->lint->ctx->arena, &text));
    if (!claim)
        return NULL;
    claim->jaxpr = entry;
    claim->eqn = d->call;
    if (!jx_user_frame(d->call->stack))
        claim->stack = d->lint->program->head;
    return claim;
}

static bool needs(const jx_jaxpr *jaxpr, const jx_var *var)
{
    for (int e = 0; e < jaxpr->neqns; e++)
        for (int i = 0; i < jaxpr->eqns[e].nins; i++)
            if (jaxpr->eqns[e].ins[i].var == var)
                return true;
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var == var)
            return true;
    return false;
}

/* Another operand of the call is the same, or what follows takes it. */
static bool is_used_again(const donation *d, const jx_var *var)
{
    const jx_jaxpr *entry = d->lint->program->entry.jaxpr;
    jx_jaxpr rest = *entry;
    int times = 0;

    for (int i = 0; i < d->call->nins; i++)
        times += d->call->ins[i].var == var;
    rest.eqns = d->call + 1;
    rest.neqns = (int)(entry->eqns + entry->neqns - rest.eqns);
    return times > 1 || needs(&rest, var);
}

static bool look(donation *d)
{
    const jx_jaxpr *body = jx_eqn_callee(d->call)->jaxpr;

    place(d, true);
    place(d, false);
    for (int i = 0; i < d->call->nins; i++) {
        const jx_var *var = d->call->ins[i].var;
        jx_claim *claim;
        /* JAX leaves out an argument that is not needed, and
         * keeps its array. */
        if (!d->donated[i] || !var ||
            !needs(body, body->vars[body->nconsts + i]))
            continue;
        if (is_used_again(d, var)) {
            claim = tell(
                d, i,
                "used again: the array is deleted then, or, inside another jit, "
                "nothing is donated");
            if (claim)
                claim->help = "go on with the result, or donate nothing here";
        } else if (!d->placed[i]) {
            claim = tell(
                d, i,
                "no result can take its memory: none that is left has as many "
                "elements and bytes");
            if (claim)
                claim->help =
                    "donate what a result replaces, as the state of a step is";
        } else {
            continue;
        }
        if (!claim)
            return false;
    }
    return true;
}

/* Which operands a call donates; NULL where none, or nobody says. */
static const bool *donated_by(jx_linter *lint, const jx_eqn *eqn)
{
    const jx_value *said = eqn->prim->id == JX_PRIM_jit
                               ? jx_eqn_param(eqn, "donated_invars")
                               : NULL;
    bool any = false;
    bool *donated;

    if (!said || said->count != eqn->nins)
        return NULL;
    donated = JX_NEW_ARRAY(lint->ctx->arena, eqn->nins + 1, bool);
    for (int i = 0; donated && i < eqn->nins; i++)
        any |= donated[i] =
            said->items[i]->tag == JX_V_BOOL && said->items[i]->boolean;
    return any ? donated : NULL;
}

bool jx_lint_donating(jx_linter *lint)
{
    const jx_jaxpr *entry = lint->program->entry.jaxpr;
    jx_arena *arena = lint->ctx->arena;

    for (int e = 0; e < entry->neqns; e++) {
        const jx_eqn *eqn = &entry->eqns[e];
        donation d = {
            .lint = lint, .call = eqn, .donated = donated_by(lint, eqn)};
        if (!d.donated)
            continue;
        d.placed = JX_NEW_ARRAY(arena, eqn->nins + 1, bool);
        d.taken = JX_NEW_ARRAY(arena, eqn->nouts + 1, bool);
        if (!d.placed || !d.taken || !look(&d))
            return false;
    }
    return jx_ok(lint->ctx);
}
