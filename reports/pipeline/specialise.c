/* specialise.c - see specialise.h. */
#include "reports/pipeline/specialise.h"

#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
#include "frontend/ir/signature.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/write/stablehlo.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "runtime/plan.h"

#include <string.h>

typedef struct specialiser {
    jx_program *program;
    jx_ctx *ctx;
    jx_assignment sizes;
    const int *version;
    bool strip;
} specialiser;

/* ---- what can be */

static bool refuse(const specialiser *s, const char *what)
{
    return jx_fail(s->ctx, JX_E_INPUT, s->program->path, NULL,
                   "can't be had at sizes: %s", what);
}

static bool is_plain(const specialiser *s)
{
    const jx_exported *x = s->program->exported;

    if (!x)
        return refuse(s, "it is no exported file");
    if (x->devices != 1)
        return refuse(s, "it is for more than one device, and the lowering "
                         "keeps no shardings");
    if (x->ordered_effects.count || x->unordered_effects.count)
        return refuse(s, "it has effects");
    return true;
}

static bool bind(specialiser *s, const jx_texts *set)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_input_vars(s->program, &count);

    if (!vars ||
        !jx_inputs_sizes(s->program, set, &s->sizes.count, &s->sizes.at))
        return false;
    for (int i = 0; i < count; i++) {
        int64_t value;

        if (!jx_assigned(&s->sizes, vars[i], &value))
            return jx_fail(s->ctx, JX_E_USAGE, NULL, NULL,
                           "%s is open: expected every size, --set %s=SIZE",
                           vars[i]->name, vars[i]->name);
    }
    return jx_plan_admit(s->program, s->sizes.count, s->sizes.at);
}

/* ---- the signature */

static const char *size_at(const specialiser *s, const char *text)
{
    const char *expected;
    size_t at;
    int64_t value;
    const jx_dim *dim =
        jx_dim_parse(s->program->dims, text, strlen(text), 0, &at, &expected);

    return dim && jx_dim_eval(dim, jx_assigned, (void *)(uintptr_t)&s->sizes,
                              &value)
               ? jx_arena_printf(s->ctx->arena, "%lld", (long long)value)
               : NULL;
}

static bool put_avals(const specialiser *s, jx_exported_avals *avals)
{
    jx_arena *arena = s->ctx->arena;
    jx_exported_aval *to = jx_arena_copy(
        arena, avals->at, (size_t)avals->count * sizeof *avals->at);

    for (int i = 0; to && i < avals->count; i++) {
        const char **shape = JX_NEW_ARRAY(arena, to[i].rank, const char *);

        for (int k = 0; shape && k < to[i].rank; k++)
            if (!(shape[k] = size_at(s, to[i].shape[k])))
                return refuse(s, "a size has no value there");
        to[i].shape = shape;
    }
    avals->at = to;
    return to && !jx_arena_failed(arena);
}

/* The new module takes every input. */
static bool keep_all(const specialiser *s, jx_exported *to)
{
    uint16_t *kept = JX_NEW_ARRAY(s->ctx->arena, to->nins, uint16_t);

    for (int i = 0; kept && i < to->nins; i++)
        kept[i] = (uint16_t)i;
    if (to->nins > UINT16_MAX)
        return refuse(s, "it has too many inputs");
    to->kept = kept;
    to->nkept = to->nins;
    return kept != NULL;
}

/* ---- the module */

static bool put_module(const specialiser *s, jx_exported *to)
{
    const jx_mlir_file *from = s->program->tree;
    const int *version = s->version                      ? s->version
                         : from && from->version[0] >= 0 ? from->version
                                                         : jx_vhlo_usual;
    jx_program *fixed =
        jx_program_refine(s->program, NULL, s->sizes.count, s->sizes.at);
    const jx_typed *typed = fixed ? jx_typed_of(fixed) : NULL;
    jx_mlir_types *types = jx_mlir_types_new(s->ctx);
    const jx_mlir_op *module;
    const jx_mlir_file *file;
    jx_buffer bytes = jx_ctx_text(s->ctx);

    if (!typed || !types)
        return false;
    module = s->program->exported->platforms.count > 1
                 ? jx_write_stablehlo_platforms(typed, types)
                 : jx_write_stablehlo(typed, types);
    if (!module)
        return false;
    file = jx_vhlo_from_stablehlo(s->ctx,
                                  &(jx_mlir_file){.ctx = s->ctx,
                                                  .types = types,
                                                  .path = s->program->path,
                                                  .nmodules = 1,
                                                  .modules = &module,
                                                  .bytecode = -1,
                                                  .version = {-1, -1, -1}},
                                  version);
    if (file && s->strip)
        file = jx_mlir_strip_locations(s->ctx, file);
    if (!file || !jx_bytecode_write(s->ctx, file, &bytes)) {
        jx_buffer_free(&bytes);
        return false;
    }
    to->module.size = bytes.length;
    to->module.at = (const unsigned char *)jx_arena_take(s->ctx->arena, &bytes);
    return to->module.at != NULL;
}

const jx_exported *jx_exported_at(jx_program *program, const jx_texts *set,
                                  const int *version, bool strip)
{
    specialiser s = {.program = program,
                     .ctx = program->ctx,
                     .version = version,
                     .strip = strip};
    jx_program *vjp;
    jx_exported *to;

    if (!is_plain(&s) || !bind(&s, set))
        return NULL;
    to = jx_arena_copy(s.ctx->arena, program->exported,
                       sizeof *program->exported);
    if (!to || !put_avals(&s, &to->old_in_avals) ||
        !put_avals(&s, &to->old_out_avals) ||
        !put_avals(&s, &to->unique_avals) || !keep_all(&s, to) ||
        !put_module(&s, to))
        return NULL;
    /* .uses_global_constants stays: it has JAX evaluate the assertions. */
    if (!to->vjp)
        return to;
    vjp = jx_input_vjp(program, 1);
    to->vjp = vjp ? jx_exported_at(vjp, set, version, strip) : NULL;
    return to->vjp ? to : NULL;
}
