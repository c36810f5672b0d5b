/* split_reduce.c - splitting a reduction by any function.
 *
 * Of pairs of values and tangents it is no part of a linear program: what each
 * step multiplies tangents by is known only where its values are.  So it
 * becomes loops, over what is kept and over what is reduced, which are split
 * like any other:
 *
 *     reduce a:f[k,n] init
 *     becomes  scan over k: scan over n: carry = f(carry, a) */
#include "analyzer/transform/split_parts.h"

typedef struct loops {
    jx_splitting *w;
    const jx_eqn *eqn;
    jx_body b;
    int n;                        /* operands, and results */
    const jx_dim *kept, *reduced; /* how many elements */
    jx_ints order;                /* the axes, those that are kept in front */
} loops;

static jx_arena *arena_of(const loops *l)
{
    return jx_making_arena(l->w->of->make);
}

static bool take_axes(loops *l)
{
    const jx_aval *of = jx_atom_aval(l->eqn->ins[0]);
    jx_ints away = ((const jx_p_reduce *)l->eqn->typed)->dimensions;
    jx_dims *dims = l->w->of->make->to->dims;
    int64_t *order = JX_NEW_ARRAY(arena_of(l), of->rank + 1, int64_t);
    int count = 0;

    l->kept = l->reduced = jx_dim_int(dims, 1);
    for (int reduced = 0; order && reduced <= 1; reduced++)
        for (int i = 0; i < of->rank; i++) {
            const jx_dim **size = reduced ? &l->reduced : &l->kept;
            if (jx_ints_hold(away, i) != (bool)reduced)
                continue;
            order[count++] = i;
            *size = jx_dim_mul(dims, *size, of->shape[i]);
        }
    l->order = (jx_ints){count, order};
    return order && l->kept && l->reduced;
}

/* As the function takes it. */
static jx_atom as_taken(loops *l, jx_body *b, jx_atom a, int i)
{
    const jx_jaxpr *function =
        ((const jx_p_reduce *)l->eqn->typed)->jaxpr.jaxpr;
    const jx_aval *to = function->vars[function->nconsts + i]->aval;

    return jx_is_made(a) && jx_atom_aval(a)->weak != to->weak
               ? jx_build_convert(b, a, to->dtype, to->weak)
               : a;
}

static const jx_atom *scan(loops *l, jx_body *b, const jx_value *body,
                           const jx_dim *length, int nconsts, int ncarry,
                           const jx_atom *ins)
{
    jx_program *program = l->w->of->make->to;
    jx_params p = {.program = program};
    const jx_value **linear =
        JX_NEW_ARRAY(arena_of(l), 2 * l->n + 1, const jx_value *);

    for (int i = 0; linear && i < 2 * l->n; i++)
        linear[i] = jx_value_add(
            &program->values, &(jx_value){.tag = JX_V_BOOL, .boolean = false});
    if (!linear || !body)
        return NULL;
    jx_put(&p, "jaxpr", body);
    jx_put_dim(&p, "length", length);
    jx_put_int(&p, "num_consts", nconsts);
    jx_put_int(&p, "num_carry", ncarry);
    jx_put_bool(&p, "reverse", false);
    jx_put(&p, "linear", jx_value_of_tuple(program, 2 * l->n, linear));
    jx_put_int(&p, "unroll", 1);
    jx_put_bool(&p, "_split_transpose", false);
    return jx_build_all(b, jx_prim_of(JX_PRIM_scan), &p, 2 * l->n, ins, l->n);
}

/* The initial values and a row of each operand, reduced. */
static const jx_value *row_body(loops *l)
{
    jx_program *program = l->w->of->make->to;
    jx_body *b = jx_body_new(l->b.in, NULL);
    jx_atom *ins = JX_NEW_ARRAY(arena_of(l), 2 * l->n + 1, jx_atom);
    const jx_atom *made;

    if (!b || !ins)
        return NULL;
    b->place = l->b.place;
    for (int i = 0; i < 2 * l->n; i++) {
        const jx_aval *aval =
            jx_atom_aval(l->eqn->ins[i < l->n ? l->n + i : i - l->n]);
        jx_aval row = *aval;
        row.rank = i < l->n ? 0 : 1;
        row.shape = i < l->n ? NULL : &l->reduced;
        ins[i] = as_taken(
            l, b, jx_body_input(b, jx_aval_add(&program->avals, &row)), i);
    }
    made = scan(l, b, jx_eqn_param(l->eqn, "jaxpr"), l->reduced, 0, l->n, ins);
    for (int i = 0; made && i < l->n; i++)
        jx_body_result(b, made[i]);
    return made ? jx_value_of_jaxpr(program,
                                    jx_body_finish(b, jx_no_atoms, NULL))
                : NULL;
}

/* The equation as loops, of the same operands and results. */
static const jx_jaxpr *written_out(loops *l)
{
    const jx_dim *both[] = {l->kept, l->reduced};
    jx_atom *ins = JX_NEW_ARRAY(arena_of(l), 2 * l->n + 1, jx_atom);
    jx_atom *given = JX_NEW_ARRAY(arena_of(l), 2 * l->n + 1, jx_atom);
    const jx_atom *made;

    if (!ins || !given)
        return NULL;
    for (int i = 0; i < 2 * l->n; i++)
        given[i] = jx_body_input(&l->b, jx_atom_aval(l->eqn->ins[i]));
    for (int i = 0; i < l->n; i++) {
        jx_atom a = jx_build_transpose(&l->b, given[i], l->order);
        ins[i] = given[l->n + i];
        ins[l->n + i] = jx_is_made(a) ? jx_build_reshape(&l->b, a, 2, both) : a;
        if (!jx_is_made(ins[l->n + i]))
            return NULL;
    }
    made = scan(l, &l->b, row_body(l), l->kept, l->n, 0, ins);
    for (int i = 0; made && i < l->n; i++) {
        const jx_aval *out = l->eqn->outs[i]->aval;
        jx_body_result(&l->b,
                       jx_build_reshape(&l->b, made[i], out->rank, out->shape));
    }
    return made ? jx_body_finish(&l->b, jx_no_atoms, NULL) : NULL;
}

bool jx_split_reduce(jx_splitting *w, const jx_eqn *eqn)
{
    loops l = {.w = w, .eqn = eqn, .n = eqn->nouts};
    jx_p_call typed = {.jaxpr = {0}};
    jx_eqn as = *eqn;

    l.b.in = &w->of->make->build;
    l.b.place = w->known.place;
    if (!take_axes(&l) || !(typed.jaxpr.jaxpr = written_out(&l)))
        return false;
    as.prim = jx_prim_of(JX_PRIM_jit);
    as.nparams = 0;
    as.typed = &typed;
    return jx_split_call(w, &as);
}
