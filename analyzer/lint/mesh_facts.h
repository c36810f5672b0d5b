/* mesh_facts.h - what is known of values inside of a shard_map (or a
 * sdy.manual_computation), axis by axis of its mesh.
 *
 * A walk over jaxprs, from the entry on, calls inlined, loops until nothing
 * changes.  That a value does not vary is known; that it is a summand, that
 * something is added to it and the like says what its author seems to mean by
 * it, and accuses nobody for sure. */
#ifndef JX_MESH_FACTS_H
#define JX_MESH_FACTS_H

#include "analyzer/lint/lint.h"
#include "frontend/ir/mesh.h"

/* Axes of a mesh, a bit for each. */
typedef uint32_t jx_axis_set;

enum { JX_MOST_MESH_AXES = 32 };

typedef struct jx_mesh_fact {
    jx_axis_set varies; /* along which it may differ from device to device */
    jx_axis_set parts;  /* along which it is one summand of what is meant */
    /* of those: something that does not vary is part of each summand */
    jx_axis_set plus;
    jx_axis_set
        shared;        /* along which it was divided by the number of devices */
    jx_axis_set drawn; /* along which it is random numbers of one key */
    jx_axis_set
        missed;      /* along which it is a summand, after a sum along others */
    bool fixed;      /* no input reaches it */
    bool narrowed;   /* it was a wider float */
    bool has_number; /* all its elements are that */
    double number;
    const int64_t
        *known; /* its one element, an integer or a truth, for each device; or
                             NULL */
    const struct jx_mesh_fact
        *inside; /* what each device gave of it, which stands
                                          in blocks as `how` says; or NULL */
    const jx_sharding *how;
    int rank;
    const jx_axis_names
        *cut; /* by axis of the array: the axes of the mesh that cut it into
                                 blocks, the slowest first; or NULL.  Outside of
                                 all shard_maps: in which blocks it lies on the
                                 devices, as far as somebody says so */
    const jx_axis_set
        *counts; /* by axis of the array: its elements are one of each device
                                  along these; or NULL */
} jx_mesh_fact;

typedef struct jx_mesh_walk {
    jx_linter *lint;
    const jx_mesh *mesh;
    int64_t devices;
    jx_axis_set bound; /* of the shard_maps around */
    int silent; /* in turns of a loop that are only for finding what holds */
    int depth;
    int64_t left; /* equations that may still be looked at */
} jx_mesh_walk;

/* Where an equation stands. */
typedef struct jx_mesh_place {
    const jx_jaxpr *jaxpr;
    const jx_calls *calls; /* that lead to it, or NULL */
    const jx_eqn *eqn;
} jx_mesh_place;

/* ---- facts (mesh_facts.c) */

/* Nothing is known of a value of that type. */
jx_mesh_fact jx_mesh_unknown(const jx_mesh_walk *w, const jx_aval *aval);
/* What holds of one or the other. */
jx_mesh_fact jx_mesh_either(const jx_mesh_walk *w, const jx_mesh_fact *a,
                            const jx_mesh_fact *b);
bool jx_mesh_same_fact(const jx_mesh_fact *a, const jx_mesh_fact *b,
                       int64_t devices);
/* The axes by their names; names that the mesh has not, or with one
 * device, are none. */
jx_axis_set jx_mesh_set_of(const jx_mesh_walk *w, jx_axis_names names);
jx_axis_set jx_mesh_cut_of(const jx_mesh_walk *w, const jx_mesh_fact *a,
                           int axis);
/* The same axes in the same order, but for those of one device. */
bool jx_mesh_same_order(const jx_mesh_walk *w, jx_axis_names a,
                        jx_axis_names b);
/* "'x', 'y'", arena text. */
const char *jx_mesh_axes_text(const jx_mesh_walk *w, jx_axis_set axes);
/* An equation that each device does on its own. */
void jx_mesh_local(const jx_mesh_walk *w, const jx_mesh_place *at,
                   const jx_mesh_fact *ins, jx_mesh_fact *outs);
/* The integers that an equation gives of known ones. */
const int64_t *jx_mesh_known(const jx_mesh_walk *w, const jx_eqn *eqn,
                             const jx_mesh_fact *ins);
/* The axes along which an operand of a product or a quotient, if it is a
 * number, divides by the number of devices. */
jx_axis_set jx_mesh_divides(const jx_mesh_walk *w, const jx_jaxpr *jaxpr,
                            jx_atom atom);
/* The axes along which known integers differ. */
jx_axis_set jx_mesh_differs(const jx_mesh_walk *w, const int64_t *known);
/* What a literal is. */
jx_mesh_fact jx_mesh_literal(const jx_mesh_walk *w, const jx_literal *literal);
jx_arena *jx_mesh_arena(const jx_mesh_walk *w);

/* ---- the walk (mesh.c) */

/* The axes over which a collective goes; irregular groups are of all. */
jx_axis_set jx_mesh_joined(const jx_mesh_walk *w, const jx_eqn *eqn);

/* ---- collectives and what is said of them (mesh_collectives.c) */

/* False: it is none. */
bool jx_mesh_collective(jx_mesh_walk *w, const jx_mesh_place *at,
                        const jx_mesh_fact *ins, jx_mesh_fact *outs);
/* What is amiss with an equation that each device does on its own. */
void jx_mesh_look(jx_mesh_walk *w, const jx_mesh_place *at,
                  const jx_mesh_fact *ins, const jx_mesh_fact *outs);
/* A claim at an equation, undecided; NULL where nothing is to be said. */
jx_claim *jx_mesh_claim(jx_mesh_walk *w, const jx_mesh_place *at, jx_code code,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of what is suspected: a warning, or less. */
void jx_mesh_suspect(jx_mesh_walk *w, const jx_mesh_place *at, jx_code code,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
