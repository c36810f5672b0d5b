/* transforms.h - what --transform asks for, done to a program.
 *
 *     set:b=8,t=4    at these sizes
 *     devices:8      written out for so many devices
 *     jvp            its derivative along a direction
 *                    (analyzer/transform/jvp.h)
 *     linearize      its outputs and what its derivative needs, and that
 *                    derivative as a second program
 *                    (analyzer/transform/linearize.h)
 *     linear         that second program
 *     vjp            its derivative backwards (analyzer/transform/vjp.h)
 *     flat           without calls (analyzer/transform/inline.h)
 *     xla            the same, as XLA's simplifier leaves it
 *                    (analyzer/transform/xla.h)
 *     vmap:0,None    over an axis more of these inputs
 *                    (analyzer/transform/batch.h)
 *
 * In the order given, one after the other, separated by commas or as
 * further lists. */
#ifndef JX_TRANSFORMS_H
#define JX_TRANSFORMS_H

#include "analyzer/predict.h"
#include "frontend/base/texts.h"
#include "frontend/ir/program.h"

/* Whether a word of these lists is that transform ("devices"). */
bool jx_transforms_ask(const jx_texts *lists, const char *name);

/* The words of these lists that ask what JAX will refuse (analyzer/predict.h):
 * grad, vmap and lower:PLATFORM.  Of one that is asked twice, the first. */
typedef struct jx_predictions {
    int count;
    jx_prediction at[JX_TEXTS_MAX];
} jx_predictions;
void jx_transforms_predict(const jx_texts *lists, jx_predictions *to);

/* The program, in the same context, with all of them done to it, but for
 * predictions where the caller `asks` for them; the program itself
 * without any.  NULL with an error: no such transform, or what refuses
 * it; or no program. */
jx_program *jx_program_transformed(jx_program *program, const jx_texts *lists,
                                   bool asks);

#define JX_TRANSFORM_OPTION(settings)                                          \
    {                                                                          \
        "transform", 0, JX_OPT_LIST, "jvp,set:b=8",                            \
            "transformed first, in this order: jvp, linearize, linear, vjp, "  \
            "vmap:AXES, "                                                      \
            "set:NAME=SIZE, fix:INPUT=NUMBER, devices:N, flat, xla",           \
            offsetof(settings, transform)                                      \
    }

#endif
