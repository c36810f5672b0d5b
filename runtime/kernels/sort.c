/* sort.c - sort, top_k and approx_top_k.
 *
 * Values become integer keys (order.h).  Several keys are sorted one after the
 * other, the least significant first, each sort being stable. */
#include "runtime/kernels/lines.h"
#include "runtime/kernels/order.h"
#include "runtime/kernels/vector.h"
#include "runtime/kernels/shapes.h"
#include "runtime/rules.h"

#include <string.h>

enum { MAX_OPERANDS = 32 };

/* ---- sort ---- */

typedef struct key_part {
    int input;
    int64_t offset; /* of the imaginary part */
} key_part;

typedef struct sort {
    int axis, nkeys, noperands;
    int64_t n;
    key_part keys[2 * MAX_OPERANDS]; /* most significant first */
} sort;

/* One array of the scratch memory: room for n ranked items. */
static size_t room(int64_t n)
{
    return ((size_t)n * sizeof(jx_ranked) + 63) & ~(size_t)63;
}

static void sort_narrow(jx_dtype dtype, const char *data, int64_t stride,
                        int64_t n, uint64_t *order, char *memory, bool first)
{
    uint32_t *keys = (uint32_t *)(void *)memory;
    uint64_t *items = (uint64_t *)(void *)(memory + room(n) / 2);
    uint64_t *spare = (uint64_t *)(void *)(memory + room(n));

    jx_order_keys32(dtype, data, stride, n, keys);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = first ? (uint64_t)i : order[i];
        items[i] = (uint64_t)keys[at] << 32 | at;
    }
    items = jx_order_sort_packed(items, spare, n, jx_order_bits(dtype));
    for (int64_t i = 0; i < n; i++)
        order[i] = items[i] & 0xffffffff;
}

static void sort_wide(jx_dtype dtype, const char *data, int64_t stride,
                      int64_t n, uint64_t *order, char *memory, bool first)
{
    uint64_t *keys = (uint64_t *)(void *)memory;
    jx_ranked *items = (jx_ranked *)(void *)(memory + room(n));
    jx_ranked *spare = (jx_ranked *)(void *)(memory + 2 * room(n));

    jx_order_keys(dtype, data, stride, n, keys);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = first ? (uint64_t)i : order[i];
        items[i] = (jx_ranked){keys[at], at};
    }
    items = jx_order_sort_ranked(items, spare, n);
    for (int64_t i = 0; i < n; i++)
        order[i] = items[i].at;
}

static void take(size_t bytes, const char *from, int64_t stride, char *to,
                 int64_t to_stride, const uint64_t *order, int64_t n)
{
#define TAKE(type)                                                            \
    for (int64_t i = 0; i < n; i++)                                           \
    memcpy(to + i * to_stride, from + (int64_t)order[i] * stride, sizeof(type))
    if (bytes == 1)
        TAKE(uint8_t);
    else if (bytes == 2)
        TAKE(uint16_t);
    else if (bytes == 4)
        TAKE(uint32_t);
    else if (bytes == 8)
        TAKE(uint64_t);
    else
        TAKE(uint64_t[2]);
#undef TAKE
}

/* One array alone whose keys give its values back needs no positions. */
static bool sort_values(const sort *s, const jx_view *in, const jx_lines *l,
                        const jx_view *out, char *memory)
{
    uint32_t *keys = (uint32_t *)(void *)memory;

    if (s->noperands != 1 || s->nkeys != 1 || s->keys[0].input != 0 ||
        jx_order_bits(in->dtype) > 32 ||
        !jx_order_keys32(in->dtype, l->data[0], in->strides[s->axis], s->n,
                         keys))
        return false;
    keys = jx_order_sort32(keys, keys + s->n, s->n);
    jx_order_value32(in->dtype, keys, s->n, l->data[1], out->strides[s->axis]);
    return true;
}

static void sort_line(const sort *s, const jx_view *ins, const jx_view *outs,
                      const jx_lines *walk, char *memory)
{
    uint64_t *order = (uint64_t *)(void *)memory;
    char *rest = memory + room(s->n);
    bool first = true;

    for (int k = s->nkeys - 1; k >= 0; k--) {
        const jx_view *key = &ins[s->keys[k].input];
        const char *data = walk[s->keys[k].input].data[0] + s->keys[k].offset;
        int64_t stride = key->strides[s->axis];
        if (jx_order_bits(key->dtype) <= 32)
            sort_narrow(key->dtype, data, stride, s->n, order, rest, first);
        else
            sort_wide(key->dtype, data, stride, s->n, order, rest, first);
        first = false;
    }
    for (int i = 0; i < s->noperands; i++)
        take(jx_dtype_of(ins[i].dtype)->bytes, walk[i].data[0],
             ins[i].strides[s->axis], walk[i].data[1],
             outs[i].strides[s->axis], order, s->n);
}

static bool run_sort(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const sort *s = data;
    jx_lines walk[2 * MAX_OPERANDS];
    int nins = s->noperands;

    (void)run;
    for (int k = 0; k < s->nkeys; k++)
        if (s->keys[k].input >= nins)
            nins = s->keys[k].input + 1;
    for (int i = 0; i < nins; i++) {
        jx_lines_begin(&walk[i], &ins[i], s->axis);
        jx_lines_add(&walk[i], &ins[i]);
        if (i < s->noperands)
            jx_lines_add(&walk[i], &outs[i]);
    }
    while (walk[0].any) {
        if (!sort_values(s, &ins[0], &walk[0], &outs[0], scratch))
            sort_line(s, ins, outs, walk, scratch);
        for (int i = 0; i < nins; i++)
            jx_lines_next(&walk[i]);
    }
    return true;
}

bool jx_plan_sort(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_sort *params = eqn->typed;
    jx_slot all[2 * MAX_OPERANDS];
    sort s = {.axis = (int)params->dimension, .noperands = eqn->nins};
    int nins = eqn->nins;

    if (eqn->nins < 1 || eqn->nins > MAX_OPERANDS || eqn->nouts != eqn->nins)
        return jx_plan_fail(p, "a sort takes 1 to %d operands, this one has %d",
                            MAX_OPERANDS, eqn->nins);
    if (s.axis < 0 || s.axis >= ins[0].rank || params->num_keys < 1 ||
        params->num_keys > eqn->nins)
        return jx_plan_fail(p, "dimension or num_keys is out of range");
    s.n = ins[0].shape[s.axis];
    if (s.n > UINT32_MAX)
        return jx_plan_fail(p, "a sort of more than 2^32 elements");
    for (int i = 0; i < eqn->nins; i++) {
        all[i] = ins[i];
        outs[i] = jx_plan_output(p, eqn, i);
        if (!jx_same_shape(&ins[i], &ins[0]) ||
            !jx_same_shape(&outs[i], &ins[0]) ||
            outs[i].dtype != ins[i].dtype)
            return jx_plan_fail(p, "operands and results have one shape");
    }
    for (int k = 0; k < params->num_keys; k++) {
        int input = k;
        if (jx_order_bits(ins[k].dtype) == 0) {
            input = nins++;
            all[input] = jx_plan_convert(p, &ins[k], JX_F32);
        }
        s.keys[s.nkeys++] = (key_part){input, 0};
        if (jx_dtype_is_complex(ins[k].dtype))
            s.keys[s.nkeys++] =
                (key_part){input, (int64_t)jx_dtype_of(ins[k].dtype)->bytes / 2};
    }
    if (jx_slot_count(&ins[0]) > 0)
        jx_plan_op(p, run_sort, &s, sizeof s, nins, all, eqn->nins, outs,
                   4 * room(s.n));
    return true;
}

/* ---- top_k ---- */

typedef struct top {
    int axis;
    bool smallest;
    int64_t n, k;
} top;

/* Up to this many the best are kept in a small sorted list. */
enum { FEW = 64, BLOCK = 64 };

JX_VECTOR_CLONES
static uint64_t largest(const uint64_t *keys, int64_t n)
{
    uint64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = keys[i] > most ? keys[i] : most;
    return most;
}

JX_VECTOR_CLONES
static uint32_t largest32(const uint32_t *keys, int64_t n)
{
    uint32_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = keys[i] > most ? keys[i] : most;
    return most;
}

/* Keeps the best `k` so far, best first; an equal key comes behind. */
static int64_t keep(jx_ranked *best, int64_t count, int64_t k, uint64_t key,
                    int64_t at)
{
    if (count == k && key <= best[k - 1].key)
        return count;
    int64_t i = count < k ? count : k - 1;
    for (; i > 0 && best[i - 1].key < key; i--)
        best[i] = best[i - 1];
    best[i] = (jx_ranked){key, (uint64_t)at};
    return count < k ? count + 1 : k;
}

static void few_best32(const uint32_t *keys, int64_t n, int64_t k,
                       jx_ranked *best)
{
    int64_t count = 0;

    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t size = n - b < BLOCK ? n - b : BLOCK;
        if (count == k && largest32(keys + b, size) <= best[k - 1].key)
            continue;
        for (int64_t i = b; i < b + size; i++)
            count = keep(best, count, k, keys[i], i);
    }
}

static void few_best(const uint64_t *keys, int64_t n, int64_t k,
                     jx_ranked *best)
{
    int64_t count = 0;

    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t size = n - b < BLOCK ? n - b : BLOCK;
        if (count == k && largest(keys + b, size) <= best[k - 1].key)
            continue;
        for (int64_t i = b; i < b + size; i++)
            count = keep(best, count, k, keys[i], i);
    }
}

/* Positions of the best k, in `memory`. */
static jx_ranked *best_of(const top *t, jx_dtype dtype, const char *data,
                          int64_t stride, char *memory)
{
    jx_ranked *items = (jx_ranked *)(void *)(memory + room(t->n));
    jx_ranked *spare = (jx_ranked *)(void *)(memory + 2 * room(t->n));
    uint64_t *keys = (uint64_t *)(void *)memory;

    if (t->k <= FEW && jx_order_bits(dtype) <= 32) {
        uint32_t *narrow = (uint32_t *)(void *)memory;
        jx_order_total32(dtype, data, stride, t->n, narrow);
        for (int64_t i = 0; t->smallest && i < t->n; i++)
            narrow[i] = ~narrow[i];
        few_best32(narrow, t->n, t->k, items);
        return items;
    }
    jx_order_total(dtype, data, stride, t->n, keys);
    if (t->k <= FEW) {
        for (int64_t i = 0; t->smallest && i < t->n; i++)
            keys[i] = ~keys[i];
        few_best(keys, t->n, t->k, items);
        return items;
    }
    for (int64_t i = 0; i < t->n; i++)
        items[i] = (jx_ranked){t->smallest ? keys[i] : ~keys[i], (uint64_t)i};
    return jx_order_sort_ranked(items, spare, t->n);
}

static bool run_top(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const top *t = data;
    size_t bytes = jx_dtype_of(outs[0].dtype)->bytes;
    int64_t stride = ins[1].strides[t->axis];
    int64_t key_stride = ins[0].strides[t->axis];
    jx_lines l;

    (void)run;
    jx_lines_begin(&l, &ins[0], t->axis);
    jx_lines_add(&l, &ins[0]);
    jx_lines_add(&l, &ins[1]);
    jx_lines_add(&l, &outs[0]);
    jx_lines_add(&l, &outs[1]);
    for (; l.any; jx_lines_next(&l)) {
        const jx_ranked *best =
            best_of(t, ins[0].dtype, l.data[0], key_stride, scratch);
        for (int64_t i = 0; i < t->k; i++) {
            int32_t at = (int32_t)best[i].at;
            memcpy(l.data[2] + i * outs[0].strides[t->axis],
                   l.data[1] + at * stride, bytes);
            memcpy(l.data[3] + i * outs[1].strides[t->axis], &at, 4);
        }
    }
    return true;
}

static bool plan_top(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                     int64_t axis, bool smallest, jx_slot *outs)
{
    top t = {.smallest = smallest};

    if (axis < 0)
        axis += in->rank;
    if (axis < 0 || axis >= in->rank)
        return jx_plan_fail(p, "the axis %lld is out of range",
                            (long long)axis);
    outs[0] = jx_plan_output(p, eqn, 0);
    outs[1] = jx_plan_output(p, eqn, 1);
    if (outs[0].rank != in->rank)
        return jx_plan_fail(p, "the results are declared in other shapes");
    t.axis = (int)axis;
    t.n = in->shape[axis];
    t.k = outs[0].shape[axis];
    jx_slot like = outs[0];
    like.shape[axis] = t.n;
    if (!jx_same_shape(&like, in) || !jx_same_shape(&outs[0], &outs[1]) ||
        outs[0].dtype != in->dtype)
        return jx_plan_fail(p, "the results are declared in other shapes");
    if (t.k > t.n || t.n > INT32_MAX)
        return jx_plan_fail(p, "%lld of %lld elements can't be taken",
                            (long long)t.k, (long long)t.n);
    if (outs[1].dtype != JX_I32)
        return jx_plan_fail(p, "indices are expected in int32");
    jx_slot keys = jx_order_bits(in->dtype) ? *in
                                            : jx_plan_convert(p, in, JX_F32);
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_top, &t, sizeof t, 2, (jx_slot[]){keys, *in}, 2,
                   outs, 3 * room(t.n));
    return true;
}

bool jx_plan_top_k(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_top_k *params = eqn->typed;
    bool given = jx_eqn_param(eqn, "axis") != NULL;

    return plan_top(p, eqn, &ins[0], given ? params->axis : -1, false, outs);
}

/* Exact: recall_target is a lower bound. */
bool jx_plan_approx_top_k(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    const jx_p_approx_top_k *params = eqn->typed;

    return plan_top(p, eqn, &ins[0], params->reduction_dimension,
                    !params->is_max_k, outs);
}
