/* asserted.c - see asserted.h. */
#include "frontend/read/asserted.h"

#include "frontend/ir/signature.h"
#include "frontend/read/stablehlo.h"
#include "frontend/read/stablehlo_entry.h"

#include <string.h>

/* -- messages -------------------------------------------------------------- */

/* The number between `{` and what ends it; -1: none, with *end
 * where it ends. */
static int index_at(const char *at, const char **end)
{
    int index = 0, digits = 0;

    for (; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
        index = index * 10 + (*at - '0');
    if (*at == ',' || *at == ':')
        at += strcspn(at, "}");
    *end = at + 1;
    return digits && *at == '}' ? index : -1;
}

void jx_message_print(const char *message, int count, jx_put_shown *put,
                      void *env, jx_buffer *to)
{
    const char *end;

    for (const char *at = message; *at;) {
        int index = *at == '{' ? index_at(at + 1, &end) : -1;
        /* Without operands nothing is replaced. */
        if (count && at[0] == '{' && at[1] == '{') {
            jx_buffer_putc(to, '{');
            at += 2;
        } else if (index >= 0 && index < count) {
            put(env, index, to);
            at = end;
        } else {
            jx_buffer_putc(to, *at++);
        }
    }
}

static void put_shown(void *env, int index, jx_buffer *to)
{
    const jx_size_assertion *a = env;

    if (a->shown[index])
        jx_dim_print(a->shown[index], to);
    else
        jx_buffer_putc(to, '?');
}

static const char *said(jx_ctx *ctx, const jx_size_assertion *a)
{
    jx_buffer text = jx_ctx_text(ctx);

    if (!a->message)
        return "a shape assertion without a message does not hold";
    jx_message_print(a->message, a->nshown, put_shown, (void *)(uintptr_t)a,
                     &text);
    return jx_arena_take(ctx->arena, &text);
}

/* -- at sizes -------------------------------------------------------------- */

/* A key is u32 data to the module, with axes of its own. */
static jx_dim_shape shape_of(jx_hlo_reader *s, const jx_mlir_value *arg,
                             const jx_aval *aval, const int64_t *shape)
{
    jx_dim_shape made = {-1, NULL};
    const jx_dim **dims =
        JX_NEW_ARRAY(s->ctx->arena, arg->type->rank + 1, const jx_dim *);

    if (!dims || !shape || arg->type->kind != JX_T_TENSOR ||
        arg->type->rank < aval->rank)
        return made;
    for (int i = 0; i < arg->type->rank; i++) {
        int64_t size = i < aval->rank ? shape[i] : arg->type->shape[i];
        if (size < 0 || !(dims[i] = jx_dim_int(s->program->dims, size)))
            return made;
    }
    return (jx_dim_shape){arg->type->rank, dims};
}

/* The integers that inputs are known to hold. */
static const jx_given_integer *given(const jx_program *program,
                                     const jx_tree_entry *entry,
                                     const jx_assignment *sizes, int *count)
{
    jx_given_integer *to = JX_NEW_ARRAY(program->ctx->arena,
                                        program->nvalued + 1, jx_given_integer);

    *count = 0;
    for (int i = 0; to && i < program->nvalued; i++) {
        const jx_valued *v = &program->valued[i];
        jx_given_integer *made = &to[*count];
        made->arg = -1;
        for (int k = 0; k < entry->nargs; k++)
            if (entry->inputs[k] == v->input)
                made->arg = k;
        made->element = v->element;
        *count += made->arg >= 0 &&
                  jx_assigned((void *)(uintptr_t)sizes, v->var, &made->value);
    }
    return to;
}

/* The first that fails as the module is read again, into a
 * program of its own. */
static const jx_size_assertion *first_failing(jx_hlo_reader *s,
                                              const jx_program *program,
                                              const int64_t *const *shapes,
                                              const jx_assignment *sizes)
{
    const jx_tree_entry *entry = program->tree_entry;
    const jx_mlir_block *block = jx_mlir_body(entry->func, 0);
    jx_dim_shape *at =
        JX_NEW_ARRAY(s->ctx->arena, entry->nargs + 1, jx_dim_shape);
    int count;
    const jx_given_integer *integers = given(program, entry, sizes, &count);

    if (!block || !at || !integers)
        return NULL;
    s->module = entry->module;
    for (int i = 0; i < entry->nargs; i++) {
        int input = entry->inputs[i];
        at[i] = (jx_dim_shape){-1, NULL};
        if (input >= 0)
            at[i] = shape_of(s, block->args[i], jx_input_aval(program, input),
                             shapes[input]);
    }
    return jx_sz_failing(s, entry->func, at, count, integers);
}

const char *jx_asserted_at(const jx_program *program,
                           const int64_t *const *shapes, int nbindings,
                           const jx_binding *bindings)
{
    const jx_assignment sizes = {nbindings, bindings};
    const jx_size_assertion *failing = NULL;
    jx_error before = program->ctx->error;
    jx_hlo_reader s;

    if (!program->tree_entry)
        return NULL;
    if (jx_hlo_begin_reading(&s, program->tree, program->tree_entry->infer,
                             NULL))
        failing = first_failing(&s, program, shapes, &sizes);
    /* What goes wrong in there is no error of the program's. */
    program->ctx->error = before;
    return failing ? said(program->ctx, failing) : NULL;
}

const char *jx_asserted_for(const jx_program *program, int nbindings,
                            const jx_binding *bindings)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_assignment sizes = {nbindings, bindings};
    const int64_t **shapes;

    if (!program->tree_entry ||
        !(shapes = JX_NEW_ARRAY(program->ctx->arena, entry->nins + 1,
                                const int64_t *)))
        return NULL;
    for (int i = 0; i < entry->nins; i++) {
        const jx_aval *aval = jx_input_aval(program, i);
        int64_t *at =
            JX_NEW_ARRAY(program->ctx->arena, aval->rank + 1, int64_t);
        bool ok = at != NULL;
        for (int k = 0; ok && k < aval->rank; k++)
            ok = jx_dim_eval(aval->shape[k], jx_assigned, &sizes, &at[k]);
        shapes[i] = ok ? at : NULL;
    }
    return jx_asserted_at(program, shapes, nbindings, bindings);
}
