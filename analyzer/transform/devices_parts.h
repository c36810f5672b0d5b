/* devices_parts.h - a computation in the making that is written out for
 * many devices; shared by devices.c (programs), devices_body.c (the body
 * and its arrays), devices_once.c (what is there once),
 * devices_stay.c (what stays on its device), devices_collectives.c,
 * devices_steps.c (loops, branches and calls) and devices_teams.c (who goes on
 * in step).
 *
 * A function that returns false, or no atom, has said why, and
 * `failed` is set. */
#ifndef JX_DEVICES_PARTS_H
#define JX_DEVICES_PARTS_H

#include "analyzer/collective.h"
#include "analyzer/transform/devices.h"
#include "frontend/ir/build.h"
#include "frontend/ir/growth.h"

/* Some devices, in order. */
typedef struct jx_team {
    int count;
    const int *at;
} jx_team;

typedef struct jx_teams {
    int count;
    const jx_team *at;
} jx_teams;

/* What a callee is for a team, where it is not written out for each call. */
typedef struct jx_team_callee {
    const jx_closed *callee;
    jx_team team;
    int branch;
    const jx_jaxpr *jaxpr;
} jx_team_callee;

/* Two atoms that are one array on two devices. */
typedef struct jx_device_copy {
    jx_device_pair pair;
    jx_atom first, other;
} jx_device_copy;

/* What the devices have: atom [device * width + number]. */
typedef struct jx_device_atoms {
    int width;
    jx_atom *at;
} jx_device_atoms;

typedef struct jx_devices {
    jx_builder build;
    jx_program *from;
    const jx_typed *typed; /* the same */
    jx_arena *scratch;     /* for what is gone when all is written out */
    jx_assignment sizes;   /* of its symbolic dimensions */
    const jx_jaxpr **made; /* by number in the program before: what it is now */
    const jx_jaxpr **plain; /* ... in what one device does alone */
    char *runs, *holds;     /* by that number, too: what is in it */
    jx_growth growth;       /* of the program before */
    const jx_jaxpr
        *jaxpr; /* where the computation stands that is written out */
    const jx_eqn *eqn;
    int64_t wanted;      /* devices that somebody asks for; 0: any */
    const jx_mesh *mesh; /* of the computation */
    int count;           /* its devices */
    jx_team team; /* whom it is being written out for: others have no values */
    /* the one that this process is, others being others; or JX_ALL_DEVICES */
    int rank;
    /* Of a process that is one of them: how many collectives it has met, and
     * the branch in which it is written out, of so many (0: in none).  All
     * processes write out the same, so these numbers tell them which collective
     * of the program one is, and on which way it was reached. */
    int met, branch, branches;
    const jx_jaxpr *reports; /* its results are the program's */
    bool draws;    /* a process that is one of them draws what all do */
    bool whole;    /* all of the program is what they run */
    bool compares; /* results of several devices that are said to be one */
    int equations, depth;
    JX_VEC(jx_team_callee) callees;
    jx_device_change change;
    const jx_device_atoms *values; /* of the jaxpr that is written out */
    jx_atom turn;    /* the number of the turn of the loop that is changed */
    jx_intern parts; /* of arrays, that are known */
    bool pairs;      /* somebody asks for copies: */
    JX_VEC(jx_device_copy) copies; /* of results of the entry's computations */
    bool failed;
} jx_devices;

/* What a process has of a value outside of the computations that devices share:
 * all of it, or, where it is one of them, its part, which is cut as result
 * `number` of `by` is; or both; or all that the first process alone has, others
 * having zeros, which is made when all else is (copies of this share it). */
typedef struct jx_held {
    jx_atom all, part, *first;
    const jx_eqn *by;
    int number;
} jx_held;

/* An equation of the first process alone. */
typedef struct jx_devices_late {
    const jx_jaxpr *in;
    const jx_eqn *eqn;
    jx_held **ins;
    jx_atom *outs;
} jx_devices_late;

/* A jaxpr in the making. */
typedef struct jx_devices_body {
    jx_body body;
    jx_devices *s;
    JX_VEC(jx_devices_late) late; /* in their order */
} jx_devices_body;

bool jx_devices_fail(jx_devices *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool jx_devices_starved(jx_devices *s);

/* Whether a jaxpr, or what it runs, holds a collective or a computation of many
 * devices; an equation, in what it does or runs. */
bool jx_devices_hold(jx_devices *s, const jx_eqn *eqn, int depth);
bool jx_is_spread(const jx_eqn *eqn);

jx_device_atoms jx_device_atoms_new(jx_devices *s, int width);
/* What one device has. */
jx_atom *jx_device_row(const jx_device_atoms *a, int device);

/* ---- equations (devices_body.c), as of build.h, but for their number */

jx_devices_body jx_devices_begin(jx_devices *s);
bool jx_devices_room(jx_devices *s);
bool jx_devices_like(jx_devices_body *m, const jx_eqn *eqn, const jx_atom *ins,
                     jx_atom *outs);
bool jx_devices_emit(jx_devices_body *m, const jx_prim *prim, jx_params *params,
                     int nins, const jx_atom *ins, int nouts,
                     const jx_aval *const *avals, jx_atom *outs);
/* A size of an axis, which has to be a number; else it fails. */
int64_t jx_devices_size(jx_devices *s, const jx_aval *aval, int64_t axis);
/* With an axis of size 1 more (more > 0), or without it. */
jx_atom jx_devices_with_axis(jx_devices_body *m, jx_atom a, int64_t axis,
                             int more);
const jx_jaxpr *jx_devices_finish(jx_devices_body *m, int nouts,
                                  const jx_atom *outs, const char *function);

/* ---- what is there once (devices_once.c) ---- */

/* Part `index` of `count` equal ones along an axis. */
jx_atom jx_devices_part(jx_devices_body *m, jx_atom from, int64_t axis,
                        int64_t index, int64_t count);
jx_atom jx_devices_joined(jx_devices_body *m, int count, const jx_atom *parts,
                          int64_t axis);
/* For each device of the team the first that has the same
 * values; NULL, told. */
int *jx_devices_alike(jx_devices *s, const jx_device_atoms *values);

/* ---- what one device does alone (devices_plain.c): the types of a shard_map
 * say over which axes values vary, of which nothing is left */

const jx_aval *jx_devices_plain_aval(jx_devices *s, const jx_aval *aval);
/* A value, and a list of parameters, with other jaxprs in the place of those
 * that it holds. */
typedef const jx_jaxpr *jx_devices_other(jx_devices *s, const jx_jaxpr *jaxpr);
const jx_value *jx_devices_value(jx_devices *s, const jx_value *value,
                                 jx_devices_other *other);
jx_param *jx_devices_params(jx_devices *s, const jx_eqn *eqn,
                            jx_devices_other *other);
jx_devices_other jx_devices_plain;
/* The parameters and the types of the results of an equation;
 * NULL: as they are. */
bool jx_devices_plain_parts(jx_devices *s, const jx_eqn *eqn, jx_param **params,
                            const jx_aval ***avals);
/* It calls a function in whose types there is more, by rules which
 * are for these. */
bool jx_devices_outlives(jx_devices *s, const jx_eqn *eqn);

/* False, told: it names devices or axes that the mesh has not. */
bool jx_devices_collective_of(jx_devices *s, const jx_eqn *eqn,
                              jx_collective *to);

/* ---- what a process that is one device asks of others
 * (devices_ranks.c) ---- */

/* The k-th of as many equal parts along an axis goes to the k-th member;
 * theirs[k] is what that one sends. */
bool jx_devices_swap(jx_devices_body *m, jx_atom mine, int64_t axis, int count,
                     const int *members, jx_atom *theirs);
/* The same of a row of any length: each member has its share of it
 * (jx_collective_share); and the row again, of what each makes of its share. */
bool jx_devices_share(jx_devices_body *m, jx_atom row, int count,
                      const int *members, jx_atom *theirs);
jx_atom jx_devices_shared(jx_devices_body *m, jx_atom own, int64_t whole,
                          int count, const int *members);
/* What each member has as its value `number`, this one's being in `mine`;
 * `reported`: on the first member alone, others having zeros. */
bool jx_devices_fetch(jx_devices_body *m, const jx_device_atoms *mine,
                      int number, int count, const int *members, bool reported,
                      const jx_device_atoms *all);
/* What the device gets that sends to this one. */
bool jx_devices_permuted(jx_devices_body *m, const jx_collective *c,
                         jx_atom mine, jx_atom *theirs);

/* What a group's devices send to each other in a ragged_all_to_all. */
bool jx_devices_ragged(jx_devices_body *m, const jx_device_atoms *ins,
                       const jx_device_atoms *outs, int count,
                       const int *members);

/* ---- equations of all devices together: from what each has before to what it
 * has behind ---- */

/* The team's parts that share no collective in what an equation runs. */
bool jx_devices_teams(jx_devices *s, const jx_eqn *eqn, jx_teams *to);
/* A body's equations, and a computation; results of the latter are put together
 * for the devices of `wanted`, unless they stay where they are: with `there`,
 * which says of each operand whether it is the device's part. */
bool jx_devices_expand(jx_devices_body *m, const jx_closed *closed,
                       const jx_device_atoms *ins, const jx_device_atoms *outs);
bool jx_devices_manual(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, jx_team wanted,
                       const bool *there, const jx_device_atoms *outs);
/* A shard_map in the words of a sdy.manual_computation. */
bool jx_devices_as_manual(jx_devices *s, const jx_eqn *eqn,
                          jx_p_manual_computation *to);
/* What a device has of an array that is cut as a result of a computation; and
 * all of that array from its part, with those that other processes have:
 * `reported`, on the first process alone. */
jx_atom jx_devices_own_part(jx_devices_body *m, const jx_eqn *by, int number,
                            jx_atom all);
jx_atom jx_devices_whole(jx_devices_body *m, const jx_eqn *by, int number,
                         jx_atom part, bool reported);
/* The mesh of a computation; NULL, told, if there is none. */
const jx_mesh *jx_devices_mesh(jx_devices *s, const jx_eqn *eqn);
/* It is the one from here on; false, told. */
bool jx_devices_use_mesh(jx_devices *s, const jx_eqn *eqn);

/* ---- what stays on its devices (devices_stay.c) ---- */

/* Of a value there is no more than a part; or not even that, but on the first
 * process. */
bool jx_held_is_part(const jx_held *value);
bool jx_held_is_first(const jx_held *value);
/* A part of a result of a computation, or of what is done to one element by
 * element. */
bool jx_held_begin(jx_devices *s, jx_atom part, const jx_eqn *by, int number,
                   jx_held *to);
/* The part of a value is what a computation takes as its operand. */
bool jx_held_fits(jx_devices *s, const jx_eqn *eqn, int number,
                  const jx_held *value);
/* All of it, which comes together here if it has not; and the same on the first
 * process alone. */
jx_atom jx_held_all(jx_devices_body *m, jx_held *value);
jx_atom jx_held_reported(jx_devices_body *m, jx_held *value);
/* An equation on parts, if it is elementwise and has some; else false, and
 * where `failed` is set that is told. */
bool jx_held_each(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_held *const *ins, jx_held *out);
/* A jaxpr does nothing but that. */
bool jx_held_is_light(const jx_jaxpr *jaxpr, int depth);

typedef bool jx_devices_eqn(jx_devices_body *m, const jx_eqn *eqn,
                            const jx_device_atoms *ins,
                            const jx_device_atoms *outs);

jx_devices_eqn jx_devices_collective; /* devices_collectives.c */
/* devices_steps.c; a call is of what is made once of its callee. */
jx_devices_eqn jx_devices_while, jx_devices_cond, jx_devices_scan,
    jx_devices_call;

/* ---- what is changed (devices_changes.c); where nothing is, all
 * stays as it is ---- */

void jx_devices_change_collective(jx_devices *s, const jx_eqn *eqn,
                                  jx_collective *c);
/* What a device gets of a sum over `count`, or its own where
 * nothing is summed. */
bool jx_devices_change_sum(jx_devices_body *m, const jx_eqn *eqn, int count,
                           const jx_device_atoms *ins,
                           const jx_device_atoms *outs);
/* The operands of a collective, or its results, in place. */
bool jx_devices_change_turned(jx_devices_body *m, const jx_eqn *eqn,
                              bool results, const jx_device_atoms *values);
/* What has been put together along another axis than it was written. */
bool jx_devices_change_shape(jx_devices_body *m, const jx_eqn *eqn,
                             const jx_device_atoms *outs);
/* What has gone round and is left out. */
void jx_devices_change_late(const jx_devices *s, const jx_eqn *eqn,
                            const jx_device_atoms *ins,
                            const jx_device_atoms *outs);
/* The number of a device, or integers that it is given, in place. */
bool jx_devices_change_integers(jx_devices_body *m, const jx_eqn *eqn,
                                const jx_device_atoms *outs);
/* Whom a device takes itself for. */
int jx_devices_taken_for(const jx_devices *s, const jx_eqn *eqn, int device);
/* Whether an equation is one of those that a change of this kind changes; the
 * device that is `by` further along the axes of the change; all groups along
 * some axes. */
bool jx_devices_is_changed(const jx_devices *s, jx_device_change_kind kind,
                           const jx_eqn *eqn);
int64_t jx_devices_further(const jx_devices *s, int64_t device, int by);
jx_groups jx_devices_along(jx_devices *s, unsigned axes);
/* What a device has computed by itself. */
bool jx_devices_change_local(jx_devices_body *m, const jx_eqn *eqn,
                             const jx_device_atoms *ins,
                             const jx_device_atoms *outs);
/* How an array of a computation is cut ... */
void jx_devices_change_cut(jx_devices *s, const jx_eqn *eqn, int number,
                           jx_sharding *how);
/* What a device has of an array. */
jx_atom jx_devices_change_part(jx_devices_body *m, const jx_eqn *eqn,
                               int number, jx_atom part, int device);
/* ... and an array of fused ones, in the order that is cut so that each is, or
 * back. */
jx_atom jx_devices_change_fused(jx_devices_body *m, const jx_eqn *eqn,
                                int number, jx_atom array, int64_t axis,
                                int64_t count, bool back);
/* What each device has is combined along axes of the mesh, in place. */
bool jx_devices_combine(jx_devices_body *m, jx_prim_id op, jx_groups groups,
                        const jx_device_atoms *values);

/* ---- what is sent that was not (devices_sent.c) ---- */

/* Results of an equation of one device, in place; its operands, before. */
bool jx_devices_change_sent(jx_devices_body *m, const jx_eqn *eqn,
                            const jx_device_atoms *ins,
                            const jx_device_atoms *outs);
bool jx_devices_change_operands(jx_devices_body *m, const jx_eqn *eqn,
                                const jx_device_atoms *ins);
/* What a device gets of a sum over devices. */
bool jx_devices_change_before(jx_devices_body *m, const jx_eqn *eqn,
                              const jx_device_atoms *ins,
                              const jx_device_atoms *outs);
/* What a loop goes on with, and whether it is one that is changed. */
bool jx_devices_change_carried(jx_devices_body *m, const jx_eqn *eqn,
                               const jx_device_atoms *outs);
bool jx_devices_changes_loop(const jx_devices *s, const jx_eqn *eqn);
/* Whether it is an equation of the jaxpr. */
bool jx_is_in(const jx_jaxpr *jaxpr, const jx_eqn *eqn);
/* What counts the turns of a body is among what it is given, and what is
 * changed with these. */
bool jx_devices_change_turn(jx_devices_body *m, const jx_jaxpr *body,
                            const jx_device_atoms *ins);
/* Of a loop that was written out, the how manieth turn this is, from 0. */
int jx_turn_of(const jx_devices *s, const jx_eqn *eqn);

#endif
