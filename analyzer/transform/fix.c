/* fix.c - see fix.h: a walk that knows of each value either what stands for it
 * or the one number that all of its elements are. */
#include "analyzer/transform/fix.h"

#include "analyzer/transform/making.h"
#include "frontend/ir/fold.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"

#include <string.h>

typedef struct fixing {
    jx_making make; /* first: who fails finds the rest */
} fixing;

/* What stands for a value: an atom, once it is needed, and its number, if
 * that is known. */
typedef struct meaning {
    jx_atom atom;
    const jx_literal *number;
} meaning;

static jx_arena *arena_of(const fixing *f)
{
    return jx_making_arena(&f->make);
}

static bool is_number(jx_atom atom)
{
    const jx_literal *l = atom.literal;

    return !atom.var && l && !l->dim && !l->array &&
           l->aval->kind == JX_AVAL_ARRAY;
}

static meaning meaning_of(const meaning *now, jx_atom atom)
{
    return atom.var ? now[atom.var->id]
                    : (meaning){atom, is_number(atom) ? atom.literal : NULL};
}

/* An array of that type with the number in each element. */
static jx_atom filled(jx_body *b, const jx_literal *number, const jx_aval *aval)
{
    jx_literal scalar = *number;
    jx_atom atom;

    scalar.aval =
        jx_aval_array(&b->in->program->avals, aval->dtype, aval->weak, 0, NULL);
    atom = jx_build_literal(b, &scalar);
    return aval->rank ? jx_build_broadcast(b, atom, (jx_ints){0}, aval->rank,
                                           aval->shape)
                      : atom;
}

static jx_atom atom_of(jx_body *b, meaning *m, const jx_aval *aval)
{
    if (!jx_is_made(m->atom) && m->number)
        m->atom = filled(b, m->number, aval);
    return m->atom;
}

/* The same elements in another shape, all of them or some. */
static bool moves_only(jx_prim_id id)
{
    return jx_prim_rearranges(id) || id == JX_PRIM_copy || id == JX_PRIM_copy_p;
}

/* What each element of the one result is, if that is known; NULL. */
static const jx_literal *number_of(fixing *f, const jx_eqn *eqn,
                                   const meaning *ins)
{
    const jx_aval *out = eqn->nouts == 1 ? eqn->outs[0]->aval : NULL;
    jx_literal made = {.aval = out};
    jx_scalar known[3];

    if (!out || out->kind != JX_AVAL_ARRAY || !eqn->nins || eqn->nins > 3)
        return NULL;
    if (moves_only(eqn->prim->id))
        return ins[0].number;
    for (int i = 0; i < eqn->nins; i++) {
        if (!ins[i].number)
            return NULL;
        known[i] = (jx_scalar){ins[i].number->aval->dtype, ins[i].number->bits};
    }
    return jx_fold(eqn->prim->id, eqn->nins, known, out->dtype, made.bits)
               ? jx_arena_copy(arena_of(f), &made, sizeof made)
               : NULL;
}

/* A known index among so many choices, clamped as cond does; or -1. */
static int choice_of(const jx_literal *number, int count)
{
    jx_dtype dtype = number ? number->aval->dtype : JX_F32;
    int32_t index;

    if (dtype == JX_BOOL)
        return number->bits[0] != 0;
    if (dtype != JX_I32)
        return -1;
    memcpy(&index, number->bits, sizeof index);
    return index < 0 ? 0 : index >= count ? count - 1 : index;
}

static bool add_all(fixing *f, jx_body *b, const jx_jaxpr *from, meaning *now,
                    meaning *outs);

/* The call of a jaxpr: its equations in the place of the call. */
static bool add_call(fixing *f, jx_body *b, const jx_closed *callee,
                     const meaning *ins, meaning *outs)
{
    const jx_jaxpr *jaxpr = callee->jaxpr;
    meaning *now = JX_NEW_ARRAY(arena_of(f), jaxpr->nvars + 1, meaning);

    for (int i = 0; now && i < jaxpr->nconsts; i++)
        now[i].atom = jx_build_constant(b, callee->consts[i]);
    for (int i = 0; now && i < jaxpr->nins; i++)
        now[jaxpr->nconsts + i] = ins[i];
    return now && add_all(f, b, jaxpr, now, outs);
}

static bool takes(const jx_closed *callee, int nins, int nouts)
{
    return callee->jaxpr->nins == nins && callee->jaxpr->nouts == nouts;
}

/* A call to which a number is known that it did not have as a literal. */
static bool learns(const jx_eqn *eqn, const meaning *ins)
{
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var && ins[i].number)
            return true;
    return false;
}

/* Whether the results of an equation are known to be others' of the program. */
static bool is_settled(fixing *f, jx_body *b, const jx_eqn *eqn,
                       const meaning *ins, meaning *outs, bool *good)
{
    const jx_closed *callee =
        eqn->prim->id == JX_PRIM_jit ? jx_eqn_callee(eqn) : NULL;
    int which;

    *good = true;
    if (eqn->prim->id == JX_PRIM_select_n && eqn->nins > 1) {
        which = choice_of(ins[0].number, eqn->nins - 1);
        if (which >= 0)
            outs[0] = ins[1 + which];
        return which >= 0;
    }
    if (eqn->prim->id == JX_PRIM_cond) {
        const jx_closed_list *branches =
            &((const jx_p_cond *)eqn->typed)->branches;
        which = choice_of(ins[0].number, branches->count);
        if (which >= 0 &&
            !takes(&branches->at[which], eqn->nins - 1, eqn->nouts))
            which = -1;
        if (which >= 0)
            *good = add_call(f, b, &branches->at[which], ins + 1, outs);
        return which >= 0;
    }
    if (callee && takes(callee, eqn->nins, eqn->nouts) && learns(eqn, ins)) {
        *good = add_call(f, b, callee, ins, outs);
        return true;
    }
    outs[0].number = number_of(f, eqn, ins);
    return outs[0].number != NULL;
}

/* Python's scalars give way to other types, which a value that takes another's
 * place does as well as that did. */
static meaning typed_as(jx_body *b, meaning m, const jx_aval *aval)
{
    const jx_aval *own = jx_is_made(m.atom) ? jx_atom_aval(m.atom) : aval;

    if (own->kind == JX_AVAL_ARRAY && aval->kind == JX_AVAL_ARRAY &&
        own->weak != aval->weak)
        m.atom = jx_build_convert(b, m.atom, aval->dtype, aval->weak);
    return m;
}

static bool add_eqn(fixing *f, jx_body *b, const jx_eqn *eqn, meaning *now)
{
    meaning *ins =
        JX_NEW_ARRAY(arena_of(f), eqn->nins + eqn->nouts + 1, meaning);
    meaning *outs = ins ? ins + eqn->nins : NULL;
    jx_atom *atoms = JX_NEW_ARRAY(arena_of(f), eqn->nins + 1, jx_atom);
    const jx_atom *made = NULL;
    bool good;

    if (!ins || !atoms || !jx_ctx_lasts(f->make.to->ctx))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = meaning_of(now, eqn->ins[i]);
    f->make.eqn = eqn;
    b->place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    if (!is_settled(f, b, eqn, ins, outs, &good)) {
        for (int i = 0; i < eqn->nins; i++) {
            meaning *m = eqn->ins[i].var ? &now[eqn->ins[i].var->id] : &ins[i];
            atoms[i] = atom_of(b, m, jx_atom_aval(eqn->ins[i]));
        }
        made = jx_build_like(b, eqn, atoms, NULL, NULL);
        good = made != NULL;
    }
    for (int i = 0; good && i < eqn->nouts; i++)
        if (made)
            now[eqn->outs[i]->id] = (meaning){.atom = made[i]};
        else
            now[eqn->outs[i]->id] = typed_as(b, outs[i], eqn->outs[i]->aval);
    return good && jx_ok(f->make.to->ctx);
}

static bool add_all(fixing *f, jx_body *b, const jx_jaxpr *from, meaning *now,
                    meaning *outs)
{
    for (int i = 0; i < from->neqns; i++)
        if (!add_eqn(f, b, &from->eqns[i], now))
            return false;
    for (int i = 0; i < from->nouts; i++)
        outs[i] = meaning_of(now, from->outs[i]);
    return jx_ok(f->make.to->ctx);
}

/* The entry where the values are known, with all that it computes. */
static const jx_jaxpr *fixed(fixing *f, const jx_jaxpr *from,
                             const jx_literal *const *values)
{
    jx_body *b = jx_body_new(&f->make.build, NULL);
    meaning *now =
        JX_NEW_ARRAY(arena_of(f), from->nvars + from->nouts + 1, meaning);
    meaning *outs = now ? now + from->nvars : NULL;

    if (!b || !now)
        return NULL;
    for (int i = 0; i < from->nconsts; i++)
        now[i].atom = jx_body_const(b, from->vars[i]->aval);
    for (int i = 0; i < from->nins; i++) {
        meaning *m = &now[from->nconsts + i];
        m->number = values[i];
        if (!values[i])
            m->atom = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    }
    if (!add_all(f, b, from, now, outs))
        return NULL;
    b->place = (jx_place){0};
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, atom_of(b, &outs[i], jx_atom_aval(from->outs[i])));
    return jx_body_finish(b, jx_no_atoms, from->function);
}

/* A jaxpr without what nothing needs. */
static const jx_jaxpr *without_dead(fixing *f, const jx_jaxpr *from)
{
    jx_body *b = jx_body_new(&f->make.build, NULL);
    jx_atom *ins =
        JX_NEW_ARRAY(arena_of(f), from->nins + from->nouts + 1, jx_atom);

    if (!b || !ins)
        return NULL;
    for (int i = 0; i < from->nins; i++)
        ins[i] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    if (!jx_making_enclose(&f->make, b, from, ins, ins + from->nins))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, ins[from->nins + i]);
    return jx_body_finish(b, jx_no_atoms, from->function);
}

/* What is said of the inputs that are left, by names that they keep. */
static bool keep_inputs(fixing *f, const jx_program *from,
                        const jx_literal *const *values)
{
    jx_program *to = f->make.to;
    int nins = from->entry.jaxpr->nins, n = 0;
    const char **paths = JX_NEW_ARRAY(arena_of(f), nins + 1, const char *);
    jx_value_range *ranges =
        JX_NEW_ARRAY(arena_of(f), from->nranges + 1, jx_value_range);
    jx_valued *valued = JX_NEW_ARRAY(arena_of(f), from->nvalued + 1, jx_valued);

    if (!paths || !ranges || !valued)
        return false;
    to->nranges = 0;
    for (int r = 0; r < from->nranges; r++) {
        bool any = false;
        for (int i = 0; i < nins; i++)
            any |= !values[i] && jx_range_is_of(from, &from->ranges[r], i);
        if (any)
            ranges[to->nranges++] = from->ranges[r];
    }
    for (int v = 0; v < from->nvalued; v++) {
        valued[v] = from->valued[v];
        for (int i = 0; i < from->valued[v].input; i++)
            valued[v].input -= values[i] != NULL;
    }
    for (int i = 0; i < nins; i++)
        if (!values[i])
            paths[n++] = from->in_paths
                             ? from->in_paths[i]
                             : jx_arena_printf(arena_of(f), "in%d", i);
    to->ranges = ranges;
    to->valued = valued;
    to->in_paths = paths;
    return true;
}

/* An input that can't be known so, of one that is to be; -1: there is none. */
static const char *why_not(const jx_program *from, int input,
                           const jx_literal *value)
{
    const jx_aval *aval = jx_input_aval(from, input);
    jx_dtype_kind kind;

    if (!value)
        return NULL;
    kind = aval->kind == JX_AVAL_ARRAY ? jx_dtype_of(aval->dtype)->kind
                                       : JX_KIND_KEY;
    if (kind != JX_KIND_BOOL && kind != JX_KIND_INT && kind != JX_KIND_UINT &&
        kind != JX_KIND_FLOAT)
        return "has no numbers of which one could be given";
    for (int v = 0; v < from->nvalued; v++)
        if (from->valued[v].input == input)
            return "says what a size is: set:NAME=SIZE gives that";
    return NULL;
}

jx_program *jx_program_fix(const jx_typed *typed,
                           const jx_literal *const *values)
{
    jx_program *from = typed->program, *to;
    const jx_jaxpr *entry;
    fixing f = {0};
    int before, after;

    for (int i = 0; i < from->entry.jaxpr->nins; i++) {
        const char *why = why_not(from, i, values[i]);
        jx_buffer name = jx_ctx_text(from->ctx);
        if (!why)
            continue;
        jx_input_print(from, i, &name);
        jx_fail(from->ctx, JX_E_USAGE, from->path,
                jx_arena_take(from->ctx->arena, &name), "%s", why);
        return NULL;
    }
    if (!jx_making_begin(&f.make, from) || !keep_inputs(&f, from, values) ||
        !(entry = fixed(&f, from->entry.jaxpr, values)))
        return NULL;
    f.make.eqn = NULL;
    to = jx_making_end(&f.make, without_dead(&f, entry));
    if (!to || !jx_input_vars(from, &before) || !jx_input_vars(to, &after))
        return NULL;
    if (after == before)
        return to;
    jx_fail(from->ctx, JX_E_USAGE, from->path, NULL,
            "a size is known from no other input than one that is given: "
            "set:NAME=SIZE gives it first");
    return NULL;
}
