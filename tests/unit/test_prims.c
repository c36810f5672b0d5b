/* test_prims.c - a file of tests/prims per row of the primitive table.
 *
 * Programs as JAX prints them, apart by an empty line.  `#! CODE text` after an
 * equation is what typing must say of it, `CODE?` what it leaves to the prover;
 * nothing else may be said.  A file has a right program and a wrong one; what
 * is right is planned, too, or says why it can't be: `#! unplanned why`. */
#include "analyzer/infer.h"
#include "analyzer/transform/discharge.h"
#include "analyzer/type_rules.h"
#include "frontend/base/file.h"
#include "frontend/ir/signature.h"
#include "frontend/read/text.h"
#include "runtime/fits.h"
#include "runtime/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char unplanned[] = "#! unplanned ";

static bool complain(const char *path, const char *program, const char *what,
                     const char *more)
{
    print_error("%s: %s: %s\n%s\n", path, what, more ? more : "", program);
    return false;
}

/* One `#! CODE text`, whose end is *at. */
static bool is_said(const char **at, const jx_claim *claim)
{
    const char *code = *at + 3, *text = code + strcspn(code, " ") + 1;
    size_t length = strcspn(text, "#\n");

    *at = text + length;
    while (length && text[length - 1] == ' ')
        length--;
    char *want = strndup(text, length);
    bool found =
        strncmp(code, jx_code_of(claim->code)->id, 6) == 0 &&
        claim->verdict == (code[6] == '?' ? JX_UNDECIDED : JX_REFUTED) &&
        strstr(claim->what, want);
    free(want);
    return found;
}

/* What typing says is wrong with the operands of an equation, or NULL. */
static const jx_claim *refusal_of(const jx_analysis *to, const jx_eqn *eqn)
{
    for (size_t i = 0; i < to->claims.count; i++)
        if (to->claims.at[i]->eqn == eqn &&
            to->claims.at[i]->verdict == JX_REFUTED &&
            to->claims.at[i]->code != JX_CODE_SHP011 &&
            jx_code_is_structural(to->claims.at[i]->code))
            return to->claims.at[i];
    return NULL;
}

static bool prints_alike(const jx_aval *a, const jx_aval *b)
{
    jx_buffer one = {0}, two = {0};

    jx_aval_print(a, &one);
    jx_aval_print(b, &two);
    bool same = !strcmp(jx_buffer_text(&one), jx_buffer_text(&two));
    jx_buffer_free(&one);
    jx_buffer_free(&two);
    return same;
}

/* Asked about one equation alone, its rule says what typing said of it. */
static bool infers(const jx_analysis *to, jx_inferrer *in, const jx_eqn *eqn)
{
    const jx_aval *ins[64], *outs[64] = {0};
    const jx_claim *refusal = refusal_of(to, eqn);
    const char *why;

    if (eqn->nins > 64 || eqn->nouts > 64)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = jx_atom_aval(eqn->ins[i]);
    jx_inferred found = jx_infer_equation(in, eqn, ins, outs, &why);
    if (refusal)
        return found == JX_INFER_REFUSED && strstr(why, refusal->what) == why;
    for (int i = 0; i < eqn->nouts && found == JX_INFER_TYPES; i++)
        if (!prints_alike(outs[i], eqn->outs[i]->aval))
            return false;
    return found == JX_INFER_TYPES || to->unknowns.count ||
           to->assumptions.count;
}

static bool infers_all(const char *path, const char *text,
                       const jx_analysis *to)
{
    jx_inferrer *in = jx_inferrer_new(to->program);

    for (int k = 0; k < to->program->njaxprs; k++)
        for (int i = 0; i < to->program->jaxprs[k]->neqns; i++) {
            const jx_eqn *eqn = &to->program->jaxprs[k]->eqns[i];
            bool declared_wrong = to->claims.count && !refusal_of(to, eqn);
            if (!declared_wrong && !infers(to, in, eqn))
                return complain(path, text, "not inferred alone",
                                eqn->prim->name);
        }
    return true;
}

static bool check(const char *path, const char *program, const jx_analysis *to)
{
    size_t next = 0;

    for (const char *at = program; (at = strstr(at, "#! "));) {
        if (!strncmp(at, unplanned, strlen(unplanned))) {
            at += strlen(unplanned);
            continue;
        }
        if (next == to->claims.count)
            return complain(path, program, "not said", at);
        const jx_claim *claim = to->claims.at[next++];
        if (!is_said(&at, claim))
            return complain(path, program, "says", claim->what);
    }
    if (next < to->claims.count)
        return complain(path, program, "also says", to->claims.at[next]->what);
    return infers_all(path, program, to);
}

/* What can't be made a program of values (discharge.h) is `#! refused why`. */
static bool is_refused(const char *program, const char *why)
{
    const char *at = strstr(program, "#! refused "), *want;
    size_t length;

    if (!at || !why)
        return false;
    want = at + strlen("#! refused ");
    length = strcspn(want, "\n");
    return strlen(why) == length && !strncmp(why, want, length);
}

/* Its variables are 4 each. */
static bool is_planned(const char *path, const char *text, jx_program *program)
{
    const char *want = strstr(text, unplanned), *said;
    int count;
    const jx_dim_atom *const *vars = jx_program_vars(program, &count);
    jx_binding *sizes = JX_NEW_ARRAY(program->ctx->arena, count, jx_binding);
    jx_plan_options options = {.nbindings = count, .bindings = sizes};

    for (int i = 0; i < count; i++)
        sizes[i] = (jx_binding){vars[i], 4};
    const jx_typed *typed = jx_program_fits(program, false, count, sizes);
    jx_plan *plan =
        typed ? jx_plan_make(typed, &program->entry, &options) : NULL;
    said = plan ? "" : program->ctx->error.message;
    bool right = want ? *said && strstr(want, said) : !*said;
    jx_plan_free(plan);
    return right || complain(path, text, "planned", said);
}

static bool run(const char *path, const char *program)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *read = jx_read_text(ctx, path, program, strlen(program));
    jx_analysis *to =
        read && jx_program_discharge(read) ? jx_analysis_new(read) : NULL;
    bool ok = is_refused(program, ctx->error.message) ||
              (to && jx_type_program(to)
                   ? check(path, program, to)
                   : complain(path, program, "unreadable", ctx->error.message));

    if (ok && to && !to->claims.count)
        ok = is_planned(path, program, read);
    jx_ctx_free(ctx);
    return ok;
}

/* Runs the programs of one file; the number of failures. */
static int run_file(jx_prim_id id)
{
    jx_ctx *ctx = jx_ctx_new(0);
    const char *path = jx_arena_printf(ctx->arena, "tests/prims/%s.jaxpr",
                                       jx_prim_of(id)->name);
    size_t size;
    const char *text = jx_file_read(ctx, path, &size);
    int right = 0, wrong = 0, failures = 0;

    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        const char *program = jx_arena_string(ctx->arena, text, length);
        failures += !run(path, program);
        bool is_wrong = strstr(program, "#! ") && !strstr(program, unplanned);
        *(is_wrong ? &wrong : &right) += 1;
        text += length + strspn(text + length, "\n");
    }
    /* Nothing can be wrong with what only its declaration knows, or with what
     * takes anything and gives nothing. */
    bool anything = id == JX_PRIM_call_exported ||
                    id == JX_PRIM_debug_callback || id == JX_PRIM_debug_print ||
                    id == JX_PRIM_dce_sink;
    if (!right || (!wrong && !anything)) {
        print_error("%s: needs a right program and a wrong one\n", path);
        failures++;
    }
    jx_ctx_free(ctx);
    return failures;
}

static void each_primitive_has_right_and_wrong_programs(void **state)
{
    int failures = 0;

    (void)state;
    for (int id = 1; id < JX_NPRIMS; id++)
        failures += run_file((jx_prim_id)id);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_primitive_has_right_and_wrong_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
