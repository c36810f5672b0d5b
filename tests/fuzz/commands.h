/* commands.h - every command on some of the inputs.
 *
 * A reader's target calls fuzz_commands() with each input; of one in a hundred
 * (chosen by its bytes, so that a crash comes again) a file is made, and each
 * command runs on it as it would from a shell, with limits.  None may end with
 * the exit code of a defect, or of a wrong usage that was none. */
#ifndef JX_FUZZ_COMMANDS_H
#define JX_FUZZ_COMMANDS_H

#include "frontend/base/intern.h"
#include "reports/commands/commands.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_EVERY = 100, FUZZ_WORDS = 12 };

/* FILE stands for the input. */
static const char *const fuzz_command_lines[][FUZZ_WORDS] = {
    {"info", "FILE", "--cost"},
    {"info", "FILE", "--format", "json"},
    {"info", "FILE", "--sizes", "2"},
    {"check", "FILE", "--no-solver"},
    {"check", "FILE", "--no-solver", "--format", "sarif", "--deps"},
    {"show", "FILE"},
    {"show", "FILE", "--as", "json"},
    {"show", "FILE", "--as", "stablehlo"},
    {"run", "FILE", "--fill", "random:1"},
    {"run", "FILE", "--finite"},
    {"gradcheck", "FILE", "--directions", "1"},
    {"diff", "FILE", "FILE", "--no-solver"},
    {"rewrite", "FILE", "-o", "/dev/null", "--strip-locations"},
};

static void fuzz_run_line(const char *const *line, const char *file)
{
    static char limits[4][16] = {"--memory", "64MiB", "--time", "1"};
    char words[FUZZ_WORDS + 4][64], *argv[FUZZ_WORDS + 5];
    const jx_command *command = jx_command_find(line[0]);
    int argc = 0, code;

    for (int i = 1; i < FUZZ_WORDS && line[i]; i++)
        snprintf(words[argc++], sizeof *words, "%s",
                 strcmp(line[i], "FILE") ? line[i] : file);
    for (int i = 0; i < 4; i++)
        snprintf(words[argc++], sizeof *words, "%s", limits[i]);
    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    argv[argc] = NULL;
    code = command->run(argc, argv);
    if (code == JX_EXIT_USAGE || code == JX_EXIT_INTERNAL)
        fprintf(stderr, "jaxvet %s: exit code %d\n", line[0], code);
    check(code != JX_EXIT_USAGE && code != JX_EXIT_INTERNAL);
}

static inline void fuzz_commands(const uint8_t *data, size_t size)
{
    char path[32];
    int file;

    if (!size || jx_hash_bytes(data, size) % FUZZ_EVERY)
        return;
    file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    check(write(file, data, size) == (ssize_t)size);
    for (size_t i = 0;
         i < sizeof fuzz_command_lines / sizeof *fuzz_command_lines; i++)
        fuzz_run_line(fuzz_command_lines[i], path);
    close(file);
}

#endif
