/* print_attr.c - types and attributes as text (print.h). */
#include "frontend/mlir/print_parts.h"

#include "frontend/base/plain.h"
#include "frontend/ir/element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool jx_mlir_enter(jx_mlir_printer *p)
{
    if (p->depth >= JX_MLIR_PRINT_DEPTH) {
        p->too_deep = true;
        return false;
    }
    p->depth++;
    return true;
}

/* ---- words */

void jx_mlir_put_string(jx_mlir_printer *p, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    if (p->collecting)
        return;
    jx_buffer_putc(p->to, '"');
    for (size_t i = 0; i < size; i++)
        if (at[i] == '\\')
            jx_buffer_puts(p->to, "\\\\");
        else if (at[i] >= 0x20 && at[i] < 0x7f && at[i] != '"')
            jx_buffer_putc(p->to, (char)at[i]);
        else
            jx_buffer_printf(p->to, "\\%02X", at[i]);
    jx_buffer_putc(p->to, '"');
}

static bool is_word(const char *bytes, size_t size, const char *more)
{
    if (!size || (!jx_is_alpha(bytes[0]) && bytes[0] != '_'))
        return false;
    for (size_t i = 1; i < size; i++)
        if (!jx_is_alnum(bytes[i]) && (!bytes[i] || !strchr(more, bytes[i])))
            return false;
    return true;
}

void jx_mlir_put_keyword(jx_mlir_printer *p, const char *name)
{
    if (is_word(name, strlen(name), "_$."))
        jx_mlir_puts(p, name);
    else
        jx_mlir_put_string(p, name, strlen(name));
}

void jx_mlir_put_symbol(jx_mlir_printer *p, const char *bytes, size_t size)
{
    if (p->collecting)
        return;
    jx_buffer_putc(p->to, '@');
    if (is_word(bytes, size, "_$.-"))
        jx_buffer_bytes(p->to, bytes, size);
    else
        jx_mlir_put_string(p, bytes, size);
}

/* ---- numbers */

/* How many decimal digits of the exact value LLVM looks at before it rounds to
 * `digits` of them.  It writes the value as an integer times a power of ten,
 * and cuts off as many digits as its bits, not its digits, say are too many:
 * what is left may have no digit to round by, and is then not rounded. */
static int digits_looked_at(double value, int digits, int point)
{
    int exponent, bits, wanted = (digits * 196 + 58) / 59;
    double odd = ldexp(frexp(value, &exponent), 53);

    exponent -= 53;
    while (fmod(odd, 2) == 0) {
        odd /= 2;
        exponent++;
    }
    if (exponent >= 0)
        bits = ilogb(odd) + 1 + exponent;
    else
        bits = (int)floorl(log2l(odd) - (long double)exponent * log2l(5)) + 1;
    int all = point + (exponent < 0 ? -exponent : 0);
    return bits > wanted ? all - (bits - wanted) * 59 / 196 : all;
}

static int without_zeros(const char *digits, int n)
{
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* At most `digits` decimal digits of a finite value that is not 0, zeros at
 * the end dropped; the value is 0.d1d2d3... * 10^*point.  Returns how many
 * there are. */
static int decimal(double value, int digits, char *to, int *point)
{
    char text[96];

    /* More digits than any that a double could need to tell a tie. */
    jx_snprintf(text, sizeof text, "%.64e", fabs(value));
    text[1] = text[0]; /* drop the point */
    char *all = text + 1;
    *point = atoi(strchr(all, 'e') + 1) + 1;
    int n = digits_looked_at(fabs(value), digits, *point);
    n = without_zeros(all, n > 64 ? 64 : n);
    if (n <= digits) {
        memcpy(to, all, (size_t)n);
        return n;
    }
    bool up = all[digits] >= '5';
    n = digits;
    memcpy(to, all, (size_t)n);
    while (up && n > 0 && to[n - 1] == '9')
        n--;
    if (up && n > 0)
        to[n - 1]++;
    if (up && n == 0) {
        to[n++] = '1';
        ++*point;
    }
    return without_zeros(to, n);
}

/* 1.250000e+00: six digits, which may be too few. */
static void scientific(double value, char *to, size_t size)
{
    char digits[8] = "000000";
    int point, exponent;

    if (value == 0) {
        snprintf(to, size, "%s0.000000e+00", 1 / value < 0 ? "-" : "");
        return;
    }
    int n = decimal(value, 6, digits, &point);
    memset(digits + n, '0', (size_t)(6 - n));
    exponent = point - 1;
    snprintf(to, size, "%s%c.%.5s0e%c%02d", value < 0 ? "-" : "", digits[0],
             digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
}

/* As many digits as the precision calls for: 3.14159274, 9.99999993E-9, or
 * digits without a point, which no reader takes for a float. */
static void full(double value, int precision, char *to, size_t size)
{
    char digits[32];
    int point, limit = 2 + precision * 59 / 196;
    int n = decimal(value, limit, digits, &point);
    int exponent = point - n; /* of the last digit */
    const char *sign = value < 0 ? "-" : "";
    bool far = exponent >= 0 ? exponent > 3 || n + exponent > limit
                             : point - 1 < 0 && 1 - point > 3;

    if (far)
        snprintf(to, size, "%s%c.%.*sE%+d", sign, digits[0], n == 1 ? 1 : n - 1,
                 n == 1 ? "0" : digits + 1, point - 1);
    else if (exponent >= 0)
        snprintf(to, size, "%s%.*s%.*s", sign, n, digits, exponent, "000");
    else if (point > 0)
        snprintf(to, size, "%s%.*s.%.*s", sign, point, digits, n - point,
                 digits + point);
    else
        snprintf(to, size, "%s0.%.*s%.*s", sign, -point, "000", n, digits);
}

static int precision_of(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64: return 53;
    case JX_F32: return 24;
    default: return 11; /* six digits are enough for these */
    }
}

static bool reads_back(jx_dtype dtype, const char *text, double value)
{
    if (dtype == JX_F64)
        return jx_strtod(text, NULL) == value;
    return dtype != JX_F32 || (double)jx_strtof(text, NULL) == value;
}

static void put_hex(jx_mlir_printer *p, const unsigned char *bits, size_t size)
{
    size_t at = size;

    while (at > 1 && !bits[at - 1])
        at--;
    jx_buffer_printf(p->to, "0x%X", size ? bits[at - 1] : 0);
    while (at-- > 1)
        jx_buffer_printf(p->to, "%02X", bits[at - 1]);
}

static void put_float(jx_mlir_printer *p, const jx_mlir_type *type,
                      const void *bits)
{
    char text[96];
    jx_dtype dtype;
    double value;

    if (jx_mlir_dtype(type, &dtype)) {
        value = jx_element_real(dtype, bits);
        if (value - value == 0) {
            scientific(value, text, sizeof text);
            if (!reads_back(dtype, text, value))
                full(value, precision_of(dtype), text, sizeof text);
            if (strchr(text, '.')) {
                jx_buffer_puts(p->to, text);
                return;
            }
        }
    }
    put_hex(p, bits, jx_mlir_element_bytes(type));
}

static int64_t signed_bits(const unsigned char *at, size_t size, unsigned width)
{
    uint64_t value = 0;

    for (size_t i = size; i-- > 0;)
        value = value << 8 | at[i];
    if (width < 64) {
        uint64_t sign = (uint64_t)1 << (width - 1);
        value &= (sign << 1) - 1;
        value = (value ^ sign) - sign;
    }
    return (int64_t)value;
}

static void put_integer(jx_mlir_printer *p, const jx_mlir_type *type,
                        const void *bits)
{
    size_t size = jx_mlir_element_bytes(type);
    unsigned width = type->kind == JX_T_INDEX ? 64 : type->width;
    int64_t value;

    if (!width || size > 8) {
        put_hex(p, bits, size);
        return;
    }
    value = signed_bits(bits, size, width);
    if (type->kind == JX_T_INTEGER && width == 1 && !type->sign)
        jx_buffer_puts(p->to, value ? "true" : "false");
    else if (type->kind == JX_T_INTEGER && type->sign == JX_UNSIGNED)
        jx_buffer_printf(
            p->to, "%" PRIu64,
            (uint64_t)value &
                (width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX));
    else
        jx_buffer_printf(p->to, "%" PRId64, value);
}

size_t jx_mlir_element_bytes(const jx_mlir_type *type)
{
    switch (type->kind) {
    case JX_T_INDEX: return 8;
    case JX_T_INTEGER: return (type->width + 7) / 8;
    case JX_T_COMPLEX: return 2 * jx_mlir_element_bytes(type->items[0]);
    case JX_T_FLOAT:
        return (jx_mlir_float_bits(type->text, strlen(type->text)) + 7) / 8;
    case JX_T_QUANTIZED: return jx_mlir_element_bytes(type->items[0]);
    default: return 0;
    }
}

static void put_element(jx_mlir_printer *p, const jx_mlir_type *type,
                        const void *bits)
{
    size_t half;

    switch (type->kind) {
    case JX_T_FLOAT: put_float(p, type, bits); break;
    case JX_T_COMPLEX:
        half = jx_mlir_element_bytes(type->items[0]);
        jx_buffer_putc(p->to, '(');
        put_element(p, type->items[0], bits);
        jx_buffer_putc(p->to, ',');
        put_element(p, type->items[0], (const char *)bits + half);
        jx_buffer_putc(p->to, ')');
        break;
    case JX_T_QUANTIZED: put_element(p, type->items[0], bits); break;
    default: put_integer(p, type, bits); break;
    }
}

/* ---- types */

static void put_shape(jx_mlir_printer *p, const jx_mlir_type *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->shape[i] == JX_MLIR_DYNAMIC)
            jx_buffer_puts(p->to, "?x");
        else
            jx_buffer_printf(p->to, "%" PRId64 "x", t->shape[i]);
}

static void put_list(jx_mlir_printer *p, const jx_mlir_type *const *items,
                     int count)
{
    for (int i = 0; i < count; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_type(p, items[i]);
    }
}

static void put_function(jx_mlir_printer *p, const jx_mlir_type *t)
{
    int nresults = t->count - t->inputs;
    const jx_mlir_type *const *results = t->items + t->inputs;
    bool bare = nresults == 1 && results[0]->kind != JX_T_FUNCTION;

    jx_mlir_puts(p, "(");
    put_list(p, t->items, t->inputs);
    jx_mlir_puts(p, bare ? ") -> " : ") -> (");
    put_list(p, results, nresults);
    jx_mlir_puts(p, bare ? "" : ")");
}

/* A scale or a bound, as a float attribute of f64 has it. */
static void put_double(jx_mlir_printer *p, double value)
{
    char text[96];

    scientific(value, text, sizeof text);
    if (!reads_back(JX_F64, text, value))
        full(value, 53, text, sizeof text);
    jx_buffer_puts(p->to, text);
}

static void put_scales(jx_mlir_printer *p, const jx_mlir_quant *q)
{
    if (q->axis >= 0)
        jx_buffer_puts(p->to, "{");
    for (int i = 0; i < q->count; i++) {
        jx_buffer_puts(p->to, i ? "," : "");
        put_double(p, q->scales[i]);
        if (q->zeros[i])
            jx_buffer_printf(p->to, ":%" PRId64, q->zeros[i]);
    }
    if (q->axis >= 0)
        jx_buffer_puts(p->to, "}");
}

static void put_quantized(jx_mlir_printer *p, const jx_mlir_type *t)
{
    const jx_mlir_quant *q = t->quant;
    bool is_signed = q->flags & 1;
    unsigned width = t->items[0]->width;
    unsigned top = width && width <= 63 ? width - is_signed : 62;
    int64_t max = ((int64_t)1 << top) - 1, min = is_signed ? -max - 1 : 0;

    jx_buffer_printf(p->to, "!quant.uniform<%c%u", is_signed ? 'i' : 'u',
                     width);
    if (q->min != min || q->max != max)
        jx_buffer_printf(p->to, "<%" PRId64 ":%" PRId64 ">", q->min, q->max);
    jx_buffer_putc(p->to, ':');
    jx_mlir_put_type(p, t->items[1]);
    if (q->axis >= 0)
        jx_buffer_printf(p->to, ":%d", q->axis);
    jx_buffer_puts(p->to, ", ");
    put_scales(p, q);
    jx_buffer_putc(p->to, '>');
}

static void put_tensor(jx_mlir_printer *p, const jx_mlir_type *t,
                       const char *word)
{
    jx_buffer_puts(p->to, word);
    put_shape(p, t);
    jx_mlir_put_type(p, t->items[0]);
    if (t->encoding) {
        jx_buffer_puts(p->to, ", ");
        jx_mlir_put_attr(p, t->encoding, JX_TYPE_ALWAYS);
    }
    jx_buffer_putc(p->to, '>');
}

static void put_wrapped(jx_mlir_printer *p, const char *open,
                        const jx_mlir_type *t, const char *close)
{
    jx_mlir_puts(p, open);
    put_list(p, t->items, t->count);
    jx_mlir_puts(p, close);
}

static void put_type(jx_mlir_printer *p, const jx_mlir_type *t)
{
    static const char *const signs[] = {"i", "si", "ui"};

    switch (t->kind) {
    case JX_T_INTEGER:
        jx_buffer_printf(p->to, "%s%u", signs[t->sign], t->width);
        break;
    case JX_T_INDEX: jx_buffer_puts(p->to, "index"); break;
    case JX_T_FLOAT:
    case JX_T_OPAQUE: jx_buffer_puts(p->to, t->text); break;
    case JX_T_COMPLEX: put_wrapped(p, "complex<", t, ">"); break;
    case JX_T_TENSOR: put_tensor(p, t, "tensor<"); break;
    case JX_T_MEMREF: put_tensor(p, t, "memref<"); break;
    case JX_T_UNRANKED: put_wrapped(p, "tensor<*x", t, ">"); break;
    case JX_T_TUPLE: put_wrapped(p, "tuple<", t, ">"); break;
    case JX_T_FUNCTION: put_function(p, t); break;
    case JX_T_TOKEN: jx_buffer_puts(p->to, "!stablehlo.token"); break;
    case JX_T_NONE: jx_buffer_puts(p->to, "none"); break;
    case JX_T_QUANTIZED: put_quantized(p, t); break;
    case JX_T_FUTURE: put_wrapped(p, "!stablehlo.future<", t, ">"); break;
    case JX_T_WITNESS: jx_buffer_puts(p->to, "!shape.witness"); break;
    }
}

void jx_mlir_put_type(jx_mlir_printer *p, const jx_mlir_type *type)
{
    if (p->collecting || !jx_mlir_enter(p))
        return;
    put_type(p, type);
    p->depth--;
}

void jx_mlir_print_type(const jx_mlir_type *type, jx_buffer *to)
{
    jx_mlir_printer p = {.to = to};

    jx_mlir_put_type(&p, type);
}

/* ---- dense constants */

/* The number of elements, or -1 where that is not known or too large. */
static int64_t elements(const jx_mlir_type *t)
{
    int64_t count = 1;

    if (t->kind != JX_T_TENSOR)
        return -1;
    for (int i = 0; i < t->rank; i++)
        if (t->shape[i] < 0 ||
            __builtin_mul_overflow(count, t->shape[i], &count))
            return -1;
    return count;
}

/* All elements have the same bits: MLIR keeps such a constant as one. */
static bool is_splat(const jx_mlir_attr *a, size_t size)
{
    return a->splat ||
           (a->size >= size &&
            !memcmp(a->bytes, (const char *)a->bytes + size, a->size - size));
}

/* The element (as a rule) at the end of one more level of brackets. */
typedef void put_one(jx_mlir_printer *p, const jx_mlir_attr *a, int64_t index);

static void put_nested(jx_mlir_printer *p, const jx_mlir_attr *a, int axis,
                       int64_t *index, put_one *one)
{
    const jx_mlir_type *t = a->type;

    if (axis == t->rank) {
        one(p, a, (*index)++);
        return;
    }
    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i < t->shape[axis]; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        put_nested(p, a, axis + 1, index, one);
    }
    jx_buffer_putc(p->to, ']');
}

static void put_dense_element(jx_mlir_printer *p, const jx_mlir_attr *a,
                              int64_t index)
{
    const jx_mlir_type *element = a->type->items[0];
    size_t size = jx_mlir_element_bytes(element);

    put_element(p, element, (const char *)a->bytes + (size_t)index * size);
}

static void put_dense_string(jx_mlir_printer *p, const jx_mlir_attr *a,
                             int64_t index)
{
    if (index < a->count)
        jx_mlir_put_string(p, a->items[index]->bytes, a->items[index]->size);
}

static void put_digits(jx_mlir_printer *p, const unsigned char *at, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < size; i++) {
        jx_buffer_putc(p->to, digits[at[i] >> 4]);
        jx_buffer_putc(p->to, digits[at[i] & 15]);
    }
}

static void put_hex_bytes(jx_mlir_printer *p, const unsigned char *at,
                          size_t size)
{
    jx_buffer_puts(p->to, "\"0x");
    put_digits(p, at, size);
    jx_buffer_putc(p->to, '"');
}

/* MLIR prints more elements than this as the hex digits of their bytes. */
enum { HEX_ABOVE = 100 };

static void put_dense(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    int64_t count = elements(a->type), index = 0, need;
    size_t size = count < 0 ? 0 : jx_mlir_element_bytes(a->type->items[0]);

    if (!size || __builtin_mul_overflow(count, (int64_t)size, &need) ||
        (!a->splat && (size_t)need > a->size)) {
        jx_buffer_puts(p->to, "dense<>");
        return;
    }
    bool splat = count ? is_splat(a, size) : a->splat && a->size >= size;
    if (!splat && p->how.elide && count > p->how.elide) {
        jx_buffer_puts(p->to, "dense_resource<__elided__>");
        return;
    }
    jx_buffer_puts(p->to, "dense<");
    if (splat)
        put_element(p, a->type->items[0], a->bytes);
    else if (count > HEX_ABOVE)
        put_hex_bytes(p, a->bytes, (size_t)need);
    else if (count)
        put_nested(p, a, 0, &index, put_dense_element);
    jx_buffer_putc(p->to, '>');
}

static void put_dense_strings(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    int64_t index = 0;

    jx_buffer_puts(p->to, "dense<");
    if (a->splat || a->count == 1)
        put_dense_string(p, a, 0);
    else if (elements(a->type) > 0)
        put_nested(p, a, 0, &index, put_dense_string);
    jx_buffer_putc(p->to, '>');
}

static void put_dense_array(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    size_t size = jx_mlir_element_bytes(a->type);

    jx_buffer_puts(p->to, "array<");
    jx_mlir_put_type(p, a->type);
    for (int i = 0; i < a->count; i++) {
        jx_buffer_puts(p->to, i ? ", " : ": ");
        if (!a->integers)
            put_element(p, a->type, (const char *)a->bytes + (size_t)i * size);
        else if (a->type->width == 1)
            jx_buffer_puts(p->to, a->integers[i] ? "true" : "false");
        else
            jx_buffer_printf(p->to, "%" PRId64, a->integers[i]);
    }
    jx_buffer_putc(p->to, '>');
}

/* ---- resources */

static void put_resource(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    bool met = !a->bytes || !p->ctx;

    for (size_t i = 0; i < p->resources.count && !met; i++)
        met = p->resources.at[i]->text == a->text;
    if (!met)
        JX_PUSH(p->ctx->arena, &p->resources, a);
    jx_buffer_puts(p->to, "dense_resource<");
    jx_mlir_put_keyword(p, a->text);
    jx_buffer_putc(p->to, '>');
}

/* As a string: the alignment in four bytes, then the data. */
static void put_blob(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    size_t size = a->type && a->type->count
                      ? jx_mlir_element_bytes(a->type->items[0])
                      : 0;
    unsigned char alignment[4] = {size ? (unsigned char)size : 1};

    jx_buffer_puts(p->to, "\"0x");
    put_digits(p, alignment, sizeof alignment);
    put_digits(p, a->bytes, a->size);
    jx_buffer_putc(p->to, '"');
}

void jx_mlir_put_resources(jx_mlir_printer *p)
{
    if (!p->resources.count)
        return;
    jx_buffer_puts(p->to, "\n{-#\n  dialect_resources: {\n    builtin: {\n");
    for (size_t i = 0; i < p->resources.count; i++) {
        jx_buffer_puts(p->to, i ? ",\n      " : "      ");
        jx_mlir_put_keyword(p, p->resources.at[i]->text);
        jx_buffer_puts(p->to, ": ");
        put_blob(p, p->resources.at[i]);
    }
    jx_buffer_puts(p->to, "\n    }\n  }\n#-}\n");
}

/* ---- other attributes */

void jx_mlir_put_named(jx_mlir_printer *p, const char *name,
                       const jx_mlir_attr *value)
{
    jx_mlir_put_keyword(p, name);
    if (value->kind == JX_A_UNIT)
        return;
    jx_mlir_puts(p, " = ");
    jx_mlir_put_attr(p, value, JX_TYPE_ALWAYS);
}

static void put_array(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    jx_mlir_puts(p, "[");
    for (int i = 0; i < a->count; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_attr(p, a->items[i], JX_TYPE_MAY);
    }
    jx_mlir_puts(p, "]");
}

static void put_dict(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    jx_mlir_puts(p, "{");
    for (int i = 0; i < a->count; i++) {
        jx_mlir_puts(p, i ? ", " : "");
        jx_mlir_put_named(p, a->names[i], a->items[i]);
    }
    jx_mlir_puts(p, "}");
}

static void put_symbol(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    jx_mlir_put_symbol(p, a->text, strlen(a->text));
    for (int i = 0; i < a->count; i++) {
        jx_mlir_puts(p, "::");
        jx_mlir_put_attr(p, a->items[i], JX_TYPE_NEVER);
    }
}

static void put_enum(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    const char *dot = strchr(a->name, '.');
    int length = dot ? (int)(dot - a->name) : (int)strlen(a->name);

    /* The only one whose definition has brackets of its own. */
    if (!strcmp(a->name, "stablehlo.result_accuracy_mode"))
        jx_buffer_printf(p->to, "#%s<%s>", a->name, a->text);
    else
        jx_buffer_printf(p->to, "#%.*s<%s %s>", length, a->name,
                         dot ? dot + 1 : "", a->text);
}

/* What does not fit 64 bits is in .bytes; types of more hold small numbers,
 * too. */
static void put_number(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    unsigned char bits[8];

    if (a->bytes && a->size > sizeof bits) {
        put_hex(p, a->bytes, a->size);
        return;
    }
    if (jx_mlir_element_bytes(a->type) > sizeof bits) {
        jx_buffer_printf(p->to, "%" PRId64, a->integer);
        return;
    }
    for (size_t i = 0; i < sizeof bits; i++)
        bits[i] = (unsigned char)((uint64_t)a->integer >> 8 * i);
    put_integer(p, a->type, a->bytes ? a->bytes : bits);
}

static bool is_i64(const jx_mlir_type *t)
{
    return t->kind == JX_T_INTEGER && t->width == 64 && !t->sign;
}

/* Without its type. */
static void put_value(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    switch (a->kind) {
    case JX_A_UNIT: jx_buffer_puts(p->to, "unit"); break;
    case JX_A_BOOL: jx_buffer_puts(p->to, a->boolean ? "true" : "false"); break;
    case JX_A_INTEGER: put_number(p, a); break;
    case JX_A_FLOAT: put_float(p, a->type, a->bytes); break;
    case JX_A_STRING: jx_mlir_put_string(p, a->bytes, a->size); break;
    case JX_A_TYPE: jx_mlir_put_type(p, a->type); break;
    case JX_A_ARRAY: put_array(p, a); break;
    case JX_A_DICT: put_dict(p, a); break;
    case JX_A_DENSE: put_dense(p, a); break;
    case JX_A_DENSE_STRINGS: put_dense_strings(p, a); break;
    case JX_A_DENSE_ARRAY: put_dense_array(p, a); break;
    case JX_A_RESOURCE: put_resource(p, a); break;
    case JX_A_SYMBOL: put_symbol(p, a); break;
    case JX_A_ENUM: put_enum(p, a); break;
    case JX_A_RECORD: jx_mlir_put_record(p, a); break;
    case JX_A_LOC_UNKNOWN:
    case JX_A_LOC_FILE:
    case JX_A_LOC_NAME:
    case JX_A_LOC_CALL:
    case JX_A_LOC_FUSED: jx_mlir_put_loc_attr(p, a); break;
    case JX_A_LOC_ALIAS:
    case JX_A_OPAQUE: jx_buffer_puts(p->to, a->text); break;
    }
}

/* The type that stands behind the value, or NULL. */
static const jx_mlir_type *shown_type(const jx_mlir_attr *a,
                                      jx_mlir_typing typing)
{
    if (typing == JX_TYPE_NEVER || !a->type || a->type->kind == JX_T_NONE)
        return NULL;
    switch (a->kind) {
    case JX_A_INTEGER:
        if (a->type->kind == JX_T_INTEGER && a->type->width == 1 &&
            !a->type->sign)
            return NULL;
        return typing == JX_TYPE_MAY && is_i64(a->type) ? NULL : a->type;
    case JX_A_FLOAT:
        return typing == JX_TYPE_MAY && !strcmp(a->type->text, "f64") ? NULL
                                                                      : a->type;
    case JX_A_STRING:
    case JX_A_DENSE:
    case JX_A_DENSE_STRINGS:
    case JX_A_RESOURCE: return a->type;
    default: return NULL;
    }
}

void jx_mlir_put_attr(jx_mlir_printer *p, const jx_mlir_attr *attr,
                      jx_mlir_typing typing)
{
    const jx_mlir_type *type = shown_type(attr, typing);

    if (p->collecting || !jx_mlir_enter(p))
        return;
    put_value(p, attr);
    if (type) {
        jx_buffer_puts(p->to, " : ");
        jx_mlir_put_type(p, type);
    }
    p->depth--;
}

int64_t jx_mlir_numbers(const jx_mlir_attr *a)
{
    switch (a->kind) {
    case JX_A_DENSE_ARRAY: return a->integers || !a->count ? a->count : -1;
    case JX_A_ARRAY: return a->count;
    case JX_A_DENSE: return elements(a->type);
    default: return -1;
    }
}

int64_t jx_mlir_number(const jx_mlir_attr *a, int64_t index)
{
    size_t size;

    switch (a->kind) {
    case JX_A_DENSE_ARRAY: return a->integers[index];
    case JX_A_ARRAY: return a->items[index]->integer;
    default: break;
    }
    size = jx_mlir_element_bytes(a->type->items[0]);
    if (a->splat)
        index = 0;
    if (!size || size > 8 || a->size / size <= (size_t)index)
        return 0;
    return signed_bits((const unsigned char *)a->bytes + (size_t)index * size,
                       size, (unsigned)size * 8);
}

void jx_mlir_put_plain(jx_mlir_printer *p, const jx_mlir_attr *a)
{
    int64_t count;

    if (p->collecting)
        return;
    switch (a->kind) {
    case JX_A_ENUM: jx_buffer_puts(p->to, a->text); return;
    case JX_A_RECORD: jx_mlir_put_record_body(p, a); return;
    case JX_A_DENSE_ARRAY: break;
    default: jx_mlir_put_attr(p, a, JX_TYPE_NEVER); return;
    }
    count = jx_mlir_numbers(a);
    jx_buffer_putc(p->to, '[');
    for (int64_t i = 0; i < count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        if (a->type->width == 1)
            jx_buffer_puts(p->to, a->integers[i] ? "true" : "false");
        else
            jx_buffer_printf(p->to, "%" PRId64, a->integers[i]);
    }
    jx_buffer_putc(p->to, ']');
}
