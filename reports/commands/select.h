/* select.h - the codes that --select and --ignore name, and the sources that
 * --source-root and --trust-embedded do. */
#ifndef JX_SELECT_H
#define JX_SELECT_H

#include "reports/commands/commands.h"
#include "reports/pipeline/report.h"
#include "reports/pipeline/suppress.h"

/* Lists such as `a,b`, given any number of times, in ctx's memory.  False,
 * having said why, for a word that is no code. */
bool jx_command_selection(const jx_command *command, jx_ctx *ctx,
                          const jx_texts *select, const jx_texts *ignore,
                          jx_selection *to);
/* What a command with findings says of sources; its settings have `roots` and
 * `trust` for it. */
#define JX_SOURCE_OPTIONS(settings)                                            \
    {"source-root",                                                            \
     0,                                                                        \
     JX_OPT_LIST,                                                              \
     "DIR",                                                                    \
     "read source files below this folder, too (always: below\n"               \
     "the working directory)",                                                 \
     offsetof(settings, roots)},                                               \
    {                                                                          \
        "trust-embedded", 0, JX_OPT_FLAG, NULL,                                \
            "let comments in source lines that programs embed suppress\n"      \
            "findings, too",                                                   \
            offsetof(settings, trust)                                          \
    }

/* False, having said why, for a folder that can't be opened. */
bool jx_command_sources(const jx_command *command, const jx_texts *roots,
                        bool trust_embedded, jx_sources *sources,
                        jx_suppressions *suppressions);

#endif
