/* gradpattern.c - see gradding.h: one pattern of a rule, point by point.
 *
 * One rule is checked pattern by pattern (a pattern: which tangents are zero).
 * At a point x, a direction d gives a line; the primal is sampled along it and
 * each output component gets a slope with an error bar (ridders.h).
 *
 *     jvp:  the rule's tangent out, component by component, against the slopes
 *     vjp:  <bwd(c), d> against <c, slopes>, for several cotangents c
 *
 * Complex numbers are pairs of reals; JAX's vjp is the transpose without
 * conjugation, so the pairing of complex vectors is Re(sum c v). */
#include "runtime/gradients/gradding.h"
#include "runtime/gradients/pointwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ALONE = 32, /* inputs that move alone, where a mask asks for that */
    FEW = 4,         /* points, where not all are tried */
    LEAST = 2,       /* directions at a point */
    ALIKE = 2,       /* the same that differ in their lengths alone */
    ENOUGH = 3, /* points, after which what a rule may cost is a limit ... */
    POINT_OPERATIONS = 150000, /* ... that is, at each of them, and ... */
    RULE_OPERATIONS = 1000000, /* ... in all */
    IDLE_OPERATIONS = 300000,  /* the same where nothing is decided any more */
    /* points that iterations are for, where they were away from elsewhere */
    MATRICES = 6,
    MANY = 256,      /* elements, each a point of its own */
    MOST_CALLS = 16, /* of a rule, whose constants are compared */
    OTHERS = 3,      /* constants that are tried, beside the first call's */
};

/* -- a point, a pattern, a rule ------------------------------------------- */

/* Whether what must be finite is, at the point. */
static bool is_guarded(jx_gradding *c)
{
    jx_callee *f = &c->guard;

    if (!f->plan)
        return true;
    for (int i = 0; i < f->nins && i < c->primal.nins; i++) {
        size_t bytes = jx_plan_in(f->plan, i)->bytes;
        if (bytes != jx_plan_in(c->primal.plan, i)->bytes)
            return true;
        memcpy(f->in[i], c->primal.in[i], bytes);
    }
    return jx_grad_call(c, f) && jx_callee_gives_numbers(f);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

enum { IN_ORDER = 4 }; /* so many that rise are no accident */

/* A list that rises where the program computes it (times, edges, knots) rises
 * at all points: in no other order need a function make sense. */
static void keep_order(jx_gradding *c)
{
    for (int s = 0; s < c->in.count; s++) {
        const jx_span_of *span = &c->in.spans[s];
        bool rises = span->sample && span->rank == 1 && !span->complex &&
                     span->count >= IN_ORDER;
        for (int i = 1; rises && i < span->count; i++)
            rises = span->sample[i] > span->sample[i - 1];
        if (rises)
            qsort(c->x + span->at, (size_t)span->count, sizeof *c->x, by_size);
    }
}

/* Whether a rule may be asked for a tangent of an operand that this pattern
 * does not have. */
static bool is_left_out(const jx_gradding *c, int operand)
{
    int place = operand - c->rule->nconsts;

    if (place < 0 || c->pattern->zeros[place] != '1')
        return false;
    for (int i = 0; i < c->rule->npatterns; i++)
        if (c->rule->patterns[i].zeros[place] != '1')
            return true;
    return false;
}

/* Operands that stand still in this pattern alone are what they
 * are in others. */
static void fill_left_out(jx_gradding *c)
{
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        bool complex = port->dtype == JX_C128;
        const jx_span_of span = {.count = (int)port->count * (complex ? 2 : 1),
                                 .complex = complex,
                                 .rank = port->rank,
                                 .shape = port->shape};
        if (is_left_out(c, i) && jx_dtype_is_inexact(port->dtype) &&
            !c->calling->fixed[i] && c->calling->ties[i] == i &&
            port->count <= JX_MOST_ELEMENTS)
            jx_point_fill(c->point, &c->rng, &span, 1, c->primal.in[i]);
    }
}

/* Makes an argument 0 where others are not, an integer among them; false if
 * there is none. */
static bool zero_argument(jx_gradding *c)
{
    int operand = c->rule->nconsts + (int)c->point->scale;
    const jx_port *port;

    if (operand >= c->primal.nins || c->primal.nins - c->rule->nconsts < 2 ||
        c->calling->fixed[operand])
        return false;
    port = jx_plan_in(c->primal.plan, operand);
    for (int s = 0; s < c->in.count; s++)
        if (c->in.port[s] == operand && !jx_span_has(&c->in.spans[s], 0))
            return false;
    for (int s = 0; s < c->in.count; s++)
        if (c->in.port[s] == operand)
            memset(c->x + c->in.spans[s].at, 0,
                   (size_t)c->in.spans[s].count * sizeof *c->x);
    if (port->aval->dtype != JX_KEY)
        memset(c->primal.in[operand], 0, port->bytes);
    return port->aval->dtype != JX_KEY;
}

static bool prepare_point(jx_gradding *c)
{
    if (c->point->kind != JX_AT_GIVEN) {
        jx_grad_fill_passive(c);
        if (c->point->kind != JX_AT_SAMPLE)
            fill_left_out(c);
        jx_point_fill(c->point, &c->rng, c->in.spans, c->in.count, c->x);
        if (c->ends.count)
            jx_spans_keep(c->in.spans, c->in.count, c->x);
        keep_order(c);
    }
    if (c->point->kind == JX_AT_ZEROED && !zero_argument(c))
        return false;
    /* found by looking at the code, in what nobody passes */
    for (int s = 0; s < c->in.count; s++)
        for (int i = 0; i < c->in.spans[s].count; i++)
            if (c->point->kind == JX_AT_GIVEN &&
                !jx_span_has(&c->in.spans[s], c->x[c->in.spans[s].at + i]))
                return false;
    if (c->symmetric)
        jx_space_symmetric(&c->in, c->x);
    jx_grad_hold_factor(c);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!jx_grad_call(c, &c->primal))
        return false;
    c->call_work = jx_grad_cost(c, &c->primal);
    if (!is_guarded(c))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    bool finite = c->out.size == 0;
    for (int j = 0; j < c->out.size; j++)
        finite = finite || isfinite(c->samples[j]);
    return finite;
}

/* Whether a number that goes from `back` over `here` to `there`, while the
 * operands go by as much as `most`, bends on the way: how it moves at this
 * point is not known then. */
static bool bends(double back, double here, double there, double most)
{
    static const double seen = 1e-2, rounding = 1e-6;
    double by = fabs(there - back), off = fabs(there - here - (here - back));

    return there != back && off > seen * by && off > rounding * most;
}

/* How the operands move when the program's inputs do, or one of these.  False
 * if they do not, or not in one way, or if one moves whose tangent this pattern
 * takes for zero. */
static bool follow_inputs(jx_gradding *c, int only, double *d)
{
    const void *const *ahead, *const *behind;
    double most = 0;
    const jx_sampling sampling = jx_grad_sampling(c);

    if (!c->sample || !jx_sample_moved(&sampling, c->called, c->sample, only,
                                       &c->rng, &ahead, &behind))
        return false;
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        if (is_left_out(c, i) && jx_dtype_is_inexact(port->dtype) &&
            memcmp(ahead[i], behind[i], port->bytes) != 0)
            return false;
    }
    for (int s = 0; s < c->in.count; s++) {
        const jx_span_of *span = &c->in.spans[s];
        const double *there = ahead[c->in.port[s]];
        const double *back = behind[c->in.port[s]];
        for (int k = 0; k < span->count; k++) {
            double by = there[k] == back[k] ? 0 : there[k] - back[k];
            if (!isfinite(by)) /* what hangs together would be torn apart */
                return false;
            d[span->at + k] = by;
            most = fmax(most, fabs(by));
        }
    }
    for (int s = 0; s < c->in.count; s++) {
        const jx_span_of *span = &c->in.spans[s];
        int port = c->in.port[s];
        const double *here = c->sample->at[port];
        const double *there = ahead[port], *back = behind[port];
        for (int k = 0; k < span->count; k++)
            if (bends(back[k], here[k], there[k], most))
                return false;
    }
    /* As long as others are: steps along it are no larger where numbers are. */
    for (int i = 0; most > 0 && i < c->in.size; i++)
        d[i] /= most;
    return most > 0;
}

/* When all of the program's inputs move; else when one of them does. */
static bool follow_program(jx_gradding *c, double *d)
{
    int ninputs = c->typed->program->entry.jaxpr->nins;

    if (follow_inputs(c, -1, d))
        return true;
    for (int only = 0; ninputs > 1 && only < ninputs && only < MOST_ALONE;
         only++)
        if (follow_inputs(c, only, d))
            return true;
    return false;
}

/* Whether a direction is some of those before it, longer or shorter: of one
 * element, all are. */
static bool is_another_length(const jx_gradding *c, int k)
{
    size_t n = (size_t)c->in.size;
    const double *d = c->directions + (size_t)k * n;
    int alike = 0;

    for (const double *other = c->directions; other < d; other += n) {
        double dd = 0, oo = 0, od = 0;
        for (size_t i = 0; i < n; i++) {
            dd += d[i] * d[i];
            oo += other[i] * other[i];
            od += other[i] * d[i];
        }
        alike += od != 0 && od * od >= (1 - 1e-12) * dd * oo;
    }
    return alike >= ALIKE;
}

/* Without those along which nothing new is to be seen. */
static int leave_lengths(jx_gradding *c, int count, const char **names)
{
    size_t n = (size_t)c->in.size;
    int kept = 0;

    for (int k = 0; k < count; k++) {
        double *to = c->directions + (size_t)kept * n;
        if (kept != k)
            memcpy(to, c->directions + (size_t)k * n, n * sizeof *to);
        names[kept] = names[k];
        kept += !is_another_length(c, kept);
    }
    return kept;
}

/* Of what takes long, a few at each point, others at the next one. */
static int leave_some(jx_gradding *c, int count, const char **names)
{
    int64_t each = c->limit.in ? c->limit.work : c->call_work;
    int64_t most = POINT_OPERATIONS / (JX_RIDDERS_SAMPLES * (each + 1));
    size_t n = (size_t)c->in.size;

    count = leave_lengths(c, count, names);
    if (most >= count)
        return count;
    most = most < LEAST ? LEAST : most;
    for (int k = 1; k < most && k < count; k++) {
        int from = k + (int)(jx_rng_next(&c->rng) % (uint64_t)(count - k));
        names[k] = names[from];
        if (from != k)
            memcpy(c->directions + (size_t)k * n,
                   c->directions + (size_t)from * n, n * sizeof *c->directions);
    }
    return most < count ? (int)most : count;
}

/* Where a rule may rely on how it is called, the directions in which the
 * program moves its operands; else of many kinds. */
static int directions_of(jx_gradding *c, const char **names)
{
    int random = c->options->directions ? c->options->directions : 3;
    int count = 0;

    /* Of many elements that are each a point of its own, one of random numbers
     * goes all ways. */
    if (c->pointwise && (!c->cautious || jx_grad_is_foreign(c)))
        return jx_directions_at_random(&c->rng, c->in.spans, c->in.count,
                                       c->in.size, c->directions, names);
    if (!c->cautious || jx_grad_is_foreign(c))
        return leave_some(c,
                          jx_directions_make(c->program->ctx, &c->rng,
                                             c->in.spans, c->in.count,
                                             c->in.size, c->x, random,
                                             c->directions, names),
                          names);
    while (
        count < random && count < JX_MOST_DIRECTIONS &&
        follow_program(c, c->directions + (size_t)count * (size_t)c->in.size))
        names[count++] = "as the program moves it";
    *(count ? &c->followed : &c->unfollowed) = true;
    return count;
}

/* Along one of the directions; *ran: the function could be sampled.  False once
 * the rule is known to be wrong. */
static bool check_line(jx_gradding *c, double *d, bool *ran)
{
    if (c->symmetric)
        jx_space_symmetric(&c->in, d);
    jx_grad_look(c, d);
    *ran = jx_grad_sample(c, d, jx_grad_first_step(c, d), c->slopes);
    if (!*ran)
        return true;
    c->has_slopes = true;
    jx_grad_own_along(c, d);
    return c->rule->vjp ? jx_grad_vjp_line(c, d) : jx_grad_jvp_line(c, d);
}

/* Of a value that is wrong, whether the loops come to rest at the point. */
static bool note_rest(jx_gradding *c)
{
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (jx_grad_call(c, &c->primal)) {
        jx_space_gather(&c->out, &c->primal, 0, c->samples);
        jx_grad_enter_limit(c);
    }
    return false;
}

/* Along all of them. */
static bool check_lines(jx_gradding *c)
{
    const char *names[JX_MOST_DIRECTIONS];
    bool ran = true;

    if (c->turns && !c->rule->vjp && jx_grad_run_jvp(c, c->x, 0) &&
        !jx_grad_same_primals(c, &c->jvp, 0))
        return note_rest(c);
    bool in = jx_grad_enter_limit(c);
    int count = directions_of(c, names);
    if ((c->ends_only && !in) ||
        (in && c->rule->vjp && !jx_grad_prepare_fwd(c)))
        return true;
    for (int k = 0; k < count && ran; k++) {
        double *d = c->directions + (size_t)k * (size_t)c->in.size;
        c->direction = names[k];
        if (!check_line(c, d, &ran))
            return false;
        if (!c->limit.lost)
            continue;
        /* What goes on gives no number, which is none of the
         * rule's business. */
        jx_grad_leave_limit(c);
        c->limit.lost = false;
        if (c->rule->vjp && !jx_grad_prepare_fwd(c))
            return true;
        k = -1;
    }
    if (ran)
        jx_grad_neglects(c);
    return true;
}

/* False once the rule is known to be wrong. */
static bool check_at(jx_gradding *c)
{
    int64_t before = c->comparisons + c->abroad;
    bool good;

    if (!prepare_point(c))
        return true;
    if (c->rule->vjp) {
        if (!jx_grad_prepare_fwd(c))
            return true;
        if (!jx_grad_same_primals(c, &c->fwd,
                                  jx_grad_computed_residuals(c->pattern)))
            return note_rest(c);
        if (c->intent == JX_INTENT_CLIP && !jx_grad_clips(c))
            return false;
    }
    if (c->values_only)
        return c->rule->vjp || !jx_grad_run_jvp(c, c->x, 0) ||
               jx_grad_same_primals(c, &c->jvp, 0);
    good = check_lines(c);
    c->points += good && c->comparisons + c->abroad > before;
    return good;
}

/* The same; all runs as it stands after it. */
bool jx_grad_check_point(jx_gradding *c)
{
    bool good = check_at(c);

    c->limit.was_in = c->limit.in;
    jx_grad_leave_limit(c);
    return good;
}

/* Whether the function or the rule holds numbers that were rounded
 * to their dtype. */
static bool holds_rounded(const jx_gradding *c)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i] && jx_points_has_rounded(code[i]))
            return true;
    return c->calling->any_fixed;
}

static bool is_pointwise(const jx_gradding *c)
{
    jx_ctx *ctx = c->program->ctx;

    return !c->rule->vjp && c->in.size >= MANY && c->pattern->jvp.jaxpr &&
           jx_code_is_pointwise(ctx, c->rule->primal.jaxpr) &&
           jx_code_is_pointwise(ctx, c->pattern->jvp.jaxpr);
}

/* A cotangent of another dtype than its input is wrong for every value. */
bool jx_grad_has_dtypes(jx_gradding *c)
{
    int next = 0, ninputs = c->rule->nins - c->rule->nconsts;
    const char *zeros = c->pattern->ct_zeros;

    for (int i = 0; c->rule->vjp && i < ninputs; i++) {
        if (zeros && zeros[i] == '1')
            continue;
        const jx_aval *in = c->rule->ins[c->rule->nconsts + i];
        if (next >= c->bwd.nouts)
            break;
        const jx_aval *out = jx_plan_out(c->bwd.plan, next++)->aval;
        if (!jx_dtype_is_inexact(in->dtype) || in->dtype == out->dtype)
            continue;
        c->code = JX_CODE_DRV004;
        c->wrong = jx_arena_printf(
            c->program->ctx->arena,
            "the cotangent of input %d has dtype %s, the input has %s", i,
            jx_dtype_of(out->dtype)->short_name,
            jx_dtype_of(in->dtype)->short_name);
        return false;
    }
    return true;
}

/* Shows the spans their part of a sample (NULL: there is none). */
static void attach_sample(jx_gradding *c, const jx_sampled *sample)
{
    c->sample = sample;
    for (int s = 0; s < c->in.count; s++) {
        jx_span_of *span = &c->in.spans[s];
        int operand = c->in.port[s];
        span->sample = sample ? sample->at[operand] : NULL;
        span->low = operand < c->ends.count ? c->ends.low[operand] : 0;
        span->high = operand < c->ends.count ? c->ends.high[operand] : 0;
        span->fixed =
            c->fixed && c->calling->fixed[operand] ? c->fixed[operand] : NULL;
        /* So many positive numbers are no accident but a domain. */
        span->positive = span->sample && !span->complex && span->count >= 8;
        for (int i = 0; span->positive && i < span->count; i++)
            span->positive = span->sample[i] > 0;
    }
}

/* Whether more points would take longer than what they can tell is worth. */
static bool is_enough(const jx_gradding *c)
{
    return c->work + c->asked > RULE_OPERATIONS &&
           c->points - c->of_matrices >= ENOUGH;
}

/* Whether nothing is to be learned at the point that costs more: at values that
 * the program may never compute nothing is held against a rule, which was seen
 * to be right at some that it does. */
static bool is_idle(const jx_gradding *c)
{
    return jx_grad_is_foreign(c) && c->met && c->against == 0 &&
           c->intent == JX_INTENT_NONE && !c->watched &&
           c->work + c->asked > IDLE_OPERATIONS;
}

/* Whether the function gives a number at the sample that is attached, and the
 * program moves there what this pattern does. */
static bool is_in_motion(jx_gradding *c)
{
    static const jx_point here = {JX_AT_SAMPLE, 0, "the sample"};
    /* points are the same ones, whatever is tried here */
    const jx_rng rng = c->rng;
    bool gives, moves;

    c->point = &here;
    gives = prepare_point(c);
    moves = gives && follow_program(c, c->directions);
    c->unfollowed |= gives && !moves;
    c->rng = rng;
    return moves;
}

/* Shows the spans a sample of a call, which in loops may be one of
 * several: what a loop carries is mostly empty when it begins, and
 * nothing moves it yet. */
static void attach_call(jx_gradding *c, const jx_sampled *first)
{
    static const int turns[] = {1, 2, 4, 8, 16};
    bool moves;

    c->turn = 0;
    attach_sample(c, first);
    moves = !first || !c->cautious || is_in_motion(c);
    for (size_t i = 0; !moves && i < sizeof turns / sizeof *turns; i++) {
        c->turn = turns[i];
        const jx_sampling by = jx_grad_sampling(c);
        const jx_sampled *sample = jx_sample_again(&by, c->called, first);
        attach_sample(c, sample);
        moves = sample && is_in_motion(c);
    }
    if (moves)
        return;
    c->turn = 0;
    attach_sample(c, first);
}

/* Points that the program itself can reach: what its own operations before the
 * call make of random inputs. */
static bool check_program_points(jx_gradding *c)
{
    const jx_sampling by = jx_grad_sampling(c);
    static const jx_point inputs[] = {
        {JX_AT_NORMAL, 1, "as the program computes it"},
        {JX_AT_POSITIVE, 1, "as the program computes it from positive inputs"},
        {JX_AT_NORMAL, 0.1, "as the program computes it from small inputs"},
        {JX_AT_NORMAL, 10, "as the program computes it from larger inputs"},
        {JX_AT_EQUAL, 0, "as the program computes it from zeros"},
        {JX_AT_EQUAL, 1, "as the program computes it from ones"},
        {JX_AT_EQUAL, -1, "as the program computes it from minus ones"},
        {JX_AT_QUARTERS, 1, "as the program computes it from multiples of 1/4"},
        {JX_AT_POSITIVE, 5,
         "as the program computes it from larger positive inputs"},
        {JX_AT_NORMAL, 1000, "as the program computes it from large inputs"},
    };

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !is_enough(c);
         i++) {
        jx_point *here = JX_NEW(c->program->ctx->arena, jx_point);
        const jx_sampled *sample =
            jx_sample_program(&by, c->called, &c->rng, &inputs[i]);
        if (!sample || !here)
            return true;
        *here = (jx_point){JX_AT_SAMPLE, 0, inputs[i].name};
        attach_call(c, sample);
        c->point = here;
        if (!jx_grad_check_here(c))
            return false;
    }
    return true;
}

/* Points that iterations are for, once one is away from where it leads. */
static bool visit_matrices(jx_gradding *c)
{
    /* Jacobi's iteration needs a diagonal that outweighs all else, a
     * contraction numbers that are small. */
    static const jx_point of[] = {
        {JX_AT_SPD, 1, "positive definite matrices"},
        {JX_AT_SPD, 32, "matrices with a heavy diagonal"},
        {JX_AT_UNIT, 1, "between 0 and 1"},
        {JX_AT_NORMAL, 0.1, "normal, scale 0.1"}};
    enum { KINDS = sizeof of / sizeof *of };
    const jx_point *before = c->point;
    const int64_t work = c->work;
    bool good = true;

    if (c->has_matrices)
        return true;
    c->has_matrices = true;
    c->work = 0;
    c->of_matrices = -c->points;
    for (int i = 0; good && i < MATRICES; i++) {
        c->point = &of[i % KINDS];
        good = jx_grad_check_here(c);
    }
    c->of_matrices += c->points;
    c->work += work;
    c->point = before;
    return good;
}

/* Whether a call passes the constants that another one does. */
static bool has_same_fixed(const jx_gradding *c, const void *const *a,
                           const void *const *b)
{
    bool same = true;

    for (int i = 0; same && i < c->primal.nins; i++)
        same = !c->calling->fixed[i] ||
               !memcmp(a[i], b[i], jx_plan_in(c->primal.plan, i)->bytes);
    return same;
}

/* The same points with the constants that other calls pass: what holds for one
 * exponent need not for the next. */
static bool check_other_calls(jx_gradding *c, const jx_point *points, int count)
{
    const void *const *seen[OTHERS + 1] = {c->fixed};
    jx_sampling by = jx_grad_sampling(c);
    int nseen = 1;
    bool good = true;

    for (by.call = 1; c->fixed && by.call < MOST_CALLS && nseen <= OTHERS;
         by.call++) {
        const jx_sampled *sample =
            jx_sample_program(&by, c->called, &c->rng, NULL);
        bool known = false;
        for (int i = 0; sample && i < nseen && !known; i++)
            known = has_same_fixed(c, seen[i], sample->at);
        if (!sample)
            break;
        if (!known)
            seen[nseen++] = sample->at;
    }
    for (int k = 1; k < nseen && good; k++) {
        c->fixed = seen[k];
        attach_sample(c, NULL);
        for (int i = 0;
             i < FEW && i < count && good && (i == 0 || !is_enough(c)); i++) {
            c->point = &points[i];
            good = jx_grad_check_here(c);
        }
    }
    c->fixed = seen[0];
    return good;
}

static bool check_points(jx_gradding *c, bool thorough)
{
    const jx_sampling by = jx_grad_sampling(c);
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};
    const jx_sampled *given =
        c->given ? c->given
                 : jx_sample_given(&by, c->called, c->options->inputs);
    int count;

    /* What is fixed has a value that only the program knows; and where operands
     * depend on each other, or the program's own code never makes the call,
     * values drawn one by one may be ones that the rule never meets. */
    if (c->calling->any_fixed && !c->fixed) {
        const jx_sampled *any =
            jx_sample_program(&by, c->called, &c->rng, NULL);
        c->fixed = any ? any->at : NULL;
    }
    c->cautious = c->calling->related || !c->calling->reached ||
                  (c->calling->any_fixed && !c->fixed);
    if (c->cautious && !given && !check_program_points(c))
        return false;
    attach_call(c, given);
    const jx_point *points =
        jx_points_make(c->program, code, 4, given != NULL, &count);
    int few = given ? FEW + JX_SAMPLE_POINTS : FEW;
    if (!thorough)
        count = count < few ? count : few;
    for (int i = 0; points && i < count && !is_enough(c); i++) {
        c->point = &points[i];
        if (is_idle(c))
            continue;
        if (!jx_grad_check_here(c) || (c->away > 0 && !visit_matrices(c)))
            return false;
    }
    if (points && c->calling->varied && !given && !c->cautious) {
        if (!check_other_calls(c, points, count))
            return false;
        attach_call(c, given);
    }
    return !thorough || (jx_grad_regions(c) && jx_grad_integers(c) &&
                         (c->away == 0 || visit_matrices(c)));
}

/* Whether the program's function is looked at where its loops lead, too. */
static bool has_limit(const jx_gradding *c)
{
    return c->loops && !c->most_work && !c->stands_in && !c->values_only &&
           (c->intent == JX_INTENT_NONE || c->intent == JX_INTENT_IMPLICIT);
}

/* Steps that each come nearer by a part have slopes that come nearer as slowly,
 * and those of a minimum are as near as the root of its value. */
static double leeway_of(const jx_gradding *c)
{
    static const double times = 5000, most = 5e-3;

    return c->iterative && !c->most_work && !c->second
               ? fmin(times * jx_points_stops_at(c->rule->primal.jaxpr), most)
               : 0;
}

/* Within which it was seen to agree. */
static double tolerance_of(const jx_gradding *c)
{
    return jx_grad_goes_on(c) ? fmin(c->tolerance, c->limit.tolerance)
                              : fmax(c->tolerance, c->leeway);
}

/* Makes what a rule's pattern is judged with; else tells why it can't be. */
static bool open_pattern(jx_gradding *c, const jx_plan_options *how,
                         jx_rule_report *report)
{
    jx_arena *arena = c->program->ctx->arena;

    if (!jx_grad_masks_fit(c->rule, c->pattern)) {
        report->detail = "its masks of zeros do not fit its operands";
    } else if (!jx_grad_open(c, how)) {
        report->detail = c->program->ctx->error.message;
        jx_error_clear(c->program->ctx);
    } else if (!jx_space_of_inputs(&c->in, arena, c->primal.plan,
                                   c->rule->nconsts, c->pattern->zeros,
                                   c->calling->ties) ||
               !jx_space_of_outputs(&c->out, arena, c->primal.plan) ||
               !jx_grad_allocate(c)) {
        report->detail = "its values are too large to sample";
    } else if (jx_grad_has_dtypes(c) && !jx_grad_signature_fits(c)) {
        report->detail = "its jaxprs do not take and give what its function "
                         "does (jaxvet check says where)";
    } else {
        return true;
    }
    return false;
}

/* What is known of a rule from its code. */
static void read_code(jx_gradding *c)
{
    c->unwanted = jx_grad_unwanted(c);
    c->takes_rows = jx_grad_takes_rows(c->rule->primal.jaxpr);
    c->iterative = c->loops && !c->takes_rows &&
                   (c->most_work || c->second || !jx_grad_loops_itself(c));
    c->limit.tolerance =
        jx_sample_tolerance_at_rest(c->rule) * (c->second ? 64 : 1);
    c->leeway = leeway_of(c);
    c->grain = jx_points_grain(c->rule->primal.jaxpr);
    c->converges = c->intent == JX_INTENT_IMPLICIT ||
                   jx_points_converges(c->rule->primal.jaxpr);
    c->iterates = jx_points_iterates(c->rule->primal.jaxpr);
    c->rough = jx_points_is_rough(c->rule->primal.jaxpr);
    c->normwise = jx_points_is_normwise(c->rule->primal.jaxpr);
    c->approximates = jx_points_has_rounded(c->rule->primal.jaxpr);
    c->rounded = holds_rounded(c);
    c->pointwise = is_pointwise(c);
    c->symmetric = c->symmetric || c->intent == JX_INTENT_SYMMETRIC;
}

/* `base`: as it was before its plans. */
static void judge_points(jx_gradding *c, const jx_gradding *base,
                         const jx_plan_options *how, bool thorough)
{
    if (check_points(c, thorough) && !thorough &&
        c->comparisons + c->abroad == 0)
        check_points(c, true);
    if (c->ends_only && c->against == 0)
        jx_grad_visit_refused(c);
    jx_grad_weigh_points(c);
    jx_grad_look_at_solutions(c, base, how, thorough);
    jx_grad_weigh_ignored(c);
    if (!c->wrong && thorough && c->comparisons > 0 && !c->ends_only)
        jx_grad_declared(c);
    if (c->intent == JX_INTENT_STRAIGHT_THROUGH && !c->stands_in && !c->wrong &&
        c->comparisons && !c->passed)
        c->wrong = "it is declared as straight-through, and passes nothing on";
}

/* Where nothing was compared. */
static const char *why_nothing(const jx_gradding *c)
{
    return c->in.size == 0 || c->out.size == 0
               ? "nothing that it takes, or nothing that it gives, has a "
                 "derivative"
           : c->stair     ? "the function is a staircase: its differences say "
                            "nothing about slopes"
           : c->failed    ? c->failed
           : c->spent     ? "its code runs longer than is tried"
           : c->converges ? "the function stops when it is near enough: its "
                            "slopes are those of so many steps"
           : c->clipped   ? "it clips all cotangents that were tried"
           : c->dropped   ? "finite differences were too uncertain everywhere"
                          : "the function was not finite at any point tried";
}

static void tell(const jx_gradding *c, jx_rule_report *report)
{
    report->points += c->points;
    report->comparisons += c->comparisons;
    report->dropped += c->dropped;
    report->muted += c->muted;
    report->clipped += c->clipped;
    report->outvoted += c->outvoted;
    report->unwanted = c->unwanted;
    /* of both sides; what stops short does so on one */
    report->tolerance =
        fmax(report->tolerance, fmax(tolerance_of(c), c->shorts.within / 2));
    report->unmet = c->unfollowed && !c->followed;
    report->led = c->limit.met;
    report->work += c->work;
    report->empty = !c->wrong && ((c->in.count > 0 && c->in.size == 0) ||
                                  (c->out.count > 0 && c->out.size == 0));
    report->undeclared = c->undeclared;
    report->convention = c->convention;
    if (c->wrong) {
        report->outcome = JX_RULE_WRONG;
        report->detail = c->wrong;
        report->witness = c->witness;
        report->place = c->place;
        report->moved = c->in.size;
        report->code = c->code;
        report->by_own = c->by_own;
    } else if (!report->detail && jx_grad_doubts(c)) {
        report->detail = jx_grad_doubts(c);
    } else if (!report->detail && c->comparisons == 0 && !c->values_only &&
               !report->empty) {
        report->detail = why_nothing(c);
    }
}

void jx_grad_pattern(jx_gradding *c, const jx_plan_options *how, bool thorough,
                     jx_rule_report *report)
{
    const jx_plan_options *called_with = c->how;
    jx_plan_options here = *how;
    const jx_gradding base = *c;

    c->called = c->called ? c->called : c->rule;
    c->loops = jx_points_has_loop(c->rule->primal.jaxpr);
    if (has_limit(c)) {
        /* its plans may be kept */
        c->turns = here.turns = JX_NEW(c->program->ctx->arena, jx_turns);
        c->how = how = &here;
    }
    if (open_pattern(c, how, report) && jx_grad_has_dtypes(c) &&
        c->in.size > 0 && c->out.size > 0) {
        read_code(c);
        judge_points(c, &base, how, thorough);
    }
    tell(c, report);
    jx_grad_close_twins(c);
    c->how = called_with;
    if (c->first)
        jx_grad_keep_first(c,
                           !c->wrong && !report->detail && c->comparisons > 0);
    else
        jx_grad_release(c);
    c->turns = NULL;
}
