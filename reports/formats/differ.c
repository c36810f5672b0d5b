/* differ.c - see differ.h.
 *
 * Whether the new program can stand in for the old one is the question whether
 * the old one's callers may call it: so a program is made that takes what the
 * old one takes and calls the new one with it, as one exported function calls
 * another, and the claims of that call are settled. */
#include "reports/formats/differ.h"

#include "analyzer/communication.h"
#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/build.h"
#include "frontend/ir/solution.h"
#include "reports/formats/costs.h"
#include "reports/formats/differ_file.h"

#include <string.h>

typedef struct differ {
    jx_program *before, *after;
    jx_program_diff *diff;
    jx_ctx *ctx;
    jx_analysis *old; /* of `before` */
    /* of `after`, in terms of the old one's sizes if it can be said so */
    jx_analysis *new;
    /* What each variable of the new one is at the old one's shapes. */
    int count;
    const jx_dim_atom **vars;
    const jx_dim **values;
} differ;

static const jx_aval *input(const jx_program *program, int i)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;

    return jaxpr->vars[jaxpr->nconsts + i]->aval;
}

static const jx_aval *output(const jx_program *program, int i)
{
    return jx_atom_aval(program->entry.jaxpr->outs[i]);
}

/* Once, if it is said of several equations. */
static void say(differ *d, jx_verdict verdict, const char *text)
{
    for (size_t i = 0; text && i < d->diff->contract.count; i++)
        if (d->diff->contract.at[i].verdict == verdict &&
            strcmp(d->diff->contract.at[i].text, text) == 0)
            return;
    if (verdict != JX_PROVED)
        d->diff->drop_in = false;
    JX_PUSH(d->ctx->arena, &d->diff->contract,
            (jx_contract_line){verdict, text ? text : ""});
}

/* ---- the program */

static const jx_dim *at_old_shapes(void *env, const jx_dim_atom *var)
{
    const differ *d = env;

    for (int i = 0; i < d->count; i++)
        if (d->vars[i] == var)
            return d->values[i];
    return jx_dim_var(d->before->dims, var->name, var->scope);
}

/* The new one's variables follow from shapes as its callers would have it. */
static bool solve(differ *d)
{
    const jx_solution *solution = jx_solution_of(d->after, 0, NULL);
    jx_dims *dims = d->before->dims;

    if (!solution)
        return false;
    d->vars =
        JX_NEW_ARRAY(d->ctx->arena, solution->nsteps, const jx_dim_atom *);
    d->values = JX_NEW_ARRAY(d->ctx->arena, solution->nsteps, const jx_dim *);
    for (int i = 0; d->vars && d->values && i < solution->nsteps; i++) {
        const jx_size_step *step = &solution->steps[i];
        const jx_dim *size, *rest;

        if (!step->var)
            continue;
        size = input(d->before, step->input)->shape[step->axis];
        rest = jx_dim_import(dims, step->rest, at_old_shapes, d);
        d->vars[d->count] = step->var;
        d->values[d->count++] =
            jx_dim_floordiv(dims, jx_dim_sub(dims, size, rest),
                            jx_dim_wide(dims, step->factor));
    }
    return jx_ok(d->ctx);
}

static void not_compared(differ *d, const char *why)
{
    d->diff->incomparable = jx_arena_string(d->ctx->arena, why, strlen(why));
    jx_error_clear(d->ctx);
}

static bool compare_programs(differ *d)
{
    jx_program *moved;

    if (!solve(d))
        return false;
    moved = jx_program_import(d->after, d->before, at_old_shapes, d);
    if (!moved) {
        not_compared(d, d->ctx->error.message ? d->ctx->error.message
                                              : "sizes beyond 128 bits");
        return jx_ok(d->ctx);
    }
    d->new = jx_typed_analysis(moved);
    if (!d->new)
        return false;
    if (!jx_same_inputs(d->before->entry.jaxpr, moved->entry.jaxpr)) {
        not_compared(d, "the shapes that the old one takes are not plainly "
                        "those of the new one at any sizes");
        return jx_ok(d->ctx);
    }
    d->diff->same =
        jx_same_programs(&d->old->typed, &d->new->typed, &d->diff->at);
    if (d->diff->at.large)
        not_compared(d, "they are too large");
    else if (d->diff->at.by_name)
        not_compared(d, "the same but for functions of the Python process, or "
                        "primitives, that are known by name alone");
    return jx_ok(d->ctx);
}

/* ---- the cost */

/* The new cost at the old one's shapes; what can't be said so stays. */
static void move_dim(differ *d, const jx_dim **dim)
{
    const jx_dim *moved =
        jx_dim_import(d->before->dims, *dim, at_old_shapes, d);

    if (moved)
        *dim = moved;
}

static void move_cost(differ *d)
{
    jx_cost *cost = &d->diff->after;

    move_dim(d, &cost->flops);
    move_dim(d, &cost->transcendentals);
    move_dim(d, &cost->moved);
    move_dim(d, &cost->all_flops);
    move_dim(d, &cost->all_transcendentals);
    move_dim(d, &cost->all_moved);
    move_dim(d, &cost->inputs);
    move_dim(d, &cost->outputs);
    for (size_t i = 0; i < cost->peaks.count; i++)
        move_dim(d, &cost->peaks.at[i]);
    for (size_t i = 0; i < cost->device_peaks.count; i++)
        move_dim(d, &cost->device_peaks.at[i]);
    for (size_t i = 0; i < cost->sent.count; i++) {
        move_dim(d, &cost->sent.at[i].times);
        move_dim(d, &cost->sent.at[i].bytes);
        move_dim(d, &cost->sent.at[i].messages);
        move_dim(d, &cost->sent.at[i].beside);
        move_dim(d, &cost->sent.at[i].down);
    }
}

/* ---- the contract */

static const char *printed(differ *d, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(d->ctx);

    jx_aval_print(aval, &text);
    return jx_arena_take(d->ctx->arena, &text);
}

static const char *path_of(const char *const *paths, int i)
{
    return paths && paths[i] ? paths[i] : NULL;
}

/* Another number of arrays, or other kinds of them: no caller fits. */
static bool same_kinds(differ *d, const char *noun, int before, int after,
                       const jx_aval *(*of)(const jx_program *program, int i))
{
    bool same = before == after;

    if (!same)
        say(d, JX_REFUTED,
            jx_arena_printf(d->ctx->arena, "%d %s%s instead of %d", after, noun,
                            after == 1 ? "" : "s", before));
    for (int i = 0; same && i < before; i++) {
        const jx_aval *a = of(d->before, i), *b = of(d->after, i);

        if (a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
            a->impl == b->impl)
            continue;
        say(d, JX_REFUTED,
            jx_arena_printf(d->ctx->arena, "%s %d is %s instead of %s", noun, i,
                            printed(d, b), printed(d, a)));
        same = false;
    }
    return same;
}

/* What follows the argument's own name: "['w'][0]". */
static const char *below(const char *path)
{
    return path + strcspn(path, "[.");
}

/* Another pytree is another signature; the name of an argument matters only to
 * those who give it by name. */
static void compare_paths(differ *d, const char *noun, int count,
                          const char *const *before, const char *const *after)
{
    for (int i = 0; i < count; i++) {
        const char *a = path_of(before, i), *b = path_of(after, i);
        bool tree = a && b && strcmp(below(a), below(b)) != 0;

        if (a && b && strcmp(a, b) != 0)
            say(d, tree ? JX_REFUTED : JX_PROVED,
                jx_arena_printf(d->ctx->arena, "%s %d is %s instead of %s%s",
                                noun, i, b, a,
                                tree ? ""
                                     : " (the same where it is not given "
                                       "by name)"));
    }
}

/* The scopes of the old one's sizes: a program without constraints may list
 * none, and its sizes are of the first. */
static int old_scopes(const differ *d)
{
    return d->before->nscopes ? d->before->nscopes : 1;
}

/* The new one's sizes are of scopes beyond those of the old one. */
static const jx_dim *of_callee(void *env, const jx_dim_atom *var)
{
    const differ *d = env;

    return jx_dim_var(d->before->dims, var->name, old_scopes(d) + var->scope);
}

static const jx_aval *moved_aval(differ *d, const jx_aval *aval)
{
    jx_aval like = {.kind = aval->kind,
                    .dtype = aval->dtype,
                    .weak = aval->weak,
                    .rank = aval->rank,
                    .impl = aval->impl,
                    .label = aval->label};
    const jx_dim **shape =
        JX_NEW_ARRAY(d->ctx->arena, aval->rank, const jx_dim *);

    for (int i = 0; shape && i < aval->rank; i++)
        if (!(shape[i] =
                  jx_dim_import(d->before->dims, aval->shape[i], of_callee, d)))
            return NULL;
    like.shape = shape;
    return shape ? jx_aval_add(&d->before->avals, &like) : NULL;
}

static const jx_aval *const *
moved_avals(differ *d, int count,
            const jx_aval *(*of)(const jx_program *program, int i))
{
    const jx_aval **to = JX_NEW_ARRAY(d->ctx->arena, count, const jx_aval *);

    for (int i = 0; to && i < count; i++)
        if (!(to[i] = moved_aval(d, of(d->after, i))))
            return NULL;
    return to;
}

static bool move_scope(differ *d, const jx_scope *from, jx_scope *to)
{
    jx_scope_constraint *list =
        JX_NEW_ARRAY(d->ctx->arena, from->nconstraints, jx_scope_constraint);

    *to = (jx_scope){from->nconstraints, list, NULL};
    for (int i = 0; list && i < from->nconstraints; i++) {
        list[i] = from->constraints[i];
        list[i].lhs = jx_dim_import(d->before->dims, list[i].lhs, of_callee, d);
        list[i].rhs = jx_dim_import(d->before->dims, list[i].rhs, of_callee, d);
        if (!list[i].lhs || !list[i].rhs)
            return false;
    }
    return list != NULL;
}

/* The scopes of the old one, then those of the new one. */
static const jx_scope *all_scopes(differ *d)
{
    int n = old_scopes(d);
    jx_scope *to = JX_NEW_ARRAY(d->ctx->arena, n + d->after->nscopes, jx_scope);

    if (!to)
        return NULL;
    for (int i = 0; i < d->before->nscopes; i++)
        to[i] = d->before->scopes[i];
    for (int i = 0; i < d->after->nscopes; i++)
        if (!move_scope(d, &d->after->scopes[i], &to[n + i]))
            return NULL;
    return to;
}

/* { lambda ; inputs of the old one. let outs = call_exported[new] inputs in
 * outs }, the outputs declared as the old one's. */
static const jx_jaxpr *calling(differ *d, jx_builder *build,
                               const jx_p_call_exported *params)
{
    const jx_jaxpr *old = d->before->entry.jaxpr;
    jx_body b = {.in = build};
    jx_atom *ins = JX_NEW_ARRAY(d->ctx->arena, old->nins, jx_atom);
    const jx_var **outs =
        JX_NEW_ARRAY(d->ctx->arena, old->nouts, const jx_var *);
    jx_eqn eqn = {.prim = jx_prim_of(JX_PRIM_call_exported),
                  .nins = old->nins,
                  .nouts = old->nouts,
                  .ins = ins,
                  .outs = outs,
                  .typed = params};

    for (int i = 0; ins && i < old->nins; i++)
        ins[i] = jx_body_input(&b, input(d->before, i));
    for (int i = 0; outs && i < old->nouts; i++)
        outs[i] = jx_body_var(&b, output(d->before, i));
    if (!jx_ok(d->ctx) || jx_build_given(&b, &eqn))
        return NULL;
    for (int i = 0; i < old->nouts; i++)
        jx_body_result(&b, (jx_atom){outs[i], NULL});
    return jx_body_finish(&b, jx_no_atoms, NULL);
}

/* NULL without memory. */
static jx_program *caller(differ *d)
{
    const jx_jaxpr *old = d->before->entry.jaxpr;
    jx_program *p = jx_arena_copy(d->ctx->arena, d->before, sizeof *p);
    jx_called_export *callee = JX_NEW(d->ctx->arena, jx_called_export);
    jx_p_call_exported *params = JX_NEW(d->ctx->arena, jx_p_call_exported);
    jx_builder build = {.program = p};

    if (!p || !callee || !params)
        return NULL;
    *callee = (jx_called_export){.name = "the new program",
                                 .nins = old->nins,
                                 .nouts = old->nouts,
                                 .ins = moved_avals(d, old->nins, input),
                                 .outs = moved_avals(d, old->nouts, output),
                                 .paths = d->after->in_paths};
    params->exported = callee;
    p->entry = (jx_closed){.jaxpr = calling(d, &build, params)};
    p->jaxprs = build.jaxprs.at;
    p->njaxprs = (int)build.jaxprs.count;
    p->scopes = all_scopes(d);
    p->nscopes = old_scopes(d) + d->after->nscopes;
    /* What one of them does not say, they can't disagree about. */
    p->from_text = d->before->from_text || d->after->from_text;
    p->nrules = p->ndefinitions = p->narrays = p->ncomparisons = p->nretraces =
        p->nclosures = 0;
    p->linear = NULL;
    return callee->ins && callee->outs && p->scopes && p->entry.jaxpr ? p
                                                                      : NULL;
}

static bool is_among(const jx_finding *f, const jx_findings *known)
{
    for (size_t i = 0; known && i < known->count; i++)
        if (known->at[i].code == f->code &&
            strcmp(known->at[i].message, f->message) == 0)
            return true;
    return false;
}

/* Those that are not known already. */
static void tell(differ *d, const jx_findings *findings,
                 const jx_findings *known, jx_verdict verdict)
{
    for (size_t i = 0; i < findings->count; i++) {
        const jx_finding *f = &findings->at[i];

        if (is_among(f, known))
            continue;
        /* With a note nothing can go wrong. */
        say(d, f->level == JX_NOTE ? JX_PROVED : verdict,
            f->why
                ? jx_arena_printf(d->ctx->arena, "%s: %s", f->message, f->why)
                : f->message);
    }
}

/* The settled claims of a program, those of its equations' rules. */
static bool report_claims(differ *d, jx_analysis *analysis,
                          const jx_settle_options *settle, jx_report *report)
{
    const jx_selection all = {0};

    *report = (jx_report){0};
    if (!analysis || !jx_settle(analysis->program, &analysis->claims, settle))
        return false;
    report->claims.proved = analysis->settled;
    return jx_report_claims(d->ctx, report, analysis->program,
                            &analysis->claims, &all);
}

static bool compare_sizes(differ *d, const jx_settle_options *settle)
{
    jx_report report;

    if (!report_claims(d, jx_typed_analysis(caller(d)), settle, &report))
        return false;
    d->diff->proved = report.claims.proved;
    tell(d, &report.findings, NULL, JX_REFUTED);
    tell(d, &report.undecided, NULL, JX_UNDECIDED);
    return jx_ok(d->ctx);
}

/* What the new one asserts of its sizes beyond its constraints, and what is
 * wrong with it, unless the old one has the same. */
static bool compare_claims(differ *d, const jx_settle_options *settle)
{
    jx_report before, after;

    if (!report_claims(d, d->old, settle, &before) ||
        !report_claims(d, d->new, settle, &after))
        return false;
    tell(d, &after.findings, &before.findings, JX_REFUTED);
    tell(d, &after.undecided, &before.undecided, JX_UNDECIDED);
    return jx_ok(d->ctx);
}

/* A new program of another least size takes other sizes. */
static void compare_bases(differ *d)
{
    if (d->after->base > d->before->base)
        say(d, JX_REFUTED,
            jx_arena_printf(
                d->ctx->arena, "sizes are at least %lld instead of %lld",
                (long long)d->after->base, (long long)d->before->base));
}

/* What exported files say beside their programs. */
static void compare_files(differ *d)
{
    const jx_exported *before = d->before->exported;
    const jx_exported *after = d->after->exported;
    size_t first = d->diff->contract.count;

    if (before && after)
        jx_exported_files_diff(d->ctx, before, after, &d->diff->contract);
    for (size_t i = first; i < d->diff->contract.count; i++)
        d->diff->drop_in &= d->diff->contract.at[i].verdict == JX_PROVED;
}

static bool compare_contracts(differ *d, const jx_settle_options *settle)
{
    const jx_jaxpr *a = d->before->entry.jaxpr, *b = d->after->entry.jaxpr;
    bool ins, outs;

    d->diff->drop_in = true;
    compare_files(d);
    compare_bases(d);
    ins = same_kinds(d, "input", a->nins, b->nins, input);
    outs = same_kinds(d, "output", a->nouts, b->nouts, output);
    if (ins)
        compare_paths(d, "input", a->nins, d->before->in_paths,
                      d->after->in_paths);
    if (outs)
        compare_paths(d, "output", a->nouts, d->before->out_paths,
                      d->after->out_paths);
    if (!ins) {
        d->diff->incomparable = "their inputs differ";
        return jx_ok(d->ctx);
    }
    if (!compare_programs(d))
        return false;
    move_cost(d);
    return (!outs || compare_sizes(d, settle)) && compare_claims(d, settle);
}

bool jx_programs_diff(jx_program *before, jx_program *after,
                      const jx_settle_options *settle, jx_program_diff *diff)
{
    differ d = {
        .before = before, .after = after, .diff = diff, .ctx = before->ctx};

    *diff = (jx_program_diff){.at = {.output = -1}};
    d.old = jx_typed_analysis(before);
    d.new = jx_typed_analysis(after);
    return d.old && d.new &&jx_cost_of(&d.old->typed, &diff->before) &&
           jx_cost_of(&d.new->typed, &diff->after) &&
           compare_contracts(&d, settle);
}

/* ---- text */

static void put_eqn(const jx_site *site, const char *which, jx_buffer *to)
{
    const jx_frame *frame = site->eqn ? jx_user_frame(site->eqn->stack) : NULL;

    for (const jx_calls *c = site->calls; !frame && c; c = c->outer)
        frame = jx_user_frame(c->eqn->stack);
    jx_buffer_printf(to, "  %s: ", which);
    if (!site->eqn) {
        jx_buffer_puts(to, "nothing that the other has not\n");
        return;
    }
    if (frame)
        jx_utf8_printf(to, "%s:%d: ", frame->file->path, frame->line);
    jx_eqn_summary(site->eqn, to);
    jx_buffer_putc(to, '\n');
}

static void put_program(const jx_program_diff *diff, jx_buffer *to)
{
    if (diff->incomparable) {
        jx_utf8_printf(to, "program: not compared: %s\n", diff->incomparable);
        return;
    }
    if (diff->same) {
        jx_buffer_puts(to, "program: the same\n");
        return;
    }
    if (diff->at.output >= 0)
        jx_buffer_printf(to, "program: output %d is computed differently\n",
                         diff->at.output);
    else
        jx_buffer_puts(to, "program: other effects\n");
    put_eqn(&diff->at.a, "old", to);
    put_eqn(&diff->at.b, "new", to);
}

static const char *verdict_text(jx_verdict verdict)
{
    return verdict == JX_REFUTED  ? "breaks"
           : verdict == JX_PROVED ? "note"
                                  : "undecided";
}

static void put_contract(const jx_program_diff *diff, jx_buffer *to)
{
    jx_buffer_puts(to, diff->drop_in
                           ? "contract: a drop-in replacement"
                           : "contract: not shown to be a drop-in replacement");
    if (diff->proved)
        jx_buffer_printf(to, " (%lld statement%s about sizes proved)",
                         (long long)diff->proved, diff->proved == 1 ? "" : "s");
    jx_buffer_putc(to, '\n');
    for (size_t i = 0; i < diff->contract.count; i++)
        jx_utf8_printf(to, "  %s: %s\n",
                       verdict_text(diff->contract.at[i].verdict),
                       diff->contract.at[i].text);
}

static void put_dim(const jx_dim *dim, jx_buffer *to)
{
    if (dim)
        jx_dim_print(dim, to);
    else
        jx_buffer_puts(to, "unknown");
}

/* Of one device, if there are many. */
static void put_peak(const jx_cost *cost, jx_buffer *to)
{
    bool many = cost->devices > 1;
    size_t count = many ? cost->device_peaks.count : cost->peaks.count;

    if (many ? !cost->device_peak_known : !cost->peak_known) {
        jx_buffer_puts(to, "unknown");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        jx_buffer_puts(to, i ? " or " : "");
        put_dim(many ? cost->device_peaks.at[i] : cost->peaks.at[i], to);
    }
}

static const jx_dim *sent_by(const jx_cost *cost, int kind)
{
    for (size_t i = 0; i < cost->sent.count; i++)
        if ((int)cost->sent.at[i].kind == kind)
            return cost->sent.at[i].bytes;
    return NULL;
}

/* Texts are compared: where inputs differ, the dims are of two tables. */
static void put_change(const char *label, const jx_buffer *before,
                       const jx_buffer *after, jx_buffer *to)
{
    const char *a = jx_buffer_text(before), *b = jx_buffer_text(after);

    if (strcmp(a, b) != 0)
        jx_utf8_printf(to, "  %-16s%s -> %s\n", label, a, b);
}

static void put_costs(const jx_program_diff *diff, jx_buffer *to)
{
    const jx_cost *x = &diff->before, *y = &diff->after;
    bool many = x->devices > 1 || y->devices > 1;
    const struct {
        const char *label;
        const jx_dim *before, *after;
        bool of_many; /* said where there are many devices */
    } rows[] = {
        {"flops", x->flops, y->flops, false},
        {"transcendentals", x->transcendentals, y->transcendentals, false},
        {"bytes moved", x->moved, y->moved, false},
        {"flops of all", x->all_flops, y->all_flops, true},
        {"bytes of all", x->all_moved, y->all_moved, true},
        {"constants", x->constants, y->constants, false}};
    jx_buffer before = {.budget = to->budget}, after = {.budget = to->budget},
              lines = {.budget = to->budget};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].of_many && !many)
            continue;
        jx_buffer_clear(&before);
        jx_buffer_clear(&after);
        put_dim(rows[i].before, &before);
        put_dim(rows[i].after, &after);
        put_change(rows[i].label, &before, &after, &lines);
    }
    jx_buffer_clear(&before);
    jx_buffer_clear(&after);
    put_peak(x, &before);
    put_peak(y, &after);
    put_change("peak memory", &before, &after, &lines);
    for (int k = 0; k < JX_COLLECTIVE_KINDS; k++) {
        const jx_dim *a = sent_by(x, k), *b = sent_by(y, k);

        jx_buffer_clear(&before);
        jx_buffer_clear(&after);
        if (a)
            put_dim(a, &before);
        if (b)
            put_dim(b, &after);
        put_change(jx_collective_name((jx_collective_kind)k), &before, &after,
                   &lines);
    }
    jx_buffer_puts(to, many ? "cost of each device" : "cost");
    if (x->devices != y->devices)
        jx_buffer_printf(to, " (of %lld, and of %lld)", (long long)x->devices,
                         (long long)y->devices);
    jx_buffer_puts(to, lines.length ? ":\n" : ": the same\n");
    jx_buffer_puts(to, jx_buffer_text(&lines));
    jx_buffer_free(&before);
    jx_buffer_free(&after);
    jx_buffer_free(&lines);
}

void jx_diff_text(const jx_program_diff *diff, jx_buffer *to)
{
    put_program(diff, to);
    put_contract(diff, to);
    put_costs(diff, to);
}

/* ---- JSON */

static void put_json_site(const char *key, const jx_site *site, jx_buffer *to)
{
    const jx_frame *frame = site->eqn ? jx_user_frame(site->eqn->stack) : NULL;
    jx_buffer text = {.budget = to->budget};

    jx_buffer_printf(to, ",\"%s\":", key);
    if (!site->eqn) {
        jx_buffer_puts(to, "null");
        return;
    }
    jx_eqn_summary(site->eqn, &text);
    jx_buffer_puts(to, "{\"equation\":");
    jx_json_put_text(to, jx_buffer_text(&text));
    if (frame) {
        jx_buffer_puts(to, ",\"file\":");
        jx_json_put_text(to, frame->file->path);
        jx_buffer_printf(to, ",\"line\":%d", frame->line);
    }
    jx_buffer_putc(to, '}');
    jx_buffer_free(&text);
}

static void put_json_program(const jx_program_diff *diff, jx_buffer *to)
{
    if (diff->incomparable) {
        jx_buffer_puts(to, "{\"same\":null,\"why\":");
        jx_json_put_text(to, diff->incomparable);
        jx_buffer_putc(to, '}');
        return;
    }
    jx_buffer_printf(to, "{\"same\":%s", diff->same ? "true" : "false");
    if (!diff->same) {
        jx_buffer_printf(to, ",\"output\":%d", diff->at.output);
        put_json_site("old", &diff->at.a, to);
        put_json_site("new", &diff->at.b, to);
    }
    jx_buffer_putc(to, '}');
}

void jx_diff_json(const jx_program_diff *diff, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"version\":1,\"program\":");
    put_json_program(diff, to);
    jx_buffer_printf(
        to, ",\"contract\":{\"drop_in\":%s,\"proved\":%lld,\"changes\":[",
        diff->drop_in ? "true" : "false", (long long)diff->proved);
    for (size_t i = 0; i < diff->contract.count; i++) {
        jx_buffer_printf(to, "%s{\"kind\":\"%s\",\"text\":", i ? "," : "",
                         verdict_text(diff->contract.at[i].verdict));
        jx_json_put_text(to, diff->contract.at[i].text);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_puts(to, "]},\"cost\":{\"old\":");
    jx_costs_json(&diff->before, to);
    jx_buffer_puts(to, ",\"new\":");
    jx_costs_json(&diff->after, to);
    jx_buffer_puts(to, "}}\n");
}
