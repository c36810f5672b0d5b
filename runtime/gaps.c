/* gaps.c - see gaps.h.
 *
 * What is in use and the gaps between are a list, by address; the gaps are
 * also a treap, by size and then by address.  Behind the highest in use
 * there is no gap. */
#include "runtime/gaps.h"

#include "frontend/base/assert.h"

struct jx_gap {
    int64_t offset, bytes;
    int before, after; /* in the list; of one that is spare: the next that is */
    int left, right;   /* in the tree */
    bool used;
};

bool jx_gaps_open(jx_arena *arena, int buffers, jx_gaps *to)
{
    /* At worst there is a gap below each that is in use. */
    *to = (jx_gaps){.at = JX_NEW_ARRAY(arena, 2 * (size_t)buffers + 1, jx_gap),
                    .count = 1};
    return to->at != NULL;
}

/* ---- the tree */

static uint32_t priority(int number)
{
    uint32_t mixed = (uint32_t)number;

    mixed = (mixed ^ mixed >> 16) * UINT32_C(0x85ebca6b);
    mixed = (mixed ^ mixed >> 13) * UINT32_C(0xc2b2ae35);
    return mixed ^ mixed >> 16;
}

static bool is_less(const jx_gap *a, int64_t bytes, int64_t offset)
{
    return a->bytes < bytes || (a->bytes == bytes && a->offset < offset);
}

/* Those that are less than (bytes, offset), and the others. */
static void split(jx_gap *at, int root, int64_t bytes, int64_t offset,
                  int *less, int *others)
{
    while (root) {
        if (is_less(&at[root], bytes, offset)) {
            *less = root;
            less = &at[root].right;
            root = *less;
        } else {
            *others = root;
            others = &at[root].left;
            root = *others;
        }
    }
    *less = *others = 0;
}

/* Each of `low` is less than each of `high`. */
static int merged(jx_gap *at, int low, int high)
{
    int root, *to = &root;

    while (low && high) {
        if (priority(low) > priority(high)) {
            *to = low;
            to = &at[low].right;
            low = *to;
        } else {
            *to = high;
            to = &at[high].left;
            high = *to;
        }
    }
    *to = low ? low : high;
    return root;
}

static void insert(jx_gaps *g, int number)
{
    const jx_gap *gap = &g->at[number];
    int less, others;

    split(g->at, g->root, gap->bytes, gap->offset, &less, &others);
    g->at[number].left = g->at[number].right = 0;
    g->root = merged(g->at, merged(g->at, less, number), others);
}

static void take_out(jx_gaps *g, int number)
{
    int *to = &g->root;

    while (*to != number) {
        JX_ASSERT(*to);
        to = is_less(&g->at[*to], g->at[number].bytes, g->at[number].offset)
                 ? &g->at[*to].right
                 : &g->at[*to].left;
    }
    *to = merged(g->at, g->at[number].left, g->at[number].right);
}

/* The least that has so many bytes; 0: none has. */
static int smallest_of(const jx_gaps *g, int64_t bytes)
{
    int found = 0;

    for (int at = g->root; at;) {
        bool fits = g->at[at].bytes >= bytes;
        found = fits ? at : found;
        at = fits ? g->at[at].left : g->at[at].right;
    }
    return found;
}

/* ---- the list */

static int new_after(jx_gaps *g, int before, int after, int64_t offset,
                     int64_t bytes)
{
    int number = g->spare;

    if (number)
        g->spare = g->at[number].after;
    else
        number = g->count++;
    g->at[number] = (jx_gap){offset, bytes, before, after, 0, 0, true};
    if (before)
        g->at[before].after = number;
    if (after)
        g->at[after].before = number;
    return number;
}

static void drop(jx_gaps *g, int number)
{
    const jx_gap *gap = &g->at[number];

    if (gap->before)
        g->at[gap->before].after = gap->after;
    if (gap->after)
        g->at[gap->after].before = gap->before;
    g->at[number].after = g->spare;
    g->spare = number;
}

int64_t jx_gaps_end(const jx_gaps *g)
{
    return g->last ? g->at[g->last].offset + g->at[g->last].bytes : 0;
}

int jx_gaps_take(jx_gaps *g, int64_t bytes, int64_t *offset)
{
    int gap = smallest_of(g, bytes);

    JX_ASSERT(bytes > 0);
    if (!gap) {
        *offset = jx_gaps_end(g);
        return g->last = new_after(g, g->last, 0, *offset, bytes);
    }
    *offset = g->at[gap].offset;
    take_out(g, gap);
    if (g->at[gap].bytes == bytes) {
        g->at[gap].used = true;
        return gap;
    }
    g->at[gap].offset += bytes;
    g->at[gap].bytes -= bytes;
    insert(g, gap);
    return new_after(g, g->at[gap].before, gap, *offset, bytes);
}

void jx_gaps_give(jx_gaps *g, int number)
{
    jx_gap *gap = &g->at[number];
    int before = gap->before, after = gap->after;

    JX_ASSERT(gap->used);
    if (before && !g->at[before].used) {
        take_out(g, before);
        gap->offset = g->at[before].offset;
        gap->bytes += g->at[before].bytes;
        drop(g, before);
    }
    if (!after) { /* it was the highest */
        g->last = gap->before;
        drop(g, number);
        return;
    }
    if (!g->at[after].used) {
        take_out(g, after);
        gap->bytes += g->at[after].bytes;
        drop(g, after);
    }
    gap->used = false;
    insert(g, number);
}
