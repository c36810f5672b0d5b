/* xla.c - see xla.h. */
#include "analyzer/transform/xla.h"

#include "analyzer/transform/edit.h"
#include "frontend/base/map.h"
#include "frontend/ir/build_math.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of values that are made. */
typedef struct simplifier {
    jx_map made; /* from variables: the equations that give them */
    bool any, matters;
    int release; /* 10 of JAX 0.10.2; what is not known is the oldest */
    int depth;
    jx_body *body;
} simplifier;

enum { MOST_DEPTH = 16 };

static const jx_atom none = {NULL, NULL};

/* -- what operands are ----------------------------------------------------- */

static const jx_eqn *made_by(const simplifier *s, jx_atom atom, jx_prim_id prim)
{
    const jx_eqn *eqn = atom.var ? jx_map_get(&s->made, atom.var) : NULL;

    return eqn && eqn->prim->id == prim ? eqn : NULL;
}

/* One number for all elements. */
static bool is_number(const simplifier *s, jx_atom atom, double *value)
{
    for (int depth = 0; atom.var && depth < MOST_DEPTH; depth++) {
        const jx_eqn *eqn = jx_map_get(&s->made, atom.var);
        if (!eqn || !jx_prim_rearranges(eqn->prim->id))
            return false;
        atom = eqn->ins[0];
    }
    if (atom.var || atom.literal->dim || atom.literal->array ||
        !jx_dtype_is_float(atom.literal->aval->dtype))
        return false;
    *value = jx_element_real(atom.literal->aval->dtype,
                             (const char *)atom.literal->bits);
    return isfinite(*value);
}

/* As the dtype of these has it. */
static double rounded(jx_atom like, double value)
{
    return jx_atom_aval(like)->dtype == JX_F32 ? (double)(float)value : value;
}

/* Which operand is a number; -1. */
static int number_side(const simplifier *s, const jx_eqn *eqn, double *value)
{
    return is_number(s, eqn->ins[0], value)   ? 0
           : is_number(s, eqn->ins[1], value) ? 1
                                              : -1;
}

/* -- rows ------------------------------------------------------------------ */

/* x + c of numbers, or c - x; what is lost of one of both matters. */
static jx_atom plus(simplifier *s, jx_atom x, bool negated, double c, double d)
{
    double sum = rounded(x, c + d);

    s->matters |= (sum == c && d != 0) || (sum == d && c != 0);
    return negated ? jx_math_2(s->body, JX_PRIM_sub,
                               jx_math_number(s->body, x, sum), x)
                   : jx_math_2(s->body, JX_PRIM_add, x,
                               jx_math_number(s->body, x, sum));
}

/* A sum with d of what is made by `inner` with another number. */
static jx_atom regrouped(simplifier *s, const jx_eqn *eqn, jx_atom of, double d,
                         jx_prim_id prim)
{
    const jx_eqn *inner = made_by(s, of, prim);
    double c;
    int side = inner ? number_side(s, inner, &c) : -1;

    (void)eqn;
    if (side < 0)
        return none;
    return plus(s, inner->ins[1 - side], prim == JX_PRIM_sub && side == 0,
                prim == JX_PRIM_sub && side == 1 ? -c : c, d);
}

static jx_atom sum_of_sum(simplifier *s, const jx_eqn *eqn)
{
    double d;
    int side = number_side(s, eqn, &d);

    return side < 0 ? none
                    : regrouped(s, eqn, eqn->ins[1 - side], d, JX_PRIM_add);
}

static jx_atom sum_of_difference(simplifier *s, const jx_eqn *eqn)
{
    double d;
    int side = number_side(s, eqn, &d);

    return side < 0 ? none
                    : regrouped(s, eqn, eqn->ins[1 - side], d, JX_PRIM_sub);
}

static jx_atom difference_of_sum(simplifier *s, const jx_eqn *eqn)
{
    double d;
    jx_atom made;

    if (!is_number(s, eqn->ins[1], &d))
        return none;
    made = regrouped(s, eqn, eqn->ins[0], -d, JX_PRIM_add);
    return jx_is_made(made) ? made
                            : regrouped(s, eqn, eqn->ins[0], -d, JX_PRIM_sub);
}

static jx_atom product_of_product(simplifier *s, const jx_eqn *eqn)
{
    double c, d;
    int side = number_side(s, eqn, &d);
    const jx_eqn *inner =
        side < 0 ? NULL : made_by(s, eqn->ins[1 - side], JX_PRIM_mul);
    int other = inner ? number_side(s, inner, &c) : -1;

    if (other < 0)
        return none;
    s->matters |= !isfinite(rounded(eqn->ins[0], c * d)) || c * d == 0;
    return jx_math_2(s->body, JX_PRIM_mul, inner->ins[1 - other],
                     jx_math_number(s->body, inner->ins[1 - other], c * d));
}

static jx_atom exp_times_exp(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *a = made_by(s, eqn->ins[0], JX_PRIM_exp),
                 *b = made_by(s, eqn->ins[1], JX_PRIM_exp);

    return a && b ? jx_math_1(
                        s->body, JX_PRIM_exp,
                        jx_math_2(s->body, JX_PRIM_add, a->ins[0], b->ins[0]))
                  : none;
}

static jx_atom masked_product(simplifier *s, const jx_eqn *eqn)
{
    for (int i = 0; i < 2; i++) {
        const jx_eqn *mask =
            made_by(s, eqn->ins[i], JX_PRIM_convert_element_type);
        jx_atom other = eqn->ins[1 - i];
        if (mask && jx_atom_aval(mask->ins[0])->dtype == JX_BOOL && other.var &&
            jx_aval_same_values(jx_atom_aval(eqn->ins[0]),
                                jx_atom_aval(eqn->ins[1])))
            return jx_math_where(s->body, mask->ins[0], other,
                                 jx_math_all(s->body, other, 0));
    }
    return none;
}

/* Operands may be scalars beside arrays in our programs, as XLA's are not. */
static bool fits(jx_atom a, jx_atom b)
{
    return a.var && b.var &&
           jx_aval_same_values(jx_atom_aval(a), jx_atom_aval(b));
}

static jx_atom quotient_of_quotient(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *inner = made_by(s, eqn->ins[0], JX_PRIM_div);
    double number;

    if (!inner || !fits(inner->ins[1], eqn->ins[1]) ||
        is_number(s, eqn->ins[1], &number) ||
        is_number(s, inner->ins[1], &number))
        return none;
    s->matters = true;
    return jx_math_2(
        s->body, JX_PRIM_div, inner->ins[0],
        jx_math_2(s->body, JX_PRIM_mul, inner->ins[1], eqn->ins[1]));
}

static jx_atom quotient_by_quotient(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *inner = made_by(s, eqn->ins[1], JX_PRIM_div);
    double number;

    if (!inner || is_number(s, inner->ins[1], &number))
        return none;
    s->matters = true;
    return jx_math_2(
        s->body, JX_PRIM_div,
        jx_math_2(s->body, JX_PRIM_mul, eqn->ins[0], inner->ins[1]),
        inner->ins[0]);
}

static jx_atom quotient_by_exp(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *power = made_by(s, eqn->ins[1], JX_PRIM_exp);

    if (!power)
        return none;
    s->matters = true;
    return jx_math_2(s->body, JX_PRIM_mul, eqn->ins[0],
                     jx_math_1(s->body, JX_PRIM_exp,
                               jx_math_1(s->body, JX_PRIM_neg, power->ins[0])));
}

static jx_atom quotient_by_root(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *root = made_by(s, eqn->ins[1], JX_PRIM_sqrt);

    return root ? jx_math_2(s->body, JX_PRIM_mul, eqn->ins[0],
                            jx_math_1(s->body, JX_PRIM_rsqrt, root->ins[0]))
                : none;
}

static jx_atom quotient_by_power(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *power = made_by(s, eqn->ins[1], JX_PRIM_pow);

    if (!power || !jx_dtype_is_float(jx_atom_aval(power->ins[1])->dtype))
        return none;
    s->matters = true;
    return jx_math_2(s->body, JX_PRIM_mul, eqn->ins[0],
                     jx_math_2(s->body, JX_PRIM_pow, power->ins[0],
                               jx_math_1(s->body, JX_PRIM_neg, power->ins[1])));
}

static jx_atom quotient_by_number(simplifier *s, const jx_eqn *eqn)
{
    double c;

    if (!is_number(s, eqn->ins[1], &c) || c == 0 ||
        is_number(s, eqn->ins[0], &c))
        return none;
    is_number(s, eqn->ins[1], &c);
    return jx_math_2(
        s->body, JX_PRIM_mul, eqn->ins[0],
        jx_math_number(s->body, eqn->ins[0], rounded(eqn->ins[0], 1 / c)));
}

static jx_atom log_of_exp(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *power = made_by(s, eqn->ins[0], JX_PRIM_exp);

    return power ? power->ins[0] : none;
}

static jx_atom log_of_root(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *root = made_by(s, eqn->ins[0], JX_PRIM_sqrt);

    return root ? jx_math_times(s->body,
                                jx_math_1(s->body, JX_PRIM_log, root->ins[0]),
                                0.5)
                : none;
}

static jx_atom log_of_power(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *power = made_by(s, eqn->ins[0], JX_PRIM_pow);
    jx_atom y, logs, zero;

    if (!power || !fits(power->ins[0], power->ins[1]))
        return none;
    y = power->ins[1];
    logs = jx_math_1(s->body, JX_PRIM_log,
                     jx_math_1(s->body, JX_PRIM_abs, power->ins[0]));
    zero = jx_math_2(s->body, JX_PRIM_eq, y, jx_math_number(s->body, y, 0));
    return jx_math_where(s->body, zero, jx_math_all(s->body, y, 0),
                         jx_math_2(s->body, JX_PRIM_mul, logs, y));
}

static jx_atom power_of_exp(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *power = made_by(s, eqn->ins[0], JX_PRIM_exp);

    if (!power ||
        jx_atom_aval(eqn->ins[1])->dtype != jx_atom_aval(eqn->ins[0])->dtype)
        return none;
    s->matters = true;
    return jx_math_1(
        s->body, JX_PRIM_exp,
        jx_math_2(s->body, JX_PRIM_mul, power->ins[0], eqn->ins[1]));
}

static jx_atom root_of_square(simplifier *s, const jx_eqn *eqn)
{
    const jx_eqn *square = made_by(s, eqn->ins[0], JX_PRIM_mul);
    const jx_eqn *same = made_by(s, eqn->ins[0], JX_PRIM_square);

    if (square && square->ins[0].var &&
        square->ins[0].var == square->ins[1].var)
        return jx_math_1(s->body, JX_PRIM_abs, square->ins[0]);
    return same ? jx_math_1(s->body, JX_PRIM_abs, same->ins[0]) : none;
}

/* -- all of them ----------------------------------------------------------- */

enum { STILL = 1000000 };

typedef struct row {
    jx_prim_id prim;
    int until;
    jx_atom (*make)(simplifier *s, const jx_eqn *eqn);
} row;

static const row rows[] = {
#define XLA(name, prim, until, was, now) {JX_PRIM_##prim, until, name},
#include "analyzer/transform/xla.def"
#undef XLA
};

/* An equation that is about to be added; false: *atoms is in its place. */
static bool look(jx_body *b, jx_eqn *eqn, jx_atom *atoms)
{
    simplifier *s = jx_followed_with(b);
    jx_body *around = s->body;
    jx_eqn *kept;
    jx_dtype dtype = eqn->nouts == 1 ? atoms[0].var->aval->dtype : JX_DT_NONE;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        jx_atom made;
        if (rows[i].prim != eqn->prim->id || s->release > rows[i].until ||
            (dtype != JX_F32 && dtype != JX_F64) || s->depth == MOST_DEPTH)
            continue;
        s->body = b;
        s->depth++;
        made = rows[i].make(s, eqn);
        s->depth--;
        s->body = around;
        if (!jx_is_made(made) ||
            !jx_aval_same_values(jx_atom_aval(made), atoms[0].var->aval))
            continue;
        s->any = true;
        atoms[0] = made;
        return false;
    }
    kept = jx_arena_copy(b->in->program->ctx->arena, eqn, sizeof *eqn);
    for (int i = 0; kept && i < eqn->nouts; i++)
        jx_map_put(&s->made, atoms[i].var, kept);
    return true;
}

/* Of "0.10.2": 10; 0: it is not known. */
static int release_of(const char *version)
{
    return version && strncmp(version, "0.", 2) == 0 ? atoi(version + 2)
           : version                                 ? STILL
                                                     : 0;
}

jx_program *jx_program_as_xla(jx_program *program, bool *matters)
{
    simplifier s = {.release = release_of(program->jax_version)};
    jx_program *made;

    jx_map_init(&s.made, program->ctx->arena);
    made = jx_program_follow(program, look, &s);
    *matters = s.matters;
    return made && !s.any ? program : made;
}
