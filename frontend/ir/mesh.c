/* mesh.c - see mesh.h. */
#include "frontend/ir/mesh.h"

#include "frontend/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 1 << 20 };

/* ---- axes */

int jx_mesh_axis(const jx_mesh *mesh, const char *name)
{
    for (int i = 0; i < mesh->naxes; i++)
        if (!strcmp(mesh->axes[i], name))
            return i;
    return -1;
}

bool jx_mesh_alike(const jx_mesh *a, const jx_mesh *b)
{
    if (a->naxes != b->naxes)
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (strcmp(a->axes[i], b->axes[i]) != 0 || a->sizes[i] != b->sizes[i])
            return false;
    return true;
}

bool jx_axis_is_among(jx_axis_names names, const char *name)
{
    for (int i = 0; i < names.count; i++)
        if (!strcmp(names.at[i], name))
            return true;
    return false;
}

int64_t jx_mesh_devices(const jx_mesh *mesh, int64_t most)
{
    int64_t devices = 1;

    for (int i = 0; i < mesh->naxes; i++)
        if (mesh->sizes[i] < 1 ||
            __builtin_mul_overflow(devices, mesh->sizes[i], &devices) ||
            devices > most)
            return 0;
    return devices;
}

int64_t jx_mesh_stand(const jx_mesh *mesh, int64_t device, int axis)
{
    for (int i = mesh->naxes - 1; i > axis; i--)
        device /= mesh->sizes[i];
    return device % mesh->sizes[axis];
}

const jx_mesh *jx_eqn_mesh(const jx_program *program, const jx_eqn *eqn)
{
    const jx_value *mesh =
        eqn->prim->id == JX_PRIM_shard_map
            ? ((const jx_p_shard_map *)eqn->typed)->mesh
        : eqn->prim->id == JX_PRIM_sdy_manual_computation
            ? ((const jx_p_manual_computation *)eqn->typed)->mesh
            : NULL;

    return mesh && mesh->tag == JX_V_MESH && mesh->integer >= 0 &&
                   mesh->integer < program->nmeshes
               ? &program->meshes[mesh->integer]
               : NULL;
}

/* Those that are named; of a release that leaves them out, all. */
jx_axis_names jx_newly_manual(const jx_program *program, const jx_eqn *eqn)
{
    const jx_p_shard_map *p = eqn->typed;
    const jx_mesh *mesh = jx_eqn_mesh(program, eqn);
    bool said = jx_eqn_param(eqn, "newly_manual_axes") ||
                jx_eqn_param(eqn, "manual_axes");

    if (!said && mesh)
        return (jx_axis_names){mesh->naxes, mesh->axes};
    return p->newly_manual_axes.count ? p->newly_manual_axes : p->manual_axes;
}

/* ---- where they are bound */

typedef struct place {
    const jx_bound_axes *axes; /* NULL: none, or some here and others there */
    bool seen, mixed;
} place;

typedef struct binding {
    jx_program *program;
    place *places; /* per jaxpr */
    JX_VEC(const jx_jaxpr *) left;
} binding;

static bool same_axes(const jx_bound_axes *a, const jx_bound_axes *b)
{
    if (a == b || !a || !b)
        return a == b;
    if (a->mesh != b->mesh || a->checked != b->checked ||
        a->names.count != b->names.count)
        return false;
    for (int i = 0; i < a->names.count; i++)
        if (!jx_axis_is_among(b->names, a->names.at[i]))
            return false;
    return true;
}

/* Each jaxpr is looked at when its place is known, and once more if there turns
 * out to be another. */
static void meet(binding *b, const jx_jaxpr *jaxpr, const jx_bound_axes *axes,
                 bool mixed)
{
    place *at;

    if (!jaxpr || jaxpr->id < 0 || jaxpr->id >= b->program->njaxprs)
        return;
    at = &b->places[jaxpr->id];
    if (at->seen && (at->mixed || (!mixed && same_axes(at->axes, axes))))
        return;
    at->mixed = mixed || at->seen;
    at->axes = at->mixed ? NULL : axes;
    at->seen = true;
    JX_PUSH(b->program->ctx->arena, &b->left, jaxpr);
}

static void meet_rule(binding *b, const jx_rule *rule, const place *at)
{
    meet(b, rule->primal.jaxpr, at->axes, at->mixed);
    for (int i = 0; i < rule->npatterns; i++) {
        meet(b, rule->patterns[i].jvp.jaxpr, at->axes, at->mixed);
        meet(b, rule->patterns[i].fwd.jaxpr, at->axes, at->mixed);
        meet(b, rule->patterns[i].bwd.jaxpr, at->axes, at->mixed);
    }
}

/* Trees of parameters are only as deep as readers let them be. */
static void meet_value(binding *b, const jx_value *value, const place *at)
{
    if (value->tag == JX_V_JAXPR)
        meet(b, value->jaxpr, at->axes, at->mixed);
    if (value->tag == JX_V_RULE && value->rule)
        meet_rule(b, value->rule, at);
    for (int i = 0; value->items && i < value->count; i++)
        meet_value(b, value->items[i], at);
}

/* Those of the equation, beside those around it. */
static const jx_bound_axes *bound_by(const jx_program *program,
                                     const jx_eqn *eqn,
                                     const jx_bound_axes *around)
{
    const jx_p_shard_map *p = eqn->typed;
    jx_arena *arena = program->ctx->arena;
    jx_axis_names own = jx_newly_manual(program, eqn);
    int count = around ? around->names.count : 0;
    const char **names = JX_NEW_ARRAY(arena, count + own.count, const char *);
    jx_bound_axes *to = JX_NEW(arena, jx_bound_axes);

    if (!names || !to)
        return NULL;
    for (int i = 0; i < count; i++)
        names[i] = around->names.at[i];
    for (int i = 0; i < own.count; i++)
        names[count + i] = own.at[i];
    *to = (jx_bound_axes){
        (int)p->mesh->integer, {count + own.count, names}, p->check_vma};
    return to;
}

static const jx_eqn_ctx *with_axes(jx_arena *arena, const jx_eqn_ctx *ctx,
                                   const jx_bound_axes *axes)
{
    static const jx_eqn_ctx nothing = {.threefry_partitionable = true};
    jx_eqn_ctx *to = jx_arena_copy(arena, ctx ? ctx : &nothing, sizeof *ctx);

    if (to) {
        to->axes = axes;
        to->said = ctx && ctx->bound ? ctx->said : ctx;
        to->bound = true;
    }
    return to;
}

const jx_eqn_ctx *jx_context_inside(jx_program *program, const jx_eqn *eqn)
{
    const jx_bound_axes *around = eqn->ctx ? eqn->ctx->axes : NULL;

    return jx_eqn_mesh(program, eqn) ? with_axes(program->ctx->arena, eqn->ctx,
                                                 bound_by(program, eqn, around))
                                     : eqn->ctx;
}

/* Equations of one context mostly follow each other. */
static void bind_jaxpr(binding *b, const jx_jaxpr *jaxpr)
{
    jx_arena *arena = b->program->ctx->arena;
    const place *at = &b->places[jaxpr->id];
    const jx_eqn_ctx *before = NULL, *now = NULL;

    for (int i = 0; i < jaxpr->neqns; i++) {
        jx_eqn *eqn = (jx_eqn *)(uintptr_t)&jaxpr->eqns[i];
        bool binds =
            eqn->prim->id == JX_PRIM_shard_map && jx_eqn_mesh(b->program, eqn);
        place inside = *at;
        if (binds && !at->mixed)
            inside.axes = bound_by(b->program, eqn, at->axes);
        for (int k = 0; k < eqn->nparams; k++)
            meet_value(b, eqn->params[k].value, &inside);
        if (!at->axes && !(eqn->ctx && eqn->ctx->axes))
            continue;
        if (!now || eqn->ctx != before) {
            before = eqn->ctx;
            now = with_axes(arena, eqn->ctx, at->axes);
        }
        eqn->ctx = now;
    }
}

static bool has_shard_map(const jx_program *program)
{
    for (int i = 0; program->nmeshes && i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (program->jaxprs[i]->eqns[k].prim->id == JX_PRIM_shard_map)
                return true;
    return false;
}

bool jx_program_bind_axes(jx_program *program)
{
    jx_arena *arena = program->ctx->arena;
    binding b = {.program = program};

    if (!has_shard_map(program))
        return true;
    b.places = JX_NEW_ARRAY(arena, program->njaxprs, place);
    if (!b.places)
        return false;
    meet(&b, program->entry.jaxpr, NULL, false);
    if (program->linear)
        meet(&b, program->linear->closed.jaxpr, NULL, false);
    for (size_t i = 0; i < b.left.count; i++)
        bind_jaxpr(&b, b.left.at[i]);
    for (int i = 0; i < program->nretraces; i++)
        meet(&b, program->retraces[i].closed.jaxpr, NULL, false);
    for (size_t i = 0; i < b.left.count; i++)
        bind_jaxpr(&b, b.left.at[i]);
    return jx_ok(program->ctx);
}

/* ---- whom a collective joins */

/* The device at place `at` of group `group`: axes of the mesh that the
 * collective goes over count places, the others groups. */
static int64_t device_at(const jx_mesh *mesh, const int *order, int n,
                         int64_t group, int64_t at)
{
    int64_t device = 0;

    for (int i = n - 1; i >= 0; i--) {
        int64_t stride = 1, size = mesh->sizes[order[i]];
        for (int k = mesh->naxes - 1; k > order[i]; k--)
            stride *= mesh->sizes[k];
        device += at % size * stride;
        at /= size;
    }
    for (int i = mesh->naxes - 1; i >= 0; i--) {
        bool counts = false;
        int64_t stride = 1;
        for (int k = 0; k < n; k++)
            counts |= order[k] == i;
        for (int k = mesh->naxes - 1; k > i; k--)
            stride *= mesh->sizes[k];
        if (counts)
            continue;
        device += group % mesh->sizes[i] * stride;
        group /= mesh->sizes[i];
    }
    return device;
}

/* The axes by number; how many devices they have together, 0: some are not
 * there, or twice. */
static int64_t places_of(jx_arena *arena, const jx_mesh *mesh,
                         jx_axis_names axes, int **order)
{
    int64_t places = 1;

    *order = JX_NEW_ARRAY(arena, axes.count, int);
    if (!*order || !jx_mesh_devices(mesh, MOST_DEVICES))
        return 0;
    for (int i = 0; i < axes.count; i++) {
        (*order)[i] = jx_mesh_axis(mesh, axes.at[i]);
        if ((*order)[i] < 0)
            return 0;
        for (int k = 0; k < i; k++)
            if ((*order)[k] == (*order)[i])
                return 0;
        places *= mesh->sizes[(*order)[i]];
    }
    return places;
}

jx_groups jx_mesh_groups(jx_arena *arena, const jx_mesh *mesh,
                         jx_axis_names axes, jx_groups within)
{
    static const jx_groups none = {0, NULL};
    int *order, rows = within.count ? within.count : 1;
    int64_t places = places_of(arena, mesh, axes, &order);
    int64_t count = places ? jx_mesh_devices(mesh, MOST_DEVICES) / places : 0;
    jx_ints *groups = JX_NEW_ARRAY(arena, count * rows, jx_ints);

    for (int64_t i = 0; groups && i < count * rows; i++) {
        const jx_ints *row = within.count ? &within.at[i % rows] : NULL;
        int64_t size = row ? row->count : places;
        int64_t *at = JX_NEW_ARRAY(arena, size, int64_t);
        for (int64_t k = 0; at && k < size; k++) {
            int64_t wanted = row ? row->at[k] : k;
            at[k] = wanted >= 0 && wanted < places
                        ? device_at(mesh, order, axes.count, i / rows, wanted)
                        : -1;
        }
        if (!at)
            return none;
        groups[i] = (jx_ints){(int)size, at};
    }
    return groups ? (jx_groups){(int)(count * rows), groups} : none;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

jx_groups jx_mesh_pairs(jx_arena *arena, const jx_mesh *mesh,
                        jx_axis_names axes, jx_groups places)
{
    static const jx_groups none = {0, NULL};
    jx_groups groups = jx_mesh_groups(arena, mesh, axes, none);
    jx_ints *pairs = JX_NEW_ARRAY(
        arena, (size_t)groups.count * (size_t)places.count, jx_ints);
    int made = 0;

    for (int g = 0; pairs && g < groups.count; g++) {
        jx_ints group = groups.at[g];
        int64_t *sorted = jx_arena_copy(arena, group.at,
                                        (size_t)group.count * sizeof *sorted);
        if (!sorted)
            return none;
        qsort(sorted, (size_t)group.count, sizeof *sorted, by_number);
        for (int i = 0; i < places.count; i++) {
            int64_t *pair = JX_NEW_ARRAY(arena, 2, int64_t);
            if (!pair)
                return none;
            for (int k = 0; k < 2; k++) {
                int64_t at =
                    k < places.at[i].count ? places.at[i].at[k] : group.count;
                at += at < 0 ? group.count : 0;
                pair[k] = at >= 0 && at < group.count ? sorted[at] : -1;
            }
            pairs[made++] = (jx_ints){2, pair};
        }
    }
    return pairs ? (jx_groups){made, pairs} : none;
}
