/* select.c - see select.h. */
#include "reports/commands/select.h"

#include "frontend/base/plain.h"
#include "reports/pipeline/source.h"

#include <errno.h>
#include <string.h>

typedef JX_VEC(const char *) word_list;

static bool is_known(const char *word)
{
    const jx_selection only = {&word, 1, NULL, 0};

    for (int code = 1; code < JX_NCODES; code++)
        if (jx_selects(&only, (jx_code)code))
            return true;
    return false;
}

static bool split(const jx_command *command, jx_arena *arena,
                  const jx_texts *from, word_list *to)
{
    for (int i = 0; i < from->count; i++)
        for (const char *at = from->at[i]; *at;) {
            size_t n = strcspn(at, ", ");
            const char *word = jx_arena_string(arena, at, n);
            if (n && word && !is_known(word)) {
                jx_command_usage(command,
                                 "no code is or begins with '%s'; "
                                 "`jaxvet rules` lists them",
                                 word);
                return false;
            }
            if (n && word)
                JX_PUSH(arena, to, word);
            at += n + (at[n] != '\0');
        }
    return true;
}

bool jx_command_selection(const jx_command *command, jx_ctx *ctx,
                          const jx_texts *select, const jx_texts *ignore,
                          jx_selection *to)
{
    word_list selected = {0}, ignored = {0};

    if (!split(command, ctx->arena, select, &selected) ||
        !split(command, ctx->arena, ignore, &ignored))
        return false;
    *to = (jx_selection){selected.at, (int)selected.count, ignored.at,
                         (int)ignored.count};
    return true;
}

bool jx_command_sources(const jx_command *command, const jx_texts *roots,
                        bool trust_embedded, jx_sources *sources,
                        jx_suppressions *suppressions)
{
    for (int i = 0; i < roots->count; i++)
        if (!jx_sources_add(sources, roots->at[i])) {
            jx_command_usage(command, "--source-root %s: %s", roots->at[i],
                             jx_strerror(errno));
            return false;
        }
    if (trust_embedded)
        jx_suppressions_trust_embedded(suppressions);
    return true;
}
