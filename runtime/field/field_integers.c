/* field_integers.c - see field.h: integers that are made of numbers.
 *
 * Where the largest of some numbers stands, or how they are sorted, is an
 * integer of which nothing is known, but that it is a function of these: a
 * number, kept in a plane.  Sums and products of such go on, since what is the
 * same over the reals is so of integers that wrap; so do moves, and whether two
 * are equal.  Which is less does not, and as another type it is a number of its
 * own: a sum that wraps is not what it is over the reals. */
#include "frontend/ir/element.h"
#include "runtime/field/plane.h"

#include <math.h>
#include <string.h>

bool jx_field_numbers(jx_field *f, const jx_field_value *of, jx_field_value *to)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;

    *to = *of;
    if (of->cells || of->plane || of->unknown ||
        !jx_dtype_is_integer(of->dtype))
        return of->cells || of->plane;
    to->cells = JX_NEW_ARRAY(f->room, of->count + 1, jx_cell);
    for (int64_t i = 0; to->cells && i < of->count; i++) {
        to->cells[i] = jx_cell_integer(
            f, (int64_t)jx_element_integer(of->dtype, (char *)of->bits +
                                                          (size_t)i * bytes));
        if (of->on)
            to->cells[i] = jx_cell_depends(f, to->cells[i], of->on);
    }
    f->spent |= !to->cells;
    return to->cells != NULL;
}

static bool is_one(const jx_field_value *of)
{
    return of->plane && jx_dtype_is_integer(of->dtype);
}

/* Booleans as integers; of one a branch is chosen, which stays what it is. */
static bool counts(const jx_eqn *eqn, const jx_field_value *ins)
{
    return eqn->prim->id == JX_PRIM_convert_element_type && ins[0].plane &&
           ins[0].dtype == JX_BOOL && ins[0].count != 1 &&
           jx_dtype_is_integer(eqn->outs[0]->aval->dtype);
}

bool jx_field_takes_integers(const jx_eqn *eqn, const jx_field_value *ins)
{
    if (counts(eqn, ins))
        return true;
    for (int i = 0; i < eqn->nins; i++)
        if (is_one(&ins[i]))
            return true;
    return false;
}

/* Operands that are elements of the result: from which to which. */
static bool elements_of(const jx_eqn *eqn, int *first, int *end)
{
    *first = 0;
    *end = eqn->nins;
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_min:
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_concatenate:
    case JX_PRIM_stack: return true;
    case JX_PRIM_select_n: *first = 1; return true;
    case JX_PRIM_pad:
    case JX_PRIM_dynamic_update_slice: *end = 2; return true;
    default: *end = 1; return jx_field_is_move(eqn);
    }
}

/* Those as numbers, the others as they are. */
static jx_field_value *as_numbers(jx_field *f, const jx_eqn *eqn,
                                  const jx_field_value *ins)
{
    jx_field_value *to = JX_NEW_ARRAY(f->room, eqn->nins + 1, jx_field_value);
    int first, end;

    if (!to || !elements_of(eqn, &first, &end))
        return NULL;
    for (int i = 0; i < eqn->nins; i++) {
        to[i] = ins[i];
        if (i < first || i >= end ? is_one(&ins[i])
                                  : !jx_field_numbers(f, &ins[i], &to[i]))
            return NULL;
    }
    return to;
}

/* An integer that wraps has no sign that a number has: n n + 1 may be 0.  A
 * constant has one that the dtype holds. */
static jx_cell without_sign(jx_dtype dtype, jx_cell of)
{
    if (!(fabs(of.about) < ldexp(1, jx_dtype_of(dtype)->bits - 1))) {
        of.signs = JX_MAY_BE_ANY;
        of.about = NAN;
    }
    return of;
}

static bool compare(jx_field *f, const jx_field_program *program,
                    const jx_eqn *eqn, const jx_field_value *ins,
                    jx_field_value *out)
{
    jx_cell_order order = eqn->prim->id == JX_PRIM_eq ? JX_IS_EQ : JX_IS_NE;

    if (!jx_field_like(f, program, eqn->outs[0]->aval, false, out) ||
        !jx_field_stretches(&ins[0], out) || !jx_field_stretches(&ins[1], out))
        return false;
    for (int64_t i = 0; i < out->count; i++) {
        jx_cell a = jx_plane_element(&ins[0],
                                     jx_field_element_of(&ins[0], out, i)),
                b = jx_plane_element(&ins[1],
                                     jx_field_element_of(&ins[1], out, i));
        a = without_sign(ins[0].dtype, a);
        b = without_sign(ins[1].dtype, b);
        a = jx_cell_compare(f, order, &a, &b);
        jx_plane_put(f, out, i, &a);
    }
    return !f->spent;
}

static bool convert(jx_field *f, const jx_field_program *program,
                    const jx_eqn *eqn, const jx_field_value *x,
                    jx_field_value *out)
{
    jx_dtype to = eqn->outs[0]->aval->dtype;

    if ((!jx_dtype_is_float(to) && !jx_dtype_is_integer(to)) ||
        !jx_field_plane(f, program, eqn->outs[0]->aval, out))
        return false;
    for (int64_t i = 0; i < out->count; i++) {
        jx_cell cell = jx_plane_element(x, i);
        const jx_cell *of = &cell;
        if (x->dtype == JX_BOOL)
            cell = jx_cell_number(f, &cell);
        else if (to != x->dtype)
            cell = jx_cell_opaque(
                f, JX_KIND_CONVERTED + (uint64_t)to * 256 + (uint64_t)x->dtype,
                false, 1, &of);
        jx_plane_put(f, out, i, &cell);
    }
    return !f->spent;
}

/* Of what is chosen by numbers no more is known than that it is. */
static jx_cell choose(jx_field *f, const jx_cell *which, const jx_cell *no,
                      const jx_cell *yes)
{
    const jx_cell *all[] = {which, no, yes};
    jx_cell to;

    if (which->kind || !which->blended)
        return jx_cell_select(f, which, no, yes);
    return jx_cell_ask_place(f, which, no, yes, &to)
               ? to
               : jx_cell_opaque(f, JX_KIND_CHOSEN, false, 3, all);
}

bool jx_field_choose_integers(jx_field *f, const jx_field_program *program,
                              const jx_aval *aval, const jx_cell *chosen,
                              const jx_field_value *no,
                              const jx_field_value *yes, jx_field_value *to)
{
    jx_field_value a, b;

    if ((!is_one(no) && !is_one(yes)) || !jx_field_numbers(f, no, &a) ||
        !jx_field_numbers(f, yes, &b) || !jx_field_plane(f, program, aval, to))
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        jx_cell x = jx_plane_element(&a, i), y = jx_plane_element(&b, i);
        x = choose(f, chosen, &x, &y);
        jx_plane_put(f, to, i, &x);
    }
    return !f->spent;
}

/* Places are as large as 2^30, which others do not hold. */
static bool move_place(jx_field *f, jx_dtype dtype, const jx_cell *of,
                       const jx_cell *by, jx_cell *to)
{
    return jx_dtype_of(dtype)->kind == JX_KIND_INT &&
           jx_dtype_of(dtype)->bits >= 32 && jx_cell_move_place(f, of, by, to);
}

/* What may be the place of something, element by element. */
static jx_cell compute(jx_field *f, jx_prim_id id, jx_dtype dtype,
                       const jx_cell *x)
{
    jx_cell less = jx_cell_neg(f, &x[1]), to;

    switch (id) {
    case JX_PRIM_add:
        return move_place(f, dtype, &x[0], &x[1], &to) ||
                       move_place(f, dtype, &x[1], &x[0], &to)
                   ? to
                   : jx_cell_add(f, &x[0], &x[1]);
    case JX_PRIM_sub:
        return move_place(f, dtype, &x[0], &less, &to)
                   ? to
                   : jx_cell_sub(f, &x[0], &x[1]);
    case JX_PRIM_select_n: return choose(f, &x[0], &x[1], &x[2]);
    default:
        return jx_cell_first_place(f, &x[0], &x[1], &to)
                   ? to
                   : jx_cell_unknown(f, "the less of two integers");
    }
}

static bool each(jx_field *f, const jx_field_program *program,
                 const jx_eqn *eqn, const jx_field_value *ins,
                 jx_field_value *out)
{
    if (eqn->nins > 3 ||
        (eqn->prim->id == JX_PRIM_select_n &&
         (eqn->nins != 3 || ins[0].dtype != JX_BOOL || ins[0].bits)) ||
        !jx_field_plane(f, program, eqn->outs[0]->aval, out))
        return false;
    for (int k = 0; k < eqn->nins; k++)
        if (!jx_field_stretches(&ins[k], out))
            return false;
    for (int64_t i = 0; i < out->count; i++) {
        jx_cell x[3] = {{0}}, made;
        for (int k = 0; k < eqn->nins; k++)
            x[k] =
                jx_plane_element(&ins[k], jx_field_element_of(&ins[k], out, i));
        made = compute(f, eqn->prim->id, out->dtype, x);
        jx_plane_put(f, out, i, &made);
    }
    f->work += out->count;
    return !f->spent;
}

bool jx_field_integers(jx_field *f, jx_field_program *program,
                       const jx_eqn *eqn, const jx_field_value *ins,
                       jx_field_value *outs)
{
    const jx_field_value *numbers = as_numbers(f, eqn, ins);

    if (!numbers || eqn->nouts < 1)
        return false;
    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne: return compare(f, program, eqn, numbers, &outs[0]);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_min:
    case JX_PRIM_select_n: return each(f, program, eqn, numbers, &outs[0]);
    case JX_PRIM_convert_element_type:
        return convert(f, program, eqn, numbers, &outs[0]);
    default:
        return jx_plane_eqn(f, program, eqn, numbers, outs) ||
               jx_field_moves(f, program, eqn, numbers, outs);
    }
}
