/* text_dense.c - constants: `dense<...> : tensor<...>`.
 *
 * The type, which says what the elements are, comes behind them: the literal
 * is skipped first and decoded then. */
#include "frontend/mlir/text_parts.h"

#include <ctype.h>
#include <string.h>

typedef enum element_kind { INTEGER, REAL, TEXT } element_kind;

typedef struct element {
    element_kind kind;
    bool complex;
    unsigned width, size; /* of one part: bits, bytes */
    jx_mlir_sign sign;
    const jx_mformat *format;
    const char *name; /* of the type, for messages */
} element;

typedef struct literal {
    jx_mtext *t;
    element of;
    const jx_mlir_type *type;
    int64_t total;        /* elements of the type */
    unsigned char *bytes; /* of all elements, or of the only one */
    size_t count, most;   /* elements written; room for */
} literal;

/* ---- what the type says */

static bool part_of(jx_mtext *t, const jx_mlir_type *type, element *e)
{
    switch (type->kind) {
    case JX_T_INDEX:
        *e = (element){
            .width = 64, .size = 8, .sign = JX_SIGNED, .name = "index"};
        return true;
    case JX_T_INTEGER:
        *e = (element){.width = type->width,
                       .size = (type->width + 7) / 8,
                       .sign = type->sign,
                       .name = "an integer"};
        return type->width <= 64 ||
               jx_mtext_fail(t, t->at,
                             "constants of integers of more than 64 "
                             "bits are not read");
    case JX_T_FLOAT:
        *e = (element){.kind = REAL,
                       .name = type->text,
                       .format = jx_mformat_of(type->text)};
        if (!e->format)
            return jx_mtext_fail(t, t->at, "constants of %s are not read",
                                 type->text);
        e->width = jx_mformat_width(e->format);
        e->size = (e->width + 7) / 8;
        return true;
    case JX_T_QUANTIZED: return part_of(t, type->items[0], e);
    default: *e = (element){.kind = TEXT, .name = "a string"}; return true;
    }
}

static bool total_of(jx_mtext *t, const jx_mlir_type *type, int64_t *total)
{
    *total = 1;
    if (type->kind != JX_T_TENSOR)
        return jx_mtext_fail(t, t->at,
                             "expected a tensor's type for a constant");
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] == JX_MLIR_DYNAMIC)
            return jx_mtext_fail(t, t->at, "a constant's shape must be known");
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] == 0)
            *total = 0;
    for (int i = 0; *total && i < type->rank; i++)
        if (__builtin_mul_overflow(*total, type->shape[i], total))
            return jx_mtext_fail(t, t->at,
                                 "this constant has more than 2^63 elements");
    return true;
}

/* ---- hexadecimal */

/* -1 for what is no digit, in a table that the stack holds. */
static void hex_table(signed char table[256])
{
    memset(table, -1, 256);
    for (int i = 0; i < 10; i++)
        table['0' + i] = (signed char)i;
    for (int i = 0; i < 6; i++)
        table['a' + i] = table['A' + i] = (signed char)(10 + i);
}

unsigned char *jx_mtext_hex(jx_mtext *t, jx_piece digits, const char *at)
{
    signed char table[256];
    size_t n = digits.length / 2;
    const unsigned char *from = (const unsigned char *)digits.at;
    unsigned char *bytes = jx_arena_alloc(t->arena, n);
    int bad = 0;

    if (!bytes)
        t->failed = true;
    if (t->failed)
        return NULL;
    hex_table(table);
    for (size_t i = 0; i < n; i++) {
        int value = table[from[2 * i]] * 16 | table[from[2 * i + 1]];
        bad |= value;
        bytes[i] = (unsigned char)value;
    }
    if (bad < 0 || digits.length % 2) {
        size_t i = 0;
        while (i < 2 * n && table[from[i]] >= 0)
            i++;
        jx_mtext_fail(t, at + i / 2 * 2,
                      "expected two hexadecimal digits for each byte");
        return NULL;
    }
    return bytes;
}

/* Bits, the first in the lowest place, to a byte each. */
static unsigned char *unpack(jx_mtext *t, const unsigned char *bits, size_t n)
{
    unsigned char *bytes = jx_arena_alloc(t->arena, n);

    if (!bytes)
        t->failed = true;
    for (size_t i = 0; bytes && i < n; i++)
        bytes[i] = bits[i / 8] >> (i % 8) & 1;
    return bytes;
}

/* Elements that are all equal are one, as MLIR has them. */
static void set_bytes(const literal *l, jx_mlir_attr *attr, const void *bytes,
                      size_t size, bool splat)
{
    size_t one = l->of.size * (l->of.complex ? 2 : 1);

    attr->bytes = bytes;
    attr->size = size;
    attr->splat = splat;
    if (splat || size <= one ||
        memcmp(bytes, (const char *)bytes + one, size - one) != 0)
        return;
    attr->size = one;
    attr->splat = true;
}

/* Bits of one byte, all the same for all elements, or one for each. */
static void set_bools(literal *l, jx_mlir_attr *attr, unsigned char *bytes,
                      size_t size)
{
    size_t n = (size_t)l->total;

    if (size == 1 && n > 1 && (bytes[0] == 0xff || !bytes[0])) {
        bytes[0] &= 1;
        set_bytes(l, attr, bytes, 1, true);
    } else if (size == (n + 7) / 8 && (size != n || n == 1)) {
        set_bytes(l, attr, unpack(l->t, bytes, n), n, false);
    } else if (size == n) {
        for (size_t i = 0; i < n; i++)
            bytes[i] = bytes[i] != 0;
        set_bytes(l, attr, bytes, n, false);
    } else {
        jx_mtext_fail(l->t, l->t->at,
                      "this has %zu bytes, where %zu bits are expected", size,
                      n);
    }
}

/* `"0x..."`: the bytes of all elements, or of one that all are like. */
static void decode_hex(literal *l, jx_mlir_attr *attr, jx_piece string)
{
    jx_mtext *t = l->t;
    size_t one = l->of.size * (l->of.complex ? 2 : 1), all;

    if (string.length < 2 || memcmp(string.at, "0x", 2) != 0) {
        jx_mtext_fail(t, t->at, "expected '0x' and hexadecimal digits");
        return;
    }
    string = (jx_piece){string.at + 2, string.length - 2};
    unsigned char *bytes = jx_mtext_hex(t, string, t->at + 3);
    size_t size = string.length / 2;
    if (!bytes)
        return;
    if (l->of.kind == INTEGER && l->of.width == 1 && !l->of.complex)
        set_bools(l, attr, bytes, size);
    else if (__builtin_mul_overflow((size_t)l->total, one, &all) ||
             (size != all && size != one))
        jx_mtext_fail(t, t->at,
                      "this has %zu bytes, the type has %lld elements of %zu",
                      size, (long long)l->total, one);
    else
        set_bytes(l, attr, bytes, size, size == one && l->total != 1);
}

/* ---- elements */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* As jx_mtext_space, which need not be called where nothing is to skip. */
static char next(jx_mtext *t)
{
    if (t->at < t->end && !is_space(*t->at) && *t->at != '/')
        return *t->at;
    return jx_mtext_space(t);
}

static bool fits(const literal *l, const jx_mnumber *n, uint64_t *bits)
{
    unsigned char bytes[16];

    if (!jx_mnumber_integer(n, l->of.width, l->of.sign, bytes))
        return jx_mtext_fail(l->t, n->at,
                             "expected a number that fits %s of %u bits",
                             l->of.name, l->of.width);
    memcpy(bits, bytes, 8);
    if (l->of.width < 64)
        *bits &= ((uint64_t)1 << l->of.width) - 1;
    return true;
}

static bool boolean(literal *l, uint64_t *bits)
{
    jx_mtext *t = l->t;

    if (l->of.kind != INTEGER || l->of.width != 1)
        return false;
    if (jx_mtext_take(t, "true"))
        *bits = 1;
    else if (jx_mtext_take(t, "false"))
        *bits = 0;
    else
        return false;
    return true;
}

/* One number, its bits. */
static bool number(literal *l, uint64_t *bits)
{
    jx_mtext *t = l->t;
    char c = next(t);
    jx_mnumber n;

    if ((c == 't' || c == 'f') && boolean(l, bits))
        return true;
    if (!jx_mnumber_scan(t->at, t->end, &n))
        return jx_mtext_wants(t, l->of.kind == INTEGER ? "an integer"
                                                       : "a number");
    t->at = n.at + n.length;
    if (n.hex && l->of.kind == REAL) {
        unsigned char bytes[16];
        if (n.negative ||
            !jx_mnumber_integer(&n, l->of.width, JX_UNSIGNED, bytes))
            return jx_mtext_fail(t, n.at, "expected the bits of %s",
                                 l->of.name);
        memcpy(bits, bytes, 8);
        return true;
    }
    if (l->of.kind == INTEGER)
        return n.real ? jx_mtext_fail(t, n.at, "expected an integer")
                      : fits(l, &n, bits);
    if (!n.real)
        return jx_mtext_fail(t, n.at,
                             "expected a number with a point: the "
                             "elements are %s",
                             l->of.name);
    *bits = jx_mnumber_encode(l->t->ctx, &n, l->of.format);
    return true;
}

static bool put(literal *l, uint64_t bits, size_t part)
{
    size_t one = l->of.size * (l->of.complex ? 2 : 1);

    if (l->count >= l->most)
        return jx_mtext_fail(l->t, l->t->at, "more elements than the type has");
    memcpy(l->bytes + l->count * one + part * l->of.size, &bits, l->of.size);
    return true;
}

static bool one_element(literal *l)
{
    uint64_t bits;

    if (!l->of.complex) {
        if (!number(l, &bits) || !put(l, bits, 0))
            return false;
    } else if (!jx_mtext_expect(l->t, "(") || !number(l, &bits) ||
               !put(l, bits, 0) || !jx_mtext_expect(l->t, ",") ||
               !number(l, &bits) || !put(l, bits, 1) ||
               !jx_mtext_expect(l->t, ")")) {
        return false;
    }
    l->count++;
    return true;
}

static bool one_string(literal *l)
{
    jx_piece text;

    if (!jx_mtext_string(l->t, &text))
        return jx_mtext_wants(l->t, "a string");
    const jx_mlir_attr *attr = jx_mtext_text_attr(l->t, text);
    if (attr)
        JX_PUSH(l->t->arena, &l->t->items, attr);
    l->count++;
    return attr != NULL;
}

/* ---- lists */

/* The end of a list `depth` deep: has it as many items as the type says? */
static bool closes(literal *l, int64_t items, int depth)
{
    int64_t size = l->type->shape[depth - 1];

    if (items == size)
        return true;
    return jx_mtext_fail(l->t, l->t->at,
                         "this list has %lld items, where the type says %lld",
                         (long long)items, (long long)size);
}

/* `[[1, 2], [3, 4]]`, as deep as the type has axes, or one element. */
static bool lists(literal *l)
{
    enum { MOST_DIMS = 64 };
    jx_mtext *t = l->t;
    int64_t items[MOST_DIMS + 1] = {0};
    int depth = 0, rank = l->type->rank;

    do {
        char c = next(t);
        if (c == '[') {
            if (depth == rank)
                return jx_mtext_fail(t, t->at,
                                     "the lists nest deeper than "
                                     "the type has axes (%d)",
                                     rank);
            t->at++;
            items[++depth] = 0;
            if (next(t) != ']')
                continue;
        } else if (depth != rank && depth) {
            return jx_mtext_wants(t, "'['");
        } else {
            if (l->of.kind == TEXT ? !one_string(l) : !one_element(l))
                return false;
            items[depth]++;
        }
        while (depth && (c = next(t)) == ']') {
            if (!closes(l, items[depth], depth))
                return false;
            t->at++;
            items[--depth]++;
        }
        if (depth && c != ',')
            return jx_mtext_wants(t, "',' or ']'");
        t->at += depth > 0;
    } while (depth && !t->failed);
    return !t->failed;
}

static const void *finish_strings(literal *l, jx_mlir_attr *attr, size_t from)
{
    attr->kind = JX_A_DENSE_STRINGS;
    attr->count = (int)(l->t->items.count - from);
    attr->items = JX_MTEXT_CUT(l->t, &l->t->items, from);
    attr->splat = attr->count == 1 && l->total != 1;
    return attr;
}

/* The literal at t->at, which ends at `end`. */
static void decode(literal *l, jx_mlir_attr *attr, const char *end)
{
    jx_mtext *t = l->t;
    size_t one = l->of.size * (l->of.complex ? 2 : 1), from = t->items.count;
    bool list = next(t) == '[';
    jx_piece string;

    if (t->at == end) {
        if (l->total)
            jx_mtext_fail(t, end, "expected elements: the type has %lld",
                          (long long)l->total);
        attr->bytes = "";
        return;
    }
    if (l->of.kind != TEXT && *t->at == '"') {
        const char *at = t->at;
        if (!jx_mtext_string(t, &string))
            return;
        const char *behind = t->at;
        t->at = at;
        decode_hex(l, attr, string);
        t->at = t->failed ? t->at : behind;
        return;
    }
    /* Each element takes a character at least. */
    if (list && l->total > end - t->at) {
        jx_mtext_fail(t, t->at, "this has fewer elements than the type, %lld",
                      (long long)l->total);
        return;
    }
    l->most = list ? (size_t)l->total : 1;
    l->bytes = jx_arena_array(t->arena, l->most, one);
    if (!l->bytes)
        t->failed = true;
    if (t->failed || !lists(l))
        return;
    if (l->of.kind == TEXT)
        finish_strings(l, attr, from);
    else
        set_bytes(l, attr, l->bytes, l->count * one,
                  !list && l->type->rank > 0 && l->total != 1);
}

/* The `>` that ends the literal, or NULL. */
static const char *end_of(const jx_mtext *t)
{
    const char *at = t->at;
    const char *end = memchr(at, '>', (size_t)(t->end - at));
    bool plain = end && !memchr(at, '"', (size_t)(end - at)) &&
                 !memchr(at, '/', (size_t)(end - at));

    if (plain)
        return end;
    for (; at < t->end && *at != '>'; at++) {
        if (*at == '"') {
            for (at++; at < t->end && *at != '"'; at++)
                at += *at == '\\';
        } else if (*at == '/' && at + 1 < t->end && at[1] == '/') {
            at = memchr(at, '\n', (size_t)(t->end - at));
            if (!at)
                return NULL;
        }
    }
    return at < t->end ? at : NULL;
}

const jx_mlir_attr *jx_mtext_dense(jx_mtext *t)
{
    jx_mlir_attr *attr = jx_mtext_new(t, JX_A_DENSE);
    literal l = {.t = t};

    if (!attr || !jx_mtext_expect(t, "<"))
        return NULL;
    const char *begin = t->at, *end = end_of(t);
    if (!end) {
        jx_mtext_fail(t, begin, "this constant has no end, '>'");
        return NULL;
    }
    t->at = end + 1;
    if (!jx_mtext_expect(t, ":"))
        return NULL;
    l.type = attr->type = jx_mtext_type(t);
    if (!l.type || !total_of(t, l.type, &l.total))
        return NULL;
    const jx_mlir_type *part = l.type->items[0];
    bool complex = part->kind == JX_T_COMPLEX;
    if (!part_of(t, complex ? part->items[0] : part, &l.of))
        return NULL;
    l.of.complex = complex;
    const char *behind = t->at;
    t->at = begin;
    decode(&l, attr, end);
    if (t->failed)
        return NULL;
    if (jx_mtext_space(t) != '>' || t->at != end) {
        jx_mtext_wants(t, "'>', the end of the constant");
        return NULL;
    }
    t->at = behind;
    return attr;
}
