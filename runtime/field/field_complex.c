/* field_complex.c - see field.h: complex numbers.
 *
 * A complex number is two elements, itself and its conjugate, as if that were
 * another number: both are linear in the real and the imaginary part, and these
 * in both, so that polynomials which are the same in one pair are the same in
 * the other.  Whatever has real coefficients gives the conjugate of the
 * conjugate, and is done twice.  Of functions that are not defined everywhere,
 * or have several values, nothing is known. */
#include "frontend/ir/params.h"
#include "runtime/field/field.h"

#include <math.h>

bool jx_field_is_complex(const jx_eqn *eqn)
{
    bool any = false;

    for (int i = 0; i < eqn->nins; i++) {
        const jx_aval *aval = jx_atom_aval(eqn->ins[i]);
        any |= aval->kind == JX_AVAL_ARRAY && jx_dtype_is_complex(aval->dtype);
    }
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        any |= aval->kind == JX_AVAL_ARRAY && jx_dtype_is_complex(aval->dtype);
    }
    return any;
}

/* Of complex numbers no sign is known. */
static jx_cell unsigned_cell(jx_cell of)
{
    of.signs = JX_MAY_BE_ANY;
    return of;
}

/* i, or -i. */
static jx_cell unit(jx_field *f, bool conjugate)
{
    jx_cell to = jx_cell_integer(f, 1);

    to.v = conjugate ? jx_mod_sub(0, f->ring.i[0], f->ring.p) : f->ring.i[0];
    to.e = conjugate ? jx_mod_sub(0, f->ring.i[1], f->ring.q) : f->ring.i[1];
    to.base = to.v;
    to.off = 0;
    to.about = NAN;
    return unsigned_cell(to);
}

void jx_cell_complex(jx_field *f, const jx_cell *real, const jx_cell *imag,
                     jx_cell *to, jx_cell *conjugate)
{
    for (int k = 0; k < 2; k++) {
        jx_cell i = unit(f, k), turned = jx_cell_mul(f, &i, imag);
        turned = jx_cell_add(f, real, &turned);
        *(k ? conjugate : to) = unsigned_cell(turned);
    }
}

/* (z + z') / 2, or (z - z') (-i) / 2. */
static jx_cell part_of(jx_field *f, bool imag, const jx_cell *z,
                       const jx_cell *conjugate)
{
    jx_cell two = jx_cell_integer(f, 2), turn = unit(f, true), sum;

    sum = imag ? jx_cell_sub(f, z, conjugate) : jx_cell_add(f, z, conjugate);
    sum = imag ? jx_cell_mul(f, &sum, &turn) : sum;
    return unsigned_cell(jx_cell_div(f, &sum, &two));
}

static jx_cell size_of(jx_field *f, const jx_cell *z, const jx_cell *conjugate)
{
    jx_cell square = jx_cell_mul(f, z, conjugate);

    square.signs = JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE;
    square.zeros = jx_cell_zeros(f, z);
    return jx_cell_apply(f, JX_F_SQRT, &square);
}

/* ---- what is done twice */

/* Its numbers, or their conjugates, as if they were real. */
static jx_field_value half(const jx_field_value *of, bool conjugate)
{
    jx_field_value to = *of;

    if (!jx_dtype_is_complex(of->dtype))
        return to;
    to.dtype = jx_dtype_real(of->dtype);
    to.cells = conjugate ? of->conjugates : of->cells;
    to.conjugates = NULL;
    return to;
}

static bool runs_alike(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_div:
    case JX_PRIM_neg:
    case JX_PRIM_square:
    case JX_PRIM_integer_pow:
    case JX_PRIM_exp:
    case JX_PRIM_expm1:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_sinh:
    case JX_PRIM_cosh:
    case JX_PRIM_select_n: return true;
    default: return false;
    }
}

static bool run_half(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *outs)
{
    if (jx_field_moves(f, program, eqn, ins, outs) ||
        jx_field_sums(f, program, eqn, ins, outs))
        return true;
    return runs_alike(eqn->prim->id) &&
           jx_field_room(f, program, eqn->outs[0]->aval, &outs[0]) &&
           jx_field_elementwise(f, eqn, ins, &outs[0]);
}

static bool run_twice(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs)
{
    jx_field_value *of =
        JX_NEW_ARRAY(f->room, eqn->nins + eqn->nouts + 1, jx_field_value);

    for (int k = 0; k < 2; k++) {
        jx_field_value *made = k && of ? of + eqn->nins : outs;
        for (int i = 0; of && i < eqn->nins; i++)
            of[i] = half(&ins[i], k);
        if (!of || !run_half(f, program, eqn, of, made))
            return false;
        for (int i = 0; i < eqn->nouts; i++) {
            for (int64_t n = 0; made[i].cells && n < made[i].count; n++)
                made[i].cells[n] = unsigned_cell(made[i].cells[n]);
            outs[i].conjugates = k ? made[i].cells : NULL;
        }
    }
    return !f->spent;
}

/* ---- element by element */

/* Where a root or a logarithm jumps, conjugates go different ways. */
static bool is_on_a_cut(jx_field *f, const jx_cell *z, const jx_cell *conjugate)
{
    jx_cell turned = jx_cell_neg(f, conjugate);

    return jx_cell_same(z, conjugate) || jx_cell_same(z, &turned);
}

static bool is_some_function(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_log:
    case JX_PRIM_log1p:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_tan:
    case JX_PRIM_tanh:
    case JX_PRIM_logistic:
    case JX_PRIM_asin:
    case JX_PRIM_acos:
    case JX_PRIM_atan:
    case JX_PRIM_asinh:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh: return true;
    default: return false;
    }
}

/* One element of what is made of those of the operands; false:
 * it is not known. */
static bool element(jx_field *f, const jx_eqn *eqn, const jx_cell *const *z,
                    const jx_cell *const *conjugates, jx_cell *to,
                    jx_cell *conjugate)
{
    jx_prim_id id = eqn->prim->id;

    *conjugate = *to = jx_cell_unknown(f, jx_eqn_name(eqn));
    if (id == JX_PRIM_complex) {
        jx_cell_complex(f, z[0], z[1], to, conjugate);
    } else if (id == JX_PRIM_real || id == JX_PRIM_imag) {
        *to = part_of(f, id == JX_PRIM_imag, z[0], conjugates[0]);
    } else if (id == JX_PRIM_abs) {
        *to = size_of(f, z[0], conjugates[0]);
    } else if (id == JX_PRIM_conj) {
        *to = *conjugates[0];
        *conjugate = *z[0];
    } else if (id == JX_PRIM_convert_element_type) {
        *to = *z[0];
        *conjugate = *conjugates[0];
    } else if (is_some_function(id) && !is_on_a_cut(f, z[0], conjugates[0])) {
        *to = unsigned_cell(jx_cell_opaque(f, (uint64_t)id, true, 1, z));
        *conjugate =
            unsigned_cell(jx_cell_opaque(f, (uint64_t)id, true, 1, conjugates));
    } else {
        return false;
    }
    return true;
}

/* A conversion that loses nothing: a wider number, or a real one. */
static bool is_plain(const jx_eqn *eqn, const jx_field_value *ins)
{
    jx_dtype to = eqn->outs[0]->aval->dtype, from = ins[0].dtype;

    if (eqn->prim->id != JX_PRIM_convert_element_type)
        return true;
    return jx_dtype_is_complex(to) &&
           (jx_dtype_is_complex(from)
                ? to == from || to == JX_C128
                : jx_dtype_is_float(from) &&
                      !jx_dtype_is_narrower(jx_dtype_real(to), from));
}

static bool run_elements(jx_field *f, jx_field_program *program,
                         const jx_eqn *eqn, const jx_field_value *ins,
                         jx_field_value *out)
{
    enum { MOST = 2 };
    const jx_cell *z[MOST], *conjugates[MOST];

    if (eqn->nins > MOST || eqn->nouts != 1 || !is_plain(eqn, ins) ||
        !jx_field_room(f, program, eqn->outs[0]->aval, out) || !out->cells ||
        !(out->conjugates = JX_NEW_ARRAY(f->room, out->count + 1, jx_cell)))
        return false;
    for (int64_t i = 0; i < out->count && !f->spent; i++) {
        for (int k = 0; k < eqn->nins; k++) {
            int64_t at = ins[k].count == 1 ? 0 : i;
            if (!ins[k].cells ||
                (ins[k].count != 1 && ins[k].count != out->count))
                return false;
            z[k] = &ins[k].cells[at];
            conjugates[k] = ins[k].conjugates ? &ins[k].conjugates[at] : z[k];
        }
        if (!element(f, eqn, z, conjugates, &out->cells[i],
                     &out->conjugates[i]))
            return false;
    }
    if (!jx_dtype_is_complex(out->dtype))
        out->conjugates = NULL;
    return !f->spent;
}

bool jx_field_complex(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs)
{
    for (int i = 0; i < eqn->nins; i++)
        if (jx_dtype_is_complex(ins[i].dtype) &&
            (!ins[i].cells || !ins[i].conjugates))
            return false;
    return run_twice(f, program, eqn, ins, outs) ||
           run_elements(f, program, eqn, ins, &outs[0]);
}
