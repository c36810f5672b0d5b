/* graph.c - what a program takes, gives and computes for nothing. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/base/map.h"
#include "frontend/ir/params.h"

#include <string.h>

/* Elements from which heavy work, and any work, is worth a word. */
enum { HEAVY = 64, LARGE = 1 << 16, TWICE = 1024 };

typedef struct graph {
    jx_linter *lint;
    const jx_flat *flat;
    jx_needed needed;
    jx_map told; /* frames */
} graph;

/* -- what work is worth a word ----------------------------------------------------- */

static bool is_transcendental(const jx_eqn *eqn)
{
    static const char *const costs[JX_NPRIMS] = {
        [JX_PRIM_unknown] = "",
#define PRIM(id, name, nins, nouts, params, type, plan, cost, ...)             \
    [JX_PRIM_##id] = #cost,
#include "frontend/ir/prims.def"
#undef PRIM
    };

    return strcmp(costs[eqn->prim->id], "transcendental") == 0;
}

/* The largest array that it takes or gives; INT64_MAX where a size is symbolic. */
static int64_t size_of(const jx_flat *flat, const jx_flat_node *node)
{
    int64_t most = 0, count;

    for (int i = 0; i < node->nins + node->nouts; i++) {
        int value = i < node->nins ? node->ins[i] : node->outs[i - node->nins];
        const jx_aval *aval = flat->values.at[value].aval;
        if (aval->kind != JX_AVAL_ARRAY)
            continue;
        if (!jx_aval_elements(aval, &count))
            return INT64_MAX;
        most = count > most ? count : most;
    }
    return most;
}

static bool computes(const jx_eqn *eqn)
{
    return !jx_flat_moves(eqn) && !jx_shows(eqn);
}

static bool is_costly(const jx_flat *flat, const jx_flat_node *node)
{
    int64_t size = size_of(flat, node);

    return jx_is_heavy(node->eqn)
               ? size >= HEAVY
               : computes(node->eqn) && size >= LARGE && size != INT64_MAX;
}

/* -- GRF001: inputs ------------------------------------------------------------------ */

/* Some size of the input is a variable that no other input has. */
static bool gives_a_size(const graph *g, int input)
{
    const jx_jaxpr *entry = g->lint->program->entry.jaxpr;
    const jx_var *const *vars = entry->vars + entry->nconsts;
    int count = 0, n = 0;

    for (int axis = 0; axis < vars[input]->aval->rank; axis++) {
        const jx_dim_atom *const *of = jx_dim_vars(
            g->lint->program->dims, vars[input]->aval->shape[axis], &count);
        for (int k = 0; of && k < count; k++) {
            bool elsewhere = false;
            for (int i = 0; i < entry->nins && !elsewhere; i++) {
                for (int a = 0; i != input && a < vars[i]->aval->rank; a++) {
                    const jx_dim_atom *const *others = jx_dim_vars(
                        g->lint->program->dims, vars[i]->aval->shape[a], &n);
                    for (int m = 0; others && m < n; m++)
                        elsewhere |= others[m] == of[k];
                }
            }
            if (!elsewhere)
                return true;
        }
    }
    return false;
}

static bool is_used(const graph *g, int value)
{
    const jx_flat_uses *uses = &g->lint->uses;

    if (g->flat->values.at[value].live)
        return true;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++)
        if (jx_looks_at(&g->flat->nodes.at[uses->nodes[i]]))
            return true;
    return false;
}

static bool look_at_inputs(graph *g)
{
    const jx_program *program = g->lint->program;
    const jx_jaxpr *entry = program->entry.jaxpr;

    for (size_t v = 0; v < g->flat->values.count; v++) {
        const jx_flat_value *value = &g->flat->values.at[v];
        jx_claim *claim;
        if (value->node >= 0 || value->level || value->inside ||
            value->input < 0 || value->input >= entry->nins ||
            value->aval->kind != JX_AVAL_ARRAY ||
            value->aval->dtype == JX_FLOAT0 || is_used(g, (int)v) ||
            gives_a_size(g, value->input))
            continue;
        claim = jx_lint_claim_of_input(g->lint, JX_CODE_GRF001, value->input,
                                       NULL, "is not used");
        if (!claim)
            return false;
        if (program->exported)
            claim->level = JX_WARNING;
        claim->help =
            "leave it out: callers compute it and pass it for nothing";
    }
    return true;
}

/* -- GRF002: dead work ----------------------------------------------------------------- */

static bool is_loop(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond;
}

/* What a function of JAX's computes beside what it was called for is not its
 * caller's to mend; what a dead loop computes is told of the loop. */
static bool is_somebodys(graph *g, const jx_flat_node *node)
{
    jx_place at = {0, node->eqn, node->jaxpr, node->calls, 0};
    bool written = jx_place_is_written(g->lint->program, at.eqn, at.calls);

    for (const jx_calls *c = node->calls; c; c = c->outer) {
        const jx_place call = {0, c->eqn, c->jaxpr, c->outer, 0};
        if (is_loop(c->eqn) && !jx_place_is_needed(&g->needed, &call))
            return false;
    }
    while (!written && at.calls) {
        at = (jx_place){0, at.calls->eqn, at.calls->jaxpr, at.calls->outer, 0};
        written = jx_place_is_written(g->lint->program, at.eqn, at.calls);
        if (written)
            return !jx_place_is_needed(&g->needed, &at);
    }
    return written;
}

static bool is_new_frame(graph *g, const jx_eqn *eqn, const jx_calls *calls)
{
    const jx_frame *frame = jx_place_frame(eqn, calls);

    return !frame || jx_map_add(&g->told, frame);
}

static void look_at_dead(graph *g, const jx_flat_node *node)
{
    jx_buffer text;
    jx_claim *claim;

    if (node->live || node->elsewhere ||
        jx_place_is_derivative(node->eqn, node->calls) ||
        !is_costly(g->flat, node) || !is_somebodys(g, node) ||
        !is_new_frame(g, node->eqn, node->calls))
        return;
    text = jx_ctx_text(g->lint->ctx);
    jx_buffer_printf(
        &text, "nothing needs what `%s` computes: ", jx_eqn_name(node->eqn));
    jx_lint_describe(node->eqn->outs[0]->aval, &text);
    claim = jx_lint_claim(g->lint, JX_CODE_GRF002, node,
                          jx_arena_take(g->lint->ctx->arena, &text));
    if (claim)
        claim->help = "return it, or leave it out";
}

/* -- GRF003: the same again ------------------------------------------------------------ */

static bool is_worth_keeping(const jx_flat *flat, const jx_flat_node *node)
{
    int64_t size = size_of(flat, node);

    if (jx_is_heavy(node->eqn))
        return size >= HEAVY;
    return size >= TWICE && (is_transcendental(node->eqn) ||
                             (computes(node->eqn) &&
                              !jx_prim_in_family(node->eqn->prim->id, "elementwise")));
}

static void look_again(graph *g, const jx_flat_repeat *repeat)
{
    const jx_flat_node *node = &g->flat->nodes.at[repeat->node];
    jx_place first = jx_place_of_node(g->flat, repeat->node);
    jx_place second = jx_place_of_repeat(repeat);
    const jx_frame *before = jx_place_frame(first.eqn, first.calls);
    const jx_frame *frame = jx_place_frame(second.eqn, second.calls);
    const jx_flat_node at = {
        .eqn = second.eqn, .jaxpr = second.jaxpr, .calls = second.calls};
    const jx_stack *stack = NULL;
    jx_claim *claim;

    if (!node->live || node->elsewhere || !node->nouts ||
        !g->flat->values.at[node->outs[0]].varies ||
        !is_worth_keeping(g->flat, node) ||
        jx_place_is_derivative(first.eqn, first.calls) ||
        jx_place_is_derivative(second.eqn, second.calls) ||
        jx_places_exclude(first.calls, second.calls) || !before || !frame ||
        !jx_place_is_needed(&g->needed, &first) ||
        !jx_place_is_needed(&g->needed, &second))
        return;
    if (before->file == frame->file && before->line == frame->line) {
        stack = jx_places_meet(g->lint->ctx->arena, &first, &second);
        if (!stack || stack->frames[0]->line == before->line)
            return;
        frame = stack->frames[0];
    }
    if (!jx_map_add(&g->told, frame))
        return;
    claim =
        jx_lint_claim(g->lint, JX_CODE_GRF003, &at,
                      jx_arena_printf(g->lint->ctx->arena,
                                      "`%s` computes what line %d has computed",
                                      jx_eqn_name(second.eqn), before->line));
    if (!claim)
        return;
    claim->stack = stack;
    claim->help = "keep it in a variable; XLA finds most such pairs, but not "
                  "across loops and branches";
}

/* -- GRF004: there and back -------------------------------------------------------------- */

static bool transforms_back(const jx_p_fft *there, const jx_p_fft *back)
{
    bool kinds = (there->fft_type == JX_FFT && back->fft_type == JX_IFFT) ||
                 (there->fft_type == JX_IFFT && back->fft_type == JX_FFT);

    for (int i = 0; kinds && i < back->fft_lengths.count; i++)
        kinds = there->fft_lengths.count == back->fft_lengths.count &&
                there->fft_lengths.at[i] == back->fft_lengths.at[i];
    return kinds;
}

static bool undoes(const jx_flat *flat, const jx_flat_node *first,
                   const jx_flat_node *second)
{
    const void *p = first->eqn->typed, *q = second->eqn->typed;
    const jx_aval *from = flat->values.at[first->ins[0]].aval;
    jx_prim_id id = second->eqn->prim->id;

    if (from != flat->values.at[second->outs[0]].aval || !p || !q)
        return false;
    switch (id) {
    case JX_PRIM_transpose: {
        jx_ints a = ((const jx_p_transpose *)p)->permutation;
        jx_ints b = ((const jx_p_transpose *)q)->permutation;
        if (first->eqn->prim->id != id)
            return false;
        for (int i = 0; i < b.count; i++)
            if (a.at[b.at[i]] != i)
                return false;
        return true;
    }
    case JX_PRIM_rev: {
        jx_ints a = ((const jx_p_dimensions *)p)->dimensions;
        jx_ints b = ((const jx_p_dimensions *)q)->dimensions;
        if (first->eqn->prim->id != id || a.count != b.count)
            return false;
        for (int i = 0; i < a.count; i++)
            if (!jx_ints_hold(b, a.at[i]))
                return false;
        return true;
    }
    case JX_PRIM_fft:
        return first->eqn->prim->id == id && transforms_back(p, q);
    case JX_PRIM_neg:
    case JX_PRIM_not:
    case JX_PRIM_conj: return first->eqn->prim->id == id;
    default: return false;
    }
}

/* What puts the parts of one array together, in their order and along their axis. */
static bool joins(const jx_flat *flat, const jx_flat_node *first, const jx_flat_node *second)
{
    const jx_p_split *cut = first->eqn->typed;
    const jx_p_concatenate *joined = second->eqn->typed;
    bool is = first->eqn->prim->id == JX_PRIM_split &&
              second->eqn->prim->id == JX_PRIM_concatenate && cut && joined &&
              second->nins == first->nouts && joined->dimension == cut->axis &&
              flat->values.at[first->ins[0]].aval == flat->values.at[second->outs[0]].aval;

    for (int i = 0; is && i < second->nins; i++)
        is = second->ins[i] == first->outs[i];
    return is;
}

/* It stands at the end of a function that does more: what that gives is not this node's. */
static bool ends_more(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_flat_node *before = jx_maker(flat, node->ins[0]);

    return before && !jx_shows(before->eqn) && jx_is_implied(before, node);
}

/* Keeps the order of its elements, and their number. */
static bool reshapes(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_aval *a = flat->values.at[node->ins[0]].aval;
    const jx_aval *b = flat->values.at[node->outs[0]].aval;
    const jx_p_broadcast_in_dim *p = node->eqn->typed;
    int64_t from, to;

    switch (node->eqn->prim->id) {
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims: return true;
    case JX_PRIM_broadcast_in_dim: /* adds axes of size 1 */
        for (int i = 1; p && i < p->broadcast_dimensions.count; i++)
            if (p->broadcast_dimensions.at[i] <=
                p->broadcast_dimensions.at[i - 1])
                return false;
        return p && jx_aval_elements(a, &from) && jx_aval_elements(b, &to) &&
               from == to;
    default: return false;
    }
}

/* Somebody wrote it, or called the function that does nothing else. */
static bool is_called(const jx_program *program, const jx_flat_node *node)
{
    return jx_place_is_written(program, node->eqn, node->calls) ||
           (node->jaxpr->neqns == 1 && node->calls &&
            jx_place_is_written(program, node->calls->eqn, node->calls->outer));
}

static void look_at_pair(graph *g, const jx_flat_node *second)
{
    const jx_flat_node *first =
        second->nins ? jx_maker(g->flat, second->ins[0]) : NULL;
    const jx_program *program = g->lint->program;
    jx_claim *claim;

    if (!first || !first->nins || !jx_looks_at(second) || second->nouts != 1 ||
        (first->nouts != 1 && !joins(g->flat, first, second)) || ends_more(g->flat, first))
        return;
    if (!joins(g->flat, first, second) && !undoes(g->flat, first, second) &&
        !(reshapes(g->flat, first) && reshapes(g->flat, second) &&
          g->flat->values.at[first->ins[0]].aval ==
              g->flat->values.at[second->outs[0]].aval))
        return;
    if (!is_called(program, first) || !is_called(program, second) ||
        jx_is_implied(first, second) ||
        jx_place_is_backward(first->eqn, first->calls) ||
        jx_place_is_backward(second->eqn, second->calls))
        return;
    claim = jx_lint_claim(
        g->lint, JX_CODE_GRF004, second,
        jx_arena_printf(g->lint->ctx->arena,
                        "`%s` undoes `%s`: it gives back what "
                        "went in",
                        jx_eqn_name(second->eqn), jx_eqn_name(first->eqn)));
    if (claim)
        claim->help = "leave both out";
}

/* -- GRF005, GRF006: results --------------------------------------------------------------- */

static bool look_at_results(graph *g)
{
    const jx_flat *flat = g->flat;
    int *first = JX_NEW_ARRAY(g->lint->ctx->arena, flat->values.count, int);

    for (int i = 0; first && i < flat->nouts; i++) {
        int out = flat->outs[i];
        const jx_flat_value *v = &flat->values.at[out];
        const jx_flat_node *node = jx_maker(flat, out);
        const char *what = NULL;
        jx_claim *claim = NULL;

        if (v->aval->kind != JX_AVAL_ARRAY || v->aval->dtype == JX_FLOAT0)
            continue;
        if (first[out] && node && v->varies)
            claim = jx_lint_claim_of_result(
                g->lint, JX_CODE_GRF006, i, node,
                jx_arena_printf(g->lint->ctx->arena, "is result %d again",
                                first[out] - 1));
        else if (!node && v->varies && v->input >= 0 && !v->level)
            what = "is an input, as it came";
        else if (!v->varies && v->literal
                     ? !v->literal->dim
                     : !v->varies && jx_aval_is_static(v->aval) &&
                           !(node &&
                             node->eqn->prim->id == JX_PRIM_dim_as_value))
            what = "is a constant";
        if (!first[out])
            first[out] = i + 1;
        if (what)
            claim =
                jx_lint_claim_of_result(g->lint, JX_CODE_GRF005, i, node, what);
        if (claim)
            claim->help = "callers have it already";
    }
    return first != NULL;
}

bool jx_lint_graph(jx_linter *lint)
{
    graph g = {.lint = lint, .flat = lint->flat};

    jx_map_init(&g.told, lint->ctx->arena);
    if (!jx_needed_init(&g.needed, lint->program) || !look_at_inputs(&g))
        return false;
    for (size_t n = 0; n < g.flat->nodes.count; n++) {
        look_at_dead(&g, &g.flat->nodes.at[n]);
        look_at_pair(&g, &g.flat->nodes.at[n]);
    }
    for (size_t i = 0; i < g.flat->repeats.count; i++)
        look_again(&g, &g.flat->repeats.at[i]);
    return look_at_results(&g) && jx_ok(lint->ctx);
}
