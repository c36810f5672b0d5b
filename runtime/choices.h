/* choices.h - which way a run goes.
 *
 * A plan that is made with choices adds up what comparisons of numbers say,
 * which operand a max takes, which branch a cond: two runs with the same sum
 * went the same way (almost surely), and between them lies no threshold. */
#ifndef JX_CHOICES_H
#define JX_CHOICES_H

#include "runtime/kernel.h"

typedef struct jx_choices {
    uint64_t sum; /* whoever runs sets it to 0 before */
} jx_choices;

/* Whether an equation chooses by numbers that are no integers. */
bool jx_eqn_chooses(const jx_eqn *eqn);
/* Appends a look at what such an equation chose; nothing for any other. */
void jx_plan_choices(jx_planner *p, jx_choices *to, const jx_eqn *eqn,
                     const jx_slot *ins, const jx_slot *outs);

#endif
