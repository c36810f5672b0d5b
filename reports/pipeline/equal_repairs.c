/* equal_repairs.c - see equal_repairs.h.
 *
 * A repair is a row of a table (equal_repairs.def): a change of the program
 * (jx_device_change), where and in which ways it is tried, and what is wrong
 * with a program that it makes the other one. */
#include "reports/pipeline/equal_repairs.h"

#include "frontend/ir/mesh.h"
#include "frontend/ir/params.h"
#include "reports/pipeline/equal_ready.h"

#include <stdlib.h>

/* Of one kind, places where equations are; operations over fields, and
 * equations that are written out, of all tries together. */
enum { MOST_SITES = 12, MOST_WORK = 1 << 28, MOST_EQUATIONS = 120000 };

typedef struct repairing {
    const jx_equal_words *w;
    const jx_program *program; /* before anything is written out */
    bool gradient;
    bool back; /* what is compared is a gradient, wherever it is made */
    int64_t work, equations; /* that are left */
    int alone;               /* the result that is repaired, from 1; 0: all */
    int runs; /* at which the last try that helped agreed; 0: over fields */
    jx_equal_cause *to;
} repairing;

typedef struct sites {
    int count;
    const jx_eqn *at[MOST_SITES];
} sites;

/* What is wrong where a change helps: `at` is where it was made. */
typedef struct finding {
    const jx_eqn *at;
    const jx_device_change *change;
    jx_code code;
    const char *with;
} finding;

/* ---- one try */

static int64_t length_of(const jx_program *program)
{
    int64_t count = 1;

    for (int i = 0; i < program->njaxprs; i++)
        count += program->jaxprs[i]->neqns;
    return count;
}

/* What can't be made so is no repair. */
static bool no_repair(const repairing *r)
{
    if (r->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(r->program->ctx);
    return false;
}

/* A run says at once what is no repair; whether the rest is one say fields, and
 * where they do not see it more runs. */
static bool is_the_other(repairing *r, jx_equal_question *question)
{
    jx_equal_fields fields;

    if (!jx_equal_agree(question, true))
        return false;
    question->work = r->work;
    if (r->work > 0 && !jx_equal_over_fields(question, &fields))
        return false;
    r->work -= r->work > 0 ? fields.worked : 0;
    r->runs =
        r->work > 0 && fields.identical ? 0 : jx_equal_agree(question, false);
    return r->runs || (r->work > 0 && fields.identical);
}

/* Whether with that change it is the other program. */
static bool helps(repairing *r, const jx_device_change *change)
{
    jx_equal_question question;
    jx_ordinary changed;
    bool same;

    if (r->equations <= 0 || !jx_ok(r->program->ctx))
        return false;
    r->equations -= length_of(r->w->program);
    if (!jx_ordinary_make(r->w->sharded.program, r->gradient, change,
                          &changed) ||
        changed.program->entry.jaxpr->nouts < r->w->question->nouts ||
        !jx_equal_open_beside(r->w->question, changed.typed, &question))
        return no_repair(r);
    question.alone = r->alone;
    same = is_the_other(r, &question);
    jx_plan_free(question.plans[0]);
    return same || no_repair(r);
}

/* ---- where */

static void add_site(const jx_eqn *eqn, sites *to)
{
    bool known = to->count == MOST_SITES;

    for (int s = 0; s < to->count && !known; s++)
        known = eqn->stack && eqn->stack == to->at[s]->stack &&
                eqn->prim == to->at[s]->prim && eqn->typed == to->at[s]->typed;
    if (!known)
        to->at[to->count++] = eqn;
}

/* Of a loop that was written out each by itself. */
static void find_each(const jx_program *program, jx_eqn_is *is, sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]) && to->count < MOST_SITES)
                to->at[to->count++] = &program->jaxprs[i]->eqns[k];
}

static void find_sites(const jx_program *program, jx_eqn_is *is, sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (is(&program->jaxprs[i]->eqns[k]))
                add_site(&program->jaxprs[i]->eqns[k], to);
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
static void find_numbered_sites(const jx_program *program, jx_eqn_is *is,
                                sites *to)
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
static void find_numbers(const jx_program *program, jx_eqn_is *is, sites *to)
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

static int naxes(const repairing *r)
{
    return r->w->sharded.mesh->naxes;
}

static int64_t size_of(const repairing *r, int axis)
{
    return r->w->sharded.mesh->sizes[axis];
}

/* ---- in which ways: the n-th of what a row leaves open in its change */

typedef enum way { END, SKIPPED, TRIED } way;
typedef way ways(const repairing *r, int n, jx_device_change *to);

static way in_one_way(const repairing *r, int n, jx_device_change *to)
{
    (void)r, (void)to;
    return n ? END : TRIED;
}

/* Of two devices the next one is the one before. */
static way along_each_axis(const repairing *r, int n, jx_device_change *to)
{
    if (n == naxes(r))
        return END;
    to->axes = 1u << n;
    return size_of(r, n) >
                   (to->by < 0 && to->kind != JX_DEVICES_STEPPED ? 2 : 1)
               ? TRIED
               : SKIPPED;
}

/* Few axes before many. */
static way along_axes(const repairing *r, int n, jx_device_change *to)
{
    unsigned all = (1u << naxes(r)) - 1;

    if ((unsigned)n >= all * (unsigned)naxes(r))
        return END;
    to->axes = (unsigned)n % all + 1;
    return __builtin_popcount(to->axes) == n / (int)all + 1 ? TRIED : SKIPPED;
}

/* All axes first, then each. */
static way along_all_and_each(const repairing *r, int n, jx_device_change *to)
{
    if (naxes(r) > 1 && !n) {
        to->axes = (1u << naxes(r)) - 1;
        return TRIED;
    }
    n -= naxes(r) > 1;
    to->axes = 1u << n;
    return n < naxes(r) ? TRIED : END;
}

/* Two axes, which must be as long. */
static way along_two_axes(const repairing *r, int n, jx_device_change *to)
{
    int a = n / naxes(r), b = n % naxes(r);

    if (a == naxes(r))
        return END;
    to->axes = 1u << a | 1u << b;
    return a < b && size_of(r, a) > 1 && size_of(r, a) == size_of(r, b)
               ? TRIED
               : SKIPPED;
}

/* By the size of an axis, where there are several. */
static way by_each_size(const repairing *r, int n, jx_device_change *to)
{
    if (naxes(r) < 2 || n == naxes(r))
        return END;
    to->by = (int)size_of(r, n);
    return to->by > 1 ? TRIED : SKIPPED;
}

enum { MOST_FUSED = 4, MOST_ARRAYS = 32, MOST_RANK = 4 };

static way of_each_array(const repairing *r, int n, jx_device_change *to)
{
    (void)r;
    to->number = n;
    return n < MOST_ARRAYS ? TRIED : END;
}

static way of_each_array_and_axes(const repairing *r, int n,
                                  jx_device_change *to)
{
    int pairs = naxes(r) * naxes(r);

    to->number = n / pairs;
    return to->number < MOST_ARRAYS ? along_two_axes(r, n % pairs, to) : END;
}

static way of_each_array_in_parts(const repairing *r, int n,
                                  jx_device_change *to)
{
    (void)r;
    to->number = n / (MOST_FUSED - 1);
    to->by = n % (MOST_FUSED - 1) + 2;
    return to->number < MOST_ARRAYS ? TRIED : END;
}

/* By how many elements of an axis a device has. */
static way by_part_sizes(const repairing *r, int n, jx_device_change *to)
{
    const jx_eqn *at = jx_find_eqn(r->program, jx_spreads);
    unsigned axes;
    int64_t size;

    if (n / MOST_RANK >= at->nins || n / MOST_RANK >= MOST_ARRAYS)
        return END;
    size = jx_part_size(r->w->sharded.mesh, at, n / MOST_RANK, n % MOST_RANK,
                        &axes);
    to->axes = axes;
    to->by = (int)size;
    return size > 1 && size <= INT32_MAX ? TRIED : SKIPPED;
}

/* ... or half of that. */
static way by_part_sizes_and_halves(const repairing *r, int n,
                                    jx_device_change *to)
{
    way how = by_part_sizes(r, n / 2, to);

    if (how != TRIED || n % 2 == 0)
        return how;
    to->by /= 2;
    return to->by > 1 ? TRIED : SKIPPED;
}

/* An array of integers, and by the size of an axis that devices have a part
 * of, or half of it. */
static way of_integers_by_size(const repairing *r, int n, jx_device_change *to)
{
    const jx_eqn *at = jx_find_eqn(r->program, jx_spreads);
    int array = n / (MOST_ARRAYS * MOST_RANK * 2);
    int other = n / (MOST_RANK * 2) % MOST_ARRAYS, axis = n / 2 % MOST_RANK;
    int64_t size;

    if (array >= MOST_ARRAYS || array >= at->nins)
        return END;
    to->number = array;
    size = other < at->nins
               ? jx_part_size(r->w->sharded.mesh, at, other, axis, &to->axes)
               : 0;
    to->by = (int)(n % 2 ? size / 2 : size);
    return jx_dtype_is_integer(jx_atom_aval(at->ins[array])->dtype) &&
                   size > 0 && size <= INT32_MAX &&
                   (n % 2 == 0 || size % 2 == 0)
               ? TRIED
               : SKIPPED;
}

/* Within pairs of devices of an axis, or all of it. */
static way from_the_end(const repairing *r, int n, jx_device_change *to)
{
    if (n >= 2 * naxes(r))
        return END;
    to->axes = 1u << n / 2;
    to->by = n % 2 ? 2 : 0;
    return size_of(r, n / 2) > (n % 2 ? 2 : 1) ? TRIED : SKIPPED;
}

/* By powers of two, along each axis. */
static way by_each_bit(const repairing *r, int n, jx_device_change *to)
{
    enum { BITS = 10 };

    if (n >= BITS * naxes(r))
        return END;
    to->axes = 1u << n / BITS;
    to->by = 1 << n % BITS;
    return size_of(r, n / BITS) % (2 * to->by) ? SKIPPED : TRIED;
}

/* In parts of equal size of all devices, near ones and far ones. */
static way in_each_part(const repairing *r, int n, jx_device_change *to)
{
    int64_t all = jx_mesh_devices(r->w->sharded.mesh, INT64_MAX);
    int wide = n / 4 + 2;

    if (wide > all / 2)
        return END;
    to->by = n % 2 ? -wide : wide;
    to->number = n / 2 % 2;
    return all % wide ? SKIPPED : TRIED;
}

/* Two axes of an array, which must be as long. */
static way of_two_axes(const repairing *r, int n, jx_device_change *to)
{
    (void)r;
    to->number = n / MOST_RANK * 8 + n % MOST_RANK;
    return n == MOST_RANK * MOST_RANK      ? END
           : n / MOST_RANK < n % MOST_RANK ? TRIED
                                           : SKIPPED;
}

/* Where a device stands along each axis, by each of its divisors; what is left
 * of it. */
static way by_each_divisor(const repairing *r, int n, jx_device_change *to)
{
    enum { MOST = 8 };
    int axis = n / (2 * MOST), by = n / 2 % MOST + 1;

    if (axis == naxes(r))
        return END;
    to->axes = 1u << axis;
    to->by = n % 2 ? -by : by;
    return size_of(r, axis) % by || size_of(r, axis) <= by || to->by == -1
               ? SKIPPED
               : TRIED;
}

/* Where blocks have gone round all devices of an axis, or once more; what goes
 * round is what is added, or what is added to. */
static way behind_all_turns(const repairing *r, int n, jx_device_change *to)
{
    enum { MOST_LATE = 64, WAYS = 4 };
    jx_device_kept *late;

    if (n >= WAYS * naxes(r))
        return END;
    late = JX_NEW_ARRAY(r->program->ctx->arena, MOST_LATE, jx_device_kept);
    if (!late || size_of(r, n / WAYS) < 2)
        return SKIPPED;
    to->nlate = jx_find_late(r->program, (int)size_of(r, n / WAYS) + n % 2,
                             n / 2 % 2, MOST_LATE, late);
    to->late = late;
    return to->nlate > 0 ? TRIED : SKIPPED;
}

/* All axes and each, and without the n-th sum over devices. */
static way without_each_sum(const repairing *r, int n, jx_device_change *to)
{
    int count = naxes(r) + (naxes(r) > 1);
    sites sums;

    find_sites(r->program, jx_reduces_devices, &sums);
    if (n >= sums.count * count)
        return END;
    to->without = sums.at[n / count];
    return along_all_and_each(r, n % count, to);
}

/* ---- what is wrong: where that is not one thing for all of a row */

typedef void judge(const repairing *r, finding *f);

static void judge_shifted(const repairing *r, finding *f)
{
    if (jx_leaves_holes(&r->w->sharded, f->at))
        f->code = JX_CODE_MSH005;
}

/* That one has holes as well: as many are meant. */
static void judge_opened(const repairing *r, finding *f)
{
    if (jx_skips_pair(&r->w->sharded, f->at, f->change->axes, f->change->by))
        f->code = JX_CODE_MSH005;
}

static void judge_transposed(const repairing *r, finding *f)
{
    if (jx_is_stacked(r->program, f->at))
        f->code = JX_CODE_MSH014;
}

static void judge_scaled(const repairing *r, finding *f)
{
    if (r->back)
        f->code = JX_CODE_MSH017;
}

/* What is compared may say how often a loop goes round. */
static void judge_moved(const repairing *r, finding *f)
{
    bool up = f->change->by > 0;
    bool more = f->at->prim->id == JX_PRIM_lt || f->at->prim->id == JX_PRIM_le
                    ? !up
                    : up;

    if (!jx_goes_on(r->program, f->at))
        return;
    f->code = !more     ? JX_CODE_MSH007
              : r->back ? JX_CODE_MSH018
                        : JX_CODE_MSH008;
    f->with = more ? "a loop that goes round once more"
                   : "a loop that goes round once less";
}

static void judge_placed(const repairing *r, finding *f)
{
    const jx_eqn *draws = jx_find_eqn(r->program, jx_draws_numbers);

    if (!draws)
        return;
    f->code = JX_CODE_MSH021;
    f->at = draws;
    f->with = "random numbers that differ";
}

static void judge_groups(const repairing *r, finding *f)
{
    unsigned own = 0, axes = f->change->axes;

    if (!jx_group_axes(&r->w->sharded, f->at, &own)) {
        f->code = JX_CODE_MSH026;
        f->with = "groups along axes";
    } else if (own == axes) {
        f->code = JX_CODE_MSH022;
    } else if ((own & axes) == own) {
        f->code = r->back ? JX_CODE_MSH018 : JX_CODE_MSH008;
    } else {
        f->code = JX_CODE_MSH012;
        f->with = "this along another axis of the mesh";
    }
}

static void judge_strided(const repairing *r, finding *f)
{
    unsigned own;

    if (!jx_group_axes(&r->w->sharded, f->at, &own))
        return;
    f->code = JX_CODE_MSH012;
    f->with = "this along another axis of the mesh";
}

/* Where blocks are exchanged it is these that lie in another order. */
static void judge_fused(const repairing *r, finding *f)
{
    int n = f->change->number, nins = f->at->nins;
    bool exchanged = jx_find_eqn(r->program, jx_exchanges_devices) != NULL;

    if (exchanged)
        f->code = JX_CODE_MSH013;
    f->with = jx_arena_printf(
        r->w->program->ctx->arena,
        exchanged
            ? "blocks of %s %d exchanged between devices (all_to_all), of "
              "which there are %d,"
            : "%s %d taken for %d arrays behind each other, each of which "
              "is cut,",
        n < nins ? "operand" : "result", n < nins ? n : n - nins,
        f->change->by);
}

/* A block that is too long begins where it would reach outside. */
static void judge_resized(const repairing *r, finding *f)
{
    if (r->w->fields->clamped)
        f->code = JX_CODE_MSH016;
}

static void judge_divided(const repairing *r, finding *f)
{
    f->with = jx_arena_printf(
        r->w->program->ctx->arena, "groups of %d devices here that are %s",
        abs(f->change->by), f->change->by > 0 ? "neighbours" : "apart");
}

static void judge_local(const repairing *r, finding *f)
{
    bool extreme = f->at->prim->id == JX_PRIM_reduce_max ||
                   f->at->prim->id == JX_PRIM_reduce_min;

    bool sums = jx_find_eqn(r->program, jx_reduces_devices) != NULL;
    /* a product, or what others are summed beside, and nothing is made of it
     * that is: no statistics of a part */
    bool product = !f->change->by && f->at->prim->id == JX_PRIM_dot_general &&
                   f->at->outs[0]->aval->rank;
    bool forgotten = product || (sums && !jx_is_behind(r->program, f->at,
                                                       jx_reduces_devices));

    /* an extreme that is summed, or something else that is not linear */
    if (!f->change->at || (extreme && sums) ||
        (jx_is_curved_behind(r->program, f->at) && !forgotten))
        f->code = JX_CODE_MSH020;
    else if (r->back)
        f->code = JX_CODE_MSH018;
}

static void judge_masked(const repairing *r, finding *f)
{
    if (r->back)
        f->code = JX_CODE_MSH018;
}

static void judge_summed_late(const repairing *r, finding *f)
{
    if (!jx_is_curved_between(r->program, f->at, f->change->without))
        return;
    f->code = JX_CODE_MSH020;
    f->with = "what devices have of this summed up here, before something is "
              "made of it that is not linear,";
}

/* ---- what is not tried */

typedef bool fits(const repairing *r, const jx_device_change *change);

static bool fits_holes(const repairing *r, const jx_device_change *change)
{
    sites where;
    bool holes = false;

    (void)change;
    find_sites(r->program, jx_permutes_devices, &where);
    for (int i = 0; i < where.count; i++)
        holes |= jx_leaves_holes(&r->w->sharded, where.at[i]);
    return holes;
}

static bool fits_cut(const repairing *r, const jx_device_change *change)
{
    return naxes(r) > 1 && change->at &&
           jx_is_cut_by(change->at, change->number) > 0;
}

static bool fits_cut_twice(const repairing *r, const jx_device_change *change)
{
    return naxes(r) > 1 && change->at &&
           jx_is_cut_by(change->at, change->number) > 1;
}

/* Blocks lie elsewhere for a reason that is nearer. */
static bool fits_fused(const repairing *r, const jx_device_change *change)
{
    const jx_eqn *gather = jx_find_eqn(r->program, jx_gathers_devices);

    return change->at && jx_is_cut_by(change->at, change->number) > 0 &&
           !(gather && jx_is_stacked(r->program, gather)) &&
           !(r->w->fields->differs.rearranged &&
             jx_find_eqn(r->program, jx_moves_blocks));
}

/* A difference is of both its operands. */
static bool fits_unmoved(const repairing *r, const jx_device_change *change)
{
    (void)r;
    return change->at && (change->at->prim->id == JX_PRIM_add || !change->by);
}

static bool fits_numbered(const repairing *r, const jx_device_change *change)
{
    return jx_find_eqn(r->program, jx_numbers_devices) ||
           (change->at && jx_goes_on(r->program, change->at));
}

static bool fits_whole(const repairing *r, const jx_device_change *change)
{
    const jx_aval *aval = change->at ? change->at->outs[0]->aval : NULL;

    (void)r;
    return aval && !aval->rank && jx_dtype_is_integer(aval->dtype);
}

/* ---- all repairs */

/* At all places together and then at each, if there are several; at each, the
 * last first: what is done last may be all; at all together; at all of
 * several. */
typedef enum order { ALL_AND_EACH, EACH, LAST_FIRST, ALL, SEVERAL } order;

/* Of all such equations; of those that take what is made of the number of a
 * device. */
typedef void find(const jx_program *program, jx_eqn_is *is, sites *to);

typedef struct repair {
    jx_device_change change;
    jx_eqn_is *where;
    find *find;
    order order;
    ways *ways;
    fits *fits; /* or NULL: all */
    jx_code code;
    const char *with;
    judge *judge; /* or NULL: it is that */
} repair;

static bool joins_devices(const jx_eqn *eqn)
{
    return jx_reduces_devices(eqn) || jx_gathers_devices(eqn);
}

static const repair repairs[] = {
#define REPAIR(KIND, BY, AXES, WHERE, FIND, ORDER, WAYS, FITS, CODE, JUDGE,    \
               WITH)                                                           \
    {{.kind = JX_DEVICES_##KIND, .by = (BY), .axes = (AXES)},                  \
     WHERE,                                                                    \
     FIND,                                                                     \
     ORDER,                                                                    \
     WAYS,                                                                     \
     FITS,                                                                     \
     JX_CODE_##CODE,                                                           \
     WITH,                                                                     \
     JUDGE},
#include "reports/pipeline/equal_repairs.def"
#undef REPAIR
};

static bool tell(repairing *r, const repair *row,
                 const jx_device_change *change, const jx_eqn *at)
{
    finding f = {at, change, row->code, row->with};
    jx_arena *arena = r->w->program->ctx->arena;

    if (row->judge)
        row->judge(r, &f);
    r->to->code = f.code;
    r->to->stack = f.at->stack;
    r->to->note =
        r->runs
            ? jx_arena_printf(arena,
                              "with %s %s within rounding in %d runs "
                              "(fields do not decide it)",
                              f.with,
                              r->alone ? "this result agrees" : "both agree",
                              r->runs)
            : jx_arena_printf(arena, "with %s %s the same over the reals",
                              f.with, r->alone ? "this result is" : "it is");
    return true;
}

static bool repair_at(repairing *r, const repair *row, jx_device_change change,
                      const jx_eqn *at)
{
    return (!row->fits || row->fits(r, &change)) && helps(r, &change) &&
           tell(r, row, &change, at);
}

static bool repair_in_a_way(repairing *r, const repair *row, const sites *where,
                            jx_device_change change)
{
    bool together = row->order == ALL || row->order == ALL_AND_EACH ||
                    (row->order == SEVERAL && where->count > 1);
    bool apart = row->order == EACH || row->order == LAST_FIRST ||
                 (row->order == ALL_AND_EACH && where->count > 1);

    if (together && repair_at(r, row, change, where->at[0]))
        return true;
    for (int i = 0; apart && i < where->count; i++) {
        change.at =
            where->at[row->order == LAST_FIRST ? where->count - 1 - i : i];
        if (repair_at(r, row, change, change.at))
            return true;
    }
    return false;
}

static bool try_row(repairing *r, const repair *row)
{
    jx_device_change change = row->change;
    sites where;
    way how;

    change.alone = row->find == find_each;
    row->find(r->program, row->where, &where);
    for (int n = 0; where.count && (how = row->ways(r, n, &change)) != END; n++)
        if (how == TRIED && repair_in_a_way(r, row, &where, change))
            return true;
    return false;
}

bool jx_equal_find_repair(const jx_equal_words *words, bool gradient,
                          jx_equal_cause *to)
{
    const jx_program *program = words->sharded.program;
    repairing r = {.w = words,
                   .program = program,
                   .gradient = gradient,
                   .back = gradient || jx_find_eqn(program, jx_is_backward),
                   .work = MOST_WORK,
                   .equations = MOST_EQUATIONS,
                   .to = to};
    int count = (int)(sizeof repairs / sizeof *repairs);

    if (!words->sharded.mesh || words->sharded.mesh->naxes > 4)
        return false;
    for (int i = 0; i < count; i++)
        if (try_row(&r, &repairs[i]))
            return true;
    /* each may need a change of its own */
    if (words->question->nouts < 2 || !words->floats->differs.point ||
        words->floats->pair.point)
        return false;
    r.alone = words->floats->differs.output + 1;
    r.equations = MOST_EQUATIONS;
    for (int i = 0; i < count; i++)
        if (try_row(&r, &repairs[i]))
            return true;
    return false;
}
