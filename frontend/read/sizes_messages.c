/* sizes_messages.c - what jax.export writes into the messages of assertions.
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
#include "frontend/read/sizes_parts.h"

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

    to->constraint = between(ctx, text, "symbolic shape constraint ",
                             ". Expected '", &at);
    if (!to->constraint)
        return;
    to->difference = between(ctx, at - 1, "'", "'", &at);
    to->equal = !strncmp(at, " to be equal to 0", 17);
    if (to->difference &&
        (to->equal || !strncmp(at, " to be greater or equal to 0", 28)))
        to->kind = JX_ASSERTS_CONSTRAINT;
}

static void read_inconsistency(jx_ctx *ctx, const char *text,
                               jx_sz_message *to)
{
    const char *at = text, *place;

    place = between(ctx, text, "inconsistency between dimension size ", " (= ",
                    &at);
    to->spec = place ? between(ctx, at, "the specification '", "'", NULL)
                     : NULL;
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
    if (message.kind != JX_ASSERTS_OTHER)
        read_specs(ctx, text, &message);
    return message;
}
