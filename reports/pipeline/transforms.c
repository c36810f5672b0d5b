/* transforms.c - see transforms.h. */
#include "reports/pipeline/transforms.h"

#include "analyzer/transform/batch.h"
#include "analyzer/transform/devices.h"
#include "analyzer/transform/fix.h"
#include "analyzer/transform/inline.h"
#include "analyzer/transform/jvp.h"
#include "analyzer/transform/linearize.h"
#include "analyzer/transform/refine.h"
#include "analyzer/transform/vjp.h"
#include "analyzer/transform/xla.h"
#include "analyzer/typing.h"
#include "frontend/ir/element.h"
#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"
#include "reports/pipeline/inputs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One transform: its name, and the words that it takes, of which the first may
 * follow a colon and the others commas. */
typedef struct step {
    const char *name;
    jx_texts words;
} step;

typedef jx_program *transform(jx_program *program, const step *s);

static jx_program *refuse(jx_program *program, const char *word,
                          const char *why)
{
    jx_fail(program->ctx, JX_E_USAGE, NULL, word, "%s", why);
    return NULL;
}

static jx_program *set(jx_program *program, const step *s)
{
    const jx_binding *sizes;
    int n;

    return jx_inputs_sizes(program, &s->words, &n, &sizes)
               ? jx_program_refine(program, NULL, n, sizes)
               : NULL;
}

/* The end as an element of that dtype; false if that has no such number,
 * or it is a size. */
static bool element_of(const jx_value_range_end *end, jx_dtype dtype,
                       void *bits)
{
    static const double exact = 0x1p53; /* integers to there */
    jx_int integer =
        (jx_int)(end->dim || fabs(end->number) > exact ? 0 : end->number);
    jx_dtype_kind kind = jx_dtype_of(dtype)->kind;

    if (end->dim && !jx_dim_is_wide(end->dim, &integer))
        return false;
    if (kind == JX_KIND_BOOL || kind == JX_KIND_INT || kind == JX_KIND_UINT)
        return (end->dim || fabs(end->number) <= exact) &&
               jx_element_from_integer(dtype, (uint64_t)integer, bits);
    jx_element_from_real(dtype, end->dim ? (double)integer : end->number, bits);
    return end->dim || isinf(end->number) ||
           isfinite(jx_element_real(dtype, bits));
}

/* The number that a word gives an input, or all whose leaves it names: a
 * promise that no other is called. */
static bool read_number(jx_program *program, const char *word,
                        const jx_literal **values)
{
    jx_arena *arena = program->ctx->arena;
    const char *equals = strrchr(word, '=');
    const jx_value_range *range;
    const char *key;

    key = equals ? jx_arena_string(arena, word, (size_t)(equals - word)) : NULL;
    if (!key)
        return refuse(program, word,
                      "expected an input and its number, as in fix:x=0.5");
    if (!jx_range_declare(program, key, equals + 1, equals + 1))
        return false;
    range = &program->ranges[program->nranges - 1];
    for (int i = 0; i < program->entry.jaxpr->nins; i++) {
        jx_literal *made = jx_range_is_of(program, range, i)
                               ? JX_NEW(arena, jx_literal)
                               : NULL;
        if (!made)
            continue;
        made->aval = jx_input_aval(program, i);
        values[i] = made;
        if (!element_of(&range->lo, made->aval->dtype, made->bits))
            return refuse(program, word,
                          "expected a number that its dtype has, as in "
                          "fix:x=0.5 (set:NAME=SIZE gives sizes)");
    }
    return jx_ok(program->ctx);
}

static jx_program *fix(jx_program *program, const step *s)
{
    const jx_literal **values =
        JX_NEW_ARRAY(program->ctx->arena, program->entry.jaxpr->nins + 1,
                     const jx_literal *);
    const jx_typed *typed;
    jx_program *to;

    for (int i = 0; values && i < s->words.count; i++)
        if (!read_number(program, s->words.at[i], values))
            return NULL;
    typed = values ? jx_typed_of(program) : NULL;
    to = typed ? jx_program_fix(typed, values) : NULL;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

/* Written out for so many devices, and nothing beside what runs then. */
static jx_program *devices(jx_program *program, const step *s)
{
    const char *number = s->words.at[0];
    const jx_typed *typed;
    char *end = NULL;
    long long count;
    jx_program *to;

    errno = 0;
    count = strtoll(number, &end, 10);
    if (*number < '0' || *number > '9' || *end || errno || count <= 0)
        return refuse(program, number,
                      "expected a number of devices, as in devices:8");
    typed = jx_typed_of(program);
    to = typed ? jx_program_devices(typed, count) : NULL;
    if (!to || to->entry.jaxpr == program->entry.jaxpr)
        return to ? program : NULL;
    /* nothing beside what runs */
    return jx_program_refine(to, &to->entry, 0, NULL);
}

static bool is_manual(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (program->jaxprs[i]->eqns[k].prim->id ==
                JX_PRIM_sdy_manual_computation)
                return true;
    return false;
}

/* As rules take it: what StableHLO has many devices run names neither axes nor
 * what varies over them, so it is written out for all. */
static const jx_typed *for_rules(jx_program *program)
{
    const jx_typed *typed = jx_typed_of(program);
    jx_program *to;

    if (!typed || !is_manual(program))
        return typed;
    to = jx_program_spread(typed, NULL, NULL);
    return to ? jx_typed_of(to) : NULL;
}

static jx_program *jvp(jx_program *program, const step *s)
{
    const jx_typed *typed = for_rules(program);
    jx_program *to = typed ? jx_program_jvp(typed) : NULL;

    (void)s;
    /* without what it was */
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

static jx_program *vjp(jx_program *program, const step *s)
{
    const jx_typed *typed = for_rules(program);
    jx_program *to = typed ? jx_program_vjp(typed) : NULL;

    (void)s;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

static jx_program *linearize(jx_program *program, const step *s)
{
    const jx_typed *typed = for_rules(program);
    jx_program *to = typed ? jx_program_linearize(typed) : NULL;

    (void)s;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

static jx_program *linear(jx_program *program, const step *s)
{
    jx_program *to = jx_program_linear(program);

    (void)s;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

/* Where an input gets the new axis; from the last of the new ones, if
 * it is below 0. */
static bool read_axis(jx_program *program, const char *word,
                      const jx_aval *input, int *axis)
{
    char *end = NULL;
    long number;

    *axis = JX_NO_AXIS;
    if (!strcmp(word, "None"))
        return true;
    errno = 0;
    number = strtol(word, &end, 10);
    if (!*word || *end || errno) {
        refuse(program, word,
               "expected the place of the new axis in an input, or None, as "
               "in vmap:0,None");
        return false;
    }
    if (input->kind != JX_AVAL_ARRAY || number > input->rank ||
        number < -input->rank - 1) {
        refuse(program, word, "that input has no such axis, with the new one");
        return false;
    }
    *axis = (int)(number < 0 ? number + input->rank + 1 : number);
    return true;
}

/* One word is for all inputs. */
static jx_program *vmap(jx_program *program, const step *s)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    int *axes = JX_NEW_ARRAY(program->ctx->arena, entry->nins + 1, int);
    const jx_typed *typed;
    bool any = false;
    jx_program *to;

    if (!axes)
        return NULL;
    if (s->words.count != 1 && s->words.count != entry->nins)
        return refuse(program, s->name,
                      jx_arena_printf(program->ctx->arena,
                                      "expected one place for all, or "
                                      "one for each of %d inputs",
                                      entry->nins));
    for (int i = 0; i < entry->nins; i++) {
        if (!read_axis(program, s->words.at[s->words.count == 1 ? 0 : i],
                       jx_input_aval(program, i), &axes[i]))
            return NULL;
        any |= axes[i] != JX_NO_AXIS;
    }
    if (!any)
        return refuse(program, s->name, "expected an input that gets the axis");
    typed = for_rules(program);
    to = typed ? jx_program_batch(typed, axes) : NULL;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

static jx_program *flat(jx_program *program, const step *s)
{
    jx_program *to = jx_program_inline(program);

    (void)s;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

/* As the simplifier leaves it, and nothing beside what runs then. */
static jx_program *xla(jx_program *program, const step *s)
{
    bool matters;
    jx_program *to = flat(program, s);

    to = to ? jx_program_as_xla(to, &matters) : NULL;
    return to ? jx_program_refine(to, NULL, 0, NULL) : NULL;
}

static const struct {
    const char *name;
    int most; /* words that it takes */
    transform *does;
} all[] = {{"set", JX_TEXTS_MAX, set},
           {"fix", JX_TEXTS_MAX, fix},
           {"devices", 1, devices},
           {"jvp", 0, jvp},
           {"linearize", 0, linearize},
           {"linear", 0, linear},
           {"vjp", 0, vjp},
           {"vmap", JX_TEXTS_MAX, vmap},
           {"flat", 0, flat},
           {"xla", 0, xla}};

enum { TRANSFORMS = sizeof all / sizeof *all };

/* The transform whose name the word begins with, up to a colon or
 * its end, or -1. */
static int number_of(const char *word)
{
    size_t length = strcspn(word, ":,");

    for (int i = 0; i < TRANSFORMS; i++)
        if (strlen(all[i].name) == length &&
            !strncmp(all[i].name, word, length))
            return i;
    return -1;
}

/* Whether the word, up to a comma or its end, asks for a prediction. */
static bool predicts(const char *word, jx_prediction *to)
{
    char text[16];
    size_t length = strcspn(word, ",");

    if (length >= sizeof text)
        return false;
    memcpy(text, word, length);
    text[length] = '\0';
    return jx_prediction_named(text, to);
}

/* A word that is no part of the one before it. */
static bool begins(const char *word)
{
    jx_prediction unused;

    return number_of(word) >= 0 || predicts(word, &unused);
}

/* Takes one transform from *list, which then stands at the next. */
static bool next_step(jx_ctx *ctx, const char **list, int *number, step *s)
{
    const char *at = *list;
    size_t length = strcspn(at, ",");
    bool more;

    *s = (step){.name = jx_arena_string(ctx->arena, at, length)};
    if (!s->name)
        return false;
    if ((*number = number_of(at)) < 0)
        return jx_fail(
            ctx, JX_E_USAGE, NULL, s->name,
            "there is no such transform; there is jvp, linearize, linear, vjp, "
            "vmap:AXIS, as in vmap:0 or vmap:0,None, set:NAME=SIZE, as in "
            "set:b=8,t=4, fix:INPUT=NUMBER, devices:N, flat and xla; check "
            "predicts grad, vmap and lower:PLATFORM (cpu, cuda, rocm, tpu)");
    at += strlen(all[*number].name);
    more = *at == ':' && all[*number].most;
    while (more) {
        length = strcspn(++at, ",");
        s->words.at[s->words.count++] = jx_arena_string(ctx->arena, at, length);
        at += length;
        more =
            *at == ',' && !begins(at + 1) && s->words.count < all[*number].most;
    }
    if (*at == ':' || (all[*number].most && !s->words.count))
        return jx_fail(ctx, JX_E_USAGE, NULL, s->name,
                       all[*number].most
                           ? "expected what it is to do, as in set:b=8, "
                             "devices:8 or vmap:0"
                           : "expected nothing behind its name");
    *list = *at ? at + 1 : at;
    return jx_ok(ctx);
}

bool jx_transforms_ask(const jx_texts *lists, const char *name)
{
    for (int i = 0; i < lists->count; i++)
        for (const char *at = lists->at[i]; *at; at += *at == ',') {
            int number = number_of(at);
            if (number >= 0 && !strcmp(all[number].name, name))
                return true;
            at += strcspn(at, ",");
        }
    return false;
}

void jx_transforms_predict(const jx_texts *lists, jx_predictions *to)
{
    *to = (jx_predictions){0};
    for (int i = 0; i < lists->count; i++)
        for (const char *at = lists->at[i]; *at; at += *at == ',') {
            jx_prediction *next = &to->at[to->count];
            bool again = to->count == JX_TEXTS_MAX || !predicts(at, next);
            for (int k = 0; !again && k < to->count; k++)
                again = to->at[k].kind == next->kind &&
                        to->at[k].platform == next->platform;
            to->count += !again;
            at += strcspn(at, ",");
        }
}

jx_program *jx_program_transformed(jx_program *program, const jx_texts *lists,
                                   bool asks)
{
    for (int i = 0; program && i < lists->count; i++) {
        const char *at = lists->at[i];
        do {
            jx_prediction unused;
            step s;
            int number;
            if (asks && predicts(at, &unused)) {
                at += strcspn(at, ",");
                at += *at == ',';
                continue;
            }
            if (!next_step(program->ctx, &at, &number, &s))
                return NULL;
            program = all[number].does(program, &s);
        } while (program && *at);
    }
    return program;
}
