/* evaluating.c - see evaluating.h. */
#include "runtime/equal/evaluating.h"

#include "runtime/equal/points.h"

#define MEMORY ((size_t)2 << 30)
#define WORK ((int64_t)1 << 33)

size_t jx_evaluating_memory(const jx_equal_question *question)
{
    return question->memory ? question->memory : MEMORY;
}

int64_t jx_evaluating_work(const jx_equal_question *question)
{
    return question->work ? question->work : WORK;
}

uint64_t jx_evaluating_seed(const jx_equal_question *question)
{
    uint64_t seed = 0x6571756c;

    for (int s = 0; s < 2; s++) {
        const jx_jaxpr *of =
            (s ? question->b : question->a).typed->program->entry.jaxpr;
        seed = jx_hash_mix(seed, (uint64_t)of->neqns);
        for (int i = 0; i < of->neqns; i++)
            seed = jx_hash_mix(seed, (uint64_t)of->eqns[i].prim->id);
    }
    return seed;
}

/* ---- what takes powers */

static bool takes_powers(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_expm1:
    case JX_PRIM_log:
    case JX_PRIM_log2:
    case JX_PRIM_log1p:
    case JX_PRIM_logistic:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tan:
    case JX_PRIM_sinh:
    case JX_PRIM_cosh:
    case JX_PRIM_tanh:
    case JX_PRIM_pow: return true;
    default: return false;
    }
}

static bool any_powers(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (takes_powers(program->jaxprs[i]->eqns[k].prim->id))
                return true;
    return false;
}

/* ---- inputs */

/* Always false. */
static bool refuse(jx_evaluating *e, const char *why)
{
    e->why = why;
    return false;
}

/* Integers and keys are drawn, as for runs in floats. */
static bool draw_bits(jx_evaluating *e, jx_field *f, const jx_aval *aval,
                      int number, jx_field_value *to)
{
    const jx_port *port = jx_plan_in(e->question->plans[1], number);

    *to = (jx_field_value){.dtype = aval->dtype,
                           .rank = port->rank,
                           .shape = port->shape,
                           .count = port->count,
                           .bits =
                               jx_arena_alloc(f->ctx->arena, port->bytes + 16)};
    if (!to->bits)
        return false;
    jx_equal_fill(e->point, number, port, e->question->domains, to->bits);
    e->integers = true;
    return true;
}

/* A boolean is a random element that selects. */
static bool draw_bools(jx_evaluating *e, jx_field *f, const jx_aval *aval,
                       int number, jx_field_value *to)
{
    if (!jx_field_like(f, &e->programs[1], aval, false, to))
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        jx_cell cell =
            jx_cell_any(f, jx_hash_mix((uint64_t)number + 1, (uint64_t)i));
        cell.over = 1;
        cell = jx_cell_as_bool(cell);
        jx_plane_put(f, to, i, &cell);
    }
    return true;
}

static bool draw(jx_evaluating *e, jx_field *f, int number, jx_field_value *to)
{
    const jx_jaxpr *of = e->question->b.typed->program->entry.jaxpr;
    const jx_aval *aval = of->vars[of->nconsts + number]->aval;

    if (aval->kind != JX_AVAL_ARRAY || jx_dtype_is_complex(aval->dtype))
        return refuse(e, "it takes what is no real number");
    if (aval->dtype == JX_BOOL ? draw_bools(e, f, aval, number, to)
        : jx_dtype_is_float(aval->dtype)
            ? jx_field_input(f, &e->programs[1], aval, number, to)
            : draw_bits(e, f, aval, number, to))
        return true;
    return refuse(e, "an input is too large");
}

void jx_evaluating_open(jx_evaluating *e, const jx_equal_question *question)
{
    *e = (jx_evaluating){.question = question,
                         .exponents = any_powers(question->a.typed->program) ||
                                      any_powers(question->b.typed->program)};
    for (int s = 0; s < 2; s++) {
        const jx_equal_side *side = s ? &question->b : &question->a;
        jx_field_open(&e->programs[s], side->typed, side->nbindings,
                      side->bindings, jx_evaluating_memory(question));
    }
}

void jx_evaluating_close(jx_evaluating *e)
{
    for (int s = 0; s < 2; s++)
        jx_field_close(&e->programs[s]);
}

bool jx_evaluating_begin(jx_evaluating *e, jx_field *f, int round,
                         jx_field_value *ins)
{
    f->planes = f->blends = f->sets_of_most = true;
    f->exponents = e->exponents;
    e->point = round % 2;
    for (int i = 0; i < e->question->b.typed->program->entry.jaxpr->nins; i++)
        if (!draw(e, f, i, &ins[i]))
            return false;
    return true;
}
