/* commands.c - what subcommands share: see commands.h. */
#include "reports/commands/commands.h"

#include "frontend/base/file.h"
#include "frontend/base/utf8.h"
#include "reports/commands/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int jx_command_starved(void)
{
    fputs("jaxvet: " JX_STARVED "\n", stderr);
    return JX_EXIT_INPUT;
}

/* One writer for all that goes to standard error, which takes no memory. */
static void complain(const jx_buffer *text)
{
    if (jx_buffer_ok(text))
        fwrite(jx_buffer_text(text), 1, text->length, stderr);
    else
        jx_command_starved();
}

void jx_command_say(const char *format, ...)
{
    jx_buffer text = {0}, shown = {0};
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&text, format, args);
    va_end(args);
    shown.failed = !jx_buffer_ok(&text);
    jx_utf8_show(jx_buffer_text(&text), &shown);
    jx_buffer_putc(&shown, '\n');
    complain(&shown);
    jx_buffer_free(&text);
    jx_buffer_free(&shown);
}

/* Ranks of mpirun that are asked for the same are wrong in the same way: the
 * first says so, and mpirun ends the others. */
static void let_the_first_speak(void)
{
    const struct timespec moment = {.tv_sec = 2};

    if (jx_rank_here().number)
        nanosleep(&moment, NULL);
}

static int wrong_usage(const jx_command *command, const char *why)
{
    let_the_first_speak();
    jx_command_say("jaxvet %s: %s", command->name, why);
    jx_command_say("usage: jaxvet %s %s (jaxvet %s --help)", command->name,
                   command->arguments, command->name);
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

static jx_exit exit_of(jx_error_kind kind)
{
    switch (kind) {
    case JX_E_NONE: return JX_EXIT_OK;
    case JX_E_USAGE: return JX_EXIT_USAGE;
    case JX_E_INPUT:
    case JX_E_LIMIT:
    case JX_E_SYSTEM: return JX_EXIT_INPUT;
    case JX_E_INTERNAL: break;
    }
    return JX_EXIT_INTERNAL;
}

int jx_command_error(const jx_error *error)
{
    jx_buffer text = {0};

    jx_buffer_puts(&text, "jaxvet: ");
    jx_error_print(error, &text);
    jx_buffer_putc(&text, '\n');
    complain(&text);
    jx_buffer_free(&text);
    return (int)exit_of(error->kind);
}

int jx_command_failed(jx_ctx *ctx)
{
    static const jx_error silent = {JX_E_INTERNAL, NULL, NULL,
                                    "stopped without a word"};

    if (!ctx)
        return jx_command_starved();
    return jx_command_error(jx_ok(ctx) ? &silent : &ctx->error);
}

void jx_command_point(const char *text, size_t column)
{
    enum { AROUND = 34 };
    size_t at = column - 1, length = strlen(text);
    size_t from = at > 2 * AROUND ? at - AROUND : 0;
    size_t shown = length - from > 4 * AROUND ? 2 * AROUND : length - from;
    const char *before = from ? "..." : "";

    jx_buffer line = {0};

    jx_buffer_printf(&line, "  | %s", before);
    jx_utf8_show_bytes(text + from, at - from, &line);
    size_t mark = line.length;
    jx_utf8_show_bytes(text + at, from + shown - at, &line);
    jx_buffer_printf(&line, "%s\n  | ", from + shown < length ? "..." : "");
    jx_buffer_printf(&line, "%*s^\n", (int)mark - 4, "");
    complain(&line);
    jx_buffer_free(&line);
}

int jx_exit_worse(int a, int b)
{
    static const int order[] = {JX_EXIT_INTERNAL, JX_EXIT_USAGE, JX_EXIT_INPUT,
                                JX_EXIT_FINDINGS, JX_EXIT_UNDECIDED};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return JX_EXIT_OK;
}

int jx_command_write_bytes(const char *path, const jx_buffer *bytes)
{
    int code = JX_EXIT_OK;
    jx_ctx *ctx = jx_ctx_new(0);
    /* What the same budget pays for may lack in the text. */
    jx_spent spent = jx_budget_spent(bytes->budget);

    if (!ctx || spent == JX_SPENT_SYSTEM ||
        (!bytes->budget && !jx_buffer_ok(bytes))) {
        code = jx_command_starved();
    } else if (spent != JX_SPENT_NOTHING || !jx_buffer_ok(bytes)) {
        const char *what = spent == JX_SPENT_SECONDS ? "time" : "memory";
        jx_command_say("jaxvet: gave up: there is no %s for what is to be "
                       "printed (see --%s)",
                       what, what);
        code = JX_EXIT_INPUT;
    } else if (!jx_file_write(ctx, path ? path : "-", jx_buffer_text(bytes),
                              bytes->length)) {
        code = jx_command_failed(ctx);
    }
    jx_ctx_free(ctx);
    return code;
}

int jx_command_write(const char *path, const jx_buffer *text)
{
    jx_buffer shown = {.failed = !jx_buffer_ok(text), .budget = text->budget};
    int code;

    jx_utf8_show_lines(jx_buffer_text(text), text->length, &shown);
    code = jx_command_write_bytes(path, &shown);
    jx_buffer_free(&shown);
    return code;
}

bool jx_command_terminal(int descriptor)
{
    return isatty(descriptor) && !getenv("OMPI_COMM_WORLD_RANK");
}

bool jx_command_colour(int descriptor)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(no && *no) && term && strcmp(term, "dumb") &&
           jx_command_terminal(descriptor);
}
