/* stablehlo_exported.c - a jaxpr with inputs and outputs of JAX's types
 * around a module that jax.export made: that of an exported file, or what an
 * equation calls.
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
    const char *path; /* where the module is, for messages */
    jx_callee of;
    const jx_mlir_op *main;
} wrapping;

/* ---- avals */

/* What the file declares. */
static const jx_aval *declared(jx_hlo_reader *s, const jx_exported *x,
                               const jx_exported_aval *of)
{
    const char *memory = jx_exported_memory(of);
    jx_aval aval = {.dtype = of->dtype, .rank = of->rank};

    aval.shape = jx_exported_shape(s->program->dims, x, of, 0);
    if (of->impl)
        aval.impl = jx_intern_text(s->ctx, of->impl);
    if (memory && !strcmp(memory, "host"))
        aval.memory_space = jx_intern_text(s->ctx, memory);
    return aval.shape ? jx_aval_add(&s->program->avals, &aval) : NULL;
}

static const jx_aval *const *all_declared(jx_hlo_reader *s,
                                          const jx_exported *x,
                                          const jx_exported_aval *const *of,
                                          int count)
{
    const jx_aval **avals = JX_NEW_ARRAY(s->ctx->arena, count, const jx_aval *);

    for (int i = 0; avals && i < count; i++)
        if (!(avals[i] = declared(s, x, of[i])))
            return NULL;
    return avals;
}

/* Keys are arrays of u32 to the module, float0 are booleans; it says nothing of
 * weak types, nor of axes of meshes. */
static const jx_aval *physical(wrapping *w, const jx_aval *aval,
                               const jx_aval *like)
{
    const jx_dim *shape[JX_HLO_RANK];
    int rank = aval->rank;
    jx_aval bare = *aval;

    bare.weak = false;
    bare.mesh = 0;
    bare.spec = NULL;
    bare.varying = bare.unreduced = bare.reduced = (jx_names){0};
    if (aval->dtype == JX_FLOAT0)
        return jx_aval_array(&w->s->program->avals, JX_BOOL, false, rank,
                             aval->shape);
    if (aval->dtype != JX_KEY || rank + 1 >= JX_HLO_RANK ||
        like->rank != rank + 1)
        return jx_aval_add(&w->s->program->avals, &bare);
    for (int i = 0; i < rank; i++)
        shape[i] = aval->shape[i];
    shape[rank] = like->shape[rank];
    return jx_aval_array(&w->s->program->avals, JX_U32, false, rank + 1, shape);
}

/* ---- inputs */

static jx_atom platform_index(wrapping *w)
{
    const jx_aval *scalar = jx_hlo_array(w->b, JX_I32, 0, NULL);
    const jx_value **items =
        JX_NEW_ARRAY(w->s->ctx->arena, w->of.nplatforms, const jx_value *);
    jx_params p = jx_hlo_no_params(w->b);

    for (int i = 0; items && i < w->of.nplatforms; i++) {
        const char *name = jx_intern_text(w->s->ctx, w->of.platforms[i]);
        const jx_value *text =
            jx_value_add(&w->s->program->values,
                         &(jx_value){.tag = JX_V_TEXT, .text = name});
        items[i] = jx_value_of_tuple(w->s->program, 1, &text);
    }
    if (!items)
        return (jx_atom){NULL, NULL};
    jx_put(&p, "platforms",
           jx_value_of_tuple(w->s->program, w->of.nplatforms, items));
    return jx_hlo_eqn(w->b, JX_PRIM_platform_index, 0, NULL, &p, scalar);
}

static jx_atom taken(wrapping *w, jx_atom input, const jx_aval *wanted)
{
    const jx_aval *aval = jx_atom_aval(input);

    if (aval->dtype == JX_KEY)
        return jx_hlo_eqn1(w->b, JX_PRIM_random_unwrap, input,
                           physical(w, aval, wanted));
    if (aval->dtype == JX_FLOAT0)
        return jx_hlo_eqn_broadcast(w->b,
                                    jx_build_number(&w->b->body, JX_BOOL, 0),
                                    aval->rank, aval->shape);
    if (aval->weak)
        return jx_build_convert(&w->b->body, input, aval->dtype, false);
    return input;
}

/* The module's arguments, from the file's inputs. */
static bool arguments(wrapping *w, const jx_atom *inputs, const jx_jaxpr *inner,
                      jx_atom *to)
{
    int before = inner->nins - w->of.nkept;

    for (int i = 0; i < before; i++)
        to[i] = platform_index(w);
    for (int i = 0; i < w->of.nkept; i++)
        to[before + i] =
            taken(w, inputs[w->of.kept[i]], inner->vars[before + i]->aval);
    return jx_ok(w->s->ctx);
}

/* ---- outputs */

static jx_atom given(wrapping *w, jx_atom result, const jx_aval *wanted)
{
    jx_params p = jx_hlo_no_params(w->b);

    if (wanted->dtype == JX_FLOAT0)
        return jx_hlo_eqn_convert(w->b, result, JX_FLOAT0);
    if (wanted->dtype != JX_KEY)
        return wanted->weak
                   ? jx_build_convert(&w->b->body, result, wanted->dtype, true)
                   : result;
    jx_put(&p, "impl",
           jx_value_add(&w->s->program->values,
                        &(jx_value){.tag = JX_V_IMPL, .text = wanted->impl}));
    return jx_hlo_eqn(w->b, JX_PRIM_random_wrap, 1, &result, &p, wanted);
}

/* The call of the module's function declares what the file declares. */
static const jx_atom *call(wrapping *w, const jx_jaxpr *inner,
                           const jx_atom *ins, const jx_aval *const *wanted)
{
    const jx_aval **outs =
        JX_NEW_ARRAY(w->s->ctx->arena, inner->nouts, const jx_aval *);
    jx_params p = jx_hlo_no_params(w->b);

    for (int i = 0; outs && i < inner->nouts; i++)
        outs[i] = physical(w, wanted[i], jx_atom_aval(inner->outs[i]));
    jx_put_jaxpr(&p, "jaxpr", inner);
    jx_put_text(&p, "name", w->of.name ? w->of.name : "main");
    return outs ? jx_hlo_eqn_all(w->b, jx_prim_of(JX_PRIM_jit), inner->nins,
                                 ins, &p, inner->nouts, outs)
                : NULL;
}

/* ---- names */

/* What the function calls its inputs, for those that the module keeps. */
static const char *const *arg_names(wrapping *w, const jx_jaxpr *inner)
{
    const char **names =
        JX_NEW_ARRAY(w->s->ctx->arena, w->of.nins, const char *);
    int before = inner->nins - w->of.nkept;

    if (!names || !inner->arg_names)
        return NULL;
    for (int i = 0; i < w->of.nins; i++)
        names[i] = "";
    for (int i = 0; i < w->of.nkept; i++)
        names[w->of.kept[i]] = inner->arg_names[before + i];
    return names;
}

/* ---- the whole */

static bool misfit(wrapping *w, const char *what, int expected, int found)
{
    return jx_fail(w->s->ctx, JX_E_INPUT, w->path, NULL,
                   "expected the module's main to have %d %s, as its caller "
                   "says; found %d",
                   expected, what, found);
}

static jx_jaxpr *wrap(wrapping *w, const jx_jaxpr *inner)
{
    jx_atom *inputs = JX_NEW_ARRAY(w->s->ctx->arena, w->of.nins, jx_atom);
    jx_atom *args = JX_NEW_ARRAY(w->s->ctx->arena, inner->nins, jx_atom);
    int before = inner->nins - w->of.nkept;
    bool indexed = w->of.nplatforms > 1;

    if (!inputs || !args)
        return NULL;
    if (inner->nouts != w->of.nouts)
        return misfit(w, "results", w->of.nouts, inner->nouts), NULL;
    if (before != indexed)
        return misfit(w, "arguments", w->of.nkept + indexed, inner->nins), NULL;
    for (int i = 0; i < w->of.nins; i++)
        inputs[i] = jx_body_input(&w->b->body, w->of.ins[i]);
    if (!arguments(w, inputs, inner, args))
        return NULL;
    const jx_atom *results = call(w, inner, args, w->of.outs);
    for (int i = 0; results && i < w->of.nouts; i++)
        JX_PUSH(w->s->ctx->arena, &w->b->body.results,
                given(w, results[i], w->of.outs[i]));
    jx_jaxpr *made =
        results ? jx_hlo_body_finish(w->b, (jx_atoms){0, NULL}, w->of.name)
                : NULL;
    if (made)
        made->arg_names = arg_names(w, inner);
    return made;
}

/* The shapes of the kept inputs, as the module has them. */
static bool shapes_of(wrapping *w, jx_hlo_shapes *to)
{
    jx_dim_shape *at =
        JX_NEW_ARRAY(w->s->ctx->arena, w->of.nkept, jx_dim_shape);

    for (int i = 0; at && i < w->of.nkept; i++) {
        const jx_aval *aval = w->of.ins[w->of.kept[i]];
        at[i] = aval->dtype == JX_KEY ? (jx_dim_shape){-1, NULL}
                                      : (jx_dim_shape){aval->rank, aval->shape};
    }
    *to = (jx_hlo_shapes){w->of.nkept, at};
    return at != NULL;
}

/* The module's main, with its caller's inputs and outputs around it. */
static jx_jaxpr *read_wrapped(wrapping *w, const jx_mlir_file *file)
{
    const jx_jaxpr *inner;
    jx_hlo_shapes shapes;

    w->b = jx_hlo_body_new(w->s, NULL);
    w->s->module = file->nmodules == 1 ? file->modules[0] : NULL;
    w->main = w->s->module ? jx_mlir_symbol(w->s->module, "main") : NULL;
    if (!w->b || !w->main || w->main->id != JX_OP_func_func) {
        jx_fail(w->s->ctx, JX_E_INPUT, w->path, NULL,
                "expected a module with a function `main`");
        return NULL;
    }
    w->b->op = w->main;
    if (!shapes_of(w, &shapes))
        return NULL;
    inner = jx_hlo_entry(w->s, w->main, &shapes);
    return inner ? wrap(w, inner) : NULL;
}

/* Sizes that are values of the module's arguments are those of the file's
 * inputs. */
static void put_valued(jx_program *made)
{
    const jx_tree_entry *entry = made->tree_entry;
    jx_valued *to =
        JX_NEW_ARRAY(made->ctx->arena, made->nvalued + 1, jx_valued);
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
    wrapping w = {.path = exported->path};
    const char *const *ins;
    jx_jaxpr *outer;
    jx_hlo_reader s;

    if (!jx_hlo_begin_reading(&s, file, infer, NULL))
        return NULL;
    w.s = &s;
    w.of = (jx_callee){
        .name = exported->name,
        .nins = exported->nins,
        .nouts = exported->nouts,
        .ins = all_declared(&s, exported, exported->in_avals, exported->nins),
        .outs =
            all_declared(&s, exported, exported->out_avals, exported->nouts),
        .nkept = exported->nkept,
        .kept = exported->kept,
        .nplatforms = exported->platforms.count,
        .platforms = exported->platforms.at};
    outer = w.of.ins && w.of.outs ? read_wrapped(&w, file) : NULL;
    if (outer)
        jx_exported_document_paths(s.ctx, exported, &ins, &outer->result_paths);
    jx_program *made = jx_hlo_end(&s, outer, exported->name);
    if (made) {
        jx_exported_document_paths(s.ctx, exported, &made->in_paths,
                                   &made->out_paths);
        made->jax_version = exported->jax_version;
        made->exported = exported;
        made->tree_entry =
            jx_hlo_tree_entry(&s, w.main, exported->nkept, exported->kept);
        put_valued(made);
    }
    return made;
}

const jx_jaxpr *jx_read_stablehlo_callee(const jx_mlir_file *file,
                                         const jx_callee *callee,
                                         jx_builder *into, jx_infer_open *infer)
{
    wrapping w = {.path = file->path, .of = *callee};
    jx_hlo_reader s;

    if (!jx_hlo_begin_reading(&s, file, infer, into))
        return NULL;
    w.s = &s;
    const jx_jaxpr *made = read_wrapped(&w, file);
    jx_hlo_end_into(&s, into);
    return made;
}
