/* gradregion.c - see gradding.h: a point in each region between thresholds.
 *
 * Function and rule choose: by comparisons, max, abs, branches.  Along a few
 * lines through the inputs (all equal; one argument alone; in a random
 * direction) both are run with what they choose written down
 * (runtime/choices.h), at steps of many sizes and around the constants of the
 * code.  Where two neighbours went different ways a bisection finds the
 * threshold between them, and each way that was not met before gets a point, as
 * far from the thresholds as there is room: also one that is a single number
 * wide (x == 1).
 *
 * There are more ways than points, and more elements that go their own way.  So
 * the rule is held against the function's own derivative at all places of these
 * lines, which takes two runs, and where they part there is a point. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PLACES = 256, /* on a line */
    MOST_WAYS = 64,    /* of a rule, that are remembered */
    MOST_POINTS = 32,  /* of a rule */
    PER_LINE = 10,
    HALVINGS = 45,
    ONE_ELEMENT = 4, /* lines: all, three arguments alone, these */
    AT_RANDOM = 5,
    LINES = 6,
    MOST_WORK = 1000000,   /* operations */
    MOST_SCANNED = 400000, /* the same where own derivatives are asked */
    MOST_SUSPECTS = 6,     /* points that own derivatives name */
    STEPS = 128,           /* of a line, where numbers are made integers */
};

static const jx_point normal = {JX_AT_NORMAL, 1, "normal"};

typedef struct region {
    double low, high;
    uint64_t way;
} region;

typedef struct survey {
    jx_gradding *c;
    jx_choices primal_chose, rule_chose;
    jx_callee primal, jvp, fwd, bwd; /* of `c`, planned with choices */
    double *base, *line;             /* x = base + t * line */
    bool primal_alone;               /* the rule's choices do not matter */
    bool exact;         /* equal numbers: a region may be one number wide */
    int kind;           /* of line: ways are remembered by it */
    double least, most; /* the smallest t that is not 0, the largest */
    double grain; /* the part of a number by which the next one is larger */
    int64_t left; /* operations */
    uint64_t met[MOST_WAYS];
    int nmet, npoints, of_line;
    bool good;       /* no point has shown the rule wrong */
    bool steps;      /* something is an index that was computed */
    double *along;   /* what moves while own derivatives are asked */
    double *weights; /* of the results */
    int suspects;
} survey;

/* -- runs ------------------------------------------------------------------ */

static bool open_all(survey *s)
{
    jx_gradding *c = s->c;
    const jx_rule_pattern *p = c->pattern;
    jx_plan_options of_primal = *c->how, of_rule = *c->how;

    of_primal.choices = &s->primal_chose;
    of_rule.choices = &s->rule_chose;
    bool good =
        jx_callee_open(&s->primal, c->typed, &c->rule->primal, &of_primal) &&
        (s->primal_alone ||
         (c->rule->vjp
              ? jx_callee_open(&s->fwd, c->typed, &p->fwd, &of_rule) &&
                    jx_callee_open(&s->bwd, c->typed, &p->bwd, &of_rule)
              : jx_callee_open(&s->jvp, c->typed, &p->jvp, &of_rule)));
    s->base = jx_grad_room(c, 3 * (size_t)c->in.size + (size_t)c->out.size + 4,
                           sizeof *s->base);
    s->line = s->base ? s->base + c->in.size + 1 : NULL;
    s->along = s->base ? s->line + c->in.size + 1 : NULL;
    s->weights = s->base ? s->along + c->in.size + 1 : NULL;
    if (!good && c->program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(c->program->ctx);
    return good && s->base;
}

static void close_all(survey *s)
{
    jx_callee_close(&s->primal);
    jx_callee_close(&s->jvp);
    jx_callee_close(&s->fwd);
    jx_callee_close(&s->bwd);
    free(s->base);
}

/* The callees of the check change places with those of the survey, and back. */
static void change_places(survey *s)
{
    jx_callee *ours[] = {&s->primal, &s->jvp, &s->fwd, &s->bwd};
    jx_callee *theirs[] = {&s->c->primal, &s->c->jvp, &s->c->fwd, &s->c->bwd};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        jx_callee kept = *ours[i];
        *ours[i] = *theirs[i];
        *theirs[i] = kept;
    }
}

static void put(survey *s, double t)
{
    jx_gradding *c = s->c;

    for (int i = 0; i < c->in.size; i++)
        c->x[i] = s->line[i] == 0 ? s->base[i] : s->base[i] + t * s->line[i];
    jx_space_scatter(&c->in, c->x, &c->primal);
}

/* The way that function and rule go at t. */
static uint64_t way_at(survey *s, double t)
{
    jx_gradding *c = s->c;
    int64_t work = c->work;
    bool spent = c->spent;
    double value, scale;

    s->primal_chose.sum = s->rule_chose.sum = 0;
    change_places(s);
    put(s, t);
    bool ran = jx_callee_run(&c->primal);
    s->left -= jx_grad_cost(c, &c->primal) + 1;
    ran = ran && !s->primal_alone;
    memcpy(c->moved, s->line, (size_t)c->in.size * sizeof *c->moved);
    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] = 1;
    if (ran && !c->rule->vjp && jx_grad_run_jvp(c, c->moved, 1))
        s->left -= jx_grad_cost(c, &c->jvp);
    if (ran && c->rule->vjp && jx_grad_prepare_fwd(c) &&
        jx_grad_pulled_back(c, c->cotangent, c->moved, &value, &scale))
        s->left -= jx_grad_cost(c, &c->fwd) + jx_grad_cost(c, &c->bwd);
    change_places(s);
    c->work = work;
    c->spent = spent;
    return (s->primal_chose.sum + (uint64_t)s->kind) * 0x9e3779b97f4a7c15u ^
           s->rule_chose.sum;
}

/* -- lines ----------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_place(const survey *s, double *to, int *count, double t)
{
    if (*count < MOST_PLACES && isfinite(t) && fabs(t) <= s->most)
        to[(*count)++] = t;
}

/* Where to look on a line, sorted: steps of many sizes, the code's constants,
 * what lies between these. */
static int places(const survey *s, double *to)
{
    static const double sizes[] = {1e-12, 1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1,
                                   0.3,   0.7,  1,    1.5,  3,    6,    10,
                                   20,    40,   100,  300,  1e3,  1e4,  1e6};
    const jx_gradding *c = s->c;
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};
    double constants[32];
    int count = 0, n = 0;

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i])
            n = jx_points_constants(code[i], constants, n,
                                    sizeof constants / sizeof *constants);
    for (int sign = -1; sign <= 1; sign += 2)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            add_place(s, to, &count, sign * sizes[i]);
    add_place(s, to, &count, 0);
    for (int i = 0; i < n; i++) {
        add_place(s, to, &count, constants[i]);
        add_place(s, to, &count, -constants[i]);
        add_place(s, to, &count, 4 * constants[i]);
        add_place(s, to, &count, -4 * constants[i]);
    }
    qsort(to, (size_t)count, sizeof *to, by_size);
    for (int i = 0, end = count; i + 1 < end && n > 0; i++)
        add_place(s, to, &count, to[i] + (to[i + 1] - to[i]) / 2);
    qsort(to, (size_t)count, sizeof *to, by_size);
    return count;
}

static bool is_met(survey *s, uint64_t way)
{
    for (int i = 0; i < s->nmet; i++)
        if (s->met[i] == way)
            return true;
    return false;
}

/* In the middle, by size where one end is far larger than the other. */
static double middle(const region *r)
{
    if (r->low > 0 && r->high > 4 * r->low)
        return sqrt(r->low) * sqrt(r->high);
    if (r->high < 0 && r->low < 4 * r->high)
        return -sqrt(-r->low) * sqrt(-r->high);
    return r->low + (r->high - r->low) / 2;
}

static void visit_at(survey *s, double t, double room, const char *name)
{
    jx_gradding *c = s->c;
    const jx_point point = {JX_AT_GIVEN, t, name};

    if (t != 0 && fabs(t) < s->least)
        return;

    c->point = &point;
    c->room = room;
    put(s, t);
    s->good = jx_grad_check_here(c);
    c->room = 0;
    c->point = &normal;
}

/* No region of this line is visited any more. */
static bool is_full(const survey *s)
{
    return s->c->asked > MOST_WORK || s->npoints >= MOST_POINTS ||
           s->of_line >= PER_LINE || s->nmet >= MOST_WAYS;
}

/* Whether across so much of the line inputs move by less than the largest of
 * them is from the next number of its dtype. */
static bool is_within_grain(const survey *s, double t, double width)
{
    double moves = 0, size = 0;

    for (int i = 0; i < s->c->in.size; i++) {
        moves = fmax(moves, fabs(width * s->line[i]));
        if (s->line[i] != 0)
            size = fmax(size, fabs(s->base[i] + t * s->line[i]));
    }
    return moves < 2 * s->grain * size;
}

/* Checks the rule in a region: in the middle, and at the larger end of one that
 * has many sizes. */
static void visit(survey *s, const region *r)
{
    double t = middle(r), width = r->high - r->low;
    double end = fabs(r->high) > fabs(r->low) ? r->high : r->low;

    if (is_met(s, r->way) || is_full(s) ||
        (!s->exact && width < 1e-3 * fabs(t)))
        return;
    /* Between a constant and what it was rounded to there is no
     * number of the dtype. */
    if (width > 1e-9 * fabs(t) && is_within_grain(s, t, width))
        return;
    s->met[s->nmet++] = r->way;
    s->npoints++;
    s->of_line++;
    if (width <= 1e-9 * fabs(t) || width < 1e-18) {
        visit_at(s, r->low, 0, "at a number that the code singles out");
        return;
    }
    visit_at(s, t, 0.05 * fmin(t - r->low, r->high - t),
             "between thresholds of the code");
    if (s->good && fabs(t) < 0.05 * fabs(end))
        visit_at(s, 0.9 * end, 0.005 * fabs(end),
                 "close to a threshold of the code");
}

/* The end of the region that begins at `from`, found between two places
 * whose ways differ. */
static double end_of(survey *s, double from, uint64_t way, double to)
{
    for (int i = 0; i < HALVINGS && s->left > 0; i++) {
        double half = from + (to - from) / 2;
        if (from > 0 && to > 4 * from)
            half = sqrt(from) * sqrt(to);
        else if (to < 0 && from < 4 * to)
            half = -sqrt(-from) * sqrt(-to);
        if (half <= from || half >= to)
            break;
        *(way_at(s, half) == way ? &from : &to) = half;
    }
    return to;
}

/* What is to be done with each region of a line. */
typedef void region_visitor(survey *s, const region *r);

static void survey_line(survey *s, region_visitor *visitor)
{
    enum { BETWEEN = 3 }; /* regions between two places, at most */
    double at[MOST_PLACES];
    int count = places(s, at);
    region here = {at[0], at[0], way_at(s, at[0])};

    s->of_line = 0;
    for (int i = 1; i < count && s->good && s->left > 0; i++) {
        if (visitor == visit && is_full(s))
            return; /* where thresholds lie concerns nobody */
        uint64_t way = way_at(s, at[i]);
        for (int turn = 0; turn < BETWEEN && way != here.way && s->good;
             turn++) {
            double end = end_of(s, here.high, here.way, at[i]);
            here.high = end; /* the first number beyond */
            visitor(s, &here);
            here = (region){end, end, way_at(s, end)};
        }
        if (way != here.way)
            here = (region){at[i], at[i], way};
        here.high = at[i];
    }
    if (s->good)
        visitor(s, &here);
}

/* Operands that are the same in every call stay as they are. */
static void keep_fixed(survey *s)
{
    for (int k = 0; k < s->c->in.count; k++) {
        const jx_span_of *span = &s->c->in.spans[k];
        for (int i = 0; span->fixed && i < span->count; i++) {
            s->base[span->at + i] = span->fixed[i];
            s->line[span->at + i] = 0;
        }
    }
}

/* How many results are numbers at the base. */
static int numbers_at_base(survey *s)
{
    jx_gradding *c = s->c;
    int count = 0;

    jx_space_scatter(&c->in, s->base, &c->primal);
    if (!jx_grad_call(c, &c->primal))
        return 0;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    for (int j = 0; j < c->out.size; j++)
        count += isfinite(c->samples[j]);
    return count;
}

/* A base of normal numbers, matrices with a heavy diagonal; of others where the
 * function is one of probabilities, or of positive numbers. */
static void fill_base(survey *s)
{
    static const jx_point others[] = {{JX_AT_UNIT, 1, "between 0 and 1"},
                                      {JX_AT_POSITIVE, 1, "positive"}};
    jx_gradding *c = s->c;

    jx_rng_normals(&c->rng, c->in.size, s->base);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (numbers_at_base(s) == c->out.size)
            break;
        jx_point_fill(&others[k], &c->rng, c->in.spans, c->in.count, s->base);
    }
    for (int k = 0; k < c->in.count; k++) {
        const jx_span_of *span = &c->in.spans[k];
        int64_t n = span->rank >= 2 ? span->shape[span->rank - 1] : 0;
        if (span->complex || n < 2 || span->shape[span->rank - 2] != n)
            continue;
        for (int i = 0; i < span->count; i++)
            s->base[span->at + i] += i % (n * n) % (n + 1) == 0 ? 4 : 0;
    }
    jx_spans_keep(c->in.spans, c->in.count, s->base);
}

/* The line number k: base and direction; false if there is none. */
static bool line_of(survey *s, int k)
{
    jx_gradding *c = s->c;
    bool alone = k == ONE_ELEMENT, random = k == AT_RANDOM;
    const jx_span_of *span =
        k > 0 && k <= c->in.count ? &c->in.spans[k - 1] : NULL;

    /* where all are equal, each has been everywhere alone */
    if (c->pointwise && (alone || (random && c->in.count == 1)))
        return false;
    s->exact = !random;
    /* an argument alone shows more than all of them together */
    s->kind = k > 0;
    fill_base(s);
    for (int i = 0; i < c->in.size; i++) {
        s->base[i] = k == 0 ? 0 : s->base[i];
        s->line[i] = k == 0;
    }
    if (random)
        jx_rng_normals(&c->rng, c->in.size, s->line);
    if (alone) {
        s->base[c->in.size / 2] = 0;
        s->line[c->in.size / 2] = 1;
    }
    if (k == 0 || alone || random) {
        keep_fixed(s);
        return k == 0 || c->in.size > 1;
    }
    if (!span || c->in.count < 2 || span->tied || span->fixed)
        return false;
    for (int i = span->at; i < span->at + span->count; i++) {
        s->base[i] = 0;
        s->line[i] = 1;
    }
    keep_fixed(s);
    return true;
}

/* The numbers to try: well within the narrowest dtype of the operands,
 * none that JAX takes for zero.  What is decomposed beside a far larger
 * number is lost. */
static void set_limits(survey *s)
{
    const jx_gradding *c = s->c;

    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};

    s->least = DBL_MIN;
    s->grain = 0;
    s->most =
        c->rule->primal.jaxpr && jx_points_decomposes(c->rule->primal.jaxpr)
            ? 300
            : 1e60;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i])
            s->most = fmin(s->most, jx_points_reach(code[i]));
    for (int i = 0; i < c->rule->nins; i++) {
        jx_dtype dtype = c->rule->ins[i]->dtype;
        s->grain = fmax(s->grain, 2 * jx_unit_roundoff(dtype));
        bool single = dtype == JX_F32 || dtype == JX_BF16 || dtype == JX_C64;
        s->most = fmin(s->most, dtype == JX_F16 ? 3e4
                                : single        ? 1e30
                                                : s->most);
        s->least = fmax(s->least, dtype == JX_F16 ? 0x1p-14
                                  : single        ? FLT_MIN
                                                  : s->least);
    }
}

/* -- where rule and own derivative part ------------------------------------ */

/* Whether two of a size differ by more than code that computes the same. */
static bool parts_by(const survey *s, double a, double b, double size)
{
    double slack = fmax(1e-5, 4 * s->c->tolerance);

    return isfinite(a) && isfinite(b) && size > 1e-200 &&
           fabs(a - b) > slack * size;
}

/* Whether the rule and the function's own derivative are two things at t. */
static bool part_at(survey *s, double t)
{
    jx_gradding *c = s->c;
    double value, scale, own = 0, most = 0;
    bool apart = false;

    put(s, t);
    s->left -= jx_grad_cost(c, &c->primal) + 1;
    if (!jx_grad_call(c, &c->primal))
        return false;
    memcpy(c->moved, s->along, (size_t)c->in.size * sizeof *c->moved);
    jx_grad_own_along(c, c->moved);
    s->left -= jx_grad_cost(c, &c->own);
    if (!c->has_along)
        return false;
    if (!c->rule->vjp) {
        if (!jx_grad_run_jvp(c, c->moved, 1))
            return false;
        s->left -= jx_grad_cost(c, &c->jvp);
        jx_grad_take_tangents(c, c->tangent);
        for (int k = 0; k < jx_grad_nlooked(c) && !apart; k++) {
            int j = jx_grad_looked(c, k);
            double rule = c->tangent[j], derived = c->along[j];
            apart = rule != derived && /* most are the same */
                    parts_by(s, rule, derived, fmax(fabs(rule), fabs(derived)));
        }
        return apart;
    }
    memcpy(c->cotangent, s->weights,
           (size_t)c->out.size * sizeof *c->cotangent);
    if (!jx_grad_prepare_fwd(c) ||
        !jx_grad_pulled_back(c, c->cotangent, c->moved, &value, &scale))
        return false;
    s->left -= jx_grad_cost(c, &c->fwd) + jx_grad_cost(c, &c->bwd);
    jx_space_conjugate(&c->out, c->cotangent);
    for (int j = 0; j < c->out.size; j++) {
        double term = c->cotangent[j] * c->along[j];
        own += term;
        most += fabs(term);
    }
    return parts_by(s, value, own, fmax(most, scale));
}

/* The last place, from one where they part towards one where they do not,
 * where they do. */
static double edge_of(survey *s, double from, double to)
{
    enum { TURNS = 24 };

    for (int i = 0; i < TURNS && s->left > 0; i++) {
        const region both = {fmin(from, to), fmax(from, to), 0};
        double half = middle(&both);
        *(part_at(s, half) ? &from : &to) = half;
    }
    return from;
}

/* Checks the rule in the middle of where they part, `last` and `next` being
 * places around `t` where they do not. */
static void suspect(survey *s, double last, double t, double next)
{
    double low = edge_of(s, t, last), high = edge_of(s, t, next);
    const region r = {low, high, 0};
    double at = high > low ? middle(&r) : t;

    if (high - low <= fmax(1e-6, 2 * s->grain) * fabs(t) ||
        !part_at(s, at)) /* a kink, or a tie */
        return;
    s->suspects++;
    visit_at(s, at, 0.05 * fmin(at - low, high - at),
             "where it leaves the own derivative");
}

/* Of what is chosen by integers, most are met between numbers
 * that code knows. */
static int add_steps(const survey *s, double *to, int count)
{
    double most = 1;

    for (int i = 0; i < count; i++)
        most = fabs(to[i]) <= 300 ? fmax(most, fabs(to[i])) : most;
    for (int i = 0; i < STEPS; i++)
        add_place(s, to, &count, most * ((2 * i + 1.) / STEPS - 1));
    qsort(to, (size_t)count, sizeof *to, by_size);
    return count;
}

/* Goes along a line and looks where they part. */
static void scan_line(survey *s)
{
    double at[MOST_PLACES];
    int count = places(s, at), parted = 0, asked = 0;
    double last = at[0];

    count = s->steps ? add_steps(s, at, count) : count;
    for (int i = 0;
         i < count && s->good && s->left > 0 && s->suspects < MOST_SUSPECTS;
         i++) {
        bool parts = part_at(s, at[i]);
        int beyond = i + 1;
        asked++;
        if (!parts) {
            last = at[i];
            continue;
        }
        while (beyond < count && s->left > 0 && part_at(s, at[beyond]))
            beyond++;
        parted += beyond - i;
        /* Everywhere: it is something else than derivatives that
         * the rule follows. */
        if (parted > count / 2 && asked < parted)
            return;
        suspect(s, last, at[i + (beyond - 1 - i) / 2],
                beyond < count ? at[beyond] : at[count - 1]);
        last = beyond < count ? at[beyond] : last;
        i = beyond;
    }
}

static bool any_chooses(const jx_gradding *c)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i] && jx_points_chooses(code[i]))
            return true;
    return false;
}

static bool any_steps(const jx_gradding *c)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i] && jx_points_steps(code[i]))
            return true;
    return false;
}

/* Whether the rule singles out integers that the function does not: so many
 * turns of a loop, each of which is a region. */
static bool counts_alone(const jx_gradding *c)
{
    enum { MOST = 32 };
    const jx_jaxpr *code[] = {c->pattern->jvp.jaxpr, c->pattern->fwd.jaxpr,
                              c->pattern->bwd.jaxpr};
    int64_t to[MOST];
    int of_function =
        jx_points_integers(c->rule->primal.jaxpr, true, to, 0, MOST);
    int count = of_function;

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i])
            count = jx_points_integers(code[i], true, to, count, MOST);
    return count > of_function;
}

static void copy_passive(survey *s)
{
    jx_gradding *c = s->c;

    for (int i = 0; i < c->primal.nins; i++)
        memcpy(s->primal.in[i], c->primal.in[i],
               jx_plan_in(c->primal.plan, i)->bytes);
}

/* The same lines, with what is computed at each of their places. */
static void scan_lines(survey *s)
{
    jx_gradding *c = s->c;

    s->left = MOST_SCANNED;
    jx_rng_normals(&c->rng, c->in.size, s->along);
    for (int k = 0; k < c->out.count; k++)
        for (int j = c->out.spans[k].at;
             j < c->out.spans[k].at + c->out.spans[k].count; j++)
            s->weights[j] =
                jx_grad_is_wanted(c, k) ? 0.5 + jx_rng_uniform(&c->rng) : 0;
    for (int k = 0; k < LINES && s->good && s->left > 0; k++)
        if (line_of(s, k))
            scan_line(s);
}

bool jx_grad_regions(jx_gradding *c)
{
    survey s = {.c = c, .left = MOST_WORK, .good = true, .steps = any_steps(c)};

    if (!(s.steps || any_chooses(c)) || c->cautious || c->second ||
        c->most_work || c->values_only || c->stands_in || c->pulling ||
        (c->iterates && !counts_alone(c)))
        return true;
    set_limits(&s);
    if (open_all(&s)) {
        c->point = &normal;
        jx_grad_fill_passive(c);
        copy_passive(&s);
        for (int k = 0; k < LINES && s.good && s.left > 0; k++)
            if (line_of(&s, k))
                survey_line(&s, visit);
        if (s.good && c->own.plan && !c->iterative && !c->limit.met &&
            !c->rough)
            scan_lines(&s);
    }
    close_all(&s);
    return s.good;
}

/* Function and own derivative at a place on the line: at most
 * so many of each. */
static bool both_at(survey *s, double t, int count, double *values,
                    double *slopes)
{
    jx_gradding *c = s->c;

    put(s, t);
    if (!jx_grad_call(c, &c->primal))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    memcpy(values, c->samples, (size_t)count * sizeof *values);
    jx_grad_own_along(c, s->line);
    if (c->has_along)
        memcpy(slopes, c->along, (size_t)count * sizeof *slopes);
    return c->has_along;
}

/* A jump that is no kink, and is more than rounding. */
static void note_jump(jx_gradding *c, double a, double b, double size)
{
    double jump = fabs(a - b) / size;

    if (jump > 1e-11 && jump < 1e-3 && jump > c->patched - 1)
        c->patched = 1 + jump;
}

/* Compares function and own derivative on both sides of a region's end, where
 * that is no end of the line.  A rule may be made of the function's values, so
 * what these are off counts as it is, too.  Slopes jump if they move by more
 * than beside the end over as much. */
static void measure_jump(survey *s, const region *r)
{
    enum {
        PART = 32, /* of the outputs, that are looked at */
        SIDES = 4
    };
    static const int sides[SIDES] = {-3, -1, 1, 3};
    jx_gradding *c = s->c;
    double values[SIDES][PART], slopes[SIDES][PART];
    double by = 1e-13 * fmax(fabs(r->high), 1e-9);
    int count = c->out.size < PART ? c->out.size : PART;

    if (way_at(s, r->high) == r->way)
        return;
    for (int i = 0; i < SIDES; i++)
        if (!both_at(s, r->high + sides[i] * by, count, values[i], slopes[i]))
            return;
    for (int j = 0; j < count; j++) {
        double below = slopes[1][j], above = slopes[2][j];
        double moved = 4 * by * (fabs(below) + fabs(above));
        double bends =
            fmax(fabs(below - slopes[0][j]), fabs(slopes[3][j] - above));
        if (fabs(values[1][j] - values[2][j]) > moved)
            note_jump(c, values[1][j], values[2][j],
                      fmin(1, fabs(values[1][j]) + DBL_MIN));
        if (fabs(below - above) > 2 * bends)
            note_jump(c, below, above, fabs(below) + DBL_MIN);
    }
}

bool jx_grad_is_patched(jx_gradding *c, const double *d, double part)
{
    enum { LINES_TRIED = 4 };
    size_t bytes = (size_t)c->in.size * sizeof *d;
    survey s = {.c = c, .primal_alone = true, .left = MOST_WORK, .good = true};
    bool first = c->patched < 1;

    c->patched = first ? 1 : c->patched;
    if (part <= c->patched - 1 || c->patched_lines++ >= LINES_TRIED ||
        !c->rule->primal.jaxpr || !jx_points_chooses(c->rule->primal.jaxpr))
        return part <= c->patched - 1;
    set_limits(&s);
    if (open_all(&s)) {
        copy_passive(&s);
        memcpy(s.base, c->x, bytes);
        memcpy(s.line, d, bytes);
        survey_line(&s, measure_jump);
        if (first && line_of(&s, 0))
            survey_line(&s, measure_jump);
    }
    close_all(&s);
    return part <= c->patched - 1;
}
