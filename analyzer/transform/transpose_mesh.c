/* transpose_mesh.c - transposes of a shard_map and of what its devices say
 * to each other.
 *
 * With varying types a value that is the same on all devices has one cotangent,
 * which is the same: where it becomes one that may differ (pvary), the
 * cotangents of all are added up, and a sum over devices gives its cotangent to
 * each.  Without them (check_vma=False) nothing says what is the same, and psum
 * stands for both: a cotangent of what a spec calls replicated is cut into
 * equal parts at the results and added up at the operands, as in JAX. */
#include "analyzer/transform/mesh_parts.h"
#include "analyzer/transform/transpose_parts.h"

/* ---- collectives */

static jx_params no_params(const jx_transpose *t)
{
    return (jx_params){.program = t->b->in->program};
}

static bool give(jx_transpose *t, jx_prim_id prim, jx_params *p)
{
    return jx_transpose_give(t, 0, jx_build(t->b, prim, p, 1, &t->cts[0]));
}

bool jx_transpose_psum_invariant(jx_transpose *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);

    return jx_transpose_give(t, 0, jx_mesh_pvary(t->b, t->cts[0], axes));
}

bool jx_transpose_pvary(jx_transpose *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);

    return jx_transpose_give(t, 0,
                             jx_mesh_psum_invariant(t->b, t->cts[0], axes));
}

/* Back the way that it came. */
bool jx_transpose_ppermute(jx_transpose *t)
{
    static const char *const without[] = {"perm", NULL};
    const jx_groups perm = ((const jx_p_ppermute *)t->eqn->typed)->perm;
    jx_params p = jx_transpose_others(t, without);
    const jx_value **pairs =
        JX_NEW_ARRAY(jx_transpose_arena(t), perm.count + 1, const jx_value *);

    for (int i = 0; pairs && i < perm.count; i++) {
        const int64_t back[2] = {perm.at[i].at[1], perm.at[i].at[0]};
        pairs[i] = jx_value_of_ints(p.program, (jx_ints){2, back});
    }
    jx_put(&p, "perm",
           pairs ? jx_value_of_tuple(p.program, perm.count, pairs) : NULL);
    return give(t, JX_PRIM_ppermute, &p);
}

bool jx_transpose_mesh_gather(jx_transpose *t)
{
    static const char *const without[] = {"all_gather_dimension", NULL};
    const jx_p_mesh_gather *s = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);

    jx_put_int(&p, "scatter_dimension", s->all_gather_dimension);
    return give(t, JX_PRIM_reduce_scatter, &p);
}

bool jx_transpose_mesh_scatter(jx_transpose *t)
{
    static const char *const without[] = {"scatter_dimension", NULL};
    const jx_p_mesh_scatter *s = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);

    jx_put_int(&p, "all_gather_dimension", s->scatter_dimension);
    return give(t, JX_PRIM_all_gather, &p);
}

bool jx_transpose_mesh_exchange(jx_transpose *t)
{
    static const char *const without[] = {"split_axis", "concat_axis", NULL};
    const jx_p_mesh_exchange *s = t->eqn->typed;
    jx_params p = jx_transpose_others(t, without);

    jx_put_int(&p, "split_axis", s->concat_axis);
    jx_put_int(&p, "concat_axis", s->split_axis);
    return give(t, JX_PRIM_all_to_all, &p);
}

/* What each device says of the others, as they have to know it. */
static jx_atom told(jx_transpose *t, jx_atom row)
{
    static const char *const without[] = {NULL};
    jx_params p = jx_transpose_others(t, without);

    jx_put_int(&p, "split_axis", 0);
    jx_put_int(&p, "concat_axis", 0);
    jx_put_bool(&p, "tiled", true);
    return jx_build(t->b, JX_PRIM_all_to_all, &p, 1, &row);
}

/* Rows go back to whom they came from.  What was there before keeps its
 * cotangent where nothing came, which is what zeros that are sent leave. */
bool jx_transpose_mesh_ragged(jx_transpose *t)
{
    enum { OPERAND, OUTPUT, INPUT_OFFSETS, SEND, OUTPUT_OFFSETS, RECEIVE, ALL };
    static const char *const without[] = {NULL};
    const jx_aval *operand = jx_transpose_in(t, OPERAND);
    jx_atom zeros = jx_build_zeros(t->b, operand);

    if (jx_is_linear(t, OPERAND)) {
        const jx_atom back[ALL] = {t->cts[0],
                                   zeros,
                                   told(t, t->ins[OUTPUT_OFFSETS]),
                                   t->ins[RECEIVE],
                                   told(t, t->ins[INPUT_OFFSETS]),
                                   t->ins[SEND]};
        jx_params p = jx_transpose_others(t, without);
        if (!jx_transpose_give(
                t, OPERAND,
                jx_build(t->b, JX_PRIM_ragged_all_to_all, &p, ALL, back)))
            return false;
    }
    if (jx_is_linear(t, OUTPUT)) {
        const jx_atom kept[ALL] = {zeros,
                                   t->cts[0],
                                   t->ins[INPUT_OFFSETS],
                                   t->ins[SEND],
                                   t->ins[OUTPUT_OFFSETS],
                                   t->ins[RECEIVE]};
        jx_params p = jx_transpose_others(t, without);
        return jx_transpose_give(
            t, OUTPUT,
            jx_build(t->b, JX_PRIM_ragged_all_to_all, &p, ALL, kept));
    }
    return true;
}

/* Where a device stands along an axis, in words of all the names. */
static jx_atom place_along(jx_transpose *t, jx_axis_names axes)
{
    const jx_bound_axes *bound = t->eqn->ctx ? t->eqn->ctx->axes : NULL;
    const jx_mesh *mesh =
        bound ? &t->b->in->program->meshes[bound->mesh] : NULL;
    jx_atom at = {NULL, NULL};

    for (int i = 0; mesh && i < axes.count; i++) {
        jx_params p = no_params(t);
        int axis = jx_mesh_axis(mesh, axes.at[i]);
        jx_put_text(&p, "axis_name", axes.at[i]);
        jx_atom one = jx_build(t->b, JX_PRIM_axis_index, &p, 0, NULL);
        at = i == 0 || axis < 0
                 ? one
                 : jx_math_2(t->b, JX_PRIM_add,
                             jx_math_times(t->b, at, (double)mesh->sizes[axis]),
                             one);
    }
    return at;
}

/* What all devices got comes from one of them, which gets the sum. */
bool jx_transpose_pbroadcast(jx_transpose *t)
{
    jx_axis_names axes = jx_eqn_mesh_axes(t->eqn);
    double source = (double)((const jx_p_pbroadcast *)t->eqn->typed)->source;
    const jx_aval *aval = jx_atom_aval(t->cts[0]);
    jx_atom place = place_along(t, axes), ins[3];
    jx_params p = no_params(t);
    bool typed = !jx_names_missing(t->b->in->program,
                                   (jx_names){axes.count, axes.at}, aval)
                      .count;

    if (!jx_is_made(place))
        return false;
    ins[0] =
        jx_math_2(t->b, JX_PRIM_eq, place, jx_math_number(t->b, place, source));
    ins[1] = jx_build_zeros(t->b, aval);
    ins[2] =
        typed ? jx_mesh_pvary(
                    t->b, jx_mesh_psum_invariant(t->b, t->cts[0], axes), axes)
              : jx_mesh_psum(t->b, t->cts[0], axes);
    return jx_transpose_give(t, 0,
                             jx_build(t->b, JX_PRIM_select_n, &p, 3, ins));
}

/* Each device takes its own part of the cotangent. */
bool jx_transpose_mesh_gather_invariant(jx_transpose *t)
{
    const jx_p_mesh_gather *s = t->eqn->typed;
    const jx_aval *to = jx_transpose_in(t, 0), *from = jx_atom_aval(t->cts[0]);
    jx_program *program = t->b->in->program;
    int64_t axis = s->all_gather_dimension;
    const jx_dim **sizes =
        JX_NEW_ARRAY(jx_transpose_arena(t), from->rank, const jx_dim *);
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(t), from->rank + 1, jx_atom);
    jx_atom place = place_along(t, s->axis_name), ct;
    jx_params p = no_params(t);
    int64_t size = 1;

    if (!sizes || !ins || !jx_is_made(place))
        return false;
    if (s->tiled && !jx_dim_is_int(to->shape[axis], &size))
        return jx_transpose_refuse(t, "the size of a part is no number");
    for (int i = 0; i < from->rank; i++) {
        sizes[i] = i == axis ? jx_body_int(t->b, size) : from->shape[i];
        ins[i + 1] = i == axis ? jx_math_times(t->b, place, (double)size)
                               : jx_build_number(t->b, JX_I32, 0);
    }
    ins[0] = jx_mesh_pvary(t->b, t->cts[0], s->axis_name);
    jx_put_dims(&p, "slice_sizes", from->rank, sizes);
    ct = jx_build(t->b, JX_PRIM_dynamic_slice, &p, from->rank + 1, ins);
    (void)program;
    return jx_transpose_give(
        t, 0, s->tiled ? ct : jx_build_reshape(t->b, ct, to->rank, to->shape));
}

/* ---- the map */

typedef struct back {
    jx_transpose *t;
    const jx_p_shard_map *p;
    const jx_jaxpr *body;
    bool *linear, *cts;
    const jx_transposed *made;
} back;

static bool begin(back *w)
{
    const jx_eqn *eqn = w->t->eqn;
    jx_arena *arena = jx_transpose_arena(w->t);

    w->linear = JX_NEW_ARRAY(arena, eqn->nins + 1, bool);
    w->cts = JX_NEW_ARRAY(arena, eqn->nouts + 1, bool);
    for (int i = 0; w->linear && i < eqn->nins; i++)
        w->linear[i] = jx_is_linear(w->t, i);
    for (int i = 0; w->cts && i < eqn->nouts; i++)
        w->cts[i] = jx_is_made(w->t->cts[i]);
    return w->linear && w->cts;
}

/* The axes that a spec names, as a set of a type. */
static jx_names named_by(back *w, const jx_sharding *spec)
{
    JX_VEC(const char *) all = {0};

    for (int i = 0; i < spec->rank; i++)
        for (int k = 0; k < spec->axes[i].count; k++)
            JX_PUSH(jx_transpose_arena(w->t), &all, spec->axes[i].at[k]);
    return (jx_names){(int)all.count, all.at};
}

/* A cotangent as a device gets it: it varies over all that its spec
 * names, though the result may be one that does not, which then is what
 * all of them gave. */
static jx_atom cotangent(back *w, jx_body *b, int i)
{
    const jx_aval *aval = jx_atom_aval(w->body->outs[i]);
    jx_axis_names more = {0, NULL};
    jx_atom ct;

    if (w->p->check_vma)
        more = jx_names_missing(b->in->program,
                                named_by(w, &w->p->out_specs.at[i]), aval);
    ct = jx_body_input(b, more.count ? jx_aval_over(b->in->program, aval, more)
                                     : aval);
    return jx_mesh_psum_invariant(b, ct, more);
}

/* The body that takes what is not linear, then cotangents. */
static const jx_jaxpr *body_back(back *w)
{
    const jx_eqn *eqn = w->t->eqn;
    jx_making *make = w->t->of->make;
    jx_body *b = jx_body_new(&make->build, NULL);
    const jx_jaxpr *from = w->made->jaxpr;
    jx_atom *ins = JX_NEW_ARRAY(jx_transpose_arena(w->t),
                                from->nins + from->nouts + 1, jx_atom);
    int n = 0;

    if (!b || !ins)
        return NULL;
    b->place.ctx = jx_context_inside(make->to, eqn);
    for (int i = 0; i < eqn->nins; i++)
        if (!w->linear[i])
            ins[n++] =
                jx_body_input(b, w->body->vars[w->body->nconsts + i]->aval);
    for (int i = 0; i < eqn->nouts; i++)
        if (w->cts[i])
            ins[n++] = cotangent(w, b, i);
    jx_atom *outs = ins + from->nins;
    jx_place place = b->place;
    if (!jx_making_enclose(make, b, from, ins, outs))
        return NULL;
    b->place = place;
    n = 0;
    for (int i = 0; i < eqn->nins; i++) {
        int64_t devices;
        if (!w->linear[i] || !w->made->ins[i])
            continue;
        jx_atom out = outs[n++];
        if (!w->p->check_vma)
            out = jx_mesh_psum(
                b, out,
                jx_unmentioned(make->to, eqn, &w->p->in_specs.at[i], &devices));
        jx_body_result(b, out);
    }
    return jx_body_finish(b, jx_no_atoms, w->body->function);
}

/* A cotangent as the map gets it. */
static jx_atom divided(back *w, int i)
{
    jx_transpose *t = w->t;
    int64_t devices = 1;

    if (!w->p->check_vma)
        jx_unmentioned(t->b->in->program, t->eqn, &w->p->out_specs.at[i],
                       &devices);
    return devices == 1
               ? t->cts[i]
               : jx_math_2(t->b, JX_PRIM_div, t->cts[i],
                           jx_math_number(t->b, t->cts[i], (double)devices));
}

bool jx_transpose_shard_map(jx_transpose *t)
{
    const jx_eqn *eqn = t->eqn;
    jx_program *program = t->b->in->program;
    back w = {.t = t, .p = eqn->typed};
    jx_specs ins = jx_specs_new(program, eqn->nins + eqn->nouts),
             outs = jx_specs_new(program, eqn->nins);
    jx_atom *atoms = JX_NEW_ARRAY(jx_transpose_arena(t),
                                  eqn->nins + eqn->nouts + 1, jx_atom);
    const jx_atom *made;
    const jx_jaxpr *body;
    jx_params p;
    int n = 0;

    w.body = w.p->jaxpr.jaxpr;
    if (!ins.at || !outs.at || !atoms || !begin(&w))
        return false;
    w.made = jx_transpose_jaxpr(t->of, w.body, w.linear, w.cts, NULL);
    if (!w.made || !(body = body_back(&w)))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!w.linear[i]) {
            atoms[n++] = t->ins[i];
            jx_specs_add(&ins, jx_spec_in(eqn, i));
        } else if (w.made->ins[i]) {
            jx_specs_add(&outs, jx_spec_in(eqn, i));
        }
    for (int i = 0; i < eqn->nouts; i++)
        if (w.cts[i]) {
            atoms[n++] = divided(&w, i);
            jx_specs_add(&ins, jx_spec_out(eqn, i));
        }
    p = jx_shard_map_like(program, eqn, body, &ins, &outs);
    made = jx_build_all(t->b, eqn->prim, &p, n, atoms, outs.count);
    for (int i = 0, k = 0; made && i < eqn->nins; i++)
        if (w.linear[i] && w.made->ins[i])
            t->gives[i] = made[k++];
    return made != NULL;
}
