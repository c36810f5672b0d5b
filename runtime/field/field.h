/* field.h - running a program over a ring (cell.h), at concrete sizes.
 *
 * Numbers are cells; integers and keys are what they are, and run as ever.
 * What is made of numbers and is none (a loop's end) is not known, and so is
 * all that depends on it: jx_field.why says why.  An argmax, or a sorted order,
 * is that, too, but on planes (field_integers.c).  Loops are run turn by
 * turn. */
#ifndef JX_FIELD_H
#define JX_FIELD_H

#include "frontend/base/intern.h"
#include "frontend/ir/typed.h"
#include "runtime/field/cell.h"

/* An array: cells of floats and booleans, bits of all else; of complex numbers
 * cells, too, where there are no planes, and planes of integers that are made
 * of numbers. */
typedef struct jx_plane jx_plane; /* plane.h */

typedef struct jx_field_value {
    jx_dtype dtype;
    int rank;
    const int64_t *shape; /* of a key with its trailing axis */
    int64_t count;
    jx_cell *cells;
    /* of the cells, if these are complex numbers; or NULL: unknown */
    jx_cell *conjugates;
    jx_plane *plane; /* in place of cells */
    bool splat;      /* of cells or a plane: one element is stored for all */
    void *bits;      /* dense, in the declared dtype */
    jx_cell *on;     /* what the bits depend on, or NULL */
    bool unknown;    /* bits that nobody knows */
} jx_field_value;

/* What evaluations of one program share: equations made ready to be run. */
typedef struct jx_field_program {
    const jx_typed *typed;
    int nbindings;
    const jx_binding *bindings;
    size_t memory;                        /* of one plan; 0: no limit */
    JX_VEC(struct jx_field_ready *) made; /* field_ready.c */
    /* the same by what is planned: a plan is of all equations like it */
    jx_intern alike;
} jx_field_program;

void jx_field_open(jx_field_program *to, const jx_typed *typed, int nbindings,
                   const jx_binding *bindings, size_t memory);
void jx_field_close(jx_field_program *program);

/* Random numbers for an input of that type, the same for the same number of
 * input; false for what has no numbers (integers, keys; where there are planes,
 * complex numbers). */
bool jx_field_input(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, int number, jx_field_value *to);

/* Evaluates; outs in the field's memory.  False where it gave up (f->spent). */
bool jx_field_run(jx_field *f, jx_field_program *program,
                  const jx_closed *closed, const jx_field_value *ins,
                  jx_field_value *outs);

/* ---- between the files of this folder */

/* The shape that a type has at these sizes; count and cells or bits are left
 * out.  False where a size is not known. */
bool jx_field_shape(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, jx_field_value *to);
/* The same with room for its cells, or its bits. */
bool jx_field_room(jx_field *f, const jx_field_program *program,
                   const jx_aval *aval, jx_field_value *to);
/* Room for one cell that stands for all; for what planes are kept of,
 * where the field has them: a plane, of one element that stands for all if
 * it is `single`. */
bool jx_field_single(jx_field *f, const jx_field_program *program,
                     const jx_aval *aval, jx_field_value *to);
bool jx_field_like(jx_field *f, const jx_field_program *program,
                   const jx_aval *aval, bool single, jx_field_value *to);
/* A plane, of integers too. */
bool jx_field_plane(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, jx_field_value *to);
bool jx_field_has_cells(jx_dtype dtype);
void jx_field_lose(jx_field *f, jx_field_value *to, const char *why);
/* All that a value depends on, in one cell. */
jx_cell jx_field_reasons(jx_field *f, const jx_field_value *of);

/* An equation whose operands are no numbers, as the runtime has it. */
bool jx_field_exact(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs);
/* One that moves elements and computes none; false if it is none. */
bool jx_field_moves(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                    const jx_field_value *ins, jx_field_value *outs);
/* Sums of all kinds; false if it is none. */
bool jx_field_is_sum(jx_prim_id id);
bool jx_field_sums(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *outs);
/* A contraction: which elements of its operands an element of its
 * result is made of. */
typedef struct jx_contracted {
    int64_t batch[32], free[32], inner[32]; /* steps of an operand's axes */
    int nfree;
    int64_t sizes[32]; /* of the free ones */
} jx_contracted;

typedef struct jx_contraction {
    jx_contracted left, right;
    int nbatches, ninners;
    int64_t batches[32], inners[32]; /* sizes */
    int64_t count;                   /* products of an element */
} jx_contraction;

bool jx_contraction_of(const jx_eqn *eqn, const jx_field_value *ins,
                       jx_contraction *to);
/* Where the factors of element i begin; from there, where those of its
 * product k are. */
void jx_contraction_row(const jx_contraction *c, int64_t i, int64_t *a,
                        int64_t *b);
void jx_contraction_factors(const jx_contraction *c, int64_t k, int64_t *a,
                            int64_t *b);
/* One that moves elements, of which it computes none. */
bool jx_field_is_move(const jx_eqn *eqn);
/* Integers as numbers: to be converted, or an exponent. */
bool jx_field_numbers(jx_field *f, const jx_field_value *of,
                      jx_field_value *to);
/* Whether an operand is integers that are made of numbers; one that takes them;
 * false if what it gives is not known. */
bool jx_field_takes_integers(const jx_eqn *eqn, const jx_field_value *ins);
bool jx_field_integers(jx_field *f, jx_field_program *program,
                       const jx_eqn *eqn, const jx_field_value *ins,
                       jx_field_value *outs);
/* What a choice selects of such; false if neither side is, or nobody knows. */
bool jx_field_choose_integers(jx_field *f, const jx_field_program *program,
                              const jx_aval *aval, const jx_cell *chosen,
                              const jx_field_value *no,
                              const jx_field_value *yes, jx_field_value *to);
/* Functions of whole arrays; false if it is none. */
bool jx_field_opaque(jx_field *f, const jx_field_program *program,
                     const jx_eqn *eqn, const jx_field_value *ins,
                     jx_field_value *outs);
/* Whether an equation takes or gives complex numbers; one that does, where
 * there are no planes; false if what it gives is not known. */
bool jx_field_is_complex(const jx_eqn *eqn);
bool jx_field_complex(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs);
/* The complex number that has these parts, and its conjugate. */
void jx_cell_complex(jx_field *f, const jx_cell *real, const jx_cell *imag,
                     jx_cell *to, jx_cell *conjugate);
/* Whether it is a scalar, or of the shape of the result but for axes of size 1;
 * and its element that element i of the result is made of. */
bool jx_field_stretches(const jx_field_value *x, const jx_field_value *out);
int64_t jx_field_element_of(const jx_field_value *x, const jx_field_value *out,
                            int64_t i);
/* Element by element. */
bool jx_field_elementwise(jx_field *f, const jx_eqn *eqn,
                          const jx_field_value *ins, jx_field_value *out);

#endif
