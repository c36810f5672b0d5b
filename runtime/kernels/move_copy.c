/* move_copy.c - see move.h; and the kernel of jx_plan_copy(). */
#include "runtime/kernels/move.h"

#include "runtime/kernels/vector.h"
#include "runtime/plan_impl.h"

enum { BLOCK = 16 };

typedef struct axis {
    int64_t count, to, from;
} axis;

/* Joins axes that step as one and drops those of size 1; 0 axes are one. */
static int simplify(int rank, const int64_t *shape, const int64_t *to,
                    const int64_t *from, axis *axes)
{
    int n = 0;

    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        if (n && axes[n - 1].to == to[i] * shape[i] &&
            axes[n - 1].from == from[i] * shape[i]) {
            axes[n - 1].count *= shape[i];
            axes[n - 1].to = to[i];
            axes[n - 1].from = from[i];
        } else {
            axes[n++] = (axis){shape[i], to[i], from[i]};
        }
    }
    return n;
}

/* One row, and a block of a plane whose two axes are swapped. */
#define MOVERS(bytes, type)                                                    \
    static void row##bytes(const axis *a, char *to, const char *from)          \
    {                                                                          \
        for (int64_t i = 0; i < a->count; i++)                                 \
            *(type *)(void *)(to + i * a->to) =                                \
                *(const type *)(const void *)(from + i * a->from);             \
    }                                                                          \
    JX_VECTOR_CLONES static void splat##bytes(const axis *a, char *to,         \
                                              const char *from)                \
    {                                                                          \
        type value = *(const type *)(const void *)from;                        \
        type *out = (type *)(void *)to;                                        \
        for (int64_t i = 0; i < a->count; i++)                                 \
            out[i] = value;                                                    \
    }                                                                          \
    /* `in` steps by one element in `from`, `out` by one in `to`. */           \
    static void block##bytes(const axis *in, const axis *out, char *to,        \
                             const char *from)                                 \
    {                                                                          \
        type tile[BLOCK][BLOCK];                                               \
        for (int64_t i = 0; i < BLOCK; i++)                                    \
            memcpy(tile[i], from + i * out->from, sizeof tile[i]);             \
        for (int64_t k = 0; k < BLOCK; k++) {                                  \
            type line[BLOCK];                                                  \
            for (int64_t i = 0; i < BLOCK; i++)                                \
                line[i] = tile[i][k];                                          \
            memcpy(to + k * in->to, line, sizeof line);                        \
        }                                                                      \
    }                                                                          \
    static void corner##bytes(const axis *in, const axis *out, char *to,       \
                              const char *from)                                \
    {                                                                          \
        for (int64_t k = 0; k < in->count; k++)                                \
            for (int64_t i = 0; i < out->count; i++)                           \
                *(type *)(void *)(to + k * in->to + i * out->to) =             \
                    *(const type *)(const void *)(from + k * in->from +        \
                                                  i * out->from);              \
    }

typedef struct wide16 {
    uint64_t a, b;
} wide16;

MOVERS(1, uint8_t)
MOVERS(2, uint16_t)
MOVERS(4, uint32_t)
MOVERS(8, uint64_t)
MOVERS(16, wide16)

typedef struct movers {
    void (*row)(const axis *, char *, const char *);
    void (*splat)(const axis *, char *, const char *);
    void (*block)(const axis *, const axis *, char *, const char *);
    void (*corner)(const axis *, const axis *, char *, const char *);
} movers;

static const movers *movers_of(size_t size)
{
#define OF(bytes)                                                              \
    {                                                                          \
        row##bytes, splat##bytes, block##bytes, corner##bytes                  \
    }
    static const movers all[] = {OF(1), OF(2), OF(4), OF(8), OF(16)};

    return &all[size == 1   ? 0
                : size == 2 ? 1
                : size == 4 ? 2
                : size == 8 ? 3
                            : 4];
}

static void copy_plane(jx_run *run, const movers *m, const axis *in,
                       const axis *out, char *to, const char *from)
{
    int64_t done = 0;

    for (int64_t i = 0;
         i < out->count && jx_run_lasts_for(run, &done, in->count * BLOCK);
         i += BLOCK)
        for (int64_t k = 0; k < in->count; k += BLOCK) {
            axis in_part = *in, out_part = *out;
            char *to_at = to + k * in->to + i * out->to;
            const char *from_at = from + k * in->from + i * out->from;
            if (in->count - k >= BLOCK && out->count - i >= BLOCK) {
                m->block(in, out, to_at, from_at);
                continue;
            }
            if (in->count - k < BLOCK)
                in_part.count = in->count - k;
            else
                in_part.count = BLOCK;
            out_part.count = out->count - i < BLOCK ? out->count - i : BLOCK;
            m->corner(&in_part, &out_part, to_at, from_at);
        }
}

/* The axis other than the last that runs through neighbours in `from`. */
static int crossing(const axis *axes, int n, size_t size)
{
    if (axes[n - 1].to != (int64_t)size || axes[n - 1].from == (int64_t)size)
        return -1;
    for (int i = 0; i < n - 1; i++)
        if (axes[i].from == (int64_t)size && axes[i].count >= BLOCK &&
            axes[n - 1].count >= BLOCK)
            return i;
    return -1;
}

static void copy_inner(jx_run *run, const movers *m, const axis *axes, int n,
                       int cross, char *to, const char *from, size_t size)
{
    const axis *last = &axes[n - 1];

    if (cross >= 0)
        copy_plane(run, m, &axes[cross], last, to, from);
    else if (last->to == (int64_t)size && last->from == (int64_t)size)
        memcpy(to, from, (size_t)last->count * size);
    else if (last->to == (int64_t)size && last->from == 0)
        m->splat(last, to, from);
    else
        m->row(last, to, from);
}

void jx_copy_elements(jx_run *run, int rank, const int64_t *shape, char *to,
                      const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, size_t size)
{
    int64_t done = 0;
    axis axes[JX_MAX_RANK];
    int64_t index[JX_MAX_RANK] = {0};
    const movers *m = movers_of(size);

    for (int i = 0; i < rank; i++)
        if (shape[i] == 0)
            return;
    int n = simplify(rank, shape, to_strides, from_strides, axes);
    if (n == 0) {
        memcpy(to, from, size);
        return;
    }
    int cross = crossing(axes, n, size);
    while (jx_run_lasts_for(run, &done, axes[n - 1].count)) {
        copy_inner(run, m, axes, n, cross, to, from, size);
        int i = n - 2;
        for (; i >= 0; i--) {
            if (i == cross)
                continue;
            to += axes[i].to;
            from += axes[i].from;
            if (++index[i] < axes[i].count)
                break;
            to -= axes[i].to * axes[i].count;
            from -= axes[i].from * axes[i].count;
            index[i] = 0;
        }
        if (i < 0)
            return;
    }
}

bool jx_run_copy(jx_run *run, const void *data, const jx_view *ins,
                 const jx_view *outs, void *scratch)
{
    size_t size = jx_dtype_of(ins->dtype)->bytes;

    (void)data;
    (void)scratch;
    if (ins->dense && outs->dense) {
        if (ins->data != outs->data && ins->count)
            memcpy(outs->data, ins->data, (size_t)ins->count * size);
        return true;
    }
    jx_copy_elements(run, ins->rank, ins->shape, outs->data, outs->strides,
                     ins->data, ins->strides, size);
    return true;
}
