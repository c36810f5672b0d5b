/* against.c - see against.h. */
#include "runtime/against.h"

#include "analyzer/transform/making.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/signature.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradcall.h"
#include "runtime/shake.h"
#include "runtime/witness/origin.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum how { EXACT, ROUNDED, FUNCTION, SUMMED, LOOSE } how;

static how how_of(const jx_eqn *eqn)
{
    if (!jx_dtype_is_inexact(eqn->outs[0]->aval->dtype) ||
        jx_prim_rearranges(eqn->prim->id))
        return EXACT;
    switch ((int)eqn->prim->id) {
    case JX_PRIM_select_n:
    case JX_PRIM_neg:
    case JX_PRIM_abs:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp:
    case JX_PRIM_sign:
    case JX_PRIM_floor:
    case JX_PRIM_ceil:
    case JX_PRIM_round:
    case JX_PRIM_copy:
    case JX_PRIM_concatenate:
    case JX_PRIM_pad:
    case JX_PRIM_iota:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return EXACT;
    case JX_PRIM_add:
    case JX_PRIM_add_any:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_square:
    case JX_PRIM_div:
    case JX_PRIM_sqrt:
    case JX_PRIM_convert_element_type: return ROUNDED;
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum:
    case JX_PRIM_reduce_window_sum:
    case JX_PRIM_dot_general:
    case JX_PRIM_conv_general_dilated:
    case JX_PRIM_scatter_add: return SUMMED;
    default: return jx_eqn_is_elementwise(eqn) ? FUNCTION : LOOSE;
    }
}

/* -- one value of others --------------------------------------------------- */

typedef struct giver {
    jx_making make; /* first: who fails finds the rest */
    const jx_jaxpr *from;
    const bool *known; /* by variable: it is given */
    jx_atom *now;
} giver;

static void need(bool *needed, jx_atom atom)
{
    if (atom.var)
        needed[atom.var->id] = true;
}

/* Adds the equation and what it needs of what is not given. */
static bool add_all(giver *g, jx_body *b, int last)
{
    bool *needed =
        JX_NEW_ARRAY(jx_making_arena(&g->make), g->from->nvars + 1, bool);

    for (int k = 0; needed && k < g->from->eqns[last].nouts; k++)
        needed[g->from->eqns[last].outs[k]->id] = true;
    for (int i = last; needed && i >= 0; i--) {
        const jx_eqn *eqn = &g->from->eqns[i];
        bool wanted = i == last;
        for (int k = 0; k < eqn->nouts; k++)
            wanted |= needed[eqn->outs[k]->id] && !g->known[eqn->outs[k]->id];
        needed[eqn->outs[0]->id] |= wanted;
        for (int k = 0; wanted && k < eqn->nins; k++)
            need(needed, eqn->ins[k]);
    }
    for (int i = 0; needed && i <= last; i++) {
        const jx_eqn *eqn = &g->from->eqns[i];
        bool wanted = i == last;
        jx_atom *ins =
            JX_NEW_ARRAY(jx_making_arena(&g->make), eqn->nins + 1, jx_atom);
        const jx_atom *made;
        for (int k = 0; k < eqn->nouts; k++)
            wanted |= needed[eqn->outs[k]->id] && !g->known[eqn->outs[k]->id];
        if (!wanted)
            continue;
        for (int k = 0; ins && k < eqn->nins; k++)
            ins[k] =
                eqn->ins[k].var ? g->now[eqn->ins[k].var->id] : eqn->ins[k];
        made = ins ? jx_build_like(b, eqn, ins, NULL, NULL) : NULL;
        if (!made)
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            if (i == last || !g->known[eqn->outs[k]->id])
                g->now[eqn->outs[k]->id] = made[k];
    }
    return needed != NULL;
}

/* The program that gives the equation's result `out` of all inputs and
 * what is known. */
static jx_program *slice(jx_program *program, const bool *known, int eqn,
                         int out)
{
    const jx_jaxpr *from = program->entry.jaxpr;
    giver g = {.from = from, .known = known};
    jx_body *b;

    if (!jx_making_begin(&g.make, program))
        return NULL;
    g.make.to->out_paths = g.make.to->in_paths = NULL;
    g.make.to->nranges = 0;
    b = jx_body_new(&g.make.build, NULL);
    g.now = JX_NEW_ARRAY(program->ctx->arena, from->nvars + 1, jx_atom);
    if (!b || !g.now)
        return NULL;
    for (int i = 0; i < from->nvars; i++)
        if (i < from->nconsts)
            g.now[i] = jx_body_const(b, from->vars[i]->aval);
        else if (i < from->nconsts + from->nins || known[i])
            g.now[i] = jx_body_input(b, from->vars[i]->aval);
    if (!add_all(&g, b, eqn))
        return NULL;
    jx_body_result(b, g.now[from->eqns[eqn].outs[out]->id]);
    return jx_making_end(&g.make, jx_body_finish(b, jx_no_atoms, NULL));
}

/* -- runs ------------------------------------------------------------------ */

typedef struct values {
    const jx_jaxpr *from;
    const void *const *of; /* by variable: an array, or NULL */
    const bool *known;
} values;

/* Runs the slice; `sizes`: of the sizes of what comes in.  The result as
 * doubles, NULL: it can't be run. */
static double *give(const jx_typed *typed, const values *v, jx_domain domain,
                    bool sizes, int64_t *count)
{
    const jx_plan_options options = {.domain = domain,
                                     .memory = (size_t)1 << 30};
    jx_callee f;
    double *to = NULL;
    int next = 0;

    if (!typed || !jx_callee_open(&f, typed, &typed->program->entry, &options))
        return NULL;
    for (int i = v->from->nconsts; i < v->from->nvars; i++) {
        const jx_port *port;
        jx_dtype dtype = v->from->vars[i]->aval->dtype;
        if (i >= v->from->nconsts + v->from->nins && !v->known[i])
            continue;
        port = jx_plan_in(f.plan, next);
        if (dtype == JX_KEY || dtype == port->dtype)
            memcpy(f.in[next], v->of[i], port->bytes);
        else
            jx_convert(dtype, port->dtype, v->of[i], f.in[next], port->count);
        if (sizes && port->dtype == JX_F64)
            for (int64_t k = 0; k < port->count; k++)
                ((double *)f.in[next])[k] = fabs(((double *)f.in[next])[k]);
        next++;
    }
    jx_exec_limit(f.exec, 100000000);
    if (jx_callee_run(&f)) {
        const jx_port *port = jx_plan_out(f.plan, 0);
        *count = port->count;
        to = malloc(((size_t)port->count + 1) * sizeof *to);
        if (to)
            jx_convert(port->dtype, JX_F64, jx_exec_out(f.exec, 0), to,
                       port->count);
    }
    jx_callee_close(&f);
    return to;
}

static double unit_of(jx_dtype dtype, double value)
{
    return dtype == JX_F64 ? fabs(value) * DBL_EPSILON
                           : fabs(value) * 2 * jx_unit_roundoff(dtype);
}

static double least_normal(jx_dtype dtype)
{
    return dtype == JX_F64 ? DBL_MIN : dtype == JX_F16 ? 0x1p-14 : FLT_MIN;
}

/* What an element may be off by. */
static double allowed(how is, jx_dtype dtype, double wide, double sum,
                      double terms)
{
    jx_tolerance loose = jx_tolerance_of(dtype);

    switch (is) {
    case EXACT: return 0;
    case ROUNDED: return unit_of(dtype, wide) + least_normal(dtype);
    case FUNCTION:
        return JX_FUNCTION_ULPS * unit_of(dtype, wide) + least_normal(dtype);
    case SUMMED: return terms * unit_of(dtype, sum) + least_normal(dtype);
    case LOOSE: break;
    }
    return loose.absolute + loose.relative * fmax(fabs(wide), sum);
}

static bool is_off(double value, double wide, double rounded, double by)
{
    if (isnan(value) || isnan(rounded))
        return isnan(value) != isnan(rounded);
    return value != rounded && !(fabs(value - wide) <= by);
}

/* Compares one value with what is computed of the others. */
static void compare(jx_program *program, const values *v, int number, int out,
                    int output, const void *theirs, jx_culprit *to)
{
    const jx_eqn *eqn = &v->from->eqns[number];
    jx_dtype dtype = eqn->outs[out]->aval->dtype;
    jx_program *part = slice(program, v->known, number, out);
    const jx_typed *typed = part ? jx_program_fits(part, false, 0, NULL) : NULL;
    int64_t n = 0;
    double *ours = give(typed, v, JX_DECLARED, false, &n);
    double *wide = ours ? give(typed, v, JX_WIDE, false, &n) : NULL;
    bool alone = true;
    double terms = 1;
    how is = how_of(eqn);

    jx_error_clear(program->ctx);
    for (int k = 0; k < eqn->nins; k++) {
        const jx_var *var = eqn->ins[k].var;
        alone &= !var || var->id < v->from->nconsts + v->from->nins ||
                 v->known[var->id];
        if (k == 0 && n) {
            const jx_aval *aval = jx_atom_aval(eqn->ins[0]);
            for (int d = 0; d < aval->rank; d++)
                terms *= (double)jx_dim_value(aval->shape[d]);
        }
    }
    if (!alone)
        is = is == EXACT ? EXACT : LOOSE;
    double *sums =
        is == SUMMED && wide ? give(typed, v, JX_WIDE, true, &n) : NULL;
    to->compared += wide != NULL;
    to->skipped += wide == NULL;
    for (int64_t i = 0; wide && i < n; i++) {
        double value = 0, rounded = wide[i], by;
        unsigned char narrow[16];
        jx_convert(dtype, JX_F64,
                   (const char *)theirs + (size_t)i * jx_dtype_of(dtype)->bytes,
                   &value, 1);
        if (jx_dtype_is_float(dtype)) {
            jx_convert(JX_F64, dtype, &wide[i], narrow, 1);
            jx_convert(dtype, JX_F64, narrow, &rounded, 1);
        }
        by = allowed(is, dtype, wide[i], sums ? fabs(sums[i]) : 0, terms);
        if (!is_off(value, wide[i], rounded, by))
            continue;
        if (!to->eqn) {
            *to = (jx_culprit){eqn,
                               output,
                               i,
                               0,
                               value,
                               ours[i],
                               wide[i],
                               by,
                               is_off(ours[i], wide[i], rounded, by),
                               to->compared,
                               to->skipped};
        }
        to->count++;
    }
    free(ours);
    free(wide);
    free(sums);
}

static bool is_comparable(const jx_eqn *eqn, int out)
{
    jx_dtype dtype = eqn->outs[out]->aval->dtype;

    return eqn->outs[out]->aval->kind == JX_AVAL_ARRAY && dtype != JX_KEY &&
           dtype != JX_FLOAT0 && !jx_dtype_is_complex(dtype) &&
           !jx_eqn_calls_back(eqn);
}

bool jx_find_culprit(const jx_typed *typed, const void *const *ins,
                     const void *const *theirs, jx_culprit *to)
{
    jx_program *program = typed->program;
    const jx_jaxpr *from = program->entry.jaxpr;
    const void **of =
        JX_NEW_ARRAY(program->ctx->arena, from->nvars + 1, const void *);
    bool *known = JX_NEW_ARRAY(program->ctx->arena, from->nvars + 1, bool);
    const values v = {from, of, known};

    *to = (jx_culprit){0};
    if (!of || !known)
        return false;
    for (int i = 0; i < from->nins; i++)
        of[from->nconsts + i] = ins[i];
    for (int i = 0; i < from->neqns && !to->eqn && jx_ctx_lasts(program->ctx);
         i++)
        for (int k = 0; k < from->eqns[i].nouts && !to->eqn; k++)
            for (int o = 0; o < from->nouts; o++) {
                const jx_var *var = from->eqns[i].outs[k];
                if (from->outs[o].var != var || !theirs[o])
                    continue;
                if (is_comparable(&from->eqns[i], k))
                    compare(program, &v, i, k, o, theirs[o], to);
                of[var->id] = theirs[o];
                known[var->id] = true;
                break;
            }
    return jx_ok(program->ctx);
}
