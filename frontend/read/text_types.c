/* text_types.c - types and literals in the text of a jaxpr. */
#include "frontend/base/plain.h"
#include "frontend/ir/element.h"
#include "frontend/read/text_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- types */

static bool next_is(const jx_text *t, char c)
{
    return t->at < t->end && *t->at == c;
}

/* `x` or `(x,y)` after a size or a mark; each name goes to `names`. */
static int read_axes(jx_text *t, const char **names, int most)
{
    bool many = next_is(t, '(');
    int count = 0;

    t->at += many;
    do {
        const char *at = t->at;
        while (t->at < t->end && !strchr(",)]}@ \n", *t->at))
            t->at++;
        if (at == t->at || count == most) {
            jx_text_fail(t, at, "expected the name of a mesh axis");
            return count;
        }
        names[count++] = jx_text_intern(t, at, t->at);
    } while (many && next_is(t, ',') && t->at++);
    if (many && !next_is(t, ')'))
        jx_text_fail(t, t->at, "expected ')'");
    t->at += many && !t->failed;
    return count;
}

enum { MOST_AXES = 64 };

static const jx_value *read_entry(jx_text *t)
{
    const char *names[MOST_AXES];
    const jx_value *items[MOST_AXES];
    bool many = next_is(t, '(');
    int count = read_axes(t, names, MOST_AXES);

    if (!many)
        return count ? jx_text_plain(t, JX_V_TEXT, names[0]) : NULL;
    for (int i = 0; i < count; i++)
        items[i] = jx_text_plain(t, JX_V_TEXT, names[i]);
    jx_value v = {.tag = JX_V_TUPLE, .items = items, .count = count};
    return jx_text_add(t, &v);
}

/* One size, and after `@` the mesh axes that it is split over. */
static bool read_size(jx_text *t, const jx_dim **dim, const jx_value **entry)
{
    const char *stop = t->at, *expected = NULL;
    size_t end = 0;
    int depth = 0;

    for (; stop < t->end; stop++) {
        if (depth == 0 && strchr(",]@", *stop) && *stop)
            break;
        depth += (*stop == '(') - (*stop == ')');
    }
    *dim = jx_dim_parse(t->program->dims, t->at, (size_t)(stop - t->at),
                        t->scope, &end, &expected);
    if (!*dim)
        return jx_text_fail(t, t->at + end, "expected %s in a size",
                            expected ? expected : "a number");
    t->at = stop;
    *entry = NULL;
    if (!next_is(t, '@'))
        return true;
    t->at++;
    *entry = read_entry(t);
    return !t->failed;
}

static bool read_shape(jx_text *t, jx_aval *aval)
{
    JX_VEC(const jx_dim *) shape = {0};
    JX_VEC(const jx_value *) entries = {0};
    bool split = false;

    if (!next_is(t, '['))
        return jx_text_fail(t, t->at, "expected '[' and a shape");
    t->at++;
    while (!t->failed && !next_is(t, ']')) {
        const jx_dim *dim = NULL;
        const jx_value *entry = NULL;
        if (!read_size(t, &dim, &entry))
            return false;
        split = split || entry;
        JX_PUSH(t->ctx->arena, &shape, dim);
        JX_PUSH(t->ctx->arena, &entries,
                entry ? entry : jx_text_plain(t, JX_V_NONE, NULL));
        if (next_is(t, ','))
            t->at++;
        else if (!next_is(t, ']'))
            return jx_text_fail(t, t->at, "expected ',' or ']'");
    }
    if (t->failed)
        return false;
    t->at++;
    aval->rank = (int)shape.count;
    aval->shape = shape.at;
    if (split) {
        jx_value v = {
            .tag = JX_V_SPEC, .items = entries.at, .count = (int)entries.count};
        aval->spec = jx_text_add(t, &v);
    }
    return !t->failed;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* `U_max:` and `U_min:`; what is left of it is as of any mark. */
static void read_unreduced_kind(jx_text *t, jx_aval *aval)
{
    static const char *const kinds[] = {"U_max:", "U_min:"};

    for (int i = 0; i < 2; i++)
        if ((size_t)(t->end - t->at) > strlen(kinds[i]) &&
            !memcmp(t->at, kinds[i], strlen(kinds[i]))) {
            aval->unreduced_kind = jx_text_intern(t, t->at + 2, t->at + 5);
            t->at += 4;
        }
}

/* `{V:i, U:(j,k)}` */
static bool read_marks(jx_text *t, jx_aval *aval)
{
    const char *names[MOST_AXES];

    if (!next_is(t, '{'))
        return true;
    t->at++;
    while (!t->failed && !next_is(t, '}')) {
        char mark = t->at < t->end ? *t->at : '\0';
        read_unreduced_kind(t, aval);
        jx_names *to = mark == 'V'   ? &aval->varying
                       : mark == 'U' ? &aval->unreduced
                       : mark == 'R' ? &aval->reduced
                                     : NULL;
        if (!to || t->at + 1 >= t->end || t->at[1] != ':')
            return jx_text_fail(t, t->at, "expected 'V:', 'U:' or 'R:'");
        t->at += 2;
        to->count = read_axes(t, names, MOST_AXES);
        qsort(names, (size_t)to->count, sizeof *names, by_text);
        to->at = jx_arena_copy(t->ctx->arena, names,
                               (size_t)to->count * sizeof *names);
        if (next_is(t, ','))
            t->at += 1 + (t->at + 1 < t->end && t->at[1] == ' ');
    }
    t->at += !t->failed;
    return !t->failed;
}

/* `{f32[3]}`, of which the aval is. */
static const jx_aval *read_of(jx_text *t, jx_aval *aval)
{
    if (!jx_text_expect(t, "{"))
        return NULL;
    aval->of = jx_text_aval(t);
    if (!aval->of || !jx_text_expect(t, "}"))
        return NULL;
    return jx_aval_add(&t->program->avals, aval);
}

static const jx_aval *read_ref(jx_text *t)
{
    jx_aval aval = {.kind = JX_AVAL_REF};

    if (next_is(t, '<')) {
        const char *at = ++t->at;
        while (t->at < t->end && *t->at != '>')
            t->at++;
        aval.memory_space = jx_text_intern(t, at, t->at);
        t->at += t->at < t->end;
    }
    return read_of(t, &aval);
}

/* After the dtype: `<fry>` of a key, `<host>` of a memory space. */
static bool read_angles(jx_text *t, jx_aval *aval)
{
    while (next_is(t, '<')) {
        const char *at = ++t->at;
        while (t->at < t->end && *t->at != '>' && *t->at != '\n')
            t->at++;
        if (!next_is(t, '>'))
            return jx_text_fail(t, at, "expected '>'");
        const char *name = jx_text_intern(t, at, t->at);
        t->at++;
        if (aval->dtype == JX_KEY && !aval->impl)
            aval->impl = name;
        else
            aval->memory_space = name;
    }
    return aval->dtype != JX_KEY || aval->impl ||
           jx_text_fail(t, t->at, "expected '<' and the kind of key");
}

const jx_aval *jx_text_aval(jx_text *t)
{
    const char *at = t->at;
    jx_aval aval = {.kind = JX_AVAL_ARRAY};

    if (t->depth > JX_TEXT_DEPTH || t->failed)
        return NULL;
    while (t->at < t->end && (jx_is_alnum(*t->at) || *t->at == '_'))
        t->at++;
    size_t n = (size_t)(t->at - at);
    if (n == 3 && !memcmp(at, "Tok", 3)) {
        aval.kind = JX_AVAL_TOKEN;
        return jx_aval_add(&t->program->avals, &aval);
    }
    if (n == 3 && !memcmp(at, "Ref", 3)) {
        t->depth++;
        const jx_aval *ref = read_ref(t);
        t->depth--;
        return ref;
    }
    if (n == 14 && !memcmp(at, "AbstractFuture", 14)) {
        aval.kind = JX_AVAL_FUTURE;
        t->depth++;
        const jx_aval *future = read_of(t, &aval);
        t->depth--;
        return future;
    }
    aval.dtype = jx_dtype_named(at, n);
    if (aval.dtype == JX_DT_NONE) {
        jx_text_fail(t, at, "expected a type such as f32[3]");
        return NULL;
    }
    if (!read_angles(t, &aval) || !read_shape(t, &aval) ||
        !read_marks(t, &aval))
        return NULL;
    return jx_aval_add(&t->program->avals, &aval);
}

/* ---- literals */

/* Where the value of a literal ends: the colon before its type. */
static const char *colon_of(const jx_text *t)
{
    int depth = 0;

    for (const char *c = t->at; c < t->end && *c != '\n' && *c != ';'; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c == ':' && depth == 0)
            return c;
    }
    return NULL;
}

static bool is_text(const char *begin, const char *end, const char *word)
{
    return strlen(word) == (size_t)(end - begin) &&
           !memcmp(begin, word, strlen(word));
}

/* All of [begin, end) as a float, as Python prints it. */
static bool real_of(const char *begin, const char *end, double *value)
{
    char copy[64], *stop;
    size_t n = (size_t)(end - begin);

    if (n == 0 || n >= sizeof copy || strchr(" \t+", *begin) ||
        memchr(begin, 'x', n) || memchr(begin, 'X', n))
        return false;
    memcpy(copy, begin, n);
    copy[n] = '\0';
    *value = jx_strtod(copy, &stop);
    return *stop == '\0';
}

/* "(1+2j)", "2j" */
static bool complex_of(const char *begin, const char *end, double *real,
                       double *imag)
{
    *real = 0;
    if (end - begin > 2 && *begin == '(' && end[-1] == ')') {
        begin++;
        end--;
    }
    if (end - begin < 2 || end[-1] != 'j')
        return false;
    end--;
    if (real_of(begin, end, imag))
        return true;
    /* The sign of the second part, but for one after an exponent's e. */
    for (const char *c = end - 1; c > begin; c--)
        if ((*c == '+' || *c == '-') && c[-1] != 'e')
            return real_of(begin, c, real) &&
                   real_of(c + (*c == '+'), end, imag);
    return false;
}

static bool integer_of(const char *begin, const char *end, uint64_t *value,
                       bool *negative)
{
    *negative = begin < end && *begin == '-';
    begin += *negative;
    *value = 0;
    for (const char *c = begin; c < end; c++)
        if (*c < '0' || *c > '9' ||
            __builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*c - '0'), value))
            return false;
    return end > begin;
}

/* True if the value fits the dtype's bits. */
static bool put_integer(jx_dtype dtype, uint64_t value, bool negative,
                        unsigned char *to)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    bool is_signed = info->kind == JX_KIND_INT;
    uint64_t most = info->bits == 64 && !is_signed
                        ? UINT64_MAX
                        : ((uint64_t)1 << (info->bits - is_signed)) - 1;

    if (value > most + (negative && is_signed) ||
        (negative && !is_signed && value))
        return false;
    if (negative)
        value = 0 - value;
    return jx_element_from_integer(dtype, value, to);
}

static bool put_value(jx_literal *to, const char *begin, const char *end)
{
    const jx_dtype_info *info = jx_dtype_of(to->aval->dtype);
    jx_dtype part = jx_dtype_real(to->aval->dtype);
    uint64_t value;
    bool negative;
    double imag;

    switch (info->kind) {
    case JX_KIND_VOID:
        return is_text(begin, end, "(b'',)") || is_text(begin, end, "False");
    case JX_KIND_BOOL:
        to->bits[0] = is_text(begin, end, "True");
        return to->bits[0] || is_text(begin, end, "False");
    case JX_KIND_INT:
    case JX_KIND_UINT:
        return integer_of(begin, end, &value, &negative) &&
               put_integer(to->aval->dtype, value, negative, to->bits);
    case JX_KIND_FLOAT:
        if (!real_of(begin, end, &to->real))
            return false;
        jx_element_from_real(part, to->real, to->bits);
        to->wide =
            jx_element_real(part, to->bits) != to->real && !isnan(to->real);
        return true;
    case JX_KIND_COMPLEX:
        if (!complex_of(begin, end, &to->real, &imag))
            return false;
        jx_element_from_real(part, to->real, to->bits);
        jx_element_from_real(part, imag, to->bits + jx_dtype_of(part)->bytes);
        to->real = 0;
        return true;
    case JX_KIND_NONE:
    case JX_KIND_KEY: break;
    }
    return false;
}

static bool put_dim(jx_text *t, jx_literal *to, const char *begin,
                    const char *end)
{
    const char *expected;
    size_t at;

    if (jx_dtype_of(to->aval->dtype)->kind != JX_KIND_INT)
        return false;
    to->dim = jx_dim_parse(t->program->dims, begin, (size_t)(end - begin),
                           t->scope, &at, &expected);
    /* A number would have fitted the dtype before. */
    int64_t number;
    return to->dim && !jx_dim_is_int(to->dim, &number);
}

const jx_literal *jx_text_literal(jx_text *t)
{
    jx_literal *to = JX_NEW(t->ctx->arena, jx_literal);
    const char *begin = t->at, *end = colon_of(t);

    if (!to || !end) {
        const char *stop = begin;
        while (stop < t->end && !strchr(" \n;,)}", *stop))
            stop++;
        jx_text_fail(t, begin,
                     "'%.*s' is no variable defined before, and no "
                     "literal with a type",
                     (int)(stop - begin > 40 ? 40 : stop - begin), begin);
        return NULL;
    }
    t->at = end + 1;
    to->aval = jx_text_aval(t);
    if (!to->aval)
        return NULL;
    if (is_text(begin, end, "[...]")) {
        jx_array *array = JX_NEW(t->ctx->arena, jx_array);
        if (array)
            array->aval = to->aval;
        to->array = array;
        return to;
    }
    if (to->aval->rank == 0 &&
        (put_value(to, begin, end) || put_dim(t, to, begin, end)))
        return to;
    jx_text_fail(t, begin, "'%.*s' is no value of that type",
                 (int)(end - begin > 40 ? 40 : end - begin), begin);
    return NULL;
}
