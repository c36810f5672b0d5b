/* document_literals.c - scalars that stand as operands.
 *
 * A literal becomes the bytes of its element as they lie in memory, whatever
 * way the document spells it. */
#include "frontend/ir/element.h"
#include "frontend/read/document_parts.h"

#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* "0x7e00" for 2 bytes; `to` gets them little endian. */
bool jx_doc_hex(jx_doc *d, const jx_node *at, int bytes, void *to)
{
    const char *text = jx_node_text(&d->walk, at);
    unsigned char *out = to;

    if (d->walk.failed || !text)
        return false;
    bool ok = strlen(text) == 2 + 2 * (size_t)bytes && text[0] == '0' &&
              text[1] == 'x';
    for (int i = 0; ok && i < bytes; i++) {
        int high = hex_digit(text[2 + 2 * i]), low = hex_digit(text[3 + 2 * i]);
        ok = high >= 0 && low >= 0;
        if (ok)
            out[bytes - 1 - i] = (unsigned char)(high << 4 | low);
    }
    return ok || jx_node_fail(&d->walk, at,
                              "expected a bit pattern: 0x and %d digits of "
                              "0-9a-f",
                              2 * bytes);
}

static bool read_integer(jx_doc *d, const jx_node *at, jx_dtype dtype,
                         unsigned char *to)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    bool is_signed = info->kind == JX_KIND_INT;
    size_t length;
    uint64_t value;

    if (dtype == JX_U64 && jx_node_kind(at) == JX_JSON_TEXT) {
        const char *text = jx_json_text(at->json, &length);
        value = 0;
        for (size_t i = 0; i < length; i++)
            if (text[i] < '0' || text[i] > '9' ||
                __builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, (uint64_t)(text[i] - '0'),
                                       &value))
                return jx_node_fail(&d->walk, at,
                                    "expected an integer of 64 bits");
    } else {
        int64_t high = info->bits == 64
                           ? INT64_MAX
                           : ((int64_t)1 << (info->bits - is_signed)) - 1;
        value = (uint64_t)jx_node_int(&d->walk, at, is_signed ? -high - 1 : 0,
                                      high);
    }
    return jx_element_from_integer(dtype, value, to) && !d->walk.failed;
}

/* A Python float may be wider than the literal's dtype: JAX keeps it. */
static bool read_float(jx_doc *d, const jx_node *at, jx_dtype dtype,
                       jx_literal *to)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (jx_node_kind(at) == JX_JSON_TEXT)
        return jx_doc_hex(d, at, (int)info->bytes, to->bits);
    if (jx_node_kind(at) != JX_JSON_REAL && jx_node_kind(at) != JX_JSON_INT)
        return jx_node_fail(&d->walk, at, "expected a number or a bit pattern");
    double value = jx_json_real(at->json);
    if (dtype != JX_F32 && dtype != JX_F64)
        return jx_node_fail(&d->walk, at, "expected the bit pattern of a %s",
                            info->short_name);
    jx_element_from_real(dtype, value, to->bits);
    to->wide = jx_element_real(dtype, to->bits) != value;
    to->real = value;
    return true;
}

static bool read_complex(jx_doc *d, const jx_node *at, jx_dtype dtype,
                         unsigned char *to)
{
    int half = (int)jx_dtype_of(dtype)->bytes / 2;

    if (!jx_node_tuple(&d->walk, at, 2))
        return false;
    jx_node real = jx_node_item(at, 0), imag = jx_node_item(at, 1);
    return jx_doc_hex(d, &real, half, to) &&
           jx_doc_hex(d, &imag, half, to + half);
}

static bool read_element(jx_doc *d, const jx_node *at, jx_literal *literal)
{
    const jx_aval *aval = literal->aval;
    unsigned char *to = literal->bits;

    if (aval->rank)
        return jx_node_fail(&d->walk, at,
                            "expected a scalar aval for a literal value");
    switch (jx_dtype_of(aval->dtype)->kind) {
    case JX_KIND_BOOL:
    case JX_KIND_VOID:
        to[0] = jx_node_bool(&d->walk, at);
        return !d->walk.failed;
    case JX_KIND_INT:
    case JX_KIND_UINT: return read_integer(d, at, aval->dtype, to);
    case JX_KIND_FLOAT: return read_float(d, at, aval->dtype, literal);
    case JX_KIND_COMPLEX: return read_complex(d, at, aval->dtype, to);
    case JX_KIND_NONE:
    case JX_KIND_KEY: break;
    }
    return jx_node_fail(&d->walk, at, "no literal of this dtype is known");
}

/* {"a": aval} and one of "v", "dim" (with "scope"), "c". */
const jx_literal *jx_doc_literal(jx_doc *d, const jx_node *at)
{
    jx_literal *to = JX_NEW(d->ctx->arena, jx_literal);

    if (!to || !jx_node_object(&d->walk, at, "a v dim scope c"))
        return NULL;
    jx_node a = jx_node_need(&d->walk, at, "a");
    jx_node v = jx_node_member(at, "v"), dim = jx_node_member(at, "dim");
    jx_node c = jx_node_member(at, "c");
    to->aval = jx_doc_aval(d, &a);
    if (v.there + dim.there + c.there != 1)
        jx_node_fail(&d->walk, at, "expected one of \"v\", \"dim\" and \"c\"");
    if (d->walk.failed)
        return NULL;
    if (v.there) {
        read_element(d, &v, to);
    } else if (dim.there) {
        to->dim = jx_doc_dim_text(d, &dim, jx_doc_scope(d, at));
    } else {
        int index = jx_node_index(&d->walk, &c, d->narrays, "consts");
        to->array = index < 0 ? NULL : d->arrays[index];
    }
    return to;
}
