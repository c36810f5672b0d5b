/* equal_words.c - see equal_words.h. */
#include "reports/pipeline/equal_words.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "reports/pipeline/equal_causes.h"
#include "reports/pipeline/inputs.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"

#include <math.h>
#include <stdio.h>

/* ---- numbers and places */

static void put_index(jx_buffer *to, const jx_port *port, int64_t flat)
{
    int64_t step = port->count;

    for (int k = 0; k < port->rank; k++) {
        step /= port->shape[k];
        jx_buffer_printf(to, k ? ",%lld" : "[%lld", (long long)(flat / step));
        flat %= step;
    }
    jx_buffer_puts(to, port->rank ? "]" : "");
}

static void put_number(jx_buffer *to, const jx_port *port, const void *all,
                       int64_t i)
{
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    jx_element_print(port->dtype, (const char *)all + (size_t)i * bytes, to);
}

/* The array that a run found different: of a pair, its first half. */
static const jx_port *port_of(const jx_equal_words *w,
                              const jx_float_witness *at)
{
    int nouts = w->question->nouts, number = at->output;

    return jx_plan_out(w->question->plans[at->side],
                       number < nouts ? number : nouts + 2 * (number - nouts));
}

/* "[3,1] is 1.5, and 0.375 in the other (12 of 32 elements;
 * ordinary numbers)" */
static void put_shown(jx_buffer *to, const jx_equal_words *w,
                      const jx_float_witness *at, const char *other)
{
    const jx_port *port = port_of(w, at);

    if (port->rank) {
        jx_buffer_puts(to, "element ");
        put_index(to, port, at->index);
    } else {
        jx_buffer_puts(to, "it");
    }
    jx_buffer_puts(to, " is ");
    put_number(to, port, at->got, at->index);
    jx_buffer_puts(to, ", and ");
    put_number(to, port, at->want, at->index);
    jx_buffer_printf(to, " %s (%lld of %lld element%s at %s)", other,
                     (long long)at->count, (long long)at->of,
                     at->of == 1 ? "" : "s", at->point);
}

/* ---- the witness as JSON */

static bool put_array(jx_buffer *to, const jx_port *port, const void *data)
{
    enum { MOST = 4096 };
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    if (port->count > MOST || jx_dtype_is_complex(port->dtype))
        return false;
    jx_buffer_printf(to, "{\"dtype\":\"%s\",\"shape\":[",
                     jx_dtype_of(port->dtype)->name);
    for (int k = 0; k < port->rank; k++)
        jx_buffer_printf(to, k ? ",%lld" : "%lld", (long long)port->shape[k]);
    jx_buffer_puts(to, "],\"values\":[");
    for (int64_t i = 0; i < port->count; i++) {
        double value;
        jx_buffer_puts(to, i ? "," : "");
        jx_convert(port->dtype, JX_F64, (const char *)data + (size_t)i * bytes,
                   &value, 1);
        if (isfinite(value))
            jx_json_put_real(to, value);
        else
            jx_json_put_text(to, isnan(value) ? "nan"
                                 : value > 0  ? "inf"
                                              : "-inf");
    }
    jx_buffer_puts(to, "]}");
    return true;
}

static const char *witness_of(const jx_equal_words *w,
                              const jx_float_witness *at)
{
    const jx_plan *plan = w->question->plans[0];
    jx_ctx *ctx = w->program->ctx;
    jx_buffer text = jx_ctx_text(ctx);
    bool good = at->inputs != NULL;

    jx_buffer_puts(&text, "{\"of\":\"equal\",\"point\":");
    jx_json_put_text(&text, at->point);
    jx_buffer_printf(&text, ",\"output\":%d,\"index\":%lld,\"inputs\":[",
                     at->output < w->question->nouts ? at->output : -1,
                     (long long)at->index);
    for (int i = 0; good && i < jx_plan_nins(plan); i++) {
        jx_buffer_puts(&text, i ? "," : "");
        good = put_array(&text, jx_plan_in(plan, i), at->inputs[i]);
    }
    jx_buffer_puts(&text, "]}");
    if (!good) {
        jx_buffer_free(&text);
        return NULL;
    }
    return jx_arena_take(ctx->arena, &text);
}

/* ---- the same as arrays */

/* A plan's shapes are gone with it. */
static jx_npy kept_array(jx_ctx *ctx, const char *name, const jx_port *port,
                         const void *data)
{
    jx_dtype dtype = port->aval->dtype == JX_KEY ? JX_U32 : port->dtype;

    return (jx_npy){.name = name,
                    .descr = jx_inputs_descr(dtype),
                    .rank = port->rank,
                    .shape =
                        jx_arena_copy(ctx->arena, port->shape,
                                      (size_t)port->rank * sizeof *port->shape),
                    .item = jx_dtype_of(dtype)->bytes,
                    .bytes = port->bytes,
                    .data = data};
}

static const jx_npz *arrays_of(const jx_equal_words *w,
                               const jx_float_witness *at)
{
    const jx_plan *plan = w->question->plans[0];
    jx_ctx *ctx = w->program->ctx;
    int n = jx_plan_nins(plan);
    jx_npy *all = JX_NEW_ARRAY(ctx->arena, n + 2, jx_npy);
    jx_npz *to = JX_NEW(ctx->arena, jx_npz);

    if (!all || !to || !at->inputs)
        return NULL;
    for (int i = 0; i < n; i++)
        all[i] = kept_array(ctx, jx_arena_printf(ctx->arena, "in%d", i),
                            jx_plan_in(plan, i), at->inputs[i]);
    all[n] = kept_array(ctx, "got", port_of(w, at), at->got);
    all[n + 1] = kept_array(ctx, "want", port_of(w, at), at->want);
    *to = (jx_npz){n + 2, all};
    return to;
}

/* ---- claims */

static bool claim(jx_ctx *ctx, jx_claim_list *claims, jx_equality *to,
                  const jx_stack *stack)
{
    jx_claim *made = jx_claim_add(ctx, claims, to->code);

    if (!made)
        return false;
    made->stack = stack;
    made->what = to->message;
    if (to->verdict == JX_EQUAL_DIFFERENT) {
        made->verdict = JX_WITNESSED;
        made->evidence.by = "a run";
        made->evidence.note = to->note;
        made->evidence.witness = to->witness;
    } else {
        made->evidence.why = to->why;
    }
    return true;
}

bool jx_equal_tell_undecided(jx_ctx *ctx, jx_claim_list *claims,
                             jx_equality *to)
{
    to->code = JX_CODE_EQL001;
    to->message =
        jx_arena_printf(ctx->arena, "whether %s the same%s",
                        to->gradient ? "the derivatives of both programs are"
                                     : "both programs compute",
                        to->every ? " on meshes of all sizes" : "");
    if (!to->why)
        to->why = "it is not known";
    return claim(ctx, claims, to, NULL);
}

/* Two devices have what is declared to be one array. */
static void tell_pair(const jx_equal_words *w, jx_equality *to,
                      const jx_stack **stack)
{
    const jx_float_witness *at = &w->floats->pair;
    const jx_device_pair *pair =
        &w->pairs[at->side]->at[at->output - w->question->nouts];
    jx_buffer text = jx_ctx_text(w->program->ctx);
    char other[80];

    snprintf(other, sizeof other, "on device %d", pair->device);
    jx_buffer_printf(&text,
                     "result %d of shard_map%s is declared to be the same on "
                     "devices 0 and %d, and is not: on device 0 ",
                     pair->result, at->side ? " in the second program" : "",
                     pair->device);
    put_shown(&text, w, at, other);
    to->message = jx_arena_take(w->program->ctx->arena, &text);
    /* places are of the first program */
    *stack = at->side ? NULL : pair->eqn->stack;
}

/* "below 0 or 255" */
static void put_told_of(jx_buffer *to, const jx_integer_domain *in)
{
    const char *before = "";
    bool above = in->above && in->last >= 0;

    if (in->below) {
        jx_buffer_puts(to, "below 0");
        before = " or ";
    }
    if (above) {
        jx_buffer_printf(to, "%sabove %lld", before, (long long)in->last);
        before = " or ";
    }
    for (int k = 0; k < in->ntold; k++) {
        if (in->told[k] < 0 ? in->below : above)
            continue;
        jx_buffer_printf(to, "%s%lld", before, (long long)in->told[k]);
        before = " or ";
    }
}

static void put_told(jx_buffer *to, const jx_equal_question *question)
{
    const char *before = "";

    for (int i = 0; i < jx_plan_nins(question->plans[0]); i++) {
        if (!question->domains[i].ntold)
            continue;
        jx_buffer_printf(to, "%sinput %d is ", before, i);
        put_told_of(to, &question->domains[i]);
        before = " or ";
    }
}

/* "input 1 is below 0" */
static void put_outside(jx_buffer *to, const jx_equal_outside *outside)
{
    jx_buffer_printf(to, "input %d is ", outside->input);
    if (outside->least == outside->most)
        jx_buffer_printf(to, "%lld", (long long)outside->least);
    else if (outside->most < 0)
        jx_buffer_printf(to, "below %lld", (long long)outside->most + 1);
    else
        jx_buffer_printf(to, "above %lld", (long long)outside->least - 1);
}

/* "result 0 differs where input 1 is below 0, not from 0 to 9: it is ..." */
static const char *outside_text(const jx_equal_words *w, bool gradient)
{
    const jx_equal_outside *outside = w->outside;
    jx_ctx *ctx = w->program->ctx;
    jx_buffer text = jx_ctx_text(ctx);

    jx_buffer_printf(&text, "%s %d differs where ",
                     gradient ? "derivative" : "result", outside->at.output);
    put_outside(&text, outside);
    if (w->fields->identical)
        jx_buffer_printf(&text, ", not from %lld to %lld",
                         (long long)outside->first, (long long)outside->last);
    jx_buffer_puts(&text, ": ");
    put_shown(&text, w, &outside->at, "in the other program");
    return jx_arena_take(ctx->arena, &text);
}

/* Of integers that a program means by itself it is a difference. */
static bool tell_outside(const jx_equal_words *w, jx_claim_list *claims,
                         jx_equality *to)
{
    const jx_equal_outside *outside = w->outside;
    jx_ctx *ctx = w->program->ctx;

    to->at = outside->at;
    to->code = JX_CODE_EQL001;
    to->message = outside_text(w, to->gradient);
    to->witness = witness_of(w, &to->at);
    to->arrays = arrays_of(w, &to->at);
    return claim(ctx, claims, to, NULL);
}

/* What an index outside of its axis gives nobody asks. */
static bool note_outside(const jx_equal_words *w, jx_equality *to)
{
    jx_ctx *ctx = w->program->ctx;
    jx_equality_outside *noted = JX_NEW(ctx->arena, jx_equality_outside);

    if (!noted)
        return false;
    *noted = (jx_equality_outside){
        .within = jx_arena_printf(
            ctx->arena, "input %d is from %lld to %lld", w->outside->input,
            (long long)w->outside->first, (long long)w->outside->last),
        .message = outside_text(w, to->gradient),
        .witness = witness_of(w, &w->outside->at)};
    to->outside = noted;
    return jx_ok(ctx);
}

static void tell_difference(const jx_equal_words *w, jx_equality *to)
{
    const jx_float_witness *at = &w->floats->differs;
    jx_buffer text = jx_ctx_text(w->program->ctx);

    jx_buffer_printf(&text, "%s %d differs",
                     to->gradient ? "derivative" : "result", at->output);
    if (w->told) {
        jx_buffer_puts(&text, " where ");
        put_told(&text, w->question);
        jx_buffer_puts(&text, ", and at no other integers that were drawn");
    }
    jx_buffer_printf(&text, "%s: ",
                     w->fields->identical && at->rounded
                         ? " in floats, though it is the same over the reals"
                     : at->rounded
                         ? " in floats, though in float64 it is the same there"
                         : "");
    put_shown(&text, w, at, "in the other program");
    to->message = jx_arena_take(w->program->ctx->arena, &text);
}

bool jx_equal_tell(const jx_equal_words *w, jx_claim_list *claims,
                   jx_equality *to)
{
    jx_ctx *ctx = w->program->ctx;
    bool pair = w->floats->pair.point != NULL;
    const jx_stack *stack = NULL;
    jx_equal_cause cause;

    if (to->verdict == JX_EQUAL_UNDECIDED &&
        jx_equal_find_divergence(w, &cause)) {
        to->verdict = JX_EQUAL_DIFFERENT;
        to->code = cause.code;
        to->message = JX_DEVICES_DIVERGE;
        return claim(ctx, claims, to, cause.stack);
    }
    if (w->outside->at.point && to->verdict == JX_EQUAL_DIFFERENT)
        return tell_outside(w, claims, to);
    if (w->outside->at.point && !note_outside(w, to))
        return false;
    if (to->verdict == JX_EQUAL_UNDECIDED)
        return jx_equal_tell_undecided(ctx, claims, to);
    if (to->verdict != JX_EQUAL_DIFFERENT)
        return true;
    to->at = pair ? w->floats->pair : w->floats->differs;
    to->witness = witness_of(w, &to->at);
    to->arrays = arrays_of(w, &to->at);
    if (pair)
        tell_pair(w, to, &stack);
    else
        tell_difference(w, to);
    jx_equal_find_cause(w, to->gradient, &cause);
    to->code = cause.code;
    to->note = cause.note;
    if (cause.parting)
        to->note = jx_arena_printf(
            ctx->arena,
            "%s%sthe programs part here: `%s` gives what the other one "
            "never computes, of what it has as well",
            cause.note ? cause.note : "", cause.note ? "; " : "",
            cause.parting);
    return claim(ctx, claims, to, cause.stack ? cause.stack : stack) &&
           jx_ok(ctx);
}
