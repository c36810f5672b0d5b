/* execute.c - running executables.
 *
 * A program of several devices is the global one, and it is run once: a
 * sharding says where the parts of an array are, and nothing of what is
 * computed.  Its arguments are put together from the devices' parts, and its
 * results cut into theirs. */
#include "hosts/pjrt/ffi.h"
#include "hosts/pjrt/plugin.h"
#include "hosts/pjrt/sanitize.h"

#include <stdlib.h>
#include <string.h>

/* What a run holds. */
typedef struct run {
    jx_pjrt_program *program;
    const PJRT_LoadedExecutable_Execute_Args *args;
    PJRT_Device *const *devices; /* where parts come from and go to */
    jx_pjrt_storage **parts;     /* [input * devices + device] */
    jx_pjrt_storage **wholes;    /* of inputs, then of outputs */
    const void **ins;
    void **outs;
    PJRT_Buffer **results; /* [device * results + result] */
    unsigned sanitizes;    /* what it looks for: JAXVET_SANITIZE_... */
    size_t claimed;        /* buffers that are marked as given up */
} run;

static size_t devices_of(const run *r)
{
    return (size_t)r->program->ndevices;
}

/* ---- arguments */

static bool may_take(const PJRT_ExecuteOptions *options, int argument)
{
    for (size_t i = 0; options && i < options->num_non_donatable_input_indices;
         i++)
        if (options->non_donatable_input_indices[i] == argument)
            return false;
    return true;
}

static PJRT_Error *check_argument(const run *r, int input, const PJRT_Buffer *b)
{
    const jx_pjrt_shape *expected = &r->program->ins[input].part;
    bool fits = b && b->type == expected->type && b->rank == expected->rank;

    for (int k = 0; fits && k < b->rank; k++)
        fits = b->dims[k] == expected->dims[k];
    return fits
               ? NULL
               : jx_pjrt_error(
                     PJRT_Error_Code_INVALID_ARGUMENT,
                     "input %d: expected %s%s, found an array of "
                     "another type or shape",
                     input, r->program->ins[input].sharding ? "a part of " : "",
                     jaxvet_input_type(r->program->program, input));
}

static PJRT_Error *hold_arguments(run *r)
{
    PJRT_Error *error = NULL;

    for (int i = 0; i < r->program->nargs; i++) {
        int input = r->program->arg_inputs[i];
        for (size_t d = 0; !error && input >= 0 && d < devices_of(r); d++) {
            PJRT_Buffer *b = r->args->argument_lists[d][i];
            error = check_argument(r, input, b);
            if (!error)
                error = jx_pjrt_buffer_hold(
                    b, &r->parts[(size_t)input * devices_of(r) + d]);
        }
    }
    return error;
}

static bool is_taken(const run *r, int argument)
{
    int input = r->program->arg_inputs[argument];

    return input >= 0 && r->program->aliases[input] != JAXVET_KEPT &&
           may_take(r->args->options, argument);
}

/* Marks a buffer as given up, or not; whether it was the other before. */
static bool mark(PJRT_Buffer *b, bool given)
{
    bool changed;

    pthread_mutex_lock(&b->lock);
    changed = b->is_given != given;
    b->is_given = given;
    pthread_mutex_unlock(&b->lock);
    return changed;
}

static bool is_marked(PJRT_Buffer *b)
{
    bool given;

    pthread_mutex_lock(&b->lock);
    given = b->is_given;
    pthread_mutex_unlock(&b->lock);
    return given;
}

static PJRT_Error *used_twice(int argument)
{
    return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                         "argument %d is a buffer that is donated, and is used "
                         "twice",
                         argument);
}

/* A buffer that is given up is no other argument, here or in another thread. */
static PJRT_Error *claim_donations(run *r)
{
    PJRT_Buffer *const **lists = r->args->argument_lists;

    for (int i = 0; i < r->program->nargs; i++)
        for (size_t d = 0; is_taken(r, i) && d < devices_of(r); d++) {
            if (!mark(lists[d][i], true))
                return used_twice(i);
            r->claimed++;
        }
    for (int i = 0; r->claimed && i < r->program->nargs; i++)
        for (size_t d = 0; r->program->arg_inputs[i] >= 0 && !is_taken(r, i) &&
                           d < devices_of(r);
             d++)
            if (is_marked(lists[d][i]))
                return used_twice(i);
    return NULL;
}

/* The run has failed. */
static void return_donations(run *r)
{
    for (int i = 0; r->claimed && i < r->program->nargs; i++)
        for (size_t d = 0; is_taken(r, i) && r->claimed && d < devices_of(r);
             d++) {
            mark(r->args->argument_lists[d][i], false);
            r->claimed--;
        }
}

/* What several devices have of the same is the same. */
static PJRT_Error *compare(int input, const jx_pjrt_storage *a,
                           const jx_pjrt_storage *b)
{
    if (a == b || !a->size || !memcmp(a->bytes, b->bytes, a->size))
        return NULL;
    return jx_pjrt_error(
        PJRT_Error_Code_UNIMPLEMENTED,
        "input %d: devices that should have the same part of it "
        "have different ones",
        input);
}

static PJRT_Error *assemble(run *r, int input)
{
    const jx_pjrt_port *port = &r->program->ins[input];
    jx_pjrt_storage **parts = r->parts + (size_t)input * devices_of(r);
    jx_pjrt_storage *whole = NULL;
    PJRT_Error *error = NULL;

    if (port->sharding) {
        whole = jx_pjrt_storage_new(port->size, r->devices[0]);
        if (!whole)
            return jx_pjrt_out_of_memory(port->size, r->devices[0]);
        r->wholes[input] = whole;
    }
    for (int d = 0; !error && d < r->program->ndevices; d++) {
        int first = jx_pjrt_part_first(port, d);
        if (first < d)
            error = compare(input, parts[first], parts[d]);
        else if (whole)
            jx_pjrt_part_put(port, d, parts[d]->bytes, whole->bytes);
    }
    r->ins[input] = whole ? whole->bytes : parts[0]->bytes;
    return error;
}

/* ---- results */

/* The memory of an argument that is given up for this output; it is gone
 * from now on, whatever becomes of the run.  NULL: there is none, or
 * others see it. */
static jx_pjrt_storage *take_over(run *r, int output)
{
    int argument = r->program->lenders[output];
    int input = argument < 0 ? -1 : r->program->arg_inputs[argument];

    return input >= 0 && is_taken(r, argument) &&
                   r->parts[input]->device == r->devices[0] &&
                   jx_pjrt_buffer_lend(r->args->argument_lists[0][argument])
               ? jx_pjrt_storage_share(r->parts[input])
               : NULL;
}

static PJRT_Error *make_output(run *r, int output)
{
    size_t size = r->program->outs[output].size;
    jx_pjrt_storage **whole = &r->wholes[r->program->nins + output];

    if (!*whole)
        *whole = jx_pjrt_storage_new(size, r->devices[0]);
    if (!*whole)
        return jx_pjrt_out_of_memory(size, r->devices[0]);
    r->outs[output] = (*whole)->bytes;
    return NULL;
}

/* Arguments are taken last: where there is no memory they stay. */
static PJRT_Error *make_outputs(run *r)
{
    const int *lenders = r->program->lenders;
    PJRT_Error *error = NULL;

    for (int i = 0; !error && i < r->program->nouts; i++)
        if (lenders[i] < 0)
            error = make_output(r, i);
    for (int i = 0; !error && i < r->program->nouts; i++)
        if (lenders[i] >= 0) {
            if (!r->sanitizes) /* which may have to run once more */
                r->wholes[r->program->nins + i] = take_over(r, i);
            error = make_output(r, i);
        }
    return error;
}

/* A device's part of an output; where that is all of it, the output itself. */
static PJRT_Error *cut(const run *r, int output, int device, PJRT_Buffer **to)
{
    const jx_pjrt_port *port = &r->program->outs[output];
    jx_pjrt_storage *whole = r->wholes[r->program->nins + output];
    PJRT_Memory *memory = r->devices[device]->memory_list[port->memory];
    PJRT_Error *error;

    if (!port->sharding)
        return jx_pjrt_buffer_on(port->part, NULL, memory,
                                 jx_pjrt_storage_share(whole), to);
    error = jx_pjrt_buffer_new(port->part, NULL, memory, to);
    if (!error)
        jx_pjrt_part_get(port, device, whole->bytes, (*to)->storage->bytes);
    return error;
}

static PJRT_Error *make_results(run *r)
{
    const jx_pjrt_program *p = r->program;
    PJRT_Error *error = NULL;

    for (int d = 0; d < p->ndevices; d++)
        for (int i = 0; !error && i < p->nresults; i++) {
            int output = p->result_outputs[i];
            PJRT_Buffer **to =
                &r->results[(size_t)d * (size_t)p->nresults + (size_t)i];
            error = output < 0 ? jx_pjrt_buffer_new(jx_pjrt_token,
                                                    r->devices[d], NULL, to)
                               : cut(r, output, d, to);
        }
    return error;
}

/* ---- the run */

static PJRT_Error *compute(run *r)
{
    const PJRT_ExecuteOptions *options = r->args->options;
    jx_ffi_run given = {.context = options && PJRT_GIVES(options, context)
                                       ? (jx_ffi_context *)options->context
                                       : NULL,
                        .run_id = options ? options->launch_id : 0,
                        .device = r->devices[0]->description.id};
    jaxvet_call *call;
    jaxvet_error error;
    PJRT_Error *failed;

    if (r->sanitizes) {
        failed = jx_pjrt_sanitized_run(r->program, r->sanitizes,
                                       r->devices[0]->client, r->ins, r->outs,
                                       &given);
        jx_ffi_error_clear(&given.error);
        return failed;
    }
    failed = jx_pjrt_program_take(r->program, &call);
    if (failed)
        return failed;
    jaxvet_call_help(call, r->devices[0]->client->helper);
    if (jaxvet_run_with(call, r->ins, r->outs, &given, &error) != JAXVET_OK)
        failed = given.error.message
                     ? jx_pjrt_error((PJRT_Error_Code)given.error.code, "%s",
                                     given.error.message)
                     : jx_pjrt_error_of(&error, PJRT_Error_Code_INTERNAL);
    jx_ffi_error_clear(&given.error);
    jx_pjrt_program_give(r->program, call);
    return failed;
}

static void take_donations(run *r)
{
    for (int i = 0; i < r->program->nargs; i++)
        for (size_t d = 0; is_taken(r, i) && d < devices_of(r); d++)
            jx_pjrt_buffer_delete(r->args->argument_lists[d][i]);
}

static PJRT_Error *execute(run *r)
{
    PJRT_Error *error = hold_arguments(r);

    if (!error)
        error = claim_donations(r);
    for (int i = 0; !error && i < r->program->nins; i++)
        error = assemble(r, i);
    if (!error)
        error = make_outputs(r);
    if (!error)
        error = compute(r);
    if (!error)
        error = make_results(r);
    if (error)
        return_donations(r);
    else
        take_donations(r);
    return error;
}

/* Hands the results over, or lets go of them; and of all else. */
static void finish(run *r, bool done)
{
    size_t ndevices = devices_of(r), nresults = (size_t)r->program->nresults;
    size_t nins = (size_t)r->program->nins, nouts = (size_t)r->program->nouts;

    for (size_t d = 0; d < ndevices; d++)
        for (size_t i = 0; i < nresults; i++) {
            PJRT_Buffer *result = r->results[d * nresults + i];
            if (done)
                r->args->output_lists[d][i] = result;
            else
                jx_pjrt_buffer_free(result);
        }
    for (size_t i = 0; i < nins * ndevices; i++)
        jx_pjrt_storage_drop(r->parts[i]);
    for (size_t i = 0; i < nins + nouts; i++)
        jx_pjrt_storage_drop(r->wholes[i]);
}

static PJRT_Error *execute_on(jx_pjrt_program *p, PJRT_Device *const *devices,
                              PJRT_LoadedExecutable_Execute_Args *args)
{
    size_t nins = (size_t)p->nins, nouts = (size_t)p->nouts;
    size_t ndevices = (size_t)p->ndevices, nresults = (size_t)p->nresults;
    void **room =
        calloc(nins * (ndevices + 2) + nouts * 2 + ndevices * nresults + 1,
               sizeof *room);
    run r = {.program = p,
             .args = args,
             .devices = devices,
             .sanitizes = jx_pjrt_sanitize_kinds()};
    PJRT_Error *error;

    if (!room)
        return jx_pjrt_starved();
    r.parts = (jx_pjrt_storage **)room;
    r.wholes = r.parts + nins * ndevices;
    r.ins = (const void **)(uintptr_t)(r.wholes + nins + nouts);
    r.outs = (void **)(uintptr_t)(r.ins + nins);
    r.results = (PJRT_Buffer **)(r.outs + nouts);
    error = execute(&r);
    finish(&r, !error);
    free(room);
    return error;
}

static PJRT_Error *check_counts(const jx_pjrt_program *p,
                                const PJRT_LoadedExecutable_Execute_Args *args)
{
    if (args->options) {
        PJRT_Error *error =
            JX_PJRT_CHECK(PJRT_ExecuteOptions, num_non_donatable_input_indices,
                          args->options);
        if (error)
            return error;
    }
    if (args->num_args != (size_t)p->nargs)
        return jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                             "expected %d arguments, found %zu", p->nargs,
                             args->num_args);
    if (args->num_devices != (size_t)p->ndevices)
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected arguments of %d devices, found those of %zu", p->ndevices,
            args->num_devices);
    if ((p->nargs && !args->argument_lists) ||
        (p->nresults && !args->output_lists))
        return jx_pjrt_error(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "expected lists of arguments and results, found none");
    return NULL;
}

PJRT_Error *
jx_pjrt_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_LoadedExecutable *x = args->executable;
    bool elsewhere = args->execute_device && x->ndevices == 1;
    jx_pjrt_program *program;
    PJRT_Error *error = jx_pjrt_executable_hold(x, &program);

    if (!program)
        return error;
    /* so that it may be destroyed meanwhile */
    atomic_fetch_add(&x->holders, 1);
    error = check_counts(program, args);
    if (!error)
        error = execute_on(
            program, elsewhere ? &args->execute_device : x->devices, args);
    for (size_t d = 0;
         !error && args->device_complete_events && d < args->num_devices; d++)
        args->device_complete_events[d] = jx_pjrt_event_ready();
    jx_pjrt_program_drop(program);
    jx_pjrt_executable_drop(x);
    return error;
}
