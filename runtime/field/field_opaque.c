/* field_opaque.c - see field.h: functions of whole arrays, of which
 * nothing is known.
 *
 * What a sort or a factorization gives of the same numbers is the same:
 * each element of it is a random number for the function and all numbers
 * that it is given. */
#include "runtime/field/plane.h"

#include <math.h>
#include <string.h>

static bool is_function(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_sort:
    case JX_PRIM_top_k:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
    case JX_PRIM_cumlogsumexp:
    case JX_PRIM_cholesky:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_lu:
    case JX_PRIM_qr:
    case JX_PRIM_eigh:
    case JX_PRIM_svd:
    case JX_PRIM_householder_product:
    case JX_PRIM_tridiagonal_solve: return true;
    default: return false;
    }
}

static void mix_text(uint64_t *h, const char *text)
{
    *h = jx_hash_mix(*h, text ? jx_hash_bytes(text, strlen(text)) : 1);
}

/* What a parameter says; false of what is no plain value. */
static bool mix_value(const jx_field_program *program, const jx_value *v,
                      int depth, uint64_t *h)
{
    jx_assignment sizes = {program->nbindings, program->bindings};
    int64_t size = 0;
    uint64_t bits;

    if (v->jaxpr || v->rule || v->definition || v->array || v->shown ||
        v->call || v->aval || v->unreduced || v->reduced || depth > 8 ||
        (v->dim && !jx_dim_eval(v->dim, jx_assigned, &sizes, &size)))
        return false;
    *h = jx_hash_mix(*h, (uint64_t)v->tag * 4 + v->boolean * 2u + v->open);
    *h = jx_hash_mix(*h, (uint64_t)v->dtype);
    *h = jx_hash_mix(*h, (uint64_t)v->integer);
    memcpy(&bits, &v->real, sizeof bits);
    *h = jx_hash_mix(*h, bits);
    *h = jx_hash_mix(*h, (uint64_t)size);
    mix_text(h, v->text);
    mix_text(h, v->detail);
    *h = jx_hash_mix(*h, (uint64_t)v->count);
    for (int i = 0; i < v->count; i++) {
        if (v->keys)
            mix_text(h, v->keys[i]);
        if (v->items && !mix_value(program, v->items[i], depth + 1, h))
            return false;
    }
    return true;
}

/* All that an operand holds; false of what is not known. */
static bool mix_operand(const jx_field *f, const jx_field_value *of,
                        uint64_t *h)
{
    *h = jx_hash_mix(*h, (uint64_t)of->dtype);
    for (int a = 0; a < of->rank; a++)
        *h = jx_hash_mix(*h, (uint64_t)of->shape[a]);
    if (of->bits) {
        *h = jx_hash_mix(
            *h, jx_hash_bytes(of->bits, (size_t)of->count *
                                            jx_dtype_of(of->dtype)->bytes));
        return !of->unknown;
    }
    for (int64_t i = 0; i < of->count; i++) {
        jx_cell cell = jx_plane_element(of, i);
        if (cell.kind)
            return false;
        cell = jx_cell_collapsed(f, &cell);
        *h = jx_hash_mix(*h, cell.v);
    }
    return true;
}

static void fill(jx_field *f, const jx_cell *all, uint64_t h,
                 jx_field_value *to)
{
    for (int64_t i = 0; i < to->count; i++) {
        uint64_t at = jx_ring_mix(jx_hash_mix(h, (uint64_t)i));
        jx_cell cell = {.signs = JX_MAY_BE_ANY,
                        .v = at % f->ring.p,
                        .e = jx_ring_mix(at) % f->ring.q,
                        .over = 1,
                        .about = NAN,
                        .needs = all->needs};
        cell.base = cell.v;
        jx_plane_put(f, to, i, &cell);
    }
    f->opaque += to->count;
}

bool jx_field_opaque(jx_field *f, const jx_field_program *program,
                     const jx_eqn *eqn, const jx_field_value *ins,
                     jx_field_value *outs)
{
    uint64_t h = jx_ring_mix(f->salt ^ (uint64_t)eqn->prim->id);
    jx_cell all = jx_cell_bool(false);

    if (!is_function(eqn->prim->id))
        return false;
    for (int i = 0; i < eqn->nparams; i++) {
        mix_text(&h, eqn->params[i].name);
        if (!mix_value(program, eqn->params[i].value, 0, &h))
            return false;
    }
    for (int i = 0; i < eqn->nins; i++) {
        jx_cell one = jx_field_reasons(f, &ins[i]);
        if (!mix_operand(f, &ins[i], &h))
            return false;
        all = jx_cell_depends(f, all, &one);
    }
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        if (!jx_field_like(f, program, aval, false, &outs[i]))
            return false;
        if (jx_dtype_is_float(aval->dtype))
            fill(f, &all, jx_hash_mix(h, (uint64_t)i), &outs[i]);
        else
            jx_field_lose(f, &outs[i], jx_eqn_name(eqn));
    }
    return !f->spent;
}
