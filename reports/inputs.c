/* inputs.c - see inputs.h. */
#include "reports/inputs.h"

#include "frontend/base/file.h"
#include "frontend/base/vec.h"
#include "runtime/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- sizes ---------------------------------------------------------------- */

static const jx_dim_atom *variable(const jx_program *program, const jx_dim *dim,
                                   const char *name, size_t length)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(program->dims, dim, &count);

    for (int i = 0; i < count; i++)
        if (strlen(vars[i]->name) == length &&
            memcmp(vars[i]->name, name, length) == 0)
            return vars[i];
    return NULL;
}

/* The variable of that name in the entry's inputs. */
static const jx_dim_atom *find(const jx_program *program, const char *name,
                               size_t length)
{
    const jx_jaxpr *entry = program->entry.jaxpr;

    for (int i = 0; i < entry->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++) {
            const jx_dim_atom *var =
                variable(program, aval->shape[k], name, length);
            if (var)
                return var;
        }
    }
    return NULL;
}

static bool add_size(const jx_program *program, const char *word,
                     jx_binding *to)
{
    const char *equals = strchr(word, '=');
    char *end;

    if (!equals || equals == word || !equals[1])
        return jx_fail(program->ctx, JX_E_USAGE, NULL, word,
                       "expected NAME=SIZE, as in b=3");
    to->var = find(program, word, (size_t)(equals - word));
    if (!to->var)
        return jx_fail(program->ctx, JX_E_USAGE, NULL, word,
                       "no input's shape has a variable of that name");
    errno = 0;
    to->value = strtoll(equals + 1, &end, 10);
    if (*end || errno || to->value < program->base)
        return jx_fail(program->ctx, JX_E_USAGE, NULL, word,
                       "a size is a number from %lld on",
                       (long long)program->base);
    return true;
}

bool jx_inputs_sizes(const jx_program *program, const jx_texts *set,
                     int *nbindings, const jx_binding **bindings)
{
    int count = set ? set->count : 0;
    jx_binding *all = JX_NEW_ARRAY(program->ctx->arena, count + 1, jx_binding);

    *nbindings = 0;
    *bindings = all;
    for (int i = 0; all && i < count; i++) {
        if (!add_size(program, set->at[i], &all[i]))
            return false;
        for (int k = 0; k < i; k++)
            if (all[k].var == all[i].var)
                return jx_fail(program->ctx, JX_E_USAGE, NULL, set->at[i],
                               "this variable has a size already");
        *nbindings = i + 1;
    }
    return all != NULL;
}

/* -- arrays --------------------------------------------------------------- */

const char *jx_inputs_descr(jx_dtype dtype)
{
    switch (dtype) {
    case JX_BOOL:
    case JX_FLOAT0: return "|b1";
    case JX_I8: return "|i1";
    case JX_I16: return "<i2";
    case JX_I32: return "<i4";
    case JX_I64: return "<i8";
    case JX_U16:
    case JX_BF16: return "<u2";
    case JX_U32:
    case JX_KEY: return "<u4";
    case JX_U64: return "<u8";
    case JX_F16: return "<f2";
    case JX_F32: return "<f4";
    case JX_F64: return "<f8";
    case JX_C64: return "<c8";
    case JX_C128: return "<c16";
    default: /* 8 bits and less */ return "|u1";
    }
}

static bool fits_aval(const jx_program *program, const char *path,
                      const jx_npy *array, const jx_aval *aval)
{
    bool key = aval->dtype == JX_KEY;
    const char *descr = jx_inputs_descr(aval->dtype);
    jx_buffer text = {0};

    jx_aval_print(aval, &text);
    if (strcmp(array->descr, descr) != 0)
        jx_fail(program->ctx, JX_E_INPUT, path, array->name,
                "has dtype %s, the program's input is %s (dtype %s)",
                array->descr, jx_buffer_text(&text), descr);
    else if (array->rank != aval->rank + key)
        jx_fail(program->ctx, JX_E_INPUT, path, array->name,
                "has %d axes, the program's input is %s%s", array->rank,
                jx_buffer_text(&text),
                key ? " (as u32 data with a trailing axis)" : "");
    jx_buffer_free(&text);
    return program->ctx->error.kind == JX_E_NONE;
}

/* Solves for the sizes from the shapes of the arrays. */
static bool solve(const jx_program *program, const jx_npy *const *arrays,
                  const jx_texts *set, int *nbindings,
                  const jx_binding **bindings)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_arena *arena = program->ctx->arena;
    int *ranks = JX_NEW_ARRAY(arena, entry->nins + 1, int), nfixed;
    const int64_t **shapes =
        JX_NEW_ARRAY(arena, entry->nins + 1, const int64_t *);
    const jx_binding *fixed;

    if (!ranks || !shapes || !jx_inputs_sizes(program, set, &nfixed, &fixed))
        return false;
    for (int i = 0; i < entry->nins; i++) {
        ranks[i] = entry->vars[entry->nconsts + i]->aval->rank;
        shapes[i] = arrays[i]->shape;
    }
    return jx_plan_solve(program, &program->entry, ranks, shapes, nfixed, fixed,
                         nbindings, bindings);
}

static bool read_npz(const jx_program *program, const char *path,
                     const jx_npz **npz)
{
    size_t size;
    const char *bytes = jx_file_read(program->ctx, path, &size);

    *npz = bytes ? jx_npz_read(program->ctx, path, bytes, size) : NULL;
    return *npz != NULL;
}

bool jx_inputs_npz(const jx_program *program, const char *path,
                   const jx_texts *set, int *nbindings,
                   const jx_binding **bindings, const void *const **inputs,
                   const jx_npz **npz)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_arena *arena = program->ctx->arena;
    const jx_npy **arrays =
        JX_NEW_ARRAY(arena, entry->nins + 1, const jx_npy *);
    const void **data = JX_NEW_ARRAY(arena, entry->nins + 1, const void *);
    const jx_npz *file;
    char name[32];

    if (!arrays || !data || !read_npz(program, path, &file))
        return false;
    for (int i = 0; i < entry->nins; i++) {
        snprintf(name, sizeof name, "in%d", i);
        arrays[i] = jx_npz_find(file, name);
        if (!arrays[i])
            return jx_fail(program->ctx, JX_E_INPUT, path, name,
                           "is not there; the program takes %d inputs, "
                           "in0 to in%d",
                           entry->nins, entry->nins - 1);
        if (!fits_aval(program, path, arrays[i],
                       entry->vars[entry->nconsts + i]->aval))
            return false;
        data[i] = arrays[i]->data;
    }
    *inputs = data;
    if (npz)
        *npz = file;
    return solve(program, arrays, set, nbindings, bindings);
}
