/* budget.h - what one use of the library may take: memory, time, patience.
 *
 * Whatever grows with an input is charged to a budget: arenas, buffers, a
 * run's memory, the helper process.  A budget that is spent stays so: arenas
 * and buffers that draw on it fail from then on, loops that ask it stop, and
 * the context that it belongs to says at what it gave up (ctx.h).
 *
 * Budgets form a chain.  One of a step (a question of the prover) lies below
 * the program's: what it takes is taken from both, and it may be spent while
 * the other is not.
 *
 * Bytes may be charged by several threads at once; the rest belongs to the
 * thread that uses the context. */
#ifndef JX_BUDGET_H
#define JX_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct jx_limits {
    size_t bytes;               /* 0: none */
    double seconds;             /* by the clock; 0: none */
    const volatile int *cancel; /* stops when it is not 0; NULL: never */
} jx_limits;

typedef enum jx_spent {
    JX_SPENT_NOTHING = 0,
    JX_SPENT_BYTES,
    JX_SPENT_SECONDS,
    JX_SPENT_PATIENCE, /* cancelled */
    JX_SPENT_SYSTEM,   /* it has no more memory */
} jx_spent;

typedef struct jx_budget {
    struct jx_budget *above;
    jx_limits limits;
    double deadline; /* of jx_seconds_now(); 0: none */
    atomic_size_t used;
    atomic_int spent; /* a jx_spent */
} jx_budget;

double jx_seconds_now(void); /* a clock that only goes forward */

/* Nothing used; the clock starts.  `above` outlives it, or is NULL. */
void jx_budget_init(jx_budget *budget, jx_limits limits, jx_budget *above);
/* Time starts anew; what is spent stays so. */
void jx_budget_restart(jx_budget *budget);

/* Charges it; false, and nothing charged, where that is beyond a limit or
 * something is spent.  NULL has no limits. */
bool jx_budget_take(jx_budget *budget, size_t bytes);
void jx_budget_give(jx_budget *budget, size_t bytes);
/* The system refused memory: what it was for can't go on. */
void jx_budget_starved(jx_budget *budget);
/* What was starved (and no more than that) goes on: with something else, that
 * the refused memory was not for. */
void jx_budget_fed(jx_budget *budget);

/* When work has to stop for the deadline to be kept, by jx_seconds_now(): the
 * system takes its time to take memory back.  0: never. */
double jx_budget_stop(const jx_budget *budget);
/* What is spent, here or above. */
jx_spent jx_budget_spent(const jx_budget *budget);
/* Looks at the clock, too; false: stop. */
bool jx_budget_lasts(jx_budget *budget);
/* What can still be taken; SIZE_MAX without limits. */
size_t jx_budget_left(const jx_budget *budget);

#endif
