/* fail_malloc.c - to be preloaded: memory that ends for a program under test.
 *
 * Counts the allocations that the executable itself asks for (not those of the
 * libraries that it loads) and lets the one numbered $FAIL_AT fail, or with
 * $FAIL_ON all from there on.  The count is written to the file $FAIL_COUNT when
 * the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
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

static uintptr_t from, to; /* where the executable lies */
static atomic_long count;
static long fail_at;
static bool fail_on;

static int find_executable(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        from = at;
        to = at + part->p_memsz;
    }
    return 1; /* the executable comes first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");

    dl_iterate_phdr(find_executable, NULL);
    fail_at = at ? atol(at) : 0;
    fail_on = getenv("FAIL_ON") != NULL;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

    if (file < 0)
        return;
    dprintf(file, "%ld\n", atomic_load(&count));
    close(file);
}

/* Whether this allocation, asked for from `caller`, fails. */
static bool fails(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    long n;

    if (at < from || at >= to)
        return false;
    n = atomic_fetch_add(&count, 1) + 1;
    if (!fail_at || !(fail_on ? n >= fail_at : n == fail_at))
        return false;
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
    char *copy = fails(__builtin_return_address(0)) ? NULL
                                                    : __libc_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void *mmap(void *at, size_t size, int protection, int flags, int file,
           off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);

    if (!next)
        next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(
            RTLD_NEXT, "mmap");
    return fails(__builtin_return_address(0))
               ? MAP_FAILED
               : next(at, size, protection, flags, file, offset);
}
