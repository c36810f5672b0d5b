/* rules.c - see rules.h. */
#include "reports/rules.h"

static const jx_rule_text texts[JX_NCODES] = {
#define RULE(code, command, language, why, fails, passes)                      \
    [JX_CODE_##code] = {JX_CODE_##code, why, command, language, fails, passes},
#include "reports/rules/rules.def"
#undef RULE
};

/* A code without a text does not compile: each row of codes.def needs its
 * enumerator among those of rules.def. */
enum {
#define RULE(code, command, language, why, fails, passes) HAS_TEXT_##code,
#include "reports/rules/rules.def"
#undef RULE
};

static const int has_text[] = {
#define CODE(id, name, level, class, summary) HAS_TEXT_##id,
#include "frontend/ir/codes.def"
#undef CODE
};

const jx_rule_text *jx_rule_text_of(jx_code code)
{
    (void)has_text;
    return &texts[code < JX_NCODES ? code : JX_CODE_NONE];
}

const char *jx_rule_why(jx_code code)
{
    return jx_rule_text_of(code)->why;
}
