/* gradmasks.c - see gradding.h: the other masks of a rule of which one agrees.
 *
 * A document holds what a rule gives for each set of tangents that may be zero,
 * and there may be dozens.  Where one of them agrees (the *first*), each must
 * give what that one does where the tangents are zero that it lacks: two runs
 * along a line, and no slopes.  One that does not, or moves what the first does
 * not, is judged as the first was. */
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 1 << 20, /* of the operands of the points that are kept */
    LEAST_POINTS = 2,
    PER_POINT = 2,           /* lines */
    MASK_OPERATIONS = 40000, /* that a mask may take, of what takes long */
};

/* -- the points of the first ----------------------------------------------- */

static size_t operand_bytes(const jx_gradding *c)
{
    size_t bytes = 1;

    for (int i = 0; i < c->primal.nins; i++)
        bytes += jx_plan_in(c->primal.plan, i)->bytes;
    return bytes;
}

void jx_grad_note_point(jx_gradding *c)
{
    jx_grad_first *first = c->first;
    size_t bytes = operand_bytes(c), at = 0;
    char *kept;

    if (!first || first->npoints == JX_MOST_KEPT ||
        bytes > MOST_BYTES / JX_MOST_KEPT || jx_grad_is_foreign(c) ||
        !(kept = jx_grad_room(c, bytes, 1)))
        return;
    for (int i = 0; i < c->primal.nins; i++) {
        size_t n = jx_plan_in(c->primal.plan, i)->bytes;
        memcpy(kept + at, c->primal.in[i], n);
        at += n;
    }
    first->points[first->npoints++] = kept;
}

static void go_to(jx_gradding *c, const char *point)
{
    for (int i = 0; i < c->primal.nins; i++) {
        size_t n = jx_plan_in(c->primal.plan, i)->bytes;
        memcpy(c->primal.in[i], point, n);
        point += n;
    }
}

void jx_grad_keep_first(jx_gradding *c, bool agrees)
{
    if (agrees && c->first->npoints >= LEAST_POINTS) {
        c->first->check = *c;
        c->first->open = true;
    } else {
        jx_grad_free_first(c->first);
        jx_grad_release(c);
    }
}

void jx_grad_free_first(jx_grad_first *first)
{
    for (int i = 0; i < first->npoints; i++)
        free(first->points[i]);
    if (first->open)
        jx_grad_release(&first->check);
    *first = (jx_grad_first){0};
}

/* -- a mask ---------------------------------------------------------------- */

/* The span of an operand, or NULL. */
static const jx_span_of *span_of(const jx_space *s, int operand)
{
    for (int i = 0; i < s->count; i++)
        if (s->port[i] == operand)
            return &s->spans[i];
    return NULL;
}

/* Whether all that moves in it moves in the first pattern as well, and what is
 * one value in every call moves as one. */
static bool is_part_of(const jx_gradding *c, const jx_gradding *first)
{
    for (int i = 0; i < c->in.count; i++) {
        const jx_span_of *there = span_of(&first->in, c->in.port[i]);
        if (!there || there->tied != c->in.spans[i].tied)
            return false;
    }
    for (int i = 0; i < first->in.count; i++)
        if (first->in.spans[i].tied &&
            !span_of(&c->in, first->in.port[i]) !=
                !span_of(&c->in, c->calling->ties[first->in.port[i]]))
            return false;
    return true;
}

/* As near as roundings leave them, of numbers up to `most`; or
 * not finite alike. */
static bool is_same(double a, double b, double most)
{
    if (!isfinite(a) || !isfinite(b))
        return a == b || (isnan(a) && isnan(b));
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12 * most;
}

static double most_of(const double *a, int count)
{
    double most = 0;

    for (int i = 0; i < count; i++)
        most = isfinite(a[i]) ? fmax(most, fabs(a[i])) : most;
    return most;
}

static bool are_same(const double *a, const double *b, int count, double most)
{
    bool same = true;

    for (int i = 0; same && i < count; i++)
        same = is_same(a[i], b[i], most);
    return same;
}

/* Whether the results that both rules' code gives are the same, from output
 * `a` and `b` on. */
static bool same_results(const jx_gradding *c, const jx_callee *f, int a,
                         const jx_callee *g, int b)
{
    for (int i = 0; i < c->out.count; i++) {
        const double *x = jx_exec_out(f->exec, a + c->out.port[i]);
        const double *y = jx_exec_out(g->exec, b + c->out.port[i]);
        int count = c->out.spans[i].count;
        if (!are_same(x, y, count, most_of(x, count)))
            return false;
    }
    return true;
}

/* A direction of what moves: all at random, or one argument. */
static void draw(jx_gradding *c, int line, int turn, double *d)
{
    const jx_span_of *alone =
        line > 0 && c->in.count > 1 ? &c->in.spans[turn % c->in.count] : NULL;

    for (int i = 0; i < c->in.size; i++)
        d[i] = !alone || (i >= alone->at && i < alone->at + alone->count)
                   ? jx_rng_normal(&c->rng)
                   : 0;
    if (c->symmetric)
        jx_space_symmetric(&c->in, d);
}

/* The same direction in the first pattern, where all else stands still. */
static void embed(const jx_gradding *c, const double *d,
                  const jx_gradding *first, double *to)
{
    memset(to, 0, (size_t)first->in.size * sizeof *to);
    for (int i = 0; i < c->in.count; i++) {
        const jx_span_of *from = &c->in.spans[i],
                         *there = span_of(&first->in, c->in.port[i]);
        memcpy(to + there->at, d + from->at, (size_t)from->count * sizeof *to);
    }
}

static bool same_tangents(jx_gradding *c, jx_gradding *first, int line,
                          int turn)
{
    double *d = c->directions, *there = first->directions;

    draw(c, line, turn, d);
    embed(c, d, first, there);
    if (!jx_grad_run_jvp(c, d, 1) || !jx_grad_run_jvp(first, there, 1))
        return false;
    jx_grad_take_tangents(c, c->tangent);
    jx_grad_take_tangents(first, first->tangent);
    return same_results(c, &c->jvp, 0, &first->jvp, 0) &&
           are_same(c->tangent, first->tangent, c->out.size,
                    most_of(first->tangent, c->out.size));
}

static bool same_cotangents(jx_gradding *c, jx_gradding *first)
{
    double value, scale, *d = first->directions;
    bool same;

    memset(d, 0, (size_t)first->in.size * sizeof *d);
    for (int i = 0; i < c->out.size; i++)
        first->cotangent[i] = jx_rng_normal(&c->rng);
    if (!jx_grad_prepare_fwd(c) || !jx_grad_prepare_fwd(first) ||
        !jx_grad_pulled_back(c, first->cotangent, d, &value, &scale) ||
        !jx_grad_pulled_back(first, first->cotangent, d, &value, &scale))
        return false;
    same =
        same_results(c, &c->fwd, jx_grad_computed_residuals(c->pattern),
                     &first->fwd, jx_grad_computed_residuals(first->pattern));
    for (int i = 0; same && i < c->in.count; i++) {
        const jx_span_of *from = &c->in.spans[i],
                         *there = span_of(&first->in, c->in.port[i]);
        same = are_same(c->tangent + from->at, first->tangent + there->at,
                        from->count, most_of(first->tangent, first->in.size));
    }
    return same;
}

/* At the points of the first pattern, or so many as it may take. */
static bool same_at_points(jx_gradding *c, jx_gradding *first,
                           const jx_grad_first *points)
{
    int count = points->npoints;

    for (int k = 0; k < count; k++) {
        go_to(c, points->points[k]);
        for (int line = 0; line < PER_POINT; line++)
            if (c->rule->vjp ? !same_cotangents(c, first)
                             : !same_tangents(c, first, line, k))
                return false;
        int64_t each = c->work + first->work;
        while (count > LEAST_POINTS && each * count > MASK_OPERATIONS * (k + 1))
            count--;
    }
    return true;
}

bool jx_grad_is_like_first(jx_grad_first *first, const jx_rule_pattern *p,
                           int64_t *work)
{
    jx_gradding *of = &first->check, c = *of;
    size_t room =
        (size_t)(of->in.size > of->out.size ? of->in.size : of->out.size) + 2;
    bool like = false;

    if (!first->open || p->error || !jx_grad_masks_fit(c.rule, p))
        return false;
    c.pattern = p;
    c.jvp = c.fwd = c.bwd = (jx_callee){0};
    c.rng = (jx_rng){c.options->seed + 5};
    c.work = of->work = 0;
    c.tangent = jx_grad_room(&c, room, sizeof(double));
    c.directions = jx_grad_room(&c, room, sizeof(double));
    c.symmetric = false;
    like = c.tangent && c.directions &&
           jx_space_of_inputs(&c.in, c.program->ctx->arena, c.primal.plan,
                              c.rule->nconsts, p->zeros, c.calling->ties) &&
           is_part_of(&c, of) && jx_grad_open_rule(&c, c.how) &&
           jx_grad_signature_fits(&c) && jx_grad_has_dtypes(&c) &&
           same_at_points(&c, of, first);
    if (c.program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(c.program->ctx);
    *work = c.work + of->work;
    jx_callee_close(&c.jvp);
    jx_callee_close(&c.fwd);
    jx_callee_close(&c.bwd);
    free(c.tangent);
    free(c.directions);
    return like;
}
