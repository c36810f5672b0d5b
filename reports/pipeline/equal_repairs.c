/* equal_repairs.c - see equal_repairs.h.
 *
 * A repair is a row of a table (equal_repairs.def): a change of the program
 * (jx_device_change), where and in which ways it is tried, and what is wrong
 * with a program that it makes the other one. */
#include "reports/pipeline/equal_repairs.h"

#include "analyzer/collective.h"
#include "frontend/ir/element.h"
#include "frontend/ir/mesh.h"
#include "reports/pipeline/equal_ready.h"
#include "reports/pipeline/equal_repair_ways.h"

#include <stdlib.h>

/* Operations over fields, and equations that are written out, of all tries
 * together. */
enum { MOST_WORK = 1 << 28, MOST_EQUATIONS = 480000 };

typedef struct repairing {
    const jx_equal_words *w;
    const jx_program *program; /* before anything is written out */
    bool gradient;
    bool back; /* what is compared is a gradient, wherever it is made */
    int64_t work, equations; /* that are left */
    int alone;               /* the result that is repaired, from 1; 0: all */
    int runs; /* at which the last try that helped agreed; 0: over fields */
    bool unclamped; /* of the last one over fields: no slice is moved */
    jx_equal_cause *to;
} repairing;

static const jx_mesh *mesh_of(const repairing *r)
{
    return r->w->sharded.mesh;
}

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
 * where they do not see it more runs: of integers these see one choice. */
static bool is_the_other(repairing *r, jx_equal_question *question)
{
    jx_equal_fields fields;
    bool identical;
    int agreed;

    if (!jx_equal_agree(question, true))
        return false;
    question->work = r->work;
    if (r->work > 0 && !jx_equal_over_fields(question, &fields))
        return false;
    r->unclamped = r->work > 0 && !fields.clamped;
    r->work -= r->work > 0 ? fields.worked : 0;
    identical = r->work > 0 && fields.identical;
    agreed = identical && !fields.drawn ? 0 : jx_equal_agree(question, false);
    r->runs = identical ? 0 : agreed;
    return agreed || (identical && !fields.drawn);
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

/* ---- what is wrong: where that is not one thing for all of a row */

typedef void judge(const repairing *r, finding *f);

/* What is sent along an axis is meant to be along another one. */
static bool is_across(const repairing *r, const finding *f)
{
    unsigned axes = jx_sent_along(&r->w->sharded, f->at);

    return axes && !(axes & f->change->axes);
}

static void judge_shifted(const repairing *r, finding *f)
{
    if (is_across(r, f))
        f->code = JX_CODE_MSH012;
    else if (jx_skips_pair(&r->w->sharded, f->at, f->change->axes,
                           f->change->by, true))
        f->code = JX_CODE_MSH005;
}

/* That one has holes as well: as many are meant. */
static void judge_opened(const repairing *r, finding *f)
{
    if (is_across(r, f))
        f->code = JX_CODE_MSH012;
    else if (jx_skips_pair(&r->w->sharded, f->at, f->change->axes,
                           f->change->by, false))
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

/* It is slopes that are summed. */
static void judge_summed(const repairing *r, finding *f)
{
    if (jx_takes(r->program, f->at, jx_is_backward))
        f->code = JX_CODE_MSH017;
}

static void judge_moved_blocks(const repairing *r, finding *f)
{
    if (jx_find_stacked(r->program))
        f->code = JX_CODE_MSH014;
}

static void judge_turns(const repairing *r, finding *f)
{
    if (r->back && f->change->by > 0)
        f->code = JX_CODE_MSH018;
}

/* Others are sent there, of the right device or not. */
static void judge_filled(const repairing *r, finding *f)
{
    for (int i = 0; i < f->at->nins; i++)
        if (jx_is_sent(r->program, f->at->ins[i]))
            f->code = JX_CODE_MSH015;
}

static void judge_preceded(const repairing *r, finding *f)
{
    if (jx_dtype_is_integer(f->at->outs[0]->aval->dtype))
        f->code = JX_CODE_MSH015;
    else if (r->back)
        f->code = JX_CODE_MSH018;
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
    if (f->change->alike) {
        f->with = jx_arena_printf(
            r->w->program->ctx->arena,
            "operands of %lld elements taken for %d arrays behind each other, "
            "each of which is cut,",
            (long long)f->change->alike, f->change->by);
        return;
    }
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
    /* all that is made of a slope is summed later */
    bool late = r->back && jx_is_backward(f->at) &&
                jx_is_always_behind(r->program, f->at, jx_reduces_devices);
    bool forgotten =
        (product && !late) ||
        (sums && !jx_is_behind(r->program, f->at, jx_reduces_devices));

    /* of a parameter, whatever is made of that */
    bool slope = r->back && jx_is_backward(f->at) && !late;
    const jx_eqn *curve = jx_find_curve(&r->w->sharded);

    /* an extreme that is summed, or something else that is not linear: a ratio
     * both of whose sums are of one line */
    if (!f->change->at || (extreme && sums) ||
        (f->change->line && jx_find_ratio(&r->w->sharded)) ||
        (curve && curve->prim->id == JX_PRIM_mul && !forgotten) ||
        (jx_is_curved_behind(r->program, f->at) && !forgotten && !slope))
        f->code = JX_CODE_MSH020;
    else if (r->back)
        f->code = JX_CODE_MSH018;
}

static void judge_masked(const repairing *r, finding *f)
{
    /* of which the largest is taken */
    if (jx_is_behind(r->program, f->at, jx_reduces_devices))
        f->code = JX_CODE_MSH020;
    else if (r->back)
        f->code = JX_CODE_MSH018;
}

static void judge_summed_late(const repairing *r, finding *f)
{
    if (f->at->prim->id != JX_PRIM_reduce_max &&
        f->at->prim->id != JX_PRIM_reduce_min &&
        !jx_is_curved_between(r->program, f->at, f->change->without))
        return;
    f->code = JX_CODE_MSH020;
    f->with = "what devices have of this summed up here, before something is "
              "made of it that is not linear,";
}

/* ---- what is not tried */

typedef bool fits(const repairing *r, const jx_device_change *change);

static bool fits_holes(const repairing *r, const jx_device_change *change)
{
    jx_repair_sites where;
    bool holes = false;

    (void)change;
    jx_repair_find_sites(r->program, jx_permutes_devices, &where);
    for (int i = 0; i < where.count; i++)
        holes |= jx_leaves_holes(&r->w->sharded, where.at[i]);
    return holes;
}

/* ... or adds what is less than 0. */
static bool takes_away(const jx_eqn *eqn)
{
    const jx_literal *by = eqn->ins[1].var ? NULL : eqn->ins[1].literal;
    bool less = by && !by->dim && !by->array &&
                (int64_t)jx_element_integer(by->aval->dtype, by->bits) < 0;

    return less != (eqn->prim->id == JX_PRIM_sub);
}

/* A block and the permutation that brings its partner may both be turned.
 * Rings go to the next device, or of two one each way: the index is turned
 * where they do, and not where blocks are counted both ways. */
static bool fits_rings(const repairing *r, const jx_device_change *change)
{
    jx_repair_sites where;
    bool up = false, down = false, added = false, taken = false;

    (void)change;
    jx_repair_find_sites(r->program, jx_permutes_devices, &where);
    for (int i = 0; i < where.count; i++) {
        up |= jx_sends_on(&r->w->sharded, where.at[i], 1);
        down |= jx_sends_on(&r->w->sharded, where.at[i], -1);
    }
    jx_repair_find_numbered_sites(r->program, jx_moves_integers, &where);
    for (int i = 0; i < where.count; i++)
        *(takes_away(where.at[i]) ? &taken : &added) = true;
    return up && (down || !(added && taken));
}

static bool fits_cut(const repairing *r, const jx_device_change *change)
{
    return mesh_of(r)->naxes > 1 && change->at &&
           jx_is_cut_by(change->at, change->number) > 0;
}

static bool fits_cut_twice(const repairing *r, const jx_device_change *change)
{
    return mesh_of(r)->naxes > 1 && change->at &&
           jx_is_cut_by(change->at, change->number) > 1;
}

/* Where there are rows. */
static bool fits_rolled(const repairing *r, const jx_device_change *change)
{
    const jx_eqn *at = change->at;

    (void)r;
    return at && at->nins == 1 && jx_atom_aval(at->ins[0])->rank > 1 &&
           jx_dtype_is_float(jx_atom_aval(at->ins[0])->dtype);
}

static bool fits_all_cut(const repairing *r, const jx_device_change *change)
{
    (void)change;
    return mesh_of(r)->naxes > 1 && jx_find_eqn(r->program, jx_cuts_by_many);
}

/* Blocks lie elsewhere for a reason that is nearer. */
static bool fits_fused(const repairing *r, const jx_device_change *change)
{
    const jx_eqn *gather = jx_find_eqn(r->program, jx_gathers_devices);

    return change->at &&
           (change->alike || jx_is_cut_by(change->at, change->number) > 0) &&
           !(gather && jx_is_stacked(r->program, gather)) &&
           !(r->w->fields->differs.rearranged &&
             jx_find_eqn(r->program, jx_moves_blocks));
}

static bool fits_moved_blocks(const repairing *r,
                              const jx_device_change *change)
{
    (void)change;
    return jx_find_eqn(r->program, jx_moves_blocks) != NULL;
}

static bool fits_exchanged(const repairing *r, const jx_device_change *change)
{
    (void)change;
    return jx_find_eqn(r->program, jx_exchanges_devices) != NULL;
}

static bool fits_operand(const repairing *r, const jx_device_change *change)
{
    const jx_eqn *at = change->at;

    (void)r;
    return at && change->number < at->nins && at->ins[change->number].var &&
           jx_dtype_is_float(jx_atom_aval(at->ins[change->number])->dtype);
}

static bool fits_block(const repairing *r, const jx_device_change *change)
{
    int64_t size, count = 1;

    for (int k = 0; k < mesh_of(r)->naxes; k++)
        count *= change->axes >> k & 1 ? mesh_of(r)->sizes[k] : 1;
    return fits_exchanged(r, change) && change->at &&
           change->number < change->at->outs[0]->aval->rank &&
           jx_dim_is_int(change->at->outs[0]->aval->shape[change->number],
                         &size) &&
           size % count == 0;
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

typedef struct repair {
    jx_device_change change;
    jx_eqn_is *where;
    jx_repair_find *find;
    order order;
    jx_repair_ways *ways;
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
     jx_repair_##FIND,                                                         \
     ORDER,                                                                    \
     jx_repair_##WAYS,                                                         \
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
    /* it is a slice that would reach outside */
    if (f.code == JX_CODE_MSH015 && r->w->fields->clamped && r->unclamped)
        f.code = JX_CODE_MSH016;
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

static bool repair_in_a_way(repairing *r, const repair *row,
                            const jx_repair_sites *where,
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
    jx_repair_sites where;
    jx_repair_way how;

    change.alone = row->find == jx_repair_find_each;
    change.line = row->find == jx_repair_find_lines;
    row->find(r->program, row->where, &where);
    for (int n = 0; where.count && (how = row->ways(&r->w->sharded, n,
                                                    &change)) != JX_REPAIR_END;
         n++)
        if (how == JX_REPAIR_TRIED && repair_in_a_way(r, row, &where, change))
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
