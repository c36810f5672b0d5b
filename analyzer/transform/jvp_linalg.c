/* jvp_linalg.c - derivatives of what linear algebra gives, by the
 * formulas that JAX uses (jax/_src/lax/linalg.py), most of them Giles'
 * (An extended collection of matrix derivative results for forward and
 * reverse mode, 2008). */
#include "analyzer/transform/jvp_parts.h"

#include "frontend/ir/build_matrix.h"

static const jx_atom nothing = {NULL, NULL};

#define add(a, c) jx_math_2(t->b, JX_PRIM_add, a, c)
#define sub(a, c) jx_math_2(t->b, JX_PRIM_sub, a, c)
#define mul(a, c) jx_math_2(t->b, JX_PRIM_mul, a, c)
#define dot(a, c) jx_matrix_dot(t->b, a, c)
#define H(a) jx_matrix_adjoint(t->b, a)
#define solve(a, c, bits) jx_matrix_solve(t->b, a, c, bits)
#define rows(a) jx_matrix_rows(a)
#define columns(a) jx_matrix_columns(a)
#define zero jx_body_int(t->b, 0)

enum {
    LEFT = JX_MATRIX_LEFT,
    LOWER = JX_MATRIX_LOWER,
    TRANSPOSED = JX_MATRIX_TRANSPOSED,
    CONJUGATED = JX_MATRIX_CONJUGATED,
    UNIT = JX_MATRIX_UNIT
};

/* How much larger the first is; 0 where that is not known, or smaller. */
static const jx_dim *excess(jx_jvp *t, const jx_dim *of, const jx_dim *over)
{
    jx_dims *dims = t->b->in->program->dims;
    const jx_dim *more = jx_dim_sub(dims, of, over);
    int64_t count;

    return jx_dim_is_int(more, &count) && count > 0 ? more : zero;
}

static bool is_more(jx_jvp *t, const jx_dim *of, const jx_dim *over)
{
    return excess(t, of, over) != zero;
}

/* dL = L phi(L^-1 dA L^-H), where phi is the lower triangle and half of the
 * diagonal (Murray, Differentiation of the Cholesky decomposition, 2016). */
bool jx_jvp_cholesky(jx_jvp *t)
{
    jx_atom l, x;

    if (!jx_jvp_primal(t))
        return false;
    l = jx_matrix_lower(t->b, t->outs[0], 0);
    x = solve(l, t->tins[0], TRANSPOSED | CONJUGATED | LOWER);
    x = solve(l, x, LEFT | LOWER);
    if (!jx_is_made(x))
        return false;
    x = jx_math_2(t->b, JX_PRIM_div, jx_matrix_lower(t->b, x, 0),
                  jx_math_plus(t->b, jx_matrix_eye(t->b, x), 1));
    t->outs[0] = l;
    t->touts[0] = dot(l, x);
    return jx_is_made(t->touts[0]);
}

/* ---- triangular and tridiagonal systems */

/* The equation's solve of another right side, of its own shape. */
static jx_atom solved(jx_jvp *t, jx_atom a, jx_atom rhs)
{
    static const char *const all[] = {NULL};
    const jx_atom ins[] = {a, rhs};
    jx_params p = jx_jvp_others(t, all);

    return jx_is_made(a) && jx_is_made(rhs)
               ? jx_build(t->b, t->eqn->prim->id, &p, 2, ins)
               : nothing;
}

/* A^-1 (dA X), in the order that takes less; X is on either side. */
static jx_atom along_matrix(jx_jvp *t, const jx_p_triangular_solve *p)
{
    jx_atom da = t->tins[0], x = t->outs[0], a = t->ins[0];

    da = p->lower ? jx_matrix_lower(t->b, da, p->unit_diagonal ? -1 : 0)
                  : jx_matrix_upper(t->b, da, p->unit_diagonal ? 1 : 0);
    if (p->transpose_a)
        da = jx_matrix_transpose(t->b, da);
    if (p->conjugate_a)
        da = jx_matrix_conjugate(t->b, da);
    if (!jx_is_made(da))
        return nothing;
    da = jx_math_1(t->b, JX_PRIM_neg, da);
    if (p->left_side)
        return is_more(t, rows(x), columns(x)) ? solved(t, a, dot(da, x))
                                               : dot(solved(t, a, da), x);
    return is_more(t, columns(x), rows(x)) ? solved(t, a, dot(x, da))
                                           : dot(x, solved(t, a, da));
}

bool jx_jvp_triangular_solve(jx_jvp *t)
{
    jx_atom along = nothing, of_rhs = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(t->tins[0]))
        along = along_matrix(t, t->eqn->typed);
    if (jx_is_made(t->tins[1]))
        of_rhs = solved(t, t->ins[0], t->tins[1]);
    t->touts[0] = jx_math_sum(t->b, along, of_rhs);
    return jx_is_made(t->touts[0]);
}

/* The product of a diagonal with the rows of `x` that many below (of -1: above)
 * its own, of which those outside are 0. */
static jx_atom band(jx_jvp *t, jx_atom diagonal, jx_atom x, int below)
{
    const jx_dim *one = jx_body_int(t->b, 1), *n = rows(x);
    jx_atom product, d = jx_matrix_of_columns(t->b, diagonal, x);
    const jx_dim *less = jx_dim_sub(t->b->in->program->dims, n, one);

    if (!below)
        return mul(d, x);
    d = below > 0 ? jx_matrix_first(t->b, d, 2, less)
                  : jx_matrix_after(t->b, d, 2, one);
    x = below > 0 ? jx_matrix_after(t->b, x, 2, one)
                  : jx_matrix_first(t->b, x, 2, less);
    product = mul(d, x);
    return below > 0 ? jx_matrix_pad(t->b, product, 2, zero, one)
                     : jx_matrix_pad(t->b, product, 2, one, zero);
}

/* T dx = db - dT x; operands are the diagonals (below, main, above) and b. */
bool jx_jvp_tridiagonal_solve(jx_jvp *t)
{
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), 4, jx_atom);
    jx_atom product = nothing, rhs = t->tins[3];
    const jx_atom *made;

    if (!ins || !jx_jvp_primal(t))
        return false;
    for (int i = 0; i < 3; i++) {
        ins[i] = t->ins[i];
        if (jx_is_made(t->tins[i]))
            product = jx_math_sum(t->b, product,
                                  band(t, t->tins[i], t->outs[0], i - 1));
    }
    if (jx_is_made(product))
        rhs = jx_math_sum(t->b, rhs, jx_math_1(t->b, JX_PRIM_neg, product));
    ins[3] = rhs;
    made = jx_is_made(rhs) ? jx_jvp_again(t, ins) : NULL;
    if (made)
        t->touts[0] = *made;
    return made != NULL;
}

/* ---- factorizations */

/* The larger of rows and columns makes a square of each factor; then dL = L
 * tril(X), dU = triu(X) U with X = L^-1 P dA U^-1 (De Hoog, Anderssen,
 * Lukas, Differentiation of matrix functionals using triangular
 * factorization, 2011). */
static jx_atom lu_tangent(jx_jvp *t, jx_atom lu, jx_atom permuted)
{
    const jx_dim *m = rows(lu), *n = columns(lu);
    const jx_dim *tall = excess(t, m, n), *wide = excess(t, n, m);
    jx_atom l = lu, u = lu, x;

    if (wide != zero)
        l = jx_matrix_first(t->b, l, 1, m);
    l = jx_matrix_lower(t->b, l, -1);
    if (tall != zero) {
        l = jx_matrix_pad(t->b, l, 1, zero, tall);
        u = jx_matrix_first(t->b, u, 2, n);
    }
    u = jx_matrix_upper(t->b, u, 0);
    if (wide != zero) {
        u = jx_matrix_pad(t->b, u, 2, zero, wide);
        x = jx_matrix_after(t->b, jx_matrix_eye(t->b, u), 2, m);
        u = add(u, jx_matrix_pad(t->b, x, 2, m, zero));
    }
    if (!jx_is_made(l) || !jx_is_made(u))
        return nothing;
    l = add(l, jx_matrix_eye(t->b, l));
    x = solve(u, solve(l, permuted, LEFT | LOWER | UNIT), 0);
    return add(dot(l, jx_matrix_lower(t->b, x, -1)),
               dot(jx_matrix_upper(t->b, x, 0), u));
}

bool jx_jvp_lu(jx_jvp *t)
{
    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = lu_tangent(
        t, t->outs[0], jx_matrix_take(t->b, t->tins[0], 2, 1, t->outs[2]));
    return jx_is_made(t->touts[0]);
}

/* Of a matrix that is not wide (Walter, Lehmann, Lamour, On evaluating
 * higher-order derivatives of the QR decomposition, 2012). */
static bool thin_qr(jx_jvp *t, jx_atom q, jx_atom r, jx_atom da, jx_atom *dq,
                    jx_atom *dr)
{
    jx_atom x = solve(r, da, 0), y = dot(H(q), x),
            skew = jx_matrix_lower(t->b, y, -1);

    skew = sub(skew, H(skew));
    if (!jx_is_made(skew))
        return false;
    if (jx_dtype_is_complex(jx_atom_aval(skew)->dtype))
        skew = add(skew, mul(jx_matrix_eye(t->b, y),
                             sub(y, jx_matrix_as(t->b, jx_matrix_real(t->b, y),
                                                 jx_atom_aval(y)->dtype))));
    *dq = add(dot(q, sub(skew, y)), x);
    *dr = dot(sub(y, skew), r);
    return jx_is_made(*dq) && jx_is_made(*dr);
}

/* A = [A1 A2] = Q [R1 R2]: Q and R1 are those of A1, and R2 = Q^H A2. */
static bool wide_qr(jx_jvp *t, jx_atom a, jx_atom da)
{
    const jx_dim *m = rows(a);
    jx_atom q = t->outs[0], dq, dr, rest;

    if (!thin_qr(t, q, jx_matrix_first(t->b, t->outs[1], 1, m),
                 jx_matrix_first(t->b, da, 1, m), &dq, &dr))
        return false;
    rest = add(dot(H(dq), jx_matrix_after(t->b, a, 1, m)),
               dot(H(q), jx_matrix_after(t->b, da, 1, m)));
    if (!jx_is_made(rest))
        return false;
    t->touts[0] = dq;
    t->touts[1] = jx_build_concatenate(t->b, 2, (const jx_atom[]){dr, rest},
                                       jx_atom_aval(rest)->rank - 1);
    return jx_is_made(t->touts[1]);
}

/* V^-1 c */
static jx_atom by_lu(jx_jvp *t, jx_atom v, jx_atom c)
{
    const jx_atom *lu =
        jx_is_made(v)
            ? jx_build_all(t->b, jx_prim_of(JX_PRIM_lu), NULL, 1, &v, 3)
            : NULL;

    return lu ? solve(lu[0],
                      solve(lu[0], jx_matrix_take(t->b, c, 2, 1, lu[2]),
                            LEFT | LOWER | UNIT),
                      LEFT)
              : nothing;
}

/* A = [Q1 Q2] [R; 0]: Q1 and R are those of the thin one, and Q2 moves so that
 * [Q1 Q2] stays the product of reflections that it is (Walter, Lehmann, Lamour;
 * for the full factor arXiv:2409.13374, equations 32 and 33). */
static bool tall_qr(jx_jvp *t, jx_atom da)
{
    const jx_dim *m = rows(t->outs[0]), *n = columns(da), *rest;
    jx_atom q = jx_matrix_first(t->b, t->outs[0], 1, n), z, z_h, dq, dr, other;

    if (!thin_qr(t, q, jx_matrix_first(t->b, t->outs[1], 2, n), da, &dq, &dr))
        return false;
    z = jx_matrix_first(t->b, q, 2, n);
    z_h = by_lu(t, H(sub(z, jx_matrix_eye(t->b, z))),
                H(jx_matrix_after(t->b, q, 2, n)));
    z = H(z_h);
    other = sub(jx_matrix_after(t->b, dq, 2, n),
                dot(z, jx_matrix_first(t->b, dq, 2, n)));
    other = sub(
        dot(dq, z_h),
        dot(add(q, dot(jx_matrix_after(t->b, t->outs[0], 1, n), z)), H(other)));
    if (!jx_is_made(other))
        return false;
    rest = jx_dim_sub(t->b->in->program->dims, m, n);
    t->touts[0] = jx_build_concatenate(t->b, 2, (const jx_atom[]){dq, other},
                                       jx_atom_aval(other)->rank - 1);
    t->touts[1] = jx_matrix_pad(t->b, dr, 2, zero, rest);
    return jx_is_made(t->touts[0]) && jx_is_made(t->touts[1]);
}

bool jx_jvp_qr(jx_jvp *t)
{
    const jx_p_qr *p = t->eqn->typed;
    const jx_dim *m = rows(t->ins[0]), *n = columns(t->ins[0]);
    jx_atom a = t->ins[0], da = t->tins[0];

    if (!jx_jvp_primal(t))
        return false;
    if (t->eqn->nouts == 3) {
        da = jx_matrix_take(t->b, da, 1, 2, t->outs[2]);
        a = jx_matrix_take(t->b, a, 1, 2, t->outs[2]);
    }
    if (!jx_is_made(a) || !jx_is_made(da))
        return false;
    if (p->full_matrices && is_more(t, m, n))
        return tall_qr(t, da);
    return is_more(t, n, m) ? wide_qr(t, a, da)
                            : thin_qr(t, t->outs[0], t->outs[1], da,
                                      &t->touts[0], &t->touts[1]);
}

/* 1 / (w_j - w_i), and 0 on the diagonal. */
static jx_atom gaps(jx_jvp *t, jx_atom w, jx_atom like)
{
    jx_atom one = jx_matrix_eye(t->b, like);
    jx_atom gap = sub(add(one, jx_matrix_of_rows(t->b, w, like)),
                      jx_matrix_of_columns(t->b, w, like));

    return sub(jx_math_power(t->b, gap, -1), one);
}

/* At the mean of the matrix and its adjoint: where it is not its own adjoint,
 * there is no derivative of what it is (and JAX's is that one). */
bool jx_jvp_eigh(jx_jvp *t)
{
    jx_atom a = t->ins[0], v, x, f;
    const jx_atom *made;

    if (columns(t->ins[0]) != jx_jvp_out(t)->shape[jx_jvp_out(t)->rank - 1])
        return jx_jvp_refuse(
            t, "no derivative of a part of the eigenvalues is known "
               "(PRM002)");
    a = jx_math_times(t->b, add(a, H(a)), 0.5);
    if (!jx_is_made(a) || !(made = jx_jvp_again(t, &a)))
        return false;
    t->outs[0] = v = made[0];
    t->outs[1] = made[1];
    x = dot(dot(H(v), t->tins[0]), v);
    f = gaps(t, jx_matrix_as(t->b, t->outs[1], jx_atom_aval(v)->dtype), x);
    t->touts[0] = dot(v, mul(f, x));
    t->touts[1] = jx_matrix_diagonal(t->b, jx_matrix_real(t->b, x));
    return jx_is_made(t->touts[0]) && jx_is_made(t->touts[1]);
}

/* Vectors of length 1 whose largest element is real: what remains of their
 * freedom once A v = w v holds, c_j v_j, is settled by that. */
static jx_atom normalized(jx_jvp *t, jx_atom v, jx_atom u)
{
    jx_params p = {.program = t->b->in->program};
    jx_atom size, at, is, re, im, large;
    int rank;

    if (!jx_is_made(v) || !jx_is_made(u))
        return nothing;
    rank = jx_atom_aval(v)->rank;
    size = jx_math_1(t->b, JX_PRIM_abs, v);
    jx_put_ints(&p, "axes", (jx_ints){1, (const int64_t[]){rank - 2}});
    jx_put_dtype(&p, "index_dtype", JX_I32);
    at = jx_is_made(size) ? jx_build(t->b, JX_PRIM_argmax, &p, 1, &size) : size;
    is = jx_matrix_one_hot(t->b, at, v);
    re = jx_matrix_real(
        t->b, jx_matrix_sum(t->b, mul(jx_matrix_conjugate(t->b, v), u), 2));
    im = jx_math_1(t->b, JX_PRIM_imag, jx_matrix_sum(t->b, mul(is, u), 2));
    large = jx_matrix_real(t->b, jx_matrix_sum(t->b, mul(is, v), 2));
    re = jx_math_1(t->b, JX_PRIM_neg, re);
    im = jx_math_1(t->b, JX_PRIM_neg, jx_math_2(t->b, JX_PRIM_div, im, large));
    return add(u,
               mul(v, jx_matrix_of_rows(
                          t->b, jx_math_2(t->b, JX_PRIM_complex, re, im), v)));
}

static bool eigenvectors(jx_jvp *t, jx_atom w, jx_atom v, jx_atom da,
                         jx_atom *dw, jx_atom *dv)
{
    jx_atom x = dot(by_lu(t, v, da), v);

    *dw = jx_matrix_diagonal(t->b, x);
    *dv = jx_is_made(x) ? normalized(t, v, dot(v, mul(gaps(t, w, x), x)))
                        : nothing;
    return jx_is_made(*dw) && jx_is_made(*dv);
}

/* The same equation, that gives the right vectors, too. */
static const jx_atom *with_right(jx_jvp *t, bool left)
{
    static const char *const without[] = {"compute_right_eigenvectors", NULL};
    jx_params p = jx_jvp_others(t, without);

    jx_put_bool(&p, "compute_right_eigenvectors", true);
    return jx_build_all(t->b, t->eqn->prim, &p, 1, t->ins, 2 + left);
}

bool jx_jvp_eig(jx_jvp *t)
{
    const jx_p_eig *p = t->eqn->typed;
    bool left = p->compute_left_eigenvectors,
         right = p->compute_right_eigenvectors;
    const jx_value *allowed = jx_eqn_param(t->eqn, "enable_eigvec_derivs");
    const jx_atom *made;
    jx_atom v, da, ignored;

    if ((left || right) &&
        !(allowed && allowed->tag == JX_V_BOOL && allowed->boolean))
        return jx_jvp_refuse(
            t, "derivatives of eigenvectors hold only where eigenvalues are "
               "distinct, which JAX asks for by enable_eigvec_derivs=True "
               "(PRM002)");
    if (!(made = with_right(t, left)))
        return false;
    v = made[1 + left];
    da = jx_matrix_as(t->b, t->tins[0], jx_atom_aval(v)->dtype);
    t->outs[0] = made[0];
    if (!left && !right) {
        t->touts[0] = jx_matrix_diagonal(t->b, dot(by_lu(t, v, da), v));
        return jx_is_made(t->touts[0]);
    }
    if (!eigenvectors(t, made[0], v, da, &t->touts[0], &ignored))
        return false;
    if (right) {
        t->outs[1 + left] = v;
        t->touts[1 + left] = ignored;
    }
    if (left)
        t->outs[1] = made[1];
    return !left || eigenvectors(t, jx_matrix_conjugate(t->b, made[0]), made[1],
                                 H(da), &ignored, &t->touts[1]);
}

/* ---- singular values */

/* The thin factors, which the derivative of the values alone takes, too. */
static const jx_atom *thin_svd(jx_jvp *t)
{
    static const char *const without[] = {"full_matrices", "compute_uv", NULL};
    jx_params p = jx_jvp_others(t, without);

    jx_put_bool(&p, "full_matrices", false);
    jx_put_bool(&p, "compute_uv", true);
    return jx_build_all(t->b, t->eqn->prim, &p, 1, t->ins, 3);
}

/* 1 / a, and 0 where that is 0. */
static jx_atom inverse_or_zero(jx_jvp *t, jx_atom a)
{
    jx_atom is = jx_is_made(a)
                     ? jx_matrix_as(t->b,
                                    jx_math_2(t->b, JX_PRIM_eq, a,
                                              jx_math_number(t->b, a, 0)),
                                    jx_atom_aval(a)->dtype)
                     : a;

    return sub(jx_math_over(t->b, 1, add(a, is)), is);
}

/* What of the rest of the space turns into these vectors: (dA w - v
 * (v^H dA w)) / s. */
static jx_atom turned_in(jx_jvp *t, jx_atom tangent, jx_atom v, jx_atom s)
{
    jx_atom rest = sub(tangent, dot(v, dot(H(v), tangent)));

    return jx_is_made(rest)
               ? jx_math_2(t->b, JX_PRIM_div, rest,
                           jx_matrix_as(t->b, jx_matrix_of_rows(t->b, s, rest),
                                        jx_atom_aval(rest)->dtype))
               : rest;
}

static bool svd_vectors(jx_jvp *t, jx_atom s, jx_atom u, jx_atom v, jx_atom x)
{
    jx_dtype dtype = jx_atom_aval(x)->dtype;
    jx_atom real = jx_matrix_real(t->b, x), by_row, by_column, f, one, du, dv,
            at;

    by_row = jx_matrix_of_rows(t->b, s, real);
    by_column = jx_matrix_of_columns(t->b, s, real);
    one = jx_matrix_eye(t->b, real);
    f = mul(add(by_row, by_column), sub(by_row, by_column));
    f = jx_matrix_as(t->b, sub(jx_math_over(t->b, 1, add(f, one)), one), dtype);
    at = mul(jx_matrix_of_columns(t->b, inverse_or_zero(t, s), real), one);
    du = mul(jx_matrix_as(t->b, by_row, dtype), x);
    du = mul(f, add(du, H(du)));
    du = add(du, mul(jx_math_times(t->b, sub(x, H(x)), 0.5),
                     jx_matrix_as(t->b, at, dtype)));
    dv = mul(jx_matrix_as(t->b, by_column, dtype), x);
    dv = dot(v, mul(f, add(dv, H(dv))));
    du = dot(u, du);
    if (is_more(t, rows(u), rows(v)))
        du = add(du, turned_in(t, dot(t->tins[0], v), u, s));
    if (is_more(t, rows(v), rows(u)))
        dv = add(dv, turned_in(t, dot(H(t->tins[0]), u), v, s));
    t->touts[1] = du;
    t->touts[2] = H(dv);
    return jx_is_made(du) && jx_is_made(t->touts[2]);
}

bool jx_jvp_svd(jx_jvp *t)
{
    const jx_p_svd *p = t->eqn->typed;
    const jx_dim *m = rows(t->ins[0]), *n = columns(t->ins[0]);
    const jx_atom *made;
    jx_atom v, x;

    if (p->compute_uv && p->full_matrices && m != n)
        return jx_jvp_refuse(t,
                             "no derivative of full factors is known (PRM002)");
    if (!(made = thin_svd(t)))
        return false;
    for (int i = 0; i < t->eqn->nouts; i++)
        t->outs[i] = made[i];
    v = H(made[2]);
    x = dot(dot(H(made[1]), t->tins[0]), v);
    t->touts[0] = jx_matrix_diagonal(t->b, jx_matrix_real(t->b, x));
    if (!jx_is_made(t->touts[0]))
        return false;
    return !p->compute_uv || svd_vectors(t, made[0], made[1], v, x);
}
