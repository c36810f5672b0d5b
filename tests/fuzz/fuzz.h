/* fuzz.h - what the fuzz targets share: libFuzzer's entry points, failing, and
 * the input as the readers get it. */
#ifndef JX_FUZZ_H
#define JX_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Says where it does not hold, and ends. */
#define check(...)                                                             \
    do {                                                                       \
        if (!(__VA_ARGS__)) {                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #__VA_ARGS__);                                             \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* A copy to be freed, with nothing behind it: a NUL after the end would hide a
 * read beyond it. */
static inline char *fuzz_copy(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1);

    check(copy != NULL);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* A part of the input. */
typedef struct fuzz_part {
    size_t begin, end;
} fuzz_part;

/* Replaces the part by `length` bytes, which may be part of the input, too;
 * the size after it, or as before where there is no room. */
static inline size_t fuzz_splice(uint8_t *data, size_t size, size_t max,
                                 fuzz_part part, const void *with,
                                 size_t length)
{
    static uint8_t copy[1 << 16];
    size_t rest = size - part.end;

    if (length > sizeof copy || part.begin + length + rest > max)
        return size;
    if (length)
        memcpy(copy, with, length);
    memmove(data + part.begin + length, data + part.end, rest);
    memcpy(data + part.begin, copy, length);
    return part.begin + length + rest;
}

#endif
