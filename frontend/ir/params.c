/* params.c - from the tree of parameters to the primitive's struct.
 *
 * params.def expands into one table of fields per family (name, kind, offset)
 * and one decoder per kind; a primitive's row in prims.def names its family. */
#include "frontend/ir/params.h"
#include "frontend/base/plain.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

jx_closed jx_closed_of_value(jx_arena *arena, const jx_value *value)
{
    const jx_array **consts =
        JX_NEW_ARRAY(arena, value->count, const jx_array *);

    for (int i = 0; consts && i < value->count; i++)
        consts[i] = value->items[i]->array;
    return (jx_closed){value->jaxpr, consts ? value->count : 0, consts};
}

typedef struct decode {
    jx_program *program;
    const char *expected; /* set by a decoder that gives false */
} decode;

static bool want(decode *d, const char *what)
{
    d->expected = what;
    return false;
}

/* ---- a decoder per kind; `to` is the field */

static bool read_boolean(decode *d, const jx_value *v, void *to)
{
    if (v->tag != JX_V_BOOL &&
        !(v->tag == JX_V_INT && (v->integer == 0 || v->integer == 1)))
        return want(d, "True or False");
    *(bool *)to = v->tag == JX_V_BOOL ? v->boolean : v->integer == 1;
    return true;
}

/* Python's booleans are integers, and where JAX takes an integer it takes them
 * (`padding=True` ends up as a pair of them); they are printed as they are. */
static bool integer_of(const jx_value *v, int64_t *to)
{
    if (v->tag != JX_V_INT && v->tag != JX_V_BOOL)
        return false;
    *to = v->tag == JX_V_BOOL ? v->boolean : v->integer;
    return true;
}

static bool read_integer(decode *d, const jx_value *v, void *to)
{
    return integer_of(v, to) || want(d, "an integer");
}

static bool read_real(decode *d, const jx_value *v, void *to)
{
    int64_t integer = 0;

    if (v->tag != JX_V_FLOAT && !integer_of(v, &integer))
        return want(d, "a number");
    *(double *)to = v->tag == JX_V_FLOAT ? v->real : (double)integer;
    return true;
}

static bool read_text(decode *d, const jx_value *v, void *to)
{
    if (v->tag != JX_V_TEXT && v->tag != JX_V_FUNCTION)
        return want(d, "text");
    *(const char **)to = v->text;
    return true;
}

/* numpy's scalar class stands for its dtype (`preferred_element_type` may be
 * `jnp.float32`), and is written as a function of that name. */
static bool read_dtype(decode *d, const jx_value *v, void *to)
{
    jx_dtype dtype = v->tag == JX_V_DTYPE ? v->dtype : JX_DT_NONE;

    if (v->tag == JX_V_FUNCTION && v->text)
        dtype = jx_dtype_named(v->text, strlen(v->text));
    if (dtype == JX_DT_NONE)
        return want(d, "a dtype");
    *(jx_dtype *)to = dtype;
    return true;
}

static const jx_dim *dim_of(decode *d, const jx_value *v)
{
    int64_t integer;

    if (integer_of(v, &integer))
        return jx_dim_int(d->program->dims, integer);
    return v->tag == JX_V_DIM ? v->dim : NULL;
}

static bool read_dim(decode *d, const jx_value *v, void *to)
{
    const jx_dim *dim = dim_of(d, v);

    *(const jx_dim **)to = dim;
    return dim || want(d, "a size (an integer or a symbolic one)");
}

/* A range of Python's is a sequence of integers, too (`jnp.diagonal` and what
 * is like it make dimension numbers of it), and printed as it is. */
static bool read_range(decode *d, const jx_value *v, jx_ints *to)
{
    enum { MOST_AXES = 1024 };
    int first, end, length = 0;

    if (v->tag != JX_V_OPAQUE || !v->detail ||
        strcmp(v->text, "builtins.range") != 0 ||
        sscanf(v->detail, "range(%5d, %5d)%n", &first, &end, &length) != 2 ||
        length == 0 || v->detail[length] || first < -MOST_AXES ||
        end > MOST_AXES)
        return false;
    int count = end > first ? end - first : 0;
    int64_t *at = JX_NEW_ARRAY(d->program->ctx->arena, count, int64_t);
    for (int i = 0; at && i < count; i++)
        at[i] = first + i;
    *to = (jx_ints){at ? count : 0, at};
    return true;
}

static bool read_ints(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a tuple of integers";

    if (read_range(d, v, to))
        return true;
    if (v->tag != JX_V_TUPLE && v->tag != JX_V_SET)
        return want(d, expected);
    int64_t *at = JX_NEW_ARRAY(d->program->ctx->arena, v->count, int64_t);
    for (int i = 0; at && i < v->count; i++)
        if (!integer_of(v->items[i], &at[i]))
            return want(d, expected);
    *(jx_ints *)to = (jx_ints){at ? v->count : 0, at};
    return true;
}

static bool read_positions(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a tuple of integers and names of axes";
    jx_arena *arena = d->program->ctx->arena;
    jx_positions *positions = to;
    int nat = 0, nnames = 0;

    if (v->tag != JX_V_TUPLE && v->tag != JX_V_SET)
        return read_ints(d, v, &positions->at);
    int64_t *at = JX_NEW_ARRAY(arena, v->count, int64_t);
    const char **names = JX_NEW_ARRAY(arena, v->count, const char *);
    for (int i = 0; at && names && i < v->count; i++)
        if (v->items[i]->tag == JX_V_TEXT)
            names[nnames++] = v->items[i]->text;
        else if (!integer_of(v->items[i], &at[nat++]))
            return want(d, expected);
    *positions = (jx_positions){{nat, at}, {nnames, names}};
    return true;
}

/* Sizes in tuples of `width`, flattened; a width of 0 is a plain tuple. */
static bool read_sizes(decode *d, const jx_value *v, int width, void *to,
                       const char *expected)
{
    int each = width ? width : 1, n = 0;

    if (v->tag != JX_V_TUPLE)
        return want(d, expected);
    if (v->count > INT32_MAX / 4)
        return want(d, expected);
    const jx_dim **at =
        JX_NEW_ARRAY(d->program->ctx->arena, (size_t)v->count * (size_t)each,
                     const jx_dim *);
    for (int i = 0; at && i < v->count; i++) {
        const jx_value *item = v->items[i];
        const jx_value *const *parts = width ? item->items : &v->items[i];
        if (width && (item->tag != JX_V_TUPLE || item->count != width))
            return want(d, expected);
        for (int k = 0; k < each; k++) {
            at[n] = dim_of(d, parts[k]);
            if (!at[n++])
                return want(d, expected);
        }
    }
    *(jx_dim_list *)to = (jx_dim_list){at ? v->count : 0, at, true};
    return true;
}

static bool read_dims(decode *d, const jx_value *v, void *to)
{
    return read_sizes(d, v, 0, to, "a tuple of sizes");
}

static bool read_pairs(decode *d, const jx_value *v, void *to)
{
    return read_sizes(d, v, 2, to, "a tuple of pairs (low, high)");
}

static bool read_triples(decode *d, const jx_value *v, void *to)
{
    return read_sizes(d, v, 3, to, "a tuple of triples (low, high, interior)");
}

static bool read_jaxpr(decode *d, const jx_value *v, void *to)
{
    jx_closed *closed = to;

    if (v->tag != JX_V_JAXPR)
        return want(d, "a jaxpr");
    *closed = jx_closed_of_value(d->program->ctx->arena, v);
    return true;
}

static bool read_jaxprs(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a tuple of jaxprs, at least one";

    if (v->tag != JX_V_TUPLE || v->count == 0)
        return want(d, expected);
    jx_closed *at = JX_NEW_ARRAY(d->program->ctx->arena, v->count, jx_closed);
    for (int i = 0; at && i < v->count; i++)
        if (!read_jaxpr(d, v->items[i], &at[i]))
            return want(d, expected);
    *(jx_closed_list *)to = (jx_closed_list){at ? v->count : 0, at};
    return true;
}

const char *const jx_solve_names[JX_SOLVE_PARTS] = {"matvec", "vecmat", "solve",
                                                    "transpose_solve"};

/* Of a record, or of a tuple by position. */
static const jx_value *solve_part(const jx_value *v, int i)
{
    if (v->tag == JX_V_TUPLE)
        return i < v->count ? v->items[i] : NULL;
    return v->tag == JX_V_RECORD ? jx_value_field(v, jx_solve_names[i]) : NULL;
}

static bool read_solve_jaxprs(decode *d, const jx_value *v, void *to)
{
    jx_solve_jaxprs *all = to;

    for (int i = 0; i < JX_SOLVE_PARTS; i++) {
        const jx_value *part = solve_part(v, i);
        if (!part ||
            (part->tag != JX_V_NONE && !read_jaxpr(d, part, &all->part[i])))
            return want(d, "matvec, vecmat, solve and transpose_solve");
    }
    return true;
}

static bool read_solve_counts(decode *d, const jx_value *v, void *to)
{
    jx_solve_counts *counts = to;

    for (int i = 0; i < JX_SOLVE_PARTS; i++) {
        const jx_value *n = solve_part(v, i);
        if (!n || n->tag != JX_V_INT || n->integer < 0 ||
            n->integer > INT32_MAX / 8)
            return want(d,
                        "counts of matvec, vecmat, solve and transpose_solve");
        counts->before[i + 1] = counts->before[i] + (int)n->integer;
    }
    return true;
}

/* Fields of a record that are tuples of integers; one that older versions
 * lack (the batching dims) stays empty. */
static bool read_record(decode *d, const jx_value *v, size_t count,
                        const char *const *names, jx_ints *const *to,
                        size_t required, const char *expected)
{
    if (v->tag != JX_V_RECORD)
        return want(d, expected);
    for (size_t i = 0; i < count; i++) {
        const jx_value *field = jx_value_field(v, names[i]);
        if (!field ? i < required : !read_ints(d, field, to[i]))
            return want(d, expected);
    }
    return true;
}

static bool read_gather(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {
        "offset_dims", "collapsed_slice_dims", "start_index_map",
        "operand_batching_dims", "start_indices_batching_dims"};
    jx_gather_dims *g = to;
    jx_ints *const fields[] = {&g->offset_dims, &g->collapsed_slice_dims,
                               &g->start_index_map, &g->operand_batching_dims,
                               &g->start_indices_batching_dims};

    return read_record(d, v, 5, names, fields, 3, "GatherDimensionNumbers");
}

static bool read_scatter(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {
        "update_window_dims", "inserted_window_dims",
        "scatter_dims_to_operand_dims", "operand_batching_dims",
        "scatter_indices_batching_dims"};
    jx_scatter_dims *s = to;
    jx_ints *const fields[] = {&s->update_window_dims, &s->inserted_window_dims,
                               &s->scatter_dims_to_operand_dims,
                               &s->operand_batching_dims,
                               &s->scatter_indices_batching_dims};

    return read_record(d, v, 5, names, fields, 3, "ScatterDimensionNumbers");
}

static bool read_conv(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {"lhs_spec", "rhs_spec", "out_spec"};
    jx_conv_dims *c = to;
    jx_ints *const fields[] = {&c->lhs_spec, &c->rhs_spec, &c->out_spec};

    return read_record(d, v, 3, names, fields, 3, "ConvDimensionNumbers");
}

static bool is_pair(const jx_value *v)
{
    return v->tag == JX_V_TUPLE && v->count == 2;
}

static bool read_dot(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "((lhs contracting, rhs contracting), "
                                   "(lhs batch, rhs batch))";
    jx_dot_dims *dims = to;

    if (!is_pair(v) || !is_pair(v->items[0]) || !is_pair(v->items[1]))
        return want(d, expected);
    return (read_ints(d, v->items[0]->items[0], &dims->lhs_contracting) &&
            read_ints(d, v->items[0]->items[1], &dims->rhs_contracting) &&
            read_ints(d, v->items[1]->items[0], &dims->lhs_batch) &&
            read_ints(d, v->items[1]->items[1], &dims->rhs_batch)) ||
           want(d, expected);
}

static bool read_ragged(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "RaggedDotDimensionNumbers";
    jx_ragged_dims *dims = to;

    if (v->tag != JX_V_RECORD || v->count != 3)
        return want(d, expected);
    return (read_dot(d, v->items[0], &dims->dot) &&
            read_ints(d, v->items[1], &dims->of_lhs) &&
            read_ints(d, v->items[2], &dims->groups) &&
            dims->of_lhs.count == 1) ||
           want(d, expected);
}

/* `names` from 1 on; the input says "Class.NAME", or the number that the class
 * gives it (JAX prints some of them so). */
static bool read_enum(decode *d, const jx_value *v, size_t count,
                      const char *const *names, const int64_t *numbers, int *to,
                      const char *expected)
{
    const char *dot = v->tag == JX_V_ENUM ? strrchr(v->text, '.') : NULL;
    const char *name = dot                   ? dot + 1
                       : v->tag == JX_V_ENUM ? v->text
                       : v->tag == JX_V_TEXT ? v->text
                                             : NULL;

    for (size_t i = 1; i < count; i++)
        if (name ? jx_is_word(name, names[i])
                 : v->tag == JX_V_INT && v->integer == numbers[i]) {
            *to = (int)i;
            return true;
        }
    return want(d, expected);
}

static bool read_mode(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {[JX_MODE_CLIP] = "CLIP",
                                        [JX_MODE_FILL_OR_DROP] = "FILL_OR_DROP",
                                        [JX_MODE_PROMISE_IN_BOUNDS] =
                                            "PROMISE_IN_BOUNDS",
                                        [JX_MODE_ONE_HOT] = "ONE_HOT"};
    static const int64_t numbers[] = {[JX_MODE_CLIP] = 0,
                                      [JX_MODE_FILL_OR_DROP] = 1,
                                      [JX_MODE_PROMISE_IN_BOUNDS] = 2,
                                      [JX_MODE_ONE_HOT] = 3};
    int found = 0;
    bool ok = read_enum(d, v, 5, names, numbers, &found,
                        "a GatherScatterMode (CLIP, FILL_OR_DROP, "
                        "PROMISE_IN_BOUNDS or ONE_HOT)");

    *(jx_gather_mode *)to = (jx_gather_mode)found;
    return ok;
}

static bool read_fft_kind(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {[JX_FFT] = "FFT",
                                        [JX_IFFT] = "IFFT",
                                        [JX_RFFT] = "RFFT",
                                        [JX_IRFFT] = "IRFFT"};
    static const int64_t numbers[] = {
        [JX_FFT] = 0, [JX_IFFT] = 1, [JX_RFFT] = 2, [JX_IRFFT] = 3};
    int found = 0;
    bool ok = read_enum(d, v, 5, names, numbers, &found,
                        "an FftType (FFT, IFFT, RFFT or IRFFT)");

    *(jx_fft_kind *)to = (jx_fft_kind)found;
    return ok;
}

static bool read_rounding(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {
        [JX_ROUND_AWAY_FROM_ZERO] = "AWAY_FROM_ZERO",
        [JX_ROUND_TO_NEAREST_EVEN] = "TO_NEAREST_EVEN"};
    static const int64_t numbers[] = {
        [JX_ROUND_AWAY_FROM_ZERO] = 0, [JX_ROUND_TO_NEAREST_EVEN] = 1};
    int found = 0;
    bool ok = read_enum(d, v, 3, names, numbers, &found,
                        "a RoundingMethod (AWAY_FROM_ZERO or "
                        "TO_NEAREST_EVEN)");

    *(jx_rounding *)to = (jx_rounding)found;
    return ok;
}

static bool read_algorithm(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {[JX_RNG_DEFAULT] = "RNG_DEFAULT",
                                        [JX_RNG_THREEFRY] = "RNG_THREE_FRY",
                                        [JX_RNG_PHILOX] = "RNG_PHILOX"};
    static const int64_t numbers[] = {
        [JX_RNG_DEFAULT] = 0, [JX_RNG_THREEFRY] = 1, [JX_RNG_PHILOX] = 2};
    int found = 0;
    bool ok = read_enum(d, v, 4, names, numbers, &found,
                        "a RandomAlgorithm (RNG_DEFAULT, RNG_THREE_FRY or "
                        "RNG_PHILOX)");

    *(jx_rng_algorithm *)to = (jx_rng_algorithm)found;
    return ok;
}

static bool read_distribution(decode *d, const jx_value *v, void *to)
{
    static const char *const names[] = {
        [JX_UNIFORM] = "UNIFORM", [JX_NORMAL] = "NORMAL"};
    static const int64_t numbers[] = {[JX_UNIFORM] = 1, [JX_NORMAL] = 2};
    int found = 0;
    bool ok = read_enum(d, v, 3, names, numbers, &found,
                        "a distribution (UNIFORM or NORMAL)");

    *(jx_distribution *)to = (jx_distribution)found;
    return ok;
}

static bool read_groups(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a tuple of tuples of devices";

    if (v->tag != JX_V_TUPLE)
        return want(d, expected);
    jx_ints *at = JX_NEW_ARRAY(d->program->ctx->arena, v->count, jx_ints);
    for (int i = 0; at && i < v->count; i++)
        if (!read_ints(d, v->items[i], &at[i]))
            return want(d, expected);
    *(jx_groups *)to = (jx_groups){at ? v->count : 0, at};
    return true;
}

/* One text stands for a tuple of one, None for an empty one. */
static bool read_texts(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a tuple of names of axes";
    int count = v->tag == JX_V_TUPLE || v->tag == JX_V_SET ? v->count
                : v->tag == JX_V_TEXT                      ? 1
                                                           : 0;

    if (count == 0 && v->tag != JX_V_TUPLE && v->tag != JX_V_SET &&
        v->tag != JX_V_NONE)
        return want(d, expected);
    const char **at = JX_NEW_ARRAY(d->program->ctx->arena, count, const char *);
    for (int i = 0; at && i < count; i++) {
        const jx_value *item = v->tag == JX_V_TEXT ? v : v->items[i];
        if (item->tag != JX_V_TEXT)
            return want(d, expected);
        at[i] = item->text;
    }
    *(jx_axis_names *)to = (jx_axis_names){at ? count : 0, at};
    return true;
}

static bool read_marks(decode *d, const jx_value *spec, jx_sharding *to)
{
    to->kind = spec->text;
    return (!spec->unreduced ||
            read_texts(d, spec->unreduced, &to->unreduced)) &&
           (!spec->reduced || read_texts(d, spec->reduced, &to->reduced));
}

/* For each array, for each of its axes the names of axes of a mesh that cut it:
 * a value of this tag with tuples of names. */
static bool read_cuts(decode *d, const jx_value *v, jx_value_tag tag,
                      const char *expected, jx_shardings *to)
{
    jx_arena *arena = d->program->ctx->arena;
    jx_sharding *at;

    if (v->tag != JX_V_TUPLE)
        return want(d, expected);
    at = JX_NEW_ARRAY(arena, v->count, jx_sharding);
    for (int i = 0; at && i < v->count; i++) {
        const jx_value *item = v->items[i];
        jx_axis_names *axes;

        if (item->tag != tag)
            return want(d, expected);
        axes = JX_NEW_ARRAY(arena, item->count, jx_axis_names);
        for (int k = 0; axes && k < item->count; k++)
            if (!read_texts(d, item->items[k], &axes[k]))
                return want(d, expected);
        at[i] = (jx_sharding){.rank = axes ? item->count : 0, .axes = axes};
        if (tag == JX_V_SPEC && !read_marks(d, item, &at[i]))
            return want(d, expected);
    }
    *to = (jx_shardings){at ? v->count : 0, at};
    return true;
}

static bool read_specs(decode *d, const jx_value *v, void *to)
{
    return read_cuts(d, v, JX_V_SPEC, "a tuple of PartitionSpecs", to);
}

static bool read_shardings(decode *d, const jx_value *v, void *to)
{
    return read_cuts(d, v, JX_V_TUPLE,
                     "a tuple that has, for each array, a tuple of names of "
                     "mesh axes for each of its axes",
                     to);
}

static bool read_prim(decode *d, const jx_value *v, void *to)
{
    if (v->tag != JX_V_PRIM)
        return want(d, "a primitive");
    *(const char **)to = v->text;
    return true;
}

static bool read_rule(decode *d, const jx_value *v, void *to)
{
    if (v->tag != JX_V_RULE)
        return want(d, "a rule");
    *(const struct jx_rule **)to = v->rule;
    return true;
}

static bool read_impl(decode *d, const jx_value *v, void *to)
{
    if (v->tag != JX_V_IMPL && v->tag != JX_V_TEXT)
        return want(d, "a PRNG implementation");
    *(const char **)to = v->text;
    return true;
}

static bool read_value(decode *d, const jx_value *v, void *to)
{
    (void)d;
    *(const jx_value **)to = v;
    return true;
}

static bool read_shown(decode *d, const jx_value *v, void *to)
{
    static const char expected[] = "a map from names to values";
    const jx_value *map = v->tag == JX_V_SHOWN ? v->shown : NULL;

    if (!map || map->tag != JX_V_MAP)
        return want(d, expected);
    for (int i = 0; i < map->count; i += 2)
        if (map->items[i]->tag != JX_V_TEXT)
            return want(d, expected);
    *(const jx_value **)to = map;
    return true;
}

/* ---- optional kinds: None is zero, else as the kind itself */

#define OPTIONAL(kind)                                                         \
    static bool read_opt_##kind(decode *d, const jx_value *v, void *to)        \
    {                                                                          \
        return v->tag == JX_V_NONE || read_##kind(d, v, to);                   \
    }
OPTIONAL(boolean)
OPTIONAL(integer)
OPTIONAL(text)
OPTIONAL(texts)
OPTIONAL(groups)
OPTIONAL(dtype)
OPTIONAL(ints)
OPTIONAL(dims)
OPTIONAL(jaxpr)
OPTIONAL(value)
OPTIONAL(shown)
#undef OPTIONAL

/* Where a rule could not be dumped, a function or a mark stands in its place;
 * that is no rule then, not a wrong parameter. */
static bool read_opt_rule(decode *d, const jx_value *v, void *to)
{
    return v->tag != JX_V_RULE || read_rule(d, v, to);
}

static bool read_opt_definition(decode *d, const jx_value *v, void *to)
{
    (void)d;
    *(const struct jx_definition **)to =
        v->tag == JX_V_DEFINITION ? v->definition : NULL;
    return true;
}

static bool read_opt_exported(decode *d, const jx_value *v, void *to)
{
    const char *expected = jx_called_export_decode(d->program, v, to);

    return !expected || want(d, expected);
}

static bool read_path(decode *d, const jx_value *v, void *to)
{
    const char *expected = jx_ref_path_decode(d->program, v, to);

    return !expected || want(d, expected);
}

typedef bool reader(decode *d, const jx_value *v, void *to);

typedef struct field {
    const char *name, *kind;
    size_t offset;
    reader *read;
    bool optional;
} field;

typedef struct schema {
    size_t size, nfields;
    const field *fields;
} schema;

/* A field's row; its struct is `jx_p_here` while a family is expanded. */
#define FIELD(kind, name)                                                      \
    {#name, #kind, offsetof(jx_p_here, name), read_##kind,                     \
     sizeof #kind > 4 && #kind[0] == 'o' && #kind[3] == '_'},
#define PARAMS(name, ...)                                                      \
    static const field *fields_##name(size_t *count)                           \
    {                                                                          \
        typedef jx_p_##name jx_p_here;                                         \
        static const field fields[] = {                                        \
            __VA_ARGS__{NULL, NULL, 0, NULL, false}};                          \
        *count = sizeof fields / sizeof *fields - 1;                           \
        return (void)offsetof(jx_p_here, jx_nothing), fields;                  \
    }
#include "frontend/ir/params.def"
#undef PARAMS
#undef FIELD

static schema schema_of(jx_prim_id id)
{
    schema s = {0};

    switch (id) {
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    case JX_PRIM_##id:                                                         \
        s.size = sizeof(jx_p_##params);                                        \
        s.fields = fields_##params(&s.nfields);                                \
        break;
#include "frontend/ir/prims.def"
#undef PRIM
    case JX_PRIM_unknown:
    case JX_NPRIMS: break;
    }
    return s;
}

const void *jx_params_decode(jx_program *program, const jx_eqn *eqn,
                             const char **why)
{
    jx_arena *arena = program->ctx->arena;
    schema s = schema_of(eqn->prim->id);
    char *to = s.size ? jx_arena_alloc(arena, s.size) : NULL;

    *why = to ? NULL : "the primitive is unknown";
    for (size_t i = 0; to && i < s.nfields; i++) {
        const field *f = &s.fields[i];
        const jx_value *v = jx_eqn_param(eqn, f->name);
        decode d = {.program = program};
        if (!v && f->optional)
            continue;
        if (!v)
            *why = jx_arena_printf(arena, "%s: parameter '%s' is missing",
                                   eqn->prim->name, f->name);
        else if (!f->read(&d, v, to + f->offset))
            *why = jx_arena_printf(arena, "%s: parameter '%s': expected %s",
                                   eqn->prim->name, f->name, d.expected);
        if (*why || jx_arena_failed(arena))
            return NULL;
    }
    return to;
}

/* JAX has called it by two names; one is there (jx_eqn_misfit). */
static const jx_closed *callee_of_composite(const jx_p_composite *p)
{
    return p->jaxpr.jaxpr ? &p->jaxpr : &p->call_jaxpr;
}

static const jx_closed *callee_of_hi(const jx_p_hi_call *p)
{
    return p->jaxpr.jaxpr ? &p->jaxpr : NULL;
}

const jx_array *jx_eqn_module(const jx_eqn *eqn)
{
    const jx_value *module =
        eqn->prim->id == JX_PRIM_call_library_primitive && eqn->typed
            ? ((const jx_p_hi_call *)eqn->typed)->module
            : NULL;

    return module && module->tag == JX_V_CONST ? module->array : NULL;
}

const jx_closed *jx_eqn_callee(const jx_eqn *eqn)
{
    if (!eqn->typed)
        return NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_jit:
    case JX_PRIM_pjit:
    case JX_PRIM_remat2:
    case JX_PRIM_checkpoint: return &((const jx_p_call *)eqn->typed)->jaxpr;
    case JX_PRIM_closed_call:
    case JX_PRIM_core_call:
    case JX_PRIM_eval_jaxpr:
    case JX_PRIM_program_order:
        return &((const jx_p_closed_call *)eqn->typed)->call_jaxpr;
    case JX_PRIM_composite: return callee_of_composite(eqn->typed);
    case JX_PRIM_call_hi_primitive:
    case JX_PRIM_call_hi_primitive_linearized:
    case JX_PRIM_call_library_primitive: return callee_of_hi(eqn->typed);
    case JX_PRIM_remat_opt:
        return &((const jx_p_remat_opt *)eqn->typed)->fwd_jaxpr;
    case JX_PRIM_custom_vmap_call:
        return &((const jx_p_custom_vmap *)eqn->typed)->call;
    case JX_PRIM_linear_call:
        return &((const jx_p_linear_call *)eqn->typed)->callee;
    case JX_PRIM_custom_jvp_call:
        return &((const jx_p_custom_jvp *)eqn->typed)->call_jaxpr;
    case JX_PRIM_custom_vjp_call:
        return &((const jx_p_custom_vjp *)eqn->typed)->call_jaxpr;
    default: return NULL;
    }
}

bool jx_polynomial_loops(const jx_eqn *eqn)
{
    const jx_p_polynomial *p = eqn->typed;
    const jx_value *given = jx_eqn_param(eqn, "unroll");
    int64_t most = given && given->tag != JX_V_NONE ? p->unroll : 8;

    return eqn->nins - 1 > most;
}

bool jx_prim_is_hi(const jx_prim *prim)
{
    return prim->id == JX_PRIM_call_hi_primitive ||
           prim->id == JX_PRIM_call_hi_primitive_linearized ||
           prim->id == JX_PRIM_call_library_primitive;
}

int jx_scatter_window_axis(const jx_scatter_dims *dims, int axis)
{
    int window = 0;

    for (int i = 0; i <= axis; i++) {
        bool single = jx_ints_hold(dims->inserted_window_dims, i) ||
                      jx_ints_hold(dims->operand_batching_dims, i);
        if (i == axis)
            return single || window >= dims->update_window_dims.count
                       ? -1
                       : (int)dims->update_window_dims.at[window];
        window += !single;
    }
    return -1;
}

/* Older releases of JAX say that the update is taken by a jaxpr
 * that gives it. */
bool jx_scatter_applies(const jx_eqn *eqn)
{
    const jx_jaxpr *update =
        eqn->prim->id == JX_PRIM_scatter && eqn->typed
            ? ((const jx_p_scatter *)eqn->typed)->update_jaxpr.jaxpr
            : NULL;

    return update &&
           !(update->nins == 2 && update->nouts == 1 && update->outs[0].var &&
             update->outs[0].var == update->vars[update->nconsts + 1]);
}

bool jx_eqn_mode_is_chosen(const jx_eqn *eqn)
{
    return eqn->name_stack && strstr(eqn->name_stack, "jaxvet_mode") != NULL;
}

const char *jx_eqn_name(const jx_eqn *eqn)
{
    const jx_p_hi_call *p = jx_prim_is_hi(eqn->prim) ? eqn->typed : NULL;

    return p && p->name ? p->name : eqn->prim->name;
}

jx_axis_names jx_eqn_mesh_axes(const jx_eqn *eqn)
{
    static const jx_axis_names none = {0, NULL};
    const void *p = eqn->typed;

    if (!p)
        return none;
    switch (eqn->prim->id) {
    case JX_PRIM_psum:
    case JX_PRIM_pmax:
    case JX_PRIM_pmin: return ((const jx_p_allreduce *)p)->axes.names;
    case JX_PRIM_psum_invariant:
    case JX_PRIM_pvary: return ((const jx_p_mesh_axes *)p)->axes;
    case JX_PRIM_axis_index: return ((const jx_p_axis_index *)p)->axis_name;
    case JX_PRIM_ppermute: return ((const jx_p_ppermute *)p)->axis_name;
    case JX_PRIM_pbroadcast: return ((const jx_p_pbroadcast *)p)->axis_name;
    case JX_PRIM_all_gather:
    case JX_PRIM_all_gather_invariant:
        return ((const jx_p_mesh_gather *)p)->axis_name;
    case JX_PRIM_reduce_scatter:
        return ((const jx_p_mesh_scatter *)p)->axis_name;
    case JX_PRIM_all_to_all: return ((const jx_p_mesh_exchange *)p)->axis_name;
    case JX_PRIM_ragged_all_to_all:
        return ((const jx_p_mesh_ragged *)p)->axis_name;
    default: return none;
    }
}

/* Across axes of which nobody knows how many devices they have. */
static bool crosses_devices(const jx_eqn *eqn)
{
    return jx_eqn_mesh_axes(eqn).count && !(eqn->ctx && eqn->ctx->axes);
}

bool jx_sharding_is_marked(const jx_sharding *how)
{
    return how->unreduced.count || how->reduced.count;
}

static bool takes_summands(const jx_eqn *eqn)
{
    const jx_p_shard_map *p =
        eqn->prim->id == JX_PRIM_shard_map ? eqn->typed : NULL;
    bool any = false;

    for (int i = 0; p && i < p->in_specs.count; i++)
        any |= jx_sharding_is_marked(&p->in_specs.at[i]);
    for (int i = 0; p && i < p->out_specs.count; i++)
        any |= jx_sharding_is_marked(&p->out_specs.at[i]);
    return any;
}

bool jx_eqn_is_unknown(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_unknown || crosses_devices(eqn) ||
           takes_summands(eqn) ||
           (jx_prim_is_hi(eqn->prim) && !jx_eqn_callee(eqn));
}

bool jx_eqn_calls_back(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_pure_callback:
    case JX_PRIM_io_callback:
    case JX_PRIM_debug_callback:
    case JX_PRIM_debug_print: return true;
    default: return false;
    }
}

const jx_value *jx_param_keep(jx_program *program, const jx_prim *prim,
                              const char *name, const jx_value *value)
{
    jx_value v = {.tag = JX_V_SHOWN, .shown = value};
    const char *kind =
        value && jx_prim_is_hi(prim) ? jx_params_kind(prim->id, name) : NULL;

    return kind && !strcmp(kind, "opt_shown") && value->tag != JX_V_NONE &&
                   value->tag != JX_V_SHOWN
               ? jx_value_add(&program->values, &v)
               : value;
}

const char *jx_params_kind(jx_prim_id id, const char *name)
{
    schema s = schema_of(id);

    for (size_t i = 0; i < s.nfields; i++)
        if (!strcmp(s.fields[i].name, name))
            return s.fields[i].kind;
    return NULL;
}
