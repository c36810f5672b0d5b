/* plane.c - see plane.h: elements, and from cells to planes and back. */
#include "runtime/field/plane.h"

#include <math.h>
#include <string.h>

enum { MOST_CONSTANTS = 1 << 14 }; /* of one array, that are kept as cells */

jx_plane *jx_plane_new(jx_field *f, int64_t stored)
{
    jx_arena *arena = f->ctx->arena;
    jx_plane *to = JX_NEW(arena, jx_plane);

    if (to) {
        to->v = JX_NEW_ARRAY(arena, stored + 1, uint64_t);
        to->e = f->exponents ? JX_NEW_ARRAY(arena, stored + 1, uint64_t) : NULL;
        to->state = JX_NEW_ARRAY(arena, stored + 1, uint8_t);
    }
    f->spent |= !to || !to->v || !to->state || (f->exponents && !to->e);
    return f->spent ? NULL : to;
}

bool jx_plane_may_extend(jx_field *f, jx_plane *plane, int64_t stored)
{
    if (!plane->w) {
        plane->w = JX_NEW_ARRAY(f->ctx->arena, stored + 1, uint64_t);
        plane->root = JX_NEW_ARRAY(f->ctx->arena, stored + 1, uint32_t);
    }
    f->spent |= !plane->w || !plane->root;
    return !f->spent;
}

bool jx_plane_may_need(jx_field *f, jx_plane *plane, int64_t stored)
{
    if (!plane->needs)
        plane->needs = JX_NEW_ARRAY(f->ctx->arena, stored + 1, const jx_keys *);
    f->spent |= !plane->needs;
    return plane->needs != NULL;
}

void jx_plane_bounds(jx_plane *to, const jx_plane *like)
{
    to->over = fmaxf(to->over, like->over);
    to->under = fmaxf(to->under, like->under);
    to->height = fmaxf(to->height, like->height);
    to->parts = fmaxf(to->parts, like->parts);
}

/* ---- elements */

/* What a plane knows of a number that it is a constant: that it is zero, or
 * what a boolean is. */
static double about(jx_dtype dtype, jx_cell_kind kind, uint8_t signs,
                    uint64_t v)
{
    if (kind == JX_CELL_INFINITE)
        return signs == JX_MAY_BE_NEGATIVE ? -INFINITY : INFINITY;
    if (kind == JX_CELL_NUMBER && dtype == JX_BOOL && signs != JX_STATE_BLENDED)
        return (double)v;
    return kind == JX_CELL_NUMBER && !v && dtype != JX_BOOL ? 0 : NAN;
}

jx_cell jx_plane_get(const jx_field_value *of, int64_t i)
{
    const jx_plane *p = of->plane;

    if (!p)
        return of->cells[i];
    uint8_t signs = p->state[i] & JX_STATE_SIGNS;
    jx_cell_kind kind = jx_state_kind(p->state[i]);
    jx_cell to = {
        .kind = (uint8_t)kind,
        .signs = signs,
        .v = p->v[i],
        .w = p->w ? p->w[i] : 0,
        .root = p->w ? p->root[i] : 0,
        .e = p->e ? p->e[i] : 0,
        .over = p->over,
        .under = p->under,
        .bits = p->height,
        .parts = p->parts,
        .about = about(of->dtype, kind, signs, p->v[i] | (p->w ? p->w[i] : 0)),
        .needs = p->needs ? p->needs[i] : NULL};
    to.blended = of->dtype == JX_BOOL && signs == JX_STATE_BLENDED;
    to.base = isnan(to.about) ? to.v : 0;
    to.off = isnan(to.about) ? 0 : to.about;
    if (kind == JX_CELL_NUMBER && !to.v && !to.w)
        to.signs = JX_MAY_BE_ZERO;
    return to;
}

jx_cell jx_plane_element(const jx_field_value *of, int64_t i)
{
    return jx_plane_get(of, of->splat ? 0 : i);
}

/* log2 of a constant's magnitude, and of its denominator. */
static void size_of(const jx_cell *cell, float *height, float *parts)
{
    int exponent;
    double whole;

    *height = cell->bits;
    *parts = cell->parts;
    if (cell->kind || isnan(cell->about) || cell->bits > 64 + 1100)
        return;
    whole = frexp(fabs(cell->about), &exponent);
    *height = exponent > 0 ? (float)exponent : 0;
    for (*parts = 0; whole != floor(whole) && *parts < 64; ++*parts)
        whole *= 2;
    *parts = fmaxf(0, *parts - (float)exponent);
    /* it is more than the double beside it */
    if (cell->bits > 64 + (float)(exponent < 0 ? -exponent : exponent))
        *height = cell->bits, *parts = cell->parts;
}

void jx_plane_put(jx_field *f, jx_field_value *to, int64_t i,
                  const jx_cell *cell)
{
    jx_plane *p = to->plane;
    float height, parts;

    if (!p) {
        to->cells[i] = *cell;
        return;
    }
    p->v[i] = cell->v;
    if ((cell->w || p->w) && jx_plane_may_extend(f, p, jx_field_stored(to))) {
        p->w[i] = cell->w;
        p->root[i] = cell->root;
    }
    if (p->e)
        p->e[i] = cell->e;
    p->state[i] = JX_STATE(cell->kind, to->dtype == JX_BOOL && cell->blended
                                           ? JX_STATE_BLENDED
                                           : cell->signs);
    if (cell->needs && jx_plane_may_need(f, p, jx_field_stored(to)))
        p->needs[i] = cell->needs;
    size_of(cell, &height, &parts);
    jx_plane_bounds(p, &(jx_plane){.over = cell->over,
                                   .under = cell->under,
                                   .height = height,
                                   .parts = parts});
}

void jx_plane_copy(jx_field *f, jx_field_value *to, int64_t first,
                   const jx_field_value *from)
{
    const jx_plane *p = from->plane;
    jx_plane *into = to->plane;
    bool whole = into && !from->splat && first + from->count <= to->count;

    if (into && ((p->needs && !jx_plane_may_need(f, into, to->count)) ||
                 (p->w && !jx_plane_may_extend(f, into, to->count))))
        return;
    if (whole) {
        size_t n = (size_t)from->count;
        memcpy(into->v + first, p->v, n * sizeof *p->v);
        memcpy(into->state + first, p->state, n);
        if (p->w) {
            memcpy(into->w + first, p->w, n * sizeof *p->w);
            memcpy(into->root + first, p->root, n * sizeof *p->root);
        }
        if (into->e && p->e)
            memcpy(into->e + first, p->e, n * sizeof *p->e);
        if (p->needs)
            memcpy(into->needs + first, p->needs, n * sizeof *p->needs);
        jx_plane_bounds(into, p);
        return;
    }
    for (int64_t i = 0; i < from->count && first + i < to->count; i++) {
        jx_cell cell = jx_plane_element(from, i);
        jx_plane_put(f, to, first + i, &cell);
    }
}

bool jx_plane_collapse(jx_field *f, const jx_field_value *of,
                       jx_field_value *to)
{
    int64_t stored = jx_field_stored(of);
    jx_plane *plane;

    *to = *of;
    if (!of->plane->w)
        return true;
    plane = jx_arena_copy(f->ctx->arena, of->plane, sizeof *of->plane);
    if (!plane ||
        !(plane->v = JX_NEW_ARRAY(f->ctx->arena, stored + 1, uint64_t))) {
        f->spent = true;
        return false;
    }
    plane->w = NULL;
    for (int64_t i = 0; i < stored; i++) {
        jx_cell cell = jx_plane_get(of, i);
        plane->v[i] = jx_cell_collapsed(f, &cell).v;
    }
    to->plane = plane;
    return true;
}

bool jx_plane_take(jx_field *f, const jx_field_value *from, const int64_t *at,
                   jx_field_value *to)
{
    const jx_cell zero = jx_cell_integer(f, 0);

    to->plane = jx_plane_new(f, to->count);
    if (!to->plane)
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        jx_cell cell = at[i] < 0 ? zero : jx_plane_element(from, at[i]);
        jx_plane_put(f, to, i, &cell);
    }
    jx_plane_bounds(to->plane, from->plane);
    return !f->spent;
}

/* ---- whole values */

bool jx_plane_of(jx_field *f, const jx_field_value *of, jx_field_value *to)
{
    int64_t stored = jx_field_stored(of);
    const jx_cell *cells = of->cells; /* `to` may be `of` */

    *to = *of;
    if (of->plane)
        return true;
    if (!cells || !(to->plane = jx_plane_new(f, stored)))
        return false;
    to->cells = NULL;
    for (int64_t i = 0; i < stored; i++)
        jx_plane_put(f, to, i, &cells[i]);
    return !f->spent;
}

bool jx_plane_cells(jx_field *f, const jx_field_value *of, jx_field_value *to)
{
    *to = *of;
    if (!of->plane && !of->splat)
        return true;
    to->plane = NULL;
    to->splat = false;
    to->cells = JX_NEW_ARRAY(f->ctx->arena, of->count + 1, jx_cell);
    f->spent |= !to->cells;
    for (int64_t i = 0; to->cells && i < of->count; i++)
        to->cells[i] = jx_plane_element(of, i);
    return to->cells != NULL;
}

bool jx_plane_keep(jx_field *f, jx_field_value *value)
{
    int64_t stored = jx_field_stored(value);
    bool known = value->count <= 1;

    if (!value->cells || value->unknown)
        return true;
    if (!known && value->count <= MOST_CONSTANTS) {
        known = true;
        for (int64_t i = 0; known && i < stored; i++)
            known = !isnan(value->cells[i].about);
    }
    return known || jx_plane_of(f, value, value);
}
