/* equal_parting.c - see equal.h: where two programs part.
 *
 * Over a field a number that both compute is one element, whatever they call
 * it.  So all that b computes is a set, and from a result of a that is not in
 * it one goes back to an equation whose operands are. */
#include "frontend/base/map.h"
#include "runtime/equal/evaluating.h"

enum { MOST_ELEMENTS = 1 << 24 }; /* of all that b computes */

typedef struct parting {
    const jx_equal_question *question;
    jx_evaluating to_evaluate;
    jx_field f;
    jx_map known; /* elements of b */
    jx_map apart; /* variables of a that b does not have */
    int64_t left;
} parting;

static const void *key_of(const jx_field *f, const jx_field_value *of,
                          int64_t i)
{
    jx_cell cell = jx_plane_get(of, i);

    cell = jx_cell_collapsed(f, &cell);
    return (const void *)(uintptr_t)(jx_hash_mix(cell.kind, cell.v) | 1);
}

static void learn_value(parting *p, const jx_field_value *of)
{
    for (int64_t i = 0;
         !of->bits && !of->unknown && i < jx_field_stored(of) && p->left > 0;
         i++) {
        jx_map_add(&p->known, key_of(&p->f, of, i));
        p->left--;
    }
}

static void learn(void *to, const jx_eqn *eqn, const jx_field_value *ins,
                  const jx_field_value *outs)
{
    (void)ins;
    for (int i = 0; i < eqn->nouts; i++)
        learn_value(to, &outs[i]);
}

static void look(void *to, const jx_eqn *eqn, const jx_field_value *ins,
                 const jx_field_value *outs)
{
    parting *p = to;

    (void)ins;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_field_value *of = &outs[i];
        bool known = true;
        for (int64_t k = 0;
             known && !of->bits && !of->unknown && k < jx_field_stored(of); k++)
            known = jx_map_has(&p->known, key_of(&p->f, of, k));
        if (!known)
            jx_map_put(&p->apart, eqn->outs[i], eqn);
    }
}

/* From a value that b has not to the first equation behind it of which b
 * has all operands. */
static const jx_eqn *go_back(const parting *p, const jx_eqn *eqn)
{
    for (bool on = true; on;) {
        on = false;
        for (int i = 0; i < eqn->nins && !on; i++) {
            const jx_eqn *behind = jx_map_get(&p->apart, eqn->ins[i].var);
            if (behind) {
                eqn = behind;
                on = true;
            }
        }
    }
    return eqn;
}

static bool run(parting *p, int side, const jx_field_value *ins)
{
    const jx_program *program =
        (side ? p->question->b : p->question->a).typed->program;
    jx_field_value *outs = JX_NEW_ARRAY(
        p->f.ctx->arena, program->entry.jaxpr->nouts + 1, jx_field_value);

    p->f.show = side ? learn : look;
    p->f.to = p;
    p->f.shown = program->entry.jaxpr;
    return outs && jx_field_run(&p->f, &p->to_evaluate.programs[side],
                                &program->entry, ins, outs);
}

static const jx_eqn *find(parting *p, int output)
{
    const jx_jaxpr *b = p->question->b.typed->program->entry.jaxpr;
    const jx_jaxpr *a = p->question->a.typed->program->entry.jaxpr;
    jx_field_value *ins =
        JX_NEW_ARRAY(p->f.ctx->arena, b->nins + 1, jx_field_value);
    const jx_eqn *last;

    if (!ins || !jx_evaluating_begin(&p->to_evaluate, &p->f, 0, ins))
        return NULL;
    for (int i = 0; i < b->nins; i++)
        learn_value(p, &ins[i]);
    if (!run(p, 1, ins) || p->left <= 0 || !run(p, 0, ins))
        return NULL;
    last = jx_map_get(&p->apart, a->outs[output].var);
    return last ? go_back(p, last) : NULL;
}

const jx_eqn *jx_equal_parting(const jx_equal_question *question, int output)
{
    jx_ctx *above = question->a.typed->program->ctx;
    jx_ctx *ctx = jx_ctx_below(above, jx_evaluating_memory(question));
    parting p = {.question = question, .left = MOST_ELEMENTS};
    const jx_eqn *found = NULL;

    if (!ctx)
        return NULL;
    jx_evaluating_open(&p.to_evaluate, question);
    jx_map_init(&p.known, ctx->arena);
    jx_map_init(&p.apart, ctx->arena);
    if (jx_field_begin(&p.f, ctx, ctx->arena, jx_evaluating_seed(question))) {
        p.f.work = -jx_evaluating_work(question);
        found = find(&p, output);
    }
    jx_evaluating_close(&p.to_evaluate);
    jx_ctx_free(ctx);
    return found;
}
