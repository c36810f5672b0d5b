/* blas.c - finds routines of OpenBLAS; see blas.h. */
#include "runtime/blas.h"

#include <dlfcn.h>
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
    }
    return library;
}

jx_blas_fn *jx_blas_find(const char *name, const char **why)
{
    void *library = load();

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
