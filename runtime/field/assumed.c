/* assumed.c - see assumed.h. */
#include "runtime/field/assumed.h"

const char *jx_assumed(jx_ctx *ctx, size_t count, const jx_assumption *all,
                       const char *named)
{
    jx_buffer text = jx_ctx_text(ctx);

    for (size_t i = 0; i <= count; i++) {
        const char *one = i == count     ? named
                          : all[i].there ? all[i].text
                                         : NULL;
        if (one)
            jx_buffer_printf(&text, "%s%s", text.length ? "; " : "", one);
    }
    return jx_buffer_text(&text)[0] ? jx_arena_take(ctx->arena, &text) : NULL;
}
