/* blas.c - finds routines of OpenBLAS; see blas.h. */
#include "runtime/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};

/* dlsym gives an object pointer; POSIX promises that it can be a function. */
static jx_blas_fn *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    jx_blas_fn *fn;

    memcpy(&fn, &found, sizeof fn);
    return fn;
}

/* The kernels for this processor, by what it can do; NULL:
 * OpenBLAS knows best. */
static const char *kernels(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

/* A processor that is newer than the library gets the kernels of its oldest
 * one, at a third of the speed (Debian 12's of 2022 and Intel's of 2023).
 * Which ones it takes is asked for by a variable of the environment alone. */
static void choose_kernels(void *library)
{
    static const char variable[] = "OPENBLAS_CORETYPE", oldest[] = "Prescott";
    char *(*name)(void) =
        (char *(*)(void))symbol(library, "openblas_get_corename");
    void (*forget)(void) =
        (void (*)(void))symbol(library, "gotoblas_dynamic_quit");
    void (*choose)(void) =
        (void (*)(void))symbol(library, "gotoblas_dynamic_init");
    const char *wanted = kernels();

    if (!wanted || !name || !forget || !choose || getenv(variable) ||
        strcmp(name(), oldest) != 0 || setenv(variable, wanted, 1) != 0)
        return;
    forget();
    choose();
    unsetenv(variable);
}

static void *load(void)
{
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++) {
        /* A host that already uses it keeps its own settings. */
        library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        if (library)
            break;
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!library)
            continue;
        void (*set_threads)(int) =
            (void (*)(int))symbol(library, "openblas_set_num_threads");
        if (set_threads)
            set_threads(1);
        choose_kernels(library);
    }
    return library;
}

void jx_blas_without_threads(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

/* By one thread at a time: none may have it before it is ready. */
static void *load_once(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *library;

    pthread_mutex_lock(&lock);
    library = load();
    pthread_mutex_unlock(&lock);
    return library;
}

jx_blas_fn *jx_blas_find(const char *name, const char **why)
{
    void *library = load_once();

    if (!library) {
        *why = "OpenBLAS is missing: libopenblas.so.0 can't be loaded "
               "(Debian: apt-get install libopenblas0)";
        return NULL;
    }
    jx_blas_fn *fn = symbol(library, name);
    /* Only the count of references goes down: it stays loaded. */
    dlclose(library);
    if (!fn)
        *why = "the installed OpenBLAS lacks a LAPACK routine (it was built "
               "without LAPACK)";
    return fn;
}
