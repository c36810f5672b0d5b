/* solver_main.c - the helper process: questions on standard input, answers on
 * standard output; see solver.h for the protocol. */
#include "prover/z3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_SCRIPT = 64 << 20 };

/* Past this much more processor time SIGPROF ends us: the client sees the end
 * of the stream and says "killed".  0: no limit any more. */
static void allow_milliseconds(unsigned milliseconds)
{
    struct itimerval limit = {
        .it_value = {.tv_sec = milliseconds / 1000,
                     .tv_usec = milliseconds % 1000 * 1000}};

    setitimer(ITIMER_PROF, &limit, NULL);
}

/* Pages of address space. */
static rlim_t address_space(void)
{
    FILE *of = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (of && fscanf(of, "%lu", &pages) != 1)
        pages = 0;
    if (of)
        fclose(of);
    return pages;
}

/* So much more than the process began with.  ASan reserves far more address
 * space than it uses. */
static void allow_bytes(rlim_t began_with, size_t bytes)
{
#ifndef __SANITIZE_ADDRESS__
    struct rlimit limit;

    if (!began_with || getrlimit(RLIMIT_AS, &limit))
        return;
    limit.rlim_cur = began_with * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur <= limit.rlim_max)
        setrlimit(RLIMIT_AS, &limit);
#else
    (void)began_with;
    (void)bytes;
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
    size_t length, bytes;
    rlim_t began_with;

    jx_buffer_puts(&line, "jaxvet-solver ");
    jx_z3_version(&line);
    reply(&line);
    began_with = address_space();
    while (scanf("check %u %u %zu %zu", &rlimit, &milliseconds, &bytes,
                 &length) == 4) {
        char *script;

        allow_bytes(began_with, bytes);
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
