/* differ.h - what changed between two versions of a program: what it computes,
 * what it asks of its callers, what it costs. */
#ifndef JX_DIFFER_H
#define JX_DIFFER_H

#include "analyzer/cost.h"
#include "analyzer/transform/same.h"
#include "reports/pipeline/report.h"
#include "reports/pipeline/settle.h"

/* One thing about the contract. */
typedef struct jx_contract_line {
    jx_verdict verdict; /* JX_REFUTED: callers break; JX_UNDECIDED: they may;
                           JX_PROVED: worth knowing */
    const char *text;
} jx_contract_line;

typedef JX_VEC(jx_contract_line) jx_contract_lines;

typedef struct jx_program_diff {
    /* At the shapes that the old one takes: the same up to names, places,
     * calls, dead code and the order of what does not depend on each other. */
    bool same;
    const char *incomparable; /* why that was not asked, or NULL */
    jx_difference at;         /* if not: where, in old (a) and new (b) */
    /* A drop-in replacement takes all that the old one takes, asserts nothing
     * more, and gives results of the same types; an exported file also runs
     * where the old one does and can be differentiated as often. */
    bool drop_in;
    int64_t proved; /* statements about sizes that make it one */
    jx_contract_lines contract;
    jx_cost before, after; /* at the shapes of the old one, where they fit */
} jx_program_diff;

/* The programs share a context, where the answer lives.  False without
 * memory. */
bool jx_programs_diff(jx_program *before, jx_program *after,
                      const jx_settle_options *settle, jx_program_diff *diff);

void jx_diff_text(const jx_program_diff *diff, jx_buffer *to);
void jx_diff_json(const jx_program_diff *diff, jx_buffer *to);

#endif
