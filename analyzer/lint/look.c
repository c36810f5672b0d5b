/* look.c - see look.h. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

bool jx_looks_at(const jx_flat_node *node)
{
    return !node->elsewhere &&
           (node->live || jx_place_is_derivative(node->eqn, node->calls));
}

const jx_flat_node *jx_maker(const jx_flat *flat, int value)
{
    int node = flat->values.at[value].node;

    return node < 0 ? NULL : &flat->nodes.at[node];
}

jx_prim_id jx_maker_id(const jx_flat *flat, int value)
{
    const jx_flat_node *node = jx_maker(flat, value);

    return node ? node->eqn->prim->id : JX_PRIM_unknown;
}

bool jx_shows(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_tile:
    case JX_PRIM_stop_gradient:
    case JX_PRIM_copy:
    case JX_PRIM_copy_p:
    case JX_PRIM_name:
    case JX_PRIM_sharding_constraint:
    case JX_PRIM_reshard: return true;
    case JX_PRIM_convert_element_type: /* weakly typed or not */
        return jx_atom_aval(eqn->ins[0])->dtype == eqn->outs[0]->aval->dtype;
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_device_put: return eqn->nins == 1;
    default: return jx_prim_rearranges(eqn->prim->id);
    }
}

bool jx_is_heavy(const jx_eqn *eqn)
{
    jx_prim_id id = eqn->prim->id;

    switch (id) {
    case JX_PRIM_dot_general:
    case JX_PRIM_ragged_dot_general:
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_fft:
    case JX_PRIM_sort:
    case JX_PRIM_top_k:
    case JX_PRIM_approx_top_k:
    case JX_PRIM_scan:
    case JX_PRIM_while: return true;
    default: return jx_prim_decomposes(id) || jx_prim_solves(id);
    }
}

int jx_shown(const jx_flat *flat, int value)
{
    const jx_flat_node *node = jx_maker(flat, value);

    while (node && node->nins && jx_shows(node->eqn)) {
        value = node->ins[0];
        node = jx_maker(flat, value);
    }
    return value;
}

int jx_plain(const jx_flat *flat, int value)
{
    const jx_flat_node *node = jx_maker(flat, value);

    while (node && jx_shows(node->eqn)) {
        switch (node->eqn->prim->id) {
        case JX_PRIM_broadcast_in_dim:
        case JX_PRIM_reshape:
        case JX_PRIM_squeeze:
        case JX_PRIM_expand_dims:
        case JX_PRIM_transpose:
        case JX_PRIM_rev:
        case JX_PRIM_slice:
        case JX_PRIM_tile: return value;
        default: break;
        }
        value = node->ins[0];
        node = jx_maker(flat, value);
    }
    return value;
}

/* As an element of the dtype. */
static double rounded(jx_dtype dtype, double number)
{
    unsigned char bits[16] = {0};

    if (!jx_dtype_is_float(dtype))
        return number;
    jx_element_from_real(dtype, number, bits);
    return jx_element_real(dtype, bits);
}

bool jx_number_at(jx_dtype dtype, const void *bits, double *number)
{
    switch (jx_dtype_of(dtype)->kind) {
    case JX_KIND_FLOAT: *number = jx_element_real(dtype, bits); return true;
    case JX_KIND_BOOL:
    case JX_KIND_UINT:
        *number = (double)jx_element_integer(dtype, bits);
        return true;
    case JX_KIND_INT:
        *number = (double)(int64_t)jx_element_integer(dtype, bits);
        return true;
    default: return false;
    }
}

bool jx_number_of(const jx_flat *flat, int value, double *number)
{
    const jx_flat_value *v = &flat->values.at[value];
    const jx_flat_node *node = jx_maker(flat, value);
    int64_t count;

    if (node && node->nins &&
        (jx_shows(node->eqn) ||
         node->eqn->prim->id == JX_PRIM_convert_element_type)) {
        if (!v->splat || !jx_number_of(flat, node->ins[0], number))
            return false;
        *number = rounded(v->aval->dtype, *number);
        return true;
    }
    if (v->literal && !v->literal->array && !v->literal->dim)
        return jx_number_at(v->aval->dtype, v->literal->bits, number);
    if (!v->array || !v->array->data)
        return false;
    return (v->array->splat ||
            (jx_aval_elements(v->aval, &count) && count == 1)) &&
           jx_number_at(v->aval->dtype, v->array->data, number);
}

bool jx_is_asked_for(const jx_program *program, const jx_flat_node *node,
                     int in)
{
    const jx_var *var = node->eqn->ins[in].var;
    const jx_jaxpr *jaxpr = node->jaxpr;

    if (jx_place_is_written(program, node->eqn, node->calls))
        return true;
    if (!node->calls || !var ||
        !jx_place_is_written(program, node->calls->eqn, node->calls->outer))
        return false;
    for (int i = 0; i < jaxpr->nins; i++)
        if (jaxpr->vars[jaxpr->nconsts + i] == var)
            return true;
    return false;
}

bool jx_is_implied(const jx_flat_node *convert, const jx_flat_node *node)
{
    return jx_frame_same(jx_place_frame(convert->eqn, convert->calls),
                         jx_place_frame(node->eqn, node->calls));
}

int64_t jx_reduced(const jx_flat *flat, const jx_aval *aval, int naxes,
                   const int64_t *axes, bool *symbolic)
{
    int64_t count = 1, size;

    *symbolic = false;
    for (int i = 0; i < naxes; i++) {
        if (axes[i] < 0 || axes[i] >= aval->rank)
            return 0;
        const jx_dim *dim = aval->shape[axes[i]];
        if (!jx_dim_is_int(dim, &size)) {
            *symbolic = true;
            size = flat->program->base > 0 ? 1 : 0;
        }
        if (__builtin_mul_overflow(count, size, &count))
            return INT64_MAX;
    }
    return count;
}

int jx_digits(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64: return 53;
    case JX_F32: return 24;
    case JX_F16: return 11;
    case JX_BF16: return 8;
    case JX_F8_E4M3FN:
    case JX_F8_E4M3:
    case JX_F8_E4M3FNUZ:
    case JX_F8_E4M3B11FNUZ: return 4;
    case JX_F8_E5M2:
    case JX_F8_E5M2FNUZ: return 3;
    case JX_F8_E3M4: return 5;
    case JX_F4_E2M1FN: return 2;
    case JX_F8_E8M0FNU: return 1;
    default: return 0;
    }
}
