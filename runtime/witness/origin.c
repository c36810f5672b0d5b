/* origin.c - see origin.h. */
#include "runtime/witness/origin.h"

#include "frontend/ir/params.h"
#include "runtime/elementwise.h"

int jx_bodies_of(const jx_eqn *eqn)
{
    if (!eqn->typed)
        return 0;
    switch (eqn->prim->id) {
    case JX_PRIM_scan:
    case JX_PRIM_while: return 1;
    case JX_PRIM_cond: return ((const jx_p_cond *)eqn->typed)->branches.count;
    case JX_PRIM_custom_linear_solve: return JX_SOLVE_PARTS;
    default: return 0;
    }
}

const jx_closed *jx_body_of(const jx_eqn *eqn, int number)
{
    switch (eqn->prim->id) {
    case JX_PRIM_scan: return &((const jx_p_scan *)eqn->typed)->jaxpr;
    case JX_PRIM_while: return &((const jx_p_while *)eqn->typed)->body_jaxpr;
    case JX_PRIM_custom_linear_solve:
        return &((const jx_p_custom_linear_solve *)eqn->typed)
                    ->jaxprs.part[number];
    default: return &((const jx_p_cond *)eqn->typed)->branches.at[number];
    }
}

bool jx_eqn_moves(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_precision:
    case JX_PRIM_stop_gradient:
    case JX_PRIM_copy:
    case JX_PRIM_copy_p:
    case JX_PRIM_name:
    case JX_PRIM_device_put:
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_sharding_constraint:
    case JX_PRIM_pad:
    case JX_PRIM_concatenate:
    case JX_PRIM_stack:
    case JX_PRIM_unstack:
    case JX_PRIM_split:
    case JX_PRIM_tile:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_gather: return true;
    default:
        return jx_prim_rearranges(eqn->prim->id) ||
               jx_prim_in_family(eqn->prim->id, "view") ||
               jx_prim_in_family(eqn->prim->id, "identity");
    }
}

bool jx_eqn_is_elementwise(const jx_eqn *eqn)
{
    return jx_prim_in_family(eqn->prim->id, "elementwise");
}

static bool note(jx_origins *to, const jx_var *var, jx_origin origin)
{
    jx_origin *kept = JX_NEW(to->of.arena, jx_origin);

    if (!kept)
        return false;
    *kept = origin;
    return jx_map_put(&to->of, var, kept);
}

static void note_input(jx_origins *to, const jx_jaxpr *jaxpr, int input,
                       const jx_eqn *owner, int body)
{
    jx_origin origin = {.number = input, .jaxpr = jaxpr, .owner = owner};
    int at = input;

    if (owner && owner->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = owner->typed;
        origin.carried = input >= scan->num_consts &&
                         input < scan->num_consts + scan->num_carry;
    } else if (owner && owner->prim->id == JX_PRIM_while) {
        const jx_p_while *loop = owner->typed;
        at = input + (int)loop->cond_nconsts;
        origin.carried = input >= loop->body_nconsts;
    } else if (owner && owner->prim->id == JX_PRIM_custom_linear_solve) {
        const jx_p_custom_linear_solve *solve = owner->typed;
        int own = jx_solve_count(&solve->const_lengths, body);
        at = input < own
                 ? solve->const_lengths.before[body] + input
                 : solve->const_lengths.before[JX_SOLVE_PARTS] + input - own;
    } else if (owner) {
        at = input + 1; /* behind the predicate */
    }
    if (owner && at < owner->nins)
        origin.given = owner->ins[at];
    note(to, jaxpr->vars[jaxpr->nconsts + input], origin);
}

static void note_all(jx_origins *to, const jx_jaxpr *jaxpr, const jx_eqn *owner,
                     int body)
{
    if (!jaxpr)
        return;
    for (int i = 0; i < jaxpr->nconsts; i++)
        note(to, jaxpr->vars[i], (jx_origin){.jaxpr = jaxpr, .constant = true});
    for (int i = 0; i < jaxpr->nins; i++)
        note_input(to, jaxpr, i, owner, body);
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nouts; k++)
            note(to, eqn->outs[k],
                 (jx_origin){.eqn = eqn, .number = k, .jaxpr = jaxpr});
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            note_all(to, jx_body_of(eqn, k)->jaxpr, eqn, k);
    }
}

bool jx_origins_make(jx_origins *to, jx_program *program)
{
    jx_map_init(&to->of, program->ctx->arena);
    note_all(to, program->entry.jaxpr, NULL, 0);
    return jx_ok(program->ctx);
}

const jx_origin *jx_origin_of(const jx_origins *of, jx_atom atom)
{
    return atom.var ? jx_map_get(&of->of, atom.var) : NULL;
}

const jx_eqn *jx_origin_eqn(const jx_origins *of, jx_atom atom)
{
    const jx_origin *origin = jx_origin_of(of, atom);

    while (origin &&
           (origin->eqn ? jx_eqn_moves(origin->eqn) && origin->eqn->nins
                        : origin->owner && !origin->carried))
        origin =
            jx_origin_of(of, origin->eqn ? origin->eqn->ins[0] : origin->given);
    return origin ? origin->eqn : NULL;
}

const jx_literal *jx_origin_literal(const jx_origins *of, jx_atom atom)
{
    const jx_origin *origin = jx_origin_of(of, atom);

    while (origin && origin->eqn && origin->eqn->nins == 1 &&
           jx_eqn_moves(origin->eqn)) {
        atom = origin->eqn->ins[0];
        origin = jx_origin_of(of, atom);
    }
    return atom.literal && !atom.literal->dim && !atom.literal->array
               ? atom.literal
               : NULL;
}

bool jx_origin_number(const jx_origins *of, jx_atom atom, double *number)
{
    const jx_literal *literal = jx_origin_literal(of, atom);

    if (!literal || !jx_dtype_is_float(literal->aval->dtype))
        return false;
    jx_convert(literal->aval->dtype, JX_F64, literal->bits, number, 1);
    return true;
}

const jx_stack *jx_origin_stack(const jx_origins *of, const jx_eqn *eqn)
{
    while (!jx_outside_frame(eqn->stack)) {
        const jx_origin *made =
            eqn->nouts ? jx_map_get(&of->of, eqn->outs[0]) : NULL;
        const jx_jaxpr *in = made ? made->jaxpr : NULL;
        const jx_origin *given =
            in && in->nins ? jx_map_get(&of->of, in->vars[in->nconsts]) : NULL;
        if (!given || !given->owner)
            break;
        eqn = given->owner;
    }
    return eqn->stack;
}

bool jx_eqns_are_one(const jx_origins *of, const jx_eqn *a, const jx_eqn *b)
{
    const jx_frame *x = jx_outside_frame(jx_origin_stack(of, a));
    const jx_frame *y = jx_outside_frame(jx_origin_stack(of, b));

    return a == b || (x && y && x->file == y->file && x->line == y->line &&
                      x->column == y->column && x->end_line == y->end_line &&
                      x->end_column == y->end_column);
}

/* -- all that is behind a value -------------------------------------------- */

static bool is_passed_by(const jx_origin_walk *w, const jx_var *var)
{
    const jx_origin *origin = w->through ? jx_map_get(&w->of->of, var) : NULL;

    return origin && origin->eqn && !jx_map_has(w->through, var);
}

static void go_to(jx_origin_walk *w, jx_atom atom)
{
    if (atom.var && !is_passed_by(w, atom.var) &&
        jx_map_add(&w->seen, atom.var))
        JX_PUSH(w->seen.arena, &w->left, atom);
}

static void go_behind(jx_origin_walk *w, const jx_origin *origin)
{
    const jx_eqn *eqn = origin->eqn;

    if (!eqn) {
        if (origin->owner)
            go_to(w, origin->given);
        return;
    }
    if (eqn->nouts > 1 && !jx_map_add(&w->seen, eqn))
        return; /* by another of its results */
    for (int i = 0; i < eqn->nins; i++)
        if (!w->ends || !w->ends(w->of, eqn, i))
            go_to(w, eqn->ins[i]);
    for (int i = 0; i < jx_bodies_of(eqn); i++) {
        const jx_jaxpr *body = jx_body_of(eqn, i)->jaxpr;
        for (int k = 0; body && k < body->nouts; k++)
            go_to(w, body->outs[k]);
    }
}

void jx_origin_walk_from(jx_origin_walk *w, const jx_origins *of, int count,
                         const jx_atom *from)
{
    *w = (jx_origin_walk){.of = of};
    jx_map_init(&w->seen, of->of.arena);
    for (int i = 0; i < count; i++)
        go_to(w, from[i]);
}

const jx_origin *jx_origin_walk_on(jx_origin_walk *w)
{
    const jx_origin *origin = NULL;

    while (!origin && w->left.count)
        origin = jx_origin_of(w->of, w->left.at[--w->left.count]);
    if (origin)
        go_behind(w, origin);
    return origin;
}

bool jx_origin_reaches(const jx_origins *of, jx_atom atom, const jx_eqn *eqn)
{
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, of, 1, &atom);
    while ((origin = jx_origin_walk_on(&w)))
        if (origin->eqn == eqn)
            return true;
    return false;
}

bool jx_origin_varies(const jx_origins *of, jx_atom atom)
{
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, of, 1, &atom);
    while ((origin = jx_origin_walk_on(&w)))
        if (!origin->eqn && !origin->owner && !origin->constant)
            return true;
    return false;
}
