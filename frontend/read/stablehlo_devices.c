/* stablehlo_devices.c - a computation that each device does on its parts of
 * arrays: sdy.manual_computation; and how arrays are to lie:
 * sdy.sharding_constraint. */
#include "frontend/read/meshes.h"
#include "frontend/read/stablehlo_parts.h"

#include <string.h>

/* ---- meshes */

/* The mesh that a sharding names, or holds. */
static const jx_mlir_attr *mesh_attr(jx_hlo_body *b, const jx_mlir_attr *of)
{
    return jx_mesh_of_ref(b->s->module, jx_mlir_field(of, "mesh_or_ref"));
}

static bool fill_mesh(jx_hlo_body *b, const jx_mlir_attr *from, jx_mesh *to)
{
    const jx_mlir_attr *axes = jx_mlir_field(from, "axes");
    int n = axes && axes->kind == JX_A_ARRAY ? axes->count : -1;
    const char **names;
    int64_t *sizes;

    if (n < 0)
        return jx_hlo_refuse(b, "expected a mesh with axes");
    names = JX_NEW_ARRAY(b->s->ctx->arena, n, const char *);
    sizes = JX_NEW_ARRAY(b->s->ctx->arena, n, int64_t);
    for (int i = 0; names && sizes && i < n; i++) {
        const jx_mlir_attr *name = jx_mlir_field(axes->items[i], "name");
        names[i] = name ? jx_mlir_text(b->s->ctx, name) : NULL;
        if (!names[i] ||
            !jx_hlo_field_int(b, axes->items[i], "size", &sizes[i]))
            return jx_hlo_refuse(b, "expected mesh axes with a name and a "
                                    "size");
    }
    *to =
        (jx_mesh){.naxes = n, .axes = names, .sizes = sizes, .abstract = true};
    return names && sizes;
}

/* The mesh as a parameter; one entry of the program for equal ones. */
static const jx_value *mesh_of(jx_hlo_body *b, const jx_mlir_attr *sharding)
{
    const jx_mlir_attr *attr = sharding ? mesh_attr(b, sharding) : NULL;
    jx_mesh mesh;
    size_t i = 0;

    if (!attr) {
        jx_hlo_refuse(b, "expected shardings on a mesh of the module");
        return NULL;
    }
    if (!fill_mesh(b, attr, &mesh))
        return NULL;
    while (i < b->s->meshes.count && !jx_mesh_same(&b->s->meshes.at[i], &mesh))
        i++;
    if (i == b->s->meshes.count)
        JX_PUSH(b->s->ctx->arena, &b->s->meshes, mesh);
    b->s->program->meshes = b->s->meshes.at;
    b->s->program->nmeshes = (int)b->s->meshes.count;
    return jx_value_add(&b->s->program->values,
                        &(jx_value){.tag = JX_V_MESH, .integer = (int)i});
}

/* ---- shardings */

static const jx_value *text_value(jx_hlo_reader *s, const char *text)
{
    return jx_value_add(&s->program->values,
                        &(jx_value){.tag = JX_V_TEXT, .text = text});
}

/* A tuple of names of axes; what is only a part of an axis is named so. */
static const jx_value *axes_of(jx_hlo_body *b, const jx_mlir_attr *list)
{
    int n = list && list->kind == JX_A_ARRAY ? list->count : 0;
    const jx_value **items =
        JX_NEW_ARRAY(b->s->ctx->arena, n, const jx_value *);

    for (int i = 0; items && i < n; i++) {
        const jx_mlir_attr *axis = list->items[i];
        const jx_mlir_attr *name =
            axis->kind == JX_A_RECORD ? jx_mlir_field(axis, "name") : axis;
        const char *text = name ? jx_mlir_text(b->s->ctx, name) : NULL;
        if (!text) {
            jx_hlo_refuse(b, "expected names of mesh axes");
            return NULL;
        }
        items[i] = text_value(b->s, text);
    }
    return items ? jx_value_of_tuple(b->s->program, n, items) : NULL;
}

static const jx_mlir_attr *shardings(jx_hlo_body *b, const char *name)
{
    const jx_mlir_attr *all = jx_mesh_shardings(b->op, name);

    if (all)
        return all;
    jx_hlo_refuse(b, "attribute '%s': expected a list of shardings", name);
    return NULL;
}

/* How each array lies; one of summands has one more axis, in front, which the
 * unreduced axes cut. */
static const jx_value *shardings_of(jx_hlo_body *b, const jx_mlir_attr *all,
                                    const int64_t *summands)
{
    const jx_value **items =
        JX_NEW_ARRAY(b->s->ctx->arena, all->count, const jx_value *);

    for (int i = 0; items && i < all->count; i++) {
        const jx_mlir_attr *dims =
            jx_mlir_field(all->items[i], "dim_shardings");
        int n = dims && dims->kind == JX_A_ARRAY ? dims->count : 0;
        int first = summands[i] > 1;
        const jx_value **each =
            JX_NEW_ARRAY(b->s->ctx->arena, first + n, const jx_value *);
        if (each && first)
            each[0] =
                axes_of(b, jx_mlir_field(all->items[i], "unreduced_axes"));
        for (int k = 0; each && k < n; k++)
            each[first + k] = axes_of(b, jx_mlir_field(dims->items[k], "axes"));
        items[i] =
            each ? jx_value_of_tuple(b->s->program, first + n, each) : NULL;
    }
    return items ? jx_value_of_tuple(b->s->program, all->count, items) : NULL;
}

/* ---- what nobody computes here */

static bool is_empty(const jx_mlir_attr *list)
{
    return !list || !list->count;
}

/* Only whole axes. */
static bool whole_axes(const jx_mlir_attr *list)
{
    for (int i = 0; list && list->kind == JX_A_ARRAY && i < list->count; i++)
        if (list->items[i]->kind == JX_A_RECORD &&
            jx_mlir_field(list->items[i], "sub_axis_info"))
            return false;
    return true;
}

/* Devices in the order of the mesh, each axis whole; parts of a value that it
 * has several of are added up. */
static bool is_plain(jx_hlo_body *b, const jx_mlir_attr *sharding)
{
    const jx_mlir_attr *mesh = mesh_attr(b, sharding);
    const jx_mlir_attr *dims = jx_mlir_field(sharding, "dim_shardings");

    if ((mesh && !is_empty(jx_mlir_field(mesh, "device_ids"))) ||
        !whole_axes(jx_mlir_field(sharding, "unreduced_axes")) ||
        !jx_mesh_adds_up(sharding))
        return false;
    for (int i = 0; dims && dims->kind == JX_A_ARRAY && i < dims->count; i++)
        if (!whole_axes(jx_mlir_field(dims->items[i], "axes")))
            return false;
    return true;
}

bool jx_hlo_are_plain(jx_hlo_body *b, const jx_mlir_attr *all)
{
    for (int i = 0; i < all->count; i++)
        if (!is_plain(b, all->items[i]))
            return false;
    return true;
}

/* ---- the op */

/* One axis of operand `i`, cut into the parts of the manual axes. */
static const jx_dim *part_of(jx_hlo_body *b, const jx_aval *whole, int i,
                             int axis)
{
    int64_t parts =
        jx_mesh_parts(b->s->ctx, b->s->module, b->op, "in_shardings", i, axis);

    return parts ? jx_dim_floordiv(b->s->program->dims, whole->shape[axis],
                                   jx_hlo_dim_int(b, parts))
                 : NULL;
}

/* The type of the region's argument: a part of the operand. */
static const jx_aval *part_aval(jx_hlo_body *b, const jx_mlir_type *type,
                                const jx_aval *whole, int i)
{
    const jx_dim *shape[JX_HLO_RANK];
    bool fits = type->kind == JX_T_TENSOR && whole->rank == type->rank &&
                type->rank <= JX_HLO_RANK;

    for (int k = 0; fits && k < type->rank; k++)
        shape[k] = part_of(b, whole, i, k);
    return jx_hlo_aval_of(b, type, fits ? shape : NULL);
}

/* The integers stay what they are where every device has all of them. */
static bool is_whole(jx_hlo_body *b, int i, int rank)
{
    for (int k = 0; k < rank; k++)
        if (jx_mesh_parts(b->s->ctx, b->s->module, b->op, "in_shardings", i,
                          k) != 1)
            return false;
    return true;
}

static jx_hlo_body *read_parts(jx_hlo_body *b, const jx_mlir_op *op,
                               const jx_mlir_block *block)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(b->s->ctx->arena, block->nargs, const jx_aval *);
    jx_sz_info *known =
        JX_NEW_ARRAY(b->s->ctx->arena, block->nargs, jx_sz_info);
    jx_atoms ins = jx_hlo_ins(b, 0);
    int n = 0;

    if (!avals || !known)
        return NULL;
    for (int i = 0; i < block->nargs; i++) {
        const jx_mlir_type *type = block->args[i]->type;
        const jx_aval *whole = n < ins.count ? jx_atom_aval(ins.at[n]) : NULL;
        if (!jx_hlo_width(type))
            continue;
        avals[n] = whole ? part_aval(b, type, whole, n)
                         : jx_hlo_aval_of(b, type, NULL);
        if (whole && is_whole(b, n, whole->rank))
            known[n] = jx_sz_info_of(b->s->sizes, ins.at[n]);
        n++;
    }
    return jx_hlo_region(b, op, 0, n, avals, known);
}

static const jx_mlir_attr *manual_axes(jx_hlo_body *b)
{
    const jx_mlir_attr *axes = jx_hlo_attr(b, "manual_axes");

    return axes && axes->kind == JX_A_RECORD ? jx_mlir_field(axes, "value")
                                             : axes;
}

/* ---- values that are sums
 *
 * Of a value that lies in unreduced parts each device has a summand.  As an
 * operand it becomes the array of the summands, the first of which is the value
 * and the others zero; as a result it is the sum of that array.  So it is cut
 * by its shardings like any other array, and the body takes and gives its
 * parts, of size 1 along the axis that counts. */

/* The type with that size in front. */
static const jx_aval *counted(jx_hlo_body *b, const jx_aval *aval,
                              int64_t count)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(b->s->ctx->arena, aval->rank + 1, const jx_dim *);

    if (!shape)
        return NULL;
    shape[0] = jx_hlo_dim_int(b, count);
    for (int k = 0; k < aval->rank; k++)
        shape[k + 1] = aval->shape[k];
    return jx_hlo_array(b, aval->dtype, aval->rank + 1, shape);
}

static jx_atom reshaped(jx_hlo_body *b, jx_atom atom, const jx_aval *to)
{
    return to ? jx_hlo_eqn_reshape(b, atom, to->rank, to->shape) : (jx_atom){0};
}

static jx_atom as_summands(jx_hlo_body *b, jx_atom atom, int64_t count)
{
    const jx_aval *aval = jx_atom_aval(atom);
    const jx_aval *others = counted(b, aval, count - 1);
    jx_atom parts[2] = {reshaped(b, atom, counted(b, aval, 1))};

    if (!others)
        return parts[0];
    parts[1] = jx_build_zeros(&b->body, others);
    return jx_build_concatenate(&b->body, 2, parts, 0);
}

static jx_atom sum_of(jx_hlo_body *b, jx_atom summands, const jx_aval *aval)
{
    jx_params p = jx_hlo_no_params(b);

    jx_put_ints(&p, "axes", (jx_ints){1, (const int64_t[]){0}});
    return jx_hlo_eqn(
        b, aval->dtype == JX_BOOL ? JX_PRIM_reduce_or : JX_PRIM_reduce_sum, 1,
        &summands, &p, aval);
}

static bool any_summands(const int64_t *summands, int count)
{
    for (int i = 0; i < count; i++)
        if (summands[i] > 1)
            return true;
    return false;
}

/* The body, which takes and gives summands with their axis. */
static const jx_jaxpr *with_summands(jx_hlo_body *b, const jx_jaxpr *body,
                                     const int64_t *ins, const int64_t *outs)
{
    jx_hlo_body *to = jx_hlo_body_new(b->s, NULL);
    jx_atom *atoms = JX_NEW_ARRAY(b->s->ctx->arena, body->nins, jx_atom);
    const jx_atom *made;

    if (!to || !atoms ||
        (!any_summands(ins, body->nins) && !any_summands(outs, body->nouts)))
        return to && atoms ? body : NULL;
    to->op = b->op;
    to->body.place = b->body.place;
    for (int i = 0; i < body->nins; i++) {
        const jx_aval *aval = body->vars[body->nconsts + i]->aval;
        const jx_aval *given = ins[i] > 1 ? counted(to, aval, 1) : aval;
        atoms[i] = given ? jx_body_input(&to->body, given) : (jx_atom){0};
        if (ins[i] > 1)
            atoms[i] = reshaped(to, atoms[i], aval);
    }
    made = jx_hlo_eqn_call(to, body, (jx_atoms){body->nins, atoms}, "summands");
    for (int i = 0; made && i < body->nouts; i++)
        jx_body_result(
            &to->body,
            outs[i] > 1
                ? reshaped(to, made[i], counted(to, jx_atom_aval(made[i]), 1))
                : made[i]);
    return made ? jx_hlo_body_finish(to, (jx_atoms){0, NULL}, NULL) : NULL;
}

/* How many summands each operand, or result, has. */
static const int64_t *summands_of(jx_hlo_body *b, const char *name, int count)
{
    int64_t *to = JX_NEW_ARRAY(b->s->ctx->arena, count, int64_t);

    for (int i = 0; to && i < count; i++) {
        to[i] = jx_mesh_summands(b->s->ctx, b->s->module, b->op, name, i);
        if (to[i] < 1) {
            jx_hlo_refuse(b, "attribute '%s': expected axes of the mesh", name);
            return NULL;
        }
    }
    return to;
}

/* What the results are, those of summands added up. */
static bool define_results(jx_hlo_body *b, const jx_atom *made,
                           const int64_t *summands)
{
    jx_atom *to = JX_NEW_ARRAY(b->s->ctx->arena, b->op->nouts, jx_atom);

    for (int i = 0; to && i < b->op->nouts; i++)
        to[i] = summands[i] > 1 ? sum_of(b, made[i], jx_hlo_result(b, i, NULL))
                                : made[i];
    return to && jx_hlo_define(b, b->op->nouts, to);
}

/* ---- tokens, which are no values here */

/* Of the shardings of these values, or of the values themselves (`all` is
 * NULL), what belongs to no token; their number goes to *left. */
static const void **of_tensors(jx_hlo_body *b, const jx_mlir_attr *all,
                               const jx_mlir_value *const *values, int count,
                               int *left)
{
    const void **to = JX_NEW_ARRAY(b->s->ctx->arena, count, const void *);

    *left = 0;
    for (int i = 0; to && i < count; i++)
        if (jx_hlo_width(values[i]->type))
            to[(*left)++] = all ? (const void *)all->items[i] : values[i];
    return to;
}

static const jx_mlir_attr *list_of_tensors(jx_hlo_body *b,
                                           const jx_mlir_attr *all,
                                           const jx_mlir_value *const *values,
                                           int count)
{
    jx_mlir_attr *to = JX_NEW(b->s->ctx->arena, jx_mlir_attr);
    const void **items;

    if (!to)
        return all;
    *to = *all;
    items = of_tensors(b, all, values, count, &to->count);
    to->items = (const jx_mlir_attr *const *)items;
    return items ? to : all;
}

/* The op as if it took and gave no tokens; NULL after a failure. */
static const jx_mlir_op *without_tokens(jx_hlo_body *b, const jx_mlir_op *op)
{
    jx_mlir_op *to = JX_NEW(b->s->ctx->arena, jx_mlir_op);
    jx_mlir_named *named =
        JX_NEW_ARRAY(b->s->ctx->arena, op->ninherent, jx_mlir_named);
    const jx_mlir_attr *in = shardings(b, "in_shardings");
    const jx_mlir_attr *out = shardings(b, "out_shardings");

    if (!to || !named || !in || !out)
        return NULL;
    if (in->count != op->nins || out->count != op->nouts) {
        jx_hlo_refuse(b, "expected a sharding for each operand and result");
        return NULL;
    }
    *to = *op;
    for (int i = 0; i < op->ninherent; i++) {
        named[i] = op->inherent[i];
        if (!strcmp(named[i].name, "in_shardings"))
            named[i].value = list_of_tensors(b, in, op->ins, op->nins);
        else if (!strcmp(named[i].name, "out_shardings"))
            named[i].value = list_of_tensors(b, out, op->outs, op->nouts);
    }
    to->inherent = named;
    to->ins = (const jx_mlir_value *const *)of_tensors(b, NULL, op->ins,
                                                       op->nins, &to->nins);
    to->outs = (const jx_mlir_value *const *)of_tensors(b, NULL, op->outs,
                                                        op->nouts, &to->nouts);
    return to->ins && to->outs ? to : NULL;
}

static bool define_tokens(jx_hlo_body *b, const jx_mlir_op *op)
{
    for (int i = 0; i < op->nouts; i++)
        if (!jx_hlo_width(op->outs[i]->type) &&
            !jx_hlo_define_value(b, op->outs[i], 0, NULL))
            return false;
    return true;
}

/* ---- the equation */

static bool emit_manual(jx_hlo_body *b, const jx_jaxpr *body,
                        const jx_mlir_attr *in, const jx_mlir_attr *out,
                        const int64_t *nin, const int64_t *nout)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, b->op->nouts, const jx_aval *);
    jx_atom *given = JX_NEW_ARRAY(b->s->ctx->arena, ins.count, jx_atom);
    const jx_atom *made;

    for (int i = 0; given && i < ins.count; i++)
        given[i] = nin[i] > 1 ? as_summands(b, ins.at[i], nin[i]) : ins.at[i];
    for (int i = 0; outs && i < b->op->nouts; i++) {
        outs[i] = jx_hlo_result(b, i, NULL);
        if (outs[i] && nout[i] > 1)
            outs[i] = counted(b, outs[i], nout[i]);
    }
    jx_put_jaxpr(&p, "jaxpr", body);
    jx_put(&p, "mesh",
           mesh_of(b, in->count    ? in->items[0]
                      : out->count ? out->items[0]
                                   : NULL));
    jx_put(&p, "in_shardings", shardings_of(b, in, nin));
    jx_put(&p, "out_shardings", shardings_of(b, out, nout));
    jx_put(&p, "manual_axes", axes_of(b, manual_axes(b)));
    made = outs && given
               ? jx_hlo_eqn_all(b, jx_prim_of(JX_PRIM_sdy_manual_computation),
                                ins.count, given, &p, b->op->nouts, outs)
               : NULL;
    return made && define_results(b, made, nout);
}

static bool read_manual(jx_hlo_body *b, const jx_mlir_op *op)
{
    const jx_mlir_block *block = op->nregions == 1 ? jx_mlir_body(op, 0) : NULL;
    const jx_mlir_attr *in = shardings(b, "in_shardings");
    const jx_mlir_attr *out = shardings(b, "out_shardings");
    jx_hlo_body *region;
    const jx_jaxpr *body = NULL;
    const int64_t *nin, *nout;

    if (!in || !out || !block)
        return jx_hlo_refuse(b, "expected a region of one block");
    if (!jx_hlo_are_plain(b, in) || !jx_hlo_are_plain(b, out))
        return jx_hlo_unknown(b, op);
    region = read_parts(b, op, block);
    if (region && !jx_hlo_captured(b, 1, &region).count)
        body = jx_hlo_body_finish(region, (jx_atoms){0, NULL}, NULL);
    if (!body)
        return jx_ok(b->s->ctx) &&
               jx_hlo_refuse(b, "expected a region that captures nothing");
    if (in->count != body->nins || jx_hlo_ins(b, 0).count != body->nins ||
        out->count != op->nouts || body->nouts != op->nouts)
        return jx_hlo_refuse(b,
                             "expected a sharding for each operand and result");
    nin = summands_of(b, "in_shardings", body->nins);
    nout = summands_of(b, "out_shardings", op->nouts);
    body = nin && nout ? with_summands(b, body, nin, nout) : NULL;
    return body && emit_manual(b, body, in, out, nin, nout);
}

bool jx_hlo_op_manual_computation(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    const jx_mlir_op *plain = without_tokens(b, op);
    bool ok;

    (void)row;
    b->op = plain ? plain : op;
    ok = plain && read_manual(b, plain);
    b->op = op;
    return ok && define_tokens(b, op);
}

/* ---- how an array is to lie */

/* An entry of a spec: the axes that cut it, or "?" where others may. */
static const jx_value *entry_of(jx_hlo_body *b, const jx_mlir_attr *dim,
                                bool *open)
{
    const jx_mlir_attr *closed = jx_mlir_field(dim, "is_closed");
    const jx_value *axes;

    *open = closed && closed->kind == JX_A_BOOL && !closed->boolean;
    if (*open)
        return text_value(b->s, "?");
    axes = axes_of(b, jx_mlir_field(dim, "axes"));
    if (!axes || axes->count > 1)
        return axes;
    return axes->count ? axes->items[0]
                       : jx_value_add(&b->s->program->values,
                                      &(jx_value){.tag = JX_V_NONE});
}

/* `sharding` and `unconstrained_dims`, as JAX says them. */
static bool put_constraint(jx_hlo_body *b, const jx_mlir_attr *how,
                           const char *name, jx_params *p)
{
    const jx_mlir_attr *dims = jx_mlir_field(how, "dim_shardings");
    jx_values *values = &b->s->program->values;
    const jx_value *mesh = mesh_of(b, how), *spec;
    const jx_value **entries =
        JX_NEW_ARRAY(b->s->ctx->arena, dims->count + 1, const jx_value *);
    const jx_value **open =
        JX_NEW_ARRAY(b->s->ctx->arena, dims->count + 1, const jx_value *);
    int nopen = 0;

    if (!mesh || !entries || !open)
        return false;
    for (int i = 0; i < dims->count; i++) {
        bool is_open;
        if (!(entries[i] = entry_of(b, dims->items[i], &is_open)))
            return false;
        if (is_open)
            open[nopen++] = jx_value_add(
                values, &(jx_value){.tag = JX_V_INT, .integer = i});
    }
    spec = jx_value_add(
        values,
        &(jx_value){.tag = JX_V_SPEC, .count = dims->count, .items = entries});
    jx_put(
        p, name,
        jx_value_add(values, &(jx_value){.tag = JX_V_SHARDING,
                                         .integer = mesh->integer,
                                         .count = 1,
                                         .items = (const jx_value *[]){spec}}));
    if (!strcmp(name, "sharding"))
        jx_put(p, "unconstrained_dims",
               jx_value_add(values, &(jx_value){.tag = JX_V_SET,
                                                .count = nopen,
                                                .items = open}));
    return jx_ok(b->s->ctx);
}

/* Whether it cuts an array of that rank by whole axes of a mesh.  A scalar it
 * can't: JAX says so of what a collective's computation adds up, too, where
 * axes around it are left to the partitioner. */
static bool is_constraint(jx_hlo_body *b, const jx_mlir_attr *how, int rank)
{
    const jx_mlir_attr *dims = how ? jx_mlir_field(how, "dim_shardings") : NULL;
    const jx_mlir_attr *mesh = dims ? mesh_attr(b, how) : NULL;
    const jx_mlir_attr *axes = mesh ? jx_mlir_field(mesh, "axes") : NULL;

    return rank && axes && axes->kind == JX_A_ARRAY && axes->count &&
           dims->kind == JX_A_ARRAY && dims->count == rank &&
           is_plain(b, how) && is_empty(jx_mlir_field(how, "unreduced_axes"));
}

bool jx_hlo_op_constraint(jx_hlo_body *b, const jx_mlir_op *op,
                          const jx_hlo_row *row)
{
    const jx_mlir_attr *how = jx_hlo_attr(b, "sharding");
    const char *name =
        row->prim == JX_PRIM_reshard ? "dst_sharding" : "sharding";
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_atom made;

    if (ins.count != 1 || op->nouts != 1 ||
        !is_constraint(b, how, jx_atom_aval(ins.at[0])->rank))
        return jx_hlo_op_same(b, op, row);
    if (!put_constraint(b, how, name, &p))
        return false;
    made = jx_hlo_eqn(b, row->prim, 1, ins.at, &p, jx_atom_aval(ins.at[0]));
    return jx_is_made(made) && jx_hlo_define(b, 1, &made);
}
