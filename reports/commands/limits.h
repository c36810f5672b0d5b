/* limits.h - what a command may spend on one program: --memory and --time. */
#ifndef JX_LIMITS_H
#define JX_LIMITS_H

#include "reports/commands/commands.h"

/* Of a command's settings, as a field `limits`. */
typedef struct jx_limit_settings {
    const char *memory;
    double seconds;
} jx_limit_settings;

#define JX_LIMIT_OPTIONS(settings)                                             \
    {"memory",                                                                 \
     0,                                                                        \
     JX_OPT_TEXT,                                                              \
     "SIZE",                                                                   \
     "give up on a program that takes more, as in 512MiB\n"                    \
     "(default: half of the machine's, at most 4GiB)",                         \
     offsetof(settings, limits.memory)},                                       \
    {                                                                          \
        "time", 0, JX_OPT_REAL, "SECONDS",                                     \
            "give up on a program that takes longer",                          \
            offsetof(settings, limits.seconds)                                 \
    }

/* What the settings say; false, having said why, if that is no size. */
bool jx_command_limits(const jx_command *command,
                       const jx_limit_settings *settings, jx_limits *limits);
/* A context for one program with these limits; NULL having said why, and *code
 * is the exit code then. */
jx_ctx *jx_command_ctx(const jx_command *command,
                       const jx_limit_settings *settings, int *code);

/* Reads a file of many questions or answers, in a context of its own; what it
 * takes, `paper` has no more (a budget of bytes with the same limit).  NULL
 * with the context's error. */
const char *jx_command_read(jx_ctx *ctx, const char *path, jx_budget *paper,
                            size_t *size);

/* Bytes for a program where nobody says how many: half of the machine's memory,
 * or of what its control group may take, at most 4 GiB. */
size_t jx_default_bytes(void);

#endif
