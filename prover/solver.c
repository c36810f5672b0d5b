/* solver.c - the client of the helper process; see solver.h. */
#include "prover/solver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSOR_SECONDS = 5 };

struct jx_solver {
    char *path;
    pid_t pid;  /* 0: not running */
    int socket; /* one end of a pair; writes never raise SIGPIPE on it */
    int count;
    char version[32];
    const char *failure; /* why it can't be started, for good */
};

jx_solver *jx_solver_new(const char *path)
{
    jx_solver *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->path = path ? strdup(path) : NULL;
    s->socket = -1;
    return s;
}

static void stop(jx_solver *s)
{
    if (!s->pid)
        return;
    close(s->socket);
    kill(s->pid, SIGKILL);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
    s->socket = -1;
}

void jx_solver_free(jx_solver *s)
{
    if (!s)
        return;
    stop(s);
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

/* `folder`/`name` if it can be executed. */
static char *candidate(const char *folder, size_t length, const char *name)
{
    size_t n = length + strlen(name) + 2;
    char *path = malloc(n);

    if (!path)
        return NULL;
    memcpy(path, folder, length);
    path[length] = '/';
    strcpy(path + length + 1, name);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Beside a file, or where `make install` puts it relative to the file. */
static char *beside(const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) : 0;
    char *path;

    if (!slash)
        return NULL;
    if ((path = candidate(file, length, "jaxvet-solver")) ||
        (path = candidate(file, length, "../libexec/jaxvet-solver")) ||
        (path = candidate(file, length, "../bin/jaxvet-solver")))
        return path;
    /* A test in build/tests finds the one in build. */
    return candidate(file, length, "../jaxvet-solver");
}

static char *find_helper(void)
{
    const char *given = getenv("JAXVET_SOLVER");
    char self[4096], *path = NULL;
    ssize_t n;
    Dl_info info;

    if (given && *given)
        return strdup(given);
    if (dladdr((void *)&jx_solver_new, &info) && info.dli_fname)
        path = beside(info.dli_fname);
    if (path)
        return path;
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    return beside(self);
}

/* The child gets its end as descriptors 0 and 1, and nothing else of ours. */
static bool spawn(jx_solver *s, int theirs)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    char *const argv[] = {s->path, NULL};
    extern char **environ;
    int failed;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, 0);
    posix_spawn_file_actions_adddup2(&actions, theirs, 1);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    failed = posix_spawn(&s->pid, s->path, &actions, &attributes, argv,
                         environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        s->pid = 0;
    return !failed;
}

static bool read_line(jx_solver *s, jx_buffer *to);

static bool greet(jx_solver *s)
{
    jx_buffer line = {0};
    bool ok = read_line(s, &line) &&
              !strncmp(jx_buffer_text(&line), "jaxvet-solver ", 14);

    if (ok)
        strncpy(s->version, line.text + 14, sizeof s->version - 1);
    jx_buffer_free(&line);
    return ok;
}

static bool start(jx_solver *s)
{
    int ends[2];

    if (s->pid)
        return true;
    if (s->failure)
        return false;
    if (!s->path)
        s->path = find_helper();
    if (!s->path) {
        s->failure = "no solver: jaxvet-solver is not beside the library "
                     "(JAXVET_SOLVER can name it)";
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        s->failure = "no solver: the system gives no socket";
        return false;
    }
    s->socket = ends[0];
    if (!spawn(s, ends[1]))
        s->failure = "no solver: jaxvet-solver can't be started";
    close(ends[1]);
    if (!s->failure && !greet(s)) {
        stop(s);
        s->failure = "no solver: jaxvet-solver does not answer";
    }
    if (s->failure && s->socket >= 0) {
        close(s->socket);
        s->socket = -1;
    }
    return !s->failure;
}

/* -------------------------------------------------------------------------
 * Talking
 * ---------------------------------------------------------------------- */

static bool write_all(jx_solver *s, const char *data, size_t size)
{
    while (size) {
        ssize_t n = send(s->socket, data, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_line(jx_solver *s, jx_buffer *to)
{
    char chunk[512];

    for (;;) {
        ssize_t n = read(s->socket, chunk, sizeof chunk);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        jx_buffer_bytes(to, chunk, (size_t)n);
        if (!jx_buffer_ok(to))
            return false;
        if (to->text[to->length - 1] == '\n') {
            to->text[--to->length] = '\0';
            return true;
        }
    }
}

static bool ask(jx_solver *s, const char *script, long rlimit, jx_buffer *line)
{
    jx_buffer request = {0};
    bool ok;

    jx_buffer_printf(&request, "check %ld %d %zu\n%s", rlimit,
                     PROCESSOR_SECONDS, strlen(script), script);
    ok = jx_buffer_ok(&request) &&
         write_all(s, request.text, request.length) && read_line(s, line);
    jx_buffer_free(&request);
    return ok;
}

static jx_solver_reply reply_of(const char *line, jx_buffer *text)
{
    if (!strncmp(line, "sat", 3)) {
        jx_buffer_puts(text, line[3] ? line + 4 : "");
        return JX_SOLVER_SAT;
    }
    if (!strcmp(line, "unsat"))
        return JX_SOLVER_UNSAT;
    jx_buffer_puts(text, strncmp(line, "unknown ", 8) ? line : line + 8);
    return JX_SOLVER_UNKNOWN;
}

jx_solver_reply jx_solver_check(jx_solver *s, const char *script, long rlimit,
                                jx_buffer *text)
{
    jx_buffer line = {0};
    jx_solver_reply reply = JX_SOLVER_UNKNOWN;

    jx_buffer_clear(text);
    if (!start(s)) {
        jx_buffer_puts(text, s->failure);
        return reply;
    }
    s->count++;
    if (ask(s, script, rlimit, &line)) {
        reply = reply_of(jx_buffer_text(&line), text);
    } else {
        stop(s);
        jx_buffer_puts(text, "killed");
    }
    jx_buffer_free(&line);
    return reply;
}
