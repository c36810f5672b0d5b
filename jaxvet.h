/* jaxvet.h - reading, checking and running traced JAX programs from C or C++.
 *
 * Everything hangs off a program, which is opened, asked, and closed.  What a
 * function returns by pointer belongs to the program (or call) it was asked of
 * and lives as long.  Functions that can fail take a jaxvet_error, which may be
 * NULL, and say in it what went wrong; nothing is printed, and the process is
 * never ended.  There is no global state: programs are independent, and each
 * may be used by one thread at a time.
 *
 * Build with `pkg-config --cflags --libs jaxvet`. */
#ifndef JAXVET_H
#define JAXVET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JAXVET_API __attribute__((visibility("default")))

/* Changes when something here changes its meaning; compare it with what
 * jaxvet_abi_version() of the library that was found says. */
#define JAXVET_ABI_VERSION 0

JAXVET_API int jaxvet_abi_version(void);
JAXVET_API const char *jaxvet_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif

#endif
