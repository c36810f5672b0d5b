/* split_parts.h - what the files of splitting share: a jaxpr on its way. */
#ifndef JX_SPLIT_PARTS_H
#define JX_SPLIT_PARTS_H

#include "analyzer/transform/split.h"

typedef struct jx_splitting {
    jx_splitter *of;
    const jx_jaxpr *from;
    const bool *kept;
    jx_body known, rest;
    bool *unknown;         /* by variable */
    jx_atom *there, *left; /* by variable: what it is in `known`, in `rest` */
    JX_VEC(jx_atom) residuals; /* of `known` */
    JX_VEC(int) passed;
    JX_VEC(jx_var *) residual_ins, passed_ins, unknown_ins; /* of `rest` */
} jx_splitting;

static inline bool jx_split_is_unknown(const jx_splitting *w, jx_atom atom)
{
    return atom.var && w->unknown[atom.var->id];
}

/* What a known atom is in `known`, and any atom in `rest`. */
jx_atom jx_split_known(const jx_splitting *w, jx_atom atom);
jx_atom jx_split_rest(jx_splitting *w, jx_atom atom);

/* What something computed in `known` is in `rest`: a residual. */
jx_atom jx_split_residual(jx_splitting *w, jx_atom known);

/* Whose equations are split within; false: told. */
bool jx_split_call(jx_splitting *w, const jx_eqn *eqn);
bool jx_split_remat(jx_splitting *w, const jx_eqn *eqn);
bool jx_split_cond(jx_splitting *w, const jx_eqn *eqn);
bool jx_split_scan(jx_splitting *w, const jx_eqn *eqn);
bool jx_split_shard_map(jx_splitting *w, const jx_eqn *eqn);
bool jx_split_reduce(jx_splitting *w, const jx_eqn *eqn);
/* Not if it is `whole`: then it is for the rest to do as it stands. */
bool jx_split_while(jx_splitting *w, const jx_eqn *eqn, bool *whole);

/* Results of an equation: those that are known, those that are not. */
void jx_split_give_known(jx_splitting *w, const jx_eqn *eqn, const bool *outs,
                         const jx_atom *made);
void jx_split_give_rest(jx_splitting *w, const jx_eqn *eqn, const bool *outs,
                        const jx_atom *made);

#endif
