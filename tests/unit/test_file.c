/* test_file.c - whole files in and out. */
#include "frontend/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct place {
    char folder[64], path[96];
    jx_ctx *ctx;
} place;

static int set_up(void **state)
{
    place *p = calloc(1, sizeof *p);

    strcpy(p->folder, "/tmp/jaxvet-test-XXXXXX");
    if (!mkdtemp(p->folder))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/file", p->folder);
    p->ctx = jx_ctx_new(1 << 20);
    *state = p;
    return 0;
}

static void remove_all(const char *folder)
{
    DIR *dir = opendir(folder);

    for (struct dirent *e; (e = readdir(dir));)
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static int tear_down(void **state)
{
    place *p = *state;

    remove_all(p->folder);
    jx_ctx_free(p->ctx);
    free(p);
    return 0;
}

static int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;

    for (struct dirent *e; (e = readdir(dir));)
        count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return count;
}

static void what_is_written_reads_back(void **state)
{
    place *p = *state;
    size_t size = 0;

    assert_true(jx_file_write(p->ctx, p->path, "a\0b", 3));
    const char *text = jx_file_read(p->ctx, p->path, &size);
    assert_non_null(text);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "a\0b", 4);
    assert_int_equal(count_files(p->folder), 1);
    assert_true(jx_file_write(p->ctx, p->path, "", 0));
    assert_non_null(jx_file_read(p->ctx, p->path, &size));
    assert_int_equal(size, 0);
}

static void rewriting_keeps_the_permissions(void **state)
{
    place *p = *state;
    struct stat info;

    assert_true(jx_file_write(p->ctx, p->path, "1", 1));
    assert_int_equal(chmod(p->path, 0640), 0);
    assert_true(jx_file_write(p->ctx, p->path, "2", 1));
    assert_int_equal(stat(p->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void what_others_left_behind_is_in_nobodys_way(void **state)
{
    place *p = *state;
    char stale[128];
    size_t size;

    for (int i = 0; i < 100; i++) {
        snprintf(stale, sizeof stale, "%s.tmp%d", p->path, i);
        fclose(fopen(stale, "w"));
    }
    assert_true(jx_file_write(p->ctx, p->path, "new", 3));
    assert_string_equal(jx_file_read(p->ctx, p->path, &size), "new");
    assert_int_equal(count_files(p->folder), 101);
    for (int i = 0; i < 100; i++) {
        snprintf(stale, sizeof stale, "%s.tmp%d", p->path, i);
        unlink(stale);
    }
}

/* One that names nothing yet, through another in a folder of its own. */
static void a_link_stays_and_what_it_names_is_made(void **state)
{
    place *p = *state;
    char link[160], inner[160], other[160], loop[160], said[200];
    struct stat info;
    size_t size;

    snprintf(link, sizeof link, "%s/link", p->folder);
    snprintf(inner, sizeof inner, "%s/inner", p->folder);
    snprintf(other, sizeof other, "%s/inner/other", p->folder);
    snprintf(loop, sizeof loop, "%s/loop", p->folder);
    assert_int_equal(mkdir(inner, 0777), 0);
    assert_int_equal(symlink("inner/other", link), 0);
    assert_int_equal(symlink("../file", other), 0);
    for (int i = 0; i < 2; i++) { /* not there, there */
        assert_true(jx_file_write(p->ctx, link, "new", 3));
        assert_int_equal(lstat(link, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(other, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_string_equal(jx_file_read(p->ctx, p->path, &size), "new");
    }
    assert_int_equal(symlink("loop", loop), 0);
    assert_false(jx_file_write(p->ctx, loop, "new", 3));
    snprintf(said, sizeof said, "can't be written: %s", strerror(ELOOP));
    assert_string_equal(p->ctx->error.message, said);
    jx_error_clear(p->ctx);
    assert_int_equal(lstat(loop, &info), 0);
    unlink(other);
    rmdir(inner);
}

static void a_name_as_long_as_names_get_is_written(void **state)
{
    place *p = *state;
    char path[sizeof p->folder + 260];

    snprintf(path, sizeof path, "%s/%0255d", p->folder, 0);
    assert_true(jx_file_write(p->ctx, path, "1", 1));
    assert_int_equal(count_files(p->folder), 1);
    unlink(path);
}

/* A file that may not grow beyond ten bytes. */
static void half_a_file_is_neither_there_nor_left(void **state)
{
    place *p = *state;
    struct rlimit old, small;
    size_t size;
    bool ok;

    assert_true(jx_file_write(p->ctx, p->path, "old", 3));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &small);
    ok = jx_file_write(p->ctx, p->path, "0123456789abcdef", 16);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    jx_error_clear(p->ctx);
    assert_string_equal(jx_file_read(p->ctx, p->path, &size), "old");
    assert_int_equal(count_files(p->folder), 1);
}

/* Killed at some moment of its writing, again and again. */
static void being_killed_leaves_no_half(void **state)
{
    enum { SIZE = 1 << 22 };
    place *p = *state;
    char *data = malloc(SIZE);
    struct stat info;

    memset(data, 'x', SIZE);
    assert_true(jx_file_write(p->ctx, p->path, data, SIZE));
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child)
            for (;;)
                jx_file_write(p->ctx, p->path, data, SIZE);
        usleep((useconds_t)(200 * i));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        assert_int_equal(stat(p->path, &info), 0);
        assert_int_equal(info.st_size, SIZE);
    }
    free(data);
}

static void a_full_disk_is_an_error(void **state)
{
    place *p = *state;

    assert_false(jx_file_write(p->ctx, "/dev/full", "1", 1));
    assert_int_equal(p->ctx->error.kind, JX_E_SYSTEM);
    assert_string_equal(p->ctx->error.file, "/dev/full");
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    place *p = *state;
    char path[128];

    snprintf(path, sizeof path, "%s/no/file", p->folder);
    assert_false(jx_file_write(p->ctx, path, "1", 1));
    assert_int_equal(p->ctx->error.kind, JX_E_SYSTEM);
    assert_int_equal(count_files(p->folder), 0);
}

static void a_folder_and_a_missing_file_cannot_be_read(void **state)
{
    place *p = *state;
    size_t size;

    assert_null(jx_file_read(p->ctx, p->folder, &size));
    assert_non_null(strstr(p->ctx->error.message, "directory"));
    jx_error_clear(p->ctx);
    assert_null(jx_file_read(p->ctx, p->path, &size));
    assert_string_equal(p->ctx->error.file, p->path);
}

static void a_file_beyond_the_budget_is_refused(void **state)
{
    place *p = *state;
    size_t size;

    assert_null(jx_file_read(p->ctx, "/dev/zero", &size));
    assert_int_equal(p->ctx->error.kind, JX_E_LIMIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_reads_back),
        TEST(rewriting_keeps_the_permissions),
        TEST(what_others_left_behind_is_in_nobodys_way),
        TEST(a_link_stays_and_what_it_names_is_made),
        TEST(a_name_as_long_as_names_get_is_written),
        TEST(half_a_file_is_neither_there_nor_left),
        TEST(being_killed_leaves_no_half),
        TEST(a_full_disk_is_an_error),
        TEST(a_folder_that_is_not_there_is_an_error),
        TEST(a_folder_and_a_missing_file_cannot_be_read),
        TEST(a_file_beyond_the_budget_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
