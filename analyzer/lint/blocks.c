/* blocks.c - the same steps written out over and over: layers that
 * could be a scan.
 *
 * Each equation has a hash of what it is (primitive, types, parameters, what it
 * calls) but not of what it takes, nor of which part a slice takes: so the i-th
 * layer looks like the one before.  A run is where the hash at n is the one at
 * n + period, for at least BLOCKS periods.  Hashes that come at least as often
 * and at equal distances say which periods to try, and a stretch that is known
 * to be a run is not looked at again.  Where each equation of a layer is there
 * more than once in it (four slopes of a Runge-Kutta step), so is not what
 * several of them in a row are.  Layers that are written out make more
 * runs than their own: their derivative is one, and so is what an optimizer
 * does to the parameters of each.  These are told of with the layers. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/params.h"

#include <stdlib.h>
#include <string.h>

/* Of cheap equations many are worth a word, and no Horner's scheme. */
enum { BLOCKS = 8, LEAST_PERIOD = 4, LEAST_CHEAP = 64, MOST_DEPTH = 32 };
/* So many further runs are named with the one that they come of. */
enum { MOST_THEN = 16 };

/* `count` blocks of `period` equations, of a jaxpr. */
typedef struct run {
    int count, period;
    int at;         /* the equation that is told of: costly, if any is */
    bool costly;    /* it does what takes long */
    jx_stack place; /* of the line that is told of; empty: none is known */
    bool is_told;   /* with another one */
} run;

typedef struct blocks {
    jx_linter *lint;
    JX_VEC(run) runs; /* of the jaxpr that is looked at */
    uint64_t
        *of_jaxpr; /* by number of the jaxpr: its hash, 0 if not known yet */
    bool *heavy;   /* ... and whether it does costly work */
} blocks;

static uint64_t hash_jaxpr(blocks *b, const jx_jaxpr *jaxpr, int depth);

/* Which part it takes, which is another one in each block. */
static bool is_choice(const jx_eqn *eqn, const char *param)
{
    return eqn->prim->id == JX_PRIM_slice &&
           (strcmp(param, "start_indices") == 0 ||
            strcmp(param, "limit_indices") == 0);
}

static uint64_t hash_value(blocks *b, const jx_value *value, int depth)
{
    uint64_t hash;

    if (!value)
        return 0;
    hash = jx_hash_mix((uint64_t)value->tag, (uint64_t)value->integer);
    hash = jx_hash_mix(hash, (uint64_t)value->dtype);
    hash = jx_hash_mix(hash, (uintptr_t)value->text);
    hash = jx_hash_mix(hash, (uintptr_t)value->dim);
    hash = jx_hash_mix(hash, jx_hash_bytes(&value->real, sizeof value->real));
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        return jx_hash_mix(hash, hash_jaxpr(b, value->jaxpr, depth + 1));
    if (value->tag == JX_V_RULE || value->tag == JX_V_FUNCTION)
        return hash; /* made anew for each call */
    for (int i = 0; value->items && i < value->count; i++)
        hash = jx_hash_mix(hash, hash_value(b, value->items[i], depth));
    return hash;
}

static uint64_t hash_eqn(blocks *b, const jx_eqn *eqn, int depth)
{
    uint64_t hash = jx_hash_mix((uintptr_t)eqn->prim, (uint64_t)eqn->nins);

    for (int i = 0; i < eqn->nins; i++)
        hash = jx_hash_mix(hash, (uintptr_t)jx_atom_aval(eqn->ins[i]));
    for (int i = 0; i < eqn->nouts; i++)
        hash = jx_hash_mix(hash, (uintptr_t)eqn->outs[i]->aval);
    for (int i = 0; i < eqn->nparams; i++)
        if (!is_choice(eqn, eqn->params[i].name))
            hash =
                jx_hash_mix(hash, hash_value(b, eqn->params[i].value, depth));
    return hash ? hash : 1;
}

static uint64_t hash_jaxpr(blocks *b, const jx_jaxpr *jaxpr, int depth)
{
    uint64_t hash = (uint64_t)jaxpr->nins + 1;

    if (b->of_jaxpr[jaxpr->id] || depth > MOST_DEPTH)
        return b->of_jaxpr[jaxpr->id];
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_closed *callee = jx_eqn_callee(&jaxpr->eqns[i]);
        hash = jx_hash_mix(hash, hash_eqn(b, &jaxpr->eqns[i], depth));
        b->heavy[jaxpr->id] |=
            jx_is_heavy(&jaxpr->eqns[i]) ||
            (callee && callee->jaxpr && b->heavy[callee->jaxpr->id]);
    }
    return b->of_jaxpr[jaxpr->id] = hash ? hash : 1;
}

/* -- runs ------------------------------------------------------------------ */

typedef struct met {
    uint64_t hash;
    int first, last, count, gap; /* of the stretch at equal distances */
} met;

static bool same_hash(const void *kept, const void *key)
{
    return ((const met *)kept)->hash == *(const uint64_t *)key;
}

static bool is_work(const blocks *b, const jx_eqn *eqns, int count)
{
    for (int i = 0; i < count; i++) {
        const jx_closed *callee = jx_eqn_callee(&eqns[i]);
        if (jx_is_heavy(&eqns[i]) ||
            (callee && callee->jaxpr && b->heavy[callee->jaxpr->id]))
            return true;
    }
    return false;
}

/* The line of the program's own function from which the equation comes, and
 * where that is not known the line that called for all equations of the block,
 * or else its own. */
static jx_stack block_place(blocks *b, const jx_jaxpr *jaxpr, int from,
                            int period, int at)
{
    jx_arena *arena = b->lint->ctx->arena;
    const jx_stack *head = b->lint->program->head;
    const jx_place place = {0, &jaxpr->eqns[at], jaxpr, NULL, 0};
    jx_stack own = jx_place_stack(arena, &place, NULL);
    int same = own.count;

    for (int i = 0; head && i < own.count; i++)
        if (own.frames[i]->file == head->frames[0]->file &&
            own.frames[i]->function && head->frames[0]->function &&
            strcmp(own.frames[i]->function, head->frames[0]->function) == 0) {
            same = own.count - i;
            period = 0;
            break;
        }
    for (int i = 0; i < period; i++) {
        const jx_place other = {0, &jaxpr->eqns[from + i], jaxpr, NULL, 0};
        jx_stack s = jx_place_stack(arena, &other, NULL);
        int k = 0;
        while (k < same && k < s.count &&
               own.frames[own.count - 1 - k]->file ==
                   s.frames[s.count - 1 - k]->file &&
               own.frames[own.count - 1 - k]->line ==
                   s.frames[s.count - 1 - k]->line)
            k++;
        same = k;
    }
    return same ? (jx_stack){same, own.frames + own.count - same} : own;
}

static void keep_run(blocks *b, const jx_jaxpr *jaxpr, int from, int period,
                     int count)
{
    run r = {.count = count, .period = period, .at = from};

    for (int i = from + period; i-- > from;)
        if (is_work(b, &jaxpr->eqns[i], 1)) {
            r.at = i;
            r.costly = true;
        }
    r.place = block_place(b, jaxpr, from, period, r.at);
    JX_PUSH(b->lint->ctx->arena, &b->runs, r);
}

/* Another run that comes of the same layers: what is cheap, as often, or what
 * the same line asks for.  (The derivative of the first or the last one is
 * another.) */
static bool comes_of(const run *of, const run *r)
{
    const jx_frame *a = jx_outside_frame(&of->place),
                   *b = jx_outside_frame(&r->place);

    return of->costly && abs(r->count - of->count) <= 1 && !r->is_told &&
           r != of &&
           (!r->costly || (a && b && a->file == b->file && a->line == b->line));
}

static void tell(blocks *b, const jx_jaxpr *jaxpr, run *r)
{
    jx_arena *arena = b->lint->ctx->arena;
    jx_flat_node place = {.jaxpr = jaxpr, .eqn = &jaxpr->eqns[r->at]};
    jx_consequence *then = JX_NEW_ARRAY(arena, MOST_THEN, jx_consequence);
    jx_claim *claim = jx_lint_suspect(
        b->lint, JX_CODE_PRF002, &place,
        jx_arena_printf(
            arena,
            "%d blocks of %d equation%s are alike: the program is traced and "
            "compiled once for each",
            r->count, r->period, r->period == 1 ? "" : "s"));

    if (!claim || !then)
        return;
    if (r->place.count)
        claim->stack = &r->place;
    claim->help = "stack their parameters, and go over them with jax.lax.scan "
                  "(layers) or "
                  "jax.vmap (what is independent)";
    claim->evidence.then = then;
    for (size_t i = 0; i < b->runs.count; i++) {
        run *other = &b->runs.at[i];
        if (!comes_of(r, other))
            continue;
        other->is_told = true;
        if (claim->evidence.nthen < MOST_THEN)
            then[claim->evidence.nthen++] = (jx_consequence){
                jx_arena_printf(arena, "%d blocks of %d equation%s",
                                other->count, other->period,
                                other->period == 1 ? "" : "s"),
                &other->place};
    }
}

/* The first costly run of a count takes its kin with it, also what is before
 * it: so the costly ones go first. */
static void tell_all(blocks *b, const jx_jaxpr *jaxpr)
{
    for (int costly = 1; costly >= 0; costly--)
        for (size_t i = 0; i < b->runs.count; i++)
            if (b->runs.at[i].costly == costly && !b->runs.at[i].is_told)
                tell(b, jaxpr, &b->runs.at[i]);
}

/* Somebody wrote many steps out, though each is cheap. */
static bool is_long(const blocks *b, const jx_eqn *eqns, int period, int count)
{
    int written = 0;

    for (int i = 0; i < period; i++)
        written += jx_place_is_written(b->lint->program, &eqns[i], NULL);
    return b->lint->program->nfiles && written >= LEAST_PERIOD &&
           written * count >= LEAST_CHEAP;
}

/* Looks at a stretch whose hashes at `first`, first + gap, ... agree; gives
 * where it ends. */
static int follow_run(blocks *b, const jx_jaxpr *jaxpr, const uint64_t *hashes,
                      int first, int gap, int done)
{
    int begin = first, end = first, count;

    while (begin > done && begin + gap - 1 < jaxpr->neqns &&
           hashes[begin - 1] == hashes[begin - 1 + gap])
        begin--;
    while (end + gap < jaxpr->neqns && hashes[end] == hashes[end + gap])
        end++;
    count = (end - begin) / gap + 1;
    if (count < BLOCKS)
        return 0;
    if (is_work(b, &jaxpr->eqns[begin], gap) ||
        is_long(b, &jaxpr->eqns[begin], gap, count))
        keep_run(b, jaxpr, begin, gap, count);
    return end + gap;
}

/* By `marks`, which are hashes of one equation or of several in a row.  Told
 * how far runs go, or nothing if there is none; false without memory. */
static bool look_for_runs(blocks *b, const jx_jaxpr *jaxpr,
                          const uint64_t *hashes, const uint64_t *marks,
                          int *to)
{
    jx_arena *arena = b->lint->ctx->arena;
    jx_intern table;
    int done = 0;

    jx_intern_init(&table, arena);
    for (int i = 0; i < jaxpr->neqns; i++) {
        const void *found =
            jx_intern_find(&table, marks[i], &marks[i], same_hash);
        met *m = (met *)(uintptr_t)found; /* ours, not const */
        if (i < done)
            continue;
        if (!m) {
            m = JX_NEW(arena, met);
            if (!m)
                return false;
            *m = (met){marks[i], i, i, 1, 0};
            if (!jx_intern_add(&table, marks[i], m))
                return false;
            continue;
        }
        if (m->count > 1 && i - m->last == m->gap) {
            m->count++;
        } else {
            m->first = m->last;
            m->gap = i - m->last;
            m->count = 2;
        }
        m->last = i;
        if (m->count == BLOCKS) {
            int end = follow_run(b, jaxpr, hashes, m->first, m->gap, done);
            done = end > done ? end : done;
        }
    }
    *to = done;
    return true;
}

static bool look_at_jaxpr(blocks *b, const jx_jaxpr *jaxpr)
{
    enum { ROW = 4 };
    jx_arena *arena = b->lint->ctx->arena;
    uint64_t *hashes = JX_NEW_ARRAY(arena, jaxpr->neqns + 1, uint64_t);
    uint64_t *rows = JX_NEW_ARRAY(arena, jaxpr->neqns + 1, uint64_t);
    int done = 0;

    if (!hashes || !rows)
        return false;
    for (int i = 0; i < jaxpr->neqns; i++)
        hashes[i] = hash_eqn(b, &jaxpr->eqns[i], 0);
    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = i; k < i + ROW && k < jaxpr->neqns; k++)
            rows[i] = jx_hash_mix(rows[i], hashes[k]);
    b->runs.at = NULL;
    b->runs.count = b->runs.capacity = 0;
    if (!look_for_runs(b, jaxpr, hashes, hashes, &done) ||
        (!done && !look_for_runs(b, jaxpr, hashes, rows, &done)))
        return false;
    tell_all(b, jaxpr);
    return true;
}

bool jx_lint_blocks(jx_linter *lint)
{
    const jx_program *program = lint->program;
    blocks b = {
        .lint = lint,
        .of_jaxpr = JX_NEW_ARRAY(lint->ctx->arena, program->njaxprs, uint64_t),
        .heavy = JX_NEW_ARRAY(lint->ctx->arena, program->njaxprs, bool)};

    if (!b.of_jaxpr || !b.heavy)
        return false;
    for (int i = 0; i < program->njaxprs; i++)
        hash_jaxpr(&b, program->jaxprs[i], 0);
    for (int i = 0; i < program->njaxprs; i++)
        if (lint->to->typed.jaxprs[i].runs &&
            program->jaxprs[i]->neqns >= BLOCKS &&
            !look_at_jaxpr(&b, program->jaxprs[i]))
            return false;
    return jx_ok(lint->ctx);
}
