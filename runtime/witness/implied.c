/* implied.c - see implied.h. */
#include "runtime/witness/implied.h"

#include "frontend/ir/params.h"

/* A value is, from the least to the most that is known of it: */
typedef enum made {
    FIXED,   /* of no input */
    TAKEN,   /* an input, in other places */
    FOLLOWS, /* a function of one input, element by element */
    /* of several inputs, by operations that vanish where one of them does */
    MIXED,
    COMPUTED, /* of anything else */
} made;

typedef struct source {
    made made;
    const jx_var *input; /* of TAKEN and FOLLOWS */
    bool moved;          /* elements lie in other places than its own */
} source;

enum { DEPTH = 200 };

/* A question about the operands of one equation. */
typedef struct asked {
    const jx_origins *of;
    const jx_eqn *whole;
    int operand;  /* of it */
    jx_map known; /* from variables to sources */
} asked;

static source source_of(asked *q, jx_atom atom, int depth);

/* What operations of two values that vary make. */
static source join(const jx_eqn *eqn, source a, source b)
{
    source to = {.made = COMPUTED};
    bool same = a.input && a.input == b.input && !a.moved && !b.moved;

    if (a.made == FIXED || b.made == FIXED) {
        to = a.made == FIXED ? b : a;
        to.made = to.made == TAKEN ? FOLLOWS : to.made;
        return to;
    }
    if (a.made == COMPUTED || b.made == COMPUTED)
        return to;
    if (same)
        return (source){FOLLOWS, a.input, false};
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_mul:
    case JX_PRIM_div:
    case JX_PRIM_pow:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_add_any: to.made = MIXED; break;
    default: break;
    }
    return to;
}

/* The same expression of the user's: whatever it does is one step. */
static source of_expression(asked *q, const jx_eqn *eqn, int depth)
{
    source to = {.made = FIXED};

    for (int i = 0; i < eqn->nins; i++) {
        source next = source_of(q, eqn->ins[i], depth + 1);
        if (next.made == COMPUTED)
            return next;
        if (next.made != FIXED)
            to = to.made == FIXED ? (source){FOLLOWS, next.input, true}
                                  : (source){.made = MIXED};
    }
    return to;
}

/* The number that makes the operand in question 0: L of L - x, -L of x + L. */
static double zero_of(const asked *q)
{
    const jx_eqn *eqn = jx_origin_eqn(q->of, q->whole->ins[q->operand]);
    double number;

    for (int i = 0; eqn && i < 2; i++) {
        if (eqn->prim->id != JX_PRIM_sub && eqn->prim->id != JX_PRIM_add)
            return 0;
        if (jx_origin_number(q->of, eqn->ins[i], &number))
            return eqn->prim->id == JX_PRIM_add ? -number : number;
    }
    return 0;
}

/* Where the function has a pole, at which all that lies beyond is put. */
static bool is_pole(const asked *q, const jx_eqn *eqn, double number)
{
    if (q->whole->prim->id == JX_PRIM_atanh)
        return number == (eqn->prim->id == JX_PRIM_max ? -1 : 1);
    return number == 0 ? eqn->prim->id == JX_PRIM_max : number == zero_of(q);
}

/* All that is below 0 becomes 0, or 1 what is above it, which nobody gave. */
static bool makes_poles(const asked *q, const jx_eqn *eqn)
{
    double number;

    if (eqn->prim->id != JX_PRIM_max && eqn->prim->id != JX_PRIM_min)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (jx_origin_number(q->of, eqn->ins[i], &number) &&
            is_pole(q, eqn, number))
            return true;
    return false;
}

static source of_elements(asked *q, const jx_eqn *eqn, int depth)
{
    int first = eqn->prim->id == JX_PRIM_select_n ? 1 : 0;
    source to = {.made = FIXED};

    if (makes_poles(q, eqn))
        return (source){.made = COMPUTED};
    for (int i = first; i < eqn->nins; i++)
        to = join(eqn, to, source_of(q, eqn->ins[i], depth + 1));
    return to;
}

static source found(asked *q, jx_atom atom, int depth)
{
    const jx_origin *origin = jx_origin_of(q->of, atom);
    const jx_eqn *eqn = origin ? origin->eqn : NULL;
    source to;

    if (!origin || origin->constant)
        return (source){.made = FIXED};
    if (depth > DEPTH || origin->carried)
        return (source){.made = COMPUTED};
    if (!eqn) {
        if (!origin->owner)
            return (source){TAKEN, atom.var, false};
        to = source_of(q, origin->given, depth + 1);
        to.moved = true;
        return to;
    }
    if (!eqn->nins)
        return (source){.made = FIXED};
    if (eqn != q->whole && jx_eqns_are_one(q->of, eqn, q->whole))
        return of_expression(q, eqn, depth);
    if (jx_eqn_moves(eqn)) {
        to = source_of(q, eqn->ins[0], depth + 1);
        to.moved |= eqn->prim->id != JX_PRIM_convert_element_type;
        return to;
    }
    if (jx_eqn_is_elementwise(eqn))
        return of_elements(q, eqn, depth);
    return (source){.made = jx_origin_varies(q->of, atom) ? COMPUTED : FIXED};
}

static source source_of(asked *q, jx_atom atom, int depth)
{
    const source *known = atom.var ? jx_map_get(&q->known, atom.var) : NULL;
    source *to;

    if (known)
        return *known;
    to = JX_NEW(q->known.arena, source);
    if (!to)
        return (source){.made = FIXED};
    *to = found(q, atom, depth);
    if (atom.var)
        jx_map_put(&q->known, atom.var, to);
    return *to;
}

static source asked_of(const jx_origins *of, const jx_eqn *eqn, int operand)
{
    asked q = {.of = of, .whole = eqn, .operand = operand};

    jx_map_init(&q.known, of->of.arena);
    return source_of(&q, eqn->ins[operand], 0);
}

bool jx_domain_is_implied(const jx_origins *of, const jx_eqn *eqn, int operand)
{
    return asked_of(of, eqn, operand).made != COMPUTED;
}

bool jx_domain_has_limit(const jx_origins *of, const jx_eqn *eqn)
{
    source a = asked_of(of, eqn, 0), b = asked_of(of, eqn, 1);

    return a.made == FOLLOWS && a.input && a.input == b.input;
}

/* What varies in a product with constants. */
static jx_atom without_factors(const jx_origins *of, jx_atom atom)
{
    const jx_origin *origin = jx_origin_of(of, atom);

    while (origin && origin->eqn && origin->eqn->prim->id == JX_PRIM_mul &&
           jx_origin_varies(of, origin->eqn->ins[0]) !=
               jx_origin_varies(of, origin->eqn->ins[1])) {
        atom =
            origin->eqn->ins[jx_origin_varies(of, origin->eqn->ins[0]) ? 0 : 1];
        origin = jx_origin_of(of, atom);
    }
    return atom;
}

/* The input of the program that an equation squares; NULL: it does
 * no such thing. */
static const jx_var *squared_input(const jx_origins *of, const jx_eqn *eqn)
{
    const jx_p_integer_pow *p = eqn->typed;
    bool squares = eqn->prim->id == JX_PRIM_square ||
                   (eqn->prim->id == JX_PRIM_integer_pow && p && p->y == 2);
    const jx_origin *origin;
    jx_atom base;

    if (!squares && eqn->prim->id != JX_PRIM_mul)
        return NULL;
    base = without_factors(of, eqn->ins[0]);
    if (!squares && without_factors(of, eqn->ins[1]).var != base.var)
        return NULL;
    origin = jx_origin_of(of, base);
    return origin && !origin->eqn && !origin->owner && !origin->constant
               ? base.var
               : NULL;
}

bool jx_root_vanishes_with(const jx_origins *of, jx_atom radicand,
                           jx_atom dividend)
{
    jx_origin_walk under, over;
    const jx_origin *origin;

    jx_origin_walk_from(&over, of, 1, &dividend);
    while (jx_origin_walk_on(&over))
        ;
    jx_origin_walk_from(&under, of, 1, &radicand);
    while ((origin = jx_origin_walk_on(&under))) {
        const jx_var *input =
            origin->eqn ? squared_input(of, origin->eqn) : NULL;
        if (input && jx_map_has(&over.seen, input))
            return true;
    }
    return false;
}

bool jx_expression_is_alone(const jx_origins *of, const jx_eqn *eqn)
{
    jx_origin_walk w;
    const jx_origin *origin;
    bool more = false;

    jx_origin_walk_from(&w, of, eqn->nins, eqn->ins);
    while ((origin = jx_origin_walk_on(&w))) {
        if (!origin->eqn || jx_eqn_moves(origin->eqn) || !origin->eqn->nins)
            continue;
        if (!jx_eqns_are_one(of, origin->eqn, eqn))
            return false;
        more = true;
    }
    return more;
}

/* select(i < 0, i, i + n). */
static bool counts_from_the_end(const jx_origins *of, const jx_eqn *eqn,
                                jx_atom *index)
{
    const jx_eqn *less = eqn->prim->id == JX_PRIM_select_n && eqn->nins == 3
                             ? jx_origin_eqn(of, eqn->ins[0])
                             : NULL;

    if (!less || less->prim->id != JX_PRIM_lt ||
        less->ins[0].var != eqn->ins[1].var || !jx_eqns_are_one(of, less, eqn))
        return false;
    *index = eqn->ins[1];
    return true;
}

bool jx_counts_from_the_end(const jx_origins *of, const jx_eqn *eqn)
{
    jx_atom index;

    return counts_from_the_end(of, eqn, &index);
}

bool jx_index_is_implied(const jx_origins *of, jx_atom index)
{
    const jx_origin *origin = jx_origin_of(of, index);

    for (int depth = 0; origin && depth < DEPTH; depth++) {
        const jx_eqn *eqn = origin->eqn;
        if (!eqn && !origin->owner)
            return !origin->constant;
        if (!eqn && origin->carried)
            return false;
        if (!eqn)
            index = origin->given;
        else if (!counts_from_the_end(of, eqn, &index)) {
            if (!jx_eqn_moves(eqn) || !eqn->nins)
                return false;
            index = eqn->ins[0];
        }
        origin = jx_origin_of(of, index);
    }
    return false;
}
