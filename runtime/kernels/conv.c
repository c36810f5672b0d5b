/* conv.c - conv_general_dilated as matrix products.
 *
 * Inside, arrays are (batch, spatial..., feature) and the kernel is
 * (spatial..., in feature, out feature); other layouts are views of these or
 * copies into them.  There are three ways:
 *   shifted    for each row of the output and each tap of the kernel a product
 *              of input rows (as they lie, a stride apart) with the tap's
 *              matrix, added up in place;
 *   columns    rows of the input's patches are gathered, some at a time, and
 *              multiplied with the whole kernel (few features, narrow rows);
 *   depthwise  one feature per group: no matrices, just multiply and add.
 * Feature groups are slices of the features, batch groups of the batch.
 * Images, their groups and rows of large images are shared with the run's
 * second thread. */
#include "runtime/kernels/gemm.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"

#include <limits.h>
#include <string.h>

enum { COLUMNS_BYTES = 512 * 1024, COLUMNS_ROWS = 256 };

/* Shared from so many multiplications on, and then in so many
 * parts at least. */
enum { SHARED_WORK = 1 << 20, PARTS = 16 };

typedef enum way { SHIFTED, COLUMNS, DEPTHWISE } way;

/* One spatial axis. */
typedef struct axis {
    int64_t in, out, taps;
    int64_t stride, low, base, dilation; /* base: of the input, low: padding */
    int64_t in_step, tap_step;           /* elements to the next */
} axis;

typedef struct conv {
    jx_gemm gemm;
    way way;
    size_t item;
    int rank;
    axis axes[JX_MAX_RANK];
    int64_t batch;                                 /* of the output */
    int64_t groups, features, group_in, group_out; /* features: input's */
    int64_t out_features;
    int64_t batch_step;       /* elements to the next batch of the input */
    int64_t group_batch_step; /* to the next batch group's */
    int64_t group_step;       /* to the next feature group's */
    int64_t positions, taps;  /* of the output per batch; of the kernel */
    int64_t rows, tap_rows;   /* columns: rows, taps at a time */
    /* of an image: rows along the last axis, or else positions */
    int64_t lines;
    int64_t piece; /* lines that are done at once */
    int64_t pieces;
    bool shared;
    size_t worker_bytes; /* of scratch */
} conv;

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b, b = r;
    }
    return a;
}

/* The input's index under a tap, or -1 (padding, or a hole). */
static inline int64_t index_under(const axis *a, int64_t out, int64_t tap)
{
    int64_t at = out * a->stride - a->low + tap * a->dilation;

    if (a->base == 1)
        return at >= 0 && at < a->in ? at : -1;
    if (at < 0 || at % a->base || at / a->base >= a->in)
        return -1;
    return at / a->base;
}

/* Next coordinates in row-major order over all axes but the last `skip`. */
static bool next(const conv *c, int64_t *at, bool taps, int skip)
{
    for (int i = c->rank - 1 - skip; i >= 0; i--) {
        if (++at[i] < (taps ? c->axes[i].taps : c->axes[i].out))
            return true;
        at[i] = 0;
    }
    return false;
}

/* The coordinates of a line, of `skip` axes less than all. */
static void find(const conv *c, int64_t line, int skip, int64_t *at)
{
    memset(at, 0, JX_MAX_RANK * sizeof *at);
    for (int i = c->rank - 1 - skip; i >= 0; i--) {
        at[i] = line % c->axes[i].out;
        line /= c->axes[i].out;
    }
}

/* ---- shifted ---- */

/* The positions along the last axis that a tap has an input for: from `first`
 * every `period`, `count` of them; `index` is the first one's input. */
typedef struct span {
    int64_t first, period, count, index, advance;
} span;

static span span_of(const axis *a, int64_t tap)
{
    int64_t common = gcd(a->stride, a->base);
    span s = {.period = a->base / common, .advance = a->stride / common};
    int64_t begin = tap * a->dilation - a->low; /* at position 0 */

    if (begin < 0)
        s.first = (-begin + a->stride - 1) / a->stride;
    for (int64_t tries = 0; tries < s.period; tries++, s.first++) {
        if (s.first >= a->out)
            return s;
        s.index = index_under(a, s.first, tap);
        if (s.index < 0)
            continue;
        int64_t by_out = (a->out - 1 - s.first) / s.period;
        int64_t by_in = (a->in - 1 - s.index) / s.advance;
        s.count = 1 + (by_out < by_in ? by_out : by_in);
        return s;
    }
    return s;
}

static const char *plus(const conv *c, const char *p, int64_t elements)
{
    return p + elements * (int64_t)c->item;
}

/* One row of the output (along the last axis) for one group. */
static void shifted_row(jx_run *run, const conv *c, const int64_t *at,
                        const char *in, const char *kernel, char *row)
{
    const axis *last = &c->axes[c->rank - 1];
    int64_t tap[JX_MAX_RANK] = {0};

    do {
        int64_t offset = 0, tap_offset = 0, index = 0;
        for (int i = 0; i < c->rank - 1 && index >= 0; i++) {
            index = index_under(&c->axes[i], at[i], tap[i]);
            offset += index * c->axes[i].in_step;
            tap_offset += tap[i] * c->axes[i].tap_step;
        }
        for (int64_t k = 0; k < last->taps && index >= 0; k++) {
            span s = span_of(last, k);
            if (s.count == 0)
                continue;
            jx_matrix a = {plus(c, in, offset + s.index * last->in_step),
                           s.advance * last->in_step, false};
            jx_matrix b = {plus(c, kernel, tap_offset + k * last->tap_step),
                           c->out_features, false};
            jx_gemm_run(run, &c->gemm, s.count, c->group_out, c->group_in, a, b,
                        true,
                        row + s.first * c->out_features * (int64_t)c->item,
                        s.period * c->out_features);
        }
    } while (next(c, tap, true, 1));
}

/* A group of an image: where its input, its kernel and its output begin, and
 * which of its lines are to be done. */
typedef struct part {
    const char *in, *kernel;
    char *out;
    int64_t from, to;
} part;

static void run_shifted(jx_run *run, const conv *c, const part *p)
{
    int64_t at[JX_MAX_RANK];
    int64_t row = c->axes[c->rank - 1].out * c->out_features * (int64_t)c->item;

    find(c, p->from, 1, at);
    for (int64_t i = p->from; i < p->to && jx_run_lasts(run); i++) {
        shifted_row(run, c, at, p->in, p->kernel, p->out + i * row);
        next(c, at, false, 1);
    }
}

/* ---- columns ---- */

/* `count` taps from `tap` on along the last axis, at one place of the others
 * (whose input begins at `offset`): taps that follow each other in the input
 * are copied at once. */
static void patch_run(const conv *c, const axis *a, int64_t out, int64_t tap,
                      int64_t count, const char *in, char *to)
{
    size_t bytes = (size_t)c->group_in * c->item;

    if (a->base == 1 && a->dilation == 1 && a->in_step == c->group_in) {
        int64_t at = out * a->stride - a->low + tap;
        int64_t skip = at < 0 ? (-at < count ? -at : count) : 0;
        int64_t end = a->in - at < count ? a->in - at : count;
        end = end < skip ? skip : end;
        memset(to, 0, (size_t)skip * bytes);
        memcpy(to + (size_t)skip * bytes, plus(c, in, (at + skip) * a->in_step),
               (size_t)(end - skip) * bytes);
        memset(to + (size_t)end * bytes, 0, (size_t)(count - end) * bytes);
        return;
    }
    for (int64_t k = 0; k < count; k++, to += bytes) {
        int64_t index = index_under(a, out, tap + k);
        if (index < 0)
            memset(to, 0, bytes);
        else
            memcpy(to, plus(c, in, index * a->in_step), bytes);
    }
}

/* One row of patches: `count` taps from `first` on. */
static void patch(const conv *c, const int64_t *at, const char *in,
                  int64_t first, int64_t count, char *to)
{
    int64_t tap[JX_MAX_RANK] = {0}, rest = first;
    size_t bytes = (size_t)c->group_in * c->item;
    int last = c->rank - 1;

    if (last < 0) { /* no spatial axes */
        memcpy(to, in, bytes);
        return;
    }
    for (int i = last; i >= 0; i--) {
        tap[i] = rest % c->axes[i].taps;
        rest /= c->axes[i].taps;
    }
    while (count > 0) {
        int64_t offset = 0, index = 0, run = c->axes[last].taps - tap[last];
        run = run < count ? run : count;
        for (int i = 0; i < last && index >= 0; i++) {
            index = index_under(&c->axes[i], at[i], tap[i]);
            offset += index * c->axes[i].in_step;
        }
        if (index < 0)
            memset(to, 0, (size_t)run * bytes);
        else
            patch_run(c, &c->axes[last], at[last], tap[last], run,
                      plus(c, in, offset), to);
        to += (size_t)run * bytes;
        count -= run;
        tap[last] = 0;
        next(c, tap, true, 1);
    }
}

static void run_columns(jx_run *run, const conv *c, const part *p, char *memory)
{
    int64_t from[JX_MAX_RANK], at[JX_MAX_RANK];
    size_t tap_bytes = (size_t)c->group_in * c->item;

    find(c, p->from, 0, from);
    for (int64_t done = p->from; done < p->to && jx_run_lasts(run);
         done += c->rows) {
        int64_t rows = p->to - done < c->rows ? p->to - done : c->rows;
        for (int64_t t = 0; t < c->taps; t += c->tap_rows) {
            int64_t taps =
                c->taps - t < c->tap_rows ? c->taps - t : c->tap_rows;
            memcpy(at, from, sizeof at);
            for (int64_t r = 0; r < rows; r++) {
                patch(c, at, p->in, t, taps,
                      memory + (size_t)(r * taps) * tap_bytes);
                next(c, at, false, 0);
            }
            jx_matrix a = {memory, taps * c->group_in, false};
            jx_matrix b = {
                plus(c, p->kernel, t * c->group_in * c->out_features),
                c->out_features, false};
            jx_gemm_run(run, &c->gemm, rows, c->group_out, taps * c->group_in,
                        a, b, true,
                        p->out + done * c->out_features * (int64_t)c->item,
                        c->out_features);
        }
        memcpy(from, at, sizeof from);
    }
}

/* ---- depthwise: all groups at once ---- */

JX_VECTOR_CLONES
static void add_products32(float *restrict to, const float *restrict a,
                           const float *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += a[i] * b[i];
}

JX_VECTOR_CLONES
static void add_products64(double *restrict to, const double *restrict a,
                           const double *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += a[i] * b[i];
}

static void run_depthwise(jx_run *run, const conv *c, const part *p)
{
    int64_t at[JX_MAX_RANK], n = c->out_features;
    char *out = p->out + p->from * n * (int64_t)c->item;

    find(c, p->from, 0, at);
    for (int64_t line = p->from; line < p->to && jx_run_lasts(run); line++) {
        int64_t tap[JX_MAX_RANK] = {0};
        const char *weights = p->kernel;
        do {
            int64_t offset = 0, index = 0;
            for (int i = 0; i < c->rank && index >= 0; i++) {
                index = index_under(&c->axes[i], at[i], tap[i]);
                offset += index * c->axes[i].in_step;
            }
            const char *from = plus(c, p->in, offset);
            if (index >= 0 && c->item == 4)
                add_products32((float *)(void *)out,
                               (const float *)(const void *)from,
                               (const float *)(const void *)weights, n);
            else if (index >= 0)
                add_products64((double *)(void *)out,
                               (const double *)(const void *)from,
                               (const double *)(const void *)weights, n);
            weights += n * (int64_t)c->item;
        } while (next(c, tap, true, 0));
        out += n * (int64_t)c->item;
        next(c, at, false, 0);
    }
}

typedef struct job {
    jx_run *run;
    const conv *c;
    const char *in, *kernel;
    char *out, *scratch;
} job;

static void run_part(const job *j, int64_t image, int64_t group, int64_t piece,
                     char *memory)
{
    const conv *c = j->c;
    int64_t from = piece * c->piece, to = from + c->piece;
    part p = {plus(c, j->in,
                   image * c->batch_step + group * c->group_step +
                       group * c->group_batch_step),
              plus(c, j->kernel, group * c->group_out),
              j->out + (image * c->positions * c->out_features +
                        group * c->group_out) *
                           (int64_t)c->item,
              from, to < c->lines ? to : c->lines};

    if (c->way == SHIFTED)
        run_shifted(j->run, c, &p);
    else if (c->way == COLUMNS)
        run_columns(j->run, c, &p, memory);
    else
        run_depthwise(j->run, c, &p);
}

/* Which images, groups and pieces there are is counted
 * through, pieces first. */
static int64_t count_parts(const conv *c)
{
    return c->batch * (c->way == DEPTHWISE ? 1 : c->groups) * c->pieces;
}

static void run_parts(const void *data, int64_t from, int64_t to, int worker)
{
    const job *j = data;
    const conv *c = j->c;
    int64_t groups = c->way == DEPTHWISE ? 1 : c->groups;

    for (int64_t i = from; i < to && jx_run_lasts(j->run); i++)
        run_part(j, i / c->pieces / groups, i / c->pieces % groups,
                 i % c->pieces, j->scratch + (size_t)worker * c->worker_bytes);
}

static bool run_conv(jx_run *run, const void *data, const jx_view *ins,
                     const jx_view *outs, void *scratch)
{
    const conv *c = data;
    job j = {run, c, ins[0].data, ins[1].data, outs[0].data, scratch};

    memset(outs[0].data, 0, (size_t)outs[0].count * c->item);
    if (c->taps > 0 && c->group_in > 0)
        jx_pool_share(c->shared ? jx_run_pool(run) : NULL, run_parts, &j,
                      count_parts(c));
    return true;
}

/* ---- planning ---- */

/* The axes of `slot` in the order of `axes`. */
static jx_slot in_order(const jx_slot *slot, const int *axes)
{
    jx_slot to = *slot;

    for (int i = 0; i < slot->rank; i++) {
        to.shape[i] = slot->shape[axes[i]];
        to.strides[i] = slot->strides[axes[i]];
    }
    return to;
}

/* (a, b, spatial...) -> (a, spatial..., b) for arrays; for the kernel
 * (out, in, spatial...) -> (spatial..., in, out). */
static void layout(const jx_ints *spec, bool kernel, int *axes)
{
    int n = 0;

    if (!kernel)
        axes[n++] = (int)spec->at[0];
    for (int i = 2; i < spec->count; i++)
        axes[n++] = (int)spec->at[i];
    axes[n++] = (int)spec->at[1];
    if (kernel)
        axes[n++] = (int)spec->at[0];
}

static bool is_permutation(const jx_ints *spec, int rank)
{
    uint64_t seen = 0;

    if (spec->count != rank)
        return false;
    for (int i = 0; i < rank; i++) {
        if (spec->at[i] < 0 || spec->at[i] >= rank)
            return false;
        seen |= (uint64_t)1 << spec->at[i];
    }
    return seen == ((uint64_t)1 << rank) - 1;
}

static bool fill_axes(jx_planner *p, const jx_p_conv *params, const jx_slot *in,
                      const jx_slot *kernel, const jx_slot *out, conv *c)
{
    int64_t in_step = c->features, limit = (int64_t)1 << 40;
    int64_t tap_step = c->group_in * c->out_features;

    c->rank = in->rank - 2;
    c->positions = c->taps = 1;
    for (int i = c->rank - 1; i >= 0; i--) {
        axis *a = &c->axes[i];
        *a = (axis){.in = in->shape[1 + i],
                    .out = out->shape[1 + i],
                    .taps = kernel->shape[i],
                    .stride = params->window_strides.at[i],
                    .low = jx_plan_dim(p, params->padding.at[2 * i]),
                    .base = params->lhs_dilation.at[i],
                    .dilation = params->rhs_dilation.at[i],
                    .in_step = in_step,
                    .tap_step = tap_step};
        if (a->stride < 1 || a->base < 1 || a->dilation < 1 ||
            a->stride > limit || a->base > limit || a->dilation > limit ||
            a->low > limit || a->low < -limit)
            return jx_plan_fail(p, "strides and dilations are positive");
        in_step *= a->in;
        tap_step *= a->taps;
        c->positions *= a->out;
        c->taps *= a->taps;
    }
    c->batch_step = in_step;
    return true;
}

/* A kernel of one tap that takes every element as it is: one long row. */
static void flatten(conv *c)
{
    bool plain = c->group_batch_step == 0 && c->rank > 0;

    for (int i = 0; i < c->rank; i++) {
        const axis *a = &c->axes[i];
        plain &= a->taps == 1 && a->stride == 1 && a->low == 0 &&
                 a->base == 1 && a->in == a->out;
    }
    if (!plain)
        return;
    c->axes[0] = c->axes[c->rank - 1];
    c->positions *= c->batch;
    c->axes[0].in = c->axes[0].out = c->positions;
    c->rank = 1;
    c->batch = 1;
}

static void choose(conv *c)
{
    const axis *last = &c->axes[c->rank > 0 ? c->rank - 1 : 0];
    bool is_real = c->gemm.dtype == JX_F32 || c->gemm.dtype == JX_F64;

    if (c->group_in == 1 && c->group_out == 1 && is_real && c->groups > 1 &&
        c->group_batch_step == 0)
        c->way = DEPTHWISE;
    else if (c->rank > 0 && c->group_in >= 32 && last->out >= 8 &&
             last->in_step * last->stride <= INT_MAX)
        c->way = SHIFTED;
    else
        c->way = COLUMNS;
    int64_t most = COLUMNS_BYTES / (int64_t)c->item;
    int64_t per_tap = c->group_in > 0 ? c->group_in : 1;
    c->rows = c->positions < COLUMNS_ROWS ? c->positions : COLUMNS_ROWS;
    c->rows = c->rows < 1 ? 1 : c->rows;
    c->tap_rows = most / (c->rows * per_tap);
    c->tap_rows = c->tap_rows < 1         ? 1
                  : c->tap_rows > c->taps ? c->taps
                                          : c->tap_rows;
}

/* How the work is cut; by sizes alone, since results depend on it. */
static void cut(conv *c)
{
    double work = (double)c->batch * (double)c->positions * (double)c->taps *
                  (double)c->group_in * (double)c->out_features;
    int64_t images = c->batch * (c->way == DEPTHWISE ? 1 : c->groups), pieces;

    c->shared = work >= SHARED_WORK;
    c->lines = c->way == SHIFTED ? c->positions / c->axes[c->rank - 1].out
                                 : c->positions;
    pieces = c->shared && images < PARTS ? (PARTS + images - 1) / images : 1;
    c->piece = (c->lines + pieces - 1) / pieces;
    if (c->way == COLUMNS) /* the products' sizes stay what they are */
        c->piece = (c->piece + c->rows - 1) / c->rows * c->rows;
    c->pieces = (c->lines + c->piece - 1) / c->piece;
    c->worker_bytes = c->way == COLUMNS ? (size_t)(c->rows * c->tap_rows) *
                                              (size_t)c->group_in * c->item
                                        : 0;
}

static bool fill(jx_planner *p, const jx_p_conv *params, const jx_slot *in,
                 const jx_slot *kernel, const jx_slot *out, conv *c)
{
    int rank = in->rank;
    int64_t batch_groups = jx_plan_dim(p, params->batch_group_count);
    int64_t groups = jx_plan_dim(p, params->feature_group_count);

    c->features = in->shape[rank - 1];
    c->group_in = kernel->shape[rank - 2];
    c->out_features = kernel->shape[rank - 1];
    c->batch = out->shape[0];
    c->groups = groups > 1 ? groups : batch_groups;
    if (groups < 1 || batch_groups < 1 || (groups > 1 && batch_groups > 1) ||
        c->features != c->group_in * groups ||
        c->out_features % c->groups != 0 ||
        in->shape[0] != c->batch * batch_groups ||
        out->shape[rank - 1] != c->out_features)
        return jx_plan_fail(p, "groups do not divide the features or the "
                               "batch");
    c->group_out = c->out_features / c->groups;
    if (!fill_axes(p, params, in, kernel, out, c))
        return false;
    c->group_step = groups > 1 ? c->group_in : 0;
    c->group_batch_step = batch_groups > 1 ? c->batch * c->batch_step : 0;
    return true;
}

static bool well_formed(const jx_p_conv *params, const jx_slot *in,
                        const jx_slot *kernel)
{
    const jx_conv_dims *dims = &params->dimension_numbers;
    int rank = in->rank, spatial = rank - 2;

    return rank >= 2 && kernel->rank == rank &&
           is_permutation(&dims->lhs_spec, rank) &&
           is_permutation(&dims->rhs_spec, rank) &&
           is_permutation(&dims->out_spec, rank) &&
           params->window_strides.count == spatial &&
           params->padding.count == spatial &&
           params->lhs_dilation.count == spatial &&
           params->rhs_dilation.count == spatial;
}

static jx_slot operand(jx_planner *p, const jx_slot *in, jx_dtype dtype,
                       const jx_ints *spec, bool kernel)
{
    int axes[JX_MAX_RANK];
    jx_slot slot = jx_plan_convert(p, in, dtype);

    layout(spec, kernel, axes);
    slot = in_order(&slot, axes);
    return jx_plan_dense(p, &slot);
}

/* Of a kernel's elements with the positions of the output, all batches. */
static int64_t products(const jx_slot *out, const jx_slot *kernel,
                        const jx_conv_dims *dims)
{
    int64_t n = jx_slot_count(kernel), features;

    features = out->shape[dims->out_spec.at[1]];
    if (features > 0 && __builtin_mul_overflow(n, jx_slot_count(out), &n))
        return INT64_MAX;
    return features > 0 ? n / features : n;
}

bool jx_plan_conv(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    const jx_p_conv *params = eqn->typed;
    const jx_conv_dims *dims = &params->dimension_numbers;
    int64_t shape[JX_MAX_RANK];
    int axes[JX_MAX_RANK];
    conv c = {0};

    if (!well_formed(params, &ins[0], &ins[1]))
        return jx_plan_fail(p, "the dimension numbers do not fit the operands");
    jx_slot declared = jx_plan_output(p, eqn, 0);
    if (declared.rank != ins[0].rank)
        return jx_plan_fail(p, "the result has the operands' rank");
    jx_dtype dtype = jx_gemm_dtype(declared.dtype, ins[0].dtype, ins[1].dtype,
                                   products(&declared, &ins[1], dims), false);
    layout(&dims->out_spec, false, axes);
    for (int i = 0; i < declared.rank; i++)
        shape[i] = declared.shape[axes[i]];
    jx_slot in = operand(p, &ins[0], dtype, &dims->lhs_spec, false);
    jx_slot kernel = operand(p, &ins[1], dtype, &dims->rhs_spec, true);
    jx_slot out = jx_plan_new(p, dtype, declared.rank, shape);
    if (!fill(p, params, &in, &kernel, &out, &c))
        return false;
    flatten(&c);
    c.item = jx_dtype_of(dtype)->bytes;
    if (!jx_gemm_plan(p, dtype, c.positions, c.out_features,
                      c.taps * c.group_in, false, NULL, &c.gemm))
        return false;
    if (jx_slot_count(&out) > 0) {
        choose(&c);
        cut(&c);
        jx_plan_op(p, run_conv, &c, sizeof c, 2, (jx_slot[]){in, kernel}, 1,
                   &out, c.worker_bytes * (c.shared ? JX_POOL_WORKERS : 1));
    }
    /* Seen in the declared order of axes. */
    jx_slot seen = out;
    for (int i = 0; i < out.rank; i++) {
        seen.shape[axes[i]] = out.shape[i];
        seen.strides[axes[i]] = out.strides[i];
    }
    outs[0] = jx_plan_convert(p, &seen, declared.dtype);
    return true;
}
