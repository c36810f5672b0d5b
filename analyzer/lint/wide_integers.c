/* wide_integers.c - 64-bit integers that were asked for where JAX has none:
 * without x64 it computes in 32 bits, with a warning at most.  Told where what
 * comes of such a value can leave 32 bits. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/passage.h"

#include <string.h>

/* The expression names a 64-bit integer as a word of its own. */
static bool names_wide(jx_arena *arena, const jx_frame *frame)
{
    jx_passage in;

    if (!frame || frame->file->kind != JX_FILE_USER ||
        !jx_passage_of(arena, frame, &in))
        return false;
    for (const char *at = in.text + in.span.begin; (at = strstr(at, "int64"));
         at++) {
        char after = at[5];
        if (at + 5 > in.text + in.span.end)
            return false;
        if (!(after >= '0' && after <= '9') && after != '_' &&
            !(after >= 'a' && after <= 'z'))
            return true;
    }
    return false;
}

static bool is_narrow(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY &&
           (aval->dtype == JX_I32 || aval->dtype == JX_U32);
}

static void tell(jx_linter *lint, const jx_flat_node *node,
                 const jx_int_range *r)
{
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    jx_buffer_printf(&text,
                     "64-bit integers are asked for and %s computed "
                     "(jax_enable_x64 is off): ",
                     lint->flat->values.at[node->outs[0]].aval->dtype == JX_I32
                         ? "int32 is"
                         : "uint32 is");
    if (r->least < -((jx_int)1 << 62) || r->most > (jx_int)1 << 62)
        jx_buffer_puts(&text, "what this comes to does not fit");
    else
        jx_buffer_printf(&text, "this comes to %lld up to %lld",
                         (long long)r->least, (long long)r->most);
    claim = jx_lint_suspect(lint, JX_CODE_DTY006, node,
                            jx_arena_take(lint->ctx->arena, &text));
    if (claim)
        claim->help =
            "jax.enable_x64, or declare what the inputs hold (ranges=)";
}

/* What wrapped before 64 bits were asked for is some number of 32 bits, of
 * which more can be made: only of what wrapped since has the first been told. */
bool jx_lint_wide_integers(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    bool *wide = JX_NEW_ARRAY(lint->ctx->arena, flat->values.count + 1, bool);
    bool *left = JX_NEW_ARRAY(lint->ctx->arena, flat->values.count + 1, bool);

    if (lint->program->x64 || lint->program->from_text)
        return true;
    for (size_t n = 0; wide && left && n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        bool asked = false, before = false;
        if (node->nouts != 1 || !is_narrow(flat->values.at[node->outs[0]].aval))
            continue;
        for (int k = 0; k < node->nins; k++) {
            asked = asked || wide[node->ins[k]];
            before = before || left[node->ins[k]];
        }
        asked = asked || names_wide(lint->ctx->arena,
                                    jx_place_frame(node->eqn, node->calls));
        wide[node->outs[0]] = asked;
        left[node->outs[0]] =
            before || (asked && lint->ranges[node->outs[0]].leaves);
        if (left[node->outs[0]] && !before && node->live && !node->elsewhere)
            tell(lint, node, &lint->ranges[node->outs[0]]);
    }
    lint->wide = wide;
    return wide && left && jx_ok(lint->ctx);
}
