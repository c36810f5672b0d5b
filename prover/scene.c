/* scene.c - what can be known of a scene and done with it; see scene.h. */
#include "prover/scene.h"

#include <string.h>

static void scene_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    jx_scene *s = env;
    jx_scene_variable *v;

    if (atom->kind != JX_ATOM_VAR)
        return;
    v = jx_scene_find(s, atom);
    if (!v)
        *known = jx_work_range(s->work, atom);
    else
        *known = (jx_dim_range){v->low, v->high, true, v->has_high};
}

jx_scene_variable *jx_scene_find(jx_scene *s, const jx_dim_atom *atom)
{
    for (int i = 0; i < s->nvars; i++)
        if (s->vars[i].atom == atom)
            return &s->vars[i];
    return NULL;
}

jx_scene_variable *jx_scene_var(jx_scene *s, const jx_dim_atom *atom)
{
    jx_scene_variable *v = jx_scene_find(s, atom);
    jx_dim_range r;

    if (v || s->nvars == JX_SCENE_VARS)
        return v;
    v = &s->vars[s->nvars++];
    r = jx_work_range(s->work, atom);
    *v = (jx_scene_variable){atom, r.low, r.high, r.has_high};
    return v;
}

void jx_scene_forget(jx_scene *s, jx_scene_variable *v)
{
    *v = s->vars[--s->nvars];
}

int jx_signs_of_range(jx_dim_range r)
{
    int signs = JX_NEGATIVE | JX_ZERO | JX_POSITIVE;

    if (r.has_low && r.low >= 0)
        signs &= ~JX_NEGATIVE;
    if (r.has_low && r.low > 0)
        signs &= ~JX_ZERO;
    if (r.has_high && r.high <= 0)
        signs &= ~JX_POSITIVE;
    if (r.has_high && r.high < 0)
        signs &= ~JX_ZERO;
    return signs;
}

int jx_signs_by_bounds(const jx_work *work, const jx_dim *dim)
{
    return jx_signs_of_range(jx_work_bounds(work, dim));
}

jx_dim_range jx_scene_bounds(jx_scene *s, const jx_dim *d)
{
    return d ? jx_dim_bounds_by(d, scene_range, s) : (jx_dim_range){0};
}

bool jx_is_polynomial(const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++)
            if (jx_dim_terms(d)[i].factors[j].atom->kind != JX_ATOM_VAR)
                return false;
    return true;
}

static int size_of(const jx_dim_atom *atom)
{
    return jx_dim_nodes(atom->a) + jx_dim_nodes(atom->b);
}

static const jx_dim_atom *smaller(const jx_dim_atom *a, const jx_dim_atom *b)
{
    return !a || (b && size_of(b) < size_of(a)) ? b : a;
}

/* The smallest atom that is no variable and whose operands are polynomials:
 * naming the small ones makes the larger ones simpler. */
const jx_dim_atom *jx_innermost(const jx_dim *d)
{
    const jx_dim_atom *best = NULL;

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom, *below;

            if (a->kind == JX_ATOM_VAR)
                continue;
            below = smaller(jx_innermost(a->a), jx_innermost(a->b));
            best = smaller(best, below ? below : a);
        }
    return best;
}

bool jx_mentions(const jx_dim *d, const jx_dim_atom *atom)
{
    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (a == atom ||
                (a->kind != JX_ATOM_VAR &&
                 (jx_mentions(a->a, atom) || jx_mentions(a->b, atom))))
                return true;
        }
    return false;
}

/* The coefficient of a variable that occurs in one term only, alone there;
 * else 0. */
jx_int jx_linear_coefficient(const jx_dim *d, const jx_dim_atom *var)
{
    jx_int found = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];

        for (int j = 0; j < t->nfactors; j++) {
            const jx_dim_atom *a = t->factors[j].atom;

            if (a == var && t->nfactors == 1 && t->factors[j].power == 1)
                found = t->coefficient;
            else if (a == var ||
                     (a->kind != JX_ATOM_VAR &&
                      (jx_mentions(a->a, var) || jx_mentions(a->b, var))))
                return 0;
        }
    }
    return found;
}

int jx_degree_in(const jx_dim *d, const jx_dim_atom *atom)
{
    int degree = 0;

    for (int i = 0; i < jx_dim_nterms(d); i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_factor *f = &jx_dim_terms(d)[i].factors[j];
            if (f->atom == atom && f->power > degree)
                degree = f->power;
        }
    return degree;
}

bool jx_divides_all(const jx_dim *d, const jx_dim_atom *a, bool constant)
{
    for (int i = 0; i < jx_dim_nterms(d); i++) {
        const jx_dim_term *t = &jx_dim_terms(d)[i];
        bool found = !t->nfactors && !constant;

        for (int j = 0; j < t->nfactors; j++)
            found |= t->factors[j].atom == a;
        if (!found)
            return false;
    }
    return true;
}

bool jx_scene_spend(jx_scene *s, long steps)
{
    *s->steps -= steps;
    return *s->steps > 0 && jx_budget_lasts(&s->work->ctx->budget);
}

bool jx_scene_assume(jx_scene *s, const jx_dim *d, jx_hyp_kind kind)
{
    if (!d || s->nhyps == JX_SCENE_HYPS)
        return d && kind == JX_HYP_NE; /* forgetting weakens: still sound */
    s->hyps[s->nhyps++] = (jx_hyp){d, kind};
    return true;
}

void jx_scene_drop(jx_scene *s, int i)
{
    memmove(&s->hyps[i], &s->hyps[i + 1],
            (size_t)(--s->nhyps - i) * sizeof *s->hyps);
}

typedef struct putting {
    jx_dims *in;
    const jx_dim_atom *atom;
    const jx_dim *value;
} putting;

static bool put_atom(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const putting *p = env;

    if (a == p->atom)
        *to = p->value;
    if (a == p->atom || a->kind == JX_ATOM_VAR ||
        !(jx_mentions(a->a, p->atom) || jx_mentions(a->b, p->atom)))
        return true;
    *to = jx_dim_literal(p->in, a->kind, jx_dim_map(p->in, a->a, put_atom, env),
                         jx_dim_map(p->in, a->b, put_atom, env));
    return *to != NULL;
}

/* Puts a dim for an atom everywhere; nothing is simplified. */
const jx_dim *jx_scene_put(jx_scene *s, const jx_dim *d,
                           const jx_dim_atom *atom, const jx_dim *value)
{
    putting p = {s->work->in, atom, value};

    return value ? jx_dim_map(s->work->in, d, put_atom, &p) : NULL;
}

static const jx_dim *put(jx_scene *s, const jx_dim *d, const jx_dim_atom *atom,
                         const jx_dim *value)
{
    return jx_work_simplify(s->work, jx_scene_put(s, d, atom, value));
}

/* False when something became too large. */
bool jx_scene_replace(jx_scene *s, const jx_dim_atom *atom, const jx_dim *value)
{
    long cost = 1 + s->nhyps + jx_dim_nterms(s->goal) / 8;
    bool ok;

    for (int i = 0; i < s->nhyps; i++)
        cost += jx_dim_nterms(s->hyps[i].dim) / 8;
    ok = value && jx_scene_spend(s, cost);
    s->goal = ok ? put(s, s->goal, atom, value) : NULL;
    ok = ok && s->goal;
    for (int i = 0; ok && i < s->nhyps; i++)
        ok = (s->hyps[i].dim = put(s, s->hyps[i].dim, atom, value)) != NULL;
    return ok;
}

void jx_scene_note_put(jx_scene *s, const jx_dim_atom *atom,
                       const jx_dim *value)
{
    jx_step *step = jx_note(s->work, JX_STEP_PUT);

    if (!step)
        return;
    step->atom = atom;
    step->a = value;
}

jx_hyp jx_scene_opposite(jx_scene *s)
{
    const jx_dim *minus = jx_dim_neg(s->work->in, s->goal);

    switch (s->wanted) {
    case JX_ZERO: return (jx_hyp){s->goal, JX_HYP_NE};
    case JX_NEGATIVE | JX_POSITIVE: return (jx_hyp){s->goal, JX_HYP_EQ};
    case JX_POSITIVE: return (jx_hyp){minus, JX_HYP_GE};
    case JX_NEGATIVE: return (jx_hyp){s->goal, JX_HYP_GE};
    case JX_ZERO | JX_POSITIVE:
        return (jx_hyp){jx_scene_sub(s, minus, jx_scene_int(s, 1)), JX_HYP_GE};
    case JX_NEGATIVE | JX_ZERO:
        return (jx_hyp){jx_scene_sub(s, s->goal, jx_scene_int(s, 1)),
                        JX_HYP_GE};
    }
    return (jx_hyp){jx_scene_int(s, 0), JX_HYP_EQ};
}

void jx_scene_note_opposites(jx_scene *s)
{
    const jx_dim *one = jx_scene_int(s, 1);
    const jx_dim *minus = jx_dim_neg(s->work->in, s->goal);

    if (s->work->trace)
        jx_note_split(s->work, jx_scene_sub(s, minus, one),
                      jx_scene_sub(s, s->goal, one));
}

void jx_scene_note_signs(jx_scene *s)
{
    jx_hyp h;

    if (!s->work->trace)
        return;
    h = jx_scene_opposite(s);
    jx_note_fact(s->work, JX_STEP_IMPOSSIBLE, h.dim, h.kind);
}

/* Replaces a variable and turns its range into hypotheses. */
bool jx_scene_eliminate(jx_scene *s, const jx_dim_atom *var,
                        const jx_dim *value)
{
    jx_scene_variable *v = jx_scene_var(s, var), had;
    bool ok;

    if (!v || !value)
        return false;
    had = *v;
    jx_scene_forget(s, v);
    jx_scene_note_put(s, var, value);
    ok = jx_scene_replace(s, var, value) &&
         jx_scene_assume(s, jx_scene_sub(s, value, jx_scene_int(s, had.low)),
                         JX_HYP_GE);
    if (ok && had.has_high)
        ok = jx_scene_assume(
            s, jx_scene_sub(s, jx_scene_int(s, had.high), value), JX_HYP_GE);
    return ok;
}

const jx_dim *jx_scene_fresh(jx_scene *s, jx_int low)
{
    const jx_dim_atom *var =
        jx_work_fresh(s->work, (jx_dim_range){.low = low, .has_low = true});

    return var && jx_scene_var(s, var) ? jx_scene_dim(s, var) : NULL;
}

/* From here on every variable that occurs has its range in the scene. */
bool jx_scene_register(jx_scene *s, const jx_dim *d)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(s->work->in, d, &count);

    for (int i = 0; i < count; i++)
        if (!jx_scene_var(s, vars[i]))
            return false;
    return vars != NULL;
}
