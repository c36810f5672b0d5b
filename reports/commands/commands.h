/* commands.h - the subcommands of `jaxvet`, and what they share.
 *
 * A subcommand lives in reports/commands/cmd_NAME.c, defines `jx_command_NAME`
 * and has a line in commands.def, which it gets once it works:
 *
 *     typedef struct settings { bool strict; const char *output; } settings;
 *
 *     static const jx_option options[] = {...};    -- see options.h
 *
 *     static int run(int argc, char **argv)        -- words after its name
 *     {
 *         settings s = {0};
 *         int n = jx_command_options(&jx_command_info, argc, argv, &s);
 *         if (n < 0)
 *             return JX_EXIT_USAGE;                -- already said why
 *         ... argv[0] to argv[n - 1] are the arguments ...
 *         return jx_command_write(s.output, &text);
 *     }
 *
 *     const jx_command jx_command_info = {
 *         "info", "PROGRAM", "say what is in a program",
 *         "A paragraph or two, and an example, for `--help`.\n",
 *         options, sizeof options / sizeof *options, run,
 *     };
 *
 * `--help` is answered before `run` is called.  Only files of this kind print;
 * what they print is complete in a buffer first.  None of this is part of
 * libjaxvet.so. */
#ifndef JX_COMMANDS_H
#define JX_COMMANDS_H

#include "frontend/base/ctx.h"
#include "reports/commands/options.h"

typedef enum jx_exit {
    JX_EXIT_OK = 0,
    JX_EXIT_FINDINGS = 1,  /* findings, a mismatch, a wrong rule */
    JX_EXIT_USAGE = 2,     /* wrong usage */
    JX_EXIT_INPUT = 3,     /* an input can't be read or run */
    JX_EXIT_INTERNAL = 4,  /* we are wrong */
    JX_EXIT_UNDECIDED = 5, /* undecided obligations, under --strict */
} jx_exit;

typedef struct jx_command {
    const char *name;
    const char *arguments; /* "PROGRAM|DIR..." */
    const char *summary;   /* one line, no capital, no period */
    const char *help; /* what it does, with an example; ends in a newline */
    const jx_option *options;
    size_t noptions;
    int (*run)(int argc, char **argv); /* gives an exit code */
} jx_command;

#define COMMAND(name) extern const jx_command jx_command_##name;
#include "reports/commands/commands.def"
#undef COMMAND

/* The table, in the order of commands.def (cmd_help.c). */
extern const jx_command *const jx_commands[];
extern const size_t jx_ncommands;
const jx_command *jx_command_find(const char *name);
/* Says on standard error that there is no such command, and which is near;
 * gives JX_EXIT_USAGE. */
int jx_command_unknown(const char *name);

/* jx_options_read() with the command's table; on wrong usage -1, having told
 * standard error. */
int jx_command_options(const jx_command *command, int argc, char **argv,
                       void *settings);
/* Says on standard error what is wrong with the usage; gives JX_EXIT_USAGE. */
int jx_command_usage(const jx_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says an error on standard error, "jaxvet: file: place: message"; gives the
 * exit code that belongs to its kind. */
int jx_command_error(const jx_error *error);
/* The same for what has failed in a context: its error, or the budget that is
 * spent.  NULL: there was no memory for one. */
int jx_command_failed(jx_ctx *ctx);
/* Says that the system has no memory; gives the exit code. */
int jx_command_starved(void);
/* Shows on standard error the text (of a long one a piece) and below it a mark
 * at the column, counted from 1 in bytes. */
void jx_command_point(const char *text, size_t column);
/* The first that applies over several programs: 4, 2, 3, 1, 5, 0. */
int jx_exit_worse(int a, int b);

/* A line on standard error; what it quotes, line feeds too, is escaped. */
void jx_command_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Writes a finished text to a file (whole or not at all), or to standard
 * output if `path` is NULL or "-".  JX_EXIT_OK, or having said why another.
 * Whatever is in it but lines of visible text leaves escaped: names come from
 * programs.  (Line feeds in a name are for who puts it there: jx_utf8_show.) */
int jx_command_write(const char *path, const jx_buffer *text);
/* The same for what is no text, or has colours and is escaped already. */
int jx_command_write_bytes(const char *path, const jx_buffer *bytes);

/* Whether somebody looks at what goes to this descriptor: mpirun gives each
 * rank a terminal, whatever becomes of what it says there. */
bool jx_command_terminal(int descriptor);
/* Whether to colour what goes to this descriptor: a terminal that can, and
 * NO_COLOR not set. */
bool jx_command_colour(int descriptor);

#endif
