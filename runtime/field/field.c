/* field.c - see field.h: equations in order, loops and branches. */
#include "runtime/field/field.h"

#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <string.h>

enum { MOST_TURNS = 1 << 12 }; /* of a loop */

static bool run_jaxpr(jx_field *f, jx_field_program *program, const jx_jaxpr *jaxpr,
                      const jx_field_value *consts, const jx_field_value *ins,
                      jx_field_value *outs);

/* ---- constants */

/* Elements that lie at `data`, `step` bytes apart. */
static void read_elements(jx_field *f, const char *data, size_t step, jx_field_value *to)
{
    size_t bytes = jx_dtype_of(to->dtype)->bytes;

    for (int64_t i = 0; i < to->count; i++) {
        const char *at = data + (size_t)i * step;
        if (to->dtype == JX_BOOL)
            to->cells[i] = jx_cell_bool(*at);
        else if (to->cells)
            to->cells[i] = i && memcmp(at, at - step, bytes) == 0
                               ? to->cells[i - 1]
                               : jx_cell_constant(f, jx_element_real(to->dtype, at), to->dtype);
        else
            memcpy((char *)to->bits + (size_t)i * bytes, at, bytes);
    }
}

static bool is_plain(jx_dtype dtype)
{
    jx_dtype_kind kind = jx_dtype_of(dtype)->kind;

    return kind == JX_KIND_BOOL || kind == JX_KIND_INT || kind == JX_KIND_UINT ||
           kind == JX_KIND_FLOAT;
}

static bool read_array(jx_field *f, const jx_field_program *program, const jx_array *array,
                       jx_field_value *to)
{
    size_t bytes = jx_dtype_of(array->aval->dtype)->bytes;

    if (!jx_field_room(f, program, array->aval, to))
        return false;
    if (!array->data || !is_plain(to->dtype) ||
        (!array->splat && array->bytes < (size_t)to->count * bytes))
        jx_field_lose(f, to, "a constant whose values are not known");
    else
        read_elements(f, array->data, array->splat ? 0 : bytes, to);
    return true;
}

static bool read_literal(jx_field *f, const jx_field_program *program,
                         const jx_literal *literal, jx_field_value *to)
{
    jx_assignment sizes = {program->nbindings, program->bindings};
    unsigned char bits[16] = {0};
    int64_t value;

    if (literal->array)
        return read_array(f, program, literal->array, to);
    if (!jx_field_room(f, program, literal->aval, to))
        return false;
    memcpy(bits, literal->bits, sizeof bits);
    if (literal->dim && to->cells && jx_dim_eval(literal->dim, jx_assigned, &sizes, &value)) {
        to->cells[0] = jx_cell_integer(f, value);
        return true;
    }
    if (!is_plain(to->dtype) ||
        (literal->dim && (!jx_dim_eval(literal->dim, jx_assigned, &sizes, &value) ||
                          !jx_element_from_integer(to->dtype, (uint64_t)value, bits))))
        jx_field_lose(f, to, "a constant whose value is not known");
    else
        read_elements(f, (const char *)bits, 0, to);
    return true;
}

/* ---- calls, branches, loops */

static bool run_closed(jx_field *f, jx_field_program *program, const jx_closed *closed,
                       const jx_field_value *ins, jx_field_value *outs)
{
    jx_field_value *consts =
        JX_NEW_ARRAY(f->ctx->arena, closed->nconsts + 1, jx_field_value);

    if (!consts || closed->nconsts != closed->jaxpr->nconsts)
        f->spent = true;
    for (int i = 0; !f->spent && i < closed->nconsts; i++)
        if (!read_array(f, program, closed->consts[i], &consts[i]))
            f->spent = true;
    return !f->spent && run_jaxpr(f, program, closed->jaxpr, consts, ins, outs);
}

static bool lose_all(jx_field *f, const jx_field_program *program, const jx_eqn *eqn,
                     jx_field_value *outs, const char *why)
{
    for (int i = 0; i < eqn->nouts; i++) {
        if (!jx_field_room(f, program, eqn->outs[i]->aval, &outs[i])) {
            f->spent |= eqn->outs[i]->aval->kind == JX_AVAL_ARRAY;
            outs[i].unknown = true;
        }
        jx_field_lose(f, &outs[i], why);
    }
    return !f->spent;
}

/* An index or predicate; *chosen: a boolean that is blended. */
static bool scalar_of(const jx_field_value *of, int64_t *value, const jx_cell **chosen)
{
    *chosen = NULL;
    if (of->unknown || of->count != 1)
        return false;
    if (!of->cells) {
        *value = (int64_t)jx_element_integer(of->dtype, of->bits);
        return true;
    }
    if (of->dtype != JX_BOOL || of->cells[0].kind)
        return false;
    *value = (int64_t)of->cells[0].v;
    if (of->cells[0].blended)
        *chosen = &of->cells[0];
    return true;
}

static void depend_all(jx_field *f, const jx_cell *on, int n, jx_field_value *outs)
{
    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; outs[i].cells && k < outs[i].count; k++)
            outs[i].cells[k] = jx_cell_depends(f, outs[i].cells[k], on);
        if (!outs[i].cells && (outs[i].on = JX_NEW(f->ctx->arena, jx_cell)))
            *outs[i].on = jx_cell_depends(f, jx_cell_bool(false), on);
    }
}

static bool run_cond(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *outs)
{
    const jx_closed_list *branches = &((const jx_p_cond *)eqn->typed)->branches;
    jx_field_value *others = JX_NEW_ARRAY(f->ctx->arena, eqn->nouts + 1, jx_field_value);
    const jx_cell *chosen;
    int64_t index;

    if (!others)
        return false;
    if (!scalar_of(&ins[0], &index, &chosen))
        return lose_all(f, program, eqn, outs, "a branch that is chosen by what is not known");
    if (!chosen) {
        index = index < 0 ? 0 : index >= branches->count ? branches->count - 1 : index;
        if (!run_closed(f, program, &branches->at[index], ins + 1, outs))
            return false;
        jx_cell on = jx_field_reasons(f, &ins[0]);
        depend_all(f, &on, eqn->nouts, outs);
        return true;
    }
    if (!run_closed(f, program, &branches->at[0], ins + 1, outs) ||
        !run_closed(f, program, &branches->at[1], ins + 1, others))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        for (int64_t k = 0; outs[i].cells && k < outs[i].count; k++)
            outs[i].cells[k] =
                jx_cell_select(f, chosen, &outs[i].cells[k], &others[i].cells[k]);
        if (!outs[i].cells)
            jx_field_lose(f, &outs[i], "an integer that is chosen by numbers");
    }
    return true;
}

/* One row of a stacked array, and back. */
static jx_field_value row_of(const jx_field_value *of, int64_t row)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;
    jx_field_value to = *of;

    to.rank--;
    to.shape++;
    to.count = of->shape[0] ? of->count / of->shape[0] : 0;
    to.cells = of->cells ? of->cells + row * to.count : NULL;
    to.bits = of->bits ? (char *)of->bits + (size_t)(row * to.count) * bytes : NULL;
    return to;
}

static void put_row(jx_field *f, jx_field_value *into, int64_t row, const jx_field_value *from)
{
    jx_field_value to = row_of(into, row);
    size_t bytes = jx_dtype_of(to.dtype)->bytes;

    if (to.cells && from->cells)
        memcpy(to.cells, from->cells, (size_t)to.count * sizeof *to.cells);
    else if (to.bits && from->bits && !from->unknown)
        memcpy(to.bits, from->bits, (size_t)to.count * bytes);
    else
        into->unknown = true;
    if (from->on) {
        jx_cell *on = JX_NEW(f->ctx->arena, jx_cell);
        if (on)
            *on = into->on ? jx_cell_depends(f, *into->on, from->on) : *from->on;
        into->on = on;
    }
}

static bool run_scan(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *outs)
{
    const jx_p_scan *p = eqn->typed;
    jx_assignment sizes = {program->nbindings, program->bindings};
    int fixed = (int)p->num_consts, carried = (int)p->num_carry;
    jx_field_value *to = JX_NEW_ARRAY(f->ctx->arena, eqn->nins + eqn->nouts + 1, jx_field_value);
    jx_field_value *made = to ? to + eqn->nins : NULL;
    int64_t length;

    if (!to || !jx_dim_eval(p->length, jx_assigned, &sizes, &length) || length > MOST_TURNS)
        return lose_all(f, program, eqn, outs, "a loop of too many turns");
    memcpy(to, ins, (size_t)eqn->nins * sizeof *to);
    for (int i = carried; i < eqn->nouts; i++)
        if (!jx_field_room(f, program, eqn->outs[i]->aval, &outs[i]))
            return false;
    for (int64_t turn = 0; turn < length; turn++) {
        int64_t row = p->reverse ? length - 1 - turn : turn;
        for (int i = fixed + carried; i < eqn->nins; i++)
            to[i] = row_of(&ins[i], row);
        if (!run_closed(f, program, &p->jaxpr, to, made))
            return false;
        memcpy(to + fixed, made, (size_t)carried * sizeof *to);
        for (int i = carried; i < eqn->nouts; i++)
            put_row(f, &outs[i], row, &made[i]);
    }
    memcpy(outs, to + fixed, (size_t)carried * sizeof *to);
    return true;
}

/* It depends on a comparison of numbers. */
static bool is_chosen(jx_field *f, const jx_field_value *of)
{
    jx_cell on = jx_field_reasons(f, of);

    for (int i = 0; i < f->ncolours; i++)
        if (on.by[i])
            return true;
    return on.mixed || on.needs;
}

static bool run_while(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs)
{
    const jx_p_while *p = eqn->typed;
    int asks = (int)p->cond_nconsts, does = (int)p->body_nconsts, n = eqn->nouts;
    jx_field_value *all = JX_NEW_ARRAY(f->ctx->arena, 2 * eqn->nins + n + 1, jx_field_value);
    jx_field_value *ask = all, *body = all ? all + asks + n : NULL, goes_on;
    const jx_cell *chosen;
    int64_t value;

    if (!all)
        return false;
    memcpy(ask, ins, (size_t)asks * sizeof *ask);
    memcpy(body, ins + asks, (size_t)does * sizeof *body);
    memcpy(outs, ins + asks + does, (size_t)n * sizeof *outs);
    for (int turn = 0;; turn++) {
        memcpy(ask + asks, outs, (size_t)n * sizeof *outs);
        if (!run_closed(f, program, &p->cond_jaxpr, ask, &goes_on))
            return false;
        if (turn == MOST_TURNS || !scalar_of(&goes_on, &value, &chosen) || chosen ||
            is_chosen(f, &goes_on))
            return lose_all(f, program, eqn, outs, "a loop that ends by its numbers");
        if (!value)
            return true;
        memcpy(body + does, outs, (size_t)n * sizeof *outs);
        if (!run_closed(f, program, &p->body_jaxpr, body, outs))
            return false;
    }
}

/* ---- equations */

/* Whether all that it takes is known exactly, and what it gives is no number. */
static bool is_exact(const jx_eqn *eqn, const jx_field_value *ins)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i]->aval->kind != JX_AVAL_ARRAY ||
            (jx_dtype_is_inexact(eqn->outs[i]->aval->dtype) && eqn->prim->id != JX_PRIM_iota))
            return false;
    for (int i = 0; i < eqn->nins; i++) {
        if (ins[i].unknown || jx_dtype_is_inexact(ins[i].dtype))
            return false;
        for (int64_t k = 0; ins[i].cells && k < ins[i].count; k++)
            if (ins[i].cells[k].kind || ins[i].cells[k].blended)
                return false;
    }
    return true;
}

static bool is_identity(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_stop_gradient:
    case JX_PRIM_copy:
    case JX_PRIM_copy_p:
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_device_put:
    case JX_PRIM_name:
    case JX_PRIM_sharding_constraint:
    case JX_PRIM_reshard:
    case JX_PRIM_layout_constraint:
    case JX_PRIM_relayout: return eqn->nins == eqn->nouts;
    default: return false;
    }
}

/* Integers as numbers: to be converted, or an exponent. */
static bool as_numbers(jx_field *f, const jx_field_value *of, jx_field_value *to)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;

    *to = *of;
    if (of->cells || of->unknown || !jx_dtype_is_integer(of->dtype))
        return of->cells != NULL;
    to->cells = JX_NEW_ARRAY(f->ctx->arena, of->count + 1, jx_cell);
    for (int64_t i = 0; to->cells && i < of->count; i++) {
        to->cells[i] = jx_cell_integer(
            f, (int64_t)jx_element_integer(of->dtype, (char *)of->bits + (size_t)i * bytes));
        if (of->on)
            to->cells[i] = jx_cell_depends(f, to->cells[i], of->on);
    }
    f->spent |= !to->cells;
    return to->cells != NULL;
}

static bool run_elementwise(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                            const jx_field_value *ins, jx_field_value *outs)
{
    jx_field_value *to = JX_NEW_ARRAY(f->ctx->arena, eqn->nins + 1, jx_field_value);
    const char *before = f->why;

    if (!to || !jx_field_room(f, program, eqn->outs[0]->aval, &outs[0]))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!as_numbers(f, &ins[i], &to[i]))
            return false;
    if (!jx_field_elementwise(f, eqn, to, &outs[0]))
        return false;
    for (int64_t i = 0; !before && !f->why && i < outs[0].count; i++)
        if (outs[0].cells[i].kind == JX_CELL_UNKNOWN)
            f->why = jx_eqn_name(eqn);
    return true;
}

static bool run_eqn(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs)
{
    const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;

    f->colour = -1;
    if (callee && callee->jaxpr->nins == eqn->nins && callee->jaxpr->nouts == eqn->nouts)
        return run_closed(f, program, callee, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_cond)
        return run_cond(f, program, eqn, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_scan)
        return run_scan(f, program, eqn, ins, outs);
    if (eqn->typed && eqn->prim->id == JX_PRIM_while)
        return run_while(f, program, eqn, ins, outs);
    if (is_identity(eqn)) {
        memcpy(outs, ins, (size_t)eqn->nins * sizeof *outs);
        return true;
    }
    if ((eqn->typed && is_exact(eqn, ins) && jx_field_exact(f, program, eqn, ins, outs)) ||
        (eqn->typed && (jx_field_moves(f, program, eqn, ins, outs) ||
                        jx_field_sums(f, program, eqn, ins, outs))) ||
        (eqn->typed && eqn->nouts == 1 && jx_field_has_cells(eqn->outs[0]->aval->dtype) &&
         run_elementwise(f, program, eqn, ins, outs)))
        return !f->spent;
    return !f->spent && lose_all(f, program, eqn, outs, jx_eqn_name(eqn));
}

static bool run_jaxpr(jx_field *f, jx_field_program *program, const jx_jaxpr *jaxpr,
                      const jx_field_value *consts, const jx_field_value *ins,
                      jx_field_value *outs)
{
    jx_arena *arena = f->ctx->arena;
    jx_field_value *values = JX_NEW_ARRAY(arena, jaxpr->nvars + 1, jx_field_value);
    int most = 1;

    for (int i = 0; i < jaxpr->neqns; i++) {
        most = jaxpr->eqns[i].nins > most ? jaxpr->eqns[i].nins : most;
        most = jaxpr->eqns[i].nouts > most ? jaxpr->eqns[i].nouts : most;
    }
    jx_field_value *to = JX_NEW_ARRAY(arena, 2 * most, jx_field_value);
    if (!values || !to)
        return false;
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++)
        values[i] = i < jaxpr->nconsts ? consts[i] : ins[i - jaxpr->nconsts];
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool accepted = jx_typed_accepts(program->typed, jaxpr, eqn);
        for (int k = 0; k < eqn->nins; k++)
            if (eqn->ins[k].var)
                to[k] = values[eqn->ins[k].var->id];
            else if (!read_literal(f, program, eqn->ins[k].literal, &to[k]))
                return false;
        if (!(accepted ? run_eqn(f, program, eqn, to, to + most)
                       : lose_all(f, program, eqn, to + most, "a refused equation")))
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            values[eqn->outs[k]->id] = to[most + k];
        if (f->spent || f->work > 0 || jx_arena_failed(arena)) {
            f->spent = true;
            return false;
        }
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            outs[i] = values[jaxpr->outs[i].var->id];
        else if (!read_literal(f, program, jaxpr->outs[i].literal, &outs[i]))
            return false;
    return true;
}

bool jx_field_run(jx_field *f, jx_field_program *program, const jx_closed *closed,
                  const jx_field_value *ins, jx_field_value *outs)
{
    bool done = run_closed(f, program, closed, ins, outs);

    f->spent |= !done;
    return done;
}
