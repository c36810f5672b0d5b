/* agree.c - see agree.h. */
#include "runtime/agree.h"

#include "frontend/ir/params.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fill.h"
#include "runtime/fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 2000000 };

typedef struct runner {
    jx_program *program;
    jx_plan *plan;
    jx_exec *exec;
    void **ins; /* with malloc: big ones are given back at once */
} runner;

typedef struct agreeing {
    jx_program *a, *b;
    const jx_typed *typed_a, *typed_b;
    jx_ctx *ctx;
    const jx_agree_limits *limits;
    jx_agreement found;
    bool close; /* unknown, since a tolerance is larger than what it is for */
} agreeing;

/* ---- how much work a program is, roughly */

static double elements(const jx_aval *aval)
{
    double count = 1;

    for (int i = 0; i < aval->rank; i++)
        count *= (double)jx_dim_value(aval->shape[i]);
    return count < 0 ? 0 : count;
}

/* `known` has the work of each jaxpr of the program by number, and 1 more; 0 is
 * not known yet. */
static double work_of_jaxpr(const jx_jaxpr *jaxpr, double *known);

static double work_of_bodies(const jx_value *value, double *known)
{
    double work =
        value->tag == JX_V_JAXPR ? work_of_jaxpr(value->jaxpr, known) : 0;

    for (int i = 0; value->items && i < value->count; i++)
        work += work_of_bodies(value->items[i], known);
    return work;
}

/* What contractions sum for each element that they give. */
static double summands(const jx_eqn *eqn)
{
    double out = elements(eqn->outs[0]->aval), ins = 1;

    if (eqn->prim->id != JX_PRIM_dot_general &&
        eqn->prim->id != JX_PRIM_conv_general_dilated)
        return 1;
    for (int i = 0; i < 2; i++)
        ins *= elements(jx_atom_aval(eqn->ins[i]));
    return out > 0 ? ins / out + 1 : 1;
}

static double work_of_eqn(const jx_eqn *eqn, double *known)
{
    double work = 0, times = 1;

    for (int i = 0; i < eqn->nouts; i++)
        work += elements(eqn->outs[i]->aval);
    for (int i = 0; i < eqn->nins; i++)
        work += elements(jx_atom_aval(eqn->ins[i]));
    if (eqn->nouts == 1 && eqn->nins >= 2)
        work *= summands(eqn);
    if (eqn->prim->id == JX_PRIM_scan && eqn->typed)
        times = (double)jx_dim_value(((const jx_p_scan *)eqn->typed)->length);
    for (int i = 0; i < eqn->nparams; i++)
        work += (times < 1 ? 1 : times) *
                work_of_bodies(eqn->params[i].value, known);
    return work;
}

static double work_of_jaxpr(const jx_jaxpr *jaxpr, double *known)
{
    double work = 0;

    if (known[jaxpr->id] > 0)
        return known[jaxpr->id] - 1;
    for (int i = 0; i < jaxpr->neqns; i++)
        work += work_of_eqn(&jaxpr->eqns[i], known);
    known[jaxpr->id] = work + 1;
    return work;
}

static double work_of_program(const jx_program *program)
{
    double *known = calloc((size_t)program->njaxprs + 1, sizeof *known);
    double work = known ? work_of_jaxpr(program->entry.jaxpr, known) : HUGE_VAL;

    if (!known)
        jx_starved(program->ctx);
    free(known);
    return work;
}

/* ---- running */

static bool unknown(agreeing *s, const char *why)
{
    s->found.verdict = JX_AGREE_UNKNOWN;
    s->found.why = why ? why : "there is no memory";
    return false;
}

/* The context's error becomes the reason. */
static bool failed(agreeing *s)
{
    const jx_error *error = &s->ctx->error;
    const char *why = error->message;

    if (error->place && why)
        why = jx_arena_printf(s->ctx->arena, "%s: %s", error->place, why);
    unknown(s, why);
    if (!jx_arena_failed(s->ctx->arena))
        jx_error_clear(s->ctx);
    return false;
}

static void end_runner(runner *r)
{
    for (int i = 0; r->ins && i < jx_plan_nins(r->plan); i++)
        free(r->ins[i]);
    free(r->ins);
    jx_exec_free(r->exec);
    jx_plan_free(r->plan);
    *r = (runner){0};
}

/* Made-up floats lie between -1 and 1, where much is alike: some are made 8 or
 * 64 times as large. */
static void spread(const jx_port *port, int input, char *data)
{
    const jx_dtype wide = jx_dtype_is_complex(port->dtype) ? JX_C128 : JX_F64;
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    if (!jx_dtype_is_inexact(port->dtype) || bytes < 2)
        return;
    for (int64_t i = 0; i < port->count; i++, data += bytes) {
        double parts[2] = {0, 0}, times = 1;

        for (int64_t k = (i + input + 1) % 3; k > 0; k--)
            times *= 8;
        jx_convert(port->dtype, wide, data, parts, 1);
        parts[0] *= times;
        parts[1] *= times;
        jx_convert(wide, port->dtype, parts, data, 1);
    }
}

static bool fill_inputs(runner *r, const char *how, bool large)
{
    int n = jx_plan_nins(r->plan);

    if (!r->ins)
        r->ins = calloc((size_t)n + 1, sizeof *r->ins);
    for (int i = 0; r->ins && i < n; i++) {
        const jx_port *port = jx_plan_in(r->plan, i);
        if (!r->ins[i])
            r->ins[i] = malloc(port->bytes + 16);
        if (r->ins[i])
            memset(r->ins[i], 0, port->bytes);
        if (!r->ins[i] || !jx_fill(how, i, port, r->ins[i], NULL))
            return false;
        if (large)
            spread(port, i, r->ins[i]);
    }
    return r->ins != NULL;
}

static bool begin_runner(agreeing *s, runner *r, const jx_typed *typed,
                         jx_domain domain)
{
    const jx_plan_options options = {.domain = domain,
                                     .memory = s->limits->memory};

    r->program = typed->program;
    r->plan = jx_plan_make(typed, &typed->program->entry, &options);
    if (!r->plan)
        return failed(s);
    if (jx_plan_memory(r->plan) > s->limits->memory)
        return unknown(s, "running it takes too much memory");
    r->exec = jx_exec_new(r->plan);
    if (!r->exec)
        return failed(s);
    jx_exec_limit(r->exec, MAX_OPERATIONS);
    return true;
}

static bool run(agreeing *s, runner *r, const char *how, bool large)
{
    if (!fill_inputs(r, how, large)) {
        jx_starved(s->ctx);
        return unknown(s, NULL);
    }
    if (jx_exec_run(r->exec, (const void *const *)r->ins, NULL))
        return true;
    return unknown(s, jx_arena_printf(s->ctx->arena, "running it failed: %s",
                                      jx_exec_error(r->exec)));
}

/* ---- comparing */

static const char *type_text(agreeing *s, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(s->ctx);

    jx_aval_print(aval, &text);
    return jx_arena_take(s->ctx->arena, &text);
}

static const char *element_text(agreeing *s, const runner *r, int output,
                                int64_t at)
{
    const jx_port *port = jx_plan_out(r->plan, output);
    jx_buffer text = jx_ctx_text(s->ctx);

    jx_element_print(port->dtype,
                     (const char *)jx_exec_out(r->exec, output) +
                         (size_t)at * jx_dtype_of(port->dtype)->bytes,
                     &text);
    return jx_arena_take(s->ctx->arena, &text);
}

static const char *index_text(agreeing *s, const jx_port *port, int64_t flat)
{
    jx_buffer text = jx_ctx_text(s->ctx);
    int64_t step = port->count;

    for (int k = 0; k < port->rank; k++) {
        step /= port->shape[k];
        jx_buffer_printf(&text, "%s%lld", k ? "," : "[",
                         (long long)(flat / step));
        flat %= step;
    }
    if (port->rank)
        jx_buffer_putc(&text, ']');
    return jx_arena_take(s->ctx->arena, &text);
}

static bool same_types(agreeing *s)
{
    const jx_jaxpr *a = s->a->entry.jaxpr, *b = s->b->entry.jaxpr;

    if (a->nouts != b->nouts) {
        s->found = (jx_agreement){
            JX_DISAGREES,
            NULL,
            -1,
            NULL,
            jx_arena_printf(s->ctx->arena, "%d results", a->nouts),
            jx_arena_printf(s->ctx->arena, "%d results", b->nouts)};
        return false;
    }
    for (int i = 0; i < a->nouts; i++) {
        const jx_aval *x = jx_atom_aval(a->outs[i]);
        const jx_aval *y = jx_atom_aval(b->outs[i]);
        if (jx_aval_same_values(x, y))
            continue;
        s->found = (jx_agreement){JX_DISAGREES,    NULL,           i, NULL,
                                  type_text(s, x), type_text(s, y)};
        return false;
    }
    return true;
}

static jx_tolerance tolerance(const jx_port *port, jx_domain domain)
{
    if (domain == JX_WIDE && jx_dtype_is_inexact(port->dtype))
        return (jx_tolerance){.relative = 1e-6, .absolute = 1e-9};
    return jx_tolerance_of(port->dtype);
}

/* Numbers that are small altogether are not the same for being small. */
static jx_tolerance scaled(jx_tolerance within, double largest)
{
    if (largest < 1)
        within.absolute *= largest;
    return within;
}

/* Whether elements agree as they should where some number is to be seen: NaN
 * everywhere tells nothing. */
static jx_agreeing compare_output(agreeing *s, const runner *a, const runner *b,
                                  int i, jx_domain domain, bool *seen,
                                  jx_mismatch *first)
{
    const jx_port *port = jx_plan_out(a->plan, i);
    const void *x = jx_exec_out(a->exec, i), *y = jx_exec_out(b->exec, i);
    jx_tolerance within = tolerance(port, domain);
    jx_mismatch ignored;
    double most, other;

    *seen = true;
    if (port->aval->kind != JX_AVAL_ARRAY)
        return JX_AGREES;
    if (!jx_compare(port->dtype, x, y, port->count, &within, first))
        return JX_DISAGREES;
    if (!jx_dtype_is_inexact(port->dtype) || !port->count)
        return JX_AGREES;
    most = jx_largest(port->dtype, x, port->count);
    other = jx_largest(port->dtype, y, port->count);
    most = other > most ? other : most;
    *seen = most >= 0;
    within = scaled(within, most);
    if (most < 0 ||
        jx_compare(port->dtype, x, y, port->count, &within, &ignored))
        return JX_AGREES;
    s->close = true;
    return JX_AGREE_UNKNOWN;
}

/* After one run.  The first output whose elements differ goes into *found;
 * `seen` is by output: some run gave it a number. */
static jx_agreeing compare_outputs(agreeing *s, const runner *a,
                                   const runner *b, jx_domain domain,
                                   bool *seen, jx_agreement *found)
{
    jx_agreeing verdict = JX_AGREES;

    for (int i = 0; i < jx_plan_nouts(a->plan); i++) {
        const jx_port *port = jx_plan_out(a->plan, i);
        bool some;
        jx_mismatch first;
        jx_agreeing one = compare_output(s, a, b, i, domain, &some, &first);

        seen[i] |= some;
        if (one == JX_AGREE_UNKNOWN)
            verdict = one;
        if (one != JX_DISAGREES)
            continue;
        *found = (jx_agreement){JX_DISAGREES,
                                NULL,
                                i,
                                index_text(s, port, first.index),
                                element_text(s, a, i, first.index),
                                element_text(s, b, i, first.index)};
        return JX_DISAGREES;
    }
    return verdict;
}

static jx_agreeing all_seen(agreeing *s, int count, const bool *seen)
{
    for (int i = 0; i < count; i++)
        if (!seen[i]) {
            unknown(s, jx_arena_printf(s->ctx->arena,
                                       "out%d has no finite number on the "
                                       "inputs that were tried",
                                       i));
            return JX_AGREE_UNKNOWN;
        }
    return JX_AGREES;
}

/* Unless they differ: the worst of what the runs say. */
static jx_agreeing run_both(agreeing *s, runner *a, runner *b, jx_domain domain,
                            jx_agreement *found)
{
    static const char *const fills[] = {"random:0", "random:1"};
    int count = jx_plan_nouts(a->plan);
    bool *seen = JX_NEW_ARRAY(s->ctx->arena, count, bool);
    jx_agreeing verdict = JX_AGREES;

    if (!seen) {
        unknown(s, NULL);
        return JX_AGREE_UNKNOWN;
    }
    for (int i = 0; i < 2; i++) {
        jx_agreeing one;

        if (!run(s, a, fills[i], i > 0) || !run(s, b, fills[i], i > 0))
            return JX_AGREE_UNKNOWN;
        one = compare_outputs(s, a, b, domain, seen, found);
        if (one == JX_DISAGREES)
            return one;
        if (one == JX_AGREE_UNKNOWN)
            verdict = one;
    }
    if (verdict == JX_AGREES)
        return all_seen(s, count, seen);
    unknown(s, "they differ, by less than the usual tolerance but by more than "
               "rounding gives numbers so small");
    return verdict;
}

/* In one domain: JX_AGREES, JX_DISAGREES with the place, or unknown. */
static jx_agreeing agree_in(agreeing *s, jx_domain domain, jx_agreement *found)
{
    runner a = {0}, b = {0};
    jx_agreeing verdict = JX_AGREE_UNKNOWN;

    s->close = false;
    if (begin_runner(s, &a, s->typed_a, domain) &&
        begin_runner(s, &b, s->typed_b, domain))
        verdict = run_both(s, &a, &b, domain, found);
    end_runner(&a);
    end_runner(&b);
    return verdict;
}

/* Which floats a program has, and how often it rounds to one that holds less:
 * double precision shows nothing of that. */
typedef struct rounding {
    uint64_t dtypes;
    int64_t narrowed;
} rounding;

static void note_aval(rounding *to, const jx_aval *aval)
{
    if (aval->kind == JX_AVAL_ARRAY && jx_dtype_is_inexact(aval->dtype))
        to->dtypes |= (uint64_t)1 << ((unsigned)aval->dtype % 64);
}

static void note_jaxpr(rounding *to, const jx_jaxpr *jaxpr);

static void note_bodies(rounding *to, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR)
        note_jaxpr(to, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        note_bodies(to, value->items[i]);
}

static void note_eqn(rounding *to, const jx_eqn *eqn)
{
    const jx_dtype from =
        eqn->nins ? jx_atom_aval(eqn->ins[0])->dtype : JX_DT_NONE;

    for (int i = 0; i < eqn->nouts; i++)
        note_aval(to, eqn->outs[i]->aval);
    for (int i = 0; i < eqn->nparams; i++)
        note_bodies(to, eqn->params[i].value);
    if (eqn->prim->id == JX_PRIM_reduce_precision)
        to->narrowed++;
    if (eqn->prim->id == JX_PRIM_convert_element_type && eqn->nouts == 1 &&
        jx_dtype_is_inexact(from) &&
        jx_dtype_of(eqn->outs[0]->aval->dtype)->bits < jx_dtype_of(from)->bits)
        to->narrowed++;
}

/* Its calls can't go too deep or be too many: it was to be run. */
static void note_jaxpr(rounding *to, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        note_eqn(to, &jaxpr->eqns[i]);
}

static rounding rounding_of(const jx_program *program)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;
    rounding made = {0};

    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++)
        note_aval(&made, jaxpr->vars[i]->aval);
    for (int i = 0; i < jaxpr->nouts; i++)
        note_aval(&made, jx_atom_aval(jaxpr->outs[i]));
    note_jaxpr(&made, jaxpr);
    return made;
}

static bool rounds_alike(const jx_program *a, const jx_program *b)
{
    rounding x = rounding_of(a), y = rounding_of(b);

    return x.dtypes == y.dtypes && x.narrowed == y.narrowed;
}

/* Numbers that differ: by rounding alone?  What can't be run with doubles is
 * judged as it is, and so are programs that ask for other precisions. */
static void judge(agreeing *s)
{
    jx_agreement declared = {0}, wide = {0};
    jx_agreeing verdict = agree_in(s, JX_DECLARED, &declared);
    const char *why = s->found.why;

    if (verdict == JX_AGREE_UNKNOWN && !s->close)
        return;
    if (verdict != JX_AGREES && rounds_alike(s->a, s->b) &&
        agree_in(s, JX_WIDE, &wide) == JX_AGREES)
        verdict = JX_AGREES;
    s->found = declared;
    s->found.why = verdict == JX_AGREE_UNKNOWN ? why : NULL;
    s->found.verdict = verdict;
}

jx_agreement jx_programs_agree(jx_program *a, jx_program *b,
                               const jx_agree_limits *limits)
{
    agreeing s = {.a = a, .b = b, .ctx = a->ctx, .limits = limits};
    double work = work_of_program(a) + work_of_program(b);

    if (!same_types(&s))
        return s.found;
    if (work > (double)limits->work)
        unknown(&s, "running it takes too long");
    else if (!(s.typed_a = jx_program_fits(a, false, 0, NULL)) ||
             !(s.typed_b = jx_program_fits(b, false, 0, NULL)))
        failed(&s);
    else
        judge(&s);
    return s.found;
}
