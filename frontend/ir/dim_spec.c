/* dim_spec.c - see dim_spec.h. */
#include "frontend/ir/dim_spec.h"

#include "frontend/base/vec.h"

#include <string.h>

enum { MAX_RANK = 1 << 10 };

typedef struct reader {
    jx_dims *dims;
    const char *text;
    size_t pos, end; /* what is left of it */
    int scope;
    const jx_dim_shape *like;
    jx_dim_spec_error *error;
    JX_VEC(const jx_dim *) found;
} reader;

static jx_arena *arena_of(const reader *r)
{
    return jx_dims_ctx(r->dims)->arena;
}

static bool fail(const reader *r, size_t at, const char *expected)
{
    *r->error = (jx_dim_spec_error){at + 1, expected};
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_spaces(reader *r)
{
    while (r->pos < r->end && is_space(r->text[r->pos]))
        r->pos++;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The word is next, and ends there: no name with a path begins with it. */
static bool at_word(const reader *r, const char *word)
{
    size_t n = strlen(word), end = r->pos + n;

    return r->end - r->pos >= n && !memcmp(r->text + r->pos, word, n) &&
           (end == r->end || (!is_name(r->text[end]) && r->text[end] != '.' &&
                              r->text[end] != '['));
}

/* Where the parenthesis at `open` closes; the end if it does not. */
static size_t closing(const reader *r, size_t open)
{
    size_t depth = 0;

    for (size_t i = open; i < r->end; i++) {
        depth += r->text[i] == '(';
        if (r->text[i] == ')' && --depth == 0)
            return i;
    }
    return r->end;
}

/* Takes off white space and parentheses around the whole. */
static bool unwrap(reader *r)
{
    for (;;) {
        skip_spaces(r);
        while (r->end > r->pos && is_space(r->text[r->end - 1]))
            r->end--;
        if (r->pos == r->end || r->text[r->pos] != '(')
            return true;
        size_t close = closing(r, r->pos);
        if (close == r->end)
            return fail(r, r->end, "')', which closes the shape");
        if (close + 1 != r->end)
            return true; /* of an expression */
        r->pos++;
        r->end--;
    }
}

static int rank_left(const reader *r)
{
    return r->like ? r->like->rank - (int)r->found.count : 0;
}

static const char *shape_text(const reader *r)
{
    jx_buffer text = jx_ctx_text(jx_dims_ctx(r->dims));

    jx_dim_shape_print(r->like, &text);
    const char *kept = jx_arena_take(arena_of(r), &text);
    return kept ? kept : "";
}

/* A size of the shape that is matched stands for a placeholder. */
static bool placeholder(reader *r, size_t at, int count)
{
    if (!r->like)
        return fail(r, at,
                    "a size: there is no shape that the placeholder "
                    "could be filled from");
    if (rank_left(r) < count)
        return fail(r, at,
                    jx_arena_printf(arena_of(r),
                                    "the end: the shape %s has no more axes",
                                    shape_text(r)));
    for (int first = (int)r->found.count, i = first; i < first + count; i++)
        JX_PUSH(arena_of(r), &r->found, r->like->dims[i]);
    return true;
}

static bool add(reader *r, size_t at, const jx_dim *dim)
{
    jx_int number, known;

    if (r->found.count == MAX_RANK)
        return fail(r, at, "at most 1024 axes");
    if (r->like && rank_left(r) < 1)
        return fail(r, at,
                    jx_arena_printf(arena_of(r),
                                    "the end: the shape %s has no more axes",
                                    shape_text(r)));
    if (jx_dim_is_wide(dim, &number)) {
        if (number < 0)
            return fail(r, at, "a size that is not negative");
        if (r->like && jx_dim_is_wide(r->like->dims[r->found.count], &known) &&
            known != number)
            return fail(r, at,
                        jx_arena_printf(arena_of(r),
                                        "%lld, the size in the shape %s",
                                        (long long)known, shape_text(r)));
    }
    JX_PUSH(arena_of(r), &r->found, dim);
    return true;
}

/* `_` is no variable here. */
static bool has_placeholder(const reader *r, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(r->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (!strcmp(vars[i]->name, "_"))
            return true;
    return false;
}

static bool item(reader *r)
{
    jx_dim_divisors divisors = {0};
    jx_dim_reading reading = {.scope = r->scope, .divisors = &divisors};
    size_t at = r->pos;
    const jx_dim *dim;
    jx_int k;

    if (at_word(r, "_")) {
        r->pos++;
        return placeholder(r, at, 1);
    }
    dim = jx_dim_read(r->dims, r->text + at, r->end - at, &reading);
    if (!dim)
        return fail(r, at + reading.end, reading.expected);
    if (has_placeholder(r, dim))
        return fail(r, at, "_ by itself, or an expression without it");
    for (size_t i = 0; i < divisors.count; i++)
        if (jx_dim_is_wide(divisors.at[i], &k))
            return fail(r, at, "a size that does not divide by 0");
    r->pos += reading.end;
    return add(r, at, dim);
}

static bool rest(reader *r)
{
    size_t at = r->pos;

    r->pos += 3;
    if (r->like && rank_left(r) < 0)
        return placeholder(r, at, 1);
    if (!placeholder(r, at, r->like ? rank_left(r) : 0))
        return false;
    skip_spaces(r);
    return r->pos == r->end || fail(r, r->pos, "the end after '...'");
}

static bool items(reader *r)
{
    for (skip_spaces(r); r->pos < r->end; skip_spaces(r)) {
        if (r->end - r->pos >= 3 && !memcmp(r->text + r->pos, "...", 3))
            return rest(r);
        if (!item(r))
            return false;
        skip_spaces(r);
        if (r->pos == r->end)
            break;
        if (r->text[r->pos] != ',')
            return fail(r, r->pos, "',', an operator or the end");
        r->pos++;
    }
    return !rank_left(r) ||
           fail(r, r->end,
                jx_arena_printf(arena_of(r),
                                "%d more size%s, as in the shape %s (... "
                                "stands for what is left)",
                                rank_left(r), rank_left(r) == 1 ? "" : "s",
                                shape_text(r)));
}

bool jx_dim_spec_read(jx_dims *dims, const char *text, int scope,
                      const jx_dim_shape *like, jx_dim_shape *to,
                      jx_dim_spec_error *error)
{
    reader r = {.dims = dims,
                .text = text,
                .end = strlen(text),
                .scope = scope,
                .like = like,
                .error = error};

    if (!unwrap(&r))
        return false;
    if (r.end - r.pos == 4 && at_word(&r, "None")
            ? !placeholder(&r, r.pos, rank_left(&r))
            : !items(&r))
        return false;
    *to = (jx_dim_shape){(int)r.found.count, r.found.at};
    return jx_ok(jx_dims_ctx(dims)) || fail(&r, 0, "more memory");
}

void jx_dim_shape_print(const jx_dim_shape *shape, jx_buffer *to)
{
    jx_buffer_putc(to, '(');
    for (int i = 0; i < shape->rank; i++) {
        if (i)
            jx_buffer_puts(to, ", ");
        jx_dim_print(shape->dims[i], to);
    }
    jx_buffer_puts(to, shape->rank == 1 ? ",)" : ")");
}
