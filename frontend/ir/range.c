/* range.c - see range.h. */
#include "frontend/ir/range.h"

#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/element.h"
#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const jx_program *program, const char *key,
                 const char *expected)
{
    return jx_fail(program->ctx, JX_E_USAGE, NULL, "range", "%s: expected %s",
                   key, expected);
}

/* Says the range as it was declared, too. */
__attribute__((format(printf, 3, 4))) static bool
refuse(const jx_program *program, const jx_value_range *range,
       const char *expected, ...)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    char what[160];
    va_list args;

    va_start(args, expected);
    jx_vsnprintf(what, sizeof what, expected, args);
    va_end(args);
    jx_range_print(range, &text);
    const char *shown = jx_arena_take(program->ctx->arena, &text);
    return shown && fail(program, shown, what);
}

/* -- keys ------------------------------------------------------------------ */

/* `whole` is the key, or a leaf below it: "x", "x['w']", "x.w". */
static bool is_below(const char *key, const char *whole)
{
    size_t n = strlen(key);

    return strncmp(key, whole, n) == 0 &&
           (whole[n] == '\0' || whole[n] == '[' || whole[n] == '.');
}

static const char *path_of(const jx_program *program, int input)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    jx_input_print(program, input, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

static const char *name_of(const jx_program *program, int input)
{
    const char *const *names = program->entry.jaxpr->arg_names;

    return names && names[input] && *names[input] ? names[input] : NULL;
}

bool jx_range_is_of(const jx_program *program, const jx_value_range *range,
                    int input)
{
    const char *path, *name = name_of(program, input);
    char number[32];

    jx_snprintf(number, sizeof number, "in%d", input);
    if (strcmp(range->key, number) == 0 || (name && is_below(range->key, name)))
        return true;
    path = path_of(program, input);
    return path && is_below(range->key, path);
}

enum { LISTED = 12 };

/* "there is no input `q`; there are x, w (and 3 more)". */
static bool unknown(const jx_program *program, const char *key)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    int n = program->entry.jaxpr->nins;

    for (int i = 0; i < n && i < LISTED; i++) {
        const char *name = name_of(program, i);
        name = name ? name : path_of(program, i);
        jx_utf8_printf(&text, "%s%s", i ? ", " : "", name ? name : "?");
    }
    if (n > LISTED)
        jx_buffer_printf(&text, " and %d more", n - LISTED);
    const char *known = jx_arena_take(program->ctx->arena, &text);
    return jx_fail(program->ctx, JX_E_USAGE, NULL, "range",
                   "there is no input `%s`: %s %s", key,
                   n ? "there are" : "there are none", known ? known : "");
}

/* -- ends ------------------------------------------------------------------ */

/* Without what strtod() would skip, which does not print. */
static const char *trimmed(const jx_program *program, const char *text)
{
    static const char white[] = " \t\n\v\f\r";
    size_t n;

    text += strspn(text, white);
    for (n = strlen(text); n && strchr(white, text[n - 1]); n--)
        ;
    return jx_arena_string(program->ctx->arena, text, n);
}

/* A size of the first scope that has all its variables; NULL: it is none. */
static const jx_dim *read_size(const jx_program *program, const char *text)
{
    int nscopes = program->nscopes ? program->nscopes : 1;
    const char *expected, *missing;
    size_t at;

    for (int s = 0; s < nscopes; s++) {
        const jx_dim *dim =
            jx_dim_parse(program->dims, text, strlen(text), s, &at, &expected);
        if (dim && jx_program_has_vars(program, dim, &missing))
            return dim;
    }
    return NULL;
}

static bool read_end(const jx_program *program, const char *text,
                     jx_value_range_end *to)
{
    char *end;

    *to = (jx_value_range_end){.text = trimmed(program, text)};
    if (!to->text)
        return false;
    to->dim = read_size(program, to->text);
    if (to->dim)
        return true;
    to->number = jx_strtod(to->text, &end);
    return *to->text && end == to->text + strlen(to->text) &&
           !isnan(to->number);
}

/* Its value at some sizes; NaN where they do not say it. */
static double value_of(const jx_value_range_end *end, int nsizes,
                       const jx_binding *sizes)
{
    jx_assignment at = {nsizes, sizes};
    jx_int wide;

    if (!end->dim)
        return end->number;
    if (jx_dim_is_wide(end->dim, &wide) ||
        jx_dim_eval_exact(end->dim, jx_assigned_wide, &at, &wide))
        return (double)wide;
    return NAN;
}

/* What the dtype holds. */
static void ends_of_dtype(jx_dtype dtype, double *lo, double *hi)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    switch (info->kind) {
    case JX_KIND_BOOL: *lo = 0, *hi = 1; return;
    case JX_KIND_INT:
        *lo = -ldexp(1, info->bits - 1), *hi = ldexp(1, info->bits - 1) - 1;
        return;
    case JX_KIND_UINT: *lo = 0, *hi = ldexp(1, info->bits) - 1; return;
    default: *lo = -INFINITY, *hi = INFINITY;
    }
}

bool jx_range_at(const jx_program *program, int input, int nsizes,
                 const jx_binding *sizes, double *lo, double *hi)
{
    bool declared = false;

    ends_of_dtype(jx_input_aval(program, input)->dtype, lo, hi);
    for (int i = 0; i < program->nranges; i++) {
        const jx_value_range *range = &program->ranges[i];
        if (!jx_range_is_of(program, range, input))
            continue;
        declared = true;
        *lo = fmax(*lo, value_of(&range->lo, nsizes, sizes));
        *hi = fmin(*hi, value_of(&range->hi, nsizes, sizes));
    }
    return declared;
}

/* -- declarations ---------------------------------------------------------- */

static double nearest(jx_dtype dtype, double value)
{
    char bits[16] = {0};

    jx_element_from_real(dtype, value, bits);
    return jx_element_real(dtype, bits);
}

/* No number of a float dtype is as large: the nearest is an infinity,
 * or its largest. */
static bool is_too_large(jx_dtype dtype, double value)
{
    double is = nearest(dtype, value);

    return isfinite(value) &&
           (!isfinite(is) ||
            (fabs(is) < fabs(value) && nearest(dtype, 2 * value) == is));
}

/* Between these lies no finite number of a float dtype. */
static bool has_none_between(jx_dtype dtype, double lo, double hi)
{
    return lo == INFINITY || hi == -INFINITY ||
           (lo > 0 && is_too_large(dtype, lo)) ||
           (hi < 0 && is_too_large(dtype, hi));
}

static bool fits(const jx_program *program, const jx_value_range *range,
                 int input)
{
    const jx_aval *aval = jx_input_aval(program, input);
    jx_dtype_kind kind = jx_dtype_of(aval->dtype)->kind;
    double lo = value_of(&range->lo, 0, NULL),
           hi = value_of(&range->hi, 0, NULL), least, most;

    if (aval->kind != JX_AVAL_ARRAY || kind == JX_KIND_KEY ||
        kind == JX_KIND_VOID || kind == JX_KIND_COMPLEX)
        return fail(program, range->key, "an input of real numbers");
    ends_of_dtype(aval->dtype, &least, &most);
    if (kind != JX_KIND_FLOAT &&
        (isinf(lo) || isinf(hi) || lo != floor(lo) || hi != floor(hi)))
        if (!isnan(lo) && !isnan(hi))
            return refuse(program, range, "whole numbers, as its dtype %s has",
                          jx_dtype_of(aval->dtype)->name);
    if (lo < least || hi > most)
        return refuse(program, range,
                      "ends that its dtype %s holds, %.0f to %.0f",
                      jx_dtype_of(aval->dtype)->name, least, most);
    if (kind == JX_KIND_FLOAT && has_none_between(aval->dtype, lo, hi))
        return refuse(program, range,
                      "a finite number that its dtype %s has between its ends",
                      jx_dtype_of(aval->dtype)->name);
    jx_range_at(program, input, 0, NULL, &least, &most);
    if (fmax(lo, least) > fmin(hi, most))
        return refuse(program, range,
                      "a range that leaves values beside the earlier ones, "
                      "which end at %.9g and %.9g",
                      least, most);
    return true;
}

/* The end as a size; NULL: it is no whole number. */
static const jx_dim *as_size(const jx_program *program,
                             const jx_value_range_end *end)
{
    if (end->dim)
        return end->dim;
    return fabs(end->number) < 0x1p53 && end->number == floor(end->number)
               ? jx_dim_int(program->dims, (int64_t)end->number)
               : NULL;
}

/* No size of the program leaves a number between the ends. */
static bool is_upside_down(const jx_program *program,
                           const jx_value_range *range)
{
    const jx_dim *lo = as_size(program, &range->lo),
                 *hi = as_size(program, &range->hi), *by;
    jx_dim_range bounds;

    if (!range->lo.dim && !range->hi.dim)
        return range->lo.number > range->hi.number;
    by = lo && hi ? jx_dim_sub(program->dims, lo, hi) : NULL;
    if (!by)
        return false;
    bounds = jx_program_bounds(program, by);
    return bounds.has_low && bounds.low > 0;
}

static bool read_range(const jx_program *program, const char *key,
                       const char *lo, const char *hi, jx_value_range *to)
{
    bool known;

    *to = (jx_value_range){.key = trimmed(program, key)};
    if (!to->key)
        return false;
    /* Both are read, for the message to show. */
    known = read_end(program, lo, &to->lo);
    known &= read_end(program, hi, &to->hi);
    if (!jx_ok(program->ctx))
        return false;
    if (!known)
        return refuse(program, to,
                      "numbers, inf or sizes of the program as ends");
    return is_upside_down(program, to)
               ? refuse(program, to, "the smaller end first")
               : true;
}

static bool declare(jx_program *program, const jx_value_range *range)
{
    bool known = false;
    jx_value_range *all;

    for (int i = 0; i < program->entry.jaxpr->nins; i++) {
        if (!jx_range_is_of(program, range, i))
            continue;
        known = true;
        if (!fits(program, range, i))
            return false;
    }
    if (!known)
        return unknown(program, range->key);
    all =
        JX_NEW_ARRAY(program->ctx->arena, program->nranges + 1, jx_value_range);
    if (!all)
        return false;
    if (program->nranges)
        memcpy(all, program->ranges, (size_t)program->nranges * sizeof *all);
    all[program->nranges++] = *range;
    program->ranges = all;
    return true;
}

bool jx_range_declare(jx_program *program, const char *key, const char *lo,
                      const char *hi)
{
    jx_value_range range;

    return read_range(program, key, lo, hi, &range) && declare(program, &range);
}

bool jx_range_read(const jx_program *program, const char *text,
                   jx_value_range *to)
{
    const char *open = NULL, *comma, *close;
    jx_arena *arena = program->ctx->arena;

    for (const char *at = strstr(text, " in ["); at;
         at = strstr(at + 1, " in ["))
        open = at;
    comma = open ? strchr(open, ',') : NULL;
    close = comma ? strrchr(comma, ']') : NULL;
    if (!close || close[1 + strspn(close + 1, " ")])
        return fail(program, text, "KEY in [LO, HI]");
    const char *key = jx_arena_string(arena, text, (size_t)(open - text));
    const char *lo =
        jx_arena_string(arena, open + 5, (size_t)(comma - open - 5));
    const char *hi =
        jx_arena_string(arena, comma + 1, (size_t)(close - comma - 1));
    return key && lo && hi && read_range(program, key, lo, hi, to);
}

bool jx_range_parse(jx_program *program, const char *text)
{
    jx_value_range range;

    return jx_range_read(program, text, &range) && declare(program, &range);
}

void jx_range_print(const jx_value_range *range, jx_buffer *to)
{
    jx_utf8_printf(to, "%s in [%s, %s]", range->key, range->lo.text,
                   range->hi.text);
}
