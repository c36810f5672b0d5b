/* print_parts.h - what the files of the printer share. */
#ifndef JX_PRINT_PARTS_H
#define JX_PRINT_PARTS_H

#include "frontend/ir/layout.h"
#include "frontend/ir/print.h"

typedef struct jx_printer {
    const jx_program *program;
    const jx_jaxpr *top;
    jx_print_options options;
    jx_arena *arena;
    jx_layout layout;
    jx_intern names;  /* of variables */
    jx_intern shared; /* of hoisted jaxprs, by jaxpr */
    jx_intern taken;  /* names of hoisted jaxprs */
    JX_VEC(const jx_jaxpr *) hoisted; /* in the order in which they are shown */
    uint64_t fresh;   /* next number to make a name of */
} jx_printer;

/* The name of a variable or a jaxpr, or NULL. */
const char *jx_print_name(const jx_intern *table, const void *thing);
void jx_print_set_name(jx_printer *p, jx_intern *table, const void *thing,
                       const char *name);

/* Finds the jaxprs that are hoisted and names them (print_census.c). */
void jx_print_census(jx_printer *p);

void jx_print_text(jx_printer *p, const char *text);
/* Frees the buffer, too. */
void jx_print_buffer(jx_printer *p, jx_buffer *text);
/* In full, or the name of a hoisted one. */
void jx_print_jaxpr(jx_printer *p, const jx_jaxpr *jaxpr);
/* ` [name=value ...]` of an equation, as far as JAX shows them
 * (print_params.c). */
void jx_print_params(jx_printer *p, const jx_eqn *eqn);

#endif
