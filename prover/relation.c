/* relation.c - constraints as text. */
#include "prover/prover.h"

#include <string.h>

static const char *const texts[] = {
    [JX_REL_EQ] = "==", [JX_REL_NE] = "!=", [JX_REL_GE] = ">=",
    [JX_REL_LE] = "<=", [JX_REL_GT] = ">",  [JX_REL_LT] = "<",
};

const char *jx_relation_text(jx_relation relation)
{
    return texts[relation];
}

bool jx_relation_named(const char *text, jx_relation *relation)
{
    for (int r = JX_REL_EQ; r <= JX_REL_LT; r++)
        if (!strcmp(text, texts[r])) {
            *relation = (jx_relation)r;
            return true;
        }
    return false;
}

bool jx_relation_holds(jx_int lhs, jx_relation relation, jx_int rhs)
{
    switch (relation) {
    case JX_REL_EQ: return lhs == rhs;
    case JX_REL_NE: return lhs != rhs;
    case JX_REL_GE: return lhs >= rhs;
    case JX_REL_LE: return lhs <= rhs;
    case JX_REL_GT: return lhs > rhs;
    case JX_REL_LT: return lhs < rhs;
    }
    return false;
}

jx_relation jx_relation_opposite(jx_relation relation)
{
    switch (relation) {
    case JX_REL_EQ: return JX_REL_NE;
    case JX_REL_NE: return JX_REL_EQ;
    case JX_REL_GE: return JX_REL_LT;
    case JX_REL_LE: return JX_REL_GT;
    case JX_REL_GT: return JX_REL_LE;
    case JX_REL_LT: break;
    }
    return JX_REL_GE;
}

const char *jx_truth_text(jx_truth truth)
{
    switch (truth) {
    case JX_UNKNOWN: return "unknown";
    case JX_TRUE: return "true";
    case JX_FALSE: return "false";
    case JX_DEPENDS: return "depends";
    case JX_CONTRADICTION: return "contradiction";
    }
    return "unknown";
}

bool jx_constraint_parse(jx_dims *dims, const char *text, size_t length,
                         int scope, jx_constraint *to, size_t *at,
                         const char **expected)
{
    size_t end, used = 0;

    to->lhs = jx_dim_parse_prefix(dims, text, length, scope, &end, expected);
    *at = end;
    if (!to->lhs)
        return false;
    /* The two-character ones come first in the table. */
    for (int r = JX_REL_EQ; !used && r <= JX_REL_LT; r++) {
        size_t n = strlen(texts[r]);

        if (length - end >= n && !memcmp(text + end, texts[r], n)) {
            to->relation = (jx_relation)r;
            used = n;
        }
    }
    if (!used) {
        *expected = "an operator or one of == != >= <= > <";
        return false;
    }
    end += used;
    to->rhs = jx_dim_parse(dims, text + end, length - end, scope, at,
                           expected);
    *at += end;
    return to->rhs != NULL;
}

void jx_constraint_print(const jx_constraint *constraint, jx_buffer *to)
{
    jx_dim_print(constraint->lhs, to);
    jx_buffer_printf(to, " %s ", texts[constraint->relation]);
    jx_dim_print(constraint->rhs, to);
}

jx_constraint jx_constraint_of_scope(const jx_scope_constraint *declared)
{
    return (jx_constraint){declared->lhs,
                           declared->equal     ? JX_REL_EQ
                           : declared->differs ? JX_REL_NE
                                               : JX_REL_GE,
                           declared->rhs};
}
