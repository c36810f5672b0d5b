/* exec.c - see exec.h. */
#include "runtime/exec.h"

#include "frontend/base/assert.h"
#include "frontend/base/pages.h"
#include "frontend/base/plain.h"
#include "runtime/finish.h"
#include "runtime/host.h"
#include "runtime/run.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* What runs, with its addresses. */
typedef struct jx_ready {
    jx_kernel *kernel;
    const void *data;
    const jx_view *ins, *outs;
    void *scratch;
} jx_ready;

typedef struct ready_block {
    int count;
    int64_t elements; /* that its operations take and give */
    const jx_ready *at;
} ready_block;

struct jx_run {
    const jx_plan *plan;
    jx_budget *budget; /* the program's, which pays for all below */
    size_t charged;
    jx_view *views;
    ready_block *blocks;
    char *memory;
    void **own;        /* per output: memory of the execution's own, or NULL */
    const void **outs; /* per output: where it was written */
    /* buffers that are inputs or outputs, and where each lay in the last run */
    int *ports, nports;
    const void **lay;
    jx_pool *pool;       /* its own, made when it is needed */
    jx_pool *lent;       /* to be used instead, or NULL */
    double deadline;     /* by jx_seconds_now(); 0: none */
    bool is_limited;     /* there is a deadline, or who may cancel */
    atomic_bool stopped; /* at it; helper threads look, too */
    bool flush;          /* subnormal numbers are zeros */
    int64_t limit, left; /* operations that a run may execute; still may */
    int64_t elements;    /* that these took and gave */
    uint64_t seed;
    int rounding; /* of fenv.h */
    int64_t drawn;
    const jx_turn *turn; /* of the innermost loop; or NULL */
    bool noticed;        /* by a probe */
    bool failed, differs;
    char error[512];
    jx_tape *tape; /* of what a host's handlers give, or NULL */
    void *context; /* for a host's handlers, and what one of them failed with */
    bool host_failed;
    jaxvet_error host_error;
};

struct jx_exec {
    jx_run run;
};

static bool fail(jx_run *run, bool differs, const char *format, va_list args)
{
    if (run->failed)
        return false;
    run->failed = true;
    run->differs = differs;
    jx_vsnprintf(run->error, sizeof run->error, format, args);
    return false;
}

bool jx_run_fail(jx_run *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(run, false, format, args);
    va_end(args);
    return false;
}

bool jx_run_differs(jx_run *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(run, true, format, args);
    va_end(args);
    return false;
}

bool jx_run_lasts(jx_run *run)
{
    const jx_limits *limits = &run->budget->limits;

    if (!run->is_limited)
        return true;
    if (!atomic_load(&run->stopped) &&
        ((limits->cancel && *limits->cancel) ||
         (run->deadline > 0 && jx_seconds_now() >= run->deadline)))
        atomic_store(&run->stopped, true);
    return !atomic_load(&run->stopped);
}

/* What kernels left undone does not count: nobody goes on from it. */
static bool stop(jx_run *run)
{
    const jx_limits *limits = &run->budget->limits;

    if (limits->cancel && *limits->cancel)
        return jx_run_fail(run, "gave up at its caller's wish, while running");
    return jx_run_fail(run, "gave up at %g s, the limit, while running",
                       limits->seconds);
}

bool jx_run_block(jx_run *run, int block)
{
    const ready_block *b = &run->blocks[block];

    JX_ASSERT(block >= 0 && block < run->plan->nblocks);
    /* A turn of an empty block counts too. */
    if ((run->left -= b->count + 1) < 0)
        return jx_run_fail(run, "it runs longer than %lld operations",
                           (long long)run->limit);
    run->elements += b->elements;
    for (int i = 0; i < b->count; i++) {
        const jx_ready *r = &b->at[i];
        if (!r->kernel(run, r->data, r->ins, r->outs, r->scratch))
            return false;
        if (run->is_limited && !jx_run_lasts(run))
            return stop(run);
    }
    return b->count || jx_run_lasts(run) || stop(run);
}

jx_pool *jx_run_pool(jx_run *run)
{
    if (run->flush) /* the switch is the thread's own */
        return NULL;
    if (!run->lent && !run->pool)
        run->pool = jx_pool_new();
    return run->lent ? run->lent : run->pool;
}

void jx_exec_share(jx_exec *exec, jx_pool *pool)
{
    exec->run.lent = pool;
}

void jx_run_move(jx_run *run, int buffer, const void *to)
{
    const jx_mem *mem = jx_mem_at(&run->plan->mems, buffer);
    const jx_patches *patches = &run->plan->patches[mem->patches];

    JX_ASSERT(buffer >= 0 && buffer < run->plan->mems.count);
    JX_ASSERT(jx_mem_is_set(mem));
    for (int i = 0; i < patches->count; i++)
        run->views[patches->at[i].view].data =
            (char *)(uintptr_t)to + patches->at[i].offset;
}

/* Without spending the budget: whoever wants to run may do with less. */
static bool take(jx_run *run, size_t bytes)
{
    if (jx_budget_left(run->budget) < bytes ||
        !jx_budget_take(run->budget, bytes))
        return false;
    run->charged += bytes;
    return true;
}

/* What the system gave, which may be nothing. */
static void *fed(jx_run *run, void *memory)
{
    if (!memory)
        jx_budget_starved(run->budget);
    return memory;
}

static void *table(jx_run *run, int count, size_t size)
{
    size_t bytes = ((size_t)count + 1) * size;

    return take(run, bytes) ? fed(run, calloc(1, bytes)) : NULL;
}

static size_t alignment_of(size_t bytes)
{
    return bytes >= JX_HUGE_PAGE ? JX_HUGE_PAGE : ALIGNMENT;
}

static size_t padded(size_t bytes)
{
    size_t alignment = alignment_of(bytes);

    return (bytes + alignment) / alignment * alignment;
}

static void *big_alloc(jx_run *run, int64_t bytes)
{
    size_t alignment = alignment_of((size_t)bytes),
           size = padded((size_t)bytes);
    void *memory =
        take(run, size) ? fed(run, aligned_alloc(alignment, size)) : NULL;

    if (memory)
        jx_pages_advise(memory, (size_t)bytes); /* what is used as a whole */
    return memory;
}

void *jx_run_borrow(jx_run *run, size_t bytes)
{
    void *memory = big_alloc(run, (int64_t)bytes);

    if (memory)
        return memory;
    atomic_store(&run->stopped, true);
    jx_run_fail(run,
                "gave up: there is no memory for a custom call (%zu bytes)",
                bytes);
    return NULL;
}

void jx_run_give_back(jx_run *run, void *memory, size_t bytes)
{
    if (!memory)
        return;
    free(memory);
    run->charged -= padded(bytes);
    jx_budget_give(run->budget, padded(bytes));
}

static jx_view view_at(const jx_run *run, const jx_operand *o)
{
    const jx_mem *mem = jx_mem_at(&run->plan->mems, o->buffer);
    jx_view view = {.dtype = o->dtype,
                    .rank = o->rank,
                    .shape = o->shape,
                    .strides = o->strides,
                    .count = jx_operand_count(o),
                    .dense = jx_operand_dense(o)};

    if (mem->kind == JX_MEM_TEMP)
        view.data = run->memory + mem->offset + o->offset;
    else if (mem->kind == JX_MEM_CONST)
        view.data = (char *)(uintptr_t)mem->constant + o->offset;
    return view;
}

/* All elements of a view lie in these bytes. */
static bool is_inside(const jx_view *view, const char *from, int64_t bytes)
{
    int64_t low = view->data - from, high = low;

    if (!view->count)
        return true;
    for (int i = 0; i < view->rank; i++)
        *(view->strides[i] < 0 ? &low : &high) +=
            (view->shape[i] - 1) * view->strides[i];
    return low >= 0 && high + (int64_t)jx_dtype_of(view->dtype)->bytes <= bytes;
}

/* It lies in its buffer, and that in the run's memory. */
static bool is_within(const jx_run *run, const jx_view *view, int buffer)
{
    const jx_plan *plan = run->plan;
    const jx_mem *mem = jx_mem_at(&plan->mems, buffer);

    if (mem->kind == JX_MEM_TEMP)
        return is_inside(view, run->memory + mem->offset, mem->bytes) &&
               is_inside(view, run->memory, plan->bytes);
    return mem->kind != JX_MEM_CONST ||
           is_inside(view, mem->constant, mem->bytes);
}

static jx_ready ready_step(jx_run *run, const jx_step *s)
{
    jx_view *views = run->views + s->first_view;

    for (int k = 0; k < s->nins + s->nouts; k++) {
        views[k] = view_at(run, &s->operands[k]);
        JX_ASSERT(is_within(run, &views[k], s->operands[k].buffer));
    }
    return (jx_ready){s->kernel, s->data, views, views + s->nins,
                      s->scratch >= 0 ? run->memory + s->scratch : NULL};
}

/* Operands and results lie in one table. */
static int64_t elements_of(const jx_step *s, const jx_view *views)
{
    int64_t count = 0;

    for (int k = 0; k < s->nins + s->nouts; k++)
        count += views[k].count;
    return count;
}

static bool make_ready(jx_run *run)
{
    const jx_plan *plan = run->plan;

    for (int b = 0; b < plan->nblocks; b++) {
        const jx_steps *steps = &plan->blocks[b];
        jx_ready *ready = table(run, steps->count, sizeof *ready);
        if (!ready)
            return false;
        int64_t elements = 0;
        for (int i = 0; i < steps->count; i++) {
            ready[i] = ready_step(run, &steps->at[i]);
            elements += elements_of(&steps->at[i], ready[i].ins);
        }
        run->blocks[b] = (ready_block){steps->count, elements, ready};
    }
    return true;
}

/* Finds what runs are given. */
static bool find_ports(jx_run *run)
{
    const jx_plan *plan = run->plan;
    int most = plan->nins + plan->nouts;

    run->ports = table(run, most, sizeof *run->ports);
    run->lay = table(run, most, sizeof *run->lay);
    if (!run->ports || !run->lay)
        return false;
    for (int i = 0; i < plan->mems.count; i++) {
        jx_mem_kind kind = jx_mem_at(&plan->mems, i)->kind;
        if (kind == JX_MEM_IN || kind == JX_MEM_OUT)
            run->ports[run->nports++] = i;
    }
    return true;
}

static bool start(jx_exec *exec, const jx_plan *plan)
{
    jx_run *run = &exec->run;

    run->plan = plan;
    run->budget = &plan->program->ctx->budget;
    run->limit = INT64_MAX;
    run->rounding = FE_TONEAREST;
    run->views = table(run, plan->nviews, sizeof *run->views);
    run->blocks = table(run, plan->nblocks, sizeof *run->blocks);
    run->own = table(run, plan->nouts, sizeof *run->own);
    run->outs = table(run, plan->nouts, sizeof *run->outs);
    run->memory = big_alloc(run, plan->bytes);
    run->deadline = jx_budget_stop(run->budget);
    if (!run->views || !run->blocks || !run->own || !run->outs ||
        !run->memory || !find_ports(run))
        return false;
    return make_ready(run);
}

jx_exec *jx_exec_new(const jx_plan *plan)
{
    jx_exec *exec = calloc(1, sizeof *exec);

    if (exec && start(exec, plan))
        return exec;
    if (!exec)
        jx_starved(plan->program->ctx);
    jx_exec_free(exec);
    jx_fail(plan->program->ctx, JX_E_LIMIT, plan->program->path, NULL,
            "gave up: there is no memory to run with (%lld bytes)",
            (long long)plan->bytes);
    return NULL;
}

void jx_exec_free(jx_exec *exec)
{
    if (!exec)
        return;
    jx_run *run = &exec->run;
    jx_pool_free(run->pool);
    for (int b = 0; run->blocks && b < run->plan->nblocks; b++)
        free((void *)(uintptr_t)run->blocks[b].at);
    for (int i = 0; run->own && i < run->plan->nouts; i++)
        free(run->own[i]);
    free(run->views);
    free(run->blocks);
    free(run->own);
    free(run->outs);
    free(run->ports);
    free(run->lay);
    free(run->memory);
    jx_budget_give(run->budget, run->charged);
    free(exec);
}

/* Whoever asks again may have more. */
static bool starve(jx_run *run, int out)
{
    atomic_store(&run->stopped, true);
    return jx_run_fail(run, "gave up: there is no memory for output %d", out);
}

static bool set_outputs(jx_run *run, void *const *outs)
{
    const jx_plan *plan = run->plan;

    for (int i = 0; i < plan->nouts; i++) {
        void *to = outs ? outs[i] : NULL;
        if (!to && !run->own[i])
            run->own[i] = big_alloc(run, (int64_t)plan->outs[i].bytes);
        run->outs[i] = to ? to : run->own[i];
        if (!run->outs[i])
            return starve(run, i);
    }
    return true;
}

static void set_ports(jx_run *run, const void *const *ins)
{
    for (int i = 0; i < run->nports; i++) {
        const jx_mem *mem = jx_mem_at(&run->plan->mems, run->ports[i]);
        const void *at =
            mem->kind == JX_MEM_IN ? ins[mem->port] : run->outs[mem->port];
        if (at == run->lay[i])
            continue;
        jx_run_move(run, run->ports[i], at);
        run->lay[i] = at;
    }
}

#if defined(__SSE2__)
static const bool can_flush = true;

/* Whether numbers are rounded to the nearest, none is flushed and nothing
 * traps, as in FE_DFL_ENV but for what was noticed so far. */
static bool is_usual(void)
{
    enum { CONTROL = 0xffc0, USUAL = 0x1f80, USUAL_X87 = 0x037f };
    unsigned short x87;

    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return x87 == USUAL_X87 && (__builtin_ia32_stmxcsr() & CONTROL) == USUAL;
}

static void flush_subnormals(void)
{
    enum { FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040 };
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSH_RESULTS |
                           FLUSH_OPERANDS);
}
#elif defined(__aarch64__)
static const bool can_flush = true;

static bool is_usual(void)
{
    return false; /* setting it takes no longer than to ask */
}

static void flush_subnormals(void)
{
    unsigned long mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1ul << 24));
}
#else
static const bool can_flush = false;

static bool is_usual(void)
{
    return false;
}

static void flush_subnormals(void)
{
}
#endif

bool jx_exec_flush(jx_exec *exec, bool flush)
{
    exec->run.flush = flush && can_flush;
    return exec->run.flush == flush;
}

/* Runs the first block in an environment that does not depend on the host's,
 * which is as it was then.  To change it takes as long as a few operations. */
static bool run_all(jx_run *run)
{
    fenv_t mode;
    bool ok;

    if (!run->flush && run->rounding == FE_TONEAREST && is_usual())
        return jx_run_block(run, 0);
    fegetenv(&mode);
    fesetenv(FE_DFL_ENV);
    if (run->flush)
        flush_subnormals();
    if (run->rounding != FE_TONEAREST)
        fesetround(run->rounding);
    ok = jx_run_block(run, 0);
    fesetenv(&mode);
    return ok;
}

bool jx_exec_run(jx_exec *exec, const void *const *ins, void *const *outs)
{
    jx_run *run = &exec->run;

    run->failed = run->differs = run->host_failed = false;
    run->error[0] = 0;
    run->is_limited = run->deadline > 0 || run->budget->limits.cancel;
    atomic_store(&run->stopped, false);
    run->left = run->limit;
    run->elements = 0;
    run->drawn = 0;
    run->noticed = false;
    if (!set_outputs(run, outs))
        return false;
    set_ports(run, ins);
    return run_all(run);
}

void jx_exec_round(jx_exec *exec, int mode)
{
    exec->run.rounding = mode;
}

void jx_exec_context(jx_exec *exec, void *context)
{
    exec->run.context = context;
}

void jx_exec_tape(jx_exec *exec, jx_tape *tape)
{
    exec->run.tape = tape;
}

jx_tape *jx_run_tape(const jx_run *run)
{
    return run->tape;
}

void *jx_run_context(const jx_run *run)
{
    return run->context;
}

/* What a handler says of its failure: it may have said nothing, or of no kind,
 * and its texts may have no end. */
static jaxvet_error host_error(const jaxvet_error *said, jaxvet_status status,
                               const char *target)
{
    jaxvet_error error = *said;

    error.file[sizeof error.file - 1] = '\0';
    error.place[sizeof error.place - 1] = '\0';
    error.message[sizeof error.message - 1] = '\0';
    error.status = status == JAXVET_USAGE || status == JAXVET_INTERNAL ||
                           status == JAXVET_LIMIT
                       ? status
                       : JAXVET_INPUT;
    if (!error.message[0])
        snprintf(
            error.message, sizeof error.message,
            "the handler of the custom call @%s failed, and does not say why",
            target);
    return error;
}

bool jx_run_host_failed(jx_run *run, jaxvet_status status,
                        const jaxvet_error *error,
                        const jaxvet_custom_call *call)
{
    size_t length = strlen(call->place), room = sizeof run->host_error.place;

    run->host_failed = true;
    run->host_error = host_error(error, status, call->target);
    if (!run->host_error.place[0] && length >= room)
        memcpy(run->host_error.place, call->place + length - room + 1, room);
    else if (!run->host_error.place[0])
        memcpy(run->host_error.place, call->place, length + 1);
    return jx_run_fail(run, "the custom call @%s: %s", call->target,
                       run->host_error.message);
}

const jaxvet_error *jx_exec_host_error(const jx_exec *exec)
{
    return exec->run.host_failed ? &exec->run.host_error : NULL;
}

void jx_exec_seed(jx_exec *exec, uint64_t seed)
{
    exec->run.seed = seed;
}

int64_t jx_exec_drawn(const jx_exec *exec)
{
    return exec->run.drawn;
}

void jx_run_enter(jx_run *run, jx_turn *turn)
{
    *turn = (jx_turn){run->turn, 0};
    run->turn = turn;
}

void jx_run_leave(jx_run *run)
{
    run->turn = run->turn->around;
}

const jx_turn *jx_run_turn(const jx_run *run)
{
    return run->turn;
}

uint64_t jx_run_seed(const jx_run *run)
{
    return run->seed;
}

void jx_run_notice(jx_run *run)
{
    run->noticed = true;
}

bool jx_exec_noticed(const jx_exec *exec)
{
    return exec->run.noticed;
}

int64_t jx_run_draw(jx_run *run)
{
    return run->drawn++;
}

void jx_exec_restart(jx_exec *exec)
{
    double seconds = exec->run.budget->limits.seconds;

    exec->run.deadline = seconds > 0 ? jx_seconds_now() + seconds : 0;
}

bool jx_exec_gave_up(const jx_exec *exec)
{
    return atomic_load(&exec->run.stopped);
}

void jx_exec_limit(jx_exec *exec, int64_t operations)
{
    exec->run.limit = operations;
}

int64_t jx_exec_operations(const jx_exec *exec)
{
    const jx_run *run = &exec->run;

    return run->limit - (run->left > 0 ? run->left : 0);
}

int64_t jx_exec_elements(const jx_exec *exec)
{
    return exec->run.elements;
}

const void *jx_exec_out(const jx_exec *exec, int i)
{
    return exec->run.outs[i];
}

const char *jx_exec_error(const jx_exec *exec)
{
    return exec->run.error;
}

bool jx_exec_differs(const jx_exec *exec)
{
    return exec->run.differs;
}

/* An array as the caller hands it over; `strides`: room for as many. */
static jx_view view_of(const jx_port *port, const void *data, int64_t *strides)
{
    int64_t step = (int64_t)jx_dtype_of(port->dtype)->bytes;

    for (int i = port->rank; i-- > 0; step *= port->shape[i])
        strides[i] = step;
    return (jx_view){(char *)(uintptr_t)data,
                     port->dtype,
                     port->rank,
                     port->shape,
                     strides,
                     port->count,
                     true};
}

bool jx_port_find_unfinite(const jx_port *port, const void *data,
                           jx_unfinite *found)
{
    int64_t strides[JX_MAX_RANK];
    const jx_view view = view_of(port, data, strides);

    return jx_dtype_is_inexact(port->dtype) &&
           !jx_finite_at_sight(port->dtype, data, port->count) &&
           jx_unfinite_find(&view, found);
}

bool jx_port_is_finite(const jx_port *port, const void *data)
{
    int64_t strides[JX_MAX_RANK];
    const jx_view view = view_of(port, data, strides);

    return !jx_dtype_is_inexact(port->dtype) || jx_worst_of(&view) == JX_FINITE;
}
