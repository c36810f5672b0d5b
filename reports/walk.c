/* walk.c - see walk.h. */
#include "reports/walk.h"
#include "frontend/base/plain.h"

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

/* The names in a folder, sorted, but hidden ones. */
static bool read_names(jx_ctx *ctx, const char *path, name_list *names)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    if (!folder)
        return jx_fail(ctx, JX_E_SYSTEM, path, NULL, "can't be opened: %s",
                       jx_strerror(errno));
    /* Safe with threads: each has a stream of its own. */
    /* cppcheck-suppress readdirCalled */
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            JX_PUSH(ctx->arena, names,
                    jx_arena_string(ctx->arena, entry->d_name,
                                    strlen(entry->d_name)));
    }
    closedir(folder);
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, compare_paths);
    return jx_ok(ctx);
}

static bool walk(jx_ctx *ctx, const char *path, jx_targets *to, int depth)
{
    name_list names = {0};
    size_t length = strlen(path);
    const char *slash = length && path[length - 1] == '/' ? "" : "/";

    if (depth > MAX_DEPTH)
        return jx_fail(ctx, JX_E_INPUT, path, NULL,
                       "folders are nested more than %d deep", MAX_DEPTH);
    if (!read_names(ctx, path, &names))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        const char *inner =
            jx_arena_printf(ctx->arena, "%s%s%s", path, slash, names.at[i]);
        struct stat info, target;

        if (!inner)
            return false;
        if (lstat(inner, &info) != 0)
            continue; /* gone meanwhile */
        if (S_ISDIR(info.st_mode) && !walk(ctx, inner, to, depth + 1))
            return false;
        if (S_ISREG(info.st_mode) ||
            (S_ISLNK(info.st_mode) && stat(inner, &target) == 0 &&
             S_ISREG(target.st_mode)))
            JX_PUSH(ctx->arena, to, (jx_target){inner, false});
    }
    return jx_ok(ctx);
}

bool jx_walk_add(jx_ctx *ctx, const char *path, jx_targets *to)
{
    struct stat info;

    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 &&
        S_ISDIR(info.st_mode))
        return walk(ctx, path, to, 0);
    JX_PUSH(ctx->arena, to, (jx_target){path, true});
    return jx_ok(ctx);
}
