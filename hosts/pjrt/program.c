/* program.c - modules made ready to run, and their calls. */
#include "hosts/pjrt/compiles.h"
#include "hosts/pjrt/ffi.h"
#include "hosts/pjrt/plugin.h"
#include "hosts/pjrt/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what the interface asks of a program */

/* Two hashes of 64 bits (FNV-1a, from two starts) of the module
 * and its options. */
static uint64_t hash(uint64_t from, const char *bytes, size_t size)
{
    const uint64_t prime = 0x100000001b3;

    for (size_t i = 0; i < size; i++)
        from = (from ^ (unsigned char)bytes[i]) * prime;
    return from;
}

void jx_pjrt_fingerprint(const char *code, size_t code_size,
                         const char *options, size_t options_size,
                         char to[JX_PJRT_FINGERPRINT + 1])
{
    uint64_t a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;

    a = hash(hash(a, code, code_size), options, options_size);
    b = hash(hash(b, options, options_size), code, code_size);
    snprintf(to, JX_PJRT_FINGERPRINT + 1, "%016llx%016llx",
             (unsigned long long)a, (unsigned long long)b);
}

/* The part of an array that a device has: as many axes, shorter; but for the
 * axis that counts summands, of which it has one. */
static PJRT_Error *cut_port(jx_pjrt_port *port)
{
    int64_t *dims;

    port->part = port->whole;
    if (!port->sharding)
        return NULL;
    dims = calloc((size_t)port->whole.rank + 1, sizeof *dims);
    if (!dims)
        return jx_pjrt_starved();
    for (int i = 0; i < port->whole.rank; i++)
        dims[i] = port->whole.dims[i] / port->sharding->parts[i];
    port->cut = dims;
    port->part.dims = dims;
    if (port->sharding->is_summed) {
        port->part.dims++;
        port->part.rank--;
    }
    return NULL;
}

/* Where the module says that it lies, if it does. */
static PJRT_Error *place_port(jx_pjrt_port *port, const char *kind)
{
    port->memory = kind ? jx_pjrt_memory_kind(kind) : 0;
    return port->memory >= 0
               ? NULL
               : jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "a memory of kind '%s': expected 'device', "
                               "'pinned_host' or 'unpinned_host'",
                               kind);
}

static PJRT_Error *make_port(const jx_pjrt_program *p,
                             const jaxvet_layout *layout,
                             const jaxvet_sharding *sharding, jx_pjrt_port *to)
{
    *to = (jx_pjrt_port){
        .whole = {jx_pjrt_type_of(layout->dtype), layout->rank, layout->shape},
        .sharding = p->ndevices > 1 ? sharding : NULL,
        .size = layout->bytes,
    };
    if (to->whole.type == PJRT_Buffer_Type_INVALID)
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "arrays of dtype %s", layout->dtype);
    if (to->sharding && to->sharding->devices != p->ndevices)
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "the module is written for %d devices, and is to run "
            "on %d",
            to->sharding->devices, p->ndevices);
    return cut_port(to);
}

static PJRT_Error *make_ports(jx_pjrt_program *p)
{
    const jaxvet_sharding *sharding = NULL;
    PJRT_Error *error = NULL;
    jaxvet_error said;
    const char *kind;

    p->ins = calloc((size_t)p->nins + 1, sizeof *p->ins);
    p->outs = calloc((size_t)p->nouts + 1, sizeof *p->outs);
    p->aliases = calloc((size_t)p->nins + 1, sizeof *p->aliases);
    if (!p->ins || !p->outs || !p->aliases)
        return jx_pjrt_starved();
    for (int i = 0; !error && i < p->nins; i++) {
        if (p->ndevices > 1 &&
            jaxvet_input_sharding(p->program, i, &sharding, &said) != JAXVET_OK)
            return jx_pjrt_error_of(&said, PJRT_Error_Code_UNIMPLEMENTED);
        if (jaxvet_input_memory(p->program, i, &kind, &said) != JAXVET_OK)
            return jx_pjrt_error_of(&said, PJRT_Error_Code_INTERNAL);
        error =
            make_port(p, jaxvet_call_input(p->call, i), sharding, &p->ins[i]);
        if (!error)
            error = place_port(&p->ins[i], kind);
        p->aliases[i] = jaxvet_input_alias(p->program, i);
    }
    for (int i = 0; !error && i < p->nouts; i++) {
        if (p->ndevices > 1 && jaxvet_output_sharding(p->program, i, &sharding,
                                                      &said) != JAXVET_OK)
            return jx_pjrt_error_of(&said, PJRT_Error_Code_UNIMPLEMENTED);
        if (jaxvet_output_memory(p->program, i, &kind, &said) != JAXVET_OK)
            return jx_pjrt_error_of(&said, PJRT_Error_Code_INTERNAL);
        error =
            make_port(p, jaxvet_call_output(p->call, i), sharding, &p->outs[i]);
        if (!error)
            error = place_port(&p->outs[i], kind);
    }
    return error;
}

static bool same_size(const jx_pjrt_port *a, const jx_pjrt_port *b)
{
    size_t size, other;

    return jx_pjrt_shape_size(a->part, &size) &&
           jx_pjrt_shape_size(b->part, &other) && size == other;
}

/* An argument that may be given up for any result is for the first of its size
 * that is left, and is kept where there is none, as XLA has it. */
static PJRT_Error *match_donors(jx_pjrt_program *p)
{
    bool *used = calloc((size_t)p->nouts + 1, sizeof *used);

    if (!used)
        return jx_pjrt_starved();
    for (int i = 0; i < p->nins; i++)
        if (p->aliases[i] >= 0)
            used[p->aliases[i]] = true;
    for (int i = 0; i < p->nins; i++) {
        int k = 0;
        if (p->aliases[i] != JAXVET_ANY_OUTPUT)
            continue;
        while (k < p->nouts && (used[k] || !same_size(&p->outs[k], &p->ins[i])))
            k++;
        p->aliases[i] = k < p->nouts ? k : JAXVET_KEPT;
        if (k < p->nouts)
            used[k] = true;
    }
    free(used);
    return NULL;
}

/* What the module's function takes and gives, tokens too. */
static PJRT_Error *map_arguments(jx_pjrt_program *p)
{
    p->nargs = jaxvet_argument_count(p->program);
    p->nresults = jaxvet_result_count(p->program);
    p->arg_inputs = calloc((size_t)p->nargs + 1, sizeof *p->arg_inputs);
    p->result_outputs =
        calloc((size_t)p->nresults + 1, sizeof *p->result_outputs);
    if (!p->arg_inputs || !p->result_outputs)
        return jx_pjrt_starved();
    for (int i = 0; i < p->nargs; i++)
        p->arg_inputs[i] = jaxvet_argument_input(p->program, i);
    for (int i = 0; i < p->nresults; i++)
        p->result_outputs[i] = jaxvet_result_output(p->program, i);
    return NULL;
}

/* A token is an array without elements for JAX. */
static const int64_t no_elements[] = {0};
const jx_pjrt_shape jx_pjrt_token = {PJRT_Buffer_Type_PRED, 1, no_elements};

static jx_pjrt_shape result_of(const jx_pjrt_program *p, int i)
{
    int output = p->result_outputs[i];

    return output < 0 ? jx_pjrt_token : p->outs[output].part;
}

/* The memories of arguments or results, which are the ports that
 * `numbers` says. */
static PJRT_Error *list_kinds(int count, const int *numbers,
                              const jx_pjrt_port *ports,
                              struct jx_pjrt_kinds *to)
{
    to->names = calloc((size_t)count + 1, sizeof *to->names);
    to->sizes = calloc((size_t)count + 1, sizeof *to->sizes);
    if (!to->names || !to->sizes)
        return jx_pjrt_starved();
    for (int i = 0; i < count; i++) {
        int kind = numbers[i] < 0 ? 0 : ports[numbers[i]].memory;
        to->names[i] = jx_pjrt_memory_kinds[kind];
        to->sizes[i] = strlen(to->names[i]);
    }
    return NULL;
}

/* Where arguments are given up for results of the same memory; with several
 * devices both are in parts. */
static PJRT_Error *find_lenders(jx_pjrt_program *p)
{
    p->lenders = malloc(((size_t)p->nouts + 1) * sizeof *p->lenders);
    if (!p->lenders)
        return jx_pjrt_starved();
    for (int i = 0; i < p->nouts; i++)
        p->lenders[i] = -1;
    for (int i = 0; p->ndevices == 1 && i < p->nargs; i++) {
        int input = p->arg_inputs[i];
        int output = input < 0 ? JAXVET_KEPT : p->aliases[input];
        if (output >= 0 && jaxvet_call_lends(p->call, input, output))
            p->lenders[output] = i;
    }
    return NULL;
}

/* The results once more, as lists of types, ranks and sizes. */
static PJRT_Error *list_results(jx_pjrt_program *p)
{
    size_t n = (size_t)p->nresults, ndims = 0;

    for (int i = 0; i < p->nresults; i++)
        ndims += (size_t)result_of(p, i).rank;
    p->out_types = calloc(n + 1, sizeof *p->out_types);
    p->out_ranks = calloc(n + 1, sizeof *p->out_ranks);
    p->out_dims = calloc(ndims + 1, sizeof *p->out_dims);
    if (!p->out_types || !p->out_ranks || !p->out_dims)
        return jx_pjrt_starved();
    ndims = 0;
    for (int i = 0; i < p->nresults; i++) {
        jx_pjrt_shape shape = result_of(p, i);
        p->out_types[i] = shape.type;
        p->out_ranks[i] = (size_t)shape.rank;
        for (int k = 0; k < shape.rank; k++)
            p->out_dims[ndims++] = shape.dims[k];
    }
    return NULL;
}

static jx_pjrt_shape argument_of(const jx_pjrt_program *p, int i)
{
    int input = p->arg_inputs[i];

    return input < 0 ? jx_pjrt_token : p->ins[input].part;
}

static PJRT_Error *list_layouts(jx_pjrt_program *p)
{
    p->arg_layouts = calloc((size_t)p->nargs + 1, sizeof(void *));
    p->result_layouts = calloc((size_t)p->nresults + 1, sizeof(void *));
    if (!p->arg_layouts || !p->result_layouts)
        return jx_pjrt_starved();
    for (int i = 0; i < p->nargs; i++)
        p->arg_layouts[i] = jx_pjrt_layout(argument_of(p, i).rank);
    for (int i = 0; i < p->nresults; i++)
        p->result_layouts[i] = jx_pjrt_layout(result_of(p, i).rank);
    return NULL;
}

/* ---- making one */

static char *copy_bytes(const char *from, size_t size)
{
    char *to = malloc(size + 1);

    if (to && size)
        memcpy(to, from, size);
    return to;
}

static PJRT_Error *compile(jx_pjrt_program *p, size_t budget)
{
    jaxvet_error error;
    PJRT_Error *failed;

    p->program =
        jaxvet_open_memory(p->code, p->code_size, "module", budget, &error);
    if (!p->program)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_INVALID_ARGUMENT);
    if (jaxvet_program_handlers(p->program, &jx_ffi_handlers, &error) ==
            JAXVET_OK &&
        jaxvet_program_summands(p->program, &error) == JAXVET_OK)
        p->call = jaxvet_prepare(p->program, NULL, 0, &error);
    if (!p->call)
        return jx_pjrt_error_of(&error, PJRT_Error_Code_UNIMPLEMENTED);
    p->nins = jaxvet_input_count(p->program);
    p->nouts = jaxvet_output_count(p->program);
    p->ndevices = p->options.replicas * p->options.partitions;
    if (p->options.replicas > 1)
        return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                             "a program of %d replicas (partitions are run)",
                             p->options.replicas);
    failed = make_ports(p);
    if (!failed)
        failed = match_donors(p);
    if (!failed)
        failed = map_arguments(p);
    if (!failed)
        failed = list_kinds(p->nargs, p->arg_inputs, p->ins, &p->arg_kinds);
    if (!failed)
        failed = list_kinds(p->nresults, p->result_outputs, p->outs,
                            &p->result_kinds);
    if (!failed)
        failed = find_lenders(p);
    if (!failed)
        failed = list_results(p);
    return failed ? failed : list_layouts(p);
}

static void free_ports(jx_pjrt_port *ports, int count)
{
    for (int i = 0; ports && i < count; i++)
        free(ports[i].cut);
    free(ports);
}

static void free_program(jx_pjrt_program *p)
{
    for (int i = 0; i < p->nidle; i++)
        if (p->idle[i] != p->call)
            jaxvet_call_free(p->idle[i]);
    jx_pjrt_sanitized_free(p);
    jaxvet_call_free(p->call);
    jaxvet_close(p->program);
    jx_pjrt_options_free(&p->options);
    free(p->code);
    free(p->raw);
    free(p->idle);
    free_ports(p->ins, p->nins);
    free_ports(p->outs, p->nouts);
    free(p->arg_inputs);
    free(p->result_outputs);
    free(p->aliases);
    free(p->lenders);
    free(p->out_types);
    free(p->out_ranks);
    free(p->out_dims);
    free(p->arg_kinds.names);
    free(p->arg_kinds.sizes);
    free(p->result_kinds.names);
    free(p->result_kinds.sizes);
    free(p->arg_layouts);
    free(p->result_layouts);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

PJRT_Error *jx_pjrt_program_new(const PJRT_Client *client, const char *code,
                                size_t code_size, const char *options,
                                size_t options_size, jx_pjrt_program **to)
{
    jx_pjrt_program *p = calloc(1, sizeof *p);
    double begun = seconds_now();
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
        error =
            compile(p, client ? (size_t)client->limit : jaxvet_memory(NULL));
    if (!error)
        jx_pjrt_compiles_note(p->program, seconds_now() - begun);
    if (error) {
        free_program(p);
        return error;
    }
    jx_pjrt_fingerprint(p->code, code_size, p->raw, options_size,
                        p->fingerprint);
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
