/* typing_types.c - types of results; whether two types agree; what a callee
 * takes and gives. */
#include "analyzer/typing_parts.h"

#include "frontend/base/assert.h"
#include "frontend/ir/mesh.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const jx_aval *add_aval(jx_typing *t, const jx_aval *like)
{
    for (int i = 0; i < like->rank; i++)
        if (!like->shape[i])
            return NULL;
    return jx_aval_add(&t->program->avals, like);
}

/* Sets are sorted and their names interned. */
static bool names_equal(jx_names a, jx_names b)
{
    if (a.count != b.count)
        return false;
    for (int i = 0; i < a.count; i++)
        if (a.at[i] != b.at[i])
            return false;
    return true;
}

/* The union of two sorted sets. */
static jx_names names_join(jx_typing *t, jx_names a, jx_names b)
{
    if (b.count == 0 || names_equal(a, b))
        return a;
    if (a.count == 0)
        return b;
    const char **at =
        JX_NEW_ARRAY(jx_typing_ctx(t)->arena, a.count + b.count, const char *);
    jx_names both = {0, at};
    int i = 0, k = 0;
    while (at && (i < a.count || k < b.count)) {
        int order = i == a.count   ? 1
                    : k == b.count ? -1
                                   : strcmp(a.at[i], b.at[k]);
        at[both.count++] = order <= 0 ? a.at[i] : b.at[k];
        i += order <= 0;
        k += order >= 0;
    }
    return both;
}

static jx_names varying_of_inputs(jx_typing *t)
{
    jx_names all = {0};

    for (int i = 0; i < t->nins; i++)
        all = names_join(t, all, t->ins[i]->varying);
    return all;
}

void jx_type_out_like(jx_typing *t, int i, const jx_aval *like, bool weak,
                      int rank, const jx_dim *const *shape)
{
    jx_aval aval = {.dtype = like->dtype,
                    .impl = like->impl,
                    .weak = weak,
                    .rank = rank,
                    .shape = shape};

    if (i < 0 || i >= t->nouts)
        return;
    aval.varying = varying_of_inputs(t);
    t->outs[i] = add_aval(t, &aval);
}

void jx_type_out(jx_typing *t, int i, jx_dtype dtype, bool weak, int rank,
                 const jx_dim *const *shape)
{
    jx_aval like = {.dtype = dtype};

    jx_type_out_like(t, i, &like, weak, rank, shape);
}

void jx_type_is(jx_typing *t, int i, const jx_aval *aval)
{
    if (i >= 0 && i < t->nouts)
        t->outs[i] = aval;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

jx_names jx_names_with(jx_typing *t, jx_names set, jx_axis_names more)
{
    const char **at =
        JX_NEW_ARRAY(jx_typing_ctx(t)->arena, more.count, const char *);
    int count = 0;

    for (int i = 0; at && i < more.count; i++)
        at[count++] = jx_intern_text(jx_typing_ctx(t), more.at[i]);
    if (count)
        qsort(at, (size_t)count, sizeof *at, by_name);
    return names_join(t, set, (jx_names){count, at});
}

jx_names jx_names_without(jx_typing *t, jx_names set, jx_axis_names less)
{
    const char **at =
        JX_NEW_ARRAY(jx_typing_ctx(t)->arena, set.count, const char *);
    int count = 0;

    for (int i = 0; at && i < set.count; i++)
        if (!jx_axis_is_among(less, set.at[i]))
            at[count++] = set.at[i];
    return (jx_names){count, at};
}

const jx_aval *jx_aval_varying(jx_typing *t, const jx_aval *aval, jx_names axes)
{
    jx_aval other = *aval;

    if (names_equal(aval->varying, axes))
        return aval;
    other.varying = axes;
    return add_aval(t, &other);
}

const jx_aval *jx_aval_weak(jx_typing *t, const jx_aval *aval, bool weak)
{
    if (!aval || aval->kind != JX_AVAL_ARRAY || aval->weak == weak)
        return aval;
    jx_aval other = *aval;
    other.weak = weak;
    return add_aval(t, &other);
}

const jx_aval *jx_aval_stacked(jx_typing *t, const jx_aval *aval,
                               const jx_dim *length)
{
    return jx_aval_stack(&t->program->avals, aval, length);
}

const jx_aval *jx_aval_item(jx_typing *t, const jx_aval *aval)
{
    jx_aval item = *aval;

    if (aval->kind != JX_AVAL_ARRAY || aval->rank == 0)
        return NULL;
    item.rank--;
    item.shape++;
    item.spec = NULL;
    return add_aval(t, &item);
}

static void print_aval(const jx_typing *t, const jx_aval *aval, jx_buffer *to)
{
    jx_aval_print(aval, to);
    if (aval->weak && !t->program->from_text)
        jx_buffer_puts(to, " (weakly typed)");
}

/* Everything but sizes and weak types. */
static bool same_kind(const jx_aval *a, const jx_aval *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->impl == b->impl &&
           a->rank == b->rank && names_equal(a->varying, b->varying) &&
           (a->kind != JX_AVAL_OTHER || a->label == b->label);
}

/* One is weakly typed and the other not.  Text does not say. */
static bool weaker(const jx_typing *t, const jx_aval *a, const jx_aval *b)
{
    return a->weak != b->weak && !t->program->from_text;
}

/* Two sizes are numbers and differ. */
static bool differ(const jx_dim *a, const jx_dim *b)
{
    int64_t x, y;

    return a != b && jx_dim_is_int(a, &x) && jx_dim_is_int(b, &y);
}

typedef enum likeness { SAME, PERHAPS, DIFFERENT } likeness;

static likeness compare(const jx_aval *a, const jx_aval *b)
{
    likeness found = SAME;

    /* Of a type that a library defines nothing is known, nor of what
     * it is made of. */
    if (a == b || (a->kind == JX_AVAL_OTHER) != (b->kind == JX_AVAL_OTHER))
        return SAME;
    if (!same_kind(a, b))
        return DIFFERENT;
    if (a->kind == JX_AVAL_REF && a->of && b->of && a->of != b->of)
        return compare(a->of, b->of);
    for (int i = 0; i < a->rank; i++) {
        if (differ(a->shape[i], b->shape[i]))
            return DIFFERENT;
        if (a->shape[i] != b->shape[i])
            found = PERHAPS;
    }
    return found;
}

/* Says how two types that must agree differ. */
static void disagree(jx_typing *t, const jx_aval *a, const char *a_is,
                     const jx_aval *b, const char *b_is, const char *what,
                     likeness how)
{
    jx_buffer one = jx_ctx_text(t->program->ctx),
              two = jx_ctx_text(t->program->ctx);

    print_aval(t, a, &one);
    print_aval(t, b, &two);
    if (how == DIFFERENT)
        jx_type_wrong(t, "%s: %s %s, %s %s", what, a_is, jx_buffer_text(&one),
                      b_is, jx_buffer_text(&two));
    for (int i = 0; how == PERHAPS && i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            jx_require_eq(t, a->shape[i], b->shape[i],
                          "%s, axis %d: %s %s, %s %s", what, i, a_is,
                          jx_buffer_text(&one), b_is, jx_buffer_text(&two));
    jx_buffer_free(&one);
    jx_buffer_free(&two);
}

void jx_type_agree(jx_typing *t, const jx_aval *a, const jx_aval *b,
                   const char *format, ...)
{
    likeness how = compare(a, b);
    jx_buffer what = jx_ctx_text(t->program->ctx);
    va_list args;

    if (how == SAME) {
        jx_typing_count_settled(t);
        return;
    }
    va_start(args, format);
    jx_buffer_vprintf(&what, format, args);
    va_end(args);
    disagree(t, a, "one is", b, "the other", jx_buffer_text(&what), how);
    jx_buffer_free(&what);
}

/* JAX lets weak types differ between a call and its callee.  It makes no such
 * program, but libraries do that bind a loop themselves (equinox's derivatives
 * of loops); the callee's results are then typed by a declaration that is not
 * true.  A note, for nothing can go wrong at run time, and it is run. */
static void note_weak(jx_typing *t, const jx_aval *a, const jx_aval *b,
                      const char *what)
{
    size_t before = t->to->claims.count;
    jx_code code = t->code;
    bool wrong = t->wrong, refused = t->refused;
    const jx_claim *refusal = t->typer->refusal;

    if (t->typer->claims_nothing)
        return;
    t->code = JX_CODE_SHP011;
    jx_type_wrong(t, "%s: one is weakly typed, the other not: %s", what,
                  jx_dtype_of((a->weak ? a : b)->dtype)->short_name);
    t->code = code;
    t->wrong = wrong;
    t->refused = refused;
    t->typer->refusal = refusal;
    if (t->to->claims.count > before)
        t->to->claims.at[before]->level = JX_NOTE;
}

const jx_aval *jx_typing_settle_out(jx_typing *t, int i)
{
    const jx_aval *declared = t->eqn->outs[i]->aval, *inferred = t->outs[i];
    likeness how = inferred ? compare(inferred, declared) : DIFFERENT;
    char what[32];

    t->code = JX_CODE_SHP011;
    if (how == SAME && !weaker(t, inferred, declared)) {
        jx_typing_count_settled(t);
        return inferred;
    }
    snprintf(what, sizeof what, "result %d", i);
    if (!inferred) {
        jx_require_eq(t, NULL, NULL, "%s: no type could be inferred", what);
        return declared;
    }
    if (how == SAME) {
        note_weak(t, inferred, declared, what);
        return inferred;
    }
    disagree(t, inferred, "inferred", declared, "declared", what, how);
    return how == DIFFERENT ? inferred : declared;
}

/* -- callees of an equation that is typed alone ------------------------- */

static const jx_aval *const *declared_outs(const jx_typer *r,
                                           const jx_jaxpr *jaxpr)
{
    const jx_aval *const *outs = jx_map_get(&r->callees, jaxpr);

    JX_ASSERT(outs);
    return outs;
}

static bool meet_jaxpr(jx_typer *r, const jx_jaxpr *jaxpr)
{
    const jx_aval **outs;

    if (jx_map_has(&r->callees, jaxpr))
        return true;
    outs = JX_NEW_ARRAY(r->program->ctx->arena, jaxpr->nouts, const jx_aval *);
    for (int i = 0; outs && i < jaxpr->nouts; i++)
        outs[i] = jx_atom_aval(jaxpr->outs[i]);
    return outs && jx_map_put(&r->callees, jaxpr, outs);
}

bool jx_typing_meet_callees(jx_typer *r, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr &&
        !meet_jaxpr(r, value->jaxpr))
        return false;
    for (int i = 0; value->items && i < value->count; i++)
        if (!jx_typing_meet_callees(r, value->items[i]))
            return false;
    return true;
}

/* -- calls -------------------------------------------------------------- */

const jx_aval *const *jx_callee_outs(jx_typing *t, const jx_jaxpr *callee)
{
    if (t->typer->claims_nothing)
        return declared_outs(t->typer, callee);
    const jx_typed_jaxpr *kept = &t->typer->results[callee->id];
    for (int i = 0; i < callee->nouts; i++)
        t->resting |= kept->resting[i];
    t->refused |= kept->untrue;
    return kept->outs;
}

void jx_type_pass(jx_typing *t, const jx_jaxpr *callee, int i,
                  const jx_aval *value, const char *what)
{
    jx_buffer text = jx_ctx_text(t->program->ctx);

    if (!value || i < 0 || i >= callee->nins)
        return;
    const jx_aval *wants = callee->vars[callee->nconsts + i]->aval;
    likeness how = compare(value, wants);
    if (how == SAME && !weaker(t, value, wants)) {
        jx_typing_count_settled(t);
        return;
    }
    jx_buffer_printf(&text, "%s, input %d", what, i);
    if (how == SAME)
        note_weak(t, value, wants, jx_buffer_text(&text));
    else
        disagree(t, value, "it gets", wants, "it takes", jx_buffer_text(&text),
                 how);
    jx_buffer_free(&text);
}

bool jx_type_closed(jx_typing *t, const jx_closed *closed, const char *what)
{
    const jx_jaxpr *callee = closed->jaxpr;

    if (!callee)
        return jx_type_wrong(t, "%s: no jaxpr", what);
    if (closed->nconsts != callee->nconsts)
        return jx_type_wrong(t, "%s: %d constants for %d constvars", what,
                             closed->nconsts, callee->nconsts);
    for (int i = 0; i < closed->nconsts; i++) {
        const jx_aval *has = closed->consts[i]->aval;
        const jx_aval *wants = callee->vars[i]->aval;
        /* What a reference held when the program was traced stands for it. */
        if (wants->kind == JX_AVAL_REF && wants->of &&
            has->kind == JX_AVAL_ARRAY)
            wants = wants->of;
        if (compare(has, wants) == DIFFERENT)
            jx_type_agree(t, has, wants, "%s, constant %d", what, i);
    }
    return !t->wrong;
}

bool jx_type_computation(jx_typing *t, const jx_closed *closed,
                         const char *what, int nins, const jx_dtype *ins,
                         int nouts, const jx_dtype *outs)
{
    const jx_jaxpr *callee = closed->jaxpr;

    if (!jx_type_closed(t, closed, what))
        return false;
    if (callee->nins != nins || callee->nouts != nouts)
        return jx_type_wrong(t,
                             "%s takes %d values and gives %d, not %d and %d",
                             what, callee->nins, callee->nouts, nins, nouts);
    for (int i = 0; i < nins; i++)
        jx_type_pass(t, callee, i,
                     jx_aval_array(&t->program->avals, ins[i], false, 0, NULL),
                     what);
    for (int i = 0; i < nouts; i++) {
        const jx_aval *wants =
            jx_aval_array(&t->program->avals, outs[i], false, 0, NULL);
        if (wants)
            jx_type_agree(t, jx_callee_outs(t, callee)[i], wants,
                          "%s, output %d", what, i);
    }
    return !t->wrong;
}

bool jx_type_reducer(jx_typing *t, const jx_closed *body, int n)
{
    if (!jx_type_closed(t, body, "jaxpr"))
        return false;
    const jx_jaxpr *callee = body->jaxpr;
    if (callee->nins != 2 * n || callee->nouts != n)
        return jx_type_wrong(t,
                             "jaxpr takes %d values and gives %d, for %d "
                             "operands",
                             callee->nins, callee->nouts, n);
    const jx_aval *const *outs = jx_callee_outs(t, callee);
    for (int i = 0; i < 2 * n; i++)
        jx_type_pass(t, callee, i, t->ins[n + i % n], "jaxpr");
    for (int i = 0; i < n; i++)
        jx_type_agree(t, outs[i], t->ins[n + i], "jaxpr, output %d", i);
    return !t->wrong;
}

void jx_assume(jx_typing *t, const char *format, ...)
{
    jx_buffer text = jx_ctx_text(t->program->ctx);
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *line = jx_intern_text(jx_typing_ctx(t), jx_buffer_text(&text));
    jx_buffer_free(&text);
    for (size_t i = 0; i < t->to->assumptions.count; i++)
        if (t->to->assumptions.at[i] == line)
            return;
    JX_PUSH(jx_typing_ctx(t)->arena, &t->to->assumptions, line);
}
