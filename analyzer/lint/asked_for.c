/* asked_for.c - what is true of nearly any program, and said only to who asks
 * for it: memory at once, work per byte, digits of products. */
#include "analyzer/cost.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"

enum { LARGE = 1024, TIMES = 2 };

/* -- DTY009 ---------------------------------------------------------------- */

static const jx_value *precision_of(const jx_eqn *eqn)
{
    const jx_value *value = jx_eqn_param(eqn, "precision");

    return value && value->tag != JX_V_NONE ? value : NULL;
}

static void look_at_product(jx_linter *lint, const jx_flat_node *node)
{
    jx_claim *claim;

    if (lint->flat->values.at[node->outs[0]].aval->dtype != JX_F32 ||
        precision_of(node->eqn) ||
        lint->flat->values.at[node->ins[0]].aval->dtype != JX_F32)
        return;
    claim = jx_lint_suspect(
        lint, JX_CODE_DTY009, node,
        "float32 without a precision: a CPU computes all digits, a GPU or TPU "
        "may multiply in TF32 or bfloat16");
    if (claim)
        claim->help = "precision=jax.lax.Precision.HIGHEST, or "
                      "jax.default_matmul_precision(\"highest\") around it, "
                      "asks for all digits";
}

/* -- PRF003, PRF004 -------------------------------------------------------- */

static void take_large(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    (void)env;
    if (atom->kind == JX_ATOM_VAR)
        *known = (jx_dim_range){LARGE, LARGE, true, true};
}

/* Where symbolic sizes are LARGE. */
static double number_of(const jx_dim *dim)
{
    jx_dim_range r =
        dim ? jx_dim_bounds_by(dim, take_large, NULL) : (jx_dim_range){0};

    return r.has_high ? (double)r.high : 0;
}

static jx_claim *claim_of_all(jx_linter *lint, jx_code code, jx_buffer *text)
{
    jx_claim *claim = jx_lint_suspect(lint, code, NULL,
                                      jx_arena_take(lint->ctx->arena, text));

    if (claim)
        claim->stack = lint->program->head;
    return claim;
}

static void tell_peak(jx_linter *lint, const jx_cost *cost)
{
    double least = number_of(cost->inputs) + number_of(cost->outputs) +
                   number_of(cost->constants);
    jx_buffer text = jx_ctx_text(lint->ctx);
    double most = 0;

    for (size_t i = 0; i < cost->peaks.count; i++)
        if (number_of(cost->peaks.at[i]) > most)
            most = number_of(cost->peaks.at[i]);
    if (!cost->peak_known || most <= TIMES * least) {
        jx_buffer_free(&text);
        return;
    }
    jx_buffer_puts(&text, "at once live ");
    for (size_t i = 0; i < cost->peaks.count; i++) {
        jx_buffer_puts(&text, i ? " or " : "");
        jx_dim_print(cost->peaks.at[i], &text);
    }
    jx_buffer_puts(&text,
                   " bytes, inputs and results among them, without fusion");
    claim_of_all(lint, JX_CODE_PRF003, &text);
}

static void tell_intensity(jx_linter *lint, const jx_cost *cost)
{
    double work = number_of(cost->flops) + number_of(cost->transcendentals);
    double moved = number_of(cost->inputs) + number_of(cost->outputs);
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    if (!cost->flops || moved <= 0 || work >= moved) {
        jx_buffer_free(&text);
        return;
    }
    jx_dim_print(cost->flops, &text);
    jx_buffer_puts(&text, " operations on ");
    jx_dim_print(jx_dim_add(lint->program->dims, cost->inputs, cost->outputs),
                 &text);
    jx_buffer_printf(&text,
                     " bytes of inputs and results, %.2g per byte%s: memory "
                     "decides how long it takes",
                     work / moved,
                     jx_dim_is_int(cost->flops, &(int64_t){0})
                         ? ""
                         : " where sizes are 1024");
    claim = claim_of_all(lint, JX_CODE_PRF004, &text);
    if (claim)
        claim->help = "compute more of what is loaded at once: larger batches, "
                      "fewer passes, smaller dtypes";
}

bool jx_lint_asked_for(jx_linter *lint)
{
    jx_cost cost = {0};

    if (!lint->options.asked)
        return true;
    for (size_t n = 0; n < lint->flat->nodes.count; n++) {
        const jx_flat_node *node = &lint->flat->nodes.at[n];
        if (node->live && !node->elsewhere && node->eqn->typed &&
            (node->eqn->prim->id == JX_PRIM_dot_general ||
             node->eqn->prim->id == JX_PRIM_conv_general_dilated) &&
            !jx_place_is_derivative(node->eqn, node->calls))
            look_at_product(lint, node);
    }
    if (!jx_cost_of(jx_typed_of(lint->program), &cost))
        return false;
    tell_peak(lint, &cost);
    tell_intensity(lint, &cost);
    return jx_ok(lint->ctx);
}
