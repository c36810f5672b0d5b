/* stablehlo_messages.c - what jax.export writes into the messages
 * of assertions.
 *
 *     Input shapes do not match the polymorphic shapes specification. <what>
 *     Using the following polymorphic shapes specifications: <path>.shape =
 *     (<dims>),... Obtained dimension variables: ...
 *
 *     <what> = Expected value >= 1 for dimension variable '<name>'.
 *            | Division had remainder {0} when computing the value of '<name>'.
 *            | Found inconsistency between dimension size <path>.shape[<axis>]
 *              (= {0}) and the specification '<dim>' (= {1}).
 *
 *     Input shapes do not match the symbolic shape constraint <constraint>.
 *     Expected '<dim>' to be greater or equal to 0, but found {0}. ...
 *     Expected '<dim>' to be equal to 0, but found {0}. ... */
#include "frontend/read/stablehlo_entry.h"

#include <stdlib.h>
#include <string.h>

static const char *piece(jx_ctx *ctx, const char *from, const char *to)
{
    return jx_arena_string(ctx->arena, from, (size_t)(to - from));
}

/* What stands between two texts, the first of which is looked for from `from`
 * on; *end behind the second. */
static const char *between(jx_ctx *ctx, const char *from, const char *before,
                           const char *after, const char **end)
{
    const char *begin = strstr(from, before), *stop;

    if (!begin)
        return NULL;
    begin += strlen(before);
    stop = strstr(begin, after);
    if (!stop)
        return NULL;
    if (end)
        *end = stop + strlen(after);
    return piece(ctx, begin, stop);
}

/* The parenthesis that closes the one at `open`, or NULL. */
static const char *closing(const char *open)
{
    int depth = 0;

    for (const char *c = open; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (!depth)
            return c;
    }
    return NULL;
}

static void read_specs(jx_ctx *ctx, const char *text, jx_sz_message *to)
{
    static const char mark[] = "polymorphic shapes specifications: ";
    static const char shape[] = ".shape = (";
    JX_VEC(jx_sz_spec) specs = {0};
    const char *at = strstr(text, mark);

    if (!at)
        return;
    at += sizeof mark - 1;
    for (;;) {
        const char *begin = strstr(at, shape), *open, *close;
        jx_sz_spec spec = {NULL, NULL, -1};
        if (!begin)
            break;
        open = begin + sizeof shape - 2;
        close = closing(open);
        if (!close)
            break;
        spec.path = piece(ctx, at, begin);
        spec.text = piece(ctx, open, close + 1);
        if (!spec.path || !spec.text)
            break;
        JX_PUSH(ctx->arena, &specs, spec);
        at = close + 1;
        if (*at != ',')
            break;
        at++;
    }
    to->nspecs = (int)specs.count;
    to->specs = specs.at;
}

static void read_constraint(jx_ctx *ctx, const char *text, jx_sz_message *to)
{
    const char *at = text;

    to->constraint =
        between(ctx, text, "symbolic shape constraint ", ". Expected '", &at);
    if (!to->constraint)
        return;
    to->difference = between(ctx, at - 1, "'", "'", &at);
    to->equal = !strncmp(at, " to be equal to 0", 17);
    if (to->difference &&
        (to->equal || !strncmp(at, " to be greater or equal to 0", 28)))
        to->kind = JX_ASSERTS_CONSTRAINT;
}

static void read_inconsistency(jx_ctx *ctx, const char *text, jx_sz_message *to)
{
    const char *at = text, *place;

    place = between(ctx, text, "inconsistency between dimension size ",
                    " (= ", &at);
    to->spec =
        place ? between(ctx, at, "the specification '", "'", NULL) : NULL;
    if (!to->spec)
        return;
    /* The last ".shape[": a key may hold one. */
    for (const char *next = place; (next = strstr(next, ".shape[")); next++) {
        to->path = piece(ctx, place, next);
        to->axis = (int)strtol(next + 7, NULL, 10);
    }
    if (to->path)
        to->kind = JX_ASSERTS_SHAPE;
}

/* -- the numbers ----------------------------------------------------------- */

/* The number of "{12}" at `at`, with *end behind it; else -1. */
static int shown_at(const char *at, const char **end)
{
    int number = 0;
    const char *c = at + 1;

    while (*c >= '0' && *c <= '9' && c - at < 5)
        number = number * 10 + (*c++ - '0');
    *end = c + 1;
    return *at == '{' && c > at + 1 && *c == '}' ? number : -1;
}

int jx_sz_beyond(const char *text, int count)
{
    const char *end;

    for (const char *at = text; (at = strchr(at, '{')); at++) {
        int number = shown_at(at, &end);
        if (number >= count)
            return number;
    }
    return -1;
}

/* Whether the text before `at` ends so. */
static bool ends_with(const char *text, const char *at, const char *what)
{
    size_t length = strlen(what);

    return (size_t)(at - text) >= length && !memcmp(at - length, what, length);
}

/* What stands in quotes that end at `at`. */
static const char *quoted(jx_ctx *ctx, const char *text, const char *at)
{
    const char *begin = at;

    while (begin > text && begin[-1] != '\'')
        begin--;
    return piece(ctx, begin, at);
}

/* The path and axis of "dimension <path>.shape[<axis>]" that ends at `at`. */
static jx_sz_shown size_shown(const jx_sz_message *m, const char *text,
                              const char *at)
{
    jx_sz_shown made = {.kind = JX_SZ_SHOWS_NOTHING};
    const char *shape = at;

    while (shape > text && strncmp(shape, ".shape[", 7) != 0)
        shape--;
    for (int i = 0; shape > text && i < m->nspecs; i++) {
        const char *path = m->specs[i].path;
        if (!ends_with(text, shape, path) ||
            !ends_with(text, shape - strlen(path), " "))
            continue;
        made.kind = JX_SZ_SHOWS_SIZE;
        made.text = m->specs[i].path;
        made.axis = (int)strtol(shape + 7, NULL, 10);
    }
    return made;
}

/* What the number at `at` is said to be. */
static jx_sz_shown what_is_shown(jx_ctx *ctx, const jx_sz_message *m,
                                 const char *text, const char *at)
{
    jx_sz_shown made = {.kind = JX_SZ_SHOWS_NOTHING};

    if (ends_with(text, at, "Division had remainder "))
        made.kind = JX_SZ_SHOWS_REST;
    else if (ends_with(text, at, ", but found "))
        made.kind = JX_SZ_SHOWS_DIFFERENCE;
    else if (ends_with(text, at, "' = "))
        made = (jx_sz_shown){.kind = JX_SZ_SHOWS_VAR,
                             .text = quoted(ctx, text, at - 4)};
    else if (ends_with(text, at, "' (= "))
        made = (jx_sz_shown){.kind = JX_SZ_SHOWS_SPEC,
                             .text = quoted(ctx, text, at - 5)};
    else if (ends_with(text, at, "] (= "))
        made = size_shown(m, text, at - 5);
    return made;
}

static void read_shown(jx_ctx *ctx, const char *text, jx_sz_message *to)
{
    JX_VEC(jx_sz_shown) shown = {0};
    const char *end;

    for (const char *at = text; (at = strchr(at, '{')); at++) {
        int number = shown_at(at, &end);
        jx_sz_shown made = number < 0 ? (jx_sz_shown){.kind = 0}
                                      : what_is_shown(ctx, to, text, at);
        made.operand = number;
        if (made.kind)
            JX_PUSH(ctx->arena, &shown, made);
    }
    to->nshown = (int)shown.count;
    to->shown = shown.at;
}

jx_sz_message jx_sz_read_message(jx_ctx *ctx, const char *text)
{
    jx_sz_message message = {0};

    message.axis = -1;
    if (!text || !strstr(text, "Input shapes do not match the "))
        return message;
    if (strstr(text, "symbolic shape constraint "))
        read_constraint(ctx, text, &message);
    else if ((message.name = between(
                  ctx, text, "Expected value >= 1 for dimension variable '",
                  "'", NULL)))
        message.kind = JX_ASSERTS_POSITIVE;
    else if (strstr(text, "Division had remainder ") &&
             (message.name = between(
                  ctx, text, " when computing the value of '", "'", NULL)))
        message.kind = JX_ASSERTS_DIVISIBLE;
    else
        read_inconsistency(ctx, text, &message);
    if (message.kind != JX_ASSERTS_OTHER) {
        read_specs(ctx, text, &message);
        read_shown(ctx, text, &message);
    }
    if (!jx_ok(ctx)) /* pieces may be missing */
        return (jx_sz_message){.axis = -1};
    return message;
}
