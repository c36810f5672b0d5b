/* type_rules_linalg.c - factorizations and solvers, on the last two axes; those
 * before are a batch. */
#include "analyzer/type_rules.h"

/* Operand 0 as a batch of matrices. */
typedef struct matrices {
    const jx_aval *in;
    int batch; /* axes before the matrix */
    const jx_dim *rows, *columns;
} matrices;

static bool take_matrices(jx_typing *t, int operand, matrices *m)
{
    const jx_aval *in = t->ins[operand];

    *m = (matrices){.in = in};
    if (in->rank < 2)
        return jx_type_wrong(t, "operand %d has rank %d, needs a matrix",
                             operand, in->rank);
    *m = (matrices){in, in->rank - 2, in->shape[in->rank - 2],
                    in->shape[in->rank - 1]};
    return true;
}

static bool take_square(jx_typing *t, int operand, matrices *m)
{
    if (!take_matrices(t, operand, m))
        return false;
    jx_require_eq(t, m->rows, m->columns, "operand %d: rows and columns",
                  operand);
    return true;
}

/* Output i: the batch, then up to two more sizes (NULL: none). */
static void batch_out(jx_typing *t, int i, const matrices *m, jx_dtype dtype,
                      const jx_dim *a, const jx_dim *b)
{
    const jx_dim **shape = jx_shape(t, m->batch + 2);
    int rank = m->batch;

    if (!shape)
        return;
    for (int k = 0; k < m->batch; k++)
        shape[k] = m->in->shape[k];
    if (a)
        shape[rank++] = a;
    if (b)
        shape[rank++] = b;
    jx_type_out(t, i, dtype, jx_all_weak(t), rank, shape);
}

static void same_out(jx_typing *t, int i, const jx_aval *in)
{
    jx_type_out(t, i, in->dtype, jx_all_weak(t), in->rank, in->shape);
}

/* Axes first..last of both agree. */
static void require_batch(jx_typing *t, int a, int b, int count)
{
    for (int k = 0; k < count; k++)
        jx_require_eq(t, t->ins[a]->shape[k], t->ins[b]->shape[k],
                      "operands %d and %d, axis %d", a, b, k);
}

void jx_type_cholesky(jx_typing *t)
{
    matrices m;

    if (take_square(t, 0, &m))
        same_out(t, 0, m.in);
}

void jx_type_lu(jx_typing *t)
{
    matrices m;

    if (!take_matrices(t, 0, &m))
        return;
    same_out(t, 0, m.in);
    batch_out(t, 1, &m, JX_I32, jx_smaller(t, m.rows, m.columns), NULL);
    batch_out(t, 2, &m, JX_I32, m.rows, NULL);
}

/* A size among the parameters that the schema does not name. */
static const jx_dim *size_parameter(jx_typing *t, const char *name)
{
    const jx_value *value = jx_eqn_param(t->eqn, name);

    if (value && value->tag == JX_V_INT)
        return jx_const(t, value->integer);
    if (value && value->tag == JX_V_DIM)
        return value->dim;
    jx_type_wrong(t, "%s is no size", name);
    return NULL;
}

void jx_type_lu_pivots(jx_typing *t)
{
    const jx_aval *in = t->ins[0];
    const jx_dim **shape = jx_shape(t, in->rank);
    const jx_dim *size = size_parameter(t, "permutation_size");

    if (!shape || !size)
        return;
    if (in->dtype != JX_I32 || in->rank < 1) {
        jx_type_wrong(t, "operand 0 is %s of rank %d, no pivots",
                      jx_dtype_of(in->dtype)->short_name, in->rank);
        return;
    }
    jx_require_ge(t, size, in->shape[in->rank - 1],
                  "permutation_size against operand 0, last axis");
    for (int k = 0; k < in->rank; k++)
        shape[k] = k == in->rank - 1 ? size : in->shape[k];
    jx_type_out(t, 0, JX_I32, in->weak, in->rank, shape);
}

void jx_type_geqrf(jx_typing *t)
{
    matrices m;

    if (!take_matrices(t, 0, &m))
        return;
    same_out(t, 0, m.in);
    batch_out(t, 1, &m, m.in->dtype, jx_smaller(t, m.rows, m.columns), NULL);
}

void jx_type_householder_product(jx_typing *t)
{
    const jx_aval *taus = t->ins[1];
    matrices m;

    if (!take_matrices(t, 0, &m) || !jx_type_same_dtypes(t, 0, 2))
        return;
    if (taus->rank != m.batch + 1) {
        jx_type_wrong(t, "operand 1 has rank %d, operand 0 has %d", taus->rank,
                      m.in->rank);
        return;
    }
    require_batch(t, 0, 1, m.batch);
    jx_require_ge(t, m.rows, m.columns, "operand 0: rows against columns");
    jx_require_ge(t, m.columns, taus->shape[m.batch],
                  "operand 0, columns, against operand 1");
    same_out(t, 0, m.in);
}

/* Q of the reflectors in operand 0, times operand 2 or after it. */
void jx_type_ormqr(jx_typing *t)
{
    const jx_p_ormqr *p = t->params;
    const jx_aval *taus = t->ins[1];
    matrices a, c;

    if (!take_matrices(t, 0, &a) || !take_matrices(t, 2, &c) ||
        !jx_type_same_dtypes(t, 0, 3))
        return;
    if (taus->rank != a.batch + 1 || c.batch != a.batch) {
        jx_type_wrong(t, "operand %d has rank %d, operand 0 has %d",
                      c.batch == a.batch ? 1 : 2,
                      c.batch == a.batch ? taus->rank : c.in->rank, a.in->rank);
        return;
    }
    require_batch(t, 0, 1, a.batch);
    require_batch(t, 0, 2, a.batch);
    jx_require_eq(t, a.rows, p->left ? c.rows : c.columns,
                  "operand 0, rows, against the %s of operand 2",
                  p->left ? "rows" : "columns");
    jx_require_ge(t, jx_smaller(t, a.rows, a.columns), taus->shape[a.batch],
                  "operand 0, rows and columns, against operand 1");
    same_out(t, 0, c.in);
}

void jx_type_qr(jx_typing *t)
{
    const jx_p_qr *p = t->params;
    matrices m;

    if (!take_matrices(t, 0, &m) || !jx_type_counts(t, 1, 2 + p->pivoting))
        return;
    const jx_dim *k =
        p->full_matrices ? m.rows : jx_smaller(t, m.rows, m.columns);
    batch_out(t, 0, &m, m.in->dtype, m.rows, k);
    batch_out(t, 1, &m, m.in->dtype, k, m.columns);
    batch_out(t, 2, &m, JX_I32, m.columns, NULL);
}

/* high - low of a pair, or NULL if there is none. */
static const jx_dim *subset(jx_typing *t, const jx_value *pair)
{
    if (!pair || pair->tag == JX_V_NONE)
        return NULL;
    if (pair->tag == JX_V_TUPLE && pair->count == 2) {
        const jx_value *low = pair->items[0], *high = pair->items[1];
        const jx_dim *a =
            low->tag == JX_V_DIM ? low->dim : jx_const(t, low->integer);
        const jx_dim *b =
            high->tag == JX_V_DIM ? high->dim : jx_const(t, high->integer);
        if ((low->tag == JX_V_INT || low->tag == JX_V_DIM) &&
            (high->tag == JX_V_INT || high->tag == JX_V_DIM))
            return jx_minus(t, b, a);
    }
    jx_type_wrong(t, "subset_by_index is no pair of sizes");
    return NULL;
}

void jx_type_svd(jx_typing *t)
{
    const jx_p_svd *p = t->params;
    matrices m;

    if (!take_matrices(t, 0, &m) ||
        !jx_type_counts(t, 1, p->compute_uv ? 3 : 1))
        return;
    const jx_dim *rank = jx_smaller(t, m.rows, m.columns);
    const jx_dim *part = subset(t, p->subset_by_index);
    if (part && p->full_matrices)
        jx_require_eq(t, part, rank, "subset_by_index with full_matrices");
    if (part)
        rank = jx_smaller(t, rank, part);
    batch_out(t, 0, &m, jx_dtype_real(m.in->dtype), rank, NULL);
    batch_out(t, 1, &m, m.in->dtype, m.rows, p->full_matrices ? m.rows : rank);
    batch_out(t, 2, &m, m.in->dtype, p->full_matrices ? m.columns : rank,
              m.columns);
}

void jx_type_eigh(jx_typing *t)
{
    const jx_p_eigh *p = t->params;
    matrices m;

    if (!take_square(t, 0, &m))
        return;
    const jx_dim *part = subset(t, p->subset_by_index);
    batch_out(t, 0, &m, m.in->dtype, m.rows, part ? part : m.rows);
    batch_out(t, 1, &m, jx_dtype_real(m.in->dtype), part ? part : m.rows, NULL);
}

void jx_type_eig(jx_typing *t)
{
    const jx_p_eig *p = t->params;
    int vectors = p->compute_left_eigenvectors + p->compute_right_eigenvectors;
    matrices m;

    if (!take_square(t, 0, &m) || !jx_type_counts(t, 1, 1 + vectors))
        return;
    /* Narrow floats get the narrowest complex dtype. */
    jx_dtype dtype = jx_dtype_is_complex(m.in->dtype) ? m.in->dtype
                     : m.in->dtype == JX_F64          ? JX_C128
                                                      : JX_C64;
    batch_out(t, 0, &m, dtype, m.rows, NULL);
    for (int i = 1; i <= vectors; i++)
        batch_out(t, i, &m, dtype, m.rows, m.columns);
}

void jx_type_schur(jx_typing *t)
{
    const jx_p_schur *p = t->params;
    matrices m;

    if (!take_square(t, 0, &m) ||
        !jx_type_counts(t, 1, 1 + p->compute_schur_vectors))
        return;
    same_out(t, 0, m.in);
    same_out(t, 1, m.in);
}

void jx_type_hessenberg(jx_typing *t)
{
    matrices m;

    if (!take_square(t, 0, &m))
        return;
    const jx_dim *less = jx_minus(t, m.columns, jx_const(t, 1));
    jx_require_ge(t, less, jx_const(t, 0), "operand 0: its size less one");
    same_out(t, 0, m.in);
    batch_out(t, 1, &m, m.in->dtype, less, NULL);
}

void jx_type_tridiagonal(jx_typing *t)
{
    matrices m;

    if (!take_square(t, 0, &m))
        return;
    jx_dtype real = jx_dtype_real(m.in->dtype);
    const jx_dim *less = jx_minus(t, m.rows, jx_const(t, 1));
    jx_require_ge(t, less, jx_const(t, 0), "operand 0: its size less one");
    same_out(t, 0, m.in);
    batch_out(t, 1, &m, real, m.rows, NULL);
    batch_out(t, 2, &m, real, less, NULL);
    batch_out(t, 3, &m, m.in->dtype, less, NULL);
}

void jx_type_triangular_solve(jx_typing *t)
{
    const jx_p_triangular_solve *p = t->params;
    matrices a, b;

    if (!take_square(t, 0, &a) || !take_matrices(t, 1, &b) ||
        !jx_type_same_dtypes(t, 0, 2))
        return;
    if (a.batch != b.batch) {
        jx_type_wrong(t, "operand 0 has rank %d, operand 1 has %d", a.in->rank,
                      b.in->rank);
        return;
    }
    require_batch(t, 0, 1, a.batch);
    jx_require_eq(t, a.rows, p->left_side ? b.rows : b.columns,
                  "operand 0 against operand 1, %s",
                  p->left_side ? "rows" : "columns");
    same_out(t, 0, b.in);
}

void jx_type_tridiagonal_solve(jx_typing *t)
{
    const jx_aval *diagonal = t->ins[0];
    matrices b;

    if (!take_matrices(t, 3, &b) || !jx_type_same_dtypes(t, 0, 4) ||
        !jx_type_same_shapes(t, 0, 3))
        return;
    if (diagonal->rank != b.batch + 1) {
        jx_type_wrong(t, "operand 0 has rank %d, operand 3 has %d",
                      diagonal->rank, b.in->rank);
        return;
    }
    require_batch(t, 0, 3, diagonal->rank);
    same_out(t, 0, b.in);
}
