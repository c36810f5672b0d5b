/* split_mesh.c - splitting a shard_map: what its devices know now and the rest
 * needs to know is given by the one and taken by the other.
 *
 * A residual lies in parts, one of each device that may have another, which are
 * put together along the first axis; a scalar gets an axis for that. */
#include "analyzer/transform/mesh_parts.h"
#include "analyzer/transform/split_parts.h"

typedef struct parts {
    jx_splitting *w;
    const jx_eqn *eqn;
    const jx_split *s;
    const jx_value **specs; /* per residual */
    bool *scalar;           /* it gets an axis */
    bool any;
} parts;

static jx_program *program_of(const parts *p)
{
    return p->w->of->make->to;
}

/* The axes that the shard_map binds and over which a residual may differ, in
 * the order of the mesh. */
static jx_axis_names axes_of(const parts *p, const jx_aval *aval)
{
    const jx_p_shard_map *of = p->eqn->typed;
    jx_axis_names varying = {aval->varying.count, aval->varying.at};
    jx_sharding nowhere = {.rank = 0};
    int64_t devices;
    jx_axis_names all =
        jx_unmentioned(program_of(p), p->eqn, &nowhere, &devices);
    const char **at =
        JX_NEW_ARRAY(program_of(p)->ctx->arena, all.count, const char *);
    int count = 0;

    for (int i = 0; at && i < all.count; i++)
        if (!of->check_vma || jx_axis_is_among(varying, all.at[i]))
            at[count++] = all.at[i];
    return (jx_axis_names){count, at};
}

static bool begin(parts *p)
{
    jx_arena *arena = program_of(p)->ctx->arena;
    int nknown = p->s->known->nouts - p->s->nres;

    p->specs = JX_NEW_ARRAY(arena, p->s->nres + 1, const jx_value *);
    p->scalar = JX_NEW_ARRAY(arena, p->s->nres + 1, bool);
    for (int i = 0; p->specs && p->scalar && i < p->s->nres; i++) {
        const jx_aval *aval = jx_atom_aval(p->s->known->outs[nknown + i]);
        jx_axis_names axes = axes_of(p, aval);
        p->specs[i] = jx_spec_along(program_of(p), axes);
        p->scalar[i] = axes.count && !aval->rank;
        p->any |= p->scalar[i];
    }
    return p->specs && p->scalar && jx_ok(program_of(p)->ctx);
}

static jx_atom with_axis(jx_body *b, jx_atom a)
{
    const jx_dim *one[1] = {jx_body_int(b, 1)};

    return jx_build_reshape(b, a, 1, one);
}

/* Of `known`: its residuals that are scalars with an axis. */
static const jx_jaxpr *giving(parts *p)
{
    const jx_jaxpr *from = p->s->known;
    jx_making *make = p->w->of->make;
    jx_body *b = jx_body_new(&make->build, NULL);
    jx_atom *ins = JX_NEW_ARRAY(program_of(p)->ctx->arena,
                                from->nins + from->nouts + 1, jx_atom);
    int nknown = from->nouts - p->s->nres;

    if (!p->any)
        return from;
    if (!b || !ins)
        return NULL;
    for (int i = 0; i < from->nins; i++)
        ins[i] = jx_body_input(b, from->vars[from->nconsts + i]->aval);
    jx_atom *outs = ins + from->nins;
    if (!jx_making_enclose(make, b, from, ins, outs))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, i >= nknown && p->scalar[i - nknown]
                              ? with_axis(b, outs[i])
                              : outs[i]);
    return jx_body_finish(b, jx_no_atoms, from->function);
}

/* Of `rest`: it takes them so. */
static const jx_jaxpr *taking(parts *p)
{
    const jx_jaxpr *from = p->s->rest;
    jx_making *make = p->w->of->make;
    jx_body *b = jx_body_new(&make->build, NULL);
    jx_atom *ins = JX_NEW_ARRAY(program_of(p)->ctx->arena,
                                from->nins + from->nouts + 1, jx_atom);

    if (!p->any)
        return from;
    if (!b || !ins)
        return NULL;
    for (int i = 0; i < from->nins; i++) {
        const jx_aval *aval = from->vars[from->nconsts + i]->aval;
        bool scalar = i < p->s->nres && p->scalar[i];
        const jx_dim *one[1] = {jx_body_int(b, 1)};
        ins[i] = jx_body_input(
            b, scalar ? jx_body_aval(b, aval, aval->dtype, 1, one) : aval);
        if (scalar)
            ins[i] = jx_build_reshape(b, ins[i], 0, NULL);
    }
    jx_atom *outs = ins + from->nins;
    if (!jx_making_enclose(make, b, from, ins, outs))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, outs[i]);
    return jx_body_finish(b, jx_no_atoms, from->function);
}

/* The shard_map of what is known; its results. */
static const jx_atom *known_part(parts *p, const bool *unknown)
{
    jx_program *program = program_of(p);
    const jx_eqn *eqn = p->eqn;
    jx_specs ins = jx_specs_new(program, eqn->nins),
             outs = jx_specs_new(program, eqn->nouts + p->s->nres);
    jx_atom *atoms = JX_NEW_ARRAY(program->ctx->arena, eqn->nins + 1, jx_atom);
    const jx_jaxpr *body = giving(p);
    jx_params params;
    int n = 0;

    if (!ins.at || !outs.at || !atoms || !body)
        return NULL;
    for (int i = 0; i < eqn->nins; i++)
        if (!unknown[i]) {
            atoms[n++] = jx_split_known(p->w, eqn->ins[i]);
            jx_specs_add(&ins, jx_spec_in(eqn, i));
        }
    for (int i = 0; i < eqn->nouts; i++)
        if (!p->s->outs[i])
            jx_specs_add(&outs, jx_spec_out(eqn, i));
    for (int i = 0; i < p->s->nres; i++)
        jx_specs_add(&outs, p->specs[i]);
    params = jx_shard_map_like(program, eqn, body, &ins, &outs);
    return jx_build_all(&p->w->known, eqn->prim, &params, n, atoms, outs.count);
}

static const jx_atom *rest_part(parts *p, const bool *unknown,
                                const jx_atom *known)
{
    jx_program *program = program_of(p);
    const jx_eqn *eqn = p->eqn;
    int most = p->s->rest->nins, nknown = p->s->known->nouts - p->s->nres;
    jx_specs ins = jx_specs_new(program, most),
             outs = jx_specs_new(program, eqn->nouts);
    jx_atom *atoms = JX_NEW_ARRAY(program->ctx->arena, most + 1, jx_atom);
    const jx_jaxpr *body = taking(p);
    jx_params params;
    int n = 0;

    if (!ins.at || !outs.at || !atoms || !body)
        return NULL;
    for (int i = 0; i < p->s->nres; i++) {
        atoms[n++] = jx_split_residual(p->w, known[nknown + i]);
        jx_specs_add(&ins, p->specs[i]);
    }
    for (int i = 0; i < p->s->npassed; i++) {
        atoms[n++] = jx_split_rest(p->w, eqn->ins[p->s->passed[i]]);
        jx_specs_add(&ins, jx_spec_in(eqn, p->s->passed[i]));
    }
    for (int i = 0; i < eqn->nins; i++)
        if (unknown[i]) {
            atoms[n++] = jx_split_rest(p->w, eqn->ins[i]);
            jx_specs_add(&ins, jx_spec_in(eqn, i));
        }
    for (int i = 0; i < eqn->nouts; i++)
        if (p->s->outs[i])
            jx_specs_add(&outs, jx_spec_out(eqn, i));
    params = jx_shard_map_like(program, eqn, body, &ins, &outs);
    return jx_build_all(&p->w->rest, eqn->prim, &params, n, atoms, outs.count);
}

bool jx_split_shard_map(jx_splitting *w, const jx_eqn *eqn)
{
    parts p = {.w = w, .eqn = eqn};
    const jx_jaxpr *body = ((const jx_p_shard_map *)eqn->typed)->jaxpr.jaxpr;
    bool *unknown =
        JX_NEW_ARRAY(jx_making_arena(w->of->make), eqn->nins + 1, bool);
    const jx_atom *known, *rest;

    for (int i = 0; unknown && i < eqn->nins; i++)
        unknown[i] = jx_split_is_unknown(w, eqn->ins[i]);
    p.s = unknown ? jx_split_jaxpr(w->of, body, unknown, NULL, NULL) : NULL;
    if (!p.s || !begin(&p) || !(known = known_part(&p, unknown)))
        return false;
    jx_split_give_known(w, eqn, p.s->outs, known);
    rest = rest_part(&p, unknown, known);
    jx_split_give_rest(w, eqn, p.s->outs, rest);
    return rest != NULL;
}
