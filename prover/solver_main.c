/* solver_main.c - the helper process: questions on standard input, answers on
 * standard output; see solver.h for the protocol. */
#include "prover/z3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { MAX_SCRIPT = 64 << 20, MAX_MEMORY_GB = 4 };

/* Past this much more processor time SIGPROF ends us: the client sees the end
 * of the stream and says "killed".  0: no limit any more. */
static void allow_milliseconds(unsigned milliseconds)
{
    struct itimerval limit = {
        .it_value = {.tv_sec = milliseconds / 1000,
                     .tv_usec = milliseconds % 1000 * 1000}};

    setitimer(ITIMER_PROF, &limit, NULL);
}

/* ASan reserves far more address space than it uses. */
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    struct rlimit limit = {(rlim_t)MAX_MEMORY_GB << 30,
                           (rlim_t)MAX_MEMORY_GB << 30};

    setrlimit(RLIMIT_AS, &limit);
#endif
}

static char *read_script(size_t length)
{
    char *script = length <= MAX_SCRIPT ? malloc(length + 1) : NULL;

    if (script && fread(script, 1, length, stdin) != length) {
        free(script);
        return NULL;
    }
    if (script)
        script[length] = '\0';
    return script;
}

static void reply(jx_buffer *line)
{
    jx_buffer_putc(line, '\n');
    fwrite(line->text, 1, line->length, stdout);
    fflush(stdout);
    jx_buffer_clear(line);
}

int main(void)
{
    jx_buffer line = {0};
    unsigned rlimit, milliseconds;
    size_t length;

    limit_memory();
    jx_buffer_puts(&line, "jaxvet-solver ");
    jx_z3_version(&line);
    reply(&line);
    while (scanf("check %u %u %zu", &rlimit, &milliseconds, &length) == 3) {
        char *script;

        if (getchar() != '\n' || !(script = read_script(length)))
            return 1;
        allow_milliseconds(milliseconds);
        jx_z3_check(script, rlimit, &line);
        allow_milliseconds(0);
        free(script);
        reply(&line);
    }
    jx_buffer_free(&line);
    return 0;
}
