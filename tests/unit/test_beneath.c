/* test_beneath.c - files that somebody else names, below a folder. */
#include "reports/pipeline/beneath.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* inside/a/b/file, and secret beside inside. */
typedef struct place {
    char root[64];
    int inside;
    struct stat secret;
} place;

static void in(const place *p, char path[128], const char *rest)
{
    snprintf(path, 128, "%s/%s", p->root, rest);
}

static void make(const place *p, const char *rest, const char *text)
{
    char path[128];
    FILE *file;

    in(p, path, rest);
    if (!text) {
        assert_int_equal(mkdir(path, 0755), 0);
        return;
    }
    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void link_to(const place *p, const char *rest, const char *target)
{
    char path[128];

    in(p, path, rest);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    place *p = calloc(1, sizeof *p);
    char path[128];

    strcpy(p->root, "/tmp/jaxvet-test-XXXXXX");
    if (!mkdtemp(p->root))
        return -1;
    make(p, "inside", NULL);
    make(p, "inside/a", NULL);
    make(p, "inside/a/b", NULL);
    make(p, "inside/a/b/file", "inside");
    make(p, "out", NULL);
    make(p, "out/b", NULL);
    make(p, "out/b/file", "secret");
    in(p, path, "out/b/file");
    stat(path, &p->secret);
    in(p, path, "inside");
    p->inside = jx_open_folder(path);
    *state = p;
    return p->inside < 0;
}

static int tear_down(void **state)
{
    place *p = *state;
    char command[128];

    close(p->inside);
    snprintf(command, sizeof command, "rm -rf '%s'", p->root);
    free(p);
    return system(command);
}

/* 1: the file inside; 0: none; -1: the secret. */
static int opens(const place *p, const char *path)
{
    int file = jx_open_beneath(p->inside, path);
    struct stat info;
    int found = 0;

    if (file < 0)
        return 0;
    fstat(file, &info);
    found = info.st_ino == p->secret.st_ino && info.st_dev == p->secret.st_dev
                ? -1
                : 1;
    close(file);
    return found;
}

static void paths_that_stay_are_followed(void **state)
{
    const place *p = *state;

    link_to(p, "inside/to", "a");
    link_to(p, "inside/a/up", "../a/./b/../b/file");
    assert_int_equal(opens(p, "a/b/file"), 1);
    assert_int_equal(opens(p, "./a//b/../../a/b/file"), 1);
    assert_int_equal(opens(p, "to/b/file"), 1);
    assert_int_equal(opens(p, "to/up"), 1);
}

static void paths_that_leave_are_not(void **state)
{
    const place *p = *state;
    char deep[4096] = "";

    link_to(p, "inside/far", "../out");
    link_to(p, "inside/a/back", "../../inside/a/b/file");
    link_to(p, "inside/self", "self");
    link_to(p, "inside/x", "y");
    link_to(p, "inside/y", "x");
    link_to(p, "inside/root", "/");
    const char *paths[] = {
        "../out/b/file",
        "a/../../out/b/file",
        "/etc/passwd",
        "",
        ".",
        "..",
        "a",
        "a/",
        "a/b/file/",
        "a/b/file/..",
        "a/b/file/x",
        "far/b/file",
        "a/back",
        "self",
        "x",
        "root/etc/passwd",
        "../inside/a/b/file",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (opens(p, paths[i]))
            fail_msg("\"%s\" is opened", paths[i]);
    for (int i = 0; i < 1300; i++)
        strcat(deep, "a/.");
    assert_int_equal(opens(p, deep), 0);
    memset(deep, 'n', sizeof deep - 1);
    assert_int_equal(opens(p, deep), 0);
}

/* Somebody swaps folders for links, and moves them out, all the while. */
static void nothing_that_moves_leads_out(void **state)
{
    const place *p = *state;
    char a[128], link[128], out[128], b[128], moved[128];
    int found = 0;
    pid_t child;

    link_to(p, "inside/link", "../out");
    in(p, a, "inside/a");
    in(p, link, "inside/link");
    in(p, b, "inside/a/b");
    in(p, moved, "out/b2");
    in(p, out, "out");
    child = fork();
    if (!child)
        for (;;) {
            renameat2(AT_FDCWD, a, AT_FDCWD, link, RENAME_EXCHANGE);
            renameat2(AT_FDCWD, a, AT_FDCWD, link, RENAME_EXCHANGE);
            if (rename(b, moved) == 0)
                rename(moved, b);
        }
    for (int i = 0; i < 20000; i++) {
        int one = opens(p, i % 2 ? "a/b/file" : "a/b/../b/../../a/b/file");
        assert_true(one >= 0);
        found += one;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(found > 0);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    const place *p = *state;
    char path[128];

    in(p, path, "inside/pipe");
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(opens(p, "pipe"), 0);
    assert_int_equal(jx_open_beneath(AT_FDCWD, "/dev/zero"), -1);
    int proc = jx_open_folder("/proc");
    if (proc >= 0) {
        assert_int_equal(jx_open_beneath(proc, "version"), -1);
        assert_int_equal(jx_open_beneath(proc, "self/status"), -1);
        assert_int_equal(jx_open_beneath(proc, "kmsg"), -1);
        close(proc);
    }
    int dev = jx_open_folder("/dev");
    if (dev >= 0) {
        assert_int_equal(jx_open_beneath(dev, "zero"), -1);
        assert_int_equal(jx_open_beneath(dev, "tty"), -1);
        close(dev);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paths_that_stay_are_followed),
        TEST(paths_that_leave_are_not),
        TEST(nothing_that_moves_leads_out),
        TEST(what_is_no_file_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
