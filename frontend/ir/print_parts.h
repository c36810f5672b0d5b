/* print_parts.h - what the files of the printer share. */
#ifndef JX_PRINT_PARTS_H
#define JX_PRINT_PARTS_H

#include "frontend/base/map.h"
#include "frontend/ir/layout.h"
#include "frontend/ir/print.h"

typedef struct jx_printer {
    const jx_program *program;
    const jx_jaxpr *top;
    jx_print_options options;
    jx_arena *arena;
    jx_layout layout;
    jx_map names;                     /* of variables */
    jx_map shared;                    /* names of hoisted jaxprs, by jaxpr */
    jx_intern taken;                  /* names of hoisted jaxprs */
    JX_VEC(const jx_jaxpr *) hoisted; /* in the order in which they are shown */
    uint64_t fresh;                   /* next number to make a name of */
} jx_printer;

/* Finds the jaxprs that are hoisted and names them (print_census.c). */
void jx_print_census(jx_printer *p);

void jx_print_text(jx_printer *p, const char *text);
/* Frees the buffer, too. */
void jx_print_buffer(jx_printer *p, jx_buffer *text);
/* In full, or the name of a hoisted one. */
void jx_print_jaxpr(jx_printer *p, const jx_jaxpr *jaxpr);
/* `:f32[3]` without its colon. */
void jx_print_type(jx_printer *p, const jx_aval *aval);

void jx_print_atom(jx_printer *p, jx_atom atom);
/* The results of an equation, with their types. */
void jx_print_binders(jx_printer *p, const jx_eqn *eqn);

/* An equation that reads or writes a part of a reference, which has a form of
 * its own (print_state.c); false: it is printed as any other. */
bool jx_print_is_access(const jx_eqn *eqn);
void jx_print_access(jx_printer *p, const jx_eqn *eqn);

/* `[name=value ...]` of an equation, as far as JAX shows them
 * (print_params.c). */
void jx_print_params(jx_printer *p, const jx_eqn *eqn);
/* `name=value`, one of several; without a value, who calls writes it. */
void jx_print_begin_params(jx_printer *p);
void jx_print_param(jx_printer *p, bool first, const char *name,
                    const jx_value *value);
void jx_print_end_params(jx_printer *p);

/* An equation whose primitive is an object, up to its operands (print_hi.c). */
void jx_print_hi_call(jx_printer *p, const jx_eqn *eqn);
/* It is shown as one; else as any other equation. */
bool jx_print_is_hi_call(const jx_printer *p, const jx_eqn *eqn);
/* The same of an object inside of a parameter. */
void jx_print_hi(jx_printer *p, const jx_value *record);
/* What an equation or a record shows, by name: a map or a record. */
int jx_print_pairs(const jx_value *of);
const jx_value *jx_print_pair(const jx_value *of, int i, const char **name);
/* An equation that brings its module, as the one of the primitive
 * that it is to JAX. */
jx_eqn jx_print_unmoduled(jx_printer *p, const jx_eqn *eqn);
/* JAX shows `Name[a=1 b=2]`, not yet `_prim=Name[{'a': 1, 'b': 2}]`. */
bool jx_print_hi_by_name(const jx_program *program);

#endif
