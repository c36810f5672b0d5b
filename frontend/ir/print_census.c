/* print_census.c - which jaxprs are hoisted, and what they are called.
 *
 * JAX walks all that a program prints, breadth first: a jaxpr that it meets
 * more than once, or that has more than ten equations, is hoisted, and called
 * what the first equation with a name calls it. */
#include "frontend/ir/params.h"
#include "frontend/ir/print_parts.h"

#include <string.h>

enum { HOISTED_FROM = 10 };

typedef struct visit {
    const jx_jaxpr *jaxpr;
    const char *name; /* of the first call that has one */
    uint64_t count;   /* how often the walk comes here */
    bool queued;
} visit;

typedef struct census {
    jx_printer *p;
    visit *at; /* by id */
    JX_VEC(int) order;
} census;

/* The nested jaxprs as JAX finds them: values, and one level of tuples. */
typedef void on_jaxpr(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                      const char *name);

static void each_in_value(census *c, const jx_jaxpr *from, const jx_value *v,
                          const char *name, on_jaxpr *tell)
{
    if (v->tag == JX_V_JAXPR)
        tell(c, from, v->jaxpr, name);
    if (v->tag != JX_V_TUPLE && v->tag != JX_V_RECORD)
        return;
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag == JX_V_JAXPR)
            tell(c, from, v->items[i]->jaxpr, name);
}

/* What a primitive that is an object shows, by the names that it gives.  JAX
 * looks into none before it shows them by name. */
static void each_in_hi(census *c, const jx_jaxpr *from, const jx_value *of,
                       on_jaxpr *tell)
{
    const char *name, *given = NULL;

    for (int i = 0; i < jx_print_pairs(of); i++) {
        const jx_value *v = jx_print_pair(of, i, &name);
        if (!strcmp(name, "name") && v->tag == JX_V_TEXT)
            given = v->text;
    }
    for (int i = 0; i < jx_print_pairs(of); i++) {
        const jx_value *v = jx_print_pair(of, i, &name);
        if (v->tag == JX_V_RECORD && v->boolean)
            each_in_hi(c, from, v, tell);
        else
            each_in_value(c, from, v, given, tell);
    }
}

/* A while loop is built with its condition first; others by name here. */
static void each_nested(census *c, const jx_jaxpr *from, const jx_eqn *eqn,
                        on_jaxpr *tell)
{
    const jx_value *given = jx_eqn_param(eqn, "name");
    const char *name = given && given->tag == JX_V_TEXT ? given->text : NULL;
    const jx_value *first =
        eqn->prim->id == JX_PRIM_while ? jx_eqn_param(eqn, "cond_jaxpr") : NULL;

    if (jx_print_is_hi_call(c->p, eqn)) {
        const jx_p_hi_call *hi = eqn->typed;
        if (hi->params && jx_print_hi_by_name(c->p->program))
            each_in_hi(c, from, hi->params, tell);
        return;
    }
    if (first)
        each_in_value(c, from, first, name, tell);
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value != first ||
            strcmp(eqn->params[i].name, "cond_jaxpr"))
            each_in_value(c, from, eqn->params[i].value, name, tell);
}

/* "<lambda>" becomes lambda. */
static const char *stripped(jx_printer *p, const char *name)
{
    size_t n;

    name += strspn(name, "<>");
    for (n = strlen(name); n && strchr("<>", name[n - 1]); n--)
        ;
    const char *text = jx_arena_string(p->arena, name, n);
    return text ? text : "";
}

static void meet(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                 const char *name)
{
    visit *v = &c->at[to->id];

    (void)from;
    v->jaxpr = to;
    if (name && !v->name)
        v->name = stripped(c->p, name);
    if (v->queued)
        return;
    v->queued = true;
    JX_PUSH(c->p->arena, &c->order, to->id);
}

static void count_visits(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                         const char *name)
{
    uint64_t *count = &c->at[to->id].count;

    (void)name;
    *count += c->at[from->id].count;
    if (*count > UINT32_MAX) /* only "more than once" matters */
        *count = UINT32_MAX;
}

static void take_census(census *c)
{
    const jx_jaxpr *top = c->p->top;

    c->at[top->id] = (visit){top, NULL, 1, true};
    JX_PUSH(c->p->arena, &c->order, top->id);
    for (size_t i = 0; i < c->order.count; i++) {
        const jx_jaxpr *jaxpr = c->at[c->order.at[i]].jaxpr;
        for (int k = 0; k < jaxpr->neqns; k++)
            each_nested(c, jaxpr, &jaxpr->eqns[k], meet);
    }
    /* Callers have larger ids: all visits of one are known in this order. */
    for (int id = top->id; id >= 0; id--) {
        const jx_jaxpr *jaxpr = c->at[id].jaxpr;
        for (int k = 0; jaxpr && k < jaxpr->neqns; k++)
            each_nested(c, jaxpr, &jaxpr->eqns[k], count_visits);
    }
}

/* How often a name was asked for. */
typedef struct tally {
    const char *name;
    int count;
} tally;

static uint64_t hash_text(const char *text)
{
    return jx_hash_bytes(text, strlen(text));
}

static bool same_text(const void *kept, const void *key)
{
    return !strcmp(kept, key);
}

static bool same_tally(const void *kept, const void *key)
{
    return !strcmp(((const tally *)kept)->name, key);
}

/* Adds one; gives the count before. */
static int count_name(jx_printer *p, jx_intern *tallies, const char *name)
{
    tally *t = (tally *)(uintptr_t)jx_intern_find(tallies, hash_text(name),
                                                  name, same_tally);

    if (!t) {
        t = JX_NEW(p->arena, tally);
        if (!t)
            return 0;
        t->name = name;
        jx_intern_add(tallies, hash_text(name), t);
    }
    return t->count++;
}

/* The second f becomes f1, the third f2. */
static void name_shared(jx_printer *p, jx_intern *tallies, const visit *v)
{
    const char *name = v->name ? v->name : "jaxpr";
    int before = count_name(p, tallies, name);

    if (before > 0) {
        name = jx_arena_printf(p->arena, "%s%d", name, before);
        if (!name)
            return;
        count_name(p, tallies, name);
    }
    jx_map_put(&p->shared, v->jaxpr, name);
    if (!jx_intern_find(&p->taken, hash_text(name), name, same_text))
        jx_intern_add(&p->taken, hash_text(name), name);
}

static bool is_hoisted(const jx_printer *p, const visit *v)
{
    return v->jaxpr != p->top &&
           (v->count > 1 || v->jaxpr->neqns > HOISTED_FROM);
}

void jx_print_census(jx_printer *p)
{
    census c = {.p = p};
    jx_intern tallies;

    c.at = JX_NEW_ARRAY(p->arena, p->top->id + 1, visit);
    if (!c.at)
        return;
    jx_intern_init(&tallies, p->arena);
    take_census(&c);
    for (size_t i = 0; i < c.order.count; i++) {
        const visit *v = &c.at[c.order.at[i]];
        if (!is_hoisted(p, v))
            continue;
        name_shared(p, &tallies, v);
        JX_PUSH(p->arena, &p->hoisted, v->jaxpr);
    }
}
