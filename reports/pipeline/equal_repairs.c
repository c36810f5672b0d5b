/* equal_repairs.c - see equal_repairs.h. */
#include "reports/pipeline/equal_repairs.h"

#include "frontend/ir/params.h"
#include "reports/pipeline/equal_ready.h"

/* Of one kind, places where equations are; operations over fields, and
 * equations that are written out, of all tries together. */
enum { MOST_SITES = 12, MOST_WORK = 1 << 28, MOST_EQUATIONS = 80000 };

typedef struct repairing {
    const jx_equal_words *w;
    bool gradient;
    bool back; /* what is compared is a gradient, wherever it is made */
    int64_t work, equations; /* that are left */
    jx_equal_cause *to;
} repairing;

typedef struct sites {
    int count;
    const jx_eqn *at[MOST_SITES];
} sites;

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
    if (r->w->sharded.program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(r->w->sharded.program->ctx);
    return false;
}

/* Whether with that change it is the other program. */
static bool helps(repairing *r, const jx_device_change *change)
{
    jx_equal_question question = *r->w->question;
    jx_equal_fields fields;
    jx_ordinary changed;

    if (r->work <= 0 || r->equations <= 0 || !jx_ok(r->w->sharded.program->ctx))
        return false;
    r->equations -= length_of(r->w->program);
    if (!jx_ordinary_make(r->w->sharded.program, r->gradient, change,
                          &changed) ||
        changed.program->entry.jaxpr->nouts < question.nouts)
        return no_repair(r);
    question.a = (jx_equal_side){.typed = changed.typed};
    question.work = r->work;
    if (!jx_equal_over_fields(&question, &fields))
        return no_repair(r);
    r->work -= fields.worked;
    return fields.identical;
}

static bool told(repairing *r, jx_code code, const jx_eqn *at, const char *with)
{
    r->to->code = code;
    r->to->stack = at->stack;
    r->to->note =
        jx_arena_printf(r->w->program->ctx->arena,
                        "with %s it is the same over the reals", with);
    return true;
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

/* At all places together, then at each, if there are several. */
static bool helps_somewhere(repairing *r, const sites *where,
                            jx_device_change change, const jx_eqn **at)
{
    for (int i = -1; i < (where->count > 1 ? where->count : 0); i++) {
        change.at = i < 0 ? NULL : where->at[i];
        *at = where->at[i < 0 ? 0 : i];
        if (helps(r, &change))
            return true;
    }
    return false;
}

/* ---- permutations and indices */

/* Two axes for each other, which must be as long. */
static bool repair_axes(repairing *r, const sites *where,
                        jx_device_change_kind kind, jx_code code,
                        const char *with)
{
    const jx_eqn *at;

    for (int a = 0; where->count && a < naxes(r); a++)
        for (int b = a + 1; b < naxes(r); b++) {
            jx_device_change change = {.kind = kind, .axes = 1u << a | 1u << b};
            if (size_of(r, a) > 1 && size_of(r, a) == size_of(r, b) &&
                helps_somewhere(r, where, change, &at))
                return told(r, code, at, with);
        }
    return false;
}

static bool repair_permutation(repairing *r)
{
    sites where;
    const jx_eqn *at;
    bool holes = false;

    find_sites(r->w->sharded.program, jx_permutes_devices, &where);
    if (!where.count)
        return false;
    for (int i = 0; i < where.count; i++)
        holes |= jx_leaves_holes(&r->w->sharded, where.at[i]);
    if (helps_somewhere(r, &where,
                        (jx_device_change){.kind = JX_DEVICES_TURNED}, &at))
        return told(r, JX_CODE_MSH006, at,
                    "the permutation the other way round");
    for (int k = 0; k < naxes(r); k++)
        for (int by = 1; by >= -1 && size_of(r, k) > 1; by -= 2) {
            jx_device_change change = {
                .kind = JX_DEVICES_SHIFTED, .axes = 1u << k, .by = by};
            if ((by > 0 || size_of(r, k) > 2) &&
                helps_somewhere(r, &where, change, &at))
                return told(
                    r,
                    jx_leaves_holes(&r->w->sharded, at) ? JX_CODE_MSH005
                                                        : JX_CODE_MSH006,
                    at,
                    by > 0 ? "a permutation that sends to the next device"
                           : "a permutation that sends to the device before");
        }
    if (holes &&
        helps_somewhere(r, &where,
                        (jx_device_change){.kind = JX_DEVICES_CLOSED}, &at))
        return told(r, JX_CODE_MSH005, at,
                    "a permutation that leaves out no device");
    if (helps_somewhere(
            r, &where,
            (jx_device_change){.kind = JX_DEVICES_SHIFTED, .axes = 1}, &at))
        return told(r, JX_CODE_MSH015, at,
                    "what each device has itself in place of what it is sent");
    for (int by = 1; by >= -1; by -= 2)
        if (helps_somewhere(
                r, &where,
                (jx_device_change){.kind = JX_DEVICES_OPENED, .by = by}, &at))
            return told(r, JX_CODE_MSH006, at,
                        "a permutation that ends at the last device");
    return repair_axes(r, &where, JX_DEVICES_EXCHANGED, JX_CODE_MSH006,
                       "the permutation along another axis");
}

static bool repair_number(repairing *r)
{
    sites where;
    const jx_eqn *at;

    find_sites(r->w->sharded.program, jx_numbers_devices, &where);
    for (int k = 0; where.count && k < naxes(r); k++)
        for (int by = 1; by >= -1 && size_of(r, k) > 1; by -= 2) {
            jx_device_change change = {
                .kind = JX_DEVICES_COUNTED, .axes = 1u << k, .by = by};
            if ((by > 0 || size_of(r, k) > 2) &&
                helps_somewhere(r, &where, change, &at))
                return told(
                    r, JX_CODE_MSH015, at,
                    by > 0
                        ? "the index of the next device in place of its own "
                          "(axis_index + 1)"
                        : "the index of the device before in place of its own "
                          "(axis_index - 1)");
        }
    return repair_axes(r, &where, JX_DEVICES_CROSSED, JX_CODE_MSH015,
                       "the index along another axis");
}

/* What is compared may say how often a loop goes round. */
static bool tell_moved(repairing *r, const jx_eqn *at, bool up)
{
    bool more =
        at->prim->id == JX_PRIM_lt || at->prim->id == JX_PRIM_le ? !up : up;

    if (!jx_goes_on(r->w->sharded.program, at))
        return told(r, JX_CODE_MSH015, at,
                    up ? "an index here that is one more"
                       : "an index here that is one less");
    return told(r,
                !more     ? JX_CODE_MSH007
                : r->back ? JX_CODE_MSH018
                          : JX_CODE_MSH008,
                at,
                more ? "a loop that goes round once more"
                     : "a loop that goes round once less");
}

/* Numbers of elements, and what is added to integers. */
static bool repair_index(repairing *r)
{
    const jx_eqn *draws = jx_find_eqn(r->w->sharded.program, jx_draws_numbers);
    sites where;

    find_sites(r->w->sharded.program, jx_counts_elements, &where);
    for (int i = 0; i < where.count; i++)
        for (unsigned axes = 1; axes < 1u << naxes(r); axes++)
            if (helps(r, &(jx_device_change){.kind = JX_DEVICES_PLACED,
                                             .at = where.at[i],
                                             .axes = axes}))
                return draws ? told(r, JX_CODE_MSH021, draws,
                                    "random numbers that differ")
                             : told(r, JX_CODE_MSH015, where.at[i],
                                    "numbers of elements that go on from "
                                    "device to device");
    find_sites(r->w->sharded.program, jx_moves_integers, &where);
    for (int i = 0; i < where.count; i++)
        for (int keep = 0;
             keep < (where.at[i]->prim->id == JX_PRIM_sub ? 1 : 2); keep++)
            if (helps(r, &(jx_device_change){.kind = JX_DEVICES_UNMOVED,
                                             .at = where.at[i],
                                             .by = keep}))
                return told(r, JX_CODE_MSH015, where.at[i],
                            "an index to which nothing is added here");
    find_sites(r->w->sharded.program, jx_is_index, &where);
    for (int i = 0; jx_find_eqn(r->w->sharded.program, jx_numbers_devices) &&
                    i < where.count;
         i++)
        for (int by = 1; by >= -1; by -= 2)
            if (helps(r, &(jx_device_change){.kind = JX_DEVICES_MOVED,
                                             .at = where.at[i],
                                             .by = by}))
                return tell_moved(r, where.at[i], by > 0);
    return false;
}

/* ---- who takes part */

static bool joins_devices(const jx_eqn *eqn)
{
    return jx_reduces_devices(eqn) || jx_gathers_devices(eqn);
}

static jx_code code_of_groups(const repairing *r, const jx_eqn *at,
                              unsigned axes)
{
    unsigned own = 0;

    if (!jx_group_axes(&r->w->sharded, at, &own))
        return JX_CODE_MSH026;
    if (own == axes)
        return JX_CODE_MSH022;
    if ((own & axes) == own && own != axes)
        return r->back ? JX_CODE_MSH018 : JX_CODE_MSH008;
    return JX_CODE_MSH012;
}

static bool repair_groups(repairing *r)
{
    static const char *const along[] = {
        "this along another axis of the mesh",
        "this along more axes of the mesh", "groups along axes",
        "groups of devices that are further apart",
        "the axes in the other order"};
    sites where;
    const jx_eqn *at;
    unsigned own;

    find_sites(r->w->sharded.program, joins_devices, &where);
    if (!where.count)
        return false;
    for (int size = 1; size <= naxes(r); size++) /* few axes before many */
        for (unsigned axes = 1; axes < 1u << naxes(r); axes++) {
            jx_device_change change = {.kind = JX_DEVICES_REGROUPED,
                                       .axes = axes};
            if (__builtin_popcount(axes) != size ||
                !helps_somewhere(r, &where, change, &at))
                continue;
            jx_code code = code_of_groups(r, at, axes);
            return told(r, code, at,
                        along[code == JX_CODE_MSH012   ? 0
                              : code == JX_CODE_MSH026 ? 2
                                                       : 1]);
        }
    if (helps_somewhere(r, &where,
                        (jx_device_change){.kind = JX_DEVICES_STRIDED}, &at))
        return jx_group_axes(&r->w->sharded, at, &own)
                   ? told(r, JX_CODE_MSH012, at, along[0])
                   : told(r, JX_CODE_MSH026, at, along[3]);
    for (int k = 0; naxes(r) > 1 && k < naxes(r); k++) {
        jx_device_change change = {.kind = JX_DEVICES_REORDERED,
                                   .by = (int)size_of(r, k)};
        if (change.by > 1 && helps_somewhere(r, &where, change, &at))
            return told(r, JX_CODE_MSH022, at, along[4]);
    }
    return false;
}

/* ---- how arrays are cut */

static bool repair_order(repairing *r, const jx_eqn *at, int number)
{
    jx_device_change change = {
        .kind = JX_DEVICES_RECUT, .at = at, .number = number};

    if (jx_is_cut_by(at, number) > 1 && helps(r, &change))
        return told(r, JX_CODE_MSH022, at,
                    "the axes of a spec in the other order");
    for (int a = 0; a < naxes(r); a++)
        for (int b = a + 1; b < naxes(r); b++) {
            change.kind = JX_DEVICES_SWAPPED;
            change.axes = 1u << a | 1u << b;
            if (jx_is_cut_by(at, number) && size_of(r, a) == size_of(r, b) &&
                helps(r, &change))
                return told(r, JX_CODE_MSH022, at,
                            "two axes of a spec exchanged");
        }
    return false;
}

/* Blocks lie elsewhere for a reason that is nearer. */
static bool lie_across(const repairing *r)
{
    const jx_program *program = r->w->sharded.program;
    const jx_eqn *gather = jx_find_eqn(program, jx_gathers_devices);

    return (gather && jx_is_stacked(program, gather)) ||
           (r->w->fields->differs.rearranged &&
            jx_find_eqn(program, jx_moves_blocks));
}

static bool repair_specs(repairing *r)
{
    enum { MOST_FUSED = 4, MOST_ARRAYS = 32 };
    sites where;

    find_sites(r->w->sharded.program, jx_spreads, &where);
    for (int i = 0; naxes(r) > 1 && i < where.count; i++)
        for (int n = 0;
             n < where.at[i]->nins + where.at[i]->nouts && n < MOST_ARRAYS; n++)
            if (repair_order(r, where.at[i], n))
                return true;
    if (lie_across(r))
        return false;
    for (int i = 0; i < where.count; i++)
        for (int n = 0;
             n < where.at[i]->nins + where.at[i]->nouts && n < MOST_ARRAYS; n++)
            for (int by = 2; by <= MOST_FUSED && jx_is_cut_by(where.at[i], n);
                 by++)
                if (helps(r, &(jx_device_change){.kind = JX_DEVICES_FUSED,
                                                 .at = where.at[i],
                                                 .number = n,
                                                 .by = by}))
                    return told(
                        r, JX_CODE_MSH027, where.at[i],
                        jx_arena_printf(
                            r->w->program->ctx->arena,
                            "%s %d taken for %d arrays behind each other, each "
                            "of which is cut,",
                            n < where.at[i]->nins ? "operand" : "result",
                            n < where.at[i]->nins ? n : n - where.at[i]->nins,
                            by));
    return false;
}

/* ---- sums */

static bool repair_sum(repairing *r)
{
    sites where;
    const jx_eqn *at;

    find_sites(r->w->sharded.program, jx_reduces_devices, &where);
    if (!where.count)
        return false;
    for (int by = 1; by >= -1; by -= 2)
        if (helps_somewhere(
                r, &where,
                (jx_device_change){.kind = JX_DEVICES_SCALED, .by = by}, &at))
            return told(r, JX_CODE_MSH009, at,
                        by > 0 ? "a mean in place of this sum"
                               : "a sum in place of this mean");
    if (helps_somewhere(r, &where,
                        (jx_device_change){.kind = JX_DEVICES_LEFT_OUT}, &at))
        return told(r, JX_CODE_MSH007, at, "what is summed here left as it is");
    return false;
}

/* What a device makes of what it has is no part of the same of the whole. */
static bool repair_local_at(repairing *r, const jx_eqn *at,
                            const jx_eqn *without)
{
    for (int k = naxes(r) > 1 ? -1 : 0; k < naxes(r); k++)
        for (int mean = 0; mean < 2; mean++) {
            unsigned axes = k < 0 ? (1u << naxes(r)) - 1 : 1u << k;
            jx_device_change change = {.kind = JX_DEVICES_JOINED,
                                       .at = at,
                                       .without = without,
                                       .axes = axes,
                                       .by = mean};
            if (helps(r, &change))
                return true;
        }
    return false;
}

/* An extreme that is summed, or something else that is not linear. */
static bool is_curved_at(const repairing *r, const jx_eqn *at)
{
    const jx_program *program = r->w->sharded.program;
    bool extreme = at->prim->id == JX_PRIM_reduce_max ||
                   at->prim->id == JX_PRIM_reduce_min;

    return (extreme && jx_find_eqn(program, jx_reduces_devices)) ||
           jx_is_curved_behind(program, at);
}

static bool tell_local(repairing *r, const jx_eqn *at, bool curved)
{
    return told(r,
                curved    ? JX_CODE_MSH020
                : r->back ? JX_CODE_MSH018
                          : JX_CODE_MSH008,
                at, "what each device reduces here reduced over devices, too,");
}

static bool repair_local(repairing *r)
{
    const jx_program *program = r->w->sharded.program;
    sites where, sums;

    find_sites(program, jx_reduces_alone, &where);
    find_sites(program, jx_reduces_devices, &sums);
    /* the last first: what is done last may be all */
    for (int i = where.count - 1; i >= 0; i--)
        if (repair_local_at(r, where.at[i], NULL))
            return tell_local(r, where.at[i], is_curved_at(r, where.at[i]));
    if (where.count > 1 && repair_local_at(r, NULL, NULL))
        return tell_local(r, where.at[0], true);
    for (int i = 0; i < where.count; i++)
        for (int k = 0; k < sums.count; k++)
            if (repair_local_at(r, where.at[i], sums.at[k])) {
                bool curved = jx_is_curved_behind(program, where.at[i]);
                return told(r, curved ? JX_CODE_MSH020 : JX_CODE_MSH007,
                            where.at[i],
                            curved ? "what devices have of this summed up "
                                     "here, before something "
                                     "is made of it that is not linear,"
                                   : "what devices have of this summed up "
                                     "here, before something "
                                     "is added that all of them have,");
            }
    return false;
}

bool jx_equal_find_repair(const jx_equal_words *words, bool gradient,
                          jx_equal_cause *to)
{
    repairing r = {.w = words,
                   .gradient = gradient,
                   .back = gradient ||
                           jx_find_eqn(words->sharded.program, jx_is_backward),
                   .work = MOST_WORK,
                   .equations = MOST_EQUATIONS,
                   .to = to};

    return words->sharded.mesh && words->sharded.mesh->naxes <= 4 &&
           (repair_permutation(&r) || repair_number(&r) || repair_groups(&r) ||
            repair_specs(&r) || repair_sum(&r) || repair_local(&r) ||
            repair_index(&r));
}
