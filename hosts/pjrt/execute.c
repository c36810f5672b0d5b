/* execute.c - running executables. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>
#include <string.h>

/* What a run holds. */
typedef struct run {
    jx_pjrt_program *program;
    const PJRT_LoadedExecutable_Execute_Args *args;
    PJRT_Device *device; /* where results go */
    jx_pjrt_storage **held; /* of arguments */
    const void **ins;
    void **outs;
    PJRT_Buffer **results;
} run;

static bool may_take(const PJRT_ExecuteOptions *options, int input)
{
    for (size_t i = 0;
         options && i < options->num_non_donatable_input_indices; i++)
        if (options->non_donatable_input_indices[i] == input)
            return false;
    return true;
}

static PJRT_Error *check_argument(const run *r, int i, const PJRT_Buffer *b)
{
    const jx_pjrt_shape *expected = &r->program->ins[i];
    bool fits = b && b->type == expected->type && b->rank == expected->rank;

    for (int k = 0; fits && k < b->rank; k++)
        fits = b->dims[k] == expected->dims[k];
    return fits ? NULL
                : jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                                "argument %d: expected %s of rank %d, found an "
                                "array of another type or shape",
                                i, jaxvet_input_type(r->program->program, i),
                                expected->rank);
}

static PJRT_Error *hold_arguments(run *r)
{
    PJRT_Error *error = NULL;

    for (int i = 0; !error && i < r->program->nins; i++) {
        PJRT_Buffer *b = r->args->argument_lists[0][i];
        error = check_argument(r, i, b);
        if (!error)
            error = jx_pjrt_buffer_hold(b, &r->held[i]);
        if (!error)
            r->ins[i] = r->held[i]->bytes;
    }
    return error;
}

static PJRT_Error *make_results(run *r)
{
    PJRT_Error *error = NULL;

    for (int i = 0; !error && i < r->program->nouts; i++) {
        error = jx_pjrt_buffer_new(r->program->outs[i], r->device, NULL,
                                   &r->results[i]);
        if (!error)
            r->outs[i] = r->results[i]->storage->bytes;
    }
    return error;
}

static PJRT_Error *compute(run *r)
{
    jaxvet_call *call = NULL;
    jaxvet_error error;
    PJRT_Error *failed = jx_pjrt_program_take(r->program, &call);

    if (failed)
        return failed;
    if (jaxvet_run(call, r->ins, r->outs, &error) != JAXVET_OK)
        failed = jx_pjrt_error_of(&error, PJRT_Error_Code_INTERNAL);
    jx_pjrt_program_give(r->program, call);
    return failed;
}

/* What was donated is gone, whatever became of it. */
static void take_donations(run *r)
{
    for (int i = 0; i < r->program->nins; i++)
        if (r->program->aliases[i] != JAXVET_KEPT &&
            may_take(r->args->options, i))
            jx_pjrt_buffer_delete(r->args->argument_lists[0][i]);
}

static PJRT_Error *execute(run *r)
{
    PJRT_Error *error = hold_arguments(r);

    if (!error)
        error = make_results(r);
    if (!error)
        error = compute(r);
    if (!error)
        take_donations(r);
    for (int i = 0; i < r->program->nins; i++)
        jx_pjrt_storage_drop(r->held[i]);
    for (int i = 0; i < r->program->nouts; i++) {
        if (error)
            jx_pjrt_buffer_free(r->results[i]);
        else
            r->args->output_lists[0][i] = r->results[i];
    }
    return error;
}

static PJRT_Error *execute_on(jx_pjrt_program *p, PJRT_Device *device,
                              PJRT_LoadedExecutable_Execute_Args *args)
{
    size_t nins = (size_t)p->nins, nouts = (size_t)p->nouts;
    void **room = calloc(2 * (nins + nouts) + 1, sizeof *room);
    run r = {.program = p, .args = args, .device = device};
    PJRT_Error *error;

    if (!room)
        return jx_pjrt_starved();
    r.held = (jx_pjrt_storage **)room;
    r.ins = (const void **)(uintptr_t)(room + nins);
    r.outs = room + 2 * nins;
    r.results = (PJRT_Buffer **)(room + 2 * nins + nouts);
    error = execute(&r);
    free(room);
    return error;
}

PJRT_Error *
jx_pjrt_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    PJRT_LoadedExecutable *x = args->executable;
    PJRT_Device *device = args->execute_device ? args->execute_device : x->devices[0];
    jx_pjrt_program *program = NULL;
    PJRT_Error *error = jx_pjrt_executable_hold(x, &program);

    if (error)
        return error;
    if (args->num_args != (size_t)program->nins)
        error = jx_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                              "expected %d arguments, found %zu", program->nins,
                              args->num_args);
    else if (args->num_devices != 1)
        error = jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                              "a program of %zu devices", args->num_devices);
    else
        error = execute_on(program, device, args);
    if (!error && args->device_complete_events)
        args->device_complete_events[0] = jx_pjrt_event_ready();
    jx_pjrt_program_drop(program);
    return error;
}
