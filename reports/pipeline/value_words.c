/* value_words.c - see value_words.h. */
#include "reports/pipeline/value_words.h"

#include "frontend/base/utf8.h"
#include "frontend/ir/signature.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"

#include <math.h>
#include <string.h>

static void put_number(const jx_element *element, jx_buffer *to)
{
    double value = NAN;

    jx_convert(element->dtype, JX_F64, element->bits, &value, 1);
    jx_buffer_printf(to, isnan(value) ? "NaN" : "%g", value);
}

/* "log of 0 gives -inf". */
static const char *what_of_numbers(jx_program *program, const jx_unfinite *made)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    jx_utf8_show(jx_eqn_name(made->eqn), &text);
    for (int i = 0; i < made->noperands; i++) {
        jx_buffer_puts(&text, i ? " and " : " of ");
        put_number(&made->operands[i], &text);
    }
    jx_buffer_puts(&text, " gives ");
    if (jx_dtype_is_complex(made->value.dtype))
        jx_buffer_puts(&text, "what is not finite");
    else
        put_number(&made->value, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

/* "index 16 of axis 0, whose last is 15". */
static const char *what_of_indices(jx_program *program, const jx_misuse *m)
{
    static const char *const says[] = {
        [JX_BEYOND] = "index %lld is outside of axis %d, whose last is %lld",
        [JX_FILLED] = "index %lld is outside of axis %d, whose last is %lld, "
                      "and what is there is made up (NaN, the least integer)",
        [JX_DROPPED] = "index %lld is outside of axis %d, whose last is %lld, "
                       "and what is for it is dropped",
        [JX_CLAMPED] = "index %lld is outside of axis %d: the last that is "
                       "possible is %lld, and the nearest is taken",
        [JX_REPEATED] = "index %lld of axis %d is there twice, with updates "
                        "that differ: which one stays is not defined",
        [JX_NOT_UNIQUE] = "index %lld of axis %d is there twice, and "
                          "unique_indices=True says that none is",
        [JX_NOT_SORTED] = "index %lld of axis %d comes after %lld, and "
                          "indices_are_sorted=True says that they ascend",
        [JX_WRAPPED] =
            "index %lld is computed and below zero: it counts from the end",
    };

    return jx_arena_printf(program->ctx->arena, says[m->kind],
                           (long long)m->index, m->axis, (long long)m->most);
}

/* "int32 add of 2147483647 and 1 wraps to -2147483648". */
static const char *what_of_integers(jx_program *program, const jx_slip *slip)
{
    const jx_unfinite *at = &slip->at;
    jx_buffer text = jx_ctx_text(program->ctx);
    const char *dtype = jx_dtype_of(at->value.dtype)->name;

    if (slip->kind == JX_NARROWED || slip->kind == JX_OUT_OF_RANGE) {
        jx_element_print(at->operands[0].dtype, at->operands[0].bits, &text);
        jx_buffer_printf(
            &text, " is converted to %s, which does not hold it, and becomes ",
            dtype);
        jx_element_print(at->value.dtype, at->value.bits, &text);
        return jx_arena_take(program->ctx->arena, &text);
    }
    jx_utf8_show(jx_eqn_name(at->eqn), &text);
    for (int i = 0; i < at->noperands; i++) {
        jx_buffer_puts(&text, i ? " and " : " of ");
        jx_element_print(at->operands[i].dtype, at->operands[i].bits, &text);
    }
    jx_buffer_puts(&text, slip->kind == JX_DIVIDED
                              ? ", a division of integers by zero, gives "
                              : " wraps in ");
    if (slip->kind != JX_DIVIDED)
        jx_buffer_printf(&text, "%s and gives ", dtype);
    jx_element_print(at->value.dtype, at->value.bits, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

const char *jx_value_shown(jx_program *program, const jx_witness *w)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    if (w->misuse.eqn || w->code == JX_CODE_NUM005 || !w->made.noperands ||
        jx_dtype_is_complex(w->made.value.dtype))
        return NULL;
    for (int i = 0; i < w->made.noperands; i++) {
        jx_buffer_puts(&text, i ? ", " : "");
        put_number(&w->made.operands[i], &text);
    }
    jx_buffer_puts(&text, " -> ");
    put_number(&w->made.value, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

const jx_consequence *jx_value_then(jx_program *program, const jx_witness *w)
{
    jx_consequence *to =
        JX_NEW_ARRAY(program->ctx->arena, w->nthen + 1, jx_consequence);

    for (int i = 0; to && i < w->nthen; i++)
        to[i] = (jx_consequence){what_of_numbers(program, &w->then[i]),
                                 w->then_at[i]};
    return to;
}

const char *jx_value_what(jx_program *program, const jx_witness *w)
{
    if (w->slip.at.eqn)
        return what_of_integers(program, &w->slip);
    if (w->code == JX_CODE_NUM001 && w->made.eqn && !w->made.count)
        return "a decomposition of a matrix fails, and gives NaN";
    if (w->code == JX_CODE_NUM009 && w->made.eqn && !w->made.count)
        return jx_arena_printf(program->ctx->arena,
                               "%s gives a NaN that the program says",
                               jx_eqn_name(w->made.eqn));
    if (w->code == JX_CODE_IDX007)
        return jx_arena_printf(
            program->ctx->arena,
            "index %lld is outside of axis %d: forward an element is taken all "
            "the same (the last one, on XLA's CPU), backward its derivative is "
            "dropped",
            (long long)w->misuse.index, w->misuse.axis);
    if (w->misuse.eqn)
        return what_of_indices(program, &w->misuse);
    if (w->code == JX_CODE_NUM005 && w->made.count)
        return jx_arena_printf(
            program->ctx->arena,
            "%s gives %.9g, and with more digits %.9g: more than half of them "
            "are lost",
            jx_eqn_name(w->made.eqn), w->gave, w->is);
    if (w->code == JX_CODE_NUM005)
        return jx_arena_printf(
            program->ctx->arena,
            "the difference of a mean of squares and a squared mean gives %g, "
            "and in double %g",
            w->gave, w->is);
    return what_of_numbers(program, &w->made);
}

enum { SHOWN_INPUTS = 6, SHOWN_ELEMENTS = 4 };

static void put_name(const jx_program *program, int input, jx_buffer *to)
{
    if (program->entry.jaxpr->arg_names &&
        *program->entry.jaxpr->arg_names[input])
        jx_utf8_show(program->entry.jaxpr->arg_names[input], to);
    else
        jx_input_print(program, input, to);
}

/* "x = 1, w = [1, -1, -1, -1, ...]": all inputs of the witness, the
 * long ones in part. */
static void put_input(const jx_program *program, int input, const void *data,
                      jx_buffer *to)
{
    const jx_aval *aval = jx_input_aval(program, input);
    size_t size = jx_dtype_of(aval->dtype)->bytes;
    int64_t count = 1, shown;
    double first = 0, value;
    bool all = true;

    for (int k = 0; k < aval->rank; k++)
        count *= jx_dim_value(aval->shape[k]);
    put_name(program, input, to);
    for (int64_t i = 0; i < count; i++) {
        jx_convert(aval->dtype, JX_F64, (const char *)data + (size_t)i * size,
                   &value, 1);
        first = i ? first : value;
        all = all && value == first;
    }
    jx_buffer_puts(to, " = ");
    if (all) {
        jx_buffer_printf(to, "%g", first);
        return;
    }
    shown = count < SHOWN_ELEMENTS ? count : SHOWN_ELEMENTS;
    for (int64_t i = 0; i < shown; i++) {
        jx_convert(aval->dtype, JX_F64, (const char *)data + (size_t)i * size,
                   &value, 1);
        jx_buffer_printf(to, "%s%g", i ? ", " : "[", value);
    }
    jx_buffer_puts(to, shown < count ? ", ...]" : "]");
}

/* Its derivative by the input that this output of the program
 * backwards belongs to. */
static void put_derivative(const jx_program *program, int out, jx_buffer *to)
{
    int n = program->entry.jaxpr->nins, input = 0;

    for (; input < n; input++)
        if (jx_dtype_is_inexact(jx_input_aval(program, input)->dtype) &&
            out-- == 0)
            break;
    jx_buffer_puts(to, "the gradient by ");
    if (input < n)
        put_name(program, input, to);
    jx_buffer_puts(to, " is not finite with ");
}

const char *jx_value_note(jx_program *program, const jx_witness *w,
                          bool backward)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    int n = program->entry.jaxpr->nins, shown = 0;

    if (w->misuse.eqn && (w->always || !n)) {
        jx_buffer_puts(&text, "whatever the inputs are");
        return jx_arena_take(program->ctx->arena, &text);
    }
    if (w->misuse.eqn || w->code == JX_CODE_NUM005)
        jx_buffer_puts(&text, "with ");
    else if (w->hidden)
        jx_buffer_printf(&text, "output %d has %g, and %g in double, with ",
                         w->out, w->gave, w->is);
    else if (backward)
        put_derivative(program, w->out, &text);
    else
        jx_buffer_printf(&text, "output %d is not finite with ", w->out);
    for (int i = 0; i < n && shown < SHOWN_INPUTS; i++) {
        jx_dtype_kind kind =
            jx_dtype_of(jx_input_aval(program, i)->dtype)->kind;
        if (kind == JX_KIND_KEY || kind == JX_KIND_VOID ||
            kind == JX_KIND_COMPLEX)
            continue;
        jx_buffer_puts(&text, shown++ ? ", " : "");
        put_input(program, i, w->inputs[i], &text);
    }
    if (shown < n)
        jx_buffer_puts(&text, ", ...");
    if (w->misuse.eqn || w->code == JX_CODE_NUM005)
        return jx_arena_take(program->ctx->arena, &text);
    jx_buffer_puts(&text, w->compiled
                              ? "; as XLA compiles it (xla), and not as written"
                          : w->flushed ? "; with subnormal numbers flushed to "
                                         "zero (ftz), as XLA does on a CPU"
                                       : "; as written (ieee)");
    return jx_arena_take(program->ctx->arena, &text);
}

/* -- for programs ---------------------------------------------------------- */

enum { MOST_VALUES = 4096 };

/* Axes along which all elements are the same have one of them. */
static void find_kept(const char *data, size_t size, int rank,
                      const int64_t *shape, int64_t *kept)
{
    int64_t step = 1, count = 1;

    for (int k = 0; k < rank; k++)
        count *= shape[k];
    for (int k = rank - 1; k >= 0; k--) {
        bool same = count > 0;
        for (int64_t i = 0; same && i < count; i++)
            same = i / step % shape[k] == 0 ||
                   memcmp(data + (size_t)i * size,
                          data + (size_t)(i - step) * size, size) == 0;
        kept[k] = same ? 1 : shape[k];
        step *= shape[k];
    }
}

static void put_shape(int rank, const int64_t *shape, jx_buffer *to)
{
    jx_buffer_puts(to, "[");
    for (int k = 0; k < rank; k++)
        jx_buffer_printf(to, "%s%lld", k ? "," : "", (long long)shape[k]);
    jx_buffer_puts(to, "]");
}

/* Integers beyond 2^53 are no doubles. */
static void put_element(jx_dtype dtype, const char *at, jx_buffer *to)
{
    int64_t integer;
    double value;

    if (jx_dtype_of(dtype)->kind == JX_KIND_INT) {
        jx_convert(dtype, JX_I64, at, &integer, 1);
        jx_buffer_printf(to, "%lld", (long long)integer);
    } else {
        jx_convert(dtype, JX_F64, at, &value, 1);
        jx_buffer_printf(to, "%.17g", value);
    }
}

/* The elements whose index is 0 along the axes that are not kept. */
static bool put_values(const jx_aval *aval, const char *data,
                       const int64_t *shape, const int64_t *kept, jx_buffer *to)
{
    size_t size = jx_dtype_of(aval->dtype)->bytes;
    int64_t index[JX_MAX_RANK] = {0}, left = 1;
    bool first = true;

    for (int k = 0; k < aval->rank; k++)
        left *= kept[k];
    if (left > MOST_VALUES)
        return false;
    for (; left > 0; left--) {
        int64_t at = 0;
        for (int k = 0; k < aval->rank; k++)
            at = at * shape[k] + index[k];
        jx_buffer_puts(to, first ? "" : ",");
        put_element(aval->dtype, data + (size_t)at * size, to);
        first = false;
        for (int k = aval->rank - 1; k >= 0 && ++index[k] == kept[k]; k--)
            index[k] = 0;
    }
    return true;
}

static bool put_array(const jx_aval *aval, const void *data, jx_buffer *to)
{
    jx_dtype_kind kind = jx_dtype_of(aval->dtype)->kind;
    int64_t shape[JX_MAX_RANK], kept[JX_MAX_RANK];
    bool ok;

    if (aval->kind != JX_AVAL_ARRAY || kind == JX_KIND_KEY ||
        kind == JX_KIND_VOID || kind == JX_KIND_COMPLEX)
        return false;
    for (int k = 0; k < aval->rank; k++)
        shape[k] = jx_dim_value(aval->shape[k]);
    find_kept(data, jx_dtype_of(aval->dtype)->bytes, aval->rank, shape, kept);
    jx_buffer_printf(
        to, "{\"dtype\":\"%s\",\"shape\":", jx_dtype_of(aval->dtype)->name);
    put_shape(aval->rank, shape, to);
    jx_buffer_puts(to, ",\"held\":");
    put_shape(aval->rank, kept, to);
    jx_buffer_puts(to, ",\"values\":[");
    ok = put_values(aval, data, shape, kept, to);
    jx_buffer_puts(to, "]}");
    return ok;
}

const char *jx_value_witness(jx_program *program, const jx_witness *w,
                             bool backward)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    const char *taken;
    bool ok = true;

    jx_buffer_printf(
        &text, "{\"of\":\"%s\",\"backward\":%s,\"flushed\":%s,\"inputs\":[",
        w->misuse.eqn                            ? "index"
        : w->hidden || w->code == JX_CODE_NUM005 ? "digits"
                                                 : "finite",
        backward ? "true" : "false", w->flushed ? "true" : "false");
    for (int i = 0; ok && i < program->entry.jaxpr->nins; i++) {
        jx_buffer_puts(&text, i ? "," : "");
        ok = put_array(jx_input_aval(program, i), w->inputs[i], &text);
    }
    jx_buffer_puts(&text, "]}");
    taken = jx_arena_take(program->ctx->arena, &text);
    return ok ? taken : NULL;
}
