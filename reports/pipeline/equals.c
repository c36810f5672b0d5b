/* equals.c - see equals.h: from two programs to the question, and from its
 * answers to what is said. */
#include "reports/pipeline/equals.h"

#include "analyzer/transform/refine.h"
#include "analyzer/transform/same.h"
#include "analyzer/typing.h"
#include "frontend/ir/signature.h"
#include "prover/choose.h"
#include "reports/pipeline/equal_ready.h"
#include "reports/pipeline/equal_words.h"
#include "reports/pipeline/equals_meshes.h"
#include "reports/pipeline/inputs.h"

#include <string.h>

enum { MOST_SIZES = 2 };

/* ---- inputs */

/* "f32[2,3]" */
static const char *type_text(jx_ctx *ctx, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(ctx);

    jx_aval_print(aval, &text);
    return jx_arena_take(ctx->arena, &text);
}

static bool same_type(const jx_aval *a, const jx_aval *b)
{
    bool same =
        a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank;
    int64_t left, right;

    for (int i = 0; same && i < a->rank; i++)
        same = jx_dim_is_int(a->shape[i], &left) &&
               jx_dim_is_int(b->shape[i], &right) && left == right;
    return same;
}

/* Says what the second program takes or gives otherwise; always false. */
static bool refuse(const jx_program *a, const jx_program *b, const char *what,
                   int number, const jx_aval *left, const jx_aval *right)
{
    return jx_fail(b->ctx, JX_E_INPUT, b->path, NULL,
                   "%s %d is %s, and %s in %s: expected two programs that take "
                   "and give the same (jaxvet show prints both)",
                   what, number, type_text(b->ctx, right),
                   type_text(b->ctx, left), a->path);
}

static bool take_the_same(const jx_program *a, const jx_program *b)
{
    bool same = a->entry.jaxpr->nins == b->entry.jaxpr->nins;

    for (int i = 0; same && i < a->entry.jaxpr->nins; i++)
        same = same_type(jx_input_aval(a, i), jx_input_aval(b, i));
    return same;
}

static bool fit_together(const jx_program *a, const jx_program *b)
{
    const jx_jaxpr *l = a->entry.jaxpr, *r = b->entry.jaxpr;

    if (l->nins != r->nins || l->nouts != r->nouts)
        return jx_fail(b->ctx, JX_E_INPUT, b->path, NULL,
                       "it takes %d arrays and gives %d, and %s takes %d and "
                       "gives %d: expected "
                       "two programs that take and give the same",
                       r->nins, r->nouts, a->path, l->nins, l->nouts);
    for (int i = 0; i < l->nins; i++)
        if (!same_type(jx_input_aval(a, i), jx_input_aval(b, i)))
            return refuse(a, b, "input", i, jx_input_aval(a, i),
                          jx_input_aval(b, i));
    for (int i = 0; i < l->nouts; i++)
        if (!same_type(jx_atom_aval(l->outs[i]), jx_atom_aval(r->outs[i])))
            return refuse(a, b, "result", i, jx_atom_aval(l->outs[i]),
                          jx_atom_aval(r->outs[i]));
    return true;
}

/* ---- sizes */

/* The sizes that are given by name, of those that a program has. */
static bool given_sizes(jx_program *program, const jx_texts *set, int *n,
                        const jx_binding **sizes)
{
    jx_texts own = {0};
    int count;
    const jx_dim_atom *const *vars = jx_input_vars(program, &count);

    if (!vars)
        return false;
    for (int i = 0; set && i < set->count; i++)
        for (int k = 0; k < count; k++) {
            size_t length = strlen(vars[k]->name);
            if (!strncmp(set->at[i], vars[k]->name, length) &&
                set->at[i][length] == '=')
                own.at[own.count++] = set->at[i];
        }
    return jx_inputs_sizes(program, &own, n, sizes);
}

/* Somebody has each of the names. */
static bool check_names(jx_program *a, jx_program *b, const jx_texts *set)
{
    int na, nb, i = 0;
    const jx_binding *sizes;

    for (; set && i < set->count; i++) {
        jx_texts one = {.count = 1};
        one.at[0] = set->at[i];
        if (!given_sizes(a, &one, &na, &sizes) ||
            !given_sizes(b, &one, &nb, &sizes))
            return false;
        if (!na && !nb)
            return jx_inputs_sizes(a, &one, &na, &sizes);
    }
    return true;
}

static bool is_symbolic(jx_program *program)
{
    int count = 0;

    return jx_input_vars(program, &count) && count > 0;
}

/* The sizes of a program whose inputs are as large as those of another. */
static bool sizes_like(jx_program *program, const jx_program *like, int *n,
                       const jx_binding **sizes)
{
    const jx_jaxpr *of = like->entry.jaxpr;
    jx_arena *arena = program->ctx->arena;
    int *ranks = JX_NEW_ARRAY(arena, of->nins + 1, int);
    const int64_t **shapes = JX_NEW_ARRAY(arena, of->nins + 1, const int64_t *);

    if (!ranks || !shapes)
        return false;
    if (of->nins != program->entry.jaxpr->nins)
        return fit_together(like, program);
    for (int i = 0; i < of->nins; i++) {
        const jx_aval *aval = jx_input_aval(like, i);
        int64_t *shape = JX_NEW_ARRAY(arena, aval->rank + 1, int64_t);
        if (!shape || aval->rank != jx_input_aval(program, i)->rank)
            return shape && refuse(like, program, "input", i, aval,
                                   jx_input_aval(program, i));
        for (int k = 0; k < aval->rank; k++)
            if (!jx_dim_is_int(aval->shape[k], &shape[k]))
                return jx_fail(program->ctx, JX_E_INPUT, like->path, NULL,
                               "a size of input %d is not known", i);
        ranks[i] = aval->rank;
        shapes[i] = shape;
    }
    return jx_plan_solve(program, ranks, shapes, 0, NULL, n, sizes);
}

static const char *sizes_text(jx_ctx *ctx, const jx_choice *choice, int row,
                              int ngiven, const jx_binding *given)
{
    jx_buffer text = jx_ctx_text(ctx);
    const char *between = "";

    for (int i = 0; i < ngiven; i++, between = ", ")
        jx_buffer_printf(&text, "%s%s = %lld", between, given[i].var->name,
                         (long long)given[i].value);
    for (int i = 0; choice && i < choice->nvars; i++, between = ", ")
        jx_buffer_printf(&text, "%s%s = %lld", between, choice->vars[i]->name,
                         (long long)choice->values[row * choice->nvars + i]);
    return jx_arena_take(ctx->arena, &text);
}

/* ---- one comparison */

/* Programs at sizes have no variables left. */
static const jx_dim *no_variable(void *env, const jx_dim_atom *var)
{
    (void)env;
    (void)var;
    return NULL;
}

static bool by_terms(const jx_ordinary *a, const jx_ordinary *b)
{
    const jx_program *left = a->typed->program;
    jx_difference unused;
    jx_program *moved;
    const jx_typed *typed;

    if (left->ctx != b->typed->program->ctx || /* terms are of one context */
        left->entry.jaxpr->nouts != b->typed->program->entry.jaxpr->nouts)
        return false;
    moved = jx_program_import(b->typed->program, left, no_variable, NULL);
    typed = moved ? jx_typed_of(moved) : NULL;
    if (!typed) {
        if (left->ctx->error.kind != JX_E_LIMIT)
            jx_error_clear(left->ctx);
        return false;
    }
    return jx_same_inputs(left->entry.jaxpr, moved->entry.jaxpr) &&
           jx_same_programs(a->typed, typed, &unused);
}

static bool is_shown(const jx_equal_floats *floats)
{
    return floats->differs.point || floats->pair.point;
}

/* What fields and floats say together. */
static void judge(const jx_equal_fields *fields, const jx_equal_floats *floats,
                  const jx_equal_outside *outside, jx_equality *to)
{
    to->points = floats->points;
    if (is_shown(floats) || (outside->at.point && outside->meant))
        to->verdict = JX_EQUAL_DIFFERENT;
    else if (fields->identical && floats->points && !floats->endless)
        to->verdict = JX_EQUAL_IDENTICAL;
    to->bits = fields->bits;
    to->assuming = fields->assuming;
    if (to->verdict == JX_EQUAL_UNDECIDED)
        to->why = floats->why       ? floats->why
                  : floats->endless ? floats->endless
                                    : fields->why;
}

static void tell_of_mesh(const jx_equal_options *options,
                         const jx_equal_question *question,
                         const jx_ordinary *a, const jx_equality *made)
{
    if (options->meshes)
        jx_mesh_sizes_add(&options->meshes[made->gradient], question, a, made);
}

/* Fields and floats, and what is asked where those show nothing. */
typedef struct found {
    jx_equal_fields fields;
    jx_equal_floats floats;
    jx_equal_outside outside;
    bool told; /* floats differ only at integers that programs tell apart */
} found;

/* Without integers that the programs tell from others: fields may know less at
 * these (a result is NaN on both sides), and what differs may differ there
 * alone. */
static bool look_without_told(const jx_equal_question *question, found *to)
{
    bool shown = is_shown(&to->floats);
    jx_equal_question plain = *question;
    jx_equal_fields fields = to->fields;
    jx_equal_floats floats;

    if (!shown && fields.differs.output >= 0)
        return true;
    plain.domains = question->plain;
    if (!fields.identical && !jx_equal_over_fields(&plain, &fields))
        return false;
    if (!fields.identical)
        return true;
    if (!shown) {
        to->fields = fields;
        return true;
    }
    if (!jx_equal_in_floats(&plain, &floats))
        return false;
    to->told = floats.points && !is_shown(&floats);
    return true;
}

static bool look(const jx_equal_question *question, found *to)
{
    *to = (found){0};
    if (!jx_equal_over_fields(question, &to->fields) ||
        !jx_equal_in_floats(question, &to->floats))
        return false;
    if (!to->fields.identical && !is_shown(&to->floats) && !to->floats.why &&
        !jx_equal_by_ways(question, &to->fields))
        return false;
    if ((is_shown(&to->floats) || !to->fields.identical) && !to->floats.why &&
        !to->floats.pair.point && jx_equal_tells_integers(question) &&
        !look_without_told(question, to))
        return false;
    return is_shown(&to->floats) || to->floats.why ||
           jx_equal_look_outside(question, &to->outside);
}

static bool compare(const jx_ordinary *a, const jx_ordinary *b, int nouts,
                    const jx_equal_options *options, jx_claim_list *claims,
                    jx_equality *to)
{
    jx_equal_question question = {.a = {.typed = a->typed},
                                  .b = {.typed = b->typed},
                                  .declared = {a->declared, b->declared},
                                  .nouts = nouts,
                                  .progress = options->progress,
                                  .to = options->to};
    found all;
    bool ok;

    if (!take_the_same(a->program, b->program))
        return jx_fail(b->program->ctx, JX_E_INTERNAL, b->program->path, NULL,
                       "made ordinary, both programs no longer take the same");
    if (by_terms(a, b)) {
        to->verdict = JX_EQUAL_TERMS;
        tell_of_mesh(options, &question, a, to);
        return true;
    }
    if (!jx_equal_open(&question))
        return false;
    ok = look(&question, &all);
    if (ok) {
        judge(&all.fields, &all.floats, &all.outside, to);
        const jx_equal_words words = {.sharded = {a->flat, a->mesh},
                                      .program = a->program,
                                      .pairs = {&a->pairs, &b->pairs},
                                      .question = &question,
                                      .fields = &all.fields,
                                      .floats = &all.floats,
                                      .outside = &all.outside,
                                      .told = all.told};
        ok = jx_equal_tell(&words, claims, to);
        tell_of_mesh(options, &question, a, to);
    }
    jx_equal_close(&question);
    return ok;
}

/* Without a derivative there is nothing to compare: that is undecided.  `ctx`
 * says why there is none, `keep` is that of the first program. */
static bool undecided(jx_ctx *ctx, jx_ctx *keep, jx_claim_list *claims,
                      jx_equality *to)
{
    if (!ctx->error.message)
        return false;
    to->why = jx_arena_string(keep->arena, ctx->error.message,
                              strlen(ctx->error.message));
    if (ctx->error.kind == JX_E_LIMIT || ctx->error.kind == JX_E_INTERNAL)
        return false;
    jx_error_clear(ctx);
    return jx_equal_tell_undecided(keep, claims, to);
}

static bool compare_at(jx_program *a, jx_program *b, const char *path,
                       const char *sizes, const jx_equal_options *options,
                       jx_claim_list *claims, jx_equalities *to)
{
    int nouts[] = {a->entry.jaxpr->nouts, 0};

    if (!fit_together(a, b))
        return false;
    for (int g = 0; g < (options->gradient ? 2 : 1); g++) {
        jx_equality one = {.path = path, .gradient = g, .sizes = sizes};
        jx_ordinary left, right;
        bool ready = jx_ordinary_make(a, g, NULL, &left) &&
                     jx_ordinary_make(b, g, NULL, &right);
        if (!ready && !g)
            return false;
        one.devices[0] = left.devices;
        one.devices[1] = ready ? right.devices : 1;
        nouts[1] = ready && g ? right.program->entry.jaxpr->nouts : 0;
        if (!(ready ? compare(&left, &right, nouts[g], options, claims, &one)
                    : undecided(jx_ok(a->ctx) ? b->ctx : a->ctx, a->ctx, claims,
                                &one)))
            return false;
        JX_PUSH(a->ctx->arena, &to->all, one);
    }
    return jx_ok(a->ctx);
}

bool jx_programs_equal(jx_program *a, jx_program *b,
                       const jx_equal_options *options, jx_claim_list *claims,
                       jx_equalities *to)
{
    jx_ctx *ctx = a->ctx;
    jx_program *first = is_symbolic(a) ? a : b, *second = first == a ? b : a;
    jx_choice choice = {0};
    const jx_binding *given, *sizes;
    int ngiven, n, rows = 1;

    if (!check_names(a, b, options->set) ||
        !given_sizes(first, options->set, &ngiven, &given))
        return false;
    if (!is_symbolic(first))
        return compare_at(a, b, a->path, NULL, options, claims, to);
    if (ngiven && !(first = jx_program_refine(first, NULL, ngiven, given)))
        return false;
    /* A program of one size says what the other has. */
    if (!is_symbolic(second)) {
        if (!sizes_like(first, second, &n, &sizes) ||
            !(first = jx_program_refine(first, NULL, n, sizes)))
            return false;
        return compare_at(
            second == b ? first : second, second == b ? second : first, a->path,
            sizes_text(ctx, NULL, 0, n, sizes), options, claims, to);
    }
    if (is_symbolic(first)) {
        if (!jx_choose_sizes(first, MOST_SIZES, &choice))
            return false;
        rows = choice.count;
    }
    for (int i = 0; i < rows; i++) {
        jx_binding *at =
            JX_NEW_ARRAY(first->ctx->arena, choice.nvars + 1, jx_binding);
        for (int k = 0; at && k < choice.nvars; k++)
            at[k] = (jx_binding){.var = choice.vars[k],
                                 .value = choice.values[i * choice.nvars + k]};
        jx_program *one =
            at ? jx_program_refine(first, NULL, choice.nvars, at) : NULL;
        if (!one || !sizes_like(second, one, &n, &sizes))
            return false;
        jx_program *other = jx_program_refine(second, NULL, n, sizes);
        if (!other ||
            !compare_at(second == b ? one : other, second == b ? other : one,
                        a->path, sizes_text(ctx, &choice, i, ngiven, given),
                        options, claims, to))
            return false;
    }
    return jx_ok(ctx);
}
