/* file.c - see file.h. */
#include "frontend/base/file.h"
#include "frontend/base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shown(const char *path)
{
    return strcmp(path, "-") ? path : "<stdin>";
}

/* One read into the rest of the buffer; 0 at the end, -1 on an error. */
static ssize_t read_some(int from, char *to, size_t room)
{
    ssize_t n;

    do
        n = read(from, to, room);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Doubling copies in the arena leave at most as much behind again as the file
 * is large; a regular file's size is known and read in one go. */
static const char *read_all(jx_ctx *ctx, int from, size_t guess,
                            const char *path, size_t *size)
{
    size_t room = guess + 1, used = 0;
    char *text = jx_arena_alloc(ctx->arena, room);

    while (text) {
        ssize_t n = read_some(from, text + used, room - used);
        if (n < 0) {
            jx_fail(ctx, JX_E_SYSTEM, shown(path), NULL, "can't be read: %s",
                    jx_strerror(errno));
            return NULL;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used == room) {
            char *more = jx_arena_alloc(ctx->arena, room * 2);
            if (more)
                memcpy(more, text, used);
            text = more;
            room *= 2;
        }
    }
    if (!text) {
        jx_ok(ctx); /* makes the arena's failure the error */
        return NULL;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

const char *jx_file_read(jx_ctx *ctx, const char *path, size_t *size)
{
    bool is_stdin = !strcmp(path, "-");
    int from = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    const char *text = NULL;

    if (from < 0 || fstat(from, &info) < 0)
        jx_fail(ctx, JX_E_SYSTEM, shown(path), NULL, "can't be opened: %s",
                jx_strerror(errno));
    else if (S_ISDIR(info.st_mode))
        jx_fail(ctx, JX_E_SYSTEM, shown(path), NULL,
                "is a directory; expected a file");
    else
        text = read_all(ctx, from,
                        info.st_size > 0 ? (size_t)info.st_size : 65535, path,
                        size);
    if (from >= 0 && !is_stdin)
        close(from);
    return text;
}

static bool write_all(int to, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(to, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool cannot_write(jx_ctx *ctx, const char *path)
{
    return jx_fail(ctx, JX_E_SYSTEM, path, NULL, "can't be written: %s",
                   jx_strerror(errno));
}

static bool write_directly(jx_ctx *ctx, int to, const char *path,
                           const void *data, size_t size)
{
    bool ok = to >= 0 && write_all(to, data, size);

    if (!ok)
        cannot_write(ctx, path);
    if (to > STDERR_FILENO)
        close(to);
    return ok;
}

/* A new file beside `path` that nobody else has; its name goes to *name.  Not
 * mkstemp: the file should have the permissions that any new file gets. */
static int open_beside(jx_ctx *ctx, const char *path, char **name)
{
    enum { TRIES = 100 };
    int to = -1;

    for (int i = 0; i < TRIES && to < 0; i++) {
        *name = jx_arena_printf(ctx->arena, "%s.tmp%d", path, i);
        if (!*name)
            return -1;
        to = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (to < 0 && errno != EEXIST)
            break;
    }
    return to;
}

static bool write_beside(jx_ctx *ctx, const char *path, const struct stat *old,
                         const void *data, size_t size)
{
    char *name = NULL;
    int to = open_beside(ctx, path, &name);
    bool ok;

    if (to < 0)
        return name ? cannot_write(ctx, path) : jx_ok(ctx);
    ok = write_all(to, data, size) &&
         (!old || fchmod(to, old->st_mode & 07777) == 0);
    ok = (close(to) == 0) && ok;
    ok = ok && rename(name, path) == 0;
    if (!ok) {
        cannot_write(ctx, path);
        unlink(name);
    }
    return ok;
}

bool jx_file_write(jx_ctx *ctx, const char *path, const void *data,
                   size_t size)
{
    struct stat old;
    char real[PATH_MAX];
    bool exists;

    if (!strcmp(path, "-"))
        return write_directly(ctx, STDOUT_FILENO, "<stdout>", data, size);
    if (realpath(path, real)) /* a link stays, what it names is replaced */
        path = real;
    exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return write_directly(ctx, open(path, O_WRONLY | O_CLOEXEC), path,
                              data, size);
    return write_beside(ctx, path, exists ? &old : NULL, data, size);
}
