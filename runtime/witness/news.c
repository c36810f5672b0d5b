/* news.c - see parts.h: what is worth telling where nothing is declared.
 *
 * Two things are.  A result that has a value, which the program misses for its
 * way to compute it: in double it is there.  And a domain that inputs leave
 * which every function of this kind has to bear, if it is not the domain of the
 * function itself (implied.h).  What a call of a library makes of inputs as
 * they are is the library's business. */
#include "runtime/witness/parts.h"

#include "runtime/elementwise.h"
#include "runtime/witness/implied.h"

#include <math.h>

void jx_hunt_hand_over(const jx_hunt *h, jx_callee *to)
{
    for (int i = 0; i < h->run.nins; i++) {
        const jx_port *have = jx_plan_in(h->run.plan, i),
                      *want = jx_plan_in(to->plan, i);
        jx_convert(have->dtype, want->dtype, h->run.in[i], to->in[i],
                   have->count);
    }
}

bool jx_hunt_spend(jx_hunt *h, jx_callee *f)
{
    bool ok;

    if (h->operations <= 0)
        return false;
    jx_exec_limit(f->exec, h->operations);
    ok = jx_callee_run(f);
    h->operations -= jx_exec_operations(f->exec) + 1 + h->weight;
    return ok;
}

/* -- what has a value ------------------------------------------------------ */

static bool open_wide(jx_hunt *h)
{
    jx_plan_options how = {.domain = JX_WIDE, .memory = h->options->memory};

    if (h->wide.plan || h->wide_failed)
        return h->wide.plan;
    h->wide_watch = how.watch = JX_NEW(h->program->ctx->arena, jx_watch);
    if (!how.watch ||
        !jx_callee_open(&h->wide, h->typed, &h->program->entry, &how)) {
        jx_callee_close(&h->wide);
        h->wide_failed = true;
        jx_error_clear(h->program->ctx);
    }
    return h->wide.plan;
}

enum { PIECE = 128 };

/* Some element is not finite that is, and fits, in double. */
static bool is_missed(const jx_port *port, const char *declared,
                      const double *wide)
{
    double values[PIECE], largest = jx_largest_finite(port->dtype);
    size_t size = jx_dtype_of(port->dtype)->bytes;

    for (int64_t at = 0; at < port->count; at += PIECE) {
        int64_t n = port->count - at < PIECE ? port->count - at : PIECE;
        jx_convert(port->dtype, JX_F64, declared + (size_t)at * size, values,
                   n);
        for (int64_t i = 0; i < n; i++)
            if (!isfinite(values[i]) && fabs(wide[at + i]) < largest)
                return true;
    }
    return false;
}

static bool has_value(jx_hunt *h, int out, int nothers,
                      const jx_eqn *const *others)
{
    const jx_port *port = jx_plan_out(h->run.plan, out);

    if (jx_dtype_is_complex(port->dtype) || !open_wide(h))
        return false;
    *h->wide_watch = (jx_watch){.nexcused = nothers};
    for (int i = 0; i < nothers; i++)
        h->wide_watch->excused[i] = others[i];
    jx_hunt_hand_over(h, &h->wide);
    return jx_hunt_spend(h, &h->wide) &&
           is_missed(port, jx_exec_out(h->run.exec, out),
                     jx_exec_out(h->wide.exec, out));
}

/* An output misses a value.  Nothing in double is worse than finite, so
 * that excuses change nothing there; where something is, that is not known,
 * nor asked again. */
static bool misses(jx_hunt *h)
{
    if (h->wide_spoiled)
        return true;
    if (!open_wide(h))
        return false;
    *h->wide_watch = (jx_watch){0};
    jx_hunt_hand_over(h, &h->wide);
    if (!jx_hunt_spend(h, &h->wide))
        return false;
    h->wide_spoiled = h->wide_watch->nroots || h->wide_watch->nan.eqn;
    if (h->wide_spoiled)
        return true;
    for (int i = 0; i < h->run.nouts; i++) {
        const jx_port *port = jx_plan_out(h->run.plan, i);
        if (jx_dtype_is_float(port->dtype) &&
            is_missed(port, jx_exec_out(h->run.exec, i),
                      jx_exec_out(h->wide.exec, i)))
            return true;
    }
    return false;
}

/* -- whose domain it is ---------------------------------------------------- */

static bool is_quotient(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_div || eqn->prim->id == JX_PRIM_rem;
}

/* It multiplies by zero what the logarithm of zero gives: x
 * log(x) has a limit. */
static bool is_log_of_weight(const jx_hunt *h, const jx_unfinite *root, int out)
{
    jx_unfinite found;

    return root->eqn->prim->id == JX_PRIM_log && root->eqn->nins == 1 &&
           jx_port_find_unfinite(jx_plan_out(h->run.plan, out),
                                 jx_exec_out(h->run.exec, out), &found) &&
           h->watch->nan.eqn && h->watch->nan.eqn->prim->id == JX_PRIM_mul;
}

static bool is_root(const jx_hunt *h, const jx_eqn *eqn)
{
    double exponent;

    if (eqn->prim->id == JX_PRIM_pow)
        return jx_origin_number(&h->origins, eqn->ins[1], &exponent) &&
               exponent > 0 && exponent < 1;
    return eqn->prim->id == JX_PRIM_sqrt;
}

/* 0 / 0, where the divisor is a root of squares that vanish
 * with the dividend. */
static bool is_over_own_root(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_eqn *root = jx_origin_eqn(&h->origins, eqn->ins[1]);

    return root && is_root(h, root) &&
           jx_root_vanishes_with(&h->origins, root->ins[0], eqn->ins[0]);
}

/* The same as a product: 0 times rsqrt(0). */
static bool is_times_own_root(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_eqn *product = h->watch->nan.eqn;
    int root;

    if (eqn->prim->id != JX_PRIM_rsqrt || !product ||
        product->prim->id != JX_PRIM_mul)
        return false;
    root = jx_origin_eqn(&h->origins, product->ins[0]) == eqn ? 0 : 1;
    return jx_origin_eqn(&h->origins, product->ins[root]) == eqn &&
           jx_root_vanishes_with(&h->origins, eqn->ins[0],
                                 product->ins[1 - root]);
}

static bool is_implied(const jx_hunt *h, const jx_unfinite *root, int out)
{
    const jx_eqn *eqn = root->eqn;
    double value;

    if (is_quotient(eqn)) {
        /* Zero whatever the inputs are: no input could have been meant
         * to keep it away. */
        if (!jx_origin_varies(&h->origins, eqn->ins[1]))
            return false;
        jx_convert(root->value.dtype, JX_F64, root->value.bits, &value, 1);
        return jx_domain_is_implied(&h->origins, eqn, 1) &&
               !(isnan(value) && (jx_domain_has_limit(&h->origins, eqn) ||
                                  is_over_own_root(h, eqn)));
    }
    if (is_log_of_weight(h, root, out) || is_times_own_root(h, eqn))
        return false;
    /* A system has a solution or not by its matrix alone. */
    for (int i = 0;
         i < eqn->nins && !(i && eqn->prim->id == JX_PRIM_triangular_solve);
         i++)
        if (!jx_domain_is_implied(&h->origins, eqn, i))
            return false;
    return true;
}

/* How near to singular a matrix is that large numbers make, is not the
 * program's fault. */
bool jx_eqn_is_of_matrices(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_cholesky:
    case JX_PRIM_lu:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_tridiagonal_solve: return true;
    default: return false;
    }
}

static bool is_product(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_dot_general ||
           eqn->prim->id == JX_PRIM_conv_general_dilated;
}

/* It multiplies what products gave, or a turn of a loop; or adds up what so
 * came about. */
static bool is_of_products(const jx_hunt *h, const jx_eqn *eqn)
{
    bool again = is_product(eqn);
    jx_origin_walk w;
    const jx_origin *origin;

    jx_origin_walk_from(&w, &h->origins, eqn->nins, eqn->ins);
    while ((origin = jx_origin_walk_on(&w))) {
        if (origin->carried)
            return true;
        if (origin->eqn && is_product(origin->eqn) &&
            (again || is_of_products(h, origin->eqn)))
            return true;
    }
    return false;
}

static bool may_grow(const jx_eqn *eqn)
{
    return is_product(eqn) || eqn->prim->id == JX_PRIM_reduce_sum;
}

/* What it gives is not far larger than what it takes, nor than what it
 * multiplies. */
static bool is_polynomial(const jx_eqn *eqn)
{
    const jx_p_integer_pow *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_integer_pow: return p && p->y > 0;
    case JX_PRIM_mul:
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_sub:
    case JX_PRIM_neg:
    case JX_PRIM_square: return true;
    default: return false;
    }
}

static bool is_bounded(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tanh:
    case JX_PRIM_logistic:
    case JX_PRIM_erf:
    case JX_PRIM_abs:
    case JX_PRIM_sign:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp:
    case JX_PRIM_select_n: return true;
    default:
        return jx_eqn_moves(eqn) || jx_bodies_of(eqn) || !eqn->nins ||
               eqn->outs[0]->aval->dtype == JX_BOOL;
    }
}

/* Whether both operands of a product vary is asked a few times: each time
 * takes a walk as long as this one. */
enum { MANY_PRODUCTS = 8, MOST_ASKED = 16 };

static bool multiplies(const jx_hunt *h, const jx_eqn *eqn, int *asked)
{
    if (eqn->prim->id == JX_PRIM_integer_pow || eqn->prim->id == JX_PRIM_square)
        return true;
    return eqn->prim->id == JX_PRIM_mul &&
           !jx_origin_literal(&h->origins, eqn->ins[0]) &&
           !jx_origin_literal(&h->origins, eqn->ins[1]) &&
           ++*asked <= MOST_ASKED &&
           jx_origin_varies(&h->origins, eqn->ins[0]) &&
           jx_origin_varies(&h->origins, eqn->ins[1]);
}

/* Turn by turn, or step by step, numbers of ordinary size grow beyond all
 * bounds: how far a recurrence goes is up to factors that nobody chose. */
static bool grows_by_steps(const jx_hunt *h, const jx_eqn *eqn)
{
    jx_origin_walk w;
    const jx_origin *origin;
    int products = 0, asked = 0;
    bool carried = false;

    if (!is_polynomial(eqn) || eqn->outs[0]->aval->dtype == JX_F16)
        return false;
    jx_origin_walk_from(&w, &h->origins, eqn->nins, eqn->ins);
    while ((origin = jx_origin_walk_on(&w))) {
        const jx_eqn *from = origin->eqn;
        carried |= origin->carried;
        if (!from)
            continue;
        if (!is_polynomial(from) && !is_bounded(from) && !may_grow(from))
            return false;
        products += products < MANY_PRODUCTS && multiplies(h, from, &asked);
    }
    return carried || products >= MANY_PRODUCTS;
}

/* The root whose derivative it is. */
static int divisor_of(const jx_eqn *eqn)
{
    return is_quotient(eqn) ? 1 : 0;
}

/* Known without a run: what one expression says alone is its own matter, and to
 * what products grow of weights that are all large, or of many that nobody
 * chose for that, is not the program's fault, either. */
static bool is_nobodys(const jx_hunt *h, const jx_eqn *eqn)
{
    if (h->options->unasked ||
        (!h->gradient && jx_expression_is_alone(&h->origins, eqn)))
        return true;
    if (grows_by_steps(h, eqn))
        return true;
    return may_grow(eqn) &&
           ((is_product(eqn) && !h->plain.modest) || is_of_products(h, eqn));
}

bool jx_hunt_is_news(jx_hunt *h, const jx_unfinite *root, jx_code code, int out,
                     int nothers, const jx_eqn *const *others)
{
    bool implied;

    switch (code) {
    case JX_CODE_NUM002: return jx_hunt_is_masked_elsewhere(h, root->eqn);
    case JX_CODE_NUM003:
        return !h->options->unasked ||
               !jx_domain_is_implied(&h->origins, root->eqn,
                                     divisor_of(root->eqn));
    case JX_CODE_NUM009:
        return h->plain.modest &&
               !jx_expression_is_alone(&h->origins, root->eqn);
    default:
        if (is_nobodys(h, root->eqn))
            return false;
    }
    implied = is_implied(h, root, out);
    if (h->plain.modest && (!implied || jx_hunt_is_slope(h, root->eqn)))
        return true;
    if (jx_eqn_is_of_matrices(root->eqn))
        return false;
    return !(h->plain.degenerate && h->plain.modest && implied) &&
           has_value(h, out, nothers, others);
}

/* More is finite once zeros that a choice made stay zeros. */
static bool is_mended_by_zeros(jx_hunt *h)
{
    int64_t before = jx_hunt_absorbs(h) ? jx_hunt_count_bad(h) : 0;

    return jx_hunt_absorbs(h) && jx_hunt_run(h, true, 0, NULL) &&
           jx_hunt_count_bad(h) < before;
}

bool jx_hunt_may_be_news(jx_hunt *h, int nroots, const jx_unfinite *roots)
{
    bool any = jx_hunt_absorbs(h);

    if (h->plain.modest)
        return true;
    for (int i = 0; i < nroots; i++) {
        if (jx_hunt_is_slope_of_root(h, &roots[i]))
            return true;
        any = any || !(is_nobodys(h, roots[i].eqn) ||
                       jx_eqn_is_of_matrices(roots[i].eqn));
    }
    return any && (misses(h) || is_mended_by_zeros(h));
}

/* -- what an infinity hides ------------------------------------------------ */

/* The least number of full precision of float16: below it nothing is missed. */
static const double least_of_half = 0x1p-14;

/* Some element, and which, is finite and far from what it is in double; the
 * dtype holds that. */
static bool is_far(const jx_port *port, const char *declared,
                   const double *wide, jx_witness *to, int64_t *element)
{
    double values[PIECE], largest = jx_largest_finite(port->dtype);
    size_t size = jx_dtype_of(port->dtype)->bytes;

    for (int64_t at = 0; at < port->count; at += PIECE) {
        int64_t n = port->count - at < PIECE ? port->count - at : PIECE;
        jx_convert(port->dtype, JX_F64, declared + (size_t)at * size, values,
                   n);
        for (int64_t i = 0; i < n; i++) {
            *element = at + i;
            to->gave = values[i];
            to->is = wide[at + i];
            if (fabs(to->is) <= largest && fabs(to->is) >= least_of_half &&
                fabs(to->is - to->gave) > fabs(to->is) / 2)
                return true;
        }
    }
    return false;
}

/* What is infinite in double, too, the arm that a choice leaves out, made
 * nothing of that element. */
static bool is_sure(jx_hunt *h, const jx_witness *w, int64_t element)
{
    jx_watch then = {.nexcused = h->wide_watch->nroots};

    if (!then.nexcused)
        return true;
    for (int i = 0; i < then.nexcused; i++)
        then.excused[i] = h->wide_watch->roots[i].eqn;
    *h->wide_watch = then;
    return jx_hunt_spend(h, &h->wide) &&
           ((const double *)jx_exec_out(h->wide.exec, w->out))[element] ==
               w->is;
}

static bool is_far_off(jx_hunt *h, jx_witness *to, int64_t *element)
{
    if (!open_wide(h))
        return false;
    *h->wide_watch = (jx_watch){0};
    jx_hunt_hand_over(h, &h->wide);
    if (!jx_hunt_spend(h, &h->wide))
        return false;
    for (to->out = 0; to->out < h->run.nouts; to->out++) {
        const jx_port *port = jx_plan_out(h->run.plan, to->out);
        if (jx_dtype_is_float(port->dtype) &&
            is_far(port, jx_exec_out(h->run.exec, to->out),
                   jx_exec_out(h->wide.exec, to->out), to, element))
            return is_sure(h, to, *element);
    }
    return false;
}

/* Whether that element is what it was, once those are excused. */
static bool stays(jx_hunt *h, const jx_witness *w, int64_t element,
                  int nexcused, const jx_eqn *const *excused)
{
    const jx_port *port = jx_plan_out(h->run.plan, w->out);
    size_t size = jx_dtype_of(port->dtype)->bytes;
    const char *data;
    double value;

    if (!jx_hunt_run(h, false, nexcused, excused))
        return false;
    data = jx_exec_out(h->run.exec, w->out);
    jx_convert(port->dtype, JX_F64, data + (size_t)element * size, &value, 1);
    return value == w->gave;
}

/* Adds roots of the last run to those that are excused; whether there were
 * any. */
static bool excuse_more(const jx_hunt *h, int *count, const jx_eqn **excused)
{
    int before = *count;

    for (int i = 0; i < h->watch->nroots && *count < JX_EXCUSED; i++) {
        const jx_unfinite *root = &h->watch->roots[i];
        if (root->value.dtype == JX_F16)
            excused[(*count)++] = root->eqn;
    }
    return *count > before;
}

/* Of these the first that makes the element what it is with all others
 * excused; what an output has rounded away, or a choice left out, is the matter
 * of none of them: -1.  Where squares are excused, their sum may overflow
 * alone, and is excused, too. */
static int find_hidden(jx_hunt *h, const jx_witness *w, int64_t element,
                       int nroots, const jx_unfinite *roots)
{
    enum { ROUNDS = 4 };
    const jx_eqn *excused[JX_EXCUSED];
    int count = nroots, rounds = 0;

    for (int i = 0; i < nroots; i++)
        excused[i] = roots[i].eqn;
    while (stays(h, w, element, count, excused))
        if (++rounds == ROUNDS || !excuse_more(h, &count, excused))
            return -1;
    if (h->operations <= 0)
        return -1;
    if (nroots == 1)
        return 0;
    for (int i = 0; i < nroots; i++) {
        excused[i] = excused[count - 1];
        if (stays(h, w, element, count - 1, excused))
            return i;
        excused[i] = roots[i].eqn;
    }
    return -1;
}

/* What the program asks of it, or of a NaN that comes of it, it may well
 * answer: a step that is left out where gradients are not finite. */
static bool is_asked(const jx_hunt *h, const jx_eqn *eqn)
{
    for (size_t i = 0; i < h->asked.count; i++)
        if (jx_origin_reaches(&h->origins, h->asked.at[i], eqn))
            return true;
    return false;
}

static bool is_infinite(const jx_hunt *h, jx_atom atom)
{
    double value;

    return jx_origin_number(&h->origins, atom, &value) && isinf(value);
}

void jx_hunt_look_at_hiding(jx_hunt *h, const jx_eqn *eqn)
{
    jx_arena *arena = h->program->ctx->arena;

    for (int i = 0; i < eqn->nouts; i++)
        h->halves |= eqn->outs[i]->aval->dtype == JX_F16;
    switch (eqn->prim->id) {
    case JX_PRIM_is_finite: JX_PUSH(arena, &h->asked, eqn->ins[0]); break;
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
        for (int i = 0; i < 2; i++)
            if (is_infinite(h, eqn->ins[1 - i]) ||
                (eqn->ins[i].var && eqn->ins[i].var == eqn->ins[1 - i].var))
                JX_PUSH(arena, &h->asked, eqn->ins[i]);
        break;
    default: break;
    }
}

bool jx_hunt_may_hide(const jx_hunt *h)
{
    return h->plain.squareless || (!h->options->plain && !h->flushed &&
                                   h->halves && !h->options->unasked);
}

/* Known without a run, as in is_nobodys(); where ranges are declared, inputs
 * were chosen. */
static bool is_own_matter(const jx_hunt *h, const jx_eqn *eqn)
{
    return h->options->plain &&
           ((!h->gradient && jx_expression_is_alone(&h->origins, eqn)) ||
            is_product(eqn) || is_of_products(h, eqn));
}

void jx_hunt_weigh_hidden(jx_hunt *h)
{
    jx_unfinite roots[JX_WATCHED_ROOTS];
    jx_witness w = {.code = JX_CODE_NUM004,
                    /* inputs may never be so large, if nobody says so */
                    .level = h->options->plain ? JX_NOTE : JX_WARNING,
                    .compiled = h->options->compiled,
                    .hidden = true,
                    .ninputs = h->run.nins};
    int nroots = 0, found;
    int64_t element;

    for (int i = 0; i < h->watch->nroots; i++) {
        const jx_unfinite *root = &h->watch->roots[i];
        if (jx_hunt_knows(h, root->eqn))
            return;
        if (root->value.dtype == JX_F16 && !is_asked(h, root->eqn) &&
            !is_own_matter(h, root->eqn))
            roots[nroots++] = *root;
    }
    if (h->options->unasked || !nroots || !is_far_off(h, &w, &element))
        return;
    found = find_hidden(h, &w, element, nroots, roots);
    if (found < 0)
        return;
    w.made = roots[found];
    w.stack = jx_origin_stack(&h->origins, w.made.eqn);
    w.inputs = jx_hunt_inputs(h);
    if (w.inputs)
        JX_PUSH(h->program->ctx->arena, &h->to->found, w);
}
