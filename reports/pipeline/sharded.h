/* sharded.h - what a program for many devices does with what each of them has,
 * as far as one sees it in its equations: what is usual where two programs
 * differ (equal_causes.h). */
#ifndef JX_SHARDED_H
#define JX_SHARDED_H

#include "analyzer/transform/devices.h"

/* A program without calls, and the mesh of its first computation;
 * NULL: it has none. */
typedef struct jx_sharded {
    jx_program *program;
    const jx_mesh *mesh;
} jx_sharded;

/* Some equation anywhere in a program that is such a one, or NULL. */
typedef bool jx_eqn_is(const jx_eqn *eqn);
const jx_eqn *jx_find_eqn(const jx_program *program, jx_eqn_is *is);

/* What devices compute; NULL: it is no computation over devices. */
const jx_jaxpr *jx_spread_body(const jx_eqn *eqn);
jx_eqn_is jx_is_backward;     /* of a gradient */
jx_eqn_is jx_reduces_devices; /* sums over devices */
jx_eqn_is jx_permutes_devices;
jx_eqn_is jx_gathers_devices; /* or exchanges parts */
jx_eqn_is jx_exchanges_devices;
jx_eqn_is jx_moves_blocks;  /* ... or adds them up and cuts the sum */
jx_eqn_is jx_spreads;       /* a computation over devices */
jx_eqn_is jx_reduces_alone; /* what the device has by itself */
jx_eqn_is jx_adds_numbers;  /* ... which is a number */
jx_eqn_is jx_masks_floats;  /* leaves out what is not the device\'s own */
jx_eqn_is jx_gathers_integers;
jx_eqn_is jx_counts_elements;
jx_eqn_is jx_moves_integers; /* adds or subtracts one */
/* computes floats that are no sum of products of others */
jx_eqn_is jx_is_beyond_products;
jx_eqn_is jx_is_index;            /* ... or compares it: one number */
jx_eqn_is jx_makes_integers;      /* whole numbers, or a comparison of them */
jx_eqn_is jx_multiplies_integers; /* of one number, by a number */
jx_eqn_is jx_scales_floats;   /* by a number, or spreads one to scale others */
jx_eqn_is jx_numbers_devices; /* asks which device it is */
jx_eqn_is jx_draws_numbers;   /* random ones */
jx_eqn_is jx_narrows;         /* to a smaller float */
/* what may be sent on: a part of an array, an array with an edge, sums of all
 * elements before each, what becomes other axes, what goes round in a loop,
 * what is chosen or multiplied, what is made of several, blocks */
jx_eqn_is jx_slices_floats, jx_has_edges, jx_adds_up, jx_reshapes,
    jx_goes_in_turns, jx_chooses_or_multiplies, jx_joins_floats,
    jx_makes_blocks;
jx_eqn_is jx_takes_part;        /* of an array, wherever that begins */
jx_eqn_is jx_compares_integers; /* which is less */
/* an axis of an array is cut by several of the mesh */
jx_eqn_is jx_cuts_by_many;
/* Of what is written out: that devices go one way; a sum of what is
 * one array on two. */
jx_eqn_is jx_asserts_agreement, jx_adds_itself;

/* Whether the equation is of what says that a loop goes on. */
bool jx_goes_on(const jx_program *program, const jx_eqn *eqn);
/* Marks, by their numbers, the integers of a jaxpr that are made of the number
 * of the device (all that it gets, where it is the body of something); false:
 * there are none. */
bool jx_mark_device_numbers(const jx_jaxpr *jaxpr, char *made);
/* The equations, of those that add up or choose the largest, one operand of
 * which has gone round so many devices or more and the other has not; with that
 * one.  If what goes round is what is `added_to` it is kept, and stays where it
 * is.  In the order in which they run; -1 without memory. */
int jx_find_late(const jx_program *program, int turns, bool added_to, int most,
                 jx_device_kept *to);
/* Whether a value is what a permutation gives. */
bool jx_is_sent(const jx_program *program, jx_atom atom);
/* Whether something is sent on in a loop, or twice in the same way. */
bool jx_goes_round(const jx_program *program);
/* Whether so many devices stand along some axes of the mesh. */
bool jx_mesh_has(const jx_mesh *mesh, int64_t count);
/* Whether a sum over devices joins both. */
bool jx_devices_joined_by_sums(const jx_program *program, int a, int b);
/* Whether what is gathered has an axis of its own for the devices. */
bool jx_is_stacked(const jx_program *program, const jx_eqn *gather);
const jx_eqn *jx_find_stacked(const jx_program *program); /* or NULL */

/* The axes along which all groups of a collective go; false: these are no
 * groups along axes. */
bool jx_group_axes(const jx_sharded *w, const jx_eqn *eqn, unsigned *axes);
/* Whether a result of a computation is a sum over devices, and what is linear
 * in it. */
bool jx_is_summed_last(const jx_eqn *spread, int result);
/* A permutation that leaves out a device. */
bool jx_leaves_holes(const jx_sharded *w, const jx_eqn *eqn);
/* Each device that sends something sends it `by` devices further along the
 * axis, and some who could do not. */
bool jx_skips_pair(const jx_sharded *w, const jx_eqn *eqn, unsigned axis,
                   int by, bool rings);
/* All that it sends goes `by` devices further in a ring of three or more. */
bool jx_sends_on(const jx_sharded *w, const jx_eqn *eqn, int by);
/* Along which axes of the mesh a permutation sends. */
unsigned jx_sent_along(const jx_sharded *w, const jx_eqn *eqn);
/* By how many axes of the mesh an operand of a computation, or behind them a
 * result, is cut. */
int jx_is_cut_by(const jx_eqn *eqn, int number);
/* How many elements of an axis of an array a device has; 0: it is not cut by
 * axes of the mesh, which these are. */
int64_t jx_part_size(const jx_mesh *mesh, const jx_eqn *eqn, int number,
                     int axis, unsigned *axes);
/* Whether something is made of its result that is not linear in it. */
bool jx_is_curved_behind(const jx_program *program, const jx_eqn *eqn);
/* ... before another one, of the same jaxpr. */
bool jx_is_curved_between(const jx_program *program, const jx_eqn *eqn,
                          const jx_eqn *until);
/* Whether something such is made of it, in the same jaxpr; of all that is made
 * of it and given back there. */
bool jx_is_behind(const jx_program *program, const jx_eqn *eqn, jx_eqn_is *is);
bool jx_is_always_behind(const jx_program *program, const jx_eqn *eqn,
                         jx_eqn_is *is);
/* Whether it is such a one, or takes what is linear in what such a one
 * gives. */
bool jx_takes(const jx_program *program, const jx_eqn *eqn, jx_eqn_is *is);

/* A collective over groups of devices that are no axes of the mesh; a ratio,
 * and a square or an extreme, that devices compute of what each has reduced by
 * itself, and sum up (or give back, where nothing is communicated).  NULL:
 * there is none. */
const jx_eqn *jx_find_odd_groups(const jx_sharded *w);
const jx_eqn *jx_find_ratio(const jx_sharded *w);
const jx_eqn *jx_find_curve(const jx_sharded *w);
/* What each device reduces of its own part, and makes something of that is not
 * linear, where nothing is communicated; or sorts, before it gives some of that
 * to the others.  NULL: there is none. */
const jx_eqn *jx_find_alone(const jx_sharded *w);
/* What leaves out all of an array, or nothing of it, by what is no constant.
 * NULL: there is none. */
const jx_eqn *jx_find_mask(const jx_sharded *w);
/* Random numbers, where nothing that differs from device to device seems to
 * get into what any are made of: all devices draw the same.  NULL: there are
 * none, or it does. */
const jx_eqn *jx_find_same_draws(const jx_sharded *w);

#endif
