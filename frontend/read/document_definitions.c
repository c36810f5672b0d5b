/* document_definitions.c - what a document says of primitives that their
 * authors defined. */
#include "frontend/ir/definition.h"
#include "frontend/read/document_parts.h"

#include <string.h>

void jx_doc_begin_definitions(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "definitions");

    d->ndefinitions = jx_node_array(&d->walk, &table);
    d->definitions =
        JX_NEW_ARRAY(d->ctx->arena, d->ndefinitions, jx_definition);
}

struct jx_definition *jx_doc_definition(jx_doc *d, const jx_node *at)
{
    int index = jx_node_index(&d->walk, at, d->ndefinitions, "definitions");

    return index < 0 ? NULL : &d->definitions[index];
}

/* ---- patterns */

/* A text of `count` characters 0 and 1; NULL if it is left out. */
static const char *read_mask(jx_doc *d, const jx_node *at, int count)
{
    const char *text = jx_node_text(&d->walk, at);

    if (text && !d->walk.failed &&
        (strspn(text, "01") != strlen(text) || strlen(text) != (size_t)count))
        jx_node_fail(&d->walk, at, "expected %d characters 0 and 1", count);
    return text;
}

static int ones(const char *mask)
{
    int n = 0;

    for (; mask && *mask; mask++)
        n += *mask == '1';
    return n;
}

/* How many inputs and results the jaxpr has to have. */
static bool check_counts(jx_doc *d, const jx_node *at, const jx_definition *of,
                         jx_definition_kind kind,
                         const jx_definition_pattern *p)
{
    const jx_jaxpr *made = p->made.jaxpr;
    int nins = of->nins, nouts = of->nouts;

    if (kind == JX_DEFINED_JVP) {
        nins += of->nins - ones(p->mask);
        nouts += of->nouts - ones(p->gives);
    } else if (kind == JX_DEFINED_TRANSPOSE) {
        nins += of->nouts - ones(p->mask) - ones(p->zeros);
        nouts = ones(p->mask) - ones(p->gives);
    }
    if (!made || (made->nins == nins && made->nouts == nouts))
        return true;
    return jx_node_fail(&d->walk, at,
                        "expected a jaxpr of %d inputs and %d outputs, found "
                        "%d and %d",
                        nins, nouts, made->nins, made->nouts);
}

/* Per result the axis of the jaxpr's, or null. */
static void read_axes(jx_doc *d, const jx_node *at, const jx_definition *of,
                      jx_definition_pattern *to)
{
    int *axes = JX_NEW_ARRAY(d->ctx->arena, of->nouts + 1, int);

    if (!axes || (of->nouts && !jx_node_tuple(&d->walk, at, (size_t)of->nouts)))
        return;
    for (int i = 0; i < of->nouts && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        bool none = jx_node_kind(&item) == JX_JSON_NULL;
        const jx_jaxpr *made = to->made.jaxpr;
        int rank =
            made && i < made->nouts ? jx_atom_aval(made->outs[i])->rank : 0;
        axes[i] =
            none ? -1
                 : jx_node_index(&d->walk, &item, rank, "the result's axes");
    }
    to->axes = axes;
}

static void read_pattern(jx_doc *d, const jx_node *at, const jx_definition *of,
                         jx_definition_kind kind, jx_definition_pattern *to)
{
    static const char *const keys[] = {"zeros error jvp out_zeros",
                                       "linear zeros error transpose ct_zeros",
                                       "batched error batch axes"};
    static const char *const masks[] = {"zeros", "linear", "batched"};
    static const char *const gives[] = {"out_zeros", "ct_zeros", ""};

    if (!jx_node_object(&d->walk, at, keys[kind]))
        return;
    jx_node mask = jx_node_need(&d->walk, at, masks[kind]);
    jx_node zeros = jx_node_member(at, "zeros"),
            error = jx_node_member(at, "error");
    jx_node given = jx_node_member(at, gives[kind]),
            axes = jx_node_member(at, "axes");
    to->mask = read_mask(d, &mask, of->nins);
    if (kind == JX_DEFINED_TRANSPOSE && zeros.there)
        to->zeros = read_mask(d, &zeros, of->nouts);
    to->error = jx_node_text(&d->walk, &error);
    if (d->walk.failed || error.there)
        return;
    jx_node made = jx_node_need(&d->walk, at, jx_definition_kind_name(kind));
    if (given.there)
        to->gives = read_mask(
            d, &given, kind == JX_DEFINED_JVP ? of->nouts : ones(to->mask));
    if (d->walk.failed)
        return;
    to->made = jx_doc_closed(d, &made);
    if (check_counts(d, &made, of, kind, to) && kind == JX_DEFINED_BATCH)
        read_axes(d, &axes, of, to);
}

static void read_patterns(jx_doc *d, const jx_node *at, jx_definition_kind kind,
                          jx_definition *of)
{
    int n = jx_node_array(&d->walk, at);
    jx_definition_pattern *all =
        JX_NEW_ARRAY(d->ctx->arena, n, jx_definition_pattern);

    for (int i = 0; all && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        read_pattern(d, &item, of, kind, &all[i]);
    }
    of->npatterns[kind] = all ? n : 0;
    of->patterns[kind] = all;
}

/* ---- definitions */

static const jx_aval *const *read_avals(jx_doc *d, const jx_node *at,
                                        const char *key, int *count)
{
    jx_node list = jx_node_need(&d->walk, at, key);
    int n = jx_node_array(&d->walk, &list);
    const jx_aval **avals = JX_NEW_ARRAY(d->ctx->arena, n, const jx_aval *);

    for (int i = 0; avals && i < n; i++) {
        jx_node item = jx_node_item(&list, (size_t)i);
        avals[i] = jx_doc_aval(d, &item);
    }
    *count = avals ? n : 0;
    return avals;
}

static void read_missing(jx_doc *d, const jx_node *at, jx_definition *to)
{
    int n = jx_node_array(&d->walk, at);

    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        const char *name = jx_node_text(&d->walk, &item);
        int kind = 0;
        while (name && kind <= JX_DEFINED_EVAL &&
               strcmp(name, jx_definition_kind_name(kind)))
            kind++;
        if (name && kind <= JX_DEFINED_EVAL)
            to->missing[kind] = true;
        else
            jx_node_fail(&d->walk, &item,
                         "expected \"eval\", \"jvp\", \"transpose\" or "
                         "\"batch\"");
    }
}

static void read_definition(jx_doc *d, const jx_node *at, int id,
                            jx_definition *to)
{
    if (!jx_node_object(
            &d->walk, at,
            "name in out lower missing jvp transpose batch truncated"))
        return;
    jx_node name = jx_node_member(at, "name"),
            lower = jx_node_member(at, "lower");
    jx_node missing = jx_node_member(at, "missing");
    jx_node truncated = jx_node_member(at, "truncated");
    to->id = id;
    to->name = jx_node_text(&d->walk, &name);
    to->name = to->name ? to->name : "";
    to->ins = read_avals(d, at, "in", &to->nins);
    to->outs = read_avals(d, at, "out", &to->nouts);
    to->nlower = jx_node_array(&d->walk, &lower);
    to->lower = jx_node_texts(&d->walk, &lower, to->nlower);
    read_missing(d, &missing, to);
    to->truncated = jx_node_text(&d->walk, &truncated);
    for (int kind = 0; kind < JX_DEFINED_PATTERNED && !d->walk.failed; kind++) {
        jx_node list = jx_node_member(at, jx_definition_kind_name(kind));
        read_patterns(d, &list, kind, to);
    }
}

void jx_doc_definitions(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "definitions");
    const jx_definition **all =
        JX_NEW_ARRAY(d->ctx->arena, d->ndefinitions, const jx_definition *);

    for (int i = 0; all && i < d->ndefinitions && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_definition(d, &item, i, &d->definitions[i]);
        all[i] = &d->definitions[i];
    }
    d->program->ndefinitions = all ? d->ndefinitions : 0;
    d->program->definitions = all;
}
