/* cmd_run.c - `jaxvet run PROGRAM`: execute it on the CPU. */
#include "analyzer/transform/devices.h"
#include "frontend/base/file.h"
#include "frontend/base/sha256.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/signature.h"
#include "reports/commands/commands.h"
#include "reports/commands/culprit.h"
#include "reports/commands/limits.h"
#include "reports/commands/ranks.h"
#include "reports/commands/sanitizes.h"
#include "reports/formats/blackbox.h"
#include "reports/formats/formats.h"
#include "reports/formats/unfinite.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "reports/pipeline/transforms.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fill.h"
#include "runtime/fits.h"
#include "runtime/loss.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    jx_texts set, shape, transform;
    const char *inputs, *fill, *outputs, *expect, *against, *domain, *sanitize,
        *format, *numerics;
    double rtol, atol;
    int64_t bench, vjp, seed;
    bool bits, finite, mpi;
    int64_t ranks, devices;
    double timeout;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"inputs", 0, JX_OPT_TEXT, "FILE.npz", "arrays in0, in1, ... to run on",
     offsetof(settings, inputs)},
    {"fill", 0, JX_OPT_TEXT, "zeros|random:SEED",
     "make the inputs instead (random:0)", offsetof(settings, fill)},
    {"set", 0, JX_OPT_LIST, "NAME=SIZE", "the size of a symbolic dimension",
     offsetof(settings, set)},
    {"shape", 0, JX_OPT_LIST, "[INPUT=]SHAPE",
     "the shape of an input (in order, or args[1]=3,4), which gives its sizes",
     offsetof(settings, shape)},
    {"outputs", 0, JX_OPT_TEXT, "FILE.npz",
     "write the results as out0, out1, ...", offsetof(settings, outputs)},
    {"expect", 0, JX_OPT_TEXT, "FILE.npz",
     "compare with out0, out1, ...; a difference exits with 1",
     offsetof(settings, expect)},
    {"against", 0, JX_OPT_TEXT, "FILE.npz",
     "what another machine computed, out0, out1, ... as far as it is known: name the\n"
     "first equation whose result lies outside of its declared error there",
     offsetof(settings, against)},
    {"rtol", 0, JX_OPT_REAL, "X",
     "allow this relative difference (by dtype; integers exact)",
     offsetof(settings, rtol)},
    {"atol", 0, JX_OPT_REAL, "X", "allow this absolute difference",
     offsetof(settings, atol)},
    {"bits", 0, JX_OPT_FLAG, NULL, "compare bit by bit: -0, NaN payloads",
     offsetof(settings, bits)},
    {"finite", 0, JX_OPT_FLAG, NULL,
     "say where a value first stops being finite; exit with 1 if an output "
     "does",
     offsetof(settings, finite)},
    {"sanitize", 0, JX_OPT_TEXT, "KIND,...",
     "look for nan (and infinities), oob (indices outside), wrap (integers\n"
     "that do not hold their value), digits (that are lost); report what is\n"
     "found, and exit with 1",
     offsetof(settings, sanitize)},
    {"format", 0, JX_OPT_CHOICE, jx_format_names + 1,
     "of what --sanitize finds: with another than text nothing else is printed",
     offsetof(settings, format)},
    {"domain", 0, JX_OPT_CHOICE, "declared|wide",
     "compute with dtypes as declared, or in float64 throughout (declared)",
     offsetof(settings, domain)},
    {"numerics", 0, JX_OPT_CHOICE, "ieee|ftz|xla",
     "round as written (ieee), flush subnormal numbers (ftz), or keep excess\n"
     "digits as well, as XLA's code does (xla)",
     offsetof(settings, numerics)},
    {"vjp", 0, JX_OPT_INT, "N",
     "run the derivative of order N that an exported file holds",
     offsetof(settings, vjp)},
    JX_TRANSFORM_OPTION(settings),
    {"bench", 0, JX_OPT_INT, "N", "run N times more; print how long they took",
     offsetof(settings, bench)},
    {"seed", 0, JX_OPT_INT, "N",
     "of random numbers that the program leaves open (0)",
     offsetof(settings, seed)},
    {"devices", 0, JX_OPT_INT, "N",
     "be N devices: those of the program's mesh, or, where it has none, each of them\n"
     "with inputs and outputs of its own (as --transform devices:N does)",
     offsetof(settings, devices)},
    {"mpi", 0, JX_OPT_FLAG, NULL,
     "be one device of the program's mesh: mpirun started one process for each",
     offsetof(settings, mpi)},
    {"ranks", 0, JX_OPT_INT, "N", "have mpirun start N processes with --mpi",
     offsetof(settings, ranks)},
    {"timeout", 0, JX_OPT_REAL, "SECONDS",
     "how long a rank waits for others in a collective before it says so (2);\n"
     "0: for ever, and nothing is checked",
     offsetof(settings, timeout)},
    JX_LIMIT_OPTIONS(settings),
};

/* What ranks compare: the program's bytes, what else says what is computed, and
 * what it is computed of. */
enum { OF_PROGRAM, OF_OPTIONS, OF_INPUTS, PRINTS };

/* One run, from its words to its exit code. */
typedef struct session {
    const settings *s;
    jx_ctx *ctx;
    jx_program *program;
    const jx_typed *typed; /* it, once its sizes are known */
    jx_plan *plan;         /* with --sanitize its own, not ours */
    jx_sanitizes sanitizes;
    jx_exec *exec;
    const void *const *ins; /* as the plan stores them */
    bool looks;             /* at what is not finite, in `watch` */
    jx_watch watch;
    jx_loss loss; /* made when results are off */
    jx_ranks ranks;
    uint64_t prints[PRINTS]; /* the same on all ranks */
    int nvalued, nsizes;
    const jx_valued *valued; /* inputs that say sizes, and the sizes */
    const jx_binding *sizes;
    jx_buffer text;
} session;

static int failed(const session *r)
{
    jx_ok(r->ctx);
    return jx_command_failed(r->ctx);
}

/* Made-up inputs that say sizes say those of this run. */
static void put_sizes(const session *r, int input, const jx_port *port,
                      void *data)
{
    for (int i = 0; i < r->nvalued; i++) {
        const jx_valued *v = &r->valued[i];
        for (int k = 0;
             v->input == input && v->element < port->count && k < r->nsizes;
             k++)
            if (r->sizes[k].var == v->var)
                jx_convert(JX_I64, port->dtype, &r->sizes[k].value,
                           (char *)data + (size_t)v->element *
                                              jx_dtype_of(port->dtype)->bytes,
                           1);
    }
}

static bool fill_inputs(session *r)
{
    int n = jx_plan_nins(r->plan);
    const void **ins = JX_NEW_ARRAY(r->ctx->arena, n + 1, const void *);

    for (int i = 0; ins && i < n; i++) {
        const jx_port *port = jx_plan_in(r->plan, i);
        void *data = jx_arena_alloc(r->ctx->arena, port->bytes);
        if (!data)
            return false;
        if (!jx_fill(r->s->fill, i, port, data, &r->ctx->budget))
            return jx_fail(r->ctx, JX_E_USAGE, NULL, r->s->fill,
                           "expected zeros or random:SEED");
        put_sizes(r, i, port, data);
        ins[i] = data;
    }
    r->ins = ins;
    return ins && jx_ok(r->ctx);
}

/* The call that a black box keeps, unless other inputs are asked for. */
static bool replays(const session *r)
{
    const settings *s = r->s;

    return r->program->blackbox && !s->inputs && !s->fill && !s->shape.count;
}

static bool looks(const session *r)
{
    if (r->s->sanitize)
        return false;
    return r->s->finite || (replays(r) && !r->s->bench);
}

static void mix_print(session *r, int of, const void *bytes, size_t size)
{
    char print[65];
    uint64_t first;

    if (!r->ranks.comm)
        return;
    jx_sha256(bytes, size, print);
    memcpy(&first, print, sizeof first);
    r->prints[of] = r->prints[of] * 0x100000001b3u ^ first;
}

static void mix_text(session *r, const char *text)
{
    mix_print(r, OF_OPTIONS, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void mix_options(session *r)
{
    const settings *s = r->s;
    const int64_t numbers[] = {s->vjp, s->seed};

    mix_print(r, OF_OPTIONS, numbers, sizeof numbers);
    mix_text(r, s->numerics);
    mix_text(r, s->domain);
    for (int i = 0; i < s->transform.count; i++)
        mix_text(r, s->transform.at[i]);
}

/* The plan, its inputs and its memory. */
static bool prepare(session *r)
{
    const settings *s = r->s;
    jx_plan_options o = {.domain = s->domain && !strcmp(s->domain, "wide")
                                       ? JX_WIDE
                                       : JX_DECLARED,
                         .excess = s->numerics && !strcmp(s->numerics, "xla"),
                         .watch = r->looks ? &r->watch : NULL,
                         .comm = r->ranks.comm};
    const void *const *given = NULL;
    const jx_npz *npz;

    if (s->inputs ? !jx_inputs_npz(r->program, s->inputs, &s->set, &o.nbindings,
                                   &o.bindings, &given, &npz)
        : replays(r) ? !jx_inputs_kept(r->program, &s->set, &o.nbindings,
                                       &o.bindings, &given)
        : s->shape.count
            ? !jx_inputs_shapes(r->program, &s->shape, &s->set, &o.nbindings,
                                &o.bindings)
            : !jx_inputs_sizes(r->program, &s->set, &o.nbindings,
                               &o.bindings) ||
                  !jx_plan_admit(r->program, o.nbindings, o.bindings))
        return false;
    r->nvalued = r->program->nvalued;
    r->valued = r->program->valued;
    r->nsizes = o.nbindings;
    r->sizes = o.bindings;
    r->typed = jx_program_at(r->program, o.nbindings, o.bindings);
    if (!r->typed)
        return false;
    r->program = r->typed->program;
    if (!s->sanitize)
        r->plan = jx_plan_make(r->typed, &r->program->entry, &o);
    else if (jx_sanitizes_open(&r->sanitizes, r->program, s->sanitize,
                               (uint64_t)s->seed, o.nbindings, o.bindings))
        r->plan =
            (jx_plan *)(uintptr_t)jx_sanitizer_plan(r->sanitizes.sanitizer);
    if (!r->plan ||
        !(given ? (r->ins = jx_inputs_widened(r->ctx, r->plan, given)) != NULL
                : fill_inputs(r)))
        return false;
    for (int i = 0; i < r->nsizes; i++)
        mix_print(r, OF_INPUTS, &r->sizes[i].value, sizeof r->sizes[i].value);
    for (int i = 0; i < jx_plan_nins(r->plan); i++)
        mix_print(r, OF_INPUTS, r->ins[i], jx_plan_in(r->plan, i)->bytes);
    r->exec = jx_exec_new(r->plan);
    if (r->exec)
        jx_exec_seed(r->exec, (uint64_t)s->seed);
    if (r->exec && s->numerics && strcmp(s->numerics, "ieee") != 0 &&
        !jx_exec_flush(r->exec, true))
        return jx_fail(r->ctx, JX_E_USAGE, NULL, "--numerics",
                       "this machine has no switch for subnormal numbers");
    o.comm = NULL; /* what is run beside this, to compare, is run here */
    r->loss = (jx_loss){.ctx = r->ctx,
                        .typed = r->typed,
                        .closed = &r->program->entry,
                        .options = o,
                        .seed = (uint64_t)s->seed,
                        .plan = r->plan,
                        .ins = r->ins};
    return r->exec != NULL;
}

static bool run_once(session *r)
{
    return (r->sanitizes.sanitizer
                ? jx_sanitizes_run(&r->sanitizes, r->exec, r->ins)
                : jx_exec_run(r->exec, r->ins, NULL)) ||
           jx_fail(r->ctx, jx_exec_gave_up(r->exec) ? JX_E_LIMIT : JX_E_INPUT,
                   r->program->path, NULL, "%s", jx_exec_error(r->exec));
}

/* The results as npz arrays: those of the wide domain in their own dtype. */
static jx_npy array_of(session *r, int i)
{
    const jx_port *port = jx_plan_out(r->plan, i);
    jx_dtype dtype = port->aval->dtype;

    if (r->s->domain && jx_dtype_is_inexact(dtype))
        dtype = port->dtype;
    return (jx_npy){.name = jx_arena_printf(r->ctx->arena, "out%d", i),
                    .descr = jx_inputs_descr(dtype),
                    .rank = port->rank,
                    .shape = port->shape,
                    .item = jx_dtype_of(dtype)->bytes,
                    .bytes = port->bytes,
                    .data = jx_exec_out(r->exec, i)};
}

static bool write_outputs(session *r)
{
    int n = jx_plan_nouts(r->plan);
    jx_npy *arrays = JX_NEW_ARRAY(r->ctx->arena, n + 1, jx_npy);
    jx_npz npz = {n, arrays};
    jx_buffer bytes = jx_ctx_text(r->ctx);

    if (!arrays)
        return false;
    for (int i = 0; i < n; i++)
        arrays[i] = array_of(r, i);
    if (!jx_ok(r->ctx)) /* for their names */
        return false;
    jx_npz_write(&bytes, &npz);
    bool ok = jx_buffer_ok(&bytes) ? jx_file_write(r->ctx, r->s->outputs,
                                                   bytes.text, bytes.length)
                                   : jx_starved(r->ctx);
    jx_buffer_free(&bytes);
    return ok;
}

/* "out1 f32[2,3]" */
static void print_output(session *r, int i)
{
    jx_buffer_printf(
        &r->text, "out%d %s[", i,
        jx_dtype_of(jx_plan_out(r->plan, i)->aval->dtype)->short_name);
    for (int k = 0; k < jx_plan_out(r->plan, i)->rank; k++)
        jx_buffer_printf(&r->text, k ? ",%lld" : "%lld",
                         (long long)jx_plan_out(r->plan, i)->shape[k]);
    jx_buffer_putc(&r->text, ']');
}

static void print_index(session *r, const jx_port *port, int64_t flat)
{
    int64_t step = port->count;

    jx_buffer_putc(&r->text, '[');
    for (int k = 0; k < port->rank; k++) {
        step /= port->shape[k];
        jx_buffer_printf(&r->text, k ? ",%lld" : "%lld",
                         (long long)(flat / step));
        flat %= step;
    }
    jx_buffer_putc(&r->text, ']');
}

static void print_pair(session *r, const jx_port *port, const char *got,
                       const char *want, jx_dtype dtype, int64_t at)
{
    size_t size = jx_dtype_of(dtype)->bytes;

    print_index(r, port, at);
    jx_buffer_puts(&r->text, " is ");
    jx_element_print(dtype, got + (size_t)at * size, &r->text);
    jx_buffer_puts(&r->text, ", expected ");
    jx_element_print(dtype, want + (size_t)at * size, &r->text);
}

static jx_tolerance tolerance(const settings *s, jx_dtype dtype)
{
    jx_tolerance t = jx_tolerance_of(dtype);

    if (s->rtol >= 0 || s->atol >= 0) {
        t.relative = s->rtol >= 0 ? s->rtol : 0;
        t.absolute = s->atol >= 0 ? s->atol : 0;
    }
    t.bits = s->bits;
    return t;
}

/* ---- rounding */

/* Where the default tolerance is asked for: a wider dtype, or the same with
 * other roundings of its inputs, knows better. */
static bool may_be_rounding(const session *r, jx_dtype dtype)
{
    const settings *s = r->s;

    return s->rtol < 0 && s->atol < 0 && !s->bits && !s->domain &&
           jx_dtype_is_inexact(dtype);
}

static bool is_rounding(session *r, int i, jx_dtype dtype, const void *got,
                        const void *want, const jx_mismatch *found)
{
    jx_tolerance within = tolerance(r->s, dtype);
    jx_roundoff measured = {0};
    jx_mismatch beyond;

    if (!may_be_rounding(r, dtype) ||
        !jx_loss_of(&r->loss, i, dtype, got, &measured))
        return false;
    within.each = measured.each;
    if (!jx_compare(dtype, got, want, jx_plan_out(r->plan, i)->count, &within,
                    &beyond))
        return false;
    print_output(r, i);
    jx_buffer_printf(&r->text,
                     ": %lld element%s differ%s by rounding, at most %.2g: "
                     "against float64 the program, or rounding of its inputs, "
                     "loses %.2g here, %d times that is allowed, %s\n",
                     (long long)found->count, found->count == 1 ? "" : "s",
                     found->count == 1 ? "s" : "", found->largest,
                     measured.lost, JX_ROUNDINGS,
                     measured.is_noise ? "and is all there is"
                                       : "up to a tenth of the largest");
    return true;
}

/* 1 if output `i` differs, 0 if it agrees, -1 with an error. */
static int compare_output(session *r, const jx_npz *npz, int i)
{
    const jx_port *port = jx_plan_out(r->plan, i);
    jx_dtype dtype = port->aval->dtype == JX_KEY ? JX_U32 : port->aval->dtype;
    const char *name = jx_arena_printf(r->ctx->arena, "out%d", i);
    const jx_npy *want = name ? jx_npz_find(npz, name) : NULL;
    const char *got = jx_exec_out(r->exec, i);
    size_t bytes = (size_t)port->count * jx_dtype_of(dtype)->bytes;
    jx_mismatch found;

    if (!want)
        return jx_fail(r->ctx, JX_E_INPUT, r->s->expect, name, "is not there") -
               1;
    bool same = want->rank == port->rank;
    for (int k = 0; same && k < want->rank; k++)
        same = want->shape[k] == port->shape[k];
    if (!same || strcmp(want->descr, jx_inputs_descr(dtype)) ||
        want->bytes != bytes)
        return jx_fail(r->ctx, JX_E_INPUT, r->s->expect, name,
                       "has another dtype or shape than the result") -
               1;
    if (port->dtype != dtype) {
        char *narrow = jx_arena_alloc(r->ctx->arena, bytes);
        if (!narrow)
            return -1;
        jx_convert(port->dtype, dtype, got, narrow, port->count);
        got = narrow;
    }
    jx_tolerance within = tolerance(r->s, dtype);
    if (jx_compare(dtype, got, want->data, port->count, &within, &found))
        return 0;
    if (is_rounding(r, i, dtype, got, want->data, &found))
        return 0;
    if (!jx_ok(r->ctx))
        return -1;
    print_output(r, i);
    jx_buffer_printf(&r->text, ": %lld of %lld elements differ\n  first: ",
                     (long long)found.count, (long long)port->count);
    print_pair(r, port, got, want->data, dtype, found.index);
    if (found.worst != found.index) {
        jx_buffer_puts(&r->text, "\n  worst: ");
        print_pair(r, port, got, want->data, dtype, found.worst);
    }
    jx_buffer_putc(&r->text, '\n');
    return 1;
}

static int compare_all(session *r)
{
    size_t size;
    const char *bytes = jx_file_read(r->ctx, r->s->expect, &size);
    const jx_npz *npz =
        bytes ? jx_npz_read(r->ctx, r->s->expect, bytes, size) : NULL;
    int differ = 0, n = jx_plan_nouts(r->plan);

    for (int i = 0; npz && i < n; i++) {
        int one = compare_output(r, npz, i);
        if (one < 0)
            return failed(r);
        differ += one;
    }
    if (!npz)
        return failed(r);
    jx_buffer_printf(&r->text, "%d of %d outputs as expected\n", n - differ, n);
    return differ ? JX_EXIT_FINDINGS : JX_EXIT_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The others wait for the first rank, which may have told of results, or made
 * some of its own, for as long as that takes. */
static void all_come(session *r)
{
    int first;

    if (r->ranks.comm)
        r->ranks.mpi->agree(r->ranks.comm, true, 0, &first);
}

static bool bench(session *r)
{
    size_t n = (size_t)r->s->bench;
    double *times = JX_NEW_ARRAY(r->ctx->arena, n, double);

    if (!times)
        return false;
    for (size_t i = 0; i < n; i++) {
        all_come(r);
        double start = jx_seconds_now();
        if (!run_once(r))
            return false;
        times[i] = 1e6 * (jx_seconds_now() - start);
    }
    qsort(times, n, sizeof *times, by_value);
    jx_buffer_printf(&r->text,
                     "%zu calls: min %.2f us, median %.2f us, max %.2f us\n", n,
                     times[0], times[n / 2], times[n - 1]);
    return true;
}

/* Without --outputs and --expect: a line per result. */
static void summarize(session *r)
{
    enum { SHOWN = 8 };

    for (int i = 0; i < jx_plan_nouts(r->plan); i++) {
        const jx_port *port = jx_plan_out(r->plan, i);
        const char *at = jx_exec_out(r->exec, i);
        jx_dtype dtype = port->dtype;
        print_output(r, i);
        jx_buffer_puts(&r->text, " =");
        for (int64_t k = 0; k < port->count && k < SHOWN; k++) {
            jx_buffer_putc(&r->text, ' ');
            jx_element_print(dtype, at + (size_t)k * jx_dtype_of(dtype)->bytes,
                             &r->text);
        }
        jx_buffer_puts(&r->text, port->count > SHOWN ? " ...\n" : "\n");
    }
}

static void tell_drawn(session *r)
{
    int64_t drawn = jx_exec_drawn(r->exec);

    if (drawn)
        jx_buffer_printf(&r->text,
                         "%lld array%s drawn at random, as the program leaves "
                         "the numbers open: --seed %lld\n",
                         (long long)drawn, drawn == 1 ? " was" : "s were",
                         (long long)r->s->seed);
}

/* What came in that is not finite, and where more of it was made; the exit code
 * by what goes out. */
static int tell_finite(session *r)
{
    jx_buffer name = jx_ctx_text(r->ctx);
    int unfinite = 0, nouts = jx_plan_nouts(r->plan);

    for (int i = 0; i < jx_plan_nins(r->plan); i++) {
        jx_buffer_clear(&name);
        jx_buffer_printf(&name, "in%d ", i);
        jx_input_print(r->program, i, &name);
        jx_port_unfinite(jx_buffer_text(&name), jx_plan_in(r->plan, i),
                         r->ins[i], &r->text);
    }
    jx_watch_print(&r->watch, &r->text);
    for (int i = 0; i < nouts; i++) {
        jx_buffer_clear(&name);
        jx_buffer_printf(&name, "out%d", i);
        unfinite +=
            jx_port_unfinite(jx_buffer_text(&name), jx_plan_out(r->plan, i),
                             jx_exec_out(r->exec, i), &r->text);
    }
    jx_buffer_printf(&r->text, "%d of %d outputs finite\n", nouts - unfinite,
                     nouts);
    jx_buffer_free(&name);
    return unfinite ? JX_EXIT_FINDINGS : JX_EXIT_OK;
}

static bool open_program(session *r, const char *path)
{
    size_t size;
    const char *bytes = jx_input_load(r->ctx, path, &size);

    if (bytes)
        mix_print(r, OF_PROGRAM, bytes, size);
    mix_options(r);
    r->program = bytes ? jx_input_read(r->ctx, path, bytes, size) : NULL;
    if (r->program && r->s->vjp)
        r->program = jx_input_vjp(r->program, r->s->vjp);
    r->program = jx_program_transformed(r->program, &r->s->transform, false);
    return r->program != NULL;
}

static int tell_culprit(session *r)
{
    const jx_culprit_search search = {r->typed, r->ins, r->nsizes, r->sizes,
                                      r->s->against};
    int code = jx_culprit_tell(&search, &r->text);

    return code < 0 ? failed(r) : code;
}

static int tell_results(session *r)
{
    int code = JX_EXIT_OK;

    tell_drawn(r);
    if (r->looks)
        code = tell_finite(r);
    if (r->s->outputs && !write_outputs(r))
        return failed(r);
    if (r->s->expect)
        code = jx_exit_worse(code, compare_all(r));
    if (r->s->against)
        code = jx_exit_worse(code, tell_culprit(r));
    if (!r->s->expect && !r->s->against && !r->s->outputs && !r->s->bench &&
        !r->s->format)
        summarize(r);
    return code;
}

/* ---- ranks */

/* Ranks that can't all begin end together: the first that has a
 * reason says it. */
static bool all_begin(session *r, bool ready, const char *path, int *code)
{
    static const char *const differs[PRINTS] = {"reads another program than",
                                                "has other options than",
                                                "has other inputs than"};
    int i = 0, first;

    *code = JX_EXIT_OK;
    while (i < PRINTS &&
           r->ranks.mpi->agree(r->ranks.comm, ready, r->prints[i], &first))
        i++;
    if (i == PRINTS)
        return true;
    if (first != r->ranks.comm->rank)
        return false;
    if (ready)
        jx_fail(r->ctx, JX_E_INPUT, path, NULL, "rank %d %s rank 0", first,
                differs[i]);
    *code = failed(r);
    return false;
}

static int run_failed(session *r)
{
    if (!jx_exec_differs(r->exec))
        return failed(r);
    jx_utf8_printf(&r->text, "the program expects another result: %s\n",
                   jx_exec_error(r->exec));
    return JX_EXIT_FINDINGS;
}

static int one_failed(session *r)
{
    int code;

    r->ranks.mpi->speaks(r->ranks.comm);
    code = run_failed(r);
    if (code == JX_EXIT_FINDINGS)
        code = jx_exit_worse(code, jx_command_write(NULL, &r->text));
    r->ranks.mpi->abort(r->ranks.comm, code);
    return code;
}

static int execute_rank(session *r, const char *path)
{
    bool first = jx_ranks_first(&r->ranks);
    int code;

    if (!all_begin(r, open_program(r, path) && prepare(r), path, &code))
        return code;
    if (!run_once(r))
        return one_failed(r);
    code = first ? tell_results(r) : JX_EXIT_OK;
    if (r->s->bench && !bench(r))
        return one_failed(r);
    if (!first)
        jx_buffer_clear(&r->text);
    return code;
}

static int execute(session *r, const char *path)
{
    int code;

    if (!open_program(r, path))
        return failed(r);
    r->looks = looks(r);
    if (replays(r))
        jx_blackbox_print(r->program->blackbox, &r->text);
    if (!prepare(r))
        return failed(r);
    if (!run_once(r))
        return run_failed(r);
    code = tell_results(r);
    if ((code == JX_EXIT_OK || code == JX_EXIT_FINDINGS) && r->s->bench &&
        !bench(r))
        return failed(r);
    if (r->sanitizes.sanitizer)
        code = jx_exit_worse(
            code, jx_sanitizes_tell(&r->sanitizes, r->s->format, &r->text));
    return code;
}

static bool join_ranks(session *r, int argc, char **argv)
{
    const settings *s = r->s;

    if (s->ranks && !jx_rank_here().started)
        return jx_ranks_start(r->ctx, (int)s->ranks, argc, argv);
    return !(s->mpi || s->ranks) ||
           jx_ranks_open(r->ctx, s->timeout, &r->ranks);
}

enum { DEVICES_TEXT = 40 };

/* As the last transformation. */
static bool add_devices(settings *s, char text[DEVICES_TEXT])
{
    if (s->mpi || s->ranks || s->transform.count == JX_TEXTS_MAX)
        return false;
    snprintf(text, DEVICES_TEXT, "devices:%lld", (long long)s->devices);
    s->transform.at[s->transform.count++] = text;
    return true;
}

/* `words` are all of them; reading options moves those of argv. */
static int run_words(int argc, char **argv, char **words)
{
    settings s = {.rtol = -1, .atol = -1, .timeout = 2};
    char devices[DEVICES_TEXT];
    int n = jx_command_options(&jx_command_run, argc, argv, &s);
    session r = {.s = &s};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 1)
        return jx_command_usage(&jx_command_run, "expected one program");
    if (s.inputs && s.fill)
        return jx_command_usage(&jx_command_run,
                                "--inputs and --fill exclude each other");
    if (s.against && s.domain && !strcmp(s.domain, "wide"))
        return jx_command_usage(&jx_command_run,
                                "--against needs the dtypes that are declared");
    if (s.inputs && s.shape.count)
        return jx_command_usage(&jx_command_run,
                                "--inputs and --shape exclude each other");
    if (s.sanitize && (s.finite || s.domain || s.numerics))
        return jx_command_usage(
            &jx_command_run,
            "--sanitize excludes --finite, --domain and --numerics");
    if ((s.sanitize || s.finite) && (s.mpi || s.ranks))
        return jx_command_usage(
            &jx_command_run,
            "--sanitize and --finite watch one process, not ranks");
    if (s.numerics && s.domain)
        return jx_command_usage(&jx_command_run,
                                "--numerics and --domain exclude each other");
    if (s.devices && !add_devices(&s, devices))
        return jx_command_usage(&jx_command_run,
                                "--devices and --mpi exclude each other, and "
                                "--transform takes %d at most",
                                JX_TEXTS_MAX);
    if (s.ranks > JX_MOST_DEVICES)
        return jx_command_usage(&jx_command_run, "--ranks: at most %d",
                                JX_MOST_DEVICES);
    if (s.format && !s.sanitize)
        return jx_command_usage(&jx_command_run,
                                "--format is of what --sanitize finds");
    if (s.bench > 1 << 20)
        return jx_command_usage(&jx_command_run, "--bench: at most %d",
                                1 << 20);
    int code;
    r.ctx = jx_command_ctx(&jx_command_run, &s.limits, &code);
    if (!r.ctx)
        return code;
    r.text = jx_ctx_text(r.ctx);
    code = !join_ranks(&r, argc, words)
               ? (jx_rank_here().number ? JX_EXIT_OK : failed(&r))
           : r.ranks.comm ? execute_rank(&r, argv[0])
                          : execute(&r, argv[0]);
    if (code != JX_EXIT_INPUT || (r.text.length && jx_ok(r.ctx)))
        code = jx_exit_worse(code, jx_command_write(NULL, &r.text));
    jx_buffer_free(&r.text);
    jx_loss_close(&r.loss);
    jx_exec_free(r.exec);
    if (r.sanitizes.sanitizer)
        jx_sanitizes_close(&r.sanitizes);
    else
        jx_plan_free(r.plan);
    jx_ranks_close(&r.ranks);
    jx_ctx_free(r.ctx);
    return code;
}

static int run(int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    int code;

    if (!words)
        return jx_command_starved();
    memcpy(words, argv, (size_t)argc * sizeof *words);
    code = run_words(argc, argv, words);
    free(words);
    return code;
}

const jx_command jx_command_run = {
    "run",
    "PROGRAM",
    "execute a program on the CPU",
    "Runs the program on given or made-up inputs and prints its results, writes\n"
    "them, or compares them with expected ones.  Symbolic dimensions get their\n"
    "sizes from the inputs' shapes (--inputs, or --shape for made-up ones), or\n"
    "from --set.  Shapes that the program does not admit are refused: the message\n"
    "has the axis, what is declared there, where other sizes came from, and what\n"
    "the shape assertion of an exported file or a StableHLO module says of it.\n"
    "\n"
    "Dtypes and shapes must match exactly.  In an npz bf16 and 8-bit floats are\n"
    "unsigned integers of their width, 4-bit integers bytes, keys their u32 data\n"
    "with a trailing axis.  Without --rtol and --atol integers and booleans must\n"
    "be exact, f64 agree to 1e-12, f32 to 1e-5 (relative) or 1e-6, f16 and bf16\n"
    "to 2 units of their precision, smaller floats be neighbours; NaN equals NaN\n"
    "and -0 equals +0 unless --bits.  Where results cancel, these are too strict\n"
    "for any order of adding up: what lies within 8 times what such elements of\n"
    "this run lose (against float64, and that with inputs off by a unit), and\n"
    "within a tenth of the largest number, is rounding, and told.  So is an output\n"
    "far below the inputs that is nothing else.\n"
    "\n"
    "A program that checks itself (check.expect_eq and its kin) exits with 1\n"
    "where it computes something else, and the first such element is printed.\n"
    "Computations of many devices (sdy.manual_computation) run on this one;\n"
    "custom calls run if their target is known, others are refused by name.\n"
    "\n"
    "--finite looks at the results of every equation, and names the first that\n"
    "gives a NaN and takes none, and the first that makes an infinity of finite\n"
    "numbers: the user's line, the element, what it was made of, in which turn of\n"
    "a loop.\n"
    "\n"
    "--sanitize=nan,oob,wrap,digits runs with probes, and where one of them notices\n"
    "something, or a result is not finite, once more to say what is to blame: an\n"
    "equation that makes a NaN of numbers or an infinity of finite ones, if that\n"
    "gets to an output (the arm that a where leaves out is quiet); an index outside\n"
    "of its axis, if somebody notices what is taken instead (quiet where its author\n"
    "wrote mode=); signed integers that wrap, and conversions to a dtype that does\n"
    "not hold the value (not of keys and hashes); with digits, a run in float64\n"
    "beside it, and the equations that lose more than half of the digits, if that\n"
    "shows in an output.  The report is that of check.\n"
    "\n"
    "--numerics says in which semantics the program runs.  ieee: as it is written,\n"
    "each operation rounded to nearest, subnormal numbers kept.  ftz: subnormal\n"
    "operands and results are zeros, as XLA's code has it on a CPU (negations,\n"
    "copies and bitcasts keep them).  xla: also, within what is fused elementwise\n"
    "here, a product that one sum or difference alone takes is not rounded (a fused\n"
    "multiply-add), and chains of 16-bit floats are rounded at their end.  What XLA\n"
    "fuses may be more or less than that, and what else it rewrites (a division by\n"
    "a constant, log of exp, ...) is not emulated: results show what excess digits\n"
    "can do, and are not XLA's bits.\n"
    "\n"
    "--against takes what another machine computed for outputs of the program, as many\n"
    "as are known, values on the way among them (jaxvet.compare in Python makes such\n"
    "programs): each is computed once more of the others as they are there, and the\n"
    "first that lies outside of the declared error of its equation is named.\n"
    "\n"
    "A black box (jaxvet.blackbox in Python) runs on the inputs that it keeps, with\n"
    "--finite, unless others are given.\n"
    "\n"
    "--vjp 1 runs the derivative that an exported file holds: its inputs are\n"
    "those of the function and a cotangent for each output.\n"
    "\n"
    "With --mpi each process that mpirun started is one device of the program's\n"
    "mesh, and collectives go from one to another: arrays of a group come to each\n"
    "of its members, who add them up in the order of ranks, so that results have the\n"
    "bits of a run in one process (but with --numerics xla, as what ranks fuse is\n"
    "each one's).  Ranks that go separate ways around a collective\n"
    "are told of, with where each of them is: at which of the program's collectives,\n"
    "in which turn of a loop, on which line.  --ranks N has mpirun start them (as\n"
    "root, and with more ranks than processors, if need be).  Rank 0 reports, and\n"
    "results come together there; parts stay with their ranks between computations\n"
    "of the mesh, unless what is done there needs all of an array, and what only\n"
    "results are made of is computed by rank 0.  Beside that they send what jaxvet\n"
    "info counts: all together so many times that as there are ranks, of sums whose\n"
    "elements are not as many for each rank (info leaves out fractions of a byte);\n"
    "each rank, of all others.  In a permutation that is who sends to another one.\n"
    "A rank that dies ends all of them, with the status that mpirun makes of it\n"
    "(128 and the signal); one that never begins is waited for ten times as long\n"
    "as --timeout says.\n"
    "\n"
    "    jaxvet run sharded.mlir --ranks 8\n"
    "    mpirun -n 8 jaxvet run --mpi sharded.mlir --inputs case.npz --expect case.npz\n"
    "    jaxvet run model.json --inputs case.npz --expect case.npz\n"
    "    jaxvet run model.json --set b=3 --fill random:1 --outputs out.npz\n"
    "    jaxvet run model.json --shape 3,3,6 --shape 'args[1]=(6,)'\n",
    options,
    sizeof options / sizeof *options,
    run,
};
