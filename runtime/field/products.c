/* products.c - see products.h. */
#include "runtime/field/products.h"

enum { MOST_NODES = 1 << 24 };

static uint32_t add_node(jx_products *to, jx_sum_node node)
{
    size_t count = to->nodes.count;

    if (count >= MOST_NODES)
        return 0;
    JX_PUSH(to->arena, &to->nodes, node);
    return to->nodes.count > count ? (uint32_t)to->nodes.count : 0;
}

static const jx_sum_node *node_of(const jx_products *of, uint32_t sum)
{
    return &of->nodes.at[sum - 1];
}

uint32_t jx_products_input(jx_products *to, int input, int64_t element)
{
    return add_node(to,
                    (jx_sum_node){.product = {1, {JX_FACTOR(input, element)}}});
}

uint32_t jx_products_add(jx_products *to, uint32_t a, uint32_t b)
{
    return a && b ? add_node(to, (jx_sum_node){.left = a, .right = b}) : 0;
}

/* Of single products alone: sums are not multiplied out. */
uint32_t jx_products_mul(jx_products *to, uint32_t a, uint32_t b)
{
    jx_sum_node made = {0};
    jx_product *p = &made.product;

    if (!a || !b || node_of(to, a)->left || node_of(to, b)->left)
        return 0;
    const jx_product *l = &node_of(to, a)->product,
                     *r = &node_of(to, b)->product;
    if (l->count + r->count > JX_MOST_FACTORS)
        return 0;
    for (int i = 0, k = 0; i + k < l->count + r->count;)
        p->factors[p->count++] =
            k == r->count || (i < l->count && l->factors[i] <= r->factors[k])
                ? l->factors[i++]
                : r->factors[k++];
    return add_node(to, made);
}

/* Depth first, what is on the left before what is on the right. */
static int64_t flatten(const jx_products *of, uint32_t sum, int64_t most,
                       jx_product *to)
{
    JX_VEC(uint32_t) left = {0};
    int64_t n = 0;

    JX_PUSH(of->arena, &left, sum);
    while (left.count) {
        const jx_sum_node *node = node_of(of, left.at[--left.count]);
        if (node->left) {
            JX_PUSH(of->arena, &left, node->right);
            JX_PUSH(of->arena, &left, node->left);
            continue;
        }
        if (n == most)
            return -1;
        to[n++] = node->product;
    }
    return jx_arena_failed(of->arena) ? -1 : n;
}

int64_t jx_products_of(const jx_field *f, const jx_cell *cell,
                       jx_factor_value *value, const void *from, int64_t most,
                       jx_product *to)
{
    uint64_t sum = 0;
    int64_t n;

    if (!f->products || !cell->sum || cell->kind || cell->w)
        return -1;
    n = flatten(f->products, cell->sum, most, to);
    for (int64_t i = 0; i < n; i++) {
        uint64_t product = 1;
        for (int k = 0; k < to[i].count; k++)
            product = jx_mod_fast(product, value(from, to[i].factors[k]),
                                  &f->ring.fast_p);
        sum = jx_mod_add(sum, product, f->ring.p);
    }
    return n >= 0 && sum == cell->v ? n : -1;
}
