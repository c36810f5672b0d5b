/* claim.c - see claim.h. */
#include "frontend/ir/claim.h"

#include <string.h>

static const jx_code_info codes[JX_NCODES] = {
    [JX_CODE_NONE] = {"", "", JX_NOTE, JX_PROBE, ""},
#define CODE(id, name, level, class, summary)                                  \
    [JX_CODE_##id] = {#id, name, JX_##level, JX_##class, summary},
#include "frontend/ir/codes.def"
#undef CODE
};

const jx_code_info *jx_code_of(jx_code code)
{
    return &codes[code < JX_NCODES ? code : JX_CODE_NONE];
}

bool jx_code_is_structural(jx_code code)
{
    return code == JX_CODE_SHP010 || code == JX_CODE_SHP011 ||
           code == JX_CODE_SHP013 || code == JX_CODE_SHP015 ||
           code == JX_CODE_MSH001 || code == JX_CODE_MSH002 ||
           code == JX_CODE_MSH003 || code == JX_CODE_MSH004 ||
           code == JX_CODE_MSH011 || code == JX_CODE_MSH026;
}

bool jx_code_is_asked_for(jx_code code)
{
    return code == JX_CODE_DTY009 || code == JX_CODE_PRF003 ||
           code == JX_CODE_PRF004;
}

static bool is_of_family(jx_code code, const char family[4])
{
    return strncmp(jx_code_of(code)->id, family, 3) == 0;
}

bool jx_code_is_of_rules(jx_code code)
{
    return is_of_family(code, "DRV");
}

bool jx_code_is_of_keys(jx_code code)
{
    return is_of_family(code, "RNG");
}

jx_code jx_code_named(const char *text)
{
    for (int i = 1; i < JX_NCODES; i++)
        if (strcmp(codes[i].id, text) == 0 || strcmp(codes[i].name, text) == 0)
            return (jx_code)i;
    return JX_CODE_NONE;
}

jx_claim *jx_claim_add(jx_ctx *ctx, jx_claim_list *to, jx_code code)
{
    jx_claim *claim = JX_NEW(ctx->arena, jx_claim);

    if (!claim)
        return NULL;
    claim->code = code;
    claim->level = jx_code_of(code)->level;
    claim->class = jx_code_of(code)->class;
    JX_PUSH(ctx->arena, to, claim);
    return claim;
}
