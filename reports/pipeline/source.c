/* source.c - see source.h. */
#include "reports/pipeline/source.h"
#include "frontend/base/vec.h"
#include "reports/pipeline/beneath.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 4 << 20, BUDGET = 256 << 20, MAX_ROOTS = 1 + 64 };

/* One file: its lines, as offsets; none if it can't be read. */
typedef struct source_file {
    const char *path;
    JX_VEC(const char *) lines;
} source_file;

/* A folder below which files are read.  Programs name files by what the folder
 * was called when they were traced: as it really is, or by a link to it. */
typedef struct root {
    int folder;
    const char *names[2]; /* absolute, without a slash at the end, or NULL */
} root;

struct jx_sources {
    jx_ctx *ctx;
    jx_intern files;
    root roots[MAX_ROOTS];
    int nroots;
};

/* Absolute, with its `.`, `..` and double slashes taken out as text. */
static const char *plain_path(jx_ctx *ctx, const char *folder, const char *path)
{
    char *made = *path == '/'
                     ? jx_arena_printf(ctx->arena, "%s/", path)
                     : jx_arena_printf(ctx->arena, "%s/%s/", folder, path);
    char *to = made;

    if (!made || *made != '/')
        return NULL;
    for (const char *at = made; *at;) {
        size_t n = strcspn(++at, "/");
        if (n == 2 && !strncmp(at, "..", 2)) {
            while (to > made && *--to != '/')
                ;
        } else if (n && !(n == 1 && *at == '.')) {
            *to++ = '/';
            memmove(to, at, n);
            to += n;
        }
        at += n;
        if (!at[0] || !at[1])
            break;
    }
    *to = '\0';
    return made;
}

/* What the user's shell calls the folder we are in, if that is what it is. */
static const char *said_folder(const char *real)
{
    const char *said = getenv("PWD");
    struct stat a, b;

    return said && *said == '/' && stat(said, &a) == 0 && stat(".", &b) == 0 &&
                   a.st_dev == b.st_dev && a.st_ino == b.st_ino
               ? said
               : real;
}

static bool add_root(jx_sources *to, const char *folder, const char *here)
{
    char real[PATH_MAX];
    root *made = &to->roots[to->nroots];

    if (to->nroots == MAX_ROOTS) {
        errno = E2BIG;
        return false;
    }
    made->folder = jx_open_folder(folder);
    if (made->folder < 0)
        return false;
    made->names[0] = plain_path(to->ctx, said_folder(here), folder);
    if (realpath(folder, real))
        made->names[1] = jx_arena_string(to->ctx->arena, real, strlen(real));
    to->nroots++;
    return true;
}

bool jx_sources_add(jx_sources *sources, const char *folder)
{
    char here[PATH_MAX];

    return add_root(sources, folder, getcwd(here, sizeof here) ? here : "");
}

jx_sources *jx_sources_new(void)
{
    jx_sources *made = calloc(1, sizeof *made);
    char here[PATH_MAX];

    if (!made)
        return NULL;
    made->ctx = jx_ctx_new(BUDGET);
    if (!made->ctx) {
        free(made);
        return NULL;
    }
    jx_intern_init(&made->files, made->ctx->arena);
    /* Nobody keeps all of a machine as sources. */
    if (getcwd(here, sizeof here) && strcmp(here, "/") != 0)
        add_root(made, ".", here);
    return made;
}

void jx_sources_free(jx_sources *sources)
{
    if (!sources)
        return;
    for (int i = 0; i < sources->nroots; i++)
        close(sources->roots[i].folder);
    jx_ctx_free(sources->ctx);
    free(sources);
}

/* What is left of an absolute path below the root, or NULL. */
static const char *below(const root *in, const char *path)
{
    for (int i = 0; i < 2; i++) {
        const char *name = in->names[i];
        size_t n = name ? strlen(name) : 0;

        if (name && n && !strncmp(path, name, n) &&
            (path[n] == '/' || name[n - 1] == '/'))
            return path + n + strspn(path + n, "/");
        if (name && !strcmp(name, "")) /* the user named `/` */
            return path + strspn(path, "/");
    }
    return NULL;
}

static int open_source(const jx_sources *in, const char *path)
{
    int file = -1;

    for (int i = 0; file < 0 && i < in->nroots; i++) {
        const char *rest = *path == '/' ? below(&in->roots[i], path) : path;
        if (rest && *rest)
            file = jx_open_beneath(in->roots[i].folder, rest);
    }
    return file;
}

/* Cuts the text into lines, each ended by a NUL. */
static void cut_lines(jx_ctx *ctx, source_file *file, char *text, size_t size)
{
    char *end = text + size;

    while (text < end) {
        char *stop = memchr(text, '\n', (size_t)(end - text));
        char *next = stop ? stop + 1 : end;
        if (stop)
            *stop = '\0';
        if (stop && stop > text && stop[-1] == '\r')
            stop[-1] = '\0';
        JX_PUSH(ctx->arena, &file->lines, text);
        text = next;
    }
}

/* The bytes of an open file, no more than it had when it was opened: one that
 * grows does not keep us. */
static char *read_open(jx_ctx *ctx, int file, size_t *size)
{
    struct stat info;
    char *text;
    size_t used = 0;
    ssize_t n = 1;

    if (fstat(file, &info) != 0 || info.st_size <= 0 || info.st_size > MAX_FILE)
        return NULL;
    text = jx_arena_alloc(ctx->arena, (size_t)info.st_size + 1);
    while (text && n > 0 && used < (size_t)info.st_size) {
        n = read(file, text + used, (size_t)info.st_size - used);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            used += (size_t)n;
    }
    if (!text || n < 0)
        return NULL;
    text[used] = '\0';
    *size = used;
    return text;
}

static void read_lines(jx_sources *in, source_file *file)
{
    int from = open_source(in, file->path);
    char *text;
    size_t size = 0;

    if (from < 0)
        return;
    text = read_open(in->ctx, from, &size);
    close(from);
    if (text)
        cut_lines(in->ctx, file, text, size);
    jx_error_clear(in->ctx);
}

static bool same_path(const void *kept, const void *key)
{
    return strcmp(((const source_file *)kept)->path, key) == 0;
}

const char *jx_sources_line(jx_sources *in, const char *path, int line)
{
    uint64_t hash = jx_hash_bytes(path, strlen(path));
    const source_file *kept = jx_intern_find(&in->files, hash, path, same_path);
    source_file *made;

    if (!kept) {
        made = JX_NEW(in->ctx->arena, source_file);
        if (!made)
            return NULL;
        made->path = jx_arena_string(in->ctx->arena, path, strlen(path));
        if (!made->path || !jx_intern_add(&in->files, hash, made))
            return NULL;
        read_lines(in, made);
        kept = made;
    }
    return line >= 1 && (size_t)line <= kept->lines.count
               ? kept->lines.at[line - 1]
               : NULL;
}
