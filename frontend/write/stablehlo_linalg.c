/* stablehlo_linalg.c - linear algebra as XLA's CPU client has it: calls of
 * LAPACK (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <string.h>

/* ---- names, types and results of LAPACK's functions */

static char letter(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F32: return 's';
    case JX_F64: return 'd';
    case JX_C64: return 'c';
    case JX_C128: return 'z';
    default: return 0;
    }
}

/* "lapack_spotrf_ffi"; the name may differ for complex numbers. */
static const char *target(jx_code *c, jx_dtype dtype, const char *real,
                          const char *complex)
{
    const char *name = jx_dtype_is_complex(dtype) && complex ? complex : real;

    if (!letter(dtype)) {
        jx_hlo_fail(c, "LAPACK has no %s of %s", name,
                    jx_dtype_of(dtype)->short_name);
        return NULL;
    }
    return jx_arena_printf(c->in->ctx->arena, "lapack_%c%s_ffi", letter(dtype),
                           name);
}

static const jx_mlir_attr *character(jx_hlo *in, char value)
{
    return jx_hlo_integer(in, JX_UNSIGNED, 8, value);
}

/* NaN for every matrix (or vector) whose computation failed. */
static jx_hv or_nan(jx_code *c, jx_hv ok, jx_hv x)
{
    jx_dtype dtype;
    double nan = __builtin_nan("");
    jx_hv nans;

    if (!ok.value || !x.value)
        return (jx_hv){0};
    dtype = x.aval->dtype;
    nans = jx_hlo_full(c, x.aval, nan);
    if (jx_dtype_is_complex(dtype)) {
        jx_hv half = jx_hlo_full(
            c, jx_hlo_with_dtype(c->in, x.aval, jx_dtype_real(dtype)), nan);
        nans = jx_hlo_complex(c, half, half);
    }
    return jx_hlo_select(c, jx_hlo_along(c, ok, x.aval, 0), x, nans);
}

enum { MOST = 8 };

typedef struct lapack {
    const char *real, *complex;
    int nins, nouts;
    jx_hv ins[MOST];
    const jx_aval *outs[MOST];
    int aliases[MOST]; /* the operand that a result overwrites, or -1 */
    int nconfig;
    jx_mlir_named config[MOST];
} lapack;

/* A call with one operand so far, which the first result overwrites. */
static lapack start(const char *real, const char *complex, jx_hv x)
{
    lapack l = {.real = real, .complex = complex, .nins = 1, .ins = {x}};

    for (int i = 1; i < MOST; i++)
        l.aliases[i] = -1;
    return l;
}

static void takes(lapack *l, jx_hv x)
{
    l->ins[l->nins++] = x;
}

static void gives(lapack *l, const jx_aval *aval)
{
    l->outs[l->nouts++] = aval;
}

static void configure(lapack *l, const char *name, const jx_mlir_attr *value)
{
    l->config[l->nconfig++] = (jx_mlir_named){name, value};
}

static void call(jx_code *c, lapack *l, jx_hv *outs)
{
    const char *name;

    for (int i = 0; i < l->nouts; i++)
        outs[i] = (jx_hv){0};
    for (int i = 0; i < l->nouts; i++)
        if (!l->outs[i])
            return;
    if (!l->ins[0].value)
        return;
    name = target(c, l->ins[0].aval->dtype, l->real, l->complex);
    if (name)
        jx_hlo_call_ffi(c,
                        &(jx_hlo_ffi){.target = name,
                                      .nins = l->nins,
                                      .ins = l->ins,
                                      .nouts = l->nouts,
                                      .outs = l->outs,
                                      .nconfig = l->nconfig,
                                      .config = l->config,
                                      .column_major = true,
                                      .aliases = l->aliases},
                        outs);
}

/* The same where the last result is LAPACK's `info` about each matrix: whether
 * it is `direction` 0 ("EQ": all went well). */
static jx_hv call_checked(jx_code *c, lapack *l, const char *direction,
                          jx_hv *outs)
{
    jx_hv of = l->ins[l->nins - 1], info;

    if (!of.value)
        return (jx_hv){0};
    gives(l, jx_hlo_leading(c, of.aval, 2, JX_I32, 0, NULL));
    call(c, l, outs);
    info = outs[l->nouts - 1];
    return info.value
               ? jx_hlo_compare(c, direction, info, jx_hlo_like(c, info, 0))
               : info;
}

/* The first n results, where the computation went well. */
static void fill_checked(jx_hlo_eqn *e, jx_hv ok, int n, const jx_hv *outs)
{
    for (int i = 0; i < n; i++)
        e->outs[i] = or_nan(e->code, ok, outs[i]);
}

/* ---- factorizations */

/* Its lower triangle, from diagonal 0, or its upper one. */
static jx_hv triangle(jx_code *c, jx_hv x, bool lower)
{
    const jx_aval *places;
    jx_hv rows, columns;

    if (!x.value)
        return x;
    places = jx_hlo_with_dtype(c->in, x.aval, JX_I32);
    rows = jx_hlo_iota(c, places, x.aval->rank - 2);
    columns = jx_hlo_iota(c, places, x.aval->rank - 1);
    return jx_hlo_select(c,
                         jx_hlo_compare(c, lower ? "GE" : "LE", rows, columns),
                         x, jx_hlo_like(c, x, 0));
}

void jx_lowering_rule_cholesky(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[2];
    lapack l = start("potrf", NULL, x);

    gives(&l, x.aval);
    configure(&l, "uplo", character(c->in, 'L'));
    fill_checked(e, call_checked(c, &l, "EQ", outs), 1, outs);
}

/* ---- LU */

void jx_lowering_rule_lu(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv outs[3], ok;
    lapack l = start("getrf", NULL, e->ins[0]);

    gives(&l, e->avals[0]);
    gives(&l, e->avals[1]);
    /* A pivot that is 0 (info > 0) is no failure. */
    ok = call_checked(c, &l, "GE", outs);
    fill_checked(e, ok, 1, outs);
    if (!ok.value)
        return;
    e->outs[1] = jx_hlo_sub(c, outs[1], jx_hlo_like(c, outs[1], 1));
    e->outs[2] = jx_hlo_made_of(c, JX_PRIM_lu_pivots_to_permutation, e->outs[1],
                                e->avals[2]);
}

/* ---- QR */

static const jx_dim *least(jx_code *c, const jx_dim *m, const jx_dim *n)
{
    return jx_dim_min(c->in->program->dims, m, n);
}

static void geqrf(jx_code *c, jx_hv x, jx_hv *outs)
{
    lapack l = start("geqrf", NULL, x);
    const jx_dim *k = least(c, x.aval->shape[x.aval->rank - 2],
                            x.aval->shape[x.aval->rank - 1]);

    gives(&l, x.aval);
    gives(&l, jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 1, &k));
    call(c, &l, outs);
}

void jx_lowering_rule_geqrf(jx_hlo_eqn *e)
{
    if (e->ins[0].value)
        geqrf(e->code, e->ins[0], e->outs);
}

static jx_hv householder(jx_code *c, jx_hv x, jx_hv taus)
{
    lapack l = start("orgqr", "ungqr", x);
    jx_hv out;

    takes(&l, taus);
    gives(&l, x.aval);
    call(c, &l, &out);
    return out;
}

void jx_lowering_rule_householder(jx_hlo_eqn *e)
{
    jx_hlo_fill(e, householder(e->code, e->ins[0], e->ins[1]));
}

void jx_lowering_rule_ormqr(jx_hlo_eqn *e)
{
    const jx_p_ormqr *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    lapack l = start("ormqr", "unmqr", e->ins[0]);

    takes(&l, e->ins[1]);
    takes(&l, e->ins[2]);
    gives(&l, e->avals[0]);
    l.aliases[0] = 2;
    configure(&l, "left", jx_hlo_bool(in, p->left));
    configure(&l, "transpose", jx_hlo_bool(in, p->transpose));
    call(e->code, &l, e->outs);
}

/* With column pivoting: the places come counted from 1. */
static void geqp3(jx_code *c, jx_hv x, jx_hv *outs, jx_hv *places)
{
    lapack l = start("geqp3", NULL, x);
    const jx_dim *m = x.aval->shape[x.aval->rank - 2];
    const jx_dim *n = x.aval->shape[x.aval->rank - 1], *k = least(c, m, n);
    const jx_aval *pivots = jx_hlo_leading(c, x.aval, 2, JX_I32, 1, &n);
    jx_hv all[3];

    takes(&l, jx_hlo_full_int(c, pivots, 0));
    gives(&l, x.aval);
    gives(&l, pivots);
    l.aliases[1] = 1;
    gives(&l, jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 1, &k));
    call(c, &l, all);
    outs[0] = all[0];
    outs[1] = all[2];
    if (all[1].value)
        *places = jx_hlo_sub(c, all[1], jx_hlo_full_int(c, pivots, 1));
}

/* Q of a matrix without elements: a part of the identity. */
static jx_hv identity(jx_code *c, const jx_aval *aval)
{
    const jx_aval *places = jx_hlo_with_dtype(c->in, aval, JX_I32);
    jx_hv same = jx_hlo_compare(c, "EQ", jx_hlo_iota(c, places, aval->rank - 2),
                                jx_hlo_iota(c, places, aval->rank - 1));

    return jx_hlo_select(c, same, jx_hlo_full(c, aval, 1),
                         jx_hlo_full(c, aval, 0));
}

static jx_hv widened(jx_code *c, jx_hv x, const jx_dim *by)
{
    const jx_dim **pads = JX_NEW_ARRAY(
        c->in->ctx->arena, 3 * (x.aval ? x.aval->rank : 0) + 1, const jx_dim *);

    if (!pads || !x.value)
        return (jx_hv){0};
    for (int i = 0; i < 3 * x.aval->rank; i++)
        pads[i] = jx_hlo_int(c->in, 0);
    pads[3 * (x.aval->rank - 1) + 1] = by;
    return jx_hlo_pad(c, x, jx_hlo_scalar(c, x.aval->dtype, 0), pads);
}

static void empty_qr(jx_hlo_eqn *e)
{
    jx_code *c = e->code;

    e->outs[0] = identity(c, e->avals[0]);
    e->outs[1] = jx_hlo_full(c, e->avals[1], 0);
    if (e->eqn->nouts > 2)
        e->outs[2] = jx_hlo_full_int(c, e->avals[2], 0);
}

void jx_lowering_rule_qr(jx_hlo_eqn *e)
{
    const jx_p_qr *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[2] = {{0}}, q;
    jx_dims *dims = c->in->program->dims;

    if (!x.value)
        return;
    int rank = x.aval->rank;
    const jx_dim *rows = x.aval->shape[rank - 2];
    const jx_dim *columns = x.aval->shape[rank - 1],
                 *zero = jx_hlo_int(c->in, 0);
    int64_t m = jx_hlo_static(c, rows, "sizes of matrices for qr");
    int64_t n = jx_hlo_static(c, columns, "sizes of matrices for qr");

    if (!m || !n) {
        empty_qr(e);
        return;
    }
    if (p->pivoting)
        geqp3(c, x, outs, &e->outs[2]);
    else
        geqrf(c, x, outs);
    q = outs[0];
    if (m < n)
        q = jx_hlo_slice_axis(c, q, rank - 1, zero, rows);
    else if (p->full_matrices)
        q = widened(c, q, jx_dim_sub(dims, rows, columns));
    else
        outs[0] = jx_hlo_slice_axis(c, outs[0], rank - 2, zero, columns);
    e->outs[0] = householder(c, q, outs[1]);
    e->outs[1] = triangle(c, outs[0], false);
}

/* ---- singular values and eigenvalues */

static bool has_no_elements(const jx_aval *aval)
{
    int64_t n;

    for (int i = aval->rank - 2; i < aval->rank; i++)
        if (jx_dim_is_int(aval->shape[i], &n) && !n)
            return true;
    return false;
}

static void empty_svd(jx_hlo_eqn *e)
{
    jx_code *c = e->code;

    e->outs[0] = jx_hlo_full(c, e->avals[0], 0);
    for (int i = 1; i < e->eqn->nouts; i++)
        e->outs[i] = identity(c, e->avals[i]);
}

void jx_lowering_rule_svd(jx_hlo_eqn *e)
{
    const jx_p_svd *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[5];
    const jx_value *algorithm = jx_eqn_param(e->eqn, "algorithm");
    bool qr =
        algorithm && algorithm->text && strstr(algorithm->text, "QR") != NULL;
    lapack l = start(qr ? "gesvd" : "gesdd", NULL, x);

    if (!x.value)
        return;
    if (has_no_elements(x.aval)) {
        empty_svd(e);
        return;
    }
    const jx_dim *m = x.aval->shape[x.aval->rank - 2];
    const jx_dim *n = x.aval->shape[x.aval->rank - 1], *k = least(c, m, n);
    const jx_dim *u[2] = {m, p->full_matrices ? m : k};
    const jx_dim *v[2] = {p->full_matrices ? n : k, n};
    gives(&l, x.aval);
    gives(&l, e->avals[0]);
    gives(&l, jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 2, u));
    gives(&l, jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 2, v));
    configure(&l, "mode",
              character(c->in, !p->compute_uv     ? 'N'
                               : p->full_matrices ? 'A'
                                                  : 'S'));
    fill_checked(e, call_checked(c, &l, "EQ", outs), p->compute_uv ? 3 : 1,
                 outs + 1);
}

void jx_lowering_rule_eigh(jx_hlo_eqn *e)
{
    const jx_p_eigh *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv outs[3];
    lapack l = start("syevd", "heevd", e->ins[0]);

    gives(&l, e->avals[0]);
    gives(&l, e->avals[1]);
    configure(&l, "mode", character(c->in, 'V'));
    configure(&l, "uplo", character(c->in, p->lower ? 'L' : 'U'));
    fill_checked(e, call_checked(c, &l, "EQ", outs), 2, outs);
}

void jx_lowering_rule_eig(jx_hlo_eqn *e)
{
    const jx_p_eig *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[5], ok, w;
    lapack l = start("geev", NULL, x);
    int at = 0, left;

    if (!x.value)
        return;
    bool real = !jx_dtype_is_complex(x.aval->dtype);
    const jx_dim *size = x.aval->shape[x.aval->rank - 1];
    const jx_aval *values =
        jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 1, &size);
    const jx_aval *vectors = jx_hlo_with_dtype(
        c->in, x.aval, real ? jx_dtype_complex(x.aval->dtype) : x.aval->dtype);
    l.aliases[0] = -1;
    gives(&l, values);
    if (real)
        gives(&l, values);
    left = l.nouts;
    gives(&l, vectors);
    gives(&l, vectors);
    configure(&l, "compute_left",
              character(c->in, p->compute_left_eigenvectors ? 'V' : 'N'));
    configure(&l, "compute_right",
              character(c->in, p->compute_right_eigenvectors ? 'V' : 'N'));
    ok = call_checked(c, &l, "EQ", outs);
    w = real ? jx_hlo_complex(c, outs[0], outs[1]) : outs[0];
    e->outs[at++] = or_nan(c, ok, w);
    if (p->compute_left_eigenvectors)
        e->outs[at++] = or_nan(c, ok, outs[left]);
    if (p->compute_right_eigenvectors)
        e->outs[at++] = or_nan(c, ok, outs[left + 1]);
}

void jx_lowering_rule_schur(jx_hlo_eqn *e)
{
    const jx_p_schur *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[6];
    lapack l = start("gees", NULL, x);

    if (!x.value)
        return;
    const jx_dim *size = x.aval->shape[x.aval->rank - 1];
    const jx_aval *values =
        jx_hlo_leading(c, x.aval, 2, x.aval->dtype, 1, &size);
    gives(&l, x.aval);
    gives(&l, x.aval);
    gives(&l, values);
    if (!jx_dtype_is_complex(x.aval->dtype))
        gives(&l, values);
    gives(&l, jx_hlo_leading(c, x.aval, 2, JX_I32, 0,
                             NULL)); /* how many are chosen */
    configure(&l, "mode",
              character(c->in, p->compute_schur_vectors ? 'V' : 'N'));
    configure(&l, "sort", character(c->in, 'N'));
    fill_checked(e, call_checked(c, &l, "EQ", outs),
                 p->compute_schur_vectors ? 2 : 1, outs);
}

void jx_lowering_rule_tridiagonal(jx_hlo_eqn *e)
{
    const jx_p_tridiagonal *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv outs[5];
    lapack l = start("sytrd", "hetrd", e->ins[0]);

    for (int i = 0; i < 4; i++)
        gives(&l, e->avals[i]);
    configure(&l, "uplo", character(c->in, p->lower ? 'L' : 'U'));
    fill_checked(e, call_checked(c, &l, "EQ", outs), 4, outs);
}

void jx_lowering_rule_hessenberg(jx_hlo_eqn *e)
{
    jx_code *c = e->code;
    jx_hv x = e->ins[0], outs[3];
    lapack l = start("gehrd", NULL, x);

    if (!x.value)
        return;
    int64_t n = jx_hlo_static(c, x.aval->shape[x.aval->rank - 1],
                              "sizes of matrices for hessenberg");
    gives(&l, e->avals[0]);
    gives(&l, e->avals[1]);
    configure(&l, "low", jx_hlo_integer(c->in, JX_SIGNLESS, 32, 1));
    configure(&l, "high", jx_hlo_integer(c->in, JX_SIGNLESS, 32, n));
    fill_checked(e, call_checked(c, &l, "EQ", outs), 2, outs);
}

/* ---- solving */

static jx_hv solve_without_lapack(jx_hlo_eqn *e, jx_hv a, bool conjugate)
{
    const jx_p_triangular_solve *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv ins[2] = {a, e->ins[1]};
    const char *how = !p->transpose_a ? "NO_TRANSPOSE"
                      : conjugate     ? "ADJOINT"
                                      : "TRANSPOSE";
    jx_mlir_named attrs[] = {
        {"left_side", jx_hlo_bool(c->in, p->left_side)},
        {"lower", jx_hlo_bool(c->in, p->lower)},
        {"unit_diagonal", jx_hlo_bool(c->in, p->unit_diagonal)},
        {"transpose_a", jx_hlo_enum(c->in, "stablehlo.transpose", how)}};

    return jx_hlo_simple(c, "stablehlo.triangular_solve", 2, ins, e->avals[0],
                         4, attrs);
}

void jx_lowering_rule_triangular_solve(jx_hlo_eqn *e)
{
    const jx_p_triangular_solve *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv a = e->ins[0], out;
    bool conjugate = p->conjugate_a;
    lapack l;

    if (!a.value || !e->ins[1].value)
        return;
    if (conjugate && !p->transpose_a) {
        if (jx_dtype_is_complex(a.aval->dtype))
            a = jx_hlo_unary(c, "chlo.conj", a);
        conjugate = false;
    }
    if (!letter(a.aval->dtype)) {
        jx_hlo_fill(e, solve_without_lapack(e, a, conjugate));
        return;
    }
    l = start("trsm", NULL, a);
    takes(&l, e->ins[1]);
    gives(&l, e->avals[0]);
    l.aliases[0] = 1;
    configure(&l, "side", character(c->in, p->left_side ? 'L' : 'R'));
    configure(&l, "uplo", character(c->in, p->lower ? 'L' : 'U'));
    configure(&l, "trans_x",
              character(c->in, !p->transpose_a ? 'N'
                               : conjugate     ? 'C'
                                               : 'T'));
    configure(&l, "diag", character(c->in, p->unit_diagonal ? 'U' : 'N'));
    call(c, &l, &out);
    jx_hlo_fill(e, out);
}

void jx_lowering_rule_tridiagonal_solve(jx_hlo_eqn *e)
{
    const jx_p_tridiagonal_solve *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hv outs[5];
    lapack l = start("gtsv", NULL, e->ins[0]);

    if (p->perturb_singular) {
        jx_hlo_call_ffi(
            c,
            &(jx_hlo_ffi){.target = "tridiagonal_solve_perturbed_ffi",
                          .nins = 4,
                          .ins = e->ins,
                          .nouts = 1,
                          .outs = e->avals,
                          .column_major = true},
            e->outs);
        return;
    }
    for (int i = 0; i < 4; i++) {
        if (i)
            takes(&l, e->ins[i]);
        gives(&l, e->ins[i].aval);
        l.aliases[i] = i;
    }
    fill_checked(e, call_checked(c, &l, "EQ", outs), 1, outs + 3);
}
