/* ask_api.c - questions of a file (JSON Lines, as `jaxvet prove` reads them),
 * put to jaxvet_prove(); prints its answers, or where an error is.  Neighbours
 * with the same constraints have one prover.  tests/check_prove.sh holds it
 * against what the command says. */
#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "jaxvet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 300 };

typedef struct asker {
    jaxvet_prover *first, *now; /* the first keeps the helper process */
    jx_buffer constraints;      /* of the one now */
} asker;

static const char *text_of(const jx_json *object, const char *key)
{
    const jx_json *value;
    size_t length;

    return jx_json_get(object, key, &value) ? jx_json_text(value, &length) : "";
}

static bool furnish(asker *a, const jx_json *object, jaxvet_error *error)
{
    const char *texts[MAX];
    const jx_json *list = NULL, *base = NULL;
    jx_buffer key = {0};
    int64_t least = jx_json_get(object, "base", &base) ? jx_json_int(base) : 1;
    int n = 0;
    size_t length;
    bool same;

    jx_buffer_printf(&key, "%lld", (long long)least);
    if (jx_json_get(object, "constraints", &list))
        for (; n < MAX && (size_t)n < jx_json_count(list); n++) {
            texts[n] = jx_json_text(jx_json_item(list, (size_t)n), &length);
            jx_buffer_printf(&key, "\n%s", texts[n]);
        }
    same = a->now &&
           !strcmp(jx_buffer_text(&key), jx_buffer_text(&a->constraints));
    if (!same) {
        jaxvet_prover_free(a->now);
        a->now = jaxvet_prover_new(texts, n, least, a->first, error);
        jx_buffer_free(&a->constraints);
        a->constraints = key;
    } else {
        jx_buffer_free(&key);
    }
    return a->now != NULL;
}

static void ask(asker *a, const jx_json *object)
{
    const char *answer;
    jaxvet_error error = {0};
    jaxvet_verdict verdict;

    if (furnish(a, object, &error) &&
        jaxvet_prove(a->now, text_of(object, "lhs"), text_of(object, "op"),
                     text_of(object, "rhs"), JAXVET_PROVE_SUGGEST, &verdict,
                     &answer, &error) == JAXVET_OK)
        fputs(answer, stdout);
    else
        printf("error at %s: %s\n", error.place, error.message);
}

int main(int argc, char **argv)
{
    jx_ctx *ctx = jx_ctx_new(0);
    asker a = {.first = jaxvet_prover_new(NULL, 0, 1, NULL, NULL)};
    size_t size = 0;
    const char *text = argc == 2 ? jx_file_read(ctx, argv[1], &size) : NULL;
    const char *end;

    if (!text || !a.first)
        return 2;
    for (const char *line = text; line < text + size; line = end + 1) {
        jx_json_fault fault;
        jx_json *object = NULL;

        end = memchr(line, '\n', (size_t)(text + size - line));
        if (end)
            object =
                jx_json_parse(ctx, line, (size_t)(end - line), true, &fault);
        if (!object)
            return 2;
        ask(&a, object);
        jx_json_free(object);
    }
    jaxvet_prover_free(a.now);
    jaxvet_prover_free(a.first);
    jx_buffer_free(&a.constraints);
    jx_ctx_free(ctx);
    return 0;
}
