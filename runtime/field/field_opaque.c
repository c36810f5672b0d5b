/* field_opaque.c - see field.h: functions of whole arrays, of which
 * nothing is known.
 *
 * What a sort or a factorization gives of the same numbers is the same:
 * each element of it is a random number for the function and all numbers
 * that it is given.  One that goes along axes of an array is a function of each
 * line along these by itself, wherever the line stands. */
#include "frontend/ir/element.h"
#include "runtime/field/plane.h"

#include <math.h>
#include <string.h>

enum { MOST_AXES = 32 };

static bool is_function(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_sort:
    case JX_PRIM_stablehlo_sort:
    case JX_PRIM_reduce:
    case JX_PRIM_argmax:
    case JX_PRIM_argmin:
    case JX_PRIM_top_k:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
    case JX_PRIM_cumlogsumexp:
    case JX_PRIM_cholesky:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_lu:
    case JX_PRIM_qr:
    case JX_PRIM_eigh:
    case JX_PRIM_svd:
    case JX_PRIM_householder_product:
    case JX_PRIM_tridiagonal_solve: return true;
    default: return false;
    }
}

static void mix_text(uint64_t *h, const char *text)
{
    *h = jx_hash_mix(*h, text ? jx_hash_bytes(text, strlen(text)) : 1);
}

static bool mix_body(const jx_field_program *program, const jx_jaxpr *of,
                     int depth, uint64_t *h);

/* What a parameter says; false of what is no plain value. */
static bool mix_value(const jx_field_program *program, const jx_value *v,
                      int depth, uint64_t *h)
{
    jx_assignment sizes = {program->nbindings, program->bindings};
    int64_t size = 0;
    uint64_t bits;

    if (v->rule || v->definition || v->array || v->shown || v->call ||
        v->aval || v->unreduced || v->reduced || depth > 8 ||
        (v->dim && !jx_dim_eval(v->dim, jx_assigned, &sizes, &size)))
        return false;
    if (v->jaxpr && !mix_body(program, v->jaxpr, depth, h))
        return false;
    *h = jx_hash_mix(*h, (uint64_t)v->tag * 4 + v->boolean * 2u + v->open);
    *h = jx_hash_mix(*h, (uint64_t)v->dtype);
    *h = jx_hash_mix(*h, (uint64_t)v->integer);
    memcpy(&bits, &v->real, sizeof bits);
    *h = jx_hash_mix(*h, bits);
    *h = jx_hash_mix(*h, (uint64_t)size);
    mix_text(h, v->text);
    mix_text(h, v->detail);
    *h = jx_hash_mix(*h, (uint64_t)v->count);
    for (int i = 0; i < v->count; i++) {
        if (v->keys)
            mix_text(h, v->keys[i]);
        if (v->items && !mix_value(program, v->items[i], depth + 1, h))
            return false;
    }
    return true;
}

static bool mix_params(const jx_field_program *program, const jx_eqn *eqn,
                       int depth, uint64_t *h)
{
    for (int i = 0; i < eqn->nparams; i++) {
        mix_text(h, eqn->params[i].name);
        if (!mix_value(program, eqn->params[i].value, depth, h))
            return false;
    }
    return true;
}

static bool mix_atom(jx_atom atom, uint64_t *h)
{
    const jx_literal *literal = atom.literal;

    *h = jx_hash_mix(*h, atom.var ? (uint64_t)atom.var->id + 1 : 0);
    if (atom.var)
        return true;
    *h = jx_hash_mix(*h, (uint64_t)literal->aval->dtype);
    *h = jx_hash_mix(*h, jx_hash_bytes(literal->bits, sizeof literal->bits));
    return !literal->dim && !literal->array && !literal->wide;
}

/* What is computed of scalars: variables go by their numbers. */
static bool mix_body(const jx_field_program *program, const jx_jaxpr *of,
                     int depth, uint64_t *h)
{
    if (of->nconsts)
        return false;
    for (int i = 0; i < of->neqns; i++) {
        const jx_eqn *eqn = &of->eqns[i];
        *h = jx_hash_mix(*h, (uint64_t)eqn->prim->id);
        if (!mix_params(program, eqn, depth + 1, h))
            return false;
        for (int k = 0; k < eqn->nins; k++)
            if (!mix_atom(eqn->ins[k], h))
                return false;
        for (int k = 0; k < eqn->nouts; k++)
            *h = jx_hash_mix(*h, (uint64_t)eqn->outs[k]->id);
    }
    for (int i = 0; i < of->nouts; i++)
        if (!mix_atom(of->outs[i], h))
            return false;
    return true;
}

/* ---- lines */

/* The elements of an array along some of its axes; of all of them if there is
 * only one line. */
typedef struct lines {
    bool along[MOST_AXES];
    int64_t count;
    uint64_t *of;   /* what has gone into each, */
    jx_cell *needs; /* and what it depends on */
} lines;

/* Which axes an equation goes along; false: it takes all at once. */
static bool goes_along(const jx_eqn *eqn, int rank, bool *along)
{
    int64_t one = rank - 1;
    jx_ints axes = {1, &one};

    switch (eqn->prim->id) {
    case JX_PRIM_sort: one = ((const jx_p_sort *)eqn->typed)->dimension; break;
    case JX_PRIM_stablehlo_sort:
        one = ((const jx_p_stablehlo_sort *)eqn->typed)->dimension;
        break;
    case JX_PRIM_reduce:
        axes = ((const jx_p_reduce *)eqn->typed)->dimensions;
        break;
    case JX_PRIM_argmax:
    case JX_PRIM_argmin:
        axes = ((const jx_p_arg_reduce *)eqn->typed)->axes;
        break;
    default: return false;
    }
    for (int i = 0; i < axes.count; i++) {
        if (axes.at[i] < 0 || axes.at[i] >= rank)
            return false;
        along[axes.at[i]] = true;
    }
    return true;
}

/* The line of element i of an array of that shape, and its place in it. */
static int64_t line_of(const lines *by, const jx_field_value *x, int64_t i,
                       int64_t *place)
{
    int64_t line = 0, before = 1, places = 1;

    *place = 0;
    for (int a = x->rank - 1; a >= 0; a--) {
        int64_t at = i % x->shape[a];
        i /= x->shape[a];
        *(by->along[a] ? place : &line) +=
            at * (by->along[a] ? places : before);
        *(by->along[a] ? &places : &before) *= x->shape[a];
    }
    return line;
}

static bool begin(jx_field *f, const jx_eqn *eqn, const jx_field_value *x,
                  uint64_t h, lines *to)
{
    *to = (lines){.count = 1};
    if (x->rank > MOST_AXES)
        return false;
    if (!goes_along(eqn, x->rank, to->along))
        memset(to->along, true, sizeof to->along);
    for (int a = 0; a < x->rank; a++) {
        if (to->along[a])
            h = jx_hash_mix(h, (uint64_t)x->shape[a]);
        else
            to->count *= x->shape[a];
    }
    to->of = JX_NEW_ARRAY(f->room, to->count + 1, uint64_t);
    to->needs = JX_NEW_ARRAY(f->room, to->count + 1, jx_cell);
    f->spent |= !to->of || !to->needs;
    for (int64_t i = 0; !f->spent && i < to->count; i++) {
        to->of[i] = h;
        to->needs[i] = jx_cell_bool(false);
    }
    return !f->spent;
}

static void mix_cell(jx_field *f, const jx_cell *cell, int64_t line, lines *to)
{
    jx_cell whole = jx_cell_collapsed(f, cell);

    if (cell->kind) /* infinite */
        whole.v = cell->signs;
    to->of[line] = jx_hash_mix(to->of[line], (uint64_t)cell->kind);
    f->degree = fmax(f->degree, jx_cell_degree(f, cell));
    to->of[line] = jx_hash_mix(to->of[line], whole.v);
    to->needs[line] = jx_cell_depends(f, to->needs[line], cell);
}

/* All that an operand holds: what has another shape goes into each line.
 * False of what is not known. */
static bool mix_operand(jx_field *f, const jx_field_value *of,
                        const jx_field_value *first, lines *to)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;
    bool cut = of->rank == first->rank &&
               memcmp(of->shape, first->shape,
                      (size_t)of->rank * sizeof *of->shape) == 0;
    int64_t shared = cut ? 1 : to->count, place;

    if (of->unknown || (!of->bits && !of->cells && !of->plane))
        return false;
    for (int64_t k = 0; k < to->count; k++) {
        to->of[k] = jx_hash_mix(to->of[k], (uint64_t)of->dtype);
        for (int a = 0; a < of->rank && !cut; a++)
            to->of[k] = jx_hash_mix(to->of[k], (uint64_t)of->shape[a]);
        if (of->on)
            to->needs[k] = jx_cell_depends(f, to->needs[k], of->on);
    }
    for (int64_t i = 0; i < of->count; i++) {
        jx_cell cell = {0};
        int64_t line = cut ? line_of(to, of, i, &place) : 0;
        if (!of->bits)
            cell = jx_plane_element(of, i);
        if (cell.kind && cell.kind != JX_CELL_INFINITE)
            return false;
        for (int64_t k = line; k < line + shared; k++)
            if (of->bits)
                to->of[k] = jx_hash_mix(
                    to->of[k],
                    jx_hash_bytes((const char *)of->bits + (size_t)i * bytes,
                                  bytes));
            else
                mix_cell(f, &cell, k, to);
    }
    f->work += of->count * shared;
    return !f->spent;
}

/* ---- places of the largest */

/* What a reduction of values and their places computes of two pairs that takes
 * the larger value, and of equal ones the first place: which primitive of
 * which values before, of which the two pairs are the first four. */
static const struct {
    jx_prim_id prim;
    int of[3];
} takes_larger[] = {
    {JX_PRIM_gt, {0, 2, -1}},       {JX_PRIM_ne, {0, 0, -1}},
    {JX_PRIM_or, {4, 5, -1}},       {JX_PRIM_eq, {0, 2, -1}},
    {JX_PRIM_lt, {1, 3, -1}},       {JX_PRIM_and, {7, 8, -1}},
    {JX_PRIM_or, {6, 9, -1}},       {JX_PRIM_select_n, {6, 2, 0}},
    {JX_PRIM_select_n, {10, 3, 1}},
};

enum { STEPS = sizeof takes_larger / sizeof *takes_larger };

static bool is_value(const jx_jaxpr *of, jx_atom atom, int number)
{
    return atom.var && atom.var == (number < 4 ? of->vars[of->nconsts + number]
                                               : of->eqns[number - 4].outs[0]);
}

/* Whether that is what is computed; of the smaller value as well. */
static bool takes_first(const jx_jaxpr *of, bool *larger)
{
    if (of->nconsts || of->nins != 4 || of->neqns != STEPS || of->nouts != 2 ||
        !is_value(of, of->outs[0], 11) || !is_value(of, of->outs[1], 12))
        return false;
    *larger = of->eqns[0].prim->id == JX_PRIM_gt;
    for (int i = 0; i < STEPS; i++) {
        const jx_eqn *eqn = &of->eqns[i];
        if (eqn->prim->id != (i || *larger ? takes_larger[i].prim : JX_PRIM_lt))
            return false;
        for (int k = 0; k < eqn->nins; k++)
            if (k > 2 || !is_value(of, eqn->ins[k], takes_larger[i].of[k]))
                return false;
    }
    return true;
}

static bool is_beyond(const jx_field_value *of, bool larger)
{
    jx_cell cell = {0};

    if (of->count == 1 && !of->bits && !of->unknown)
        cell = jx_plane_element(of, 0);
    return cell.kind == JX_CELL_INFINITE &&
           cell.signs == (larger ? JX_MAY_BE_NEGATIVE : JX_MAY_BE_POSITIVE);
}

/* The places, by lines, of what is reduced so; false: that is not known. */
static bool fill_places(jx_field *f, const jx_eqn *eqn,
                        const jx_field_value *ins, const lines *by,
                        jx_field_value *to)
{
    const jx_p_reduce *p = eqn->typed;
    int64_t each = by->count ? ins[0].count / by->count : 0, place;
    jx_cell_at *all = JX_NEW_ARRAY(f->room, ins[0].count + 1, jx_cell_at);
    bool larger, done = each > 0;

    if (eqn->prim->id != JX_PRIM_reduce || eqn->nins != 4 || !all ||
        each > INT32_MAX || !takes_first(p->jaxpr.jaxpr, &larger) ||
        !is_beyond(&ins[2], larger) || !ins[1].bits ||
        ins[1].count != ins[0].count)
        return false;
    for (int64_t i = 0; i < ins[0].count; i++) {
        jx_cell cell = jx_plane_element(&ins[0], i);
        int64_t line = line_of(by, &ins[0], i, &place);
        if (cell.kind || cell.w)
            return false;
        cell = larger ? cell : jx_cell_neg(f, &cell);
        all[line * each + place] = (jx_cell_at){
            cell.v, (int64_t)jx_element_integer(
                        ins[1].dtype,
                        (const char *)ins[1].bits +
                            (size_t)i * jx_dtype_of(ins[1].dtype)->bytes)};
    }
    for (int64_t i = 0; done && i < by->count; i++) {
        jx_cell cell;
        done = jx_cell_place(f, (int)each, all + i * each, &cell);
        if (done) {
            cell = jx_cell_depends(f, cell, &by->needs[i]);
            jx_plane_put(f, to, i, &cell);
        }
    }
    return done;
}

/* An integer is a number here, of which no more is known than that it is this
 * one (field_integers.c). */
static bool fill(jx_field *f, const jx_field_program *program,
                 const jx_aval *aval, const lines *by, uint64_t number,
                 bool whole, jx_field_value *to)
{
    if (!jx_field_plane(f, program, aval, to))
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        int64_t place = i, line = 0;
        if (!whole && to->count == by->count) {
            line = i;
            place = 0;
        } else if (!whole) {
            line = line_of(by, to, i, &place);
        }
        uint64_t at = jx_ring_mix(
            jx_hash_mix(jx_hash_mix(by->of[line], number), (uint64_t)place));
        jx_cell cell = {.signs = JX_MAY_BE_ANY,
                        .v = at % f->ring.p,
                        .e = jx_ring_mix(at) % f->ring.q,
                        .over = 1,
                        .about = NAN,
                        .needs = by->needs[line].needs};
        cell.base = cell.v;
        jx_plane_put(f, to, i, &cell);
    }
    f->opaque += to->count;
    return !f->spent;
}

bool jx_field_opaque(jx_field *f, const jx_field_program *program,
                     const jx_eqn *eqn, const jx_field_value *ins,
                     jx_field_value *outs)
{
    uint64_t h = jx_ring_mix(f->salt ^ (uint64_t)eqn->prim->id);
    bool unused[MOST_AXES] = {false};
    lines by;

    if (!is_function(eqn->prim->id) || !eqn->nins ||
        !mix_params(program, eqn, 0, &h) || !begin(f, eqn, &ins[0], h, &by))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!mix_operand(f, &ins[i], &ins[0], &by))
            return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        if (jx_dtype_is_float(aval->dtype) ||
            jx_dtype_is_integer(aval->dtype)) {
            if (!fill(f, program, aval, &by, (uint64_t)i,
                      !goes_along(eqn, ins[0].rank, unused), &outs[i]))
                return false;
            if (i == 1)
                fill_places(f, eqn, ins, &by, &outs[i]);
            continue;
        }
        if (!jx_field_like(f, program, aval, false, &outs[i]))
            return false;
        jx_field_lose(f, &outs[i], jx_eqn_name(eqn));
    }
    return !f->spent;
}
