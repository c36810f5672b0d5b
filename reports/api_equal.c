/* api_equal.c - jaxvet.h: two programs held against each other. */
#include "reports/api_program.h"
#include "reports/formats/equals_said.h"
#include "reports/formats/formats.h"

static jaxvet_status status_of(const jx_equalities *all)
{
    jaxvet_status status = JAXVET_OK;

    for (size_t i = 0; i < all->all.count; i++)
        if (all->all.at[i].verdict == JX_EQUAL_DIFFERENT)
            return JAXVET_FINDINGS;
        else if (all->all.at[i].verdict == JX_EQUAL_UNDECIDED)
            status = JAXVET_UNDECIDED;
    return status;
}

jaxvet_status jaxvet_equal(jaxvet_program *a, jaxvet_program *b,
                           int derivatives, const char **report,
                           jaxvet_error *error)
{
    const jx_equal_options how = {.gradient = derivatives != 0};
    jx_equalities all = {0};
    jx_claim_list claims = {0};
    jx_report found = {0};
    bool done;

    if (!jx_api_given(a, "a program", error) ||
        !jx_api_given(b, "a second program", error) ||
        !jx_api_given(report, "where to put the report", error))
        return JAXVET_USAGE;
    *report = NULL;
    jx_buffer_clear(&a->report);
    jx_api_begin(a);
    jx_api_begin(b);
    found.path = a->program->path;
    done = jx_programs_equal(a->program, b->program, &how, &claims, &all) &&
           jx_report_claims(a->ctx, &found, a->program, &claims, NULL) &&
           jx_report_finish(a->ctx, &found);
    if (!done || !jx_ok(a->ctx))
        return jx_api_hand_over(jx_ok(a->ctx) ? b->ctx : a->ctx, error);
    jx_equal_report_json(&found, &all, &a->report);
    *report = jx_buffer_text(&a->report);
    return status_of(&all);
}
