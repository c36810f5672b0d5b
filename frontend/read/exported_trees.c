/* exported_trees.c - the pytrees of exported files. */
#include "frontend/read/exported_parts.h"

enum { KIND, CHILDREN, NAMES, CUSTOM, AUX };

static bool children(jx_flat *flat, const jx_flat_table *table, jx_tree *to);

/* What a node of this kind may have, and must. */
static bool consistent(jx_flat *flat, const jx_flat_table *table, jx_tree *to,
                       int nnames)
{
    bool is_end = to->kind == JX_TREE_LEAF || to->kind == JX_TREE_NONE;

    if (is_end && to->nchildren)
        return jx_flat_fail(flat, jx_flat_where(flat, table, CHILDREN),
                            "children", "expected none below a %s, found %d",
                            to->kind == JX_TREE_LEAF ? "leaf" : "None",
                            to->nchildren);
    if (to->kind == JX_TREE_DICT && nnames != to->nchildren)
        return jx_flat_fail(flat, jx_flat_where(flat, table, NAMES),
                            "children_names",
                            "expected a name for each of %d children, found %d",
                            to->nchildren, nnames);
    if (to->kind == JX_TREE_CUSTOM && !to->custom)
        return jx_flat_fail(flat, table->at, "custom_name",
                            "expected the name of a custom node");
    return true;
}

static bool node(jx_flat *flat, const jx_flat_table *table, jx_tree *to)
{
    uint64_t kind = jx_flat_scalar(flat, table, KIND, "kind", 1, 0);
    jx_exported_texts names;

    if (kind >= JX_TREE_KINDS)
        return jx_flat_fail(flat, jx_flat_where(flat, table, KIND), "kind",
                            "expected a kind of pytree, 0 to %d, found %d",
                            JX_TREE_KINDS - 1, (int)kind);
    to->kind = (jx_tree_kind)kind;
    names = jx_exported_texts_of(flat, table, NAMES, "children_names");
    if (to->kind == JX_TREE_DICT)
        to->names = names.at;
    if (to->kind == JX_TREE_CUSTOM) {
        to->custom = jx_flat_text(flat, table, CUSTOM, "custom_name");
        to->aux = jx_exported_bytes_of(flat, table, AUX, "custom_auxdata");
    }
    if (!children(flat, table, to))
        return false;
    to->leaves += to->kind == JX_TREE_LEAF;
    return consistent(flat, table, to, names.count);
}

static bool children(jx_flat *flat, const jx_flat_table *table, jx_tree *to)
{
    jx_flat_vector vector;
    jx_tree *at;

    if (!jx_exported_vector(flat, table, CHILDREN, "children", 4, &vector))
        return false;
    if (!vector.count)
        return true;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_tree);
    if (!at)
        return false;
    for (uint32_t i = 0; i < vector.count; i++) {
        jx_flat_table child;
        bool ok;

        if (!jx_exported_item(flat, &vector, "children", i, &child))
            return false;
        ok = node(flat, &child, &at[i]);
        jx_flat_leave(flat);
        if (!ok)
            return false;
        /* Fits: a leaf is a table, and the bytes of tables are counted. */
        to->leaves += at[i].leaves;
    }
    to->children = at;
    to->nchildren = (int)vector.count;
    return true;
}

bool jx_exported_tree(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                      const char *field, jx_tree *to)
{
    jx_flat_table root;
    bool ok;

    if (!jx_flat_table_of(flat, table, slot, field, &root))
        return jx_flat_fail(flat, table->at, field, "expected a pytree");
    if (!jx_flat_enter(flat, field, -1))
        return false;
    ok = node(flat, &root, to);
    jx_flat_leave(flat);
    return ok;
}
