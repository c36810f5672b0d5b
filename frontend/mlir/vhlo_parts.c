/* vhlo_parts.c - the VHLO converter's maps, and its failure. */
#include "frontend/mlir/vhlo_parts.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdio.h>

void jx_vhlo_init_maps(jx_vhlo *v)
{
    jx_map_init(&v->legal, v->scratch);
    jx_map_init(&v->known, v->scratch);
    jx_map_init(&v->type_map, v->scratch);
    jx_map_init(&v->attr_map, v->scratch);
    jx_map_init(&v->dict_map, v->scratch);
    jx_map_init(&v->casts, v->scratch);
}

bool jx_vhlo_fail(jx_vhlo *v, const char *format, ...)
{
    char what[300], place[60];
    va_list args;

    if (v->failed)
        return false;
    v->failed = true;
    va_start(args, format);
    jx_vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (v->op && v->op->place.line)
        snprintf(place, sizeof place, "line %d, column %d", v->op->place.line,
                 v->op->place.column);
    else
        snprintf(place, sizeof place, "byte %zu",
                 v->op ? v->op->place.offset : 0);
    return jx_fail(v->ctx, JX_E_INPUT, v->path, v->op ? place : NULL, "%s: %s",
                   v->op ? v->op->name : "VHLO", what);
}
