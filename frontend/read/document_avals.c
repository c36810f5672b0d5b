/* document_avals.c - dims, avals, constants and literals of a document. */
#include "frontend/base/base64.h"
#include "frontend/base/file.h"
#include "frontend/base/sha256.h"
#include "frontend/read/document_parts.h"

#include <string.h>

/* ---- dims */

int jx_doc_scope(jx_doc *d, const jx_node *within)
{
    jx_node scope = jx_node_member(within, "scope");

    if (!scope.there)
        return 0;
    int index = jx_node_index(&d->walk, &scope, d->program->nscopes, "scopes");
    return index < 0 ? 0 : index;
}

const jx_dim *jx_doc_dim_text(jx_doc *d, const jx_node *at, int scope)
{
    const char *text = jx_node_text(&d->walk, at), *expected = NULL;
    size_t bad = 0;

    if (d->walk.failed || !text)
        return NULL;
    const jx_dim *dim = jx_dim_parse(d->program->dims, text, strlen(text),
                                     scope, &bad, &expected);
    if (!dim)
        jx_node_fail(&d->walk, at, "size \"%.80s\", column %zu: expected %s",
                     text, bad + 1, expected ? expected : "a size");
    return dim;
}

/* An integer, text (scope 0), or {"$dim": text, "scope": n}. */
static const jx_dim *read_dim(jx_doc *d, const jx_node *at)
{
    if (jx_node_kind(at) == JX_JSON_TEXT)
        return jx_doc_dim_text(d, at, 0);
    if (jx_node_kind(at) == JX_JSON_OBJECT) {
        jx_node text = jx_node_need(&d->walk, at, "$dim");
        jx_node_object(&d->walk, at, "$dim scope");
        return jx_doc_dim_text(d, &text, jx_doc_scope(d, at));
    }
    return jx_dim_int(d->program->dims,
                      jx_node_int(&d->walk, at, 0, INT64_MAX));
}

static void read_shape(jx_doc *d, const jx_node *at, jx_aval *aval)
{
    int n = jx_node_array(&d->walk, at);
    const jx_dim **shape = JX_NEW_ARRAY(d->ctx->arena, n, const jx_dim *);

    for (int i = 0; shape && i < n; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        shape[i] = read_dim(d, &item);
    }
    aval->rank = shape ? n : 0;
    aval->shape = shape;
}

/* ---- avals */

/* "f32", or "key<fry>". */
static void read_dtype(jx_doc *d, const jx_node *at, jx_aval *aval)
{
    const char *text = jx_node_text(&d->walk, at);
    size_t n = text ? strlen(text) : 0;

    if (!text)
        return;
    if (n > 5 && !strncmp(text, "key<", 4) && text[n - 1] == '>') {
        aval->dtype = JX_KEY;
        aval->impl = jx_strings_add(&d->ctx->strings, text + 4, n - 5);
        return;
    }
    aval->dtype = jx_dtype_named(text, n);
    if (aval->dtype == JX_DT_NONE || aval->dtype == JX_KEY)
        jx_node_fail(&d->walk, at, "unknown dtype \"%.40s\"", text);
}

static jx_names read_axes(jx_doc *d, const jx_node *at)
{
    int n = jx_node_array(&d->walk, at);
    jx_names names = {n, jx_node_texts(&d->walk, at, n)};

    for (int i = 1; names.at && i < n; i++)
        if (strcmp(names.at[i - 1], names.at[i]) >= 0)
            jx_node_fail(&d->walk, at,
                         "expected axis names in order, each once");
    if (!names.at)
        names.count = 0;
    return names;
}

static const jx_value *spec_entry(jx_doc *d, const jx_node *at)
{
    jx_value v = {.tag = JX_V_NONE};

    if (jx_node_kind(at) == JX_JSON_ARRAY) {
        int n = jx_node_array(&d->walk, at);
        const jx_value **items =
            JX_NEW_ARRAY(d->ctx->arena, n, const jx_value *);
        for (int i = 0; items && i < n; i++) {
            jx_node item = jx_node_item(at, (size_t)i);
            jx_value name = {.tag = JX_V_TEXT,
                             .text = jx_node_text(&d->walk, &item)};
            items[i] = jx_value_add(&d->program->values, &name);
        }
        v = (jx_value){.tag = JX_V_TUPLE, .items = items, .count = n};
    } else if (jx_node_kind(at) != JX_JSON_NULL) {
        v = (jx_value){.tag = JX_V_TEXT, .text = jx_node_text(&d->walk, at)};
    }
    return jx_value_add(&d->program->values, &v);
}

const jx_value *jx_doc_spec(jx_doc *d, const jx_node *array)
{
    int n = jx_node_array(&d->walk, array);
    const jx_value **items = JX_NEW_ARRAY(d->ctx->arena, n, const jx_value *);

    for (int i = 0; items && i < n; i++) {
        jx_node item = jx_node_item(array, (size_t)i);
        items[i] = spec_entry(d, &item);
    }
    jx_value v = {.tag = JX_V_SPEC, .items = items, .count = items ? n : 0};
    return jx_value_add(&d->program->values, &v);
}

static void read_kind(jx_doc *d, const jx_node *at, jx_aval *aval)
{
    const char *kind = jx_node_text(&d->walk, at);

    if (!kind)
        return;
    if (!strcmp(kind, "token"))
        aval->kind = JX_AVAL_TOKEN;
    else if (!strcmp(kind, "ref"))
        aval->kind = JX_AVAL_REF;
    else if (!strcmp(kind, "future"))
        aval->kind = JX_AVAL_FUTURE;
    else {
        aval->kind = JX_AVAL_OTHER;
        aval->label = kind;
    }
}

/* Where the aval lies: mesh, spec, memory space; what a ref holds. */
static void read_place(jx_doc *d, const jx_node *at, int read, jx_aval *aval)
{
    jx_node mesh = jx_node_member(at, "mesh"), of = jx_node_member(at, "of");
    jx_node spec = jx_node_member(at, "spec"), ms = jx_node_member(at, "ms");

    if (mesh.there)
        aval->mesh =
            1 + jx_node_index(&d->walk, &mesh, d->program->nmeshes, "meshes");
    if (spec.there)
        aval->spec = jx_doc_spec(d, &spec);
    aval->memory_space = jx_node_text(&d->walk, &ms);
    if (of.there) {
        int index = jx_node_index(&d->walk, &of, read, "avals");
        aval->of = index < 0 ? NULL : d->avals[index];
    }
    if ((aval->kind == JX_AVAL_REF || aval->kind == JX_AVAL_FUTURE) != of.there)
        jx_node_fail(&d->walk, at,
                     "expected \"of\" in a ref or a future, and only there");
}

const char *jx_doc_unreduced_kind(jx_doc *d, const jx_node *at)
{
    jx_node member = jx_node_member(at, "unreduced_kind");
    const char *kind = jx_node_text(&d->walk, &member);

    if (kind && strcmp(kind, "sum") != 0 && strcmp(kind, "max") != 0 &&
        strcmp(kind, "min") != 0)
        jx_node_fail(&d->walk, &member, "expected \"sum\", \"max\" or \"min\"");
    return kind;
}

static const jx_aval *read_aval(jx_doc *d, const jx_node *at, int read)
{
    jx_aval aval = {.kind = JX_AVAL_ARRAY};

    if (!jx_node_object(&d->walk, at,
                        "k dt sh weak vma unreduced unreduced_kind reduced "
                        "mesh spec ms of"))
        return NULL;
    jx_node k = jx_node_member(at, "k"), dt = jx_node_member(at, "dt");
    jx_node sh = jx_node_member(at, "sh"), weak = jx_node_member(at, "weak");
    jx_node vma = jx_node_member(at, "vma");
    jx_node unreduced = jx_node_member(at, "unreduced");
    jx_node reduced = jx_node_member(at, "reduced");
    read_kind(d, &k, &aval);
    read_dtype(d, &dt, &aval);
    if (aval.kind == JX_AVAL_ARRAY && !dt.there)
        jx_node_fail(&d->walk, at, "expected a key \"dt\"");
    read_shape(d, &sh, &aval);
    aval.weak = jx_node_bool(&d->walk, &weak);
    aval.varying = read_axes(d, &vma);
    aval.unreduced = read_axes(d, &unreduced);
    aval.reduced = read_axes(d, &reduced);
    aval.unreduced_kind = jx_doc_unreduced_kind(d, at);
    read_place(d, at, read, &aval);
    return d->walk.failed ? NULL : jx_aval_add(&d->program->avals, &aval);
}

void jx_doc_avals(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "avals");
    int n = jx_node_array(&d->walk, &table);
    const jx_aval **avals = JX_NEW_ARRAY(d->ctx->arena, n, const jx_aval *);

    d->avals = avals;
    for (int i = 0; avals && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        avals[i] = read_aval(d, &item, i);
    }
    d->navals = avals ? n : 0;
}

const jx_aval *jx_doc_aval(jx_doc *d, const jx_node *at)
{
    int index = jx_node_index(&d->walk, at, d->navals, "avals");

    return index < 0 ? NULL : d->avals[index];
}

/* ---- constants */

/* The folder of the document, with its slash; "" for the current one. */
static const char *beside(jx_doc *d, const char *name)
{
    const char *path = d->walk.path, *slash = strrchr(path, '/');

    if (!slash)
        return name;
    return jx_arena_printf(d->ctx->arena, "%.*s%s", (int)(slash + 1 - path),
                           path, name);
}

static const jx_npz *open_npz(jx_doc *d, const jx_node *at)
{
    const char *name = d->program->npz_name;
    size_t size;
    char hex[65];

    if (!name) {
        jx_node_fail(&d->walk, at, "the document names no \"npz\" file");
        return NULL;
    }
    if (!strcmp(d->walk.path, "-")) {
        jx_node_fail(&d->walk, at,
                     "the constants lie in %s, which is not "
                     "looked for beside standard input",
                     name);
        return NULL;
    }
    const char *path = beside(d, name);
    const char *data = path ? jx_file_read(d->ctx, path, &size) : NULL;
    if (!data) {
        d->walk.failed = true;
        return NULL;
    }
    jx_sha256(data, size, hex);
    if (d->program->npz_sha256 && strcmp(hex, d->program->npz_sha256)) {
        d->walk.failed = true;
        jx_fail(d->ctx, JX_E_INPUT, path, NULL,
                "is not the file that the document was written with: its "
                "SHA-256 is %s, expected %s",
                hex, d->program->npz_sha256);
        return NULL;
    }
    const jx_npz *npz = jx_npz_read(d->ctx, path, data, size);
    d->walk.failed = d->walk.failed || !npz;
    return npz;
}

/* How many bytes the elements take; a key's depend on its implementation, and
 * 0 says that any multiple of 4 bytes per element will do. */
static bool expected_bytes(jx_doc *d, const jx_node *at, const jx_aval *aval,
                           int64_t *count, size_t *each)
{
    size_t all;

    *each = jx_dtype_of(aval->dtype)->bytes;
    if (!jx_aval_elements(aval, count) ||
        __builtin_mul_overflow((size_t)*count, *each, &all) ||
        all > SIZE_MAX / 2)
        return jx_node_fail(&d->walk, at,
                            "expected the shape of a constant to be numbers "
                            "whose product is a size in memory");
    return true;
}

static void check_size(jx_doc *d, const jx_node *at, const jx_aval *aval,
                       const jx_array *array)
{
    size_t each, need;
    int64_t count;

    if (!expected_bytes(d, at, aval, &count, &each))
        return;
    need = each * (array->splat ? 1 : (size_t)count);
    bool fits = aval->dtype == JX_KEY
                    ? (need ? array->bytes && array->bytes % need == 0
                            : array->bytes == 0)
                    : array->bytes == need;
    if (!fits)
        jx_node_fail(&d->walk, at, "expected %zu bytes, found %zu", need,
                     array->bytes);
}

static void read_base64(jx_doc *d, const jx_node *at, jx_array *to)
{
    size_t length;

    if (jx_node_kind(at) != JX_JSON_TEXT) {
        jx_node_fail(&d->walk, at, "expected base64 text");
        return;
    }
    const char *text = jx_json_text(at->json, &length);
    void *data = jx_arena_alloc(d->ctx->arena, length / 4 * 3);
    if (!data)
        return;
    if (!jx_base64_read(text, length, data, &to->bytes))
        jx_node_fail(&d->walk, at, "expected base64 (with padding)");
    to->data = data;
}

static void read_from_npz(jx_doc *d, const jx_node *at, jx_array *to)
{
    to->npz = jx_node_text(&d->walk, at);
    if (!d->walk.failed && !d->npz)
        d->npz = open_npz(d, at);
    if (d->walk.failed)
        return;
    const jx_npy *found = jx_npz_find(d->npz, to->npz);
    if (!found) {
        jx_node_fail(&d->walk, at, "%s has no array \"%.60s\"",
                     d->program->npz_name, to->npz);
        return;
    }
    to->bytes = found->bytes;
    to->data = found->data;
}

static const jx_array *read_array(jx_doc *d, const jx_node *at)
{
    jx_aval aval = {.kind = JX_AVAL_ARRAY};
    jx_array *array = JX_NEW(d->ctx->arena, jx_array);

    if (!array || !jx_node_object(&d->walk, at, "dt sh splat b64 npz"))
        return array;
    jx_node dt = jx_node_need(&d->walk, at, "dt");
    jx_node sh = jx_node_member(at, "sh");
    jx_node splat = jx_node_member(at, "splat");
    jx_node b64 = jx_node_member(at, "b64"), npz = jx_node_member(at, "npz");
    read_dtype(d, &dt, &aval);
    read_shape(d, &sh, &aval);
    if (splat.there + b64.there + npz.there != 1)
        jx_node_fail(&d->walk, at,
                     "expected one of \"splat\", \"b64\" and \"npz\"");
    if (d->walk.failed)
        return array;
    array->aval = jx_aval_add(&d->program->avals, &aval);
    array->splat = splat.there;
    if (npz.there)
        read_from_npz(d, &npz, array);
    else
        read_base64(d, splat.there ? &splat : &b64, array);
    if (array->aval && !d->walk.failed)
        check_size(d, at, &aval, array);
    return array;
}

static bool is_base_name(const char *name)
{
    return *name && !strchr(name, '/') && !strchr(name, '\\') &&
           strcmp(name, ".") && strcmp(name, "..");
}

static void read_npz_name(jx_doc *d, const jx_node *root)
{
    jx_node npz = jx_node_member(root, "npz");

    if (!npz.there || !jx_node_object(&d->walk, &npz, "name sha256"))
        return;
    jx_node name = jx_node_need(&d->walk, &npz, "name");
    jx_node sha256 = jx_node_need(&d->walk, &npz, "sha256");
    d->program->npz_name = jx_node_text(&d->walk, &name);
    d->program->npz_sha256 = jx_node_text(&d->walk, &sha256);
    if (d->program->npz_name && !is_base_name(d->program->npz_name))
        jx_node_fail(&d->walk, &name, "expected a file name without folders");
    const char *hex = d->program->npz_sha256;
    if (hex && (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64))
        jx_node_fail(&d->walk, &sha256,
                     "expected 64 lower-case hexadecimal digits");
}

void jx_doc_arrays(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "consts");
    int n = jx_node_array(&d->walk, &table);
    const jx_array **to = JX_NEW_ARRAY(d->ctx->arena, n, const jx_array *);

    read_npz_name(d, root);
    for (int i = 0; to && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        to[i] = read_array(d, &item);
    }
    d->narrays = d->program->narrays = to ? n : 0;
    d->arrays = d->program->arrays = to;
}
