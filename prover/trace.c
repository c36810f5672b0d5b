/* trace.c - see trace.h. */
#include "prover/trace.h"

#include <string.h>

jx_step *jx_note(jx_work *work, jx_step_kind kind)
{
    jx_trace *t = work->trace;

    if (!t)
        return NULL;
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 64;
        jx_step *at = JX_NEW_ARRAY(work->ctx->arena, capacity, jx_step);

        if (!at) {
            t->failed = true;
            return &t->spare;
        }
        if (t->count)
            memcpy(at, t->at, t->count * sizeof *at);
        t->at = at;
        t->capacity = capacity;
    }
    t->at[t->count] = (jx_step){.kind = kind};
    return &t->at[t->count++];
}

size_t jx_noted(const jx_work *work)
{
    return work->trace ? work->trace->count : 0;
}

void jx_note_back(jx_work *work, size_t mark)
{
    if (work->trace)
        work->trace->count = mark;
}

void jx_note_atom(jx_work *work, jx_step_kind kind, const jx_dim *atom,
                  jx_int i)
{
    jx_step *s;

    if (!work->trace || !atom || !jx_dim_nterms(atom) ||
        !jx_dim_terms(atom)->nfactors)
        return;
    s = jx_note(work, kind);
    s->atom = jx_dim_terms(atom)->factors[0].atom;
    s->i = i;
}

jx_step *jx_note_fact(jx_work *work, jx_step_kind kind, const jx_dim *a,
                      jx_hyp_kind fact)
{
    jx_step *s = jx_note(work, kind);

    if (!s)
        return NULL;
    s->a = a;
    s->fact = fact;
    return s;
}

void jx_note_split(jx_work *work, const jx_dim *a, const jx_dim *b)
{
    jx_step *s = jx_note(work, JX_STEP_SPLIT);

    if (!s)
        return;
    s->a = a;
    s->b = b;
}

void jx_note_case(jx_work *work, jx_int i, const jx_dim *a)
{
    jx_step *s = jx_note(work, JX_STEP_CASE);

    if (!s)
        return;
    s->i = i;
    s->a = a;
}

void jx_note_end(jx_work *work)
{
    jx_note(work, JX_STEP_END);
}
