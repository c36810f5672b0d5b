/* summands.c - see summands.h.
 *
 * An input becomes the sum of what is given now.  Where it was only to become
 * the array of its summands, for a computation of many devices, that array is
 * what is given; and a result that is the sum of an array's first axis is that
 * array: so each device keeps the summand that it has. */
#include "analyzer/transform/summands.h"

#include "frontend/ir/build.h"
#include "frontend/ir/params.h"

#include <string.h>

typedef struct splitter {
    jx_builder build;
    jx_program *from;
    const jx_jaxpr *entry;
    const jx_eqn **by; /* the equation that gives a variable; NULL: none */
    jx_atom *now;      /* by variable: what it is, ... */
    jx_atom *stacks;   /* ... and its summands, or nothing */
    jx_body body;
} splitter;

static bool tell(jx_body *b, const char *why)
{
    const jx_program *from = b->in->program;

    return jx_fail(from->ctx, JX_E_INPUT, from->path, NULL, "%s", why);
}

/* ---- types */

static bool counts(const jx_aval *aval, const jx_aval *each, int64_t count)
{
    int64_t size;

    return aval->kind == JX_AVAL_ARRAY && aval->rank == each->rank + 1 &&
           jx_dim_is_int(aval->shape[0], &size) && size == count &&
           aval->dtype == each->dtype &&
           !memcmp(aval->shape + 1, each->shape,
                   (size_t)each->rank * sizeof *each->shape);
}

/* The type of `count` of them. */
static const jx_aval *counted(splitter *s, const jx_aval *each, int64_t count)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(s->from->ctx->arena, each->rank + 1, const jx_dim *);

    if (!shape)
        return NULL;
    shape[0] = jx_body_int(&s->body, count);
    for (int k = 0; k < each->rank; k++)
        shape[k + 1] = each->shape[k];
    return jx_body_aval(&s->body, each, each->dtype, each->rank + 1, shape);
}

/* ---- inputs */

static jx_atom sum_of(splitter *s, jx_atom stack, const jx_aval *aval)
{
    jx_params p = {.program = s->from};
    jx_prim_id prim =
        aval->dtype == JX_BOOL ? JX_PRIM_reduce_or : JX_PRIM_reduce_sum;

    jx_put_ints(&p, "axes", (jx_ints){1, (const int64_t[]){0}});
    return jx_build_one(&s->body, prim, &p, 1, &stack, aval);
}

static bool take_inputs(splitter *s, const int64_t *counts_of)
{
    const jx_jaxpr *from = s->entry;

    for (int i = 0; i < from->nconsts; i++)
        s->now[i] = jx_body_const(&s->body, from->vars[i]->aval);
    for (int i = 0; i < from->nins; i++) {
        const jx_aval *aval = from->vars[from->nconsts + i]->aval;
        jx_atom *now = &s->now[from->nconsts + i];
        const jx_aval *given =
            counts_of[i] > 0 ? counted(s, aval, counts_of[i]) : aval;
        if (!given)
            return false;
        *now = jx_body_input(&s->body, given);
        if (counts_of[i] > 0)
            s->stacks[from->nconsts + i] = *now;
    }
    for (int i = from->nconsts; i < from->nconsts + from->nins; i++)
        if (jx_is_made(s->stacks[i]))
            s->now[i] = sum_of(s, s->stacks[i], from->vars[i]->aval);
    return true;
}

/* ---- equations */

static const jx_eqn *giver(const splitter *s, jx_atom atom, jx_prim_id prim)
{
    const jx_eqn *by = atom.var ? s->by[atom.var->id] : NULL;

    return by && by->prim->id == prim ? by : NULL;
}

static bool is_zero(const splitter *s, jx_atom atom)
{
    static const unsigned char none[sizeof atom.literal->bits];
    const jx_eqn *spread = giver(s, atom, JX_PRIM_broadcast_in_dim);
    const jx_literal *literal =
        spread && spread->nins == 1 ? spread->ins[0].literal : atom.literal;

    return literal && !literal->array && !literal->dim &&
           !memcmp(literal->bits, none, sizeof none);
}

/* The summands of the input that an equation puts before zeros, as many of
 * these as there are others; or nothing. */
static jx_atom stack_of(const splitter *s, const jx_eqn *eqn)
{
    const jx_p_concatenate *p = eqn->typed;
    const jx_eqn *shaped;
    jx_atom stack;
    int64_t count;

    if (eqn->prim->id != JX_PRIM_concatenate || !p || p->dimension ||
        eqn->nins != 2 || !is_zero(s, eqn->ins[1]))
        return (jx_atom){0};
    shaped = giver(s, eqn->ins[0], JX_PRIM_reshape);
    if (!shaped || !shaped->ins[0].var)
        return (jx_atom){0};
    stack = s->stacks[shaped->ins[0].var->id];
    return jx_is_made(stack) &&
                   jx_dim_is_int(jx_atom_aval(stack)->shape[0], &count) &&
                   counts(eqn->outs[0]->aval, shaped->ins[0].var->aval, count)
               ? stack
               : (jx_atom){0};
}

static bool take_equation(splitter *s, const jx_eqn *eqn)
{
    jx_atom *ins = JX_NEW_ARRAY(s->from->ctx->arena, eqn->nins, jx_atom);
    const jx_atom *made;
    jx_atom stack = stack_of(s, eqn);

    for (int i = 0; i < eqn->nouts; i++)
        s->by[eqn->outs[i]->id] = eqn;
    if (jx_is_made(stack)) {
        s->now[eqn->outs[0]->id] = stack;
        return true;
    }
    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = eqn->ins[i].var ? s->now[eqn->ins[i].var->id] : eqn->ins[i];
    s->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    made = ins ? jx_build_like(&s->body, eqn, ins, NULL, NULL) : NULL;
    for (int i = 0; made && i < eqn->nouts; i++)
        s->now[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

/* ---- results */

/* All of it, before zeros. */
static jx_atom padded(splitter *s, jx_atom value, int64_t count)
{
    const jx_aval *aval = jx_atom_aval(value);
    const jx_aval *one = counted(s, aval, 1),
                  *others = counted(s, aval, count - 1);
    jx_atom parts[2];

    if (!one || !others)
        return (jx_atom){0};
    parts[0] = jx_build_reshape(&s->body, value, one->rank, one->shape);
    if (count == 1)
        return parts[0];
    parts[1] = jx_build_zeros(&s->body, others);
    return jx_build_concatenate(&s->body, 2, parts, 0);
}

static jx_atom summands_of(splitter *s, jx_atom out, int64_t count)
{
    jx_atom value = out.var ? s->now[out.var->id] : out;
    const jx_eqn *by = giver(s, out, JX_PRIM_reduce_sum);
    const jx_p_axes *p;

    if (out.var && jx_is_made(s->stacks[out.var->id]) &&
        counts(jx_atom_aval(s->stacks[out.var->id]), out.var->aval, count))
        return s->stacks[out.var->id];
    if (!by)
        by = giver(s, out, JX_PRIM_reduce_or);
    p = by ? by->typed : NULL;
    if (p && p->axes.count == 1 && p->axes.at[0] == 0 && by->ins[0].var &&
        counts(by->ins[0].var->aval, out.var->aval, count))
        return s->now[by->ins[0].var->id];
    return padded(s, value, count);
}

/* ---- the program */

static const jx_jaxpr *new_entry(splitter *s, const int64_t *ins,
                                 const int64_t *outs)
{
    const jx_jaxpr *from = s->entry;
    jx_arena *arena = s->from->ctx->arena;

    s->by = JX_NEW_ARRAY(arena, from->nvars, const jx_eqn *);
    s->now = JX_NEW_ARRAY(arena, from->nvars, jx_atom);
    s->stacks = JX_NEW_ARRAY(arena, from->nvars, jx_atom);
    if (!s->by || !s->now || !s->stacks || !take_inputs(s, ins))
        return NULL;
    for (int i = 0; i < from->neqns; i++)
        if (!take_equation(s, &from->eqns[i]))
            return NULL;
    s->body.place = (jx_place){0};
    for (int i = 0; i < from->nouts; i++) {
        jx_atom out = from->outs[i];
        jx_body_result(&s->body, outs[i] > 0 ? summands_of(s, out, outs[i])
                                 : out.var   ? s->now[out.var->id]
                                             : out);
    }
    return jx_body_finish_like(&s->body, from);
}

jx_program *jx_program_summands(jx_program *program, const int64_t *ins,
                                const int64_t *outs)
{
    jx_arena *arena = program->ctx->arena;
    jx_program *to = jx_arena_copy(arena, program, sizeof *program);
    splitter s = {.from = to, .entry = program->entry.jaxpr};
    const jx_jaxpr *entry;

    if (!to || !jx_intern_copy(&to->avals.table, &program->avals.table) ||
        !jx_intern_copy(&to->values.table, &program->values.table))
        return NULL;
    s.build = (jx_builder){.program = to, .fail = tell};
    s.body.in = &s.build;
    for (int i = 0; i < program->njaxprs; i++)
        JX_PUSH(arena, &s.build.jaxprs, program->jaxprs[i]);
    entry = new_entry(&s, ins, outs);
    if (!entry || !jx_ok(program->ctx))
        return NULL;
    to->jaxprs = s.build.jaxprs.at;
    to->njaxprs = (int)s.build.jaxprs.count;
    to->entry.jaxpr = entry;
    to->written = NULL;
    to->linear = NULL;
    return to;
}
