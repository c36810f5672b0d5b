/* prover.c - the ladder; see prover.h. */
#include "prover/prover.h"

#include "frontend/base/assert.h"
#include "frontend/base/vec.h"
#include "prover/linear.h"
#include "prover/quick.h"
#include "prover/search.h"
#include "prover/slice.h"
#include "prover/smt.h"
#include "prover/solver.h"
#include "prover/suggest.h"
#include "prover/theory.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORK_LIMIT = 48 << 20, /* bytes, then the space is made anew */
    FIRST_POINTS = 6,
    FEW_POINTS = 100,
    MANY_POINTS = 5000,
    FEW_STEPS = 400,
    MANY_STEPS = 5000,
    RLIMIT = 200000, /* of Z3's units: some 0.2 s at most */
    VERIFIED_POINTS = 400,
};

enum { ALL = JX_NEGATIVE | JX_ZERO | JX_POSITIVE };

struct jx_prover {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_prover_options options;
    const jx_constraint *constraints;
    int nconstraints;
    jx_quick quick;
    jx_slices slices; /* once examined */
    jx_theory theory; /* made when first needed */
    bool own_solver;
    bool examined;
    jx_answer consistent; /* once examined */
    jx_assignment rest;   /* of the variables that a slice leaves out */
    jx_intern answers;    /* of type kept_answer */
};

typedef struct kept_answer {
    jx_constraint question;
    jx_answer answer;
} kept_answer;

/* -------------------------------------------------------------------------
 * Life
 * ---------------------------------------------------------------------- */

static const jx_constraint *
oriented_all(jx_ctx *ctx, const jx_constraint *constraints, int count)
{
    jx_constraint *kept = JX_NEW_ARRAY(ctx->arena, count, jx_constraint);

    for (int i = 0; kept && i < count; i++)
        kept[i] = jx_constraint_oriented(&constraints[i]);
    return kept;
}

jx_prover *jx_prover_new(jx_ctx *ctx, jx_dims *dims,
                         const jx_constraint *constraints, int count,
                         const jx_prover_options *options)
{
    jx_prover *p = calloc(1, sizeof *p);

    if (!p) {
        jx_starved(ctx);
        return NULL;
    }
    p->ctx = ctx;
    p->dims = dims;
    if (options)
        p->options = *options;
    if (!p->options.base_is_set)
        p->options.base = 1;
    p->constraints = oriented_all(ctx, constraints, count);
    p->nconstraints = count;
    jx_intern_init(&p->answers, ctx->arena);
    if (!p->constraints) {
        free(p);
        return NULL;
    }
    jx_quick_init(&p->quick, p->options.base, p->constraints, count);
    return p;
}

void jx_prover_free(jx_prover *p)
{
    if (!p)
        return;
    if (p->theory.work.ctx)
        jx_theory_free(&p->theory);
    if (p->own_solver)
        jx_solver_free(p->options.solver);
    free(p);
}

/* Before each question: no old dims in the way, the same state every time. */
static bool renew(jx_prover *p)
{
    if (p->theory.work.ctx &&
        jx_arena_used(p->theory.work.ctx->arena) < WORK_LIMIT) {
        p->theory.nhyps = p->theory.base_hyps;
        return true;
    }
    if (p->theory.work.ctx)
        jx_theory_free(&p->theory);
    return jx_theory_init(&p->theory, p->ctx, p->options.base, p->constraints,
                          p->nconstraints);
}

/* -------------------------------------------------------------------------
 * Witnesses
 * ---------------------------------------------------------------------- */

static bool comes_before(const jx_dim_atom *a, const jx_dim_atom *b)
{
    int c = strcmp(a->name, b->name);

    return c ? c < 0 : a->scope < b->scope;
}

/* Both together, in order; where both have a variable, the first counts. */
static jx_assignment merge(jx_prover *p, jx_assignment a, jx_assignment b)
{
    jx_binding *at = JX_NEW_ARRAY(p->ctx->arena, a.count + b.count, jx_binding);
    int n = 0, i = 0, j = 0;

    if (!at || !b.count)
        return a;
    while (i < a.count || j < b.count) {
        bool first = j == b.count ||
                     (i < a.count && !comes_before(b.at[j].var, a.at[i].var));

        if (first && j < b.count && b.at[j].var == a.at[i].var)
            j++;
        at[n++] = first ? a.at[i++] : b.at[j++];
    }
    return (jx_assignment){n, at};
}

static jx_assignment keep_point(jx_prover *p, const jx_search *s,
                                const jx_point *point)
{
    jx_binding *at = JX_NEW_ARRAY(p->ctx->arena, s->nvars, jx_binding);

    for (int i = 0; at && i < s->nvars; i++)
        at[i] = (jx_binding){s->vars[i], point->at[i]};
    return merge(p, (jx_assignment){at ? s->nvars : 0, at}, p->rest);
}

typedef struct hunt {
    jx_prover *p;
    const jx_constraint *question; /* NULL: any admissible point will do */
    jx_answer *answer;
} hunt;

static bool note_point(void *env, const jx_search *s, const jx_point *point)
{
    hunt *h = env;
    jx_answer *a = h->answer;
    bool holds = true;

    if (h->question && !jx_search_holds(s, h->question, point, &holds))
        return true;
    if (holds && !a->has_true) {
        a->when_true = keep_point(h->p, s, point);
        a->has_true = true;
    }
    if (!holds && !a->has_false) {
        a->when_false = keep_point(h->p, s, point);
        a->has_false = true;
    }
    return !(a->has_true && (a->has_false || !h->question));
}

/* The same by repairing: what small values do not show. */
static bool repair(jx_prover *p, const jx_search *s, const jx_constraint *q,
                   jx_answer *a)
{
    hunt h = {p, q, a};
    jx_point point;

    if (!a->has_true && jx_search_repair(s, q, true, &point))
        note_point(&h, s, &point);
    if (q && !a->has_false && jx_search_repair(s, q, false, &point))
        note_point(&h, s, &point);
    return a->has_true && a->has_false;
}

/* True when both answers have been seen. */
static bool search(jx_prover *p, const jx_search *s, const jx_constraint *q,
                   long from, long to, jx_answer *a)
{
    hunt h = {p, q, a};

    jx_search_run(s, from, to, note_point, &h);
    return a->has_true && a->has_false;
}

/* -------------------------------------------------------------------------
 * The solver
 * ---------------------------------------------------------------------- */

static void write_script(jx_theory *t, const jx_dim *goal, int signs,
                         jx_smt *smt, jx_buffer *to)
{
    jx_smt_start(smt, &t->work, to);
    for (int i = 0; i < t->nhyps; i++)
        jx_smt_assert_hyp(smt, &t->hyps[i]);
    if (goal)
        jx_smt_assert(smt, goal, signs);
}

static jx_solver *solver_of(jx_prover *p)
{
    if (!p->options.solver && !p->options.no_solver) {
        p->options.solver = jx_solver_new(NULL);
        p->own_solver = p->options.solver != NULL;
        if (!p->own_solver)
            jx_starved(p->ctx);
    }
    return p->options.no_solver ? NULL : p->options.solver;
}

/* The number at `text`, if it fits. */
static void read_number(const char *text, jx_int *to)
{
    bool minus = *text == '-';
    jx_int k = 0;

    for (text += minus; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(k, 10, &k) ||
            __builtin_add_overflow(k, *text - '0', &k))
            return;
    *to = minus ? -k : k;
}

/* "name=value name=value" into the point; what Z3 left out may be anything. */
static void read_model(const jx_smt *smt, const jx_search *s,
                       const jx_dim *const *dims, int ndims, const char *text,
                       jx_point *point)
{
    for (int i = 0; i < s->nvars; i++)
        point->at[i] = s->low[i];
    while (*text) {
        const char *equals = strchr(text, '=');
        const jx_dim_atom *var;

        if (!equals)
            return;
        var = jx_smt_var(smt, dims, ndims, text, (size_t)(equals - text));
        for (int i = 0; var && i < s->nvars; i++)
            if (!strcmp(s->vars[i]->name, var->name) &&
                s->vars[i]->scope == var->scope)
                read_number(equals + 1, &point->at[i]);
        text = strchr(equals, ' ');
        if (!text)
            return;
        text++;
    }
}

/* "z3 4.8.12" */
static const char *solver_name(jx_prover *p)
{
    const char *version =
        p->options.solver ? jx_solver_version(p->options.solver) : NULL;

    return version ? jx_arena_printf(p->ctx->arena, "z3 %s", version) : "z3";
}

static const char *why_undecided(jx_prover *p, const jx_solver *solver,
                                 jx_solver_reply reply, const char *text)
{
    if (reply == JX_SOLVER_FAILED && !jx_solver_version(solver))
        return jx_arena_printf(p->ctx->arena, "%s", text);
    return jx_arena_printf(p->ctx->arena, "%s: %s", solver_name(p), text);
}

/* Is there an assignment where the goal has one of these signs?  A model is
 * believed once evaluation agrees, which note_point() sees to. */
static jx_solver_reply ask_solver(jx_prover *p, jx_theory *t,
                                  const jx_search *s, const jx_constraint *q,
                                  const jx_dim *goal, int signs, jx_answer *a)
{
    const jx_dim *dims[JX_THEORY_HYPS + 1];
    jx_buffer script = jx_ctx_text(p->ctx), text = jx_ctx_text(p->ctx);
    jx_solver_reply reply = JX_SOLVER_UNKNOWN;
    jx_solver *solver = solver_of(p);
    jx_smt smt;
    int n = 0;

    if (!solver) {
        a->why =
            p->options.no_solver ? "the solver was not asked" : "out of memory";
        return reply;
    }
    write_script(t, goal, signs, &smt, &script);
    for (int i = 0; i < t->nhyps; i++)
        dims[n++] = t->hyps[i].dim;
    if (goal)
        dims[n++] = goal;
    if (jx_smt_ok(&smt))
        reply = jx_solver_check(solver, jx_buffer_text(&script), RLIMIT,
                                &p->ctx->budget, &text);
    if (reply == JX_SOLVER_SAT) {
        jx_point point = {{0}};
        hunt h = {p, q, a};

        read_model(&smt, s, dims, n, jx_buffer_text(&text), &point);
        if (jx_search_admits(s, &point))
            note_point(&h, s, &point);
        else
            a->why = "the solver's model did not hold up";
    } else if (reply != JX_SOLVER_UNSAT) {
        a->why = why_undecided(p, solver, reply, jx_buffer_text(&text));
        a->passing = reply == JX_SOLVER_FAILED;
    }
    jx_buffer_free(&script);
    jx_buffer_free(&text);
    return reply;
}

/* -------------------------------------------------------------------------
 * Are the constraints consistent?
 * ---------------------------------------------------------------------- */

static void examine_by_solver(jx_prover *p, jx_theory *t, const jx_search *s,
                              jx_answer *a)
{
    bool unsat = ask_solver(p, t, s, NULL, NULL, 0, a) == JX_SOLVER_UNSAT;

    a->by = "z3";
    a->solver = solver_name(p);
    a->truth = a->has_true ? JX_TRUE : unsat ? JX_CONTRADICTION : JX_UNKNOWN;
}

/* A point that some constraints allow: the first few, or a repaired one. */
static bool find_point(jx_prover *p, const jx_search *s, jx_answer *a)
{
    search(p, s, NULL, 0, FIRST_POINTS, a);
    repair(p, s, NULL, a);
    if (a->has_true)
        a->truth = JX_TRUE;
    return a->has_true;
}

static bool find_clash(jx_answer *a, bool clash)
{
    if (clash)
        *a = (jx_answer){.truth = JX_CONTRADICTION, .by = "elementary"};
    return clash;
}

/* JX_TRUE (with an assignment), JX_CONTRADICTION or JX_UNKNOWN. */
static jx_answer examine(jx_prover *p, jx_theory *t,
                         const jx_constraint *constraints, int count)
{
    jx_answer a = {.by = "search"};
    jx_search s;

    if (t->empty)
        return (jx_answer){.truth = JX_CONTRADICTION, .by = "bounds"};
    jx_search_init(&s, p->dims, p->options.base, constraints, count, NULL);
    if (find_point(p, &s, &a) ||
        find_clash(&a, jx_linear(&t->work, t->hyps, t->nhyps,
                                 jx_dim_int(t->work.in, 0), 0)))
        return a;
    search(p, &s, NULL, FIRST_POINTS, FEW_POINTS, &a);
    if (!a.has_true && find_clash(&a, jx_theory_clashes(t, FEW_STEPS)))
        return a;
    if (!a.has_true)
        search(p, &s, NULL, FEW_POINTS, MANY_POINTS, &a);
    if (a.has_true)
        a.truth = JX_TRUE;
    else
        examine_by_solver(p, t, &s, &a);
    return a;
}

static jx_answer examine_subset(jx_prover *p, const jx_constraint *constraints,
                                int count)
{
    jx_answer a = {.why = "out of memory"};
    jx_theory t;

    if (!jx_theory_init(&t, p->ctx, p->options.base, constraints, count))
        return a;
    a = examine(p, &t, constraints, count);
    jx_theory_free(&t);
    return a;
}

/* Leaves out one constraint after the other for as long as the rest still
 * contradicts itself; minimal if each that stays was shown to be needed. */
static void find_core(jx_prover *p, jx_answer *a, int *core, int n)
{
    jx_constraint *rest = JX_NEW_ARRAY(p->ctx->arena, n, jx_constraint);

    if (!rest)
        return;
    a->core_is_minimal = true;
    for (int i = 0; i < n;) {
        jx_truth truth;
        int m = 0;

        for (int j = 0; j < n; j++)
            if (j != i)
                rest[m++] = p->constraints[core[j]];
        truth = examine_subset(p, rest, m).truth;
        if (truth == JX_CONTRADICTION) {
            memmove(&core[i], &core[i + 1], (size_t)(--n - i) * sizeof *core);
            continue;
        }
        a->core_is_minimal &= truth == JX_TRUE;
        i++;
    }
    a->core = core;
    a->ncore = n;
    if (!a->core_is_minimal)
        a->why = "not each constraint of the core was shown to be needed";
}

/* Assignments of slices, which share no variable, one behind the other. */
typedef JX_VEC(jx_binding) binding_list;

static void collect(jx_prover *p, binding_list *to, jx_assignment from)
{
    for (int i = 0; i < from.count; i++)
        JX_PUSH(p->ctx->arena, to, from.at[i]);
}

static int compare_bindings(const void *a_, const void *b_)
{
    const jx_binding *a = a_, *b = b_;

    return comes_before(a->var, b->var)   ? -1
           : comes_before(b->var, a->var) ? 1
                                          : 0;
}

static jx_assignment ordered(binding_list *found)
{
    if (found->count)
        qsort(found->at, found->count, sizeof *found->at, compare_bindings);
    return (jx_assignment){(int)found->count, found->at};
}

/* The slice around constraint i, unless it was looked at with an earlier one.
 * Adds what it finds to `all`; false when that settles it. */
static bool examine_slice(jx_prover *p, int i, int *indices,
                          jx_constraint *slice, binding_list *found,
                          jx_answer *all)
{
    int n;
    jx_answer a;

    if (!jx_slices_begins(&p->slices, i))
        return true;
    n = jx_slices_around(&p->slices, i, indices);
    for (int k = 0; k < n; k++)
        slice[k] = p->constraints[indices[k]];
    a = n == p->nconstraints && renew(p) ? examine(p, &p->theory, slice, n)
                                         : examine_subset(p, slice, n);
    if (a.truth == JX_CONTRADICTION) {
        *all = a;
        find_core(p, all, indices, n);
        return false;
    }
    if (a.truth == JX_TRUE)
        collect(p, found, a.when_true);
    else if (all->truth != JX_UNKNOWN || !all->why)
        *all = a;
    return true;
}

/* Slice by slice: each has its own assignment, or its own contradiction. */
static jx_answer examine_slices(jx_prover *p)
{
    int n = p->nconstraints;
    int *indices = JX_NEW_ARRAY(p->ctx->arena, n, int);
    jx_constraint *slice = JX_NEW_ARRAY(p->ctx->arena, n, jx_constraint);
    jx_answer all = {.truth = JX_TRUE, .by = "search", .has_true = true};
    binding_list found = {0};

    if (!indices || !slice)
        return (jx_answer){.why = "out of memory"};
    for (int i = 0; i < n; i++)
        if (!examine_slice(p, i, indices, slice, &found, &all))
            return all;
    if (all.truth == JX_TRUE)
        all.when_true = ordered(&found);
    return all;
}

static bool know_slices(jx_prover *p)
{
    return p->slices.dims || jx_slices_init(&p->slices, p->ctx, p->dims,
                                            p->constraints, p->nconstraints);
}

static void examine_once(jx_prover *p)
{
    jx_answer a = {.by = "search"};
    jx_search s;

    if (p->examined)
        return;
    p->rest = (jx_assignment){0};
    jx_search_init(&s, p->dims, p->options.base, p->constraints,
                   p->nconstraints, NULL);
    if (!p->nconstraints)
        a = (jx_answer){.truth = JX_TRUE, .by = "algebra", .has_true = true};
    else if (!find_point(p, &s, &a) && know_slices(p))
        a = examine_slices(p);
    p->consistent = a;
    p->examined = !a.passing;
}

jx_answer jx_prove_consistent(jx_prover *p)
{
    examine_once(p);
    return p->consistent;
}

/* -------------------------------------------------------------------------
 * The ladder
 * ---------------------------------------------------------------------- */

typedef struct question {
    jx_prover *p;
    jx_constraint text;
    const jx_dim *goal; /* simplified difference; NULL: too large */
    int wanted, unwanted;
    bool never_false, never_true; /* proved */
    jx_answer a;
    jx_search search;
} question;

static bool conclude(question *q, const char *by)
{
    jx_answer *a = &q->a;
    bool some = !q->p->theory.divisor_may_be_0 || a->has_true || a->has_false;

    if (q->never_false && q->never_true) {
        a->truth = JX_CONTRADICTION;
        a->why = "a divisor is 0 for every assignment";
    } else if (a->has_true && a->has_false) {
        a->truth = JX_DEPENDS;
    } else if (q->never_false && some) {
        a->truth = JX_TRUE;
    } else if (q->never_true && some) {
        a->truth = JX_FALSE;
    } else {
        return false;
    }
    a->by = by;
    a->solver = strcmp(by, "z3") ? NULL : solver_name(q->p);
    if (a->truth != JX_CONTRADICTION)
        a->why = NULL;
    a->passing = false;
    return true;
}

/* A proof speaks of the assignments where no divisor is 0; conclude() wants to
 * see one. */
static void look_for_a_point(question *q)
{
    if (q->p->theory.divisor_may_be_0 && !q->a.has_true && !q->a.has_false)
        search(q->p, &q->search, &q->text, 0, MANY_POINTS, &q->a);
}

static bool by_algebra_or_bounds(question *q)
{
    jx_int value;
    int signs;

    signs = q->p->theory.goal_signs;
    q->never_false = !(signs & ~q->wanted);
    q->never_true = !(signs & ~q->unwanted);
    if (q->never_false == q->never_true)
        q->never_false = q->never_true = false;
    if (!q->never_false && !q->never_true)
        return false;
    look_for_a_point(q);
    return conclude(q, q->goal && jx_dim_is_wide(q->goal, &value) ? "algebra"
                                                                  : "bounds");
}

static bool by_elementary(question *q, long steps)
{
    jx_theory *t = &q->p->theory;

    if (!q->goal)
        return false;
    if (!q->a.has_false && !q->never_false)
        q->never_false = jx_theory_proves(t, q->goal, q->wanted, steps);
    if (q->never_false)
        look_for_a_point(q);
    /* With neither seen, both may be proved: no divisor is ever not 0. */
    if (!q->a.has_true && !q->never_true &&
        (!q->never_false || (t->divisor_may_be_0 && !q->a.has_false)))
        q->never_true = jx_theory_proves(t, q->goal, q->unwanted, steps);
    if (q->never_true)
        look_for_a_point(q);
    return conclude(q, "elementary");
}

/* Before any search, where it costs less than that.  What it proves the case
 * splits would, too. */
static bool by_linear(question *q)
{
    jx_theory *t = &q->p->theory;

    if (!q->goal || !t->nhyps || t->divisor_may_be_0)
        return false;
    q->never_false = jx_linear(&t->work, t->hyps, t->nhyps, q->goal, q->wanted);
    q->never_true = !q->never_false && jx_linear(&t->work, t->hyps, t->nhyps,
                                                 q->goal, q->unwanted);
    return conclude(q, "elementary");
}

static bool by_search(question *q, long from, long to)
{
    return search(q->p, &q->search, &q->text, from, to, &q->a) &&
           conclude(q, "search");
}

static bool by_repair(question *q)
{
    return repair(q->p, &q->search, &q->text, &q->a) && conclude(q, "search");
}

static bool by_solver(question *q)
{
    jx_theory *t = &q->p->theory;
    jx_prover *p = q->p;
    bool asked = false;

    if (!q->goal)
        return false;
    if (!q->a.has_false && !q->never_false) {
        asked = true;
        q->never_false = ask_solver(p, t, &q->search, &q->text, q->goal,
                                    q->unwanted, &q->a) == JX_SOLVER_UNSAT;
    }
    if (!q->a.has_true && !q->never_true && !q->a.passing) {
        asked = true;
        q->never_true = ask_solver(p, t, &q->search, &q->text, q->goal,
                                   q->wanted, &q->a) == JX_SOLVER_UNSAT;
    }
    return conclude(q, asked ? "z3" : "elementary");
}

static void climb(question *q)
{
    if (by_algebra_or_bounds(q))
        return;
    if (by_linear(q) || by_repair(q) ||
        by_search(q, FIRST_POINTS, FEW_POINTS) || by_elementary(q, FEW_STEPS) ||
        by_search(q, FEW_POINTS, MANY_POINTS) || by_elementary(q, MANY_STEPS) ||
        by_solver(q))
        return;
    q->a.truth = JX_UNKNOWN;
    if (!q->goal)
        q->a.why = "too large (a coefficient beyond 128 bits, a high power)";
    else if (!q->a.why)
        q->a.why = q->search.too_many ? "more than 256 variables"
                                      : "no proof and no counterexample found";
}

static bool same_question(const void *kept, const void *key)
{
    const jx_constraint *a = &((const kept_answer *)kept)->question, *b = key;

    return a->lhs == b->lhs && a->rhs == b->rhs && a->relation == b->relation;
}

/* No admissible assignment may speak against the answer. */
static bool agrees(void *env, const jx_search *s, const jx_point *point)
{
    const question *q = env;
    bool holds = true;

    JX_ASSERT(!jx_search_holds(s, &q->text, point, &holds) ||
              q->a.truth == JX_UNKNOWN || q->a.truth == JX_DEPENDS ||
              (q->a.truth == JX_TRUE && holds) ||
              (q->a.truth == JX_FALSE && !holds));
    return true;
}

/* At this assignment the question holds, or does not, as `wanted`. */
static bool shows(const question *q, const jx_assignment *at, bool wanted)
{
    jx_assignment env = *at;
    jx_int lhs, rhs;

    return !jx_dim_eval_exact(q->text.lhs, jx_assigned_wide, &env, &lhs) ||
           !jx_dim_eval_exact(q->text.rhs, jx_assigned_wide, &env, &rhs) ||
           jx_relation_holds(lhs, q->text.relation, rhs) == wanted;
}

static void verify(question *q)
{
#ifdef JX_VERIFY
    jx_search_run(&q->search, 0, VERIFIED_POINTS, agrees, q);
#else
    (void)agrees;
    (void)q;
#endif
}

static void keep_answer(jx_prover *p, uint64_t hash, const question *q)
{
    kept_answer *kept;

    if (q->a.passing)
        return;
    kept = JX_NEW(p->ctx->arena, kept_answer);
    if (!kept)
        return;
    *kept = (kept_answer){q->text, q->a};
    jx_intern_add(&p->answers, hash, kept);
}

/* Where the question has to do with some of the constraints only, the others
 * matter by their assignment alone.  True if there is one. */
static bool take_slice(question *q, jx_constraint **slice, int *n)
{
    jx_prover *p = q->p;

    *slice = (jx_constraint *)(uintptr_t)p->constraints;
    *n = p->nconstraints;
    p->rest = (jx_assignment){0};
    if (p->nconstraints < 2 || !know_slices(p) || p->slices.count < 2)
        return true;
    *slice = JX_NEW_ARRAY(p->ctx->arena, p->nconstraints, jx_constraint);
    if (!*slice)
        return false;
    *n = jx_slices_of(&p->slices, &q->text, *slice);
    if (*n == p->nconstraints)
        return true;
    examine_once(p);
    p->rest = p->consistent.when_true;
    return p->consistent.truth == JX_TRUE;
}

/* Whether the constraints allow anything, which a witness has shown already.
 * If not, or if nobody knows, that is the answer. */
static bool is_consistent(question *q)
{
    jx_prover *p = q->p;
    jx_assignment rest = p->rest;

    if (q->a.has_true || q->a.has_false)
        return true;
    examine_once(p);
    p->rest = rest;
    if (p->consistent.truth == JX_TRUE)
        return true;
    q->a = p->consistent;
    q->a.has_true = q->a.has_false = false;
    if (q->a.truth == JX_UNKNOWN) {
        q->a.by = q->a.solver = NULL;
        q->a.why = jx_arena_printf(
            p->ctx->arena,
            "could not tell whether the constraints allow any assignment (%s)",
            p->consistent.why ? p->consistent.why : "nothing found");
    }
    return false;
}

static void answer(question *q)
{
    jx_prover *p = q->p;
    jx_constraint *slice;
    int n;

    if (!take_slice(q, &slice, &n)) {
        if (is_consistent(q))
            q->a.why = "out of memory";
        return;
    }
    jx_search_init(&q->search, p->dims, p->options.base, slice, n, &q->text);
    if (by_search(q, 0, FIRST_POINTS) || !is_consistent(q))
        return;
    if (!renew(p)) {
        q->a.why = "out of memory";
        return;
    }
    jx_theory_goal(&p->theory, &q->text, &q->goal, &q->wanted);
    q->unwanted = ALL & ~q->wanted;
    climb(q);
    verify(q);
}

static bool is_quick(question *q)
{
    q->a.truth = jx_quick_compare(&q->p->quick, q->text.lhs, q->text.relation,
                                  q->text.rhs);
    q->a.by = q->a.truth ? "bounds" : NULL;
    return q->a.truth != JX_UNKNOWN;
}

jx_answer jx_prove_compare(jx_prover *p, const jx_dim *lhs,
                           jx_relation relation, const jx_dim *rhs)
{
    question q;
    uint64_t hash;
    const kept_answer *kept;
    const jx_constraint asked = {lhs, relation, rhs};

    memset(&q, 0, offsetof(question, search));
    q.p = p;
    q.text = asked;
    if (!lhs || !rhs) {
        q.a.why = "a coefficient leaves 128 bits, or memory ran out";
        return q.a;
    }
    JX_ASSERT(jx_dims_hold(p->dims, lhs) && jx_dims_hold(p->dims, rhs));
    q.text = jx_constraint_oriented(&q.text);
    if (is_quick(&q))
        return q.a;
    hash = jx_hash_mix(jx_dim_id(q.text.lhs) * 8u + (unsigned)q.text.relation,
                       jx_dim_id(q.text.rhs));
    kept = jx_intern_find(&p->answers, hash, &q.text, same_question);
    if (kept)
        return kept->answer;
    answer(&q);
    JX_ASSERT(!q.a.has_true || shows(&q, &q.a.when_true, true));
    JX_ASSERT(!q.a.has_false || shows(&q, &q.a.when_false, false));
    if (q.a.truth == JX_DEPENDS && p->options.suggest)
        jx_suggest(p->ctx, &q.search, &asked, &q.a);
    keep_answer(p, hash, &q);
    return q.a;
}

jx_answer jx_prove_divides(jx_prover *p, const jx_dim *k, const jx_dim *n)
{
    return jx_prove_compare(p, jx_dim_mod(p->dims, n, k), JX_REL_EQ,
                            jx_dim_int(p->dims, 0));
}

void jx_prove_smt2(jx_prover *p, const jx_dim *lhs, jx_relation relation,
                   const jx_dim *rhs, bool negate, jx_buffer *to)
{
    jx_constraint text = {lhs, relation, rhs};
    const jx_dim *goal;
    jx_smt smt;
    int wanted;

    if (!lhs || !rhs || !renew(p) ||
        !jx_theory_goal(&p->theory, &text, &goal, &wanted))
        return;
    jx_buffer_puts(to, "; ");
    jx_constraint_print(&text, to);
    jx_buffer_printf(to, ": %s\n(set-logic QF_NIA)\n",
                     negate ? "is there a counterexample?"
                            : "is there an example?");
    write_script(&p->theory, goal, negate ? ALL & ~wanted : wanted, &smt, to);
    jx_buffer_puts(to, "(check-sat)\n");
}
