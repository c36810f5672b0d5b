/* sort.c - sort, top_k and approx_top_k.
 *
 * Values become integer keys (order.h).  Several keys are sorted one after the
 * other, the least significant first, each sort being stable. */
#include "runtime/kernels/comparator.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/order.h"
#include "runtime/kernels/shapes.h"
#include "runtime/kernels/sorting.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_rules.h"

#include <string.h>

enum { MAX_OPERANDS = 32 };

/* ---- sort ---- */

typedef struct key_part {
    int input;
    int64_t offset; /* of the imaginary part */
    bool descending;
    jx_key_order order;
} key_part;

typedef struct sort {
    int axis, nkeys, noperands;
    int64_t n;
    key_part keys[2 * MAX_OPERANDS]; /* most significant first */
    int block; /* a comparator; without keys, or for NaNs.  -1: none */
    int nslots;
    int slots[2 * MAX_OPERANDS]; /* its inputs that it reads */
} sort;

/* One array of the scratch memory: room for n ranked items. */
static size_t room(int64_t n)
{
    return ((size_t)n * sizeof(jx_ranked) + 63) & ~(size_t)63;
}

/* ---- by keys ---- */

/* A NaN has the key of all ones, and nothing else has. */
static bool has_nan32(const uint32_t *keys, int64_t n, uint32_t nan)
{
    bool any = false;

    for (int64_t i = 0; i < n; i++)
        any |= keys[i] == nan;
    return any;
}

/* False for NaNs where the order has none. */
static bool narrow_keys(const key_part *key, jx_dtype dtype, const char *data,
                        int64_t stride, int64_t n, uint32_t *keys)
{
    uint32_t mask = UINT32_MAX >> (32 - jx_order_bits(dtype));

    if (key->order == JX_KEY_TOTAL)
        jx_order_total32(dtype, data, stride, n, keys);
    else
        jx_order_keys32(dtype, data, stride, n, keys);
    if (key->order == JX_KEY_PLAIN && has_nan32(keys, n, mask))
        return false;
    for (int64_t i = 0; key->descending && i < n; i++)
        keys[i] ^= mask;
    return true;
}

static bool wide_keys(const key_part *key, jx_dtype dtype, const char *data,
                      int64_t stride, int64_t n, uint64_t *keys)
{
    if (key->order == JX_KEY_TOTAL)
        jx_order_total(dtype, data, stride, n, keys);
    else
        jx_order_keys(dtype, data, stride, n, keys);
    for (int64_t i = 0; key->order == JX_KEY_PLAIN && i < n; i++)
        if (keys[i] == UINT64_MAX)
            return false;
    for (int64_t i = 0; key->descending && i < n; i++)
        keys[i] = ~keys[i];
    return true;
}

static bool sort_narrow(const key_part *key, jx_dtype dtype, const char *data,
                        int64_t stride, int64_t n, uint64_t *order,
                        char *memory, bool first)
{
    uint32_t *keys = (uint32_t *)(void *)memory;
    uint64_t *items = (uint64_t *)(void *)(memory + room(n) / 2);
    uint64_t *spare = (uint64_t *)(void *)(memory + room(n));

    if (!narrow_keys(key, dtype, data, stride, n, keys))
        return false;
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = first ? (uint64_t)i : order[i];
        items[i] = (uint64_t)keys[at] << 32 | at;
    }
    items = jx_order_sort_packed(items, spare, n, jx_order_bits(dtype));
    for (int64_t i = 0; i < n; i++)
        order[i] = items[i] & 0xffffffff;
    return true;
}

static bool sort_wide(const key_part *key, jx_dtype dtype, const char *data,
                      int64_t stride, int64_t n, uint64_t *order, char *memory,
                      bool first)
{
    uint64_t *keys = (uint64_t *)(void *)memory;
    jx_ranked *items = (jx_ranked *)(void *)(memory + room(n));
    jx_ranked *spare = (jx_ranked *)(void *)(memory + 2 * room(n));

    if (!wide_keys(key, dtype, data, stride, n, keys))
        return false;
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = first ? (uint64_t)i : order[i];
        items[i] = (jx_ranked){keys[at], at};
    }
    items = jx_order_sort_ranked(items, spare, n);
    for (int64_t i = 0; i < n; i++)
        order[i] = items[i].at;
    return true;
}

static void take(size_t bytes, const char *from, int64_t stride, char *to,
                 int64_t to_stride, const uint64_t *order, int64_t n)
{
#define TAKE(type)                                                             \
    for (int64_t i = 0; i < n; i++)                                            \
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
        s->keys[0].descending || s->keys[0].order != JX_KEY_NUMERIC ||
        jx_order_bits(in->dtype) > 32 ||
        !jx_order_keys32(in->dtype, l->data[0], in->strides[s->axis], s->n,
                         keys))
        return false;
    keys = jx_order_sort32(keys, keys + s->n, s->n);
    jx_order_value32(in->dtype, keys, s->n, l->data[1], out->strides[s->axis]);
    return true;
}

/* The positions of a line in order; false for NaNs that no key orders. */
static bool order_by_keys(const sort *s, const jx_view *ins,
                          const jx_lines *walk, uint64_t *order, char *memory)
{
    bool first = true;

    for (int k = s->nkeys - 1; k >= 0; k--) {
        const key_part *part = &s->keys[k];
        const jx_view *key = &ins[part->input];
        const char *data = walk[part->input].data[0] + part->offset;
        int64_t stride = key->strides[s->axis];
        if (!(jx_order_bits(key->dtype) <= 32
                  ? sort_narrow(part, key->dtype, data, stride, s->n, order,
                                memory, first)
                  : sort_wide(part, key->dtype, data, stride, s->n, order,
                              memory, first)))
            return false;
        first = false;
    }
    return s->nkeys > 0;
}

/* ---- by a comparator ---- */

typedef struct comparing {
    jx_run *run;
    const sort *s;
    const jx_view *ins, *slots; /* its inputs, then its answer */
    const jx_lines *walk;
    bool failed;
} comparing;

/* The element at position a comes before the one at b. */
static bool comes_before(comparing *c, uint64_t a, uint64_t b)
{
    const sort *s = c->s;

    for (int k = 0; k < s->nslots; k++) {
        int slot = s->slots[k], operand = slot / 2;
        const jx_view *in = &c->ins[operand];
        memcpy(c->slots[slot].data,
               c->walk[operand].data[0] +
                   (int64_t)(slot % 2 ? b : a) * in->strides[s->axis],
               jx_dtype_of(in->dtype)->bytes);
    }
    if (c->failed || !jx_run_block(c->run, s->block)) {
        c->failed = true;
        return false;
    }
    return *c->slots[2 * s->noperands].data;
}

static void merge(comparing *c, const uint64_t *from, int64_t left,
                  int64_t middle, int64_t right, uint64_t *to)
{
    int64_t i = left, k = middle;

    for (int64_t at = left; at < right; at++) {
        bool second =
            i == middle || (k < right && comes_before(c, from[k], from[i]));
        to[at] = second ? from[k++] : from[i++];
    }
}

/* A stable merge sort of positions: a later one goes first only where the
 * comparator says so. */
static bool order_by_comparator(comparing *c, uint64_t *order, uint64_t *spare)
{
    int64_t n = c->s->n;
    uint64_t *from = order, *to = spare;

    for (int64_t i = 0; i < n; i++)
        order[i] = (uint64_t)i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t middle = n - i < width ? n : i + width;
            int64_t right = n - i < 2 * width ? n : i + 2 * width;
            merge(c, from, i, middle, right, to);
        }
        uint64_t *other = from;
        from = to, to = other;
    }
    if (from != order)
        memcpy(order, from, (size_t)n * sizeof *order);
    return !c->failed;
}

static bool sort_line(jx_run *run, const sort *s, const jx_view *ins,
                      const jx_view *outs, const jx_lines *walk, char *memory)
{
    uint64_t *order = (uint64_t *)(void *)memory;
    char *rest = memory + room(s->n);
    comparing c = {run, s, ins, outs + s->noperands, walk, false};

    if (!order_by_keys(s, ins, walk, order, rest) &&
        !order_by_comparator(&c, order, (uint64_t *)(void *)rest))
        return false;
    for (int i = 0; i < s->noperands; i++)
        take(jx_dtype_of(ins[i].dtype)->bytes, walk[i].data[0],
             ins[i].strides[s->axis], walk[i].data[1], outs[i].strides[s->axis],
             order, s->n);
    return true;
}

static bool run_sort(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const sort *s = data;
    jx_lines walk[2 * MAX_OPERANDS];
    int nins = s->noperands;
    int64_t done = 0;

    for (int k = 0; k < s->nkeys; k++)
        if (s->keys[k].input >= nins)
            nins = s->keys[k].input + 1;
    for (int i = 0; i < nins; i++) {
        jx_lines_begin(&walk[i], &ins[i], s->axis);
        jx_lines_add(&walk[i], &ins[i]);
        if (i < s->noperands)
            jx_lines_add(&walk[i], &outs[i]);
    }
    while (walk[0].any && jx_run_lasts_for(run, &done, s->n)) {
        if (!sort_values(s, &ins[0], &walk[0], &outs[0], scratch) &&
            !sort_line(run, s, ins, outs, walk, scratch))
            return false;
        for (int i = 0; i < nins; i++)
            jx_lines_next(&walk[i]);
    }
    return true;
}

/* ---- planning ---- */

/* What is being planned: operands, then keys made of them; results, then the
 * slots of a comparator. */
typedef struct sorting {
    sort s;
    int nins, nouts;
    jx_slot ins[2 * MAX_OPERANDS], outs[3 * MAX_OPERANDS + 1];
} sorting;

static bool begin_sort(jx_planner *p, int n, const jx_slot *ins, int64_t axis,
                       sorting *to, jx_slot *outs)
{
    if (n < 1 || n > MAX_OPERANDS)
        return jx_plan_fail(p, "a sort takes 1 to %d operands, this one has %d",
                            MAX_OPERANDS, n);
    if (axis < 0 || axis >= ins[0].rank)
        return jx_plan_fail(p, "dimension is out of range");
    to->s = (sort){.axis = (int)axis,
                   .noperands = n,
                   .n = ins[0].shape[axis],
                   .block = -1};
    if (to->s.n > UINT32_MAX)
        return jx_plan_fail(p, "a sort of more than 2^32 elements");
    for (int i = 0; i < n; i++) {
        to->ins[i] = ins[i];
        to->outs[i] = outs[i] =
            jx_plan_new(p, ins[i].dtype, ins[i].rank, ins[i].shape);
        if (!jx_same_shape(&ins[i], &ins[0]))
            return jx_plan_fail(p, "operands and results have one shape");
    }
    to->nins = to->nouts = n;
    return true;
}

/* The results are declared like the operands. */
static bool fits_declared(jx_planner *p, const jx_eqn *eqn, const jx_slot *outs)
{
    if (eqn->nouts != eqn->nins)
        return jx_plan_fail(p, "operands and results are as many");
    for (int i = 0; i < eqn->nouts; i++) {
        jx_slot declared = jx_plan_output(p, eqn, i);
        if (!jx_plan_same(p, &outs[i], &declared))
            return false;
    }
    return true;
}

static void add_key(jx_planner *p, sorting *to, const jx_sort_key *key)
{
    jx_dtype dtype = to->ins[key->operand].dtype;
    int input = key->operand;

    if (jx_order_bits(dtype) == 0) {
        input = to->nins++;
        to->ins[input] = jx_plan_convert(p, &to->ins[key->operand], JX_F32);
    }
    to->s.keys[to->s.nkeys++] = (key_part){
        input, key->imaginary ? (int64_t)jx_dtype_of(dtype)->bytes / 2 : 0,
        key->descending, key->order};
}

static bool end_sort(jx_planner *p, const sorting *from)
{
    bool block = from->s.block >= 0;

    if (jx_slot_count(&from->ins[0]) > 0)
        jx_plan_block_op(p, run_sort, &from->s, sizeof from->s, from->nins,
                         from->ins, from->nouts, from->outs,
                         4 * room(from->s.n), block ? from->s.block : 0, block);
    return true;
}

bool jx_plan_sort(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_sort *params = eqn->typed;
    sorting to;

    if (!begin_sort(p, eqn->nins, ins, params->dimension, &to, outs) ||
        !fits_declared(p, eqn, outs))
        return false;
    if (params->num_keys < 1 || params->num_keys > eqn->nins)
        return jx_plan_fail(p, "num_keys is out of range");
    for (int k = 0; k < params->num_keys; k++)
        for (int part = 0; part <= jx_dtype_is_complex(ins[k].dtype); part++)
            add_key(p, &to,
                    &(jx_sort_key){.operand = k, .imaginary = part == 1});
    return end_sort(p, &to);
}

/* Which inputs the comparator reads at all. */
static void find_read(const jx_jaxpr *jaxpr, sort *s)
{
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_var *var = jaxpr->vars[jaxpr->nconsts + i];
        bool read = jaxpr->outs[0].var == var;
        for (int e = 0; e < jaxpr->neqns && !read; e++)
            for (int k = 0; k < jaxpr->eqns[e].nins; k++)
                read |= jaxpr->eqns[e].ins[k].var == var;
        if (read)
            s->slots[s->nslots++] = i;
    }
}

static bool plan_comparator(jx_planner *p, const jx_closed *comparator,
                            sorting *to)
{
    int n = to->s.noperands;
    jx_slot *slots = &to->outs[n], *answer = &slots[2 * n];

    for (int i = 0; i < 2 * n; i++)
        slots[i] = jx_plan_new(p, to->ins[i / 2].dtype, 0, NULL);
    to->s.block = jx_plan_body(p, comparator, slots, answer);
    if (answer->dtype != JX_BOOL || answer->rank != 0)
        return jx_plan_fail(p, "the comparator gives no bool");
    to->nouts += 2 * n + 1;
    find_read(comparator->jaxpr, &to->s);
    return true;
}

bool jx_plan_sorted(jx_planner *p, int n, const jx_slot *ins, int64_t axis,
                    const jx_closed *comparator, jx_slot *outs)
{
    jx_sort_key keys[MAX_OPERANDS];
    sorting to;

    if (!begin_sort(p, n, ins, axis, &to, outs))
        return false;
    if (comparator->jaxpr->nins != 2 * n || comparator->jaxpr->nouts != 1)
        return jx_plan_fail(p, "the comparator takes other operands");
    int nkeys =
        jx_comparator_keys(jx_plan_ctx(p), comparator, n, keys, MAX_OPERANDS);
    bool plain = nkeys == 0;
    for (int k = 0; k < nkeys; k++) {
        /* Wider than declared, a small float has no order of its bits. */
        if (keys[k].order == JX_KEY_TOTAL &&
            jx_order_bits(ins[keys[k].operand].dtype) == 0)
            nkeys = 0, plain = true;
        plain |= keys[k].order == JX_KEY_PLAIN;
    }
    for (int k = 0; k < nkeys; k++)
        add_key(p, &to, &keys[k]);
    return (!plain || plan_comparator(p, comparator, &to)) && end_sort(p, &to);
}

bool jx_plan_stablehlo_sort(jx_planner *p, const jx_eqn *eqn,
                            const jx_slot *ins, jx_slot *outs)
{
    const jx_p_stablehlo_sort *params = eqn->typed;

    return jx_plan_sorted(p, eqn->nins, ins, params->dimension,
                          &params->comparator, outs) &&
           fits_declared(p, eqn, outs);
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

bool jx_plan_best(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
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
    jx_slot keys =
        jx_order_bits(in->dtype) ? *in : jx_plan_convert(p, in, JX_F32);
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_op(p, run_top, &t, sizeof t, 2, (jx_slot[]){keys, *in}, 2, outs,
                   3 * room(t.n));
    return true;
}

bool jx_plan_top_k(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                   jx_slot *outs)
{
    const jx_p_top_k *params = eqn->typed;
    bool given = jx_eqn_param(eqn, "axis") != NULL;

    return jx_plan_best(p, eqn, &ins[0], given ? params->axis : -1, false,
                        outs);
}

/* Exact: recall_target is a lower bound. */
bool jx_plan_approx_top_k(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs)
{
    const jx_p_approx_top_k *params = eqn->typed;

    return jx_plan_best(p, eqn, &ins[0], params->reduction_dimension,
                        !params->is_max_k, outs);
}
