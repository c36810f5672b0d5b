/* discharge_parts.h - what the files of the discharge share. */
#ifndef JX_DISCHARGE_PARTS_H
#define JX_DISCHARGE_PARTS_H

#include "analyzer/transform/discharge.h"
#include "frontend/ir/build.h"

typedef struct jx_discharge {
    jx_program *program;
    jx_ctx *ctx;
    const bool **writes; /* by jaxpr: which constants and inputs it writes */
    jx_intern made;      /* jaxprs, by what they are made of */
    jx_intern read;      /* and those of modules, by module and types */
    jx_rule *rules;      /* new ones, by number */
    struct jx_definition *definitions; /* the same */
    bool open; /* exported functions stay what they are */
    jx_builder build;
} jx_discharge;

/* A jaxpr in the making: the equations of one or two old ones. */
typedef struct jx_discharging {
    jx_body body;
    jx_discharge *d;
    const jx_jaxpr *from; /* the old one being worked on */
    const jx_eqn *eqn;    /* and its equation, or NULL */
    bool lenient;         /* it is only a parameter of what is not known: a
                             reference that it gives away is no error */
    jx_atom *now;         /* by old number: what it stands for; of a reference,
                             what it holds */
    bool *gone;           /* by old number: it was frozen */
    bool *used;           /* by old number: something takes it */
} jx_discharging;

/* ---- failures (discharge_build.c) */

/* Where the equation is, for messages; NULL without memory. */
const char *jx_discharge_place(const jx_discharging *b);

/* Records the first failure, at the equation; always false. */
bool jx_discharge_fail(jx_discharging *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- equations (discharge_build.c).  An atom without anything, or NULL, is a
 * failure; whoever takes one gives one. */

/* The aval of an array of that dtype and shape, with the marks of another. */
const jx_aval *jx_discharge_aval(jx_discharging *b, const jx_aval *like,
                                 jx_dtype dtype, int rank,
                                 const jx_dim *const *shape);

/* A jaxpr in the making, without anything yet. */
void jx_discharge_begin(jx_discharge *d, jx_discharging *b, bool lenient);
/* Adds an equation in the place of the one that is worked on, and gives its
 * results. */
const jx_atom *jx_discharge_emit_all(jx_discharging *b, const jx_prim *prim,
                                     int nins, const jx_atom *ins,
                                     jx_params *params, int nouts,
                                     const jx_aval *const *outs);
jx_atom jx_discharge_emit(jx_discharging *b, jx_prim_id prim, int nins,
                          const jx_atom *ins, jx_params *params,
                          const jx_aval *out);
/* Elementwise, of operands of one shape, or a scalar beside an array. */
jx_atom jx_discharge_two(jx_discharging *b, jx_prim_id prim, jx_atom a,
                         jx_atom c, const jx_aval *out);
jx_atom jx_discharge_number(jx_discharging *b, jx_dtype dtype, int64_t value);
/* A size as an integer. */
jx_atom jx_discharge_size(jx_discharging *b, const jx_dim *dim);
jx_atom jx_discharge_convert(jx_discharging *b, jx_atom a, jx_dtype dtype,
                             bool weak);
jx_atom jx_discharge_reshape(jx_discharging *b, jx_atom a, int rank,
                             const jx_dim *const *shape);
jx_atom jx_discharge_transpose(jx_discharging *b, jx_atom a, jx_ints order);
jx_atom jx_discharge_bitcast(jx_discharging *b, jx_atom a, jx_dtype dtype);
/* The axes of `a` become these of the result. */
jx_atom jx_discharge_broadcast(jx_discharging *b, jx_atom a, int rank,
                               const jx_dim *const *shape, const int64_t *dims);
/* The value as one of that aval; where sizes are not the same dims, typing has
 * to find that they are equal. */
jx_atom jx_discharge_as(jx_discharging *b, jx_atom a, const jx_aval *aval);

/* ---- what an equation does to a part of a reference (discharge_path.c) */

/* False where nothing is known of it (and no failure): JAX can't lower that,
 * either, or its text does not say which part is meant. */
bool jx_discharge_can(const jx_discharging *b, const jx_eqn *eqn,
                      const jx_ref_path *path);
/* What the part of `held` is; what all of it is with a value in that part (and,
 * unless NULL, *before: what was there), or with the value added to it. */
jx_atom jx_discharge_read(jx_discharging *b, const jx_ref_path *path,
                          jx_atom held, const jx_atom *operands);
jx_atom jx_discharge_write(jx_discharging *b, const jx_ref_path *path,
                           jx_atom held, const jx_atom *operands, jx_atom value,
                           jx_atom *before);
jx_atom jx_discharge_add(jx_discharging *b, const jx_ref_path *path,
                         jx_atom held, const jx_atom *operands, jx_atom value);

/* ---- jaxprs (discharge.c) */

static inline bool jx_is_ref(const jx_var *var)
{
    return var && var->aval->kind == JX_AVAL_REF;
}

static inline const jx_aval *jx_held_by(const jx_var *var)
{
    return jx_is_ref(var) ? var->aval->of : var->aval;
}

/* Which constants and inputs the jaxpr writes, by the numbers of its variables;
 * NULL without memory. */
const bool *jx_discharge_writes(jx_discharge *d, const jx_jaxpr *jaxpr);

typedef enum jx_recipe_kind {
    JX_RECIPE_CALLED,
    JX_RECIPE_SHOWN,   /* a parameter of what nobody knows: see `lenient` */
    JX_RECIPE_ENTERED, /* from outside: its constants may be written, too */
} jx_recipe_kind;

/* How a jaxpr is made, in numbers, so that equal ones are found:
 *
 *     jx_recipe_kind, how many inputs, how many stages,
 *     per stage: jaxpr, per input of it: which of the new inputs,
 *     how many inputs that no stage takes, per input: its number, and the jaxpr
 *     and the input there whose type it has,
 *     how many outputs, per output: its stage and number there, or -1 and the
 *     input whose reference's content it is (behind the inputs: the constant)
 */
typedef struct jx_recipe {
    JX_VEC(int) at;
} jx_recipe;

void jx_recipe_put(jx_discharge *d, jx_recipe *r, int number);
/* NULL with an error. */
const jx_jaxpr *jx_recipe_follow(jx_discharge *d, const jx_recipe *r);
/* Inputs and outputs as they are, and then what the inputs hold of which
 * `gives` says so (by number of the jaxpr's variables). */
const jx_jaxpr *jx_discharge_plain(jx_discharge *d, const jx_jaxpr *from,
                                   const bool *gives, bool lenient);
/* A value, with the new ones of its jaxprs and rules. */
const jx_value *jx_discharge_value(jx_discharge *d, const jx_value *value);
jx_effects jx_discharge_effects(jx_discharge *d, jx_effects all);

/* ---- equations (discharge_eqn.c) */

bool jx_discharge_eqn(jx_discharging *b, const jx_eqn *eqn);
/* An equation that brings its meaning (discharge_module.c). */
bool jx_discharge_has_module(const jx_eqn *eqn, bool open);
/* Whether it calls an exported function of which only the types
 * are looked at. */
bool jx_discharge_is_open(const jx_jaxpr *jaxpr);
bool jx_discharge_module(jx_discharging *b, const jx_eqn *eqn);
bool jx_discharge_scan(jx_discharging *b, const jx_eqn *eqn); /* _loops.c */
bool jx_discharge_while(jx_discharging *b, const jx_eqn *eqn);

/* What an operand, or each operand, stands for at this point; what a variable
 * stands for from here on. */
jx_atom jx_discharge_now(const jx_discharging *b, jx_atom atom);
jx_atom *jx_discharge_operands(jx_discharging *b, const jx_eqn *eqn);
void jx_discharge_become(jx_discharging *b, const jx_var *old, jx_atom atom);
/* The same for all results; false if there are no atoms. */
bool jx_discharge_results(jx_discharging *b, const jx_eqn *eqn,
                          const jx_atom *outs);
/* A call gets each reference once: within, each input is another. */
bool jx_discharge_distinct(jx_discharging *b, const jx_eqn *eqn);
/* Inputs of a callee are references where the operands are. */
bool jx_discharge_inputs(jx_discharging *b, const jx_eqn *eqn, int first,
                         const jx_jaxpr *callee, int from, int count);
/* A jaxpr with the constants of the one that it was made of. */
const jx_value *jx_discharge_callee(jx_discharging *b, const jx_jaxpr *jaxpr,
                                    const jx_closed *closed);

#endif
