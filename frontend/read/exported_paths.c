/* exported_paths.c - see exported_paths.h. */
#include "frontend/read/exported_paths.h"

#include "frontend/base/json.h"
#include "frontend/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* JAX stores what a named tuple or an OrderedDict needs as a JSON list. */
static bool is_ordered_dict(const jx_tree *tree)
{
    return !strcmp(tree->custom, "collections.OrderedDict");
}

static const char *const *fields_in(jx_ctx *ctx, const jx_tree *tree,
                                    const jx_json *list)
{
    const char **at;

    if (jx_json_kind_of(list) != JX_JSON_ARRAY ||
        jx_json_count(list) != (size_t)tree->nchildren)
        return NULL;
    at = JX_NEW_ARRAY(ctx->arena, tree->nchildren, const char *);
    for (int i = 0; at && i < tree->nchildren; i++) {
        const jx_json *item = jx_json_item(list, (size_t)i);
        size_t length;
        const char *text;
        if (jx_json_kind_of(item) != JX_JSON_TEXT)
            return NULL;
        text = jx_json_text(item, &length);
        at[i] = jx_arena_string(ctx->arena, text, length);
        if (!at[i])
            return NULL;
    }
    return at;
}

const char *const *jx_tree_fields(jx_ctx *ctx, const jx_tree *tree)
{
    const char *const *found = NULL;
    jx_json_fault fault;
    jx_json *list;

    if (tree->kind != JX_TREE_CUSTOM || !tree->aux.size ||
        tree->aux.at[0] != '[')
        return NULL;
    list = jx_json_parse(ctx, (const char *)tree->aux.at, tree->aux.size, false,
                         &fault);
    if (!list)
        return NULL;
    found = fields_in(ctx, tree, list);
    jx_json_free(list);
    return found;
}

/* ---- paths */

typedef struct walk {
    jx_ctx *ctx;
    const char **at; /* of the leaves */
    int next;
    jx_buffer path;
} walk;

static void put_step(walk *w, const jx_tree *tree, const char *const *fields,
                     int i)
{
    if (tree->kind == JX_TREE_DICT || (fields && is_ordered_dict(tree))) {
        jx_buffer_putc(&w->path, '[');
        jx_utf8_repr(fields[i], &w->path);
        jx_buffer_putc(&w->path, ']');
    } else if (fields) {
        jx_buffer_putc(&w->path, '.');
        jx_utf8_show(fields[i], &w->path);
    } else if (tree->kind == JX_TREE_CUSTOM) {
        jx_buffer_printf(&w->path, "[<flat index %d>]", i);
    } else {
        jx_buffer_printf(&w->path, "[%d]", i);
    }
}

/* Long paths of many leaves are the square of the file: they are cut, between
 * characters. */
enum { LONGEST = 240 };

static void shorten(jx_buffer *path)
{
    size_t length = LONGEST;

    if (path->length <= LONGEST || !path->text)
        return;
    while (((unsigned char)path->text[length] & 0xc0) == 0x80)
        length--;
    jx_buffer_cut(path, length);
    jx_buffer_puts(path, "...");
}

static void walk_tree(walk *w, const jx_tree *tree)
{
    const char *const *fields =
        tree->kind == JX_TREE_DICT ? tree->names : jx_tree_fields(w->ctx, tree);
    size_t before = w->path.length;

    if (tree->kind == JX_TREE_LEAF) {
        w->at[w->next++] = jx_arena_string(
            w->ctx->arena, jx_buffer_text(&w->path), w->path.length);
        return;
    }
    for (int i = 0; i < tree->nchildren; i++) {
        if (before < LONGEST)
            put_step(w, tree, fields, i);
        shorten(&w->path);
        walk_tree(w, &tree->children[i]);
        jx_buffer_cut(&w->path, before);
    }
}

/* (args, kwargs), as jit flattens them. */
static bool is_call(const jx_tree *tree)
{
    return tree->kind == JX_TREE_TUPLE && tree->nchildren == 2 &&
           tree->children[0].kind == JX_TREE_TUPLE &&
           tree->children[1].kind == JX_TREE_DICT;
}

/* Letters beyond ASCII may be part of a name; their classes are Unicode's. */
static bool is_name(const char *text)
{
    if (!*text || (*text >= '0' && *text <= '9'))
        return false;
    for (; *text; text++)
        if (!((unsigned char)*text >= 0x80 || *text == '_' ||
              (*text >= '0' && *text <= '9') ||
              ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z')))
            return false;
    return true;
}

void jx_exported_keyword_print(const char *name, jx_buffer *to)
{
    if (is_name(name)) {
        jx_utf8_show(name, to);
        return;
    }
    jx_buffer_puts(to, "kwargs[");
    jx_utf8_repr(name, to);
    jx_buffer_putc(to, ']');
}

static void walk_call(walk *w, const jx_tree *tree, const char *const *names)
{
    const jx_tree *args = &tree->children[0], *kwargs = &tree->children[1];

    for (int i = 0; i < args->nchildren; i++) {
        jx_buffer_clear(&w->path);
        if (names && names[i])
            jx_buffer_puts(&w->path, names[i]);
        else
            jx_buffer_printf(&w->path, "args[%d]", i);
        walk_tree(w, &args->children[i]);
    }
    for (int i = 0; i < kwargs->nchildren; i++) {
        jx_buffer_clear(&w->path);
        jx_exported_keyword_print(kwargs->names[i], &w->path);
        shorten(&w->path);
        walk_tree(w, &kwargs->children[i]);
    }
}

/* The name in "v['w']" if "['w']" is what follows "args[0]" in the path. */
static const char *name_in(jx_ctx *ctx, const char *origin, const char *path,
                           int arg)
{
    size_t length = strcspn(origin, "[.(:<"), prefix;
    const char *name;
    char args[32];

    prefix = (size_t)snprintf(args, sizeof args, "args[%d]", arg);
    if (!length || strncmp(path, args, prefix) != 0 ||
        strcmp(origin + length, path + prefix) != 0)
        return NULL;
    name = jx_arena_string(ctx->arena, origin, length);
    return name && jx_utf8_valid(name, length, NULL) ? name : NULL;
}

/* The first leaf of each argument that has an origin tells its name. */
static const char *const *names_of(jx_ctx *ctx, const jx_exported *x,
                                   const char *const *paths,
                                   jx_exported_origin *origin, void *env)
{
    const jx_tree *args = &x->in_tree.children[0];
    const char **names =
        JX_NEW_ARRAY(ctx->arena, args->nchildren, const char *);

    for (int i = 0, leaf = 0; names && i < args->nchildren; i++) {
        int end = leaf + args->children[i].leaves;
        for (; leaf < end; leaf++) {
            const char *text = names[i] ? NULL : origin(env, leaf);
            if (text && paths[leaf])
                names[i] = name_in(ctx, text, paths[leaf], i);
        }
    }
    return names;
}

static const char *const *paths_of(jx_ctx *ctx, const jx_tree *tree,
                                   const char *whole, const char *const *names)
{
    walk w = {.ctx = ctx, .path = jx_ctx_text(ctx)};

    w.at = JX_NEW_ARRAY(ctx->arena, tree->leaves, const char *);
    if (!w.at)
        return NULL;
    if (!whole && is_call(tree)) {
        walk_call(&w, tree, names);
    } else {
        jx_buffer_puts(&w.path, whole ? whole : "args");
        walk_tree(&w, tree);
    }
    jx_buffer_free(&w.path);
    return w.at;
}

bool jx_exported_paths_of(jx_ctx *ctx, const jx_exported *x,
                          jx_exported_origin *origin, void *env,
                          jx_exported_paths *to)
{
    *to = (jx_exported_paths){0};
    to->ins = paths_of(ctx, &x->in_tree, NULL, NULL);
    to->outs = paths_of(ctx, &x->out_tree, "result", NULL);
    if (is_call(&x->in_tree)) {
        to->nargs = x->in_tree.children[0].nchildren;
        if (origin && to->ins)
            to->args = names_of(ctx, x, to->ins, origin, env);
        if (to->args)
            to->ins = paths_of(ctx, &x->in_tree, NULL, to->args);
    }
    return jx_ok(ctx);
}

bool jx_exported_document_paths(jx_ctx *ctx, const jx_exported *x,
                                const char *const **ins,
                                const char *const **outs)
{
    walk w = {.ctx = ctx, .path = jx_ctx_text(ctx)};

    w.at = JX_NEW_ARRAY(ctx->arena, x->nins, const char *);
    if (w.at && !is_call(&x->in_tree))
        walk_tree(&w, &x->in_tree);
    for (int i = 0; w.at && is_call(&x->in_tree) && i < 2; i++)
        walk_tree(&w, &x->in_tree.children[i]);
    *ins = w.at;
    *outs = paths_of(ctx, &x->out_tree, "", NULL);
    jx_buffer_free(&w.path);
    return jx_ok(ctx);
}

/* ---- printing */

typedef struct printer {
    jx_ctx *ctx;
    jx_tree_leaf_print *leaf;
    void *env;
    int *next;
    jx_buffer *to;
} printer;

static void print_tree(const printer *p, const jx_tree *tree);

static void print_children(const printer *p, const jx_tree *tree,
                           const char *const *fields)
{
    bool is_dict = tree->kind == JX_TREE_DICT;

    for (int i = 0; i < tree->nchildren; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        if (is_dict || (fields && is_ordered_dict(tree))) {
            jx_utf8_repr(fields[i], p->to);
            jx_buffer_puts(p->to, ": ");
        } else if (fields) {
            jx_utf8_show(fields[i], p->to);
            jx_buffer_putc(p->to, '=');
        }
        print_tree(p, &tree->children[i]);
    }
}

/* "optax.ScaleByAdamState(count=..., mu=...)"; opaque data is said in hex. */
static void print_custom(const printer *p, const jx_tree *tree)
{
    enum { MOST = 16 }; /* bytes shown */
    const char *const *fields = jx_tree_fields(p->ctx, tree);

    jx_utf8_show(tree->custom, p->to);
    if (!fields && tree->aux.size) {
        jx_buffer_putc(p->to, '<');
        for (size_t i = 0; i < tree->aux.size && i < MOST; i++)
            jx_buffer_printf(p->to, "%02x", tree->aux.at[i]);
        jx_buffer_puts(p->to, tree->aux.size > MOST ? "...>" : ">");
    }
    jx_buffer_puts(p->to, fields && is_ordered_dict(tree) ? "({" : "(");
    print_children(p, tree, fields);
    jx_buffer_puts(p->to, fields && is_ordered_dict(tree) ? "})" : ")");
}

static void print_tree(const printer *p, const jx_tree *tree)
{
    static const char *const open[] = {"", "", "(", "[", "{"};
    static const char *const close[] = {"", "", ")", "]", "}"};

    if (tree->kind == JX_TREE_LEAF) {
        p->leaf(p->env, (*p->next)++, p->to);
    } else if (tree->kind == JX_TREE_NONE) {
        jx_buffer_puts(p->to, "None");
    } else if (tree->kind == JX_TREE_CUSTOM) {
        print_custom(p, tree);
    } else {
        jx_buffer_puts(p->to, open[tree->kind]);
        print_children(p, tree, tree->names);
        if (tree->kind == JX_TREE_TUPLE && tree->nchildren == 1)
            jx_buffer_putc(p->to, ',');
        jx_buffer_puts(p->to, close[tree->kind]);
    }
}

void jx_tree_print(jx_ctx *ctx, const jx_tree *tree, jx_tree_leaf_print *leaf,
                   void *env, int *next, jx_buffer *to)
{
    print_tree(&(printer){ctx, leaf, env, next, to}, tree);
}
