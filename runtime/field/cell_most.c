/* cell_most.c - see cell.h: the largest of some numbers.
 *
 * max(max(a, b), c) and max(a, max(b, c)) are one number, whatever a, b and c
 * are: that of the set {a, b, c}.  So a maximum is a random number for each
 * set, and of each that was made its set is remembered.  Nothing else is known
 * of it, but of a set of two: it is what `a > b ? a : b` is. */
#include "runtime/field/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IN_A_SET = 1 << 16 };

typedef struct jx_most {
    uint64_t v;
    const jx_keys *of;
} most;

static bool is_of(const void *kept, const void *key)
{
    return ((const most *)kept)->v == *(const uint64_t *)key;
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The numbers that one is the largest of: itself, if it is no largest one. */
static const jx_keys *set_of(jx_field *f, const uint64_t *v)
{
    const most *known = jx_intern_find(&f->most, jx_ring_mix(*v), v, is_of);

    return known ? known->of : NULL;
}

const jx_keys *jx_cell_set_of(jx_field *f, uint64_t v)
{
    return set_of(f, &v);
}

static void remember(jx_field *f, uint64_t v, const jx_keys *of)
{
    most *to = NULL;

    if (set_of(f, &v))
        return;
    to = JX_NEW(f->ctx->arena, most);
    if (!to || !jx_intern_add(&f->most, jx_ring_mix(v), to)) {
        f->spent = true;
        return;
    }
    *to = (most){v, of};
}

/* All numbers of these, sorted and once each; NULL without memory. */
static const jx_keys *join_all(jx_field *f, int64_t n, const jx_cell *const *of)
{
    int64_t room = 0, kept = 0;
    uint64_t *all;
    jx_keys *to = JX_NEW(f->ctx->arena, jx_keys);

    for (int64_t i = 0; i < n; i++) {
        const jx_keys *set = set_of(f, &of[i]->v);
        room += set ? set->count : 1;
    }
    all = room > MOST_IN_A_SET
              ? NULL
              : JX_NEW_ARRAY(f->ctx->arena, room + 1, uint64_t);
    if (!to || !all)
        return NULL;
    room = 0;
    for (int64_t i = 0; i < n; i++) {
        const jx_keys *set = set_of(f, &of[i]->v);
        for (int k = 0; k < (set ? set->count : 1); k++)
            all[room++] = set ? set->at[k] : of[i]->v;
    }
    qsort(all, (size_t)room, sizeof *all, by_size);
    for (int64_t i = 0; i < room; i++)
        if (!kept || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *to = (jx_keys){(int)kept, all};
    return to;
}

static bool same_set(const jx_keys *a, const jx_keys *b)
{
    return a->count == b->count &&
           !memcmp(a->at, b->at, (size_t)a->count * sizeof *a->at);
}

static jx_cell of_set(jx_field *f, const jx_keys *set, int64_t n,
                      const jx_cell *const *of)
{
    uint64_t h = jx_ring_mix(f->salt ^ JX_KIND_MOST);
    uint8_t any = 0, all = JX_MAY_BE_ANY;
    bool positive = false; /* one of them is */
    jx_cell to = {.about = NAN, .over = 1};

    for (int i = 0; i < set->count; i++)
        h = jx_hash_mix(h, set->at[i]);
    h = jx_ring_mix(h);
    to.v = to.base = h % f->ring.p;
    to.e = jx_ring_mix(h) % f->ring.q;
    for (int64_t i = 0; i < n; i++) {
        f->degree = fmax(f->degree, jx_cell_degree(f, of[i]));
        any |= of[i]->signs;
        all &= of[i]->signs;
        positive |= of[i]->signs == JX_MAY_BE_POSITIVE;
    }
    to.signs = positive ? JX_MAY_BE_POSITIVE
                        : (uint8_t)((any & ~JX_MAY_BE_NEGATIVE) |
                                    (all & JX_MAY_BE_NEGATIVE));
    f->opaque++;
    return to;
}

/* Of two, what a comparison selects: b + h (a - b). */
static jx_cell larger(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell first = jx_cell_compare(f, JX_IS_GT, a, b), to;

    if (first.kind || !first.blended)
        return jx_cell_select(f, &first, b, a);
    first = jx_cell_number(f, &first);
    to = jx_cell_sub(f, a, b);
    to = jx_cell_mul(f, &first, &to);
    return jx_cell_add(f, &to, b);
}

/* `a > b ? a : b` and `b > a ? b : a` are one number, and not one expression:
 * which of them a maximum is does not depend on the order in which it was asked
 * for.  Zero comes last, as in x (x > 0). */
static bool comes_second(const jx_cell *a, const jx_cell *b)
{
    return jx_cell_is_zero(a) || (!jx_cell_is_zero(b) && a->v < b->v);
}

/* What is the largest for sure: one of two whose difference has a sign. */
static const jx_cell *sure(jx_field *f, const jx_cell *a, const jx_cell *b)
{
    jx_cell d = jx_cell_sub(f, a, b);

    return !(d.signs & JX_MAY_BE_NEGATIVE)   ? a
           : !(d.signs & JX_MAY_BE_POSITIVE) ? b
                                             : NULL;
}

static jx_cell largest_of(jx_field *f, int64_t n, const jx_cell *const *of)
{
    const jx_cell *one = n == 2 ? sure(f, of[0], of[1]) : NULL;
    const jx_keys *set;
    jx_cell to;

    if (n == 1 || one)
        return n == 1 ? *of[0] : *one;
    if (!(set = join_all(f, n, of)))
        return jx_cell_unknown(f, "a maximum of too many");
    for (int64_t i = 0; i < n; i++) {
        const jx_keys *its = set_of(f, &of[i]->v);
        if (its ? same_set(its, set) : set->count == 1)
            return *of[i];
    }
    /* Two that are no largest ones themselves: a largest one has a set
     * of two already. */
    if (set->count == 2) {
        const jx_cell *a = of[0], *b = of[0];
        for (int64_t i = 1; i < n; i++)
            b = jx_cell_same(a, of[i]) ? b : of[i];
        to = comes_second(a, b) ? larger(f, b, a) : larger(f, a, b);
    } else {
        to = of_set(f, set, n, of);
    }
    if (to.kind == JX_CELL_NUMBER)
        remember(f, to.v, set);
    return to;
}

jx_cell jx_cell_most(jx_field *f, bool largest, int64_t n,
                     const jx_cell *const *of)
{
    const jx_cell **numbers =
        JX_NEW_ARRAY(f->ctx->arena, n + 1, const jx_cell *);
    jx_cell *turned =
                largest ? NULL : JX_NEW_ARRAY(f->ctx->arena, n + 1, jx_cell),
            to;
    int64_t kept = 0;

    if (!numbers || (!largest && !turned)) {
        f->spent = true;
        return jx_cell_nan();
    }
    to = (jx_cell){.kind = JX_CELL_INFINITE,
                   .signs = JX_MAY_BE_NEGATIVE,
                   .about = -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        const jx_cell *x = of[i];
        if (!largest) {
            turned[i] = jx_cell_neg(f, x);
            x = &turned[i];
        }
        if (x->kind == JX_CELL_UNKNOWN || x->kind == JX_CELL_NAN)
            return *x;
        if (x->kind == JX_CELL_NUMBER)
            numbers[kept++] = x;
        else if (x->signs == JX_MAY_BE_POSITIVE)
            to = *x;
    }
    if (kept && to.signs != JX_MAY_BE_POSITIVE)
        to = largest_of(f, kept, numbers);
    for (int64_t i = 0; i < kept; i++)
        to = jx_cell_depends(f, to, numbers[i]);
    return largest ? to : jx_cell_neg(f, &to);
}

/* ---- comparisons that say which is larger */

typedef struct compared {
    uint64_t choice, more, less;
} compared;

static bool is_by(const void *kept, const void *key)
{
    return ((const compared *)kept)->choice == *(const uint64_t *)key;
}

/* The first that is noted stays: of one choice that is all the same. */
static void keep(jx_field *f, jx_intern *table, compared what)
{
    compared *to;

    if (jx_intern_find(table, jx_ring_mix(what.choice), &what.choice, is_by))
        return;
    to = JX_NEW(f->ctx->arena, compared);
    if (!to || !jx_intern_add(table, jx_ring_mix(what.choice), to)) {
        f->spent = true;
        return;
    }
    *to = what;
}

/* Whether one is the largest of more numbers than the other, and of all those;
 * or of some of which the other is one. */
static bool holds_all(jx_field *f, uint64_t more, uint64_t less)
{
    const jx_keys *set = set_of(f, &more), *part = set_of(f, &less);

    for (int i = 0; part && i < part->count; i++)
        if (!jx_keys_hold(set, part->at[i]))
            return false;
    return part ? set && set->count > part->count : jx_keys_hold(set, less);
}

void jx_cell_note_meeting(jx_field *f, const jx_cell *choice, const jx_cell *a,
                          const jx_cell *b)
{
    /* the smallest of some is the largest of them turned round */
    const jx_cell less[] = {jx_cell_neg(f, a), jx_cell_neg(f, b)};
    const uint64_t pairs[][2] = {{a->v, b->v},
                                 {b->v, a->v},
                                 {less[0].v, less[1].v},
                                 {less[1].v, less[0].v}};

    for (int i = 0; i < 4; i++)
        if (holds_all(f, pairs[i][0], pairs[i][1]))
            keep(f, &f->met, (compared){choice->v, pairs[i][0], pairs[i][1]});
}

bool jx_cell_meets(jx_field *f, const jx_cell *choice, uint64_t *more,
                   uint64_t *less)
{
    const compared *by =
        jx_intern_find(&f->met, jx_ring_mix(choice->v), &choice->v, is_by);

    if (!by)
        return false;
    *more = by->more;
    *less = by->less;
    return true;
}

bool jx_cell_one_holds(jx_field *f, int64_t n, uint64_t *choices)
{
    const jx_keys *set = NULL;
    int64_t count = 0;
    uint64_t of = 0;

    for (int64_t i = 0; i < n; i++) {
        const compared *by = jx_intern_find(&f->met, jx_ring_mix(choices[i]),
                                            &choices[i], is_by);
        if (!by || (i && by->more != of))
            return false;
        of = by->more;
        choices[i] = by->less;
    }
    set = n ? set_of(f, &of) : NULL;
    qsort(choices, (size_t)n, sizeof *choices, by_size);
    for (int64_t i = 0; i < n; i++) {
        if (!jx_keys_hold(set, choices[i]))
            return false;
        count += !i || choices[i] != choices[i - 1];
    }
    return set && count == set->count;
}

void jx_cell_note_order(jx_field *f, const jx_cell *choice, const jx_cell *more,
                        const jx_cell *less)
{
    keep(f, &f->compared, (compared){choice->v, more->v, less->v});
}

bool jx_cell_selects_most(jx_field *f, const jx_cell *choice, const jx_cell *no,
                          const jx_cell *yes, jx_cell *to)
{
    const compared *by =
        jx_intern_find(&f->compared, jx_ring_mix(choice->v), &choice->v, is_by);
    const jx_cell *both[] = {no, yes};

    if (!by || no->w || yes->w ||
        !((yes->v == by->more && no->v == by->less) ||
          (yes->v == by->less && no->v == by->more)))
        return false;
    *to = jx_cell_most(f, yes->v == by->more, 2, both);
    *to = jx_cell_depends(f, *to, choice);
    return true;
}
