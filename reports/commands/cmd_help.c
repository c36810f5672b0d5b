/* cmd_help.c - which commands there are, and `jaxvet help`, which says so. */
#include "reports/commands/commands.h"

#include <string.h>

const jx_command *const jx_commands[] = {
#define COMMAND(name) &jx_command_##name,
#include "reports/commands/commands.def"
#undef COMMAND
};
enum { COUNT = sizeof jx_commands / sizeof *jx_commands };
const size_t jx_ncommands = COUNT;

const jx_command *jx_command_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(jx_commands[i]->name, name))
            return jx_commands[i];
    return NULL;
}

int jx_command_unknown(const char *name)
{
    const char *names[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        names[i] = jx_commands[i]->name;
    const char *near = jx_nearest(name, names, COUNT);
    jx_command_say("jaxvet: unknown command '%s'%s%s%s", name,
                   near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
    jx_command_say("jaxvet help lists the commands");
    return JX_EXIT_USAGE;
}

static void help_of(const jx_command *command, jx_buffer *to)
{
    jx_buffer_printf(to, "usage: jaxvet %s%s %s\n\n%s", command->name,
                     command->noptions ? " [OPTION...]" : "",
                     command->arguments, command->help);
    if (command->noptions) {
        jx_buffer_puts(to, "\nOptions:\n");
        jx_options_help(command->options, command->noptions, to);
    }
}

static void help_of_all(jx_buffer *to)
{
    jx_buffer_puts(to, "usage: jaxvet COMMAND [OPTION...] ARGUMENT...\n\n"
                       "Says before an array program ships what can go wrong "
                       "in it.\n\n"
                       "Commands (jaxvet help COMMAND says more):\n");
    for (size_t i = 0; i < COUNT; i++)
        jx_buffer_printf(to, "  %-10s %s\n", jx_commands[i]->name,
                         jx_commands[i]->summary);
    jx_buffer_puts(to,
                   "\nExit codes, the first that applies over all programs:\n"
                   "  4  internal error\n"
                   "  2  wrong usage\n"
                   "  3  an input can't be read or run\n"
                   "  1  findings, a mismatch, a wrong rule, a difference\n"
                   "  5  undecided obligations, under --strict\n"
                   "  0  none of these\n"
                   "\njaxvet --version says which libraries it uses.\n");
}

static int run(int argc, char **argv)
{
    int n = jx_command_options(&jx_command_help, argc, argv, NULL);
    const jx_command *command = n > 0 ? jx_command_find(argv[0]) : NULL;
    jx_buffer text = {0};
    int code;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n > 1)
        return jx_command_usage(&jx_command_help, "expected one command");
    if (n == 1 && !command)
        return jx_command_unknown(argv[0]);
    if (command)
        help_of(command, &text);
    else
        help_of_all(&text);
    code = jx_command_write(NULL, &text);
    jx_buffer_free(&text);
    return code;
}

const jx_command jx_command_help = {
    "help",
    "[COMMAND]",
    "say how a command is used",
    "Lists the commands, or says what one does and which options it takes.\n"
    "`jaxvet COMMAND --help` is the same.\n",
    NULL,
    0,
    run,
};
