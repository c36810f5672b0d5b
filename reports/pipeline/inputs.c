/* inputs.c - see inputs.h. */
#include "reports/pipeline/inputs.h"

#include "frontend/base/file.h"
#include "frontend/base/vec.h"
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/signature.h"
#include "frontend/read/blackbox.h"
#include "runtime/elementwise.h"
#include "runtime/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- sizes ---------------------------------------------------------------- */

/* The variable of that name in the entry's values. */
static const jx_dim_atom *find(const jx_program *program, const char *name,
                               size_t length)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_program_vars(program, &count);

    for (int i = 0; vars && i < count; i++)
        if (strlen(vars[i]->name) == length &&
            memcmp(vars[i]->name, name, length) == 0)
            return vars[i];
    return NULL;
}

static bool unknown(const jx_program *program, const char *word)
{
    jx_buffer names = jx_ctx_text(program->ctx);
    int count = 0;
    const jx_dim_atom *const *vars = jx_program_vars(program, &count);

    for (int i = 0; vars && i < count; i++)
        jx_buffer_printf(&names, "%s%s", i ? ", " : "; there are ",
                         vars[i]->name);
    jx_fail(program->ctx, JX_E_USAGE, NULL, word,
            "no size has a variable of that name%s", jx_buffer_text(&names));
    jx_buffer_free(&names);
    return false;
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
        return unknown(program, word);
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

/* -- shapes --------------------------------------------------------------- */

/* One shape per input; NULL where none is given. */
typedef struct shape_table {
    const jx_program *program;
    int *ranks;
    const int64_t **at;
} shape_table;

/* "args[0]=3,4": which input, and where its shape begins.  -1:
 * a shape alone. */
static int named_input(const jx_program *program, const char *word,
                       const char **shape)
{
    jx_buffer name = jx_ctx_text(program->ctx);
    int found = -1;

    *shape = word;
    for (int i = 0; found < 0 && i < program->entry.jaxpr->nins; i++) {
        jx_buffer_clear(&name);
        jx_input_print(program, i, &name);
        if (!strncmp(word, jx_buffer_text(&name), name.length) &&
            word[name.length] == '=') {
            found = i;
            *shape = word + name.length + 1;
        }
    }
    jx_buffer_free(&name);
    return found;
}

/* The numbers of a shape. */
static bool read_shape(shape_table *s, int input, const char *word,
                       const char *text)
{
    jx_ctx *ctx = s->program->ctx;
    jx_dim_spec_error error;
    jx_dim_shape shape;
    int64_t *sizes;

    if (!jx_dim_spec_read(s->program->dims, text, 0, NULL, &shape, &error))
        return jx_fail(ctx, JX_E_USAGE, NULL, word, "column %zu: expected %s",
                       error.column + (size_t)(text - word), error.expected);
    sizes = JX_NEW_ARRAY(ctx->arena, shape.rank + 1, int64_t);
    for (int i = 0; sizes && i < shape.rank; i++)
        if (!jx_dim_is_int(shape.dims[i], &sizes[i]))
            return jx_fail(ctx, JX_E_USAGE, NULL, word,
                           "expected numbers, as in 3,4");
    s->ranks[input] = shape.rank;
    s->at[input] = sizes;
    return sizes != NULL;
}

static bool add_shape(shape_table *s, const char *word, int *next)
{
    int nins = s->program->entry.jaxpr->nins, input;
    const char *text;

    input = named_input(s->program, word, &text);
    if (input < 0 && strchr(word, '='))
        return jx_fail(s->program->ctx, JX_E_USAGE, NULL, word,
                       "no input has that name; jaxvet info lists them");
    if (input < 0)
        input = (*next)++;
    if (input >= nins)
        return jx_fail(s->program->ctx, JX_E_USAGE, NULL, word,
                       "the program takes %d inputs", nins);
    if (s->at[input])
        return jx_fail(s->program->ctx, JX_E_USAGE, NULL, word,
                       "this input has a shape already");
    return read_shape(s, input, word, text);
}

/* Inputs without a shape have the one that is declared, if that has only
 * numbers. */
static bool complete(shape_table *s)
{
    for (int i = 0; i < s->program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(s->program, i);
        int64_t *sizes =
            JX_NEW_ARRAY(s->program->ctx->arena, aval->rank + 1, int64_t);
        jx_buffer name = jx_ctx_text(s->program->ctx);

        if (s->at[i] || aval->kind != JX_AVAL_ARRAY)
            continue;
        jx_input_print(s->program, i, &name);
        for (int k = 0; sizes && k < aval->rank; k++)
            if (!jx_dim_is_int(aval->shape[k], &sizes[k]))
                jx_fail(s->program->ctx, JX_E_USAGE, NULL,
                        jx_buffer_text(&name),
                        "has symbolic sizes and needs a --shape");
        jx_buffer_free(&name);
        s->ranks[i] = aval->rank;
        s->at[i] = sizes;
    }
    return jx_ok(s->program->ctx);
}

bool jx_inputs_shapes(const jx_program *program, const jx_texts *given,
                      const jx_texts *set, int *nbindings,
                      const jx_binding **bindings)
{
    int nins = program->entry.jaxpr->nins, next = 0, nfixed;
    shape_table s = {
        program, JX_NEW_ARRAY(program->ctx->arena, nins + 1, int),
        JX_NEW_ARRAY(program->ctx->arena, nins + 1, const int64_t *)};
    const jx_binding *fixed;

    if (!s.ranks || !s.at || !jx_inputs_sizes(program, set, &nfixed, &fixed))
        return false;
    for (int i = 0; i < given->count; i++)
        if (!add_shape(&s, given->at[i], &next))
            return false;
    return complete(&s) && jx_plan_solve(program, s.ranks, s.at, nfixed, fixed,
                                         nbindings, bindings);
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
    jx_buffer text = jx_ctx_text(program->ctx);

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

/* The value that an input gives a size; it must be one, and the one that was
 * set. */
static bool value_of(const jx_program *program, const char *path,
                     const jx_valued *v, const jx_npy *array, int nset,
                     const jx_binding *set, int64_t *value)
{
    const jx_aval *aval = jx_input_aval(program, v->input);
    size_t item = jx_dtype_of(aval->dtype)->bytes;
    int64_t count = 1;

    for (int i = 0; i < array->rank; i++)
        count *= array->shape[i];
    if (v->element >= count)
        return jx_fail(program->ctx, JX_E_INPUT, path, array->name,
                       "has %lld elements, element %d is the size `%s`",
                       (long long)count, v->element, v->var->name);
    jx_convert(aval->dtype, JX_I64,
               (const char *)array->data + (size_t)v->element * item, value, 1);
    if (*value < program->base)
        return jx_fail(program->ctx, JX_E_INPUT, path, array->name,
                       "is the size `%s`, expected at least %lld, got %lld",
                       v->var->name, (long long)program->base,
                       (long long)*value);
    for (int i = 0; i < nset; i++)
        if (set[i].var == v->var && set[i].value != *value)
            return jx_fail(program->ctx, JX_E_INPUT, path, array->name,
                           "is the size `%s`, set to %lld, and is %lld",
                           v->var->name, (long long)set[i].value,
                           (long long)*value);
    return true;
}

static bool is_bound(int count, const jx_binding *bindings,
                     const jx_dim_atom *var)
{
    for (int i = 0; i < count; i++)
        if (bindings[i].var == var)
            return true;
    return false;
}

/* The sizes that were set, and those that are values of inputs. */
static bool fixed_sizes(const jx_program *program, const char *path,
                        const jx_npy *const *arrays, const jx_texts *set,
                        int *nfixed, const jx_binding **fixed)
{
    jx_binding *all;
    int count;

    if (!jx_inputs_sizes(program, set, &count, fixed) ||
        !(all = JX_NEW_ARRAY(program->ctx->arena, count + program->nvalued + 1,
                             jx_binding)))
        return false;
    for (int i = 0; i < count; i++)
        all[i] = (*fixed)[i];
    for (int i = 0; i < program->nvalued; i++) {
        const jx_valued *v = &program->valued[i];
        int64_t value;
        if (!value_of(program, path, v, arrays[v->input], count, all, &value))
            return false;
        if (!is_bound(count, all, v->var))
            all[count++] = (jx_binding){v->var, value};
    }
    *nfixed = count;
    *fixed = all;
    return true;
}

/* Solves for the sizes from the shapes of the arrays. */
static bool solve(const jx_program *program, const char *path,
                  const jx_npy *const *arrays, const jx_texts *set,
                  int *nbindings, const jx_binding **bindings)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_arena *arena = program->ctx->arena;
    int *ranks = JX_NEW_ARRAY(arena, entry->nins + 1, int), nfixed;
    const int64_t **shapes =
        JX_NEW_ARRAY(arena, entry->nins + 1, const int64_t *);
    const jx_binding *fixed;

    if (!ranks || !shapes ||
        !fixed_sizes(program, path, arrays, set, &nfixed, &fixed))
        return false;
    for (int i = 0; i < entry->nins; i++) {
        ranks[i] = entry->vars[entry->nconsts + i]->aval->rank;
        shapes[i] = arrays[i]->shape;
    }
    return jx_plan_solve(program, ranks, shapes, nfixed, fixed, nbindings,
                         bindings);
}

static bool read_npz(const jx_program *program, const char *path,
                     const jx_npz **npz)
{
    size_t size;
    const char *bytes = jx_file_read(program->ctx, path, &size);

    *npz = bytes ? jx_npz_read(program->ctx, path, bytes, size) : NULL;
    return *npz != NULL;
}

/* Why an input is not among the arrays. */
static bool missing(const jx_program *program, const char *path, int input,
                    const char *name)
{
    int nins = program->entry.jaxpr->nins;
    const jx_blackbox *box = program->blackbox;

    if (box && path == program->path && box->lost[input])
        return jx_fail(program->ctx, JX_E_INPUT, path, name, "was not kept: %s",
                       box->lost[input]);
    return jx_fail(program->ctx, JX_E_INPUT, path, name,
                   "is not there; the program takes %d inputs, in0 to in%d",
                   nins, nins - 1);
}

/* The arrays of a file as the program's inputs. */
static bool take_arrays(const jx_program *program, const char *path,
                        const jx_npz *file, const jx_texts *set, int *nbindings,
                        const jx_binding **bindings, const void *const **inputs)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_arena *arena = program->ctx->arena;
    const jx_npy **arrays =
        JX_NEW_ARRAY(arena, entry->nins + 1, const jx_npy *);
    const void **data = JX_NEW_ARRAY(arena, entry->nins + 1, const void *);
    char name[32];

    if (!arrays || !data)
        return false;
    for (int i = 0; i < entry->nins; i++) {
        snprintf(name, sizeof name, "in%d", i);
        arrays[i] = jx_npz_find(file, name);
        if (!arrays[i])
            return missing(program, path, i, name);
        if (!fits_aval(program, path, arrays[i],
                       entry->vars[entry->nconsts + i]->aval))
            return false;
        data[i] = arrays[i]->data;
    }
    *inputs = data;
    return solve(program, path, arrays, set, nbindings, bindings);
}

bool jx_inputs_npz(const jx_program *program, const char *path,
                   const jx_texts *set, int *nbindings,
                   const jx_binding **bindings, const void *const **inputs,
                   const jx_npz **npz)
{
    const jx_npz *file;

    if (!read_npz(program, path, &file) ||
        !take_arrays(program, path, file, set, nbindings, bindings, inputs))
        return false;
    if (npz)
        *npz = file;
    return true;
}

bool jx_inputs_kept(const jx_program *program, const jx_texts *set,
                    int *nbindings, const jx_binding **bindings,
                    const void *const **inputs)
{
    return take_arrays(program, program->path, program->blackbox->arrays, set,
                       nbindings, bindings, inputs);
}
