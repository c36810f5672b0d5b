/* cost.c - see cost.h.
 *
 * Every jaxpr is costed once, callees first, from its own equations; a call
 * adds what its callee costs.  Numbers stay numbers: a dim is made only where a
 * size is symbolic, so that a program of fixed sizes costs no interning. */
#include "analyzer/cost.h"

#include "analyzer/communication.h"
#include "analyzer/cost_rules.h"
#include "analyzer/overlap.h"
#include "frontend/base/assert.h"
#include "frontend/ir/mesh.h"
#include "frontend/sizes/sizes.h"

#include <string.h>

/* How many symbolic candidates for the peak are kept. */
enum { MOST_PEAKS = 12 };

/* A number, or a dim; `lost` beyond 128 bits. */
typedef struct amount {
    jx_int number;
    const jx_dim *dim; /* NULL: the number */
    bool lost;
} amount;

typedef JX_VEC(amount) amounts;

/* What one jaxpr costs.  `extra`: memory beyond inputs and constvars, at its
 * worst moments. */
typedef struct sent {
    amount times, bytes, messages, beside, down;
} sent;

typedef struct work {
    amount flops, transcendentals, moved;
} work;

typedef struct tally {
    work each, all; /* of one device; of all of them together */
    sent *sent;     /* by kind of collective; NULL: there is none */
    amounts extra;
    bool peak_lost;
} tally;

typedef struct coster {
    const jx_typed *typed;
    jx_program *program;
    jx_cost *cost;
    bool numbers;   /* of operations: what is none is lost */
    tally *tallies; /* per jaxpr */
    sent *spare;    /* of a tally that is no more, or NULL */
    const jx_dim *zero, *one;
    jx_sizes *sizes; /* integers of equations, as far as sizes say them */
    jx_overlap overlap;
    /* Per variable of the jaxpr that is looked at: */
    amount *size;   /* of what it shows */
    amount *bytes;  /* of its own */
    amounts device; /* candidates for the peak of one device */
    bool device_lost;
    int *last;            /* the equation that uses it or a view of it last */
    const jx_var **owner; /* per variable: the one whose memory it shows */
} coster;

static jx_dims *dims_of(const coster *c)
{
    return c->program->dims;
}

static amount of_int(jx_int number)
{
    return (amount){number, NULL, false};
}

static amount of_dim(const jx_dim *dim)
{
    amount a = {0, dim, !dim};

    if (dim && jx_dim_is_wide(dim, &a.number))
        a.dim = NULL;
    return a;
}

static const jx_dim *to_dim(const coster *c, amount a)
{
    return a.lost ? NULL : a.dim ? a.dim : jx_dim_wide(dims_of(c), a.number);
}

static amount plus(const coster *c, amount a, amount b)
{
    amount sum = {0};

    if (a.lost || b.lost)
        return (amount){.lost = true};
    if (!a.dim && !b.dim) {
        sum.lost = __builtin_add_overflow(a.number, b.number, &sum.number);
        return sum;
    }
    return of_dim(jx_dim_add(dims_of(c), to_dim(c, a), to_dim(c, b)));
}

static bool is_none(amount a)
{
    return !a.lost && !a.dim && a.number == 0;
}

static amount minus(const coster *c, amount a, amount b)
{
    amount rest = {0};

    if (a.lost || b.lost)
        return (amount){.lost = true};
    if (!a.dim && !b.dim) {
        rest.lost = __builtin_sub_overflow(a.number, b.number, &rest.number);
        return rest;
    }
    return of_dim(jx_dim_sub(dims_of(c), to_dim(c, a), to_dim(c, b)));
}

static amount times(const coster *c, amount a, amount b)
{
    amount product = {0};

    if (is_none(a) || is_none(b))
        return of_int(0);
    if (a.lost || b.lost)
        return (amount){.lost = true};
    if (!a.dim && !b.dim) {
        product.lost =
            __builtin_mul_overflow(a.number, b.number, &product.number);
        return product;
    }
    return of_dim(jx_dim_mul(dims_of(c), to_dim(c, a), to_dim(c, b)));
}

static work plus_work(const coster *c, work a, work b)
{
    return (work){plus(c, a.flops, b.flops),
                  plus(c, a.transcendentals, b.transcendentals),
                  plus(c, a.moved, b.moved)};
}

static work times_work(const coster *c, work a, amount often)
{
    return (work){times(c, a.flops, often), times(c, a.transcendentals, often),
                  times(c, a.moved, often)};
}

/* a is never below b. */
static bool covers(const coster *c, amount a, amount b)
{
    jx_dim_range r;
    const jx_dim *difference;

    if (!a.dim && !b.dim)
        return a.number >= b.number;
    difference = jx_dim_sub(dims_of(c), to_dim(c, a), to_dim(c, b));
    if (!difference)
        return false;
    r = jx_dim_bounds(difference, c->program->base);
    return r.has_low && r.low >= 0;
}

static amount larger(const coster *c, amount a, amount b)
{
    if (a.lost || b.lost)
        return (amount){.lost = true};
    if (covers(c, a, b))
        return a;
    if (covers(c, b, a))
        return b;
    return of_dim(jx_dim_max(dims_of(c), to_dim(c, a), to_dim(c, b)));
}

static work larger_work(const coster *c, work a, work b)
{
    return (work){larger(c, a.flops, b.flops),
                  larger(c, a.transcendentals, b.transcendentals),
                  larger(c, a.moved, b.moved)};
}

/* Keeps the candidate unless one is never below it; drops those that it is
 * never below.  False where it can't be kept. */
static bool keep_peak(const coster *c, amounts *peaks, amount a)
{
    size_t kept = 0;

    if (a.lost)
        return false;
    if (c->numbers)
        return true; /* of operations alone */
    for (size_t i = 0; i < peaks->count; i++)
        if (covers(c, peaks->at[i], a))
            return true;
    for (size_t i = 0; i < peaks->count; i++)
        if (!covers(c, a, peaks->at[i]))
            peaks->at[kept++] = peaks->at[i];
    peaks->count = kept;
    if (kept == MOST_PEAKS)
        return false;
    JX_PUSH(c->program->ctx->arena, peaks, a);
    return true;
}

/* ---- sizes */

static amount bytes_of(const coster *c, const jx_aval *aval)
{
    jx_int n = aval->kind == JX_AVAL_ARRAY ? (jx_int)jx_element_bytes(aval) : 0;
    int64_t extent;

    if (aval->kind != JX_AVAL_ARRAY)
        return of_dim(jx_aval_bytes(dims_of(c), aval));
    for (int i = 0; i < aval->rank; i++)
        if (!jx_dim_is_int(aval->shape[i], &extent) ||
            __builtin_mul_overflow(n, extent, &n))
            return of_dim(jx_aval_bytes(dims_of(c), aval));
    return of_int(n);
}

/* ---- loops */

/* The number, or the size, that a scalar is known to be; NULL. */
static const jx_dim *known_number(const coster *c, jx_atom atom)
{
    const jx_dim *const *known =
        jx_atom_aval(atom)->rank == 0 ? jx_sz_known(c->sizes, atom) : NULL;

    return known ? known[0] : NULL;
}

/* Which input of the jaxpr the variable is, or -1. */
static int input_of(const jx_jaxpr *jaxpr, const jx_var *var)
{
    int i = var ? var->id - jaxpr->nconsts : -1;

    return i >= 0 && i < jaxpr->nins ? i : -1;
}

static const jx_eqn *maker_of(const jx_jaxpr *jaxpr, const jx_var *var)
{
    for (int i = 0; var && i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nouts; k++)
            if (jaxpr->eqns[i].outs[k] == var)
                return &jaxpr->eqns[i];
    return NULL;
}

/* `carry` goes up by one: its value after a turn is itself plus the literal
 * 1. */
static bool counts_up(const coster *c, const jx_p_while *p, int carry)
{
    const jx_jaxpr *body = p->body_jaxpr.jaxpr;
    const jx_eqn *eqn = maker_of(body, body->outs[carry].var);
    int at = (int)p->body_nconsts + carry;

    if (!eqn || eqn->prim->id != JX_PRIM_add)
        return false;
    for (int k = 0; k < 2; k++) {
        const jx_dim *step = known_number(c, eqn->ins[1 - k]);

        if (input_of(body, eqn->ins[k].var) == at && step &&
            jx_dim_value(step) == 1)
            return true;
    }
    return false;
}

/* What the input of the condition is in every turn: a constant of it, or what
 * the body hands on as it is; NULL. */
static const jx_dim *kept_number(const coster *c, const jx_eqn *eqn, int i)
{
    const jx_p_while *p = eqn->typed;
    int carry = i - (int)p->cond_nconsts, at = (int)p->body_nconsts + carry;
    const jx_jaxpr *body = p->body_jaxpr.jaxpr;

    if (i < 0 || (carry >= 0 && input_of(body, body->outs[carry].var) != at))
        return NULL;
    return known_number(c, eqn->ins[carry < 0 ? i : (int)p->cond_nconsts + at]);
}

/* `for i in range(first, last)`: the condition is `i < last`, with `last` known
 * before the loop, the body adds 1 to i.  NULL if it is another loop. */
static const jx_dim *trips_of(const coster *c, const jx_eqn *eqn)
{
    const jx_p_while *p = eqn->typed;
    const jx_jaxpr *cond = p->cond_jaxpr.jaxpr;
    const jx_eqn *test = maker_of(cond, cond->outs[0].var);
    const jx_dim *first, *last;
    int i, carry;

    if (!test || test->prim->id != JX_PRIM_lt)
        return NULL;
    i = input_of(cond, test->ins[0].var);
    carry = i - (int)p->cond_nconsts;
    if (carry < 0 || !counts_up(c, p, carry))
        return NULL;
    last = known_number(c, test->ins[1]);
    if (!last)
        last = kept_number(c, eqn, input_of(cond, test->ins[1].var));
    first =
        known_number(c, eqn->ins[p->cond_nconsts + p->body_nconsts + carry]);
    if (!first || !last)
        return NULL;
    last = jx_dim_max(dims_of(c), jx_dim_sub(dims_of(c), last, first), c->zero);
    return last ? jx_sz_decided(c->sizes, last) : NULL;
}

/* A new variable for how often the loop runs. */
static const jx_dim *unknown_trips(coster *c, const jx_eqn *eqn)
{
    jx_ctx *ctx = c->program->ctx;
    const char *name =
        jx_arena_printf(ctx->arena, "trips%zu", c->cost->trips.count + 1);
    const jx_dim_atom *var =
        name ? jx_dim_var_atom(dims_of(c), jx_intern_text(ctx, name),
                               JX_TRIPS_SCOPE)
             : NULL;

    if (!var)
        return NULL;
    JX_PUSH(ctx->arena, &c->cost->trips, (jx_trips){var, eqn});
    return jx_dim_of_atom(dims_of(c), var);
}

/* ---- one equation */

static void add_peaks(coster *c, tally *to, const tally *from)
{
    for (size_t i = 0; i < from->extra.count; i++)
        if (!keep_peak(c, &to->extra, from->extra.at[i]))
            to->peak_lost = true;
    to->peak_lost |= from->peak_lost;
}

/* What a tally sends, with room for it; NULL without memory. */
static sent *open_sent(coster *c, tally *t)
{
    if (t->sent)
        return t->sent;
    t->sent = c->spare ? c->spare
                       : JX_NEW_ARRAY(c->program->ctx->arena,
                                      JX_COLLECTIVE_KINDS, sent);
    c->spare = NULL;
    return t->sent;
}

static void close_sent(coster *c, tally *t)
{
    if (!t->sent)
        return;
    memset(t->sent, 0, JX_COLLECTIVE_KINDS * sizeof *t->sent);
    c->spare = t->sent;
    t->sent = NULL;
}

static void add_sent(coster *c, tally *to, const sent *from, amount often)
{
    sent *all = from ? open_sent(c, to) : NULL;

    for (int k = 0; all && k < JX_COLLECTIVE_KINDS; k++) {
        sent *sum = &all[k];

        if (is_none(from[k].times))
            continue;
        sum->times = plus(c, sum->times, times(c, from[k].times, often));
        sum->bytes = plus(c, sum->bytes, times(c, from[k].bytes, often));
        sum->messages =
            plus(c, sum->messages, times(c, from[k].messages, often));
        sum->beside = plus(c, sum->beside, times(c, from[k].beside, often));
        sum->down = plus(c, sum->down, times(c, from[k].down, often));
    }
}

/* Of two branches, one of which is taken. */
static void larger_sent(coster *c, tally *to, const sent *other)
{
    sent *most = other ? open_sent(c, to) : NULL;

    for (int k = 0; most && k < JX_COLLECTIVE_KINDS; k++) {
        if (is_none(other[k].times))
            continue;
        most[k].times = larger(c, most[k].times, other[k].times);
        most[k].bytes = larger(c, most[k].bytes, other[k].bytes);
        most[k].messages = larger(c, most[k].messages, other[k].messages);
        most[k].beside = larger(c, most[k].beside, other[k].beside);
        most[k].down = larger(c, most[k].down, other[k].down);
    }
}

static void send(coster *c, tally *to, const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    jx_communication what;
    sent *sum;

    if (!jx_communication_of(c->program, eqn, &what) || !open_sent(c, to))
        return;
    sum = &to->sent[what.kind];
    sum->times = plus(c, sum->times, of_int(1));
    sum->bytes = plus(c, sum->bytes, of_dim(what.bytes));
    sum->messages = plus(c, sum->messages, of_int(what.messages));
    if (what.down)
        sum->down = plus(c, sum->down, of_dim(what.bytes));
    if (jx_runs_beside_product(&c->overlap, jaxpr, (int)(eqn - jaxpr->eqns)))
        sum->beside = plus(c, sum->beside, of_int(1));
}

/* A jaxpr that is run `often` times, by so many devices at once. */
static void add_callee(coster *c, tally *to, const jx_jaxpr *callee,
                       amount often, int64_t devices)
{
    const tally *t = &c->tallies[callee->id];

    to->each = plus_work(c, to->each, times_work(c, t->each, often));
    to->all = plus_work(
        c, to->all, times_work(c, t->all, times(c, often, of_int(devices))));
    add_sent(c, to, t->sent, often);
    add_peaks(c, to, t);
}

/* Of a body that combines elements only the operations count. */
static void add_body(coster *c, tally *to, const jx_jaxpr *body, amount often)
{
    work one = times_work(c, c->tallies[body->id].each, often);

    one.moved = of_int(0);
    to->each = plus_work(c, to->each, one);
    to->all = plus_work(c, to->all, one);
}

/* What a device has while it runs its part of a computation: its parts of the
 * operands, and what is made of them. */
static void note_device(coster *c, const jx_jaxpr *body, int64_t devices)
{
    const tally *t = &c->tallies[body->id];
    amount own = of_int(0);

    for (int i = 0; i < body->nconsts + body->nins; i++)
        own = plus(c, own, bytes_of(c, body->vars[i]->aval));
    c->device_lost |= t->peak_lost || !keep_peak(c, &c->device, own);
    for (size_t i = 0; i < t->extra.count; i++)
        c->device_lost |=
            !keep_peak(c, &c->device, plus(c, own, t->extra.at[i]));
    if (devices > c->cost->devices)
        c->cost->devices = devices;
}

/* By how many devices at once the equation has its jaxpr run: the axes
 * that it binds. */
static int64_t devices_of(const coster *c, const jx_eqn *eqn)
{
    const jx_mesh *mesh = jx_eqn_mesh(c->program, eqn);
    jx_axis_names names = {0};
    int64_t devices = 1;

    if (eqn->prim->id == JX_PRIM_shard_map)
        names = jx_newly_manual(c->program, eqn);
    else if (eqn->prim->id == JX_PRIM_sdy_manual_computation)
        names = ((const jx_p_manual_computation *)eqn->typed)->manual_axes;
    for (int i = 0; mesh && i < names.count; i++) {
        int axis = jx_mesh_axis(mesh, names.at[i]);
        if (axis >= 0 &&
            __builtin_mul_overflow(devices, mesh->sizes[axis], &devices))
            return 1;
    }
    return devices;
}

static void add_branches(coster *c, tally *to, jx_closed_list branches)
{
    tally most = {0};

    for (int i = 0; i < branches.count; i++) {
        const tally *t = &c->tallies[branches.at[i].jaxpr->id];

        most.each = larger_work(c, most.each, t->each);
        most.all = larger_work(c, most.all, t->all);
        larger_sent(c, &most, t->sent);
        add_peaks(c, to, t);
    }
    to->each = plus_work(c, to->each, most.each);
    to->all = plus_work(c, to->all, most.all);
    add_sent(c, to, most.sent, of_int(1));
    close_sent(c, &most);
}

static void add_while(coster *c, tally *to, const jx_eqn *eqn)
{
    const jx_p_while *p = eqn->typed;
    const jx_dim *trips = trips_of(c, eqn);
    amount n;

    trips = trips || c->numbers ? trips : unknown_trips(c, eqn);
    n = of_dim(trips);
    JX_PUSH(c->program->ctx->arena, &c->cost->loops,
            (jx_loop_turns){eqn, trips});

    add_callee(c, to, p->cond_jaxpr.jaxpr, plus(c, n, of_int(1)), 1);
    add_callee(c, to, p->body_jaxpr.jaxpr, n, 1);
}

/* The jaxprs among an equation's parameters, each once. */
static void add_nested(coster *c, tally *to, const jx_eqn *eqn,
                       const jx_costing *rule)
{
    amount often = of_dim(rule->often);
    int64_t devices = devices_of(c, eqn);

    for (int i = 0; i < eqn->nparams; i++) {
        const jx_value *v = eqn->params[i].value;

        if (v->tag != JX_V_JAXPR)
            continue;
        if (rule->body)
            add_body(c, to, v->jaxpr, often);
        else
            add_callee(c, to, v->jaxpr, often, devices);
        if (devices > 1)
            note_device(c, v->jaxpr, devices);
    }
}

static void note_uncounted(coster *c, const jx_eqn *eqn)
{
    for (size_t i = 0; i < c->cost->uncounted.count; i++)
        if (strcmp(c->cost->uncounted.at[i].name, jx_eqn_name(eqn)) == 0) {
            c->cost->uncounted.at[i].count++;
            return;
        }
    JX_PUSH(c->program->ctx->arena, &c->cost->uncounted,
            (jx_uncounted){jx_eqn_name(eqn), 1});
}

static void add_own(const coster *c, tally *to, work own)
{
    to->each = plus_work(c, to->each, own);
    to->all = plus_work(c, to->all, own);
}

/* What the equation itself does, and the jaxprs that it runs. */
static void add_work(coster *c, tally *to, const jx_jaxpr *jaxpr,
                     const jx_eqn *eqn, jx_costing *rule)
{
    *rule = (jx_costing){.dims = dims_of(c),
                         .eqn = eqn,
                         .flops = c->zero,
                         .transcendentals = c->zero,
                         .often = c->one};
    if (!jx_typed_accepts(c->typed, jaxpr, eqn)) {
        note_uncounted(c, eqn);
        return;
    }
    jx_sz_follow(c->sizes, eqn);
    jx_cost_rule_of(eqn->prim->id)(rule);
    if (rule->uncounted || jx_eqn_is_unknown(eqn))
        note_uncounted(c, eqn);
    send(c, to, jaxpr, eqn);
    add_own(c, to,
            (work){.flops = of_dim(rule->flops),
                   .transcendentals = of_dim(rule->transcendentals)});
    switch (eqn->prim->id) {
    case JX_PRIM_cond:
        add_branches(c, to, ((const jx_p_cond *)eqn->typed)->branches);
        break;
    case JX_PRIM_while: add_while(c, to, eqn); break;
    case JX_PRIM_custom_linear_solve:
        /* the other functions are for its derivatives */
        add_callee(c, to,
                   ((const jx_p_custom_linear_solve *)eqn->typed)
                       ->jaxprs.part[JX_SOLVE]
                       .jaxpr,
                   of_int(1), 1);
        break;
    default: add_nested(c, to, eqn, rule);
    }
}

/* ---- one jaxpr */

/* Its results take no memory of their own. */
static bool is_view(const jx_eqn *eqn)
{
    return jx_cost_rule_of(eqn->prim->id) == jx_cost_view;
}

/* The variable whose memory `var` shows. */
static const jx_var *owner_of(const coster *c, const jx_var *var)
{
    return c->owner[var->id];
}

static bool is_same(amount a, amount b)
{
    return a.dim == b.dim && (a.dim || a.number == b.number);
}

/* A result is memory of its own, also where it only shows another value: but
 * one that is made here and as large. */
static void hold_results(coster *c, const jx_jaxpr *jaxpr)
{
    int own = jaxpr->nconsts + jaxpr->nins;

    for (int i = 0; i < jaxpr->nouts; i++) {
        const jx_var *var = jaxpr->outs[i].var;
        const jx_var *owner = var ? owner_of(c, var) : NULL;

        if (!var || var->id < own ||
            (owner->id >= own &&
             is_same(c->bytes[owner->id], c->size[var->id])))
            continue;
        c->bytes[var->id] = c->size[var->id];
        c->owner[var->id] = var;
    }
}

/* Looks at a jaxpr's equations from the last: who needs what longest.  Outputs
 * live to the end, inputs belong to the caller. */
static void find_lives(coster *c, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->nvars; i++) {
        c->size[i] = c->bytes[i] = bytes_of(c, jaxpr->vars[i]->aval);
        c->owner[i] = jaxpr->vars[i];
        c->last[i] = -1;
    }
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];

        for (int k = 0; is_view(eqn) && k < eqn->nouts; k++) {
            int id = eqn->outs[k]->id;

            c->bytes[id] = of_int(0);
            if (k < eqn->nins && eqn->ins[k].var)
                c->owner[id] = owner_of(c, eqn->ins[k].var);
        }
    }
    hold_results(c, jaxpr);
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];

        for (int k = 0; k < eqn->nins; k++)
            if (eqn->ins[k].var)
                c->last[owner_of(c, eqn->ins[k].var)->id] = i;
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            c->last[owner_of(c, jaxpr->outs[i].var)->id] = jaxpr->neqns;
}

static amount moved_by(const coster *c, const jx_eqn *eqn)
{
    amount sum = of_int(0);

    for (int k = 0; k < eqn->nins; k++) {
        const jx_var *var = eqn->ins[k].var;
        sum = plus(c, sum,
                   var ? c->size[var->id]
                       : bytes_of(c, eqn->ins[k].literal->aval));
    }
    for (int k = 0; k < eqn->nouts; k++)
        sum = plus(c, sum, c->size[eqn->outs[k]->id]);
    return sum;
}

/* A caller's own operands and results are moved by its callees. */
static bool has_callee(const jx_eqn *eqn, const jx_costing *rule)
{
    if (rule->body)
        return false;
    for (int i = 0; i < eqn->nparams; i++) {
        const jx_value *v = eqn->params[i].value;

        if (v->tag == JX_V_JAXPR || (v->tag == JX_V_TUPLE && v->count &&
                                     v->items[0]->tag == JX_V_JAXPR))
            return true;
    }
    return false;
}

/* What an equation needs beside what lives already: its results, or all that
 * its callees have at their worst (which holds their results). */
static void note_moment(coster *c, tally *t, const tally *nested, amount live,
                        amount results)
{
    bool kept = keep_peak(c, &t->extra, plus(c, live, results));

    for (size_t i = 0; i < nested->extra.count; i++)
        kept &= keep_peak(c, &t->extra, plus(c, live, nested->extra.at[i]));
    t->peak_lost |= !kept || nested->peak_lost;
}

static amount freed_after(const coster *c, const jx_jaxpr *jaxpr,
                          const jx_eqn *eqn, int at)
{
    amount sum = of_int(0);
    int own = jaxpr->nconsts + jaxpr->nins;

    for (int k = 0; k < eqn->nins; k++) {
        const jx_var *var =
            eqn->ins[k].var ? owner_of(c, eqn->ins[k].var) : NULL;

        if (!var || var->id < own || c->last[var->id] != at)
            continue;
        sum = plus(c, sum, c->bytes[var->id]);
        c->last[var->id] = -1; /* an operand that is given twice, once */
    }
    for (int k = 0; k < eqn->nouts; k++)
        if (c->last[eqn->outs[k]->id] < at &&
            owner_of(c, eqn->outs[k]) == eqn->outs[k])
            sum = plus(c, sum, c->bytes[eqn->outs[k]->id]);
    return sum;
}

/* At the end there live what the results are, and nothing else
 * that was made. */
static bool is_what_is_left(const coster *c, const jx_jaxpr *jaxpr, amount live)
{
    amount left = of_int(0);

    for (int i = jaxpr->nconsts + jaxpr->nins; i < jaxpr->nvars; i++)
        if (c->last[i] == jaxpr->neqns)
            left = plus(c, left, c->bytes[i]);
    return live.lost || left.lost || is_same(live, left);
}

static void cost_jaxpr(coster *c, const jx_jaxpr *jaxpr)
{
    tally *t = &c->tallies[jaxpr->id];
    amount live = of_int(0);

    find_lives(c, jaxpr);
    for (int i = 0;
         i < jaxpr->neqns && !jx_arena_failed(c->program->ctx->arena); i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        amount results = of_int(0);
        tally one = {0};
        jx_costing rule;

        add_work(c, &one, jaxpr, eqn, &rule);
        t->each = plus_work(c, t->each, one.each);
        t->all = plus_work(c, t->all, one.all);
        add_sent(c, t, one.sent, of_int(1));
        close_sent(c, &one);
        if (!is_view(eqn) && !has_callee(eqn, &rule))
            add_own(c, t, (work){.moved = moved_by(c, eqn)});
        for (int k = 0; k < eqn->nouts; k++)
            results = plus(c, results, c->bytes[eqn->outs[k]->id]);
        note_moment(c, t, &one, live, results);
        live = plus(c, live, results);
        live = minus(c, live, freed_after(c, jaxpr, eqn, i));
    }
    JX_ASSERT(jx_arena_failed(c->program->ctx->arena) ||
              is_what_is_left(c, jaxpr, live));
}

/* ---- the program */

static amount constants_of(const coster *c)
{
    amount sum = of_int(0);

    for (int i = 0; i < c->program->narrays; i++)
        sum = plus(c, sum, of_int((jx_int)c->program->arrays[i]->bytes));
    return sum;
}

static void finish_sent(const coster *c, const sent *all)
{
    for (int k = 0; all && k < JX_COLLECTIVE_KINDS; k++)
        if (!is_none(all[k].times))
            JX_PUSH(
                c->program->ctx->arena, &c->cost->sent,
                (jx_sent){(jx_collective_kind)k, to_dim(c, all[k].times),
                          to_dim(c, all[k].bytes), to_dim(c, all[k].messages),
                          to_dim(c, all[k].beside), to_dim(c, all[k].down)});
}

static void finish(coster *c)
{
    const jx_jaxpr *entry = c->program->entry.jaxpr;
    const tally *t = &c->tallies[entry->id];
    amount inputs = of_int(0), outputs = of_int(0), always;

    for (int i = 0; i < entry->nins; i++)
        inputs =
            plus(c, inputs, bytes_of(c, entry->vars[entry->nconsts + i]->aval));
    for (int i = 0; i < entry->nouts; i++)
        outputs = plus(c, outputs, bytes_of(c, jx_atom_aval(entry->outs[i])));
    always = plus(c, inputs, constants_of(c));
    c->cost->flops = to_dim(c, t->each.flops);
    c->cost->transcendentals = to_dim(c, t->each.transcendentals);
    c->cost->moved = to_dim(c, t->each.moved);
    c->cost->all_flops = to_dim(c, t->all.flops);
    c->cost->all_transcendentals = to_dim(c, t->all.transcendentals);
    c->cost->all_moved = to_dim(c, t->all.moved);
    c->cost->device_peak_known = !c->device_lost;
    for (size_t i = 0; i < c->device.count; i++)
        JX_PUSH(c->program->ctx->arena, &c->cost->device_peaks,
                to_dim(c, c->device.at[i]));
    finish_sent(c, t->sent);
    c->cost->inputs = to_dim(c, inputs);
    c->cost->outputs = to_dim(c, outputs);
    c->cost->constants = to_dim(c, constants_of(c));
    c->cost->peak_known = !t->peak_lost && !always.lost;
    for (size_t i = 0; c->cost->peak_known && i < t->extra.count; i++)
        JX_PUSH(c->program->ctx->arena, &c->cost->peaks,
                to_dim(c, plus(c, always, t->extra.at[i])));
    if (!t->extra.count && c->cost->peak_known) /* no equation at all */
        JX_PUSH(c->program->ctx->arena, &c->cost->peaks, to_dim(c, always));
}

static bool count(const jx_typed *typed, bool numbers, jx_cost *cost)
{
    jx_program *program = typed->program;
    jx_arena *arena = program->ctx->arena;
    coster c = {
        .typed = typed, .program = program, .cost = cost, .numbers = numbers};
    int most = 0;

    *cost = (jx_cost){.devices = 1};
    for (int i = 0; i < program->njaxprs; i++)
        if (program->jaxprs[i]->nvars > most)
            most = program->jaxprs[i]->nvars;
    c.tallies = JX_NEW_ARRAY(arena, program->njaxprs, tally);
    c.sizes = jx_sizes_new(program->ctx, program->dims);
    c.zero = jx_dim_int(program->dims, 0);
    c.one = jx_dim_int(program->dims, 1);
    c.size = JX_NEW_ARRAY(arena, most, amount);
    c.bytes = JX_NEW_ARRAY(arena, most, amount);
    c.last = JX_NEW_ARRAY(arena, most, int);
    c.owner = JX_NEW_ARRAY(arena, most, const jx_var *);
    if (!jx_overlap_open(arena, program, most, &c.overlap) ||
        jx_arena_failed(arena))
        return jx_ok(program->ctx);
    c.sizes->base = program->base;
    for (int i = 0; i < program->njaxprs; i++)
        if (typed->jaxprs[i].typed ||
            program->jaxprs[i] == program->entry.jaxpr)
            cost_jaxpr(&c, program->jaxprs[i]);
    finish(&c);
    return jx_ok(program->ctx);
}

bool jx_cost_of(const jx_typed *typed, jx_cost *cost)
{
    return count(typed, false, cost);
}

bool jx_cost_flops(const jx_typed *typed, int64_t *flops)
{
    jx_cost cost;
    bool ok = count(typed, true, &cost);

    if (!ok || !cost.flops || !jx_dim_is_int(cost.flops, flops))
        *flops = 0;
    return ok;
}
