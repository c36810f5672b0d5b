/* meshes.c - see meshes.h. */
#include "frontend/read/meshes.h"

#include <string.h>

const jx_mlir_attr *jx_mesh_of_ref(const jx_mlir_op *module,
                                   const jx_mlir_attr *ref)
{
    const jx_mlir_op *op;

    if (!ref || ref->kind != JX_A_SYMBOL || !ref->text)
        return ref;
    op = jx_mlir_symbol(module, ref->text);
    return op ? jx_mlir_get(op, "mesh") : NULL;
}

/* A list, or the record around one. */
static const jx_mlir_attr *list_of(const jx_mlir_attr *attr, const char *field)
{
    if (attr && attr->kind == JX_A_RECORD)
        attr = jx_mlir_field(attr, field);
    return attr && attr->kind == JX_A_ARRAY ? attr : NULL;
}

const jx_mlir_attr *jx_mesh_shardings(const jx_mlir_op *op, const char *name)
{
    return list_of(jx_mlir_get(op, name), "shardings");
}

/* An axis is a name, or a record that has one. */
static const char *name_of(jx_ctx *ctx, const jx_mlir_attr *axis)
{
    if (axis->kind == JX_A_RECORD)
        axis = jx_mlir_field(axis, "name");
    return axis ? jx_mlir_text(ctx, axis) : NULL;
}

static const jx_mlir_attr *find(jx_ctx *ctx, const jx_mlir_attr *axes,
                                const char *name)
{
    for (int i = 0; axes && i < axes->count; i++) {
        const char *other = name_of(ctx, axes->items[i]);
        if (other && strcmp(other, name) == 0)
            return axes->items[i];
    }
    return NULL;
}

static int64_t size_of(const jx_mlir_attr *axis)
{
    const jx_mlir_attr *size =
        axis && axis->kind == JX_A_RECORD ? jx_mlir_field(axis, "size") : NULL;

    return size && size->kind == JX_A_INTEGER && size->integer > 0
               ? size->integer
               : 0;
}

/* The product of the sizes of these axes that are manual; 0: not known, or a
 * part of an axis. */
static int64_t manual_size(jx_ctx *ctx, const jx_mlir_attr *by,
                           const jx_mlir_attr *axes, const jx_mlir_attr *manual)
{
    int64_t size = 1;

    for (int k = 0; k < by->count && size; k++) {
        const jx_mlir_attr *ref = by->items[k];
        const char *name = name_of(ctx, ref);
        if (!name ||
            (ref->kind == JX_A_RECORD && jx_mlir_field(ref, "sub_axis_info")))
            return 0;
        if (find(ctx, manual, name) &&
            __builtin_mul_overflow(size, size_of(find(ctx, axes, name)), &size))
            return 0;
    }
    return size;
}

/* What a manual computation says of operand (or result) `i`. */
typedef struct said {
    const jx_mlir_attr *how, *manual, *axes; /* all but `manual` may be NULL */
} said;

static said said_of(const jx_mlir_op *module, const jx_mlir_op *op,
                    const char *shardings, int i)
{
    const jx_mlir_attr *all = jx_mesh_shardings(op, shardings);
    const jx_mlir_attr *how = all && i < all->count ? all->items[i] : NULL;
    const jx_mlir_attr *mesh =
        how ? jx_mesh_of_ref(module, jx_mlir_field(how, "mesh_or_ref")) : NULL;

    return (said){how, list_of(jx_mlir_get(op, "manual_axes"), "value"),
                  list_of(mesh, "axes")};
}

bool jx_mesh_is_manual(jx_ctx *ctx, const jx_mlir_op *op,
                       const jx_mlir_attr *axis)
{
    const char *name = name_of(ctx, axis);

    return name &&
           find(ctx, list_of(jx_mlir_get(op, "manual_axes"), "value"), name);
}

int64_t jx_mesh_parts(jx_ctx *ctx, const jx_mlir_op *module,
                      const jx_mlir_op *op, const char *shardings, int i,
                      int axis)
{
    said s = said_of(module, op, shardings, i);
    const jx_mlir_attr *dims =
        s.how ? list_of(jx_mlir_field(s.how, "dim_shardings"), "value") : NULL;
    const jx_mlir_attr *by =
        dims && axis < dims->count
            ? list_of(jx_mlir_field(dims->items[axis], "axes"), "value")
            : NULL;

    return by && s.axes ? manual_size(ctx, by, s.axes, s.manual) : 0;
}

int64_t jx_mesh_summands(jx_ctx *ctx, const jx_mlir_op *module,
                         const jx_mlir_op *op, const char *shardings, int i)
{
    said s = said_of(module, op, shardings, i);
    const jx_mlir_attr *by =
        s.how ? list_of(jx_mlir_field(s.how, "unreduced_axes"), "value") : NULL;

    return by && s.axes ? manual_size(ctx, by, s.axes, s.manual) : 1;
}

/* ---- which part a device holds */

/* One axis of a mesh, or a part of it: device `d` of the mesh, counted row by
 * row, is number `d / stride % size` of it. */
typedef struct span {
    int64_t size, stride;
} span;

static int64_t field_of(const jx_mlir_attr *record, const char *name)
{
    const jx_mlir_attr *value = record && record->kind == JX_A_RECORD
                                    ? jx_mlir_field(record, name)
                                    : NULL;

    return value && value->kind == JX_A_INTEGER && value->integer > 0
               ? value->integer
               : 0;
}

static bool span_of(jx_ctx *ctx, const jx_mlir_attr *axes,
                    const jx_mlir_attr *ref, span *to)
{
    const char *name = name_of(ctx, ref);
    const jx_mlir_attr *found = name ? find(ctx, axes, name) : NULL;
    const jx_mlir_attr *part =
        ref->kind == JX_A_RECORD ? jx_mlir_field(ref, "sub_axis_info") : NULL;
    int64_t before, size;

    *to = (span){size_of(found), 1};
    for (int i = axes->count; found && i-- > 0 && axes->items[i] != found;)
        if (!size_of(axes->items[i]) ||
            __builtin_mul_overflow(to->stride, size_of(axes->items[i]),
                                   &to->stride))
            return false;
    if (!part)
        return to->size > 0;
    /* x:(4)2 is the second of three factors 4, 2 and what is left. */
    before = field_of(part, "pre_size");
    size = field_of(part, "size");
    if (!before || !size || to->size % before || to->size / before % size)
        return false;
    to->stride *= to->size / before / size;
    to->size = size;
    return true;
}

/* Which device of the mesh, as it counts them, each is; false: it names others
 * than 0 to n-1, each once. */
static bool order_of(const jx_mlir_attr *mesh, int devices, int *order)
{
    const jx_mlir_attr *ids = jx_mlir_field(mesh, "device_ids");
    int n = ids ? (int)jx_mlir_numbers(ids) : 0;

    for (int i = 0; i < devices; i++)
        order[i] = n ? -1 : i;
    if (n && n != devices)
        return false;
    for (int i = 0; i < n; i++) {
        int64_t id = jx_mlir_number(ids, i);
        if (id < 0 || id >= devices || order[id] >= 0)
            return false;
        order[id] = i;
    }
    return true;
}

/* Cuts one axis by the mesh axes `by`; the last of them changes fastest. */
static bool cut(jx_ctx *ctx, const jx_mlir_attr *axes, const jx_mlir_attr *by,
                const int *order, int axis, jx_placement *to, int64_t *parts,
                int *place)
{
    for (int k = 0; k < by->count; k++) {
        span s;
        if (!span_of(ctx, axes, by->items[k], &s) ||
            __builtin_mul_overflow(parts[axis], s.size, &parts[axis]) ||
            parts[axis] > to->devices)
            return false;
        for (int d = 0; d < to->devices; d++) {
            int *at = &place[d * to->rank + axis];
            *at = (int)(*at * s.size + order[d] / s.stride % s.size);
        }
    }
    return true;
}

/* Parts that make the array when they are added up are its first axis. */
static bool place_all(jx_ctx *ctx, const jx_mlir_attr *mesh,
                      const jx_mlir_attr *dims, const jx_mlir_attr *summed,
                      jx_placement *to)
{
    const jx_mlir_attr *axes = list_of(mesh, "axes");
    size_t cells = (size_t)to->devices * (size_t)to->rank;
    int64_t *parts = JX_NEW_ARRAY(ctx->arena, to->rank + 1, int64_t);
    int *place = jx_arena_array(ctx->arena, cells + 1, sizeof *place);
    int *order = JX_NEW_ARRAY(ctx->arena, to->devices, int);

    if (!axes || !parts || !place || !order ||
        !order_of(mesh, to->devices, order))
        return false;
    for (int i = 0; i < to->rank; i++) {
        const jx_mlir_attr *by =
            to->is_summed && !i
                ? summed
                : list_of(jx_mlir_field(dims->items[i - to->is_summed], "axes"),
                          "value");
        parts[i] = 1;
        if (!by || !cut(ctx, axes, by, order, i, to, parts, place))
            return false;
    }
    to->parts = parts;
    to->place = place;
    return true;
}

/* ---- the partitioner before: "{devices=[2,1,4]<=[4,2]T(1,0)
 * last_tile_dim_replicate}" */

enum { MOST_TILE_AXES = 32 };

typedef struct numbers {
    int count;
    int64_t at[MOST_TILE_AXES];
} numbers;

/* A list in brackets of numbers from 0; false if none stands there. */
static bool read_list(const char **at, char open, char close, numbers *to)
{
    const char *p = *at;

    to->count = 0;
    if (*p++ != open)
        return false;
    for (;; p++) {
        int64_t value = 0;
        if (*p < '0' || *p > '9' || to->count == MOST_TILE_AXES)
            return false;
        for (; *p >= '0' && *p <= '9'; p++)
            if ((value = 10 * value + (*p - '0')) > INT32_MAX)
                return false;
        to->at[to->count++] = value;
        if (*p != ',')
            break;
    }
    *at = p + 1;
    return *p == close;
}

static int64_t product_of(const numbers *n)
{
    int64_t product = 1;

    for (int i = 0; i < n->count; i++)
        if (__builtin_mul_overflow(product, n->at[i], &product))
            return -1;
    return product;
}

static bool is_permutation(const numbers *n, int count)
{
    bool seen[MOST_TILE_AXES] = {false};

    for (int i = 0; i < n->count; i++)
        if (n->at[i] >= count || seen[n->at[i]])
            return false;
        else
            seen[n->at[i]] = true;
    return n->count == count;
}

/* The device of tile `i`: 0 to n-1 in an array of these sizes, its
 * axes permuted. */
static int64_t device_of(const numbers *sizes, const numbers *order, int64_t i)
{
    int64_t strides[MOST_TILE_AXES], stride = 1, device = 0;

    for (int k = sizes->count; k-- > 0; stride *= sizes->at[k])
        strides[k] = stride;
    for (int k = sizes->count; k-- > 0;) {
        int64_t axis = order->count ? order->at[k] : k;
        device += i % sizes->at[axis] * strides[axis];
        i /= sizes->at[axis];
    }
    return device;
}

/* The axes that tiles have beyond the array's are of devices with the same
 * part.  Devices are `listed`, tile by tile, or that is NULL. */
static bool place_tiles(jx_ctx *ctx, const numbers *tiles, const numbers *sizes,
                        const numbers *order, const int64_t *listed,
                        jx_placement *to)
{
    size_t cells = (size_t)to->devices * (size_t)to->rank;
    int64_t *parts = JX_NEW_ARRAY(ctx->arena, to->rank + 1, int64_t);
    int *place = jx_arena_array(ctx->arena, cells + 1, sizeof *place);

    if (!parts || !place || tiles->count < to->rank ||
        product_of(tiles) != to->devices || product_of(sizes) != to->devices ||
        (order->count && !is_permutation(order, sizes->count)))
        return false;
    for (int k = 0; k < to->rank; k++)
        parts[k] = tiles->at[k];
    for (int64_t i = 0; i < to->devices; i++) {
        int64_t device = listed ? listed[i] : device_of(sizes, order, i),
                rest = i;
        for (int k = tiles->count; k-- > 0; rest /= tiles->at[k])
            if (k < to->rank)
                place[device * to->rank + k] = (int)(rest % tiles->at[k]);
    }
    to->parts = parts;
    to->place = place;
    return true;
}

/* `0,2,1,3`: all devices, each once; NULL: it is no such list. */
static const int64_t *read_devices(jx_ctx *ctx, const char **at, int devices)
{
    int64_t *to = JX_NEW_ARRAY(ctx->arena, devices + 1, int64_t);
    bool *seen = JX_NEW_ARRAY(ctx->arena, devices + 1, bool);
    const char *p = *at;

    for (int i = 0; to && seen && i < devices; i++, p += *p == ',') {
        if (*p < '0' || *p > '9')
            return NULL;
        for (; *p >= '0' && *p <= '9' && to[i] < devices; p++)
            to[i] = 10 * to[i] + (*p - '0');
        if (to[i] >= devices || seen[to[i]])
            return NULL;
        seen[to[i]] = true;
    }
    *at = p;
    return seen ? to : NULL;
}

static bool place_text(jx_ctx *ctx, const char *text, jx_placement *to)
{
    static const char before[] = "{devices=";
    numbers tiles = {0}, sizes = {1, {to->devices}}, order = {0};
    const int64_t *listed = NULL;

    if (!strcmp(text, "{replicated}") && to->rank < MOST_TILE_AXES) {
        for (; tiles.count < to->rank; tiles.count++)
            tiles.at[tiles.count] = 1;
        tiles.at[tiles.count++] = to->devices;
        return place_tiles(ctx, &tiles, &sizes, &order, NULL, to);
    }
    if (strncmp(text, before, sizeof before - 1) != 0)
        return false;
    text += sizeof before - 1;
    if (!read_list(&text, '[', ']', &tiles))
        return false;
    if (*text >= '0' && *text <= '9') {
        listed = read_devices(ctx, &text, to->devices);
        if (!listed)
            return false;
    } else if (strncmp(text, "<=[", 3) != 0 ||
               (text += 2, !read_list(&text, '[', ']', &sizes)) ||
               (*text == 'T' &&
                (text++, !read_list(&text, '(', ')', &order)))) {
        return false;
    }
    if (tiles.count != to->rank &&
        strcmp(text, " last_tile_dim_replicate}") != 0 &&
        strcmp(text, " last_tile_dims={replicated}}") != 0)
        return false;
    return place_tiles(ctx, &tiles, &sizes, &order, listed, to);
}

static const jx_mlir_attr *summed_by(const jx_mlir_attr *sharding)
{
    const jx_mlir_attr *by =
        sharding && sharding->kind == JX_A_RECORD
            ? list_of(jx_mlir_field(sharding, "unreduced_axes"), "value")
            : NULL;

    return by && by->count ? by : NULL;
}

bool jx_mesh_is_summed(const jx_mlir_attr *sharding)
{
    return summed_by(sharding);
}

bool jx_mesh_adds_up(const jx_mlir_attr *sharding)
{
    const jx_mlir_attr *how =
        summed_by(sharding) ? jx_mlir_field(sharding, "reduction_op") : NULL;

    return !how || (how->text && !strcmp(how->text, "sum"));
}

bool jx_mesh_place(jx_ctx *ctx, const jx_mlir_op *module,
                   const jx_mlir_attr *sharding, int rank, int devices,
                   jx_placement *to, const char **why)
{
    bool is_record = sharding->kind == JX_A_RECORD;
    const jx_mlir_attr *mesh =
        is_record
            ? jx_mesh_of_ref(module, jx_mlir_field(sharding, "mesh_or_ref"))
            : NULL;
    const jx_mlir_attr *dims =
        is_record ? list_of(jx_mlir_field(sharding, "dim_shardings"), "value")
                  : NULL;
    const jx_mlir_attr *summed = summed_by(sharding);
    const char *text =
        sharding->kind == JX_A_STRING ? jx_mlir_text(ctx, sharding) : NULL;

    *to = (jx_placement){.is_summed = summed != NULL,
                         .rank = rank + (summed != NULL),
                         .devices = devices};
    if (text && place_text(ctx, text, to))
        return true;
    if (!jx_mesh_adds_up(sharding)) {
        *why =
            "a sharding of parts that make the array by another operation than "
            "addition";
        return false;
    }
    *why = "a sharding that fits no array of that rank on these devices";
    return mesh && mesh->kind == JX_A_RECORD && dims && dims->count == rank &&
           place_all(ctx, mesh, dims, summed, to);
}

/* ---- one by one */

int64_t jx_mesh_axis_size(jx_ctx *ctx, const jx_mlir_op *module,
                          const jx_mlir_attr *ref, const jx_mlir_attr *axis)
{
    const jx_mlir_attr *axes = list_of(jx_mesh_of_ref(module, ref), "axes");
    span s;

    return axes && span_of(ctx, axes, axis, &s) ? s.size : 0;
}

bool jx_mesh_is_one_axis(jx_ctx *ctx, const jx_mlir_attr *a,
                         const jx_mlir_attr *b)
{
    const char *first = name_of(ctx, a), *second = name_of(ctx, b);

    return first && second && !strcmp(first, second);
}

const jx_mlir_attr *jx_mesh_axes_of(const jx_mlir_attr *sharding)
{
    return sharding->kind == JX_A_RECORD
               ? list_of(jx_mlir_field(sharding, "dim_shardings"), "value")
               : NULL;
}

const jx_mlir_attr *jx_mesh_cut_by(const jx_mlir_attr *axis)
{
    return list_of(jx_mlir_field(axis, "axes"), "value");
}

bool jx_mesh_is_open(const jx_mlir_attr *axis)
{
    const jx_mlir_attr *closed = jx_mlir_field(axis, "is_closed");

    return closed && closed->kind == JX_A_BOOL && !closed->boolean;
}
