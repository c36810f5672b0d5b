/* locale.c - a host with a locale of its own: `locale NAME FILE...` prints what
 * the library says of each file; check_locale.sh holds that against "C".
 * The same numbers are written and read in every locale. */
#include "jaxvet.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* Runs the program on zeros, at the first sizes that are worth it. */
static void run(jaxvet_program *program)
{
    enum { MOST = 512 };
    jaxvet_error error = {0};
    jaxvet_size sizes[16];
    const int64_t *chosen = NULL;
    int count = jaxvet_size_count(program);
    int found = count ? jaxvet_sizes(program, 3, &chosen, &error) : 0;
    int nins = jaxvet_input_count(program);
    int nouts = jaxvet_output_count(program);
    void *ins[MOST], *outs[MOST];
    jaxvet_call *call;
    uint64_t hash = 0;

    for (int i = 0; i < count && i < 16; i++)
        sizes[i] = (jaxvet_size){jaxvet_size_name(program, i),
                                 found > 0 ? chosen[i] : 2};
    call = count > 16 || nins > MOST || nouts > MOST
               ? NULL
               : jaxvet_prepare(program, sizes, count, &error);
    if (!call) {
        printf("  not run: %s %s\n", error.place, error.message);
        return;
    }
    for (int i = 0; i < nins; i++)
        ins[i] = calloc(1, jaxvet_call_input(call, i)->bytes + 1);
    for (int i = 0; i < nouts; i++)
        outs[i] = malloc(jaxvet_call_output(call, i)->bytes + 1);
    if (jaxvet_run(call, (const void *const *)ins, outs, &error))
        printf("  failed: %s %s\n", error.place, error.message);
    else
        for (int i = 0; i < nouts; i++)
            hash = mix(hash, outs[i], jaxvet_call_output(call, i)->bytes);
    printf("  outputs %016llx\n", (unsigned long long)hash);
    for (int i = 0; i < nins; i++)
        free(ins[i]);
    for (int i = 0; i < nouts; i++)
        free(outs[i]);
    jaxvet_call_free(call);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !setlocale(LC_ALL, argv[1])) {
        fprintf(stderr, "no such locale\n");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        jaxvet_error error;
        const char *text;
        jaxvet_program *program = jaxvet_open(argv[i], 0, &error);

        printf("%s\n", argv[i]);
        if (!program) {
            printf("  unreadable: %s %s\n", error.place, error.message);
            continue;
        }
        if (!jaxvet_info(program, &text, &error))
            printf("%s\n", text);
        if (jaxvet_check(program, &text, &error) != JAXVET_INPUT)
            printf("%s\n", text);
        run(program);
        jaxvet_close(program);
    }
    return 0;
}
