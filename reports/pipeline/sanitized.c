/* sanitized.c - see sanitized.h. */
#include "reports/pipeline/sanitized.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "reports/pipeline/value_words.h"
#include "runtime/compare.h"

#include <string.h>

enum { SHOWN_STEPS = 6 };

static const jx_unfinite *element_of(const jx_witness *w)
{
    return w->slip.at.eqn ? &w->slip.at : w->made.eqn ? &w->made : NULL;
}

static const jx_eqn *equation_of(const jx_witness *w)
{
    return w->misuse.eqn ? w->misuse.eqn : element_of(w)->eqn;
}

static void put_indices(int rank, const int64_t *at, jx_buffer *to)
{
    for (int k = 0; k < rank; k++)
        jx_buffer_printf(to, "%s%lld", k ? "," : "", (long long)at[k]);
}

/* "at [0,3] of f32[8,8] (2 of 64 elements), in run 3 of the equation". */
static void put_element(const jx_unfinite *u, jx_buffer *to)
{
    int64_t all = 1;

    for (int k = 0; k < u->rank; k++)
        all *= u->shape[k];
    if (u->rank) {
        jx_buffer_puts(to, "at [");
        put_indices(u->rank, u->index, to);
        jx_buffer_puts(to, "] of ");
    } else {
        jx_buffer_puts(to, "of ");
    }
    jx_buffer_printf(to, "%s[", jx_dtype_of(u->value.dtype)->short_name);
    put_indices(u->rank, u->shape, to);
    jx_buffer_putc(to, ']');
    if (all > 1)
        jx_buffer_printf(to, " (%lld of %lld elements)", (long long)u->count,
                         (long long)all);
    if (u->run)
        jx_buffer_printf(to, ", in run %lld of the equation",
                         (long long)u->run + 1);
}

static bool is_backward(const jx_eqn *eqn)
{
    return eqn->name_stack && strstr(eqn->name_stack, "transpose(");
}

static void put_step(const jx_eqn *eqn, jx_buffer *to)
{
    const jx_frame *frame = jx_user_frame(eqn->stack);

    jx_utf8_show(jx_eqn_name(eqn), to);
    if (!frame)
        return;
    jx_buffer_puts(to, " at ");
    jx_utf8_show(frame->file->path, to);
    jx_buffer_printf(to, ":%d", frame->line);
}

/* Steps of one name at one line are one. */
static bool same_step(const jx_eqn *a, const jx_eqn *b)
{
    const jx_frame *x = jx_user_frame(a->stack), *y = jx_user_frame(b->stack);

    return a->prim == b->prim &&
           (x == y || (x && y && x->file == y->file && x->line == y->line));
}

/* "it gets to output 0 by mul at a.py:4, reduce_sum at a.py:5". */
static void put_path(const jx_witness *w, jx_buffer *to)
{
    int shown = 0;

    if (w->out == JX_OUT_OF_LOOP)
        jx_buffer_puts(to, "; a loop ends by what comes of it");
    else
        jx_buffer_printf(to, "; it gets to output %d", w->out);
    for (int i = 1; i < w->npath; i++) { /* the first is the equation itself */
        if (same_step(w->path[i], w->path[i - 1]))
            continue;
        if (shown == SHOWN_STEPS && i + 1 < w->npath) {
            jx_buffer_puts(to, ", ...");
            i = w->npath - 1;
        }
        jx_buffer_puts(to, shown++ ? ", " : " by ");
        put_step(w->path[i], to);
    }
}

static const char *note_of(jx_program *program, const jx_witness *w)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    if (element_of(w) && element_of(w)->count)
        put_element(element_of(w), &text);
    else if (w->misuse.rows > 1)
        jx_buffer_printf(&text, "in row %lld of %lld of indices (%lld outside)",
                         (long long)w->misuse.row, (long long)w->misuse.rows,
                         (long long)w->misuse.outside);
    else
        jx_buffer_puts(&text, "in this run");
    if (is_backward(equation_of(w)))
        jx_buffer_puts(&text, ", in the backward pass of this line");
    if (w->made.eqn)
        put_path(w, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

/* -- for programs ---------------------------------------------------------- */

static void put_number(const jx_element *element, jx_buffer *to)
{
    jx_buffer_putc(to, '"');
    jx_element_print(element->dtype, element->bits, to);
    jx_buffer_putc(to, '"');
}

static void put_steps(const jx_witness *w, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_printf(to, ",\"output\":%d,\"path\":[",
                     w->out == JX_OUT_OF_LOOP ? -1 : w->out);
    for (int i = 0; i < w->npath; i++) {
        jx_buffer_clear(&text);
        put_step(w->path[i], &text);
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_text(to, jx_buffer_text(&text));
    }
    jx_buffer_putc(to, ']');
    jx_buffer_free(&text);
}

static const char *witness_of(jx_program *program, const jx_witness *w)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    const jx_unfinite *u = element_of(w);

    jx_buffer_printf(&text, "{\"of\":\"run\",\"backward\":%s",
                     is_backward(equation_of(w)) ? "true" : "false");
    if (w->misuse.eqn)
        jx_buffer_printf(
            &text,
            ",\"axis\":%d,\"outside\":%lld,\"last\":%lld,\"row\":%lld,\"count\":%lld",
            w->misuse.axis, (long long)w->misuse.index,
            (long long)w->misuse.most, (long long)w->misuse.row,
            (long long)(w->misuse.rows ? w->misuse.outside : 1));
    if (u && u->count) {
        jx_buffer_puts(&text, ",\"index\":[");
        put_indices(u->rank, u->index, &text);
        jx_buffer_printf(&text,
                         "],\"count\":%lld,\"value\":", (long long)u->count);
        put_number(&u->value, &text);
        jx_buffer_puts(&text, ",\"operands\":[");
        for (int i = 0; i < u->noperands; i++) {
            jx_buffer_puts(&text, i ? "," : "");
            put_number(&u->operands[i], &text);
        }
        jx_buffer_puts(&text, "]");
    }
    if (w->made.eqn)
        put_steps(w, &text);
    jx_buffer_putc(&text, '}');
    return jx_arena_take(program->ctx->arena, &text);
}

static bool claim(jx_program *program, jx_claim_list *to, const jx_witness *w)
{
    jx_claim *claim = jx_claim_add(program->ctx, to, w->code);

    if (!claim)
        return false;
    claim->eqn = equation_of(w);
    claim->stack = w->stack;
    claim->level = w->level;
    claim->what = jx_value_what(program, w);
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "a run";
    claim->evidence.note = note_of(program, w);
    claim->evidence.witness = witness_of(program, w);
    return jx_ok(program->ctx);
}

bool jx_sanitized_report(jx_ctx *keep, jx_report *to, jx_program *program,
                         const jx_witnesses *found)
{
    jx_claim_list claims = {0};
    jx_program told = *program; /* with memory that is not its own for good */

    told.ctx = keep;
    for (size_t i = 0; found && i < found->found.count; i++)
        if (!claim(&told, &claims, &found->found.at[i]))
            return false;
    return jx_report_claims(keep, to, program, &claims, NULL) &&
           jx_report_finish(keep, to);
}
