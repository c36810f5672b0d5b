/* cancel.c - see parts.h: mean(x * y) - mean(x) * mean(y), and what
 * is left of it. */
#include "runtime/witness/parts.h"

#include "analyzer/typing.h"
#include "frontend/ir/params.h"
#include "runtime/elementwise.h"

#include <math.h>
#include <string.h>

/* A value, moves passed by. */
static jx_atom unmoved(const jx_origins *of, jx_atom atom)
{
    for (const jx_origin *o = jx_origin_of(of, atom);
         o && o->eqn && jx_eqn_moves(o->eqn) && o->eqn->nins;
         o = jx_origin_of(of, atom))
        atom = o->eqn->ins[0];
    return atom;
}

/* The value of which this one is a multiple that the program says; moves
 * are passed by. */
static jx_atom unscaled(const jx_origins *of, jx_atom atom)
{
    for (;;) {
        atom = unmoved(of, atom);
        const jx_origin *o = jx_origin_of(of, atom);
        const jx_eqn *eqn = o ? o->eqn : NULL;
        if (!eqn)
            return atom;
        if ((eqn->prim->id == JX_PRIM_div || eqn->prim->id == JX_PRIM_mul) &&
            !jx_origin_varies(of, eqn->ins[1]))
            atom = eqn->ins[0];
        else if (eqn->prim->id == JX_PRIM_mul &&
                 !jx_origin_varies(of, eqn->ins[0]))
            atom = eqn->ins[1];
        else
            return atom;
    }
}

/* The same of a quotient by what varies, such as a count of a mask or a sum of
 * weights; `by` is that, or nothing. */
static jx_atom undivided(const jx_origins *of, jx_atom atom, jx_atom *by)
{
    const jx_origin *origin;

    *by = (jx_atom){0};
    atom = unscaled(of, atom);
    origin = jx_origin_of(of, atom);
    if (!origin || !origin->eqn || origin->eqn->prim->id != JX_PRIM_div)
        return atom;
    *by = unmoved(of, origin->eqn->ins[1]);
    return unscaled(of, origin->eqn->ins[0]);
}

/* What varies of what is multiplied, each as often as it is. */
enum { MOST_FACTORS = 16 };
typedef struct factors {
    int count;
    const jx_var *at[MOST_FACTORS];
} factors;

/* What a where leaves is what it chooses times its predicate. */
static bool is_masked(const jx_origins *of, const jx_eqn *eqn, jx_atom *kept)
{
    double number;

    for (int i = 1; i < 3 && eqn->nins == 3; i++)
        if (jx_origin_number(of, eqn->ins[i], &number) && number == 0) {
            *kept = eqn->ins[3 - i];
            return true;
        }
    return false;
}

/* False where there are too many. */
static bool multiply(const jx_origins *of, jx_atom atom, factors *to)
{
    const jx_origin *origin;
    const jx_eqn *eqn;
    jx_atom kept;

    atom = unscaled(of, atom);
    if (!jx_origin_varies(of, atom)) /* a kernel, or weights that are known */
        return true;
    origin = jx_origin_of(of, atom);
    eqn = origin ? origin->eqn : NULL;
    switch (eqn ? eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_mul:
        return multiply(of, eqn->ins[0], to) && multiply(of, eqn->ins[1], to);
    case JX_PRIM_square:
        return multiply(of, eqn->ins[0], to) && multiply(of, eqn->ins[0], to);
    case JX_PRIM_integer_pow:
        if (((const jx_p_integer_pow *)eqn->typed)->y == 2)
            return multiply(of, eqn->ins[0], to) &&
                   multiply(of, eqn->ins[0], to);
        break;
    case JX_PRIM_select_n:
        if (is_masked(of, eqn, &kept))
            return multiply(of, eqn->ins[0], to) && multiply(of, kept, to);
        break;
    default: break;
    }
    if (to->count == MOST_FACTORS)
        return false;
    to->at[to->count++] = atom.var;
    return true;
}

/* Takes one from the other, if it is all there. */
static bool without(factors *from, const factors *what)
{
    for (int i = 0; i < what->count; i++) {
        int k = 0;
        while (k < from->count && from->at[k] != what->at[i])
            k++;
        if (k == from->count)
            return false;
        from->at[k] = from->at[--from->count];
    }
    return true;
}

/* What a loop gives for a carry at the end of each turn, and the carry. */
static bool carried_of(const jx_origin *origin, jx_atom *end, jx_atom *carry)
{
    const jx_jaxpr *body = NULL;
    int first = 0;

    if (origin->eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = origin->eqn->typed;
        body = origin->number < scan->num_carry ? scan->jaxpr.jaxpr : NULL;
        first = (int)scan->num_consts;
    } else if (origin->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *loop = origin->eqn->typed;
        body = loop->body_jaxpr.jaxpr;
        first = (int)loop->body_nconsts;
    }
    if (!body || origin->number >= body->nouts ||
        first + origin->number >= body->nins)
        return false;
    *end = body->outs[origin->number];
    *carry =
        (jx_atom){.var = body->vars[body->nconsts + first + origin->number]};
    return true;
}

/* What a loop adds to a carry, or to a multiple of it, at each turn. */
static bool added_of(const jx_origins *of, const jx_origin *origin, jx_atom *to)
{
    jx_atom end, carry;
    const jx_origin *made;

    if (!carried_of(origin, &end, &carry))
        return false;
    made = jx_origin_of(of, unscaled(of, end));
    if (!made || !made->eqn || made->eqn->prim->id != JX_PRIM_add)
        return false;
    for (int i = 0; i < 2; i++)
        if (unscaled(of, made->eqn->ins[i]).var == carry.var) {
            *to = unscaled(of, made->eqn->ins[1 - i]);
            return to->var != NULL;
        }
    return false;
}

/* Sums over a window as differences of one cumulative sum. */
static bool rolled(const jx_origins *of, const jx_eqn *eqn, jx_atom *term)
{
    const jx_eqn *end = jx_origin_eqn(of, eqn->ins[0]),
                 *begin = jx_origin_eqn(of, eqn->ins[1]);

    if (!end || end != begin || end->prim->id != JX_PRIM_cumsum)
        return false;
    *term = end->ins[0];
    return true;
}

/* What is multiplied in each term of a multiple of a sum, and what the sum is
 * divided by. */
static bool summed(const jx_origins *of, jx_atom atom, factors *to, jx_atom *by)
{
    const jx_origin *origin = jx_origin_of(of, undivided(of, atom, by));
    const jx_eqn *eqn = origin ? origin->eqn : NULL;
    jx_atom term;

    *to = (factors){0};
    switch (eqn ? eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_unknown: return false;
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_dot_general:
        return multiply(of, eqn->ins[0], to) && multiply(of, eqn->ins[1], to);
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_window_sum: return multiply(of, eqn->ins[0], to);
    case JX_PRIM_sub: return rolled(of, eqn, &term) && multiply(of, term, to);
    default: return added_of(of, origin, &term) && multiply(of, term, to);
    }
}

/* The two factors of a multiple of a product, or of a square. */
static bool product_of(const jx_origins *of, jx_atom atom, jx_atom *a,
                       jx_atom *b)
{
    const jx_origin *origin = jx_origin_of(of, unscaled(of, atom));
    const jx_eqn *eqn = origin ? origin->eqn : NULL;

    if (!eqn || !eqn->nins)
        return false;
    *a = *b = eqn->ins[0];
    switch (eqn->prim->id) {
    case JX_PRIM_mul: *b = eqn->ins[1]; return true;
    case JX_PRIM_square: return true;
    case JX_PRIM_integer_pow:
        return ((const jx_p_integer_pow *)eqn->typed)->y == 2;
    default: return false;
    }
}

bool jx_hunt_cancels(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_origins *of = &h->origins;
    jx_atom a, b, by, by_a, by_b, by_both;
    factors inside, p, q, weights;

    if (eqn->prim->id != JX_PRIM_sub ||
        !jx_dtype_is_float(eqn->outs[0]->aval->dtype) ||
        !product_of(of, undivided(of, eqn->ins[1], &by_both), &a, &b) ||
        !summed(of, eqn->ins[0], &inside, &by) || !summed(of, a, &p, &by_a) ||
        !summed(of, b, &q, &by_b) || by.var != by_a.var || by.var != by_b.var ||
        (by.var && by_both.var) || p.count + q.count > MOST_FACTORS)
        return false;
    /* What both means are weighted with is there once. */
    weights = p;
    for (int i = 0; i < q.count; i++)
        weights.at[weights.count++] = q.at[i];
    return without(&weights, &inside) && weights.count < p.count &&
           weights.count < q.count && without(&p, &weights) &&
           without(&q, &weights);
}

static bool is_needed(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_jaxpr *entry = h->program->entry.jaxpr;

    for (int i = 0; i < entry->nouts; i++)
        if (jx_origin_reaches(&h->origins, entry->outs[i], eqn))
            return true;
    return false;
}

static bool opened(jx_hunt *h, jx_callee *f, jx_program *program,
                   jx_domain domain)
{
    const jx_plan_options how = {.domain = domain,
                                 .memory = h->options->memory};
    const jx_typed *typed = program ? jx_typed_of(program) : NULL;

    return typed && jx_callee_open(f, typed, &program->entry, &how) &&
           f->nouts == 2;
}

/* One element of the difference, in double. */
static double difference(const jx_callee *f, int64_t i)
{
    double parts[2];

    for (int k = 0; k < 2; k++) {
        const jx_port *port = jx_plan_out(f->plan, k);
        size_t size = jx_dtype_of(port->dtype)->bytes;
        jx_convert(port->dtype, JX_F64,
                   (const char *)jx_exec_out(f->exec, k) +
                       (port->count == 1 ? 0 : (size_t)i) * size,
                   &parts[k], 1);
    }
    return parts[0] - parts[1];
}

/* of what it is: by so much it may be off, and has lost most digits */
enum { PART = 50 };
/* One element alone may round to what it is: there are so many tries. */
enum { TRIES = 4 };

/* Whether there is a witness, or no more to spend. */
static bool compare(jx_hunt *h, const jx_site *site, jx_callee *declared,
                    jx_callee *wide)
{
    const jx_port *port = jx_plan_out(declared->plan, 0);
    const jx_port *other = jx_plan_out(declared->plan, 1);
    int64_t count = port->count > other->count ? port->count : other->count;
    jx_witness w = {.made.eqn = site->eqn,
                    .code = JX_CODE_NUM005,
                    .level = jx_code_of(JX_CODE_NUM005)->level};

    for (int i = 0; i < h->run.nins; i++)
        memcpy(declared->in[i], h->run.in[i],
               jx_plan_in(h->run.plan, i)->bytes);
    jx_hunt_hand_over(h, wide);
    if (!jx_hunt_spend(h, declared) || !jx_hunt_spend(h, wide))
        return true;
    for (int64_t i = 0; i < count; i++) {
        w.gave = difference(declared, i);
        w.is = difference(wide, i);
        if (!isfinite(w.gave) || !isfinite(w.is) ||
            !(fabs(w.gave - w.is) * PART > fabs(w.is)))
            continue;
        w.stack = jx_origin_stack(&h->origins, site->eqn);
        w.ninputs = h->run.nins;
        w.inputs = jx_hunt_inputs(h);
        if (w.inputs)
            JX_PUSH(h->program->ctx->arena, &h->to->found, w);
        return true;
    }
    return false;
}

static bool any_declared(const jx_hunt *h)
{
    for (int i = 0; i < h->run.nins; i++)
        if (h->held[i].declared && !h->held[i].whole)
            return true;
    return false;
}

void jx_hunt_weigh_difference(jx_hunt *h, const jx_site *site)
{
    jx_callee declared = {0}, wide = {0};
    jx_program *operands =
        is_needed(h, site->eqn) ? jx_hunt_operands(h, site, 0, 2) : NULL;

    if (operands && opened(h, &declared, operands, JX_DECLARED) &&
        opened(h, &wide, operands, JX_WIDE)) {
        bool done = false;
        int tries = any_declared(h) ? 2 * TRIES : TRIES;
        for (int i = 0; i < tries && !done; i++) {
            jx_hunt_fill_around(h, i >= TRIES);
            done = compare(h, site, &declared, &wide);
        }
    } else if (h->program->ctx->error.kind != JX_E_NONE) {
        jx_error_clear(h->program->ctx);
    }
    jx_callee_close(&declared);
    jx_callee_close(&wide);
}
