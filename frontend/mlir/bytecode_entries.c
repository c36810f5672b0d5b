/* bytecode_entries.c - attributes and types by their numbers: each is decoded
 * when it is first asked for. */
#include "frontend/mlir/bytecode_parts.h"

#include <string.h>

/* An entry's text form, without its NUL. */
static const char *entry_text(jx_bc_reader *r, const jx_bc_entry *e)
{
    if (!e->size || e->at[e->size - 1] || memchr(e->at, 0, e->size - 1)) {
        jx_bc_fail(r, e->at, "its text does not end with the only NUL");
        return NULL;
    }
    return jx_strings_add(&r->ctx->strings, (const char *)e->at, e->size - 1);
}

/* Begins to decode an entry: false if that can't be. */
static bool enter(jx_bc_reader *r, jx_bc_entry *e, const char *kind,
                  size_t index)
{
    r->where = (jx_bc_where){JX_BC_ATTR_TYPE, kind, index,
                             r->dialects[e->dialect].name};
    if (e->state == JX_BC_READING)
        return jx_bc_fail(r, e->at, "holds itself");
    if (r->depth >= JX_BYTECODE_DEPTH)
        return jx_bc_fail(r, e->at, "nests deeper than %d", JX_BYTECODE_DEPTH);
    e->state = JX_BC_READING;
    r->depth++;
    return true;
}

static bool leave(jx_bc_reader *r, jx_bc_entry *e, const jx_bc_cursor *c,
                  const void *value)
{
    r->depth--;
    if (!jx_bc_ok(r))
        return false;
    if (c->at != c->end)
        return jx_bc_fail(r, c->at, "%zu bytes follow its end",
                          (size_t)(c->end - c->at));
    e->state = JX_BC_READ;
    e->value = value;
    return value != NULL;
}

const jx_mlir_attr *jx_bc_attr_at(jx_bc_reader *r, size_t index)
{
    jx_bc_entry *e = &r->attrs[index];
    jx_bc_where outer = r->where;
    jx_bc_cursor c = {e->at, e->at + e->size};
    const jx_mlir_attr *attr = NULL;

    if (e->state == JX_BC_READ)
        return e->value;
    if (!enter(r, e, "attribute", index))
        return NULL;
    if (e->custom) {
        attr = r->read_attr(r, &c, r->kinds[e->dialect]);
    } else {
        jx_mlir_attr *text = JX_NEW(r->arena, jx_mlir_attr);
        if (text) {
            text->kind = JX_A_OPAQUE;
            text->name = r->dialects[e->dialect].name;
            text->text = entry_text(r, e);
        }
        attr = text;
        c.at = c.end;
    }
    if (!leave(r, e, &c, attr))
        return NULL;
    r->where = outer;
    return attr;
}

const jx_mlir_type *jx_bc_type_at(jx_bc_reader *r, size_t index)
{
    jx_bc_entry *e = &r->types_at[index];
    jx_bc_where outer = r->where;
    jx_bc_cursor c = {e->at, e->at + e->size};
    const jx_mlir_type *type;

    if (e->state == JX_BC_READ)
        return e->value;
    if (!enter(r, e, "type", index))
        return NULL;
    if (e->custom) {
        type = r->read_type(r, &c, r->kinds[e->dialect]);
    } else {
        jx_mlir_type opaque = {
            .kind = JX_T_OPAQUE, .rank = -1, .text = entry_text(r, e)};
        type = opaque.text ? jx_mlir_type_add(r->types, &opaque) : NULL;
        c.at = c.end;
    }
    if (!leave(r, e, &c, type))
        return NULL;
    r->where = outer;
    return type;
}

const jx_mlir_attr *jx_bc_attr(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t index = jx_bc_index(r, c, r->nattrs, "attribute");

    return r->failed ? NULL : jx_bc_attr_at(r, index);
}

const jx_mlir_attr *jx_bc_attr_or_none(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    bool present;
    uint64_t index = jx_bc_flagged(r, c, &present);

    if (r->failed || !present)
        return NULL;
    if (index >= r->nattrs) {
        jx_bc_fail(r, at, "attribute %llu, but there are %zu",
                   (unsigned long long)index, r->nattrs);
        return NULL;
    }
    return jx_bc_attr_at(r, (size_t)index);
}

const jx_mlir_type *jx_bc_type(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t index = jx_bc_index(r, c, r->ntypes, "type");

    return r->failed ? NULL : jx_bc_type_at(r, index);
}

const jx_mlir_type **jx_bc_type_list(jx_bc_reader *r, jx_bc_cursor *c,
                                     size_t *count)
{
    *count = jx_bc_count(r, c, "types");
    const jx_mlir_type **list =
        JX_NEW_ARRAY(r->scratch, *count, const jx_mlir_type *);

    for (size_t i = 0; list && i < *count && !r->failed; i++)
        list[i] = jx_bc_type(r, c);
    return jx_bc_ok(r) ? list : NULL;
}
