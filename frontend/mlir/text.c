/* text.c - whole files of MLIR text.  See text.h. */
#include "frontend/mlir/text.h"

#include "frontend/base/assert.h"
#include "frontend/base/plain.h"
#include "frontend/mlir/text_parts.h"
#include "frontend/mlir/tree_fault.h"

#include <string.h>

/* ---- what it is */

static bool begins(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

static const char *beginning(const char *at, const char *end)
{
    while (at < end) {
        if (begins(at, end, "//")) {
            at = memchr(at, '\n', (size_t)(end - at));
            if (!at)
                return end;
        } else if (!memchr(" \t\r\n", *at, 4)) {
            break;
        } else {
            at++;
        }
    }
    return at;
}

static bool is_part(char c)
{
    return jx_is_alnum(c) || c == '_' || c == '$' || c == '.';
}

/* `#name = ` or `!name = `. */
static bool is_alias(const char *at, const char *end)
{
    const char *from = ++at;

    while (at < end && is_part(*at))
        at++;
    return at > from && begins(at, end, " = ");
}

/* `"dialect.op"(`, also with spaces before the bracket. */
static bool is_generic(const char *at, const char *end)
{
    const char *from = ++at;

    while (at < end && (is_part(*at) || *at == '-'))
        at++;
    if (at >= end || *at != '"' || !memchr(from, '.', (size_t)(at - from)))
        return false;
    for (at++; at < end && *at == ' '; at++)
        ;
    return at < end && *at == '(';
}

bool jx_is_mlir_text(const char *text, size_t length)
{
    static const char *const words[] = {"module ",  "module{", "module\n",
                                        "builtin.", "func.",   "stablehlo.",
                                        "sdy.",     "vhlo.",   "chlo."};
    const char *end = text + length, *at = beginning(text, end);

    if (at == end)
        return false;
    if (*at == '#' || *at == '!')
        return is_alias(at, end);
    if (*at == '"')
        return is_generic(at, end);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(at, end, words[i]))
            return true;
    return false;
}

/* ---- one module, or what is to be one */

/* A module around the ops that stand on the stack from `from` on. */
static const jx_mlir_op *wrapped(jx_mtext *t, const char *at, size_t from)
{
    jx_mop op = jx_mtext_begin(t, at);

    op.id = JX_OP_builtin_module;
    op.name = jx_intern_text(t->ctx, "builtin.module");
    if (!op.name || !jx_mtext_push_region(t, NULL, 0, from))
        return NULL;
    return jx_mtext_finish(t, &op);
}

/* Ops and aliases up to the end or the next separator. */
static bool part(jx_mtext *t)
{
    const char *separator = t->separator;

    for (;;) {
        char c = jx_mtext_space(t);
        if (t->at >= t->end || t->separator != separator)
            return !t->failed;
        if (c == '#' || c == '!') {
            if (!jx_mtext_alias_def(t))
                return false;
        } else if (jx_mtext_comes(t, "{-#")) {
            if (!jx_mtext_resources(t))
                return false;
        } else {
            const jx_mlir_op *op = jx_mtext_op(t);
            if (!op)
                return false;
            JX_PUSH(t->arena, &t->ops, op);
        }
    }
}

/* The module of a part, NULL if there is nothing in it or after a failure. */
static const jx_mlir_op *module(jx_mtext *t)
{
    size_t from = t->ops.count;
    jx_mscope was;

    jx_mtext_forget_aliases(t);
    jx_mtext_space(t);
    const char *at = t->at;
    if (!jx_mtext_open(t, &was, true))
        return NULL;
    t->block = at;
    bool ok = part(t) && jx_mtext_resolve_locs(t);
    if (!jx_mtext_close(t, &was) || !ok || t->ops.count == from)
        return NULL;
    t->blobs.count = 0;
    const jx_mlir_op *first = t->ops.at[from];
    if (t->ops.count > from + 1 || first->id != JX_OP_builtin_module)
        return wrapped(t, at, from);
    t->ops.count = from;
    return first;
}

/* ---- the file */

static bool init(jx_mtext *t)
{
    static const jx_mlir_attr unit = {.kind = JX_A_UNIT},
                              unknown = {.kind = JX_A_LOC_UNKNOWN};

    t->counted = t->begin;
    t->dialect = "builtin";
    jx_intern_init(&t->values, t->arena);
    jx_intern_init(&t->spelled, t->arena);
    t->i1 = jx_mlir_integer(t->types, JX_SIGNLESS, 1);
    t->i32 = jx_mlir_integer(t->types, JX_SIGNLESS, 32);
    t->i64 = jx_mlir_integer(t->types, JX_SIGNLESS, 64);
    t->f64 = jx_mlir_float(t->types, "f64");
    t->unit = jx_arena_copy(t->arena, &unit, sizeof unit);
    t->unknown = jx_arena_copy(t->arena, &unknown, sizeof unknown);
    jx_mlir_attr *yes = JX_NEW(t->arena, jx_mlir_attr);
    jx_mlir_attr *no = JX_NEW(t->arena, jx_mlir_attr);
    if (!yes || !no)
        return false;
    yes->kind = no->kind = JX_A_BOOL;
    yes->boolean = true;
    t->yes = yes;
    t->no = no;
    /* So that these stacks are somewhere, even while empty. */
    JX_PUSH(t->arena, &t->parts, t->i1);
    JX_PUSH(t->arena, &t->entries, (jx_mlir_named){0});
    t->parts.count = t->entries.count = 0;
    return !jx_arena_failed(t->arena);
}

static void read_modules(jx_mtext *t, jx_mlir_file *file)
{
    JX_VEC(const jx_mlir_op *) modules = {0};

    while (!t->failed && (jx_mtext_space(t), t->at < t->end)) {
        const jx_mlir_op *found = module(t);
        if (found)
            JX_PUSH(t->arena, &modules, found);
    }
    if (!t->failed && !modules.count)
        jx_mtext_wants(t, "a module or ops");
    file->modules = modules.at;
    file->nmodules = (int)modules.count;
}

jx_mlir_file *jx_mlir_read_text(jx_ctx *ctx, jx_mlir_types *types,
                                const char *path, const char *text,
                                size_t length)
{
    jx_mlir_file *file = JX_NEW(ctx->arena, jx_mlir_file);
    jx_mlir_types *own = types ? types : jx_mlir_types_new(ctx);
    jx_mtext t = {.ctx = ctx,
                  .arena = ctx->arena,
                  .types = own,
                  .path = path,
                  .at = text,
                  .begin = text,
                  .end = text + length};

    if (!file || !own)
        return jx_ok(ctx), NULL;
    *file = (jx_mlir_file){.ctx = ctx,
                           .types = own,
                           .bytecode = -1,
                           .path = jx_intern_text(ctx, path),
                           .version = {-1, -1, -1}};
    if (!init(&t))
        return jx_ok(ctx), NULL;
    const char *nul = length ? memchr(text, '\0', length) : NULL;
    if (nul)
        jx_mtext_fail(&t, nul, "expected text without NUL bytes");
    else
        read_modules(&t, file);
    if (!jx_ok(ctx))
        return NULL;
    JX_ASSERT(!t.failed);
    JX_ASSERT_NONE(jx_mlir_file_fault(file));
    return file;
}
