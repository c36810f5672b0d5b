/* text_values.c - parameter values in the text of a jaxpr.
 *
 * JAX prints values with str(), so the grammar is Python's reprs, with bare
 * text on the outside.  What a parameter is, is known from its schema; what is
 * no value of that grammar is kept as text, up to where the next parameter
 * begins.  The functions here give NULL without a failure where the grammar
 * does not fit; jaxprs inside fail for good. */
#include "frontend/base/plain.h"
#include "frontend/read/text.h"
#include "frontend/read/text_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 1 << 16 };

typedef JX_VEC(const jx_value *) value_list;

const jx_value *jx_text_add(jx_text *t, const jx_value *like)
{
    return jx_value_add(&t->program->values, like);
}

const jx_value *jx_text_plain(jx_text *t, jx_value_tag tag, const char *text)
{
    jx_value v = {.tag = tag, .text = text};

    return jx_text_add(t, &v);
}

static bool comes(const jx_text *t, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(t->end - t->at) >= n && !memcmp(t->at, word, n);
}

static bool take(jx_text *t, const char *word)
{
    if (!comes(t, word))
        return false;
    t->at += strlen(word);
    return true;
}

static void skip_blanks(jx_text *t)
{
    while (t->at < t->end && strchr(" \n", *t->at))
        t->at++;
}

static const jx_value *read_value(jx_text *t);

static const jx_value *nested(jx_text *t)
{
    const jx_value *v = NULL;

    skip_blanks(t);
    if (t->depth >= JX_TEXT_DEPTH || t->failed)
        return NULL;
    t->depth++;
    v = read_value(t);
    t->depth--;
    return v;
}

/* ---- lists of values */

static const jx_value *from_list(jx_text *t, jx_value_tag tag,
                                 const value_list *list)
{
    jx_value v = {.tag = tag, .items = list->at, .count = (int)list->count};

    return jx_text_add(t, &v);
}

/* Values up to `close`, with commas between. */
static bool read_list(jx_text *t, const char *close, value_list *list)
{
    skip_blanks(t);
    while (!take(t, close)) {
        const jx_value *item = nested(t);
        if (!item || list->count >= MOST_ITEMS)
            return false;
        JX_PUSH(t->ctx->arena, list, item);
        skip_blanks(t);
        if (!take(t, ",") && !comes(t, close))
            return false;
        skip_blanks(t);
    }
    return true;
}

static const jx_value *read_tuple(jx_text *t, const char *close)
{
    value_list list = {0};

    t->at++;
    return read_list(t, close, &list) ? from_list(t, JX_V_TUPLE, &list) : NULL;
}

static const jx_value *read_map(jx_text *t)
{
    value_list list = {0};

    t->at++;
    skip_blanks(t);
    while (!take(t, "}")) {
        for (int i = 0; i < 2; i++) {
            const jx_value *item = nested(t);
            if (!item || list.count >= MOST_ITEMS)
                return NULL;
            JX_PUSH(t->ctx->arena, &list, item);
            if (i == 0 && !take(t, ":"))
                return NULL;
        }
        if (!take(t, ",") && !comes(t, "}"))
            return NULL;
        skip_blanks(t);
    }
    return from_list(t, JX_V_MAP, &list);
}

/* ---- text in quotes */

static char unescaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

static const char *read_quoted(jx_text *t)
{
    char quote = *t->at++;
    jx_buffer text = jx_ctx_text(t->ctx);

    while (t->at < t->end && *t->at != quote && *t->at != '\n') {
        if (*t->at == '\\' && t->at + 1 < t->end)
            t->at++, jx_buffer_putc(&text, unescaped(*t->at));
        else
            jx_buffer_putc(&text, *t->at);
        t->at++;
    }
    const char *kept = t->at < t->end && *t->at == quote
                           ? jx_text_intern(t, jx_buffer_text(&text),
                                            jx_buffer_text(&text) + text.length)
                           : NULL;
    jx_buffer_free(&text);
    t->at += kept != NULL;
    return kept;
}

/* ---- numbers and sizes */

static const jx_value *read_size(jx_text *t)
{
    size_t end = 0;
    const char *expected, *stop = t->at;
    int depth = 0;

    /* A size ends at a comma or bracket that is not its own. */
    for (; stop < t->end && *stop != '\n'; stop++) {
        if (depth == 0 && strchr(",)]}", *stop))
            break;
        depth += (*stop == '(') - (*stop == ')');
    }
    const jx_dim *dim =
        jx_dim_parse_prefix(t->program->dims, t->at, (size_t)(stop - t->at),
                            t->scope, &end, &expected);
    int64_t number;
    if (!dim)
        return NULL;
    t->at += end;
    jx_value v = {.tag = JX_V_DIM, .dim = dim};
    if (jx_dim_is_int(dim, &number))
        v = (jx_value){.tag = JX_V_INT, .integer = number};
    return jx_text_add(t, &v);
}

static const char *number_end(const jx_text *t)
{
    const char *c = t->at + (*t->at == '-');

    while (c < t->end &&
           (jx_is_digit(*c) || *c == '.' ||
            ((*c == 'e') && c > t->at && jx_is_digit(c[-1])) ||
            ((*c == '-' || *c == '+') && c > t->at && c[-1] == 'e')))
        c++;
    return c;
}

static const jx_value *read_number(jx_text *t)
{
    const char *end = number_end(t);
    char copy[64], *stop;
    size_t n = (size_t)(end - t->at);
    jx_value v = {.tag = JX_V_INT};

    /* "2*b + 1" is a size. */
    if (end < t->end && strchr("*^", *end))
        return read_size(t);
    if (end + 2 < t->end && *end == ' ' && strchr("+-", end[1]) &&
        end[2] == ' ')
        return read_size(t);
    if (n == 0 || n >= sizeof copy || (end < t->end && *end == 'j'))
        return NULL;
    memcpy(copy, t->at, n);
    copy[n] = '\0';
    errno = 0;
    if (strpbrk(copy, ".e")) {
        v.tag = JX_V_FLOAT;
        v.real = jx_strtod(copy, &stop);
    } else {
        v.integer = strtoll(copy, &stop, 10);
        if (errno == ERANGE && copy[0] != '-') {
            errno = 0;
            v.tag = JX_V_UINT;
            v.integer = (int64_t)strtoull(copy, &stop, 10);
        }
    }
    if (*stop || (errno && v.tag != JX_V_FLOAT))
        return NULL;
    t->at = end;
    return jx_text_add(t, &v);
}

/* ---- JAX's own classes */

/* The name of an axis, or names; None too where `entry`. */
static bool names_axes(const jx_value *v, bool entry)
{
    if (v->tag != JX_V_TUPLE)
        return v->tag == JX_V_TEXT || (entry && v->tag == JX_V_NONE);
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag != JX_V_TEXT)
            return false;
    return true;
}

/* `unreduced_kind=sum`; NULL if it is none. */
static const char *read_kind(jx_text *t)
{
    static const char *const kinds[] = {"sum", "max", "min"};

    t->at = memchr(t->at, '=', (size_t)(t->end - t->at));
    t->at++;
    for (int i = 0; i < 3; i++)
        if (take(t, kinds[i]))
            return jx_intern_text(t->ctx, kinds[i]);
    return NULL;
}

/* `P('x', None, unreduced={...}, unreduced_kind=sum)`, after the bracket. */
static const jx_value *read_spec(jx_text *t)
{
    value_list list = {0};
    jx_value v = {.tag = JX_V_SPEC};

    skip_blanks(t);
    while (!take(t, ")")) {
        const jx_value **mark = comes(t, "unreduced=") ? &v.unreduced
                                : comes(t, "reduced=") ? &v.reduced
                                                       : NULL;
        if (comes(t, "unreduced_kind=")) {
            v.text = read_kind(t);
            if (!v.text)
                return NULL;
        } else if (mark) {
            t->at = memchr(t->at, '=', (size_t)(t->end - t->at));
            t->at++;
            value_list axes = {0};
            if (!take(t, "{") || !read_list(t, "}", &axes))
                return NULL;
            *mark = from_list(t, JX_V_TUPLE, &axes);
            if (!*mark || !names_axes(*mark, false))
                return NULL;
        } else {
            const jx_value *item = take(t, "UNCONSTRAINED")
                                       ? jx_text_plain(t, JX_V_TEXT, "?")
                                       : nested(t);
            if (!item || !names_axes(item, true))
                return NULL;
            JX_PUSH(t->ctx->arena, &list, item);
        }
        if (!take(t, ",") && !comes(t, ")"))
            return NULL;
        skip_blanks(t);
    }
    v.items = list.at;
    v.count = (int)list.count;
    return jx_text_add(t, &v);
}

static const jx_value *add_mesh(jx_text *t, const jx_mesh *mesh)
{
    jx_value v = {.tag = JX_V_MESH};

    for (size_t i = 0; i < t->meshes.count; i++, v.integer++)
        if (jx_mesh_same(&t->meshes.at[i], mesh))
            return jx_text_add(t, &v);
    JX_PUSH(t->ctx->arena, &t->meshes, *mesh);
    return jx_text_add(t, &v);
}

/* `axis_types=(Auto, Explicit))` */
static bool read_axis_types(jx_text *t, jx_mesh *mesh)
{
    JX_VEC(const char *) types = {0};

    if (!take(t, "axis_types=("))
        return false;
    while (!take(t, ")")) {
        const char *at = t->at;
        while (t->at < t->end && jx_is_alnum(*t->at))
            t->at++;
        if (at == t->at)
            return false;
        const char *type = jx_text_intern(t, at, t->at);
        JX_PUSH(t->ctx->arena, &types, type);
        take(t, ",");
        skip_blanks(t);
    }
    take(t, ", ");
    mesh->ntypes = (int)types.count;
    mesh->types = types.at;
    return true;
}

/* `device_kind=cpu, num_cores=None, platform=cpu`: what there is to say of the
 * devices of an abstract mesh, up to its bracket. */
static const char *read_devices(jx_text *t)
{
    const char *at = t->at;

    while (t->at < t->end && *t->at != ')' && *t->at != '\n')
        t->at++;
    return jx_text_intern(t, at, t->at);
}

/* `Mesh('x': 4, axis_types=(Auto,))`, after the bracket. */
static const jx_value *read_mesh(jx_text *t, bool abstract)
{
    JX_VEC(const char *) names = {0};
    JX_VEC(int64_t) sizes = {0};
    jx_mesh mesh = {.abstract = abstract};

    take(t, "()");
    take(t, ", ");
    while (!take(t, ")")) {
        if (comes(t, "axis_types")) {
            if (!read_axis_types(t, &mesh))
                return NULL;
            continue;
        }
        if (comes(t, "device_kind=")) {
            mesh.device = read_devices(t);
            continue;
        }
        if (t->at >= t->end || *t->at != '\'')
            return NULL;
        const char *name = read_quoted(t);
        if (!name || !take(t, ": "))
            return NULL;
        const jx_value *size = read_number(t);
        if (!size || size->tag != JX_V_INT || size->integer < 0)
            return NULL;
        JX_PUSH(t->ctx->arena, &names, name);
        JX_PUSH(t->ctx->arena, &sizes, size->integer);
        take(t, ", ");
    }
    mesh.naxes = (int)names.count;
    mesh.axes = names.at;
    mesh.sizes = sizes.at;
    return jx_arena_failed(t->ctx->arena) ? NULL : add_mesh(t, &mesh);
}

/* `NamedSharding(mesh=Mesh(...), spec=P(...), memory_kind=device)` */
static const jx_value *read_sharding(jx_text *t)
{
    jx_value v = {.tag = JX_V_SHARDING};
    const jx_value *mesh, *spec;

    if (!take(t, "mesh=") || !(mesh = nested(t)) || mesh->tag != JX_V_MESH ||
        !take(t, ", spec=") || !(spec = nested(t)) || spec->tag != JX_V_SPEC)
        return NULL;
    if (take(t, ", memory_kind=")) {
        const char *at = t->at;
        while (t->at < t->end && (jx_is_alnum(*t->at) || *t->at == '_'))
            t->at++;
        v.text = jx_text_intern(t, at, t->at);
    }
    v.integer = mesh->integer;
    v.items = &spec;
    v.count = 1;
    return take(t, ")") ? jx_text_add(t, &v) : NULL;
}

static const jx_value *read_set(jx_text *t)
{
    value_list list = {0};

    if (take(t, "{") && !read_list(t, "}", &list))
        return NULL;
    return take(t, ")") ? from_list(t, JX_V_SET, &list) : NULL;
}

/* `<function f.<locals>.g at 0xXXXX>` */
static const jx_value *read_function(jx_text *t)
{
    for (const char *c = t->at; c < t->end && *c != '\n'; c++) {
        if (t->end - c < 6 || memcmp(c, " at 0x", 6))
            continue;
        const char *name = jx_text_intern(t, t->at, c);
        for (c += 6; c < t->end && jx_is_alnum(*c); c++)
            ;
        if (c >= t->end || *c != '>')
            return NULL;
        t->at = c + 1;
        return jx_text_plain(t, JX_V_FUNCTION, name);
    }
    return NULL;
}

/* Up to the bracket that closes the one just read. */
static const char *balanced(const jx_text *t)
{
    int depth = 1;

    for (const char *c = t->at; c < t->end; c++) {
        depth += (strchr("([{", *c) && *c) - (strchr(")]}", *c) && *c);
        if (!depth)
            return c;
    }
    return NULL;
}

static const jx_value *read_tree(jx_text *t, const char *at)
{
    const char *end = balanced(t);

    if (!end)
        return NULL;
    t->at = end + 1;
    return jx_text_plain(t, JX_V_TREE, jx_text_intern(t, at, t->at));
}

/* `Name(field=value, ...)`, after the bracket. */
static const jx_value *read_record(jx_text *t, const char *name)
{
    value_list list = {0};
    JX_VEC(const char *) keys = {0};

    skip_blanks(t);
    while (!take(t, ")")) {
        const char *at = t->at;
        while (t->at < t->end && (jx_is_alnum(*t->at) || *t->at == '_'))
            t->at++;
        if (at == t->at || t->at >= t->end || *t->at != '=')
            return NULL;
        const char *key = jx_text_intern(t, at, t->at++);
        const jx_value *value = nested(t);
        if (!value || list.count >= MOST_ITEMS)
            return NULL;
        JX_PUSH(t->ctx->arena, &keys, key);
        JX_PUSH(t->ctx->arena, &list, value);
        if (!take(t, ",") && !comes(t, ")"))
            return NULL;
        skip_blanks(t);
    }
    jx_value v = {.tag = JX_V_RECORD,
                  .text = name,
                  .items = list.at,
                  .keys = keys.at,
                  .count = (int)list.count};
    return jx_text_add(t, &v);
}

/* `np.int64(1)`, after the bracket. */
static const jx_value *read_numpy(jx_text *t, const char *name)
{
    const jx_value *number = t->at < t->end ? read_number(t) : NULL;

    if (!number || number->tag != JX_V_INT || !take(t, ")"))
        return NULL;
    jx_value v = *number;
    v.text = name;
    return jx_text_add(t, &v);
}

/* How numpy prints float0: as a record of one field. */
static const char float0_text[] = "[('float0', 'V')]";

static const jx_value *dtype_value(jx_text *t, const char *name)
{
    jx_value v = {.tag = JX_V_DTYPE,
                  .text = name,
                  .dtype = jx_dtype_named(name, strlen(name))};

    return jx_text_add(t, &v);
}

/* `dtype('float32')`, after the bracket. */
static const jx_value *read_dtype(jx_text *t)
{
    const char *at = t->at, *name;

    if (take(t, float0_text))
        name = "float0";
    else if (t->at < t->end && *t->at == '\'')
        name = read_quoted(t);
    else {
        while (t->at < t->end && jx_is_alnum(*t->at))
            t->at++;
        name = jx_text_intern(t, at, t->at);
    }
    return name && take(t, ")") ? dtype_value(t, name) : NULL;
}

/* `ShapedArray(float32[3], weak_type=True)`, after the bracket. */
static const jx_value *read_array_type(jx_text *t)
{
    const char *end = t->at;

    while (end < t->end && (jx_is_alnum(*end) || *end == '_'))
        end++;
    if (jx_dtype_named(t->at, (size_t)(end - t->at)) == JX_DT_NONE)
        return NULL;
    const jx_aval *read = jx_text_aval(t);
    if (!read)
        return NULL;
    jx_aval aval = *read;
    aval.weak = take(t, ", weak_type=True");
    jx_value v = {.tag = JX_V_AVAL,
                  .aval = jx_aval_add(&t->program->avals, &aval)};
    return take(t, ")") ? jx_text_add(t, &v) : NULL;
}

static bool is_size_function(const char *name)
{
    static const char *const names[] = {"mod", "floordiv", "max", "min"};

    for (size_t i = 0; i < 4; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* A word and a bracket. */
static const jx_value *read_call(jx_text *t, const char *word, const char *at)
{
    if (!strcmp(word, "P") || !strcmp(word, "PartitionSpec"))
        return read_spec(t);
    if (!strcmp(word, "Mesh") || !strcmp(word, "AbstractMesh"))
        return read_mesh(t, *word == 'A');
    if (!strcmp(word, "NamedSharding"))
        return read_sharding(t);
    if (!strcmp(word, "frozenset"))
        return read_set(t);
    if (!strcmp(word, "ShapedArray"))
        return read_array_type(t);
    if (!strcmp(word, "dtype"))
        return read_dtype(t);
    if (!strncmp(word, "np.", 3))
        return read_numpy(t, jx_text_intern(t, word + 3, word + strlen(word)));
    if (!strcmp(word, "PyTreeDef"))
        return read_tree(t, at);
    if (!strcmp(word, "slice")) {
        value_list list = {0};
        return read_list(t, ")", &list) && list.count == 3
                   ? from_list(t, JX_V_SLICE, &list)
                   : NULL;
    }
    return read_record(t, word);
}

/* `name=`, after white space. */
static bool begins_param(const jx_text *t, const char *c)
{
    while (c < t->end && strchr(" \n", *c))
        c++;
    const char *at = c;

    while (c < t->end && (jx_is_alnum(*c) || *c == '_'))
        c++;
    return c > at && c + 1 < t->end && *c == '=' && c[1] != '=';
}

static const jx_value *read_word(jx_text *t)
{
    const char *at = t->at;

    while (t->at < t->end && (jx_is_alnum(*t->at) || strchr("_.", *t->at)) &&
           *t->at)
        t->at++;
    const char *word = jx_text_intern(t, at, t->at);
    if (!strcmp(word, "None"))
        return jx_text_plain(t, JX_V_NONE, NULL);
    if (!strcmp(word, "True") || !strcmp(word, "False")) {
        jx_value v = {.tag = JX_V_BOOL, .boolean = *word == 'T'};
        return jx_text_add(t, &v);
    }
    if (!strcmp(word, "UnspecifiedValue"))
        return jx_text_plain(t, JX_V_UNSPECIFIED, NULL);
    if (!strcmp(word, "inf") || !strcmp(word, "nan")) {
        jx_value v = {.tag = JX_V_FLOAT, .real = jx_strtod(word, NULL)};
        return jx_text_add(t, &v);
    }
    if (t->at < t->end && *t->at == '(' && !is_size_function(word)) {
        t->at++;
        return read_call(t, word, at);
    }
    if (t->at < t->end && *t->at == '[' && jx_text_is_hi(word) &&
        begins_param(t, t->at + 1)) {
        t->at++;
        return jx_text_hi(t, word);
    }
    if (strchr(word, '.') && jx_is_upper(*word))
        return jx_text_plain(t, JX_V_ENUM, word);
    t->at = at;
    return read_size(t);
}

static bool begins_program(const jx_text *t)
{
    return (comes(t, "{ lambda") || comes(t, "let ")) &&
           jx_is_text(t->at, (size_t)(t->end - t->at));
}

static const jx_value *read_value(jx_text *t)
{
    if (t->at >= t->end)
        return NULL;
    if (begins_program(t)) {
        const jx_jaxpr *jaxpr = jx_text_shown(t);
        return jx_text_closed(t, jaxpr, false);
    }
    if (*t->at == '(')
        return read_tuple(t, ")");
    if (take(t, float0_text))
        return dtype_value(t, "float0");
    if (*t->at == '[')
        return read_tuple(t, "]");
    if (*t->at == '{')
        return read_map(t);
    if (*t->at == '\'' || *t->at == '"') {
        const char *text = read_quoted(t);
        return text ? jx_text_plain(t, JX_V_TEXT, text) : NULL;
    }
    if (take(t, "<function "))
        return read_function(t);
    if (comes(t, "-inf")) {
        jx_value v = {.tag = JX_V_FLOAT, .real = -__builtin_inf()};
        t->at += 4;
        return jx_text_add(t, &v);
    }
    if (comes(t, "- ")) /* "- b + 3" */
        return read_size(t);
    if (jx_is_digit(*t->at) || *t->at == '-')
        return read_number(t);
    if (jx_is_alpha(*t->at) || *t->at == '_')
        return read_word(t);
    return NULL;
}

/* ---- a parameter's value as a whole */

/* Where plain text ends: at the bracket that closes the parameters, or before
 * white space and `name=`. */
static const char *text_end(const jx_text *t)
{
    int depth = 0;

    for (const char *c = t->at; c < t->end; c++) {
        if (depth == 0 && (*c == ' ' || *c == '\n')) {
            const char *next = c;
            while (next < t->end && (*next == ' ' || *next == '\n'))
                next++;
            if (begins_param(t, next) || (next < t->end && *next == ']'))
                return c;
        }
        if (depth == 0 && *c == ']')
            return c;
        if (*c && strchr("([{", *c))
            depth++;
        else if (*c && strchr(")]}", *c))
            depth--;
    }
    return NULL;
}

static const jx_value *read_plain(jx_text *t, jx_value_tag tag)
{
    const char *at = t->at, *end = text_end(t);

    if (!end) {
        jx_text_fail(t, at, "expected ']' after the parameters");
        return NULL;
    }
    t->at = end;
    return jx_text_plain(t, tag, jx_text_intern(t, at, end));
}

/* `ft_in` and `ft_out` of a scan, as text. */
static const jx_value *read_flat_tree(jx_text *t)
{
    int64_t none;
    int count;
    const char *at = t->at;
    const char *end = jx_text_tree(t, at, t->end, 0, &none, &count);

    if (!end)
        return read_plain(t, JX_V_TREE);
    t->at = end;
    return jx_text_plain(t, JX_V_TREE, jx_text_intern(t, at, end));
}

/* An enum that JAX prints as its number, or without its class. */
static const jx_value *named_enum(jx_text *t, const jx_value *v,
                                  const char *class, size_t count,
                                  const char *const *names)
{
    size_t index = v->tag == JX_V_INT ? (size_t)v->integer : count;

    if (v->tag != JX_V_INT && v->tag != JX_V_TEXT)
        return v;
    if (v->tag == JX_V_INT && index >= count)
        return v;
    const char *name = v->tag == JX_V_INT ? names[index] : v->text;
    const char *full = jx_arena_printf(t->ctx->arena, "%s.%s", class, name);
    return full ? jx_text_plain(t, JX_V_ENUM, jx_intern_text(t->ctx, full))
                : NULL;
}

static const jx_value *as_impl(jx_text *t, const jx_value *v)
{
    const char *name = !strcmp(v->text, "fry")    ? "threefry2x32"
                       : !strcmp(v->text, "urbg") ? "unsafe_rbg"
                                                  : v->text;

    return jx_text_plain(t, JX_V_IMPL, jx_intern_text(t->ctx, name));
}

static const jx_value *as_dtype(jx_text *t, const jx_value *v)
{
    jx_value dtype = {.tag = JX_V_DTYPE, .text = v->text};

    dtype.dtype = !strncmp(v->text, "key<", 4)
                      ? JX_KEY
                      : jx_dtype_named(v->text, strlen(v->text));
    return dtype.dtype == JX_DT_NONE ? v : jx_text_add(t, &dtype);
}

/* What plain text means for a parameter of this kind. */
static const jx_value *as_kind(jx_text *t, const char *kind, const char *name,
                               const jx_value *v)
{
    static const char *const ffts[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    static const char *const roundings[] = {"AWAY_FROM_ZERO",
                                            "TO_NEAREST_EVEN"};

    if (!strcmp(kind, "fft_kind"))
        return named_enum(t, v, "FftType", 4, ffts);
    if (!strcmp(kind, "rounding"))
        return named_enum(t, v, "RoundingMethod", 2, roundings);
    if (v->tag != JX_V_TEXT)
        return v;
    if (!strcmp(kind, "algorithm"))
        return named_enum(t, v, "RandomAlgorithm", 0, NULL);
    if (!strcmp(kind, "prim"))
        return jx_text_plain(t, JX_V_PRIM, v->text);
    if (!strcmp(kind, "impl"))
        return as_impl(t, v);
    /* One for each operand is a tuple, so a word alone is an algorithm's. */
    if (!strcmp(name, "precision"))
        return named_enum(t, v,
                          strncmp(v->text, "HIGH", 4) != 0
                              ? "DotAlgorithmPreset"
                              : "Precision",
                          0, NULL);
    if (!strcmp(kind, "text") || !strcmp(kind, "texts"))
        return v;
    return as_dtype(t, v);
}

/* `( J J )`: jaxprs in full or by name, without commas. */
static const jx_value *read_jaxprs(jx_text *t)
{
    value_list list = {0};

    t->at++;
    while (!t->failed && !jx_text_take(t, ")")) {
        const char *at = t->at;
        const jx_jaxpr *jaxpr;
        if (comes(t, "{ lambda")) {
            jaxpr = jx_text_jaxpr(t);
        } else {
            while (t->at < t->end && !strchr(" \n)", *t->at))
                t->at++;
            jaxpr = jx_text_hoisted(t, jx_text_intern(t, at, t->at));
            if (!jaxpr)
                jx_text_fail(t, at, "expected jaxprs, and ')'");
        }
        const jx_value *item = jx_text_closed(t, jaxpr, false);
        if (item)
            JX_PUSH(t->ctx->arena, &list, item);
    }
    return t->failed ? NULL : from_list(t, JX_V_TUPLE, &list);
}

/* `( J`: a tuple of nothing but jaxprs, as a class may have one. */
static bool begins_jaxprs(const jx_text *t)
{
    const char *at = t->at + 1, *end;
    size_t n;

    while (at < t->end && strchr(" \n", *at))
        at++;
    for (end = at; end < t->end && !strchr(" \n,()", *end);)
        end++;
    n = (size_t)(end - at);
    if ((size_t)(t->end - at) >= 8 && !memcmp(at, "{ lambda", 8))
        return true;
    for (size_t i = t->visible; n && i < t->hoisted.count; i++)
        if (strlen(t->hoisted.at[i].name) == n &&
            !memcmp(t->hoisted.at[i].name, at, n))
            return *end != ',';
    return false;
}

static bool is_open(const jx_prim *prim, const char *name)
{
    return !strcmp(name, "update_jaxpr") || prim->id == JX_PRIM_remat2 ||
           prim->id == JX_PRIM_checkpoint || !strcmp(prim->name, "shard_map");
}

static bool is_hi(const jx_prim *prim)
{
    return prim->id == JX_PRIM_unknown && jx_text_is_hi(prim->name);
}

/* Of an op of StableHLO: what it does to each element, or to two. */
static bool is_computation(const jx_prim *prim, const char *name)
{
    return !strncmp(prim->name, "stablehlo.", 10) &&
           (strstr(name, "computation") || !strcmp(name, "comparator") ||
            !strcmp(name, "select") || !strcmp(name, "scatter"));
}

/* JAX's own parameters say that they are one, or their schema does; those of a
 * class need not. */
static bool may_be_jaxpr(const jx_prim *prim, const char *name)
{
    const char *kind = jx_params_kind(prim->id, name);

    return strstr(name, "jaxpr") || (kind && strstr(kind, "jaxpr")) ||
           is_computation(prim, name) || (is_hi(prim) && strcmp(name, "name"));
}

/* A jaxpr in full, or the name of a hoisted one; NULL if it is neither. */
static const jx_value *read_jaxpr(jx_text *t, const jx_prim *prim,
                                  const char *name)
{
    const char *at = t->at, *end;

    if (comes(t, "{ lambda"))
        return jx_text_closed(t, jx_text_jaxpr(t), is_open(prim, name));
    end = text_end(t);
    if (!end || !may_be_jaxpr(prim, name))
        return NULL;
    const jx_jaxpr *found = jx_text_hoisted(t, jx_text_intern(t, at, end));
    if (!found)
        return NULL;
    t->at = end;
    return jx_text_closed(t, found, is_open(prim, name));
}

static bool is_bare(const jx_value *v)
{
    return v->tag == JX_V_DIM;
}

/* Nothing but the end of the value comes next. */
static bool at_end(const jx_text *t)
{
    return text_end(t) == t->at;
}

/* `float32[3]`, on its own. */
static const jx_value *read_type(jx_text *t)
{
    bool weak = take(t, "~");
    const jx_aval *read = jx_text_aval(t);

    if (!read)
        return NULL;
    jx_aval aval = *read;
    aval.weak = weak;
    jx_value v = {.tag = JX_V_AVAL,
                  .aval = jx_aval_add(&t->program->avals, &aval)};
    return jx_text_add(t, &v);
}

const jx_value *jx_text_value(jx_text *t, const jx_prim *prim, const char *name)
{
    const char *given = jx_params_kind(prim->id, name), *kind = "";
    const jx_value *v;

    jx_text_space(t);
    const char *at = t->at;
    if (given)
        kind = strncmp(given, "opt_", 4) ? given : given + 4;
    if (t->at < t->end && *t->at == '(' &&
        (!strcmp(kind, "jaxprs") || (is_hi(prim) && begins_jaxprs(t))))
        return read_jaxprs(t);
    if (prim->id == JX_PRIM_scan && !strncmp(name, "ft_", 3))
        return read_flat_tree(t);
    if (prim->id == JX_PRIM_empty_ref && !strcmp(name, "ty"))
        return read_type(t);
    v = read_jaxpr(t, prim, name);
    if (v || t->failed)
        return v;
    if (strcmp(kind, "text") && strcmp(name, "name")) {
        v = nested(t);
        if (t->failed)
            return NULL;
        /* A lone word is a size only where one is expected. */
        if (v && at_end(t) && !(is_bare(v) && strcmp(kind, "dim")))
            return as_kind(t, kind, name, v);
        t->at = at;
    }
    v = read_plain(t, JX_V_TEXT);
    return v ? as_kind(t, kind, name, v) : NULL;
}
