/* fuzz_tokens.h - texts, mutated by tokens, brackets and lines, so that most
 * mutants get past the first word. */
#ifndef JX_FUZZ_TOKENS_H
#define JX_FUZZ_TOKENS_H

#include "tests/fuzz/fuzz.h"

#include <ctype.h>

/* What a text is made of. */
typedef struct fuzz_language {
    const char *const *words; /* to put somewhere */
    size_t nwords;
    /* The end of the token at `at`. */
    size_t (*end)(const uint8_t *data, size_t size, size_t at);
} fuzz_language;

/* Some token, each as likely as the other. */
static inline fuzz_part fuzz_token(const fuzz_language *in, const uint8_t *data,
                                   size_t size, unsigned *seed)
{
    fuzz_part found = {0, size};
    unsigned seen = 0;

    for (size_t at = 0; at < size;) {
        size_t end = in->end(data, size, at);
        if (!isspace(data[at]) && (unsigned)rand_r(seed) % ++seen == 0)
            found = (fuzz_part){at, end};
        at = end;
    }
    return found;
}

/* From a bracket to the one that closes it, or the token itself. */
static inline fuzz_part fuzz_group(const uint8_t *data, size_t size,
                                   fuzz_part token)
{
    int depth = 0;

    for (size_t at = token.begin; at < size; at++) {
        depth += data[at] && strchr("([{<", data[at]);
        depth -= data[at] && strchr(")]}>", data[at]);
        if (depth <= 0)
            return (fuzz_part){token.begin,
                               at + 1 > token.end ? at + 1 : token.end};
    }
    return token;
}

/* From the token's line on, some lines. */
static inline fuzz_part fuzz_lines(const uint8_t *data, size_t size,
                                   fuzz_part token, unsigned count)
{
    while (token.begin > 0 && data[token.begin - 1] != '\n')
        token.begin--;
    for (token.end = token.begin; token.end < size && count; token.end++)
        count -= data[token.end] == '\n';
    return token;
}

static inline size_t fuzz_mutate_tokens(const fuzz_language *in, uint8_t *data,
                                        size_t size, size_t max, unsigned seed)
{
    const char *word = in->words[(unsigned)rand_r(&seed) % in->nwords];

    if (size < 2 || rand_r(&seed) % 8 == 0)
        return LLVMFuzzerMutate(data, size, max);
    fuzz_part part = fuzz_token(in, data, size, &seed);
    fuzz_part other = fuzz_token(in, data, size, &seed);
    fuzz_part gap = {part.begin, part.begin};
    unsigned lines = 1 + (unsigned)rand_r(&seed) % 3;
    switch (rand_r(&seed) % 8) {
    case 0: return fuzz_splice(data, size, max, part, word, strlen(word));
    case 1: return fuzz_splice(data, size, max, gap, word, strlen(word));
    case 2: return fuzz_splice(data, size, max, part, NULL, 0);
    case 3: break; /* a token becomes another one */
    case 4:
        part = fuzz_group(data, size, part);
        return fuzz_splice(data, size, max, part, NULL, 0);
    case 5:
        part = fuzz_group(data, size, part);
        other = fuzz_group(data, size, other);
        break;
    case 6:
        part = fuzz_lines(data, size, part, lines);
        return fuzz_splice(data, size, max, part, NULL, 0);
    default:
        other = fuzz_lines(data, size, other, lines);
        part = fuzz_lines(data, size, part, 0);
        break;
    }
    return fuzz_splice(data, size, max, part, data + other.begin,
                       other.end - other.begin);
}

#endif
