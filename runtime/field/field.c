/* field.c - see field.h: equations in order, loops and branches. */
#include "runtime/field/field.h"

#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "runtime/field/plane.h"

#include <string.h>

enum { MOST_TURNS = 1 << 12 }; /* of a loop */

static bool run_jaxpr(jx_field *f, jx_field_program *program,
                      const jx_jaxpr *jaxpr, const jx_field_value *consts,
                      const jx_field_value *ins, jx_field_value *outs);

/* ---- constants */

/* Complex ones: a real part, then an imaginary one. */
static void read_complex(jx_field *f, const char *data, size_t step,
                         jx_field_value *to)
{
    jx_dtype part = jx_dtype_real(to->dtype);

    to->conjugates =
        to->cells ? JX_NEW_ARRAY(f->room, to->count + 1, jx_cell) : NULL;
    for (int64_t i = 0; to->conjugates && i < to->count; i++) {
        const char *at = data + (size_t)i * step;
        jx_cell real = jx_cell_constant(f, jx_element_real(part, at), part);
        jx_cell imag = jx_cell_constant(
            f, jx_element_real(part, at + jx_dtype_of(part)->bytes), part);
        jx_cell_complex(f, &real, &imag, &to->cells[i], &to->conjugates[i]);
    }
}

/* Elements that lie at `data`, `step` bytes apart. */
static void read_elements(jx_field *f, const char *data, size_t step,
                          jx_field_value *to)
{
    size_t bytes = jx_dtype_of(to->dtype)->bytes;

    if (jx_dtype_is_complex(to->dtype)) {
        read_complex(f, data, step, to);
        return;
    }
    for (int64_t i = 0; i < to->count; i++) {
        const char *at = data + (size_t)i * step;
        if (to->dtype == JX_BOOL)
            to->cells[i] = jx_cell_bool(*at);
        else if (to->cells)
            to->cells[i] =
                i && memcmp(at, at - step, bytes) == 0
                    ? to->cells[i - 1]
                    : jx_cell_constant(f, jx_element_real(to->dtype, at),
                                       to->dtype);
        else
            memcpy((char *)to->bits + (size_t)i * bytes, at, bytes);
    }
}

static bool is_plain(const jx_field *f, jx_dtype dtype)
{
    jx_dtype_kind kind = jx_dtype_of(dtype)->kind;

    return kind == JX_KIND_BOOL || kind == JX_KIND_INT ||
           kind == JX_KIND_UINT || kind == JX_KIND_FLOAT ||
           (kind == JX_KIND_COMPLEX && !f->planes);
}

static bool read_array(jx_field *f, const jx_field_program *program,
                       const jx_array *array, jx_field_value *to)
{
    size_t bytes = jx_dtype_of(array->aval->dtype)->bytes;

    if (!jx_field_room(f, program, array->aval, to))
        return false;
    if (!array->data || !is_plain(f, to->dtype) ||
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
    if (literal->dim && to->cells &&
        jx_dim_eval(literal->dim, jx_assigned, &sizes, &value)) {
        to->cells[0] = jx_cell_integer(f, value);
        return true;
    }
    if (!is_plain(f, to->dtype) ||
        (literal->dim &&
         (!jx_dim_eval(literal->dim, jx_assigned, &sizes, &value) ||
          !jx_element_from_integer(to->dtype, (uint64_t)value, bits))))
        jx_field_lose(f, to, "a constant whose value is not known");
    else
        read_elements(f, (const char *)bits, 0, to);
    return true;
}

/* ---- calls, branches, loops */

static bool run_closed(jx_field *f, jx_field_program *program,
                       const jx_closed *closed, const jx_field_value *ins,
                       jx_field_value *outs)
{
    jx_field_value *consts =
        JX_NEW_ARRAY(f->room, closed->nconsts + 1, jx_field_value);

    if (!consts || closed->nconsts != closed->jaxpr->nconsts)
        f->spent = true;
    for (int i = 0; !f->spent && i < closed->nconsts; i++)
        if (!read_array(f, program, closed->consts[i], &consts[i]))
            f->spent = true;
    return !f->spent && run_jaxpr(f, program, closed->jaxpr, consts, ins, outs);
}

static bool lose_all(jx_field *f, const jx_field_program *program,
                     const jx_eqn *eqn, jx_field_value *outs, const char *why)
{
    for (int i = 0; i < eqn->nouts; i++) {
        bool single = f->planes && eqn->outs[i]->aval->kind == JX_AVAL_ARRAY &&
                      jx_field_has_cells(eqn->outs[i]->aval->dtype);
        if (single ? !jx_field_single(f, program, eqn->outs[i]->aval, &outs[i])
                   : !jx_field_room(f, program, eqn->outs[i]->aval, &outs[i])) {
            f->spent |= eqn->outs[i]->aval->kind == JX_AVAL_ARRAY;
            outs[i].unknown = true;
        }
        jx_field_lose(f, &outs[i], why);
    }
    return !f->spent;
}

/* An index or predicate; *chosen: a boolean that is blended, which is *cell. */
static bool scalar_of(const jx_field_value *of, int64_t *value, jx_cell *cell,
                      const jx_cell **chosen)
{
    *chosen = NULL;
    if (of->unknown || of->count != 1)
        return false;
    if (of->bits) {
        *value = (int64_t)jx_element_integer(of->dtype, of->bits);
        return true;
    }
    *cell = jx_plane_get(of, 0);
    if ((of->dtype != JX_BOOL && !cell->blended) || cell->kind)
        return false;
    *value = (int64_t)cell->v;
    if (cell->blended)
        *chosen = cell;
    return true;
}

static void depend_all(jx_field *f, const jx_cell *on, int n,
                       jx_field_value *outs)
{
    for (int i = 0; i < n; i++) {
        if (outs[i].plane && !on->needs)
            continue;
        for (int64_t k = 0; !outs[i].bits && k < jx_field_stored(&outs[i]);
             k++) {
            jx_cell cell = jx_plane_get(&outs[i], k);
            cell = jx_cell_depends(f, cell, on);
            jx_plane_put(f, &outs[i], k, &cell);
        }
        if (outs[i].bits && (outs[i].on = JX_NEW(f->room, jx_cell)))
            *outs[i].on = jx_cell_depends(f, jx_cell_bool(false), on);
    }
}

/* What a blended predicate selects of what both branches give. */
static bool blend(jx_field *f, const jx_field_program *program,
                  const jx_aval *aval, const jx_cell *chosen,
                  jx_field_value *no, const jx_field_value *yes)
{
    jx_field_value to;

    if (no->bits || jx_dtype_is_integer(no->dtype)) {
        if (!jx_field_choose_integers(f, program, aval, chosen, no, yes, &to)) {
            to = (jx_field_value){0};
            if (!jx_field_shape(f, program, aval, &to))
                return false;
            jx_field_lose(f, &to, "an integer that is chosen by numbers");
        }
        *no = to;
        return !f->spent;
    }
    if (!jx_field_like(f, program, aval, no->splat && yes->splat, &to))
        return false;
    for (int64_t k = 0; k < jx_field_stored(&to); k++) {
        jx_cell a = jx_plane_element(no, k), b = jx_plane_element(yes, k);
        a = jx_cell_select(f, chosen, &a, &b);
        a = to.dtype == JX_BOOL ? jx_cell_as_bool(a) : a;
        jx_plane_put(f, &to, k, &a);
    }
    *no = to;
    return true;
}

static bool run_cond(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *outs)
{
    const jx_closed_list *branches = &((const jx_p_cond *)eqn->typed)->branches;
    jx_field_value *others =
        JX_NEW_ARRAY(f->room, eqn->nouts + 1, jx_field_value);
    const jx_cell *chosen;
    jx_cell cell;
    int64_t index;

    if (!others)
        return false;
    if (!scalar_of(&ins[0], &index, &cell, &chosen) ||
        (chosen && branches->count != 2))
        return lose_all(f, program, eqn, outs,
                        "a branch that is chosen by what is not known");
    if (!chosen) {
        index = index < 0                  ? 0
                : index >= branches->count ? branches->count - 1
                                           : index;
        if (!run_closed(f, program, &branches->at[index], ins + 1, outs))
            return false;
        jx_cell on = jx_field_reasons(f, &ins[0]);
        depend_all(f, &on, eqn->nouts, outs);
        return true;
    }
    if (!run_closed(f, program, &branches->at[0], ins + 1, outs) ||
        !run_closed(f, program, &branches->at[1], ins + 1, others))
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (!blend(f, program, eqn->outs[i]->aval, chosen, &outs[i],
                   &others[i]))
            return false;
    return true;
}

/* One row of a stacked array, and back. */
static jx_field_value row_of(jx_field *f, const jx_field_value *of, int64_t row)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;
    jx_field_value to = *of;
    int64_t first;

    to.rank--;
    to.shape++;
    to.count = of->shape[0] ? of->count / of->shape[0] : 0;
    first = row * to.count;
    to.bits = of->bits ? (char *)of->bits + (size_t)first * bytes : NULL;
    if (of->splat)
        return to;
    to.cells = of->cells ? of->cells + first : NULL;
    to.conjugates = of->conjugates ? of->conjugates + first : NULL;
    if (of->plane && (to.plane = jx_arena_copy(f->ctx->arena, of->plane,
                                               sizeof *of->plane))) {
        to.plane->v += first;
        to.plane->state += first;
        to.plane->w += to.plane->w ? first : 0;
        to.plane->root += to.plane->w ? first : 0;
        to.plane->e += to.plane->e ? first : 0;
        to.plane->needs += to.plane->needs ? first : 0;
    }
    f->spent |= of->plane && !to.plane;
    return to;
}

static void put_row(jx_field *f, jx_field_value *into, int64_t row,
                    const jx_field_value *from)
{
    size_t bytes = jx_dtype_of(into->dtype)->bytes;
    int64_t count = into->shape[0] ? into->count / into->shape[0] : 0,
            first = row * count;
    jx_field_value rows = {0};

    if (into->bits && from->bits && !from->unknown)
        memcpy((char *)into->bits + (size_t)first * bytes, from->bits,
               (size_t)count * bytes);
    else if (into->bits)
        into->unknown = true;
    else if (!into->plane && !from->splat)
        memcpy(into->cells + first, from->cells,
               (size_t)count * sizeof *into->cells);
    else if (jx_plane_of(f, from, &rows))
        jx_plane_copy(f, into, first, &rows);
    if (from->on) {
        jx_cell *on = JX_NEW(f->room, jx_cell);
        if (on)
            *on =
                into->on ? jx_cell_depends(f, *into->on, from->on) : *from->on;
        into->on = on;
    }
}

static bool run_scan(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *outs)
{
    const jx_p_scan *p = eqn->typed;
    jx_assignment sizes = {program->nbindings, program->bindings};
    int fixed = (int)p->num_consts, carried = (int)p->num_carry;
    jx_field_value *to =
        JX_NEW_ARRAY(f->room, eqn->nins + eqn->nouts + 1, jx_field_value);
    jx_field_value *made = to ? to + eqn->nins : NULL;
    int64_t length;

    if (!to || !jx_dim_eval(p->length, jx_assigned, &sizes, &length) ||
        length > MOST_TURNS)
        return lose_all(f, program, eqn, outs, "a loop of too many turns");
    memcpy(to, ins, (size_t)eqn->nins * sizeof *to);
    for (int i = carried; i < eqn->nouts; i++)
        if (!jx_field_like(f, program, eqn->outs[i]->aval, false, &outs[i]))
            return false;
    for (int64_t turn = 0; turn < length; turn++) {
        int64_t row = p->reverse ? length - 1 - turn : turn;
        for (int i = fixed + carried; i < eqn->nins; i++)
            to[i] = row_of(f, &ins[i], row);
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
    int asks = (int)p->cond_nconsts, does = (int)p->body_nconsts,
        n = eqn->nouts;
    jx_field_value *all =
        JX_NEW_ARRAY(f->room, 2 * eqn->nins + n + 1, jx_field_value);
    jx_field_value *ask = all, *body = all ? all + asks + n : NULL, goes_on;
    const jx_cell *chosen;
    jx_cell cell;
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
        if (turn == MOST_TURNS ||
            !scalar_of(&goes_on, &value, &cell, &chosen) || chosen ||
            is_chosen(f, &goes_on))
            return lose_all(f, program, eqn, outs,
                            "a loop that ends by its numbers");
        if (!value)
            return true;
        memcpy(body + does, outs, (size_t)n * sizeof *outs);
        if (!run_closed(f, program, &p->body_jaxpr, body, outs))
            return false;
    }
}

/* ---- equations */

/* Booleans that are what they are. */
static bool is_known(const jx_field_value *of)
{
    int64_t stored = jx_field_stored(of);

    for (int64_t k = 0; of->plane && k < stored; k++)
        if (of->plane->state[k] > JX_STATE_SIGNS ||
            of->plane->state[k] == JX_STATE_BLENDED)
            return false;
    for (int64_t k = 0; of->cells && k < stored; k++)
        if (of->cells[k].kind || of->cells[k].blended)
            return false;
    return true;
}

/* Whether all that it takes is known exactly, and what it
 * gives is no number. */
static bool is_exact(const jx_eqn *eqn, const jx_field_value *ins)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i]->aval->kind != JX_AVAL_ARRAY ||
            (jx_dtype_is_inexact(eqn->outs[i]->aval->dtype) &&
             eqn->prim->id != JX_PRIM_iota &&
             eqn->prim->id != JX_PRIM_bitcast_convert_type))
            return false;
    for (int i = 0; i < eqn->nins; i++) {
        if (ins[i].unknown || jx_dtype_is_inexact(ins[i].dtype))
            return false;
        if (!ins[i].bits && !is_known(&ins[i]))
            return false;
    }
    return true;
}

static bool is_identity(const jx_eqn *eqn)
{
    return jx_prim_in_family(eqn->prim->id, "identity") &&
           eqn->nins == eqn->nouts;
}

/* Room for what an equation makes of these: a plane if one of them is, one
 * element for all if that is what they have. */
static bool room_for(jx_field *f, const jx_field_program *program,
                     const jx_eqn *eqn, const jx_field_value *ins,
                     jx_field_value *out)
{
    bool plane = false, single = f->planes;

    for (int i = 0; i < eqn->nins; i++) {
        plane |= ins[i].plane != NULL;
        single &= jx_field_stored(&ins[i]) == 1;
    }
    if (plane)
        return jx_field_like(f, program, eqn->outs[0]->aval, single, out);
    return single ? jx_field_single(f, program, eqn->outs[0]->aval, out)
                  : jx_field_room(f, program, eqn->outs[0]->aval, out);
}

static bool run_elementwise(jx_field *f, jx_field_program *program,
                            const jx_eqn *eqn, const jx_field_value *ins,
                            jx_field_value *outs)
{
    jx_field_value *to = JX_NEW_ARRAY(f->room, eqn->nins + 1, jx_field_value);
    const char *before = f->why;

    for (int i = 0; to && i < eqn->nins; i++)
        if (!jx_field_numbers(f, &ins[i], &to[i]))
            return false;
    if (!to || !room_for(f, program, eqn, to, &outs[0]) ||
        !jx_field_elementwise(f, eqn, to, &outs[0]))
        return false;
    for (int64_t i = 0; !before && !f->why && i < jx_field_stored(&outs[0]);
         i++)
        if (jx_plane_get(&outs[0], i).kind == JX_CELL_UNKNOWN)
            f->why = jx_eqn_name(eqn);
    return true;
}

/* A boolean that is blended, as an integer: a cell of that dtype, which a
 * branch can be chosen by. */
static bool convert_choice(jx_field *f, const jx_field_program *program,
                           const jx_eqn *eqn, const jx_field_value *ins,
                           jx_field_value *out)
{
    if (eqn->prim->id != JX_PRIM_convert_element_type ||
        ins[0].dtype != JX_BOOL ||
        !jx_dtype_is_integer(eqn->outs[0]->aval->dtype) || ins[0].count != 1 ||
        ins[0].bits || !jx_field_shape(f, program, eqn->outs[0]->aval, out))
        return false;
    out->cells = JX_NEW(f->ctx->arena, jx_cell);
    if (out->cells)
        *out->cells = jx_plane_get(&ins[0], 0);
    f->spent |= !out->cells;
    return out->cells != NULL;
}

/* What planes have no loop for is done by cells. */
static bool run_on_planes(jx_field *f, jx_field_program *program,
                          const jx_eqn *eqn, const jx_field_value *ins,
                          jx_field_value *outs)
{
    jx_field_value *cells = NULL;
    bool done;

    if (convert_choice(f, program, eqn, ins, outs) ||
        jx_plane_eqn(f, program, eqn, ins, outs) ||
        jx_plane_windows(f, program, eqn, ins, outs) ||
        jx_field_moves(f, program, eqn, ins, outs) ||
        jx_field_opaque(f, program, eqn, ins, outs))
        return !f->spent;
    if (jx_field_is_sum(eqn->prim->id)) {
        cells = JX_NEW_ARRAY(f->ctx->arena, eqn->nins + 1, jx_field_value);
        for (int i = 0; cells && i < eqn->nins; i++)
            if (!jx_plane_cells(f, &ins[i], &cells[i]))
                return false;
        done = cells && jx_field_sums(f, program, eqn, cells, outs);
    } else {
        done = eqn->nouts == 1 &&
               jx_field_has_cells(eqn->outs[0]->aval->dtype) &&
               run_elementwise(f, program, eqn, ins, outs);
    }
    for (int i = 0; done && i < eqn->nouts; i++)
        if (!jx_plane_keep(f, &outs[i]))
            return false;
    return done && !f->spent;
}

static bool run_eqn(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs)
{
    const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;

    f->colour = -1;
    if (callee && callee->jaxpr->nins == eqn->nins &&
        callee->jaxpr->nouts == eqn->nouts)
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
    if (!f->planes && jx_field_is_complex(eqn))
        return (eqn->typed && jx_field_complex(f, program, eqn, ins, outs)) ||
               (!f->spent && lose_all(f, program, eqn, outs, jx_eqn_name(eqn)));
    if (f->planes && jx_field_takes_integers(eqn, ins))
        return (eqn->typed && (jx_field_integers(f, program, eqn, ins, outs) ||
                               jx_field_opaque(f, program, eqn, ins, outs))) ||
               (!f->spent && lose_all(f, program, eqn, outs, jx_eqn_name(eqn)));
    if ((eqn->typed && is_exact(eqn, ins) &&
         jx_field_exact(f, program, eqn, ins, outs)) ||
        (eqn->typed && f->planes && run_on_planes(f, program, eqn, ins, outs)))
        return !f->spent;
    if (f->planes)
        return !f->spent && lose_all(f, program, eqn, outs, jx_eqn_name(eqn));
    if ((eqn->typed && (jx_field_moves(f, program, eqn, ins, outs) ||
                        jx_field_sums(f, program, eqn, ins, outs))) ||
        (eqn->typed && eqn->nouts == 1 &&
         jx_field_has_cells(eqn->outs[0]->aval->dtype) &&
         run_elementwise(f, program, eqn, ins, outs)))
        return !f->spent;
    return !f->spent && lose_all(f, program, eqn, outs, jx_eqn_name(eqn));
}

static bool run_jaxpr(jx_field *f, jx_field_program *program,
                      const jx_jaxpr *jaxpr, const jx_field_value *consts,
                      const jx_field_value *ins, jx_field_value *outs)
{
    jx_arena *arena = f->room;
    jx_field_value *values =
        JX_NEW_ARRAY(arena, jaxpr->nvars + 1, jx_field_value);
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
        if (!(accepted
                  ? run_eqn(f, program, eqn, to, to + most)
                  : lose_all(f, program, eqn, to + most, "a refused equation")))
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            values[eqn->outs[k]->id] = to[most + k];
        if (f->show && (!f->shown || jaxpr == f->shown))
            f->show(f->to, eqn, to, to + most);
        if (f->spent || f->work > 0 || jx_arena_failed(arena) ||
            !jx_ctx_lasts(f->ctx)) {
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

bool jx_field_run(jx_field *f, jx_field_program *program,
                  const jx_closed *closed, const jx_field_value *ins,
                  jx_field_value *outs)
{
    bool done = run_closed(f, program, closed, ins, outs);

    f->spent |= !done;
    return done;
}
