/* devices.h - programs for many devices, written out for one.
 *
 * The body of a sdy.manual_computation is written out: an equation per device
 * where there was one, and collectives as what they do to the values of all.  A
 * program becomes one of ordinary equations, which does the same. */
#ifndef JX_DEVICES_H
#define JX_DEVICES_H

#include "frontend/ir/params.h"
#include "frontend/ir/typed.h"

/* How it begins what a program that was written out asserts where devices go
 * separate ways (jx_devices_part_text). */
#define JX_DEVICES_DIVERGE                                                     \
    "devices go separate ways around a collective: "                           \
    "where they really run, they wait for each other for ever"

/* What a mesh may have for that, and how many ranks can run one. */
enum { JX_MOST_DEVICES = 1024 };

/* Whether the program holds something to write out, at sight. */
bool jx_devices_any(const jx_program *program);

/* The program, all of which typing accepts, with the computations written out
 * that its entry runs, for `count` devices: as many as their meshes have.
 * Where it has none of these, but collectives, each device runs all of it on
 * inputs of its own: those of the first device, of the second, ..., and results
 * in the same order. What runs on one device stays as it is.  NULL with an
 * error: an axis that is cut has no number for a size, too. */
jx_program *jx_program_devices(const jx_typed *typed, int64_t count);

/* A result of a computation that is declared to be the same on several devices:
 * as device 0 has it, and as `device` does. */
typedef struct jx_device_pair {
    const jx_eqn *eqn; /* the computation, of the program before */
    int result, device;
} jx_device_pair;

typedef struct jx_device_pairs {
    int count;
    const jx_device_pair *at;
} jx_device_pairs;

/* A program that differs from what was written in one thing: what it computes
 * then says whether that is what is wrong with it.  Axes are bits, by their
 * numbers in the mesh. */
typedef enum jx_device_change_kind {
    JX_DEVICES_AS_WRITTEN = 0,
    JX_DEVICES_TURNED, /* permutations go the other way round */
    /* ... or to the device that is `by` further along `axes` */
    JX_DEVICES_SHIFTED,
    JX_DEVICES_STEPPED, /* ... but for those at the end, who send to nobody */
    JX_DEVICES_PAIRED,  /* ... or within pairs that are `by` apart */
    /* ... or along each of two axes as they are written along the other */
    JX_DEVICES_EXCHANGED,
    /* ... or without the pairs that lead back from an end to the other: the
     * rarer way, and of two as many the one down where the bit of `number` is
     * set that the permutation has, by how many are before it, else up */
    JX_DEVICES_OPENED,
    JX_DEVICES_CLOSED, /* ... or with such pairs of all that are left out */
    /* each device takes itself for that one, or takes an index that is made of
     * its number from there */
    JX_DEVICES_COUNTED,
    /* ... or of the one that stands along each of two axes as it does
     * along the other */
    JX_DEVICES_CROSSED,
    /* ... or of the one as far from the other end of `axes`, or of `by` devices
     * along them */
    JX_DEVICES_MIRRORED,
    /* an index is where the device stands along `axes`, divided by `by`, or
     * what is left of it (-by) */
    JX_DEVICES_INDEXED,
    /* collectives go along `axes`; (by:) what is averaged is still */
    JX_DEVICES_REGROUPED,
    /* ... or over groups as large, but of devices that are apart */
    JX_DEVICES_STRIDED,
    /* the first of two axes that they go along counts fastest */
    JX_DEVICES_REORDERED,
    /* they go over `by` devices each that are neighbours, or as far apart as
     * they can be (-by); (number:) and count for all before */
    JX_DEVICES_DIVIDED,
    /* two axes of an array are exchanged (`number`: first * 8 + second), of
     * what a collective takes (by 0) or gives */
    JX_DEVICES_TRANSPOSED,
    /* what is summed over devices is a mean (by > 0), or a mean summed; what
     * one does alone is so as of all along `axes` */
    JX_DEVICES_SCALED,
    JX_DEVICES_LEFT_OUT, /* it is not summed */
    /* what a device reduces by itself is summed over devices along `axes`, too
     * (by: averaged); what `without` sums is not summed */
    JX_DEVICES_JOINED,
    /* of what a collective takes each row is the one that is `by` before, the
     * first the last */
    JX_DEVICES_ROLLED,
    /* numbers that count elements go on along `axes`, each device having as
     * many, or `by` */
    JX_DEVICES_PLACED,
    /* array `number`, of integers, or what a collective gives, is less by `by`
     * for each step along `axes` */
    JX_DEVICES_OFFSET,
    /* a product of integers has its first operand `by` times more; it, or the
     * number of a device, is `by` times as large, or that part of it */
    JX_DEVICES_LENGTHENED,
    JX_DEVICES_WIDENED,
    JX_DEVICES_NARROWED,
    JX_DEVICES_SHORTENED, /* of each of `late` one operand is all */
    JX_DEVICES_UNMOVED,   /* of a sum its operand `by` is all that there is */
    /* `by` is added to a sum, or to what is compared; as often as there were
     * turns, if it is by_turns */
    JX_DEVICES_MOVED,
    /* blocks are put together along axis `number` of an array, or it is
     * scattered along that; it is then as it was in shape */
    JX_DEVICES_ALONG,
    JX_DEVICES_RECUT, /* an array is cut by its axes in the other order ... */
    /* ... or by each of two axes where the other cuts it ... */
    JX_DEVICES_SWAPPED,
    JX_DEVICES_FUSED, /* ... or made of `by` arrays of which each is cut */
    /* what is made there is sent to the device that is `by` further along
     * `axes`; by 0: what is at an edge of an array is sent over it.
     * `number`: the axis of the edge, and JX_AXES_WITH_EDGES for each element
     * more that is wide; twice that, and 1 more if the last sends to nobody */
    JX_DEVICES_SENT,
    /* operand `number` is that of the device `by` before, or (SENT_ON) so many
     * times that as there were turns before; so is what is made there */
    JX_DEVICES_TAKEN,
    JX_DEVICES_SENT_ON,
    /* ... as counted by the how manieth `counter` of the loop, and `by_turns`;
     * of a loop, what it is given of the arrays that are chosen */
    JX_DEVICES_IN_TURN,
    JX_DEVICES_CARRIED, /* what a loop carries is sent on; `number` chooses */
    /* ... or begins with what the device before ends with */
    JX_DEVICES_FOLLOWED,
    JX_DEVICES_TURNS, /* a loop makes `by` turns more */
    /* what is padded at such an edge has there what neighbours have */
    JX_DEVICES_FILLED,
    JX_DEVICES_CROSSED_OVER, /* such an edge is the other one */
    /* a part of an array along axis `number` is the device's own */
    JX_DEVICES_OWNED,
    JX_DEVICES_DEALT, /* blocks along axis `number` are exchanged */
    /* sums of all elements before begin with those of devices before; what is
     * summed over devices is so over these, and (by) the device itself */
    JX_DEVICES_PRECEDED,
    /* two axes (as of TRANSPOSED) are exchanged before a reshape, or behind it
     * (by) */
    JX_DEVICES_RESHAPED,
    /* less is more, and what is added is taken away */
    JX_DEVICES_REVERSED,
} jx_device_change_kind;

/* For the number of an array: all of them. */
enum { JX_EVERY_ARRAY = -1 };

/* Of how many axes of an array edges are looked at. */
enum { JX_AXES_WITH_EDGES = 4 };

/* Of an equation the operand that is left. */
typedef struct jx_device_kept {
    const jx_eqn *eqn;
    int operand;
} jx_device_kept;

typedef struct jx_device_change {
    jx_device_change_kind kind;
    /* with all that are written at its place, unless it is this one `alone`;
     * NULL: all */
    const jx_eqn *at, *without;
    bool alone;
    bool line; /* or with all of its primitive that are written on its line */
    unsigned axes;
    int by;
    /* of the array: an operand, or behind them a result; or which arrays of
     * floats are chosen, as bits */
    int number;
    int64_t alike; /* all operands of which so many elements are cut; or 0 */
    int counter, by_turns;
    int nlate;
    const jx_device_kept *late;
} jx_device_change;

/* Both are one equation of what was written, of which a loop that was written
 * out made several. */
bool jx_written_once(const jx_eqn *a, const jx_eqn *b);
/* Both do the same on one line, which may be of a function that is called from
 * several. */
bool jx_on_one_line(const jx_eqn *a, const jx_eqn *b);

/* The same for as many devices as the meshes of its computations have (or the
 * module says).  Results of computations in the entry that several devices
 * share, and do not have from one equation, are further results of the program:
 * `pairs` says of which array each two of them are; NULL: nobody wants them.
 * `change` may be NULL. */
jx_program *jx_program_spread(const jx_typed *typed,
                              const jx_device_change *change,
                              jx_device_pairs *pairs);

/* This process is all devices. */
enum { JX_ALL_DEVICES = -1 };

/* For planning: what runs when *closed does is written out in a program that
 * differs from the one before in that alone, and counts as typed, as that was:
 * for all devices, or for the one that is `rank` of `ranks` processes, with
 * collectives left by which it gets what the others have: stablehlo.all_gather
 * of a whole group along a new axis in front, stablehlo.all_to_all along that
 * axis, and stablehlo.collective_permute.  If it `compares` (as all devices),
 * a run fails where devices differ in a result that is said to be one. False
 * with an error. */
bool jx_devices_write_out(const jx_typed **typed, const jx_closed **closed,
                          jx_assignment sizes, int rank, int ranks,
                          bool compares);

/* What such a run says, and what one says that devices leave a collective in:
 * arena text, which ends in the line of the equation, if that is known. */
const char *jx_devices_differ_text(jx_ctx *ctx, const jx_eqn *eqn, int result);
const char *jx_devices_part_text(jx_ctx *ctx, const jx_eqn *eqn);

#endif
