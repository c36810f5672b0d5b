/* keys.c - random keys that are used twice.
 *
 * A key is used by what draws numbers from it (`draw`), split into others, or
 * something is folded into it.  Each use is an event of one key (key_views.h)
 * at one place.  Two events of a key that both happen are a finding:
 *
 *   draw, draw     RNG001  the same numbers, or numbers that hang together
 *   split, split   RNG001  the same new keys
 *   draw, split    RNG004  as draw, fold, and split, fold (a note)
 *   fold, fold     RNG003  with the same data, at whatever turns of loops: the
 *                          same new key
 *   seed, seed     RNG003  the same key
 *
 * What makes the same new keys again is none where it is gone on from in
 * another way each time: split(fold_in(key, 7), n)[0], then
 * split(fold_in(key, 7), n)[1].
 *
 * A key that a turn of a loop has used and leaves to the next is used again
 * there, and copies of one key draw the same.  Of keys[i] each turn takes the
 * row that its number says, where that is known (turns.h).  An event in a loop
 * happens at every step: with a key from outside of the loop it happens twice.
 * What excludes each other (branches of one cond) and what only repeats (remat,
 * a derivative that draws its mask again) does not count.  Numbers that JAX's
 * own functions draw by splitting their key first are drawn. */
#include "analyzer/lint/key_views.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "analyzer/lint/progression.h"
#include "analyzer/lint/turns.h"
#include "frontend/ir/params.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef enum use {
    USE_DRAW = 1,
    USE_SPLIT,
    USE_FOLD,
} use;

typedef struct event {
    int id; /* of the key */
    use use;
    bool maybe;  /* of some key of several, and `id` is one of these */
    bool either; /* ... by a choice that goes this way for some inputs */
    /* ... and a turn of a loop, which takes another at each, takes this */
    bool taken;
    int data;              /* of a fold: the value */
    const jx_calls *loops; /* around it, that the key is not carried through */
    jx_place at;
} event;

typedef struct keyring {
    jx_linter *lint;
    const jx_flat *flat;
    jx_keys keys;
    jx_needed needed;
    JX_VEC(event) events;
    int turned; /* the index that was last looked at, and whether ... */
    bool turns_known;
    jx_turns turns;       /* ... it is these */
    bool *told;           /* by node: what it gives has been told of */
    unsigned char *said;  /* by order of the place: 1 a use, 2 a constant */
    unsigned char *used;  /* by key: 1 << use of each that is certain */
    unsigned char *apart; /* by event: see has_its_own(); 0: not asked yet */
} keyring;

/* -- loops ----------------------------------------------------------------- */

static bool runs_once(const jx_eqn *eqn)
{
    int64_t length;

    return eqn->prim->id == JX_PRIM_scan && eqn->typed &&
           jx_dim_is_int(((const jx_p_scan *)eqn->typed)->length, &length) &&
           length < 2;
}

/* The body of a loop around `calls` that leaves a value of that frame as
 * it is, or NULL. */
static const jx_calls *repeats(const keyring *r, int frame,
                               const jx_calls *calls)
{
    const jx_calls *own = frame ? r->flat->bodies.at[frame - 1].calls : NULL;

    for (; calls && calls != own; calls = calls->outer)
        if ((calls->eqn->prim->id == JX_PRIM_scan ||
             calls->eqn->prim->id == JX_PRIM_while) &&
            !runs_once(calls->eqn))
            return calls;
    return NULL;
}

/* The branch is that of one number that a loop counts: the first turn, say. */
static bool is_of_one_turn(const keyring *r, const jx_flat_body *branch,
                           const jx_calls *loop)
{
    const jx_flat_node *test =
        jx_maker(r->flat, jx_shown(r->flat, branch->ins[0]));
    jx_progression turns;

    if (test && test->eqn->prim->id == JX_PRIM_convert_element_type)
        test = jx_maker(r->flat, jx_shown(r->flat, test->ins[0]));
    if (!test ||
        test->eqn->prim->id != (branch->which ? JX_PRIM_eq : JX_PRIM_ne))
        return false;
    for (int i = 0; i < 2; i++)
        if (!r->lint->frames[test->ins[1 - i]] &&
            jx_progression_of(r->flat, test->ins[i], &turns) &&
            turns.body == loop && turns.step)
            return true;
    return false;
}

static bool happens_once(const keyring *r, const jx_calls *calls,
                         const jx_calls *loop)
{
    for (; calls && calls != loop; calls = calls->outer)
        for (size_t i = 0;
             calls->eqn->prim->id == JX_PRIM_cond && i < r->flat->bodies.count;
             i++)
            if (r->flat->bodies.at[i].calls == calls &&
                is_of_one_turn(r, &r->flat->bodies.at[i], loop))
                return true;
    return false;
}

/* The loop around an event at more than one turn of which it happens with a
 * value of that frame, or NULL. */
static const jx_calls *happens_again(const keyring *r, int frame,
                                     const event *e)
{
    const jx_calls *body = repeats(r, frame, e->loops);

    while (body && happens_once(r, e->at.calls, body))
        body = repeats(r, frame, body->outer);
    return body;
}

static int frame_of_key(const keyring *r, int id)
{
    return r->lint->frames[jx_key_source_of(&r->keys, id)->value];
}

/* -- events ---------------------------------------------------------------- */

enum { MOST_EVENTS = 1 << 20 };

static void record(keyring *r, event e);

/* No branch within the body leads there: each turn of the loop comes by. */
static bool is_at_each_turn(const jx_calls *calls, const jx_calls *body)
{
    while (calls && calls != body && calls->eqn->prim->id != JX_PRIM_cond)
        calls = calls->outer;
    return calls == body;
}

/* A row of an array of keys that has one axis. */
static bool is_row_of(const keyring *r, const jx_flat_node *node,
                      const jx_key_source *source)
{
    const jx_aval *from = r->flat->values.at[node->ins[0]].aval;
    int64_t rows;

    return from->rank == (from->dtype == JX_KEY ? 1 : 2) &&
           jx_dim_is_int(from->shape[0], &rows) && rows == source->nparents;
}

/* What an index is turn by turn, or NULL: one key is used again and again. */
static const jx_turns *turns_of(keyring *r, int index)
{
    if (r->turned != index)
        r->turns_known = jx_turns_of(r->flat, index, &r->turns);
    r->turned = index;
    return r->turns_known ? &r->turns : NULL;
}

/* What each turn of a loop does with one row of keys from outside of it, where
 * it is known which: jax.random.split(key, n)[i]. */
static bool record_taken(keyring *r, const jx_key_source *source,
                         const event *e)
{
    const jx_flat_node *node = jx_maker(r->flat, source->value);
    const jx_turns *known;
    jx_turns turns;
    event of = *e;

    if (source->link != JX_KEYS_CHOSEN || e->maybe || source->count != 1 ||
        !node || node->eqn->prim->id != JX_PRIM_dynamic_slice ||
        !is_row_of(r, node, source) || !(known = turns_of(r, node->ins[1])) ||
        !is_at_each_turn(e->at.calls, known->body))
        return false;
    turns = *known; /* others are looked at for the keys of these keys */
    for (int i = 0; i < turns.count; i++)
        if (turns.at[i] < 0 || turns.at[i] >= source->nparents ||
            repeats(r, frame_of_key(r, source->parents[turns.at[i]]),
                    turns.body) != turns.body)
            return false;
    of.taken = true;
    for (int i = 0; i < turns.count; i++) {
        int before = 0, after = 0;
        for (int k = 0; k < turns.count; k++)
            if (k != i && turns.at[k] == turns.at[i])
                *(k < i ? &before : &after) += 1;
        of.id = source->parents[turns.at[i]];
        of.loops = after ? turns.body : turns.body->outer;
        if (!before)
            record(r, of);
    }
    return true;
}

/* What is done with a key of a loop's body is done with what it began as. */
static void record(keyring *r, event e)
{
    const jx_key_source *source = jx_key_source_of(&r->keys, e.id);
    int own = e.id - source->first, step = source->count;

    if (r->events.count >= MOST_EVENTS)
        return;
    JX_PUSH(r->lint->ctx->arena, &r->events, e);
    if (source->link == JX_KEYS_ALONE)
        return;
    if (record_taken(r, source, &e))
        return;
    e.either = source->link == JX_KEYS_EITHER && !e.maybe;
    e.maybe |= source->link == JX_KEYS_CHOSEN || e.either;
    if (source->link == JX_KEYS_CARRIED || source->link == JX_KEYS_SLICED) {
        int inside = r->flat->values.at[source->value].inside;
        e.loops = r->flat->bodies.at[inside - 1].calls->outer;
    }
    for (int i = source->link == JX_KEYS_CHOSEN ? 0 : own; i < source->nparents;
         i += source->link == JX_KEYS_CHOSEN ? 1 : step) {
        e.id = source->parents[i];
        record(r, e);
    }
}

static void record_all(keyring *r, use how, int value, int data,
                       const jx_place *place)
{
    const jx_key_view *view = jx_keys_of(&r->keys, value);

    for (int i = 0; view && i < view->count; i++)
        record(r, (event){.id = view->ids[i],
                          .use = how,
                          .data = data,
                          .loops = place->calls,
                          .at = *place});
}

static void look(keyring *r, const jx_place *place)
{
    const jx_flat_node *node = &r->flat->nodes.at[place->node];

    if (!node->live || !jx_place_is_needed(&r->needed, place))
        return;
    switch (node->eqn->prim->id) {
    case JX_PRIM_random_bits:
    case JX_PRIM_random_gamma:
    case JX_PRIM_rng_bit_generator:
        record_all(r, USE_DRAW, node->ins[0], -1, place);
        break;
    case JX_PRIM_random_split:
        record_all(
            r,
            jx_place_is_written(r->lint->program, place->eqn, place->calls)
                ? USE_SPLIT
                : USE_DRAW,
            node->ins[0], -1, place);
        break;
    case JX_PRIM_random_fold_in:
        record_all(r, USE_FOLD, node->ins[0], node->ins[1], place);
        jx_keys_of(&r->keys, node->outs[0]);
        break;
    default: break;
    }
}

static int compare(const void *a_, const void *b_)
{
    const event *a = a_, *b = b_;

    return a->id != b->id
               ? (a->id < b->id ? -1 : 1)
               : (a->at.order > b->at.order) - (a->at.order < b->at.order);
}

/* -- pairs ----------------------------------------------------------------- */

static const jx_calls *remat_of(const jx_calls *calls)
{
    for (; calls; calls = calls->outer)
        if (jx_prim_is_remat(calls->eqn->prim->id))
            return calls;
    return NULL;
}

/* One of both draws again what the other has drawn, on purpose: a derivative
 * needs the mask that its function used. */
static bool recomputes(const jx_place *a, const jx_place *b)
{
    bool back = jx_place_is_backward(a->eqn, a->calls);

    if (back != jx_place_is_backward(b->eqn, b->calls))
        return true;
    if (back)
        return remat_of(a->calls) != remat_of(b->calls) &&
               jx_frame_same(jx_place_frame(a->eqn, a->calls),
                             jx_place_frame(b->eqn, b->calls));
    return a->node == b->node &&
           jx_place_is_derivative(a->eqn, a->calls) !=
               jx_place_is_derivative(b->eqn, b->calls) &&
           jx_frame_same(jx_place_frame(a->eqn, a->calls),
                         jx_place_frame(b->eqn, b->calls));
}

static bool is_control(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond;
}

/* Both are in one call of a function of JAX's, which chooses between them:
 * jax.random.poisson has two ways to draw.  Where that function is no jit, what
 * it calls stands where it was called; but nobody's lines are in the loops of
 * jax.random.binomial. */
static bool is_one_call(const keyring *r, const jx_place *a, const jx_place *b)
{
    jx_place first = jx_place_written(r->lint->program, a);
    jx_place second = jx_place_written(r->lint->program, b);

    if (!first.eqn || !second.eqn || first.eqn == a->eqn ||
        second.eqn == b->eqn)
        return false;
    if (first.eqn == second.eqn)
        return first.calls == second.calls;
    return (is_control(first.eqn) || is_control(second.eqn)) &&
           jx_frame_same(jx_place_frame(first.eqn, first.calls),
                         jx_place_frame(second.eqn, second.calls));
}

/* Its result has the same keys, each as often. */
static bool keeps_each(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_random_wrap:
    case JX_PRIM_random_unwrap:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims: return true;
    default: return false;
    }
}

/* Some turn of a loop folds in what the other does, or another turn of it:
 * i and i + 1. */
static bool folds_alike(const keyring *r, const event *a, const event *b)
{
    jx_progression of_a, of_b;

    return a->data == b->data || (jx_progression_of(r->flat, a->data, &of_a) &&
                                  jx_progression_of(r->flat, b->data, &of_b) &&
                                  jx_progressions_meet(&of_a, &of_b));
}

/* Both are draws of one equation, from copies of a key that somebody made on
 * another line (jnp.broadcast_to, jnp.stack), or of rows taken twice; vmap copies keys where it needs
 * them, and draws once. */
static bool are_copies(const keyring *r, const event *a, const event *b)
{
    const jx_flat_node *draw = &r->flat->nodes.at[a->at.node];
    const jx_flat_node *copy = jx_maker(r->flat, draw->ins[0]);

    if (a->at.order != b->at.order || a->use != USE_DRAW)
        return false;
    while (copy && copy->nins && keeps_each(copy->eqn))
        copy = jx_maker(r->flat, copy->ins[0]);
    return copy && (copy->eqn->prim->id == JX_PRIM_gather ||
                    ((copy->eqn->prim->id == JX_PRIM_broadcast_in_dim ||
                      copy->eqn->prim->id == JX_PRIM_concatenate ||
                      copy->eqn->prim->id == JX_PRIM_stack) &&
                     !jx_frame_same(jx_place_frame(copy->eqn, copy->calls),
                                    jx_place_frame(a->at.eqn, a->at.calls))));
}

static bool is_in_branch(const jx_calls *calls)
{
    while (calls && calls->eqn->prim->id != JX_PRIM_cond)
        calls = calls->outer;
    return calls != NULL;
}

/* Both draw, one of them always, the other where a choice goes that way: which
 * branches might be the same choice is not known. */
static bool draws_chosen(const event *a, const event *b)
{
    return a->use == USE_DRAW && b->use == USE_DRAW &&
           (a->maybe ? a->either && !b->maybe : b->either) &&
           !is_in_branch(a->at.calls) && !is_in_branch(b->at.calls);
}

/* What is wrong with both; JX_CODE_NONE if nothing is. */
static jx_code code_of(const keyring *r, const event *a, const event *b)
{
    if (a->maybe || b->maybe)
        return draws_chosen(a, b) ? JX_CODE_RNG001 : JX_CODE_NONE;
    if (a->at.order == b->at.order)
        return are_copies(r, a, b) ? JX_CODE_RNG001 : JX_CODE_NONE;
    if (a->use == USE_FOLD && b->use == USE_FOLD)
        return folds_alike(r, a, b) ? JX_CODE_RNG003 : JX_CODE_NONE;
    return a->use == b->use ? JX_CODE_RNG001 : JX_CODE_RNG004;
}

static const char *const verbs[] = {
    [USE_DRAW] = "drawn from",
    [USE_SPLIT] = "split",
    [USE_FOLD] = "folded into",
};

static const char *where(keyring *r, const jx_place *place)
{
    const jx_frame *frame = jx_place_frame(place->eqn, place->calls);
    const char *base, *slash;

    if (!frame)
        return NULL;
    base = frame->file->path;
    slash = strrchr(base, '/');
    return jx_arena_printf(r->lint->ctx->arena, "%s:%d",
                           slash ? slash + 1 : base, frame->line);
}

/* One finding for an equation at its place; shown at `stack`, if
 * that is given. */
static jx_claim *tell(keyring *r, jx_code code, const jx_place *place,
                      const jx_stack *stack, const char *what)
{
    const jx_flat_node node = {
        .eqn = place->eqn, .jaxpr = place->jaxpr, .calls = place->calls};
    jx_claim *claim;

    if (r->said[place->order] & (code == JX_CODE_RNG002 ? 2 : 1))
        return NULL;
    r->said[place->order] |= code == JX_CODE_RNG002 ? 2 : 1;
    claim = jx_lint_claim(r->lint, code, &node, what);
    if (claim)
        claim->stack = stack;
    return claim;
}

static void tell_pair(keyring *r, jx_code code, const event *a, const event *b)
{
    jx_arena *arena = r->lint->ctx->arena;
    const char *before = where(r, &a->at);
    jx_claim *claim =
        tell(r, code, &b->at, jx_places_meet(arena, &a->at, &b->at),
             code == JX_CODE_RNG003 && a->data != b->data
                 ? "a number is folded into a key into which another turn of a "
                   "loop folds it as well: both new keys are one"
             : a->at.order == b->at.order
                 ? "copies of one key are drawn from: all give the same numbers"
             : code == JX_CODE_RNG003
                 ? "the same number is folded into the same key again: both "
                   "new keys are one"
                 : jx_arena_printf(arena, "a key is %s that was %s before",
                                   verbs[b->use], verbs[a->use]));

    if (a->use == b->use && a->at.node == b->at.node)
        r->told[b->at.node] = true;
    if (!claim)
        return;
    if (before && a->at.order != b->at.order)
        claim->evidence.note =
            jx_arena_printf(arena, "it was %s at %s", verbs[a->use], before);
    if (code == JX_CODE_RNG004 && a->use != USE_DRAW && b->use != USE_DRAW)
        claim->level = JX_NOTE;
    claim->help =
        code == JX_CODE_RNG003
            ? "fold in a number of its own for each key"
            : "split the key first, and use each of the new keys once";
}

static bool is_consumed(const keyring *r, int id)
{
    return (r->used[id] & (1 << USE_DRAW | 1 << USE_SPLIT)) != 0;
}

/* Two turns of the loop, and all come by, fold in the same number. */
static bool folds_again(const keyring *r, const event *e, const jx_calls *body)
{
    jx_turns turns;

    return !e->taken && jx_turns_of(r->flat, e->data, &turns) &&
           turns.body == body && is_at_each_turn(e->at.calls, body) &&
           jx_turns_meet(&turns);
}

/* A loop around the one that counts what is folded in. */
static bool counts_again(const keyring *r, const event *e)
{
    int frame = frame_of_key(r, e->id);
    jx_progression data;

    if (!jx_progression_of(r->flat, e->data, &data) || !data.count)
        return false;
    for (const jx_calls *body = repeats(r, frame, e->loops); body;
         body = repeats(r, frame, body->outer))
        if (body != data.body)
            return true;
    return false;
}

/* Each turn of the loop, which nothing repeats, takes another of the keys that
 * it gives: jax.random.split(key, n)[i]. */
static bool is_picked_from(const keyring *r, const event *e,
                           const jx_calls *body)
{
    const jx_flat_node *node = &r->flat->nodes.at[e->at.node];
    const jx_key_view *view = r->keys.views[node->outs[0]];
    bool picked = false;

    if (repeats(r, frame_of_key(r, e->id), body->outer))
        return false;
    for (int i = 0; view && i < view->count; i++)
        if (r->used[view->ids[i]])
            return false;
    for (size_t i = 0; view && i < r->keys.sources.count; i++) {
        const jx_key_source *source = &r->keys.sources.at[i];
        const jx_flat_node *pick = jx_maker(r->flat, source->value);
        if (source->link != JX_KEYS_CHOSEN || !pick || pick->nins < 2 ||
            source->parents[0] < view->ids[0] ||
            source->parents[0] > view->ids[view->count - 1])
            continue;
        int frame = r->lint->frames[pick->ins[1]];
        picked = true;
        if (!frame || r->flat->bodies.at[frame - 1].calls != body ||
            repeats(r, frame, pick->calls))
            return false;
    }
    return picked;
}

/* The number of the first event of a key or of a later one; they are sorted. */
static size_t events_from(const keyring *r, int id)
{
    size_t low = 0, high = r->events.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->events.at[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const event *at_or_after(const keyring *r, size_t i, int id)
{
    while (i < r->events.count && r->events.at[i].id == id &&
           (r->events.at[i].maybe || r->events.at[i].taken))
        i++;
    return i < r->events.count && r->events.at[i].id == id ? &r->events.at[i]
                                                           : NULL;
}

/* The first certain use of a key, or NULL. */
static const event *first_use(const keyring *r, int id)
{
    return at_or_after(r, events_from(r, id), id);
}

/* The next one of the same key. */
static const event *next_use(const keyring *r, const event *e)
{
    return at_or_after(r, (size_t)(e - r->events.at) + 1, e->id);
}

/* What a fold gives is only gone on from, so that the turns of the loop have
 * keys of their own: fold_in(fold_in(key, epoch), step), or
 * split(fold_in(key, 7), n)[i]. */
static bool is_gone_on_from(keyring *r, const event *e, const jx_calls *body)
{
    const jx_flat_node *node = &r->flat->nodes.at[e->at.node];
    const jx_key_view *view = jx_keys_of(&r->keys, node->outs[0]);

    for (int i = 0; view && i < view->count; i++) {
        int id = view->ids[i];
        if (!r->used[id] || (r->used[id] & 1 << USE_DRAW))
            return false;
        for (const event *of = first_use(r, id); of; of = next_use(r, of))
            if (of->use == USE_SPLIT && !is_picked_from(r, of, body))
                return false;
    }
    return view != NULL;
}

static void tell_repeated(keyring *r, const event *e, const jx_calls *body)
{
    jx_code code = e->use == USE_FOLD ? JX_CODE_RNG003 : JX_CODE_RNG001;
    jx_arena *arena = r->lint->ctx->arena;
    jx_claim *claim;

    if (e->use == USE_FOLD &&
        (is_gone_on_from(r, e, body) ||
         (!repeats(r, r->lint->frames[e->data], e->loops) &&
          !counts_again(r, e) && !folds_again(r, e, body))))
        return;
    if (e->use == USE_SPLIT && is_picked_from(r, e, body))
        return;
    claim =
        tell(r, code, &e->at, jx_place_in_body(arena, &e->at, body),
             jx_arena_printf(
                 arena, "the same key is %s at %s of a loop%s", verbs[e->use],
                 e->taken || (e->use == USE_FOLD && folds_again(r, e, body))
                     ? "more than one step"
                     : "every step",
                 e->use == USE_FOLD ? ", with the same number" : ""));
    if (e->use != USE_DRAW)
        r->told[e->at.node] = true;
    if (claim)
        claim->help = "carry the key and split it at every step, or fold the "
                      "step's number into it";
}

/* -- what is done with one key --------------------------------------------- */

enum { LOOK_BACK = 16 };

static bool has_its_own(keyring *r, const event *e);

/* What is wrong with two events that both happen, `b` last. */
static jx_code clash(keyring *r, const event *a, const event *b)
{
    jx_code code = code_of(r, a, b);

    if (code == JX_CODE_NONE || jx_places_exclude(a->at.calls, b->at.calls) ||
        recomputes(&a->at, &b->at) ||
        (a->at.order != b->at.order && is_one_call(r, &a->at, &b->at)) ||
        (a->at.node == b->at.node && b->use != USE_DRAW && has_its_own(r, b)))
        return JX_CODE_NONE;
    return code;
}

/* Event number `i` clashes with one before it, of those of its key from number
 * `first` on; so may what is of some key of several. */
static bool clashes(keyring *r, size_t first, size_t i)
{
    const event *e = &r->events.at[i];

    for (size_t k = i > first + LOOK_BACK ? i - LOOK_BACK : first; k < i; k++) {
        const event *before = &r->events.at[k];
        if (before->maybe || e->maybe
                ? before->at.order != e->at.order &&
                      !jx_places_exclude(before->at.calls, e->at.calls)
                : clash(r, before, e) != JX_CODE_NONE)
            return true;
    }
    return false;
}

/* The keys that a node makes once more there, at a place of that order, are
 * used before the next place `until` makes them again, and in no way that was
 * there before. */
static bool go_on_apart(keyring *r, int node, int order, int until)
{
    int made = r->flat->nodes.at[node].outs[0];
    const jx_key_view *view = r->keys.views[made];
    bool any = false;

    for (int i = 0; view && i < view->count; i++) {
        size_t first = events_from(r, view->ids[i]);
        for (size_t k = first;
             k < r->events.count && r->events.at[k].id == view->ids[i] &&
             r->events.at[k].at.order < until;
             k++) {
            if (r->events.at[k].at.order < order)
                continue;
            if (view->coarse || clashes(r, first, k))
                return false;
            any = true;
        }
    }
    return any;
}

/* The same of an event that makes keys which were made before. */
static bool has_its_own(keyring *r, const event *e)
{
    size_t number = (size_t)(e - r->events.at), next = number + 1;
    const event *all = r->events.at;

    while (next < r->events.count && all[next].id == e->id &&
           all[next].at.node != e->at.node)
        next++;
    if (!r->apart[number])
        r->apart[number] =
            1 + go_on_apart(r, e->at.node, e->at.order,
                            next < r->events.count && all[next].id == e->id
                                ? all[next].at.order
                                : INT_MAX);
    return r->apart[number] == 2;
}

static void judge(keyring *r, const event *of, size_t count)
{
    const jx_key_source *source = jx_key_source_of(&r->keys, of->id);
    int maker = r->flat->values.at[source->value].node;

    if (source->coarse || (maker >= 0 && r->told[maker]))
        return;
    for (size_t i = 0; i < count; i++) {
        const event *e = &of[i];
        const jx_calls *body =
            e->maybe ? NULL : happens_again(r, frame_of_key(r, e->id), e);
        if (body &&
            jx_place_is_written(r->lint->program, body->eqn, body->outer))
            tell_repeated(r, e, body);
        for (size_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            jx_code code = clash(r, &of[k], e);
            if (code == JX_CODE_NONE)
                continue;
            tell_pair(r, code, &of[k], e);
            break;
        }
    }
}

/* All events are known. */
static bool sort_events(keyring *r)
{
    jx_arena *arena = r->lint->ctx->arena;
    size_t count = r->events.count;
    event *all = r->events.at;

    r->used = JX_NEW_ARRAY(arena, r->keys.source_of.count, unsigned char);
    r->apart = JX_NEW_ARRAY(arena, count, unsigned char);
    if (!r->used || !r->apart)
        return false;
    if (count)
        qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count; i++)
        if (!all[i].maybe && !all[i].taken)
            r->used[all[i].id] |= (unsigned char)(1 << all[i].use);
    return true;
}

static void judge_all(keyring *r)
{
    size_t count = r->events.count;
    const event *all = r->events.at;

    for (size_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && all[i + n].id == all[i].id; n++)
            continue;
        judge(r, &all[i], n);
    }
}

/* -- from turn to turn ----------------------------------------------------- */

/* A turn of a loop leaves a key that it has used, and the next one uses it
 * again: told where the first does what the second had to be left to do. */
static void look_at_turn(keyring *r, int carried, int left)
{
    jx_arena *arena = r->lint->ctx->arena;
    const event *before, *after;
    jx_claim *claim;

    if (carried == left || !is_consumed(r, left) ||
        jx_key_source_of(&r->keys, left)->coarse)
        return;
    before = first_use(r, left);
    after = first_use(r, carried);
    if (!before || !after)
        return;
    claim = tell(
        r, before->use == after->use ? JX_CODE_RNG001 : JX_CODE_RNG004,
        &before->at, jx_places_meet(arena, &after->at, &before->at),
        jx_arena_printf(arena, "a key is %s that is %s at the loop's next turn",
                        verbs[before->use], verbs[after->use]));
    if (claim)
        claim->help = "split the key first, and carry one of the new keys that "
                      "nothing else uses";
}

static void look_at_carries(keyring *r)
{
    for (size_t i = 0; i < r->keys.sources.count; i++) {
        jx_key_source source = r->keys.sources.at[i];
        int next = source.link == JX_KEYS_CARRIED && !source.coarse
                       ? jx_keys_next_of(&r->keys, source.value)
                       : -1;
        const jx_key_view *view = next >= 0 ? r->keys.views[next] : NULL;
        for (int k = 0; view && k < view->count && k < source.count; k++)
            look_at_turn(r, source.first + k, view->ids[k]);
    }
}

/* -- seeds and signatures -------------------------------------------------- */

static void tell_constant(keyring *r, const jx_place *place, const char *what)
{
    jx_claim *claim = tell(r, JX_CODE_RNG002, place, NULL, what);

    if (claim)
        claim->help = "take the key, or its seed, as an argument: every run of "
                      "this program draws the same numbers";
}

static void look_at_seed(keyring *r, int n)
{
    const jx_flat_node *node = &r->flat->nodes.at[n];
    jx_place place = jx_place_of_node(r->flat, n);

    if (node->eqn->prim->id != JX_PRIM_random_seed || !node->live)
        return;
    if (!r->flat->values.at[node->ins[0]].varies &&
        jx_place_is_needed(&r->needed, &place))
        tell_constant(r, &place, "a key is made from a constant");
}

static bool has_seed_of_its_own(keyring *r, size_t number)
{
    const jx_flat_repeat *repeat = &r->flat->repeats.at[number];

    for (size_t i = number + 1; i < r->flat->repeats.count; i++)
        if (r->flat->repeats.at[i].node == repeat->node)
            return go_on_apart(r, repeat->node, repeat->order,
                               r->flat->repeats.at[i].order);
    return go_on_apart(r, repeat->node, repeat->order, INT_MAX);
}

static void look_again_at_seed(keyring *r, size_t number)
{
    const jx_flat_repeat *repeat = &r->flat->repeats.at[number];
    const jx_flat_node *node = &r->flat->nodes.at[repeat->node];
    jx_place first = jx_place_of_node(r->flat, repeat->node);
    jx_place place = jx_place_of_repeat(repeat);
    jx_claim *claim;
    const char *before;

    if (node->eqn->prim->id != JX_PRIM_random_seed || !node->live ||
        !jx_place_is_needed(&r->needed, &place) ||
        !jx_place_is_needed(&r->needed, &first) ||
        jx_places_exclude(first.calls, place.calls) ||
        recomputes(&first, &place) || has_seed_of_its_own(r, number))
        return;
    r->told[repeat->node] = true;
    claim = tell(r, JX_CODE_RNG003, &place,
                 jx_places_meet(r->lint->ctx->arena, &first, &place),
                 "a key is made from the same seed again: both are one");
    before = where(r, &first);
    if (claim && before)
        claim->evidence.note = jx_arena_printf(
            r->lint->ctx->arena, "the first one was made at %s", before);
    if (claim)
        claim->help = "split one key, and use each of the new keys once";
}

/* The keys of an array that the program holds. */
static void look_at_constants(keyring *r)
{
    bool *seen = JX_NEW_ARRAY(r->lint->ctx->arena, r->keys.sources.count, bool);

    for (size_t i = 0; seen && i < r->events.count; i++) {
        const event *e = &r->events.at[i];
        int number = r->keys.source_of.at[e->id];
        const jx_flat_value *v =
            &r->flat->values.at[r->keys.sources.at[number].value];
        if (seen[number] || (!v->array && !v->literal))
            continue;
        seen[number] = true;
        tell_constant(r, &e->at, "a key is a constant of the program");
    }
}

/* The program's input that a key begins as, or -1. */
static int input_of(const keyring *r, int id)
{
    const jx_key_source *source = jx_key_source_of(&r->keys, id);
    const jx_flat_value *v;

    while (source->link != JX_KEYS_ALONE && source->nparents)
        source = jx_key_source_of(&r->keys, source->parents[0]);
    v = &r->flat->values.at[source->value];
    return v->node < 0 && v->level == 0 && !v->inside ? v->input : -1;
}

static bool look_at_signature(keyring *r)
{
    int nins = r->lint->program->entry.jaxpr->nins;
    bool *told = JX_NEW_ARRAY(r->lint->ctx->arena, nins, bool);

    for (size_t n = 0; told && n < r->flat->nodes.count; n++) {
        const jx_flat_node *node = &r->flat->nodes.at[n];
        const jx_key_view *view = node->eqn->prim->id == JX_PRIM_random_wrap
                                      ? jx_keys_of(&r->keys, node->ins[0])
                                      : NULL;
        int input = view && view->count ? input_of(r, view->ids[0]) : -1;
        jx_claim *claim;
        if (input < 0 || !node->live || told[input])
            continue;
        told[input] = true;
        claim = jx_lint_claim_of_input(r->lint, JX_CODE_RNG005, input, node,
                                       "is a raw key: an array of uint32");
        if (!claim)
            return false;
        claim->help =
            "take a key that jax.random.key makes: its type says what "
            "it is, and arithmetic on it is an error";
    }
    return told != NULL;
}

/* The last node that uses a key of the view. */
static const jx_flat_node *last_use(const keyring *r, const jx_key_view *view)
{
    const event *last = NULL;

    for (size_t i = 0; i < r->events.count; i++)
        for (int k = 0; k < view->count; k++)
            if (r->events.at[i].id == view->ids[k] &&
                (!last || last->at.order < r->events.at[i].at.order))
                last = &r->events.at[i];
    return last ? &r->flat->nodes.at[last->at.node] : NULL;
}

static bool look_at_results(keyring *r)
{
    for (int i = 0; i < r->flat->nouts; i++) {
        const jx_key_view *view = jx_keys_of(&r->keys, r->flat->outs[i]);
        jx_claim *claim;
        int k = 0;

        while (view && k < view->count && !is_consumed(r, view->ids[k]))
            k++;
        if (!view || k == view->count)
            continue;
        claim = jx_lint_claim_of_result(
            r->lint, JX_CODE_RNG006, i, last_use(r, view),
            "is a key that has been used: whoever uses it again draws the same "
            "numbers");
        if (!claim)
            return false;
        claim->help = "return a key of those that it was split into";
    }
    return true;
}

bool jx_lint_random_keys(jx_linter *lint)
{
    keyring r = {.lint = lint, .flat = lint->flat, .turned = -1};
    const jx_flat *flat = lint->flat;
    jx_arena *arena = lint->ctx->arena;

    r.told = JX_NEW_ARRAY(arena, flat->nodes.count, bool);
    r.said = JX_NEW_ARRAY(arena, flat->steps + 1, unsigned char);
    if (!r.told || !r.said || !jx_keys_init(&r.keys, flat) ||
        !jx_needed_init(&r.needed, lint->program))
        return false;
    for (size_t n = 0; n < flat->nodes.count; n++) {
        jx_place place = jx_place_of_node(flat, (int)n);
        look(&r, &place);
        look_at_seed(&r, (int)n);
    }
    for (size_t i = 0; i < flat->repeats.count; i++) {
        jx_place place = jx_place_of_repeat(&flat->repeats.at[i]);
        look(&r, &place);
    }
    for (int i = 0; i < flat->nouts; i++)
        jx_keys_of(&r.keys, flat->outs[i]);
    if (!sort_events(&r))
        return false;
    for (size_t i = 0; i < flat->repeats.count; i++)
        look_again_at_seed(&r, i);
    look_at_constants(&r);
    judge_all(&r);
    look_at_carries(&r);
    return look_at_signature(&r) && look_at_results(&r) && jx_ok(lint->ctx);
}
