/* blame.c - see blame.h. */
#include "reports/pipeline/blame.h"

#include "frontend/base/vec.h"
#include "frontend/ir/params.h"

#include <string.h>

/* What a line of the user's gives last. */
typedef struct line {
    const jx_file *file;
    int number;
    const jx_eqn *eqn;
    const jx_var *value;
} line;

typedef JX_VEC(line) line_list;

/* A program's own equations, below calls that are all there is. */
typedef struct body {
    jx_program *program;
    jx_closed closed;
    const jx_calls *calls;
    line_list lines;
} body;

/* Inputs go in and results come out as they are. */
static bool is_all(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    if (jaxpr->neqns != 1 || jaxpr->nconsts || eqn->nins != jaxpr->nins ||
        eqn->nouts != jaxpr->nouts)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (eqn->ins[i].var != jaxpr->vars[i])
            return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (jaxpr->outs[i].var != eqn->outs[i])
            return false;
    return true;
}

static bool enter(body *b)
{
    jx_ctx *ctx = b->program->ctx;

    for (;;) {
        const jx_jaxpr *jaxpr = b->closed.jaxpr;
        const jx_eqn *eqn = jaxpr->neqns ? &jaxpr->eqns[0] : NULL;
        const jx_closed *inner = eqn ? jx_eqn_callee(eqn) : NULL;
        jx_calls *calls;
        if (!inner || !is_all(jaxpr, eqn))
            return true;
        calls = JX_NEW(ctx->arena, jx_calls);
        if (!calls)
            return false;
        *calls = (jx_calls){b->calls, jaxpr, eqn};
        b->calls = calls;
        b->closed = *inner;
    }
}

static line *line_of(const line_list *list, const jx_frame *frame)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i].file == frame->file &&
            list->at[i].number == frame->line)
            return &list->at[i];
    return NULL;
}

/* In the order in which lines are finished. */
static bool collect(body *b)
{
    const jx_jaxpr *jaxpr = b->closed.jaxpr;
    jx_arena *arena = b->program->ctx->arena;

    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_frame *frame = jx_user_frame(eqn->stack);
        if (!frame || !eqn->nouts || eqn->outs[0]->dropped ||
            eqn->outs[0]->aval->kind != JX_AVAL_ARRAY)
            continue;
        line *known = line_of(&b->lines, frame);
        if (known)
            *known = (line){frame->file, frame->line, eqn, eqn->outs[0]};
        else
            JX_PUSH(arena, &b->lines,
                    (line){frame->file, frame->line, eqn, eqn->outs[0]});
    }
    return !jx_arena_failed(arena);
}

/* Keeps the lines that both have, with values that can be compared. */
static void keep_common(body *a, body *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->lines.count; i++)
        for (size_t k = 0; k < b->lines.count; k++) {
            const line *x = &a->lines.at[i], *y = &b->lines.at[k];
            if (x->file != y->file || x->number != y->number || k < kept ||
                !jx_aval_same_values(x->value->aval, y->value->aval))
                continue;
            line moved = b->lines.at[k];
            b->lines.at[k] = b->lines.at[kept];
            b->lines.at[kept] = moved;
            a->lines.at[kept++] = a->lines.at[i];
            break;
        }
    a->lines.count = b->lines.count = kept;
}

/* The program whose results are what the lines give; NULL without memory. */
static jx_program *probing(const body *b)
{
    jx_arena *arena = b->program->ctx->arena;
    const jx_jaxpr *from = b->closed.jaxpr;
    jx_program *to = jx_arena_copy(arena, b->program, sizeof *to);
    jx_jaxpr *jaxpr = jx_arena_copy(arena, from, sizeof *from);
    jx_atom *outs = JX_NEW_ARRAY(arena, b->lines.count, jx_atom);
    const jx_jaxpr **table =
        to ? jx_arena_copy(arena, to->jaxprs,
                           (size_t)to->njaxprs * sizeof *table)
           : NULL;

    if (!jaxpr || !outs || !table)
        return NULL;
    for (size_t i = 0; i < b->lines.count; i++)
        outs[i].var = b->lines.at[i].value;
    jaxpr->nouts = (int)b->lines.count;
    jaxpr->outs = outs;
    jaxpr->result_paths = NULL;
    /* What calls it is not run, and so need not fit it: it comes last.  Rules
     * and retraces are beyond that. */
    to->njaxprs = from->id + 1;
    to->nrules = to->ndefinitions = to->nretraces = 0;
    to->linear = NULL;
    table[from->id] = jaxpr;
    to->jaxprs = table;
    to->entry = (jx_closed){jaxpr, b->closed.nconsts, b->closed.consts};
    to->in_paths = to->out_paths = NULL;
    return to;
}

/* The site is at that line, or in what it calls: it says more. */
static bool is_within(const jx_site *site, const line *at)
{
    const jx_frame *frame = site->eqn ? jx_user_frame(site->eqn->stack) : NULL;
    const jx_calls *call = site->calls;

    for (;; call = call->outer) {
        if (frame && frame->file == at->file && frame->line == at->number)
            return true;
        if (!call)
            return false;
        frame = jx_user_frame(call->eqn->stack);
    }
}

bool jx_blame(jx_program *a, jx_program *b, const jx_agree_limits *limits,
              jx_site *site)
{
    body left = {.program = a, .closed = a->entry};
    body right = {.program = b, .closed = b->entry};
    jx_program *x, *y;
    jx_agreement found;

    if (!enter(&left) || !enter(&right) || !collect(&left) ||
        !collect(&right) || left.closed.jaxpr->nins != right.closed.jaxpr->nins)
        return false;
    keep_common(&left, &right);
    if (!left.lines.count || !(x = probing(&left)) || !(y = probing(&right)))
        return false;
    found = jx_programs_agree(x, y, limits);
    if (found.verdict != JX_DISAGREES || found.output < 0)
        return false;
    if (is_within(site, &left.lines.at[found.output]))
        return true;
    *site = (jx_site){left.closed.jaxpr, left.lines.at[found.output].eqn,
                      left.calls};
    return true;
}
