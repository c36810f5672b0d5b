/* mutate_bytecode.c - bytecode that was changed here and there, by hand of
 * bytecode_mutator.h: nothing may crash, hang or take memory out of proportion,
 * and each refusal says where.
 *
 *     mutate_bytecode COUNT FILE...
 *
 * Prints how many were taken and refused; the first input that fails is left
 * in mutated.mlirbc. */
#include "frontend/base/file.h"
#include "tests/mlir/bytecode_check.h"
#include "tests/mlir/bytecode_mutator.h"

#include <stdio.h>
#include <time.h>

enum { MOST = 1 << 20 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool failed(jx_ctx *ctx, const uint8_t *data, size_t size,
                   const char *path, uint64_t seed, const char *why)
{
    printf("mutate: %s, seed %llu: %s; see mutated.mlirbc\n", path,
           (unsigned long long)seed, why);
    jx_file_write(ctx, "mutated.mlirbc", data, size);
    return false;
}

int main(int argc, char **argv)
{
    jx_ctx *ctx = jx_ctx_new(0);
    uint8_t *out = malloc(MOST);
    uint64_t count = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t taken = 0, done = 0;
    double longest = 0;

    if (!count || !ctx || !out)
        return 2;
    int nfiles = argc - 2;
    const char **files = JX_NEW_ARRAY(ctx->arena, nfiles, const char *);
    size_t *sizes = JX_NEW_ARRAY(ctx->arena, nfiles, size_t);
    for (int i = 0; i < nfiles; i++) {
        files[i] = jx_file_read(ctx, argv[i + 2], &sizes[i]);
        if (!files[i])
            return 2;
    }
    bool good = true;
    for (uint64_t seed = 1; good && seed <= count; seed++) {
        int i = (int)(seed % (uint64_t)nfiles);
        size_t size =
            mutate_module((const uint8_t *)files[i], sizes[i], out, MOST, seed);
        bool module;
        double from = now();
        if (!check_bytes(out, size, &module))
            good =
                failed(ctx, out, size, argv[i + 2], seed, "not as it must be");
        double took = now() - from;
        longest = took > longest ? took : longest;
        if (good && took > 2)
            good = failed(ctx, out, size, argv[i + 2], seed, "it hangs");
        taken += module;
        done++;
    }
    printf("mutate: %llu changed modules, %llu of them taken, %llu refused; "
           "the longest took %.1f ms\n",
           (unsigned long long)done, (unsigned long long)taken,
           (unsigned long long)(done - taken), longest * 1e3);
    free(out);
    jx_ctx_free(ctx);
    return good ? 0 : 1;
}
