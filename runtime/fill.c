/* fill.c - see fill.h. */
#include "runtime/fill.h"

#include "runtime/elementwise.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16, /* elements between two looks at the clock */
    CONVERTED = 256, /* at once */
};

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* In [-1, 1). */
static double unit_of(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-52 - 1;
}

static void random_floats(uint64_t *state, jx_dtype dtype, char *to,
                          int64_t count)
{
    double values[CONVERTED];
    size_t size = jx_dtype_of(dtype)->bytes;

    for (int64_t done = 0, n; done < count; done += n) {
        n = count - done < CONVERTED ? count - done : CONVERTED;
        for (int64_t i = 0; i < n; i++)
            values[i] = unit_of(next(state));
        jx_convert(JX_F64, dtype, values, to + (size_t)done * size, n);
    }
}

static void random_element(uint64_t *state, jx_dtype dtype, char *to)
{
    uint64_t bits = next(state);
    double parts[2] = {unit_of(bits), 0};
    int64_t integer;

    switch (jx_dtype_of(dtype)->kind) {
    case JX_KIND_COMPLEX:
        parts[1] = unit_of(next(state));
        jx_convert(JX_C128, dtype, parts, to, 1);
        return;
    case JX_KIND_BOOL: *to = (char)(bits >> 63); return;
    case JX_KIND_VOID: *to = 0; return;
    case JX_KIND_INT: integer = (int64_t)(bits >> 33) % 17 - 8; break;
    case JX_KIND_UINT: integer = (int64_t)(bits >> 33) % 16; break;
    default: integer = (int64_t)bits;
    }
    jx_convert(JX_I64, dtype, &integer, to, 1);
}

static void random_elements(uint64_t *state, jx_dtype dtype, char *to,
                            int64_t count)
{
    size_t size = jx_dtype_of(dtype)->bytes;

    if (jx_dtype_is_float(dtype)) {
        random_floats(state, dtype, to, count);
        return;
    }
    for (int64_t i = 0; i < count; i++, to += size) {
        uint32_t word;
        if (dtype == JX_KEY) {
            word = (uint32_t)next(state);
            memcpy(to, &word, sizeof word);
        } else {
            random_element(state, dtype, to);
        }
    }
}

bool jx_fill(const char *how, int index, const jx_port *port, void *to,
             jx_budget *budget)
{
    static const char random[] = "random:";
    size_t size = jx_dtype_of(port->dtype)->bytes;
    uint64_t seed = 0;

    if (how && strcmp(how, "zeros") == 0)
        return true;
    if (how) {
        char *end;
        if (strncmp(how, random, sizeof random - 1) != 0)
            return false;
        const char *digits = how + sizeof random - 1;
        seed = strtoull(digits, &end, 10);
        if (*end || end == digits || *digits == '-')
            return false;
    }
    uint64_t state = seed * 0x2545f4914f6cdd1d + (uint64_t)index;
    jx_dtype dtype = port->aval->dtype == JX_KEY ? JX_KEY : port->dtype;
    for (int64_t i = 0; i < port->count; i += PIECE) {
        if (budget && !jx_budget_lasts(budget))
            return true;
        random_elements(&state, dtype, (char *)to + (size_t)i * size,
                        port->count - i < PIECE ? port->count - i : PIECE);
    }
    return true;
}
