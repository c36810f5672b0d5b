/* possible.c - see possible.h. */
#include "reports/pipeline/possible.h"

#include "analyzer/transform/inline.h"
#include "analyzer/values/values.h"
#include "frontend/ir/params.h"
#include "reports/pipeline/bounds_words.h"
#include "runtime/witness/origin.h"
#include "runtime/witness/witness.h"

#include <string.h>

/* Where something may happen, and in which semantics. */
typedef struct chance {
    jx_code code;
    const jx_eqn *eqn, *place; /* as of a question (values.h) */
    const char *what;
    bool in[JX_NSEMANTICS];
    struct chance *also; /* another one of the equation, or NULL */
} chance;

typedef struct chances {
    jx_report *report;
    jx_program *program; /* without calls */
    jx_origins origins;
    JX_VEC(chance *) all; /* in their order */
    jx_map of;            /* from equations to one of each */
} chances;

/* Its message is of that primitive: what tells of an equation in a program
 * without places. */
static bool names(const jx_finding *said, const jx_eqn *eqn)
{
    const char *name = jx_eqn_name(eqn);
    size_t length = strlen(name);

    return !said->where.file && strncmp(said->message, name, length) == 0 &&
           said->message[length] == ' ';
}

/* The same expression has the same said of it. */
static bool is_said(const chances *c, const chance *one)
{
    const jx_frame *frame =
        one->place ? jx_user_frame(one->place->stack) : NULL;

    for (size_t i = 0; i < c->report->findings.count; i++) {
        const jx_finding *said = &c->report->findings.at[i];
        if (said->code == one->code &&
            (frame ? jx_spot_is_within(&said->where, frame)
                   : names(said, one->eqn)))
            return true;
    }
    return false;
}

static void add(chances *c, jx_semantics semantics, const chance *one)
{
    jx_arena *arena = c->program->ctx->arena;
    chance *first = (chance *)(uintptr_t)jx_map_get(&c->of, one->eqn);
    chance *kept = first;

    while (kept && kept->code != one->code)
        kept = kept->also;
    if (!kept && is_said(c, one))
        return;
    if (!kept && (kept = JX_NEW(arena, chance))) {
        *kept = *one;
        kept->also = first;
        jx_map_put(&c->of, one->eqn, kept);
        JX_PUSH(arena, &c->all, kept);
    }
    if (kept)
        kept->in[semantics] = true;
}

/* -- what is not finite ---------------------------------------------------- */

/* The equations that outputs which may not be finite are made of, by way of
 * values that may not be. */
static bool find_shown(const chances *c, const jx_extents *in, jx_map *shown)
{
    const jx_jaxpr *entry = c->program->entry.jaxpr;
    jx_arena *arena = c->program->ctx->arena;
    jx_atom *outs = JX_NEW_ARRAY(arena, entry->nouts + 1, jx_atom);
    const jx_origin *origin;
    jx_origin_walk walk;
    int count = 0;

    if (!outs)
        return false;
    for (int i = 0; i < entry->nouts; i++)
        if (!jx_extent_is_finite(in->outs[i]))
            outs[count++] = entry->outs[i];
    jx_map_init(shown, arena);
    jx_origin_walk_from(&walk, &c->origins, count, outs);
    walk.through = &in->unbounded;
    while ((origin = jx_origin_walk_on(&walk)))
        if (origin->eqn)
            jx_map_add(shown, origin->eqn);
    return jx_ok(c->program->ctx);
}

static bool add_leaks(chances *c, const jx_extents *in, jx_semantics semantics)
{
    jx_map shown;

    if (in->leaks.count && !find_shown(c, in, &shown))
        return false;
    for (size_t i = 0; i < in->leaks.count; i++) {
        const jx_lost *leak = in->leaks.at[i];
        jx_buffer text = jx_ctx_text(c->program->ctx);
        if (!jx_map_has(&shown, leak->eqn))
            continue;
        jx_put_step(leak, &text);
        add(c, semantics,
            &(chance){.code = jx_witness_code(leak->eqn->prim->id),
                      .eqn = leak->eqn,
                      .place = leak->place,
                      .what = jx_arena_take(c->program->ctx->arena, &text)});
    }
    return jx_ok(c->program->ctx);
}

/* -- indices and integers -------------------------------------------------- */

/* Unsigned ones are bits, of keys and hashes: they wrap on purpose. */
static bool is_asked(const jx_extents_question *q)
{
    return q->what == JX_ASKED_IN_BOUNDS ||
           (q->what == JX_ASKED_NO_WRAP && q->eqn->nouts &&
            jx_dtype_of(q->eqn->outs[0]->aval->dtype)->kind == JX_KIND_INT);
}

static bool add_questions(chances *c, const jx_extents *in,
                          jx_semantics semantics)
{
    for (size_t i = 0; i < in->questions.count; i++) {
        const jx_extents_question *q = &in->questions.at[i];
        if (q->holds || !is_asked(q))
            continue;
        add(c, semantics,
            &(chance){.code = q->what == JX_ASKED_IN_BOUNDS ? JX_CODE_IDX001
                                                            : JX_CODE_DTY004,
                      .eqn = q->eqn,
                      .place = q->place,
                      .what = jx_why_open(c->program->ctx, q)});
    }
    return jx_ok(c->program->ctx);
}

/* -- notes ----------------------------------------------------------------- */

static bool tell(chances *c, const chance *one, jx_claim_list *to)
{
    jx_ctx *ctx = c->program->ctx;
    jx_buffer text = jx_ctx_text(ctx);
    jx_claim *claim = jx_claim_add(ctx, to, one->code);

    if (!claim)
        return false;
    claim->level = JX_NOTE;
    claim->what = jx_arena_printf(ctx->arena, "possible: %s", one->what);
    claim->stack = one->place ? one->place->stack : NULL;
    claim->eqn = one->eqn;
    claim->verdict = JX_POSSIBLE;
    claim->evidence.by = "bounds";
    jx_buffer_puts(&text, "neither proved not to happen (");
    jx_put_semantics(one->in, true, &text);
    jx_buffer_puts(&text, ") nor shown by a run");
    claim->evidence.note = jx_arena_take(ctx->arena, &text);
    claim->help = "say what inputs hold (--range), so that bounds are closer";
    return jx_ok(ctx);
}

bool jx_check_possible(jx_ctx *keep, jx_report *report, jx_program *program,
                       const jx_selection *selection)
{
    chances c = {.report = report, .program = jx_program_inline(program)};
    jx_claim_list claims = {0};

    if (!c.program || !jx_origins_make(&c.origins, c.program))
        return false;
    jx_map_init(&c.of, c.program->ctx->arena);
    for (int s = 0; s < JX_NSEMANTICS; s++) {
        const jx_extents *in = jx_program_leaks(c.program, (jx_semantics)s);
        if (!in || !add_leaks(&c, in, (jx_semantics)s) ||
            !add_questions(&c, in, (jx_semantics)s))
            return false;
    }
    for (size_t i = 0; i < c.all.count; i++)
        if (!tell(&c, c.all.at[i], &claims))
            return false;
    return jx_report_claims(keep, report, c.program, &claims, selection);
}
