/* equal_fields.c - see equal.h: both programs over random fields, on
 * the same inputs. */
#include "runtime/equal/equal.h"
#include "runtime/equal/evaluating.h"
#include "runtime/field/assumed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WANTED_BITS = 40, MOST_ROUNDS = 4 };

typedef struct comparing {
    const jx_equal_question *question;
    jx_equal_fields *to;
    jx_evaluating to_evaluate;
    jx_ctx *above, *ctx; /* the program's; of one round */
    bool ideal;
    int64_t work; /* that is left */
    double error; /* of one round */
    bool needs, powers, asks_for_nan;
    const char *named;
} comparing;

static const jx_equal_side *side_of(const comparing *c, int s)
{
    return s ? &c->question->b : &c->question->a;
}

static const jx_jaxpr *entry_of(const comparing *c, int s)
{
    return side_of(c, s)->typed->program->entry.jaxpr;
}

static bool give_up(comparing *c, const char *why)
{
    if (!c->to->why && why)
        c->to->why = jx_arena_string(c->above->arena, why, strlen(why));
    return false;
}

/* ---- one result */

typedef struct arrays {
    const jx_field_value *a, *b;
} arrays;

/* What two elements are to each other. */
typedef enum relation {
    SAME,
    UNFINITE,
    NEEDS,
    DIFFER,
    LOST_NAN,
    UNKNOWN
} relation;

static relation relate(const jx_field *f, const jx_cell *a, const jx_cell *b)
{
    if (a->kind == JX_CELL_UNKNOWN || b->kind == JX_CELL_UNKNOWN)
        return UNKNOWN;
    /* a division by 0 is infinite or NaN: that is not known here */
    if (a->kind && b->kind)
        return a->kind == b->kind && a->kind == JX_CELL_INFINITE &&
                       a->signs == b->signs
                   ? SAME
                   : UNFINITE;
    if (a->kind || b->kind)
        return a->kind == JX_CELL_NAN ? LOST_NAN : DIFFER;
    jx_cell left = jx_cell_collapsed(f, a), right = jx_cell_collapsed(f, b);
    if ((!jx_cell_same(a, b) && !jx_cell_same(&left, &right)) ||
        a->blended != b->blended)
        return DIFFER;
    return a->needs == b->needs ? SAME : NEEDS;
}

static relation relate_bits(const arrays *of, int64_t i)
{
    size_t bytes = jx_dtype_of(of->a->dtype)->bytes;

    if (of->a->unknown || of->b->unknown || !of->a->bits || !of->b->bits)
        return UNKNOWN;
    return memcmp((const char *)of->a->bits + (size_t)i * bytes,
                  (const char *)of->b->bits + (size_t)i * bytes, bytes)
               ? DIFFER
               : SAME;
}

/* The chance that both are one number though they are not, at most. */
static void bound(comparing *c, const jx_field *f, const jx_cell *a,
                  const jx_cell *b)
{
    double pairs = (double)f->opaque * (double)f->opaque / 2, below = 0;
    double degree = fmax(jx_cell_degree(f, a), jx_cell_degree(f, b));
    double bits = (double)a->bits + a->parts + b->bits + b->parts, error;

    for (int i = 0; i < JX_MOST_LEVELS; i++)
        below = fmax(below, f->inverses[i].bits);
    if (a->under > 0 || b->under > 0)
        bits += degree * below;
    /* Two arguments of a function that are one by chance make its values one;
     * and there are more than 2^44 primes above 2^52 to choose from, of which
     * few divide a coefficient. */
    error = ldexp(degree, f->exponents ? -52 : -59) +
            ldexp(pairs * fmax(1, f->degree), f->exponents ? -52 : -59) +
            ldexp(bits / 52 + 2, -43);
    c->error = fmax(c->error, error);
}

/* Which small rational number times `b` is `a`. */
static bool is_multiple(const jx_field *f, const jx_cell *a, const jx_cell *b,
                        int64_t *over, int64_t *under)
{
    enum { MOST = 64 };
    const jx_modulus *p = &f->ring.fast_p;
    uint64_t ratio;

    if (a->kind || b->kind || !a->v || !b->v)
        return false;
    ratio = jx_mod_fast(a->v, jx_mod_inverse(b->v, p->m), p);
    for (*under = 1; *under <= MOST; ++*under)
        for (*over = -MOST; *over <= MOST; ++*over)
            if (*over && jx_mod_dyadic(*over, 0, p->m) ==
                             jx_mod_fast(ratio, (uint64_t)*under, p))
                return true;
    *over = *under = 0;
    return false;
}

static jx_cell collapsed(const jx_field *f, const jx_field_value *of, int64_t i)
{
    jx_cell cell = jx_plane_element(of, i);

    return jx_cell_collapsed(f, &cell);
}

static void look_for_factor(const jx_field *f, const arrays *of,
                            jx_field_difference *to)
{
    const jx_modulus *p = &f->ring.fast_p;
    int64_t k = 0;
    jx_cell a, b;

    to->over = to->under = 0;
    for (; k < of->a->count; k++) {
        a = collapsed(f, of->a, k);
        b = collapsed(f, of->b, k);
        if (!jx_cell_is_zero(&a) || !jx_cell_is_zero(&b))
            break;
    }
    if (k == of->a->count || !is_multiple(f, &a, &b, &to->over, &to->under))
        return;
    uint64_t over = jx_mod_dyadic(to->over, 0, p->m),
             under = (uint64_t)to->under;
    for (; k < of->a->count; k++) {
        a = collapsed(f, of->a, k);
        b = collapsed(f, of->b, k);
        if (a.kind || b.kind ||
            jx_mod_fast(a.v, under, p) != jx_mod_fast(b.v, over, p)) {
            to->over = to->under = 0;
            return;
        }
    }
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Both have the same numbers, each as often. */
static bool is_rearranged(const jx_field *f, const arrays *of)
{
    int64_t n = of->a->count;
    uint64_t *all = JX_NEW_ARRAY(f->ctx->arena, 2 * n + 1, uint64_t);

    for (int64_t i = 0; all && i < 2 * n; i++) {
        jx_cell cell = jx_plane_element(i < n ? of->a : of->b, i % n);
        if (cell.kind)
            return false;
        all[i] = jx_cell_collapsed(f, &cell).v;
    }
    if (!all)
        return false;
    qsort(all, (size_t)n, sizeof *all, by_size);
    qsort(all + n, (size_t)n, sizeof *all, by_size);
    return memcmp(all, all + n, (size_t)n * sizeof *all) == 0;
}

static bool has_numbers(const jx_field_value *of)
{
    return of->cells || of->plane;
}

/* Compares an array; false where it is not the same. */
static bool compare(comparing *c, const jx_field *f, const arrays *of,
                    int output)
{
    jx_field_difference found = {.output = output, .of = of->a->count};
    const char *why = NULL;
    int64_t bad = 0;

    if (of->a->count != of->b->count || of->a->dtype != of->b->dtype)
        return give_up(c, "results of different sizes");
    for (int64_t i = 0; i < of->a->count; i++) {
        relation r;
        if (!has_numbers(of->a) || !has_numbers(of->b)) {
            r = relate_bits(of, i);
        } else {
            jx_cell a = jx_plane_element(of->a, i),
                    b = jx_plane_element(of->b, i);
            r = relate(f, &a, &b);
            if ((r == SAME || r == NEEDS) && !a.kind) {
                bound(c, f, &a, &b);
                c->needs |= a.needs != NULL;
            }
        }
        if (r == SAME)
            continue;
        if (r == UNFINITE && !why)
            why = "a result is not finite on either side";
        if (r == UNKNOWN)
            why = f->why ? f->why : "a result is not known";
        if (r == NEEDS && !why)
            why = "one divides, or takes a root or logarithm, where the other "
                  "does not";
        found.unfinite += r == LOST_NAN;
        if ((r == DIFFER || r == LOST_NAN) && !found.count++)
            found.index = i;
        bad++;
    }
    if (!bad && of->a->bits && of->a->count && c->to_evaluate.integers)
        return give_up(c, "integers that are made of integers were compared at "
                          "those that were "
                          "drawn, which says nothing of others");
    if (found.count && c->to->differs.output < 0) {
        if (has_numbers(of->a) && has_numbers(of->b))
            look_for_factor(f, of, &found);
        found.rearranged = has_numbers(of->a) && has_numbers(of->b) &&
                           !found.unfinite && is_rearranged(f, of);
        c->to->differs = found;
        give_up(c, "they differ as formal expressions");
    }
    return !bad || give_up(c, why);
}

/* ---- a round */

static bool evaluate(comparing *c, jx_field *f, int s,
                     const jx_field_value *ins, jx_field_value *outs)
{
    const jx_closed *entry = &side_of(c, s)->typed->program->entry;

    if (c->question->progress)
        c->question->progress(c->question->to,
                              s ? "evaluating the second program over a field"
                                : "evaluating the first program over a field",
                              c->to->rounds, MOST_ROUNDS);
    f->masked = f->clamped = NULL;
    return jx_field_run(f, &c->to_evaluate.programs[s], entry, ins, outs) ||
           give_up(c, "too large to be evaluated");
}

/* The pairs of one side: the same array on two devices. */
static bool compare_pairs(comparing *c, const jx_field *f, int side,
                          const jx_field_value *outs)
{
    int nouts = c->question->nouts, n = entry_of(c, side)->nouts;

    for (int i = nouts; !c->question->alone && i + 1 < n; i += 2) {
        jx_field_difference before = c->to->differs;
        const arrays both = {&outs[i], &outs[i + 1]};
        if (compare(c, f, &both, i))
            continue;
        c->to->differs = before;
        c->to->side = c->to->pair < 0 ? side : c->to->side;
        c->to->pair = c->to->pair < 0 ? (i - nouts) / 2 : c->to->pair;
        return give_up(
            c, "two devices do not have what is declared to be one array");
    }
    return true;
}

static bool compare_all(comparing *c, const jx_field *f,
                        const jx_field_value *a, const jx_field_value *b)
{
    bool same = true;

    for (int i = 0; i < c->question->nouts; i++) {
        const arrays both = {&a[i], &b[i]};
        same &= !jx_equal_asks(c->question, i) || compare(c, f, &both, i);
    }
    return compare_pairs(c, f, 0, a) && compare_pairs(c, f, 1, b) && same;
}

static void name_constants(comparing *c, const jx_field *f)
{
    jx_buffer text = jx_ctx_text(c->above);

    for (size_t i = 0; !c->named && i < f->named.count; i++)
        jx_buffer_printf(&text, "%s%s", i ? ", " : "", f->named.at[i]);
    if (!c->named && f->named.count)
        c->named = jx_arena_take(c->above->arena, &text);
    jx_buffer_free(&text);
}

static bool run(comparing *c, jx_field *f)
{
    const jx_jaxpr *a = entry_of(c, 0), *b = entry_of(c, 1);
    jx_arena *arena = c->ctx->arena;
    jx_field_value *ins = JX_NEW_ARRAY(arena, b->nins + 1, jx_field_value);
    jx_field_value *got = JX_NEW_ARRAY(arena, a->nouts + 1, jx_field_value);
    jx_field_value *want = JX_NEW_ARRAY(arena, b->nouts + 1, jx_field_value);

    f->ideal = c->ideal;
    f->work = -c->work;
    if (!ins || !got || !want)
        return give_up(c, "too large to be evaluated");
    if (!jx_evaluating_begin(&c->to_evaluate, f, c->to->rounds, ins))
        return give_up(c, c->to_evaluate.why);
    if (!evaluate(c, f, 1, ins, want) || !evaluate(c, f, 0, ins, got))
        return false;
    c->to->masked = f->masked;
    c->to->clamped = f->clamped;
    c->powers |= f->powers;
    c->asks_for_nan |= f->asks_for_nan;
    c->to->asks_for_nan |= f->asks_for_nan;
    name_constants(c, f);
    return compare_all(c, f, got, want);
}

static bool run_round(comparing *c, uint64_t seed)
{
    jx_field f;
    bool same;

    c->ctx = jx_ctx_below(c->above, jx_evaluating_memory(c->question));
    if (!c->ctx)
        return give_up(c, "too large to be evaluated");
    same = jx_field_begin(&f, c->ctx, c->ctx->arena, seed) && run(c, &f);
    c->work = -f.work;
    jx_ctx_free(c->ctx);
    c->ctx = NULL;
    c->to->rounds++;
    return same || give_up(c, "too large to be evaluated");
}

/* As many rounds as are needed, two at least. */
static bool run_rounds(comparing *c, uint64_t seed)
{
    int rounds = 2;

    for (int i = 0; i < rounds; i++) {
        if (!run_round(c, jx_hash_mix(seed, (uint64_t)i + 1)))
            return false;
        if (c->error >= 0x1p-10)
            return give_up(c, "degrees too high");
        if (c->error > 0)
            rounds = (int)fmax(2, ceil(WANTED_BITS / -log2(c->error)));
        if (rounds > MOST_ROUNDS)
            return give_up(c, "degrees too high");
    }
    c->to->bits =
        c->error > 0 ? (int)floor(rounds * -log2(c->error)) : 60 * rounds;
    return true;
}

/* ---- what is assumed */

static const char *assumptions(const comparing *c)
{
    const jx_assumption all[] = {
        {c->needs, JX_ASSUMES_DEFINED},
        {c->asks_for_nan, "inputs are finite (one asks for that)"},
        {c->powers, JX_ASSUMES_POWERS},
        {c->to_evaluate.integers,
         "integers and keys are as those that were drawn"},
    };

    return jx_assumed(c->above, sizeof all / sizeof *all, all, c->named);
}

bool jx_equal_over_fields(const jx_equal_question *question,
                          jx_equal_fields *to)
{
    jx_ctx *above = question->a.typed->program->ctx;
    comparing c = {.question = question,
                   .to = to,
                   .above = above,
                   .work = jx_evaluating_work(question)};
    jx_equal_fields first = {0};

    *to = (jx_equal_fields){.differs.output = -1, .pair = -1};
    jx_ctx_stage(above, "evaluating over fields");
    jx_evaluating_open(&c.to_evaluate, question);
    /* Exact constants before those that they were rounded from. */
    for (int turn = 0; turn < 2 && !to->identical; turn++) {
        c.ideal = turn;
        c.error = 0;
        c.needs = c.powers = c.asks_for_nan = false;
        *to = (jx_equal_fields){.differs.output = -1, .pair = -1};
        to->identical = run_rounds(&c, jx_evaluating_seed(question));
        if (!turn)
            first = *to;
    }
    jx_evaluating_close(&c.to_evaluate);
    if (to->identical)
        to->assuming = assumptions(&c);
    else
        *to = first;
    to->drawn = c.to_evaluate.integers;
    to->worked = jx_evaluating_work(question) - c.work;
    return jx_ok(above);
}
