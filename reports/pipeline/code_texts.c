/* code_texts.c - see code_texts.h. */
#include "reports/pipeline/code_texts.h"

static const jx_code_text texts[JX_NCODES] = {
#define TEXT(code, command, language, why, fails, passes)                      \
    [JX_CODE_##code] = {JX_CODE_##code, why, command, language, fails, passes},
#include "reports/pipeline/code_texts.def"
#undef TEXT
};

/* A code without a text does not compile: each row of codes.def needs its
 * enumerator among those of code_texts.def. */
enum {
#define TEXT(code, command, language, why, fails, passes) HAS_TEXT_##code,
#include "reports/pipeline/code_texts.def"
#undef TEXT
};

static const int has_text[] = {
#define CODE(id, name, level, class, summary) HAS_TEXT_##id,
#include "frontend/ir/codes.def"
#undef CODE
};

const jx_code_text *jx_code_text_of(jx_code code)
{
    (void)has_text;
    return &texts[code < JX_NCODES ? code : JX_CODE_NONE];
}

const char *jx_code_why(jx_code code)
{
    return jx_code_text_of(code)->why;
}
