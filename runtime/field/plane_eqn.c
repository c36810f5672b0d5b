/* plane_eqn.c - see plane.h: arithmetic, choices and moves that need no
 * look at elements. */
#include "frontend/ir/params.h"
#include "runtime/field/plane.h"

#include <math.h>
#include <string.h>

/* An operand: a plane of as many elements as the result, or of one for all. */
typedef struct side {
    jx_field_value of;
    const jx_plane *p; /* its own */
    int64_t step;
} side;

static bool take_side(jx_field *f, const jx_field_value *of, int64_t count,
                      side *to)
{
    if ((!of->cells && !of->plane) || (of->count != count && of->count != 1) ||
        !jx_plane_of(f, of, &to->of))
        return false;
    to->p = to->of.plane;
    to->step = of->count == count && !of->splat && count != 1 ? 1 : 0;
    return true;
}

static bool begin(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                  bool splat, jx_field_value *to)
{
    if (!jx_field_shape(f, program, eqn->outs[0]->aval, to))
        return false;
    to->splat = splat && to->count > 1;
    to->plane = jx_plane_new(f, jx_field_stored(to));
    return to->plane != NULL;
}

static bool join_needs(jx_field *f, const side *a, const side *b, int64_t n,
                       jx_plane *to)
{
    if (!a->p->needs && !b->p->needs)
        return true;
    if (!jx_plane_may_need(f, to, n))
        return false;
    for (int64_t i = 0; i < n; i++)
        to->needs[i] =
            jx_keys_join(f, a->p->needs ? a->p->needs[i * a->step] : NULL,
                         b->p->needs ? b->p->needs[i * b->step] : NULL);
    return !f->spent;
}

/* ---- sums and products of two */

static void bound_sum(const jx_plane *a, const jx_plane *b, jx_plane *to)
{
    jx_plane_bounds(to, a);
    jx_plane_bounds(to, b);
    to->height += 1;
}

static void bound_product(const jx_plane *a, const jx_plane *b, jx_plane *to)
{
    to->over = a->over + b->over;
    to->under = fmaxf(a->under, b->under);
    to->height = a->height + b->height;
    to->parts = a->parts + b->parts;
}

/* What signs give, by the signs of both. */
typedef struct sign_table {
    uint8_t of[8][8];
} sign_table;

static sign_table signs_of(bool product)
{
    sign_table t = {{{0}}};

    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            for (int i = -1; i <= 1; i++)
                for (int k = -1; k <= 1; k++)
                    if (a & 1 << (i + 1) && b & 1 << (k + 1))
                        t.of[a][b] |= product ? (uint8_t)(1 << (i * k + 1))
                                      : i == -k && i
                                          ? JX_MAY_BE_ANY
                                          : (uint8_t)(1 << ((i ? i : k) + 1));
    return t;
}

/* By cells: what is no number, or none of F_p. */
static void add_or_multiply(jx_field *f, bool product, int64_t i, const side *a,
                            const side *b, jx_field_value *out)
{
    jx_cell x = jx_plane_get(&a->of, i * a->step),
            y = jx_plane_get(&b->of, i * b->step);
    jx_cell made = product ? jx_cell_mul(f, &x, &y) : jx_cell_add(f, &x, &y);
    jx_plane *p = out->plane;

    p->v[i] = made.v;
    if ((made.w || p->w) && jx_plane_may_extend(f, p, jx_field_stored(out))) {
        p->w[i] = made.w;
        p->root[i] = made.root;
    }
    if (p->e)
        p->e[i] = made.e;
    p->state[i] = JX_STATE(made.kind, made.signs);
}

static bool is_plain(const side *of, int64_t i)
{
    return of->p->state[i] <= JX_STATE_SIGNS && (!of->p->w || !of->p->w[i]);
}

static bool join_numbers(jx_field *f, jx_field_program *program,
                         const jx_eqn *eqn, bool product,
                         const jx_field_value *ins, jx_field_value *out)
{
    bool single;
    const jx_modulus *by_p = &f->ring.fast_p, *by_q = &f->ring.fast_q;
    sign_table signs = signs_of(product);
    side a, b;

    if (!jx_field_shape(f, program, eqn->outs[0]->aval, out) ||
        !take_side(f, &ins[0], out->count, &a) ||
        !take_side(f, &ins[1], out->count, &b))
        return false;
    single = !a.step && !b.step;
    if (!begin(f, program, eqn, single, out))
        return false;
    jx_plane *to = out->plane;
    int64_t n = jx_field_stored(out);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i * a.step, l = i * b.step;
        uint8_t s = a.p->state[k], t = b.p->state[l];
        if (!is_plain(&a, k) || !is_plain(&b, l)) {
            add_or_multiply(f, product, i, &a, &b, out);
            continue;
        }
        to->v[i] = product ? jx_mod_fast(a.p->v[k], b.p->v[l], by_p)
                           : jx_mod_add(a.p->v[k], b.p->v[l], by_p->m);
        to->state[i] = to->v[i] ? signs.of[s][t] : JX_MAY_BE_ZERO;
        if (product && a.p->v[k] == b.p->v[l])
            to->state[i] &= (uint8_t)~JX_MAY_BE_NEGATIVE;
    }
    for (int64_t i = 0; to->e && i < n; i++)
        if (is_plain(&a, i * a.step) && is_plain(&b, i * b.step))
            to->e[i] = product ? jx_mod_fast(a.p->e[i * a.step],
                                             b.p->e[i * b.step], by_q)
                               : jx_mod_add(a.p->e[i * a.step],
                                            b.p->e[i * b.step], by_q->m);
    (product ? bound_product : bound_sum)(a.p, b.p, to);
    f->work += n;
    return join_needs(f, &a, &b, n, to);
}

static jx_field_value negative(jx_field *f, const jx_field_value *of)
{
    jx_field_value to = *of;
    int64_t n = jx_field_stored(of);
    const jx_plane *p;
    jx_plane *made;

    if (!jx_plane_of(f, of, &to) || !(made = jx_plane_new(f, n)))
        return (jx_field_value){0};
    p = to.plane;
    for (int64_t i = 0; i < n; i++) {
        uint8_t s = p->state[i] & JX_STATE_SIGNS;
        made->v[i] = p->v[i] ? f->ring.p - p->v[i] : 0;
        made->state[i] =
            JX_STATE(jx_state_kind(p->state[i]),
                     (s & JX_MAY_BE_ZERO) |
                         (s & JX_MAY_BE_NEGATIVE ? JX_MAY_BE_POSITIVE : 0) |
                         (s & JX_MAY_BE_POSITIVE ? JX_MAY_BE_NEGATIVE : 0));
    }
    for (int64_t i = 0; made->e && i < n; i++)
        made->e[i] = p->e[i] ? f->ring.q - p->e[i] : 0;
    if (p->w && !jx_plane_may_extend(f, made, n))
        return (jx_field_value){0};
    for (int64_t i = 0; made->w && i < n; i++) {
        made->w[i] = p->w[i] ? f->ring.p - p->w[i] : 0;
        made->root[i] = p->root[i];
    }
    made->needs = p->needs;
    jx_plane_bounds(made, p);
    to.plane = made;
    f->work += n;
    return to;
}

/* By a number that is the same for all. */
static bool divide(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *out)
{
    jx_field_value both[2] = {ins[0], ins[1]};
    jx_cell one = jx_cell_integer(f, 1), *by = JX_NEW(f->ctx->arena, jx_cell);

    if (jx_field_stored(&ins[1]) != 1 || !by)
        return false;
    *by = jx_plane_get(&ins[1], 0);
    if (by->kind || jx_cell_is_zero(by))
        return false;
    *by = jx_cell_div(f, &one, by);
    both[1].plane = NULL;
    both[1].cells = by;
    return join_numbers(f, program, eqn, true, both, out);
}

static bool square(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *in, jx_field_value *out)
{
    jx_field_value both[2] = {*in, *in};

    return join_numbers(f, program, eqn, true, both, out);
}

/* ---- choices */

static void note_masked(jx_field *f, const jx_eqn *eqn, uint8_t taken,
                        uint8_t left)
{
    if (!f->masked && jx_state_kind(left) == JX_CELL_NAN &&
        jx_state_kind(taken) == JX_CELL_NUMBER)
        f->masked = eqn;
}

/* By what is known; false if something is not. */
static bool choose(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *out)
{
    side which, each[2];

    if (ins[0].dtype != JX_BOOL ||
        !jx_field_shape(f, program, eqn->outs[0]->aval, out) ||
        !take_side(f, &ins[0], out->count, &which))
        return false;
    for (int64_t i = 0; i < jx_field_stored(&ins[0]); i++)
        if (which.p->state[i] > JX_STATE_SIGNS ||
            which.p->state[i] == JX_STATE_BLENDED)
            return false;
    if (which.p->needs || !take_side(f, &ins[1], out->count, &each[0]) ||
        !take_side(f, &ins[2], out->count, &each[1]) ||
        !begin(f, program, eqn, !which.step && !each[0].step && !each[1].step,
               out))
        return false;
    jx_plane *to = out->plane;
    int64_t n = jx_field_stored(out);
    if (((each[0].p->needs || each[1].p->needs) &&
         !jx_plane_may_need(f, to, n)) ||
        ((each[0].p->w || each[1].p->w) && !jx_plane_may_extend(f, to, n)))
        return false;
    bool taken[2] = {false, false};
    for (int64_t i = 0; i < n; i++) {
        int k = which.p->v[i * which.step] != 0;
        const jx_plane *from = each[k].p;
        int64_t at = i * each[k].step;
        to->v[i] = from->v[at];
        to->state[i] = from->state[at];
        if (from->w) {
            to->w[i] = from->w[at];
            to->root[i] = from->root[at];
        }
        if (to->e)
            to->e[i] = from->e[at];
        if (from->needs)
            to->needs[i] = from->needs[at];
        note_masked(f, eqn, to->state[i], each[!k].p->state[i * each[!k].step]);
        taken[k] = true;
    }
    for (int k = 0; k < 2; k++)
        if (taken[k])
            jx_plane_bounds(to, each[k].p);
    f->work += n;
    return true;
}

/* ---- moves that move nothing */

static bool reshapes(jx_prim_id id)
{
    return id == JX_PRIM_reshape || id == JX_PRIM_squeeze ||
           id == JX_PRIM_expand_dims;
}

static bool move(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                 const jx_field_value *ins, jx_field_value *out)
{
    bool single = jx_field_stored(&ins[0]) == 1;

    if ((!ins[0].cells && !ins[0].plane) ||
        !jx_field_shape(f, program, eqn->outs[0]->aval, out) ||
        (!single && (!reshapes(eqn->prim->id) || ins[0].count != out->count)) ||
        !ins[0].count)
        return false;
    out->cells = ins[0].cells;
    out->plane = ins[0].plane;
    out->splat = single && out->count != 1;
    return true;
}

bool jx_plane_eqn(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                  const jx_field_value *ins, jx_field_value *outs)
{
    jx_field_value both[2];
    bool plane = false;

    for (int i = 0; i < eqn->nins; i++)
        plane |= ins[i].plane != NULL;
    if (eqn->nouts != 1 || eqn->nins < 1)
        return false;
    if (jx_prim_rearranges(eqn->prim->id))
        return move(f, program, eqn, ins, &outs[0]);
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_mul:
        return plane && ins[0].dtype != JX_BOOL &&
               join_numbers(f, program, eqn, eqn->prim->id == JX_PRIM_mul, ins,
                            &outs[0]);
    case JX_PRIM_sub:
        if (!plane || ins[0].dtype == JX_BOOL)
            return false;
        both[0] = ins[0];
        both[1] = negative(f, &ins[1]);
        return both[1].plane &&
               join_numbers(f, program, eqn, false, both, &outs[0]);
    case JX_PRIM_neg:
        if (!plane || !jx_field_shape(f, program, eqn->outs[0]->aval, &outs[0]))
            return false;
        outs[0] = negative(f, &ins[0]);
        return outs[0].plane != NULL;
    case JX_PRIM_square:
        return plane && square(f, program, eqn, &ins[0], &outs[0]);
    case JX_PRIM_integer_pow:
        return plane && ((const jx_p_integer_pow *)eqn->typed)->y == 2 &&
               square(f, program, eqn, &ins[0], &outs[0]);
    case JX_PRIM_div: return plane && divide(f, program, eqn, ins, &outs[0]);
    case JX_PRIM_select_n:
        return plane && eqn->nins == 3 &&
               choose(f, program, eqn, ins, &outs[0]);
    default: return plane && jx_plane_sums(f, program, eqn, ins, outs);
    }
}
