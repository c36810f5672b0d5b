/* reshards.c - see reshards.h. */
#include "reports/formats/reshards.h"

#include "analyzer/cost.h"
#include "analyzer/transform/devices.h"
#include "analyzer/transform/inline.h"
#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/mesh.h"
#include "frontend/ir/signature.h"
#include "frontend/read/exported.h"

#include <string.h>

enum { MOST_DEVICES = 1 << 12, MOST_RANK = 16 };

/* How an array lies; `axes` NULL: that is not known. */
typedef struct layout {
    const jx_mesh *mesh;
    int rank; /* axes beyond are whole */
    const jx_axis_names *axes;
} layout;

typedef struct looking {
    jx_program *program;     /* without calls */
    const jx_exported *file; /* or NULL */
    layout *of;              /* per variable of the entry */
    jx_reshards *to;
} looking;

/* ---- layouts */

static bool is_on(const jx_exported_mesh *mesh, const jx_mesh *of)
{
    bool same = mesh->naxes == of->naxes;

    for (int i = 0; same && i < of->naxes; i++)
        same = strcmp(mesh->names[i], of->axes[i]) == 0 &&
               (int64_t)mesh->sizes[i] == of->sizes[i];
    return same;
}

/* What the file says of an input or result. */
static layout declared(jx_arena *arena, const jx_exported_named *named,
                       const jx_mesh *mesh)
{
    jx_axis_names *axes;

    if (!named || !is_on(named->mesh, mesh) || named->spec.unreduced.count)
        return (layout){0};
    axes = JX_NEW_ARRAY(arena, named->spec.count + 1, jx_axis_names);
    for (int i = 0; axes && i < named->spec.count; i++)
        axes[i] =
            (jx_axis_names){named->spec.axes[i].count, named->spec.axes[i].at};
    return (layout){mesh, named->spec.count, axes};
}

static layout layout_of(const jx_mesh *mesh, const jx_shardings *all, int i)
{
    const jx_sharding *one = i < all->count ? &all->at[i] : NULL;
    static const jx_axis_names whole;

    if (!one || jx_sharding_is_marked(one))
        return (layout){0};
    return (layout){mesh, one->rank, one->axes ? one->axes : &whole};
}

static const char *layout_text(jx_ctx *ctx, const layout *of)
{
    jx_buffer text = jx_ctx_text(ctx);
    int rank = of->rank;

    /* None at the end goes without saying */
    while (rank && !of->axes[rank - 1].count)
        rank--;
    jx_buffer_puts(&text, "P(");
    for (int a = 0; a < rank; a++) {
        const jx_axis_names *names = &of->axes[a];
        jx_buffer_puts(&text, a ? ", " : "");
        jx_buffer_puts(&text, !names->count      ? "None"
                              : names->count > 1 ? "("
                                                 : "");
        for (int i = 0; i < names->count; i++) {
            jx_buffer_puts(&text, i ? ", " : "");
            jx_utf8_repr(names->at[i], &text);
        }
        jx_buffer_puts(&text, names->count > 1 ? ")" : "");
    }
    jx_buffer_putc(&text, ')');
    return jx_arena_take(ctx->arena, &text);
}

/* ---- what a device has */

typedef struct range {
    int64_t from, to;
} range;

/* Along one axis; false: its parts are not equal. */
static bool part_of(const jx_mesh *mesh, const layout *of, int axis,
                    int64_t size, int64_t device, range *to)
{
    int64_t parts = 1, place = 0;

    for (int i = 0; axis < of->rank && i < of->axes[axis].count; i++) {
        int along = jx_mesh_axis(mesh, of->axes[axis].at[i]);
        if (along < 0)
            return false;
        parts *= mesh->sizes[along];
        place = place * mesh->sizes[along] + jx_mesh_stand(mesh, device, along);
    }
    if (size % parts)
        return false;
    *to = (range){place * (size / parts), (place + 1) * (size / parts)};
    return true;
}

static int64_t common(range a, range b)
{
    int64_t from = a.from > b.from ? a.from : b.from,
            to = a.to < b.to ? a.to : b.to;

    return to > from ? to - from : 0;
}

/* Elements that a device receives, at most; -1: that is not known. */
static int64_t received(const jx_mesh *mesh, const layout *from,
                        const layout *to, const jx_aval *aval)
{
    int64_t devices = jx_mesh_devices(mesh, MOST_DEVICES), most = 0, size;

    for (int64_t d = 0; d < devices; d++) {
        int64_t needs = 1, has = 1;
        for (int a = 0; a < aval->rank; a++) {
            range old, new;
            if (!jx_dim_is_int(aval->shape[a], &size) ||
                !part_of(mesh, from, a, size, d, &old) ||
                !part_of(mesh, to, a, size, d, &new))
                return -1;
            needs *= new.to - new.from;
            has *= common(old, new);
        }
        most = needs - has > most ? needs - has : most;
    }
    return devices ? most : -1;
}

static void compare(looking *l, const jx_mesh *mesh, const layout *from,
                    const layout *to, const jx_aval *aval, int input,
                    int result)
{
    jx_ctx *ctx = l->program->ctx;
    int64_t elements;

    if (!from->axes || !to->axes || !jx_mesh_alike(from->mesh, mesh) ||
        aval->kind != JX_AVAL_ARRAY || aval->rank > MOST_RANK)
        return;
    elements = received(mesh, from, to, aval);
    if (elements > 0)
        JX_PUSH(ctx->arena, &l->to->all,
                (jx_reshard){input, result, layout_text(ctx, from),
                             layout_text(ctx, to),
                             elements * (int64_t)jx_element_bytes(aval)});
}

/* ---- computations */

static bool takes_all_axes(const jx_program *program, const jx_mesh *mesh,
                           const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_shard_map
                ? jx_newly_manual(program, eqn).count
                : ((const jx_p_manual_computation *)eqn->typed)
                      ->manual_axes.count) == mesh->naxes;
}

static int input_number(const jx_jaxpr *entry, const jx_var *var)
{
    int i = var ? var->id - entry->nconsts : -1;

    return i >= 0 && i < entry->nins ? i : -1;
}

/* The axes of an entry of a spec; false: others may cut it, too. */
static bool entry_axes(jx_arena *arena, const jx_value *entry,
                       jx_axis_names *to)
{
    int count = entry->tag == JX_V_TEXT    ? 1
                : entry->tag == JX_V_TUPLE ? entry->count
                                           : 0;
    const char **at = JX_NEW_ARRAY(arena, count + 1, const char *);

    for (int i = 0; at && i < count; i++)
        at[i] = entry->tag == JX_V_TEXT ? entry->text : entry->items[i]->text;
    *to = (jx_axis_names){at ? count : 0, at};
    return at && !(count && !strcmp(at[0], "?"));
}

/* Where somebody says how an array lies from there on. */
static layout constrained(const looking *l, const jx_eqn *eqn)
{
    const jx_value *said = eqn->prim->id == JX_PRIM_sharding_constraint
                               ? jx_eqn_param(eqn, "sharding")
                               : jx_eqn_param(eqn, "dst_sharding");
    const jx_value *spec = said && said->tag == JX_V_SHARDING &&
                                   said->count == 1 && said->integer >= 0 &&
                                   said->integer < l->program->nmeshes
                               ? said->items[0]
                               : NULL;
    jx_arena *arena = l->program->ctx->arena;
    jx_axis_names *axes =
        spec ? JX_NEW_ARRAY(arena, spec->count + 1, jx_axis_names) : NULL;

    if (!axes || spec->unreduced || spec->reduced)
        return (layout){0};
    for (int i = 0; i < spec->count; i++)
        if (!entry_axes(arena, spec->items[i], &axes[i]))
            return (layout){0};
    return (layout){&l->program->meshes[said->integer], spec->count, axes};
}

static void look_at(looking *l, const jx_eqn *eqn)
{
    const jx_jaxpr *entry = l->program->entry.jaxpr;
    jx_arena *arena = l->program->ctx->arena;
    bool mapped = eqn->prim->id == JX_PRIM_shard_map;
    const jx_mesh *mesh;
    const jx_shardings *ins, *outs;

    if (eqn->prim->id == JX_PRIM_sharding_constraint ||
        eqn->prim->id == JX_PRIM_reshard)
        l->of[eqn->outs[0]->id] = constrained(l, eqn);
    if (!eqn->typed ||
        (!mapped && eqn->prim->id != JX_PRIM_sdy_manual_computation) ||
        !(mesh = jx_eqn_mesh(l->program, eqn)) ||
        !takes_all_axes(l->program, mesh, eqn))
        return;
    ins = mapped ? &((const jx_p_shard_map *)eqn->typed)->in_specs
                 : &((const jx_p_manual_computation *)eqn->typed)->in_shardings;
    outs = mapped
               ? &((const jx_p_shard_map *)eqn->typed)->out_specs
               : &((const jx_p_manual_computation *)eqn->typed)->out_shardings;
    for (int i = 0; i < eqn->nins; i++) {
        const jx_var *var = eqn->ins[i].var;
        int number = input_number(entry, var);
        layout from = var ? l->of[var->id] : (layout){0},
               to = layout_of(mesh, ins, i);
        if (number >= 0 && l->file && l->file->in_named &&
            number < l->file->nins)
            from = declared(arena, l->file->in_named[number], mesh);
        compare(l, mesh, &from, &to, jx_atom_aval(eqn->ins[i]), number, -1);
    }
    for (int i = 0; i < eqn->nouts; i++) {
        layout from = layout_of(mesh, outs, i);
        l->of[eqn->outs[i]->id] = from;
        for (int k = 0; k < entry->nouts; k++) {
            if (entry->outs[k].var != eqn->outs[i] || !l->file ||
                !l->file->out_named || k >= l->file->nouts)
                continue;
            layout to = declared(arena, l->file->out_named[k], mesh);
            compare(l, mesh, &from, &to, eqn->outs[i]->aval, -1, k);
        }
    }
}

static bool give_up(jx_ctx *ctx)
{
    if (ctx->error.kind != JX_E_LIMIT && !jx_arena_failed(ctx->arena))
        jx_error_clear(ctx);
    return jx_ok(ctx);
}

bool jx_reshards_of(jx_program *program, jx_reshards *to)
{
    looking l = {.file = program->exported, .to = to};
    jx_program *flat;

    *to = (jx_reshards){0};
    if (!jx_devices_any(program))
        return true;
    l.program = flat = jx_program_inline(program);
    if (!flat) /* nothing is known then */
        return give_up(program->ctx);
    l.of = JX_NEW_ARRAY(flat->ctx->arena, flat->entry.jaxpr->nvars + 1, layout);
    for (int i = 0; l.of && i < flat->entry.jaxpr->neqns; i++)
        look_at(&l, &flat->entry.jaxpr->eqns[i]);
    return jx_ok(program->ctx);
}

/* ---- words */

static void put_what(const jx_reshard *of, jx_buffer *to)
{
    if (of->input >= 0)
        jx_buffer_printf(to, "input %d", of->input);
    else if (of->result >= 0)
        jx_buffer_printf(to, "result %d", of->result);
    else
        jx_buffer_puts(to, "in between");
}

void jx_reshards_print(const jx_reshards *of, jx_buffer *to)
{
    if (of->all.count)
        jx_buffer_puts(
            to, "resharding that nobody wrote: a device receives at most\n");
    for (size_t i = 0; i < of->all.count; i++) {
        const jx_reshard *one = &of->all.at[i];
        jx_buffer_printf(to, "  %lld bytes of ", (long long)one->bytes);
        put_what(one, to);
        jx_utf8_printf(to, ", from %s to %s\n", one->from, one->to);
    }
}

void jx_reshards_json(const jx_reshards *of, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    for (size_t i = 0; i < of->all.count; i++) {
        const jx_reshard *one = &of->all.at[i];
        jx_buffer_puts(to, i ? ",{\"of\":\"" : "{\"of\":\"");
        put_what(one, to);
        jx_buffer_puts(to, "\",\"from\":");
        jx_json_put_text(to, one->from);
        jx_buffer_puts(to, ",\"to\":");
        jx_json_put_text(to, one->to);
        jx_buffer_printf(to, ",\"bytes\":%lld}", (long long)one->bytes);
    }
    jx_buffer_putc(to, ']');
}
