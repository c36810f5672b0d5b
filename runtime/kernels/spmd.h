/* spmd.h - a computation in the making that is written out for many devices;
 * shared by spmd.c (the body and its arrays), spmd_values.c, spmd_collectives.c,
 * spmd_steps.c (loops and branches) and spmd_teams.c (who goes on in step).
 *
 * A function that returns false, or no atom, has said why: the planner has
 * failed, and `failed` is set. */
#ifndef JX_SPMD_H
#define JX_SPMD_H

#include "frontend/base/vec.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

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
typedef struct jx_spmd_made {
    const jx_closed *callee;
    jx_team team;
    const jx_jaxpr *jaxpr;
} jx_spmd_made;

typedef struct jx_spmd {
    jx_planner *p;
    jx_arena *arena;
    const jx_mesh *mesh;
    int devices;
    jx_team team; /* whom it is being written out for: others have no values */
    int equations, depth;
    char *holds; /* per jaxpr of the program */
    JX_VEC(jx_spmd_made) made;
    bool failed;
} jx_spmd;

/* A jaxpr in the making. */
typedef struct jx_spmd_maker {
    jx_spmd *s;
    JX_VEC(const jx_var *) vars;
    JX_VEC(jx_eqn) eqns;
    int nins;
} jx_spmd_maker;

/* What the devices have: atom [device * width + number]. */
typedef struct jx_spmd_atoms {
    int width;
    jx_atom *at;
} jx_spmd_atoms;

bool jx_spmd_fail(jx_spmd *s, const char *why);
jx_spmd_atoms jx_spmd_new_atoms(jx_spmd *s, int width);
/* What one device has. */
jx_atom *jx_spmd_row(const jx_spmd_atoms *a, int device);

/* ---- values and equations (spmd_values.c) ---- */

jx_atom jx_spmd_new_var(jx_spmd_maker *m, const jx_aval *aval);
/* Appends an equation whose results have these types. */
bool jx_spmd_emit(jx_spmd_maker *m, const jx_prim *prim, const void *typed,
                  int nins, const jx_atom *ins, int nouts,
                  const jx_aval *const *avals, jx_atom *outs);
/* The same for one result; `typed`, of `size` bytes, is copied. */
jx_atom jx_spmd_emit_one(jx_spmd_maker *m, jx_prim_id prim, const void *typed,
                         size_t size, int nins, const jx_atom *ins,
                         const jx_aval *aval);
/* Part `index` of `count` equal ones along an axis. */
jx_atom jx_spmd_part(jx_spmd_maker *m, jx_atom from, int64_t axis,
                     int64_t index, int64_t count);
jx_atom jx_spmd_joined(jx_spmd_maker *m, int count, const jx_atom *parts,
                       int64_t axis);
jx_atom jx_spmd_zeros(jx_spmd_maker *m, const jx_aval *aval);
jx_atom jx_spmd_device_number(jx_spmd_maker *m, const jx_aval *aval,
                              uint32_t value);
/* What the maker made, as a jaxpr with these outputs. */
const jx_jaxpr *jx_spmd_jaxpr(jx_spmd_maker *m, int id, int nouts,
                              const jx_atom *outs);

/* ---- equations of all devices together: from what each has before to what it
 * has behind ---- */

/* The groups that a collective names. */
jx_groups jx_spmd_groups(const jx_eqn *eqn);
/* The team's parts that share no collective in what an equation runs. */
bool jx_spmd_teams(jx_spmd *s, const jx_eqn *eqn, jx_teams *to);

/* A body's equations (spmd.c). */
bool jx_spmd_expand(jx_spmd_maker *m, const jx_closed *closed,
                    const jx_spmd_atoms *ins, const jx_spmd_atoms *outs);

typedef bool jx_spmd_eqn(jx_spmd_maker *m, const jx_eqn *eqn,
                         const jx_spmd_atoms *ins, const jx_spmd_atoms *outs);

jx_spmd_eqn jx_spmd_collective;                        /* spmd_collectives.c */
/* spmd_steps.c; a call is of what is made once of its callee. */
jx_spmd_eqn jx_spmd_while, jx_spmd_cond, jx_spmd_scan, jx_spmd_call;

#endif
