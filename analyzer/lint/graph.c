/* graph.c - what a program takes, gives and computes for nothing. */
#include "analyzer/lint/leftover.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "analyzer/transform/same.h"
#include "frontend/base/map.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"
#include "frontend/read/exported.h"

#include <string.h>

/* Elements from which heavy work, and any work, is worth a word. */
enum { HEAVY = 64, LARGE = 1 << 16, TWICE = 1024 };

typedef struct graph {
    jx_linter *lint;
    const jx_flat *flat;
    jx_needed needed;
    jx_map told;      /* frames */
    const bool *left; /* by node: by a derivative (leftover.h) */
    /* by value: the loop, of those that are looked at one after the other, that
     * needs it */
    const jx_flat_node **needed_by;
} graph;

/* -- what work is worth a word --------------------------------------------- */

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

/* The largest array that it takes or gives; INT64_MAX where a
 * size is symbolic. */
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

/* -- GRF001: inputs -------------------------------------------------------- */

static bool has_variable(const graph *g, const jx_var *input,
                         const jx_dim_atom *variable)
{
    int count = 0;

    for (int axis = 0; axis < input->aval->rank; axis++) {
        const jx_dim_atom *const *of = jx_dim_vars(
            g->lint->program->dims, input->aval->shape[axis], &count);
        for (int k = 0; of && k < count; k++)
            if (of[k] == variable)
                return true;
    }
    return false;
}

/* Some size of the input is a variable that it is left to give: no input that
 * is used has it, and none before this one. */
static bool gives_a_size(const graph *g, int input, const bool *used)
{
    const jx_jaxpr *entry = g->lint->program->entry.jaxpr;
    const jx_var *const *vars = entry->vars + entry->nconsts;
    int count = 0;

    for (int axis = 0; axis < vars[input]->aval->rank; axis++) {
        const jx_dim_atom *const *of = jx_dim_vars(
            g->lint->program->dims, vars[input]->aval->shape[axis], &count);
        for (int k = 0; of && k < count; k++) {
            bool elsewhere = false;
            for (int i = 0; i < entry->nins && !elsewhere; i++)
                elsewhere = i != input && (i < input || used[i]) &&
                            has_variable(g, vars[i], of[k]);
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

static bool is_input(const graph *g, const jx_flat_value *value)
{
    return value->node < 0 && !value->level && !value->inside &&
           value->input >= 0 &&
           value->input < g->lint->program->entry.jaxpr->nins;
}

/* An exported file says itself what its module does not take (EXP012). */
static bool is_left_out(const jx_exported *exported, int input)
{
    for (int i = 0; exported && i < exported->nkept; i++)
        if (exported->kept[i] == input)
            return false;
    return exported != NULL;
}

static bool look_at_inputs(graph *g)
{
    const jx_program *program = g->lint->program;
    bool *used =
        JX_NEW_ARRAY(g->lint->ctx->arena, program->entry.jaxpr->nins + 1, bool);

    if (!used)
        return false;
    for (size_t v = 0; v < g->flat->values.count; v++)
        if (is_input(g, &g->flat->values.at[v]))
            used[g->flat->values.at[v].input] |= is_used(g, (int)v);
    for (size_t v = 0; v < g->flat->values.count; v++) {
        const jx_flat_value *value = &g->flat->values.at[v];
        jx_claim *claim;
        if (!is_input(g, value) || value->aval->kind != JX_AVAL_ARRAY ||
            value->aval->dtype == JX_FLOAT0 || used[value->input] ||
            is_left_out(program->exported, value->input) ||
            gives_a_size(g, value->input, used))
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

/* -- GRF002: dead work ----------------------------------------------------- */

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

static bool speaks_of_derivative(const jx_frame *frame)
{
    static const char *const words[] = {"grad", "vjp", "jac", "hess"};

    const char *line = jx_file_line(frame->file, frame->line);

    for (size_t w = 0; line && w < sizeof words / sizeof *words; w++)
        if (strstr(line, words[w]))
            return true;
    return false;
}

/* From where somebody asked for the derivative that goes back here,
 * outward: the line says so, since JAX's own frames do not come along.
 * NULL: nobody knows. */
static const jx_stack *asked_for_at(graph *g, const jx_flat_node *node)
{
    const jx_place at = {0, node->eqn, node->jaxpr, node->calls, 0};
    jx_stack all = jx_place_stack(g->lint->ctx->arena, &at, NULL), *to;

    for (int i = 0; i < all.count; i++)
        if (speaks_of_derivative(all.frames[i])) {
            while (i + 1 < all.count &&
                   jx_frame_is_within(all.frames[i], all.frames[i + 1]))
                i++;
            to = JX_NEW(g->lint->ctx->arena, jx_stack);
            if (to)
                *to = (jx_stack){all.count - i, all.frames + i};
            return to;
        }
    return NULL;
}

/* Some of what goes back there is needed: who asked for it leaves
 * out a part of it. */
static bool goes_back_for_something(graph *g, const jx_frame *frame)
{
    for (size_t n = 0; n < g->flat->nodes.count; n++) {
        const jx_flat_node *node = &g->flat->nodes.at[n];
        const jx_place at = {0, node->eqn, node->jaxpr, node->calls, 0};
        jx_stack all;
        if (!node->live || !jx_place_is_backward(node->eqn, node->calls))
            continue;
        all = jx_place_stack(g->lint->ctx->arena, &at, NULL);
        for (int i = 0; i < all.count; i++)
            if (jx_frame_same(all.frames[i], frame))
                return true;
    }
    return false;
}

/* A whole derivative that nobody takes. */
static void look_at_dead_derivative(graph *g, const jx_flat_node *node)
{
    const jx_stack *stack;
    jx_claim *claim;

    if (node->live || node->elsewhere ||
        !jx_place_is_backward(node->eqn, node->calls) ||
        !is_costly(g->flat, node))
        return;
    stack = asked_for_at(g, node);
    if (!stack || !jx_map_add(&g->told, stack->frames[0]) ||
        goes_back_for_something(g, stack->frames[0]))
        return;
    claim = jx_lint_claim(g->lint, JX_CODE_GRF002, node,
                          "nothing needs the derivative that is computed here");
    if (claim) {
        claim->stack = stack;
        claim->help = "return it or apply it, or call the function alone";
    }
}

/* A line that another call needs, too, is shown where that other one parts from
 * this: conv(x, k1) of two.  NULL: its own. */
static const jx_stack *dead_at(graph *g, const jx_flat_node *node)
{
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    const jx_place at = {0, node->eqn, node->jaxpr, node->calls, 0};

    for (size_t n = 0; frame && n < g->flat->nodes.count; n++) {
        const jx_flat_node *other = &g->flat->nodes.at[n];
        const jx_place needed = {0, other->eqn, other->jaxpr, other->calls, 0};
        if (other->live && other->eqn->prim == node->eqn->prim &&
            jx_frame_same(jx_place_frame(other->eqn, other->calls), frame))
            return jx_places_meet(g->lint->ctx->arena, &needed, &at);
    }
    return NULL;
}

static jx_claim *tell_dead(graph *g, const jx_flat_node *node)
{
    bool derivative = jx_place_is_derivative(node->eqn, node->calls);
    jx_buffer text;
    jx_claim *claim;

    if (node->elsewhere || (derivative && g->left[node - g->flat->nodes.at]) ||
        jx_place_is_backward(node->eqn, node->calls) ||
        !is_costly(g->flat, node) || !is_somebodys(g, node) ||
        !is_new_frame(g, node->eqn, node->calls))
        return NULL;
    text = jx_ctx_text(g->lint->ctx);
    jx_buffer_printf(
        &text, "nothing needs what `%s` computes: ", jx_eqn_name(node->eqn));
    jx_lint_describe(node->eqn->outs[0]->aval, &text);
    claim = jx_lint_claim(g->lint, JX_CODE_GRF002, node,
                          jx_arena_take(g->lint->ctx->arena, &text));
    if (claim) {
        claim->stack = dead_at(g, node);
        claim->help = "return it, or leave it out";
        if (derivative) /* others may take what its function gives */
            claim->level = JX_NOTE;
    }
    return claim;
}

/* -- GRF002: what a loop gives to nobody -------------------------------- */

/* The flat form needs all that a live loop gives; here a result is needed if
 * somebody takes it, or a turn that gives one that is. */
typedef struct turning {
    graph *g;
    const jx_flat_node *loop, *begin; /* its bodies' nodes lie between */
    int carried;                      /* how many */
    int first; /* of the loop's results among those of its bodies */
    bool more; /* another of them turned out to be needed */
} turning;

static bool is_needed(const turning *t, int value)
{
    return t->g->needed_by[value] == t->loop;
}

/* What takes the place of a value that the loop carries is needed, too. */
static void need(turning *t, int value)
{
    const jx_flat_value *v = &t->g->flat->values.at[value];
    const jx_flat_body *body =
        v->inside ? &t->g->flat->bodies.at[v->inside - 1] : NULL;

    if (is_needed(t, value))
        return;
    t->g->needed_by[value] = t->loop;
    if (body && body->node >= 0 &&
        &t->g->flat->nodes.at[body->node] == t->loop && v->input >= 0 &&
        v->input < t->carried) {
        t->more = true;
        need(t, t->loop->results[t->first + v->input]);
    }
}

static bool gives_needed(const turning *t, const jx_flat_node *node)
{
    for (int i = 0; i < node->nouts; i++)
        if (is_needed(t, node->outs[i]))
            return true;
    return jx_eqn_acts(node->eqn);
}

static void go_back(turning *t)
{
    t->more = false;
    for (const jx_flat_node *node = t->loop; node-- > t->begin;) {
        if (!gives_needed(t, node))
            continue;
        for (int i = 0; i < node->nins; i++)
            need(t, node->ins[i]);
        for (int i = 0; i < node->nresults; i++)
            need(t, node->results[i]);
    }
}

static bool stands_in(const jx_calls *calls, const jx_eqn *loop)
{
    while (calls && calls->eqn != loop)
        calls = calls->outer;
    return calls != NULL;
}

/* False where somebody takes all that the loop gives. */
static bool begin_turning(turning *t)
{
    const jx_flat_node *loop = t->loop;
    bool all = true;

    if (!loop->live || loop->shared || !loop->nresults || !loop->eqn->typed ||
        jx_place_is_derivative(loop->eqn, loop->calls))
        return false;
    if (loop->eqn->prim->id == JX_PRIM_scan) {
        t->carried = (int)((const jx_p_scan *)loop->eqn->typed)->num_carry;
    } else if (loop->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *p = loop->eqn->typed;
        t->first = p->cond_jaxpr.jaxpr->nouts;
        t->carried = loop->nouts;
    }
    for (int i = 0; i < loop->nouts; i++)
        all &= t->g->flat->values.at[loop->outs[i]].live;
    for (t->begin = loop; t->begin > t->g->flat->nodes.at &&
                          stands_in(t->begin[-1].calls, loop->eqn);)
        t->begin--;
    return !all && t->carried && t->first + loop->nouts <= loop->nresults;
}

/* What a turn computes may be what is computed behind the loop, too. */
static bool is_taken_behind(const turning *t, const jx_flat_node *node)
{
    const jx_flat *flat = t->g->flat;
    const jx_flat_uses *uses = &t->g->lint->uses;

    for (int i = 0; i < node->nouts; i++) {
        int value = node->outs[i];
        for (int k = uses->first[value]; k < uses->first[value + 1]; k++)
            if (&flat->nodes.at[uses->nodes[k]] > t->loop)
                return true;
        for (int k = 0; k < flat->nouts; k++)
            if (flat->outs[k] == value)
                return true;
    }
    return false;
}

static void look_at_turns(graph *g, const jx_flat_node *loop)
{
    turning t = {.g = g, .loop = loop};

    if (!begin_turning(&t))
        return;
    for (int i = 0; i < t.first; i++)
        need(&t, loop->results[i]);
    for (int i = 0; i < loop->nouts; i++)
        if (g->flat->values.at[loop->outs[i]].live)
            need(&t, loop->results[t.first + i]);
    do
        go_back(&t);
    while (t.more);
    for (const jx_flat_node *node = t.begin; node < loop; node++) {
        jx_claim *claim = node->live && node->nouts &&
                                  !gives_needed(&t, node) &&
                                  !is_taken_behind(&t, node)
                              ? tell_dead(g, node)
                              : NULL;
        if (claim) /* others may take what its function gives */
            claim->level = JX_NOTE;
    }
}

/* -- GRF003: the same again ------------------------------------------------ */

static bool is_worth_keeping(const jx_flat *flat, const jx_flat_node *node)
{
    int64_t size = size_of(flat, node);

    if (jx_is_heavy(node->eqn))
        return size >= HEAVY;
    return size >= TWICE &&
           (is_transcendental(node->eqn) ||
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
    if (before->file == frame->file && before->line == frame->line &&
        !(jx_is_heavy(node->eqn) && before->column >= 0 &&
          before->column != frame->column)) {
        stack = jx_places_meet(g->lint->ctx->arena, &first, &second);
        if (!stack || stack->frames[0]->line == before->line)
            return;
        frame = stack->frames[0];
    }
    if (!jx_map_add(&g->told, frame))
        return;
    claim = jx_lint_claim(
        g->lint, JX_CODE_GRF003, &at,
        before->file == frame->file && before->line == frame->line
            ? jx_arena_printf(g->lint->ctx->arena,
                              "`%s` computes what it has computed in this line",
                              jx_eqn_name(second.eqn))
            : jx_arena_printf(g->lint->ctx->arena,
                              "`%s` computes what line %d has computed",
                              jx_eqn_name(second.eqn), before->line));
    if (!claim)
        return;
    claim->stack = stack;
    claim->help = "keep it in a variable; XLA finds most such pairs, but not "
                  "across loops and branches";
}

/* Both loops do the same with the same. */
static bool are_same_loops(const graph *g, const jx_flat_node *a,
                           const jx_flat_node *b)
{
    const jx_typed *typed = &g->lint->to->typed;

    if (a->eqn->prim != b->eqn->prim || a->nins != b->nins || !a->eqn->typed ||
        !b->eqn->typed ||
        memcmp(a->ins, b->ins, (size_t)a->nins * sizeof *a->ins) != 0)
        return false;
    if (a->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *p = a->eqn->typed, *q = b->eqn->typed;
        return p->cond_nconsts == q->cond_nconsts &&
               p->body_nconsts == q->body_nconsts &&
               jx_same_jaxprs(typed, &p->cond_jaxpr, &q->cond_jaxpr) &&
               jx_same_jaxprs(typed, &p->body_jaxpr, &q->body_jaxpr);
    }
    const jx_p_scan *p = a->eqn->typed, *q = b->eqn->typed;
    return p->length == q->length && p->reverse == q->reverse &&
           p->num_consts == q->num_consts && p->num_carry == q->num_carry &&
           jx_same_jaxprs(typed, &p->jaxpr, &q->jaxpr);
}

enum { MOST_LOOPS = 32 }; /* that are held against each other */

/* Of loops that are written out apart the flat form does not know that. */
static void look_at_loops(graph *g)
{
    const jx_flat *flat = g->flat;
    int loops[MOST_LOOPS], count = 0;

    for (size_t n = 0; n < flat->nodes.count && count < MOST_LOOPS; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        if ((node->eqn->prim->id != JX_PRIM_scan &&
             node->eqn->prim->id != JX_PRIM_while) ||
            !node->live)
            continue;
        for (int i = 0; i < count; i++)
            if (are_same_loops(g, &flat->nodes.at[loops[i]], node)) {
                look_again(g,
                           &(jx_flat_repeat){loops[i], node->eqn, node->jaxpr,
                                             node->calls, node->order});
                break;
            }
        loops[count++] = (int)n;
    }
}

/* -- GRF004: there and back ------------------------------------------------ */

static bool transforms_back(const jx_p_fft *there, const jx_p_fft *back)
{
    bool kinds = (there->fft_type == JX_FFT && back->fft_type == JX_IFFT) ||
                 (there->fft_type == JX_IFFT && back->fft_type == JX_FFT) ||
                 (there->fft_type == JX_RFFT && back->fft_type == JX_IRFFT);

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

/* What puts the parts of one array together, in their order and
 * along their axis. */
static bool joins(const jx_flat *flat, const jx_flat_node *first,
                  const jx_flat_node *second)
{
    const jx_p_split *cut = first->eqn->typed;
    const jx_p_concatenate *joined = second->eqn->typed;
    bool is = first->eqn->prim->id == JX_PRIM_split &&
              second->eqn->prim->id == JX_PRIM_concatenate && cut && joined &&
              second->nins == first->nouts && joined->dimension == cut->axis &&
              flat->values.at[first->ins[0]].aval ==
                  flat->values.at[second->outs[0]].aval;

    for (int i = 0; is && i < second->nins; i++)
        is = second->ins[i] == first->outs[i];
    return is;
}

/* What makes the operand of the node; x[::-1] with symbolic sizes takes all of
 * x before it turns it around. */
static const jx_flat_node *before_of(const jx_linter *lint,
                                     const jx_flat_node *node)
{
    do
        node = node->nins ? jx_maker(lint->flat, node->ins[0]) : NULL;
    while (node && jx_takes_all_in_order(lint, node));
    return node;
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

static bool takes_a_part(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_slice ||
           eqn->prim->id == JX_PRIM_dynamic_slice ||
           eqn->prim->id == JX_PRIM_gather;
}

/* It stands at the end of a function that does more: what that gives is
 * not this node's.  An index takes a part before it drops axes. */
static bool ends_more(const jx_linter *lint, const jx_flat_node *node)
{
    const jx_flat_node *before = before_of(lint, node);
    bool computed =
        before && !jx_shows(before->eqn) && !jx_flat_moves(before->eqn);

    return before &&
           (computed ||
            (reshapes(lint->flat, node) && takes_a_part(before->eqn))) &&
           jx_is_implied(before, node);
}

/* An operation makes its operand ready by it: x + row broadcasts. */
static bool begins_more(const jx_linter *lint, const jx_flat_node *node)
{
    const jx_flat_uses *uses = &lint->uses;
    int value = node->outs[0];

    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &lint->flat->nodes.at[uses->nodes[i]];
        if (computes(use->eqn) && jx_is_implied(node, use))
            return true;
    }
    return false;
}

/* The elements [from, to) along one axis, of `size`, of a value. */
typedef struct piece {
    int of, axis;
    const jx_dim *from, *to, *size;
} piece;

static bool is_piece(const jx_flat *flat, int value, int axis, piece *to)
{
    const jx_flat_node *node = jx_maker(flat, value);
    const jx_p_slice *p =
        node && node->eqn->prim->id == JX_PRIM_slice ? node->eqn->typed : NULL;
    const jx_aval *aval = p ? flat->values.at[node->ins[0]].aval : NULL;

    if (!p || axis >= aval->rank)
        return false;
    for (int i = 0; i < aval->rank; i++) {
        int64_t stride = 1;
        if (p->strides.count &&
            !(jx_dim_is_int(p->strides.at[i], &stride) && stride == 1))
            return false;
        if (i != axis &&
            flat->values.at[value].aval->shape[i] != aval->shape[i])
            return false;
        if (i == axis)
            *to = (piece){node->ins[0], axis, p->start_indices.at[i],
                          p->limit_indices.at[i], aval->shape[i]};
    }
    return true;
}

/* By how much a concatenation turns its operand around: jnp.roll with
 * a known shift. */
static bool turns(const jx_flat *flat, const jx_flat_node *node, piece *by)
{
    const jx_p_concatenate *p = node->eqn->typed;
    piece tail, head;
    int64_t start;

    if (node->eqn->prim->id != JX_PRIM_concatenate || !p || node->nins != 2 ||
        !is_piece(flat, node->ins[0], (int)p->dimension, &tail) ||
        !is_piece(flat, node->ins[1], (int)p->dimension, &head) ||
        tail.of != head.of || !jx_dim_is_int(head.from, &start) || start ||
        head.to != tail.from || tail.to != tail.size)
        return false;
    *by = tail; /* of [0, from) and [from, size) the second comes first */
    return true;
}

enum { MOST_TURNS = 8 };

/* One turn more along its axis; true if all of them come to none.  A turn by
 * mod(a, size) is one by a. */
static bool turn_on(jx_dims *dims, piece *sum, const piece *by)
{
    const jx_dim_term *term = jx_dim_terms(by->from);
    const jx_dim_atom *atom = jx_dim_nterms(by->from) == 1 &&
                                      term->coefficient == 1 &&
                                      term->nfactors == 1
                                  ? term->factors->atom
                                  : NULL;
    const jx_dim *far = atom && term->factors->power == 1 &&
                                atom->kind == JX_ATOM_MOD && atom->b == by->size
                            ? atom->a
                            : by->from;
    int64_t rest;

    sum->from = sum->from && far ? jx_dim_add(dims, sum->from, far) : NULL;
    return sum->from &&
           jx_dim_is_int(jx_dim_mod(dims, sum->from, by->size), &rest) &&
           rest == 0;
}

/* The first of the turns, axis by axis, that come to none with this one;
 * NULL: they do not. */
static const jx_flat_node *turned_back(const jx_flat *flat,
                                       const jx_flat_node *last)
{
    jx_dims *dims = flat->program->dims;
    piece sums[MOST_TURNS], by; /* of one axis each, how far in all */
    bool back[MOST_TURNS];
    const jx_flat_node *node = last;
    int count = 0;

    for (int step = 0; node && step < MOST_TURNS && turns(flat, node, &by);
         step++) {
        bool none = true;
        int at = 0;
        while (at < count && sums[at].axis != by.axis)
            at++;
        if (at == count)
            sums[count++] =
                (piece){.axis = by.axis, .from = jx_dim_int(dims, 0)};
        back[at] = turn_on(dims, &sums[at], &by);
        for (int i = 0; i < count; i++)
            none &= back[i];
        if (none)
            return node;
        node = jx_maker(flat, by.of);
    }
    return NULL;
}

/* Nothing is computed in the jaxpr but by one equation. */
static bool computes_alone(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        if (&jaxpr->eqns[i] != eqn && !jx_flat_moves(&jaxpr->eqns[i]) &&
            !jx_shows(&jaxpr->eqns[i]) &&
            jaxpr->eqns[i].prim->id != JX_PRIM_concatenate)
            return false;
    return true;
}

/* Somebody wrote it, or called the function that does nothing else. */
static bool is_called(const jx_program *program, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;
    const jx_jaxpr *jaxpr = node->jaxpr;
    const jx_calls *calls = node->calls;

    while (!jx_place_is_written(program, eqn, calls)) {
        if (!calls || !computes_alone(jaxpr, eqn))
            return false;
        eqn = calls->eqn;
        jaxpr = calls->jaxpr;
        calls = calls->outer;
    }
    return true;
}

/* What the node undoes; NULL: nothing. */
static const jx_flat_node *undone(const jx_linter *lint,
                                  const jx_flat_node *second)
{
    const jx_flat *flat = lint->flat;
    const jx_flat_node *first = before_of(lint, second);
    const jx_flat_node *turn =
        second->nouts == 1 ? turned_back(flat, second) : NULL;

    if (turn)
        return turn;
    if (!first || !first->nins || second->nouts != 1)
        return NULL;
    if (joins(flat, first, second))
        return first;
    return first->nouts == 1 &&
                   (undoes(flat, first, second) ||
                    (reshapes(flat, first) && reshapes(flat, second) &&
                     flat->values.at[first->ins[0]].aval ==
                         flat->values.at[second->outs[0]].aval))
               ? first
               : NULL;
}

static void look_at_pair(graph *g, const jx_flat_node *second)
{
    const jx_program *program = g->lint->program;
    const jx_flat_node *first =
        jx_looks_at(second) ? undone(g->lint, second) : NULL;
    jx_claim *claim;

    if (!first || ends_more(g->lint, first) || begins_more(g->lint, second) ||
        !is_called(program, first) || !is_called(program, second) ||
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

/* -- GRF005, GRF006: results ----------------------------------------------- */

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
    g.needed_by = JX_NEW_ARRAY(lint->ctx->arena, g.flat->values.count,
                               const jx_flat_node *);
    g.left = jx_leftovers(lint);
    if (!g.needed_by || !g.left || !jx_needed_init(&g.needed, lint->program) ||
        !look_at_inputs(&g))
        return false;
    for (size_t n = 0; n < g.flat->nodes.count; n++) {
        if (!g.flat->nodes.at[n].live)
            tell_dead(&g, &g.flat->nodes.at[n]);
        look_at_turns(&g, &g.flat->nodes.at[n]);
        look_at_dead_derivative(&g, &g.flat->nodes.at[n]);
        look_at_pair(&g, &g.flat->nodes.at[n]);
    }
    for (size_t i = 0; i < g.flat->repeats.count; i++)
        look_again(&g, &g.flat->repeats.at[i]);
    look_at_loops(&g);
    return look_at_results(&g) && jx_ok(lint->ctx);
}
