/* type_rules_custom_call.c - calls of code that the program names and
 * does not hold.
 *
 * custom_calls.def says of the known targets how results follow from operands.
 * Of others nothing is known but what is declared. */
#include "analyzer/custom_calls.h"
#include "analyzer/type_rules.h"

#include <string.h>

/* -- options ------------------------------------------------------------- */

static const jx_value *entry(const jx_value *map, const char *name)
{
    for (int i = 0; map && map->tag == JX_V_MAP && i + 1 < map->count; i += 2)
        if (map->items[i]->tag == JX_V_TEXT &&
            !strcmp(map->items[i]->text, name))
            return map->items[i + 1];
    return NULL;
}

const jx_value *jx_custom_value(const jx_eqn *eqn, const char *name)
{
    const jx_p_custom_call *p = eqn->typed;
    const jx_value *places[] = {p->backend_config, p->attributes,
                                entry(p->attributes, "mhlo.attributes")};
    const jx_value *found = NULL;

    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++)
        found = entry(places[i], name);
    return found;
}

int64_t jx_custom_integer(const jx_eqn *eqn, const char *name,
                          int64_t otherwise)
{
    const jx_value *v = jx_custom_value(eqn, name);

    if (v && v->tag == JX_V_BOOL)
        return v->boolean;
    return v && v->tag == JX_V_INT ? v->integer : otherwise;
}

double jx_custom_real(const jx_eqn *eqn, const char *name, double otherwise)
{
    const jx_value *v = jx_custom_value(eqn, name);

    if (v && v->tag == JX_V_INT)
        return (double)v->integer;
    return v && v->tag == JX_V_FLOAT ? v->real : otherwise;
}

/* -- simple relations ---------------------------------------------------- */

typedef void relation(jx_typing *t);

static void out_as(jx_typing *t, int i, const jx_aval *like)
{
    jx_type_out_like(t, i, like, false, like->rank, like->shape);
}

/* The results are the operands again. */
static void same(jx_typing *t)
{
    if (!jx_type_counts(t, -1, t->nins))
        return;
    for (int i = 0; i < t->nins; i++)
        jx_type_is(t, i, t->ins[i]);
}

/* What is computed against what is expected. */
static void check(jx_typing *t)
{
    if (jx_type_counts(t, 2, 0) && jx_type_same_dtypes(t, 0, 2))
        jx_type_same_shapes(t, 0, 2);
}

static void compared(jx_typing *t)
{
    if (jx_type_counts(t, 2, 1) && jx_type_same_dtypes(t, 0, 2) &&
        jx_type_same_shapes(t, 0, 2))
        jx_type_out(t, 0, JX_BOOL, false, 0, NULL);
}

static void unary(jx_typing *t)
{
    if (jx_type_counts(t, 1, 1) && jx_type_takes(t, 0, JX_TAKES_INEXACT))
        out_as(t, 0, t->ins[0]);
}

/* Shapes that only the call declares, or that its operands hold as values. */
static void declared(jx_typing *t)
{
    for (int i = 0; i < t->nouts; i++)
        jx_type_is(t, i, t->eqn->outs[i]->aval);
    jx_assume(t, "the results of %s @%s have their declared types",
              t->eqn->prim->name,
              ((const jx_p_custom_call *)t->params)->call_target_name);
}

/* Two keys and two counters. */
static void threefry(jx_typing *t)
{
    if (!jx_type_counts(t, 4, 2) || !jx_type_same_shapes(t, 0, 4) ||
        !jx_type_same_dtypes(t, 0, 4) || !jx_type_takes(t, 0, JX_TAKES_UINT))
        return;
    for (int i = 0; i < 2; i++)
        out_as(t, i, t->ins[0]);
}

/* -- factorizations ------------------------------------------------------ */

/* A batch of matrices, operand `from`. */
typedef struct matrices {
    jx_typing *t;
    const jx_aval *a;
    const jx_dim *m, *n, *k; /* rows, columns, the smaller */
    jx_dtype dtype, real;
} matrices;

static bool begin(jx_typing *t, int from, int nins, int nouts, matrices *b)
{
    if (!jx_type_counts(t, nins, nouts) ||
        !jx_type_takes(t, from, JX_TAKES_INEXACT))
        return false;
    const jx_aval *a = t->ins[from];
    if (a->rank < 2)
        return jx_type_wrong(t, "operand %d has rank %d, matrices have 2", from,
                             a->rank);
    *b = (matrices){
        t,    a,        a->shape[a->rank - 2],  a->shape[a->rank - 1],
        NULL, a->dtype, jx_dtype_real(a->dtype)};
    b->k = jx_smaller(t, b->m, b->n);
    return true;
}

/* Rows and columns are as many. */
static bool begin_square(jx_typing *t, int nins, int nouts, matrices *b)
{
    if (!begin(t, 0, nins, nouts, b))
        return false;
    jx_require_eq(t, b->m, b->n, "operand 0: rows and columns");
    return true;
}

/* Result `i`: the batch, then up to two sizes. */
static void out(const matrices *b, int i, jx_dtype dtype, const jx_dim *rows,
                const jx_dim *columns)
{
    int batch = b->a->rank - 2, rank = batch;
    const jx_dim **shape = jx_shape(b->t, batch + 2);

    for (int k = 0; shape && k < batch; k++)
        shape[k] = b->a->shape[k];
    if (!shape)
        return;
    if (rows)
        shape[rank++] = rows;
    if (columns)
        shape[rank++] = columns;
    jx_type_out(b->t, i, dtype, false, rank, shape);
}

static void out_matrix(const matrices *b, int i)
{
    out(b, i, b->dtype, b->m, b->n);
}

static void out_answer(const matrices *b, int i)
{
    out(b, i, JX_I32, NULL, NULL);
}

static const jx_dim *fewer(const matrices *b)
{
    return jx_minus(b->t, b->n, jx_const(b->t, 1));
}

static void potrf(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 2, &b))
        return;
    out_matrix(&b, 0);
    out_answer(&b, 1);
}

static void getrf(jx_typing *t)
{
    matrices b;

    if (!begin(t, 0, 1, 3, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, JX_I32, b.k, NULL);
    out_answer(&b, 2);
}

static void lu(jx_typing *t)
{
    matrices b;

    if (!begin(t, 0, 1, 3, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, JX_I32, b.k, NULL);
    out(&b, 2, JX_I32, b.m, NULL);
}

/* As many rows as the permutation is declared to have. */
static void lu_pivots(jx_typing *t)
{
    if (jx_type_counts(t, 1, 1) && jx_type_integer(t, 0))
        declared(t);
}

static void geqrf(jx_typing *t)
{
    matrices b;

    if (!begin(t, 0, 1, 2, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.dtype, b.k, NULL);
}

static void geqp3(jx_typing *t)
{
    matrices b;

    if (!begin(t, 0, 2, 3, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, JX_I32, b.n, NULL);
    out(&b, 2, b.dtype, b.k, NULL);
}

static void orgqr(jx_typing *t)
{
    matrices b;

    if (!begin(t, 0, 2, 1, &b) || !jx_type_same_dtypes(t, 0, 2))
        return;
    jx_require_ge(t, b.m, b.n, "operand 0: rows against columns");
    out_matrix(&b, 0);
}

static void ormqr(jx_typing *t)
{
    bool left = jx_custom_integer(t->eqn, "left", 1) != 0;
    matrices a, b;

    if (!begin(t, 0, 3, 1, &a) || !begin(t, 2, 3, 1, &b) ||
        !jx_type_same_dtypes(t, 0, 3))
        return;
    jx_require_eq(t, a.m, left ? b.m : b.n,
                  "operand 0, rows, against the %s of operand 2",
                  left ? "rows" : "columns");
    out_matrix(&b, 0);
}

static void trsm(jx_typing *t)
{
    bool left = jx_custom_integer(t->eqn, "side", 'L') == 'L';
    matrices a, b;

    if (!begin(t, 1, 2, 1, &b) || !begin_square(t, 2, 1, &a) ||
        !jx_type_same_dtypes(t, 0, 2))
        return;
    jx_require_eq(t, a.n, left ? b.m : b.n,
                  "operand 0 against the %s of operand 1",
                  left ? "rows" : "columns");
    out_matrix(&b, 0);
}

/* Three diagonals and right-hand sides; alone or with all that was made of
 * them. */
static void gtsv(jx_typing *t)
{
    bool alone = t->nouts == 1;
    matrices b;

    if (!begin(t, 3, 4, alone ? 1 : 5, &b) || !jx_type_same_dtypes(t, 0, 4) ||
        !jx_type_same_shapes(t, 0, 3))
        return;
    if (t->ins[0]->rank != b.a->rank - 1) {
        jx_type_wrong(t, "operand 0 has rank %d, operand 3 has %d",
                      t->ins[0]->rank, b.a->rank);
        return;
    }
    for (int k = 0; k < t->ins[0]->rank; k++)
        jx_require_eq(t, t->ins[0]->shape[k], b.a->shape[k],
                      "operands 0 and 3, axis %d", k);
    for (int i = 0; i < 3 && !alone; i++)
        out(&b, i, b.dtype, b.m, NULL);
    out_matrix(&b, alone ? 0 : 3);
    out_answer(&b, 4);
}

static void gehrd(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 3, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.dtype, fewer(&b), NULL);
    out_answer(&b, 2);
}

static void sytrd(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 5, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.real, b.n, NULL);
    out(&b, 2, b.real, fewer(&b), NULL);
    out(&b, 3, b.dtype, fewer(&b), NULL);
    out_answer(&b, 4);
}

/* Vectors, of which LAPACK makes none where they are not wanted. */
static void vectors(const matrices *b, int i, bool wanted, const jx_dim *rows,
                    const jx_dim *columns)
{
    if (wanted)
        out(b, i, b->dtype, rows, columns);
    else
        jx_type_is(b->t, i, b->t->eqn->outs[i]->aval);
}

static void gesdd(jx_typing *t)
{
    int64_t mode = jx_custom_integer(t->eqn, "mode", 'A');
    matrices b;

    if (!begin(t, 0, 1, 5, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.real, b.k, NULL);
    vectors(&b, 2, mode != 'N', b.m, mode == 'A' ? b.m : b.k);
    vectors(&b, 3, mode != 'N', mode == 'A' ? b.n : b.k, b.n);
    out_answer(&b, 4);
}

static bool begin_gesvd(jx_typing *t, matrices *b, bool *wanted, bool *full)
{
    *wanted = jx_custom_integer(t->eqn, "compute_uv", 1) != 0;
    *full = jx_custom_integer(t->eqn, "full_matrices", 1) != 0;
    if (!begin(t, 0, 1, 5, b))
        return false;
    out_matrix(b, 0);
    out(b, 1, b->real, b->k, NULL);
    out_answer(b, 4);
    return true;
}

static void gesvd(jx_typing *t)
{
    int right = jx_custom_integer(t->eqn, "transposed", 0) ? 2 : 3;
    bool wanted, full;
    matrices b;

    if (!begin_gesvd(t, &b, &wanted, &full))
        return;
    vectors(&b, 5 - right, wanted, b.m, full ? b.m : b.k);
    vectors(&b, right, wanted, full ? b.n : b.k, b.n);
}

static void gesvdj(jx_typing *t)
{
    bool wanted, full;
    matrices b;

    if (!begin_gesvd(t, &b, &wanted, &full))
        return;
    vectors(&b, 2, wanted, b.m, full ? b.m : b.k);
    vectors(&b, 3, wanted, b.n, full ? b.n : b.k);
}

static void syevd(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 3, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.real, b.n, NULL);
    out_answer(&b, 2);
}

/* With a work space behind. */
static void syevd_bytes(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 4, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.real, b.n, NULL);
    out_answer(&b, 2);
    jx_type_is(t, 3, t->eqn->outs[3]->aval);
}

static void eigh(jx_typing *t)
{
    matrices b;

    if (!begin_square(t, 1, 2, &b))
        return;
    out_matrix(&b, 0);
    out(&b, 1, b.real, b.n, NULL);
}

static void geev(jx_typing *t)
{
    bool apart = t->nins == 1 && !jx_dtype_is_complex(t->ins[0]->dtype);
    matrices b;
    int i = 0;

    if (!begin_square(t, 1, 4 + apart, &b))
        return;
    jx_dtype complex = apart ? jx_dtype_complex(b.dtype) : b.dtype;
    out(&b, i++, b.dtype, b.n, NULL);
    if (apart)
        out(&b, i++, b.dtype, b.n, NULL);
    out(&b, i++, complex, b.n, b.n);
    out(&b, i++, complex, b.n, b.n);
    out_answer(&b, i);
}

static void gees(jx_typing *t)
{
    bool apart = t->nins == 1 && !jx_dtype_is_complex(t->ins[0]->dtype);
    matrices b;
    int i = 0;

    if (!begin_square(t, 1, 5 + apart, &b))
        return;
    out_matrix(&b, i++);
    out_matrix(&b, i++);
    out(&b, i++, b.dtype, b.n, NULL);
    if (apart)
        out(&b, i++, b.dtype, b.n, NULL);
    out_answer(&b, i++);
    out_answer(&b, i);
}

/* -- the table ----------------------------------------------------------- */

static const struct {
    const char *target;
    relation *relation;
} targets[] = {
#define CUSTOM_CALL(target, relation, plan) {target, relation},
#include "analyzer/custom_calls.def"
#undef CUSTOM_CALL
};

static relation *relation_of(const char *target)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].target, target))
            return targets[i].relation;
    return NULL;
}

bool jx_custom_is_known(const char *target)
{
    return relation_of(target) != NULL;
}

void jx_type_custom_call(jx_typing *t)
{
    const jx_p_custom_call *p = t->params;
    relation *known = relation_of(p->call_target_name);

    if (known)
        known(t);
    else
        jx_type_unknown(t, jx_arena_printf(t->program->ctx->arena, "%s @%s",
                                           t->eqn->prim->name,
                                           p->call_target_name));
}
