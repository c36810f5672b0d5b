/* bounds_words.c - see bounds_words.h. */
#include "reports/pipeline/bounds_words.h"

#include "frontend/base/utf8.h"
#include "frontend/ir/params.h"

void jx_put_semantics(const bool *holds, bool which, jx_buffer *to)
{
    const char *between = "";

    for (int s = 0; s < JX_NSEMANTICS; s++)
        if (holds[s] == which) {
            jx_buffer_printf(to, "%s%s", between,
                             jx_semantics_name((jx_semantics)s));
            between = ", ";
        }
}

void jx_put_step(const jx_lost *lost, jx_buffer *to)
{
    jx_utf8_show(jx_eqn_name(lost->eqn), to);
    jx_buffer_puts(to, " gives ");
    jx_extent_print(lost->is, to);
    for (int i = 0; i < lost->nof; i++) {
        jx_buffer_puts(to, i ? " and " : " of ");
        jx_extent_print(lost->of[i], to);
    }
}

const char *jx_why_open(jx_ctx *ctx, const jx_extents_question *q)
{
    jx_buffer text = jx_ctx_text(ctx);

    if (q->is.lo > q->is.hi) {
        jx_buffer_printf(&text, "nothing is known of the %s of ",
                         q->what == JX_ASKED_IN_BOUNDS ? "indices"
                                                       : "integers");
        jx_utf8_show(jx_eqn_name(q->eqn), &text);
        return jx_arena_take(ctx->arena, &text);
    }
    jx_buffer_puts(&text, q->what == JX_ASKED_IN_BOUNDS ? "an index of "
                                                        : "an operand of ");
    jx_utf8_show(jx_eqn_name(q->eqn), &text);
    jx_buffer_puts(&text, " lies in ");
    jx_extent_print(q->is, &text);
    jx_buffer_puts(&text, q->what == JX_ASKED_IN_BOUNDS
                              ? ", and may lie in "
                              : ", and its dtype holds ");
    jx_extent_print(q->may, &text);
    return jx_arena_take(ctx->arena, &text);
}
