/* commands.c - see commands.h. */
#include "reports/commands.h"

#include "frontend/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const jx_command *const jx_commands[] = {
#define COMMAND(name) &jx_command_##name,
#include "reports/commands.def"
#undef COMMAND
};
const size_t jx_ncommands = sizeof jx_commands / sizeof *jx_commands;

const jx_command *jx_command_find(const char *name)
{
    for (size_t i = 0; i < jx_ncommands; i++)
        if (!strcmp(jx_commands[i]->name, name))
            return jx_commands[i];
    return NULL;
}

static int wrong_usage(const jx_command *command, const char *why)
{
    fprintf(stderr, "jaxvet %s: %s\nusage: jaxvet %s %s (jaxvet %s --help)\n",
            command->name, why, command->name, command->arguments,
            command->name);
    return JX_EXIT_USAGE;
}

int jx_command_usage(const jx_command *command, const char *format, ...)
{
    jx_buffer why = {0};
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&why, format, args);
    va_end(args);
    wrong_usage(command, jx_buffer_text(&why));
    jx_buffer_free(&why);
    return JX_EXIT_USAGE;
}

int jx_command_options(const jx_command *command, int argc, char **argv,
                       void *settings)
{
    jx_buffer why = {0};
    int n = jx_options_read(command->options, command->noptions, argc, argv,
                            settings, &why);

    if (n < 0)
        wrong_usage(command, jx_buffer_text(&why));
    jx_buffer_free(&why);
    return n;
}

int jx_command_unknown(const char *name)
{
    const char *names[64];
    size_t n = 0;

    while (n < jx_ncommands && n < sizeof names / sizeof *names) {
        names[n] = jx_commands[n]->name;
        n++;
    }
    const char *near = jx_nearest(name, names, n);
    fprintf(stderr, "jaxvet: unknown command '%s'", name);
    if (near)
        fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\njaxvet help lists the commands\n", stderr);
    return JX_EXIT_USAGE;
}

static jx_exit exit_of(jx_error_kind kind)
{
    switch (kind) {
    case JX_E_NONE:
        return JX_EXIT_OK;
    case JX_E_USAGE:
        return JX_EXIT_USAGE;
    case JX_E_INPUT:
    case JX_E_MEMORY:
    case JX_E_SYSTEM:
        return JX_EXIT_INPUT;
    case JX_E_INTERNAL:
        break;
    }
    return JX_EXIT_INTERNAL;
}

int jx_command_error(const jx_error *error)
{
    const char *parts[] = {error->file, error->place, error->message};

    fputs("jaxvet", stderr);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            fprintf(stderr, ": %s", parts[i]);
    fputc('\n', stderr);
    return exit_of(error->kind);
}

void jx_command_point(const char *text, size_t column)
{
    enum { AROUND = 34 };
    size_t at = column - 1, length = strlen(text);
    size_t from = at > 2 * AROUND ? at - AROUND : 0;
    size_t shown = length - from > 4 * AROUND ? 2 * AROUND : length - from;
    const char *before = from ? "..." : "";

    fprintf(stderr, "  %s%.*s%s\n  %*s^\n", before, (int)shown, text + from,
            from + shown < length ? "..." : "",
            (int)(strlen(before) + at - from), "");
}

int jx_exit_worse(int a, int b)
{
    static const int order[] = {JX_EXIT_INTERNAL, JX_EXIT_USAGE,
                                JX_EXIT_INPUT, JX_EXIT_FINDINGS,
                                JX_EXIT_UNDECIDED};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return JX_EXIT_OK;
}

int jx_command_write(const char *path, const jx_buffer *text)
{
    int code = JX_EXIT_OK;
    jx_ctx *ctx = jx_ctx_new(0);

    if (!ctx || !jx_buffer_ok(text)) {
        fputs("jaxvet: out of memory while printing\n", stderr);
        code = JX_EXIT_INPUT;
    } else if (!jx_file_write(ctx, path ? path : "-", jx_buffer_text(text),
                              text->length)) {
        code = jx_command_error(&ctx->error);
    }
    jx_ctx_free(ctx);
    return code;
}

bool jx_command_colour(int descriptor)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(no && *no) && term && strcmp(term, "dumb") && isatty(descriptor);
}
