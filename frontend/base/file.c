/* file.c - see file.h. */
#include "frontend/base/file.h"
#include "frontend/base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *shown(const char *path)
{
    return strcmp(path, "-") ? path : "<stdin>";
}

enum { MOMENT = 50, ONCE = 16 << 20 };

/* Until there is something to read or to say of it; a pipe may never have any,
 * and what it is read for may have to end before.  False, with the error. */
static bool wait_to_read(jx_ctx *ctx, int from)
{
    struct pollfd pipe = {.fd = from, .events = POLLIN};

    while (jx_ctx_lasts(ctx)) {
        int n = poll(&pipe, 1, MOMENT);
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;
    }
    return false;
}

/* One read into the rest of the buffer; 0 at the end, -1 on an error, which is
 * not told yet. */
static ssize_t read_some(jx_ctx *ctx, int from, char *to, size_t room)
{
    ssize_t n = -1;

    do {
        if (!wait_to_read(ctx, from))
            break;
        n = read(from, to, room < ONCE ? room : ONCE);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
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
        ssize_t n = read_some(ctx, from, text + used, room - used);
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
    /* A pipe without a writer is waited for where the clock is looked at. */
    int from =
        is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    const char *text = NULL;

    if (from < 0 || fstat(from, &info) < 0)
        jx_fail(ctx, JX_E_SYSTEM, shown(path), NULL, "can't be opened: %s",
                jx_strerror(errno));
    else if (S_ISDIR(info.st_mode))
        jx_fail(ctx, JX_E_SYSTEM, shown(path), NULL,
                "is a directory; expected a file");
    else
        text =
            read_all(ctx, from, info.st_size > 0 ? (size_t)info.st_size : 65535,
                     path, size);
    if (from >= 0 && !is_stdin)
        close(from);
    return text;
}

/* Whoever gave us a pipe may have made it one that does not wait. */
static bool try_again(int to)
{
    struct pollfd pipe = {.fd = to, .events = POLLOUT};

    return errno == EINTR || (errno == EAGAIN && poll(&pipe, 1, -1) > 0);
}

static bool write_all(int to, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(to, data, size);
        if (n < 0 && try_again(to))
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

/* A file that becomes `path` once it is whole.  It lies in the same
 * folder, held open so that a folder renamed meanwhile is still the one;
 * where the system can, it has no name until then, so that not even being
 * killed leaves one. */
typedef struct draft {
    int folder, file;
    char name[32]; /* "": none yet */
} draft;

static int open_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;

    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, slash ? path : "", length);
    folder[length] = '\0';
    return open(slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Short, and nobody's guess: others can't have taken it all beforehand. */
static void choose_name(draft *d)
{
    uint64_t random = 0;

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        random = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
                 (uint64_t)getpid() << 16;
    }
    snprintf(d->name, sizeof d->name, ".jaxvet-%016llx",
             (unsigned long long)random);
}

enum { TRIES = 100 };

/* Not mkstemp: the file should have the permissions that any new file gets. */
static bool open_named(draft *d)
{
    for (int i = 0; i < TRIES; i++) {
        choose_name(d);
        d->file = openat(d->folder, d->name,
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (d->file >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    d->name[0] = '\0';
    return false;
}

static bool open_nameless(draft *d)
{
    d->file = openat(d->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    return d->file >= 0;
}

static bool give_name(draft *d)
{
    char here[40];

    snprintf(here, sizeof here, "/proc/self/fd/%d", d->file);
    for (int i = 0; i < TRIES; i++) {
        choose_name(d);
        if (linkat(AT_FDCWD, here, d->folder, d->name, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    d->name[0] = '\0';
    return false;
}

static bool fill(draft *d, const struct stat *old, const void *data,
                 size_t size)
{
    return write_all(d->file, data, size) &&
           (!old || fchmod(d->file, old->st_mode & 07777) == 0);
}

static bool close_file(draft *d)
{
    bool ok = close(d->file) == 0;

    d->file = -1;
    return ok;
}

/* The finished draft under some name.  Without O_TMPFILE, or without /proc to
 * name what it made, the name comes first. */
static bool make_draft(draft *d, const struct stat *old, const void *data,
                       size_t size)
{
    if (open_nameless(d)) {
        if (!fill(d, old, data, size))
            return false;
        if (give_name(d))
            return close_file(d);
        close_file(d);
    }
    return open_named(d) && fill(d, old, data, size) && close_file(d);
}

static bool write_beside(jx_ctx *ctx, const char *path, const struct stat *old,
                         const void *data, size_t size)
{
    const char *slash = strrchr(path, '/');
    draft d = {.folder = open_folder(path), .file = -1};
    bool ok =
        d.folder >= 0 && make_draft(&d, old, data, size) &&
        renameat(d.folder, d.name, d.folder, slash ? slash + 1 : path) == 0;

    if (!ok) {
        cannot_write(ctx, path);
        if (d.name[0])
            unlinkat(d.folder, d.name, 0);
    }
    if (d.file >= 0)
        close(d.file);
    if (d.folder >= 0)
        close(d.folder);
    return ok;
}

/* The path that a link stands for, which is seen from the link's folder; false
 * if it is no link. */
static bool follow(char path[PATH_MAX])
{
    char to[PATH_MAX];
    ssize_t length = readlink(path, to, sizeof to);
    char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;

    if (length <= 0)
        return false;
    if (to[0] == '/')
        folder = 0;
    if (folder + (size_t)length >= PATH_MAX)
        return false;
    memcpy(path + folder, to, (size_t)length);
    path[folder + (size_t)length] = '\0';
    return true;
}

/* Where a path leads: a link stays, what it names is replaced, or made if it is
 * not there.  False if it leads nowhere. */
static bool resolve(const char *path, char real[PATH_MAX])
{
    size_t length = strlen(path);
    char link[PATH_MAX];

    errno = ENAMETOOLONG;
    if (length >= PATH_MAX)
        return false;
    memcpy(link, path, length + 1);
    while (!realpath(link, real)) {
        if (errno == ELOOP)
            return false;
        if (!follow(link)) {
            memcpy(real, link, strlen(link) + 1);
            return true;
        }
    }
    return true;
}

bool jx_file_write(jx_ctx *ctx, const char *path, const void *data, size_t size)
{
    struct stat old;
    char real[PATH_MAX];
    bool exists;

    if (!strcmp(path, "-"))
        return write_directly(ctx, STDOUT_FILENO, "<stdout>", data, size);
    exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return write_directly(ctx, open(path, O_WRONLY | O_CLOEXEC), path, data,
                              size);
    if (!resolve(path, real))
        return cannot_write(ctx, path);
    return write_beside(ctx, real, exists ? &old : NULL, data, size);
}
