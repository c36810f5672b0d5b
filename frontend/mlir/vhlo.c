/* vhlo.c - see vhlo.h: the walk over ops, regions and values. */
#include "frontend/base/plain.h"
#include "frontend/mlir/vhlo_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int jx_vhlo_newest[3] = {JX_VHLO_CURRENT >> 20,
                               JX_VHLO_CURRENT >> 10 & 1023,
                               JX_VHLO_CURRENT & 1023};
const int jx_vhlo_usual[3] = {1, 15, 0};

/* ---- names and attributes of ops */

/* "gather" of "vhlo.gather_v2"; in the other direction of "stablehlo.gather"
 * and "func.call".  False for ops of other dialects. */
static bool base_name(const char *name, bool vhlo, char base[64])
{
    size_t length;

    if (vhlo && strncmp(name, "vhlo.", 5) == 0)
        name += 5;
    else if (!vhlo && strncmp(name, "stablehlo.", 10) == 0)
        name += 10;
    else if (!vhlo && (strcmp(name, "func.func") == 0 ||
                       strcmp(name, "func.call") == 0 ||
                       strcmp(name, "func.return") == 0))
        name += 5;
    else
        return false;
    length = strlen(name);
    if (vhlo) {
        while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
            length--;
        if (length >= 2 && memcmp(name + length - 2, "_v", 2) == 0)
            length -= 2;
    }
    if (!length || length > 63)
        return false;
    memcpy(base, name, length);
    base[length] = '\0';
    return true;
}

/* ---- values */

/* The type of what `owner`, an op, defines or has its blocks define: what
 * belongs to other dialects stays as it is on the way to VHLO. */
static const jx_mlir_type *type_in(jx_vhlo *v, const jx_mlir_type *type,
                                   const jx_mlir_op *owner)
{
    char base[64];

    return v->mode == JX_VHLO_DOWN && owner &&
                   !base_name(owner->name, false, base)
               ? type
               : jx_vhlo_type(v, type);
}

/* What stands for a value of `owner`; made where a use comes before the
 * definition. */
static jx_mlir_value *value_of(jx_vhlo *v, const jx_mlir_value *from,
                               const jx_mlir_op *owner)
{
    jx_mlir_value *to = (jx_mlir_value *)(uintptr_t)jx_map_get(&v->known, from);

    if (to)
        return to;
    to = JX_NEW(v->arena, jx_mlir_value);
    if (!to)
        return NULL;
    to->type = type_in(v, from->type, owner);
    return to->type && jx_map_put(&v->known, from, to) ? to : NULL;
}

static const jx_mlir_attr *location(jx_vhlo *v, const jx_mlir_attr *loc)
{
    return v->mode == JX_VHLO_STRIP ? v->unknown : loc;
}

/* Results of `op`, or arguments of `block`, which is one of `owner`. */
static bool define_all(jx_vhlo *v, const jx_mlir_value *const *from, int count,
                       const jx_mlir_op *owner, const jx_mlir_op *op,
                       const jx_mlir_block *block,
                       const jx_mlir_value *const **all)
{
    const jx_mlir_value **list =
        JX_NEW_ARRAY(v->arena, count, const jx_mlir_value *);

    for (int i = 0; list && i < count; i++) {
        jx_mlir_value *to = value_of(v, from[i], owner);
        const jx_mlir_type *type = to ? to->type : NULL;
        if (!to)
            return false;
        *to = *from[i];
        to->type = type;
        to->op = op;
        to->block = block;
        to->loc = from[i]->loc ? location(v, from[i]->loc) : NULL;
        list[i] = to;
    }
    *all = list;
    return list != NULL;
}

/* ---- casts between dialects */

/* A value that an op of the other level uses is cast behind its definition, as
 * the serializer of StableHLO does it; the highest rank comes first. */
typedef struct cast {
    const jx_mlir_op *op;
    size_t rank;
} cast;

static const jx_mlir_value *cast_to(jx_vhlo *v, const jx_mlir_value *from,
                                    const jx_mlir_value *to,
                                    const jx_mlir_type *type,
                                    const jx_mlir_op *user)
{
    const cast *known = jx_map_get(&v->casts, to);
    cast *one = JX_NEW(v->scratch, cast);
    jx_mlir_op *op = JX_NEW(v->arena, jx_mlir_op);
    jx_mlir_value *value = JX_NEW(v->arena, jx_mlir_value);
    const jx_mlir_value **ends =
        JX_NEW_ARRAY(v->arena, 2, const jx_mlir_value *);

    if (known)
        return known->op->outs[0];
    if (!one || !op || !value || !ends)
        return NULL;
    ends[0] = to;
    ends[1] = value;
    value->type = type;
    value->op = op;
    op->id = JX_OP_builtin_unrealized_conversion_cast;
    op->name = jx_intern_text(v->ctx, "builtin.unrealized_conversion_cast");
    op->nins = op->nouts = 1;
    op->ins = ends;
    op->outs = ends + 1;
    op->place = v->op->place;
    /* Those from VHLO are where the values are, in reverse order; those to it
     * are where they are used first, in the reverse order of that. */
    op->loc = !to->type->vhlo ? user->loc
              : from->op      ? from->op->loc
              : from->loc     ? from->loc
                              : v->unknown;
    *one = (cast){op, to->type->vhlo ? (size_t)from->index : v->casts.count};
    return jx_map_put(&v->casts, to, one) ? value : NULL;
}

/* What stands for a value where `user` uses it. */
static const jx_mlir_value *operand(jx_vhlo *v, const jx_mlir_value *from,
                                    const jx_mlir_op *user)
{
    const jx_mlir_value *to = value_of(v, from, from->op);
    const jx_mlir_type *type;

    if (!to || v->mode != JX_VHLO_DOWN)
        return to;
    type = type_in(v, from->type, user);
    return !type || type == to->type ? (type ? to : NULL)
                                     : cast_to(v, from, to, type, user);
}

typedef JX_VEC(const jx_mlir_op *) op_list;

static int by_rank(const void *a, const void *b)
{
    const cast *const *x = a, *const *y = b;

    return (*x)->rank < (*y)->rank ? 1 : -1;
}

static void put_casts(jx_vhlo *v, const jx_mlir_value *const *values, int count,
                      op_list *to)
{
    JX_VEC(const cast *) list = {0};

    for (int i = 0; i < count; i++) {
        const cast *one = jx_map_get(&v->casts, values[i]);
        if (one)
            JX_PUSH(v->scratch, &list, one);
    }
    if (list.count > 1)
        qsort(list.at, list.count, sizeof *list.at, by_rank);
    for (size_t i = 0; i < list.count; i++)
        JX_PUSH(v->arena, to, list.at[i]->op);
}

/* Puts the casts of what a block defines where they belong. */
static bool place_casts(jx_vhlo *v, jx_mlir_block *block)
{
    op_list ops = {0};

    if (!v->casts.count)
        return true;
    put_casts(v, block->args, block->nargs, &ops);
    for (int i = 0; i < block->nops; i++) {
        JX_PUSH(v->arena, &ops, block->ops[i]);
        put_casts(v, block->ops[i]->outs, block->ops[i]->nouts, &ops);
    }
    block->ops = ops.at;
    block->nops = (int)ops.count;
    return !jx_arena_failed(v->arena) && !jx_arena_failed(v->scratch);
}

static bool is_function(const jx_mlir_op *op)
{
    return op &&
           (strcmp(op->name, "vhlo.func_v1") == 0 || op->id == JX_OP_func_func);
}

static const char *name_up(jx_vhlo *v, const char *base,
                           const jx_mlir_op *parent)
{
    char name[80];
    bool func = strcmp(base, "func") == 0 || strcmp(base, "call") == 0 ||
                (strcmp(base, "return") == 0 && is_function(parent));

    snprintf(name, sizeof name, "%s.%s", func ? "func" : "stablehlo", base);
    return jx_intern_text(v->ctx, name);
}

/* The version of the op that the target has. */
static const jx_vhlo_op_info *row_for(jx_vhlo *v, const char *base)
{
    char name[80];
    const jx_vhlo_op_info *row, *oldest = NULL;

    for (int i = 1; i < 10; i++) {
        snprintf(name, sizeof name, "%s_v%d", base, i);
        row = jx_vhlo_op_info_find(name);
        if (!row)
            break;
        if (row->first <= v->target && v->target <= row->last)
            return row;
        oldest = oldest ? oldest : row;
    }
    if (!oldest || jx_vhlo_since(v, oldest->first, "this op"))
        jx_vhlo_fail(v, "VHLO has no such op");
    return NULL;
}

/* ---- ops */

static bool discardable(jx_vhlo *v, const jx_mlir_op *from, jx_mlir_op *to)
{
    jx_mlir_named *list;

    if (!from->nattrs)
        return true;
    to->attrs = jx_map_get(&v->dict_map, from->attrs);
    if (to->attrs)
        return true;
    list = JX_NEW_ARRAY(v->arena, from->nattrs, jx_mlir_named);
    for (int i = 0; list && i < from->nattrs; i++) {
        list[i].name = from->attrs[i].name;
        list[i].value = jx_vhlo_attr(v, from->attrs[i].value);
        if (!list[i].value)
            return false;
    }
    to->attrs = list;
    return list && jx_map_put(&v->dict_map, from->attrs, list);
}

/* Ops often share their properties or have none: what one has become serves
 * the others of the same name.  Ops of different names may share them, too. */
typedef struct kept {
    const struct kept *next; /* of another name */
    jx_op_id id;
    const char *from, *name;
    const jx_vhlo_op_info *row;
    int ninherent;
    const jx_mlir_named *inherent;
} kept;

static bool convert_known(jx_vhlo *v, const jx_mlir_op *from, jx_mlir_op *to,
                          const char *base, const jx_mlir_op *parent,
                          const jx_vhlo_op_info **row)
{
    const void *key = from->ninherent ? (const void *)from->inherent
                                      : (const void *)from->name;
    bool shared = strcmp(base, "return") != 0; /* which goes by the parent */
    const kept *first = shared ? jx_map_get(&v->known, key) : NULL;
    const kept *old = first;
    jx_vhlo_attrs set = {0};
    char name[80];

    while (old && old->from != from->name)
        old = old->next;
    if (old) {
        to->id = old->id;
        to->name = old->name;
        to->inherent = old->inherent;
        to->ninherent = old->ninherent;
        *row = old->row;
        return true;
    }
    if (v->mode == JX_VHLO_UP) {
        if (!jx_vhlo_op_info_find(from->name + 5))
            return jx_vhlo_fail(v, "VHLO " JX_VHLO_RANGE " has no such op");
        if (!jx_vhlo_inherent_up(v, from, base, &set))
            return false;
        to->name = name_up(v, base, parent);
        to->id = to->name ? jx_mlir_op_id(to->name) : JX_OP_unknown;
    } else {
        if (v->mode == JX_VHLO_DOWN &&
            !jx_vhlo_inherent_down(v, from, base, &set))
            return false;
        for (int i = 0; v->mode == JX_VHLO_VERSION && i < from->ninherent; i++)
            JX_PUSH(v->arena, &set, from->inherent[i]);
        *row = row_for(v, base);
        if (!*row || !jx_vhlo_inherent_fit(v, base, *row, &set))
            return false;
        snprintf(name, sizeof name, "vhlo.%s", (*row)->name);
        to->id = JX_OP_unknown;
        to->name = jx_intern_text(v->ctx, name);
    }
    to->inherent = set.at;
    to->ninherent = (int)set.count;
    if (!shared)
        return to->name != NULL;
    kept *keep = JX_NEW(v->scratch, kept);
    if (!keep)
        return false;
    *keep = (kept){first, to->id,        from->name,  to->name,
                   *row,  to->ninherent, to->inherent};
    return jx_map_put(&v->known, key, keep);
}

static bool convert_region(jx_vhlo *v, const jx_mlir_region *from,
                           jx_mlir_region *to, const jx_mlir_op *parent);

static bool convert_parts(jx_vhlo *v, const jx_mlir_op *from, jx_mlir_op *to)
{
    const jx_mlir_value **ins =
        JX_NEW_ARRAY(v->arena, from->nins, const jx_mlir_value *);
    jx_mlir_region *regions = NULL;
    const jx_mlir_block **next = NULL;

    /* Nearly all ops have neither. */
    if (from->nregions)
        regions = JX_NEW_ARRAY(v->arena, from->nregions, jx_mlir_region);
    if (from->nsuccessors)
        next = JX_NEW_ARRAY(v->arena, from->nsuccessors, const jx_mlir_block *);
    if (!ins || jx_arena_failed(v->arena))
        return false;
    for (int i = 0; i < from->nins; i++) {
        ins[i] = operand(v, from->ins[i], from);
        if (!ins[i])
            return false;
    }
    for (int i = 0; i < from->nsuccessors; i++)
        next[i] = jx_map_get(&v->known, from->successors[i]);
    to->ins = ins;
    to->regions = regions;
    to->successors = next;
    if (!define_all(v, from->outs, from->nouts, from, to, NULL, &to->outs))
        return false;
    for (int i = 0; i < from->nregions; i++)
        if (!convert_region(v, &from->regions[i], &regions[i], from))
            return false;
    return true;
}

static const jx_mlir_op *convert_op(jx_vhlo *v, const jx_mlir_op *from,
                                    const jx_mlir_op *parent)
{
    jx_mlir_op *to = jx_arena_copy(v->arena, from, sizeof *from);
    const jx_mlir_op *outer = v->op;
    const jx_vhlo_op_info *row = NULL;
    char base[64];
    bool known = v->mode != JX_VHLO_STRIP &&
                 base_name(from->name, v->mode != JX_VHLO_DOWN, base);

    if (!to)
        return NULL;
    v->op = from;
    to->loc = location(v, from->loc);
    if (known && (!convert_known(v, from, to, base, parent, &row) ||
                  !discardable(v, from, to)))
        return NULL;
    if (!convert_parts(v, from, to))
        return NULL;
    v->op = from;
    if (row && !jx_vhlo_op_legal(v, to, row))
        return NULL;
    v->op = outer;
    return to;
}

/* A cast between the dialects: once both are StableHLO's it does nothing. */
static bool drop_cast(jx_vhlo *v, const jx_mlir_op *op)
{
    if (v->mode != JX_VHLO_UP ||
        op->id != JX_OP_builtin_unrealized_conversion_cast || op->nins != 1 ||
        op->nouts != 1 || jx_map_get(&v->known, op->outs[0]) ||
        jx_vhlo_type(v, op->outs[0]->type) != jx_vhlo_type(v, op->ins[0]->type))
        return false;
    jx_mlir_value *value = value_of(v, op->ins[0], op->ins[0]->op);
    return value && jx_map_put(&v->known, op->outs[0], value);
}

static bool convert_block(jx_vhlo *v, const jx_mlir_block *from,
                          jx_mlir_block *to, const jx_mlir_op *parent)
{
    const jx_mlir_op **ops =
        JX_NEW_ARRAY(v->arena, from->nops, const jx_mlir_op *);
    int count = 0;

    if (!ops)
        return false;
    for (int i = 0; i < from->nops; i++) {
        if (drop_cast(v, from->ops[i]))
            continue;
        ops[count] = convert_op(v, from->ops[i], parent);
        if (!ops[count++])
            return false;
    }
    to->ops = ops;
    to->nops = count;
    return true;
}

static bool convert_region(jx_vhlo *v, const jx_mlir_region *from,
                           jx_mlir_region *to, const jx_mlir_op *parent)
{
    size_t n = (size_t)from->nblocks;
    jx_mlir_block *blocks = JX_NEW_ARRAY(v->arena, n, jx_mlir_block);
    const jx_mlir_block **list =
        JX_NEW_ARRAY(v->arena, n, const jx_mlir_block *);

    if (!blocks || !list)
        return false;
    if (++v->depth > JX_BYTECODE_DEPTH)
        return jx_vhlo_fail(v, "regions nest deeper than %d",
                            JX_BYTECODE_DEPTH);
    for (size_t i = 0; i < n; i++) {
        const jx_mlir_block *one = from->blocks[i];
        list[i] = &blocks[i];
        blocks[i].nargs = one->nargs;
        if (!jx_map_put(&v->known, one, &blocks[i]) ||
            !define_all(v, one->args, one->nargs, parent, NULL, &blocks[i],
                        &blocks[i].args))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!convert_block(v, from->blocks[i], &blocks[i], parent))
            return false;
    for (size_t i = 0; i < n; i++)
        if (!place_casts(v, &blocks[i]))
            return false;
    v->depth--;
    to->nblocks = from->nblocks;
    to->blocks = list;
    return true;
}

/* ---- files */

static bool set_target(jx_vhlo *v, jx_mlir_file *to, const int version[3])
{
    char producer[64];
    uint32_t wanted = 0;
    bool sane = true;

    for (int i = 0; i < 3; i++) {
        sane &= version[i] >= 0 && version[i] < 1024;
        v->version[i] = to->version[i] = version[i];
    }
    if (sane)
        wanted = JX_VHLO(version[0], version[1], version[2]);
    if (wanted < JX_VHLO_FIRST || wanted > JX_VHLO_CURRENT)
        return jx_vhlo_fail(v, "version %d.%d.%d is not one of " JX_VHLO_RANGE,
                            version[0], version[1], version[2]);
    v->target = JX_VHLO(version[0], version[1], 0);
    snprintf(producer, sizeof producer, "StableHLO_v%d.%d.%d", version[0],
             version[1], version[2]);
    to->producer = jx_intern_text(v->ctx, producer);
    to->bytecode = jx_vhlo_bytecode(version);
    to->extra = NULL;
    return true;
}

static bool convert_modules(jx_vhlo *v, const jx_mlir_file *file,
                            jx_mlir_file *to)
{
    const jx_mlir_op **modules =
        JX_NEW_ARRAY(v->arena, file->nmodules, const jx_mlir_op *);

    for (int i = 0; modules && i < file->nmodules; i++) {
        modules[i] = convert_op(v, file->modules[i], NULL);
        if (!modules[i])
            return false;
    }
    to->modules = modules;
    return modules != NULL;
}

static jx_mlir_file *convert(jx_ctx *ctx, const jx_mlir_file *file,
                             jx_vhlo_mode mode, const int version[3])
{
    jx_vhlo v = {.ctx = ctx,
                 .arena = ctx->arena,
                 .scratch = jx_arena_new(&ctx->budget),
                 .types = file->types,
                 .path = file->path,
                 .mode = mode};
    jx_mlir_file *to = jx_arena_copy(ctx->arena, file, sizeof *file);
    jx_mlir_attr *unknown = JX_NEW(ctx->arena, jx_mlir_attr);
    bool done = to && unknown && v.scratch;

    jx_vhlo_init_maps(&v);
    if (done) {
        unknown->kind = JX_A_LOC_UNKNOWN;
        v.unknown = unknown;
        done = (!version || set_target(&v, to, version)) &&
               convert_modules(&v, file, to);
    }
    jx_arena_free(v.scratch);
    if (!done && jx_ok(ctx))
        jx_starved(ctx);
    return done ? to : NULL;
}

jx_mlir_file *jx_vhlo_to_stablehlo(jx_ctx *ctx, const jx_mlir_file *file)
{
    return convert(ctx, file, JX_VHLO_UP, NULL);
}

jx_mlir_file *jx_vhlo_from_stablehlo(jx_ctx *ctx, const jx_mlir_file *file,
                                     const int version[3])
{
    return convert(ctx, file, JX_VHLO_DOWN, version);
}

jx_mlir_file *jx_vhlo_set_version(jx_ctx *ctx, const jx_mlir_file *file,
                                  const int version[3])
{
    return convert(ctx, file, JX_VHLO_VERSION, version);
}

jx_mlir_file *jx_mlir_strip_locations(jx_ctx *ctx, const jx_mlir_file *file)
{
    return convert(ctx, file, JX_VHLO_STRIP, NULL);
}

int jx_vhlo_bytecode(const int version[3])
{
    static const struct {
        uint32_t until;
        int bytecode;
    } table[] = {{JX_VHLO(0, 10, 0), 0},
                 {JX_VHLO(0, 12, 0), 1},
                 {JX_VHLO(0, 14, 0), 3},
                 {JX_VHLO(0, 15, 0), 4}};
    uint32_t wanted = JX_VHLO(version[0], version[1], version[2]);

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (wanted < table[i].until)
            return table[i].bytecode;
    return 6;
}
