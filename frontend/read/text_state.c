/* text_state.c - which part of a reference is read or written, as JAX
 * prints it: `[1,b:b+2,:]{reshape([4, 3])}[c,0]` (frontend/ir/print_state.c
 * has the forms).
 *
 * Strides are not in the text.  A slice is one of stride 1 where no other fits;
 * else its stride is None, and which elements are meant is not known. */
#include "frontend/base/plain.h"
#include "frontend/read/text_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 64, MOST_STEPS = 16 };

typedef struct path {
    jx_text *t;
    const jx_text_scope *scope;
    const jx_dim *shape[2 * MOST_AXES]; /* of what the steps so far lead to */
    int rank;
    jx_dtype dtype;
    JX_VEC(jx_atom) operands;
    const jx_value *steps[MOST_STEPS];
    int count;
} path;

/* Of an indexer being read. */
typedef struct indexer {
    const jx_value *items[MOST_AXES];
    const jx_dim *kept[2 * MOST_AXES]; /* the shape of the part */
    const jx_dim *const *index;        /* that of the indices */
    int rank, nkept, nindex;
    bool given;         /* an index came, ... */
    bool closed, apart; /* a slice behind it, another index */
} indexer;

static const jx_value *record(path *p, const char *name, int count,
                              const char *const *keys,
                              const jx_value *const *items)
{
    const char *names[4];
    jx_value v = {.tag = JX_V_RECORD, .count = count, .items = items};

    for (int i = 0; i < count; i++)
        names[i] = jx_text_intern(p->t, keys[i], keys[i] + strlen(keys[i]));
    v.keys = names;
    v.text = jx_text_intern(p->t, name, name + strlen(name));
    return jx_text_add(p->t, &v);
}

static const jx_value *none(path *p)
{
    return jx_text_plain(p->t, JX_V_NONE, NULL);
}

static const jx_value *dim_value(path *p, const jx_dim *dim)
{
    jx_value v = {.tag = JX_V_DIM, .dim = dim};

    if (!dim)
        return none(p);
    if (jx_dim_is_int(dim, &v.integer))
        v = (jx_value){.tag = JX_V_INT, .integer = v.integer};
    return jx_text_add(p->t, &v);
}

static const jx_value *tuple(path *p, int count, const jx_value *const *items)
{
    jx_value v = {.tag = JX_V_TUPLE, .count = count, .items = items};

    return jx_text_add(p->t, &v);
}

static const jx_value *dims_value(path *p, int count, const jx_dim *const *dims)
{
    const jx_value *items[2 * MOST_AXES];

    for (int i = 0; i < count; i++)
        items[i] = dim_value(p, dims[i]);
    return tuple(p, count, items);
}

static const jx_dim *read_dim(path *p, const char *begin, const char *end)
{
    const char *expected = NULL;
    size_t stopped = 0;
    const jx_dim *dim =
        jx_dim_parse(p->t->program->dims, begin, (size_t)(end - begin), 0,
                     &stopped, &expected);

    if (!dim)
        jx_text_fail(p->t, begin + stopped, "expected %s in an index",
                     expected ? expected : "a number");
    return dim;
}

/* A variable of that name, or a number. */
static bool read_operand(path *p, const char *begin, const char *end)
{
    jx_atom atom = jx_text_named(p->t, p->scope, begin, end);
    jx_dims *dims = p->t->program->dims;
    jx_literal *literal;
    const jx_dim *dim;
    int64_t value;

    if (!atom.var) {
        dim = read_dim(p, begin, end);
        literal = JX_NEW(p->t->ctx->arena, jx_literal);
        if (!dim || !literal || !dims)
            return false;
        if (!jx_dim_is_int(dim, &value) || value < INT32_MIN ||
            value > INT32_MAX)
            return jx_text_fail(p->t, begin,
                                "expected a variable defined "
                                "before, or a number");
        literal->aval =
            jx_aval_array(&p->t->program->avals, JX_I32, false, 0, NULL);
        memcpy(literal->bits, &value, 4);
        atom.literal = literal;
    }
    JX_PUSH(p->t->ctx->arena, &p->operands, atom);
    return true;
}

/* The stride of a slice, if it can be but one. */
static bool is_plain(path *p, const jx_dim *start, const jx_dim *size,
                     const jx_dim *of)
{
    int64_t first = 0, count, all;

    (void)p;
    if (size == of || (jx_dim_is_int(size, &count) && count < 2))
        return true;
    if (!jx_dim_is_int(size, &count) || !jx_dim_is_int(of, &all) ||
        (start && !jx_dim_is_int(start, &first)) || count > INT32_MAX ||
        first > INT32_MAX || first < 0)
        return false;
    return first + 2 * (count - 1) >= all;
}

static bool put_slice(path *p, indexer *x, const jx_dim *start,
                      const jx_dim *size)
{
    static const char *const keys[] = {"start", "size", "stride"};
    const jx_dim *of = p->shape[x->rank];
    jx_value one = {.tag = JX_V_INT, .integer = 1};
    const jx_value *items[] = {
        dim_value(p, start), dim_value(p, size),
        is_plain(p, start, size, of) ? jx_text_add(p->t, &one) : none(p)};

    x->items[x->rank++] = record(p, "Slice", 3, keys, items);
    x->kept[x->nkept++] = size;
    x->closed = x->given;
    return !p->t->failed;
}

/* `1:3`, `:`, `b:b+2`, `Literal(1):3`; the colon is at `colon`. */
static bool read_slice(path *p, indexer *x, const char *begin,
                       const char *colon, const char *end)
{
    static const char open[] = "Literal(";
    jx_dims *dims = p->t->program->dims;
    size_t n = (size_t)(colon - begin), m = sizeof open - 1;
    const jx_dim *start, *stop, *size;

    bool repeated = n && (size_t)(end - colon) > n + 2 &&
                    !memcmp(colon + 1, begin, n) && colon[n + 1] == '+' &&
                    colon[n + 2] != ' ';
    if (repeated && jx_text_named(p->t, p->scope, begin, colon).var) {
        size = read_dim(p, colon + n + 2, end);
        return size && read_operand(p, begin, colon) &&
               put_slice(p, x, NULL, size);
    }
    bool literal = n > m && !memcmp(begin, open, m) && colon[-1] == ')';
    if (literal && !read_operand(p, begin + m, colon - 1))
        return false;
    start = literal ? read_dim(p, begin + m, colon - 1)
            : n     ? read_dim(p, begin, colon)
                    : jx_dim_int(dims, 0);
    stop = colon + 1 < end ? read_dim(p, colon + 1, end) : p->shape[x->rank];
    size = start && stop ? jx_dim_sub(dims, stop, start) : NULL;
    return size && put_slice(p, x, literal ? NULL : start, size);
}

static bool read_index(path *p, indexer *x, const char *begin, const char *end)
{
    const jx_aval *aval;

    if (!read_operand(p, begin, end))
        return false;
    aval = jx_atom_aval(p->operands.at[p->operands.count - 1]);
    if (aval->rank > MOST_AXES - MOST_AXES / 2)
        return jx_text_fail(p->t, begin, "an index of too many axes");
    x->apart |= x->closed;
    x->items[x->rank++] = none(p);
    if (aval->rank && !x->nindex) {
        x->index = aval->shape;
        x->nindex = aval->rank;
    }
    if (!x->given)
        x->kept[x->nkept++] = NULL; /* they go here, if no slice parts them */
    x->given = true;
    return true;
}

/* Up to the comma or the bracket that ends this axis; *colon is
 * in it, or NULL. */
static const char *axis_end(const jx_text *t, const char **colon)
{
    const char *at = t->at;
    int depth = 0;

    *colon = NULL;
    for (; at < t->end && *at != '\n'; at++) {
        if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        if (depth == 0 && *at == ':' && !*colon)
            *colon = at;
        depth += (*at == '(') - (*at == ')');
    }
    return NULL;
}

/* The shape of the part becomes that of the path. */
static bool shape_part(path *p, const indexer *x)
{
    int rank = 0;

    if (x->nkept + x->nindex > MOST_AXES)
        return jx_text_fail(p->t, p->t->at, "a part of too many axes");
    for (int i = 0; x->apart && i < x->nindex; i++)
        p->shape[rank++] = x->index[i];
    for (int i = 0; i < x->nkept; i++) {
        if (x->kept[i])
            p->shape[rank++] = x->kept[i];
        for (int k = 0; !x->kept[i] && !x->apart && k < x->nindex; k++)
            p->shape[rank++] = x->index[k];
    }
    p->rank = rank;
    return true;
}

static bool read_indexer(path *p)
{
    static const char *const keys[] = {"indices", "shape", "int_indexer_shape"};
    jx_text *t = p->t;
    indexer x = {0};
    const char *colon, *end;

    while (x.rank < p->rank) {
        end = axis_end(t, &colon);
        if (!end || end == t->at)
            return jx_text_fail(t, t->at, "expected an index for each axis");
        if (colon ? !read_slice(p, &x, t->at, colon, end)
                  : !read_index(p, &x, t->at, end))
            return false;
        t->at = end;
        if (x.rank < p->rank && !jx_text_expect(t, ","))
            return false;
    }
    const jx_value *items[] = {tuple(p, x.rank, x.items),
                               dims_value(p, p->rank, p->shape),
                               dims_value(p, x.nindex, x.index)};
    p->steps[p->count++] = record(p, "NDIndexer", 3, keys, items);
    return jx_text_expect(t, "]") && shape_part(p, &x);
}

/* `4, 3])` */
static bool read_numbers(path *p, const jx_dim **to, int *count)
{
    jx_text *t = p->t;

    *count = 0;
    while (!jx_text_take(t, "]")) {
        const char *colon, *end = axis_end(t, &colon);
        if (!end || *count == MOST_AXES ||
            !(to[*count] = read_dim(p, t->at, end)))
            return jx_text_fail(t, t->at, "expected numbers and ']'");
        ++*count;
        t->at = end;
        jx_text_take(t, ",");
        jx_text_space(t);
    }
    return jx_text_expect(t, ")}");
}

static bool read_reshape(path *p)
{
    static const char *const keys[] = {"shape"};
    const jx_value *items[1];

    if (!read_numbers(p, p->shape, &p->rank))
        return false;
    items[0] = dims_value(p, p->rank, p->shape);
    p->steps[p->count++] = record(p, "ReshapeTransform", 1, keys, items);
    return true;
}

static bool read_transpose(path *p)
{
    static const char *const keys[] = {"permutation"};
    const jx_dim *order[MOST_AXES], *shape[MOST_AXES];
    const jx_value *items[1];
    int64_t axis;
    int count;

    if (!read_numbers(p, order, &count))
        return false;
    for (int i = 0; i < count; i++) {
        if (count != p->rank || !jx_dim_is_int(order[i], &axis) || axis < 0 ||
            axis >= count)
            return jx_text_fail(p->t, p->t->at, "expected the order of %d axes",
                                p->rank);
        shape[i] = p->shape[axis];
    }
    items[0] = dims_value(p, count, order);
    p->steps[p->count++] = record(p, "TransposeTransform", 1, keys, items);
    memcpy(p->shape, shape, (size_t)count * sizeof *shape);
    return true;
}

/* `int32)}`: the second axis from the end grows or shrinks with the width. */
static bool read_bitcast(path *p)
{
    static const char *const keys[] = {"dtype"};
    jx_text *t = p->t;
    jx_dims *dims = t->program->dims;
    const char *at = t->at;
    jx_value v = {.tag = JX_V_DTYPE};
    const jx_value *items[1];
    int from = jx_dtype_of(p->dtype)->bits, to;

    while (t->at < t->end && (jx_is_alnum(*t->at) || *t->at == '_'))
        t->at++;
    v.dtype = jx_dtype_named(at, (size_t)(t->at - at));
    if (v.dtype == JX_DT_NONE)
        return jx_text_fail(t, at, "expected a dtype");
    v.text = jx_text_intern(t, at, t->at);
    items[0] = jx_text_add(t, &v);
    to = jx_dtype_of(v.dtype)->bits;
    if (p->rank > 1 && from > to && to && from % to == 0)
        p->shape[p->rank - 2] = jx_dim_mul(dims, p->shape[p->rank - 2],
                                           jx_dim_int(dims, from / to));
    if (p->rank > 1 && to > from && from && to % from == 0)
        p->shape[p->rank - 2] = jx_dim_floordiv(dims, p->shape[p->rank - 2],
                                                jx_dim_int(dims, to / from));
    p->dtype = v.dtype;
    p->steps[p->count++] = record(p, "BitcastTransform", 1, keys, items);
    return jx_text_expect(t, ")}");
}

static bool read_step(path *p)
{
    if (p->count == MOST_STEPS)
        return jx_text_fail(p->t, p->t->at, "more than %d steps", MOST_STEPS);
    if (jx_text_take(p->t, "["))
        return read_indexer(p);
    if (jx_text_take(p->t, "{reshape(["))
        return read_reshape(p);
    if (jx_text_take(p->t, "{transpose(["))
        return read_transpose(p);
    return jx_text_take(p->t, "{bitcast(")
               ? read_bitcast(p)
               : jx_text_fail(p->t, p->t->at, "expected a part of a reference");
}

bool jx_text_path(jx_text *t, const jx_text_scope *scope, const jx_aval *ref,
                  jx_text_part *to)
{
    path p = {.t = t, .scope = scope};
    const jx_aval *of = ref->of;

    if (!of || of->kind != JX_AVAL_ARRAY || of->rank > MOST_AXES)
        return jx_text_fail(t, t->at, "expected a reference to an array");
    p.rank = of->rank;
    p.dtype = of->dtype;
    for (int i = 0; i < of->rank; i++)
        p.shape[i] = of->shape[i];
    if (!jx_text_take(t, "[...]"))
        do
            if (!read_step(&p) || t->failed)
                return false;
        while (t->at < t->end && (*t->at == '[' || *t->at == '{'));
    jx_aval aval = *of;
    aval.dtype = p.dtype;
    aval.rank = p.rank;
    aval.shape = p.shape;
    *to = (jx_text_part){tuple(&p, p.count, p.steps), (int)p.operands.count,
                         p.operands.at, jx_aval_add(&t->program->avals, &aval)};
    return to->tree && to->aval && !t->failed;
}
