/* culprit.c - see culprit.h. */
#include "reports/commands/culprit.h"

#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "frontend/base/file.h"
#include "frontend/base/utf8.h"
#include "reports/commands/commands.h"
#include "reports/pipeline/inputs.h"
#include "runtime/fits.h"

#include <string.h>

/* An array of the file, of that dtype and shape; NULL: there is none, or
 * (*ok) another. */
static const void *said_of(const jx_culprit_search *s, const jx_npz *npz,
                           const jx_aval *aval, int i, bool *ok)
{
    jx_ctx *ctx = s->typed->program->ctx;
    const char *name = jx_arena_printf(ctx->arena, "out%d", i);
    const jx_npy *found = name ? jx_npz_find(npz, name) : NULL;
    bool same = found && found->rank == aval->rank &&
                !strcmp(found->descr, jx_inputs_descr(aval->dtype));

    for (int k = 0; same && k < aval->rank; k++)
        same = found->shape[k] == jx_dim_value(aval->shape[k]);
    if (found && !same)
        *ok = jx_fail(ctx, JX_E_INPUT, s->path, name,
                      "has another dtype or shape than the result");
    return same ? found->data : NULL;
}

static void put_value(const jx_eqn *eqn, double value, jx_buffer *to)
{
    jx_buffer_printf(
        to, "%.*g", jx_dtype_real(eqn->outs[0]->aval->dtype) == JX_F64 ? 17 : 9,
        value);
}

static void tell(const jx_culprit *c, jx_buffer *to)
{
    const jx_frame *frame = jx_user_frame(c->eqn->stack);

    jx_buffer_printf(to, "out%d: ", c->out);
    jx_utf8_show(jx_eqn_name(c->eqn), to);
    if (frame) {
        jx_buffer_puts(to, " at ");
        jx_utf8_show(frame->file->path, to);
        jx_buffer_printf(to, ":%d:%d", frame->line, frame->column + 1);
    }
    jx_buffer_printf(to, ": element %lld is ", (long long)c->index);
    put_value(c->eqn, c->theirs, to);
    jx_buffer_puts(to, " there, ");
    put_value(c->eqn, c->ours, to);
    jx_buffer_printf(
        to,
        " here, and %.17g in float64, of the same operands; at most %.3g "
        "is its error: %s (%lld element%s)\n",
        c->wide, c->error, c->ours_too ? "both are wrong" : "there it is wrong",
        (long long)c->count, c->count == 1 ? "" : "s");
}

/* Of the program without calls, at the sizes of this run. */
int jx_culprit_tell(const jx_culprit_search *s, jx_buffer *to)
{
    jx_ctx *ctx = s->typed->program->ctx;
    size_t size;
    const char *bytes = jx_file_read(ctx, s->path, &size);
    const jx_npz *npz = bytes ? jx_npz_read(ctx, s->path, bytes, size) : NULL;
    jx_program *program = npz ? jx_program_inline(s->typed->program) : NULL;
    const jx_typed *typed;
    const void **theirs;
    jx_culprit found;
    bool ok = true;

    program =
        program ? jx_program_refine(program, NULL, s->nsizes, s->sizes) : NULL;
    typed = program ? jx_program_fits(program, false, 0, NULL) : NULL;
    theirs = typed ? JX_NEW_ARRAY(ctx->arena, program->entry.jaxpr->nouts + 1,
                                  const void *)
                   : NULL;
    for (int i = 0; ok && theirs && i < program->entry.jaxpr->nouts; i++)
        theirs[i] = said_of(s, npz, jx_atom_aval(program->entry.jaxpr->outs[i]),
                            i, &ok);
    if (!ok || !theirs || !jx_find_culprit(typed, s->ins, theirs, &found))
        return -1;
    if (found.eqn)
        tell(&found, to);
    else
        jx_buffer_printf(
            to,
            "%d values lie within the errors of their equations, %d can't be "
            "computed alone\n",
            found.compared, found.skipped);
    return found.eqn ? JX_EXIT_FINDINGS : JX_EXIT_OK;
}
