/* shards.c - arrays in equal parts, one of which each device has.  Of an array
 * of summands the part is one of these. */
#include "hosts/pjrt/plugin.h"

#include <string.h>

/* Rows of a part and where they lie in the whole. */
typedef struct copy {
    const jx_pjrt_port *port;
    const int *place; /* of the device's part */
    size_t element;
    bool inward; /* into the whole */
    char *part;
} copy;

/* Copies what lies below one index of the axes before `axis`; `at` is the
 * element of the whole where that begins. */
static void copy_rows(copy *c, char *whole, int axis, int64_t at)
{
    const jx_pjrt_port *port = c->port;
    int64_t size = port->cut[axis];
    int64_t first = at * port->whole.dims[axis] + c->place[axis] * size;
    size_t row = (size_t)size * c->element;

    if (axis + 1 < port->whole.rank) {
        for (int64_t i = 0; i < size; i++)
            copy_rows(c, whole, axis + 1, first + i);
        return;
    }
    whole += (size_t)first * c->element;
    memcpy(c->inward ? whole : c->part, c->inward ? c->part : whole, row);
    c->part += row;
}

static void copy_part(const jx_pjrt_port *port, int device, void *part,
                      void *whole, bool inward)
{
    copy c = {port, NULL, jx_pjrt_type_bytes(port->whole.type), inward, part};

    if (!port->size)
        return;
    if (!port->sharding || !port->whole.rank) {
        memcpy(inward ? whole : part, inward ? part : whole, port->size);
        return;
    }
    c.place = port->sharding->place + device * port->whole.rank;
    copy_rows(&c, whole, 0, 0);
}

void jx_pjrt_part_put(const jx_pjrt_port *port, int device, const void *part,
                      void *whole)
{
    copy_part(port, device, (void *)(uintptr_t)part, whole, true);
}

void jx_pjrt_part_get(const jx_pjrt_port *port, int device, const void *whole,
                      void *part)
{
    copy_part(port, device, part, (void *)(uintptr_t)whole, false);
}

int jx_pjrt_part_first(const jx_pjrt_port *port, int device)
{
    size_t rank = (size_t)port->whole.rank;
    const int *place = port->sharding ? port->sharding->place : NULL;

    for (int d = 0; d < device; d++)
        if (!place || !rank ||
            !memcmp(place + (size_t)d * rank, place + (size_t)device * rank,
                    rank * sizeof *place))
            return d;
    return device;
}
