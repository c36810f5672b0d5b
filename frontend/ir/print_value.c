/* print_value.c - values and literals as Python prints them. */
#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/element.h"
#include "frontend/ir/print.h"

#include <math.h>
#include <string.h>

static void put_real(double value, jx_buffer *to)
{
    if (isnan(value))
        jx_buffer_puts(to, "nan");
    else if (isinf(value))
        jx_buffer_puts(to, value < 0 ? "-inf" : "inf");
    else
        jx_json_put_real(to, value);
}

/* Parts of a complex number: "1" where a float would be "1.0". */
static void put_part(double value, jx_buffer *to)
{
    size_t before = to->length;

    put_real(value, to);
    if (to->length - before > 2 && !strcmp(to->text + to->length - 2, ".0"))
        jx_buffer_cut(to, to->length - 2);
}

static void put_complex(double real, double imag, jx_buffer *to)
{
    if (real == 0 && !signbit(real)) {
        put_part(imag, to);
        jx_buffer_putc(to, 'j');
        return;
    }
    jx_buffer_putc(to, '(');
    put_part(real, to);
    if (!signbit(imag) || isnan(imag))
        jx_buffer_putc(to, '+');
    put_part(imag, to);
    jx_buffer_puts(to, "j)");
}

/* ---- literals */

static void put_integer(const jx_literal *l, jx_buffer *to)
{
    uint64_t bits = jx_element_integer(l->aval->dtype, l->bits);

    if (jx_dtype_of(l->aval->dtype)->kind == JX_KIND_INT)
        jx_buffer_printf(to, "%lld", (long long)(int64_t)bits);
    else
        jx_buffer_printf(to, "%llu", (unsigned long long)bits);
}

static void put_element(const jx_literal *l, jx_buffer *to)
{
    jx_dtype dtype = l->aval->dtype, part = jx_dtype_real(dtype);

    switch (jx_dtype_of(dtype)->kind) {
    case JX_KIND_INT:
    case JX_KIND_UINT: put_integer(l, to); break;
    case JX_KIND_FLOAT:
        put_real(l->wide ? l->real : jx_element_real(dtype, l->bits), to);
        break;
    case JX_KIND_COMPLEX:
        put_complex(jx_element_real(part, l->bits),
                    jx_element_real(part, l->bits + jx_dtype_of(part)->bytes),
                    to);
        break;
    case JX_KIND_VOID: /* as numpy prints what has no bytes */
        jx_buffer_puts(to, "(b'',)");
        break;
    default: jx_buffer_puts(to, l->bits[0] ? "True" : "False");
    }
}

/* A sum is one operand only in parentheses: `b - 2` would be `b` and `- 2`.
 * JAX makes no such literals; readers of StableHLO do. */
static void put_size(const jx_dim *dim, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};
    bool sum = jx_dim_nterms(dim) > 1;

    jx_dim_print(dim, &text);
    sum |= text.length && jx_buffer_text(&text)[0] == '-';
    jx_buffer_printf(to, sum ? "(%s)" : "%s", jx_buffer_text(&text));
    to->failed |= !jx_buffer_ok(&text);
    jx_buffer_free(&text);
}

void jx_literal_print(const jx_literal *l, jx_buffer *to)
{
    if (l->dim)
        put_size(l->dim, to);
    else if (l->array)
        jx_buffer_puts(to, "[...]");
    else
        put_element(l, to);
}

/* ---- values */

/* Python's repr of text: single quotes unless only those occur inside. */
static void put_quoted(const char *text, jx_buffer *to)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

    jx_buffer_putc(to, quote);
    for (const char *c = text; *c; c++) {
        if (*c == quote || *c == '\\')
            jx_buffer_printf(to, "\\%c", *c);
        else if (*c == '\n')
            jx_buffer_puts(to, "\\n");
        else if (*c == '\r')
            jx_buffer_puts(to, "\\r");
        else if (*c == '\t')
            jx_buffer_puts(to, "\\t");
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            jx_buffer_printf(to, "\\x%02x", (unsigned char)*c);
        else
            jx_buffer_putc(to, *c);
    }
    jx_buffer_putc(to, quote);
}

static void put_items(const jx_program *p, const jx_value *v, const char *open,
                      const char *close, jx_buffer *to)
{
    jx_buffer_puts(to, open);
    for (int i = 0; i < v->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        jx_value_print(p, v->items[i], true, to);
    }
    jx_buffer_puts(to, close);
}

static void put_map(const jx_program *p, const jx_value *v, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    for (int i = 0; i + 1 < v->count; i += 2) {
        jx_buffer_puts(to, i ? ", " : "");
        jx_value_print(p, v->items[i], true, to);
        jx_buffer_puts(to, ": ");
        jx_value_print(p, v->items[i + 1], true, to);
    }
    jx_buffer_putc(to, '}');
}

/* JAX's str() of an exported function has no more than its name. */
static bool put_exported(const jx_value *v, jx_buffer *to)
{
    const jx_value *name =
        strcmp(v->text, "Exported") ? NULL : jx_value_field(v, "fun_name");

    if (!name || name->tag != JX_V_TEXT)
        return false;
    jx_utf8_printf(to, "Exported(fun_name=%s, ...)", name->text);
    return true;
}

/* An effect's str() is its class without that word. */
static bool put_effect(const jx_value *v, jx_buffer *to)
{
    size_t length = strlen(v->text), word = strlen("Effect");

    if (v->count || length <= word || strcmp(v->text + length - word, "Effect"))
        return false;
    jx_utf8_printf(to, "%.*s", (int)(length - word), v->text);
    return true;
}

static void put_record(const jx_program *p, const jx_value *v, jx_buffer *to)
{
    jx_utf8_printf(to, "%s(", v->text);
    for (int i = 0; i < v->count; i++) {
        jx_utf8_printf(to, "%s%s=", i ? ", " : "", v->keys[i]);
        jx_value_print(p, v->items[i], true, to);
    }
    jx_buffer_putc(to, ')');
}

/* Some classes print as their number, some as their bare name. */
static void put_enum(const jx_value *v, bool quoted, jx_buffer *to)
{
    static const struct {
        const char *text, *shown;
    } numbered[] = {
        {"FftType.FFT", "0"},
        {"FftType.IFFT", "1"},
        {"FftType.RFFT", "2"},
        {"FftType.IRFFT", "3"},
        {"RoundingMethod.AWAY_FROM_ZERO", "0"},
        {"RoundingMethod.TO_NEAREST_EVEN", "1"},
    };
    const char *dot = strchr(v->text, '.');
    bool bare = !strncmp(v->text, "RandomAlgorithm.", 16) ||
                !strncmp(v->text, "Precision.", 10) ||
                !strncmp(v->text, "DotAlgorithmPreset.", 19) ||
                !strncmp(v->text, "AxisType.", 9);

    for (size_t i = 0; !quoted && i < sizeof numbered / sizeof *numbered; i++)
        if (!strcmp(v->text, numbered[i].text)) {
            jx_buffer_puts(to, numbered[i].shown);
            return;
        }
    jx_utf8_show(bare && dot && !quoted ? dot + 1 : v->text, to);
}

static void put_mesh(const jx_program *p, int64_t index, jx_buffer *to)
{
    const jx_mesh *mesh = &p->meshes[index];

    jx_buffer_puts(to, mesh->abstract ? "AbstractMesh(" : "Mesh(");
    if (!mesh->naxes) {
        jx_buffer_puts(to, mesh->abstract ? "(), axis_types=())" : ")");
        return;
    }
    for (int i = 0; i < mesh->naxes; i++)
        jx_utf8_printf(to, "%s'%s': %lld", i ? ", " : "", mesh->axes[i],
                       (long long)mesh->sizes[i]);
    jx_buffer_puts(to, ", axis_types=(");
    for (int i = 0; i < mesh->ntypes; i++)
        jx_utf8_printf(to, "%s%s", i ? ", " : "", mesh->types[i]);
    jx_buffer_puts(to, mesh->ntypes == 1 ? ",)" : ")");
    if (mesh->device)
        jx_utf8_printf(to, ", %s", mesh->device);
    jx_buffer_putc(to, ')');
}

static void put_entry(const jx_program *p, const jx_value *entry, jx_buffer *to)
{
    if (entry->tag == JX_V_TEXT && !strcmp(entry->text, "?"))
        jx_buffer_puts(to, "UNCONSTRAINED");
    else
        jx_value_print(p, entry, true, to);
}

static void put_axes(const char *name, const jx_value *axes, bool *any,
                     jx_buffer *to)
{
    if (!axes)
        return;
    jx_buffer_printf(to, "%s%s={", *any ? ", " : "", name);
    for (int i = 0; i < axes->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        put_quoted(axes->items[i]->text, to);
    }
    jx_buffer_putc(to, '}');
    *any = true;
}

static void put_spec(const jx_program *p, const jx_value *v, jx_buffer *to)
{
    bool marks = v->unreduced || v->reduced, any = false;

    jx_buffer_puts(to, "P(");
    for (int i = 0; i < v->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        put_entry(p, v->items[i], to);
    }
    if (v->count == 1)
        jx_buffer_putc(to, ',');
    if (marks && v->count)
        jx_buffer_puts(to, v->count == 1 ? " " : ", ");
    put_axes("unreduced", v->unreduced, &any, to);
    put_axes("reduced", v->reduced, &any, to);
    if (v->text)
        jx_utf8_printf(to, ", unreduced_kind=%s", v->text);
    jx_buffer_putc(to, ')');
}

static void put_sharding(const jx_program *p, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "NamedSharding(mesh=");
    put_mesh(p, v->integer, to);
    jx_buffer_puts(to, ", spec=");
    put_spec(p, v->items[0], to);
    if (v->text)
        jx_utf8_printf(to, ", memory_kind=%s", v->text);
    jx_buffer_putc(to, ')');
}

/* An empty one has its braces only where JAX itself writes it. */
static void put_set(const jx_program *p, const jx_value *v, bool quoted,
                    jx_buffer *to)
{
    if (v->count)
        put_items(p, v, "frozenset({", "})", to);
    else
        jx_buffer_puts(to, quoted ? "frozenset()" : "frozenset({})");
}

/* The dtype of an array has its whole name here; on its own, without quotes, an
 * array is `float32[3]`. */
static void put_aval(const jx_aval *aval, bool quoted, jx_buffer *to)
{
    bool array = aval->kind == JX_AVAL_ARRAY;
    const jx_dtype_info *dtype = array ? jx_dtype_of(aval->dtype) : NULL;
    jx_buffer text = {.budget = to->budget};

    jx_aval_print(aval, &text);
    if (array)
        jx_buffer_puts(to, quoted ? "ShapedArray(" : aval->weak ? "~" : "");
    if (array && !aval->impl && text.length > strlen(dtype->short_name))
        jx_buffer_printf(to, "%s%s", dtype->name,
                         text.text + strlen(dtype->short_name));
    else
        jx_buffer_puts(to, jx_buffer_text(&text));
    jx_buffer_free(&text);
    if (array && quoted)
        jx_buffer_puts(to, aval->weak ? ", weak_type=True)" : ")");
}

/* A PRNG implementation is shown by its tag. */
static const char *tag_of(const char *impl)
{
    if (!strcmp(impl, "threefry2x32"))
        return "fry";
    return !strcmp(impl, "unsafe_rbg") ? "urbg" : impl;
}

/* Values whose text is one word. */
/* An object that can be called has no name, and is printed as an object. */
static void put_function(const char *name, jx_buffer *to)
{
    bool object = strstr(name, " at 0x") != NULL;

    jx_utf8_printf(to, object ? "%s" : "<function %s at 0xXXXXXXXXXXXX>", name);
}

static void put_plain(const jx_value *v, bool quoted, jx_buffer *to)
{
    switch (v->tag) {
    case JX_V_NONE: jx_buffer_puts(to, "None"); break;
    case JX_V_BOOL: jx_buffer_puts(to, v->boolean ? "True" : "False"); break;
    case JX_V_INT:
        jx_buffer_printf(to, quoted && v->text ? "np.%s(%lld)" : "%s%lld",
                         quoted && v->text ? v->text : "",
                         (long long)v->integer);
        break;
    case JX_V_UINT:
        jx_buffer_printf(to, "%llu", (unsigned long long)v->integer);
        break;
    case JX_V_FLOAT: put_real(v->real, to); break;
    case JX_V_COMPLEX: put_complex(v->real, v->imag, to); break;
    case JX_V_DIM: jx_dim_print(v->dim, to); break;
    case JX_V_UNSPECIFIED: jx_buffer_puts(to, "UnspecifiedValue"); break;
    case JX_V_FUNCTION:
    case JX_V_RULE:
    case JX_V_DEFINITION: /* has no text: nobody prints it */
        put_function(v->text ? v->text : "", to);
        break;
    case JX_V_DTYPE:
        if (v->dtype == JX_FLOAT0) /* a record of one field to numpy */
            jx_buffer_puts(to, quoted ? "dtype([('float0', 'V')])"
                                      : "[('float0', 'V')]");
        else
            jx_utf8_printf(to, quoted ? "dtype('%s')" : "%s", v->text);
        break;
    case JX_V_OPAQUE: jx_utf8_show(v->detail, to); break;
    case JX_V_CONST: jx_buffer_puts(to, "[...]"); break;
    case JX_V_IMPL: jx_utf8_show(tag_of(v->text), to); break;
    default: /* a name: of a primitive, of a tree */
        jx_utf8_show(v->text ? v->text : "", to);
    }
}

void jx_value_print(const jx_program *p, const jx_value *v, bool quoted,
                    jx_buffer *to)
{
    switch (v->tag) {
    case JX_V_TEXT:
        if (quoted)
            put_quoted(v->text, to);
        else
            jx_utf8_show(v->text, to);
        break;
    case JX_V_TUPLE:
        put_items(p, v, "(", v->count == 1 ? ",)" : ")", to);
        break;
    case JX_V_SET: put_set(p, v, quoted, to); break;
    case JX_V_MAP: put_map(p, v, to); break;
    case JX_V_SLICE: put_items(p, v, "slice(", ")", to); break;
    case JX_V_RECORD:
        if (v->boolean)
            jx_hi_print(p, v, to);
        else if (quoted || (!put_exported(v, to) && !put_effect(v, to)))
            put_record(p, v, to);
        break;
    case JX_V_SHOWN: jx_value_print(p, v->shown, quoted, to); break;
    case JX_V_ENUM: put_enum(v, quoted, to); break;
    case JX_V_MESH: put_mesh(p, v->integer, to); break;
    case JX_V_SPEC: put_spec(p, v, to); break;
    case JX_V_SHARDING: put_sharding(p, v, to); break;
    case JX_V_AVAL: put_aval(v->aval, quoted, to); break;
    case JX_V_JAXPR:
        jx_jaxpr_print(p, v->jaxpr, (jx_print_options){0}, to);
        break;
    default: put_plain(v, quoted, to);
    }
}
