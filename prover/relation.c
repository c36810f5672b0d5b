/* relation.c - constraints as text. */
#include "prover/prover.h"

#include "frontend/base/expression.h"

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

/* One side; the second is to end with the text. */
static const jx_dim *side(jx_dims *dims, const char *text, size_t length,
                          size_t from, bool whole, jx_dim_reading *reading)
{
    const jx_dim *read = jx_dim_read(dims, text + from, length - from, reading);

    reading->end += from;
    if (!read || !whole || reading->end == length)
        return read;
    reading->expected = "an operator or the end";
    return NULL;
}

bool jx_constraint_read(jx_dims *dims, const char *text, size_t length,
                        jx_dim_reading *reading, jx_constraint *to)
{
    jx_dim_reading first;
    size_t used;
    int relation;

    to->lhs = side(dims, text, length, 0, false, reading);
    /* What follows something too large is read all the same. */
    first = *reading;
    if (!to->lhs && !reading->too_large)
        return false;
    if (!to->lhs)
        first.end = jx_expression_length(text, length);
    relation =
        jx_expression_relation(text + first.end, length - first.end, &used);
    if (relation < 0) {
        reading->end = first.end;
        reading->too_large = false;
        reading->expected = "an operator or one of == != >= <= > <";
        return false;
    }
    to->relation = (jx_relation)relation;
    to->rhs = side(dims, text, length, first.end + used, true, reading);
    if (!to->lhs && (to->rhs || reading->too_large))
        *reading = first;
    return to->lhs && to->rhs;
}

bool jx_constraint_parse(jx_dims *dims, const char *text, size_t length,
                         int scope, jx_constraint *to, size_t *at,
                         const char **expected)
{
    jx_dim_reading reading = {.scope = scope};
    bool ok = jx_constraint_read(dims, text, length, &reading, to);

    *at = reading.end;
    *expected = reading.expected;
    return ok;
}

/* The same seen from the other side. */
static jx_constraint mirrored(const jx_constraint *c)
{
    static const jx_relation of[] = {
        [JX_REL_EQ] = JX_REL_EQ, [JX_REL_NE] = JX_REL_NE,
        [JX_REL_GE] = JX_REL_LE, [JX_REL_LE] = JX_REL_GE,
        [JX_REL_GT] = JX_REL_LT, [JX_REL_LT] = JX_REL_GT,
    };

    return (jx_constraint){c->rhs, of[c->relation], c->lhs};
}

jx_constraint jx_constraint_oriented(const jx_constraint *c)
{
    bool turned = c->relation == JX_REL_LE || c->relation == JX_REL_LT ||
                  ((c->relation == JX_REL_EQ || c->relation == JX_REL_NE) &&
                   c->lhs && c->rhs && jx_dim_order(c->lhs, c->rhs) < 0);

    return turned ? mirrored(c) : *c;
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
