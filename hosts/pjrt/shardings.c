/* shardings.c - the extension by which hosts ask how results lie on devices. */
#include "hosts/pjrt/plugin.h"

#include <stdlib.h>

/* An OpShardingProto: type (1), tile_assignment_dimensions (3),
 * tile_assignment_devices (4), replicate_on_last_tile_dim (6), last_tile_dims
 * (8): of what kind the tiles are that lie behind the array's axes. */
enum { REPLICATED = 0, TILED = 3, UNREDUCED = 6 };

static bool is_cut(const jaxvet_sharding *s)
{
    for (int i = 0; s && i < s->rank; i++)
        if (s->parts[i] > 1)
            return true;
    return false;
}

/* How many summands there are. */
static int64_t summands(const jaxvet_sharding *s)
{
    return s->is_summed ? s->parts[0] : 1;
}

/* The number of the part that a device has, counted row by row; summands of a
 * part come last. */
static int64_t part_of(const jaxvet_sharding *s, int device)
{
    const int *place = s->place + device * s->rank;
    int64_t part = 0;

    for (int i = s->is_summed; i < s->rank; i++)
        part = part * s->parts[i] + place[i];
    return part * summands(s) + (s->is_summed ? place[0] : 0);
}

/* The device that is the n-th to have a part. */
static int holder(const jaxvet_sharding *s, int64_t part, int64_t n)
{
    int d = 0;

    while (d < s->devices && (part_of(s, d) != part || n--))
        d++;
    return d;
}

/* Tiles of the array, of those the devices that have the same, of
 * these summands. */
static void write_tiles(const jaxvet_sharding *s, jx_wire_out *to)
{
    int64_t summed = summands(s), count = 1, same;

    for (int i = s->is_summed; i < s->rank; i++) {
        jx_wire_put_varint(to, 3, (uint64_t)s->parts[i]);
        count *= s->parts[i];
    }
    same = s->devices / (count * summed);
    if (same > 1)
        jx_wire_put_varint(to, 3, (uint64_t)same);
    if (summed > 1)
        jx_wire_put_varint(to, 3, (uint64_t)summed);
    for (int64_t tile = 0; tile < count; tile++)
        for (int64_t n = 0; n < same; n++)
            for (int64_t i = 0; i < summed; i++)
                jx_wire_put_varint(to, 4,
                                   (uint64_t)holder(s, tile * summed + i, n));
    if (same > 1 && summed == 1)
        jx_wire_put_varint(to, 6, 1);
    if (same > 1 && summed > 1)
        jx_wire_put_varint(to, 8, REPLICATED);
    if (summed > 1)
        jx_wire_put_varint(to, 8, UNREDUCED);
}

static bool write_sharding(const jaxvet_sharding *s, char **text, size_t *size)
{
    jx_wire_out to = {0};

    jx_wire_put_varint(&to, 1, is_cut(s) ? TILED : REPLICATED);
    if (is_cut(s))
        write_tiles(s, &to);
    *text = to.at;
    *size = to.size;
    return !to.failed;
}

void jx_pjrt_shardings_free(jx_pjrt_shardings *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->texts[i]);
    free(s->texts);
    free(s->sizes);
    *s = (jx_pjrt_shardings){0};
}

/* Those of `count` arguments or results, which are the ports that `numbers`
 * says; tokens are everywhere.  With the executable's lock. */
static PJRT_Error *write_all(const jx_pjrt_program *p, int count,
                             const int *numbers, const jx_pjrt_port *ports,
                             jx_pjrt_shardings *to)
{
    /* jaxlib minds an empty list */
    if (to->texts || p->ndevices == 1 || !count)
        return NULL;
    to->texts = calloc((size_t)count + 1, sizeof *to->texts);
    to->sizes = calloc((size_t)count + 1, sizeof *to->sizes);
    if (to->texts && to->sizes)
        to->count = count;
    for (int i = 0; i < to->count; i++)
        if (!write_sharding(numbers[i] < 0 ? NULL : ports[numbers[i]].sharding,
                            &to->texts[i], &to->sizes[i])) {
            jx_pjrt_shardings_free(to);
            return jx_pjrt_starved();
        }
    if (to->texts && to->sizes)
        return NULL;
    jx_pjrt_shardings_free(to);
    return jx_pjrt_starved();
}

static PJRT_Error *
parameters(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args)
{
    PJRT_Executable *x = args->executable;
    const jx_pjrt_program *p = x->program;
    PJRT_Error *error;

    pthread_mutex_lock(&x->lock);
    error = write_all(p, p->nargs, p->arg_inputs, p->ins, &x->inputs);
    pthread_mutex_unlock(&x->lock);
    args->num_parameters = (size_t)x->inputs.count;
    args->shardings = (const char *const *)(uintptr_t)x->inputs.texts;
    args->sharding_sizes = x->inputs.sizes;
    return error;
}

static PJRT_Error *
outputs(PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args)
{
    PJRT_Executable *x = args->executable;
    const jx_pjrt_program *p = x->program;
    PJRT_Error *error;

    pthread_mutex_lock(&x->lock);
    error = write_all(p, p->nresults, p->result_outputs, p->outs, &x->outputs);
    pthread_mutex_unlock(&x->lock);
    args->num_outputs = (size_t)x->outputs.count;
    args->shardings = (const char *const *)(uintptr_t)x->outputs.texts;
    args->sharding_sizes = x->outputs.sizes;
    return error;
}

JX_PJRT_ENTER(parameters,
              PJRT_Shardings_PJRT_Executable_ParameterShardings_Args,
              sharding_sizes)
JX_PJRT_ENTER(outputs, PJRT_Shardings_PJRT_Executable_OutputShardings_Args,
              sharding_sizes)

const PJRT_Shardings_Extension jx_pjrt_shardings_extension = {
    .base = {.struct_size = sizeof jx_pjrt_shardings_extension,
             .type = PJRT_Extension_Type_Shardings,
             .next =
                 (PJRT_Extension_Base *)(uintptr_t)&jx_pjrt_layouts_extension},
    .PJRT_Shardings_PJRT_Executable_ParameterShardings = enter_parameters,
    .PJRT_Shardings_PJRT_Executable_OutputShardings = enter_outputs,
};
