/* slice.c - see slice.h. */
#include "prover/slice.h"

#include <string.h>

enum { NEAR_VARS = 14, MANY_HYPS = 320 };

static int index_of(const jx_slices *s, const jx_dim_atom *var)
{
    const jx_dim_atom *const *kept = jx_map_get(&s->known, var);

    return kept ? (int)(kept - s->vars) : -1;
}

/* Halves the way for who comes next. */
static int root_of(const jx_slices *s, int i)
{
    while (s->joined[i] != i)
        i = s->joined[i] = s->joined[s->joined[i]];
    return i;
}

static bool add_var(jx_slices *s, const jx_dim_atom *var)
{
    s->vars[s->nvars] = var;
    s->joined[s->nvars] = s->nvars;
    s->first[s->nvars] = -1;
    s->count++;
    return jx_map_put(&s->known, var, &s->vars[s->nvars++]);
}

/* All variables of a side join constraint i's. */
static bool join_side(jx_slices *s, int i, const jx_dim *side)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, side, &n);

    for (int k = 0; vars && k < n; k++) {
        int v = index_of(s, vars[k]);

        if (v < 0) {
            v = s->nvars;
            if (!add_var(s, vars[k]))
                return false;
        }
        if (s->of[i] < 0) {
            s->of[i] = v;
        } else if (root_of(s, v) != root_of(s, s->of[i])) {
            s->joined[root_of(s, v)] = root_of(s, s->of[i]);
            s->count--;
        }
    }
    return true;
}

/* Puts the constraints of each slice into a list. */
static void link_slices(jx_slices *s)
{
    for (int i = s->nconstraints - 1; i >= 0; i--) {
        int *first = s->of[i] < 0 ? NULL : &s->first[root_of(s, s->of[i])];

        s->next[i] = first ? *first : -1;
        if (first)
            *first = i;
    }
}

static int count_vars(jx_dims *dims, const jx_constraint *c)
{
    int left, right;

    jx_dim_vars(dims, c->lhs, &left);
    jx_dim_vars(dims, c->rhs, &right);
    return left + right;
}

bool jx_slices_init(jx_slices *s, jx_ctx *ctx, jx_dims *dims,
                    const jx_constraint *constraints, int count)
{
    int room = 0;

    for (int i = 0; i < count; i++)
        room += count_vars(dims, &constraints[i]);
    *s = (jx_slices){
        .dims = dims, .nconstraints = count, .constraints = constraints};
    s->vars = JX_NEW_ARRAY(ctx->arena, room, const jx_dim_atom *);
    s->joined = JX_NEW_ARRAY(ctx->arena, room, int);
    s->of = JX_NEW_ARRAY(ctx->arena, count, int);
    s->first = JX_NEW_ARRAY(ctx->arena, room, int);
    s->next = JX_NEW_ARRAY(ctx->arena, count, int);
    jx_map_init(&s->known, ctx->arena);
    if (!s->vars || !s->joined || !s->of || !s->first || !s->next)
        return false;
    for (int i = 0; i < count; i++) {
        s->of[i] = -1;
        if (!join_side(s, i, constraints[i].lhs) ||
            !join_side(s, i, constraints[i].rhs))
            return false;
    }
    link_slices(s);
    return true;
}

static bool meets_side(const jx_slices *s, int root, const jx_dim *side)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, side, &n);

    for (int k = 0; vars && k < n; k++) {
        int v = index_of(s, vars[k]);

        if (v >= 0 && root_of(s, v) == root)
            return true;
    }
    return false;
}

int jx_slices_of(const jx_slices *s, const jx_constraint *question,
                 jx_constraint *to)
{
    int n = 0;

    for (int i = 0; i < s->nconstraints; i++) {
        int root = s->of[i] < 0 ? -1 : root_of(s, s->of[i]);

        if (root < 0 || meets_side(s, root, question->lhs) ||
            meets_side(s, root, question->rhs))
            to[n++] = s->constraints[i];
    }
    return n;
}

bool jx_slices_begins(const jx_slices *s, int i)
{
    return s->of[i] < 0 || s->first[root_of(s, s->of[i])] == i;
}

int jx_slices_around(const jx_slices *s, int i, int *to)
{
    int n = 0;

    if (s->of[i] < 0) {
        to[n++] = i;
        return n;
    }
    for (int j = s->first[root_of(s, s->of[i])]; j >= 0; j = s->next[j])
        to[n++] = j;
    return n;
}

/* -------------------------------------------------------------------------
 * Hypotheses
 * ---------------------------------------------------------------------- */

typedef struct near {
    jx_work *work;
    int nvars;
    const jx_dim_atom *vars[NEAR_VARS];
} near;

static bool is_near(const near *n, const jx_dim_atom *var)
{
    for (int i = 0; i < n->nvars; i++)
        if (n->vars[i] == var)
            return true;
    return false;
}

/* Adds a dim's variables, if there is room for all of them. */
static bool come_near(near *n, const jx_dim *d)
{
    int count, more = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(n->work->in, d, &count);

    for (int i = 0; i < count; i++)
        more += !is_near(n, vars[i]);
    if (!vars || n->nvars + more > NEAR_VARS)
        return false;
    for (int i = 0; i < count; i++)
        if (!is_near(n, vars[i]))
            n->vars[n->nvars++] = vars[i];
    return true;
}

static bool touches(const near *n, const jx_dim *d)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(n->work->in, d, &count);

    for (int i = 0; i < count; i++)
        if (is_near(n, vars[i]))
            return true;
    return false;
}

int jx_nearest_hyps(jx_work *work, const jx_hyp *hyps, int nhyps,
                    const jx_dim *d, jx_hyp *to, int room)
{
    bool taken[MANY_HYPS] = {false}, more = true;
    near n = {.work = work};
    int count = 0;

    if (nhyps > MANY_HYPS)
        nhyps = MANY_HYPS;
    if (!come_near(&n, d))
        return 0;
    while (more) {
        near before = n; /* one step away at a time */

        more = false;
        for (int i = 0; i < nhyps && count < room; i++) {
            if (taken[i] || !touches(&before, hyps[i].dim) ||
                !come_near(&n, hyps[i].dim))
                continue;
            taken[i] = more = true;
            to[count++] = hyps[i];
        }
    }
    return count;
}
