/* signature.c - see signature.h. */
#include "frontend/ir/signature.h"

#include "frontend/base/utf8.h"
#include "frontend/base/vec.h"
#include "frontend/ir/dim_spec.h"

#include <stdlib.h>
#include <string.h>

const jx_aval *jx_input_aval(const jx_program *program, int input)
{
    const jx_jaxpr *entry = program->entry.jaxpr;

    return entry->vars[entry->nconsts + input]->aval;
}

/* Paths are those of a call's positional arguments, `[0]['w']`, followed by
 * those of its keyword arguments, `['x']`. */
void jx_input_print(const jx_program *program, int input, jx_buffer *to)
{
    const char *path = program->in_paths ? program->in_paths[input] : NULL;

    if (!path || path[0] != '[')
        jx_utf8_printf(to, "args[%d]%s", input, path ? path : "");
    else if (path[1] >= '0' && path[1] <= '9')
        jx_utf8_printf(to, "args%s", path);
    else
        jx_utf8_printf(to, "kwargs%s", path);
}

void jx_input_axis_print(const jx_program *program, int input, int axis,
                         jx_buffer *to)
{
    jx_input_print(program, input, to);
    jx_buffer_printf(to, ".shape[%d]", axis);
}

void jx_input_spec_print(const jx_program *program, int input, jx_buffer *to)
{
    jx_input_print(program, input, to);
    jx_buffer_puts(to, ".shape = ");
    const jx_aval *aval = jx_input_aval(program, input);
    jx_dim_shape_print(&(jx_dim_shape){aval->rank, aval->shape}, to);
}

enum { SHOWN = 6 }; /* inputs of a signature that are spelled out */

static const char *argument_name(const jx_jaxpr *entry, int input)
{
    const char *name = entry->arg_names ? entry->arg_names[input] : NULL;

    return name && *name ? name : NULL;
}

static void put_argument(const jx_jaxpr *entry, int input, jx_buffer *to)
{
    const char *name = argument_name(entry, input);

    if (name)
        jx_utf8_show(name, to);
    else
        jx_buffer_printf(to, "x%d", input);
}

/* Leaves of one argument are named `x['a']`, `x['b']`: it is `x`. */
static void put_parameters(const jx_jaxpr *entry, int shown, jx_buffer *to)
{
    jx_buffer last = {.budget = to->budget}, name = {.budget = to->budget};

    for (int i = 0; i < shown; i++) {
        jx_buffer_clear(&name);
        put_argument(entry, i, &name);
        size_t n = strcspn(jx_buffer_text(&name), "[.");
        if (i && last.length == n &&
            !memcmp(jx_buffer_text(&last), jx_buffer_text(&name), n))
            continue;
        jx_buffer_puts(to, ", ");
        jx_buffer_bytes(to, jx_buffer_text(&name), n);
        jx_buffer_clear(&last);
        jx_buffer_bytes(&last, jx_buffer_text(&name), n);
    }
    jx_buffer_free(&last);
    jx_buffer_free(&name);
}

void jx_signature_with(const jx_program *program, int nvars,
                       const jx_dim_atom *const *vars, jx_buffer *to)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    int shown = entry->nins <= SHOWN ? entry->nins : 0;
    bool named = program->name && *program->name && *program->name != '<';

    jx_utf8_printf(to, "def %s(dimensions", named ? program->name : "f");
    put_parameters(entry, shown, to);
    jx_buffer_puts(to, shown < entry->nins ? ", ...):" : "):");
    jx_buffer_puts(to, "  # dimensions: i32[0");
    for (int i = 0; i < nvars; i++)
        jx_buffer_printf(to, ",%s", vars[i]->name);
    jx_buffer_putc(to, ']');
    for (int i = 0; i < shown; i++) {
        jx_buffer_puts(to, ", ");
        put_argument(entry, i, to);
        jx_buffer_puts(to, ": ");
        jx_aval_print(jx_input_aval(program, i), to);
    }
}

static int by_name(const void *a_, const void *b_)
{
    const jx_dim_atom *a = *(const jx_dim_atom *const *)a_;
    const jx_dim_atom *b = *(const jx_dim_atom *const *)b_;
    int c = strcmp(a->name, b->name);

    return c ? c : (a->scope > b->scope) - (a->scope < b->scope);
}

/* The variables of the entry's values from `first` to before `end`. */
static const jx_dim_atom *const *vars_of(const jx_program *program, int first,
                                         int end, int *count)
{
    JX_VEC(const jx_dim_atom *) found = {0};
    size_t kept = 0;

    *count = 0;
    for (int i = first; i < end; i++) {
        const jx_aval *aval = program->entry.jaxpr->vars[i]->aval;
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++) {
            int n = 0;
            const jx_dim_atom *const *vars =
                jx_dim_vars(program->dims, aval->shape[k], &n);
            for (int v = 0; vars && v < n; v++)
                JX_PUSH(program->ctx->arena, &found, vars[v]);
        }
    }
    for (int i = 0; i < program->nvalued; i++)
        JX_PUSH(program->ctx->arena, &found, program->valued[i].var);
    if (!jx_ok(program->ctx))
        return NULL;
    if (!found.count) /* no NULL where nothing failed */
        return JX_NEW_ARRAY(program->ctx->arena, 1, const jx_dim_atom *);
    qsort(found.at, found.count, sizeof *found.at, by_name);
    for (size_t i = 0; i < found.count; i++)
        if (!kept || found.at[kept - 1] != found.at[i])
            found.at[kept++] = found.at[i];
    *count = (int)kept;
    return found.at;
}

const jx_dim_atom *const *jx_input_vars(const jx_program *program, int *count)
{
    const jx_jaxpr *entry = program->entry.jaxpr;

    return vars_of(program, entry->nconsts, entry->nconsts + entry->nins,
                   count);
}

const jx_dim_atom *const *jx_program_vars(const jx_program *program, int *count)
{
    return vars_of(program, 0, program->entry.jaxpr->nvars, count);
}

bool jx_program_has_vars(const jx_program *program, const jx_dim *dim,
                         const char **missing)
{
    int count = 0, n = 0;
    const jx_dim_atom *const *known = jx_program_vars(program, &count);
    const jx_dim_atom *const *vars = jx_dim_vars(program->dims, dim, &n);

    for (int i = 0; known && vars && i < n; i++) {
        int k = 0;
        while (k < count && known[k] != vars[i])
            k++;
        if (k == count) {
            *missing = vars[i]->name;
            return false;
        }
    }
    return known && vars;
}
