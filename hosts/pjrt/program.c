/* program.c - modules made ready to run, and their calls. */
#include "hosts/pjrt/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the interface asks of a program */

/* Two hashes of 64 bits (FNV-1a, from two starts) of the module and its options. */
static uint64_t hash(uint64_t from, const char *bytes, size_t size)
{
    const uint64_t prime = 0x100000001b3;

    for (size_t i = 0; i < size; i++)
        from = (from ^ (unsigned char)bytes[i]) * prime;
    return from;
}

static void make_fingerprint(jx_pjrt_program *p)
{
    uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;

    a = hash(hash(a, p->code, p->code_size), p->raw, p->options_size);
    b = hash(hash(b, p->raw, p->options_size), p->code, p->code_size);
    snprintf(p->fingerprint, sizeof p->fingerprint, "%016llx%016llx",
             (unsigned long long)a, (unsigned long long)b);
}

static PJRT_Error *shape_of(const jaxvet_layout *layout, jx_pjrt_shape *to)
{
    *to = (jx_pjrt_shape){jx_pjrt_type_of(layout->dtype), layout->rank,
                          layout->shape};
    return to->type != PJRT_Buffer_Type_INVALID
               ? NULL
               : jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "arrays of dtype %s", layout->dtype);
}

static PJRT_Error *make_shapes(jx_pjrt_program *p)
{
    PJRT_Error *error = NULL;
    size_t most = (size_t)(p->nins > p->nouts ? p->nins : p->nouts) + 1;

    p->ins = calloc((size_t)p->nins + 1, sizeof *p->ins);
    p->outs = calloc((size_t)p->nouts + 1, sizeof *p->outs);
    p->aliases = calloc((size_t)p->nins + 1, sizeof *p->aliases);
    p->kinds = calloc(most, sizeof *p->kinds);
    p->kind_sizes = calloc(most, sizeof *p->kind_sizes);
    if (!p->ins || !p->outs || !p->aliases || !p->kinds || !p->kind_sizes)
        return jx_pjrt_starved();
    for (size_t i = 0; i < most; i++) {
        p->kinds[i] = jx_pjrt_memory_kinds[0];
        p->kind_sizes[i] = strlen(p->kinds[i]);
    }
    for (int i = 0; !error && i < p->nins; i++) {
        error = shape_of(jaxvet_call_input(p->call, i), &p->ins[i]);
        p->aliases[i] = jaxvet_input_alias(p->program, i);
    }
    for (int i = 0; !error && i < p->nouts; i++)
        error = shape_of(jaxvet_call_output(p->call, i), &p->outs[i]);
    return error;
}

/* The outputs once more, as lists of types, ranks and sizes. */
static PJRT_Error *list_outputs(jx_pjrt_program *p)
{
    size_t ndims = 0;

    for (int i = 0; i < p->nouts; i++)
        ndims += (size_t)p->outs[i].rank;
    p->out_types = calloc((size_t)p->nouts + 1, sizeof *p->out_types);
    p->out_ranks = calloc((size_t)p->nouts + 1, sizeof *p->out_ranks);
    p->out_dims = calloc(ndims + 1, sizeof *p->out_dims);
    if (!p->out_types || !p->out_ranks || !p->out_dims)
        return jx_pjrt_starved();
    ndims = 0;
    for (int i = 0; i < p->nouts; i++) {
        p->out_types[i] = p->outs[i].type;
        p->out_ranks[i] = (size_t)p->outs[i].rank;
        for (int k = 0; k < p->outs[i].rank; k++)
            p->out_dims[ndims++] = p->outs[i].dims[k];
    }
    return NULL;
}

/* ---- making one */

/* What it may take: all that the machine has; who needs less says so to the
 * system. */
static size_t budget(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
}

static char *copy_bytes(const char *from, size_t size)
{
    char *to = malloc(size + 1);

    if (to && size)
        memcpy(to, from, size);
    return to;
}

static PJRT_Error *compile(jx_pjrt_program *p)
{
    jaxvet_error error;
    PJRT_Error *failed;

    p->program =
        jaxvet_open_memory(p->code, p->code_size, "module", budget(), &error);
    if (!p->program)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_INVALID_ARGUMENT);
    p->call = jaxvet_prepare(p->program, NULL, 0, &error);
    if (!p->call)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_UNIMPLEMENTED);
    p->nins = jaxvet_input_count(p->program);
    p->nouts = jaxvet_output_count(p->program);
    failed = make_shapes(p);
    return failed ? failed : list_outputs(p);
}

static void free_program(jx_pjrt_program *p)
{
    for (int i = 0; i < p->nidle; i++)
        if (p->idle[i] != p->call)
            jaxvet_call_free(p->idle[i]);
    jaxvet_call_free(p->call);
    jaxvet_close(p->program);
    jx_pjrt_options_free(&p->options);
    free(p->code);
    free(p->raw);
    free(p->idle);
    free(p->ins);
    free(p->outs);
    free(p->aliases);
    free(p->out_types);
    free(p->out_ranks);
    free(p->out_dims);
    free(p->kinds);
    free(p->kind_sizes);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

PJRT_Error *jx_pjrt_program_new(const char *code, size_t code_size,
                                const char *options, size_t options_size,
                                jx_pjrt_program **to)
{
    jx_pjrt_program *p = calloc(1, sizeof *p);
    PJRT_Error *error;

    if (!p)
        return jx_pjrt_starved();
    atomic_init(&p->holders, 1);
    pthread_mutex_init(&p->lock, NULL);
    p->code_size = code_size;
    p->options_size = options_size;
    p->code = copy_bytes(code, code_size);
    p->raw = copy_bytes(options, options_size);
    if (!p->code || !p->raw)
        error = jx_pjrt_starved();
    else
        error = jx_pjrt_options_read(options, options_size, &p->options);
    if (!error)
        error = compile(p);
    if (error) {
        free_program(p);
        return error;
    }
    make_fingerprint(p);
    jx_pjrt_program_give(p, p->call);
    *to = p;
    return NULL;
}

jx_pjrt_program *jx_pjrt_program_share(jx_pjrt_program *program)
{
    atomic_fetch_add(&program->holders, 1);
    return program;
}

void jx_pjrt_program_drop(jx_pjrt_program *program)
{
    if (program && atomic_fetch_sub(&program->holders, 1) == 1)
        free_program(program);
}

/* ---- calls */

PJRT_Error *jx_pjrt_program_take(jx_pjrt_program *p, jaxvet_call **to)
{
    jaxvet_error error;

    pthread_mutex_lock(&p->lock);
    *to = p->nidle ? p->idle[--p->nidle] : jaxvet_call_copy(p->call, &error);
    pthread_mutex_unlock(&p->lock);
    return *to ? NULL : jx_pjrt_error_of(&error, PJRT_Error_Code_INTERNAL);
}

void jx_pjrt_program_give(jx_pjrt_program *p, jaxvet_call *call)
{
    pthread_mutex_lock(&p->lock);
    if (p->nidle == p->nroom) {
        int room = p->nroom ? 2 * p->nroom : 1;
        jaxvet_call **idle = realloc(p->idle, (size_t)room * sizeof *idle);
        if (idle) {
            p->idle = idle;
            p->nroom = room;
        }
    }
    if (p->nidle < p->nroom)
        p->idle[p->nidle++] = call;
    else if (call != p->call)
        jaxvet_call_free(call);
    pthread_mutex_unlock(&p->lock);
}
