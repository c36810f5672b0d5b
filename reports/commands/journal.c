/* journal.c - see journal.h. */
#include "reports/commands/journal.h"

#include "frontend/base/file.h"
#include "frontend/base/plain.h"
#include "frontend/base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Ranks of one run agree on its name; anybody else's is nobody else's. */
static const char *name_run(jx_ctx *ctx, const jx_rank *rank)
{
    char print[65];

    if (!rank->run)
        return jx_arena_printf(ctx->arena, "%ld-%.9f", (long)getpid(),
                               jx_seconds_now());
    /* no name of a file as it is */
    jx_sha256(rank->run, strlen(rank->run), print);
    return jx_arena_string(ctx->arena, print, 16);
}

bool jx_journal_open(jx_ctx *ctx, const char *folder, const jx_rank *rank,
                     jx_journal *to)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return jx_fail(ctx, JX_E_SYSTEM, folder, NULL,
                       "the journal can't be made: %s", jx_strerror(errno));
    *to = (jx_journal){folder, name_run(ctx, rank), *rank};
    return to->run != NULL;
}

static const char *path_of(jx_ctx *ctx, const jx_journal *j, const char *key,
                           const char *ending)
{
    return jx_arena_printf(ctx->arena, "%s/%s.%s", j->folder, key, ending);
}

void jx_journal_state(const char *path, jx_buffer *to)
{
    struct stat info;

    if (stat(path, &info) != 0)
        jx_buffer_puts(to, "gone");
    else
        jx_buffer_printf(to, "%lld/%lld.%09ld", (long long)info.st_size,
                         (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

/* A result's file is the SHA-256 of all that follows, the run that it is good
 * for ("" for any), the file beside it with its state, each ended by a NUL,
 * and the bytes. */
bool jx_journal_keep(jx_ctx *ctx, const jx_journal *j, const char *key,
                     const jx_outcome *made)
{
    jx_buffer body = jx_ctx_text(ctx), all = jx_ctx_text(ctx);
    const char *path = path_of(ctx, j, key, "result");
    char print[65];
    bool ok;

    jx_buffer_puts(&body, made->fleeting ? j->run : "");
    jx_buffer_putc(&body, '\0');
    jx_buffer_puts(&body, made->beside ? made->beside : "");
    jx_buffer_putc(&body, '\0');
    if (made->beside)
        jx_journal_state(made->beside, &body);
    jx_buffer_putc(&body, '\0');
    jx_buffer_bytes(&body, made->bytes.text, made->bytes.length);
    if (jx_buffer_ok(&body)) {
        jx_sha256(body.text, body.length, print);
        jx_buffer_bytes(&all, print, 64);
    }
    jx_buffer_bytes(&all, body.text, body.length);
    ok = path && jx_buffer_ok(&body) && jx_buffer_ok(&all)
             ? jx_file_write(ctx, path, all.text, all.length)
             : jx_starved(ctx);
    jx_buffer_free(&body);
    jx_buffer_free(&all);
    return ok;
}

/* The next of the texts before the bytes; NULL: there is none. */
static const char *take_text(const char **at, const char *end)
{
    const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

    if (nul)
        *at = nul + 1;
    return nul ? text : NULL;
}

static bool is_as_it_was(jx_ctx *ctx, const char *beside, const char *state)
{
    jx_buffer now = jx_ctx_text(ctx);
    bool same;

    jx_journal_state(beside, &now);
    same = strcmp(jx_buffer_text(&now), state) == 0;
    jx_buffer_free(&now);
    return same;
}

bool jx_journal_find(jx_ctx *ctx, const jx_journal *j, const char *key,
                     const char **bytes, size_t *size)
{
    const char *path = path_of(ctx, j, key, "result"), *all, *at, *end, *run,
               *beside, *state;
    char print[65];
    size_t length;

    if (!path || access(path, F_OK) != 0)
        return false;
    all = jx_file_read(ctx, path, &length);
    if (!all || length < 64)
        return false;
    at = all + 64;
    end = all + length;
    jx_sha256(at, (size_t)(end - at), print);
    if (memcmp(print, all, 64) != 0 || !(run = take_text(&at, end)) ||
        !(beside = take_text(&at, end)) || !(state = take_text(&at, end)) ||
        (*run && strcmp(run, j->run) != 0) ||
        (*beside && !is_as_it_was(ctx, beside, state)))
        return false;
    *bytes = at;
    *size = (size_t)(end - at);
    return true;
}

/* One file for all: each key is a byte of it, of which only the place
 * counts. */
static struct flock byte_of(const char *key)
{
    char digits[16] = "";

    strncpy(digits, key, sizeof digits - 1);
    return (struct flock){.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)strtoull(digits, NULL, 16),
                          .l_len = 1};
}

int jx_journal_lock(jx_ctx *ctx, const jx_journal *j, const char *key,
                    bool wait)
{
    const char *path = path_of(ctx, j, "all", "lock");
    int lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    struct flock byte = byte_of(key);

    if (path && lock < 0)
        jx_fail(ctx, JX_E_SYSTEM, path, NULL, "can't be made: %s",
                jx_strerror(errno));
    while (lock >= 0 &&
           fcntl(lock, wait ? F_OFD_SETLKW : F_OFD_SETLK, &byte) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EACCES)
            jx_fail(ctx, JX_E_SYSTEM, path, NULL, "can't be locked: %s",
                    jx_strerror(errno));
        close(lock);
        return -1;
    }
    return lock;
}

void jx_journal_unlock(int lock)
{
    close(lock);
}

/* ---- ranks */

/* Who dies before it says that it has ended takes mpirun with it, and so the
 * first rank, which waits no longer than this for one that says nothing. */
enum { PATIENCE = 60, MOMENT_MS = 10 };

static const char *mark_of(jx_ctx *ctx, const jx_journal *j, int rank)
{
    return jx_arena_printf(ctx->arena, "%s/%s-%d.ended", j->folder, j->run,
                           rank);
}

static void await_mark(const char *mark, double until)
{
    const struct timespec moment = {.tv_nsec = MOMENT_MS * 1000000L};

    while (access(mark, F_OK) != 0 && jx_seconds_now() < until)
        nanosleep(&moment, NULL);
    unlink(mark);
}

bool jx_journal_end(jx_ctx *ctx, const jx_journal *j)
{
    double until = jx_seconds_now() + PATIENCE;
    const char *mark = mark_of(ctx, j, j->rank.number);

    if (j->rank.number)
        return mark && jx_file_write(ctx, mark, "", 0);
    for (int i = 1; i < j->rank.count; i++)
        if ((mark = mark_of(ctx, j, i)))
            await_mark(mark, until);
    return jx_ok(ctx);
}
