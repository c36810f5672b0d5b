/* scene.h - one case of a proof by splitting; only the decider sees it.
 *
 * A scene says what is wanted of which dim, under which hypotheses, with which
 * variables.  Scenes are small values: a split copies the scene, changes the
 * copy and goes on there.  A function that gives false has given up, which is
 * always allowed; the scene is then not to be used any more.
 *
 *     scene.c       variables, looking at dims, putting dims for atoms
 *     tidy.c        what hypotheses say at once
 *     leaf.c        signs of polynomials
 *     quotient.c    splitting a quotient away
 *     elementary.c  the other splits, and which comes when */
#ifndef JX_PROVER_SCENE_H
#define JX_PROVER_SCENE_H

#include "prover/trace.h"

enum {
    JX_SCENE_HYPS = 28,
    JX_SCENE_VARS = 20,
    JX_SCENE_NARROW = 4, /* so few values are tried one by one */
};

/* A variable and its range in this scene; `low` always exists. */
typedef struct jx_scene_variable {
    const jx_dim_atom *atom;
    jx_int low, high;
    bool has_high;
} jx_scene_variable;

typedef struct jx_scene {
    jx_work *work;
    long *steps; /* left; shared by all scenes of a proof */
    const jx_dim *goal;
    int wanted; /* its signs; 0: the hypotheses are to clash */
    int depth;
    int nhyps, nvars;
    int order_splits, value_splits; /* how many more are allowed */
    bool refuting;      /* the opposite of the goal is a hypothesis */
    bool enumerate;     /* residues even where they are many */
    bool shallow;       /* atoms are not split */
    bool compare_first; /* hypotheses x >= e are used before atoms are split */
    jx_hyp hyps[JX_SCENE_HYPS];
    jx_scene_variable vars[JX_SCENE_VARS];
} jx_scene;

/* Whether the goal has a wanted sign in this scene: the whole decider. */
bool jx_scene_settle(jx_scene *s);
/* The same by splitting on a quotient with polynomial operands. */
bool jx_scene_split_quotient(jx_scene *s, const jx_dim_atom *atom);

/* Takes steps from the budget; false when it is spent. */
bool jx_scene_spend(jx_scene *s, long steps);

/* The variable in the scene, or NULL; and with its range in `work`, if it was
 * not there (NULL when there are too many). */
jx_scene_variable *jx_scene_find(jx_scene *s, const jx_dim_atom *atom);
jx_scene_variable *jx_scene_var(jx_scene *s, const jx_dim_atom *atom);
/* All variables of a dim. */
bool jx_scene_register(jx_scene *s, const jx_dim *d);
void jx_scene_forget(jx_scene *s, jx_scene_variable *v);
/* A new variable, at least `low`. */
const jx_dim *jx_scene_fresh(jx_scene *s, jx_int low);

bool jx_scene_assume(jx_scene *s, const jx_dim *d, jx_hyp_kind kind);
void jx_scene_drop(jx_scene *s, int i);

/* The goal's opposite as a fact; a goal of no signs has none (dim is 0). */
jx_hyp jx_scene_opposite(jx_scene *s);
/* Notes a fact that follows from another; see trace.h. */
void jx_note_derived(jx_scene *s, jx_step_kind kind, const jx_hyp *from,
                     const jx_dim *to, const jx_dim_atom *by);
/* Notes a split: the goal is negative, or positive. */
void jx_scene_note_opposites(jx_scene *s);
/* Notes that an atom has a value; that the goal is settled by signs. */
void jx_scene_note_put(jx_scene *s, const jx_dim_atom *atom,
                       const jx_dim *value);
void jx_scene_note_signs(jx_scene *s);

/* Puts a dim for an atom; nothing is simplified. */
const jx_dim *jx_scene_put(jx_scene *s, const jx_dim *d,
                           const jx_dim_atom *atom, const jx_dim *value);
/* Puts it everywhere in the scene, and simplifies. */
bool jx_scene_replace(jx_scene *s, const jx_dim_atom *atom,
                      const jx_dim *value);
/* The same for a variable, whose range becomes hypotheses about the value. */
bool jx_scene_eliminate(jx_scene *s, const jx_dim_atom *var,
                        const jx_dim *value);

/* What a step on the hypotheses did. */
typedef enum jx_outcome {
    JX_AS_BEFORE,
    JX_CHANGED,
    JX_IMPOSSIBLE, /* the case is empty: anything holds */
    JX_TOO_MUCH,
} jx_outcome;

jx_outcome jx_scene_tidy(jx_scene *s);
jx_outcome jx_scene_raise(jx_scene_variable *v, jx_int low);

/* Signs of any dim by intervals; of a polynomial, by all that is cheap; of one
 * in one variable, exactly (up to a limit, until one in `enough` is met). */
jx_dim_range jx_scene_bounds(jx_scene *s, const jx_dim *d);
int jx_signs_of_range(jx_dim_range r);
int jx_scene_signs(jx_scene *s, const jx_dim *d);
int jx_scene_signs_of_one(jx_scene *s, const jx_dim *d,
                          const jx_scene_variable *v, int enough);
/* Puts low + x for every variable x, so that all start at 0; and the signs of
 * such a polynomial. */
const jx_dim *jx_scene_shift(jx_scene *s, const jx_dim *d);
int jx_signs_by_coefficients(const jx_dim *d);
/* Whether the goal, a polynomial, has a wanted sign by hypotheses. */
bool jx_scene_leaf(jx_scene *s);
/* -1 >= 0 follows from the hypotheses. */
bool jx_scene_clash(jx_scene *s);

/* Looking at dims. */
bool jx_is_polynomial(const jx_dim *d);
/* The smallest atom that is no variable and whose operands are polynomials:
 * naming the small ones makes the larger ones simpler.  NULL if none. */
const jx_dim_atom *jx_innermost(const jx_dim *d);
bool jx_mentions(const jx_dim *d, const jx_dim_atom *atom);
/* The coefficient of a variable that occurs in one term only, alone there;
 * else 0. */
jx_int jx_linear_coefficient(const jx_dim *d, const jx_dim_atom *var);
int jx_degree_in(const jx_dim *d, const jx_dim_atom *atom);
/* All terms have the atom, or all but the constant. */
bool jx_divides_all(const jx_dim *d, const jx_dim_atom *a, bool constant);
const jx_dim_term *jx_negative_term(const jx_dim *d); /* the largest, or NULL */

static inline int jx_sign_of(jx_int k)
{
    return k > 0 ? JX_POSITIVE : k < 0 ? JX_NEGATIVE : JX_ZERO;
}

static inline bool jx_within(int signs, int wanted)
{
    return !(signs & ~wanted);
}

static inline const jx_dim *jx_scene_dim(jx_scene *s, const jx_dim_atom *var)
{
    return jx_dim_of_atom(s->work->in, var);
}

static inline const jx_dim *jx_scene_add(jx_scene *s, const jx_dim *a,
                                         const jx_dim *b)
{
    return jx_dim_add(s->work->in, a, b);
}

static inline const jx_dim *jx_scene_sub(jx_scene *s, const jx_dim *a,
                                         const jx_dim *b)
{
    return jx_dim_sub(s->work->in, a, b);
}

static inline const jx_dim *jx_scene_mul(jx_scene *s, const jx_dim *a,
                                         const jx_dim *b)
{
    return jx_dim_mul(s->work->in, a, b);
}

static inline const jx_dim *jx_scene_int(jx_scene *s, jx_int k)
{
    return jx_dim_wide(s->work->in, k);
}

#endif
