/* text_trees.c - the trees that a scan of JAX >= 0.11 has for its counts.
 *
 *     tree  (tree, tree)                 a tuple
 *           {key: tree}                  a dictionary
 *           RightsOnly(tree)             but for leaves that are Left(...)
 *           Pytree(vals=[leaf, leaf], tree=PyTreeDef(node))
 *           Static(anything)             no leaf
 *           leaf                         None, Right(leaf), Left(anything)
 *     node  * | None | (node, node) | [node, node] | {key: node}
 *           | CustomNode(name[data], [node, node]) `*` is a leaf
 *
 * What the leaves are called says nothing; counted are those that are there,
 * below the tree itself and below each of its parts. */
#include "frontend/read/text_parts.h"

#include <string.h>

enum { JX_TREE_DEPTH = 1000 };

/* What stands at `at`; NULL once it is no tree. */
typedef struct trees {
    const char *at, *end;
    jx_arena *arena;
    int depth;
    JX_VEC(unsigned char) kept; /* of a Pytree's values: is each one there? */
} trees;

/* Counts of the leaves of a tree's parts; a leaf has none. */
typedef struct parts {
    int64_t *counts;
    int room, count;
} parts;

static bool gone(trees *t)
{
    t->at = NULL;
    return false;
}

static bool take(trees *t, const char *word)
{
    size_t n = strlen(word);

    if (!t->at || (size_t)(t->end - t->at) < n || memcmp(t->at, word, n))
        return false;
    t->at += n;
    return true;
}

static bool expect(trees *t, const char *word)
{
    return take(t, word) || gone(t);
}

static void skip_blanks(trees *t)
{
    while (t->at && t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
}

/* Text in quotes, behind the first one. */
static void skip_quoted(trees *t, char quote)
{
    for (; t->at < t->end && *t->at != quote; t->at++)
        t->at += *t->at == '\\' && t->at + 1 < t->end;
    t->at = t->at < t->end ? t->at + 1 : NULL;
}

/* Anything, up to a bracket or one of `ends` that is not its own. */
static bool skip_any(trees *t, const char *ends)
{
    int open = 0;

    while (t->at && t->at < t->end) {
        char c = *t->at;
        if (!open && (strchr(")]}", c) || strchr(ends, c)))
            return true;
        t->at++;
        if (c == '\'' || c == '"')
            skip_quoted(t, c);
        else if (strchr("([{", c))
            open++;
        else if (strchr(")]}", c))
            open--;
    }
    return gone(t);
}

/* Between two of a list, or before what closes it. */
static bool next_in_list(trees *t, const char *close)
{
    skip_blanks(t);
    if (take(t, ",")) {
        skip_blanks(t);
        return true;
    }
    return t->at && (size_t)(t->end - t->at) >= strlen(close) &&
                   !memcmp(t->at, close, strlen(close))
               ? true
               : gone(t);
}

static void add_part(parts *to, int64_t leaves)
{
    if (to && to->count < to->room)
        to->counts[to->count] = leaves;
    if (to)
        to->count += to->count < INT32_MAX;
}

static int64_t read_tree(trees *t, parts *to);
static int64_t read_node(trees *t, parts *to);

typedef int64_t read_part(trees *t, parts *to);

/* Parts up to `close`; with keys in a dictionary. */
static int64_t read_parts(trees *t, read_part *read, const char *close,
                          bool keys, parts *to)
{
    int64_t leaves = 0;

    skip_blanks(t);
    while (t->at && !take(t, close)) {
        if (keys && (!skip_any(t, ":") || !expect(t, ":")))
            return 0;
        skip_blanks(t);
        int64_t part = read(t, NULL);
        add_part(to, part);
        leaves += part;
        if (!t->at || !next_in_list(t, close))
            return 0;
    }
    return leaves;
}

/* ---- PyTreeDef */

static int64_t read_custom(trees *t, parts *to)
{
    int64_t leaves;

    if (!skip_any(t, "[") || !expect(t, "[") || !skip_any(t, "") ||
        !expect(t, "]") || !expect(t, ", ["))
        return 0;
    leaves = read_parts(t, read_node, "]", false, to);
    expect(t, ")");
    return leaves;
}

static int64_t read_node(trees *t, parts *to)
{
    int64_t leaves = 0;

    if (!t->at || t->depth >= JX_TREE_DEPTH)
        return gone(t);
    t->depth++;
    if (take(t, "*"))
        leaves = 1;
    else if (take(t, "("))
        leaves = read_parts(t, read_node, ")", false, to);
    else if (take(t, "["))
        leaves = read_parts(t, read_node, "]", false, to);
    else if (take(t, "{"))
        leaves = read_parts(t, read_node, "}", true, to);
    else if (take(t, "CustomNode("))
        leaves = read_custom(t, to);
    else
        expect(t, "None");
    t->depth--;
    return leaves;
}

/* ---- FlatTree */

/* None, or what Either holds; gives whether it is one that is there. */
static int64_t read_leaf(trees *t)
{
    int rights = 0;

    while (take(t, "Right("))
        rights++;
    bool left = take(t, "Left(");
    const char *begin = t->at;
    if (!skip_any(t, left ? "" : ",") || (begin == t->at && !left))
        return gone(t);
    for (int i = rights + left; i > 0; i--)
        expect(t, ")");
    return !left;
}

/* `vals=[...]`, each with its leaf in a tree whose shape comes after. */
static int64_t read_values(trees *t)
{
    int64_t leaves = 0;

    t->kept.count = 0;
    while (t->at && !take(t, "]")) {
        int64_t leaf = read_leaf(t);
        if (!t->at || !next_in_list(t, "]"))
            return 0;
        JX_PUSH(t->arena, &t->kept, (unsigned char)leaf);
        leaves += leaf;
    }
    return leaves;
}

/* The parts have the values in order; those that are there count. */
static void count_kept(const trees *t, parts *to)
{
    size_t next = 0;

    for (int i = 0; i < to->count && i < to->room; i++) {
        int64_t all = to->counts[i];
        to->counts[i] = 0;
        for (; all > 0 && next < t->kept.count; all--)
            to->counts[i] += t->kept.at[next++];
    }
}

static int64_t read_pytree(trees *t, parts *to)
{
    int64_t leaves = read_values(t);

    expect(t, ", tree=PyTreeDef(");
    int64_t all = read_node(t, to);
    expect(t, "))");
    if (!t->at || all != (int64_t)t->kept.count)
        return gone(t);
    if (to)
        count_kept(t, to);
    return leaves;
}

/* What has parts; false, with nothing read, for a leaf. */
static bool read_branch(trees *t, parts *to, int64_t *leaves)
{
    *leaves = 0;
    if (take(t, "(")) {
        *leaves = read_parts(t, read_tree, ")", false, to);
    } else if (take(t, "{")) {
        *leaves = read_parts(t, read_tree, "}", true, to);
    } else if (take(t, "Pytree(vals=[")) {
        *leaves = read_pytree(t, to);
    } else if (take(t, "RightsOnly(")) {
        *leaves = read_tree(t, to);
        expect(t, ")");
    } else if (take(t, "Static(")) {
        if (skip_any(t, ""))
            expect(t, ")");
    } else {
        return false;
    }
    return true;
}

static int64_t read_tree(trees *t, parts *to)
{
    int64_t leaves;

    if (!t->at || t->depth >= JX_TREE_DEPTH)
        return gone(t);
    t->depth++;
    if (!read_branch(t, to, &leaves))
        leaves = read_leaf(t);
    t->depth--;
    return t->at ? leaves : 0;
}

const char *jx_text_tree(jx_text *t, const char *at, const char *end, int room,
                         int64_t *counts, int *count)
{
    trees own = {.at = at, .end = end, .arena = t->ctx->arena};
    parts to = {counts, room, 0};
    int64_t leaves;

    *count = 0;
    if (!read_branch(&own, &to, &leaves) || jx_arena_failed(own.arena))
        return NULL;
    *count = to.count;
    return own.at;
}

/* ---- a scan's counts */

static bool count_parts(jx_text *t, const jx_value *tree, int expected,
                        int64_t *counts)
{
    const char *end = tree->text + strlen(tree->text);
    int count;

    return tree->tag == JX_V_TREE &&
           jx_text_tree(t, tree->text, end, expected, counts, &count) == end &&
           count == expected;
}

bool jx_text_scan_counts(jx_text *t, const jx_value *ft_in, int64_t counts[3])
{
    return count_parts(t, ft_in, 3, counts) ||
           jx_text_fail(t, t->at,
                        "scan: parameter 'ft_in': expected a tree of three "
                        "parts (constants, carry, items)");
}

const char *jx_text_scan_misfit(jx_text *t, const jx_eqn *eqn)
{
    const jx_value *in = jx_eqn_param(eqn, "ft_in");
    const jx_value *out = jx_eqn_param(eqn, "ft_out");
    const jx_p_scan *p = eqn->typed;
    int64_t ins[3], outs[2];

    if (!in || !count_parts(t, in, 3, ins))
        return NULL;
    if (ins[0] != p->num_consts || ins[1] != p->num_carry ||
        ins[0] + ins[1] + ins[2] != eqn->nins)
        return jx_arena_printf(
            t->ctx->arena,
            "scan: 'ft_in' holds %lld constants, %lld carried values and "
            "%lld items, for %d operands",
            (long long)ins[0], (long long)ins[1], (long long)ins[2], eqn->nins);
    if (out && (!count_parts(t, out, 2, outs) || outs[0] != ins[1] ||
                outs[0] + outs[1] != eqn->nouts))
        return jx_arena_printf(
            t->ctx->arena,
            "scan: expected 'ft_out' to hold %lld carried values and %lld "
            "items",
            (long long)ins[1], (long long)(eqn->nouts - ins[1]));
    return NULL;
}
