/* share.c - see share.h.  Workers take numbers from memory that all
 * share, and send each result through a pipe of their own, its number and
 * length before it. */
#include "reports/commands/share.h"

#include "frontend/base/assert.h"
#include "frontend/base/plain.h"
#include "frontend/base/vec.h"
#include "reports/commands/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the processes have in common. */
typedef struct board {
    atomic_size_t next; /* into the order of pieces */
    /* of each worker: the piece that it is at, from 1; 0: none */
    atomic_size_t at[1];
} board;

/* Of a message, before its bytes. */
typedef struct header {
    uint64_t piece, size;
} header;

typedef struct worker {
    pid_t pid;
    int from;          /* our end of its pipe; -1: it has ended */
    jx_buffer pending; /* what has come of a message */
} worker;

typedef struct sharer {
    const jx_share *what;
    jx_ctx *ctx;
    size_t *order; /* of pieces, largest first */
    board *board;
    worker *workers;
    int nworkers;
    jx_shared *results;
    size_t done;
    bool shows; /* progress */
} sharer;

/* ---- in a worker */

static bool send_all(int to, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t n = write(to, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool send(int to, size_t piece, const char *bytes, size_t size)
{
    const header head = {piece, size};

    return send_all(to, &head, sizeof head) && send_all(to, bytes, size);
}

static bool make_and_send(const sharer *s, jx_ctx *ctx, size_t piece, int to)
{
    const jx_journal *journal = s->what->journal;
    jx_outcome made = {.bytes = jx_ctx_text(ctx)};
    bool ok =
        s->what->make(s->what->user, ctx, piece, &made) &&
        (jx_buffer_ok(&made.bytes) || jx_starved(ctx)) &&
        (!journal ||
         jx_journal_keep(ctx, journal, s->what->pieces[piece].key, &made)) &&
        send(to, piece, made.bytes.text, made.bytes.length);

    jx_buffer_free(&made.bytes);
    return ok;
}

/* What the journal has, or what is made for it, unless another
 * rank is at it. */
static bool find_or_make(const sharer *s, jx_ctx *ctx, size_t piece, int to)
{
    const jx_journal *journal = s->what->journal;
    const char *key = s->what->pieces[piece].key, *bytes;
    size_t size;
    int lock;
    bool ok;

    if (!journal)
        return make_and_send(s, ctx, piece, to);
    if (jx_journal_find(ctx, journal, key, &bytes, &size))
        return send(to, piece, bytes, size);
    lock = jx_journal_lock(ctx, journal, key, false);
    if (lock < 0)
        return jx_ok(ctx);
    ok = jx_journal_find(ctx, journal, key, &bytes, &size) /* meanwhile */
             ? send(to, piece, bytes, size)
             : make_and_send(s, ctx, piece, to);
    jx_journal_unlock(lock);
    return ok;
}

/* One piece, in a context of its own; where that can't be done it is not sent,
 * and `alone` is who says why. */
static int do_piece(const sharer *s, size_t piece, int to, bool alone)
{
    jx_ctx *ctx = jx_ctx_new(0);
    int code = JX_EXIT_OK;

    if (!ctx)
        return alone ? jx_command_starved() : JX_EXIT_INPUT;
    if (!find_or_make(s, ctx, piece, to))
        code = alone ? jx_command_failed(ctx) : JX_EXIT_INPUT;
    jx_ctx_free(ctx);
    return code;
}

static int work(const sharer *s, int number, int to)
{
    for (;;) {
        size_t next = atomic_fetch_add(&s->board->next, 1);

        if (next >= s->what->count)
            return JX_EXIT_OK;
        atomic_store(&s->board->at[number], s->order[next] + 1);
        do_piece(s, s->order[next], to, false);
        atomic_store(&s->board->at[number], 0);
    }
}

/* ---- in the process that shares */

static bool system_refuses(const sharer *s, const char *what)
{
    return jx_fail(s->ctx, JX_E_SYSTEM, NULL, NULL, "%s: %s", what,
                   jx_strerror(errno));
}

/* Starts a process that does `piece`, or, if that is none of them, what comes;
 * it ends with this one, whatever ends that. */
static bool start(const sharer *s, int number, size_t piece, worker *w)
{
    pid_t self = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return system_refuses(s, "can't make a pipe");
    *w = (worker){
        .pid = fork(), .from = ends[0], .pending = jx_ctx_text(s->ctx)};
    if (!w->pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        if (getppid() != self)
            _exit(JX_EXIT_INTERNAL);
        if (piece < s->what->count)
            _exit(do_piece(s, piece, ends[1], true));
        _exit(work(s, number, ends[1]));
    }
    close(ends[1]);
    if (w->pid > 0)
        return true;
    close(ends[0]);
    return system_refuses(s, "can't start a process");
}

static void say_progress(const sharer *s)
{
    if (s->shows)
        fprintf(stderr, "\r%s %zu of %zu", s->what->doing, s->done,
                s->what->count);
}

/* Takes what is whole of a worker's messages. */
static bool take_messages(sharer *s, worker *w)
{
    size_t at = 0;
    header head;

    while (w->pending.length - at >= sizeof head) {
        memcpy(&head, w->pending.text + at, sizeof head);
        JX_ASSERT(head.piece < s->what->count);
        if (w->pending.length - at - sizeof head < head.size)
            break;
        at += sizeof head;
        s->results[head.piece] = (jx_shared){
            .bytes = jx_arena_copy(s->ctx->arena, w->pending.text + at,
                                   (size_t)head.size),
            .size = (size_t)head.size};
        at += (size_t)head.size;
        s->done++;
        say_progress(s);
    }
    if (at) {
        w->pending.length -= at;
        memmove(w->pending.text, w->pending.text + at, w->pending.length);
    }
    return jx_ok(s->ctx);
}

enum { AT_ONCE = 1 << 16 };

/* What can be read from a worker; at the end of its pipe it has ended. */
static bool hear(sharer *s, worker *w)
{
    char bytes[AT_ONCE];
    ssize_t n = read(w->from, bytes, sizeof bytes);

    if (n < 0)
        return errno == EINTR || system_refuses(s, "can't read from a process");
    if (n == 0) {
        close(w->from);
        w->from = -1;
        return true;
    }
    jx_buffer_bytes(&w->pending, bytes, (size_t)n);
    return jx_buffer_ok(&w->pending) ? take_messages(s, w) : jx_starved(s->ctx);
}

/* Until all workers have ended. */
static bool hear_all(sharer *s)
{
    struct pollfd *from =
        JX_NEW_ARRAY(s->ctx->arena, s->nworkers, struct pollfd);
    bool any = from != NULL;

    say_progress(s);
    while (any) {
        any = false;
        for (int i = 0; i < s->nworkers; i++) {
            from[i] =
                (struct pollfd){.fd = s->workers[i].from, .events = POLLIN};
            any |= s->workers[i].from >= 0;
        }
        if (any && poll(from, (nfds_t)s->nworkers, -1) < 0 && errno != EINTR)
            return system_refuses(s, "can't wait for processes");
        for (int i = 0; any && i < s->nworkers; i++)
            if (from[i].fd >= 0 && from[i].revents && !hear(s, &s->workers[i]))
                return false;
    }
    if (s->shows)
        fprintf(stderr, "\r%40s\r", "");
    return from != NULL;
}

/* How a process ended that should have ended well, or NULL;
 * *gave_up: it knew why. */
static const char *ending(const sharer *s, worker *w, bool *gave_up)
{
    int status = 0;

    while (waitpid(w->pid, &status, 0) < 0)
        if (errno != EINTR)
            break;
    jx_buffer_free(&w->pending);
    if (w->from >= 0)
        close(w->from);
    w->pid = 0;
    *gave_up = WIFEXITED(status) && WEXITSTATUS(status) == JX_EXIT_INPUT;
    if (WIFSIGNALED(status))
        return jx_arena_printf(s->ctx->arena, "signal %d (%s)",
                               WTERMSIG(status), sigdescr_np(WTERMSIG(status)));
    return WEXITSTATUS(status) ? jx_arena_printf(s->ctx->arena, "exit code %d",
                                                 WEXITSTATUS(status))
                               : NULL;
}

static void name_dead(const sharer *s, int number, const char *how)
{
    size_t at = atomic_load(&s->board->at[number]);

    if (how && at)
        jx_command_say("jaxvet: worker %d ended with %s at %s, which is tried "
                       "once more, alone",
                       number + 1, how, s->what->pieces[at - 1].name);
    else if (how)
        jx_command_say("jaxvet: worker %d ended with %s", number + 1, how);
}

static bool run_workers(sharer *s)
{
    bool ok = true, ignored;

    while (s->nworkers < s->what->jobs && ok) {
        ok = start(s, s->nworkers, SIZE_MAX, &s->workers[s->nworkers]);
        s->nworkers += ok;
    }
    if (!ok && s->nworkers) { /* fewer, then */
        jx_error_clear(s->ctx);
        ok = true;
    }
    ok = ok && hear_all(s);
    for (int i = 0; i < s->nworkers; i++) {
        if (!ok)
            kill(s->workers[i].pid, SIGKILL);
        name_dead(s, i, ending(s, &s->workers[i], &ignored));
    }
    return ok;
}

/* ---- what is left when they have ended */

/* A process for this piece alone. */
static bool try_alone(sharer *s, size_t piece)
{
    worker alone;
    const char *how;
    bool ok = start(s, 0, piece, &alone);

    if (!ok)
        return false;
    while (ok && alone.from >= 0)
        ok = hear(s, &alone);
    how = ending(s, &alone, &s->results[piece].gave_up);
    if (ok && !s->results[piece].bytes && s->results[piece].gave_up)
        s->results[piece].died =
            "gave up: its process, which was started for it alone, said why";
    else if (ok && !s->results[piece].bytes)
        s->results[piece].died =
            jx_arena_printf(s->ctx->arena,
                            "the process for it ended twice, at last with %s; "
                            "a defect of jaxvet "
                            "(the other programs are not concerned)",
                            how ? how : "no result");
    return ok;
}

/* What no worker brought: one died over it, or another rank has it. */
static bool finish(sharer *s, size_t piece)
{
    const jx_journal *journal = s->what->journal;
    const char *key = s->what->pieces[piece].key;
    bool first = !journal || journal->rank.number == 0;
    int lock;

    if (!journal)
        return try_alone(s, piece);
    lock = jx_journal_lock(s->ctx, journal, key, first);
    if (lock < 0)
        return jx_ok(s->ctx);
    /* nobody is at it any more */
    jx_journal_unlock(lock);
    return jx_journal_find(s->ctx, journal, key, &s->results[piece].bytes,
                           &s->results[piece].size) ||
           (jx_ok(s->ctx) && try_alone(s, piece));
}

typedef struct sized {
    int64_t size;
    size_t piece;
} sized;

static int largest_first(const void *a_, const void *b_)
{
    const sized *a = a_, *b = b_;

    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

static bool put_in_order(sharer *s)
{
    size_t n = s->what->count;
    sized *all = JX_NEW_ARRAY(s->ctx->arena, n, sized);

    s->order = JX_NEW_ARRAY(s->ctx->arena, n, size_t);
    if (!all || !s->order)
        return false;
    for (size_t i = 0; i < n; i++)
        all[i] = (sized){s->what->pieces[i].size, i};
    qsort(all, n, sizeof *all, largest_first);
    for (size_t i = 0; i < n; i++)
        s->order[i] = all[i].piece;
    return true;
}

bool jx_share_out(jx_ctx *ctx, const jx_share *what, jx_shared *results)
{
    size_t size = sizeof(board) + sizeof(atomic_size_t) * (size_t)what->jobs;
    sharer s = {.what = what,
                .ctx = ctx,
                .results = results,
                .shows = jx_command_terminal(STDERR_FILENO)};
    bool ok;

    JX_ASSERT(what->jobs >= 1);
    s.workers = JX_NEW_ARRAY(ctx->arena, what->jobs, worker);
    if (!s.workers || !put_in_order(&s))
        return false;
    s.board = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.board == MAP_FAILED)
        return jx_starved(ctx);
    ok = run_workers(&s);
    for (size_t i = 0; i < what->count && ok; i++)
        if (!results[i].bytes)
            ok = finish(&s, i);
    munmap(s.board, size);
    return ok && (!what->journal || jx_journal_end(ctx, what->journal)) &&
           jx_ok(ctx);
}
