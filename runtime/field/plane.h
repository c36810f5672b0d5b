/* plane.h - arrays of numbers over a ring, of which less is known
 * than of cells.
 *
 * A cell (cell.h) knows much of one element.  Where nobody asks for ways
 * (choices are blended) arrays of some thousand elements do with less: what
 * each is, and of all together degrees and sizes.  Constants stay cells, whose
 * values are known; what is a random number anyhow is a plane.  Sums, products,
 * contractions, choices by what is known and moves have loops of their own, all
 * else is done by cells, one element at a time.
 *
 * A value may be *splat*: one element is stored for all. */
#ifndef JX_PLANE_H
#define JX_PLANE_H

#include "frontend/ir/params.h"
#include "runtime/field/field.h"

struct jx_plane {
    uint64_t *v;    /* of F_p */
    uint64_t *w;    /* times a root (jx_root); NULL: all are 0 */
    uint32_t *root; /* which, where there is w */
    /* of F_q; NULL: jx_field.exponents says that nobody needs it */
    uint64_t *e;
    uint8_t *state;        /* JX_STATE() */
    const jx_keys **needs; /* or NULL: nothing needs anything */
    /* Of all elements at most: the degree in inputs and inverses, and how deep
     * these are nested (jx_cell_degree); log2 of the sum of the coefficients'
     * magnitudes, and of the power of 2 that makes them integers. */
    float over, under, height, parts;
};

/* What an element is, and may be: jx_cell_kind and signs.  A boolean that may
 * be zero and positive is blended. */
#define JX_STATE(kind, signs) ((uint8_t)((kind) << 3 | (signs)))
enum {
    JX_STATE_SIGNS = 7,
    JX_STATE_BLENDED = JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE
};

static inline jx_cell_kind jx_state_kind(uint8_t state)
{
    return (jx_cell_kind)(state >> 3);
}

/* Elements that are stored. */
static inline int64_t jx_field_stored(const jx_field_value *of)
{
    return of->splat && of->count ? 1 : of->count;
}

/* A new one of so many elements that are zero; NULL without memory. */
jx_plane *jx_plane_new(jx_field *f, int64_t stored);
/* Room for the second parts of its elements, which are zero. */
bool jx_plane_may_extend(jx_field *f, jx_plane *plane, int64_t stored);
/* Room for what its elements need. */
bool jx_plane_may_need(jx_field *f, jx_plane *plane, int64_t stored);
/* Element `i` of those that are stored, of a plane or of cells. */
jx_cell jx_plane_get(const jx_field_value *of, int64_t i);
/* The same of the value: i is below its count. */
jx_cell jx_plane_element(const jx_field_value *of, int64_t i);
void jx_plane_put(jx_field *f, jx_field_value *to, int64_t i,
                  const jx_cell *cell);
/* The same value without roots, which are random numbers then. */
bool jx_plane_collapse(jx_field *f, const jx_field_value *of,
                       jx_field_value *to);
/* Elements of a plane at these places, which are below its count; zero at -1.
 * `to` has its shape and count. */
bool jx_plane_take(jx_field *f, const jx_field_value *from, const int64_t *at,
                   jx_field_value *to);
/* All elements of a plane to where `first` is of another (or of cells). */
void jx_plane_copy(jx_field *f, jx_field_value *to, int64_t first,
                   const jx_field_value *from);
/* What is known of all elements together, as that of another. */
void jx_plane_bounds(jx_plane *to, const jx_plane *like);

/* The value as a plane (a splat stays one), and with a cell for each element.
 * False without memory, or of bits. */
bool jx_plane_of(jx_field *f, const jx_field_value *of, jx_field_value *to);
bool jx_plane_cells(jx_field *f, const jx_field_value *of, jx_field_value *to);
/* What cells that were computed are kept as: a plane, if they
 * are no constants. */
bool jx_plane_keep(jx_field *f, jx_field_value *value);

/* An equation on planes, with a loop of its own; false if it has none. */
bool jx_plane_eqn(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                  const jx_field_value *ins, jx_field_value *outs);
/* plane_sums.c; the contraction of two planes, whose result has its
 * shape and count. */
bool jx_plane_contract(jx_field *f, const jx_dot_dims *dims,
                       const jx_field_value *a, const jx_field_value *b,
                       jx_field_value *out);
/* plane_windows.c: convolutions and reductions of windows. */
bool jx_plane_windows(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs);
bool jx_plane_sums(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *outs);

#endif
