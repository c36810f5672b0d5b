/* costs.h - what a program costs, said to people and to programs, and the
 * largest size that fits a memory. */
#ifndef JX_COSTS_H
#define JX_COSTS_H

#include "analyzer/cost.h"
#include "frontend/base/texts.h"

/* Lines such as "  flops           2*b*h^2 + b*h". */
void jx_costs_print(const jx_cost *cost, jx_buffer *to);
/* The same as a JSON object. */
void jx_costs_json(const jx_cost *cost, jx_buffer *to);

/* "80GiB", "1.5 GB", "4096": bytes.  False if it is none. */
bool jx_bytes_read(const char *text, int64_t *bytes);

/* The one size that `--set` leaves open. */
typedef struct jx_fit {
    const jx_dim_atom *var; /* NULL: none is open */
    bool fits;              /* some size does */
    bool unbounded;         /* every 32-bit size does */
    int64_t upto; /* memory does not only grow with it: the largest size that
                     was tried; else 0 */
    int64_t size; /* the largest that fits and is admissible */
    jx_int peak;  /* bytes there */
    bool has_next;
    int64_t next; /* the next admissible size, which does not fit */
    jx_int next_peak;
} jx_fit;

/* False with an error: an unknown or inadmissible size, more than one size left
 * open, a peak that is not known. */
bool jx_costs_fit(const jx_program *program, const jx_cost *cost,
                  const jx_texts *set, int64_t budget, jx_fit *fit);
void jx_fit_print(const jx_fit *fit, int64_t budget, jx_buffer *to);

#endif
