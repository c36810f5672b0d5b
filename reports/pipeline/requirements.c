/* requirements.c - see requirements.h. */
#include "reports/pipeline/requirements.h"

#include "frontend/ir/range.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"

#include <math.h>
#include <string.h>

enum { MOST_REQUIRED = 32 }; /* different ones; with more, all stay errors */

typedef struct required {
    jx_claim *claim;
    jx_constraint holds;
} required;

typedef struct requiring {
    jx_program *program;
    const jx_settle_options *options;
    int nvars;
    const jx_dim_atom *const *vars; /* of the inputs */
    JX_VEC(required) found;
    JX_VEC(jx_constraint) all; /* the program's own, then what is required */
} requiring;

static jx_arena *arena_of(const requiring *r)
{
    return r->program->ctx->arena;
}

/* A module whose sizes nobody declared. */
static bool is_plain(const jx_program *program)
{
    return program->tree && !program->exported && program->base == 0;
}

/* -- what is required ------------------------------------------------------ */

static bool is_of_inputs(const requiring *r, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(r->program->dims, dim, &count);

    for (int i = 0; vars && i < count; i++) {
        int k = 0;
        while (k < r->nvars && r->vars[k] != vars[i])
            k++;
        if (k == r->nvars)
            return false;
    }
    return vars != NULL;
}

static bool constraint_of(const requiring *r, const jx_goal *goal,
                          jx_constraint *to)
{
    jx_dims *dims = r->program->dims;

    *to = (jx_constraint){goal->lhs, JX_REL_EQ, goal->rhs};
    switch (goal->kind) {
    case JX_GOAL_EQ: return true;
    case JX_GOAL_NE: to->relation = JX_REL_NE; return true;
    case JX_GOAL_GE: to->relation = JX_REL_GE; return true;
    case JX_GOAL_GT: to->relation = JX_REL_GT; return true;
    case JX_GOAL_DIVIDES:
        to->lhs = jx_dim_mod(dims, goal->rhs, goal->lhs);
        to->rhs = jx_dim_int(dims, 0);
        return to->lhs && to->rhs;
    default: return false;
    }
}

/* A claim that fails for sizes which nothing but its inputs give. */
static bool is_required(const requiring *r, const jx_claim *claim,
                        jx_constraint *to)
{
    return claim->verdict == JX_REFUTED && claim->goal.lhs && claim->goal.rhs &&
           claim->evidence.nbindings &&
           (claim->code == JX_CODE_SHP010 || claim->code == JX_CODE_SHP012 ||
            claim->code == JX_CODE_SHP013 || claim->code == JX_CODE_MSH001) &&
           constraint_of(r, &claim->goal, to) && is_of_inputs(r, to->lhs) &&
           is_of_inputs(r, to->rhs);
}

static void find_required(requiring *r, const jx_claim_list *claims)
{
    for (size_t i = 0; i < claims->count; i++) {
        required made = {.claim = claims->at[i]};
        if (is_required(r, made.claim, &made.holds))
            JX_PUSH(arena_of(r), &r->found, made);
    }
}

/* -- whether it can hold --------------------------------------------------- */

static jx_prover *new_prover(const requiring *r, int64_t base)
{
    jx_prover_options options = {
        .base = base,
        .base_is_set = true,
        .no_solver = r->options->no_solver,
        .solver = r->options->solver,
    };

    return jx_prover_new(r->program->ctx, r->program->dims, r->all.at,
                         (int)r->all.count, &options);
}

static void start(requiring *r)
{
    for (int s = 0; s < r->program->nscopes; s++)
        for (int i = 0; i < r->program->scopes[s].nconstraints; i++) {
            jx_constraint made =
                jx_constraint_of_scope(&r->program->scopes[s].constraints[i]);
            JX_PUSH(arena_of(r), &r->all, made);
        }
}

static bool is_listed(const requiring *r, const jx_constraint *c)
{
    for (size_t i = 0; i < r->all.count; i++)
        if (r->all.at[i].lhs == c->lhs && r->all.at[i].rhs == c->rhs &&
            r->all.at[i].relation == c->relation)
            return true;
    return false;
}

/* Sizes exist for which all of it holds: a program that works for empty arrays
 * alone is wrong, whatever it asks for. */
static bool can_hold(const requiring *r)
{
    jx_prover *prover = new_prover(r, 1);
    jx_answer some = {0};

    if (prover)
        some = jx_prove_consistent(prover);
    jx_prover_free(prover);
    return some.truth == JX_TRUE && some.has_true;
}

static bool follows(const requiring *r, const jx_constraint *c, const char **by)
{
    jx_prover *prover = new_prover(r, r->program->base);
    jx_answer answer = {0};

    if (prover)
        answer = jx_prove_compare(prover, c->lhs, c->relation, c->rhs);
    jx_prover_free(prover);
    *by = answer.solver ? answer.solver : answer.by;
    return answer.truth == JX_TRUE;
}

/* -- the notes ------------------------------------------------------------- */

static const char *text_of(const requiring *r, const jx_constraint *c)
{
    jx_buffer text = jx_ctx_text(r->program->ctx);

    jx_constraint_print(c, &text);
    return jx_arena_take(arena_of(r), &text);
}

static void tell(const requiring *r, const required *one)
{
    jx_claim *claim = one->claim;
    const char *text = text_of(r, &one->holds);

    claim->what =
        jx_arena_printf(arena_of(r), "requires `%s` (%s%s%s)", text ? text : "",
                        jx_code_of(claim->code)->id, claim->what ? ", " : "",
                        claim->what ? claim->what : "");
    claim->code = JX_CODE_SHP016;
    claim->level = JX_NOTE;
    claim->help = "nothing in the module excludes other sizes: a shape "
                  "assertion would, and --where tells jaxvet";
    claim->evidence.advice = NULL;
    claim->evidence.suggestion = text;
}

/* Each is told of once; what follows from those before is proved. */
static void tell_all(requiring *r, jx_analysis *to)
{
    jx_buffer text = jx_ctx_text(to->program->ctx);
    int count = 0;

    r->all.count = 0;
    start(r);
    for (size_t i = 0; i < r->found.count; i++) {
        required *one = &r->found.at[i];
        const char *by;
        if (follows(r, &one->holds, &by)) {
            one->claim->verdict = JX_PROVED;
            one->claim->evidence = (jx_evidence){.by = by};
            continue;
        }
        JX_PUSH(arena_of(r), &r->all, one->holds);
        tell(r, one);
        jx_buffer_puts(&text, count++ ? ", `"
                                      : "sizes of the inputs are as "
                                        "the program requires: `");
        jx_constraint_print(&one->holds, &text);
        jx_buffer_putc(&text, '`');
    }
    if (count)
        JX_PUSH(arena_of(r), &to->assumptions,
                jx_arena_take(arena_of(r), &text));
}

/* -- what ranges promise of inputs that are sizes -------------------------- */

static void add_end(requiring *r, const jx_valued *valued, jx_relation relation,
                    const jx_value_range_end *end)
{
    jx_dims *dims = r->program->dims;
    double whole =
        relation == JX_REL_GE ? ceil(end->number) : floor(end->number);
    jx_constraint made = {jx_dim_of_atom(dims, valued->var), relation,
                          end->dim};

    if (!made.rhs && fabs(whole) <= 0x1p53)
        made.rhs = jx_dim_int(dims, (int64_t)whole);
    if (made.lhs && made.rhs)
        JX_PUSH(arena_of(r), &r->all, made);
}

static bool add_promised(requiring *r)
{
    const jx_program *program = r->program;
    bool any = false;

    for (int i = 0; i < program->nvalued; i++)
        for (int k = 0; k < program->nranges; k++) {
            const jx_value_range *range = &program->ranges[k];
            if (!jx_range_is_of(program, range, program->valued[i].input))
                continue;
            add_end(r, &program->valued[i], JX_REL_GE, &range->lo);
            add_end(r, &program->valued[i], JX_REL_LE, &range->hi);
            any = true;
        }
    return any;
}

static const char *contradiction_of(const requiring *r, const jx_answer *answer)
{
    jx_buffer text = jx_ctx_text(r->program->ctx);

    jx_buffer_puts(&text, "no sizes are as ranges and the program say");
    for (int i = 0; i < answer->ncore; i++) {
        jx_buffer_puts(&text, i ? ", `" : ": `");
        jx_constraint_print(&r->all.at[answer->core[i]], &text);
        jx_buffer_putc(&text, '`');
    }
    return jx_arena_take(arena_of(r), &text);
}

static void find_unfit(requiring *r, jx_analysis *to)
{
    jx_prover *prover;
    jx_answer some = {0};

    for (size_t i = 0; i < r->found.count; i++)
        if (r->found.at[i].claim->verdict == JX_REFUTED &&
            r->found.at[i].claim->code != JX_CODE_SHP016)
            to->unfit = "sizes of the inputs may not fit, which is told";
    if (to->unfit || !add_promised(r))
        return;
    prover = new_prover(r, r->program->base);
    if (prover)
        some = jx_prove_consistent(prover);
    if (some.truth == JX_CONTRADICTION)
        to->unfit = contradiction_of(r, &some);
    jx_prover_free(prover);
}

/* -- sizes that operations force to be the same ---------------------------- */

static void tell_equated(const jx_program *program, jx_analysis *to)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    for (int i = 0; i < program->nequated; i++)
        jx_buffer_printf(&text, "%s%s",
                         i ? ", "
                           : "sizes of inputs that meet in an operation "
                             "are the same: ",
                         program->equated[i]);
    if (program->nequated)
        JX_PUSH(program->ctx->arena, &to->assumptions,
                jx_arena_take(program->ctx->arena, &text));
}

bool jx_settle_requirements(jx_analysis *analysis,
                            const jx_settle_options *options)
{
    jx_program *program = analysis->program;
    requiring r = {.program = program, .options = options};

    tell_equated(program, analysis);
    if (!is_plain(program) && !program->nvalued)
        return true;
    r.vars = jx_input_vars(program, &r.nvars);
    if (!r.vars)
        return false;
    find_required(&r, &analysis->claims);
    start(&r);
    for (size_t i = 0; i < r.found.count; i++)
        if (!is_listed(&r, &r.found.at[i].holds))
            JX_PUSH(arena_of(&r), &r.all, r.found.at[i].holds);
    if (r.found.count && is_plain(program) && r.all.count <= MOST_REQUIRED &&
        can_hold(&r))
        tell_all(&r, analysis);
    find_unfit(&r, analysis);
    return jx_ok(program->ctx);
}
