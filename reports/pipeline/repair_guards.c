/* repair_guards.c - see repair_parts.h: operands kept where their
 * operation is defined. */
#include "reports/pipeline/repair_parts.h"

#include "frontend/ir/build_math.h"
#include "frontend/ir/element.h"
#include "runtime/shake.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 6 };

typedef struct guard {
    const char *written;
    jx_prim_id prim;
    int operand, argument;
    const char *before, *after;
    jx_edit_make *make;
    double numbers[MOST_NUMBERS];
    int count;
    bool whole; /* `before` stands in the place of all of it */
} guard;

/* -- as equations ---------------------------------------------------------- */

static jx_atom at_least(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    return jx_math_2(b, JX_PRIM_max, of[0],
                     jx_math_number(b, of[0], e->numbers[0]));
}

/* Another name for it: only where the values say that it is not below 0. */
static jx_atom at_least_where_positive(jx_body *b, const jx_edit *e,
                                       const jx_atom *of)
{
    return at_least(b, e, of);
}

/* ... where it counts, so that it is 0 or at least 1. */
static jx_atom at_least_where_whole(jx_body *b, const jx_edit *e,
                                    const jx_atom *of)
{
    return at_least(b, e, of);
}

static jx_atom at_most(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    return jx_math_2(b, JX_PRIM_min, of[0],
                     jx_math_number(b, of[0], e->numbers[0]));
}

static jx_atom plus(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    return jx_math_plus(b, of[0], e->numbers[0]);
}

static jx_atom within_one(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    jx_atom least = jx_math_2(b, JX_PRIM_max, of[0],
                              jx_math_number(b, of[0], -e->numbers[0]));

    return jx_math_2(b, JX_PRIM_min, least,
                     jx_math_number(b, of[0], e->numbers[0]));
}

static jx_atom not_zero(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    jx_atom zero = jx_math_2(b, JX_PRIM_eq, of[0],
                             jx_math_number(b, of[0], e->numbers[0]));

    return jx_math_where(b, zero, jx_math_all(b, of[0], 1), of[0]);
}

static jx_atom not_small(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    jx_atom size = jx_math_1(b, JX_PRIM_abs, of[0]);
    jx_atom small =
        jx_math_2(b, JX_PRIM_lt, size, jx_math_number(b, of[0], e->numbers[0]));

    return jx_math_where(b, small, jx_math_all(b, of[0], e->numbers[0]), of[0]);
}

/* Atom 1 is the predicate; where it chooses the other arm, the operand is 1. */
static jx_atom one_where_left_out(jx_body *b, const jx_edit *e,
                                  const jx_atom *of)
{
    jx_atom chosen = jx_math_spread(b, of[1], jx_atom_aval(of[0]));
    jx_atom one = jx_math_all(b, of[0], 1);

    return e->numbers[0] != 0 ? jx_math_where(b, chosen, of[0], one)
                              : jx_math_where(b, chosen, one, of[0]);
}

#define GUARD(written, prim, operand, argument, before, after, make, ...)      \
    {written,                                                                  \
     JX_PRIM_##prim,                                                           \
     operand,                                                                  \
     argument,                                                                 \
     before,                                                                   \
     after,                                                                    \
     make,                                                                     \
     {__VA_ARGS__},                                                            \
     (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                  \
     false},
#define INSTEAD(written, prim, operand, text, make, ...)                       \
    {written,                                                                  \
     JX_PRIM_##prim,                                                           \
     operand,                                                                  \
     0,                                                                        \
     text,                                                                     \
     "",                                                                       \
     make,                                                                     \
     {__VA_ARGS__},                                                            \
     (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                  \
     true},
static const guard guards[] = {
#include "reports/pipeline/repairs.def"
};
#undef GUARD
#undef INSTEAD

int jx_repair_guards(void)
{
    return (int)(sizeof guards / sizeof *guards);
}

int jx_repair_numbers(int row)
{
    return guards[row].count;
}

/* What a sign of a template stands for. */
typedef struct filling {
    const char *numpy;
    double number;
    const char *text;
    jx_py_span argument, all; /* of a call: %a, %* */
} filling;

/* A template with what its signs stand for. */
static const char *filled(jx_arena *arena, const char *template,
                          const filling *f)
{
    jx_py_span rest = {f->argument.end, f->all.end};
    const char *to = "";

    for (const char *at = template; to && *at;) {
        size_t n = strcspn(at, "%");
        char sign = at[n] ? at[n + 1] : 0;
        jx_py_span span = sign == 'a'   ? f->argument
                          : sign == '*' ? f->all
                                        : rest;
        to = jx_arena_printf(arena, "%s%.*s", to, (int)n, at);
        if (to && sign == 'n')
            to = jx_arena_printf(arena, "%s%.6g", to, f->number);
        else if (to && sign == 'm')
            to = jx_arena_printf(arena, "%s%s", to, f->numpy);
        else if (to && sign)
            to = jx_arena_printf(arena, "%s%.*s", to,
                                 (int)(span.end - span.begin),
                                 f->text + span.begin);
        at += n + (sign ? 2 : 0);
    }
    return to ? to : "";
}

static bool is_bracketed(const char *text, jx_py_span span)
{
    jx_py_span bare = jx_py_bare(text, span);

    return bare.begin == span.begin + 1 && bare.end + 1 == span.end;
}

/* Around the argument.  Brackets of its own are those of the call then; what
 * binds less than the operator that is put beside it gets some. */
static jx_change change_of(jx_arena *arena, const guard *g,
                           const jx_passage *in, jx_py_span argument,
                           double number)
{
    const filling f = {jx_passage_numpy(arena, in),
                       number,
                       in->text,
                       jx_py_bare(in->text, argument),
                       {0, 0}};
    jx_change to = {.in = in,
                    .span = argument,
                    .before = filled(arena, g->before, &f),
                    .after = filled(arena, g->after, &f)};

    to.bracketed = *to.before && is_bracketed(in->text, argument);
    if (!*to.before && jx_py_rank_of(in->text, argument) < JX_PY_SUM) {
        to.before = "(";
        to.after = jx_arena_printf(arena, ")%s", to.after);
    }
    return to;
}

/* All of the call, which has nothing but axes beside its argument. */
static bool change_whole(jx_arena *arena, const guard *g, const jx_passage *in,
                         double number, jx_change *to)
{
    jx_py_call call;

    if (!jx_py_call_of(in->text, in->span, &call) || !call.nargs ||
        call.args[0].name.end ||
        !(jx_py_is(in->text, call.of, "jnp") ||
          jx_py_is(in->text, call.of, "jnp.linalg") ||
          jx_py_is(in->text, call.of, "jax.numpy") ||
          jx_py_is(in->text, call.of, "jax.numpy.linalg")))
        return false;
    for (int i = 1; i < call.nargs; i++)
        if (!jx_py_is(in->text, call.args[i].name, "axis") &&
            !jx_py_is(in->text, call.args[i].name, "keepdims"))
            return false;
    *to = (jx_change){
        .in = in,
        .span = in->span,
        .replaces = true,
        .before = filled(arena, g->before,
                         &(filling){jx_passage_numpy(arena, in), number,
                                    in->text, call.args[0].value, call.all})};
    return true;
}

static bool all_whole(const jx_repair_site *site, const jx_repair *repair)
{
    for (size_t i = 0; i < repair->edits.count; i++) {
        jx_atom of = repair->edits.at[i].atoms[0];
        const jx_origin *origin = jx_origin_of(site->origins, of);
        while (origin && origin->eqn && jx_eqn_moves(origin->eqn) &&
               jx_dtype_is_float(jx_atom_aval(of)->dtype)) {
            of = origin->eqn->ins[0];
            origin = jx_origin_of(site->origins, of);
        }
        if (jx_dtype_is_float(jx_atom_aval(of)->dtype))
            return false;
    }
    return true;
}

static bool all_positive(const jx_repair_site *site, const jx_repair *repair)
{
    for (size_t i = 0; i < repair->edits.count; i++) {
        bool known = false;
        for (int k = 0; k < site->npositive && !known; k++)
            known = repair->edits.at[i].eqn == site->positive[k];
        if (!known && repair->edits.at[i].eqn->prim->id == JX_PRIM_div)
            return false;
    }
    return true;
}

/* -- masks ----------------------------------------------------------------- */

/* The byte of one passage that another's first is; lines of both
 * lie in one file. */
static bool offset_in(const jx_passage *outer, const jx_passage *inner,
                      size_t *to)
{
    const char *at = outer->text;

    for (int line = outer->frame->line; line < inner->frame->line; line++) {
        at = strchr(at, '\n');
        if (!at++)
            return false;
    }
    *to = (size_t)(at - outer->text) + (size_t)inner->frame->column;
    return true;
}

/* `where(c, f(x), y)`: f(where(c, x, 1)). */
static bool mask_with(const jx_repair_site *site, jx_repair *repair,
                      const guard *g, const jx_eqn *choice,
                      const jx_frame *around)
{
    jx_arena *arena = site->program->ctx->arena;
    jx_passage outer;
    jx_py_call call;
    jx_py_span argument;
    size_t at;
    jx_edit like = {.make = one_where_left_out, .natoms = 2};
    const char *numpy = jx_passage_numpy(arena, repair->in);
    int arm;

    if (!jx_passage_of(arena, around, &outer) ||
        !jx_py_call_of(outer.text, outer.span, &call) ||
        !jx_py_is(outer.text, call.name, "where") || call.nargs != 3 ||
        !offset_in(&outer, repair->in, &at) ||
        !jx_passage_operand(repair->in, g->written, g->argument, &argument))
        return false;
    arm = at >= call.args[1].value.begin && at < call.args[1].value.end   ? 1
          : at >= call.args[2].value.begin && at < call.args[2].value.end ? 2
                                                                          : 0;
    if (!arm)
        return false;
    like.atoms[1] = choice->ins[0];
    like.numbers[0] = arm == 1;
    jx_repair_guard(site, repair, g->prim, g->operand, &like);
    const char *predicate =
        jx_arena_string(arena, outer.text + call.args[0].value.begin,
                        call.args[0].value.end - call.args[0].value.begin);
    repair->change =
        (jx_change){.in = repair->in,
                    .span = argument,
                    .before = jx_arena_printf(
                        arena, arm == 1 ? "%s.where(%s, " : "%s.where(%s, 1, ",
                        numpy, predicate),
                    .after = arm == 1 ? ", 1)" : ")"};
    repair->says = "what the choice leaves out is computed of 1 instead";
    return repair->edits.count > 0;
}

bool jx_repair_mask(const jx_repair_site *site, jx_repair *repair, int row)
{
    const guard *g = &guards[row];

    for (int i = 0; i < site->nchosen; i++) {
        const jx_eqn *choice = site->chosen[i];
        const jx_frame *around =
            jx_user_frame(jx_origin_stack(site->origins, choice));
        if (around && jx_frame_encloses(around, repair->in->frame) &&
            mask_with(site, repair, g, choice, around))
            return true;
    }
    return false;
}

/* -- ways ------------------------------------------------------------------ */

/* The dtype has the number, and what the guard is for is finite there. */
static bool is_held(const guard *g, double number, jx_dtype dtype)
{
    double largest = jx_largest_finite(dtype);

    if (g->make != at_most)
        return true;
    return (g->prim == JX_PRIM_exp2 ? exp2(number) : exp(number)) < largest;
}

bool jx_repair_guarded(const jx_repair_site *site, jx_repair *repair, int row,
                       int which)
{
    const guard *g = &guards[row];
    double number = g->numbers[which];
    jx_arena *arena = site->program->ctx->arena;
    jx_py_span argument;
    jx_edit like = {.make = g->make, .natoms = 1, .numbers = {number}};

    if (!jx_passage_operand(repair->in, g->written, g->argument, &argument))
        return false;
    jx_repair_guard(site, repair, g->prim, g->operand, &like);
    if (g->whole &&
        !change_whole(arena, g, repair->in, number, &repair->change))
        return false;
    if (!repair->edits.count ||
        (g->make == at_least_where_positive && !all_positive(site, repair)) ||
        (g->make == at_least_where_whole && !all_whole(site, repair)) ||
        !is_held(g, number, jx_atom_aval(repair->edits.at[0].atoms[0])->dtype))
        return false;
    /* it is written twice */
    if ((g->make == not_zero || g->make == not_small) &&
        jx_py_rank_of(repair->in->text,
                      jx_py_bare(repair->in->text, argument)) < JX_PY_SUM)
        return false;
    if (!g->whole)
        repair->change = change_of(arena, g, repair->in, argument, number);
    repair->says =
        jx_arena_printf(arena, "this keeps what %s takes where it is finite",
                        jx_eqn_name(repair->edits.at[0].eqn));
    return repair->change.before != NULL;
}

/* A number in the place of an infinity that somebody wrote. */
static jx_atom that_number(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    return jx_math_all(b, of[0], e->numbers[0]);
}

static bool is_infinite(const jx_repair_site *site, jx_atom atom, double *value)
{
    while (atom.var) {
        const jx_origin *origin = jx_origin_of(site->origins, atom);
        if (!origin || !origin->eqn || origin->eqn->nins != 1 ||
            !jx_eqn_moves(origin->eqn))
            return false;
        atom = origin->eqn->ins[0];
    }
    if (atom.literal->dim || atom.literal->array ||
        !jx_dtype_is_float(atom.literal->aval->dtype))
        return false;
    *value = jx_element_real(atom.literal->aval->dtype,
                             (const char *)atom.literal->bits);
    return isinf(*value);
}

/* The one place in the text where an infinity is written. */
static bool find_infinity(const jx_passage *in, double value, jx_py_span *to)
{
    static const char *const written[] = {
        "-jnp.inf",  "-np.inf",       "-jax.numpy.inf",
        "-math.inf", "float('-inf')", "float(\"-inf\")",
        "jnp.inf",   "np.inf",        "float('inf')"};
    const char *begin = in->text + in->span.begin,
               *end = in->text + in->span.end;

    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *at = strstr(begin, written[i]);
        size_t length = strlen(written[i]);
        if (!at || at + length > end)
            continue;
        *to = (jx_py_span){(size_t)(at - in->text),
                           (size_t)(at - in->text) + length};
        return (value < 0) == (strchr(written[i], '-') != NULL) &&
               !strstr(at + length, "inf");
    }
    return false;
}

bool jx_repair_infinity(const jx_repair_site *site, jx_repair *repair,
                        const jx_eqn *eqn)
{
    jx_arena *arena = site->program->ctx->arena;
    jx_py_span span;
    double value = 0, number;

    repair->edits.count = 0;
    for (int k = 0; k < eqn->nins && !repair->edits.count; k++) {
        jx_dtype dtype = jx_atom_aval(eqn->ins[k])->dtype;
        jx_edit edit = {.eqn = eqn,
                        .operand = k,
                        .make = that_number,
                        .natoms = 1,
                        .atoms = {eqn->ins[k]}};
        if (!eqn->ins[k].var || !jx_dtype_is_float(dtype) ||
            !is_infinite(site, eqn->ins[k], &value))
            continue;
        number = jx_largest_finite(dtype) > 1e30 ? 1e30 : 1e4;
        edit.numbers[0] = value < 0 ? -number : number;
        JX_PUSH(arena, &repair->edits, edit);
    }
    if (!repair->edits.count || !find_infinity(repair->in, value, &span))
        return false;
    repair->change = (jx_change){
        .in = repair->in,
        .span = span,
        .replaces = true,
        .before = jx_arena_printf(arena, "%g", repair->edits.at[0].numbers[0])};
    repair->says =
        "this number serves as well, and its difference from itself is 0";
    return repair->change.before != NULL;
}
