/* cell_places.c - see cell.h: where the largest of some numbers stands.
 *
 * It is one integer, whoever finds it: the least of the places at which numbers
 * stand that are the largest of a set.  So it is a random number for each set
 * of numbers and their places, and of each that was made these are remembered.
 *
 * Devices find it together: each takes its own place if what it has for the
 * largest is the largest of all, else a number that is no place; the least of
 * these is the place in all, once all numbers of the set have one. */
#include "runtime/field/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 1 << 14, FURTHEST = 1 << 30 };

typedef struct place {
    uint64_t v;
    int count;
    const jx_cell_at *at; /* by where they stand */
    bool asked;           /* it is that only if these have the largest of ... */
    uint64_t largest;     /* ... which is this number, ... */
    int64_t none;         /* ... else this one */
} place;

static bool is_of(const void *kept, const void *key)
{
    return ((const place *)kept)->v == *(const uint64_t *)key;
}

static const place *place_of(jx_field *f, const jx_cell *cell)
{
    return cell->kind || cell->w
               ? NULL
               : jx_intern_find(&f->places, jx_ring_mix(cell->v), &cell->v,
                                is_of);
}

static int by_place(const void *left, const void *right)
{
    const jx_cell_at *a = left, *b = right;

    return a->place < b->place   ? -1
           : a->place > b->place ? 1
           : a->v < b->v         ? -1
                                 : a->v > b->v;
}

static jx_cell keep(jx_field *f, place what)
{
    uint64_t h = jx_ring_mix(f->salt ^ JX_KIND_PLACE);
    jx_cell to = {.signs = JX_MAY_BE_ANY, .over = 1, .about = NAN};
    place *kept;

    for (int i = 0; i < what.count; i++)
        h = jx_hash_mix(jx_hash_mix(h, what.at[i].v),
                        (uint64_t)what.at[i].place);
    if (what.asked)
        h = jx_hash_mix(jx_hash_mix(h, what.largest), (uint64_t)what.none);
    h = jx_ring_mix(h);
    to.v = to.base = what.v = h % f->ring.p;
    to.e = jx_ring_mix(h) % f->ring.q;
    f->opaque++;
    if (place_of(f, &to))
        return to;
    kept = JX_NEW(f->ctx->arena, place);
    if (!kept || !jx_intern_add(&f->places, jx_ring_mix(to.v), kept))
        f->spent = true;
    else
        *kept = what;
    return to;
}

/* The places of one and another, or of one that are so much further. */
static bool join(jx_field *f, const place *a, const place *b, int64_t further,
                 place *to)
{
    int count = a->count + (b ? b->count : 0), kept = 0;
    jx_cell_at *all = JX_NEW_ARRAY(f->ctx->arena, count + 1, jx_cell_at);

    f->spent |= !all;
    if (!all || count > MOST_PLACES)
        return false;
    for (int i = 0; i < count; i++) {
        all[i] = i < a->count ? a->at[i] : b->at[i - a->count];
        all[i].place += further;
        if (llabs(all[i].place) > FURTHEST)
            return false;
    }
    qsort(all, (size_t)count, sizeof *all, by_place);
    for (int i = 0; i < count; i++)
        if (!kept || by_place(&all[kept - 1], &all[i]))
            all[kept++] = all[i];
    to->count = kept;
    to->at = all;
    return true;
}

bool jx_cell_place(jx_field *f, int count, const jx_cell_at *of, jx_cell *to)
{
    const place given = {.count = count, .at = of};
    place all = {0};

    if (!join(f, &given, NULL, 0, &all))
        return false;
    *to = keep(f, all);
    return true;
}

bool jx_cell_move_place(jx_field *f, const jx_cell *of, const jx_cell *by,
                        jx_cell *to)
{
    const place *from = place_of(f, of);
    int64_t further = fabs(by->about) <= FURTHEST ? (int64_t)by->about : 0;
    jx_cell exact = jx_cell_integer(f, further);
    place all = {0};

    if (!from || from->asked || by->kind || by->w || isnan(by->about) ||
        exact.v != by->v || !join(f, from, NULL, further, &all))
        return false;
    *to = jx_cell_depends(f, keep(f, all), of);
    return true;
}

/* All numbers that have a place are of the set, and the other way round. */
static bool has_all_of(jx_field *f, const place *of, uint64_t largest)
{
    const jx_keys *set = jx_cell_set_of(f, largest);
    const jx_keys itself = {1, &largest};
    int found = 0;

    set = set ? set : &itself;
    for (int i = 0; i < of->count; i++)
        if (!jx_keys_hold(set, of->at[i].v))
            return false;
    for (int k = 0; k < set->count; k++)
        for (int i = 0; i < of->count; i++)
            if (of->at[i].v == set->at[k]) {
                found++;
                break;
            }
    return found == set->count;
}

bool jx_cell_ask_place(jx_field *f, const jx_cell *which, const jx_cell *no,
                       const jx_cell *yes, jx_cell *to)
{
    const place *from = place_of(f, yes);
    uint64_t more, less;
    jx_cell exact;
    place asked;

    if (!from || from->asked || no->kind || no->w ||
        !(no->about > (double)from->at[from->count - 1].place &&
          no->about <= FURTHEST) ||
        !jx_cell_meets(f, which, &more, &less) || !has_all_of(f, from, less))
        return false;
    asked = *from;
    asked.asked = true;
    asked.largest = more;
    asked.none = (int64_t)no->about;
    exact = jx_cell_integer(f, asked.none);
    if (exact.v != no->v)
        return false;
    *to = jx_cell_depends(f, keep(f, asked), yes);
    *to = jx_cell_depends(f, *to, which);
    return true;
}

bool jx_cell_first_place(jx_field *f, const jx_cell *a, const jx_cell *b,
                         jx_cell *to)
{
    const place *one = place_of(f, a), *other = place_of(f, b);
    place both;

    if (!one || !other || !one->asked || !other->asked ||
        one->largest != other->largest || one->none != other->none)
        return false;
    both = *one;
    if (!join(f, one, other, 0, &both))
        return false;
    both.asked = !has_all_of(f, &both, both.largest);
    *to = jx_cell_depends(f, keep(f, both), a);
    *to = jx_cell_depends(f, *to, b);
    return true;
}
