/* beneath.c - see beneath.h.
 *
 * openat2() could do most of this, where the system has it and lets us.  Here a
 * walk holds the folders from the anchor down to where it is, so that `..` is
 * the one before and never the system's; a link is read and walked in turn. */
#include "reports/pipeline/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, MAX_LINKS = 16 };

typedef struct walk {
    int folders[MAX_DEPTH]; /* the anchor first, which is not ours to close */
    int depth, links;
} walk;

int jx_open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Files of these are no sources, whatever they call themselves; reading some
 * waits, or does something. */
static bool is_special(int file)
{
    static const unsigned long kinds[] = {
        PROC_SUPER_MAGIC,    SYSFS_MAGIC,        DEBUGFS_MAGIC,
        TRACEFS_MAGIC,       SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC, PSTOREFS_MAGIC,     EFIVARFS_MAGIC,
        BPF_FS_MAGIC,        BINFMTFS_MAGIC,     DEVPTS_SUPER_MAGIC,
        SELINUX_MAGIC,       AUTOFS_SUPER_MAGIC,
    };
    struct statfs info;

    if (fstatfs(file, &info) != 0)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned long)info.f_type == kinds[i])
            return true;
    return false;
}

/* Looks at the file before it is opened for reading: the same one, since its
 * folder is held and what it became is looked at again. */
static int open_file(int folder, const char *name)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat info;
    int file;

    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode) || is_special(folder))
        return -1;
    file = openat(folder, name, flags);
    if (file >= 0 && (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) ||
                      is_special(file))) {
        close(file);
        return -1;
    }
    return file;
}

static void leave(walk *w)
{
    close(w->folders[--w->depth]);
}

static int step(walk *w, const char *path);

/* Goes on with what the link says in place of its name. */
static int follow(walk *w, const char *name, const char *rest)
{
    char path[PATH_MAX];
    ssize_t n = readlinkat(w->folders[w->depth - 1], name, path, sizeof path);
    size_t length = n > 0 ? (size_t)n : 0, more = strlen(rest);

    if (!length || path[0] == '/' || ++w->links > MAX_LINKS ||
        length + more + 2 > sizeof path)
        return -1;
    path[length] = '/';
    memcpy(path + length + 1, rest, more + 1);
    if (!more)
        path[length] = '\0';
    return step(w, path);
}

static bool enter(walk *w, const char *name)
{
    int folder;

    if (w->depth == MAX_DEPTH)
        return false;
    folder = openat(w->folders[w->depth - 1], name,
                    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return false;
    w->folders[w->depth++] = folder;
    return true;
}

static bool is_link(const walk *w, const char *name)
{
    struct stat info;

    return fstatat(w->folders[w->depth - 1], name, &info,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(info.st_mode);
}

/* The path from where the walk is; its first name, then the rest. */
static int step(walk *w, const char *path)
{
    char name[NAME_MAX + 1];

    for (;;) {
        size_t n = strcspn(path, "/");
        const char *rest = path + n + strspn(path + n, "/");

        if (n >= sizeof name || (!n && !*rest))
            return -1;
        memcpy(name, path, n);
        name[n] = '\0';
        if (!strcmp(name, "..")) {
            if (w->depth == 1)
                return -1;
            leave(w);
        } else if (n && strcmp(name, ".") != 0) {
            if (is_link(w, name))
                return follow(w, name, rest);
            if (!path[n])
                return open_file(w->folders[w->depth - 1], name);
            if (!enter(w, name))
                return -1;
        }
        path = rest;
    }
}

int jx_open_beneath(int folder, const char *path)
{
    walk w = {.folders = {folder}, .depth = 1};
    int file = *path == '/' ? -1 : step(&w, path);

    while (w.depth > 1)
        leave(&w);
    return file;
}
