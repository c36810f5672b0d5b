/* stablehlo_exported.c - the program of an exported file: a jaxpr with the
 * file's own inputs and outputs around the module's.
 *
 * The module takes, in this order, the platform's index (where there are
 * several), the inputs that it keeps, as arrays: keys are their u32 data, and
 * float0, which has no values, is false everywhere. */
#include "frontend/read/stablehlo.h"

#include "frontend/read/exported_paths.h"
#include "frontend/read/stablehlo_parts.h"

typedef struct wrapping {
    jx_hlo_reader *s;
    jx_hlo_body *b;
    const jx_exported *x;
    const jx_mlir_op *main;
} wrapping;

/* ---- avals */

/* What the file declares. */
static const jx_aval *declared(wrapping *w, const jx_exported_aval *of)
{
    const char *memory = jx_exported_memory(of);
    jx_aval aval = {.dtype = of->dtype, .rank = of->rank};

    aval.shape = jx_exported_shape(w->s->program->dims, w->x, of, 0);
    if (of->impl)
        aval.impl = jx_intern_text(w->s->ctx, of->impl);
    if (memory && !strcmp(memory, "host"))
        aval.memory_space = jx_intern_text(w->s->ctx, memory);
    return aval.shape ? jx_aval_add(&w->s->program->avals, &aval) : NULL;
}

/* Keys are arrays of u32 to the module, float0 are booleans. */
static const jx_aval *physical(wrapping *w, const jx_aval *aval,
                               const jx_aval *like)
{
    const jx_dim *shape[JX_HLO_RANK];
    int rank = aval->rank;

    if (aval->dtype == JX_FLOAT0)
        return jx_aval_array(&w->s->program->avals, JX_BOOL, false, rank,
                             aval->shape);
    if (aval->dtype != JX_KEY || rank + 1 >= JX_HLO_RANK ||
        like->rank != rank + 1)
        return aval;
    for (int i = 0; i < rank; i++)
        shape[i] = aval->shape[i];
    shape[rank] = like->shape[rank];
    return jx_aval_array(&w->s->program->avals, JX_U32, false, rank + 1,
                         shape);
}

/* ---- inputs */

static jx_atom platform_index(wrapping *w)
{
    const jx_aval *scalar = jx_hlo_array(w->b, JX_I32, 0, NULL);
    const jx_value **items = JX_NEW_ARRAY(w->s->ctx->arena,
                                          w->x->platforms.count,
                                          const jx_value *);
    jx_params p = jx_hlo_no_params(w->b);

    for (int i = 0; items && i < w->x->platforms.count; i++) {
        const char *name = jx_intern_text(w->s->ctx, w->x->platforms.at[i]);
        const jx_value *text = jx_value_add(
            &w->s->program->values,
            &(jx_value){.tag = JX_V_TEXT, .text = name});
        items[i] = jx_value_of_tuple(w->s->program, 1, &text);
    }
    if (!items)
        return (jx_atom){NULL, NULL};
    jx_put(&p, "platforms",
           jx_value_of_tuple(w->s->program, w->x->platforms.count, items));
    return jx_hlo_eqn(w->b, JX_PRIM_platform_index, 0, NULL, &p, scalar);
}

static jx_atom taken(wrapping *w, jx_atom input, const jx_aval *wanted)
{
    const jx_aval *aval = jx_atom_aval(input);

    if (aval->dtype == JX_KEY)
        return jx_hlo_eqn1(w->b, JX_PRIM_random_unwrap, input,
                           physical(w, aval, wanted));
    if (aval->dtype == JX_FLOAT0)
        return jx_hlo_eqn_broadcast(w->b, jx_build_number(&w->b->body, JX_BOOL, 0),
                                    aval->rank, aval->shape);
    return input;
}

/* The module's arguments, from the file's inputs. */
static bool arguments(wrapping *w, const jx_atom *inputs,
                      const jx_jaxpr *inner, jx_atom *to)
{
    int before = inner->nins - w->x->nkept;

    for (int i = 0; i < before; i++)
        to[i] = platform_index(w);
    for (int i = 0; i < w->x->nkept; i++)
        to[before + i] = taken(w, inputs[w->x->kept[i]],
                               inner->vars[before + i]->aval);
    return jx_ok(w->s->ctx);
}

/* ---- outputs */

static jx_atom given(wrapping *w, jx_atom result, const jx_aval *wanted)
{
    jx_params p = jx_hlo_no_params(w->b);

    if (wanted->dtype != JX_KEY)
        return result;
    jx_put(&p, "impl",
           jx_value_add(&w->s->program->values,
                        &(jx_value){.tag = JX_V_IMPL,
                                         .text = wanted->impl}));
    return jx_hlo_eqn(w->b, JX_PRIM_random_wrap, 1, &result, &p, wanted);
}

/* The call of the module's function declares what the file declares. */
static const jx_atom *call(wrapping *w, const jx_jaxpr *inner,
                           const jx_atom *ins, const jx_aval *const *wanted)
{
    const jx_aval **outs = JX_NEW_ARRAY(w->s->ctx->arena, inner->nouts,
                                        const jx_aval *);
    jx_params p = jx_hlo_no_params(w->b);

    for (int i = 0; outs && i < inner->nouts; i++)
        outs[i] = physical(w, wanted[i], jx_atom_aval(inner->outs[i]));
    jx_put_jaxpr(&p, "jaxpr", inner);
    jx_put_text(&p, "name", w->x->name ? w->x->name : "main");
    return outs ? jx_hlo_eqn_all(w->b, jx_prim_of(JX_PRIM_jit), inner->nins,
                                 ins, &p, inner->nouts, outs)
                : NULL;
}

/* ---- names */

/* What the function calls its inputs, for those that the module keeps. */
static const char *const *arg_names(wrapping *w, const jx_jaxpr *inner)
{
    const char **names = JX_NEW_ARRAY(w->s->ctx->arena, w->x->nins,
                                      const char *);
    int before = inner->nins - w->x->nkept;

    if (!names || !inner->arg_names)
        return NULL;
    for (int i = 0; i < w->x->nins; i++)
        names[i] = "";
    for (int i = 0; i < w->x->nkept; i++)
        names[w->x->kept[i]] = inner->arg_names[before + i];
    return names;
}

/* ---- the whole */

static bool misfit(wrapping *w, const char *what, int expected, int found)
{
    return jx_fail(w->s->ctx, JX_E_INPUT, w->x->path, NULL,
                   "expected the module's main to have %d %s, as the file "
                   "says; found %d", expected, what, found);
}

static const jx_jaxpr *wrap(wrapping *w, const jx_jaxpr *inner)
{
    const jx_aval **outs = JX_NEW_ARRAY(w->s->ctx->arena, w->x->nouts,
                                        const jx_aval *);
    jx_atom *inputs = JX_NEW_ARRAY(w->s->ctx->arena, w->x->nins, jx_atom);
    jx_atom *args = JX_NEW_ARRAY(w->s->ctx->arena, inner->nins, jx_atom);
    int before = inner->nins - w->x->nkept;

    if (!outs || !inputs || !args)
        return NULL;
    if (inner->nouts != w->x->nouts)
        return misfit(w, "results", w->x->nouts, inner->nouts), NULL;
    if (before != (w->x->platforms.count > 1))
        return misfit(w, "arguments",
                      w->x->nkept + (w->x->platforms.count > 1),
                      inner->nins), NULL;
    for (int i = 0; i < w->x->nins; i++) {
        const jx_aval *aval = declared(w, w->x->in_avals[i]);
        if (!aval)
            return NULL;
        inputs[i] = jx_body_input(&w->b->body, aval);
    }
    for (int i = 0; i < w->x->nouts; i++)
        if (!(outs[i] = declared(w, w->x->out_avals[i])))
            return NULL;
    if (!arguments(w, inputs, inner, args))
        return NULL;
    const jx_atom *results = call(w, inner, args, outs);
    for (int i = 0; results && i < w->x->nouts; i++)
        JX_PUSH(w->s->ctx->arena, &w->b->body.results,
                given(w, results[i], outs[i]));
    jx_jaxpr *made = results
                         ? jx_hlo_body_finish(w->b, (jx_atoms){0, NULL},
                                              w->x->name)
                         : NULL;
    if (made) {
        const char *const *ins;
        made->arg_names = arg_names(w, inner);
        jx_exported_document_paths(w->s->ctx, w->x, &ins,
                                   &made->result_paths);
    }
    return made;
}

/* The shapes of the kept inputs, as the module has them. */
static bool shapes_of(wrapping *w, jx_hlo_shapes *to)
{
    jx_dim_shape *at = JX_NEW_ARRAY(w->s->ctx->arena, w->x->nkept,
                                    jx_dim_shape);

    for (int i = 0; at && i < w->x->nkept; i++) {
        const jx_exported_aval *aval = w->x->in_avals[w->x->kept[i]];
        const jx_dim *const *dims =
            jx_exported_shape(w->s->program->dims, w->x, aval, 0);
        if (!dims)
            return false;
        at[i] = (jx_dim_shape){aval->rank, dims};
        if (aval->dtype == JX_KEY)
            at[i] = (jx_dim_shape){-1, NULL};
    }
    *to = (jx_hlo_shapes){w->x->nkept, at};
    return at != NULL;
}

/* Sizes that are values of the module's arguments are those of the file's
 * inputs. */
static void put_valued(jx_program *made)
{
    const jx_tree_entry *entry = made->tree_entry;
    jx_valued *to = JX_NEW_ARRAY(made->ctx->arena, made->nvalued + 1, jx_valued);
    int count = 0;

    for (int i = 0; to && entry && i < made->nvalued; i++) {
        to[count] = made->valued[i];
        to[count].input = to[count].input < entry->nargs
                              ? entry->inputs[to[count].input]
                              : -1;
        count += to[count].input >= 0;
    }
    made->nvalued = count;
    made->valued = to;
}

jx_program *jx_read_exported_program(const jx_mlir_file *file,
                                     const jx_exported *exported,
                                     jx_infer_open *infer)
{
    wrapping w = {.x = exported};
    const jx_jaxpr *inner, *outer;
    jx_hlo_shapes shapes;
    jx_hlo_reader s;

    if (!jx_hlo_begin_reading(&s, file, infer))
        return NULL;
    w.s = &s;
    w.b = jx_hlo_body_new(&s, NULL);
    s.module = file->nmodules == 1 ? file->modules[0] : NULL;
    w.main = s.module ? jx_mlir_symbol(s.module, "main") : NULL;
    if (!w.b || !w.main || w.main->id != JX_OP_func_func) {
        jx_fail(s.ctx, JX_E_INPUT, exported->path, NULL,
                "expected a module with a function `main`");
        return NULL;
    }
    w.b->op = w.main;
    if (!shapes_of(&w, &shapes))
        return NULL;
    inner = jx_hlo_entry(&s, w.main, &shapes);
    outer = inner ? wrap(&w, inner) : NULL;
    jx_program *made = jx_hlo_end(&s, outer, exported->name);
    if (made) {
        jx_exported_document_paths(s.ctx, exported, &made->in_paths,
                                   &made->out_paths);
        made->jax_version = exported->jax_version;
        made->exported = exported;
        made->tree_entry = jx_hlo_tree_entry(&s, w.main, exported->nkept,
                                             exported->kept);
        put_valued(made);
    }
    return made;
}
