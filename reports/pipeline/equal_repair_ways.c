/* equal_repair_ways.c - see equal_repair_ways.h. */
#include "reports/pipeline/equal_repair_ways.h"

#include "analyzer/collective.h"
#include "frontend/ir/mesh.h"
#include "frontend/ir/params.h"

#include <string.h>

/* ---- where */

static void add_site(const jx_eqn *eqn, jx_repair_sites *to)
{
    bool known = to->count == JX_REPAIR_SITES;

    for (int s = 0; s < to->count && !known; s++)
        known = eqn->stack && eqn->stack == to->at[s]->stack &&
                eqn->prim == to->at[s]->prim && eqn->typed == to->at[s]->typed;
    if (!known)
        to->at[to->count++] = eqn;
}

/* Of a loop that was written out each by itself. */
void jx_repair_find_each(const jx_program *program, jx_eqn_is *is,
                         jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]) && to->count < JX_REPAIR_SITES)
                to->at[to->count++] = &program->jaxprs[i]->eqns[k];
}

void jx_repair_find_sites(const jx_program *program, jx_eqn_is *is,
                          jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]))
                add_site(&program->jaxprs[i]->eqns[k], to);
}

static bool is_new_line(const jx_repair_sites *lines, const jx_eqn *eqn)
{
    for (int i = 0; i < lines->count; i++)
        if (jx_on_one_line(lines->at[i], eqn))
            return false;
    return lines->count < JX_REPAIR_SITES;
}

/* Of each line that is come to from several places one. */
void jx_repair_find_lines(const jx_program *program, jx_eqn_is *is,
                          jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        const jx_eqn *end = jaxpr->eqns + jaxpr->neqns;
        for (const jx_eqn *eqn = jaxpr->eqns; eqn < end; eqn++) {
            const jx_eqn *other = eqn + 1;
            if (!is(eqn) || !is_new_line(to, eqn))
                continue;
            while (other < end &&
                   (!jx_on_one_line(other, eqn) || jx_written_once(other, eqn)))
                other++;
            if (other < end)
                to->at[to->count++] = eqn;
        }
    }
}

/* The number of a device may be several equations of one place. */
static bool takes_marked(const jx_program *program, const jx_eqn *eqn,
                         const char *made)
{
    const jx_eqn *number = jx_find_eqn(program, jx_numbers_devices);

    if (number && number->stack && number->stack == eqn->stack)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var && made[eqn->ins[i].var->id])
            return true;
    return false;
}

/* What a loop goes on with may say when it ends. */
static bool goes_on(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var == eqn->outs[0])
            return true;
    return false;
}

/* Those that take what is made of the number of a device; those where
 * that number is asked for before what is in bodies. */
void jx_repair_find_numbered_sites(const jx_program *program, jx_eqn_is *is,
                                   jx_repair_sites *to)
{
    to->count = 0;
    for (int body = 0; body < 2; body++)
        for (int i = 0; i < program->njaxprs; i++) {
            const jx_jaxpr *jaxpr = program->jaxprs[i];
            char *made =
                JX_NEW_ARRAY(program->ctx->arena, jaxpr->nvars + 1, char);
            if (!made || jx_mark_device_numbers(jaxpr, made) == (body == 1))
                continue;
            for (int k = 0; k < jaxpr->neqns; k++)
                if (is(&jaxpr->eqns[k]) &&
                    takes_marked(program, &jaxpr->eqns[k], made) &&
                    !(body && goes_on(jaxpr, &jaxpr->eqns[k])))
                    add_site(&jaxpr->eqns[k], to);
        }
}

/* The number of a device, as it is used: StableHLO converts it behind all. */
void jx_repair_find_numbers(const jx_program *program, jx_eqn_is *is,
                            jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            const jx_eqn *eqn = &program->jaxprs[i]->eqns[k], *last = eqn + 1;
            if (!is(eqn))
                continue;
            while (last <
                       program->jaxprs[i]->eqns + program->jaxprs[i]->neqns &&
                   last->stack == eqn->stack && eqn->stack &&
                   jx_makes_integers(last))
                last++;
            add_site(last - 1, to);
        }
}

/* Whether what an equation makes is moved, reduced or given away: what is done
 * element by element with it goes on. */
static bool is_taken(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    const jx_var *made = eqn->outs[0];

    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var == made)
            return true;
    for (const jx_eqn *e = eqn + 1; e < jaxpr->eqns + jaxpr->neqns; e++)
        for (int i = 0; i < e->nins; i++)
            if (e->ins[i].var == made &&
                (e->nouts != 1 || e->outs[0]->aval->rank != made->aval->rank ||
                 memcmp(e->outs[0]->aval->shape, made->aval->shape,
                        (size_t)made->aval->rank * sizeof(jx_dim *)) != 0 ||
                 jx_chooses_or_multiplies(e) || jx_is_collective(e)))
                return true;
    return false;
}

void jx_repair_find_taken(const jx_program *program, jx_eqn_is *is,
                          jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]) &&
                is_taken(program->jaxprs[i], &program->jaxprs[i]->eqns[k]))
                add_site(&program->jaxprs[i]->eqns[k], to);
}

/* Those of a loop that was written out. */
void jx_repair_find_repeated(const jx_program *program, jx_eqn_is *is,
                             jx_repair_sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++) {
        const jx_eqn *end =
            program->jaxprs[i]->eqns + program->jaxprs[i]->neqns;
        for (const jx_eqn *eqn = program->jaxprs[i]->eqns; eqn < end; eqn++) {
            const jx_eqn *other = eqn + 1;
            while (is(eqn) && other < end && !jx_written_once(other, eqn))
                other++;
            if (is(eqn) && other < end)
                add_site(eqn, to);
        }
    }
}

static int naxes(const jx_sharded *r)
{
    return r->mesh->naxes;
}

static int64_t size_of(const jx_sharded *r, int axis)
{
    return r->mesh->sizes[axis];
}

/* ---- in which ways: the n-th of what a row leaves open in its change */

jx_repair_way jx_repair_in_one_way(const jx_sharded *r, int n,
                                   jx_device_change *to)
{
    (void)r, (void)to;
    return n ? JX_REPAIR_END : JX_REPAIR_TRIED;
}

/* Of two devices the next one is the one before. */
jx_repair_way jx_repair_along_each_axis(const jx_sharded *r, int n,
                                        jx_device_change *to)
{
    if (n == naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << n;
    return size_of(r, n) >
                   (to->by < 0 && to->kind != JX_DEVICES_STEPPED ? 2 : 1)
               ? JX_REPAIR_TRIED
               : JX_REPAIR_SKIPPED;
}

/* By more than one device. */
jx_repair_way jx_repair_by_several_along_each(const jx_sharded *r, int n,
                                              jx_device_change *to)
{
    enum { MOST = 8 };
    int axis = n / MOST, by = n % MOST + 2;

    if (axis == naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << axis;
    to->by = to->by < 0 ? -by : by;
    return by < size_of(r, axis) ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

/* Along each axis of the mesh, and `count` numbers for each. */
static jx_repair_way with_each_number(const jx_sharded *r, int n, int count,
                                      jx_device_change *to)
{
    if (n == count * naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << n / count;
    to->number = n % count;
    return size_of(r, n / count) > 1 ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

enum { MOST_CHOSEN = 6, MOST_OPERANDS = 3, MOST_WIDE = 3, MOST_RANK = 4 };

/* As a loop counts its turns: in one of its counters, from 0 or from 1. */
jx_repair_way jx_repair_by_each_counter(const jx_sharded *r, int n,
                                        jx_device_change *to)
{
    enum { COUNTERS = 2 };
    jx_repair_way how = with_each_number(r, n, 2 * COUNTERS, to);

    to->counter = to->number % COUNTERS;
    to->by_turns = to->number / COUNTERS;
    return how;
}

/* Arrays of floats that are chosen: each, and each two. */
jx_repair_way jx_repair_of_one_or_two(const jx_sharded *r, int n,
                                      jx_device_change *to)
{
    jx_repair_way how = with_each_number(r, n, MOST_CHOSEN * MOST_CHOSEN, to);
    int a = to->number / MOST_CHOSEN, b = (a + to->number) % MOST_CHOSEN;

    if (how != JX_REPAIR_TRIED)
        return how;
    to->number = 1 << a | 1 << b;
    return a <= b ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

jx_repair_way jx_repair_of_one_or_two_by_counter(const jx_sharded *r, int n,
                                                 jx_device_change *to)
{
    to->counter = 0;
    to->by_turns = n % 2;
    return jx_repair_of_one_or_two(r, n / 2, to);
}

jx_repair_way jx_repair_as_often_as_turns(const jx_sharded *r, int n,
                                          jx_device_change *to)
{
    (void)r;
    to->by_turns = 1;
    return n ? JX_REPAIR_END : JX_REPAIR_TRIED;
}

/* In a ring, or to the last one. */
jx_repair_way jx_repair_round_and_to_ends(const jx_sharded *r, int n,
                                          jx_device_change *to)
{
    return with_each_number(r, n, 2, to);
}

jx_repair_way jx_repair_over_each_edge(const jx_sharded *r, int n,
                                       jx_device_change *to)
{
    return with_each_number(r, n, 2 * JX_AXES_WITH_EDGES * MOST_WIDE, to);
}

/* Of those that lead from device to device both ways, in any combination. */
jx_repair_way jx_repair_opened_in_each_way(const jx_sharded *r, int n,
                                           jx_device_change *to)
{
    enum { WAYS = 1 << 4 };
    bool pairs = false;

    for (int k = 0; k < naxes(r); k++)
        pairs |= size_of(r, k) == 2;
    to->number = WAYS - 1 - n;
    return n == WAYS                      ? JX_REPAIR_END
           : pairs || !n || n == WAYS - 1 ? JX_REPAIR_TRIED
                                          : JX_REPAIR_SKIPPED;
}

jx_repair_way jx_repair_of_blocks_along_each(const jx_sharded *r, int n,
                                             jx_device_change *to)
{
    return with_each_number(r, n, MOST_RANK, to);
}

jx_repair_way jx_repair_along_an_array(const jx_sharded *r, int n,
                                       jx_device_change *to)
{
    (void)r;
    to->number = n;
    return n < MOST_RANK ? JX_REPAIR_TRIED : JX_REPAIR_END;
}

jx_repair_way jx_repair_of_each_operand(const jx_sharded *r, int n,
                                        jx_device_change *to)
{
    return with_each_number(r, n, MOST_OPERANDS, to);
}

/* Few axes before many. */
jx_repair_way jx_repair_along_axes(const jx_sharded *r, int n,
                                   jx_device_change *to)
{
    unsigned all = (1u << naxes(r)) - 1;

    if ((unsigned)n >= all * (unsigned)naxes(r))
        return JX_REPAIR_END;
    to->axes = (unsigned)n % all + 1;
    return __builtin_popcount(to->axes) == n / (int)all + 1 ? JX_REPAIR_TRIED
                                                            : JX_REPAIR_SKIPPED;
}

/* All axes first, then each. */
jx_repair_way jx_repair_along_all_and_each(const jx_sharded *r, int n,
                                           jx_device_change *to)
{
    if (naxes(r) > 1 && !n) {
        to->axes = (1u << naxes(r)) - 1;
        return JX_REPAIR_TRIED;
    }
    n -= naxes(r) > 1;
    to->axes = 1u << n;
    return n < naxes(r) ? JX_REPAIR_TRIED : JX_REPAIR_END;
}

/* Two axes, which must be as long. */
jx_repair_way jx_repair_along_two_axes(const jx_sharded *r, int n,
                                       jx_device_change *to)
{
    int a = n / naxes(r), b = n % naxes(r);

    if (a == naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << a | 1u << b;
    return a < b && size_of(r, a) > 1 && size_of(r, a) == size_of(r, b)
               ? JX_REPAIR_TRIED
               : JX_REPAIR_SKIPPED;
}

/* By the size of an axis, where there are several. */
jx_repair_way jx_repair_by_each_size(const jx_sharded *r, int n,
                                     jx_device_change *to)
{
    if (naxes(r) < 2 || n == naxes(r))
        return JX_REPAIR_END;
    to->by = (int)size_of(r, n);
    return to->by > 1 ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

enum { MOST_FUSED = 4, MOST_ARRAYS = 32 };

jx_repair_way jx_repair_of_each_array(const jx_sharded *r, int n,
                                      jx_device_change *to)
{
    (void)r;
    to->number = n;
    return n < MOST_ARRAYS ? JX_REPAIR_TRIED : JX_REPAIR_END;
}

jx_repair_way jx_repair_of_all_arrays(const jx_sharded *r, int n,
                                      jx_device_change *to)
{
    to->number = JX_EVERY_ARRAY;
    return jx_repair_in_one_way(r, n, to);
}

jx_repair_way jx_repair_of_each_array_and_axes(const jx_sharded *r, int n,
                                               jx_device_change *to)
{
    int pairs = naxes(r) * naxes(r);

    to->number = n / pairs;
    return to->number < MOST_ARRAYS ? jx_repair_along_two_axes(r, n % pairs, to)
                                    : JX_REPAIR_END;
}

jx_repair_way jx_repair_of_each_array_in_parts(const jx_sharded *r, int n,
                                               jx_device_change *to)
{
    (void)r;
    to->number = n / (MOST_FUSED - 1);
    to->by = n % (MOST_FUSED - 1) + 2;
    return to->number < MOST_ARRAYS ? JX_REPAIR_TRIED : JX_REPAIR_END;
}

/* How many elements there are along an axis that is cut. */
static int64_t cut_size(const jx_sharded *r, const jx_eqn *at, int number)
{
    int64_t size = 0;
    unsigned axes;

    for (int k = 0; number < at->nins && k < MOST_RANK; k++)
        if (jx_part_size(r->mesh, at, number, k, &axes) &&
            jx_dim_is_int(jx_atom_aval(at->ins[number])->shape[k], &size))
            return size;
    return 0;
}

/* All operands of which as many elements are cut, where these are several. */
jx_repair_way jx_repair_of_arrays_alike_in_parts(const jx_sharded *r, int n,
                                                 jx_device_change *to)
{
    const jx_eqn *at = jx_find_eqn(r->program, jx_spreads);
    int first = n / (MOST_FUSED - 1), before = 0, behind = 0;

    if (first >= at->nins || first >= MOST_ARRAYS)
        return JX_REPAIR_END;
    to->alike = cut_size(r, at, first);
    to->by = n % (MOST_FUSED - 1) + 2;
    for (int i = 0; i < at->nins; i++)
        if (i != first && cut_size(r, at, i) == to->alike)
            ++*(i < first ? &before : &behind);
    return to->alike && !before && behind ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

/* By how many elements of an axis a device has. */
jx_repair_way jx_repair_by_part_sizes(const jx_sharded *r, int n,
                                      jx_device_change *to)
{
    const jx_eqn *at = jx_find_eqn(r->program, jx_spreads);
    unsigned axes;
    int64_t size;

    if (n / MOST_RANK >= at->nins || n / MOST_RANK >= MOST_ARRAYS)
        return JX_REPAIR_END;
    size = jx_part_size(r->mesh, at, n / MOST_RANK, n % MOST_RANK, &axes);
    to->axes = axes;
    to->by = (int)size;
    return size > 1 && size <= INT32_MAX ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

/* ... or half of that. */
jx_repair_way jx_repair_by_part_sizes_and_halves(const jx_sharded *r, int n,
                                                 jx_device_change *to)
{
    jx_repair_way how = jx_repair_by_part_sizes(r, n / 2, to);

    if (how != JX_REPAIR_TRIED || n % 2 == 0)
        return how;
    to->by /= 2;
    return to->by > 1 ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

/* An array of integers, and by the size of an axis that devices have a part
 * of, or half of it. */
jx_repair_way jx_repair_of_integers_by_size(const jx_sharded *r, int n,
                                            jx_device_change *to)
{
    const jx_eqn *at = jx_find_eqn(r->program, jx_spreads);
    int array = n / (MOST_ARRAYS * MOST_RANK * 2);
    int other = n / (MOST_RANK * 2) % MOST_ARRAYS, axis = n / 2 % MOST_RANK;
    int64_t size;

    if (array >= MOST_ARRAYS || array >= at->nins)
        return JX_REPAIR_END;
    to->number = array;
    size = other < at->nins ? jx_part_size(r->mesh, at, other, axis, &to->axes)
                            : 0;
    to->by = (int)(n % 2 ? size / 2 : size);
    return jx_dtype_is_integer(jx_atom_aval(at->ins[array])->dtype) &&
                   size > 0 && size <= INT32_MAX &&
                   (n % 2 == 0 || size % 2 == 0)
               ? JX_REPAIR_TRIED
               : JX_REPAIR_SKIPPED;
}

/* Within pairs of devices of an axis, or all of it. */
jx_repair_way jx_repair_from_the_end(const jx_sharded *r, int n,
                                     jx_device_change *to)
{
    if (n >= 2 * naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << n / 2;
    to->by = n % 2 ? 2 : 0;
    return size_of(r, n / 2) > (n % 2 ? 2 : 1) ? JX_REPAIR_TRIED
                                               : JX_REPAIR_SKIPPED;
}

/* By powers of two, along each axis. */
jx_repair_way jx_repair_by_each_bit(const jx_sharded *r, int n,
                                    jx_device_change *to)
{
    enum { BITS = 10 };

    if (n >= BITS * naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << n / BITS;
    to->by = 1 << n % BITS;
    return size_of(r, n / BITS) % (2 * to->by) ? JX_REPAIR_SKIPPED
                                               : JX_REPAIR_TRIED;
}

/* In parts of equal size of all devices, near ones and far ones. */
jx_repair_way jx_repair_in_each_part(const jx_sharded *r, int n,
                                     jx_device_change *to)
{
    int64_t all = jx_mesh_devices(r->mesh, INT64_MAX);
    int wide = n / 4 + 2;

    if (wide > all / 2)
        return JX_REPAIR_END;
    to->by = n % 2 ? -wide : wide;
    to->number = n / 2 % 2;
    return all % wide ? JX_REPAIR_SKIPPED : JX_REPAIR_TRIED;
}

/* Two axes of an array, which must be as long. */
jx_repair_way jx_repair_of_two_axes(const jx_sharded *r, int n,
                                    jx_device_change *to)
{
    (void)r;
    to->number = n / MOST_RANK * 8 + n % MOST_RANK;
    return n == MOST_RANK * MOST_RANK      ? JX_REPAIR_END
           : n / MOST_RANK < n % MOST_RANK ? JX_REPAIR_TRIED
                                           : JX_REPAIR_SKIPPED;
}

/* Where a device stands along each axis, by each of its divisors; what is left
 * of it. */
jx_repair_way jx_repair_by_each_divisor(const jx_sharded *r, int n,
                                        jx_device_change *to)
{
    enum { MOST = 8 };
    int axis = n / (2 * MOST), by = n / 2 % MOST + 1;

    if (axis == naxes(r))
        return JX_REPAIR_END;
    to->axes = 1u << axis;
    to->by = n % 2 ? -by : by;
    return size_of(r, axis) % by || size_of(r, axis) <= by || to->by == -1
               ? JX_REPAIR_SKIPPED
               : JX_REPAIR_TRIED;
}

/* Where blocks have gone round all devices of an axis, or once more; what goes
 * round is what is added, or what is added to. */
jx_repair_way jx_repair_behind_all_turns(const jx_sharded *r, int n,
                                         jx_device_change *to)
{
    enum { MOST_LATE = 64, WAYS = 4 };
    jx_device_kept *late;

    if (n >= WAYS * naxes(r))
        return JX_REPAIR_END;
    late = JX_NEW_ARRAY(r->program->ctx->arena, MOST_LATE, jx_device_kept);
    if (!late || size_of(r, n / WAYS) < 2)
        return JX_REPAIR_SKIPPED;
    to->nlate = jx_find_late(r->program, (int)size_of(r, n / WAYS) + n % 2,
                             n / 2 % 2, MOST_LATE, late);
    to->late = late;
    return to->nlate > 0 ? JX_REPAIR_TRIED : JX_REPAIR_SKIPPED;
}

/* All axes and each, and without the n-th sum over devices. */
jx_repair_way jx_repair_without_each_sum(const jx_sharded *r, int n,
                                         jx_device_change *to)
{
    int count = naxes(r) + (naxes(r) > 1);
    jx_repair_sites sums;

    (to->line ? jx_repair_find_lines
              : jx_repair_find_sites)(r->program, jx_reduces_devices, &sums);
    if (n >= sums.count * count)
        return JX_REPAIR_END;
    to->without = sums.at[n / count];
    return jx_repair_along_all_and_each(r, n % count, to);
}
