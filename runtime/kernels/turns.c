/* turns.c - see turns.h. */
#include "runtime/turns.h"

#include "frontend/base/assert.h"
#include "runtime/badness.h"

#include <math.h>
#include <string.h>

enum { BESIDE = 8 }; /* turns of a loop that made few */

/* The number of the variable among so many from `first` on; -1: it
 * is none of them. */
static int place_of(const jx_jaxpr *jaxpr, int first, int count,
                    const jx_var *var)
{
    for (int i = 0; var && i < count; i++)
        if (jaxpr->vars[jaxpr->nconsts + first + i] == var)
            return i;
    return -1;
}

/* The equation that gives a variable, or NULL. */
static const jx_eqn *eqn_of(const jx_jaxpr *jaxpr, const jx_var *var)
{
    for (int i = 0; var && i < jaxpr->neqns; i++)
        if (jaxpr->eqns[i].nouts == 1 && jaxpr->eqns[i].outs[0] == var)
            return &jaxpr->eqns[i];
    return NULL;
}

/* What it is before it was converted. */
static jx_atom unconverted(const jx_jaxpr *jaxpr, jx_atom atom)
{
    const jx_eqn *eqn = eqn_of(jaxpr, atom.var);

    for (; eqn && eqn->prim->id == JX_PRIM_convert_element_type;
         eqn = eqn_of(jaxpr, atom.var))
        atom = eqn->ins[0];
    return atom;
}

/* Whether no turn changes it. */
static bool is_constant(const jx_p_while *w, int count, jx_atom given)
{
    const jx_jaxpr *body = w->body_jaxpr.jaxpr;
    const jx_atom atom = unconverted(body, given);
    const int first = (int)w->body_nconsts;
    int carried = place_of(body, first, count, atom.var);

    return atom.literal || place_of(body, 0, first, atom.var) >= 0 ||
           (carried >= 0 && body->outs[carried].var == atom.var);
}

/* Whether what is carried grows by what no turn changes, or is an integer. */
static bool is_counter(const jx_p_while *w, int carried, int count)
{
    const jx_jaxpr *body = w->body_jaxpr.jaxpr;
    const int first = (int)w->body_nconsts;
    const jx_var *next = unconverted(body, body->outs[carried]).var;
    const jx_eqn *eqn = eqn_of(body, next);

    JX_ASSERT(carried >= 0 && carried < count);
    if (jx_dtype_is_integer(
            body->vars[body->nconsts + first + carried]->aval->dtype) ||
        place_of(body, first, count, next) == carried)
        return true;
    if (!eqn || (eqn->prim->id != JX_PRIM_add && eqn->prim->id != JX_PRIM_sub))
        return false;
    for (int k = 0; k < 2; k++)
        if (place_of(body, first, count, unconverted(body, eqn->ins[k]).var) ==
                carried &&
            is_constant(w, count, eqn->ins[1 - k]))
            return true;
    return false;
}

static bool fits(const jx_closed *part, int64_t nconsts, int count, int nouts)
{
    return nconsts >= 0 && part->jaxpr->nins == nconsts + count &&
           part->jaxpr->nouts == nouts;
}

bool jx_turns_is_search(const jx_eqn *eqn)
{
    const jx_p_while *w = eqn->typed;
    const int count = eqn->nouts;

    JX_ASSERT(eqn->prim->id == JX_PRIM_while);
    if (!w || !fits(&w->cond_jaxpr, w->cond_nconsts, count, 1) ||
        !fits(&w->body_jaxpr, w->body_nconsts, count, count))
        return true;
    const jx_jaxpr *cond = w->cond_jaxpr.jaxpr;
    const int first = (int)w->cond_nconsts;
    for (int i = 0; i < cond->neqns; i++)
        for (int k = 0; k < cond->eqns[i].nins; k++) {
            int carried =
                place_of(cond, first, count, cond->eqns[i].ins[k].var);
            if (carried >= 0 && !is_counter(w, carried, count))
                return true;
        }
    return place_of(cond, first, count, cond->outs[0].var) >= 0;
}

static size_t bytes_of(const jx_view *v)
{
    return (size_t)v->count * (size_t)jx_dtype_of(v->dtype)->bytes;
}

size_t jx_turns_scratch(const jx_turning_loop *loop, int count,
                        const jx_slot *carry)
{
    size_t sum = 0;

    for (int i = 0; loop->turns && i < count; i++)
        sum += (size_t)jx_slot_count(&carry[i]) *
               (size_t)jx_dtype_of(carry[i].dtype)->bytes;
    return 2 * sum;
}

/* Whether it is one of those that may go on. */
static bool is_asked(const jx_turning_loop *loop)
{
    return loop->is_search || loop->turns->which == JX_TURN_OUTERMOST;
}

int64_t jx_turns_begin(const jx_turning_loop *loop)
{
    if (!loop->turns || !is_asked(loop))
        return 0;
    loop->turns->nested |= loop->turns->within > 0;
    loop->turns->within++;
    return ++loop->turns->begun;
}

bool jx_turns_cut(const jx_turning_loop *loop)
{
    if (loop->turns && is_asked(loop))
        loop->turns->within--;
    return false;
}

static char *save(int count, const jx_view *carry, char *to)
{
    for (int i = 0; i < count; i++) {
        size_t bytes = bytes_of(&carry[i]);
        JX_ASSERT(carry[i].dense);
        memcpy(to, carry[i].data, bytes);
        to += bytes;
    }
    return to;
}

static bool is_number(jx_dtype dtype)
{
    return dtype == JX_F64 || dtype == JX_C128;
}

/* What is no number goes back to what it was. */
static void restore_others(int count, const jx_view *carry, const char *from)
{
    for (int i = 0; i < count; i++) {
        if (!jx_dtype_is_inexact(carry[i].dtype))
            memcpy(carry[i].data, from, bytes_of(&carry[i]));
        from += bytes_of(&carry[i]);
    }
}

/* Whether no row has lost any: what most turns show in one look. */
static bool are_finite(int count, const jx_view *carry)
{
    for (int i = 0; i < count; i++)
        if (is_number(carry[i].dtype) &&
            !jx_finite_at_sight(carry[i].dtype, carry[i].data, carry[i].count))
            return false;
    return true;
}

/* Whether a row has lost a number that it had. */
static bool has_lost(int count, const jx_view *carry, int64_t row, int64_t rows,
                     const char *from)
{
    for (int i = 0; i < count; i++) {
        size_t part = bytes_of(&carry[i]) / (size_t)rows,
               at = (size_t)row * part;
        const double *before = (const void *)(from + at);
        const double *now = (const void *)(carry[i].data + at);
        for (size_t k = 0; is_number(carry[i].dtype) && k < part / sizeof *now;
             k++)
            if (!isfinite(now[k]) && isfinite(before[k]))
                return true;
        from += bytes_of(&carry[i]);
    }
    return false;
}

static void restore_row(int count, const jx_view *carry, int64_t row,
                        int64_t rows, const char *from)
{
    for (int i = 0; i < count; i++) {
        size_t part = bytes_of(&carry[i]) / (size_t)rows,
               at = (size_t)row * part;
        memcpy(carry[i].data + at, from + at, part);
        from += bytes_of(&carry[i]);
    }
}

/* One turn more; *left: rows that go on after it. */
static bool turn(jx_run *run, const jx_turning_loop *loop, const jx_view *going,
                 int count, const jx_view *carry, char *last, int64_t *left)
{
    save(count, carry, last);
    if (!jx_run_block(run, loop->body))
        return false;
    bool clean = are_finite(count, carry);
    *left = 0;
    for (int64_t row = 0; row < loop->rows; row++) {
        if (going && !going->data[row])
            continue;
        if (clean || !has_lost(count, carry, row, loop->rows, last)) {
            ++*left;
            continue;
        }
        restore_row(count, carry, row, loop->rows, last);
        if (going)
            going->data[row] = 0;
    }
    return true;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Each number by at most that part of itself. */
static void nudge(uint64_t seed, double part, int count, const jx_view *carry)
{
    for (int i = 0; i < count; i++) {
        double *at = (void *)carry[i].data;
        for (size_t k = 0;
             is_number(carry[i].dtype) && k < bytes_of(&carry[i]) / sizeof *at;
             k++)
            at[k] *=
                1 + part * ((double)(next_random(&seed) >> 11) * 0x1p-52 - 1);
    }
}

static bool go_on(jx_run *run, const jx_turning_loop *loop, int64_t more,
                  const jx_view *going, int count, const jx_view *carry,
                  char *at_end)
{
    char *last = save(count, carry, at_end);
    int64_t rows = loop->rows, left = rows;
    jx_turns *turns = loop->turns;

    JX_ASSERT(!going || going->count == rows);
    if (turns->nudge)
        nudge(turns->nudge, turns->part, count, carry);
    if (going)
        memset(going->data, 1, (size_t)rows);
    for (int64_t k = 1; k <= more && left > 0; k++) {
        int64_t before = left;
        if (!turn(run, loop, going, count, carry, last, &left))
            return false;
        if (left < before && k < turns->least)
            turns->least = k;
    }
    restore_others(count, carry, at_end);
    return true;
}

/* Whether it goes on, in which the run no longer is. */
static bool goes_on(const jx_turns *turns, int64_t number)
{
    return turns->which == JX_TURN_INNERMOST_SEARCH ? turns->begun == number
                                                    : turns->within == 0;
}

bool jx_turns_end(jx_run *run, const jx_turning_loop *loop, int64_t number,
                  int64_t made, const jx_view *going, int count,
                  const jx_view *carry, void *scratch)
{
    jx_turns *turns = loop->turns;
    int64_t more;
    bool good;

    if (!turns || !is_asked(loop))
        return true;
    turns->within--;
    if ((turns->times == 0 && !turns->nudge) || made == 0 || loop->rows == 0 ||
        !goes_on(turns, number))
        return true;
    more = turns->times * (made + BESIDE);
    if (turns->most > 0 && more > turns->most)
        more = turns->most;
    more -= turns->fewer;
    turns->within++; /* loops in its turns are in one that goes on */
    good = go_on(run, loop, more, going, count, carry, scratch);
    turns->within--;
    return good;
}
