/* order.c - sorting by integer keys; see order.h.
 *
 * Long lines are sorted by radix (11 bits at a time, least significant digit
 * first, digits that all share skipped), short ones by merging runs. */
#include "runtime/kernels/order.h"

#include "runtime/kernels/vector.h"

#include <string.h>

enum { DIGIT = 11, BUCKETS = 1 << DIGIT, RADIX_FROM = 1500, RUN = 16 };

int jx_order_bits(jx_dtype dtype)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (info->kind == JX_KIND_FLOAT && info->bits < 16)
        return 0;
    if (info->kind == JX_KIND_COMPLEX || dtype == JX_F64X2)
        return info->bits / 2;
    return (int)info->bytes * 8;
}

/* ---- keys ---- */

static inline uint32_t key_of_f32(uint32_t b)
{
    uint32_t size = b & 0x7fffffff;
    uint32_t key = b ^ ((uint32_t)((int32_t)b >> 31) | 0x80000000u);

    key = size == 0 ? 0x80000000u : key;
    return size > 0x7f800000 ? 0xffffffffu : key;
}

static inline uint64_t key_of_f64(uint64_t b)
{
    uint64_t size = b & 0x7fffffffffffffff;
    uint64_t key = b ^ ((uint64_t)((int64_t)b >> 63) | (uint64_t)1 << 63);

    key = size == 0 ? (uint64_t)1 << 63 : key;
    return size > 0x7ff0000000000000 ? UINT64_MAX : key;
}

/* f16 and bf16 differ in where infinity is. */
static inline uint32_t key_of_16(uint16_t b, uint16_t infinity)
{
    uint16_t size = b & 0x7fff;

    if (size > infinity)
        return 0xffff;
    if (size == 0)
        return 0x8000;
    return (uint16_t)(b & 0x8000 ? ~b : b | 0x8000);
}

/* In the total order, too, a negative value has all its bits flipped, any
 * other its sign. */
static inline uint64_t total_key(uint64_t b, int width)
{
    uint64_t top = (uint64_t)1 << (width - 1);

    return b & top ? ~b & (top - 1 + top) : b | top;
}

/* Negative zero or a NaN: its key does not give it back. */
static inline bool lossy(uint64_t bits, int width, uint64_t infinity)
{
    uint64_t size = bits & (((uint64_t)1 << (width - 1)) - 1);

    return size > infinity || (size == 0 && bits != 0);
}

#define EACH(type)                                                             \
    type v;                                                                    \
    for (int64_t i = 0; i < n && (memcpy(&v, data + i * stride, sizeof v), 1); \
         i++)

/* Small integers lie in the low bits of their byte. */
static void small_keys(int bits, bool is_signed, const char *data,
                       int64_t stride, int64_t n, uint32_t *keys)
{
    uint32_t mask = (1u << bits) - 1, flip = is_signed ? 1u << (bits - 1) : 0;

    EACH(uint8_t)
    keys[i] = (v & mask) ^ flip;
}

static bool keys_16(jx_dtype dtype, const char *data, int64_t stride, int64_t n,
                    uint32_t *keys)
{
    uint16_t infinity = dtype == JX_F16 ? 0x7c00 : 0x7f80;
    bool lost = false;

    if (!jx_dtype_is_float(dtype)) {
        uint32_t flip = dtype == JX_I16 ? 0x8000 : 0;
        EACH(uint16_t)
        keys[i] = v ^ flip;
        return true;
    }
    EACH(uint16_t)
    {
        keys[i] = key_of_16(v, infinity);
        lost |= lossy(v, 16, infinity);
    }
    return !lost;
}

JX_VECTOR_CLONES
static bool keys_f32(const char *data, int64_t stride, int64_t n,
                     uint32_t *keys)
{
    bool lost = false;

    if (stride == 4) {
        const uint32_t *in = (const uint32_t *)(const void *)data;
        unsigned any = 0;
        for (int64_t i = 0; i < n; i++) {
            uint32_t b = in[i], size = b & 0x7fffffff;
            keys[i] = key_of_f32(b);
            any |= (size > 0x7f800000) | (b == 0x80000000u);
        }
        return !any;
    }
    EACH(uint32_t)
    {
        keys[i] = key_of_f32(v);
        lost |= lossy(v, 32, 0x7f800000);
    }
    return !lost;
}

bool jx_order_keys32(jx_dtype dtype, const char *data, int64_t stride,
                     int64_t n, uint32_t *keys)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    bool is_signed = info->kind == JX_KIND_INT;

    if (dtype == JX_F32 || dtype == JX_C64)
        return keys_f32(data, stride, n, keys);
    if (info->bytes == 2)
        return keys_16(dtype, data, stride, n, keys);
    if (info->bytes == 1) {
        small_keys(info->bits, is_signed, data, stride, n, keys);
    } else {
        uint32_t flip = is_signed ? 0x80000000u : 0;
        EACH(uint32_t)
        keys[i] = v ^ flip;
    }
    return true;
}

bool jx_order_keys(jx_dtype dtype, const char *data, int64_t stride, int64_t n,
                   uint64_t *keys)
{
    bool lost = false;

    if (dtype == JX_F64 || dtype == JX_C128 || dtype == JX_F64X2) {
        EACH(uint64_t)
        {
            keys[i] = key_of_f64(v);
            lost |= lossy(v, 64, 0x7ff0000000000000);
        }
        return !lost;
    }
    if (jx_order_bits(dtype) == 64) {
        uint64_t flip = dtype == JX_I64 ? (uint64_t)1 << 63 : 0;
        EACH(uint64_t)
        keys[i] = v ^ flip;
        return true;
    }
    /* From the back, so that the narrow keys may lie in the same memory. */
    uint32_t *narrow = (uint32_t *)(void *)keys;
    lost = !jx_order_keys32(dtype, data, stride, n, narrow);
    for (int64_t i = n - 1; i >= 0; i--) {
        uint32_t key = narrow[i];
        memcpy(&keys[i], &(uint64_t){key}, 8);
    }
    return !lost;
}

void jx_order_total(jx_dtype dtype, const char *data, int64_t stride, int64_t n,
                    uint64_t *keys)
{
    if (!jx_dtype_is_float(dtype)) {
        jx_order_keys(dtype, data, stride, n, keys);
    } else if (jx_order_bits(dtype) == 16) {
        EACH(uint16_t)
        keys[i] = total_key(v, 16);
    } else if (jx_order_bits(dtype) == 32) {
        EACH(uint32_t)
        keys[i] = total_key(v, 32);
    } else {
        EACH(uint64_t)
        keys[i] = total_key(v, 64);
    }
}

JX_VECTOR_CLONES
static void total_f32(const uint32_t *in, int64_t n, uint32_t *keys)
{
    for (int64_t i = 0; i < n; i++)
        keys[i] = in[i] ^ ((uint32_t)((int32_t)in[i] >> 31) | 0x80000000u);
}

void jx_order_total32(jx_dtype dtype, const char *data, int64_t stride,
                      int64_t n, uint32_t *keys)
{
    if (!jx_dtype_is_float(dtype)) {
        jx_order_keys32(dtype, data, stride, n, keys);
    } else if (jx_order_bits(dtype) == 16) {
        EACH(uint16_t)
        keys[i] = (uint32_t)total_key(v, 16);
    } else if (stride == 4) {
        total_f32((const uint32_t *)(const void *)data, n, keys);
    } else {
        EACH(uint32_t)
        keys[i] = (uint32_t)total_key(v, 32);
    }
}

void jx_order_value32(jx_dtype dtype, const uint32_t *keys, int64_t n,
                      char *data, int64_t stride)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    uint32_t top = 1u << (info->bits - 1);
    bool is_float = info->kind == JX_KIND_FLOAT;
    uint32_t flip = info->kind == JX_KIND_INT ? top : 0;

    for (int64_t i = 0; i < n; i++) {
        uint32_t k = keys[i];
        uint32_t v = !is_float ? k ^ flip : k & top ? k ^ top : ~k;
        if (info->bytes == 1)
            *(uint8_t *)(data + i * stride) = (uint8_t)v;
        else if (info->bytes == 2)
            *(uint16_t *)(void *)(data + i * stride) = (uint16_t)v;
        else
            *(uint32_t *)(void *)(data + i * stride) = v;
    }
}

/* ---- sorting ---- */

#define PLAIN(x) (x)
#define HIGH(x) ((x) >> 32)
#define FIELD_KEY(x) ((x).key)

/* A stable merge sort and a radix sort of items with a key. */
#define SORTS(name, type, KEY)                                                 \
    static void name##_runs(type *a, int64_t n)                                \
    {                                                                          \
        for (int64_t r = 0; r < n; r += RUN) {                                 \
            int64_t end = r + RUN < n ? r + RUN : n;                           \
            for (int64_t i = r + 1; i < end; i++) {                            \
                type x = a[i];                                                 \
                int64_t j = i;                                                 \
                for (; j > r && KEY(a[j - 1]) > KEY(x); j--)                   \
                    a[j] = a[j - 1];                                           \
                a[j] = x;                                                      \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static type *name##_merge(type *a, type *b, int64_t n)                     \
    {                                                                          \
        name##_runs(a, n);                                                     \
        for (int64_t width = RUN; width < n; width *= 2) {                     \
            for (int64_t l = 0; l < n; l += 2 * width) {                       \
                int64_t m = l + width < n ? l + width : n;                     \
                int64_t r = m + width < n ? m + width : n;                     \
                int64_t i = l, j = m, o = l;                                   \
                while (i < m && j < r) {                                       \
                    bool right = KEY(a[j]) < KEY(a[i]);                        \
                    b[o++] = right ? a[j] : a[i];                              \
                    j += right, i += !right;                                   \
                }                                                              \
                while (i < m)                                                  \
                    b[o++] = a[i++];                                           \
                while (j < r)                                                  \
                    b[o++] = a[j++];                                           \
            }                                                                  \
            type *t = a;                                                       \
            a = b, b = t;                                                      \
        }                                                                      \
        return a;                                                              \
    }                                                                          \
                                                                               \
    static type *name##_radix(type *a, type *b, int64_t n, int bits)           \
    {                                                                          \
        uint32_t count[BUCKETS];                                               \
        for (int shift = 0; shift < bits; shift += DIGIT) {                    \
            memset(count, 0, sizeof count);                                    \
            for (int64_t i = 0; i < n; i++)                                    \
                count[(KEY(a[i]) >> shift) & (BUCKETS - 1)]++;                 \
            if (count[(KEY(a[0]) >> shift) & (BUCKETS - 1)] == n)              \
                continue;                                                      \
            uint32_t sum = 0;                                                  \
            for (int k = 0; k < BUCKETS; k++) {                                \
                uint32_t c = count[k];                                         \
                count[k] = sum;                                                \
                sum += c;                                                      \
            }                                                                  \
            for (int64_t i = 0; i < n; i++)                                    \
                b[count[(KEY(a[i]) >> shift) & (BUCKETS - 1)]++] = a[i];       \
            type *t = a;                                                       \
            a = b, b = t;                                                      \
        }                                                                      \
        return a;                                                              \
    }

SORTS(plain, uint32_t, PLAIN)
SORTS(packed, uint64_t, HIGH)
SORTS(ranked, jx_ranked, FIELD_KEY)

uint32_t *jx_order_sort32(uint32_t *keys, uint32_t *spare, int64_t n)
{
    return n < RADIX_FROM ? plain_merge(keys, spare, n)
                          : plain_radix(keys, spare, n, 32);
}

uint64_t *jx_order_sort_packed(uint64_t *items, uint64_t *spare, int64_t n,
                               int bits)
{
    return n < RADIX_FROM ? packed_merge(items, spare, n)
                          : packed_radix(items, spare, n, bits);
}

jx_ranked *jx_order_sort_ranked(jx_ranked *items, jx_ranked *spare, int64_t n)
{
    return n < RADIX_FROM ? ranked_merge(items, spare, n)
                          : ranked_radix(items, spare, n, 64);
}
