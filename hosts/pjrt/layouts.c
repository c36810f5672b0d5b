/* layouts.c - the extension by which hosts ask how arrays lie in
 * memory: row by row. */
#include "hosts/pjrt/plugin.h"

#include <stdio.h>
#include <string.h>

enum { MOST_AXES = 64 };

/* As XLA writes layouts: the axes, the one whose elements lie side
 * by side first. */
struct PJRT_Layouts_MemoryLayout {
    char text[3 * MOST_AXES + 3];
};

static PJRT_Layouts_MemoryLayout layouts[MOST_AXES + 1];
static pthread_once_t are_written = PTHREAD_ONCE_INIT;

static void write_layouts(void)
{
    for (int rank = 0; rank <= MOST_AXES; rank++) {
        char *text = layouts[rank].text;
        int at = snprintf(text, sizeof layouts->text, "{");
        for (int axis = rank - 1; axis >= 0; axis--)
            at += snprintf(text + at, sizeof layouts->text - (size_t)at, "%d%s",
                           axis, axis ? "," : "");
        snprintf(text + at, sizeof layouts->text - (size_t)at, "}");
    }
}

PJRT_Layouts_MemoryLayout *jx_pjrt_layout(int rank)
{
    pthread_once(&are_written, write_layouts);
    return rank >= 0 && rank <= MOST_AXES ? &layouts[rank] : NULL;
}

static PJRT_Error *give(size_t rank, PJRT_Layouts_MemoryLayout **to)
{
    *to = rank <= MOST_AXES ? jx_pjrt_layout((int)rank) : NULL;
    return *to ? NULL
               : jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                               "an array of %zu axes: at most %d", rank,
                               MOST_AXES);
}

static PJRT_Error *give_all(int count, PJRT_Layouts_MemoryLayout **all,
                            size_t *n, PJRT_Layouts_MemoryLayout ***to)
{
    for (int i = 0; i < count; i++)
        if (!all[i])
            return jx_pjrt_error(PJRT_Error_Code_UNIMPLEMENTED,
                                 "array %d has more than %d axes", i,
                                 MOST_AXES);
    *n = (size_t)count;
    *to = all;
    return NULL;
}

static PJRT_Error *destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *args)
{
    (void)args; /* they are there for all */
    return NULL;
}

static void keep(PJRT_Layouts_SerializedLayout *layout)
{
    (void)layout;
}

static PJRT_Error *serialize(PJRT_Layouts_MemoryLayout_Serialize_Args *args)
{
    args->serialized_bytes = args->layout->text;
    args->serialized_bytes_size = strlen(args->layout->text);
    args->serialized_layout = NULL;
    args->serialized_layout_deleter = keep;
    return NULL;
}

static PJRT_Error *
of_client(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args *args)
{
    return give(args->num_dims, &args->layout);
}

static PJRT_Error *of_buffer(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args)
{
    return give((size_t)args->buffer->rank, &args->layout);
}

static PJRT_Error *
of_topology(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args)
{
    return give(args->num_dims, &args->layout);
}

static PJRT_Error *
of_outputs(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;

    return give_all(p->nresults, p->result_layouts, &args->num_outputs,
                    &args->layouts);
}

static PJRT_Error *
of_parameters(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args)
{
    const jx_pjrt_program *p = args->executable->program;

    return give_all(p->nargs, p->arg_layouts, &args->num_parameters,
                    &args->layouts);
}

JX_PJRT_ENTER(destroy, PJRT_Layouts_MemoryLayout_Destroy_Args, layout)
JX_PJRT_ENTER(serialize, PJRT_Layouts_MemoryLayout_Serialize_Args,
              serialized_layout_deleter)
JX_PJRT_ENTER(of_client, PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args, layout)
JX_PJRT_ENTER(of_buffer, PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args, layout)
JX_PJRT_ENTER(of_topology, PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args,
              layout)
JX_PJRT_ENTER(of_outputs, PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args,
              layouts)
JX_PJRT_ENTER(of_parameters,
              PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args, layouts)

const PJRT_Layouts_Extension jx_pjrt_layouts_extension = {
    .base = {.struct_size = sizeof jx_pjrt_layouts_extension,
             .type = PJRT_Extension_Type_Layouts,
             .next =
                 (PJRT_Extension_Base *)(uintptr_t)&jx_pjrt_memories_extension},
    .PJRT_Layouts_MemoryLayout_Destroy = enter_destroy,
    .PJRT_Layouts_MemoryLayout_Serialize = enter_serialize,
    .PJRT_Layouts_PJRT_Client_GetDefaultLayout = enter_of_client,
    .PJRT_Layouts_PJRT_Buffer_MemoryLayout = enter_of_buffer,
    .PJRT_Layouts_PJRT_Topology_GetDefaultLayout = enter_of_topology,
    .PJRT_Layouts_PJRT_Executable_GetOutputLayouts = enter_of_outputs,
    .PJRT_Layouts_PJRT_Executable_GetParameterLayouts = enter_of_parameters,
};
