/* performance.c - what takes memory or time for no good reason, as far as the
 * program itself shows.
 *
 * Where sizes are symbolic they are taken to be LARGE, or what constraints on a
 * single variable allow: what grows faster than the inputs is large then. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "analyzer/lint/progression.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <math.h>

enum { LARGE = 1024, TIMES_IO = 8, TIMES_RESIDUALS = 3, SMALL_PRODUCT = 8 };
enum { MOST_LOOKED_AT = 256 }; /* operands, for PRF005 */
enum { PRODUCT = -1 };         /* large by a matrix product: nobody's fault */
static const double MEBIBYTE = 1 << 20;
static const double MATERIALISED = 256.0 * (1 << 20);
static const double CHURNED = 64.0 * (1 << 10);

typedef struct costs {
    jx_linter *lint;
    const jx_flat *flat;
    double io;  /* bytes of inputs and results */
    int *large; /* by value: 1 + the node that began it; 0; PRODUCT */
    int *last;  /* by node that began it: 1 + the last that goes on with it */
} costs;

/* -- sizes ----------------------------------------------------------------- */

static const jx_program *program_of(const costs *c)
{
    return c->lint->program;
}

/* A variable is LARGE, unless a constraint says that it is less. */
static void take_large(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const jx_program *program = env;
    jx_int value = LARGE, most;

    if (atom->kind != JX_ATOM_VAR)
        return;
    for (int s = 0; s < program->nscopes; s++)
        for (int i = 0; i < program->scopes[s].nconstraints; i++) {
            const jx_scope_constraint *k = &program->scopes[s].constraints[i];
            const jx_dim *var = jx_dim_of_atom(program->dims, atom);
            if (k->rhs == var && jx_dim_is_wide(k->lhs, &most) && most < value)
                value = most;
        }
    *known = (jx_dim_range){value, value, true, true};
}

static double bytes_of(const costs *c, const jx_aval *aval)
{
    double bytes = (double)jx_dtype_of(aval->dtype)->bytes;

    if (aval->kind != JX_AVAL_ARRAY)
        return 0;
    for (int i = 0; i < aval->rank; i++) {
        jx_dim_range r =
            jx_dim_bounds_by(aval->shape[i], take_large, c->lint->program);
        if (!r.has_high)
            return 0;
        bytes *= (double)r.high;
    }
    return bytes;
}

static double io_of(const costs *c)
{
    const jx_jaxpr *entry = program_of(c)->entry.jaxpr;
    double bytes = 0;

    for (int i = 0; i < entry->nconsts + entry->nins; i++)
        bytes += bytes_of(c, entry->vars[i]->aval);
    for (int i = 0; i < entry->nouts; i++)
        bytes += bytes_of(c, jx_atom_aval(entry->outs[i]));
    return bytes;
}

static void put_bytes(const costs *c, const jx_aval *aval, double bytes,
                      jx_buffer *to)
{
    jx_aval_print(aval, to);
    jx_buffer_puts(to, " (");
    jx_buffer_amount(to, bytes);
    jx_buffer_puts(to, jx_aval_is_static(aval)
                           ? ")"
                           : jx_arena_printf(c->lint->ctx->arena,
                                             " where sizes are %d)", LARGE));
}

/* -- PRF001: large intermediates ------------------------------------------- */

static bool is_too_large(const costs *c, const jx_flat_value *v)
{
    double bytes = v->varies ? bytes_of(c, v->aval) : 0;

    return bytes >= MATERIALISED && bytes > TIMES_IO * c->io;
}

/* A mask that becomes numbers is made once more, and larger. */
static bool widens(const costs *c, const jx_flat_node *node)
{
    const jx_flat_value *in = &c->flat->values.at[node->ins[0]];

    return node->eqn->prim->id == JX_PRIM_convert_element_type && !in->splat &&
           jx_dtype_of(in->aval->dtype)->bytes <
               jx_dtype_of(c->flat->values.at[node->outs[0]].aval->dtype)
                   ->bytes;
}

/* The scores of an attention are what its author asked for, and how large they
 * are is up to sizes that nobody knows.  (What adds up nothing repeats.) */
static bool is_product_of_any_size(const costs *c, const jx_flat_node *node)
{
    const jx_p_dot_general *p = node->eqn->typed;

    return node->eqn->prim->id == JX_PRIM_dot_general && p &&
           p->dimension_numbers.lhs_contracting.count &&
           !jx_aval_is_static(c->flat->values.at[node->outs[0]].aval);
}

/* The matter that an operand is of: a product's, where it is no larger. */
static int matter_of(const costs *c, const jx_flat_node *node)
{
    double most = 0;
    bool product = false;

    for (int i = 0; i < node->nins; i++) {
        int large = c->large[node->ins[i]];
        if (large > 0)
            return large;
        product |= large == PRODUCT;
        if (large == PRODUCT)
            most =
                fmax(most, bytes_of(c, c->flat->values.at[node->ins[i]].aval));
    }
    for (int i = 0; product && i < node->nouts; i++)
        product = bytes_of(c, c->flat->values.at[node->outs[i]].aval) <= most;
    return product || is_product_of_any_size(c, node) ? PRODUCT : 0;
}

/* What is computed of a large value is one matter with it: `large` has for each
 * the node that began it, and `last` the last one that goes on with it, where
 * it becomes smaller. */
static void follow_size(costs *c, int n)
{
    const jx_flat_node *node = &c->flat->nodes.at[n];
    bool moves =
        (jx_flat_moves(node->eqn) && !widens(c, node)) || jx_shows(node->eqn);
    int from = matter_of(c, node);

    for (int i = 0; i < node->nouts; i++) {
        if (!is_too_large(c, &c->flat->values.at[node->outs[i]]))
            continue;
        if (moves || from == PRODUCT) {
            c->large[node->outs[i]] = from;
            continue;
        }
        from = from ? from : n + 1;
        c->large[node->outs[i]] = from;
        /* What a derivative stacks is PRF006. */
        if (jx_looks_at(node) &&
            !jx_place_is_backward(node->eqn, node->calls) &&
            !(node->nresults && jx_place_is_derivative(node->eqn, node->calls)))
            c->last[from - 1] = n + 1;
    }
}

static void tell_size(costs *c, const jx_flat_node *node)
{
    jx_buffer text = jx_ctx_text(c->lint->ctx);
    const jx_aval *aval = NULL;
    jx_claim *claim;

    for (int i = 0; i < node->nouts && !aval; i++)
        if (is_too_large(c, &c->flat->values.at[node->outs[i]]))
            aval = c->flat->values.at[node->outs[i]].aval;
    if (!aval)
        return;
    jx_buffer_printf(&text, "`%s` makes ", jx_eqn_name(node->eqn));
    put_bytes(c, aval, bytes_of(c, aval), &text);
    jx_buffer_printf(&text, ", %.0f times all inputs and results",
                     bytes_of(c, aval) / c->io);
    claim = jx_lint_suspect(c->lint, JX_CODE_PRF001, node,
                            jx_arena_take(c->lint->ctx->arena, &text));
    if (claim)
        claim->help = "write it as a matrix product, or go over it in pieces "
                      "(jax.lax.map with batch_size, jax.lax.scan)";
}

/* -- PRF005: there and back ------------------------------------------------ */

/* The axes that come of going through both, in order, are where they were. */
static bool turns_back(const jx_flat_node *first, const jx_flat_node *second)
{
    const jx_p_transpose *p = first->eqn->typed, *q = second->eqn->typed;

    if (!p || !q || p->permutation.count != q->permutation.count)
        return false;
    for (int i = 0; i < q->permutation.count; i++)
        if (p->permutation.at[q->permutation.at[i]] != i)
            return false;
    return true;
}

/* The matrix that an operand is the transpose of, as somebody wrote. */
static const jx_flat_node *turned(const costs *c, int value)
{
    const jx_flat_node *node = jx_maker(c->flat, value);

    return node && node->eqn->prim->id == JX_PRIM_transpose &&
                   c->flat->values.at[value].aval->rank == 2 &&
                   turns_back(node, node) &&
                   jx_place_is_written(program_of(c), node->eqn, node->calls)
               ? node
               : NULL;
}

/* (a.T @ b.T).T is b @ a. */
static bool comes_to_none(costs *c, const jx_flat_node *node)
{
    const jx_flat_node *product = jx_maker(c->flat, node->ins[0]);
    jx_claim *claim;

    if (!product || product->eqn->prim->id != JX_PRIM_dot_general ||
        !turned(c, node->outs[0]) || !turned(c, product->ins[0]) ||
        !turned(c, product->ins[1]) ||
        bytes_of(c, c->flat->values.at[node->outs[0]].aval) < CHURNED)
        return false;
    claim = jx_lint_claim(c->lint, JX_CODE_PRF005, node,
                          "the transpose of a product of transposes: three "
                          "transpositions that come to none");
    if (claim)
        claim->help = "(a.T @ b.T).T is b @ a";
    return true;
}

/* The value is made of what `of` gives, or nobody looked so far. */
static bool comes_of(const costs *c, int value, const jx_flat_node *of,
                     int *steps)
{
    const jx_flat_node *node = jx_maker(c->flat, value);

    if (!node || node < of)
        return false;
    if (node == of || --*steps < 0)
        return true;
    for (int i = 0; i < node->nins; i++)
        if (comes_of(c, node->ins[i], of, steps))
            return true;
    return false;
}

/* ... and not element by element alone. */
static bool mixes(const costs *c, int value, const jx_flat_node *of, int *steps)
{
    const jx_flat_node *node = jx_maker(c->flat, value);

    if (!node || node <= of)
        return false;
    if (!jx_prim_in_family(node->eqn->prim->id, "elementwise"))
        return comes_of(c, value, of, steps);
    for (int i = 0; i < node->nins; i++)
        if (--*steps < 0 || mixes(c, node->ins[i], of, steps))
            return true;
    return false;
}

static void look_at_transpose(costs *c, const jx_flat_node *node)
{
    int value = node->ins[0], steps = 0, most = MOST_LOOKED_AT;
    const jx_flat_node *at = jx_maker(c->flat, value);
    double bytes = bytes_of(c, c->flat->values.at[value].aval);
    jx_buffer text;
    jx_claim *claim;

    if (comes_to_none(c, node))
        return;
    /* Through what is done to each element alone. */
    for (; at && jx_prim_in_family(at->eqn->prim->id, "elementwise") &&
           steps < 16;
         steps++, at = jx_maker(c->flat, value)) {
        int next = -1;
        for (int i = 0; i < at->nins && next < 0; i++)
            if (!c->flat->values.at[at->ins[i]].splat)
                next = at->ins[i];
        if (next < 0)
            return;
        value = next;
    }
    if (!steps || !at || at->eqn->prim->id != JX_PRIM_transpose ||
        bytes < CHURNED || !turns_back(at, node) ||
        jx_place_is_backward(node->eqn, node->calls) ||
        !jx_place_is_written(program_of(c), node->eqn, node->calls) ||
        !jx_place_is_written(program_of(c), at->eqn, at->calls) ||
        mixes(c, node->ins[0], at, &most))
        return;
    text = jx_ctx_text(c->lint->ctx);
    jx_buffer_puts(&text, "only elementwise work is done between this "
                          "transposition and the one that it undoes: ");
    put_bytes(c, c->flat->values.at[node->outs[0]].aval, bytes, &text);
    jx_buffer_puts(&text, " is moved twice");
    claim = jx_lint_claim(c->lint, JX_CODE_PRF005, node,
                          jx_arena_take(c->lint->ctx->arena, &text));
    if (claim)
        claim->help = "do the work in the layout in which the array comes";
}

/* -- PRF006: residuals ----------------------------------------------------- */

static bool is_backward(const jx_flat_node *node)
{
    return jx_place_is_backward(node->eqn, node->calls);
}

static bool is_kept_for_backward(const costs *c, int value)
{
    const jx_flat_uses *uses = &c->lint->uses;
    const jx_flat_node *maker = jx_maker(c->flat, value);

    if (!maker || !maker->live || !c->flat->values.at[value].varies ||
        is_backward(maker) || jx_shows(maker->eqn))
        return false;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &c->flat->nodes.at[uses->nodes[i]];
        if (use->live && is_backward(use) && !use->calls)
            return true;
        if (use->live && is_backward(use))
            for (const jx_calls *k = use->calls; k; k = k->outer)
                if (!jx_prim_is_remat(k->eqn->prim->id))
                    return true;
    }
    return false;
}

static void look_at_residuals(costs *c)
{
    double total = 0, most = 0;
    int count = 0, largest = -1;
    jx_buffer text;
    jx_claim *claim;

    for (size_t v = 0; v < c->flat->values.count; v++) {
        double bytes;
        if (!is_kept_for_backward(c, (int)v))
            continue;
        bytes = bytes_of(c, c->flat->values.at[v].aval);
        total += bytes;
        count++;
        if (bytes > most) {
            most = bytes;
            largest = (int)v;
        }
    }
    if (total < MATERIALISED || total < TIMES_RESIDUALS * c->io)
        return;
    text = jx_ctx_text(c->lint->ctx);
    jx_buffer_printf(
        &text,
        "%d values are kept from the forward pass for the backward "
        "one, ",
        count);
    jx_buffer_amount(&text, total);
    jx_buffer_puts(&text, "; the largest is ");
    put_bytes(c, c->flat->values.at[largest].aval, most, &text);
    claim = jx_lint_suspect(c->lint, JX_CODE_PRF006, jx_maker(c->flat, largest),
                            jx_arena_take(c->lint->ctx->arena, &text));
    if (claim)
        claim->help = "jax.checkpoint around the layers computes them again "
                      "instead";
}

/* -- PRF007, PRF008: in loops ---------------------------------------------- */

static bool is_in_loop(const jx_calls *calls)
{
    for (; calls; calls = calls->outer)
        if (calls->eqn->prim->id == JX_PRIM_scan ||
            calls->eqn->prim->id == JX_PRIM_while)
            return true;
    return false;
}

static void look_at_product(costs *c, const jx_flat_node *node)
{
    const jx_p_dot_general *p = node->eqn->typed;
    const jx_aval *aval = c->flat->values.at[node->ins[0]].aval;
    bool symbolic;
    int64_t terms =
        jx_reduced(c->flat, aval, p->dimension_numbers.lhs_contracting.count,
                   p->dimension_numbers.lhs_contracting.at, &symbolic);
    jx_claim *claim;

    if (symbolic || terms > SMALL_PRODUCT || is_backward(node))
        return; /* (nobody wrote what a derivative multiplies) */
    claim = jx_lint_suspect(
        c->lint, JX_CODE_PRF007, node,
        jx_arena_printf(
            c->lint->ctx->arena,
            "a matrix product of %lld term%s in a loop: its call costs "
            "more than its arithmetic",
            (long long)terms, terms == 1 ? "" : "s"));
    if (claim)
        claim->help =
            "write it out (jnp.sum(a * b, axis)), or make one product for "
            "all steps outside of the loop";
}

/* One step behind what JAX makes of an index: from the end, of another shape.
 * The node that is stepped over; NULL: there is none. */
static const jx_flat_node *step_behind(const costs *c, int *value)
{
    const jx_flat_node *node = jx_maker(c->flat, *value);
    jx_prim_id id = node ? node->eqn->prim->id : JX_PRIM_unknown;

    if (!node || !node->nins)
        return NULL;
    if (jx_shows(node->eqn) || id == JX_PRIM_convert_element_type)
        *value = node->ins[0];
    else if ((id == JX_PRIM_select_n && node->nins == 3) || id == JX_PRIM_clamp)
        *value = node->ins[1];
    else
        return NULL;
    return node;
}

static int plain_index(const costs *c, int value)
{
    while (step_behind(c, &value))
        ;
    return value;
}

/* What it takes stands in what it gives one after the other, as it did. */
static bool keeps_order(const costs *c, const jx_flat_node *node)
{
    const jx_aval *to = c->flat->values.at[node->outs[0]].aval;
    const jx_p_slice *slice = node->eqn->typed;
    const jx_p_broadcast_in_dim *broadcast = node->eqn->typed;
    int64_t size;

    switch (node->eqn->prim->id) {
    case JX_PRIM_rev:
    case JX_PRIM_transpose:
    case JX_PRIM_tile:
    case JX_PRIM_gather: return false;
    case JX_PRIM_slice:
        for (int i = 0; slice && i < slice->strides.count; i++)
            if (!jx_dim_is_int(slice->strides.at[i], &size) || size != 1)
                return false;
        return slice != NULL;
    case JX_PRIM_broadcast_in_dim: /* adds axes of size 1 */
        for (int i = 0; broadcast && i < to->rank; i++)
            if (!jx_ints_hold(broadcast->broadcast_dimensions, i) &&
                !(jx_dim_is_int(to->shape[i], &size) && size == 1))
                return false;
        return broadcast != NULL;
    default: return true;
    }
}

static bool is_iota_of_one_axis(const jx_flat_node *node)
{
    const jx_p_iota *iota = node->eqn->typed;
    const jx_aval *aval = node->eqn->outs[0]->aval;
    int64_t size;

    if (node->eqn->prim->id != JX_PRIM_iota || !iota)
        return false;
    for (int i = 0; i < aval->rank; i++)
        if (i != iota->dimension &&
            !(jx_dim_is_int(aval->shape[i], &size) && size == 1))
            return false;
    return true;
}

/* A constant of whole numbers, each the one after that before it: np.arange. */
static bool is_run_of_constants(const jx_flat_value *v)
{
    const jx_array *array = v->literal ? v->literal->array : v->array;
    const unsigned char *at = array ? array->data : NULL;
    int64_t count;

    if (!at || array->splat || v->aval->rank != 1 ||
        !jx_dtype_is_integer(v->aval->dtype) ||
        !jx_aval_elements(v->aval, &count) || count < 2)
        return false;
    size_t size = array->bytes / (size_t)count;
    for (int64_t i = 1; i < count; i++, at += size)
        if (jx_element_integer(v->aval->dtype, at + size) !=
            jx_element_integer(v->aval->dtype, at) + 1)
            return false;
    return true;
}

/* Of a scalar, or a scalar and the numbers that follow it. */
static bool is_run(const costs *c, int index, int depth)
{
    const jx_flat_node *node;

    while (!c->flat->values.at[index].splat && (node = step_behind(c, &index)))
        if (!keeps_order(c, node))
            return false;
    if (c->flat->values.at[index].splat)
        return true;
    node = jx_maker(c->flat, index);
    if (!node)
        return is_run_of_constants(&c->flat->values.at[index]);
    if (depth > 4)
        return false;
    if (is_iota_of_one_axis(node))
        return true;
    if (node->eqn->prim->id == JX_PRIM_add)
        return is_run(c, node->ins[0], depth + 1) &&
               is_run(c, node->ins[1], depth + 1) &&
               (c->flat->values.at[plain_index(c, node->ins[0])].splat ||
                c->flat->values.at[plain_index(c, node->ins[1])].splat);
    return false;
}

/* One index for all of it: the elements of an array of indices but
 * its last axis. */
static bool is_one(const costs *c, int indices)
{
    const jx_aval *aval = c->flat->values.at[indices].aval;
    int64_t size, count = 1;

    for (int i = 0; i + 1 < aval->rank; i++) {
        if (!jx_dim_is_int(aval->shape[i], &size))
            return false;
        count *= size;
    }
    return count == 1;
}

/* What the loop counts; numbers that come from elsewhere may meet. */
static bool is_counted(const costs *c, int index)
{
    jx_progression turns;

    return jx_progression_of(c->flat, plain_index(c, index), &turns) &&
           turns.body && turns.step;
}

static void look_at_indexing(costs *c, const jx_flat_node *node)
{
    bool writes = node->eqn->prim->id != JX_PRIM_gather;
    const jx_aval *indices = c->flat->values.at[node->ins[1]].aval;
    jx_claim *claim;
    int64_t words;

    if (jx_place_is_derivative(node->eqn, node->calls) ||
        !c->flat->values.at[node->ins[1]].varies || indices->rank < 1 ||
        !jx_dim_is_int(indices->shape[indices->rank - 1], &words))
        return;
    if (writes && node->eqn->prim->id != JX_PRIM_scatter &&
        !is_counted(c, node->ins[1]))
        return;
    if (!is_one(c, node->ins[1]) && !(words == 1 && is_run(c, node->ins[1], 0)))
        return;
    claim = jx_lint_claim(c->lint, JX_CODE_PRF008, node,
                          writes ? "a scatter in a loop that writes one slice"
                                 : "a gather in a loop that reads one slice");
    if (claim)
        claim->help =
            writes ? "jax.lax.dynamic_update_slice writes a slice; what a "
                     "scan gives at each step is stacked for nothing"
                   : "jax.lax.dynamic_slice reads a slice; what a scan "
                     "goes over (xs) is sliced for nothing";
}

bool jx_lint_performance(jx_linter *lint)
{
    costs c = {.lint = lint, .flat = lint->flat};

    c.large = JX_NEW_ARRAY(lint->ctx->arena, c.flat->values.count, int);
    c.last = JX_NEW_ARRAY(lint->ctx->arena, c.flat->nodes.count, int);
    if (!c.large || !c.last)
        return false;
    c.io = io_of(&c);
    if (c.io < MEBIBYTE / 1024)
        c.io = MEBIBYTE / 1024;
    for (size_t n = 0; n < c.flat->nodes.count; n++) {
        const jx_flat_node *node = &c.flat->nodes.at[n];
        follow_size(&c, (int)n);
        if (!node->live || node->elsewhere || !node->eqn->typed)
            continue;
        switch (node->eqn->prim->id) {
        case JX_PRIM_transpose: look_at_transpose(&c, node); break;
        case JX_PRIM_dot_general:
            if (is_in_loop(node->calls))
                look_at_product(&c, node);
            break;
        case JX_PRIM_scatter:
        case JX_PRIM_scatter_add:
        case JX_PRIM_scatter_mul:
        case JX_PRIM_scatter_min:
        case JX_PRIM_scatter_max:
        case JX_PRIM_gather:
            if (is_in_loop(node->calls))
                look_at_indexing(&c, node);
            break;
        default: break;
        }
    }
    for (size_t n = 0; n < c.flat->nodes.count; n++)
        if (c.last[n])
            tell_size(&c, &c.flat->nodes.at[c.last[n] - 1]);
    look_at_residuals(&c);
    return jx_ok(lint->ctx);
}
