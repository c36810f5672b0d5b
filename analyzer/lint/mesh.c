/* mesh.c - what devices of a mesh hold and say to each other: the walk.
 *
 * From the entry on, calls inlined; loops until nothing changes, without a
 * word, then once more.  At a shard_map (or a sdy.manual_computation) axes are
 * bound: its operands vary over what cuts them, and results that lie on several
 * devices must not.
 *
 * A collective waits for its group.  Where a predicate decides whether it is
 * reached, all of a group must decide alike: that is so if the predicate does
 * not vary over an axis that the collective goes over, or is the same number on
 * all of each group. */
#include "analyzer/collective.h"
#include "analyzer/lint/mesh_facts.h"
#include "analyzer/transform/devices.h"

#include <string.h>

enum {
    MOST_DEPTH = 200,
    MOST_EQUATIONS = 2000000,
    MOST_DEVICES = 1024,
    MOST_TURNS = 64
};

static bool walk_jaxpr(jx_mesh_walk *w, const jx_closed *closed,
                       const jx_calls *calls, const jx_mesh_fact *ins,
                       jx_mesh_fact *outs);

static jx_mesh_fact *facts_of(const jx_mesh_walk *w, int count)
{
    return JX_NEW_ARRAY(jx_mesh_arena(w), count + 1, jx_mesh_fact);
}

static void unknown_outs(const jx_mesh_walk *w, const jx_eqn *eqn,
                         jx_mesh_fact *outs)
{
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_mesh_unknown(w, eqn->outs[i]->aval);
}

/* ---- predicates before collectives */

/* What devices would do that a predicate sends separate ways. */
typedef struct parting {
    jx_mesh_walk *w;
    const jx_mesh_fact *decides;
    const jx_eqn
        *found; /* a collective that some of a group would reach alone */
    char *seen; /* per jaxpr */
    bool sure;
} parting;

static bool differ_along(const parting *p, jx_axis_set axes)
{
    const jx_mesh *mesh = p->w->mesh;

    for (int64_t a = 0; a < p->w->devices; a++)
        for (int64_t b = a + 1; b < p->w->devices; b++) {
            bool together = true;
            for (int i = 0; together && i < mesh->naxes; i++)
                together = (axes >> i & 1) || jx_mesh_stand(mesh, a, i) ==
                                                  jx_mesh_stand(mesh, b, i);
            if (together && p->decides->known[a] != p->decides->known[b])
                return true;
        }
    return false;
}

static bool differ_in(const parting *p, const jx_ints *group)
{
    const int64_t *known = p->decides->known;
    int64_t first = -1;

    for (int i = 0; i < group->count; i++) {
        int64_t device = group->at[i];
        if (device < 0 || device >= p->w->devices)
            continue; /* -1 fills up a group */
        if (first >= 0 && known[device] != known[first])
            return true;
        first = device;
    }
    return false;
}

/* Those that send to each other as they like wait for all along the axes, the
 * others for their group alone. */
static bool differ_within(const parting *p, const jx_eqn *eqn, jx_axis_set axes)
{
    jx_collective c;

    if (jx_collective_of(jx_mesh_arena(p->w), p->w->mesh, eqn, &c) !=
            JX_COLLECTIVE_FITS ||
        c.all || c.kind == JX_COLLECTIVE_PERMUTE ||
        c.kind == JX_COLLECTIVE_BROADCAST)
        return differ_along(p, axes);
    for (int i = 0; i < c.groups.count; i++)
        if (differ_in(p, &c.groups.at[i]))
            return true;
    return false;
}

static void look_for_parting(parting *p, const jx_jaxpr *jaxpr, int depth);

static void look_into(parting *p, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        look_for_parting(p, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        look_into(p, value->items[i], depth);
}

static void look_for_parting(parting *p, const jx_jaxpr *jaxpr, int depth)
{
    if (depth > MOST_DEPTH || p->found || p->seen[jaxpr->id])
        return;
    p->seen[jaxpr->id] = true;
    for (int i = 0; i < jaxpr->neqns && !p->found; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        jx_axis_set axes = jx_mesh_joined(p->w, eqn);
        bool known = p->decides->known != NULL;
        if (axes & p->decides->varies &&
            (!known || differ_within(p, eqn, axes))) {
            p->found = eqn;
            p->sure = known;
        }
        for (int k = 0; k < eqn->nparams; k++)
            look_into(p, eqn->params[k].value, depth + 1);
    }
}

static void check_parting(jx_mesh_walk *w, const jx_mesh_place *at,
                          const jx_mesh_fact *decides, const char *what)
{
    parting p = {.w = w, .decides = decides};
    jx_claim *claim;

    if (!(decides->varies & w->bound) || w->silent)
        return;
    p.seen =
        JX_NEW_ARRAY(jx_mesh_arena(w), w->lint->program->njaxprs + 1, char);
    for (int i = 0; p.seen && i < at->eqn->nparams; i++)
        look_into(&p, at->eqn->params[i].value, 0);
    if (!p.found)
        return;
    claim = jx_mesh_claim(
        w, at, JX_CODE_MSH010,
        "%s differs along %s, and decides whether a device takes part in "
        "%s over %s: those that do wait for the others for ever, or get "
        "what they send elsewhere",
        what, jx_mesh_axes_text(w, decides->varies & w->bound),
        p.found->prim->name, jx_mesh_axes_text(w, jx_mesh_joined(w, p.found)));
    if (claim && p.sure) {
        claim->verdict = JX_REFUTED;
        claim->goal.kind = JX_GOAL_FALSE;
        claim->evidence.by = "evaluation for each device";
    } else if (claim) {
        claim->evidence.why = "it depends on inputs whether it ever differs";
    }
}

/* ---- control */

/* What a predicate that varies chooses varies, too. */
static void vary_with(const jx_mesh_walk *w, const jx_mesh_fact *decides, int n,
                      jx_mesh_fact *outs)
{
    for (int i = 0; i < n; i++) {
        outs[i].varies |= decides->varies & w->bound;
        outs[i].fixed &= decides->fixed;
        if (decides->varies)
            outs[i].known = NULL, outs[i].has_number = false;
    }
}

static bool walk_cond(jx_mesh_walk *w, const jx_mesh_place *at,
                      const jx_calls *calls, const jx_mesh_fact *ins,
                      jx_mesh_fact *outs)
{
    const jx_closed_list *list = &((const jx_p_cond *)at->eqn->typed)->branches;
    jx_mesh_fact *one = facts_of(w, at->eqn->nouts);

    check_parting(w, at, &ins[0], "what a branch is chosen by");
    for (int i = 0; one && i < list->count; i++) {
        if (!walk_jaxpr(w, &list->at[i], calls, ins + 1, one))
            return false;
        for (int k = 0; k < at->eqn->nouts; k++)
            outs[k] = i ? jx_mesh_either(w, &outs[k], &one[k]) : one[k];
    }
    vary_with(w, &ins[0], at->eqn->nouts, outs);
    return one && list->count;
}

/* Joins what a turn gives into what is carried; false if nothing changed. */
static bool carry(const jx_mesh_walk *w, int n, jx_mesh_fact *carried,
                  const jx_mesh_fact *given)
{
    bool changed = false;

    for (int i = 0; i < n; i++) {
        jx_mesh_fact both = jx_mesh_either(w, &carried[i], &given[i]);
        changed |= !jx_mesh_same_fact(&both, &carried[i], w->devices);
        carried[i] = both;
    }
    return changed;
}

/* An item along the first axis, and back. */
static jx_mesh_fact item_of(const jx_mesh_fact *a)
{
    jx_mesh_fact to = *a;

    to.rank = a->rank - 1;
    to.cut = a->cut ? a->cut + 1 : NULL;
    to.counts = a->counts ? a->counts + 1 : NULL;
    to.known = NULL;
    return to;
}

static jx_mesh_fact stacked(const jx_mesh_walk *w, const jx_mesh_fact *a)
{
    jx_mesh_fact to = *a;
    jx_axis_names *cut =
        a->cut ? JX_NEW_ARRAY(jx_mesh_arena(w), a->rank + 2, jx_axis_names)
               : NULL;

    for (int i = 0; cut && i < a->rank; i++)
        cut[i + 1] = a->cut[i];
    to.rank = a->rank + 1;
    to.cut = cut;
    to.counts = NULL;
    to.known = NULL;
    return to;
}

static bool walk_scan(jx_mesh_walk *w, const jx_mesh_place *at,
                      const jx_calls *calls, const jx_mesh_fact *ins,
                      jx_mesh_fact *outs)
{
    const jx_p_scan *p = at->eqn->typed;
    const jx_eqn *eqn = at->eqn;
    int nc = (int)p->num_consts, nk = (int)p->num_carry;
    jx_mesh_fact *given = facts_of(w, eqn->nins),
                 *made = facts_of(w, eqn->nouts);

    if (!given || !made || nc < 0 || nk < 0 || nc + nk > eqn->nins ||
        nk > eqn->nouts)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        given[i] = i < nc + nk ? ins[i] : item_of(&ins[i]);
    w->silent++;
    for (int turn = 0;; turn++) {
        if (turn == MOST_TURNS ||
            !walk_jaxpr(w, &p->jaxpr, calls, given, made)) {
            w->silent--;
            return false;
        }
        if (!carry(w, nk, given + nc, made))
            break;
    }
    w->silent--;
    if (!walk_jaxpr(w, &p->jaxpr, calls, given, made))
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = i < nk ? given[nc + i] : stacked(w, &made[i]);
    return true;
}

static bool walk_while(jx_mesh_walk *w, const jx_mesh_place *at,
                       const jx_calls *calls, const jx_mesh_fact *ins,
                       jx_mesh_fact *outs)
{
    const jx_p_while *p = at->eqn->typed;
    int nc = (int)p->cond_nconsts, nb = (int)p->body_nconsts,
        n = at->eqn->nouts;
    jx_mesh_fact *body = facts_of(w, nb + n), *cond = facts_of(w, nc + n);
    jx_mesh_fact *made = facts_of(w, n), ends[1];

    if (!body || !cond || !made || nc < 0 || nb < 0 ||
        nc + nb + n != at->eqn->nins)
        return false;
    memcpy(body, ins + nc, (size_t)(nb + n) * sizeof *body);
    memcpy(cond, ins, (size_t)nc * sizeof *cond);
    w->silent++;
    for (int turn = 0;; turn++) {
        memcpy(cond + nc, body + nb, (size_t)n * sizeof *cond);
        if (turn == MOST_TURNS ||
            !walk_jaxpr(w, &p->cond_jaxpr, calls, cond, ends) ||
            !walk_jaxpr(w, &p->body_jaxpr, calls, body, made)) {
            w->silent--;
            return false;
        }
        vary_with(w, &ends[0], n, made);
        if (!carry(w, n, body + nb, made))
            break;
    }
    w->silent--;
    if (!walk_jaxpr(w, &p->cond_jaxpr, calls, cond, ends) ||
        !walk_jaxpr(w, &p->body_jaxpr, calls, body, made))
        return false;
    check_parting(w, at, &ends[0], "what a loop ends by");
    memcpy(outs, body + nb, (size_t)n * sizeof *outs);
    vary_with(w, &ends[0], n, outs);
    return true;
}

/* ---- a computation of many devices */

typedef struct spread {
    jx_closed body;
    jx_shardings ins, outs;
    jx_axis_names bound;
} spread;

static bool spread_of(const jx_mesh_walk *w, const jx_eqn *eqn, spread *to)
{
    if (eqn->prim->id == JX_PRIM_sdy_manual_computation) {
        const jx_p_manual_computation *p = eqn->typed;
        *to = (spread){p->jaxpr, p->in_shardings, p->out_shardings,
                       p->manual_axes};
        return true;
    }
    if (eqn->prim->id != JX_PRIM_shard_map || jx_eqn_is_unknown(eqn))
        return false;
    const jx_p_shard_map *p = eqn->typed;
    *to = (spread){p->jaxpr, p->in_specs, p->out_specs,
                   jx_newly_manual(w->lint->program, eqn)};
    return true;
}

static bool same_sharding(const jx_sharding *a, const jx_sharding *b)
{
    static const jx_axis_names whole = {0, NULL};
    int most = a->rank > b->rank ? a->rank : b->rank;

    for (int i = 0; i < most; i++) {
        jx_axis_names x = i < a->rank ? a->axes[i] : whole;
        jx_axis_names y = i < b->rank ? b->axes[i] : whole;
        if (x.count != y.count)
            return false;
        for (int k = 0; k < x.count; k++)
            if (strcmp(x.at[k], y.at[k]) != 0)
                return false;
    }
    return true;
}

/* What a device has of an operand: a block, if its spec says so; what it gave
 * itself, if that was put together so. */
static jx_mesh_fact block_of(const jx_mesh_walk *w, const jx_mesh_fact *a,
                             const jx_sharding *how)
{
    jx_mesh_fact to = *a;
    jx_axis_names *cut =
        JX_NEW_ARRAY(jx_mesh_arena(w), a->rank + 1, jx_axis_names);

    if (a->inside && same_sharding(a->how, how))
        return *a->inside;
    to.inside = NULL;
    for (int i = 0; cut && i < a->rank; i++) {
        if (a->cut)
            cut[i] = a->cut[i];
        if (i >= how->rank || !how->axes[i].count)
            continue;
        jx_axis_set axes = jx_mesh_set_of(w, how->axes[i]) & w->bound;
        to.varies |= axes;
        if (axes)
            cut[i] = how->axes[i];
    }
    to.cut = cut;
    if (to.varies != a->varies)
        to.known = NULL;
    return to;
}

static jx_axis_set named_by(const jx_mesh_walk *w, const jx_sharding *how)
{
    jx_axis_set axes = 0;

    for (int i = 0; i < how->rank; i++)
        axes |= jx_mesh_set_of(w, how->axes[i]);
    return axes;
}

/* Run without jit, a shard_map keeps what each device has along one more axis,
 * and takes it off by a shard_map of its own: which results are the same was
 * said before that. */
static bool is_jaxs_own(const jx_eqn *eqn)
{
    const jx_p_shard_map *p =
        eqn->prim->id == JX_PRIM_shard_map ? eqn->typed : NULL;
    const jx_jaxpr *body = p ? p->jaxpr.jaxpr : NULL;

    return body && !p->check_vma && jx_is_of_jax(body) && body->neqns == 1 &&
           body->eqns[0].prim->id == JX_PRIM_squeeze;
}

/* Of a result that a spec calls the same on all devices along some axes. */
static void check_result(jx_mesh_walk *w, const jx_mesh_place *at, int i,
                         const jx_mesh_fact *a, jx_axis_set own,
                         const jx_sharding *how)
{
    jx_axis_set bad = a->varies & own & ~named_by(w, how);
    const char *axes = jx_mesh_axes_text(w, bad);

    if (bad && is_jaxs_own(at->eqn))
        return;
    jx_claim *claim;

    for (int k = 0; k < how->rank && a->cut && k < a->rank; k++) {
        jx_axis_names cut = a->cut[k];
        if (jx_mesh_set_of(w, cut) == jx_mesh_set_of(w, how->axes[k]) &&
            !jx_mesh_same_order(w, cut, how->axes[k]))
            jx_mesh_suspect(
                w, at, JX_CODE_MSH022,
                "axis %d of result %d is put together by axes in another order "
                "than the one in which it was cut",
                k, i);
    }
    if (!bad) {
        w->lint->to->settled += own && !w->silent;
        return;
    }
    if (bad & a->missed)
        claim = jx_mesh_claim(
            w, at, JX_CODE_MSH012,
            "result %d is a summand along %s, which its spec leaves out; "
            "what was summed up goes over another axis",
            i, axes);
    else if (bad & a->parts)
        claim = jx_mesh_claim(
            w, at, JX_CODE_MSH008,
            "result %d is a summand along %s, which its spec leaves out: "
            "that is no sum",
            i, axes);
    else
        claim = jx_mesh_claim(
            w, at, JX_CODE_MSH002,
            "result %d may differ along %s, which its spec leaves out: one "
            "device's is taken",
            i, axes);
    if (claim)
        claim->evidence.why = "nothing shows that all devices have the same";
}

/* ---- how arrays lie between computations */

/* Each device has what the wanted block is cut from: axes that cut it
 * already come first. */
static bool is_part_of(jx_axis_names wanted, jx_axis_names had)
{
    for (int i = 0; i < had.count; i++)
        if (i >= wanted.count || strcmp(wanted.at[i], had.at[i]) != 0)
            return false;
    return true;
}

static void put_cut(jx_buffer *to, const jx_axis_names *cut, int rank)
{
    jx_buffer_puts(to, "P(");
    for (int k = 0; k < rank; k++) {
        jx_buffer_puts(to, k ? ", " : "");
        jx_buffer_puts(to, cut[k].count > 1 ? "(" : cut[k].count ? "" : "None");
        for (int i = 0; i < cut[k].count; i++)
            jx_buffer_printf(to, "%s'%s'", i ? ", " : "", cut[k].at[i]);
        jx_buffer_puts(to, cut[k].count > 1 ? ")" : "");
    }
    jx_buffer_puts(to, ")");
}

/* A spec by axis of an array. */
static jx_axis_names *cut_by(const jx_mesh_walk *w, const jx_sharding *how,
                             int rank)
{
    jx_axis_names *cut =
        JX_NEW_ARRAY(jx_mesh_arena(w), rank + 1, jx_axis_names);

    for (int k = 0; cut && k < rank && k < how->rank; k++)
        cut[k] = how->axes[k];
    return cut;
}

static void check_operand(jx_mesh_walk *w, const jx_mesh_place *at, int i,
                          const jx_mesh_fact *a, const jx_sharding *how)
{
    jx_axis_names *wanted = a->cut ? cut_by(w, how, a->rank) : NULL;
    jx_buffer text = jx_ctx_text(w->lint->ctx);
    bool moves = false;

    for (int k = 0; wanted && k < a->rank; k++)
        moves |=
            jx_mesh_set_of(w, a->cut[k]) && !is_part_of(wanted[k], a->cut[k]);
    if (moves) {
        jx_buffer_printf(&text, "operand %d lies as ", i);
        put_cut(&text, a->cut, a->rank);
        jx_buffer_puts(&text, ", and is taken as ");
        put_cut(&text, wanted, a->rank);
        jx_mesh_suspect(w, at, JX_CODE_MSH024,
                        "%s: devices send it to each other before",
                        jx_buffer_text(&text));
    }
    jx_buffer_free(&text);
}

static jx_axis_names names_of(const jx_mesh_walk *w, const jx_value *item)
{
    int count = item->tag == JX_V_TEXT    ? 1
                : item->tag == JX_V_TUPLE ? item->count
                                          : 0;
    const char **at = JX_NEW_ARRAY(jx_mesh_arena(w), count + 1, const char *);

    for (int i = 0; at && i < count; i++)
        at[i] = item->tag == JX_V_TEXT ? item->text : item->items[i]->text;
    return (jx_axis_names){at ? count : 0, at};
}

/* Where somebody says how an array lies from there on. */
static void place(const jx_mesh_walk *w, const jx_eqn *eqn, jx_mesh_fact *out)
{
    const jx_value *said = eqn->prim->id == JX_PRIM_sharding_constraint
                               ? jx_eqn_param(eqn, "sharding")
                           : eqn->prim->id == JX_PRIM_reshard
                               ? jx_eqn_param(eqn, "dst_sharding")
                               : NULL;
    const jx_program *program = w->lint->program;
    jx_axis_names *cut;

    if (!said || said->tag != JX_V_SHARDING || said->count != 1 ||
        said->integer < 0 || said->integer >= program->nmeshes ||
        !jx_mesh_alike(&program->meshes[said->integer], w->mesh))
        return;
    cut = JX_NEW_ARRAY(jx_mesh_arena(w), out->rank + 1, jx_axis_names);
    for (int k = 0; cut && k < out->rank && k < said->items[0]->count; k++)
        cut[k] = names_of(w, said->items[0]->items[k]);
    out->cut = cut;
}

static bool use_mesh(jx_mesh_walk *w, const jx_mesh *mesh)
{
    if (w->mesh && jx_mesh_alike(w->mesh, mesh))
        return true;
    if (w->bound || mesh->naxes > JX_MOST_MESH_AXES)
        return false;
    w->mesh = mesh;
    w->devices = jx_mesh_devices(mesh, MOST_DEVICES);
    return w->devices > 0;
}

static bool walk_spread(jx_mesh_walk *w, const jx_mesh_place *at,
                        const jx_calls *calls, const spread *s,
                        const jx_mesh_fact *ins, jx_mesh_fact *outs)
{
    const jx_eqn *eqn = at->eqn;
    const jx_mesh *mesh = jx_eqn_mesh(w->lint->program, eqn), *before = w->mesh;
    jx_axis_set around = w->bound, own;
    jx_mesh_fact *given = facts_of(w, eqn->nins);
    bool ok, other;

    if (!mesh || !given || s->ins.count != eqn->nins ||
        s->outs.count != eqn->nouts || !use_mesh(w, mesh))
        return false;
    other = before && before != w->mesh;
    own = jx_mesh_set_of(w, s->bound);
    w->bound |= own;
    for (int i = 0; i < eqn->nins; i++) {
        jx_mesh_fact from =
            other ? (jx_mesh_fact){.rank = ins[i].rank, .fixed = ins[i].fixed}
                  : ins[i];
        if (!around)
            check_operand(w, at, i, &from, &s->ins.at[i]);
        if (!around)
            from.cut = NULL, from.counts = NULL;
        given[i] = block_of(w, &from, &s->ins.at[i]);
    }
    ok = walk_jaxpr(w, &s->body, calls, given, outs);
    for (int i = 0; ok && i < eqn->nouts; i++) {
        const jx_sharding *how = &s->outs.at[i];
        bool same = !(outs[i].varies & own & ~around & ~named_by(w, how));
        check_result(w, at, i, &outs[i], own & ~around, how);
        const jx_mesh_fact *inside =
            jx_arena_copy(jx_mesh_arena(w), &outs[i], sizeof outs[i]);
        outs[i] =
            (jx_mesh_fact){.varies = outs[i].varies & around,
                           .inside = same ? inside : NULL,
                           .how = how,
                           .fixed = outs[i].fixed,
                           .shared = outs[i].shared,
                           .narrowed = outs[i].narrowed,
                           .cut = around ? NULL : cut_by(w, how, outs[i].rank),
                           .rank = outs[i].rank};
    }
    w->bound = around;
    return ok;
}

/* ---- equations */

static bool walk_eqn(jx_mesh_walk *w, const jx_mesh_place *at,
                     const jx_mesh_fact *ins, jx_mesh_fact *outs)
{
    const jx_eqn *eqn = at->eqn;
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_calls *calls = JX_NEW(jx_mesh_arena(w), jx_calls);
    spread s;

    if (!calls)
        return false;
    *calls = (jx_calls){at->calls, at->jaxpr, eqn};
    if (!jx_typed_accepts(&w->lint->to->typed, at->jaxpr, eqn))
        return false;
    if (callee && callee->jaxpr->nins == eqn->nins &&
        callee->jaxpr->nouts == eqn->nouts)
        return walk_jaxpr(w, callee, calls, ins, outs);
    if (spread_of(w, eqn, &s))
        return walk_spread(w, at, calls, &s, ins, outs);
    switch (eqn->prim->id) {
    case JX_PRIM_cond: return walk_cond(w, at, calls, ins, outs);
    case JX_PRIM_scan: return walk_scan(w, at, calls, ins, outs);
    case JX_PRIM_while: return walk_while(w, at, calls, ins, outs);
    default: break;
    }
    if (!w->mesh || !w->bound) {
        if (!w->mesh)
            for (int i = 0; i < eqn->nouts; i++)
                outs[i] = (jx_mesh_fact){.rank = eqn->outs[i]->aval->rank};
        else
            jx_mesh_local(w, at, ins, outs);
        if (w->mesh && eqn->nouts == 1)
            place(w, eqn, &outs[0]);
        return true;
    }
    if (jx_eqn_is_unknown(eqn) || !jx_mesh_collective(w, at, ins, outs)) {
        jx_mesh_local(w, at, ins, outs);
        jx_mesh_look(w, at, ins, outs);
    }
    return true;
}

static jx_mesh_fact fact_of(const jx_mesh_walk *w, const jx_mesh_fact *env,
                            jx_atom atom)
{
    return atom.var  ? env[atom.var->id]
           : w->mesh ? jx_mesh_literal(w, atom.literal)
                     : (jx_mesh_fact){.fixed = true,
                                      .rank = atom.literal->aval->rank};
}

static bool walk_jaxpr(jx_mesh_walk *w, const jx_closed *closed,
                       const jx_calls *calls, const jx_mesh_fact *ins,
                       jx_mesh_fact *outs)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    jx_mesh_fact *env = facts_of(w, jaxpr->nvars), *given;
    int most = 0;

    for (int i = 0; i < jaxpr->neqns; i++) {
        most = jaxpr->eqns[i].nins > most ? jaxpr->eqns[i].nins : most;
        most = jaxpr->eqns[i].nouts > most ? jaxpr->eqns[i].nouts : most;
    }
    given = facts_of(w, 2 * most);
    w->left -= jaxpr->neqns + 1;
    if (!env || !given || w->left < 0 || ++w->depth > MOST_DEPTH)
        return false;
    for (int i = 0; i < jaxpr->nconsts; i++)
        env[i] =
            (jx_mesh_fact){.fixed = true, .rank = jaxpr->vars[i]->aval->rank};
    for (int i = 0; i < jaxpr->nins; i++)
        env[jaxpr->nconsts + i] = ins[i];
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        jx_mesh_place at = {jaxpr, calls, eqn};
        for (int k = 0; k < eqn->nins; k++)
            given[k] = fact_of(w, env, eqn->ins[k]);
        memset(given + most, 0, (size_t)eqn->nouts * sizeof *given);
        if (!walk_eqn(w, &at, given, given + most)) {
            if (w->left < 0 || w->depth > MOST_DEPTH)
                return false;
            unknown_outs(w, eqn, given + most);
        }
        for (int k = 0; k < eqn->nouts; k++)
            env[eqn->outs[k]->id] = given[most + k];
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        outs[i] = fact_of(w, env, jaxpr->outs[i]);
    w->depth--;
    return true;
}

/* The mesh of the program, if there is but one: others are empty. */
static const jx_mesh *only_mesh(const jx_program *program)
{
    const jx_mesh *found = NULL;

    for (int i = 0; i < program->nmeshes; i++) {
        const jx_mesh *mesh = &program->meshes[i];
        if (found && mesh->naxes && !jx_mesh_alike(found, mesh))
            return NULL;
        found = mesh->naxes ? mesh : found;
    }
    return found;
}

bool jx_lint_mesh(jx_linter *lint)
{
    const jx_closed *entry = &lint->program->entry;
    jx_mesh_walk w = {.lint = lint, .left = MOST_EQUATIONS};
    jx_mesh_fact *ins, *outs;

    if (!jx_devices_any(lint->program))
        return true;
    /* what comes before counts its devices, too */
    if (only_mesh(lint->program))
        use_mesh(&w, only_mesh(lint->program));
    ins = facts_of(&w, entry->jaxpr->nins);
    outs = facts_of(&w, entry->jaxpr->nouts);
    for (int i = 0; ins && i < entry->jaxpr->nins; i++)
        ins[i].rank = entry->jaxpr->vars[entry->jaxpr->nconsts + i]->aval->rank;
    if (ins && outs && !walk_jaxpr(&w, entry, NULL, ins, outs))
        JX_PUSH(lint->ctx->arena, &lint->to->assumptions,
                "devices agree and take part where they should: the program is "
                "too large "
                "to follow them");
    return jx_ok(lint->ctx);
}
