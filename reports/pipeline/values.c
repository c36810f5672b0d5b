/* values.c - see values.h. */
#include "reports/pipeline/values.h"

#include "analyzer/transform/devices.h"
#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "analyzer/transform/vjp.h"
#include "analyzer/transform/xla.h"
#include "analyzer/typing.h"
#include "frontend/base/map.h"
#include "frontend/ir/growth.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"
#include "reports/pipeline/repairs.h"
#include "reports/pipeline/value_words.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradsample.h"
#include "runtime/witness/origin.h"
#include "runtime/witness/witness.h"

#include <string.h>

enum { MOST_OPERATIONS = 2000000, MOST_MEMORY = 1 << 30 };

/* Of a program of more equations no gradient is made that nobody asked for: it
 * has some five times as many and takes longer to make than all else that is
 * checked, and of the runs that a search may take there is one or two. */
enum { MOST_EQUATIONS = 1 << 15 };

/* A claim, and the witness that it tells. */
typedef struct pending {
    jx_claim *claim;
    jx_repair_of of; /* the search that found it */
    int witness;
} pending;

/* The search in one program, and what it is of. */
typedef struct looking {
    jx_program *sized; /* the author's, at small sizes */
    jx_claim_list claims;
    jx_witnesses hunts[JX_REPAIR_OF];
    const jx_report *report; /* with what others said */
    jx_program *flat;        /* it without calls */
    jx_repairs *repairs; /* of that; NULL: there was nothing to repair yet */
    JX_VEC(pending) pending; /* claims that may get a fix */
} looking;

/* Sizes that are numbers are not chosen: how large a run is, others limit. */
static bool has_sizes(const jx_program *program)
{
    int64_t size;

    for (int i = 0; i < program->entry.jaxpr->nins; i++)
        for (int k = 0; k < jx_input_aval(program, i)->rank; k++)
            if (!jx_dim_is_int(jx_input_aval(program, i)->shape[k], &size))
                return true;
    return program->nscopes > 0;
}

jx_program *jx_program_at_small_sizes(jx_program *program)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    const jx_aval **ins =
        JX_NEW_ARRAY(program->ctx->arena, entry->nins + 1, const jx_aval *);
    jx_rule like = {.nins = entry->nins, .ins = ins};
    const jx_binding *sizes;
    int n;

    if (!has_sizes(program))
        return program;
    for (int i = 0; ins && i < entry->nins; i++)
        ins[i] = jx_input_aval(program, i);
    if (!ins || !jx_sample_sizes(program, &like, 0, NULL, &n, &sizes))
        return NULL;
    return n ? jx_program_refine(program, NULL, n, sizes) : program;
}

static bool any_call(jx_map *seen, const jx_jaxpr *jaxpr)
{
    if (!jaxpr || !jx_map_add(seen, jaxpr))
        return false;
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (jx_eqn_callee(eqn))
            return true;
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            if (any_call(seen, jx_body_of(eqn, k)->jaxpr))
                return true;
    }
    return false;
}

static bool calls_anything(const jx_program *program)
{
    jx_map seen;

    jx_map_init(&seen, program->ctx->arena);
    return any_call(&seen, program->entry.jaxpr);
}

/* What calls nothing is not made again, unless it was just now, by a
 * transformation, which leaves more than is needed; `analysis`: of a program,
 * which may be this one, that was not; or NULL. */
static const jx_typed *inlined(jx_program *program, const jx_analysis *analysis)
{
    bool calls = program && calls_anything(program);

    if (calls)
        program = jx_program_inline(program);
    if (program && (calls || !analysis))
        program = jx_program_refine(program, NULL, 0, NULL);
    if (!program)
        return NULL;
    return analysis ? jx_analysis_fits_as(analysis, program)
                    : jx_program_fits(program, false, 0, NULL);
}

/* What many devices run is written out, so that what an equation is to
 * blame for, and where its operands come from, is looked up in the
 * program that is run. */
static const jx_typed *without_calls(jx_program *program,
                                     const jx_analysis *analysis)
{
    const jx_typed *typed = inlined(program, analysis);

    return typed && jx_devices_any(typed->program)
               ? inlined(jx_program_spread(typed, NULL, NULL), NULL)
               : typed;
}

/* -- claims ---------------------------------------------------------------- */

static bool same_line(const jx_stack *a, const jx_stack *b)
{
    const jx_frame *x = jx_user_frame(a), *y = jx_user_frame(b);

    return a == b || (x && y && x->file == y->file && x->line == y->line);
}

/* What a finding that needs no run says of an expression is the cause of these,
 * of it or of what it is part of; the rest of its line is another matter:
 * constants that are not finite (JX_CODE_NONE: of all), those that a dtype does
 * not hold, and elements that a size has not. */
static const struct cause {
    jx_code said, of;
} causes[] = {
    {JX_CODE_STG004, JX_CODE_NONE},   {JX_CODE_NUM010, JX_CODE_NUM001},
    {JX_CODE_NUM010, JX_CODE_NUM004}, {JX_CODE_NUM010, JX_CODE_NUM009},
    {JX_CODE_IDX006, JX_CODE_IDX001},
};

static bool is_cause(jx_code said, jx_code of)
{
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].said == said &&
            (causes[i].of == JX_CODE_NONE || causes[i].of == of))
            return true;
    return false;
}

static bool has_cause(const looking *l, const jx_witness *w)
{
    const jx_frame *frame = jx_user_frame(w->stack);

    for (size_t i = 0; frame && i < l->report->findings.count; i++) {
        const jx_finding *said = &l->report->findings.at[i];
        if (is_cause(said->code, w->code) &&
            jx_spot_is_within(&said->where, frame))
            return true;
    }
    return false;
}

/* Behind what a type says of axes over which values vary, which is gone where
 * devices are written out. */
static const char *unmarked(const char *at)
{
    while (strncmp(at, "{V:", 3) == 0 && strchr(at, '}'))
        at = strchr(at, '}') + 1;
    return at;
}

/* Whether what was said of an equation without a place may be of this one. */
static bool may_be_of(const looking *l, const jx_finding *said,
                      const jx_eqn *eqn)
{
    jx_buffer text = jx_ctx_text(l->sized->ctx);
    const char *a, *b;

    jx_eqn_summary(eqn, &text);
    a = jx_arena_take(l->sized->ctx->arena, &text);
    b = said->equation;
    if (!a || !b)
        return false;
    for (a = unmarked(a), b = unmarked(b); *a && *a == *b;
         a = unmarked(a + 1), b = unmarked(b + 1))
        ;
    return *a == *b;
}

/* Of a slice that some devices have moved, which ones has been
 * said (MSH016). */
static bool is_of_devices(const looking *l, const jx_witness *w)
{
    const jx_frame *frame = jx_user_frame(w->stack);
    bool moved = w->code == JX_CODE_IDX001 || w->code == JX_CODE_IDX002;

    for (size_t i = 0; moved && i < l->report->findings.count; i++) {
        const jx_finding *said = &l->report->findings.at[i];
        if (said->code == JX_CODE_MSH016 &&
            (frame ? said->where.line == frame->line && said->where.file &&
                         strcmp(said->where.file, frame->file->path) == 0
                   : !said->where.line && may_be_of(l, said, w->misuse.eqn)))
            return true;
    }
    return false;
}

/* Something at this line says the same, and more. */
static bool is_said(const looking *l, const jx_witnesses *hunt, size_t number)
{
    const jx_witness *w = &hunt->found.at[number];

    for (size_t i = 0; i < l->claims.count; i++)
        if (l->claims.at[i]->code == w->code &&
            same_line(l->claims.at[i]->stack, w->stack) &&
            l->claims.at[i]->level >= w->level)
            return true;
    for (size_t i = number + 1; i < hunt->found.count; i++)
        if (hunt->found.at[i].code == w->code &&
            hunt->found.at[i].level > w->level &&
            same_line(hunt->found.at[i].stack, w->stack))
            return true;
    return false;
}

/* That a gradient is not finite where the value is not is no news. */
static bool is_value_told(const looking *l, const jx_witness *w)
{
    for (size_t i = 0; i < l->claims.count; i++)
        if (l->claims.at[i]->level > w->level &&
            same_line(l->claims.at[i]->stack, w->stack))
            return true;
    return false;
}

static bool claim(looking *l, size_t number, jx_repair_of of)
{
    bool backward = of == JX_REPAIR_BACKWARD;
    const jx_witness *w = &l->hunts[of].found.at[number];
    jx_program *program = l->sized;
    jx_claim *to;

    if (has_cause(l, w) || is_of_devices(l, w) ||
        (backward && is_value_told(l, w)) || is_said(l, &l->hunts[of], number))
        return true;
    to = jx_claim_add(program->ctx, &l->claims, w->code);
    if (!to)
        return false;
    to->stack = w->stack;
    to->level = w->level;
    to->what = jx_value_what(program, w);
    to->verdict = JX_WITNESSED;
    to->evidence.by = "a run";
    to->evidence.note = jx_value_note(program, w, backward);
    to->evidence.witness = jx_value_witness(program, w, backward);
    to->evidence.shown = jx_value_shown(program, w);
    to->evidence.then = jx_value_then(program, w);
    to->evidence.nthen = to->evidence.then ? w->nthen : 0;
    JX_PUSH(program->ctx->arena, &l->pending, ((pending){to, of, (int)number}));
    return jx_ok(program->ctx);
}

static bool search(looking *l, const jx_typed *typed,
                   const jx_witness_options *options, jx_repair_of of)
{
    jx_witnesses *hunt = &l->hunts[of];

    if (!jx_witness_search(typed, options, hunt))
        return false;
    if (hunt->found.count && !l->repairs)
        l->repairs = jx_repairs_new(l->flat);
    if (hunt->found.count &&
        (!l->repairs || !jx_repairs_find(l->repairs, typed, options, of, hunt)))
        return false;
    for (size_t i = 0; i < hunt->found.count; i++)
        if (!claim(l, i, of))
            return false;
    return true;
}

/* Where XLA makes another program of it, that is searched, too. */
static bool search_compiled(looking *l, jx_program *program,
                            jx_witness_options options)
{
    bool matters = false;
    jx_program *compiled = l->hunts[JX_REPAIR_WRITTEN].runs
                               ? jx_program_as_xla(program, &matters)
                               : NULL;
    const jx_typed *typed = NULL;

    if (compiled && matters)
        compiled = jx_program_refine(compiled, NULL, 0, NULL);
    if (compiled && matters)
        typed = jx_program_fits(compiled, false, 0, NULL);
    options.compiled = true;
    if (!typed) {
        jx_error_clear(program->ctx);
        return jx_ok(program->ctx);
    }
    return search(l, typed, &options, JX_REPAIR_COMPILED);
}

/* What was looked for and not found says how long that was: of all searches. */
static bool assume(jx_ctx *keep, jx_report *report, const jx_witnesses *hunt)
{
    if (!hunt->runs || hunt->found.count ||
        hunt[JX_REPAIR_COMPILED].found.count)
        return true;
    JX_PUSH(
        keep->arena, &report->assumptions,
        jx_arena_printf(keep->arena,
                        "outputs are finite for inputs within their ranges: "
                        "%lld runs found none that is not%s",
                        (long long)hunt->runs,
                        hunt->spent ? ", and there was no time for more" : ""));
    return jx_ok(keep);
}

/* -- backwards ------------------------------------------------------------- */

/* One number comes of floats: it may be made small. */
static bool is_loss(const jx_program *program)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    bool floats = false;

    for (int i = 0; i < entry->nins; i++)
        floats |= jx_dtype_is_float(jx_input_aval(program, i)->dtype);
    return floats && entry->nouts == 1 &&
           jx_atom_aval(entry->outs[0])->rank == 0 &&
           jx_dtype_is_float(jx_atom_aval(entry->outs[0])->dtype);
}

/* Without a derivative there is nothing to look at; who asked
 * for it is told. */
static bool search_backward(looking *l, jx_ctx *keep, jx_report *report,
                            jx_witness_options options)
{
    jx_ctx *ctx = l->sized->ctx;
    const jx_typed *typed = jx_typed_of(l->sized);
    jx_program *back = typed ? jx_program_vjp(typed) : NULL;

    typed = without_calls(back, NULL);
    if (!typed) {
        if (!options.unasked)
            JX_PUSH(keep->arena, &report->assumptions,
                    jx_arena_printf(
                        keep->arena,
                        "the gradient is finite: it was not looked at%s%s",
                        ctx->error.message ? ", " : "",
                        ctx->error.message ? ctx->error.message : ""));
        jx_error_clear(ctx);
        return jx_ok(keep) && jx_ok(ctx);
    }
    options.nseeds =
        typed->program->entry.jaxpr->nins - l->sized->entry.jaxpr->nins;
    return search(l, typed, &options, JX_REPAIR_BACKWARD);
}

/* Whether to look at a gradient that nobody asked for; that it has too many
 * equations is said. */
static bool is_worth_it(const looking *l, jx_ctx *keep, jx_report *report,
                        const jx_witness_options *options)
{
    const jx_program *flat = l->flat;
    jx_growth growth;

    if (!is_loss(l->sized) || (options->plain && !jx_gradient_may_tell(flat)) ||
        !jx_growth_measure(flat->ctx->arena, flat, flat->entry.jaxpr, 0,
                           &growth))
        return false;
    if (growth.own > MOST_EQUATIONS)
        JX_PUSH(keep->arena, &report->assumptions,
                jx_arena_printf(keep->arena,
                                "the gradient is finite: it was not looked at, "
                                "of %lld equations (--grad always does)",
                                (long long)growth.own));
    return growth.own <= MOST_EQUATIONS;
}

bool jx_check_values(jx_ctx *keep, jx_report *report,
                     const jx_analysis *analysis, const jx_selection *selection,
                     jx_backward backward, bool settled)
{
    jx_program *program = analysis->program;
    jx_witness_options options = {.plain = !program->nranges,
                                  .operations = MOST_OPERATIONS,
                                  .memory = MOST_MEMORY};
    looking l = {.sized = jx_program_at_small_sizes(program), .report = report};
    const jx_typed *typed = without_calls(l.sized, analysis);
    jx_ctx *ctx = program->ctx;

    if (!typed) { /* what is wrong with it, others say */
        jx_error_clear(ctx);
        if (!options.plain)
            JX_PUSH(keep->arena, &report->assumptions,
                    "outputs are finite for inputs within their ranges: it "
                    "could not be run");
        return jx_ok(keep) && jx_ok(ctx);
    }
    l.flat = typed->program;
    options.finite = settled;
    if (!search(&l, typed, &options, JX_REPAIR_WRITTEN) ||
        (!settled && (!search_compiled(&l, typed->program, options) ||
                      !(options.plain || assume(keep, report, l.hunts)))))
        return false;
    options.finite = false;
    options.unasked = backward == JX_BACKWARD_LOSS;
    if ((backward == JX_BACKWARD_ALWAYS ||
         (options.unasked && is_worth_it(&l, keep, report, &options))) &&
        !search_backward(&l, keep, report, options))
        return false;
    for (size_t i = 0; i < l.pending.count; i++)
        l.pending.at[i].claim->evidence.fix = jx_repairs_fix(
            l.repairs, l.pending.at[i].of, l.pending.at[i].witness);
    return jx_ok(ctx) &&
           jx_report_claims(keep, report, l.sized, &l.claims, selection);
}
