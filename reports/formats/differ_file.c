/* differ_file.c - see differ_file.h. */
#include "reports/formats/differ_file.h"

#include "frontend/base/utf8.h"
#include "frontend/read/exported_paths.h"
#include "reports/formats/exported_info.h"

#include <string.h>

typedef struct differ {
    jx_ctx *ctx;
    const jx_exported *before, *after;
    jx_contract_lines *lines;
} differ;

/* Takes the text. */
static void say(const differ *d, jx_verdict verdict, jx_buffer *text)
{
    const char *kept = jx_arena_take(d->ctx->arena, text);

    JX_PUSH(d->ctx->arena, d->lines,
            (jx_contract_line){verdict, kept ? kept : ""});
}

static void say_text(const differ *d, jx_verdict verdict, const char *words)
{
    jx_buffer text = jx_ctx_text(d->ctx);

    jx_buffer_puts(&text, words);
    say(d, verdict, &text);
}

static bool has(const jx_exported_texts *texts, const char *text)
{
    for (int i = 0; i < texts->count; i++)
        if (strcmp(texts->at[i], text) == 0)
            return true;
    return false;
}

static bool is_disabled(const jx_exported *x, int kind)
{
    for (int i = 0; i < x->nchecks; i++)
        if (x->checks[i].kind == kind)
            return true;
    return false;
}

/* "WORDS a, b": the texts that one has and the other has not. */
static void say_missing(const differ *d, jx_verdict verdict, const char *words,
                        const jx_exported_texts *have,
                        const jx_exported_texts *lack)
{
    jx_buffer text = jx_ctx_text(d->ctx);

    for (int i = 0; i < have->count; i++)
        if (!has(lack, have->at[i])) {
            jx_buffer_puts(&text, text.length ? ", " : words);
            jx_utf8_show(have->at[i], &text);
        }
    if (text.length)
        say(d, verdict, &text);
}

/* ---- where it runs */

/* A file whose check is off runs everywhere. */
static void platforms(const differ *d)
{
    bool before = is_disabled(d->before, JX_CHECK_PLATFORM);
    bool after = is_disabled(d->after, JX_CHECK_PLATFORM);

    if (before && !after)
        say_text(d, JX_REFUTED, "it checks the platform, the old one did not");
    if (!after)
        say_missing(d, JX_REFUTED, "it no longer runs on ",
                    &d->before->platforms, &d->after->platforms);
    say_missing(d, JX_PROVED, "it runs on ", &d->after->platforms,
                &d->before->platforms);
}

/* What is for one device can be called wherever the old one was. */
static void devices(const differ *d)
{
    jx_buffer text = jx_ctx_text(d->ctx);

    if (d->before->devices == d->after->devices)
        return;
    jx_buffer_printf(&text, "it is for %u device%s instead of %u",
                     (unsigned)d->after->devices,
                     d->after->devices == 1 ? "" : "s",
                     (unsigned)d->before->devices);
    say(d, d->after->devices == 1 ? JX_PROVED : JX_REFUTED, &text);
}

static void put_lie(const jx_exported_named *named, const jx_op_sharding *hlo,
                    jx_buffer *to)
{
    if (named)
        jx_exported_named_print(named, to);
    else if (hlo)
        jx_op_sharding_print(hlo, to);
    else
        jx_buffer_puts(to, "anyhow");
}

/* How arrays lie on several devices is the compiler's to change, at a cost. */
static void shardings(const differ *d, const char *noun, int count,
                      const jx_exported_named *const *const named[2],
                      const jx_op_sharding *const *const hlo[2])
{
    for (int i = 0; i < count; i++) {
        jx_buffer a = jx_ctx_text(d->ctx), b = jx_ctx_text(d->ctx),
                  text = jx_ctx_text(d->ctx);

        put_lie(named[0] ? named[0][i] : NULL, hlo[0] ? hlo[0][i] : NULL, &a);
        put_lie(named[1] ? named[1][i] : NULL, hlo[1] ? hlo[1][i] : NULL, &b);
        if (strcmp(jx_buffer_text(&a), jx_buffer_text(&b)) != 0) {
            jx_buffer_printf(&text, "%s %d lies as %s instead of %s", noun, i,
                             jx_buffer_text(&b), jx_buffer_text(&a));
            say(d, JX_UNDECIDED, &text);
        }
        jx_buffer_free(&a);
        jx_buffer_free(&b);
    }
}

/* ---- what it promises */

/* A call of what has an ordered effect takes and gives its token. */
static void effects(const differ *d)
{
    say_missing(d, JX_REFUTED,
                "new ordered effects: ", &d->after->ordered_effects,
                &d->before->ordered_effects);
    say_missing(d, JX_REFUTED, "without the ordered effects ",
                &d->before->ordered_effects, &d->after->ordered_effects);
    say_missing(d, JX_UNDECIDED, "new effects: ", &d->after->unordered_effects,
                &d->before->unordered_effects);
    say_missing(d, JX_UNDECIDED, "without the effects ",
                &d->before->unordered_effects, &d->after->unordered_effects);
}

static void derivatives(const differ *d)
{
    int before = jx_exported_vjps(d->before),
        after = jx_exported_vjps(d->after);
    jx_buffer text = jx_ctx_text(d->ctx);

    if (before == after)
        return;
    jx_buffer_printf(&text, "it can be differentiated %d time%s instead of %d",
                     after, after == 1 ? "" : "s", before);
    say(d, after < before ? JX_REFUTED : JX_PROVED, &text);
}

/* Who loads it may have an older JAX. */
static void versions(const differ *d)
{
    int before = jx_exported_version(d->before);
    int after = jx_exported_version(d->after);
    jx_buffer text = jx_ctx_text(d->ctx);

    if (after <= before &&
        d->after->calling_convention == d->before->calling_convention)
        return;
    jx_buffer_printf(&text,
                     "format %d, calling convention %d instead of "
                     "format %d, calling convention %d",
                     after, d->after->calling_convention, before,
                     d->before->calling_convention);
    say(d, JX_PROVED, &text);
}

/* ---- trees */

static bool same_names(const jx_tree *a, const jx_tree *b)
{
    if (!a->names != !b->names)
        return false;
    for (int i = 0; a->names && i < a->nchildren; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

/* REFUTED: other trees; UNDECIDED: only what a registered type wrote of itself
 * differs, in bytes. */
static jx_verdict compare_trees(const jx_tree *a, const jx_tree *b)
{
    jx_verdict worst = JX_PROVED;

    if (a->kind != b->kind || a->nchildren != b->nchildren ||
        !same_names(a, b) ||
        (a->kind == JX_TREE_CUSTOM && strcmp(a->custom, b->custom) != 0))
        return JX_REFUTED;
    if (a->kind == JX_TREE_CUSTOM &&
        (a->aux.size != b->aux.size ||
         (a->aux.size && memcmp(a->aux.at, b->aux.at, a->aux.size) != 0)))
        worst = JX_UNDECIDED;
    for (int i = 0; i < a->nchildren && worst != JX_REFUTED; i++) {
        jx_verdict v = compare_trees(&a->children[i], &b->children[i]);

        if (v != JX_PROVED)
            worst = v;
    }
    return worst;
}

static void put_star(void *env, int leaf, jx_buffer *to)
{
    (void)env;
    (void)leaf;
    jx_buffer_putc(to, '*');
}

static void trees(const differ *d, const char *noun, const jx_tree *a,
                  const jx_tree *b)
{
    jx_verdict verdict = compare_trees(a, b);
    jx_buffer text = jx_ctx_text(d->ctx);
    int next = 0;

    if (verdict == JX_PROVED)
        return;
    jx_buffer_printf(&text, "the tree of its %ss is ", noun);
    jx_tree_print(d->ctx, b, put_star, NULL, &next, &text);
    jx_buffer_puts(&text, " instead of ");
    next = 0;
    jx_tree_print(d->ctx, a, put_star, NULL, &next, &text);
    if (verdict == JX_UNDECIDED)
        jx_buffer_puts(&text, " (what a type registered in Python wrote of "
                              "itself differs)");
    say(d, verdict, &text);
}

void jx_exported_files_diff(jx_ctx *ctx, const jx_exported *before,
                            const jx_exported *after, jx_contract_lines *to)
{
    const differ d = {ctx, before, after, to};

    platforms(&d);
    devices(&d);
    effects(&d);
    derivatives(&d);
    versions(&d);
    trees(&d, "input", &before->in_tree, &after->in_tree);
    trees(&d, "output", &before->out_tree, &after->out_tree);
    if (before->nins == after->nins)
        shardings(&d, "input", before->nins,
                  (const jx_exported_named *const *const[2]){before->in_named,
                                                             after->in_named},
                  (const jx_op_sharding *const *const[2]){before->in_hlo,
                                                          after->in_hlo});
    if (before->nouts == after->nouts)
        shardings(&d, "output", before->nouts,
                  (const jx_exported_named *const *const[2]){before->out_named,
                                                             after->out_named},
                  (const jx_op_sharding *const *const[2]){before->out_hlo,
                                                          after->out_hlo});
}
