/* build_params.h - parameters of an equation in the making. */
#ifndef JX_BUILD_PARAMS_H
#define JX_BUILD_PARAMS_H

#include "frontend/ir/params.h"

/* In any order; a value that is NULL is a failure that was
 * told, or no memory. */
typedef struct jx_params {
    jx_program *program;
    int count, capacity; /* capacity: of `more` */
    jx_param few[12];
    jx_param *more; /* all, where they are no few; or NULL */
} jx_params;

/* `count` of them. */
static inline jx_param *jx_params_at(jx_params *p)
{
    return p->more ? p->more : p->few;
}

/* In the order of their names. */
void jx_params_sort(jx_param *at, int count);

void jx_put(jx_params *p, const char *name, const jx_value *value);
void jx_put_int(jx_params *p, const char *name, int64_t value);
void jx_put_bool(jx_params *p, const char *name, bool value);
void jx_put_none(jx_params *p, const char *name);
void jx_put_text(jx_params *p, const char *name, const char *text);
void jx_put_enum(jx_params *p, const char *name, const char *text);
void jx_put_prim(jx_params *p, const char *name, const char *text);
void jx_put_dtype(jx_params *p, const char *name, jx_dtype dtype);
void jx_put_ints(jx_params *p, const char *name, jx_ints ints);
void jx_put_dim(jx_params *p, const char *name, const jx_dim *dim);
void jx_put_dims(jx_params *p, const char *name, int count,
                 const jx_dim *const *dims);
/* Tuples of `width` dims. */
void jx_put_tuples(jx_params *p, const char *name, int count, int width,
                   const jx_dim *const *dims);
void jx_put_jaxpr(jx_params *p, const char *name, const jx_jaxpr *jaxpr);
/* The parameter `dimension_numbers` of a product, a convolution, a
 * gather, a scatter. */
void jx_put_dot_dims(jx_params *p, const jx_dot_dims *dims);
void jx_put_ragged_dims(jx_params *p, const jx_ragged_dims *dims);
void jx_put_conv_dims(jx_params *p, const jx_conv_dims *dims);
void jx_put_gather_dims(jx_params *p, const jx_gather_dims *dims);
void jx_put_scatter_dims(jx_params *p, const jx_scatter_dims *dims);
/* Those of an equation, but of these names (NULL ends them). */
void jx_put_others(jx_params *p, const jx_eqn *eqn, const char *const *without);

const jx_value *jx_value_of_ints(jx_program *program, jx_ints ints);
const jx_value *jx_value_of_dim(jx_program *program, const jx_dim *dim);
const jx_value *jx_value_of_dims(jx_program *program, int count,
                                 const jx_dim *const *dims);
const jx_value *jx_value_of_tuple(jx_program *program, int count,
                                  const jx_value *const *items);
const jx_value *jx_value_of_record(jx_program *program, const char *type,
                                   int count, const char *const *keys,
                                   const jx_value *const *items);
const jx_value *jx_value_of_jaxpr(jx_program *program, const jx_jaxpr *jaxpr);

#endif
