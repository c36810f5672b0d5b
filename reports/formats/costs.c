/* costs.c - see costs.h. */
#include "reports/formats/costs.h"

#include "analyzer/communication.h"
#include "frontend/base/json.h"
#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"
#include "prover/prover.h"
#include "reports/pipeline/inputs.h"
#include "runtime/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text */

/* " (2.0 MiB)", of what is too large to be read as bytes. */
static void put_bytes(jx_int bytes, jx_buffer *to)
{
    if (bytes < 1024)
        return;
    jx_buffer_puts(to, " (");
    jx_buffer_amount(to, (double)bytes);
    jx_buffer_puts(to, ")");
}

static void put_line(const char *label, const jx_dim *dim, bool bytes,
                     jx_buffer *to)
{
    jx_int value;

    jx_buffer_printf(to, "  %-16s", label);
    if (!dim)
        jx_buffer_puts(to, "unknown (beyond 128 bits)");
    else
        jx_dim_print(dim, to);
    if (bytes && dim && jx_dim_is_wide(dim, &value))
        put_bytes(value, to);
    jx_buffer_putc(to, '\n');
}

static void put_peaks(const char *label, size_t count,
                      const jx_dim *const *peaks, jx_buffer *to)
{
    for (size_t i = 0; i < count; i++)
        put_line(i ? "  or" : label, peaks[i], true, to);
    if (count > 1)
        jx_buffer_puts(to, "                  (the largest of these)\n");
}

static void put_peak(const jx_cost *cost, jx_buffer *to)
{
    if (cost->peak_known)
        put_peaks("peak memory", cost->peaks.count, cost->peaks.at, to);
    else
        jx_buffer_puts(to, "  peak memory     unknown (too many candidates)\n");
}

static void put_trips(const jx_cost *cost, jx_buffer *to)
{
    for (size_t i = 0; i < cost->trips.count; i++) {
        const jx_stack *stack = cost->trips.at[i].eqn->stack;

        jx_utf8_printf(to, "  %s: how often a while loop runs",
                       cost->trips.at[i].var->name);
        if (stack && stack->count)
            jx_utf8_printf(to, ", %s:%d", stack->frames[0]->file->path,
                           stack->frames[0]->line);
        jx_buffer_putc(to, '\n');
    }
}

static void put_dim(const jx_dim *dim, jx_buffer *to)
{
    if (dim)
        jx_dim_print(dim, to);
    else
        jx_buffer_puts(to, "unknown");
}

static bool is_none(const jx_dim *dim)
{
    int64_t value;

    return jx_dim_is_int(dim, &value) && value == 0;
}

static bool is_one(const jx_dim *dim)
{
    int64_t value;

    return dim && jx_dim_is_int(dim, &value) && value == 1;
}

static void put_sent(const jx_cost *cost, jx_buffer *to)
{
    jx_int bytes;

    if (cost->sent.count)
        jx_buffer_puts(to, "each device sends, in rings\n");
    for (size_t i = 0; i < cost->sent.count; i++) {
        const jx_sent *sent = &cost->sent.at[i];

        jx_buffer_printf(to, "  %-15s ", jx_collective_name(sent->kind));
        put_dim(sent->bytes, to);
        jx_buffer_puts(to, " bytes");
        if (sent->bytes && jx_dim_is_wide(sent->bytes, &bytes))
            put_bytes(bytes, to);
        jx_buffer_puts(to, " in ");
        put_dim(sent->messages, to);
        jx_buffer_puts(to, is_one(sent->messages) ? " message, by "
                                                  : " messages, by ");
        put_dim(sent->times, to);
        jx_buffer_puts(to,
                       is_one(sent->times) ? " collective" : " collectives");
        if (sent->beside && !is_none(sent->beside)) {
            jx_buffer_puts(to, ", of which ");
            put_dim(sent->beside, to);
            jx_buffer_puts(to, " can run beside a product");
        }
        if (sent->down && !is_none(sent->down) && sent->down != sent->bytes) {
            jx_buffer_puts(to, "; ");
            put_dim(sent->down, to);
            jx_buffer_puts(to, " bytes of them down, the others up");
        }
        jx_buffer_putc(to, '\n');
    }
}

/* What one device does, and what all of them do together. */
static void put_both(const char *label, const jx_dim *each, const jx_dim *all,
                     bool bytes, jx_buffer *to)
{
    jx_int value;

    put_line(label, each, bytes, to);
    jx_buffer_cut(to, to->length - 1); /* the line goes on */
    jx_buffer_puts(to, ", all together ");
    put_dim(all, to);
    if (bytes && all && jx_dim_is_wide(all, &value))
        put_bytes(value, to);
    jx_buffer_putc(to, '\n');
}

/* Of a program that many devices run. */
static void put_devices(const jx_cost *cost, jx_buffer *to)
{
    jx_buffer_printf(to, "cost of each of %lld devices\n",
                     (long long)cost->devices);
    put_both("flops", cost->flops, cost->all_flops, false, to);
    put_both("transcendentals", cost->transcendentals,
             cost->all_transcendentals, false, to);
    put_both("bytes moved", cost->moved, cost->all_moved, true, to);
    if (cost->device_peak_known)
        put_peaks("peak memory", cost->device_peaks.count,
                  cost->device_peaks.at, to);
    else
        jx_buffer_puts(to, "  peak memory     unknown (too many candidates)\n");
    put_sent(cost, to);
    jx_buffer_puts(to, "cost of the whole program\n");
}

void jx_costs_print(const jx_cost *cost, jx_buffer *to)
{
    bool many = cost->devices > 1;

    if (many) {
        put_devices(cost, to);
    } else {
        jx_buffer_puts(to, "cost\n");
        put_line("flops", cost->flops, false, to);
        put_line("transcendentals", cost->transcendentals, false, to);
        put_line("bytes moved", cost->moved, true, to);
    }
    put_line("inputs", cost->inputs, true, to);
    put_line("constants", cost->constants, true, to);
    put_line("outputs", cost->outputs, true, to);
    if (!many)
        put_peak(cost, to);
    put_trips(cost, to);
    for (size_t i = 0; i < cost->uncounted.count; i++)
        jx_utf8_printf(to, "  not counted: %lld %s\n",
                       (long long)cost->uncounted.at[i].count,
                       cost->uncounted.at[i].name);
    if (!many)
        put_sent(cost, to);
}

/* ---- JSON */

static void put_json_dim(const char *key, const jx_dim *dim, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_printf(to, "\"%s\":", key);
    if (dim) {
        jx_dim_print(dim, &text);
        jx_json_put_text(to, jx_buffer_text(&text));
    } else {
        jx_buffer_puts(to, "null");
    }
    jx_buffer_putc(to, ',');
    jx_buffer_free(&text);
}

static void put_json_peaks(const char *key, bool known, size_t count,
                           const jx_dim *const *peaks, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};

    if (!known) {
        jx_buffer_printf(to, "\"%s\":null", key);
        return;
    }
    jx_buffer_printf(to, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        jx_buffer_clear(&text);
        jx_dim_print(peaks[i], &text);
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_text(to, jx_buffer_text(&text));
    }
    jx_buffer_putc(to, ']');
    jx_buffer_free(&text);
}

static void put_json_sent(const jx_cost *cost, jx_buffer *to)
{
    jx_buffer_puts(to, ",\"sent\":[");
    for (size_t i = 0; i < cost->sent.count; i++) {
        const jx_sent *sent = &cost->sent.at[i];

        jx_buffer_printf(to, "%s{\"collective\":\"%s\",", i ? "," : "",
                         jx_collective_name(sent->kind));
        put_json_dim("times", sent->times, to);
        put_json_dim("bytes", sent->bytes, to);
        put_json_dim("messages", sent->messages, to);
        put_json_dim("beside_products", sent->beside, to);
        if (sent->kind == JX_COLLECTIVE_PERMUTE)
            put_json_dim("down", sent->down, to);
        jx_buffer_cut(to, to->length - 1); /* the comma */
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_json_devices(const jx_cost *cost, jx_buffer *to)
{
    jx_buffer_printf(to, ",\"devices\":%lld,\"all\":{",
                     (long long)cost->devices);
    put_json_dim("flops", cost->all_flops, to);
    put_json_dim("transcendentals", cost->all_transcendentals, to);
    put_json_dim("moved", cost->all_moved, to);
    jx_buffer_cut(to, to->length - 1); /* the comma */
    jx_buffer_puts(to, "},");
    put_json_peaks("device_peak", cost->device_peak_known,
                   cost->device_peaks.count, cost->device_peaks.at, to);
}

void jx_costs_json(const jx_cost *cost, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    put_json_dim("flops", cost->flops, to);
    put_json_dim("transcendentals", cost->transcendentals, to);
    put_json_dim("moved", cost->moved, to);
    put_json_dim("inputs", cost->inputs, to);
    put_json_dim("constants", cost->constants, to);
    put_json_dim("outputs", cost->outputs, to);
    put_json_peaks("peak", cost->peak_known, cost->peaks.count, cost->peaks.at,
                   to);
    if (cost->devices > 1)
        put_json_devices(cost, to);
    jx_buffer_puts(to, ",\"trips\":[");
    for (size_t i = 0; i < cost->trips.count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_text(to, cost->trips.at[i].var->name);
    }
    jx_buffer_putc(to, ']');
    if (cost->sent.count)
        put_json_sent(cost, to);
    jx_buffer_puts(to, ",\"not_counted\":{");
    for (size_t i = 0; i < cost->uncounted.count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_text(to, cost->uncounted.at[i].name);
        jx_buffer_printf(to, ":%lld", (long long)cost->uncounted.at[i].count);
    }
    jx_buffer_puts(to, "}}");
}

/* ---- what fits */

bool jx_bytes_read(const char *text, int64_t *bytes)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},         {"B", 1},        {"kB", 1e3},
                 {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                 {"TB", 1e12},    {"KiB", 0x1p10}, {"MiB", 0x1p20},
                 {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    char *end;
    double value = jx_strtod(text, &end);

    if (end == text || !isfinite(value) || value < 0)
        return false;
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 &&
            value * units[i].bytes < 0x1p62) {
            *bytes = (int64_t)(value * units[i].bytes);
            return true;
        }
    return false;
}

typedef struct search {
    const jx_program *program;
    const jx_cost *cost;
    int count;
    jx_binding *at; /* the open one last */
    int64_t budget;
} search;

/* No size is larger, as JAX's are 32-bit integers. */
static const int64_t LARGEST = INT32_MAX;
/* How far the nearest admissible size is looked for, and how many sizes are
 * tried where memory does not only grow. */
enum { FAR = 1 << 16 };

/* The peak at the open size; false if it can't be evaluated there. */
static bool peak_at(const search *s, int64_t size, jx_int *peak)
{
    jx_assignment all = {s->count, s->at};

    s->at[s->count - 1].value = size;
    *peak = 0;
    for (size_t i = 0; i < s->cost->peaks.count; i++) {
        jx_int value;

        if (!jx_dim_eval_wide(s->cost->peaks.at[i], jx_assigned, &all, &value))
            return false;
        if (value > *peak)
            *peak = value;
    }
    return true;
}

static bool fits(const search *s, int64_t size)
{
    jx_int peak;

    return peak_at(s, size, &peak) && peak <= s->budget;
}

static bool admissible(const search *s, int64_t size)
{
    s->at[s->count - 1].value = size;
    return jx_plan_admissible(s->program, s->count, s->at);
}

/* The sizes given as numbers, the open one a step up. */
typedef struct stepped {
    const search *search;
    int64_t step;
} stepped;

static const jx_dim *put_size(void *env, const jx_dim_atom *var)
{
    const stepped *to = env;
    const search *s = to->search;
    jx_dims *dims = s->program->dims;

    for (int i = 0; i < s->count - 1; i++)
        if (s->at[i].var == var)
            return jx_dim_wide(dims, s->at[i].value);
    return jx_dim_add(dims, jx_dim_of_atom(dims, var),
                      jx_dim_int(dims, to->step));
}

/* A larger size never needs less: proved of each candidate for the peak. */
static bool only_grows(const search *s)
{
    jx_dims *dims = s->program->dims;
    const jx_prover_options options = {
        .base = s->program->base, .base_is_set = true, .no_solver = true};
    jx_prover *prover = jx_prover_new(s->program->ctx, dims, NULL, 0, &options);
    stepped now = {s, 0}, next = {s, 1};
    bool grows = prover != NULL;

    for (size_t i = 0; grows && i < s->cost->peaks.count; i++) {
        const jx_dim *a =
            jx_dim_import(dims, s->cost->peaks.at[i], put_size, &now);
        const jx_dim *b =
            jx_dim_import(dims, s->cost->peaks.at[i], put_size, &next);

        grows = a && b &&
                jx_prove_compare(prover, b, JX_REL_GE, a).truth == JX_TRUE;
    }
    jx_prover_free(prover);
    return grows;
}

/* The largest size that fits, whether the constraints allow it or not; below
 * the base if none does.  Memory only grows with it. */
static int64_t largest(const search *s)
{
    int64_t low = s->program->base - 1, high = LARGEST;

    if (fits(s, high))
        return high;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;

        if (fits(s, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t admissible_from(const search *s, int64_t size, int step)
{
    for (int i = 0; i < FAR && size >= s->program->base && size <= LARGEST;
         i++, size += step)
        if (admissible(s, size))
            return size;
    return -1;
}

/* One by one, as a larger size may need less. */
static void try_all(search *s, jx_fit *fit)
{
    for (int64_t size = s->program->base; size < s->program->base + FAR;
         size++) {
        fit->upto = size;
        if (fits(s, size) && admissible(s, size)) {
            fit->fits = true;
            fit->size = size;
        }
    }
    if (fit->fits)
        fit->fits = peak_at(s, fit->size, &fit->peak);
}

static void find(search *s, jx_fit *fit)
{
    int64_t most, next;

    if (!only_grows(s)) {
        try_all(s, fit);
        return;
    }
    most = largest(s);
    fit->size = admissible_from(s, most, -1);
    fit->fits = fit->size >= 0 && fits(s, fit->size);
    fit->unbounded = most == LARGEST;
    next = most < LARGEST ? admissible_from(s, most + 1, 1) : -1;
    fit->has_next = next >= 0 && peak_at(s, next, &fit->next_peak);
    fit->next = next;
    if (fit->fits)
        fit->fits = peak_at(s, fit->size, &fit->peak);
}

/* The variables of the inputs' shapes and of the peak that
 * `--set` left open. */
static bool open_variable(search *s, int nset, const jx_binding *set,
                          jx_fit *fit)
{
    jx_program *program = (jx_program *)(uintptr_t)s->program;
    const jx_dim *all = jx_dim_int(program->dims, 0);
    const jx_dim_atom *const *vars;
    int count = 0;

    for (size_t i = 0; i < s->cost->peaks.count; i++)
        all = jx_dim_max(program->dims, all, s->cost->peaks.at[i]);
    vars = all ? jx_dim_vars(program->dims, all, &count) : NULL;
    s->at = JX_NEW_ARRAY(program->ctx->arena, nset + 1, jx_binding);
    if (!vars || !s->at)
        return jx_ok(program->ctx);
    for (int i = 0; i < nset; i++)
        s->at[i] = set[i];
    s->count = nset + 1;
    for (int i = 0; i < count; i++) {
        bool given = false;

        for (int k = 0; k < nset; k++)
            given |= set[k].var == vars[i];
        if (given)
            continue;
        if (fit->var)
            return jx_fail(program->ctx, JX_E_USAGE, NULL, NULL,
                           "--fit: both %s and %s are open; expected all sizes "
                           "but one to be given: --set %s=SIZE",
                           fit->var->name, vars[i]->name, vars[i]->name);
        fit->var = vars[i];
    }
    s->at[nset].var = fit->var;
    if (!fit->var)
        s->count = nset;
    return true;
}

bool jx_costs_fit(const jx_program *program, const jx_cost *cost,
                  const jx_texts *set, int64_t budget, jx_fit *fit)
{
    search s = {.program = program, .cost = cost, .budget = budget};
    const jx_binding *bindings;
    int count;

    *fit = (jx_fit){0};
    if (!cost->peak_known)
        return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                       "--fit: the peak of its memory is not known");
    if (!jx_inputs_sizes(program, set, &count, &bindings) ||
        !open_variable(&s, count, bindings, fit))
        return false;
    if (fit->var) {
        find(&s, fit);
        return true;
    }
    jx_assignment all = {count, bindings};
    for (size_t i = 0; i < cost->peaks.count; i++) {
        jx_int value;

        if (!jx_dim_eval_wide(cost->peaks.at[i], jx_assigned, &all, &value))
            return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                           "--fit: the peak is beyond 128 bits there");
        if (value > fit->peak)
            fit->peak = value;
    }
    fit->fits = fit->peak <= budget;
    return true;
}

static void put_amount(jx_int bytes, jx_buffer *to)
{
    jx_int_print(bytes, to);
    jx_buffer_puts(to, " bytes");
    put_bytes(bytes, to);
}

static void put_upto(const jx_fit *fit, jx_buffer *to)
{
    if (fit->upto)
        jx_buffer_printf(to, " up to %lld (a larger one may need less)",
                         (long long)fit->upto);
}

void jx_fit_print(const jx_fit *fit, int64_t budget, jx_buffer *to)
{
    if (!fit->var) {
        jx_buffer_printf(to, "%s ", fit->fits ? "fits:" : "does not fit:");
        put_amount(fit->peak, to);
        jx_buffer_puts(to, fit->fits ? " of " : ", and there are ");
        put_amount(budget, to);
        jx_buffer_putc(to, '\n');
        return;
    }
    if (fit->fits) {
        jx_utf8_printf(to, "%s=%lld is the largest", fit->var->name,
                       (long long)fit->size);
        put_upto(fit, to);
        jx_buffer_printf(to,
                         " that fits%s: ", fit->unbounded ? " in 32 bits" : "");
        put_amount(fit->peak, to);
    } else {
        jx_utf8_printf(to, "no %s", fit->var->name);
        put_upto(fit, to);
        jx_buffer_puts(to, " fits");
    }
    jx_buffer_puts(to, fit->fits ? " of " : " ");
    put_amount(budget, to);
    if (fit->has_next) {
        jx_utf8_printf(to, "; %s=%lld needs ", fit->var->name,
                       (long long)fit->next);
        put_amount(fit->next_peak, to);
    }
    jx_buffer_putc(to, '\n');
}
