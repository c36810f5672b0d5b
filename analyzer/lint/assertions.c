/* assertions.c - EXP015: shape assertions that say something else than what
 * they check.  The reader of StableHLO found them
 * (frontend/read/stablehlo_raw.c). */
#include "analyzer/lint/lint.h"

bool jx_lint_assertions(jx_linter *lint)
{
    const jx_program *program = lint->program;

    for (int i = 0; i < program->nmisstated; i++) {
        const jx_misstated *m = &program->misstated[i];
        jx_claim *claim = jx_lint_claim(lint, JX_CODE_EXP015, NULL, m->what);
        if (!claim)
            return false;
        claim->stack = m->stack;
        claim->verdict = JX_REFUTED;
        claim->evidence.by = m->nsizes ? "evaluation" : "data flow";
        claim->evidence.nbindings = m->nsizes;
        claim->evidence.bindings = m->sizes;
        claim->help = "what the operand checks is enforced, whatever the "
                      "message says: write it again from its source";
    }
    return true;
}
