/* values.c - see values.h. */
#include "reports/pipeline/values.h"

#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "frontend/base/utf8.h"
#include "frontend/ir/range.h"
#include "frontend/ir/signature.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradsample.h"
#include "runtime/witness/witness.h"

#include <math.h>

enum { MOST_OPERATIONS = 2000000, MOST_MEMORY = 1 << 30 };

/* The program at small sizes and without calls. */
static jx_program *small(jx_program *program)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    const jx_aval **ins = JX_NEW_ARRAY(program->ctx->arena, entry->nins + 1, const jx_aval *);
    jx_rule like = {.nins = entry->nins, .ins = ins};
    const jx_binding *sizes;
    int n;

    for (int i = 0; ins && i < entry->nins; i++)
        ins[i] = jx_input_aval(program, i);
    if (!ins || !jx_sample_sizes(program, &like, 0, NULL, &n, &sizes))
        return NULL;
    program = n ? jx_program_refine(program, NULL, n, sizes) : program;
    program = program ? jx_program_inline(program) : NULL;
    return program ? jx_program_refine(program, NULL, 0, NULL) : NULL;
}

/* -- what to say ---------------------------------------------------------------- */

/* The equation that makes a value of the entry, or NULL. */
static const jx_eqn *maker_of(const jx_program *program, jx_atom atom)
{
    const jx_jaxpr *entry = program->entry.jaxpr;

    for (int i = 0; atom.var && i < entry->neqns; i++)
        for (int k = 0; k < entry->eqns[i].nouts; k++)
            if (entry->eqns[i].outs[k] == atom.var)
                return &entry->eqns[i];
    return NULL;
}

/* A quotient by a square root is that root's derivative (one half of it over the root). */
static bool is_slope_of_root(const jx_program *program, const jx_eqn *eqn)
{
    const jx_eqn *root = eqn->prim->id == JX_PRIM_div ? maker_of(program, eqn->ins[1]) : NULL;

    return root && root->prim->id == JX_PRIM_sqrt && eqn->ins[0].literal;
}

static jx_code code_of(const jx_program *program, const jx_eqn *eqn)
{
    if (is_slope_of_root(program, eqn))
        return JX_CODE_NUM003;
    switch (eqn->prim->id) {
    case JX_PRIM_log:
    case JX_PRIM_log1p:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_div:
    case JX_PRIM_rem:
    case JX_PRIM_pow:
    case JX_PRIM_integer_pow:
    case JX_PRIM_acos:
    case JX_PRIM_asin:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh:
    case JX_PRIM_cholesky:
    case JX_PRIM_lu:
    case JX_PRIM_digamma:
    case JX_PRIM_lgamma:
    case JX_PRIM_erf_inv: return JX_CODE_NUM001;
    default: return JX_CODE_NUM004;
    }
}

static void put_number(const jx_element *element, jx_buffer *to)
{
    double value = NAN;

    jx_convert(element->dtype, JX_F64, element->bits, &value, 1);
    jx_buffer_printf(to, isnan(value) ? "NaN" : "%g", value);
}

/* "log of 0 gives -inf". */
static const char *what_of(jx_program *program, const jx_unfinite *made)
{
    jx_buffer text = jx_ctx_text(program->ctx);

    jx_utf8_show(jx_eqn_name(made->eqn), &text);
    for (int i = 0; i < made->noperands; i++) {
        jx_buffer_puts(&text, i ? " and " : " of ");
        put_number(&made->operands[i], &text);
    }
    jx_buffer_puts(&text, " gives ");
    if (jx_dtype_is_complex(made->value.dtype))
        jx_buffer_puts(&text, "what is not finite");
    else
        put_number(&made->value, &text);
    return jx_arena_take(program->ctx->arena, &text);
}

enum { SHOWN_INPUTS = 6, SHOWN_ELEMENTS = 4 };

/* "x = 1, w = [1, -1, -1, -1, ...]": all inputs of the witness, the long ones in part. */
static void put_input(const jx_program *program, int input, const void *data, jx_buffer *to)
{
    const jx_aval *aval = jx_input_aval(program, input);
    size_t size = jx_dtype_of(aval->dtype)->bytes;
    int64_t count = 1, shown;
    double first = 0, value;
    bool all = true;

    for (int k = 0; k < aval->rank; k++)
        count *= jx_dim_value(aval->shape[k]);
    if (program->entry.jaxpr->arg_names && *program->entry.jaxpr->arg_names[input])
        jx_utf8_show(program->entry.jaxpr->arg_names[input], to);
    else
        jx_input_print(program, input, to);
    for (int64_t i = 0; i < count; i++) {
        jx_convert(aval->dtype, JX_F64, (const char *)data + (size_t)i * size, &value, 1);
        first = i ? first : value;
        all = all && value == first;
    }
    jx_buffer_puts(to, " = ");
    if (all) {
        jx_buffer_printf(to, "%g", first);
        return;
    }
    shown = count < SHOWN_ELEMENTS ? count : SHOWN_ELEMENTS;
    for (int64_t i = 0; i < shown; i++) {
        jx_convert(aval->dtype, JX_F64, (const char *)data + (size_t)i * size, &value, 1);
        jx_buffer_printf(to, "%s%g", i ? ", " : "[", value);
    }
    jx_buffer_puts(to, shown < count ? ", ...]" : "]");
}

static const char *note_of(jx_program *program, const jx_witness *w)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    int n = program->entry.jaxpr->nins, shown = 0;

    jx_buffer_printf(&text, "output %d is not finite with ", w->out);
    for (int i = 0; i < n && shown < SHOWN_INPUTS; i++) {
        jx_dtype_kind kind = jx_dtype_of(jx_input_aval(program, i)->dtype)->kind;
        if (kind == JX_KIND_KEY || kind == JX_KIND_VOID || kind == JX_KIND_COMPLEX)
            continue;
        jx_buffer_puts(&text, shown++ ? ", " : "");
        put_input(program, i, w->inputs[i], &text);
    }
    if (shown < n)
        jx_buffer_puts(&text, ", ...");
    jx_buffer_puts(&text, w->flushed ? "; with subnormal numbers flushed to zero (ftz), as XLA does on a CPU"
                                     : "; as written (ieee)");
    return jx_arena_take(program->ctx->arena, &text);
}

static bool claim(jx_program *program, const jx_witness *w, jx_claim_list *claims)
{
    const jx_eqn *eqn = w->made.eqn;
    jx_claim *to = jx_claim_add(program->ctx, claims, code_of(program, eqn));

    if (!to)
        return false;
    to->stack = eqn->stack;
    to->what = what_of(program, &w->made);
    to->verdict = JX_WITNESSED;
    to->evidence.by = "a run";
    to->evidence.note = note_of(program, w);
    return jx_ok(program->ctx);
}

/* What was looked for and not found says how long that was. */
static bool assume(jx_ctx *keep, jx_report *report, const jx_witnesses *hunt)
{
    if (!hunt->runs || hunt->found.count)
        return true;
    JX_PUSH(keep->arena, &report->assumptions,
            jx_arena_printf(keep->arena,
                            "outputs are finite for inputs within their ranges: %lld runs found "
                            "none that is not%s",
                            (long long)hunt->runs,
                            hunt->spent ? ", and there was no time for more" : ""));
    return jx_ok(keep);
}

bool jx_check_values(jx_ctx *keep, jx_report *report, jx_program *program,
                     const jx_selection *selection)
{
    const jx_witness_options options = {.operations = MOST_OPERATIONS, .memory = MOST_MEMORY};
    jx_claim_list claims = {0};
    jx_witnesses hunt = {0};
    const jx_typed *typed;
    jx_ctx *ctx = program->ctx;

    if (!program->nranges)
        return true;
    program = small(program);
    typed = program ? jx_program_fits(program, false, 0, NULL) : NULL;
    if (!typed) { /* what is wrong with it, others say */
        jx_error_clear(ctx);
        JX_PUSH(keep->arena, &report->assumptions,
                "outputs are finite for inputs within their ranges: it could not be run");
        return jx_ok(keep) && jx_ok(ctx);
    }
    if (!jx_witness_search(typed, &options, &hunt))
        return false;
    for (size_t i = 0; i < hunt.found.count; i++)
        if (!claim(program, &hunt.found.at[i], &claims))
            return false;
    return assume(keep, report, &hunt) &&
           jx_report_claims(keep, report, program, &claims, selection);
}
