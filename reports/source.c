/* source.c - see source.h. */
#include "reports/source.h"
#include "frontend/base/file.h"
#include "frontend/base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 8 << 20, BUDGET = 256 << 20 };

/* One file: its lines, as offsets; none if it can't be read. */
typedef struct source_file {
    const char *path;
    JX_VEC(const char *) lines;
} source_file;

struct jx_sources {
    jx_ctx *ctx;
    jx_intern files;
};

jx_sources *jx_sources_new(void)
{
    jx_sources *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->ctx = jx_ctx_new(BUDGET);
    if (!made->ctx) {
        free(made);
        return NULL;
    }
    jx_intern_init(&made->files, made->ctx->arena);
    return made;
}

void jx_sources_free(jx_sources *sources)
{
    if (!sources)
        return;
    jx_ctx_free(sources->ctx);
    free(sources);
}

static bool may_read(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           info.st_size <= MAX_FILE;
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

static void read_lines(jx_sources *in, source_file *file)
{
    const char *bytes;
    char *text = NULL;
    size_t size = 0;

    if (!may_read(file->path))
        return;
    bytes = jx_file_read(in->ctx, file->path, &size);
    if (bytes)
        text = jx_arena_string(in->ctx->arena, bytes, size);
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
