/* control.c - calls, branches and loops.
 *
 * Calls are inlined.  What a loop carries has one buffer, made before the loop:
 * the body reads it and, at its end, copies its results over it; the planner
 * lets most of these copies vanish.  Slices of scanned operands and results
 * are moving buffers: the loop sets their addresses at every turn. */
#include "frontend/base/assert.h"
#include "frontend/read/asserted.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"
#include "runtime/turns.h"

#include <stdlib.h>
#include <string.h>

/* Calls. */

static bool call(jx_planner *p, const jx_eqn *eqn, const jx_closed *closed,
                 const jx_slot *ins, int nins, jx_slot *outs)
{
    if (closed->jaxpr->nins != nins || closed->jaxpr->nouts != eqn->nouts)
        return jx_plan_fail(p, "the callee takes other operands");
    return jx_plan_inline(p, closed, ins, outs);
}

bool jx_plan_call(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    return call(p, eqn, jx_eqn_callee(eqn), ins, eqn->nins, outs);
}

/* Linear, and known by its transpose alone. */
bool jx_plan_custom_lin(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    (void)eqn;
    (void)ins;
    (void)outs;
    return jx_plan_fail(
        p, "can't apply forward-mode autodiff (jvp) to a custom_vjp function.");
}

/* Operands: constants of matvec, vecmat, solve, transpose_solve; then b. */
bool jx_plan_custom_linear_solve(jx_planner *p, const jx_eqn *eqn,
                                 const jx_slot *ins, jx_slot *outs)
{
    const jx_p_custom_linear_solve *params = eqn->typed;
    const int *before = params->const_lengths.before;
    int consts = jx_solve_count(&params->const_lengths, JX_SOLVE);
    int all = before[JX_SOLVE_PARTS], nargs = consts + eqn->nins - all;

    if (all > eqn->nins)
        return jx_plan_fail(p, "const_lengths do not fit the operands");
    jx_slot *args = malloc((size_t)(nargs + 1) * sizeof *args);
    if (!args)
        return jx_plan_starved(p);
    memcpy(args, ins + before[JX_SOLVE], (size_t)consts * sizeof *args);
    memcpy(args + consts, ins + all, (size_t)(nargs - consts) * sizeof *args);
    bool ok = call(p, eqn, &params->jaxprs.part[JX_SOLVE], args, nargs, outs);
    free(args);
    return ok;
}

/* Branches. */

typedef struct branches {
    int first, count;
} branches;

bool jx_run_branch(jx_run *run, const void *data, const jx_view *ins,
                   const jx_view *outs, void *scratch)
{
    const branches *d = data;
    int32_t k = *(const int32_t *)(const void *)ins[0].data;

    (void)outs;
    (void)scratch;
    k = k < 0 ? 0 : k >= d->count ? d->count - 1 : k;
    return jx_run_block(run, d->first + k);
}

/* Blocks of an operation are numbered one after the other, but a branch may
 * have blocks of its own: reserve the numbers first. */
static bool branches_of(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *results, const jx_slot *outs)
{
    const jx_closed_list *list = &((const jx_p_cond *)eqn->typed)->branches;
    int first = (int)p->blocks.count;
    bool ok = true;

    for (int i = 0; i < list->count; i++) {
        jx_plan_block_begin(p);
        jx_plan_block_end(p);
    }
    for (int i = 0; ok && i < list->count; i++) {
        int outer = p->block;
        p->block = first + i;
        ok = jx_plan_inline(p, &list->at[i], ins + 1, results);
        for (int k = 0; ok && k < eqn->nouts; k++)
            jx_plan_copy(p, &results[k], &outs[k]);
        p->block = outer;
    }
    branches data = {first, list->count};
    jx_slot which = jx_plan_convert(p, ins, JX_I32);
    if (which.rank != 0)
        return jx_plan_fail(p, "the index is no scalar");
    if (ok)
        jx_plan_block_op(p, jx_run_branch, &data, sizeof data, 1, &which,
                         eqn->nouts, outs, 0, first, list->count);
    return ok;
}

static int known_index(jx_planner *p, const jx_slot *which, int count)
{
    const jx_mem *mem = jx_mem_at(&p->mems, which->buffer);
    int32_t k;

    if (mem->kind != JX_MEM_CONST || which->dtype != JX_I32)
        return -1;
    memcpy(&k, (const char *)mem->constant + which->offset, sizeof k);
    return k < 0 ? 0 : k >= count ? count - 1 : k;
}

bool jx_plan_cond(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_closed_list *list = &((const jx_p_cond *)eqn->typed)->branches;

    if (list->count < 1)
        return jx_plan_fail(p, "there is no branch");
    for (int i = 0; i < list->count; i++)
        if (list->at[i].jaxpr->nins != eqn->nins - 1 ||
            list->at[i].jaxpr->nouts != eqn->nouts)
            return jx_plan_fail(p, "branch %d takes other operands", i);
    int known = known_index(p, ins, list->count);
    if (known >= 0)
        return jx_plan_inline(p, &list->at[known], ins + 1, outs);
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = jx_plan_output(p, eqn, i);
    jx_slot *results = malloc((size_t)(eqn->nouts + 1) * sizeof *results);
    bool ok = results && branches_of(p, eqn, ins, results, outs);
    free(results);
    return ok || jx_plan_starved(p);
}

/* The index of the CPU among the platforms. */
bool jx_plan_platform_index(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    const jx_value *all = ((const jx_p_platform_index *)eqn->typed)->platforms;
    int32_t index = -1;

    (void)ins;
    for (int i = 0; all && i < all->count && index < 0; i++) {
        const jx_value *one = all->items[i];
        if (one->tag == JX_V_NONE)
            index = i;
        else if (one->tag == JX_V_TEXT && strcmp(one->text, "cpu") == 0)
            index = i;
        for (int k = 0; one->tag == JX_V_TUPLE && k < one->count; k++)
            if (one->items[k]->tag == JX_V_TEXT &&
                strcmp(one->items[k]->text, "cpu") == 0)
                index = i;
    }
    if (index < 0)
        return jx_plan_fail(p, "the program has no part for a CPU");
    outs[0] = jx_plan_constant(p, JX_I32, 0, NULL, &index);
    return true;
}

/* Loops. */

/* New buffers for what a loop carries, holding the initial values. */
static void make_carries(jx_planner *p, int count, const jx_slot *init,
                         jx_slot *carry)
{
    for (int i = 0; i < count; i++) {
        carry[i] = jx_plan_new(p, init[i].dtype, init[i].rank, init[i].shape);
        jx_plan_copy(p, &init[i], &carry[i]);
    }
}

/* Ends a body: results go over the carries.  A result that lies in a carry's
 * buffer (a swap, a slice) is saved before any is overwritten. */
static void end_turn(jx_planner *p, int count, jx_slot *results,
                     const jx_slot *carry)
{
    jx_map carries; /* by their buffers */

    jx_map_init(&carries, p->scratch);
    for (int i = 0; i < count; i++)
        jx_map_put(&carries, jx_mem_at(&p->mems, carry[i].buffer), &carry[i]);
    for (int i = 0; i < count; i++) {
        const jx_slot *lies_in =
            jx_map_get(&carries, jx_mem_at(&p->mems, results[i].buffer));
        if (!lies_in ||
            (lies_in == &carry[i] && results[i].offset == carry[i].offset &&
             jx_slot_is_dense(&results[i])))
            continue;
        jx_slot saved =
            jx_plan_new(p, results[i].dtype, results[i].rank, results[i].shape);
        jx_plan_copy(p, &results[i], &saved);
        results[i] = saved;
    }
    for (int i = 0; i < count; i++)
        if (results[i].buffer != carry[i].buffer)
            jx_plan_copy(p, &results[i], &carry[i]);
}

/* A predicate with axes is that of a loop under vmap: it goes on while any
 * element says so, and only the rows of elements that do take a turn. */

static bool run_any(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    (void)run;
    (void)data;
    (void)scratch;
    *outs[0].data =
        ins[0].count && memchr(ins[0].data, 1, (size_t)ins[0].count);
    return true;
}

/* Rows of the result, where the predicate holds, over those of the carry. */
static bool run_rows(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const size_t *row = data;

    (void)run;
    (void)scratch;
    for (int64_t i = 0; i < ins[0].count; i++) {
        size_t at = (size_t)i * *row;
        if (ins[0].data[i] && *row == sizeof(double)) /* which most are */
            memcpy(outs[0].data + at, ins[1].data + at, sizeof(double));
        else if (ins[0].data[i])
            memcpy(outs[0].data + at, ins[1].data + at, *row);
    }
    return true;
}

/* Bytes of the carry for each element of the predicate, whose axes it has
 * first. */
static bool row_of(jx_planner *p, const jx_slot *pred, const jx_slot *carry,
                   size_t *row)
{
    bool fits = pred->rank <= carry->rank;

    *row = (size_t)jx_dtype_of(carry->dtype)->bytes;
    for (int i = 0; fits && i < carry->rank; i++)
        if (i < pred->rank)
            fits = pred->shape[i] == carry->shape[i];
        else
            *row *= (size_t)carry->shape[i];
    return fits ||
           jx_plan_fail(p, "the predicate's axes are not those of the carry");
}

static bool end_batched_turn(jx_planner *p, const jx_slot *pred, int count,
                             jx_slot *results, const jx_slot *carry)
{
    for (int i = 0; i < count; i++) {
        jx_slot saved =
            jx_plan_new(p, results[i].dtype, results[i].rank, results[i].shape);
        jx_plan_copy(p, &results[i], &saved);
        results[i] = saved;
    }
    for (int i = 0; i < count; i++) {
        const jx_slot ins[] = {*pred, results[i], carry[i]};
        size_t row;
        if (!jx_plan_same(p, &results[i], &carry[i]) ||
            !row_of(p, pred, &carry[i], &row))
            return false;
        jx_plan_op(p, run_rows, &row, sizeof row, 3, ins, 1, &carry[i], 0);
    }
    return true;
}

typedef struct loop {
    int cond, ncarry;
    bool mapped;        /* its predicate has axes */
    jx_turning_loop on; /* its body, and how it goes on */
} loop;

/* Notes a loop that may go on where it has come to an end, or can't. */
static jx_turning_loop turning(const jx_planner *p, bool can, bool is_search)
{
    jx_turns *turns = p->options->turns;

    if (turns) {
        *(can ? &turns->again : &turns->once) += 1;
        turns->searches += can && is_search;
    }
    return (jx_turning_loop){
        .turns = can ? turns : NULL, .is_search = is_search, .rows = 1};
}

/* False: a turn failed. */
static bool take_turns(jx_run *run, const loop *d, const jx_view *again,
                       jx_turn *turn)
{
    for (;; turn->number++) {
        if (!jx_run_block(run, d->cond))
            return false;
        if (!*again->data)
            return true;
        if (!jx_run_block(run, d->on.body))
            return false;
    }
}

static bool run_while(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const loop *d = data;
    int64_t number = jx_turns_begin(&d->on);
    jx_turn turn;
    bool ended;

    jx_run_enter(run, &turn);
    ended = take_turns(run, d, &ins[0], &turn);
    jx_run_leave(run);
    return ended ? jx_turns_end(run, &d->on, number, turn.number,
                                d->mapped ? &ins[1] : NULL, d->ncarry, outs,
                                scratch)
                 : jx_turns_cut(&d->on);
}

/* The predicate as it is, its only element or any of them in `again`. */
static jx_slot plan_predicate(jx_planner *p, const jx_slot *result,
                              const jx_slot *again)
{
    if (result->rank == 0 || result->dtype != JX_BOOL) {
        jx_plan_copy(p, result, again);
        return *again;
    }
    jx_slot pred = jx_plan_new(p, JX_BOOL, result->rank, result->shape);
    jx_plan_copy(p, result, &pred);
    jx_plan_op(p, run_any, NULL, 0, 1, &pred, 1, again, 0);
    return pred;
}

static bool plan_while(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *args, jx_slot *outs)
{
    const jx_p_while *params = eqn->typed;
    int nc = (int)params->cond_nconsts, nb = (int)params->body_nconsts;
    int n = eqn->nouts;
    jx_slot *results = args + eqn->nins;
    loop data;

    make_carries(p, n, ins + nc + nb, outs);
    jx_slot again = jx_plan_new(p, JX_BOOL, 0, NULL);
    data.cond = (int)p->blocks.count;
    data.ncarry = n;
    jx_plan_block_begin(p);
    jx_plan_block_end(p);
    jx_plan_block_begin(p);
    jx_plan_block_end(p);
    int outer = p->block;
    p->block = data.cond;
    memcpy(args, ins, (size_t)nc * sizeof *args);
    memcpy(args + nc, outs, (size_t)n * sizeof *args);
    const jx_eqn *around = p->deciding;
    p->deciding = eqn;
    if (!jx_plan_inline(p, &params->cond_jaxpr, args, results))
        return false;
    p->deciding = around;
    jx_slot pred = plan_predicate(p, results, &again);
    data.on = turning(p, true, jx_turns_is_search(eqn));
    data.on.body = data.cond + 1;
    p->block = data.on.body;
    memcpy(args, ins + nc, (size_t)nb * sizeof *args);
    memcpy(args + nb, outs, (size_t)n * sizeof *args);
    if (!jx_plan_inline(p, &params->body_jaxpr, args, results))
        return false;
    if (pred.rank == 0)
        end_turn(p, n, results, outs);
    else if (!end_batched_turn(p, &pred, n, results, outs))
        return false;
    p->block = outer;
    const jx_slot asked[] = {again, pred};
    data.mapped = pred.rank > 0;
    data.on.rows = data.mapped ? jx_slot_count(&pred) : 1;
    jx_plan_block_op(p, run_while, &data, sizeof data, 2, asked, n, outs,
                     jx_turns_scratch(&data.on, n, outs), data.cond, 2);
    return true;
}

bool jx_plan_while(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_while *params = eqn->typed;
    int64_t nc = params->cond_nconsts, nb = params->body_nconsts;

    if (nc < 0 || nb < 0 || nc + nb + eqn->nouts != eqn->nins ||
        params->cond_jaxpr.jaxpr->nins != nc + eqn->nouts ||
        params->body_jaxpr.jaxpr->nins != nb + eqn->nouts ||
        params->body_jaxpr.jaxpr->nouts != eqn->nouts ||
        params->cond_jaxpr.jaxpr->nouts != 1)
        return jx_plan_fail(p, "the loop's parts do not fit each other");
    jx_slot *args = malloc((size_t)(eqn->nins + eqn->nouts + 2) * sizeof *args);
    bool ok = args && plan_while(p, eqn, ins, args, outs);
    free(args);
    return ok || jx_plan_starved(p);
}

typedef struct scan {
    int64_t length;
    bool reverse;
    int block, nins, nouts, ncarry;
    jx_turning_loop on;
    int buffers[]; /* moving: of the scanned operands, then the results */
} scan;

static bool take_items(jx_run *run, const scan *d, const jx_view *ins,
                       const jx_view *outs, jx_turn *turn)
{
    for (; turn->number < d->length; turn->number++) {
        int64_t at = d->reverse ? d->length - 1 - turn->number : turn->number;
        JX_ASSERT(at >= 0 && at < d->length);
        for (int k = 0; k < d->nins; k++)
            jx_run_move(run, d->buffers[k],
                        ins[k].data + at * ins[k].strides[0]);
        for (int k = 0; k < d->nouts; k++)
            jx_run_move(run, d->buffers[d->nins + k],
                        outs[k].data + at * outs[k].strides[0]);
        if (!jx_run_block(run, d->block))
            return false;
    }
    return true;
}

static bool run_scan(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const scan *d = data;
    int64_t number = jx_turns_begin(&d->on);
    jx_turn turn;
    bool ended;

    jx_run_enter(run, &turn);
    ended = take_items(run, d, ins, outs, &turn);
    jx_run_leave(run);
    return ended ? jx_turns_end(run, &d->on, number, d->length, NULL, d->ncarry,
                                outs + d->nouts, scratch)
                 : jx_turns_cut(&d->on);
}

/* `args` holds room for the body's operands, its results, and the moving slots
 * of its stacked results. */
static bool plan_scan(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *args, jx_slot *outs, scan *data)
{
    const jx_p_scan *params = eqn->typed;
    int nconsts = (int)params->num_consts, ncarry = (int)params->num_carry;
    int nx = eqn->nins - nconsts - ncarry, ny = eqn->nouts - ncarry;
    jx_slot *results = args + eqn->nins, *ys = results + eqn->nouts;
    const jx_slot *xs = ins + nconsts + ncarry;

    make_carries(p, ncarry, ins + nconsts, outs);
    for (int i = 0; i < ny; i++)
        outs[ncarry + i] = jx_plan_output(p, eqn, ncarry + i);
    data->block = jx_plan_block_begin(p);
    memcpy(args, ins, (size_t)nconsts * sizeof *args);
    memcpy(args + nconsts, outs, (size_t)ncarry * sizeof *args);
    for (int i = 0; i < nx; i++) {
        if (xs[i].rank < 1 || xs[i].shape[0] != data->length)
            return jx_plan_fail(p, "operand %d has another length", i);
        args[nconsts + ncarry + i] = jx_plan_moving(p, &xs[i]);
        data->buffers[i] = args[nconsts + ncarry + i].buffer;
    }
    for (int i = 0; i < ny; i++) {
        if (outs[ncarry + i].rank < 1 ||
            outs[ncarry + i].shape[0] != data->length)
            return jx_plan_fail(p, "result %d has another length", i);
        ys[i] = jx_plan_moving(p, &outs[ncarry + i]);
        data->buffers[nx + i] = ys[i].buffer;
    }
    if (!jx_plan_inline(p, &params->jaxpr, args, results))
        return false;
    for (int i = 0; i < ny; i++)
        jx_plan_copy(p, &results[ncarry + i], &ys[i]);
    end_turn(p, ncarry, results, outs);
    jx_plan_block_end(p);
    /* Results first, the carries after them. */
    memcpy(args, outs + ncarry, (size_t)ny * sizeof *args);
    memcpy(args + ny, outs, (size_t)ncarry * sizeof *args);
    data->nins = nx;
    data->nouts = ny;
    data->ncarry = ncarry;
    data->on.body = data->block;
    jx_plan_block_op(p, run_scan, data,
                     sizeof *data + (size_t)(nx + ny) * sizeof(int), nx, xs,
                     eqn->nouts, args,
                     jx_turns_scratch(&data->on, ncarry, outs), data->block, 1);
    return true;
}

bool jx_plan_scan(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_scan *params = eqn->typed;
    int64_t nc = params->num_consts, nk = params->num_carry;
    size_t total = (size_t)eqn->nins + (size_t)eqn->nouts;

    if (nc < 0 || nk < 0 || nc + nk > eqn->nins || nk > eqn->nouts ||
        params->jaxpr.jaxpr->nins != eqn->nins ||
        params->jaxpr.jaxpr->nouts != eqn->nouts)
        return jx_plan_fail(p, "the loop's parts do not fit each other");
    scan *data = calloc(1, sizeof *data + total * sizeof(int));
    jx_slot *args = malloc((2 * total + 1) * sizeof *args);
    bool ok = data && args;
    if (ok) {
        data->length = jx_plan_dim(p, params->length);
        data->reverse = params->reverse;
        data->on = turning(p,
                           nc + nk == eqn->nins && nk == eqn->nouts &&
                               data->length < INT64_MAX / JX_MOST_TURNS,
                           false);
        ok = plan_scan(p, eqn, ins, args, outs, data);
    }
    free(args);
    free(data);
    return ok || jx_plan_starved(p);
}

/* Sizes as values. */

bool jx_plan_dim_as_value(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    (void)ins;
    outs[0] = jx_plan_dim_slot(p, ((const jx_p_dim_as_value *)eqn->typed)->dim,
                               eqn->outs[0]->aval->dtype);
    return true;
}

bool jx_plan_dimension_size(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    int64_t axis = ((const jx_p_dimension_size *)eqn->typed)->dimension;

    if (axis < 0 || axis >= ins->rank)
        return jx_plan_fail(p, "there is no axis %lld", (long long)axis);
    outs[0] =
        jx_plan_dim_slot(p, jx_dim_int(p->program->dims, ins->shape[axis]),
                         eqn->outs[0]->aval->dtype);
    return true;
}

/* An assertion: the widths of the numbers that its message shows, and it. */
enum { MOST_SHOWN = 32 };

typedef struct assertion {
    int count;
    unsigned char bytes[MOST_SHOWN];
    char message[];
} assertion;

typedef struct shown {
    const assertion *of;
    const jx_view *ins;
} shown;

static void put_shown(void *env, int index, jx_buffer *to)
{
    const shown *s = env;
    const void *at = s->ins[1 + index].data;

    switch (s->of->bytes[index]) {
    case 4: jx_buffer_printf(to, "%d", *(const int32_t *)at); break;
    case 8:
        jx_buffer_printf(to, "%lld", (long long)*(const int64_t *)at);
        break;
    default: jx_buffer_putc(to, '?'); break;
    }
}

static bool run_assert(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch)
{
    const assertion *a = data;
    shown env = {a, ins};
    jx_buffer text = {0};

    (void)outs;
    (void)scratch;
    if (*ins[0].data)
        return true;
    jx_message_print(a->message, a->count, put_shown, &env, &text);
    jx_run_fail(run, "the program asserts: %s", jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

bool jx_plan_shape_assertion(jx_planner *p, const jx_eqn *eqn,
                             const jx_slot *ins, jx_slot *outs)
{
    const char *text =
        ((const jx_p_shape_assertion *)eqn->typed)->error_message;
    int count = eqn->nins - 1 < MOST_SHOWN ? eqn->nins - 1 : MOST_SHOWN;
    size_t length = strlen(text = text ? text : "failed") + 1;
    assertion *data =
        jx_arena_alloc(p->program->ctx->arena, sizeof *data + length);

    (void)outs;
    if (!data)
        return false;
    data->count = count;
    memcpy(data->message, text, length);
    for (int i = 0; i < count; i++) {
        const jx_aval *aval = jx_atom_aval(eqn->ins[1 + i]);
        const jx_dtype_info *info = jx_dtype_of(aval->dtype);
        data->bytes[i] = info->kind == JX_KIND_INT && !aval->rank
                             ? (unsigned char)info->bytes
                             : 0;
    }
    jx_plan_op(p, run_assert, data, sizeof *data + length, 1 + count, ins, 0,
               NULL, 0);
    return true;
}

/* The code of an exported function is a StableHLO module. */
bool jx_plan_call_exported(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    const jx_called_export *callee =
        ((const jx_p_call_exported *)eqn->typed)->exported;

    (void)ins;
    (void)outs;
    return jx_plan_fail(p,
                        "%s was exported elsewhere: its code is a StableHLO "
                        "module in this document, which can't be run here",
                        callee && callee->name ? callee->name
                                               : "what it calls");
}

bool jx_plan_sink(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    (void)p;
    (void)eqn;
    (void)ins;
    (void)outs;
    return true;
}
