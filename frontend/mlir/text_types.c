/* text_types.c - types of MLIR text. */
#include "frontend/base/plain.h"
#include "frontend/mlir/text_parts.h"

#include <string.h>

enum { MOST_DIMS = 64 };

const jx_mlir_type *jx_mtext_add(jx_mtext *t, const jx_mlir_type *like)
{
    const jx_mlir_type *type =
        t->failed ? NULL : jx_mlir_type_add(t->types, like);

    if (!type)
        t->failed = true;
    return type;
}

static const jx_mlir_type *plain(jx_mtext *t, jx_mlir_type_kind kind)
{
    return jx_mtext_add(t, &(jx_mlir_type){.kind = kind, .rank = -1});
}

/* A type with the given text, all of which is known. */
static const jx_mlir_type *worded(jx_mtext *t, jx_mlir_type_kind kind,
                                  const char *from)
{
    jx_piece text = {from, (size_t)(t->at - from)};

    if (t->failed)
        return NULL;
    return jx_mtext_add(t, &(jx_mlir_type){.kind = kind,
                                           .rank = -1,
                                           .text = jx_mtext_intern(t, text)});
}

/* A type made of the types on the stack from `from` on. */
static const jx_mlir_type *composed(jx_mtext *t, jx_mlir_type_kind kind,
                                    size_t from, size_t inputs)
{
    jx_mlir_type like = {.kind = kind,
                         .rank = -1,
                         .count = (int)(t->parts.count - from),
                         .inputs = (int)inputs,
                         .items = t->parts.at ? t->parts.at + from : NULL};

    t->parts.count = from;
    return jx_mtext_add(t, &like);
}

static void push(jx_mtext *t, const jx_mlir_type *type)
{
    if (type)
        JX_PUSH(t->arena, &t->parts, type);
    else
        t->failed = true;
}

/* Types between here and `close`, onto the stack. */
static void list_to(jx_mtext *t, const char *close)
{
    if (jx_mtext_take(t, close))
        return;
    do
        push(t, jx_mtext_type(t));
    while (!t->failed && jx_mtext_take(t, ","));
    jx_mtext_expect(t, close);
}

bool jx_mtext_types(jx_mtext *t)
{
    if (jx_mtext_take(t, "("))
        list_to(t, ")");
    else
        push(t, jx_mtext_type(t));
    return !t->failed;
}

static const jx_mlir_type *function(jx_mtext *t)
{
    size_t from = t->parts.count, inputs;

    jx_mtext_expect(t, "(");
    list_to(t, ")");
    inputs = t->parts.count - from;
    if (jx_mtext_expect(t, "->"))
        jx_mtext_types(t);
    return composed(t, JX_T_FUNCTION, from, inputs);
}

/* ---- shapes */

static bool dimension(jx_mtext *t, int64_t *size)
{
    if (jx_mtext_take(t, "?")) {
        *size = JX_MLIR_DYNAMIC;
        return true;
    }
    const char *at = t->at;
    for (*size = 0; t->at < t->end && jx_is_digit(*t->at); t->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *t->at - '0', size))
            return jx_mtext_fail(t, at, "expected a size of 63 bits");
    return true;
}

/* `2x?x`, up to the element type; the rank, or -1. */
static int shape(jx_mtext *t, int64_t sizes[MOST_DIMS])
{
    int rank = 0;

    for (;;) {
        char c = jx_mtext_space(t);
        if (!jx_is_digit(c) && c != '?')
            return rank;
        if (rank == MOST_DIMS) {
            jx_mtext_fail(t, t->at, "expected at most %d axes", MOST_DIMS);
            return -1;
        }
        if (!dimension(t, &sizes[rank++]))
            return -1;
        if (jx_mtext_space(t) != 'x') {
            jx_mtext_wants(t, "'x' behind the size of an axis");
            return -1;
        }
        t->at++;
    }
}

/* Behind `tensor<` or `memref<`. */
static const jx_mlir_type *shaped(jx_mtext *t, jx_mlir_type_kind kind,
                                  const char *from)
{
    int64_t sizes[MOST_DIMS];
    jx_mlir_type like = {.kind = kind, .rank = -1, .count = 1};
    const jx_mlir_type *element;

    if (jx_mtext_take(t, "*")) {
        if (jx_mtext_space(t) != 'x') {
            jx_mtext_wants(t, "'x' behind '*'");
            return NULL;
        }
        t->at++;
        like.kind = JX_T_UNRANKED;
    } else {
        like.rank = shape(t, sizes);
        like.shape = sizes;
    }
    element = jx_mtext_type(t);
    like.items = &element;
    if (kind == JX_T_MEMREF &&
        (like.kind == JX_T_UNRANKED || jx_mtext_comes(t, ","))) {
        /* Layouts and memory spaces are not ours to understand. */
        while (!t->failed && jx_mtext_take(t, ","))
            jx_mtext_attr(t);
        jx_mtext_expect(t, ">");
        return worded(t, JX_T_OPAQUE, from);
    }
    if (jx_mtext_take(t, ","))
        like.encoding = jx_mtext_attr(t);
    jx_mtext_expect(t, ">");
    return t->failed ? NULL : jx_mtext_add(t, &like);
}

/* A simple type by how it is written: most texts repeat a few hundred. */
typedef struct spelled {
    const char *at;
    size_t length;
    const jx_mlir_type *type;
} spelled;

static bool same_spelled(const void *kept, const void *key)
{
    const spelled *a = kept, *b = key;

    return a->length == b->length && memcmp(a->at, b->at, b->length) == 0;
}

/* Behind the word `tensor`. */
static const jx_mlir_type *tensor(jx_mtext *t, const char *from)
{
    enum { MOST = 48 };
    spelled key = {.at = t->at};
    const char *end = t->end - t->at > MOST ? t->at + MOST : t->end;

    for (const char *c = t->at + 1;
         c < end && *c != '<' && *c != '!' && *c != '/' && *c != '#'; c++)
        if (*c == '>') {
            key.length = (size_t)(c + 1 - t->at);
            break;
        }
    uint64_t hash = key.length ? jx_hash_bytes(key.at, key.length) : 0;
    const spelled *known =
        key.length ? jx_intern_find(&t->spelled, hash, &key, same_spelled)
                   : NULL;
    if (known) {
        t->at += key.length;
        return known->type;
    }
    if (!jx_mtext_expect(t, "<"))
        return NULL;
    key.type = shaped(t, JX_T_TENSOR, from);
    if (key.type && key.length) {
        const spelled *entry = jx_arena_copy(t->arena, &key, sizeof key);
        if (!entry || !jx_intern_add(&t->spelled, hash, entry))
            t->failed = true;
    }
    return key.type;
}

/* ---- integers */

/* Digits as a number; 0 if they are none or too many. */
static unsigned number_of(const char *at, size_t length)
{
    enum { MOST = 16777215 };
    unsigned number = 0;

    for (size_t i = 0; i < length; i++) {
        if (!jx_is_digit(at[i]) || number > MOST / 10)
            return 0;
        number = number * 10 + (unsigned)(at[i] - '0');
    }
    return number;
}

/* `i32`, `si8`, `ui4`: the width, or 0. */
static unsigned integer_width(jx_piece word, jx_mlir_sign *sign)
{
    size_t i = 0;

    *sign = JX_SIGNLESS;
    if (i < word.length && (word.at[i] == 's' || word.at[i] == 'u'))
        *sign = word.at[i++] == 's' ? JX_SIGNED : JX_UNSIGNED;
    if (i >= word.length || word.at[i++] != 'i')
        return 0;
    return number_of(word.at + i, word.length - i);
}

/* ---- quantized types */

static double real(jx_mtext *t)
{
    jx_mnumber n;
    double value;

    jx_mtext_space(t);
    if (!jx_mnumber_scan(t->at, t->end, &n) || n.hex) {
        jx_mtext_wants(t, "a number, the scale");
        return 0;
    }
    value = jx_mnumber_real(t->ctx, &n);
    if (!jx_mlir_is_scale(value))
        jx_mtext_fail(t, n.at, "expected a scale, finite and above 0");
    t->at = n.at + n.length;
    return value;
}

typedef struct quantizer {
    jx_mlir_quant quant;
    JX_VEC(double) scales;
    JX_VEC(int64_t) zeros;
} quantizer;

static void scale(jx_mtext *t, quantizer *q)
{
    int64_t zero = 0;
    double value = real(t);

    if (jx_mtext_take(t, ":"))
        jx_mtext_integer(t, &zero);
    JX_PUSH(t->arena, &q->scales, value);
    JX_PUSH(t->arena, &q->zeros, zero);
}

/* `i8<-127:127>`, `u4`, `ui8`: the type of what is stored. */
static const jx_mlir_type *storage(jx_mtext *t, jx_mlir_quant *q)
{
    jx_piece word = jx_mtext_word(t, false);
    jx_mlir_sign sign;
    bool shorter = word.length > 1 && word.at[0] == 'u' && word.at[1] != 'i';
    unsigned width = shorter ? number_of(word.at + 1, word.length - 1)
                             : integer_width(word, &sign);

    if (shorter)
        sign = JX_SIGNLESS;
    if (!width || width > 32) {
        jx_mtext_fail(t, word.at,
                      "expected the type of what is stored, i1 to "
                      "i32 or u1 to u32");
        return NULL;
    }
    bool minus = !shorter && sign != JX_UNSIGNED;
    q->flags = minus;
    q->min = minus ? -((int64_t)1 << (width - 1)) : 0;
    q->max = ((int64_t)1 << (width - minus)) - 1;
    if (jx_mtext_take(t, "<")) {
        jx_mtext_integer(t, &q->min);
        jx_mtext_expect(t, ":");
        jx_mtext_integer(t, &q->max);
        jx_mtext_expect(t, ">");
    }
    return jx_mlir_integer(t->types, sign, width);
}

/* Scales per axis, `{0.1:2, 0.2}`. */
static void scales(jx_mtext *t, quantizer *q)
{
    jx_mtext_expect(t, "{");
    do
        scale(t, q);
    while (!t->failed && jx_mtext_take(t, ","));
    jx_mtext_expect(t, "}");
}

/* Behind `!quant.uniform<`; blocks of several axes are kept as written. */
static const jx_mlir_type *quantized(jx_mtext *t, const char *from)
{
    quantizer q = {.quant.axis = -1};
    const jx_mlir_type *items[2];
    int64_t axis;

    items[0] = storage(t, &q.quant);
    if (!jx_mtext_expect(t, ":"))
        return NULL;
    items[1] = jx_mtext_type(t);
    if (jx_mtext_take(t, ":")) {
        if (jx_mtext_comes(t, "{")) {
            t->at = from + strlen("!quant.uniform");
            return jx_mtext_skip(t) ? worded(t, JX_T_OPAQUE, from) : NULL;
        }
        const char *at = t->at;
        if (!jx_mtext_integer(t, &axis) || axis < 0 || axis > MOST_DIMS) {
            jx_mtext_fail(t, at, "expected the axis of the scales");
            return NULL;
        }
        q.quant.axis = (int)axis;
    }
    jx_mtext_expect(t, ",");
    if (q.quant.axis < 0)
        scale(t, &q);
    else
        scales(t, &q);
    jx_mtext_expect(t, ">");
    if (t->failed || !items[0] || !q.scales.at || !q.zeros.at)
        return NULL;
    q.quant.count = (int)q.scales.count;
    q.quant.scales = q.scales.at;
    q.quant.zeros = q.zeros.at;
    return jx_mtext_add(t, &(jx_mlir_type){.kind = JX_T_QUANTIZED,
                                           .rank = -1,
                                           .count = 2,
                                           .items = items,
                                           .quant = &q.quant});
}

/* ---- types of dialects */

/* Behind `!`, which stands at `from`. */
static const jx_mlir_type *dialect_type(jx_mtext *t, const char *from)
{
    jx_piece name = jx_mtext_suffix(t);

    if (!name.length) {
        jx_mtext_wants(t, "the name of a type after '!'");
        return NULL;
    }
    if (jx_mtext_is(name, "stablehlo.token"))
        return plain(t, JX_T_TOKEN);
    if (jx_mtext_is(name, "shape.witness"))
        return plain(t, JX_T_WITNESS);
    if (jx_mtext_is(name, "stablehlo.future")) {
        size_t begin = t->parts.count;
        if (jx_mtext_expect(t, "<"))
            list_to(t, ">");
        return composed(t, JX_T_FUTURE, begin, 0);
    }
    if (jx_mtext_is(name, "quant.uniform") && jx_mtext_take(t, "<"))
        return quantized(t, from);
    bool body = t->at < t->end && *t->at == '<';
    if (!memchr(name.at, '.', name.length) && !body)
        return jx_mtext_alias_type(t, name);
    if (body && !jx_mtext_skip(t))
        return NULL;
    return worded(t, JX_T_OPAQUE, from);
}

/* ---- builtin types */

static const jx_mlir_type *complex(jx_mtext *t)
{
    size_t from = t->parts.count;

    jx_mtext_expect(t, "<");
    push(t, jx_mtext_type(t));
    jx_mtext_expect(t, ">");
    return composed(t, JX_T_COMPLEX, from, 0);
}

static const jx_mlir_type *tuple(jx_mtext *t)
{
    size_t from = t->parts.count;

    if (jx_mtext_expect(t, "<"))
        list_to(t, ">");
    return composed(t, JX_T_TUPLE, from, 0);
}

const jx_mlir_type *jx_mtext_type_word(jx_mtext *t, jx_piece word)
{
    jx_mlir_sign sign;
    unsigned width;

    if (jx_mtext_is(word, "tensor"))
        return tensor(t, word.at);
    width = integer_width(word, &sign);
    if (width)
        return jx_mlir_integer(t->types, sign, width);
    if (jx_mlir_float_bits(word.at, word.length))
        return worded(t, JX_T_FLOAT, word.at);
    if (jx_mtext_is(word, "index"))
        return plain(t, JX_T_INDEX);
    if (jx_mtext_is(word, "complex"))
        return complex(t);
    if (jx_mtext_is(word, "tuple"))
        return tuple(t);
    if (jx_mtext_is(word, "none"))
        return plain(t, JX_T_NONE);
    if (jx_mtext_is(word, "memref"))
        return jx_mtext_expect(t, "<") ? shaped(t, JX_T_MEMREF, word.at) : NULL;
    if (jx_mtext_is(word, "vector"))
        return jx_mtext_skip(t) ? worded(t, JX_T_OPAQUE, word.at) : NULL;
    return NULL;
}

const jx_mlir_type *jx_mtext_type(jx_mtext *t)
{
    char c = jx_mtext_space(t);
    const char *from = t->at;
    const jx_mlir_type *type = NULL;

    if (!jx_mtext_enter(t))
        return NULL;
    if (c == '(') {
        type = function(t);
    } else if (c == '!') {
        t->at++;
        type = dialect_type(t, from);
    } else {
        jx_piece word = jx_mtext_word(t, false);
        type = word.length ? jx_mtext_type_word(t, word) : NULL;
        if (!type && !t->failed) {
            t->at = from;
            jx_mtext_wants(t, "a type");
        }
    }
    jx_mtext_leave(t);
    if (!type)
        t->failed = true;
    return t->failed ? NULL : type;
}
