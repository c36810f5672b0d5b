/* document_values.c - parameter values of a document: plain JSON, or an object
 * whose first key is a tag. */
#include "frontend/read/document_parts.h"

#include <stdlib.h>
#include <string.h>

static const jx_value *add(jx_doc *d, const jx_value *v)
{
    return d->walk.failed ? NULL : jx_value_add(&d->program->values, v);
}

/* The items of an array, each a value. */
static jx_value items_of(jx_doc *d, const jx_node *at, jx_value_tag tag)
{
    int n = jx_node_array(&d->walk, at);
    const jx_value **items = JX_NEW_ARRAY(d->ctx->arena, n, const jx_value *);

    if (jx_node_kind(at) != JX_JSON_ARRAY)
        jx_node_fail(&d->walk, at, "expected an array");
    for (int i = 0; items && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        items[i] = jx_doc_value(d, &item);
    }
    return (jx_value){.tag = tag, .items = items, .count = items ? n : 0};
}

static jx_value text_of(jx_doc *d, const jx_node *at, jx_value_tag tag)
{
    const char *text = jx_node_text(&d->walk, at);

    return (jx_value){.tag = tag, .text = text};
}

/* ---- one function per tag: `at` is the object, `tag` the tag's value */

static jx_value read_int(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    const char *text = jx_node_text(&d->walk, tag);
    char *end;
    jx_value v = {.tag = JX_V_INT};

    (void)at;
    if (d->walk.failed)
        return v;
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (digits == 0 || text[digits + (*text == '-')] || digits > 20) {
        jx_node_fail(&d->walk, tag, "expected the digits of an integer");
        return v;
    }
    __int128 value = 0;
    for (const char *c = text + (*text == '-'); *c; c++)
        value = value * 10 + (*c - '0');
    if (*text == '-')
        value = -value;
    if (value < INT64_MIN || value > UINT64_MAX)
        jx_node_fail(&d->walk, tag, "expected an integer of 64 bits");
    else if (value > INT64_MAX)
        v = (jx_value){.tag = JX_V_UINT,
                       .integer = (int64_t)strtoull(text, &end, 10)};
    else
        v.integer = (int64_t)value;
    return v;
}

/* An integer of numpy's: the same number, printed otherwise. */
static jx_value read_numpy(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = text_of(d, tag, JX_V_INT);
    jx_node value = jx_node_need(&d->walk, at, "v");

    if (v.text && jx_dtype_named(v.text, strlen(v.text)) == JX_DT_NONE)
        jx_node_fail(&d->walk, tag, "expected an integer dtype");
    v.integer = jx_node_int(&d->walk, &value, INT64_MIN, INT64_MAX);
    return v;
}

static jx_value read_nonfinite(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = {.tag = JX_V_FLOAT};

    (void)at;
    jx_doc_hex(d, tag, 8, &v.real);
    return v;
}

static jx_value read_complex(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = {.tag = JX_V_COMPLEX};

    (void)at;
    if (!jx_node_tuple(&d->walk, tag, 2))
        return v;
    jx_node real = jx_node_item(tag, 0), imag = jx_node_item(tag, 1);
    jx_doc_hex(d, &real, 8, &v.real);
    jx_doc_hex(d, &imag, 8, &v.imag);
    return v;
}

static jx_value read_dtype(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = text_of(d, tag, JX_V_DTYPE);

    (void)at;
    if (!v.text)
        return v;
    size_t n = strlen(v.text);
    v.dtype = n > 5 && !strncmp(v.text, "key<", 4) ? JX_KEY
                                                   : jx_dtype_named(v.text, n);
    return v;
}

static jx_value read_dim(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    return (jx_value){.tag = JX_V_DIM,
                      .dim = jx_doc_dim_text(d, tag, jx_doc_scope(d, at))};
}

const jx_jaxpr *jx_doc_jaxpr(jx_doc *d, const jx_node *at)
{
    int index =
        jx_node_index(&d->walk, at, (int)d->build.jaxprs.count, "jaxprs");

    return index < 0 ? NULL : d->build.jaxprs.at[index];
}

static jx_value read_jaxpr(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    const jx_jaxpr *to = jx_doc_jaxpr(d, tag);
    jx_node consts = jx_node_member(at, "consts");
    jx_node open = jx_node_member(at, "open");
    int n = jx_node_array(&d->walk, &consts);
    const jx_value **items = JX_NEW_ARRAY(d->ctx->arena, n, const jx_value *);

    for (int i = 0; items && i < n; i++) {
        jx_node item = jx_node_item(&consts, (size_t)i);
        int k = jx_node_index(&d->walk, &item, d->narrays, "consts");
        jx_value v = {.tag = JX_V_CONST, .array = k < 0 ? NULL : d->arrays[k]};
        items[i] = add(d, &v);
    }
    bool is_open = jx_node_bool(&d->walk, &open);
    if (to && n != to->nconsts)
        jx_node_fail(&d->walk, at,
                     "expected %d constants for jaxpr %d, found %d",
                     to->nconsts, to->id, n);
    return (jx_value){.tag = JX_V_JAXPR,
                      .jaxpr = to,
                      .open = is_open,
                      .items = items,
                      .count = items ? n : 0};
}

static jx_value read_rule(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    int index = jx_node_index(&d->walk, tag, d->nrules, "rules");
    jx_node name = jx_node_member(at, "fn");

    return (jx_value){.tag = JX_V_RULE,
                      .rule = index < 0 ? NULL : &d->rules[index],
                      .text = jx_node_text(&d->walk, &name)};
}

static jx_value read_definition(jx_doc *d, const jx_node *at,
                                const jx_node *tag)
{
    (void)at;
    return (jx_value){.tag = JX_V_DEFINITION,
                      .definition = jx_doc_definition(d, tag)};
}

static jx_value read_aval(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return (jx_value){.tag = JX_V_AVAL, .aval = jx_doc_aval(d, tag)};
}

static jx_value read_enum(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return text_of(d, tag, JX_V_ENUM);
}

static jx_value read_record(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = text_of(d, tag, JX_V_RECORD);
    jx_node f = jx_node_need(&d->walk, at, "f");
    jx_node hi = jx_node_member(at, "hi");
    size_t state = 0;
    const char *key;
    const jx_json *value;

    if (f.there && jx_node_kind(&f) != JX_JSON_OBJECT)
        jx_node_fail(&d->walk, &f, "expected an object (field to value)");
    if (d->walk.failed)
        return v;
    size_t n = jx_json_count(f.json);
    const jx_value **items = JX_NEW_ARRAY(d->ctx->arena, n, const jx_value *);
    const char **keys = JX_NEW_ARRAY(d->ctx->arena, n, const char *);
    if (!items || !keys)
        return v;
    while (jx_json_next(f.json, &state, &key, &value)) {
        jx_node field = {value, true, &f, key, 0};
        keys[v.count] = jx_intern_text(d->ctx, key);
        items[v.count++] = jx_doc_value(d, &field);
    }
    v.items = items;
    v.keys = keys;
    v.boolean = jx_node_bool(&d->walk, &hi);
    return v;
}

static jx_value read_prim(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return text_of(d, tag, JX_V_PRIM);
}

static jx_value read_mesh(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return (jx_value){
        .tag = JX_V_MESH,
        .integer = jx_node_index(&d->walk, tag, d->program->nmeshes, "meshes")};
}

/* The axes of "unreduced" or "reduced", a tuple of text; NULL if absent. */
static const jx_value *axes_of(jx_doc *d, const jx_node *at, const char *key)
{
    jx_node member = jx_node_member(at, key);

    if (!member.there)
        return NULL;
    jx_value v = items_of(d, &member, JX_V_TUPLE);
    for (int i = 0; i < v.count && !d->walk.failed; i++)
        if (v.items[i]->tag != JX_V_TEXT)
            jx_node_fail(&d->walk, &member, "expected names of axes");
    return add(d, &v);
}

/* The entries are `list`, and `at` has the axes that are marked. */
static jx_value read_spec(jx_doc *d, const jx_node *at, const jx_node *list)
{
    const jx_value *spec = jx_doc_spec(d, list);

    if (!spec || d->walk.failed)
        return (jx_value){.tag = JX_V_SPEC};
    jx_value v = *spec;
    v.unreduced = axes_of(d, at, "unreduced");
    v.reduced = axes_of(d, at, "reduced");
    v.text = jx_doc_unreduced_kind(d, at);
    return v;
}

static jx_value read_sharding(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = {.tag = JX_V_SHARDING};

    (void)at;
    if (!jx_node_object(&d->walk, tag,
                        "mesh spec unreduced reduced unreduced_kind ms"))
        return v;
    jx_node mesh = jx_node_need(&d->walk, tag, "mesh");
    jx_node spec = jx_node_need(&d->walk, tag, "spec");
    jx_node ms = jx_node_member(tag, "ms");
    const jx_value **items = JX_NEW_ARRAY(d->ctx->arena, 1, const jx_value *);
    v.integer = jx_node_index(&d->walk, &mesh, d->program->nmeshes, "meshes");
    v.text = jx_node_text(&d->walk, &ms);
    if (items) {
        jx_value marked = read_spec(d, tag, &spec);
        items[0] = add(d, &marked);
        v.items = items;
        v.count = 1;
    }
    return v;
}

static jx_value read_unspecified(jx_doc *d, const jx_node *at,
                                 const jx_node *tag)
{
    (void)at;
    if (!jx_node_bool(&d->walk, tag))
        jx_node_fail(&d->walk, tag, "expected true");
    return (jx_value){.tag = JX_V_UNSPECIFIED};
}

static jx_value read_set(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return items_of(d, tag, JX_V_SET);
}

static jx_value read_map(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    int n = jx_node_array(&d->walk, tag);
    jx_value v = {.tag = JX_V_MAP};
    const jx_value **items =
        JX_NEW_ARRAY(d->ctx->arena, 2 * (size_t)n, const jx_value *);

    (void)at;
    if (jx_node_kind(tag) != JX_JSON_ARRAY)
        jx_node_fail(&d->walk, tag, "expected an array of [key, value]");
    for (int i = 0; items && i < n && !d->walk.failed; i++) {
        jx_node pair = jx_node_item(tag, (size_t)i);
        if (!jx_node_tuple(&d->walk, &pair, 2))
            break;
        jx_node key = jx_node_item(&pair, 0), value = jx_node_item(&pair, 1);
        items[v.count++] = jx_doc_value(d, &key);
        items[v.count++] = jx_doc_value(d, &value);
    }
    v.items = items;
    return v;
}

static jx_value read_slice(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    if (!jx_node_tuple(&d->walk, tag, 3))
        return (jx_value){.tag = JX_V_SLICE};
    return items_of(d, tag, JX_V_SLICE);
}

static jx_value read_const(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    int index = jx_node_index(&d->walk, tag, d->narrays, "consts");

    (void)at;
    return (jx_value){.tag = JX_V_CONST,
                      .array = index < 0 ? NULL : d->arrays[index]};
}

static jx_value read_function(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return text_of(d, tag, JX_V_FUNCTION);
}

static jx_value read_tree(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return text_of(d, tag, JX_V_TREE);
}

static jx_value read_impl(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    (void)at;
    return text_of(d, tag, JX_V_IMPL);
}

static jx_value read_opaque(jx_doc *d, const jx_node *at, const jx_node *tag)
{
    jx_value v = text_of(d, tag, JX_V_OPAQUE);
    jx_node repr = jx_node_need(&d->walk, at, "repr");

    v.detail = jx_node_text(&d->walk, &repr);
    return v;
}

static const struct tag {
    const char *name, *keys;
    jx_value (*read)(jx_doc *d, const jx_node *at, const jx_node *tag);
} tags[] = {
    {"$dt", "$dt", read_dtype},
    {"$dim", "$dim scope", read_dim},
    {"$enum", "$enum", read_enum},
    {"$jaxpr", "$jaxpr consts open", read_jaxpr},
    {"$unspecified", "$unspecified", read_unspecified},
    {"$mesh", "$mesh", read_mesh},
    {"$rec", "$rec f hi", read_record},
    {"$rule", "$rule fn", read_rule},
    {"$definition", "$definition", read_definition},
    {"$fn", "$fn", read_function},
    {"$aval", "$aval", read_aval},
    {"$int", "$int", read_int},
    {"$np", "$np v", read_numpy},
    {"$f", "$f", read_nonfinite},
    {"$c", "$c", read_complex},
    {"$prim", "$prim", read_prim},
    {"$spec", "$spec unreduced reduced unreduced_kind", read_spec},
    {"$sharding", "$sharding", read_sharding},
    {"$set", "$set", read_set},
    {"$map", "$map", read_map},
    {"$slice", "$slice", read_slice},
    {"$const", "$const", read_const},
    {"$tree", "$tree", read_tree},
    {"$impl", "$impl", read_impl},
    {"$opaque", "$opaque repr", read_opaque},
};

static jx_value read_tagged(jx_doc *d, const jx_node *at)
{
    size_t state = 0;
    const char *key = "";
    const jx_json *value = NULL;

    jx_json_next(at->json, &state, &key, &value);
    for (size_t i = 0; state && i < sizeof tags / sizeof *tags; i++)
        if (!strcmp(tags[i].name, key)) {
            jx_node tag = {value, true, at, tags[i].name, 0};
            jx_node_object(&d->walk, at, tags[i].keys);
            return tags[i].read(d, at, &tag);
        }
    jx_node_fail(&d->walk, at,
                 "expected an object with a known tag, found \"%.40s\"",
                 key ? key : "");
    return (jx_value){.tag = JX_V_NONE};
}

const jx_value *jx_doc_value(jx_doc *d, const jx_node *at)
{
    jx_value v = {.tag = JX_V_NONE};

    switch (jx_node_kind(at)) {
    case JX_JSON_NULL:
    case JX_JSON_WIDE: /* is in no document */ break;
    case JX_JSON_BOOL:
        v = (jx_value){.tag = JX_V_BOOL, .boolean = jx_json_bool(at->json)};
        break;
    case JX_JSON_INT:
        v = (jx_value){.tag = JX_V_INT, .integer = jx_json_int(at->json)};
        break;
    case JX_JSON_REAL:
        v = (jx_value){.tag = JX_V_FLOAT, .real = jx_json_real(at->json)};
        break;
    case JX_JSON_TEXT: v = text_of(d, at, JX_V_TEXT); break;
    case JX_JSON_ARRAY: v = items_of(d, at, JX_V_TUPLE); break;
    case JX_JSON_OBJECT: v = read_tagged(d, at); break;
    }
    return add(d, &v);
}

jx_closed jx_doc_closed(jx_doc *d, const jx_node *at)
{
    const jx_value *v = jx_doc_value(d, at);

    if (v && v->tag != JX_V_JAXPR)
        jx_node_fail(&d->walk, at, "expected {\"$jaxpr\": ...}");
    if (!v || d->walk.failed)
        return (jx_closed){0};
    const jx_array **consts =
        JX_NEW_ARRAY(d->ctx->arena, v->count, const jx_array *);
    for (int i = 0; consts && i < v->count; i++)
        consts[i] = v->items[i]->array;
    return (jx_closed){v->jaxpr, consts ? v->count : 0, consts};
}

const jx_array *const *jx_doc_consts(jx_doc *d, const jx_node *at,
                                     const jx_node *within,
                                     const jx_jaxpr *jaxpr)
{
    int n = jx_node_array(&d->walk, at);
    const jx_array **to = JX_NEW_ARRAY(d->ctx->arena, n, const jx_array *);

    if (n != jaxpr->nconsts) {
        jx_node_fail(&d->walk, at->there ? at : within,
                     "expected %d constants for jaxpr %d, found %d",
                     jaxpr->nconsts, jaxpr->id, n);
        return NULL;
    }
    for (int i = 0; to && i < n; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        int k = jx_node_index(&d->walk, &item, d->narrays, "consts");
        to[i] = k < 0 ? NULL : d->arrays[k];
    }
    return to;
}
