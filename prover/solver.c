/* solver.c - the client of the helper process; see solver.h. */
#include "prover/solver.h"
#include "frontend/base/plain.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSOR_MILLISECONDS = 800, /* a few times what the units come to */
    SILENT_SECONDS = 5,           /* neither answers nor uses the processor */
    MAX_STRIKES = 3,              /* failures in a row */
    MAX_LINE = 1 << 20,
    MAX_SCRIPT = 4 << 20,
    LEAST_BYTES = 32 << 20, /* with less it can't but fail */
    MOST_BYTES = 1 << 30,
    PATIENCE = 20, /* milliseconds between looks at a budget */
};

struct jx_solver {
    char *path;
    pid_t pid;   /* 0: not running */
    pid_t owner; /* who started it: a child of ours must not talk to it */
    int socket;  /* one end of a pair; writes never raise SIGPIPE on it */
    int count;
    int strikes;
    char version[32];
    char failure[PATH_MAX + 200]; /* why it is not started any more */
    const char *how;              /* the last exchange failed, or NULL */
};

static const char it_ended[] = "it ended without an answer";

jx_solver *jx_solver_new(const char *path)
{
    jx_solver *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->path = path ? strdup(path) : NULL;
    s->socket = -1;
    if (path && !s->path) {
        free(s);
        return NULL;
    }
    return s;
}

/* One that closed its end is about to end by itself: its status says more than
 * the signal that we would send. */
static bool has_ended(pid_t pid, int *status, const char *how)
{
    struct timespec moment = {.tv_nsec = 5000000};

    for (int i = 0; how == it_ended && i < 40; i++) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

/* Ends the process; `*status` as of waitpid(), 0 if nobody knows. */
static void stop(jx_solver *s, int *status)
{
    int ignored, *to = status ? status : &ignored;

    *to = 0;
    if (!s->pid)
        return;
    close(s->socket);
    if (s->owner == getpid() && !has_ended(s->pid, to, s->how)) {
        kill(s->pid, SIGKILL);
        while (waitpid(s->pid, to, 0) < 0 && errno == EINTR)
            ;
    }
    s->pid = 0;
    s->socket = -1;
}

void jx_solver_free(jx_solver *s)
{
    if (!s)
        return;
    stop(s, NULL);
    free(s->path);
    free(s);
}

const char *jx_solver_version(const jx_solver *s)
{
    return s->version[0] ? s->version : NULL;
}

int jx_solver_count(const jx_solver *s)
{
    return s->count;
}

/* -------------------------------------------------------------------------
 * Finding and starting
 * ---------------------------------------------------------------------- */

/* Whether `folder`/`name` can be executed. */
static bool is_candidate(const char *folder, size_t length, const char *name,
                         char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name) <
               PATH_MAX &&
           access(path, X_OK) == 0;
}

/* Beside a file, or where `make install` puts it relative to the file. */
static bool beside(const char *file, char path[PATH_MAX])
{
    static const char *const names[] = {
        "jaxvet-solver", "../libexec/jaxvet-solver", "../bin/jaxvet-solver",
        "../jaxvet-solver", /* a test in build/tests finds the one in build */
    };
    const char *slash = strrchr(file, '/');

    for (size_t i = 0; slash && i < sizeof names / sizeof *names; i++)
        if (is_candidate(file, (size_t)(slash - file), names[i], path))
            return true;
    return false;
}

/* The path of the mapped file that holds an address, as the kernel knows it. */
static bool find_mapped(const void *address, char path[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to, at = (unsigned long)(uintptr_t)address;
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (maps && !found && getline(&line, &room, maps) > 0) {
        char *slash = strchr(line, '/'), *rest;
        from = strtoul(line, &rest, 16);
        to = *rest == '-' ? strtoul(rest + 1, NULL, 16) : 0;
        if (at < from || at >= to || !slash)
            continue;
        slash[strcspn(slash, "\n")] = '\0';
        found = snprintf(path, PATH_MAX, "%s", slash) < PATH_MAX;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* Where we are: the library or the executable that holds this function.  What
 * the loader was told may be relative to a folder that the process has left
 * since; the kernel knows better. */
static void find_self(char self[PATH_MAX], bool executable)
{
    Dl_info info;
    ssize_t n;

    self[0] = '\0';
    if (executable) {
        n = readlink("/proc/self/exe", self, PATH_MAX - 1);
        self[n > 0 ? n : 0] = '\0';
    } else if (dladdr((void *)&jx_solver_new, &info) && info.dli_fname &&
               info.dli_fname[0] == '/') {
        snprintf(self, PATH_MAX, "%s", info.dli_fname);
    } else if (!find_mapped((void *)&jx_solver_new, self)) {
        self[0] = '\0';
    }
}

/* What the environment names; relative to the folder that a host happens to be
 * in it could be anybody's. */
static const char *given_helper(jx_solver *s, const char *given)
{
    if (given[0] == '/')
        return given;
    snprintf(s->failure, sizeof s->failure,
             "no solver: JAXVET_SOLVER is \"%.*s\"; expected an absolute path",
             PATH_MAX, given);
    return NULL;
}

/* NULL, with the failure written, when there is none. */
static const char *look_for_helper(jx_solver *s, char path[PATH_MAX])
{
    const char *given = getenv("JAXVET_SOLVER");
    char self[PATH_MAX], *slash;

    if (given && *given)
        return given_helper(s, given);
    for (int executable = 0; executable <= 1; executable++) {
        find_self(self, executable);
        if (self[0] == '/' && beside(self, path))
            return path;
    }
    if ((slash = strrchr(self, '/')))
        *slash = '\0';
    snprintf(s->failure, sizeof s->failure,
             "no solver: no jaxvet-solver in %s, nor in ../libexec or ../bin "
             "beside it; build it with `make` or name it in JAXVET_SOLVER",
             self);
    return NULL;
}

/* The same to keep; the next question looks again if there was no memory. */
static char *find_helper(jx_solver *s, jx_budget *budget)
{
    char path[PATH_MAX];
    const char *found = look_for_helper(s, path);
    char *kept = found ? strdup(found) : NULL;

    if (found && !kept)
        jx_budget_starved(budget);
    return kept;
}

/* The child gets its end as descriptors 0 and 1, and nothing else of ours.  It
 * lives in /, where what is relative in LD_LIBRARY_PATH finds no library that
 * somebody put into the folder we are in. */
static int spawn(jx_solver *s, int theirs)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    char *const argv[] = {s->path, NULL};
    extern char **environ;
    int error;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, 0);
    posix_spawn_file_actions_adddup2(&actions, theirs, 1);
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 29)
    posix_spawn_file_actions_addchdir_np(&actions, "/");
#endif
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(&s->pid, s->path, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    s->owner = getpid();
    if (error)
        s->pid = 0;
    return error;
}

/* -------------------------------------------------------------------------
 * Talking
 * ---------------------------------------------------------------------- */

/* How long we wait: for as long as the other side computes, up to a limit. */
typedef struct patience {
    clockid_t clock;
    double used;  /* processor seconds of the process, when we last looked */
    double limit; /* of them */
    double heard; /* when it last used any, by the clock */
    jx_budget *budget;
} patience;

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t)
               ? -1
               : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static patience new_patience(const jx_solver *s, jx_budget *budget)
{
    patience p = {.budget = budget, .heard = jx_seconds_now()};

    if (clock_getcpuclockid(s->pid, &p.clock))
        p.clock = CLOCK_MONOTONIC; /* gone, or no such clock here */
    p.used = seconds_of(p.clock);
    p.limit = p.used + 1 + PROCESSOR_MILLISECONDS / 1000.;
    return p;
}

static bool fail(jx_solver *s, const char *how)
{
    if (!s->how)
        s->how = how;
    return false;
}

/* Why nobody waits any longer, or NULL. */
static const char *out_of_patience(patience *p)
{
    double used = seconds_of(p->clock), now = jx_seconds_now();

    if (!jx_budget_lasts(p->budget))
        return "given up";
    if (used - p->used >= 0.001)
        p->heard = now;
    p->used = used;
    if (used < 0 || now - p->heard >= SILENT_SECONDS)
        return "it does not answer";
    return used > p->limit ? "killed (out of processor time)" : NULL;
}

/* Waits until the socket is ready for `events`. */
static bool await(jx_solver *s, short events, patience *p)
{
    for (;;) {
        struct pollfd at = {.fd = s->socket, .events = events};
        int n = poll(&at, 1, p->budget ? PATIENCE : 1000);
        const char *why;

        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fail(s, "the system does not let us wait for it");
        why = out_of_patience(p);
        if (why)
            return fail(s, why);
    }
}

static bool write_all(jx_solver *s, const char *data, size_t size, patience *p)
{
    while (size) {
        ssize_t n = send(s->socket, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!await(s, POLLOUT, p))
                return false;
            continue;
        }
        if (n <= 0)
            return fail(s, it_ended);
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* One line and not a byte more: nobody asked for it. */
static bool read_line(jx_solver *s, jx_buffer *to, patience *p)
{
    char chunk[512];

    for (;;) {
        const char *end;
        ssize_t n;

        if (!await(s, POLLIN, p))
            return false;
        n = read(s->socket, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, it_ended);
        end = memchr(chunk, '\n', (size_t)n);
        jx_buffer_bytes(to, chunk, end ? (size_t)(end - chunk) : (size_t)n);
        if (!jx_buffer_ok(to))
            return fail(s, "out of memory");
        if (end)
            return end == chunk + n - 1 || fail(s, "it says what is no answer");
        if (to->length > MAX_LINE)
            return fail(s, "it says what is no answer");
    }
}

static bool is_name(const char *text, size_t length)
{
    return length && strspn(text, "0123456789.") == length;
}

static bool greet(jx_solver *s, jx_budget *budget)
{
    static const char hello[] = "jaxvet-solver ";
    patience p = new_patience(s, budget);
    jx_buffer line = {.budget = budget};
    bool ok = read_line(s, &line, &p);
    const char *version = jx_buffer_text(&line) + sizeof hello - 1;

    if (ok && (line.length < sizeof hello ||
               strncmp(line.text, hello, sizeof hello - 1) ||
               !is_name(version, strlen(version)) ||
               strlen(version) >= sizeof s->version))
        ok = fail(s, "it is no jaxvet-solver");
    if (ok)
        strcpy(s->version, version);
    jx_buffer_free(&line);
    return ok;
}

static void give_up(jx_solver *s, const char *detail)
{
    snprintf(s->failure, sizeof s->failure,
             "no solver: %s: %s; is it the jaxvet-solver of this jaxvet? "
             "(JAXVET_SOLVER can name another)",
             s->path ? s->path : "jaxvet-solver", detail);
}

static bool start(jx_solver *s, jx_budget *budget)
{
    int ends[2], error;

    if (s->pid && s->owner != getpid())
        stop(s, NULL); /* our parent's */
    if (s->pid)
        return true;
    if (s->failure[0])
        return false;
    if (!s->path && !(s->path = find_helper(s, budget)))
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return fail(s, "the system gives no socket");
    s->socket = ends[0];
    error = spawn(s, ends[1]);
    close(ends[1]);
    if (!error)
        return greet(s, budget);
    close(s->socket);
    s->socket = -1;
    give_up(s, jx_strerror(error));
    return false;
}

/* What ended it, once it has. */
static void explain(const jx_solver *s, int status, jx_buffer *to)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        jx_buffer_puts(to, "killed (out of processor time)");
    else if (s->how == it_ended && WIFSIGNALED(status))
        jx_buffer_printf(to, "killed (by signal %d)", WTERMSIG(status));
    else if (s->how == it_ended && WIFEXITED(status))
        jx_buffer_printf(to, "%s (exit code %d)", s->how, WEXITSTATUS(status));
    else
        jx_buffer_puts(to, s->how ? s->how : "it does not answer");
}

/* The process is of no use any more: says why, and counts. */
static jx_solver_reply drop(jx_solver *s, jx_buffer *text)
{
    bool busy;
    int status;

    stop(s, &status);
    jx_buffer_clear(text);
    explain(s, status, text);
    /* A hard question is no fault of the process. */
    busy = strstr(jx_buffer_text(text), "processor time") ||
           strstr(jx_buffer_text(text), "given up");
    if (!busy && ++s->strikes >= MAX_STRIKES)
        give_up(s, jx_buffer_text(text));
    s->how = NULL;
    return JX_SOLVER_FAILED;
}

static size_t bytes_left(const jx_budget *budget)
{
    size_t left = jx_budget_left(budget);

    return left < LEAST_BYTES  ? LEAST_BYTES
           : left > MOST_BYTES ? MOST_BYTES
                               : left;
}

static bool ask(jx_solver *s, const char *script, long rlimit,
                jx_budget *budget, jx_buffer *line)
{
    patience p = new_patience(s, budget);
    jx_buffer request = {.budget = budget};
    bool ok;

    jx_buffer_printf(&request, "check %ld %d %zu %zu\n%s", rlimit,
                     PROCESSOR_MILLISECONDS, bytes_left(budget), strlen(script),
                     script);
    ok = (jx_buffer_ok(&request) || fail(s, "out of memory")) &&
         write_all(s, request.text, request.length, &p) &&
         read_line(s, line, &p);
    jx_buffer_free(&request);
    return ok;
}

static bool reply_of(jx_solver *s, const char *line, jx_buffer *text,
                     jx_solver_reply *reply)
{
    static const struct {
        const char *word;
        jx_solver_reply reply;
    } words[] = {{"sat", JX_SOLVER_SAT},
                 {"unsat", JX_SOLVER_UNSAT},
                 {"unknown", JX_SOLVER_UNKNOWN}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);

        if (strncmp(line, words[i].word, n) || (line[n] && line[n] != ' '))
            continue;
        jx_buffer_puts(text, line[n] ? line + n + 1 : "");
        *reply = words[i].reply;
        return true;
    }
    return fail(s, "it says what is no answer");
}

jx_solver_reply jx_solver_check(jx_solver *s, const char *script, long rlimit,
                                jx_budget *budget, jx_buffer *text)
{
    jx_buffer line = {.budget = budget};
    jx_solver_reply reply = JX_SOLVER_UNKNOWN;

    jx_buffer_clear(text);
    if (strlen(script) > MAX_SCRIPT) {
        jx_buffer_puts(text, "the question is too long");
        return reply;
    }
    s->count++;
    if (start(s, budget) && ask(s, script, rlimit, budget, &line) &&
        reply_of(s, jx_buffer_text(&line), text, &reply)) {
        s->strikes = 0;
    } else if (s->failure[0] && !s->pid) {
        jx_buffer_puts(text, s->failure);
        reply = JX_SOLVER_FAILED;
    } else {
        reply = drop(s, text);
    }
    jx_buffer_free(&line);
    return reply;
}
