/* ffi_frame.c - attributes and elements as handlers of the FFI know them. */
#include "hosts/pjrt/ffi_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- dtypes */

static const struct {
    const char *name;
    XLA_FFI_DataType dtype;
    int packed; /* bits of an element, where a byte holds several */
} dtypes[] = {
    {"bool", XLA_FFI_DataType_PRED, 0},
    {"i2", XLA_FFI_DataType_S2, 2},
    {"i4", XLA_FFI_DataType_S4, 4},
    {"i8", XLA_FFI_DataType_S8, 0},
    {"i16", XLA_FFI_DataType_S16, 0},
    {"i32", XLA_FFI_DataType_S32, 0},
    {"i64", XLA_FFI_DataType_S64, 0},
    {"u2", XLA_FFI_DataType_U2, 2},
    {"u4", XLA_FFI_DataType_U4, 4},
    {"u8", XLA_FFI_DataType_U8, 0},
    {"u16", XLA_FFI_DataType_U16, 0},
    {"u32", XLA_FFI_DataType_U32, 0},
    {"u64", XLA_FFI_DataType_U64, 0},
    {"f4_e2m1fn", XLA_FFI_DataType_F4E2M1FN, 4},
    {"f8_e3m4", XLA_FFI_DataType_F8E3M4, 0},
    {"f8_e4m3", XLA_FFI_DataType_F8E4M3, 0},
    {"f8_e4m3b11fnuz", XLA_FFI_DataType_F8E4M3B11FNUZ, 0},
    {"f8_e4m3fn", XLA_FFI_DataType_F8E4M3FN, 0},
    {"f8_e4m3fnuz", XLA_FFI_DataType_F8E4M3FNUZ, 0},
    {"f8_e5m2", XLA_FFI_DataType_F8E5M2, 0},
    {"f8_e5m2fnuz", XLA_FFI_DataType_F8E5M2FNUZ, 0},
    {"f8_e8m0fnu", XLA_FFI_DataType_F8E8M0FNU, 0},
    {"bf16", XLA_FFI_DataType_BF16, 0},
    {"f16", XLA_FFI_DataType_F16, 0},
    {"f32", XLA_FFI_DataType_F32, 0},
    {"f64", XLA_FFI_DataType_F64, 0},
    {"c64", XLA_FFI_DataType_C64, 0},
    {"c128", XLA_FFI_DataType_C128, 0},
    {"token", XLA_FFI_DataType_TOKEN, 0},
};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes };

XLA_FFI_DataType jx_ffi_dtype(const char *dtype)
{
    for (int i = 0; i < NDTYPES; i++)
        if (!strcmp(dtypes[i].name, dtype))
            return dtypes[i].dtype;
    return XLA_FFI_DataType_INVALID;
}

int jx_ffi_packed_bits(XLA_FFI_DataType dtype)
{
    for (int i = 0; i < NDTYPES; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].packed;
    return 0;
}

/* The first element of a byte is in its lowest bits. */
void jx_ffi_pack(int bits, int64_t count, const void *from, void *to)
{
    const unsigned char *in = from;
    unsigned char *out = to;
    int per = 8 / bits;

    for (int64_t i = 0; i < count; i++) {
        unsigned part = (in[i] & ((1u << bits) - 1)) << (int)(i % per) * bits;
        out[i / per] = (unsigned char)(i % per ? out[i / per] | part : part);
    }
}

void jx_ffi_unpack(XLA_FFI_DataType dtype, int64_t count, const void *from,
                   void *to)
{
    const unsigned char *in = from;
    unsigned char *out = to;
    int bits = jx_ffi_packed_bits(dtype), per = 8 / bits;
    bool has_sign =
        dtype == XLA_FFI_DataType_S2 || dtype == XLA_FFI_DataType_S4;

    for (int64_t i = 0; i < count; i++) {
        unsigned value =
            (unsigned)in[i / per] >> (int)(i % per) * bits & ((1u << bits) - 1);
        if (has_sign && value >> (bits - 1))
            value |= ~((1u << bits) - 1);
        out[i] = (unsigned char)value;
    }
}

/* ---- memory */

void *jx_ffi_take(jx_ffi_pool *pool, size_t count, size_t size)
{
    jx_ffi_block *block = malloc(sizeof *block);
    void *memory = calloc(count + 1, size);

    if (!block || !memory) {
        free(block);
        free(memory);
        pool->failed = true;
        return NULL;
    }
    *block = (jx_ffi_block){pool->blocks, memory};
    pool->blocks = block;
    return memory;
}

void jx_ffi_pool_free(jx_ffi_pool *pool)
{
    while (pool->blocks) {
        jx_ffi_block *next = pool->blocks->next;
        free(pool->blocks->memory);
        free(pool->blocks);
        pool->blocks = next;
    }
}

/* ---- attributes */

static void *taken_scalar(jx_ffi_pool *pool, const jaxvet_attribute *a)
{
    XLA_FFI_Scalar *to = jx_ffi_take(pool, 1, sizeof *to);

    if (to)
        *to = (XLA_FFI_Scalar){jx_ffi_dtype(a->dtype),
                               (void *)(uintptr_t)a->data};
    return to;
}

static void *taken_array(jx_ffi_pool *pool, const jaxvet_attribute *a)
{
    XLA_FFI_Array *to = jx_ffi_take(pool, 1, sizeof *to);

    if (to)
        *to = (XLA_FFI_Array){jx_ffi_dtype(a->dtype), (size_t)a->count,
                              (void *)(uintptr_t)a->data};
    return to;
}

static XLA_FFI_ByteSpan *taken_span(jx_ffi_pool *pool, const char *text,
                                    size_t length)
{
    XLA_FFI_ByteSpan *to = jx_ffi_take(pool, 1, sizeof *to);

    if (to)
        *to = (XLA_FFI_ByteSpan){text, length};
    return to;
}

static bool take_attribute(jx_ffi_pool *pool, const jaxvet_attribute *a,
                           XLA_FFI_AttrType *type, void **to,
                           jx_ffi_error *error)
{
    switch (a->kind) {
    case JAXVET_ATTRIBUTE_BOOL:
    case JAXVET_ATTRIBUTE_INTEGER:
    case JAXVET_ATTRIBUTE_FLOAT:
        *type = XLA_FFI_AttrType_SCALAR;
        *to = taken_scalar(pool, a);
        break;
    case JAXVET_ATTRIBUTE_ARRAY:
        *type = XLA_FFI_AttrType_ARRAY;
        *to = taken_array(pool, a);
        break;
    case JAXVET_ATTRIBUTE_STRING:
        *type = XLA_FFI_AttrType_STRING;
        *to = taken_span(pool, a->data, (size_t)a->count);
        break;
    case JAXVET_ATTRIBUTE_DICTIONARY:
        *type = XLA_FFI_AttrType_DICTIONARY;
        *to = jx_ffi_take(pool, 1, sizeof(XLA_FFI_Attrs));
        if (*to &&
            !jx_ffi_attributes(pool, (int)a->count, a->entries, *to, error))
            return false;
        break;
    case JAXVET_ATTRIBUTE_OTHER:
    default:
        return jx_ffi_fail(
            error, XLA_FFI_Error_Code_UNIMPLEMENTED,
            "the attribute %s is of a kind that handlers are not "
            "given",
            a->name);
    }
    return *to || jx_ffi_starved(error);
}

bool jx_ffi_attributes(jx_ffi_pool *pool, int count,
                       const jaxvet_attribute *attributes, XLA_FFI_Attrs *to,
                       jx_ffi_error *error)
{
    size_t n = (size_t)count;

    *to = (XLA_FFI_Attrs){.struct_size = XLA_FFI_SIZE(XLA_FFI_Attrs, attrs),
                          .size = count,
                          .types = jx_ffi_take(pool, n, sizeof *to->types),
                          .names = jx_ffi_take(pool, n, sizeof *to->names),
                          .attrs = jx_ffi_take(pool, n, sizeof *to->attrs)};
    if (pool->failed)
        return jx_ffi_starved(error);
    for (int i = 0; i < count; i++) {
        const char *name = attributes[i].name;
        to->names[i] = taken_span(pool, name, strlen(name));
        if (!to->names[i])
            return jx_ffi_starved(error);
        if (!take_attribute(pool, &attributes[i], &to->types[i], &to->attrs[i],
                            error))
            return false;
    }
    return true;
}

const void *jx_ffi_scalar(const XLA_FFI_Attrs *attributes, const char *name,
                          XLA_FFI_DataType dtype)
{
    for (int64_t i = 0; i < attributes->size; i++) {
        const XLA_FFI_Scalar *scalar = attributes->attrs[i];
        if (attributes->types[i] == XLA_FFI_AttrType_SCALAR &&
            !strcmp(attributes->names[i]->ptr, name) && scalar->dtype == dtype)
            return scalar->value;
    }
    return NULL;
}
