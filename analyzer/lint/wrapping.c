/* wrapping.c - size arithmetic of the program itself, whose integers wrap.
 *
 * A proof about sizes holds over the integers.  The program computes with its
 * own type: b*n in int32 wraps when the product passes 2^31, and an array of
 * the wrong size or a wrong index comes out without an error.  This collects
 * all that the program computes from sizes alone and then looks at, as bounds
 * `dim <= most` (jx_size_bound): together they say for which sizes nothing
 * wraps.
 *
 * JAX lowers a size as a sum of products in int32 (int64 with x64).  Sums and
 * products are right modulo 2^32 whatever wraps on the way, so a bound is owed
 * only where somebody looks: at the operands of floordiv, mod, max and min, at
 * a size as a whole, and at an integer of the program that is divided,
 * compared, converted, used as an index or returned.  Sizes of axes are int32
 * always.  Constraints, and sizes of results, are evaluated by JAX's own code
 * when the exported program is called, and there every step must fit.
 *
 * A bound that wraps only at sizes beyond LARGE is stated, but is no finding:
 * an axis of 2^31 elements is a different kind of problem.  The prover says
 * which bounds hold (reports/pipeline/wraps.c). */
#include "analyzer/lint/wrapping.h"
#include "frontend/base/map.h"
#include "frontend/ir/params.h"

static const int64_t LARGE = (int64_t)1 << 20;

enum { MOST_ELEMENTS = 16 }; /* of an array, that are looked at one by one */

/* How a bound came up. */
typedef enum kind {
    KIND_AXIS,  /* of an array that exists at that size, or fails loudly */
    KIND_VALUE, /* somebody computes with it, and nothing would fail */
} kind;

typedef struct seen {
    const jx_dim *dim;
    jx_int most;
    size_t index; /* of the bound */
} seen;

typedef struct wrapping {
    jx_intervals values;
    jx_linter *lint;
    jx_dims *dims;
    bool *observed; /* by value: some node looks at it */
    int *origin;    /* by value: 1 + node at which it may begin to wrap; 0 */
    jx_intern bounds;
    jx_map axes, operands, wholes; /* dims that have been looked at */
    jx_map divided; /* dims that fit, or their bound says when not */
    bool *sized;    /* by value: a symbolic size has to do with it */
    bool *used;     /* by value: for more than what the program asserts */
    int bits;       /* of the arithmetic of sizes */
    bool asserting; /* what is needed now is an assertion's */
} wrapping;

/* -- bounds -------------------------------------------------------------- */

static bool same_bound(const void *kept, const void *key)
{
    const seen *a = kept, *b = key;

    return a->dim == b->dim && a->most == b->most;
}

typedef struct box {
    const wrapping *w;
    int64_t most;
} box;

/* What the program divides fits its type, signed or not: that
 * is owed already. */
static void in_box(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const box *b = env;
    const jx_int half = (jx_int)1 << (b->w->bits - 1);
    jx_int divisor;

    if (atom->kind == JX_ATOM_VAR)
        *known = (jx_dim_range){b->w->lint->program->base, b->most, true, true};
    else if (atom->kind == JX_ATOM_FLOORDIV &&
             jx_dim_is_wide(atom->b, &divisor) &&
             (divisor >= 2 || divisor <= -2) &&
             jx_map_has(&b->w->divided, atom->a)) {
        if (!known->has_low || known->low < -half)
            known->low = -half;
        if (!known->has_high || known->high >= half)
            known->high = half - 1;
        known->has_low = known->has_high = true;
    }
}

/* The bound holds for all sizes up to `largest`, whatever the constraints. */
static bool holds_below(const wrapping *w, const jx_dim *dim, jx_int most,
                        int64_t largest)
{
    box b = {w, largest};
    jx_dim_range range = {0};

    if (dim)
        range = jx_dim_bounds_by(dim, in_box, &b);
    return range.has_high && range.high <= most;
}

static bool is_symbolic(const jx_dim *dim)
{
    jx_int value;

    return dim && !jx_dim_is_wide(dim, &value);
}

/* The node takes a size that other code has computed. */
static bool takes_size(const jx_flat_node *node)
{
    for (int i = 0; i < node->eqn->nins; i++)
        if (node->eqn->ins[i].literal &&
            is_symbolic(node->eqn->ins[i].literal->dim))
            return !jx_wraps_along(node);
    return false;
}

static const char *what_of(const wrapping *w, const jx_flat_node *node,
                           int bits)
{
    jx_buffer text = jx_ctx_text(w->lint->ctx);

    if (node && takes_size(node))
        jx_buffer_printf(&text, "a size for `%s` is computed in int%d",
                         node->eqn->prim->name, bits);
    else if (node)
        jx_buffer_printf(&text, "`%s` computes in int%d", node->eqn->prim->name,
                         bits);
    else
        jx_buffer_printf(&text, "sizes are computed in int%d", bits);
    return jx_arena_take(w->lint->ctx->arena, &text);
}

/* The claim that `bound` is kept; `goal` says it in the program's own words. */
static bool claim(const wrapping *w, jx_size_bound *bound,
                  const jx_flat_node *node, const jx_goal *goal)
{
    jx_claim *made = jx_lint_claim(w->lint, JX_CODE_IDX004, node,
                                   what_of(w, node, bound->bits));

    if (!made)
        return false;
    made->verdict = JX_UNDECIDED;
    made->evidence.by = NULL;
    made->evidence.width = bound->bits;
    made->goal = *goal;
    made->goal.scope = bound->scope;
    made->help = bound->bits < 64
                     ? "declare how large these sizes can be, or compute with "
                       "64-bit integers (jax_enable_x64)"
                     : "declare how large these sizes can be";
    bound->claim = made;
    return true;
}

/* Notes `dim <= most`, unless it holds anyway. */
static bool need(wrapping *w, const jx_dim *dim, jx_int most, int bits,
                 const jx_goal *goal, bool reached, bool findable,
                 const jx_flat_node *node)
{
    jx_analysis *to = w->lint->to;
    seen key = {dim, most, to->bounds.count};
    const seen *kept;
    uint64_t hash = jx_hash_mix((uintptr_t)dim, (uint64_t)most);

    if (!dim || holds_below(w, dim, most, JX_LARGEST_SIZE))
        return true;
    kept = jx_intern_find(&w->bounds, hash, &key, same_bound);
    if (!kept) {
        jx_size_bound bound = {.dim = dim,
                               .most = most,
                               .scope = jx_lint_scope(w->lint, dim),
                               .bits = bits,
                               .reached = reached};
        kept = jx_arena_copy(w->lint->ctx->arena, &key, sizeof key);
        JX_PUSH(w->lint->ctx->arena, &to->bounds, bound);
        if (!kept || !jx_intern_add(&w->bounds, hash, kept) ||
            kept->index >= to->bounds.count)
            return false;
    }
    jx_size_bound *bound = &to->bounds.at[kept->index];
    bound->reached |= reached;
    bound->asserted |= w->asserting;
    return bound->claim || !findable || !reached ||
           holds_below(w, dim, most, LARGE) || claim(w, bound, node, goal);
}

/* least <= dim <= most. */
static bool need_within(wrapping *w, const jx_dim *low, const jx_dim *high,
                        jx_int least, jx_int most, int bits, bool reached,
                        bool findable, const jx_flat_node *node)
{
    jx_goal above = {
        .kind = JX_GOAL_GE, .lhs = jx_dim_wide(w->dims, most), .rhs = high};
    jx_goal below = {
        .kind = JX_GOAL_GE, .lhs = low, .rhs = jx_dim_wide(w->dims, least)};

    return need(w, high, most, bits, &above, reached, findable, node) &&
           need(w, jx_dim_neg(w->dims, low), -least, bits, &below, reached,
                findable, node);
}

/* -- sizes --------------------------------------------------------------- */

static bool need_signed(wrapping *w, const jx_dim *dim, int bits, kind how,
                        const jx_flat_node *node)
{
    jx_int most = ((jx_int)1 << (bits - 1)) - 1;

    return need_within(w, dim, dim, -most - 1, most, bits, true,
                       how == KIND_VALUE, node);
}

/* What the size is divided, compared or reduced by on the way, at any depth,
 * the deepest first.  The queue stands for the recursion: sizes can be deep. */
static bool need_operands(wrapping *w, const jx_dim *first,
                          const jx_flat_node *node)
{
    jx_arena *arena = w->lint->ctx->arena;
    JX_VEC(const jx_dim *) queue = {0}, found = {0};

    JX_PUSH(arena, &queue, first);
    for (size_t next = 0; next < queue.count; next++) {
        const jx_dim *dim = queue.at[next];
        if (!jx_dim_is_symbolic(dim) ||
            !jx_map_add(next ? &w->operands : &w->wholes, dim))
            continue;
        if (next)
            JX_PUSH(arena, &found, dim);
        for (int i = 0; i < jx_dim_nterms(dim); i++) {
            const jx_dim_term *term = &jx_dim_terms(dim)[i];
            for (int k = 0; k < term->nfactors; k++) {
                const jx_dim_atom *atom = term->factors[k].atom;
                if (atom->kind == JX_ATOM_VAR)
                    continue;
                JX_PUSH(arena, &queue, atom->a);
                JX_PUSH(arena, &queue, atom->b);
            }
        }
    }
    for (size_t n = found.count; n-- > 0;) {
        if (!need_signed(w, found.at[n], w->bits, KIND_VALUE, node))
            return false;
        jx_map_add(&w->divided, found.at[n]);
    }
    return true;
}

/* A size that some array has, or some parameter. */
static bool need_axis(wrapping *w, const jx_dim *dim, const jx_flat_node *node)
{
    if (!jx_dim_is_symbolic(dim) || !jx_map_add(&w->axes, dim))
        return true;
    return need_signed(w, dim, 32, KIND_AXIS, node) &&
           need_operands(w, dim, node);
}

/* JAX evaluates this with numbers of numpy's when the program is called, one
 * step after the other, and raises where one does not fit. */
static bool need_steps(wrapping *w, const jx_dim *dim)
{
    const jx_dim *sum = jx_dim_int(w->dims, 0);

    if (!jx_dim_is_symbolic(dim))
        return true;
    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        const jx_dim_term *term = &jx_dim_terms(dim)[i];
        const jx_dim *product = jx_dim_int(w->dims, 1);
        for (int k = 0; k < term->nfactors; k++)
            product = jx_dim_mul(
                w->dims, product,
                jx_dim_pow(w->dims,
                           jx_dim_of_atom(w->dims, term->factors[k].atom),
                           term->factors[k].power));
        if (!need_signed(w, product, w->bits, KIND_AXIS, NULL))
            return false;
        product = jx_dim_mul(w->dims, product,
                             jx_dim_wide(w->dims, term->coefficient));
        sum = jx_dim_add(w->dims, sum, product);
        if (!need_signed(w, product, w->bits, KIND_AXIS, NULL) ||
            !need_signed(w, sum, w->bits, KIND_AXIS, NULL))
            return false;
    }
    return need_operands(w, dim, NULL);
}

static bool need_axes(wrapping *w, const jx_aval *aval,
                      const jx_flat_node *node)
{
    for (int i = 0; i < aval->rank; i++)
        if (!need_axis(w, aval->shape[i], node))
            return false;
    return true;
}

/* Parameter trees are only as deep as the reader lets them be. */
static bool need_parameter(wrapping *w, const jx_value *value,
                           const jx_flat_node *node)
{
    if (!value)
        return true;
    if (value->tag == JX_V_DIM && !need_axis(w, value->dim, node))
        return false;
    for (int i = 0; value->items && i < value->count; i++)
        if (!need_parameter(w, value->items[i], node))
            return false;
    return true;
}

/* What sizes that are values are computed by. */
static bool need_operands_of(wrapping *w, int count, const int *values,
                             const jx_flat_node *node)
{
    for (int i = 0; i < count; i++) {
        const jx_literal *literal = w->lint->flat->values.at[values[i]].literal;
        if (literal && literal->dim && !need_operands(w, literal->dim, node))
            return false;
    }
    return true;
}

static bool need_sizes_of(wrapping *w, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;

    if (eqn->prim->id == JX_PRIM_dim_as_value && eqn->typed)
        return need_operands(w, ((const jx_p_dim_as_value *)eqn->typed)->dim,
                             node);
    for (int i = 0; i < eqn->nparams; i++)
        if (!need_parameter(w, eqn->params[i].value, node))
            return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (!need_axes(w, eqn->outs[i]->aval, node))
            return false;
    return need_operands_of(w, node->nins, node->ins, node) &&
           need_operands_of(w, node->nresults, node->results, node);
}

/* What a caller's shapes must be, and what it gets back. */
static bool need_contract(wrapping *w)
{
    const jx_program *program = w->lint->program;
    const jx_jaxpr *entry = program->entry.jaxpr;
    int scope = jx_flat_scope(w->lint->flat);

    for (int i = 0; i < entry->nins; i++)
        if (!need_axes(w, entry->vars[entry->nconsts + i]->aval, NULL))
            return false;
    for (int i = 0; i < entry->nouts; i++) {
        const jx_aval *aval = jx_atom_aval(entry->outs[i]);
        for (int k = 0; k < aval->rank; k++)
            if (!need_steps(w, aval->shape[k]))
                return false;
    }
    for (int k = 0;
         scope < program->nscopes && k < program->scopes[scope].nconstraints;
         k++) {
        const jx_scope_constraint *c = &program->scopes[scope].constraints[k];
        const jx_dim *difference = jx_dim_sub(w->dims, c->lhs, c->rhs);
        if (difference && !need_steps(w, difference))
            return false;
    }
    return true;
}

/* -- integers of the program --------------------------------------------- */

/* The node looks at what its operands are, not only modulo 2^bits. */
static bool looks(const wrapping *w, const jx_flat_node *node)
{
    return !node->nouts || w->lint->flat->values.at[node->outs[0]].varies ||
           !jx_wraps_along(node);
}

/* Something other than an assertion needs what the node makes. */
static bool is_used(const wrapping *w, const jx_flat_node *node)
{
    bool used = !node->nouts && node->eqn->prim->id != JX_PRIM_shape_assertion;

    for (int i = 0; i < node->nouts; i++)
        used |= w->used[node->outs[i]];
    return used;
}

/* Backwards, since operands come before their nodes. */
static void mark_used(wrapping *w)
{
    const jx_flat *flat = w->lint->flat;

    for (int i = 0; i < flat->nouts; i++)
        w->used[flat->outs[i]] = true;
    for (size_t n = flat->nodes.count; n-- > 0;) {
        const jx_flat_node *node = &flat->nodes.at[n];
        bool used = is_used(w, node);
        for (int i = 0; used && i < node->nins; i++)
            w->used[node->ins[i]] = true;
        for (int i = 0; used && i < node->nresults; i++)
            w->used[node->results[i]] = true;
    }
}

static void mark_observed(wrapping *w)
{
    const jx_flat *flat = w->lint->flat;

    for (int i = 0; i < flat->nouts; i++)
        w->observed[flat->outs[i]] = true;
    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        bool along = !looks(w, node);
        for (int i = 0; node->live && i < node->nresults; i++)
            w->observed[node->results[i]] = true;
        for (int i = 0; node->live && !along && i < node->nins; i++)
            w->observed[node->ins[i]] = true;
        if (node->live && node->eqn->prim->id == JX_PRIM_select_n)
            w->observed[node->ins[0]] = true; /* which case */
    }
}

static bool may_wrap(const wrapping *w, jx_interval x, jx_dtype dtype)
{
    return !holds_below(w, x.high, jx_wrap_most(dtype), JX_LARGEST_SIZE) ||
           !holds_below(w, jx_dim_neg(w->dims, x.low), -jx_wrap_least(dtype),
                        JX_LARGEST_SIZE);
}

static const jx_flat_node *origin_of(const wrapping *w, int value)
{
    return w->origin[value] ? &w->lint->flat->nodes.at[w->origin[value] - 1]
                            : NULL;
}

static bool has_symbolic_axis(const jx_aval *aval)
{
    for (int i = 0; i < aval->rank; i++)
        if (jx_dim_is_symbolic(aval->shape[i]))
            return true;
    return false;
}

/* Whether what the node gives depends on a symbolic size. */
static bool is_sized(const wrapping *w, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;

    for (int i = 0; i < node->nins; i++) {
        const jx_flat_value *v = &w->lint->flat->values.at[node->ins[i]];
        if (w->sized[node->ins[i]] || has_symbolic_axis(v->aval) ||
            (v->literal && jx_dim_is_symbolic(v->literal->dim)))
            return true;
    }
    return eqn->prim->id == JX_PRIM_dim_as_value ||
           has_symbolic_axis(eqn->outs[0]->aval);
}

/* Unsigned integers are hashed and shuffled, and meant to wrap. */
static bool is_number(const jx_aval *aval)
{
    return jx_wraps(aval) && jx_dtype_of(aval->dtype)->kind == JX_KIND_INT;
}

/* Integers that a loop makes of sizes alone, which are not followed. */
static bool loops_on(const wrapping *w, const jx_flat_node *node)
{
    if (node->eqn->prim->id != JX_PRIM_scan &&
        node->eqn->prim->id != JX_PRIM_while)
        return false;
    for (int i = 0; i < node->nouts; i++) {
        const jx_flat_value *v = &w->lint->flat->values.at[node->outs[i]];
        if (w->sized[node->outs[i]] && v->live && !v->varies &&
            is_number(v->aval))
            return true;
    }
    return false;
}

/* Its result may leave the type although its operands do not. */
static bool may_leave(const jx_flat_node *node)
{
    const jx_dtype to = node->eqn->outs[0]->aval->dtype;
    jx_dtype from;

    switch (node->eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_pow:
    case JX_PRIM_integer_pow:
    case JX_PRIM_square:
    case JX_PRIM_one_minus_square:
    case JX_PRIM_polynomial:
    case JX_PRIM_shift_left:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_prod:
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_cumsum:
    case JX_PRIM_cumprod:
    case JX_PRIM_dot_general:
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_scatter_add:
    case JX_PRIM_scatter_mul: return true;
    case JX_PRIM_convert_element_type:
        from = jx_atom_aval(node->eqn->ins[0])->dtype;
        return jx_dtype_is_integer(from) &&
               (jx_wrap_most(from) > jx_wrap_most(to) ||
                jx_wrap_least(from) < jx_wrap_least(to));
    default: return false;
    }
}

/* What lies within the type: each element, where that says more than between
 * what they lie. */
static bool need_value(wrapping *w, int value, bool findable,
                       const jx_flat_node *node)
{
    const jx_dtype dtype = w->lint->flat->values.at[value].aval->dtype;
    jx_interval x = w->values.of[value];
    int count = 0;
    const jx_dim *const *dims =
        x.ends ? NULL : jx_flat_sizes_of(w->lint->sizes, value, &count);

    for (int i = 0; i < count && count <= MOST_ELEMENTS; i++)
        if (!need_within(w, dims[i], dims[i], jx_wrap_least(dtype),
                         jx_wrap_most(dtype), jx_wrap_bits(dtype), true,
                         findable, node))
            return false;
    return (dims && count <= MOST_ELEMENTS) ||
           need_within(w, x.low, x.high, jx_wrap_least(dtype),
                       jx_wrap_most(dtype), jx_wrap_bits(dtype), x.ends,
                       findable, node);
}

/* What a division looks at fits, or a bound has been stated for it. */
static void note_divided(wrapping *w, const jx_flat_node *node)
{
    int count = 0;
    const jx_dim *const *dims;

    if (!node->live || (node->eqn->prim->id != JX_PRIM_div &&
                        node->eqn->prim->id != JX_PRIM_shift_right_logical &&
                        node->eqn->prim->id != JX_PRIM_shift_right_arithmetic))
        return;
    dims = jx_flat_sizes_of(w->lint->sizes, node->ins[0], &count);
    for (int i = 0; i < count; i++)
        jx_map_add(&w->divided, dims[i]);
}

static bool visit_value(wrapping *w, const jx_flat_node *node, int index)
{
    const jx_flat_value *v = &w->lint->flat->values.at[node->outs[0]];
    int out = node->outs[0];
    jx_interval x;

    if (v->varies || !jx_wraps(v->aval))
        return true;
    note_divided(w, node);
    jx_interval_of_node(&w->values, node);
    x = w->values.of[out];
    if (!x.low || !x.high) {
        w->lint->to->may_wrap |= node->live && w->sized[out] &&
                                 is_number(v->aval) && may_leave(node);
        return true;
    }
    for (int i = 0; i < node->nins && !w->origin[out]; i++)
        w->origin[out] = w->origin[node->ins[i]];
    if (!w->origin[out] && may_wrap(w, x, v->aval->dtype))
        w->origin[out] = index + 1;
    if (!node->live || !w->observed[out] || !w->origin[out])
        return true;
    if (w->origin[out] == index + 1 &&
        jx_flat_takes_a_word(w->lint->flat, node)) {
        w->values.of[out] = (jx_interval){0}; /* it may be any word */
        w->origin[out] = 0;
        return true;
    }
    return need_value(w, out, true, origin_of(w, out));
}

/* A size that the program has as an operand, already computed: that is how
 * StableHLO's arithmetic of sizes is read. */
static bool need_size(wrapping *w, int value, bool used,
                      const jx_flat_node *node)
{
    const jx_flat_value *v = &w->lint->flat->values.at[value];
    jx_interval x = w->values.of[value];

    return !v->literal || !is_symbolic(v->literal->dim) || !x.low || !x.high ||
           !jx_wraps(v->aval) || need_value(w, value, used, node);
}

/* What the program asserts is stated as a bound and is no finding, like the
 * constraints of other forms. */
static bool need_operand_sizes(wrapping *w, const jx_flat_node *node)
{
    bool cases = node->eqn->prim->id == JX_PRIM_select_n;
    int looked_at = looks(w, node) ? node->nins : cases;
    bool used = !w->asserting, ok = true;

    for (int i = 0; ok && node->live && i < looked_at; i++)
        ok = need_size(w, node->ins[i], used, node);
    for (int i = 0; ok && node->live && i < node->nresults; i++)
        ok = need_size(w, node->results[i], used, node);
    return ok;
}

static bool need_outputs(wrapping *w)
{
    const jx_flat *flat = w->lint->flat;

    if (!need_operands_of(w, flat->nouts, flat->outs, NULL))
        return false;
    for (int i = 0; i < flat->nouts; i++)
        if (!need_size(w, flat->outs[i], true, NULL))
            return false;
    return true;
}

static bool need_look(wrapping *w, const jx_looked *l, bool findable)
{
    return need_within(w, l->dim, l->dim, jx_wrap_least(l->dtype),
                       jx_wrap_most(l->dtype), jx_wrap_bits(l->dtype), true,
                       findable, NULL);
}

/* What StableHLO looks at on the way to its sizes, and is not in the program:
 * `n*m // m` is `n` there, and wrong where `n*m` wraps.  It is a finding where
 * nothing that is in the program owes it, nor an axis has that size. */
static bool need_looks(wrapping *w)
{
    const jx_program *program = w->lint->program;

    for (int i = 0; i < program->nlooked; i++) {
        const jx_looked *l = &program->looked[i];
        size_t before = w->lint->to->bounds.count;
        if (!need_look(w, l, false) ||
            (w->lint->to->bounds.count > before && !need_look(w, l, true)))
            return false;
        jx_map_add(&w->divided, l->dim);
    }
    return true;
}

static bool visit(wrapping *w, int index)
{
    const jx_flat_node *node = &w->lint->flat->nodes.at[index];
    bool sized = node->nouts && is_sized(w, node), ok;

    for (int i = 0; i < node->nouts; i++)
        w->sized[node->outs[i]] = sized;
    w->lint->to->may_wrap |= loops_on(w, node);
    if (node->nouts && !visit_value(w, node, index))
        return false;
    w->asserting = !is_used(w, node);
    ok = (!node->live || need_sizes_of(w, node)) && need_operand_sizes(w, node);
    w->asserting = false;
    return ok;
}

static bool start(wrapping *w)
{
    jx_arena *arena = w->lint->ctx->arena;
    size_t count = w->lint->flat->values.count;

    w->values.lint = w->lint;
    w->values.dims = w->dims;
    w->values.of = JX_NEW_ARRAY(arena, count, jx_interval);
    w->observed = JX_NEW_ARRAY(arena, count, bool);
    w->sized = JX_NEW_ARRAY(arena, count, bool);
    w->used = JX_NEW_ARRAY(arena, count, bool);
    w->origin = JX_NEW_ARRAY(arena, count, int);
    jx_intern_init(&w->bounds, arena);
    jx_map_init(&w->axes, arena);
    jx_map_init(&w->operands, arena);
    jx_map_init(&w->wholes, arena);
    jx_map_init(&w->divided, arena);
    return w->values.of && w->sized && w->used && w->observed && w->origin;
}

bool jx_lint_size_arithmetic(jx_linter *lint)
{
    jx_linter whole = *lint;
    wrapping w = {.lint = &whole,
                  .dims = lint->program->dims,
                  .bits = lint->program->x64 ? 64 : 32};

    whole.flat = lint->whole;
    if (!start(&w))
        return false;
    for (size_t v = 0; v < whole.flat->values.count; v++)
        jx_interval_of_source(&w.values, (int)v);
    mark_used(&w);
    mark_observed(&w);
    for (size_t n = 0; n < whole.flat->nodes.count; n++)
        if (!visit(&w, (int)n))
            return false;
    return need_outputs(&w) && need_contract(&w) && need_looks(&w);
}
