/* fail_malloc.c - to be preloaded: memory that ends for a program under test.
 *
 * Counts the allocations that the executable and libjaxvet.so ask for (not
 * those of the other libraries that it loads) and lets the one numbered
 * $FAIL_AT fail, or with $FAIL_ON all from there on; with $FAIL_SAY it says
 * from where that was asked.  The count is written to the file $FAIL_COUNT when
 * the process ends.
 *
 * Only a process named $FAIL_NAME is meant, so that one that starts it, or that
 * it starts, is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

enum { PARTS = 4 };

long fail_malloc(long at, bool on);

static struct {
    uintptr_t from, to;
} parts[PARTS]; /* where the code lies that is meant */
static int nparts;
static atomic_long count;
static long fail_at;
static bool fail_on, fail_say;

/* The executable has no name here. */
static int find_code(struct dl_phdr_info *info, size_t size, void *data)
{
    bool ours = !*info->dlpi_name || strstr(info->dlpi_name, "libjaxvet.so");

    (void)size;
    (void)data;
    for (int i = 0; ours && i < info->dlpi_phnum && nparts < PARTS; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        parts[nparts].from = at;
        parts[nparts++].to = at + part->p_memsz;
    }
    return 0;
}

static bool is_meant(void)
{
    const char *name = getenv("FAIL_NAME");

    return !name || !strcmp(name, program_invocation_short_name);
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");

    if (!is_meant())
        return;
    dl_iterate_phdr(find_code, NULL);
    fail_at = at ? atol(at) : 0;
    fail_on = getenv("FAIL_ON") != NULL;
    fail_say = getenv("FAIL_SAY") != NULL;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = is_meant() ? getenv("FAIL_COUNT") : NULL;
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0)
        return;
    dprintf(file, "%ld\n", atomic_load(&count));
    close(file);
}

/* For a program that is linked with this: from now on it counts from 1, and the
 * allocation numbered `at` fails (0: none), or all from there on.  How many
 * there were since the last time. */
long fail_malloc(long at, bool on)
{
    fail_at = 0;
    fail_on = on;
    long before = atomic_exchange(&count, 0);
    fail_at = at;
    return before;
}

static void say_where(void)
{
    void *frames[32];

    fail_say = false; /* once, and not about what saying takes */
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
}

static bool is_ours(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    for (int i = 0; i < nparts; i++)
        if (at >= parts[i].from && at < parts[i].to)
            return true;
    return false;
}

/* Whether this allocation, asked for from `caller`, fails. */
static bool fails(const void *caller)
{
    long n;

    if (!is_ours(caller))
        return false;
    n = atomic_fetch_add(&count, 1) + 1;
    if (!fail_at || !(fail_on ? n >= fail_at : n == fail_at))
        return false;
    if (fail_say)
        say_where();
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL
                                              : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0))
               ? NULL
               : __libc_memalign(alignment, size);
}

int posix_memalign(void **at, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0)))
        return ENOMEM;
    *at = __libc_memalign(alignment, size);
    return *at ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy =
        fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void *mmap(void *at, size_t size, int protection, int flags, int file,
           off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);

    if (!next)
        next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT,
                                                                      "mmap");
    return fails(__builtin_return_address(0))
               ? MAP_FAILED
               : next(at, size, protection, flags, file, offset);
}
