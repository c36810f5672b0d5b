/* turns.h - the whole numbers that a value is at each turn of a loop: what the
 * loop counts, and what is computed of that alone (i // 2, (i + 3) % 8). */
#ifndef JX_TURNS_H
#define JX_TURNS_H

#include "analyzer/lint/flat.h"

enum { JX_TURNS_MOST = 256 };

typedef struct jx_turns {
    const jx_calls *body; /* of the loop, which nothing ends earlier */
    int count;
    int64_t at[JX_TURNS_MOST];
} jx_turns;

/* False where they are not known, or too many. */
bool jx_turns_of(const jx_flat *flat, int value, jx_turns *to);
/* Row `row` of `rows` indices, each a number or a vector whose first number is
 * meant, that the program computes of nothing.  False where it is not known. */
bool jx_first_index_of(const jx_flat *flat, int indices, int64_t row,
                       int64_t rows, int64_t *to);
/* Some turn has the number of one before it. */
bool jx_turns_meet(const jx_turns *turns);

#endif
