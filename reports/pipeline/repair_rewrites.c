/* repair_rewrites.c - see repair_parts.h: the same function, computed in a way
 * that does not leave the range of numbers. */
#include "reports/pipeline/repair_parts.h"

#include "frontend/ir/build_math.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <string.h>

/* -- as equations ---------------------------------------------------------- */

/* log(1 + exp(z)), of atom 0. */
static jx_atom softplus(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    jx_atom size = jx_math_1(b, JX_PRIM_abs, of[0]);
    jx_atom small = jx_math_1(b, JX_PRIM_exp, jx_math_1(b, JX_PRIM_neg, size));
    jx_atom positive =
        jx_math_2(b, JX_PRIM_max, of[0], jx_math_number(b, of[0], 0));

    (void)e;
    return jx_math_2(b, JX_PRIM_add, positive,
                     jx_math_1(b, JX_PRIM_log1p, small));
}

/* log(sigmoid(z)), or of -z where the number says so. */
static jx_atom log_sigmoid(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    jx_atom against =
        e->numbers[0] < 0 ? of[0] : jx_math_1(b, JX_PRIM_neg, of[0]);

    return jx_math_1(b, JX_PRIM_neg, softplus(b, e, &against));
}

/* log(exp(a) / s): a - log(s). */
static jx_atom log_quotient(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    (void)e;
    return jx_math_2(b, JX_PRIM_sub, of[0], jx_math_1(b, JX_PRIM_log, of[1]));
}

static jx_atom logistic(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    (void)e;
    return jx_math_1(b, JX_PRIM_logistic, of[0]);
}

/* -- along axes ------------------------------------------------------------ */

static jx_ints axes_of(const jx_edit *e)
{
    return ((const jx_p_axes *)e->with->typed)->axes;
}

static jx_atom reduced(jx_body *b, const jx_edit *e, jx_prim_id prim,
                       jx_atom of)
{
    jx_params p = {.program = b->in->program};

    if (!jx_is_made(of))
        return of;
    jx_put_ints(&p, "axes", axes_of(e));
    jx_put_none(&p, "out_sharding");
    return jx_build(b, prim, &p, 1, &of);
}

/* What is reduced, in the shape of what it was reduced of. */
static jx_atom spread(jx_body *b, const jx_edit *e, jx_atom a,
                      const jx_aval *like)
{
    int64_t *kept =
        JX_NEW_ARRAY(b->in->program->ctx->arena, like->rank + 1, int64_t);
    jx_ints axes = axes_of(e);
    int count = 0;

    if (!kept || !jx_is_made(a))
        return (jx_atom){0};
    for (int i = 0; i < like->rank; i++) {
        bool gone = false;
        for (int k = 0; k < axes.count; k++)
            gone |= axes.at[k] == i;
        if (!gone)
            kept[count++] = i;
    }
    return jx_build_broadcast(b, a, (jx_ints){count, kept}, like->rank,
                              like->shape);
}

/* exp(z) / sum(exp(z)): of z less its maximum. */
static jx_atom softmax(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    const jx_aval *like = jx_atom_aval(of[0]);
    jx_atom most = spread(b, e, reduced(b, e, JX_PRIM_reduce_max, of[0]), like);
    jx_atom each =
        jx_math_1(b, JX_PRIM_exp, jx_math_2(b, JX_PRIM_sub, of[0], most));

    return jx_math_2(
        b, JX_PRIM_div, each,
        spread(b, e, reduced(b, e, JX_PRIM_reduce_sum, each), like));
}

/* log(sum(exp(z))), in the shape that the logarithm has. */
static jx_atom logsumexp(jx_body *b, const jx_edit *e, const jx_atom *of)
{
    const jx_aval *to = jx_atom_aval(e->eqn->ins[0]);
    jx_atom most = reduced(b, e, JX_PRIM_reduce_max, of[0]);
    jx_atom less = jx_math_2(b, JX_PRIM_sub, of[0],
                             spread(b, e, most, jx_atom_aval(of[0])));
    jx_atom sum =
        reduced(b, e, JX_PRIM_reduce_sum, jx_math_1(b, JX_PRIM_exp, less));
    jx_atom all =
        jx_math_2(b, JX_PRIM_add, most, jx_math_1(b, JX_PRIM_log, sum));

    return jx_is_made(all) && jx_atom_aval(all)->rank != to->rank
               ? jx_build_reshape(b, all, to->rank, to->shape)
               : all;
}

/* -- what is written, and what became of it -------------------------------- */

typedef struct rewriting {
    const jx_repair_site *site;
    jx_repair *repair;
    jx_edit like;
} rewriting;

static const char *text_of(const rewriting *w)
{
    return w->repair->in->text;
}

static jx_arena *arena_of(const rewriting *w)
{
    return w->site->program->ctx->arena;
}

/* The equation that gives it, of that primitive; NULL: another does. */
static const jx_eqn *given_by(const rewriting *w, jx_atom atom, jx_prim_id prim)
{
    const jx_eqn *eqn = jx_origin_eqn(w->site->origins, atom);

    return eqn && eqn->prim->id == prim ? eqn : NULL;
}

static bool is_one(const rewriting *w, jx_atom atom)
{
    const jx_eqn *eqn = jx_origin_eqn(w->site->origins, atom);
    double value = 0;

    if (eqn)
        return false;
    while (atom.var) {
        const jx_origin *origin = jx_origin_of(w->site->origins, atom);
        if (!origin || !origin->eqn || origin->eqn->nins != 1 ||
            !jx_eqn_moves(origin->eqn))
            return false;
        atom = origin->eqn->ins[0];
    }
    if (atom.literal->dim || atom.literal->array ||
        !jx_dtype_is_float(atom.literal->aval->dtype))
        return false;
    value = jx_element_real(atom.literal->aval->dtype,
                            (const char *)atom.literal->bits);
    return value == 1;
}

static bool is_written_one(const char *text, jx_py_span span)
{
    return jx_py_is(text, span, "1") || jx_py_is(text, span, "1.") ||
           jx_py_is(text, span, "1.0");
}

/* All equations of that primitive give something else now: `fits`
 * finds the atoms. */
static bool instead(rewriting *w, jx_prim_id prim, jx_edit_make *make,
                    bool (*fits)(const rewriting *w, const jx_eqn *eqn,
                                 jx_edit *to),
                    const char *text)
{
    jx_repair *repair = w->repair;

    jx_repair_equations(w->site, repair, prim);
    if (!repair->edits.count || !text ||
        jx_repair_is_differentiated(w->site, repair))
        return false;
    for (size_t i = 0; i < repair->edits.count; i++) {
        jx_edit *edit = &repair->edits.at[i];
        edit->operand = -1;
        edit->make = make;
        edit->numbers[0] = w->like.numbers[0];
        if (!fits(w, edit->eqn, edit))
            return false;
    }
    repair->change = (jx_change){.in = repair->in,
                                 .span = repair->in->span,
                                 .before = text,
                                 .replaces = true};
    repair->says = "this is the same function, without numbers that are too "
                   "large or too small";
    return true;
}

static const char *joined(const rewriting *w, jx_py_span of, const char *name,
                          const char *before, jx_py_span inside,
                          const char *after)
{
    const char *text = text_of(w);

    return jx_arena_printf(
        arena_of(w), "%.*s%s%s(%s%.*s%s)", (int)(of.end - of.begin),
        text + of.begin, of.end > of.begin ? "." : "", name, before,
        (int)(inside.end - inside.begin), text + inside.begin, after);
}

/* -- the logarithm of a softmax -------------------------------------------- */

static bool fits_softmax(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    const jx_eqn *quotient = given_by(w, eqn->ins[0], JX_PRIM_div);
    const jx_eqn *power =
        quotient ? given_by(w, quotient->ins[0], JX_PRIM_exp) : NULL;

    if (!power || !given_by(w, quotient->ins[1], JX_PRIM_reduce_sum))
        return false;
    to->natoms = 2;
    to->atoms[0] = power->ins[0];
    to->atoms[1] = quotient->ins[1];
    return true;
}

static bool log_of_softmax(rewriting *w)
{
    jx_py_span inner;
    jx_py_call call;

    return jx_passage_argument(w->repair->in, "log", &inner) &&
           jx_py_call_of(text_of(w), inner, &call) &&
           jx_py_is(text_of(w), call.name, "softmax") &&
           instead(w, JX_PRIM_log, log_quotient, fits_softmax,
                   joined(w, call.of, "log_softmax", "", call.all, ""));
}

/* -- the logarithm of a sigmoid, and of one less it ------------------------ */

static bool fits_sigmoid(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    jx_atom of = eqn->ins[0];
    const jx_eqn *rest = given_by(w, of, JX_PRIM_sub), *sigmoid;

    if (to->numbers[0] < 0 && (!rest || !is_one(w, rest->ins[0])))
        return false;
    sigmoid =
        given_by(w, to->numbers[0] < 0 ? rest->ins[1] : of, JX_PRIM_logistic);
    to->natoms = 1;
    if (sigmoid)
        to->atoms[0] = sigmoid->ins[0];
    return sigmoid != NULL;
}

static bool log_of_sigmoid(rewriting *w)
{
    const char *text = text_of(w);
    jx_py_span inner, one, rest;
    jx_py_call call;
    bool against, brackets;

    if (!jx_passage_argument(w->repair->in, "log", &inner))
        return false;
    against = jx_py_sides_of(text, inner, "-", &one, &rest) &&
              is_written_one(text, one);
    if (!jx_py_call_of(text, against ? rest : inner, &call) ||
        call.nargs != 1 || !jx_py_is(text, call.name, "sigmoid"))
        return false;
    w->like.numbers[0] = against ? -1 : 1;
    brackets = against && jx_py_rank_of(text, call.all) < JX_PY_SIGNED;
    return instead(w, JX_PRIM_log, log_sigmoid, fits_sigmoid,
                   joined(w, call.of, "log_sigmoid",
                          !against   ? ""
                          : brackets ? "-("
                                     : "-",
                          call.all, brackets ? ")" : ""));
}

/* -- log(1 + exp(z)) ------------------------------------------------------- */

static bool fits_softplus(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    const jx_eqn *sum = given_by(w, eqn->ins[0], JX_PRIM_add), *power = NULL;

    if (eqn->prim->id == JX_PRIM_log1p)
        power = given_by(w, eqn->ins[0], JX_PRIM_exp);
    for (int k = 0; sum && k < 2 && !power; k++)
        if (is_one(w, sum->ins[1 - k]))
            power = given_by(w, sum->ins[k], JX_PRIM_exp);
    to->natoms = 1;
    if (power)
        to->atoms[0] = power->ins[0];
    return power != NULL;
}

static bool log_of_one_and_exp(rewriting *w)
{
    const char *text = text_of(w),
               *numpy = jx_passage_numpy(arena_of(w), w->repair->in);
    jx_py_span inner, left, right, no = {0, 0};
    jx_py_call call;
    bool one = jx_passage_argument(w->repair->in, "log1p", &inner);

    if (!one && (!jx_passage_argument(w->repair->in, "log", &inner) ||
                 !jx_py_sides_of(text, inner, "+", &left, &right)))
        return false;
    if (!one && !is_written_one(text, left) && !is_written_one(text, right))
        return false;
    if (!one)
        inner = is_written_one(text, left) ? right : left;
    return jx_py_call_of(text, inner, &call) &&
           jx_py_is(text, call.name, "exp") && call.nargs == 1 &&
           instead(w, one ? JX_PRIM_log1p : JX_PRIM_log, softplus,
                   fits_softplus,
                   joined(w, no,
                          jx_arena_printf(arena_of(w), "%s.logaddexp", numpy),
                          "", call.all, ", 0"));
}

/* -- log(sum(exp(z))) ------------------------------------------------------ */

static bool fits_logsumexp(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    const jx_eqn *sum = given_by(w, eqn->ins[0], JX_PRIM_reduce_sum);
    const jx_eqn *power = sum ? given_by(w, sum->ins[0], JX_PRIM_exp) : NULL;

    to->natoms = 1;
    to->with = sum;
    if (power)
        to->atoms[0] = power->ins[0];
    return power != NULL;
}

static bool log_of_sum(rewriting *w)
{
    const char *text = text_of(w);
    jx_py_span inner, no = {0, 0};
    jx_py_call sum, power;
    const char *others;

    if (!jx_file_has(w->repair->in->frame->file, "jax.") ||
        !jx_passage_argument(w->repair->in, "log", &inner) ||
        !jx_py_call_of(text, inner, &sum) || !jx_py_is(text, sum.name, "sum") ||
        !sum.nargs || !jx_py_call_of(text, sum.args[0].value, &power) ||
        power.nargs != 1 || !jx_py_is(text, power.name, "exp"))
        return false;
    for (int i = 1; i < sum.nargs; i++)
        if (sum.args[i].name.end && !jx_py_is(text, sum.args[i].name, "axis") &&
            !jx_py_is(text, sum.args[i].name, "keepdims"))
            return false;
    others = jx_arena_string(arena_of(w), text + sum.args[0].value.end,
                             sum.all.end - sum.args[0].value.end);
    return others && sum.nargs <= 3 &&
           instead(w, JX_PRIM_log, logsumexp, fits_logsumexp,
                   joined(w, no, "jax.nn.logsumexp", "", power.all, others));
}

/* -- exp(z) / sum(exp(z)) -------------------------------------------------- */

static bool fits_quotient(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    const jx_eqn *power = given_by(w, eqn->ins[0], JX_PRIM_exp);
    const jx_eqn *sum = given_by(w, eqn->ins[1], JX_PRIM_reduce_sum);
    const jx_eqn *summed = sum ? given_by(w, sum->ins[0], JX_PRIM_exp) : NULL;

    if (!power || !summed || power->ins[0].var != summed->ins[0].var ||
        !power->ins[0].var)
        return false;
    to->natoms = 1;
    to->atoms[0] = power->ins[0];
    to->with = sum;
    return true;
}

static bool exp_over_sum(rewriting *w)
{
    const char *text = text_of(w);
    jx_py_span left, right, no = {0, 0}, axis = {0, 0};
    jx_py_call power, sum, summed;
    bool kept = false;

    if (!jx_file_has(w->repair->in->frame->file, "jax.") ||
        !jx_py_sides_of(text, w->repair->in->span, "/", &left, &right) ||
        !jx_py_call_of(text, left, &power) ||
        !jx_py_is(text, power.name, "exp") || power.nargs != 1 ||
        !jx_py_call_of(text, right, &sum) || !jx_py_is(text, sum.name, "sum") ||
        sum.nargs < 2 || !jx_py_call_of(text, sum.args[0].value, &summed) ||
        !jx_py_is(text, summed.name, "exp") ||
        !jx_py_same(text, summed.all, power.all))
        return false;
    for (int i = 1; i < sum.nargs; i++) {
        if (jx_py_is(text, sum.args[i].name, "keepdims"))
            kept = jx_py_is(text, sum.args[i].value, "True");
        else if (jx_py_is(text, sum.args[i].name, "axis") ||
                 (i == 1 && !sum.args[i].name.end))
            axis = sum.args[i].value;
        else
            return false;
    }
    return kept && axis.end &&
           instead(w, JX_PRIM_div, softmax, fits_quotient,
                   joined(w, no, "jax.nn.softmax", "", power.all,
                          jx_arena_printf(arena_of(w), ", axis=%.*s",
                                          (int)(axis.end - axis.begin),
                                          text + axis.begin)));
}

/* -- 1 / (1 + exp(-z)) ----------------------------------------------------- */

static bool fits_logistic(const rewriting *w, const jx_eqn *eqn, jx_edit *to)
{
    const jx_eqn *sum = given_by(w, eqn->ins[1], JX_PRIM_add), *power = NULL,
                 *against;

    for (int k = 0; sum && k < 2 && !power; k++)
        if (is_one(w, sum->ins[1 - k]))
            power = given_by(w, sum->ins[k], JX_PRIM_exp);
    against = power ? given_by(w, power->ins[0], JX_PRIM_neg) : NULL;
    to->natoms = 1;
    if (against)
        to->atoms[0] = against->ins[0];
    return against && is_one(w, eqn->ins[0]);
}

static bool one_over_one_and_exp(rewriting *w)
{
    const char *text = text_of(w);
    jx_py_span left, right, a, c, no = {0, 0};
    jx_py_call power;

    if (!jx_file_has(w->repair->in->frame->file, "jax.") ||
        !jx_py_sides_of(text, w->repair->in->span, "/", &left, &right) ||
        !is_written_one(text, left) ||
        !jx_py_sides_of(text, right, "+", &a, &c))
        return false;
    if (!is_written_one(text, a) && !is_written_one(text, c))
        return false;
    a = is_written_one(text, a) ? c : a;
    if (!jx_py_call_of(text, a, &power) || power.nargs != 1 ||
        !jx_py_is(text, power.name, "exp") ||
        text[power.args[0].value.begin] != '-')
        return false;
    a = (jx_py_span){power.args[0].value.begin + 1, power.args[0].value.end};
    return jx_py_rank_of(text, a) == JX_PY_PRIMARY &&
           instead(
               w, JX_PRIM_div, logistic, fits_logistic,
               joined(w, no, "jax.nn.sigmoid", "", jx_py_bare(text, a), ""));
}

static bool (*const rewrites[])(rewriting *w) = {
    log_of_softmax, log_of_sigmoid, log_of_one_and_exp,
    log_of_sum,     exp_over_sum,   one_over_one_and_exp,
};

int jx_repair_rewrites(void)
{
    return (int)(sizeof rewrites / sizeof *rewrites);
}

bool jx_repair_rewrite(const jx_repair_site *site, jx_repair *repair,
                       int number)
{
    rewriting w = {.site = site, .repair = repair};

    return rewrites[number](&w);
}
