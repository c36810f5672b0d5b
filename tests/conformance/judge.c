/* judge.c - see judge.h. */
#include "tests/conformance/judge.h"

#include "runtime/elementwise.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

/* Matrices of one batch element, row-major. */
typedef struct matrix {
    int64_t m, n;
    number *at;
} matrix;

typedef struct judge {
    const jx_plan *plan;
    const jx_eqn *eqn; /* the factorization */
    const void *const *ins, *const *outs, *const *want;
    double unit; /* of rounding */
    const char *why;
} judge;

enum { THRESHOLD = 10 };

static double unit_of(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F64: return 0x1p-52;
    case JX_F32: return 0x1p-23;
    case JX_F16: return 0x1p-10;
    case JX_BF16: return 0x1p-7;
    default: return 0;
    }
}

/* ---- matrices ---- */

static matrix new_matrix(int64_t m, int64_t n)
{
    return (matrix){m, n, calloc((size_t)(m * n) + 1, sizeof(number))};
}

/* Element `b` of a batch of matrices (or of vectors, as columns). */
static matrix matrix_of(const jx_port *port, const void *data, int64_t b,
                        bool vector)
{
    int64_t n = vector || port->rank < 1 ? 1 : port->shape[port->rank - 1];
    int64_t m =
        vector ? port->shape[port->rank - 1] : port->shape[port->rank - 2];
    matrix a = new_matrix(m, n);
    const char *from = (const char *)data +
                       (size_t)(b * m * n) * jx_dtype_of(port->dtype)->bytes;

    if (a.at)
        jx_convert(port->dtype, JX_C128, from, a.at, m * n);
    return a;
}

/* op(a) op(b), where op is the conjugate transpose if asked for. */
static matrix times(matrix a, bool ah, matrix b, bool bh)
{
    int64_t m = ah ? a.n : a.m, k = ah ? a.m : a.n, n = bh ? b.m : b.n;
    matrix c = new_matrix(m, n);

    for (int64_t i = 0; c.at && i < m; i++)
        for (int64_t l = 0; l < k; l++) {
            number x = ah ? conj(a.at[l * a.n + i]) : a.at[i * a.n + l];
            for (int64_t j = 0; j < n; j++)
                c.at[i * n + j] +=
                    x * (bh ? conj(b.at[j * b.n + l]) : b.at[l * b.n + j]);
        }
    return c;
}

static double norm(matrix a)
{
    double sum = 0;

    for (int64_t i = 0; i < a.m * a.n; i++)
        sum +=
            creal(a.at[i]) * creal(a.at[i]) + cimag(a.at[i]) * cimag(a.at[i]);
    return sqrt(sum);
}

/* |a - b| within the threshold, relative to `scale`; frees neither. */
static bool near(judge *j, matrix a, matrix b, double scale, const char *why)
{
    double sum = 0, n = (double)(a.m > a.n ? a.m : a.n);

    for (int64_t i = 0; i < a.m * a.n; i++) {
        number d = a.at[i] - b.at[i];
        sum += creal(d) * creal(d) + cimag(d) * cimag(d);
    }
    if (a.m == b.m && a.n == b.n &&
        sqrt(sum) <= THRESHOLD * (n > 1 ? n : 1) * j->unit * scale)
        return true;
    j->why = why;
    return false;
}

static bool orthonormal(judge *j, matrix q, bool rows, const char *why)
{
    matrix product = times(q, !rows, q, rows);
    matrix eye = new_matrix(product.m, product.n);

    for (int64_t i = 0; i < eye.m; i++)
        eye.at[i * eye.n + i] = 1;
    bool ok = near(j, product, eye, 1, why);
    free(product.at);
    free(eye.at);
    return ok;
}

/* Zeros where |below| (else above) the diagonal. */
static void keep_triangle(matrix a, bool lower, bool unit_diagonal)
{
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t k = 0; k < a.n; k++) {
            if (lower ? k > i : k < i)
                a.at[i * a.n + k] = 0;
            if (unit_diagonal && i == k)
                a.at[i * a.n + k] = 1;
        }
}

static bool is_upper(judge *j, matrix a, int64_t below)
{
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t k = 0; k + below < i && k < a.n; k++)
            if (a.at[i * a.n + k] != 0) {
                j->why = "a triangle has elements outside";
                return false;
            }
    return true;
}

/* The Hermitian matrix of one triangle. */
static void reflect(matrix a, bool lower)
{
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t k = 0; k < i; k++) {
            number *low = &a.at[i * a.n + k], *up = &a.at[k * a.n + i];
            *(lower ? up : low) = conj(*(lower ? low : up));
        }
}

static matrix out(const judge *j, int i, int64_t b, bool vector)
{
    return matrix_of(jx_plan_out(j->plan, i), j->outs[i], b, vector);
}

/* Descending or ascending real numbers. */
static bool ordered(judge *j, matrix s, bool descending)
{
    for (int64_t i = 0; i + 1 < s.m; i++) {
        double a = creal(s.at[i]), b = creal(s.at[i + 1]);
        if (!(descending ? a >= b : a <= b)) {
            j->why = "the values are not in order";
            return false;
        }
    }
    return true;
}

/* Columns of a times the values. */
static matrix scaled(matrix a, matrix values)
{
    matrix c = new_matrix(a.m, a.n);

    for (int64_t i = 0; i < a.m; i++)
        for (int64_t k = 0; k < a.n; k++)
            c.at[i * a.n + k] =
                a.at[i * a.n + k] * (k < values.m ? values.at[k] : 0);
    return c;
}

/* ---- factorizations: one batch element each; `a` is the input ---- */

static bool judge_cholesky(judge *j, matrix a, int64_t b)
{
    matrix l = out(j, 0, b, false);

    keep_triangle(l, true, false);
    reflect(a, true);
    matrix product = times(l, false, l, true);
    bool ok = near(j, product, a, norm(a), "L L^H is not A");
    for (int64_t i = 0; ok && i < l.n; i++)
        if (!(creal(l.at[i * l.n + i]) > 0)) {
            j->why = "the diagonal is not positive";
            ok = false;
        }
    free(l.at);
    free(product.at);
    return ok;
}

static bool judge_lu(judge *j, matrix a, int64_t b)
{
    matrix lu = out(j, 0, b, false), order = out(j, 2, b, true);
    int64_t k = a.m < a.n ? a.m : a.n;
    matrix l = new_matrix(a.m, k), u = new_matrix(k, a.n);
    matrix rows = new_matrix(a.m, a.n);
    bool ok = true;

    for (int64_t i = 0; i < a.m; i++)
        for (int64_t c = 0; c < a.n; c++) {
            if (c < k)
                l.at[i * k + c] = lu.at[i * a.n + c];
            if (i < k)
                u.at[i * a.n + c] = lu.at[i * a.n + c];
            int64_t from = (int64_t)creal(order.at[i]);
            ok &= from >= 0 && from < a.m;
            rows.at[i * a.n + c] = ok ? a.at[from * a.n + c] : (number)NAN;
        }
    keep_triangle(l, true, true);
    keep_triangle(u, false, false);
    matrix product = times(l, false, u, false);
    ok = near(j, product, rows, norm(a), "L U is not A with its rows in order");
    for (int64_t i = 0; ok && i < l.m * l.n; i++)
        if (cabs(l.at[i]) > 1.5) {
            j->why = "L has a large element: the pivots were not the largest";
            ok = false;
        }
    free(lu.at), free(order.at), free(l.at), free(u.at), free(rows.at);
    free(product.at);
    return ok;
}

static bool judge_qr(judge *j, matrix a, int64_t b)
{
    matrix q = out(j, 0, b, false), r = out(j, 1, b, false);
    matrix product = times(q, false, r, false);
    bool pivoting = j->eqn->nouts == 3;
    matrix columns = new_matrix(a.m, a.n);
    matrix order = pivoting ? out(j, 2, b, true) : new_matrix(0, 0);

    for (int64_t i = 0; i < a.m; i++)
        for (int64_t c = 0; c < a.n; c++) {
            int64_t from = pivoting ? (int64_t)creal(order.at[c]) : c;
            columns.at[i * a.n + c] =
                from >= 0 && from < a.n ? a.at[i * a.n + from] : (number)NAN;
        }
    bool ok = is_upper(j, r, 0) &&
              near(j, product, columns, norm(a), "Q R is not A") &&
              orthonormal(j, q, false, "Q is not orthogonal");
    for (int64_t i = 0; ok && pivoting && i + 1 < r.m && i + 1 < r.n; i++)
        if (cabs(r.at[(i + 1) * r.n + i + 1]) >
            cabs(r.at[i * r.n + i]) * (1 + THRESHOLD * j->unit)) {
            j->why = "the diagonal of R grows";
            ok = false;
        }
    free(q.at), free(r.at), free(product.at), free(columns.at), free(order.at);
    return ok;
}

static bool judge_svd(judge *j, matrix a, int64_t b)
{
    matrix s = out(j, 0, b, true);
    bool ok = ordered(j, s, true);

    if (j->eqn->nouts < 3) {
        matrix want = matrix_of(jx_plan_out(j->plan, 0), j->want[0], b, true);
        ok = ok && near(j, s, want, norm(a), "the singular values differ");
        free(s.at), free(want.at);
        return ok;
    }
    matrix u = out(j, 1, b, false), vt = out(j, 2, b, false);
    matrix us = scaled(u, s);
    matrix narrow = new_matrix(a.m, vt.m);
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t k = 0; k < vt.m && k < us.n; k++)
            narrow.at[i * vt.m + k] = us.at[i * us.n + k];
    matrix product = times(narrow, false, vt, false);
    ok = ok && near(j, product, a, norm(a), "U S V is not A") &&
         orthonormal(j, u, false, "U is not orthogonal") &&
         orthonormal(j, vt, true, "V is not orthogonal");
    free(s.at), free(u.at), free(vt.at), free(us.at), free(narrow.at);
    free(product.at);
    return ok;
}

static bool judge_eigh(judge *j, matrix a, int64_t b)
{
    const jx_p_eigh *params = j->eqn->typed;
    matrix v = out(j, 0, b, false), w = out(j, 1, b, true);

    reflect(a, params->lower);
    matrix left = times(a, false, v, false), right = scaled(v, w);
    bool ok = ordered(j, w, false) &&
              near(j, left, right, norm(a), "A V is not V W") &&
              orthonormal(j, v, false, "V is not orthogonal");
    free(v.at), free(w.at), free(left.at), free(right.at);
    return ok;
}

/* Right eigenvectors; left ones are those of the conjugate transpose. */
static bool vectors_hold(judge *j, matrix a, bool left, matrix v, matrix w)
{
    matrix values = new_matrix(w.m, 1);

    for (int64_t i = 0; i < w.m; i++)
        values.at[i] = left ? conj(w.at[i]) : w.at[i];
    matrix one = times(a, left, v, false), two = scaled(v, values);
    bool ok = near(j, one, two, norm(a),
                   left ? "V^H A is not W V^H" : "A V is not V W");
    for (int64_t k = 0; ok && k < v.n; k++) {
        double sum = 0;
        for (int64_t i = 0; i < v.m; i++)
            sum += pow(cabs(v.at[i * v.n + k]), 2);
        if (fabs(sqrt(sum) - 1) > THRESHOLD * (double)v.m * j->unit) {
            j->why = "an eigenvector's length is not 1";
            ok = false;
        }
    }
    free(values.at), free(one.at), free(two.at);
    return ok;
}

static bool judge_eig(judge *j, matrix a, int64_t b)
{
    const jx_p_eig *params = j->eqn->typed;
    matrix w = out(j, 0, b, true);
    int next = 1;
    bool ok =
        params->compute_left_eigenvectors || params->compute_right_eigenvectors;

    if (ok && params->compute_left_eigenvectors) {
        matrix v = out(j, next++, b, false);
        ok = vectors_hold(j, a, true, v, w);
        free(v.at);
    }
    if (ok && params->compute_right_eigenvectors) {
        matrix v = out(j, next, b, false);
        ok = vectors_hold(j, a, false, v, w);
        free(v.at);
    }
    free(w.at);
    return ok;
}

static bool judge_schur(judge *j, matrix a, int64_t b)
{
    matrix t = out(j, 0, b, false);
    bool ok = is_upper(
        j, t, jx_dtype_is_complex(jx_plan_out(j->plan, 0)->dtype) ? 0 : 1);

    if (ok && j->eqn->nouts == 2) {
        matrix z = out(j, 1, b, false), zt = times(z, false, t, false);
        matrix product = times(zt, false, z, true);
        ok = near(j, product, a, norm(a), "Z T Z^H is not A") &&
             orthonormal(j, z, false, "Z is not orthogonal");
        free(z.at), free(zt.at), free(product.at);
    }
    free(t.at);
    return ok;
}

typedef bool criterion(judge *j, matrix a, int64_t b);

static criterion *criterion_of(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_cholesky: return judge_cholesky;
    case JX_PRIM_lu: return judge_lu;
    case JX_PRIM_qr: return judge_qr;
    case JX_PRIM_svd: return judge_svd;
    case JX_PRIM_eigh: return judge_eigh;
    case JX_PRIM_eig: return judge_eig;
    case JX_PRIM_schur: return judge_schur;
    default: return NULL;
    }
}

/* The body of a call. */
static const jx_jaxpr *body_of(const jx_eqn *eqn)
{
    bool call = eqn->prim->id == JX_PRIM_jit || eqn->prim->id == JX_PRIM_pjit;

    return call && eqn->typed ? ((const jx_p_call *)eqn->typed)->jaxpr.jaxpr
                              : NULL;
}

/* The equation whose results are the program's, in order. */
static const jx_eqn *last_equation(const jx_jaxpr *jaxpr)
{
    if (jaxpr->neqns == 0)
        return NULL;
    const jx_eqn *eqn = &jaxpr->eqns[jaxpr->neqns - 1];
    if (eqn->nouts != jaxpr->nouts)
        return NULL;
    for (int i = 0; i < eqn->nouts; i++)
        if (jaxpr->outs[i].var != eqn->outs[i])
            return NULL;
    return body_of(eqn) ? last_equation(body_of(eqn)) : eqn;
}

static bool same_nans(const judge *j)
{
    for (int i = 0; i < jx_plan_nouts(j->plan); i++) {
        const jx_port *port = jx_plan_out(j->plan, i);
        number *a = malloc((size_t)(port->count + 1) * sizeof *a);
        number *b = malloc((size_t)(port->count + 1) * sizeof *b);
        bool same = a && b;
        if (same) {
            jx_convert(port->dtype, JX_C128, j->outs[i], a, port->count);
            jx_convert(port->dtype, JX_C128, j->want[i], b, port->count);
        }
        for (int64_t k = 0; same && k < port->count; k++)
            same = isnan(creal(a[k])) == isnan(creal(b[k]));
        free(a), free(b);
        if (!same)
            return false;
    }
    return true;
}

/* The matrix is the program's first input: what lies between only clears a
 * triangle that the factorization does not read. */
static bool judge_factorization(judge *j, criterion *holds)
{
    const jx_port *in = jx_plan_in(j->plan, 0);
    int64_t size;

    if (in->rank < 2 || !same_nans(j)) {
        j->why = "NaN in other places";
        return false;
    }
    j->unit = unit_of(in->dtype);
    size = in->shape[in->rank - 1] * in->shape[in->rank - 2];
    for (int64_t b = 0; size > 0 && b < in->count / size; b++) {
        matrix a = matrix_of(in, j->ins[0], b, false);
        /* Without finite elements there is only NaN, which was compared. */
        bool ok = a.at && (!isfinite(norm(a)) || holds(j, a, b));
        free(a.at);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- sums: relative to the largest result ---- */

static bool adds_up(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_dot_general:
    case JX_PRIM_ormqr: /* reflections, one after the other */
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_fft:
    case JX_PRIM_cumsum:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_tridiagonal_solve:
    /* These have roots, near which XLA is exact to units of 1. */
    case JX_PRIM_lgamma:
    case JX_PRIM_digamma: return true;
    default: return false;
    }
}

/* The coarsest unit among an output and the inputs: XLA may compute in the
 * operands' dtype where a wider one is preferred. */
static double coarsest(const judge *j, int i)
{
    double unit = unit_of(jx_plan_out(j->plan, i)->dtype);

    for (int k = 0; unit > 0 && k < jx_plan_nins(j->plan); k++)
        unit = fmax(unit, unit_of(jx_plan_in(j->plan, k)->dtype));
    return unit;
}

static bool has_sum(const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (adds_up(eqn->prim->id) || (body_of(eqn) && has_sum(body_of(eqn))))
            return true;
    }
    return false;
}

static bool close_to(judge *j, int i)
{
    const jx_port *port = jx_plan_out(j->plan, i);
    matrix a = new_matrix(port->count, 1), b = new_matrix(port->count, 1);
    double largest = 0, unit = coarsest(j, i);
    bool ok = unit > 0 && a.at && b.at;

    if (ok) {
        jx_convert(port->dtype, JX_C128, j->outs[i], a.at, port->count);
        jx_convert(port->dtype, JX_C128, j->want[i], b.at, port->count);
    }
    for (int64_t k = 0; ok && k < port->count; k++)
        if (isfinite(cabs(b.at[k])))
            largest = fmax(largest, cabs(b.at[k]));
    for (int64_t k = 0; ok && k < port->count; k++) {
        double x = creal(a.at[k]), y = creal(b.at[k]);
        double u = cimag(a.at[k]), v = cimag(b.at[k]);
        double bound = THRESHOLD * unit * largest;
        ok = (x == y || fabs(x - y) <= bound || (isnan(x) && isnan(y))) &&
             (u == v || fabs(u - v) <= bound || (isnan(u) && isnan(v)));
    }
    free(a.at), free(b.at);
    if (!ok)
        j->why = "beyond some units of the largest result";
    return ok;
}

static bool judge_sum(judge *j)
{
    for (int i = 0; i < jx_plan_nouts(j->plan); i++)
        if (!close_to(j, i))
            return false;
    return true;
}

/* ---- sorts ---- */

typedef struct lines {
    int64_t outer, n, inner;
} lines;

static lines lines_of(const jx_port *port, int64_t axis)
{
    lines l = {1, port->shape[axis], 1};

    for (int i = 0; i < port->rank; i++)
        if (i < axis)
            l.outer *= port->shape[i];
        else if (i > axis)
            l.inner *= port->shape[i];
    return l;
}

static bool same_element(const judge *j, int i, int64_t a, int64_t b)
{
    size_t size = jx_dtype_of(jx_plan_out(j->plan, i)->dtype)->bytes;

    return !memcmp((const char *)j->outs[i] + (size_t)a * size,
                   (const char *)j->want[i] + (size_t)b * size, size);
}

static bool same_row(const judge *j, int64_t a, int64_t b)
{
    for (int i = 0; i < jx_plan_nouts(j->plan); i++)
        if (!same_element(j, i, a, b))
            return false;
    return true;
}

/* Equal keys in equal places, and in each line the same rows. */
static bool judge_sort(judge *j)
{
    const jx_p_sort *params = j->eqn->typed;
    lines l = lines_of(jx_plan_out(j->plan, 0), params->dimension);
    bool *used = malloc((size_t)l.n + 1), ok = used && !params->is_stable;

    for (int64_t line = 0; ok && line < l.outer * l.inner; line++) {
        int64_t start = line / l.inner * l.n * l.inner + line % l.inner;
        memset(used, 0, (size_t)l.n);
        for (int64_t a = 0; ok && a < l.n; a++) {
            int64_t at = start + a * l.inner, b = 0;
            for (int k = 0; k < params->num_keys; k++)
                ok &= same_element(j, k, at, at);
            while (b < l.n &&
                   (used[b] || !same_row(j, at, start + b * l.inner)))
                b++;
            ok &= b < l.n;
            if (ok)
                used[b] = true;
        }
    }
    free(used);
    if (!ok)
        j->why = "the rows are not those that were to be sorted";
    return ok;
}

/* The expected values, and at each index the value that is said to be there,
 * none twice. */
static bool judge_top_k(judge *j, int64_t axis)
{
    const jx_port *in = jx_plan_in(j->plan, 0),
                  *values = jx_plan_out(j->plan, 0);
    size_t size = jx_dtype_of(in->dtype)->bytes;
    const int32_t *at = j->outs[1];

    if (axis < 0)
        axis += in->rank;
    lines from = lines_of(in, axis), to = lines_of(values, axis);
    bool ok = !memcmp(j->outs[0], j->want[0], values->bytes);
    for (int64_t line = 0; ok && line < to.outer * to.inner; line++) {
        int64_t o = line / to.inner, i = line % to.inner;
        for (int64_t k = 0; ok && k < to.n; k++) {
            int64_t here = (o * to.n + k) * to.inner + i;
            int64_t there = (o * from.n + at[here]) * from.inner + i;
            ok = at[here] >= 0 && at[here] < from.n &&
                 !memcmp((const char *)j->outs[0] + (size_t)here * size,
                         (const char *)j->ins[0] + (size_t)there * size, size);
            for (int64_t p = 0; ok && p < k; p++)
                ok = at[(o * to.n + p) * to.inner + i] != at[here];
        }
    }
    if (!ok)
        j->why = "an index does not lead to its value";
    return ok;
}

/* A top_k that need not keep the order of equal ones. */
static bool judge_unstable_top_k(judge *j)
{
    const jx_p_top_k *params = j->eqn->typed;

    return jx_eqn_param(j->eqn, "is_stable") && !params->is_stable &&
           judge_top_k(j, jx_eqn_param(j->eqn, "axis") ? params->axis : -1);
}

bool jx_judge_outputs(const jx_program *program, const jx_plan *plan,
                      const void *const *ins, const void *const *outs,
                      const void *const *want, const char **why)
{
    judge j = {.plan = plan, .ins = ins, .outs = outs, .want = want};
    const jx_jaxpr *jaxpr = program->entry.jaxpr;
    bool sums = has_sum(jaxpr), ok = false;

    j.eqn = last_equation(jaxpr);
    if (j.eqn && j.eqn->typed && jx_plan_nins(plan) > 0) {
        criterion *holds = criterion_of(j.eqn->prim->id);
        if (holds)
            ok = judge_factorization(&j, holds);
        else if (j.eqn->prim->id == JX_PRIM_sort)
            ok = judge_sort(&j);
        else if (j.eqn->prim->id == JX_PRIM_approx_top_k)
            ok = judge_top_k(
                &j,
                ((const jx_p_approx_top_k *)j.eqn->typed)->reduction_dimension);
        else if (j.eqn->prim->id == JX_PRIM_top_k)
            ok = judge_unstable_top_k(&j);
        else if (sums)
            ok = judge_sum(&j);
    }
    *why = j.why;
    return ok;
}
