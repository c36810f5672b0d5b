/* dtypes.c - conversions that nobody wrote, and those that lose
 * what they carry.
 *
 * JAX promotes: an operation of two dtypes converts one or both.  Such a
 * conversion stands at the very place of the operation (jx_is_implied); one
 * that somebody wrote has a place of its own. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "analyzer/lint/wraps.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"

typedef struct look {
    jx_linter *lint;
    const jx_flat *flat;
    const jx_int_range *ranges;
    bool *told; /* by node */
} look;

static jx_dtype dtype_of(const jx_flat *flat, int value)
{
    return flat->values.at[value].aval->dtype;
}

static bool is_convert(const jx_flat_node *node)
{
    return node && node->eqn->prim->id == JX_PRIM_convert_element_type;
}

static const char *short_name(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->short_name;
}

/* -- DTY001, DTY007: promotions -------------------------------------------- */

/* A constant of that dtype, which is no Python scalar. */
static bool is_strong_constant(const jx_flat *flat, int value, jx_dtype dtype)
{
    const jx_flat_value *v = &flat->values.at[value];
    const jx_flat_node *node = jx_maker(flat, value);

    if (v->varies || v->aval->dtype != dtype || v->aval->weak)
        return false;
    /* What was made of a Python scalar's, or of what is
     * narrower, is no reason. */
    while (node && node->nins && (jx_shows(node->eqn) || is_convert(node))) {
        value = node->ins[0];
        v = &flat->values.at[value];
        if (v->aval->weak || jx_dtype_is_narrower(v->aval->dtype, dtype))
            return false;
        node = jx_maker(flat, value);
    }
    return true;
}

/* -- DTY001 of what is made wide without a word: jax.nn.one_hot,
 * jax.random.normal, jnp.mean of a mask give the default dtype, if
 * none is named. */

enum { MOST_NODES = 64, MOST_FOLLOWED = 24 };

typedef struct making {
    const jx_flat *flat;
    bool made; /* of integers, masks or random bits */
    int nodes;
} making;

/* The source line names a dtype, or there is no line. */
static bool names_a_dtype(const jx_flat_node *node)
{
    static const char *const words[] = {"float", "dtype"};
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    bool seen = false;

    return (frame && jx_frame_says(frame, 2, words, &seen)) || !seen;
}

/* No float that varies goes into it but of its own making, and no dtype
 * was named there. */
static bool is_of_no_float(making *m, int value)
{
    const jx_flat_value *v = &m->flat->values.at[value];
    const jx_flat_node *node = jx_maker(m->flat, value);

    if (!v->varies)
        return true;
    if (!node || node->nresults || !node->nins || ++m->nodes > MOST_NODES)
        return false;
    if (names_a_dtype(node))
        return false;
    for (int i = 0; i < node->nins; i++) {
        const jx_flat_value *in = &m->flat->values.at[node->ins[i]];
        if (jx_dtype_is_float(in->aval->dtype)) {
            if (jx_dtype_is_narrower(in->aval->dtype, v->aval->dtype) ||
                !is_of_no_float(m, node->ins[i]))
                return false;
        } else if (in->varies && node->eqn->prim->id != JX_PRIM_select_n &&
                   node->eqn->prim->id != JX_PRIM_gather &&
                   node->eqn->prim->id != JX_PRIM_dynamic_slice) {
            m->made = true;
        }
    }
    return true;
}

/* What comes of it is soon made narrow again: it is wide on the way, as its
 * author wants it. */
static bool is_narrowed_again(const look *l, int value, jx_dtype narrow,
                              int *nodes)
{
    const jx_flat_uses *uses = &l->lint->uses;

    for (int i = uses->first[value];
         i < uses->first[value + 1] && ++*nodes <= MOST_FOLLOWED; i++) {
        const jx_flat_node *use = &l->flat->nodes.at[uses->nodes[i]];
        if (use->eqn->prim->id == JX_PRIM_convert_element_type &&
            use->nouts == 1 &&
            l->flat->values.at[use->outs[0]].aval->dtype == narrow)
            return true;
        for (int k = 0; k < use->nouts; k++)
            if (is_narrowed_again(l, use->outs[k], narrow, nodes))
                return true;
    }
    return false;
}

static bool is_made_wide(const jx_flat *flat, int value, jx_dtype dtype)
{
    const jx_flat_value *v = &flat->values.at[value];
    making m = {.flat = flat};

    return v->varies && v->aval->dtype == dtype && !v->aval->weak &&
           is_of_no_float(&m, value) && m.made;
}

static bool is_binary(const jx_eqn *eqn)
{
    return jx_prim_in_family(eqn->prim->id, "elementwise") && eqn->nins > 1;
}

static void tell_promoted(look *l, const jx_flat_node *convert,
                          const jx_flat_node *use, int other)
{
    const jx_flat *flat = l->flat;
    jx_dtype from = dtype_of(flat, convert->ins[0]);
    jx_dtype to = dtype_of(flat, convert->outs[0]);
    jx_buffer text = jx_ctx_text(l->lint->ctx);
    jx_claim *claim;

    jx_buffer_printf(&text, "`%s` makes %s of %s, because %s is ",
                     jx_eqn_name(use->eqn), short_name(to), short_name(from),
                     flat->values.at[other].varies
                         ? "what is made without a dtype"
                         : "a constant");
    jx_aval_print(flat->values.at[other].aval, &text);
    claim = jx_lint_claim(l->lint, JX_CODE_DTY001, use,
                          jx_arena_take(l->lint->ctx->arena, &text));
    if (claim)
        claim->help = jx_arena_printf(
            l->lint->ctx->arena,
            flat->values.at[other].varies
                ? "say which dtype it is to have (dtype=x.dtype): without, JAX "
                  "takes the default"
                : "make the constant of the other's dtype: a Python number, or "
                  "jnp.asarray(constant, dtype=x.dtype)");
}

static void tell_mixed(look *l, const jx_flat_node *use)
{
    jx_claim *claim = jx_lint_claim(
        l->lint, JX_CODE_DTY007, use,
        jx_arena_printf(
            l->lint->ctx->arena,
            "`%s` of uint32 and int32 is computed in int32: what is "
            "2**31 and more becomes negative",
            jx_eqn_name(use->eqn)));

    if (claim)
        claim->help = "convert one of them, so that it is said which type is "
                      "meant; no 32-bit type holds both";
}

/* Unsigned integers that have a value in the signed type, too. */
static bool is_below_the_sign(const look *l, int value)
{
    jx_int_range r = l->ranges[value];

    return r.known && r.high < (jx_int)1 << 31;
}

/* One use of what a conversion gives, that made the conversion. */
static void look_at_use(look *l, const jx_flat_node *convert,
                        const jx_flat_node *use, int value)
{
    const jx_flat *flat = l->flat;
    jx_dtype from = dtype_of(flat, convert->ins[0]);
    jx_dtype to = dtype_of(flat, convert->outs[0]);
    bool floats = jx_dtype_is_narrower(from, to);
    bool computes = is_binary(use->eqn) ||
                    (floats && use->eqn->prim->id == JX_PRIM_dot_general) ||
                    use->eqn->prim->id == JX_PRIM_concatenate ||
                    use->eqn->prim->id == JX_PRIM_stack;

    if (!jx_looks_at(use) || l->told[use - flat->nodes.at] || !computes ||
        !jx_is_implied(convert, use) ||
        (!floats && is_below_the_sign(l, convert->ins[0])))
        return;
    for (int i = 0; i < use->nins; i++) {
        int other = use->ins[i];
        const jx_flat_node *maker = jx_maker(flat, jx_shown(flat, other));
        if (other == value || dtype_of(flat, other) != to)
            continue;
        int nodes = 0;
        if (floats && ((!is_strong_constant(flat, other, to) &&
                        !is_made_wide(flat, other, to)) ||
                       is_narrowed_again(l, use->outs[0], from, &nodes)))
            continue;
        if (!floats &&
            (flat->values.at[other].literal ||
             flat->values.at[other].aval->weak ||
             (is_convert(maker) && jx_is_implied(maker, use)) ||
             (!flat->values.at[other].varies && flat->values.at[other].splat)))
            continue;
        l->told[use - flat->nodes.at] = true;
        if (floats)
            tell_promoted(l, convert, use, other);
        else
            tell_mixed(l, use);
        return;
    }
}

static void follow_uses(look *l, const jx_flat_node *convert, int value,
                        int depth)
{
    const jx_flat_uses *uses = &l->lint->uses;

    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &l->flat->nodes.at[uses->nodes[i]];
        if (jx_shows(use->eqn) && use->nouts == 1 && depth < 4)
            follow_uses(l, convert, use->outs[0], depth + 1);
        else
            look_at_use(l, convert, use, value);
    }
}

/* Products take operands of two dtypes as they are. */
static void look_at_product(look *l, const jx_flat_node *node)
{
    const jx_flat *flat = l->flat;

    for (int i = 0; i < 2; i++) {
        jx_dtype from = dtype_of(flat, node->ins[i]);
        jx_dtype to = dtype_of(flat, node->ins[1 - i]);
        int nodes = 0;
        const jx_flat_node as = {.ins = &node->ins[i], .outs = node->outs};
        if (jx_dtype_is_narrower(from, to) &&
            dtype_of(flat, node->outs[0]) == to &&
            flat->values.at[node->ins[i]].varies &&
            (is_strong_constant(flat, node->ins[1 - i], to) ||
             is_made_wide(flat, node->ins[1 - i], to)) &&
            !is_narrowed_again(l, node->outs[0], from, &nodes))
            tell_promoted(l, &as, node, node->ins[1 - i]);
    }
}

static void look_at_promotion(look *l, const jx_flat_node *convert)
{
    jx_dtype from = dtype_of(l->flat, convert->ins[0]);
    jx_dtype to = dtype_of(l->flat, convert->outs[0]);

    if (!l->flat->values.at[convert->ins[0]].varies ||
        !jx_is_asked_for(l->lint->program, convert, 0))
        return;
    if (jx_dtype_is_narrower(from, to) ||
        (from == JX_U32 && to == JX_I32 && !l->lint->program->x64))
        follow_uses(l, convert, convert->outs[0], 0);
}

/* -- DTY005: there and back ------------------------------------------------ */

/* Values of `from` that `through` does not hold. */
static bool loses(look *l, int value, jx_dtype from, jx_dtype through)
{
    jx_int_range r = l->ranges[value];
    const jx_dtype_info *to = jx_dtype_of(through);

    if (jx_dtype_is_float(from) && jx_dtype_is_float(through))
        return jx_digits(through) < jx_digits(from);
    if (!jx_dtype_is_integer(from) || !r.known)
        return false;
    if (jx_dtype_is_float(through)) {
        jx_int exact = (jx_int)1 << jx_digits(through);
        return r.low < -exact || r.high > exact;
    }
    if (!jx_dtype_is_integer(through) || to->bits >= jx_dtype_of(from)->bits)
        return false;
    jx_int high = ((jx_int)1 << (to->bits - (to->kind == JX_KIND_INT))) - 1;
    return r.high > high || r.low < (to->kind == JX_KIND_INT ? -high - 1 : 0);
}

static void look_at_round_trip(look *l, const jx_flat_node *back)
{
    const jx_flat *flat = l->flat;
    int middle = jx_shown(flat, back->ins[0]);
    const jx_flat_node *there = jx_maker(flat, middle), *made;
    jx_dtype through = dtype_of(flat, middle);
    jx_dtype from, to = dtype_of(flat, back->outs[0]);
    jx_buffer text;
    jx_claim *claim;

    if (!is_convert(there) || !jx_flat_sole_use(flat, &l->lint->uses, middle))
        return;
    from = dtype_of(flat, there->ins[0]);
    made = jx_maker(flat, there->ins[0]);
    if (from != to || !loses(l, there->ins[0], from, through))
        return;
    /* jnp.sum of 16 bits adds up in 32, and gives 16 back: that
     * is its result. */
    if (made && jx_is_implied(there, made))
        return;
    text = jx_ctx_text(l->lint->ctx);
    jx_buffer_printf(&text,
                     "%s is converted to %s and back: what %s does not hold is "
                     "lost, and nothing is gained",
                     short_name(from), short_name(through),
                     short_name(through));
    claim = jx_lint_claim(l->lint, JX_CODE_DTY005, back,
                          jx_arena_take(l->lint->ctx->arena, &text));
    if (claim)
        claim->help =
            "leave both conversions out; jax.lax.reduce_precision says "
            "that rounding is meant";
}

/* -- DTY003: integers by way of floats ------------------------------------- */

enum { MOST_STEPS = 24 };

/* What a chain of float operations begins with. */
typedef struct chain {
    int steps;
    bool integer; /* a conversion of an integer that varies */
    bool other;   /* something else that varies */
} chain;

/* Computes elements of its float operands alone. */
static bool passes_on(const jx_flat_node *node)
{
    switch (node->eqn->prim->id) {
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_cumsum: return true;
    default:
        return jx_shows(node->eqn) || is_convert(node) ||
               jx_prim_in_family(node->eqn->prim->id, "elementwise");
    }
}

static void follow_back(const look *l, int value, chain *c)
{
    const jx_flat_node *node = jx_maker(l->flat, value);

    if (!l->flat->values.at[value].varies || c->other)
        return;
    if (is_convert(node) &&
        jx_dtype_is_integer(dtype_of(l->flat, node->ins[0]))) {
        c->integer = true;
        return;
    }
    if (!node || ++c->steps > MOST_STEPS || !passes_on(node)) {
        c->other = true;
        return;
    }
    for (int i = 0; i < node->nins; i++)
        if (jx_dtype_is_float(dtype_of(l->flat, node->ins[i])))
            follow_back(l, node->ins[i], c);
        else if (node->eqn->prim->id == JX_PRIM_pow &&
                 l->flat->values.at[node->ins[i]].varies)
            c->integer = true; /* 2.0 ** i takes the exponent as it is */
}

static void look_at_detour(look *l, const jx_flat_node *back)
{
    chain c = {0};
    jx_claim *claim;

    follow_back(l, back->ins[0], &c);
    if (!c.integer || c.other)
        return;
    claim = jx_lint_claim(
        l->lint, JX_CODE_DTY003, back,
        jx_arena_printf(l->lint->ctx->arena,
                        "integers are computed by way of %s, which holds whole "
                        "numbers up to 2**%d only",
                        short_name(dtype_of(l->flat, back->ins[0])),
                        jx_digits(dtype_of(l->flat, back->ins[0]))));
    if (claim)
        claim->help = "compute with integers: `//` and `%` divide them";
}

/* `a / b` of integers. */
static void look_at_division(look *l, const jx_flat_node *node)
{
    jx_claim *claim;

    for (int i = 0; i < 2; i++) {
        int shown = jx_shown(l->flat, node->ins[i]);
        const jx_flat_node *convert = jx_maker(l->flat, shown);
        if (!is_convert(convert) || !l->flat->values.at[shown].varies ||
            !jx_dtype_is_integer(dtype_of(l->flat, convert->ins[0])) ||
            !jx_is_implied(convert, node) ||
            !loses(l, convert->ins[0], dtype_of(l->flat, convert->ins[0]),
                   dtype_of(l->flat, shown)))
            return;
    }
    claim = jx_lint_claim(
        l->lint, JX_CODE_DTY003, node,
        jx_arena_printf(l->lint->ctx->arena,
                        "`/` of integers divides floats: above 2**%d they are "
                        "rounded first",
                        jx_digits(dtype_of(l->flat, node->outs[0]))));
    if (claim)
        claim->help = "`//` divides integers; convert them first, where a "
                      "fraction is meant";
}

/* -- DTY004: integers that can wrap ---------------------------------------- */

static void look_at_wrap(look *l, const jx_flat_node *node)
{
    jx_int_range r =
        node->nouts == 1 ? l->ranges[node->outs[0]] : (jx_int_range){0};
    jx_dtype dtype =
        node->nouts == 1 ? dtype_of(l->flat, node->outs[0]) : JX_BOOL;
    const jx_dtype_info *info = jx_dtype_of(dtype);
    jx_buffer text;
    jx_claim *claim;

    /* Wide ones that nobody declares hold what they hold, and those without a
     * sign are bits. */
    if (!r.wraps || info->kind == JX_KIND_BOOL ||
        (info->bits > 16 && !(r.declared && info->kind == JX_KIND_INT)) ||
        jx_wraps_as_meant(l->lint, l->ranges, node) ||
        jx_wraps_in_vain(l->lint, l->ranges, node) ||
        /* DTY006 has said so. */
        (info->bits == 32 && l->lint->wide && l->lint->wide[node->outs[0]]))
        return;
    text = jx_ctx_text(l->lint->ctx);
    jx_buffer_printf(&text, "`%s` of %s can wrap: it ", jx_eqn_name(node->eqn),
                     short_name(dtype));
    if (r.least < -((jx_int)1 << 62) || r.most > ((jx_int)1 << 62))
        jx_buffer_puts(&text, "has no bound");
    else
        jx_buffer_printf(&text, "comes to %lld up to %lld", (long long)r.least,
                         (long long)r.most);
    claim = jx_lint_suspect(l->lint, JX_CODE_DTY004, node,
                            jx_arena_take(l->lint->ctx->arena, &text));
    if (claim && info->bits <= 16)
        claim->help =
            "compute in a wider type (x.astype(jnp.int32)), or declare "
            "what the inputs hold (ranges=)";
}

/* -- DTY008: results ------------------------------------------------------- */

/* Where a function that is called in the line that returns its result makes
 * it weak, which is where to say what it is.  NULL: no such function. */
static const jx_stack *made_weak_at(const look *l, int value)
{
    const jx_stack *returns = l->lint->program->returns;
    const jx_flat_node *node = jx_maker(l->flat, value);
    jx_stack all, *to = NULL;
    int outer, inner = 0;

    while (node && node->nins && jx_shows(node->eqn) &&
           jx_atom_aval(node->eqn->ins[0])->weak)
        node = jx_maker(l->flat, node->ins[0]);
    if (!node || !returns || !returns->count)
        return NULL;
    const jx_place at = {0, node->eqn, node->jaxpr, node->calls, 0};
    all = jx_place_stack(l->lint->ctx->arena, &at, NULL);
    outer = all.count - 1;
    while (outer > 0 &&
           !jx_frame_is_within(all.frames[outer], returns->frames[0]))
        outer--;
    while (inner < outer && all.frames[inner]->file->kind != JX_FILE_USER)
        inner++;
    if (inner < outer)
        to = JX_NEW(l->lint->ctx->arena, jx_stack);
    if (to)
        *to = (jx_stack){all.count - inner, all.frames + inner};
    return to;
}

static void look_at_results(look *l)
{
    const jx_jaxpr *entry = l->lint->program->entry.jaxpr;

    for (int i = 0; i < entry->nouts && !l->lint->program->from_text; i++) {
        const jx_aval *aval = jx_atom_aval(entry->outs[i]);
        const jx_flat_value *v = &l->flat->values.at[l->flat->outs[i]];
        const jx_stack *stack;
        jx_claim *claim;

        if (aval->kind != JX_AVAL_ARRAY || !aval->weak ||
            (v->node < 0 && v->input >= 0))
            continue;
        claim = jx_lint_claim_of_result(
            l->lint, JX_CODE_DTY008, i, jx_maker(l->flat, l->flat->outs[i]),
            jx_arena_printf(l->lint->ctx->arena,
                            "is weakly typed: what the caller computes with it "
                            "takes the other operand's dtype, and not %s",
                            short_name(aval->dtype)));
        stack = made_weak_at(l, l->flat->outs[i]);
        if (claim && stack)
            claim->stack = stack;
        if (claim)
            claim->help = "say which dtype is meant: .astype(jnp.float32), or "
                          "jnp.asarray(..., dtype=...)";
    }
}

bool jx_lint_dtypes(jx_linter *lint)
{
    look l = {lint, lint->flat, lint->ranges,
              JX_NEW_ARRAY(lint->ctx->arena, lint->flat->nodes.count, bool)};

    if (!l.told)
        return false;
    for (size_t n = 0; n < l.flat->nodes.count; n++) {
        const jx_flat_node *node = &l.flat->nodes.at[n];
        if (!jx_looks_at(node))
            continue;
        if (node->eqn->prim->id == JX_PRIM_dot_general)
            look_at_product(&l, node);
        look_at_wrap(&l, node);
        if (node->eqn->prim->id == JX_PRIM_div &&
            jx_dtype_is_float(dtype_of(l.flat, node->outs[0])))
            look_at_division(&l, node);
        if (!is_convert(node))
            continue;
        look_at_promotion(&l, node);
        look_at_round_trip(&l, node);
        if (jx_dtype_is_integer(dtype_of(l.flat, node->outs[0])) &&
            jx_dtype_is_float(dtype_of(l.flat, node->ins[0])))
            look_at_detour(&l, node);
    }
    look_at_results(&l);
    return jx_ok(lint->ctx);
}
