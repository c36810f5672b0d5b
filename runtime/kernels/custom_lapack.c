/* custom_lapack.c - custom calls of LAPACK's routines, by the names that JAX
 * gives them on a CPU and by those of other devices.
 *
 * Their options are letters (uplo = 76, 'L') on a CPU, truth values elsewhere.
 * Matrices come column-major (operand_layouts), which is how LAPACK reads
 * them; so nothing but the order of the indices is meant by it.  Row-major ones
 * would be read as their transposes. */
#include "runtime/kernels/custom_call.h"
#include "runtime/kernels/lapack.h"

#include <string.h>

static bool letter(const jx_eqn *eqn, const char *name, char wanted,
                   char otherwise)
{
    return jx_custom_integer(eqn, name, otherwise) == wanted;
}

/* The triangle that is given: `uplo` or `lower`. */
static bool is_lower(const jx_eqn *eqn)
{
    return jx_custom_value(eqn, "lower")
               ? jx_custom_integer(eqn, "lower", 1) != 0
               : letter(eqn, "uplo", 'L', 'L');
}

/* Operand `i` is declared column-major: the last but one axis is the minor
 * one.  `otherwise`: nothing is declared. */
static bool is_column_major(const jx_eqn *eqn, int i, bool otherwise)
{
    const jx_p_custom_call *p = eqn->typed;
    const jx_value *all = p->operand_layouts;
    const jx_value *one =
        all && all->tag == JX_V_TUPLE && i < all->count ? all->items[i] : NULL;

    if (!one || one->tag != JX_V_TUPLE || one->count < 2)
        return otherwise;
    return one->items[0]->tag == JX_V_INT &&
           one->items[0]->integer == one->count - 2;
}

static bool expect(jx_planner *p, const jx_eqn *eqn, int nins, int matrix)
{
    if (eqn->nins != nins)
        return jx_plan_fail(p, "%d operands are expected, not %d", nins,
                            eqn->nins);
    return is_column_major(eqn, matrix, true) ||
           jx_plan_fail(p,
                        "operand %d is laid out by rows, columns are expected",
                        matrix);
}

/* ---- solving ---- */

bool jx_custom_potrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 1, 0) &&
           jx_lapack_potrf(p, eqn, &ins[0], is_lower(eqn), outs);
}

bool jx_custom_getrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 1, 0) && jx_lapack_getrf(p, eqn, &ins[0], outs);
}

bool jx_custom_trsm(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    bool conjugate = letter(eqn, "trans_x", 'C', 'N');
    jx_p_triangular_solve how = {
        .left_side = letter(eqn, "side", 'L', 'L'),
        .lower = letter(eqn, "uplo", 'L', 'L'),
        .transpose_a = conjugate || letter(eqn, "trans_x", 'T', 'N'),
        .conjugate_a = conjugate,
        .unit_diagonal = letter(eqn, "diag", 'U', 'N')};

    return expect(p, eqn, 2, 0) && expect(p, eqn, 2, 1) &&
           jx_lapack_trsm(p, eqn, ins, &how, outs);
}

bool jx_custom_gtsv(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    return expect(p, eqn, 4, 3) &&
           jx_lapack_gtsv(p, eqn, ins, eqn->nouts == 1, outs);
}

bool jx_custom_lu_pivots(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    return (eqn->nins == 1 && eqn->nouts == 1)
               ? jx_plan_lu_pivots(p, eqn, ins, outs)
               : jx_plan_fail(p, "one operand and one result are expected");
}

/* A TPU's: the factors, the exchanges from 0 on, and the permutation. */
bool jx_custom_lu(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs)
{
    return expect(p, eqn, 1, 0) && jx_plan_lu(p, eqn, ins, outs);
}

/* ---- reflectors ---- */

bool jx_custom_geqrf(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 1, 0) && jx_plan_geqrf(p, eqn, ins, outs);
}

bool jx_custom_geqp3(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 2, 0) && jx_lapack_geqp3(p, eqn, ins, outs);
}

bool jx_custom_orgqr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 2, 0) &&
           jx_plan_householder_product(p, eqn, ins, outs);
}

bool jx_custom_ormqr(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    jx_p_ormqr how = {.left = jx_custom_integer(eqn, "left", 1) != 0,
                      .transpose = jx_custom_integer(eqn, "transpose", 0) != 0};

    return expect(p, eqn, 3, 0) && expect(p, eqn, 3, 2) &&
           jx_lapack_ormqr(p, eqn, ins, &how, outs);
}

bool jx_custom_gehrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    int rank = ins[0].rank;
    int64_t n = rank ? ins[0].shape[rank - 1] : 0;

    return expect(p, eqn, 1, 0) &&
           jx_lapack_gehrd(p, eqn, &ins[0], jx_custom_integer(eqn, "low", 1),
                           jx_custom_integer(eqn, "high", n), outs);
}

bool jx_custom_sytrd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 1, 0) &&
           jx_lapack_sytrd(p, eqn, &ins[0], is_lower(eqn), outs);
}

/* ---- eigenvalues and singular values ---- */

bool jx_custom_gesdd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    jx_svd_how how = {.vectors = !letter(eqn, "mode", 'N', 'A'),
                      .full = letter(eqn, "mode", 'A', 'A')};

    return expect(p, eqn, 1, 0) && jx_lapack_gesdd(p, eqn, &ins[0], &how, outs);
}

static bool plan_gesvd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       bool plain, jx_slot *outs)
{
    jx_svd_how how = {.vectors = jx_custom_integer(eqn, "compute_uv", 1) != 0,
                      .full = jx_custom_integer(eqn, "full_matrices", 1) != 0,
                      .plain = plain,
                      .swapped = jx_custom_integer(eqn, "transposed", 0) != 0};

    if (eqn->nins != 1 || is_column_major(eqn, 0, !how.swapped) == how.swapped)
        return jx_plan_fail(p, "one matrix, laid out by %s, is expected",
                            how.swapped ? "rows" : "columns");
    return jx_lapack_gesdd(p, eqn, &ins[0], &how, outs);
}

/* On a GPU; where rows are longer than columns the matrix comes by rows, and
 * the right vectors first. */
bool jx_custom_gesvd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return plan_gesvd(p, eqn, ins, false, outs);
}

/* Gives V, not V^H. */
bool jx_custom_gesvdj(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                      jx_slot *outs)
{
    return plan_gesvd(p, eqn, ins, true, outs);
}

bool jx_custom_syevd(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs)
{
    return expect(p, eqn, 1, 0) &&
           jx_lapack_syevd(p, eqn, &ins[0], is_lower(eqn),
                           !letter(eqn, "mode", 'N', 'V'), outs);
}

/* A byte of a backend_config that is no text, or -1. */
static int64_t byte_of(const jx_eqn *eqn, int i)
{
    const jx_p_custom_call *p = eqn->typed;
    const jx_value *bytes = p->backend_config;

    return bytes && bytes->tag == JX_V_TUPLE && i < bytes->count &&
                   bytes->items[i]->tag == JX_V_INT
               ? bytes->items[i]->integer
               : -1;
}

/* As older versions called hipSOLVER: a work space among the results, and the
 * options in bytes: the second int of four is the triangle (121 the upper one,
 * 122 the lower one). */
bool jx_custom_syevd_bytes(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    int64_t triangle = byte_of(eqn, 4);
    jx_eqn three = *eqn;

    if (!expect(p, eqn, 1, 0) || eqn->nouts != 4)
        return jx_plan_fail(p, "one operand and four results are expected");
    if (triangle != 121 && triangle != 122)
        return jx_plan_fail(p, "its backend_config does not say which triangle "
                               "is given");
    three.nouts = 3;
    outs[3] = jx_lapack_zeros(p, eqn, 3);
    return jx_lapack_syevd(p, &three, &ins[0], triangle == 122, true, outs);
}

/* A TPU's: vectors and values, without an answer. */
bool jx_custom_eigh(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    const jx_p_custom_call *params = eqn->typed;
    const jx_value *config = params->backend_config;
    /* "lower,sort,sweeps,tolerance" */
    bool upper = config && config->tag == JX_V_TEXT && config->text[0] == '0';

    return expect(p, eqn, 1, 0) &&
           jx_lapack_eigh(p, eqn, &ins[0], !upper, outs);
}

bool jx_custom_geev(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    return expect(p, eqn, 1, 0) &&
           jx_lapack_geev(p, eqn, &ins[0],
                          letter(eqn, "compute_left", 'V', 'N'),
                          letter(eqn, "compute_right", 'V', 'N'), outs);
}

bool jx_custom_gees(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                    jx_slot *outs)
{
    if (letter(eqn, "sort", 'S', 'N'))
        return jx_plan_fail(p, "sorted Schur forms can't be had");
    return expect(p, eqn, 1, 0) &&
           jx_lapack_gees(p, eqn, &ins[0], letter(eqn, "mode", 'V', 'V'), outs);
}
