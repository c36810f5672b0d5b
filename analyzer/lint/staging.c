/* staging.c - what a trace bakes into the program: computations that depend on
 * no input, large constants, arithmetic on shapes.
 *
 * Under omnistaging every jnp call inside a traced function becomes an
 * equation, also one whose operands are all known while tracing; numpy would
 * have done it once. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"

#include <string.h>

enum { MEBIBYTE = 1 << 20, NOTE_BYTES = 64 << 10, MAX_COUNTED = 1000 };

/* Of a computation without inputs, all that leads to a node included. */
typedef struct work {
    int64_t elements; /* of its largest step that computes; 0: none does */
    int64_t bytes;    /* of its largest array */
    bool symbolic, dot;
} work;

static bool is_constant(const jx_flat *flat, int value)
{
    return !flat->values.at[value].varies;
}

static bool is_constant_node(const jx_flat *flat, const jx_flat_node *node)
{
    return node->nouts > 0 && is_constant(flat, node->outs[0]);
}

static bool is_dot(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_dot_general ||
           eqn->prim->id == JX_PRIM_conv_general_dilated;
}

static void join(work *to, const work *other)
{
    if (to->elements < other->elements)
        to->elements = other->elements;
    if (to->bytes < other->bytes)
        to->bytes = other->bytes;
    to->symbolic |= other->symbolic;
    to->dot |= other->dot;
}

/* What a pass over the nodes knows so far. */
typedef struct works {
    const jx_flat *flat;
    work *done;  /* by node */
    bool *ramps; /* by value: a*i + b along some axis, which is made for the
                    price of a broadcast */
} works;

/* The elements of an array, counted: JAX lowers iota_2x32_shape, which random
 * bits begin with, to sums of ramps in uint64 and halves of them.  Nobody wrote
 * that, and nobody can take it out. */
static bool counts_elements(const jx_flat_node *node)
{
    return node->eqn->outs[0]->aval->dtype == JX_U64;
}

static bool is_ramp(const works *w, const jx_flat_node *node)
{
    int ramps = 0;

    switch (node->eqn->prim->id) {
    case JX_PRIM_iota: return true;
    case JX_PRIM_shift_right_logical:
        if (!counts_elements(node))
            return false;
        break;
    case JX_PRIM_mul:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_concatenate: break;
    default:
        if (!jx_flat_moves(node->eqn) || node->nins != 1)
            return false;
    }
    for (int i = 0; i < node->nins; i++) {
        if (w->ramps[node->ins[i]])
            ramps++;
        else if (!w->flat->values.at[node->ins[i]].splat)
            return false;
    }
    return ramps == 1 ||
           (ramps && (node->eqn->prim->id == JX_PRIM_concatenate ||
                      counts_elements(node)));
}

/* What handling this value costs the step that computes it. */
static work work_of_value(const works *all, int value)
{
    const jx_flat_value *v = &all->flat->values.at[value];
    work w = {0};

    if (v->splat || all->ramps[value] || v->aval->kind != JX_AVAL_ARRAY)
        return w;
    w.symbolic = !jx_aval_elements(v->aval, &w.elements);
    if (!w.symbolic)
        w.bytes = jx_lint_bytes(v->aval);
    return w;
}

static work work_of_node(const works *all, const jx_flat_node *node)
{
    const jx_flat *flat = all->flat;
    work w = {0}, own;

    for (int i = 0; i < node->nins; i++) {
        int from = flat->values.at[node->ins[i]].node;
        if (from >= 0)
            join(&w, &all->done[from]);
    }
    if (jx_flat_moves(node->eqn) || (node->nouts && all->ramps[node->outs[0]]))
        return w;
    for (int i = 0; i < node->nouts + node->nins; i++) {
        own = work_of_value(all, i < node->nouts ? node->outs[i]
                                                 : node->ins[i - node->nouts]);
        join(&w, &own);
    }
    w.dot |= is_dot(node->eqn) && w.elements > 0;
    return w;
}

/* How many equations lead to a node, up to MAX_COUNTED. */
static int count_steps(jx_linter *lint, int node, int *stack, int *stamps,
                       int stamp)
{
    const jx_flat *flat = lint->flat;
    int depth = 0, count = 0;

    stack[depth++] = node;
    stamps[node] = stamp;
    while (depth && count < MAX_COUNTED) {
        const jx_flat_node *at = &flat->nodes.at[stack[--depth]];
        count++;
        for (int i = 0; i < at->nins; i++) {
            int from = flat->values.at[at->ins[i]].node;
            if (from >= 0 && stamps[from] != stamp && depth < MAX_COUNTED) {
                stamps[from] = stamp;
                stack[depth++] = from;
            }
        }
    }
    return count;
}

static bool report_work(jx_linter *lint, const jx_flat_node *node,
                        const work *w, int steps)
{
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    jx_buffer_printf(&text, "`%s` makes ", jx_eqn_name(node->eqn));
    jx_lint_describe(node->eqn->outs[0]->aval, &text);
    jx_buffer_printf(&text, " from no input, at every run: %s%d equation%s",
                     steps == MAX_COUNTED ? "more than " : "", steps,
                     steps == 1 ? "" : "s");
    if (node->copies > 1)
        jx_buffer_printf(&text, ", written %d times", node->copies);
    claim = jx_lint_claim(lint, JX_CODE_STG001, node,
                          jx_arena_take(lint->ctx->arena, &text));
    if (!claim)
        return false;
    claim->help = w->symbolic
                      ? "its size is only known at run time: make sure that "
                        "recomputing it is meant, or take it as an argument"
                      : "compute it with numpy, outside the traced function, "
                        "or take it as an argument";
    if (w->dot || w->bytes >= MEBIBYTE)
        claim->level = JX_WARNING;
    return true;
}

/* Marks constant nodes whose results a varying computation needs. */
static void mark_frontier(const jx_flat *flat, int count, const int *values,
                          bool *frontier)
{
    for (int i = 0; i < count; i++) {
        const jx_flat_value *v = &flat->values.at[values[i]];
        if (!v->varies && v->node >= 0)
            frontier[v->node] = true;
    }
}

/* A branch that may run takes the operand (of the branches, from 0). */
static bool is_taken(const jx_eqn *eqn, int operand)
{
    const jx_p_cond *p = eqn->typed;

    for (int i = 0; i < p->branches.count; i++) {
        const jx_jaxpr *body = p->branches.at[i].jaxpr;
        const jx_var *var =
            operand < body->nins ? body->vars[body->nconsts + operand] : NULL;
        if (!var || jx_flat_is_for_mosaic(eqn, i))
            continue;
        for (int n = 0; n < body->neqns; n++)
            for (int k = 0; k < body->eqns[n].nins; k++)
                if (body->eqns[n].ins[k].var == var)
                    return true;
        for (int k = 0; k < body->nouts; k++)
            if (body->outs[k].var == var)
                return true;
    }
    return false;
}

static void mark_branches(const jx_flat *flat, const jx_flat_node *node,
                          bool *frontier)
{
    const jx_p_cond *p = node->eqn->typed;

    for (int i = 0; i < node->nins; i++)
        if (i == 0 || is_taken(node->eqn, i - 1))
            mark_frontier(flat, 1, &node->ins[i], frontier);
    for (int i = 0; i < p->branches.count; i++)
        if (!jx_flat_is_for_mosaic(node->eqn, i) &&
            (i + 1) * node->nouts <= node->nresults)
            mark_frontier(flat, node->nouts, node->results + i * node->nouts,
                          frontier);
}

static void find_frontier(const jx_flat *flat, bool *frontier)
{
    mark_frontier(flat, flat->nouts, flat->outs, frontier);
    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        if (!node->live || node->elsewhere || is_constant_node(flat, node))
            continue;
        if (node->eqn->prim->id == JX_PRIM_cond && node->eqn->typed) {
            mark_branches(flat, node, frontier);
            continue;
        }
        mark_frontier(flat, node->nins, node->ins, frontier);
        mark_frontier(flat, node->nresults, node->results, frontier);
    }
}

/* The node that a chain of mere movements took its elements from: the line
 * that computed them is the one to show. */
static int computed_by(const jx_flat *flat, int node)
{
    for (;;) {
        const jx_flat_node *at = &flat->nodes.at[node];
        int from = -1;

        if (!jx_flat_moves(at->eqn) || at->nins != 1)
            return node;
        from = flat->values.at[at->ins[0]].node;
        if (from < 0)
            return node;
        node = from;
    }
}

/* A finding for the frontier's node `n`, if it is worth one. */
static bool consider(jx_linter *lint, const work *w, int n, bool *told,
                     int *stack, int *stamps)
{
    int source;

    if (!w->symbolic &&
        (w->elements == 0 || w->elements < lint->options.min_elements))
        return true;
    source = computed_by(lint->flat, n);
    if (told[source])
        return true;
    told[source] = true;
    return report_work(lint, &lint->flat->nodes.at[source], w,
                       count_steps(lint, n, stack, stamps, n + 1));
}

bool jx_lint_constant_work(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    size_t count = flat->nodes.count;
    jx_arena *arena = lint->ctx->arena;
    works all = {flat, JX_NEW_ARRAY(arena, count, work),
                 JX_NEW_ARRAY(arena, flat->values.count, bool)};
    bool *frontier = JX_NEW_ARRAY(arena, count, bool);
    bool *told = JX_NEW_ARRAY(arena, count, bool);
    int *stack = JX_NEW_ARRAY(arena, MAX_COUNTED + 1, int);
    int *stamps = JX_NEW_ARRAY(arena, count, int);

    if (!all.done || !all.ramps || !frontier || !told || !stack || !stamps)
        return false;
    find_frontier(flat, frontier);
    for (size_t n = 0; n < count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];

        if (!is_constant_node(flat, node))
            continue;
        all.ramps[node->outs[0]] = is_ramp(&all, node);
        all.done[n] = work_of_node(&all, node);
        if (frontier[n] &&
            !consider(lint, &all.done[n], (int)n, told, stack, stamps))
            return false;
    }
    return true;
}

/* The first node that needs each value, or -1. */
static int *first_uses(const jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    int *uses = JX_NEW_ARRAY(lint->ctx->arena, flat->values.count, int);

    for (size_t v = 0; uses && v < flat->values.count; v++)
        uses[v] = -1;
    for (size_t n = flat->nodes.count; uses && n-- > 0;)
        for (int i = 0; i < flat->nodes.at[n].nins; i++)
            uses[flat->nodes.at[n].ins[i]] = (int)n;
    return uses;
}

static bool same_array(const void *kept, const void *key)
{
    const jx_array *a = kept, *b = key;

    return a->aval == b->aval && a->splat == b->splat && a->bytes == b->bytes &&
           a->data && b->data && memcmp(a->data, b->data, a->bytes) == 0;
}

/* True for the first array of those with the same contents. */
static bool is_new(jx_intern *seen, const jx_array *array)
{
    uint64_t hash = jx_hash_mix((uintptr_t)array->aval, array->bytes);

    if (array->data)
        hash = jx_hash_mix(hash, jx_hash_bytes(array->data, array->bytes));
    if (jx_intern_find(seen, hash, array, same_array))
        return false;
    return jx_intern_add(seen, hash, array);
}

static bool report_constant(jx_linter *lint, const jx_array *array,
                            const jx_flat_node *use)
{
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    jx_buffer_puts(&text, "a constant ");
    jx_lint_describe(array->aval, &text);
    jx_buffer_puts(&text, array->splat
                              ? " whose elements are all equal is part of the "
                                "program"
                              : " is part of the program");
    claim = jx_lint_claim(lint, JX_CODE_STG002, use,
                          jx_arena_take(lint->ctx->arena, &text));
    if (!claim)
        return false;
    claim->help = array->splat ? "make it inside the function: jnp.full costs "
                                 "nothing to store"
                               : "take it as an argument: a captured array is "
                                 "copied into every compiled or exported "
                                 "program";
    if (jx_lint_bytes(array->aval) < MEBIBYTE)
        claim->level = JX_NOTE;
    return true;
}

bool jx_lint_constants(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    int *uses = first_uses(lint);
    jx_intern seen;

    if (!uses)
        return false;
    jx_intern_init(&seen, lint->ctx->arena);
    for (size_t v = 0; v < flat->values.count; v++) {
        const jx_array *array = flat->values.at[v].array;
        /* StableHLO stores one element of it, and JAX's lowering of one
         * erf_inv has twenty. */
        if (array && array->splat && lint->program->tree)
            continue;
        if (!array || jx_lint_bytes(array->aval) < NOTE_BYTES ||
            !is_new(&seen, array))
            continue;
        if (!report_constant(lint, array,
                             uses[v] < 0 ? NULL : &flat->nodes.at[uses[v]]))
            return false;
    }
    return true;
}

/* What a value has to do with sizes. */
typedef enum sizeness {
    NOT_SIZE = 0,
    MAYBE_SIZE, /* a constant whose elements could all be sizes of inputs */
    IS_SIZE,    /* from dim_as_value */
} sizeness;

/* Whether some input of the program has an axis of this size. */
static bool is_input_size(const jx_program *program, int64_t size)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;

    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_aval *aval = jaxpr->vars[jaxpr->nconsts + i]->aval;
        for (int axis = 0; axis < aval->rank; axis++)
            if (jx_dim_value(aval->shape[axis]) == size)
                return true;
    }
    return false;
}

enum { MAX_RANK = 32 };

/* A short vector or scalar of integers, each the size of some input's axis. */
static bool are_sizes(const jx_program *program, const jx_flat_value *v)
{
    size_t size = jx_dtype_of(v->aval->dtype)->bytes;
    const unsigned char *data = v->array ? v->array->data : v->literal->bits;
    int64_t count;

    if (!jx_dtype_is_integer(v->aval->dtype) || size > 8 || !data ||
        v->aval->rank > 1 || !jx_aval_elements(v->aval, &count) ||
        count > MAX_RANK || count < 1)
        return false;
    if (v->array && (v->array->splat || v->array->bytes < (size_t)count * size))
        count = v->array->bytes >= size ? 1 : 0;
    for (int64_t i = 0; i < count; i++)
        if (!is_input_size(
                program, (int64_t)jx_element_integer(v->aval->dtype,
                                                     data + (size_t)i * size)))
            return false;
    return count > 0;
}

/* A vector that is the shape of an input, of two axes or more. */
static bool is_shape(const jx_program *program, const jx_flat_value *v)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;
    size_t size = jx_dtype_of(v->aval->dtype)->bytes;
    const unsigned char *data = v->array ? v->array->data : NULL;
    int64_t count;

    if (!data || v->array->splat || v->aval->rank != 1 || size > 8 ||
        !jx_aval_elements(v->aval, &count) || count < 2 || count > MAX_RANK ||
        v->array->bytes < (size_t)count * size)
        return false;
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_aval *aval = jaxpr->vars[jaxpr->nconsts + i]->aval;
        int axis = 0;
        while (axis < aval->rank && aval->rank == count &&
               jx_dim_value(aval->shape[axis]) ==
                   (int64_t)jx_element_integer(v->aval->dtype,
                                               data + (size_t)axis * size))
            axis++;
        if (axis == count)
            return true;
    }
    return false;
}

static sizeness sizeness_of(const jx_program *program, const jx_flat_value *v)
{
    if (v->literal && v->literal->dim)
        return IS_SIZE;
    if (v->array || v->literal)
        return are_sizes(program, v) ? MAYBE_SIZE : NOT_SIZE;
    return NOT_SIZE;
}

static bool multiplies(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_mul || eqn->prim->id == JX_PRIM_cumprod ||
           eqn->prim->id == JX_PRIM_reduce_prod;
}

/* On its line, or on one that is known shortly before it, a shape is taken; or
 * there is no source to tell. */
static bool says_shape(const jx_flat_node *node)
{
    enum { LINES = 20 };
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    bool seen = false;

    for (int i = 0; frame && i < LINES && frame->line - i > 0; i++) {
        const char *line = jx_file_line(frame->file, frame->line - i);
        if (line && strstr(line, "shape"))
            return true;
        seen |= line != NULL;
    }
    return !seen;
}

/* Sizes by a number: jnp.floor_divide.  Of constants, which may be anything,
 * only a whole shape. */
static bool divides(const jx_linter *lint, const jx_flat_node *node,
                    const sizeness *known)
{
    const jx_aval *out = node->eqn->outs[0]->aval;
    double number;

    return node->eqn->prim->id == JX_PRIM_div &&
           jx_dtype_is_integer(out->dtype) &&
           (known[node->ins[0]] == IS_SIZE ||
            (known[node->ins[0]] == MAYBE_SIZE &&
             is_shape(lint->program, &lint->flat->values.at[node->ins[0]]) &&
             says_shape(node))) &&
           jx_number_of(lint->flat, node->ins[1], &number) &&
           jx_is_asked_for(lint->program, node, 0);
}

/* Of sizes that symbols are, and numbers: Python's operators give a size.  Who
 * counts in narrower integers wants a value. */
static bool counts(const jx_eqn *eqn)
{
    jx_dtype dtype = eqn->outs[0]->aval->dtype;

    return (eqn->prim->id == JX_PRIM_add || eqn->prim->id == JX_PRIM_sub) &&
           jx_dtype_is_integer(dtype) && jx_dtype_of(dtype)->bytes >= 4;
}

/* Passes sizes on: gathering them in a vector, or multiplying them. */
static bool passes_sizes(const jx_eqn *eqn)
{
    return multiplies(eqn) || eqn->prim->id == JX_PRIM_convert_element_type ||
           eqn->prim->id == JX_PRIM_concatenate ||
           eqn->prim->id == JX_PRIM_stack ||
           (jx_flat_moves(eqn) && eqn->prim->id != JX_PRIM_iota);
}

/* x[i] of a number from the end: select(i < 0, i, i + n). */
static bool is_for_choice(const jx_linter *lint, const jx_flat_node *node)
{
    const jx_flat_uses *uses = &lint->uses;
    int out = node->outs[0];

    for (int i = uses->first[out]; i < uses->first[out + 1]; i++)
        if (lint->flat->nodes.at[uses->nodes[i]].eqn->prim->id ==
            JX_PRIM_select_n)
            return true;
    return false;
}

/* One of two is a size for sure, and the other one, too, or a number. */
static bool counts_size(const jx_linter *lint, const jx_flat_node *node,
                        const sizeness *known)
{
    double number;

    if (!counts(node->eqn) || node->eqn->outs[0]->aval->rank ||
        !jx_place_is_written(lint->program, node->eqn, node->calls) ||
        is_for_choice(lint, node))
        return false;
    for (int i = 0; i < 2; i++)
        if (known[node->ins[i]] == IS_SIZE)
            return known[node->ins[1 - i]] == IS_SIZE ||
                   jx_number_of(lint->flat, node->ins[1 - i], &number);
    return false;
}

/* What the node's result has to do with sizes.  Floats are sizes where they
 * were converted, and multiplied as somebody asked. */
static sizeness sizeness_after(const jx_linter *lint, const jx_flat_node *node,
                               const sizeness *known)
{
    const jx_aval *out = node->eqn->outs[0]->aval;
    sizeness least = IS_SIZE;
    int64_t count;

    if (node->eqn->prim->id == JX_PRIM_dim_as_value ||
        counts_size(lint, node, known))
        return IS_SIZE;
    if (divides(lint, node, known))
        return known[node->ins[0]];
    if (!passes_sizes(node->eqn) || !node->nins || out->rank > 1 ||
        !jx_aval_elements(out, &count) || count > MAX_RANK)
        return NOT_SIZE;
    for (int i = 0; i < node->nins; i++)
        if (known[node->ins[i]] < least)
            least = known[node->ins[i]];
    return jx_dtype_is_integer(out->dtype) ||
                   (least == IS_SIZE && jx_dtype_is_float(out->dtype) &&
                    (!multiplies(node->eqn) ||
                     jx_is_asked_for(lint->program, node, 0)))
               ? least
               : NOT_SIZE;
}

static bool report_arithmetic(jx_linter *lint, const jx_flat_node *node)
{
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    jx_buffer_printf(&text, "`%s` %s sizes at run time, in ",
                     node->eqn->prim->name,
                     multiplies(node->eqn) ? "multiplies" : "computes with");
    jx_buffer_puts(&text,
                   jx_dtype_of(node->eqn->outs[0]->aval->dtype)->short_name);
    claim = jx_lint_claim(lint, JX_CODE_STG003, node,
                          jx_arena_take(lint->ctx->arena, &text));
    if (!claim)
        return false;
    claim->help =
        multiplies(node->eqn)
            ? "sizes are Python numbers: multiply them with Python's "
              "operators, math.prod or numpy, which also cannot wrap"
            : "sizes are Python numbers: compute with Python's operators";
    return true;
}

bool jx_lint_shape_arithmetic(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    jx_arena *arena = lint->ctx->arena;
    sizeness *known = JX_NEW_ARRAY(arena, flat->values.count, sizeness);
    bool *inner = JX_NEW_ARRAY(arena, flat->nodes.count, bool);
    bool *computes = JX_NEW_ARRAY(arena, flat->nodes.count, bool);

    if (!known || !inner || !computes)
        return false;
    for (size_t v = 0; v < flat->values.count; v++)
        known[v] = sizeness_of(lint->program, &flat->values.at[v]);
    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        sizeness after = NOT_SIZE;

        if (node->live && is_constant_node(flat, node))
            after = sizeness_after(lint, node, known);
        if (after == NOT_SIZE)
            continue;
        known[node->outs[0]] = after;
        computes[n] = multiplies(node->eqn) || counts(node->eqn) ||
                      divides(lint, node, known);
        for (int i = 0; computes[n] && i < node->nins; i++)
            if (flat->values.at[node->ins[i]].node >= 0)
                inner[flat->values.at[node->ins[i]].node] = true;
    }
    for (size_t n = 0; n < flat->nodes.count; n++)
        if (computes[n] && !inner[n] &&
            !report_arithmetic(lint, &flat->nodes.at[n]))
            return false;
    return true;
}
