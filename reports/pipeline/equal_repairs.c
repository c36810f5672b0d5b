/* equal_repairs.c - see equal_repairs.h.
 *
 * A repair is a row of a table: a change of the program (jx_device_change),
 * where and in which ways it is tried, and what is wrong with a program that it
 * makes the other one.  Rows stand in the order in which they are tried: of two
 * that help, the first is what is told. */
#include "reports/pipeline/equal_repairs.h"

#include "frontend/ir/params.h"
#include "reports/pipeline/equal_ready.h"

/* Of one kind, places where equations are; operations over fields, and
 * equations that are written out, of all tries together. */
enum { MOST_SITES = 12, MOST_WORK = 1 << 28, MOST_EQUATIONS = 120000 };

typedef struct repairing {
    const jx_equal_words *w;
    const jx_program *program; /* before anything is written out */
    bool gradient;
    bool back; /* what is compared is a gradient, wherever it is made */
    int64_t work, equations; /* that are left */
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
    same = is_the_other(r, &question);
    jx_plan_free(question.plans[0]);
    return same || no_repair(r);
}

/* ---- where */

static void find_sites(const jx_program *program, jx_eqn_is *is, sites *to)
{
    to->count = 0;
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            const jx_eqn *eqn = &program->jaxprs[i]->eqns[k];
            bool known = to->count == MOST_SITES || !is(eqn);
            for (int s = 0; s < to->count && !known; s++)
                known = eqn->stack && eqn->stack == to->at[s]->stack &&
                        eqn->prim == to->at[s]->prim;
            if (!known)
                to->at[to->count++] = eqn;
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
    return size_of(r, n) > (to->by < 0 ? 2 : 1) ? TRIED : SKIPPED;
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

enum { MOST_FUSED = 4, MOST_ARRAYS = 32 };

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

static void judge_fused(const repairing *r, finding *f)
{
    int n = f->change->number, nins = f->at->nins;

    f->with = jx_arena_printf(
        r->w->program->ctx->arena,
        "%s %d taken for %d arrays behind each other, each of which is cut,",
        n < nins ? "operand" : "result", n < nins ? n : n - nins,
        f->change->by);
}

static void judge_local(const repairing *r, finding *f)
{
    bool extreme = f->at->prim->id == JX_PRIM_reduce_max ||
                   f->at->prim->id == JX_PRIM_reduce_min;

    /* an extreme that is summed, or something else that is not linear */
    if (!f->change->at || jx_is_curved_behind(r->program, f->at) ||
        (extreme && jx_find_eqn(r->program, jx_reduces_devices)))
        f->code = JX_CODE_MSH020;
    else if (r->back)
        f->code = JX_CODE_MSH018;
}

static void judge_summed_late(const repairing *r, finding *f)
{
    if (!jx_is_curved_behind(r->program, f->at))
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
    (void)change;
    return jx_find_eqn(r->program, jx_numbers_devices) != NULL;
}

/* ---- all repairs */

/* At all places together and then at each, if there are several; at each, the
 * last first: what is done last may be all; at all of several. */
typedef enum order { ALL_AND_EACH, EACH, LAST_FIRST, ALL } order;

typedef struct repair {
    jx_device_change change;
    jx_eqn_is *where;
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

/* clang-format off */
static const repair repairs[] = {
    /* permutations */
    {{.kind = JX_DEVICES_TURNED}, jx_permutes_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH006, "the permutation the other way round", NULL},
    {{.kind = JX_DEVICES_SHIFTED, .by = 1}, jx_permutes_devices, ALL_AND_EACH, along_each_axis, NULL,
     JX_CODE_MSH006, "a permutation that sends to the next device", judge_shifted},
    {{.kind = JX_DEVICES_SHIFTED, .by = -1}, jx_permutes_devices, ALL_AND_EACH, along_each_axis, NULL,
     JX_CODE_MSH006, "a permutation that sends to the device before", judge_shifted},
    {{.kind = JX_DEVICES_CLOSED}, jx_permutes_devices, ALL_AND_EACH, in_one_way, fits_holes,
     JX_CODE_MSH005, "a permutation that leaves out no device", NULL},
    {{.kind = JX_DEVICES_SHIFTED, .axes = 1}, jx_permutes_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH006, "what each device has itself in place of what it is sent", NULL},
    {{.kind = JX_DEVICES_OPENED, .by = 1}, jx_permutes_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH006, "a permutation that ends at the last device", NULL},
    {{.kind = JX_DEVICES_OPENED, .by = -1}, jx_permutes_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH006, "a permutation that ends at the first device", NULL},
    {{.kind = JX_DEVICES_EXCHANGED}, jx_permutes_devices, ALL_AND_EACH, along_two_axes, NULL,
     JX_CODE_MSH006, "the permutation along another axis", NULL},
    /* numbers of devices */
    {{.kind = JX_DEVICES_COUNTED, .by = 1}, jx_numbers_devices, ALL_AND_EACH, along_each_axis, NULL,
     JX_CODE_MSH015, "the index of the next device in place of its own (axis_index + 1)", NULL},
    {{.kind = JX_DEVICES_COUNTED, .by = -1}, jx_numbers_devices, ALL_AND_EACH, along_each_axis, NULL,
     JX_CODE_MSH015, "the index of the device before in place of its own (axis_index - 1)", NULL},
    {{.kind = JX_DEVICES_CROSSED}, jx_numbers_devices, ALL_AND_EACH, along_two_axes, NULL,
     JX_CODE_MSH015, "the index along another axis", NULL},
    /* who takes part */
    {{.kind = JX_DEVICES_REGROUPED}, joins_devices, ALL_AND_EACH, along_axes, NULL,
     JX_CODE_MSH012, "this along more axes of the mesh", judge_groups},
    {{.kind = JX_DEVICES_STRIDED}, joins_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH026, "groups of devices that are further apart", judge_strided},
    {{.kind = JX_DEVICES_REORDERED}, joins_devices, ALL_AND_EACH, by_each_size, NULL,
     JX_CODE_MSH022, "the axes in the other order", NULL},
    /* how arrays are cut */
    {{.kind = JX_DEVICES_RECUT}, jx_spreads, EACH, of_each_array, fits_cut_twice,
     JX_CODE_MSH022, "the axes of a spec in the other order", NULL},
    {{.kind = JX_DEVICES_SWAPPED}, jx_spreads, EACH, of_each_array_and_axes, fits_cut,
     JX_CODE_MSH022, "two axes of a spec exchanged", NULL},
    {{.kind = JX_DEVICES_FUSED}, jx_spreads, EACH, of_each_array_in_parts, fits_fused,
     JX_CODE_MSH027, NULL, judge_fused},
    /* sums over devices: of what is one on all of them the mean is that, too */
    {{.kind = JX_DEVICES_LEFT_OUT}, jx_reduces_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH007, "what is summed here left as it is", NULL},
    {{.kind = JX_DEVICES_SCALED, .by = 1}, jx_reduces_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH009, "a mean in place of this sum", NULL},
    {{.kind = JX_DEVICES_SCALED, .by = -1}, jx_reduces_devices, ALL_AND_EACH, in_one_way, NULL,
     JX_CODE_MSH009, "a sum in place of this mean", NULL},
    /* what a device makes of what it has */
    {{.kind = JX_DEVICES_JOINED}, jx_reduces_alone, LAST_FIRST, along_all_and_each, NULL,
     JX_CODE_MSH008, "what each device reduces here reduced over devices, too,", judge_local},
    {{.kind = JX_DEVICES_JOINED, .by = 1}, jx_reduces_alone, LAST_FIRST, along_all_and_each, NULL,
     JX_CODE_MSH008, "what each device reduces here averaged over devices, too,", judge_local},
    {{.kind = JX_DEVICES_JOINED}, jx_reduces_alone, ALL, along_all_and_each, NULL,
     JX_CODE_MSH020, "what each device reduces here reduced over devices, too,", judge_local},
    {{.kind = JX_DEVICES_JOINED, .by = 1}, jx_reduces_alone, ALL, along_all_and_each, NULL,
     JX_CODE_MSH020, "what each device reduces here averaged over devices, too,", judge_local},
    {{.kind = JX_DEVICES_JOINED}, jx_reduces_alone, EACH, without_each_sum, NULL,
     JX_CODE_MSH007, "what devices have of this summed up here, before something is added that all of them have,", judge_summed_late},
    {{.kind = JX_DEVICES_JOINED, .by = 1}, jx_reduces_alone, EACH, without_each_sum, NULL,
     JX_CODE_MSH007, "what devices have of this averaged here, before something is added that all of them have,", judge_summed_late},
    /* numbers of elements, and what is added to integers */
    {{.kind = JX_DEVICES_PLACED}, jx_counts_elements, EACH, along_axes, NULL,
     JX_CODE_MSH015, "numbers of elements that go on from device to device", judge_placed},
    {{.kind = JX_DEVICES_UNMOVED, .by = 0}, jx_moves_integers, EACH, in_one_way, fits_unmoved,
     JX_CODE_MSH015, "an index to which nothing is added here", NULL},
    {{.kind = JX_DEVICES_UNMOVED, .by = 1}, jx_moves_integers, EACH, in_one_way, fits_unmoved,
     JX_CODE_MSH015, "an index to which nothing is added here", NULL},
    {{.kind = JX_DEVICES_MOVED, .by = 1}, jx_is_index, EACH, in_one_way, fits_numbered,
     JX_CODE_MSH015, "an index here that is one more", judge_moved},
    {{.kind = JX_DEVICES_MOVED, .by = -1}, jx_is_index, EACH, in_one_way, fits_numbered,
     JX_CODE_MSH015, "an index here that is one less", judge_moved},
};
/* clang-format on */

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
                              "with %s both agree within rounding in %d runs "
                              "(fields do not decide it)",
                              f.with, r->runs)
            : jx_arena_printf(arena, "with %s it is the same over the reals",
                              f.with);
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
    bool together = row->order == ALL_AND_EACH || row->order == ALL;
    bool apart = row->order != ALL && (!together || where->count > 1);

    if (row->order == ALL && where->count < 2)
        return false;
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

    find_sites(r->program, row->where, &where);
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
    return false;
}
