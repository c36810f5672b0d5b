/* rings.c - see rings.h. */
#include "runtime/equal/rings.h"

#include "prover/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 /* of the numbers of a rule */, ROOM = 256 << 20 /* bytes */ };

/* ---- which chunk a block adds at which step */

/* At one size of the mesh. */
typedef struct table {
    int64_t devices;
    int64_t *chunks; /* of device d at step i: [d * devices + i] */
} table;

static bool is_cut(const jx_order *o, const jx_ring *r, int64_t devices)
{
    return o->terms % (devices * r->shares) == 0 &&
           (r->axis < 0 || (r->axis < o->rank &&
                            o->shape[r->axis] % (devices * r->parts) == 0));
}

/* The block of an element: device * parts + part. */
static int64_t block_of(const jx_order *o, const jx_ring *r, int64_t devices,
                        int64_t element)
{
    int64_t inner = 1;

    if (r->axis < 0)
        return 0;
    for (int i = o->rank - 1; i > r->axis; i--)
        inner *= o->shape[i];
    return element / inner % o->shape[r->axis] /
           (o->shape[r->axis] / (devices * r->parts));
}

/* The order of each block, whose elements are alike; NULL: they are not. */
static const int32_t **orders_of(jx_arena *arena, const jx_order *o,
                                 const jx_ring *r, int64_t devices)
{
    const int32_t **to =
        JX_NEW_ARRAY(arena, devices * r->parts + 1, const int32_t *);

    for (int64_t x = 0; to && x < o->count; x++) {
        const int32_t **of = &to[block_of(o, r, devices, x)],
                      *own = o->of + x * o->terms;
        *of = *of ? *of : own;
        if (memcmp(*of, own, (size_t)o->terms * sizeof *own) != 0)
            return NULL;
    }
    return to;
}

/* The chunk and its part that sum `g` adds at step `i`; false:
 * no whole part. */
static bool chunk_at(const jx_order *o, const jx_ring *r, int64_t devices,
                     const int32_t *order, int g, int64_t i, int64_t *chunk,
                     int *share)
{
    int64_t each = o->terms / (devices * r->shares), number;
    const int32_t *at =
        order + each * (r->apart ? g * devices + i : i * r->shares + g);

    for (int64_t q = 1; q < each; q++)
        if (at[q] != at[0] + q)
            return false;
    if (at[0] % each)
        return false;
    number = at[0] / each;
    *chunk = r->outer ? number % devices : number / r->shares;
    *share = (int)(r->outer ? number / devices : number % r->shares);
    return true;
}

static bool fill(jx_arena *arena, const jx_orders *at, int out,
                 const jx_ring *r, int p, int g, const int32_t *const *orders,
                 table *to, int *share)
{
    const jx_order *o = &at->outs[out];
    int64_t n = at->devices, rows = r->axis < 0 ? 1 : n;

    *to = (table){n, JX_NEW_ARRAY(arena, n * n, int64_t)};
    for (int64_t d = 0; to->chunks && d < rows; d++)
        for (int64_t i = 0; i < n; i++) {
            int part;
            if (!chunk_at(o, r, n, orders[d * r->parts + p], g, i,
                          &to->chunks[d * n + i], &part))
                return false;
            if (*share >= 0 && part != *share)
                return false;
            *share = part;
        }
    return to->chunks != NULL;
}

/* ---- which rule gives these chunks */

static int64_t modulo(int64_t a, int64_t n)
{
    return (a % n + n) % n;
}

static bool gives(const jx_ring_step *s, int n, const table *all,
                  bool by_device)
{
    for (int t = 0; t < n; t++)
        for (int64_t d = 0; d < (by_device ? all[t].devices : 1); d++)
            for (int64_t i = 0; i < all[t].devices; i++)
                if (all[t].chunks[d * all[t].devices + i] !=
                    modulo(s->device * d + s->step * i + s->offset,
                           all[t].devices))
                    return false;
    return true;
}

/* All rules of the least numbers. */
static bool find_steps(int n, const table *all, bool by_device, jx_ring_sum *to)
{
    to->nties = 0;
    for (int size = 0; !to->nties && size <= 3 * MOST; size++)
        for (int a = -MOST; a <= MOST; a++)
            for (int k = -MOST; k <= MOST; k++)
                for (int c = -MOST; c <= MOST; c++) {
                    const jx_ring_step s = {a, k, c};
                    if (abs(a) + abs(k) + abs(c) != size || (a && !by_device) ||
                        !gives(&s, n, all, by_device))
                        continue;
                    if (to->nties == JX_MOST_TIES)
                        return false;
                    to->ties[to->nties++] = s;
                }
    return to->nties > 0;
}

/* Each block adds up each part of chunks. */
static bool has_all_shares(const jx_ring *r)
{
    for (int p = 0; p < r->parts; p++) {
        unsigned seen = 0;
        for (int g = 0; g < r->shares; g++)
            seen |= 1u << r->sums[p][g].share;
        if (seen != (1u << r->shares) - 1)
            return false;
    }
    return true;
}

/* The rule of blocks, parts and order that `r` says; false: there is none. */
static bool fits(jx_arena *arena, int n, const jx_orders *at, int out,
                 jx_ring *r)
{
    const int32_t ***orders = JX_NEW_ARRAY(arena, n, const int32_t **);
    table *all = JX_NEW_ARRAY(arena, n, table);

    for (int t = 0; t < n; t++)
        if (!orders || !all || !is_cut(&at[t].outs[out], r, at[t].devices) ||
            !(orders[t] = orders_of(arena, &at[t].outs[out], r, at[t].devices)))
            return false;
    for (int p = 0; p < r->parts; p++)
        for (int g = 0; g < r->shares; g++) {
            jx_ring_sum *sum = &r->sums[p][g];
            sum->share = -1;
            for (int t = 0; t < n; t++)
                if (!fill(arena, &at[t], out, r, p, g, orders[t], &all[t],
                          &sum->share))
                    return false;
            if (!find_steps(n, all, r->axis >= 0, sum))
                return false;
        }
    return has_all_shares(r);
}

static bool is_in_order(const jx_order *o)
{
    for (int64_t i = 0; i < o->count * o->terms; i++)
        if (o->of[i] != i % o->terms)
            return false;
    return true;
}

static bool all_in_order(int n, const jx_orders *at, int out)
{
    for (int t = 0; t < n; t++)
        if (!is_in_order(&at[t].outs[out]))
            return false;
    return true;
}

/* Blocks before parts of chunks, and what is plain before what is not. */
static bool try_all(jx_arena *room, int n, const jx_orders *at, int out,
                    jx_ring *to)
{
    for (int shares = 1; shares <= JX_MOST_PARTS; shares++)
        for (int parts = 1; parts <= JX_MOST_PARTS; parts++)
            for (int axis = parts > 1 ? 0 : -1; axis < at[0].outs[out].rank;
                 axis++)
                for (int how = 0; how < (shares > 1 ? 4 : 1); how++) {
                    *to = (jx_ring){.axis = axis,
                                    .parts = parts,
                                    .shares = shares,
                                    .apart = how & 1,
                                    .outer = how & 2};
                    jx_arena_clear(room);
                    if (fits(room, n, at, out, to))
                        return true;
                }
    return false;
}

bool jx_ring_find(jx_ctx *ctx, int n, const jx_orders *at, int out, jx_ring *to)
{
    jx_ctx *room;
    bool found;

    *to = (jx_ring){.axis = -1, .parts = 1};
    if (all_in_order(n, at, out))
        return true;
    room = jx_ctx_below(ctx, ROOM);
    found = room && try_all(room->arena, n, at, out, to);
    jx_ctx_free(room);
    return found;
}

/* ---- the prover */

static void put_term(int times, const char *name, jx_buffer *to)
{
    int size = abs(times);

    if (!times)
        return;
    if (to->length && to->text[to->length - 1] != '(')
        jx_buffer_puts(to, times < 0 ? " - " : " + ");
    else if (times < 0)
        jx_buffer_putc(to, '-');
    if (size != 1 || !*name)
        jx_buffer_printf(to, "%d%s", size, *name ? "*" : "");
    jx_buffer_puts(to, name);
}

/* "d - i - 1" */
static void put_sum(const jx_ring_step *s, const char *device, const char *step,
                    jx_buffer *to)
{
    size_t before = to->length;

    put_term(s->device, device, to);
    put_term(s->step, step, to);
    put_term(s->offset, "", to);
    if (to->length == before)
        jx_buffer_putc(to, '0');
}

void jx_ring_step_print(const jx_ring_step *s, jx_buffer *to)
{
    jx_buffer_putc(to, '(');
    put_sum(s, "d", "i", to);
    jx_buffer_puts(to, ") mod S");
}

/* That chunk e is that of some step below s: of step (k (e - a d - c)) mod s,
 * where k is 1 or -1.  As many steps as chunks, so each has one of its own. */
static void ask_for_step(const jx_ring_step *s, jx_buffer *to)
{
    const jx_ring_step back = {-s->step * s->device, s->step,
                               -s->step * s->offset};
    const jx_ring_step forth = {s->device, s->step, s->offset};
    jx_buffer step = {.budget = to->budget};

    jx_buffer_puts(&step, "mod(");
    put_sum(&back, "d", "e", &step);
    jx_buffer_puts(&step, ", s)");
    jx_buffer_puts(to, "mod(");
    put_sum(&forth, "d", jx_buffer_text(&step), to);
    jx_buffer_puts(to, ", s) == e");
    jx_buffer_free(&step);
}

/* That no two steps i < j have one chunk. */
static void ask_for_two(const jx_ring_step *s, jx_buffer *to)
{
    jx_buffer_puts(to, "mod(");
    put_sum(s, "d", "i", to);
    jx_buffer_puts(to, ", s) != mod(");
    put_sum(s, "d", "j", to);
    jx_buffer_puts(to, ", s)");
}

/* "S = 4, d = 0, i = 1, j = 3" */
static void put_values(const jx_assignment *at, jx_buffer *to)
{
    for (int i = 0; i < at->count; i++) {
        const char *name = at->at[i].var->name;
        jx_buffer_printf(to, "%s%s = ", i ? ", " : "",
                         strcmp(name, "s") ? name : "S");
        jx_int_print(at->at[i].value, to);
    }
}

static bool ask(jx_ctx *ctx, const char *question, bool for_step,
                jx_answer *answer)
{
    static const char *const steps[] = {"e >= 0", "e <= s - 1"};
    static const char *const pairs[] = {"i >= 0", "j >= i + 1", "j <= s - 1"};
    jx_question q;
    jx_prover *prover;

    jx_question_begin(&q, ctx, jx_dims_new(ctx), 0);
    jx_question_assume(&q, "s >= 1");
    jx_question_assume(&q, "d >= 0");
    jx_question_assume(&q, "d <= s - 1");
    for (int i = 0; i < (for_step ? 2 : 3); i++)
        jx_question_assume(&q, for_step ? steps[i] : pairs[i]);
    jx_question_compare(&q, question);
    prover = jx_question_complete(&q) ? jx_question_prover(&q, NULL) : NULL;
    if (!prover)
        return false;
    *answer = jx_question_ask(&q, prover);
    jx_prover_free(prover);
    return true;
}

static const char *prove_step(jx_ctx *ctx, const jx_ring_step *s,
                              const char **by)
{
    bool for_step = s->step == 1 || s->step == -1;
    jx_buffer text = jx_ctx_text(ctx), why = jx_ctx_text(ctx);
    jx_answer answer = {0};
    const char *question;

    (for_step ? ask_for_step : ask_for_two)(s, &text);
    question = jx_arena_take(ctx->arena, &text);
    if (!question || !ask(ctx, question, for_step, &answer))
        return "the prover could not be asked";
    if (answer.truth == JX_TRUE) {
        *by = answer.by;
        return NULL;
    }
    jx_buffer_puts(&why, "that ");
    jx_ring_step_print(s, &why);
    if (answer.truth != JX_FALSE && answer.truth != JX_DEPENDS) {
        jx_buffer_printf(&why,
                         " takes each value once for all S is not proved: %s",
                         answer.why ? answer.why : "the prover does not know");
    } else {
        jx_buffer_printf(
            &why, " takes each value once does not hold for all S: %s",
            for_step ? "no step has chunk e" : "steps i and j have one chunk");
        if (answer.has_false) {
            jx_buffer_puts(&why, " at ");
            put_values(&answer.when_false, &why);
        }
    }
    return jx_arena_take(ctx->arena, &why);
}

const char *jx_ring_prove(jx_ctx *ctx, const jx_ring *ring, const char **by)
{
    const char *why = NULL;

    for (int p = 0; p < ring->parts; p++)
        for (int g = 0; g < ring->shares; g++) {
            const jx_ring_sum *sum = &ring->sums[p][g];
            for (int t = 0; !why && t < sum->nties; t++)
                why = prove_step(ctx, &sum->ties[t], by);
        }
    return why;
}
