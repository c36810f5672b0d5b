/* print_state.c - equations that read and write parts of references.
 *
 *     b:f32[4] <- a[1,:]              get
 *     a[c:c+2,:] <- d                 swap, whose result nobody uses
 *     e:f32[4], a[1,:] <- a[1,:], d   swap
 *     a{reshape([4, 3])}[0,:] += d    addupdate
 *
 * Strides are not shown. */
#include "frontend/ir/params.h"
#include "frontend/ir/print_parts.h"

#include <string.h>

static void put_dim(jx_printer *p, const jx_dim *dim)
{
    jx_buffer text = {0};

    jx_dim_print(dim, &text);
    jx_print_buffer(p, &text);
}

static void put_index(jx_printer *p, jx_atom atom)
{
    jx_buffer text = {0};

    if (atom.var) {
        jx_print_atom(p, atom);
        return;
    }
    jx_literal_print(atom.literal, &text);
    jx_print_buffer(p, &text);
}

/* A number that an operand is, as the start of a slice. */
static const jx_dim *number_of(jx_printer *p, jx_atom atom)
{
    const jx_literal *l = atom.literal;
    int32_t value = 0;

    if (!l || l->dim || l->array || l->aval->dtype != JX_I32)
        return NULL;
    memcpy(&value, l->bits, sizeof value);
    return jx_dim_int(p->program->dims, value);
}

static void put_open_slice(jx_printer *p, const jx_axis_index *axis,
                           jx_atom start, jx_atom size)
{
    const jx_dim *first = number_of(p, start);

    if (!start.var)
        jx_print_text(p, "Literal(");
    put_index(p, start);
    jx_print_text(p, start.var ? ":" : "):");
    if (first && axis->size) {
        put_dim(p, jx_dim_add(p->program->dims, first, axis->size));
        return;
    }
    put_index(p, start);
    jx_print_text(p, "+");
    if (axis->size)
        put_dim(p, axis->size);
    else
        put_index(p, size);
}

static void put_slice(jx_printer *p, const jx_axis_index *axis, jx_atom size,
                      const jx_dim *of)
{
    bool whole = false;
    int64_t start;

    if (!jx_dim_is_int(axis->start, &start) || start != 0)
        put_dim(p, axis->start);
    jx_print_text(p, ":");
    if (!axis->size) {
        put_index(p, size);
        return;
    }
    const jx_dim *end = jx_dim_add(p->program->dims, axis->start, axis->size);
    whole = end == of;
    if (end && !whole)
        put_dim(p, end);
}

static void put_indexer(jx_printer *p, const jx_ref_step *step,
                        const jx_atom **operands)
{
    static const jx_atom none = {NULL, NULL};

    jx_print_text(p, "[");
    for (int i = 0; i < step->rank; i++) {
        const jx_axis_index *axis = &step->axes[i];
        if (i)
            jx_print_text(p, ",");
        if (!axis->slice) {
            put_index(p, *(*operands)++);
            continue;
        }
        jx_atom start = axis->start ? none : *(*operands)++;
        jx_atom size = axis->size ? none : *(*operands)++;
        if (axis->start)
            put_slice(p, axis, size, step->shape.at[i]);
        else
            put_open_slice(p, axis, start, size);
    }
    jx_print_text(p, "]");
}

static void put_step(jx_printer *p, const jx_ref_step *step)
{
    jx_buffer text = {0};

    jx_buffer_putc(&text, '{');
    if (step->kind == JX_STEP_BITCAST)
        jx_buffer_printf(&text, "bitcast(%s)", jx_dtype_of(step->dtype)->name);
    else
        jx_buffer_puts(&text, step->kind == JX_STEP_RESHAPE ? "reshape(["
                                                            : "transpose([");
    for (int i = 0; i < step->shape.count; i++) {
        jx_buffer_puts(&text, i ? ", " : "");
        jx_dim_print(step->shape.at[i], &text);
    }
    for (int i = 0; i < step->order.count; i++)
        jx_buffer_printf(&text, "%s%lld", i ? ", " : "",
                         (long long)step->order.at[i]);
    jx_buffer_puts(&text, step->kind == JX_STEP_BITCAST ? "}" : "])}");
    jx_print_buffer(p, &text);
}

static void put_part(jx_printer *p, const jx_eqn *eqn)
{
    const jx_ref_path *path = &((const jx_p_ref_path *)eqn->typed)->tree;
    const jx_atom *operands = eqn->ins + jx_ref_path_at(eqn->prim);

    jx_print_atom(p, eqn->ins[0]);
    if (!path->count)
        jx_print_text(p, "[...]");
    for (int i = 0; i < path->count; i++)
        if (path->steps[i].kind == JX_STEP_INDEX)
            put_indexer(p, &path->steps[i], &operands);
        else
            put_step(p, &path->steps[i]);
}

bool jx_print_is_access(const jx_eqn *eqn)
{
    return eqn->typed && jx_ref_path_at(eqn->prim) &&
           ((const jx_p_ref_path *)eqn->typed)->tree.operands >= 0;
}

void jx_print_access(jx_printer *p, const jx_eqn *eqn)
{
    const char *name;
    bool used;

    switch (eqn->prim->id) {
    case JX_PRIM_get:
        jx_print_binders(p, eqn);
        jx_print_text(p, " <- ");
        put_part(p, eqn);
        return;
    case JX_PRIM_swap:
        name = jx_map_get(&p->names, eqn->outs[0]);
        used = !name || strcmp(name, "_") != 0;
        if (used) {
            jx_print_binders(p, eqn);
            jx_print_text(p, ", ");
        }
        put_part(p, eqn);
        jx_print_text(p, " <- ");
        if (used) {
            put_part(p, eqn);
            jx_print_text(p, ", ");
        }
        break;
    default: put_part(p, eqn); jx_print_text(p, " += ");
    }
    jx_print_atom(p, eqn->ins[1]);
}
