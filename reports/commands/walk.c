/* walk.c - see walk.h. */
#include "reports/commands/walk.h"
#include "frontend/base/plain.h"
#include "reports/pipeline/input.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 64 };

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef JX_VEC(const char *) name_list;

typedef struct walker {
    jx_ctx *ctx;
    int argument;
    jx_targets *to;
} walker;

static void add(const walker *w, const char *path, const char *why)
{
    JX_PUSH(w->ctx->arena, w->to,
            (jx_target){.path = path,
                        .named = why != NULL,
                        .why = why,
                        .argument = w->argument});
}

static void add_broken(const walker *w, const char *path, int error)
{
    add(w, path,
        jx_arena_printf(w->ctx->arena, "can't be opened: %s",
                        jx_strerror(error)));
}

/* The names in a folder, sorted, but hidden ones. */
static bool read_names(const walker *w, const char *path, name_list *names)
{
    DIR *folder = opendir(path);
    jx_arena *arena = w->ctx->arena;
    struct dirent *entry;

    if (!folder) {
        add_broken(w, path, errno);
        return false;
    }
    /* Safe with threads: each has a stream of its own. */
    /* cppcheck-suppress readdirCalled */
    while (errno = 0, (entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            JX_PUSH(
                arena, names,
                jx_arena_string(arena, entry->d_name, strlen(entry->d_name)));
    }
    if (errno) /* what it named so far is read all the same */
        add_broken(w, path, errno);
    closedir(folder);
    if (!jx_ok(w->ctx))
        return false;
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, compare_paths);
    return true;
}

static void walk(const walker *w, const char *path, int depth);

/* What is no file is nothing to be read, unless its name says otherwise. */
static void add_entry(const walker *w, const char *path, int depth)
{
    bool promises = jx_input_name_of(path) == JX_NAMED_PROGRAM;
    struct stat info, target;

    if (lstat(path, &info) != 0) {
        if (errno != ENOENT) /* else gone meanwhile */
            add_broken(w, path, errno);
    } else if (S_ISDIR(info.st_mode)) {
        walk(w, path, depth + 1);
    } else if (!S_ISLNK(info.st_mode)) {
        if (S_ISREG(info.st_mode))
            add(w, path, NULL);
        else if (promises)
            add(w, path, "is no regular file");
    } else if (stat(path, &target) != 0) {
        if (promises)
            add_broken(w, path, errno);
    } else if (S_ISREG(target.st_mode)) {
        add(w, path, NULL);
    } else if (S_ISDIR(target.st_mode)) {
        JX_PUSH(w->ctx->arena, w->to,
                (jx_target){.path = path,
                            .passed_over = true,
                            .argument = w->argument});
    } else if (promises) {
        add(w, path, "is no regular file");
    }
}

static void walk(const walker *w, const char *path, int depth)
{
    name_list names = {0};
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";

    if (depth > MAX_DEPTH) {
        add(w, path, "is nested too deep: folders are walked 64 deep");
        return;
    }
    if (!read_names(w, path, &names))
        return;
    for (size_t i = 0; i < names.count; i++) {
        const char *inner =
            jx_arena_printf(w->ctx->arena, "%s%s%s", path, slash, names.at[i]);
        if (inner)
            add_entry(w, inner, depth);
    }
}

bool jx_walk_add(jx_ctx *ctx, const char *path, int argument, jx_targets *to)
{
    const walker w = {ctx, argument, to};
    struct stat info;

    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 &&
        S_ISDIR(info.st_mode)) {
        walk(&w, path, 0);
        return true;
    }
    JX_PUSH(ctx->arena, to,
            (jx_target){.path = path, .named = true, .argument = argument});
    return false;
}
