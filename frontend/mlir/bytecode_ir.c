/* bytecode_ir.c - the IR section: ops, regions, blocks and values.
 *
 * Values have numbers.  A region reserves as many as it declares on top of the
 * ones in use; its block arguments and results take them in order, and it gives
 * them back at its end.  Regions that use nothing from outside are isolated:
 * they stand in a section of their own, and count from 0. */
#include "frontend/mlir/bytecode_parts.h"

#include <string.h>

/* What a region has while it is read. */
typedef struct scope {
    size_t next, end; /* indices into the stack of values */
    jx_mlir_block *blocks;
    size_t nblocks;
} scope;

/* ---- values */

static bool reserve(jx_bc_reader *r, const uint8_t *at, size_t count)
{
    size_t wanted;

    if (__builtin_add_overflow(r->nvalues, count, &wanted) || wanted > r->size)
        return jx_bc_fail(r, at, "%zu values in a file of %zu bytes", count,
                          r->size);
    if (wanted > r->value_capacity) {
        size_t capacity = wanted * 2;
        jx_mlir_value **to =
            JX_NEW_ARRAY(r->scratch, capacity, jx_mlir_value *);
        if (!to)
            return jx_bc_ok(r);
        if (r->nvalues)
            memcpy(to, r->values, r->nvalues * sizeof *to);
        r->values = to;
        r->value_capacity = capacity;
    }
    if (count)
        memset(r->values + r->nvalues, 0, count * sizeof *r->values);
    r->nvalues = wanted;
    return jx_bc_ok(r);
}

/* The value with the next number, which a use may have met before. */
static jx_mlir_value *define(jx_bc_reader *r, const uint8_t *at, scope *in)
{
    if (!in || in->next >= in->end) {
        jx_bc_fail(r, at, "more values than its region declares");
        return NULL;
    }
    jx_mlir_value **slot = &r->values[in->next++];
    if (!*slot)
        *slot = JX_NEW(r->arena, jx_mlir_value);
    return jx_bc_ok(r) ? *slot : NULL;
}

static const jx_mlir_value *use(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t i = jx_bc_index(r, c, r->nvalues - r->scope, "value");

    if (r->failed)
        return NULL;
    jx_mlir_value **slot = &r->values[r->scope + i];
    if (!*slot)
        *slot = JX_NEW(r->arena, jx_mlir_value);
    return *slot;
}

/* ---- attributes of ops */

static const jx_mlir_attr *op_location(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    const jx_mlir_attr *loc = jx_bc_attr(r, c);

    if (loc && !jx_mlir_is_location(loc))
        jx_bc_fail(r, at, "a location is expected");
    return loc;
}

static bool split(jx_bc_reader *r, jx_bc_split *to, const jx_mlir_attr *dict,
                  const char *inherent)
{
    jx_mlir_named *list = JX_NEW_ARRAY(r->arena, dict->count, jx_mlir_named);
    int n = 0;

    for (int pass = 0; list && pass < 2; pass++) {
        for (int i = 0; i < dict->count; i++)
            if (jx_mlir_has_name(inherent, dict->names[i], NULL) == !pass)
                list[n++] = (jx_mlir_named){dict->names[i], dict->items[i]};
        if (!pass)
            to->ninherent = n;
    }
    to->nattrs = n - to->ninherent;
    to->named = list;
    to->inherent = inherent;
    return jx_bc_ok(r);
}

/* The dictionary of an op: before version 5 inherent attributes stand in it,
 * too, then and now the ones that anybody may add. */
static bool read_dictionary(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op,
                            const char *inherent)
{
    const uint8_t *at = c->at;
    size_t index = jx_bc_index(r, c, r->nattrs, "attribute");
    const jx_mlir_attr *dict = r->failed ? NULL : jx_bc_attr_at(r, index);

    if (!dict)
        return false;
    if (dict->kind != JX_A_DICT || dict->vhlo)
        return jx_bc_fail(r, at, "a dictionary is expected");
    jx_bc_split *s = &r->splits[index];
    if ((!s->inherent || strcmp(s->inherent, inherent) != 0) &&
        !split(r, s, dict, inherent))
        return false;
    if (s->ninherent) {
        op->inherent = s->named;
        op->ninherent = s->ninherent;
    }
    op->attrs = s->named + s->ninherent;
    op->nattrs = s->nattrs;
    return true;
}

static bool decode_properties(jx_bc_reader *r, jx_bc_props *p,
                              const char *names)
{
    jx_bc_cursor c = {p->at, p->at + p->size};
    jx_mlir_named *list =
        JX_NEW_ARRAY(r->arena, jx_mlir_count_names(names), jx_mlir_named);
    const char *at = names, *name;
    size_t length;
    char mark;

    if (!jx_bc_ok(r))
        return false;
    p->count = 0;
    while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
        const jx_mlir_attr *value =
            mark ? jx_bc_attr_or_none(r, &c) : jx_bc_attr(r, &c);
        if (r->failed)
            return false;
        if (value)
            list[p->count++] = (jx_mlir_named){
                jx_strings_add(&r->ctx->strings, name, length), value};
    }
    if (c.at != c.end)
        return jx_bc_fail(r, c.at, "%zu bytes follow the last attribute",
                          (size_t)(c.end - c.at));
    p->names = names;
    p->named = list;
    return jx_bc_ok(r);
}

static bool read_op_properties(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op,
                               const jx_bc_op_name *name)
{
    const uint8_t *at = c->at;
    size_t index = jx_bc_index(r, c, r->nprops, "properties");
    jx_bc_where outer = r->where;

    if (r->failed)
        return false;
    if (!name->registered || !name->attrs)
        return jx_bc_fail(r, at,
                          "what the properties of this op are is not known");
    jx_bc_props *p = &r->props[index];
    if (!p->names || strcmp(p->names, name->attrs) != 0) {
        r->where = (jx_bc_where){JX_BC_PROPERTIES, "entry", index, op->name};
        if (!decode_properties(r, p, name->attrs))
            return false;
        r->where = outer;
    }
    op->inherent = p->named;
    op->ninherent = p->count;
    return true;
}

/* ---- orders of uses */

/* Steps over it and keeps its bytes for the writer. */
static bool read_uses(jx_bc_reader *r, jx_bc_cursor *c, const void *owner,
                      size_t nvalues)
{
    const uint8_t *at = c->at;
    size_t entries = nvalues == 1 ? 1 : jx_bc_count(r, c, "orders of uses");
    bool pairs;

    for (size_t i = 0; i < entries && !r->failed; i++) {
        if (nvalues != 1)
            jx_bc_index(r, c, nvalues, "value");
        const uint8_t *from = c->at;
        uint64_t count = jx_bc_flagged(r, c, &pairs);
        if (count > (uint64_t)(c->end - c->at))
            return jx_bc_fail(r, from, "%llu uses, but only %zu bytes are left",
                              (unsigned long long)count,
                              (size_t)(c->end - c->at));
        for (uint64_t k = 0; k < count && !r->failed; k++)
            jx_bc_varint(r, c);
    }
    JX_PUSH(r->arena, &r->uses,
            (jx_bytecode_uses){owner, at, (size_t)(c->at - at)});
    return jx_bc_ok(r);
}

/* ---- ops */

static bool read_region(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_region *to);

static bool read_results(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op,
                         scope *in)
{
    size_t count = jx_bc_count(r, c, "results");
    const jx_mlir_value **outs =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_value *);

    if (!outs)
        return jx_bc_ok(r);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = c->at;
        const jx_mlir_type *type = jx_bc_type(r, c);
        jx_mlir_value *v = type ? define(r, at, in) : NULL;
        if (!v)
            return false;
        v->type = type;
        v->op = op;
        v->index = (int)i;
        outs[i] = v;
    }
    op->outs = outs;
    op->nouts = (int)count;
    return true;
}

static bool read_operands(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op)
{
    size_t count = jx_bc_count(r, c, "operands");
    const jx_mlir_value **ins =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_value *);

    for (size_t i = 0; ins && i < count && !r->failed; i++)
        ins[i] = use(r, c);
    op->ins = ins;
    op->nins = (int)count;
    return jx_bc_ok(r);
}

static bool read_successors(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op,
                            const scope *in)
{
    size_t count = jx_bc_count(r, c, "successors");
    const jx_mlir_block **list =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_block *);

    for (size_t i = 0; list && i < count && !r->failed; i++) {
        const uint8_t *at = c->at;
        size_t index = jx_bc_index(r, c, in ? in->nblocks : 0, "block");

        if (!r->failed && !index)
            return jx_bc_fail(r, at,
                              "no op can go to the first block of its region");
        list[i] = r->failed ? NULL : in->blocks + index;
    }
    op->successors = list;
    op->nsuccessors = (int)count;
    return jx_bc_ok(r);
}

static bool read_each_region(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op,
                             size_t count)
{
    jx_mlir_region *regions = JX_NEW_ARRAY(r->arena, count, jx_mlir_region);

    for (size_t i = 0; regions && i < count; i++)
        if (!read_region(r, c, &regions[i]))
            return false;
    op->regions = regions;
    op->nregions = (int)count;
    return jx_bc_ok(r);
}

static bool read_regions(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_op *op)
{
    const uint8_t *at = c->at;
    bool isolated;
    uint64_t count = jx_bc_flagged(r, c, &isolated);
    size_t outer = r->scope;
    jx_bc_cursor inner;

    if (count > (uint64_t)(c->end - c->at) || count > INT32_MAX)
        return jx_bc_fail(r, at, "%llu regions, but only %zu bytes are left",
                          (unsigned long long)count, (size_t)(c->end - c->at));
    if (r->nesting >= JX_BYTECODE_NESTING)
        return jx_bc_fail(r, at, "regions nest deeper than %d",
                          JX_BYTECODE_NESTING);
    if (!count || r->failed)
        return !r->failed;
    r->nesting++;
    /* A function uses nothing from outside: whoever says otherwise went by
     * the definitions of ops and not by uses. */
    if (!isolated && strcmp(op->name, "vhlo.func_v1") == 0)
        r->extra->few_isolated = true;
    if (isolated)
        r->scope = r->nvalues;
    if (isolated && r->version >= JX_BC_HAS_ISOLATED_SECTIONS) {
        at = c->at;
        if (jx_bc_section(r, c, &inner) != JX_BC_IR)
            return jx_bc_fail(r, at, "an IR section is expected");
        if (!read_each_region(r, &inner, op, (size_t)count))
            return false;
        if (inner.at != inner.end)
            return jx_bc_fail(r, inner.at, "%zu bytes follow the regions",
                              (size_t)(inner.end - inner.at));
    } else if (!read_each_region(r, c, op, (size_t)count)) {
        return false;
    }
    r->scope = outer;
    r->nesting--;
    return true;
}

static const jx_mlir_op *read_op(jx_bc_reader *r, jx_bc_cursor *c, scope *in)
{
    jx_mlir_op *op = JX_NEW(r->arena, jx_mlir_op);
    const uint8_t *at = c->at;
    size_t index = jx_bc_index(r, c, r->nopnames, "op name");
    jx_bc_where outer = r->where;

    if (!op || r->failed)
        return NULL;
    const jx_bc_op_name *name = &r->opnames[index];
    op->id = name->id;
    op->name = name->name;
    op->place.offset = r->base + (size_t)(at - r->bytes);
    r->where =
        (jx_bc_where){JX_BC_IR, "op at byte", op->place.offset, op->name};
    uint8_t mask = jx_bc_byte(r, c);
    if (!r->failed && mask & 0x80)
        jx_bc_fail(r, c->at - 1, "parts %#x are not known", mask);
    op->loc = op_location(r, c);
    if (r->failed ||
        (mask & JX_BC_OP_ATTRS &&
         !read_dictionary(r, c, op,
                          r->version < JX_BC_HAS_PROPERTIES && name->attrs
                              ? name->attrs
                              : "")) ||
        (mask & JX_BC_OP_PROPERTIES && !read_op_properties(r, c, op, name)) ||
        (mask & JX_BC_OP_RESULTS && !read_results(r, c, op, in)) ||
        (mask & JX_BC_OP_OPERANDS && !read_operands(r, c, op)) ||
        (mask & JX_BC_OP_SUCCESSORS && !read_successors(r, c, op, in)) ||
        (mask & JX_BC_OP_USE_LISTS && r->version >= JX_BC_HAS_USE_LISTS &&
         !read_uses(r, c, op, (size_t)op->nouts)) ||
        (mask & JX_BC_OP_REGIONS && !read_regions(r, c, op)))
        return NULL;
    r->where = outer;
    return op;
}

/* ---- blocks and regions */

static bool read_argument(jx_bc_reader *r, jx_bc_cursor *c,
                          jx_mlir_block *block, int index, scope *in,
                          const jx_mlir_value **to)
{
    const uint8_t *at = c->at;
    bool located = true;
    const jx_mlir_type *type;

    if (r->version >= JX_BC_ELIDES_LOCATIONS) {
        uint64_t t = jx_bc_flagged(r, c, &located);
        if (!r->failed && t >= r->ntypes)
            return jx_bc_fail(r, at, "type %llu, but there are %zu",
                              (unsigned long long)t, r->ntypes);
        type = r->failed ? NULL : jx_bc_type_at(r, (size_t)t);
    } else {
        type = jx_bc_type(r, c);
    }
    const jx_mlir_attr *loc = located ? op_location(r, c) : NULL;
    jx_mlir_value *v = r->failed ? NULL : define(r, at, in);
    if (!v)
        return false;
    v->type = type;
    v->block = block;
    v->index = index;
    v->loc = loc;
    *to = v;
    return true;
}

static bool read_arguments(jx_bc_reader *r, jx_bc_cursor *c,
                           jx_mlir_block *block, scope *in)
{
    size_t count = jx_bc_count(r, c, "arguments");
    const jx_mlir_value **args =
        JX_NEW_ARRAY(r->arena, count, const jx_mlir_value *);

    for (size_t i = 0; args && i < count; i++)
        if (!read_argument(r, c, block, (int)i, in, &args[i]))
            return false;
    block->args = args;
    block->nargs = (int)count;
    if (r->version >= JX_BC_HAS_USE_LISTS && jx_bc_byte(r, c) &&
        !read_uses(r, c, block, count))
        return false;
    return jx_bc_ok(r);
}

static bool read_block(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_block *block,
                       scope *in)
{
    const uint8_t *at = c->at;
    bool has_args;
    uint64_t count = jx_bc_flagged(r, c, &has_args);

    /* An op takes its name, its mask and its location. */
    if (count > (uint64_t)(c->end - c->at) / 3 || count > INT32_MAX)
        return jx_bc_fail(r, at, "%llu ops, but only %zu bytes are left",
                          (unsigned long long)count, (size_t)(c->end - c->at));
    if (has_args && !read_arguments(r, c, block, in))
        return false;
    const jx_mlir_op **ops = JX_NEW_ARRAY(r->arena, count, const jx_mlir_op *);
    if (!jx_bc_ok(r))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        ops[i] = read_op(r, c, in);
        if (!ops[i] || !jx_bc_ok(r))
            return false;
    }
    block->ops = ops;
    block->nops = (int)count;
    return true;
}

static bool read_region(jx_bc_reader *r, jx_bc_cursor *c, jx_mlir_region *to)
{
    scope in = {.nblocks = jx_bc_count(r, c, "blocks")};
    size_t outer = r->nvalues;
    const uint8_t *at = c->at;

    if (r->failed || !in.nblocks)
        return !r->failed;
    size_t nvalues = jx_bc_count(r, c, "values");
    if (r->failed || !reserve(r, at, nvalues))
        return false;
    in.next = outer;
    in.end = r->nvalues;
    in.blocks = JX_NEW_ARRAY(r->arena, in.nblocks, jx_mlir_block);
    const jx_mlir_block **blocks =
        JX_NEW_ARRAY(r->arena, in.nblocks, const jx_mlir_block *);
    if (!jx_bc_ok(r))
        return false;
    for (size_t i = 0; i < in.nblocks; i++) {
        blocks[i] = &in.blocks[i];
        if (!read_block(r, c, &in.blocks[i], &in))
            return false;
    }
    if (in.next != in.end)
        return jx_bc_fail(r, at,
                          "%zu values are declared, but only %zu are defined",
                          nvalues, in.next - outer);
    r->nvalues = outer;
    to->nblocks = (int)in.nblocks;
    to->blocks = blocks;
    return true;
}

bool jx_bc_read_ir(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_IR];
    jx_mlir_block top = {0};

    r->where = (jx_bc_where){JX_BC_IR, NULL, 0, NULL};
    r->splits = JX_NEW_ARRAY(r->scratch, r->nattrs, jx_bc_split);
    if (!jx_bc_ok(r) || !read_block(r, &c, &top, NULL))
        return false;
    if (c.at != c.end)
        return jx_bc_fail(r, c.at, "%zu bytes follow the last op",
                          (size_t)(c.end - c.at));
    if (top.nops != 1 || top.ops[0]->id != JX_OP_builtin_module)
        return jx_bc_fail(r, r->sections[JX_BC_IR].at,
                          "one builtin.module is expected");
    const jx_mlir_op **modules = JX_NEW(r->arena, const jx_mlir_op *);
    if (!modules)
        return jx_bc_ok(r);
    modules[0] = top.ops[0];
    r->file->modules = modules;
    r->file->nmodules = 1;
    return true;
}
