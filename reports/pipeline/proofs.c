/* proofs.c - see proofs.h. */
#include "reports/pipeline/proofs.h"

#include "analyzer/transform/inline.h"
#include "analyzer/values/values.h"
#include "frontend/base/plain.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "frontend/ir/scope.h"
#include "reports/pipeline/bounds_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The ways from one question to its answer: in which semantics it holds. */
typedef struct prover {
    jx_ctx *keep;
    jx_report *report;
    jx_program *program; /* without calls */
    const jx_extents *extents[JX_NSEMANTICS];
    jx_claim_list claims;
} prover;

static bool all_hold(const bool *holds)
{
    return holds[JX_IEEE] && holds[JX_FTZ] && holds[JX_XLA];
}

/* Ranges may end at infinity, and inputs may have none: what is proved is
 * of finite ones. */
static const char *scope_of(const jx_program *program)
{
    return program->nranges ? "for all finite inputs within their ranges"
                            : "for all finite inputs";
}

static bool tell_proved(prover *p, const char *what, const bool *holds)
{
    jx_buffer text = jx_ctx_text(p->keep);

    jx_buffer_printf(&text, "%s, %s (", what, scope_of(p->program));
    jx_put_semantics(holds, true, &text);
    jx_buffer_puts(&text, ")");
    JX_PUSH(p->keep->arena, &p->report->proofs,
            jx_arena_take(p->keep->arena, &text));
    p->report->claims.proved += all_hold(holds);
    return jx_ok(p->keep);
}

/* What is asked and was not proved everywhere; `why` where the
 * bound was lost. */
static bool tell_open(prover *p, const char *what, const bool *holds,
                      const jx_eqn *eqn, const char *why)
{
    jx_ctx *ctx = p->program->ctx;
    jx_claim *claim = jx_claim_add(ctx, &p->claims, JX_CODE_NUM020);
    jx_buffer text = jx_ctx_text(ctx);

    if (!claim)
        return false;
    jx_buffer_printf(&text, "not proved (");
    jx_put_semantics(holds, false, &text);
    jx_buffer_printf(&text, "): %s", why);
    claim->what = jx_arena_printf(ctx->arena, "%s", what);
    claim->stack = eqn ? eqn->stack : NULL;
    claim->evidence.why = jx_arena_take(ctx->arena, &text);
    return jx_ok(ctx);
}

/* The first semantics in which it does not hold. */
static const jx_extents *broken(const prover *p, const bool *holds)
{
    for (int s = 0; s < JX_NSEMANTICS; s++)
        if (!holds[s])
            return p->extents[s];
    return NULL;
}

static bool any(const bool *holds)
{
    return holds[JX_IEEE] || holds[JX_FTZ] || holds[JX_XLA];
}

static const char *why_lost(const prover *p, const jx_extents *in, int out)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);
    const jx_lost *lost = in->lost[out];

    if (in->ended)
        jx_buffer_puts(&text, "the program is larger than what is walked");
    else if (lost)
        jx_put_step(lost, &text);
    else {
        jx_buffer_puts(&text, "it lies in ");
        jx_extent_print(in->outs[out], &text);
    }
    return jx_arena_take(p->program->ctx->arena, &text);
}

static bool is_bounded(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_inexact(aval->dtype);
}

/* Which outputs are finite, semantics by semantics. */
static void finite_of(const prover *p, int out, bool *holds)
{
    for (int s = 0; s < JX_NSEMANTICS; s++) {
        jx_extent is = p->extents[s]->outs[out];
        holds[s] = !p->extents[s]->ended &&
                   (is.lo > is.hi ? !is.nan : jx_extent_is_finite(is));
    }
}

static bool is_finite(const prover *p)
{
    const jx_jaxpr *entry = p->program->entry.jaxpr;
    bool holds[JX_NSEMANTICS];

    for (int i = 0; i < entry->nouts; i++) {
        if (!is_bounded(jx_atom_aval(entry->outs[i])))
            continue;
        finite_of(p, i, holds);
        if (!all_hold(holds))
            return false;
    }
    return true;
}

static bool prove_finite(prover *p)
{
    const jx_jaxpr *entry = p->program->entry.jaxpr;
    bool holds[JX_NSEMANTICS];

    if (is_finite(p)) {
        memset(holds, true, sizeof holds);
        return tell_proved(p, "every output is finite", holds);
    }
    for (int i = 0; i < entry->nouts; i++) {
        const char *what =
            jx_arena_printf(p->program->ctx->arena, "output %d is finite", i);
        const jx_extents *in;
        if (!what || !is_bounded(jx_atom_aval(entry->outs[i])))
            continue;
        finite_of(p, i, holds);
        if (any(holds) && !tell_proved(p, what, holds))
            return false;
        in = broken(p, holds);
        if (in &&
            !tell_open(p, what, holds, in->lost[i] ? in->lost[i]->place : NULL,
                       why_lost(p, in, i)))
            return false;
    }
    return jx_ok(p->program->ctx);
}

/* -- indices and integers -------------------------------------------------- */

/* Integers are the same in all semantics unless floats make them:
 * each is looked at. */
static bool prove_questions(prover *p, jx_asked what, const char *all,
                            const char *one)
{
    bool every[JX_NSEMANTICS] = {true, true, true};
    size_t count = p->extents[JX_IEEE]->questions.count;
    bool told = false;

    for (int s = 0; s < JX_NSEMANTICS; s++)
        every[s] =
            !p->extents[s]->ended && p->extents[s]->questions.count == count;
    for (size_t i = 0; i < count; i++) {
        const jx_extents_question *open = NULL;
        bool holds[JX_NSEMANTICS];
        for (int s = 0; s < JX_NSEMANTICS; s++) {
            const jx_extents_question *q = i < p->extents[s]->questions.count
                                               ? &p->extents[s]->questions.at[i]
                                               : NULL;
            holds[s] = q && (q->what != what || q->holds);
            every[s] = every[s] && holds[s];
            open = !open && q && !holds[s] ? q : open;
        }
        told = told || open;
        if (open && !tell_open(p, one, holds, open->place,
                               jx_why_open(p->program->ctx, open)))
            return false;
    }
    if (!told && !all_hold(every) &&
        !tell_open(p, all, every, NULL,
                   "not all of the program was walked alike"))
        return false;
    return !any(every) || tell_proved(p, all, every);
}

/* -- one output ------------------------------------------------------------ */

/* Its number: of "out3", or of a path as the program names it; -1. */
static int output_of(const jx_program *program, const char *key)
{
    const jx_jaxpr *entry = program->entry.jaxpr;

    for (int i = 0; i < entry->nouts; i++) {
        char name[32];
        jx_snprintf(name, sizeof name, "out%d", i);
        if (strcmp(name, key) == 0 ||
            (program->out_paths && program->out_paths[i] &&
             strcmp(program->out_paths[i], key) == 0))
            return i;
    }
    return -1;
}

/* What is surely within an end: a size's nearest. */
static double end_of(const jx_program *program, const jx_value_range_end *end,
                     bool low)
{
    jx_dim_range bounds;

    if (!end->dim)
        return end->number;
    bounds = jx_program_bounds(program, end->dim);
    if (low)
        return bounds.has_high ? (double)bounds.high : INFINITY;
    return bounds.has_low ? (double)bounds.low : -INFINITY;
}

/* The equation that gives an output; NULL: it is an input, or a constant. */
static const jx_eqn *maker_of(const jx_jaxpr *entry, int out)
{
    for (int i = 0; i < entry->neqns; i++)
        for (int k = 0; k < entry->eqns[i].nouts; k++)
            if (entry->outs[out].var == entry->eqns[i].outs[k])
                return &entry->eqns[i];
    return NULL;
}

static bool prove_range(prover *p, const char *text)
{
    jx_ctx *ctx = p->program->ctx;
    jx_value_range range = {.key = text};
    bool holds[JX_NSEMANTICS];
    jx_extent within;
    jx_buffer why;
    int out;

    if (strstr(text, " in [") && !jx_range_read(p->program, text, &range))
        return false;
    out = strstr(text, " in [") ? output_of(p->program, range.key) : -1;
    if (out < 0)
        return jx_fail(ctx, JX_E_USAGE, NULL, "prove",
                       "%s: expected finite, in-bounds, no-wrap, or an output "
                       "(out0%s) in [LO, HI]",
                       range.key,
                       p->program->entry.jaxpr->nouts > 1 ? ", out1, ..." : "");
    within = jx_extent_between(end_of(p->program, &range.lo, true),
                               end_of(p->program, &range.hi, false));
    for (int s = 0; s < JX_NSEMANTICS; s++) {
        jx_extent is = p->extents[s]->outs[out];
        holds[s] =
            !p->extents[s]->ended && !is.nan &&
            (is.lo > is.hi || (is.lo >= within.lo && is.hi <= within.hi));
    }
    if (any(holds) && !tell_proved(p, text, holds))
        return false;
    if (all_hold(holds))
        return true;
    why = jx_ctx_text(ctx);
    jx_buffer_puts(&why, "it lies in ");
    jx_extent_print(broken(p, holds)->outs[out], &why);
    return tell_open(p, text, holds, maker_of(p->program->entry.jaxpr, out),
                     jx_arena_take(ctx->arena, &why));
}

static bool prove(prover *p, const char *asked)
{
    if (strcmp(asked, "finite") == 0)
        return prove_finite(p);
    if (strcmp(asked, "in-bounds") == 0)
        return prove_questions(p, JX_ASKED_IN_BOUNDS,
                               "every index is in bounds",
                               "an index is in bounds");
    if (strcmp(asked, "no-wrap") == 0)
        return prove_questions(p, JX_ASKED_NO_WRAP, "no integer wraps",
                               "an integer does not wrap");
    return prove_range(p, asked);
}

static bool is_indexed(const prover *p)
{
    const jx_extents *in = p->extents[JX_IEEE];

    for (size_t i = 0; i < in->questions.count; i++)
        if (in->questions.at[i].what == JX_ASKED_IN_BOUNDS)
            return true;
    return false;
}

/* Nothing is proved of inputs that there are not. */
static bool refuse_all(prover *p, const char *unfit, const jx_proofs *proofs)
{
    bool holds[JX_NSEMANTICS] = {false};

    for (int i = 0; i < proofs->nasked; i++)
        if (!tell_open(p, proofs->asked[i], holds, NULL, unfit))
            return false;
    return true;
}

bool jx_check_proofs(jx_ctx *keep, jx_report *report, jx_program *program,
                     const char *unfit, const jx_proofs *proofs,
                     const jx_selection *selection, bool *settled)
{
    prover p = {.keep = keep, .report = report};

    *settled = false;
    if (!proofs->nasked && !program->nranges)
        return true;
    p.program = jx_program_inline(program);
    if (unfit && p.program)
        return refuse_all(&p, unfit, proofs) &&
               jx_report_claims(keep, report, p.program, &p.claims, selection);
    for (int s = 0; p.program && s < JX_NSEMANTICS; s++) {
        p.extents[s] = jx_program_extents(p.program, (jx_semantics)s);
        if (!p.extents[s])
            return false;
    }
    if (!p.program)
        return false;
    *settled = is_finite(&p) && program->nranges && !is_indexed(&p);
    if (!proofs->nasked)
        return !is_finite(&p) || prove_finite(&p);
    for (int i = 0; i < proofs->nasked; i++)
        if (!prove(&p, proofs->asked[i]))
            return false;
    return jx_report_claims(keep, report, p.program, &p.claims, selection);
}
