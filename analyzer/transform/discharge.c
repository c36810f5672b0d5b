/* discharge.c - see discharge.h.
 *
 * A jaxpr that takes references becomes one that takes what they hold, and
 * gives what they hold in the end to whoever asks: which inputs come in which
 * order and what is given is its *recipe*, and each recipe is followed once.
 * Calls ask for what the callee writes; loops carry that. */
#include "analyzer/transform/discharge_parts.h"

#include "frontend/ir/definition.h"

#include <string.h>

static jx_arena *arena_of(const jx_discharge *d)
{
    return d->ctx->arena;
}

/* ---- who writes */

static void mark(const jx_jaxpr *jaxpr, bool *writes, jx_atom atom)
{
    if (jx_is_ref(atom.var) && atom.var->id < jaxpr->nconsts + jaxpr->nins)
        writes[atom.var->id] = true;
}

/* Operand `first + i` is input i of the callee. */
static void mark_callee(jx_discharge *d, const jx_jaxpr *jaxpr, bool *writes,
                        const jx_eqn *eqn, int first, const jx_jaxpr *callee,
                        int from, int count)
{
    const bool *inner = callee ? jx_discharge_writes(d, callee) : NULL;

    for (int i = 0; inner && i < count; i++)
        if (inner[callee->nconsts + from + i])
            mark(jaxpr, writes, eqn->ins[first + i]);
}

static void mark_all(const jx_jaxpr *jaxpr, bool *writes, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++)
        mark(jaxpr, writes, eqn->ins[i]);
}

static void mark_loop(jx_discharge *d, const jx_jaxpr *jaxpr, bool *writes,
                      const jx_eqn *eqn)
{
    const jx_p_while *w = eqn->typed;
    int cond = (int)w->cond_nconsts, body = (int)w->body_nconsts;

    mark_callee(d, jaxpr, writes, eqn, 0, w->cond_jaxpr.jaxpr, 0, cond);
    mark_callee(d, jaxpr, writes, eqn, cond, w->body_jaxpr.jaxpr, 0, body);
}

static void mark_eqn(jx_discharge *d, const jx_jaxpr *jaxpr, bool *writes,
                     const jx_eqn *eqn)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    const jx_p_cond *cond = eqn->typed;

    if (callee) {
        mark_callee(d, jaxpr, writes, eqn, 0, callee->jaxpr, 0, eqn->nins);
        return;
    }
    switch (eqn->prim->id) {
    case JX_PRIM_get:
    case JX_PRIM_freeze:
    case JX_PRIM_free_ref:
    case JX_PRIM_optimization_barrier: return;
    case JX_PRIM_scan:
        mark_callee(d, jaxpr, writes, eqn, 0,
                    ((const jx_p_scan *)eqn->typed)->jaxpr.jaxpr, 0, eqn->nins);
        return;
    case JX_PRIM_while: mark_loop(d, jaxpr, writes, eqn); return;
    case JX_PRIM_cond:
        for (int i = 0; i < cond->branches.count; i++)
            mark_callee(d, jaxpr, writes, eqn, 1, cond->branches.at[i].jaxpr, 0,
                        eqn->nins - 1);
        return;
    default:
        if (!jx_eqn_calls_back(eqn))
            mark_all(jaxpr, writes, eqn);
    }
}

const bool *jx_discharge_writes(jx_discharge *d, const jx_jaxpr *jaxpr)
{
    bool *writes;

    if (d->writes[jaxpr->id])
        return d->writes[jaxpr->id];
    writes = JX_NEW_ARRAY(arena_of(d), jaxpr->nconsts + jaxpr->nins + 1, bool);
    for (int i = 0; writes && i < jaxpr->neqns; i++)
        mark_eqn(d, jaxpr, writes, &jaxpr->eqns[i]);
    return d->writes[jaxpr->id] = writes;
}

/* ---- recipes */

typedef struct made {
    const int *at;
    size_t count;
    const jx_jaxpr *to;
} made;

void jx_recipe_put(jx_discharge *d, jx_recipe *r, int number)
{
    JX_PUSH(arena_of(d), &r->at, number);
}

static bool same_recipe(const void *kept, const void *key)
{
    const made *a = kept;
    const jx_recipe *c = key;

    return a->count == c->at.count &&
           !memcmp(a->at, c->at.at, a->count * sizeof *a->at);
}

/* Begins the recipe of one jaxpr: its inputs as they are, and its outputs;
 * gives where their number stands. */
static size_t recipe_of(jx_discharge *d, jx_recipe *r, const jx_jaxpr *from,
                        int kind)
{
    jx_recipe_put(d, r, kind);
    jx_recipe_put(d, r, from->nins);
    jx_recipe_put(d, r, 1);
    jx_recipe_put(d, r, from->id);
    for (int i = 0; i < from->nins; i++)
        jx_recipe_put(d, r, i);
    jx_recipe_put(d, r, 0);
    size_t count = r->at.count;
    jx_recipe_put(d, r, from->nouts);
    for (int i = 0; i < from->nouts; i++) {
        jx_recipe_put(d, r, 0);
        jx_recipe_put(d, r, i);
    }
    return count;
}

/* One more output, counted at `count`: what reference `number`
 * holds at the end. */
static void give_contents(jx_discharge *d, jx_recipe *r, size_t count,
                          int number)
{
    jx_recipe_put(d, r, -1);
    jx_recipe_put(d, r, number);
    if (r->at.count > count)
        r->at.at[count]++;
}

/* Inputs and outputs as they are, and what the inputs hold of which `gives`
 * says so (by number of the jaxpr's variables). */
const jx_jaxpr *jx_discharge_plain(jx_discharge *d, const jx_jaxpr *from,
                                   const bool *gives, bool lenient)
{
    jx_recipe r = {0};
    size_t count =
        recipe_of(d, &r, from, lenient ? JX_RECIPE_SHOWN : JX_RECIPE_CALLED);

    for (int i = 0; i < from->nins; i++)
        if (gives[from->nconsts + i] &&
            jx_is_ref(from->vars[from->nconsts + i]))
            give_contents(d, &r, count, i);
    return jx_recipe_follow(d, &r);
}

/* One that only stands in a parameter: what all of its references hold is what
 * it does. */
static const jx_jaxpr *in_parameter(jx_discharge *d, const jx_jaxpr *from)
{
    bool *gives =
        JX_NEW_ARRAY(arena_of(d), from->nconsts + from->nins + 1, bool);

    if (!gives)
        return NULL;
    memset(gives, 1, (size_t)(from->nconsts + from->nins));
    return jx_discharge_plain(d, from, gives, true);
}

/* ---- values that hold jaxprs */

static bool new_items(jx_discharge *d, const jx_value *value, jx_value *to)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(d), value->count, const jx_value *);
    bool changed = false;

    for (int i = 0; items && i < value->count; i++) {
        items[i] = jx_discharge_value(d, value->items[i]);
        changed |= items[i] != value->items[i];
        if (!items[i])
            return false;
    }
    if (changed)
        to->items = items;
    return items != NULL;
}

const jx_value *jx_discharge_value(jx_discharge *d, const jx_value *value)
{
    jx_value to = *value;

    if (value->items && !new_items(d, value, &to))
        return NULL;
    if (value->shown && !(to.shown = jx_discharge_value(d, value->shown)))
        return NULL;
    if (value->jaxpr && !(to.jaxpr = in_parameter(d, value->jaxpr)))
        return NULL;
    if (value->rule)
        to.rule = &d->rules[value->rule->id];
    if (value->definition)
        to.definition = &d->definitions[value->definition->id];
    if (to.items == value->items && to.shown == value->shown &&
        to.jaxpr == value->jaxpr && to.rule == value->rule &&
        to.definition == value->definition)
        return value;
    return jx_value_add(&d->program->values, &to);
}

/* ---- effects */

jx_effects jx_discharge_effects(jx_discharge *d, jx_effects all)
{
    static const char *const ours[] = {"ReadEffect", "WriteEffect",
                                       "AccumEffect",
                                       "InternalMutableArrayEffect"};
    jx_effect *kept = JX_NEW_ARRAY(arena_of(d), all.count, jx_effect);
    int count = 0;

    for (int i = 0; kept && i < all.count; i++) {
        bool gone = false;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            gone |= all.at[i].type && !strcmp(all.at[i].type, ours[k]);
        if (!gone)
            kept[count++] = all.at[i];
    }
    return (jx_effects){count, kept};
}

/* ---- jaxprs */

static bool *find_used(const jx_discharge *d, const jx_jaxpr *from)
{
    bool *used = JX_NEW_ARRAY(arena_of(d), from->nvars + 1, bool);

    for (int i = 0; used && i < from->neqns; i++)
        for (int k = 0; k < from->eqns[i].nins; k++)
            if (from->eqns[i].ins[k].var)
                used[from->eqns[i].ins[k].var->id] = true;
    for (int i = 0; used && i < from->nouts; i++)
        if (from->outs[i].var)
            used[from->outs[i].var->id] = true;
    return used;
}

/* Runs a jaxpr on these: what its inputs are, or hold.  Its outputs go to
 * *outs; what its inputs hold then, to `ins`. */
static bool stage(jx_discharging *b, const jx_jaxpr *from, jx_atom *ins,
                  jx_atom **outs)
{
    b->from = from;
    b->eqn = NULL;
    b->now = JX_NEW_ARRAY(arena_of(b->d), from->nvars + 1, jx_atom);
    b->gone = JX_NEW_ARRAY(arena_of(b->d), from->nvars + 1, bool);
    *outs = JX_NEW_ARRAY(arena_of(b->d), from->nouts, jx_atom);
    b->used = find_used(b->d, from);
    if (!b->now || !b->gone || !b->used || !*outs)
        return false;
    for (int i = 0; i < from->nconsts + from->nins; i++)
        b->now[i] = ins[i];
    for (int i = 0; i < from->neqns; i++)
        if (!jx_discharge_eqn(b, &from->eqns[i]))
            return false;
    b->eqn = NULL;
    for (int i = 0; i < from->nouts; i++) {
        if (jx_is_ref(from->outs[i].var) && !b->lenient)
            return jx_discharge_fail(b,
                                     "output %d is a reference, which can't "
                                     "be given away",
                                     i);
        (*outs)[i] = jx_discharge_now(b, from->outs[i]);
        if (!jx_is_made((*outs)[i]))
            return jx_discharge_fail(b, "output %d is nothing", i);
    }
    for (int i = 0; i < from->nconsts + from->nins; i++)
        ins[i] = b->now[i];
    return true;
}

/* Types of the new inputs, by the stages that take them. */
static bool define_inputs(jx_discharging *b, const jx_recipe *r, int nins,
                          jx_atom *news)
{
    const int *at = r->at.at + 2;
    int nstages = *at++;
    const jx_jaxpr *const *table = b->d->program->jaxprs;
    const jx_aval **avals =
        JX_NEW_ARRAY(arena_of(b->d), nins + 1, const jx_aval *);

    for (int s = 0; avals && s < nstages; s++) {
        const jx_jaxpr *from = table[*at++];
        b->from = from;
        for (int i = 0; i < from->nins; i++) {
            const jx_aval *held = jx_held_by(from->vars[from->nconsts + i]);
            if (held->kind == JX_AVAL_REF)
                return jx_discharge_fail(b,
                                         "input %d is a reference to a "
                                         "reference",
                                         i);
            avals[at[i]] = held;
        }
        at += from->nins;
    }
    for (int left = avals ? *at++ : 0; left; left--, at += 3) {
        const jx_jaxpr *of = table[at[1]];
        avals[at[0]] = jx_held_by(of->vars[of->nconsts + at[2]]);
    }
    for (int i = 0; avals && i < nins; i++) {
        news[i] = jx_body_input(&b->body, avals[i]);
        if (!jx_is_made(news[i]))
            return jx_discharge_fail(b, "input %d is nobody's", i);
    }
    return avals != NULL;
}

static bool define_consts(jx_discharging *b, int how, const jx_jaxpr *from,
                          jx_atom *consts)
{
    const bool *writes = jx_discharge_writes(b->d, from);

    b->from = from;
    for (int i = 0; writes && i < from->nconsts; i++) {
        consts[i] = jx_body_const(&b->body, jx_held_by(from->vars[i]));
        if (writes[i] && jx_is_ref(from->vars[i]) && how == JX_RECIPE_CALLED)
            return jx_discharge_fail(b, "a reference is a constant of a jaxpr "
                                        "that is not the program's own");
        if (!jx_is_made(consts[i]))
            return false;
    }
    return writes != NULL;
}

static const jx_jaxpr *finish(jx_discharging *b, const jx_jaxpr *like,
                              int nouts, const jx_atom *outs)
{
    jx_jaxpr *to;

    for (int i = 0; i < nouts; i++)
        jx_body_result(&b->body, outs[i]);
    to = jx_body_finish(&b->body, jx_no_atoms, like->function);
    if (!to)
        return NULL;
    to->effects = jx_discharge_effects(b->d, like->effects);
    if (to->nins == like->nins)
        to->arg_names = like->arg_names;
    if (to->nins == like->nins && nouts == like->nouts)
        to->result_paths = like->result_paths;
    return to;
}

/* What is left of a recipe: the outputs. */
static jx_atom *gather_outs(jx_discharging *b, const int *at, jx_atom **of,
                            int nins, const jx_atom *news,
                            const jx_atom *consts)
{
    int count = *at++;
    jx_atom *outs = JX_NEW_ARRAY(arena_of(b->d), count, jx_atom);

    for (int i = 0; outs && i < count; i++, at += 2)
        outs[i] = at[0] >= 0      ? of[at[0]][at[1]]
                  : at[1] >= nins ? consts[at[1] - nins]
                                  : news[at[1]];
    return outs;
}

static const jx_jaxpr *make(jx_discharge *d, const jx_recipe *r)
{
    const int *at = r->at.at;
    jx_discharging b;
    int nins = at[1], nstages = at[2];
    const jx_jaxpr *like = d->program->jaxprs[at[3]];
    jx_atom *news = JX_NEW_ARRAY(arena_of(d), nins + 1, jx_atom);
    jx_atom *consts = JX_NEW_ARRAY(arena_of(d), like->nconsts + 1, jx_atom);
    jx_atom *outs[2] = {NULL, NULL}, *all;

    jx_discharge_begin(d, &b, at[0] == JX_RECIPE_SHOWN);
    if (!news || !consts || !define_consts(&b, at[0], like, consts) ||
        !define_inputs(&b, r, nins, news))
        return NULL;
    at += 3;
    for (int s = 0; s < nstages; s++) {
        const jx_jaxpr *from = d->program->jaxprs[*at++];
        int n = from->nconsts + from->nins;
        jx_atom *ins = JX_NEW_ARRAY(arena_of(d), n + 1, jx_atom);
        if (!ins)
            return NULL;
        for (int i = 0; i < n; i++)
            ins[i] =
                i < from->nconsts ? consts[i] : news[at[i - from->nconsts]];
        if (!stage(&b, from, ins, &outs[s]))
            return NULL;
        for (int i = 0; i < from->nins; i++)
            if (jx_is_ref(from->vars[from->nconsts + i]))
                news[at[i]] = ins[from->nconsts + i];
        for (int i = 0; i < from->nconsts; i++)
            consts[i] = ins[i];
        at += from->nins;
    }
    at += 1 + 3 * *at;
    all = gather_outs(&b, at, outs, nins, news, consts);
    return all ? finish(&b, like, *at, all) : NULL;
}

const jx_jaxpr *jx_recipe_follow(jx_discharge *d, const jx_recipe *r)
{
    size_t size = r->at.count * sizeof *r->at.at;
    uint64_t hash;
    const made *found;
    made *kept;

    if (!jx_ok(d->ctx))
        return NULL;
    hash = jx_hash_bytes(r->at.at, size);
    found = jx_intern_find(&d->made, hash, r, same_recipe);
    if (found)
        return found->to;
    kept = JX_NEW(arena_of(d), made);
    if (!kept)
        return NULL;
    *kept = (made){r->at.at, r->at.count, make(d, r)};
    return kept->to && jx_intern_add(&d->made, hash, kept) ? kept->to : NULL;
}

/* ---- the program */

static bool new_closed(jx_discharge *d, const jx_closed *closed, jx_closed *to)
{
    const jx_jaxpr *from = closed->jaxpr;
    const bool *gives = from ? jx_discharge_writes(d, from) : NULL;

    *to = *closed;
    if (from)
        to->jaxpr = gives ? in_parameter(d, from) : NULL;
    return !from || to->jaxpr;
}

/* A program, whose references' last contents are outputs. */
static bool new_entry(jx_discharge *d, const jx_closed *closed, jx_closed *to)
{
    const jx_jaxpr *from = closed->jaxpr;
    const bool *writes = from ? jx_discharge_writes(d, from) : NULL;
    jx_recipe r = {0};

    *to = *closed;
    if (!from || !writes)
        return !from;
    size_t count = recipe_of(d, &r, from, JX_RECIPE_ENTERED);
    for (int i = 0; i < from->nconsts + from->nins; i++)
        if (writes[i] && jx_is_ref(from->vars[i]))
            give_contents(d, &r, count,
                          i < from->nconsts ? from->nins + i
                                            : i - from->nconsts);
    to->jaxpr = jx_recipe_follow(d, &r);
    return to->jaxpr != NULL;
}

/* Rules that take references have no patterns that make sense of values. */
static bool new_rule(jx_discharge *d, const jx_rule *from, jx_rule *to)
{
    const jx_aval **ins =
        JX_NEW_ARRAY(arena_of(d), from->nins + 1, const jx_aval *);
    jx_rule_pattern *patterns =
        jx_arena_copy(arena_of(d), from->patterns,
                      (size_t)from->npatterns * sizeof *from->patterns);
    bool refs = false;

    if (!ins || !patterns || !new_closed(d, &from->primal, &to->primal))
        return false;
    for (int i = 0; i < from->nins; i++) {
        bool is_ref = from->ins[i]->kind == JX_AVAL_REF;
        ins[i] = is_ref ? from->ins[i]->of : from->ins[i];
        refs |= is_ref;
    }
    to->ins = ins;
    if (refs) {
        to->npatterns = 0;
        to->truncated = "it takes references";
        return true;
    }
    for (int i = 0; i < from->npatterns; i++)
        if (!new_closed(d, &from->patterns[i].jvp, &patterns[i].jvp) ||
            !new_closed(d, &from->patterns[i].fwd, &patterns[i].fwd) ||
            !new_closed(d, &from->patterns[i].bwd, &patterns[i].bwd))
            return false;
    to->patterns = patterns;
    return true;
}

/* Rules are referred to before they are made. */
static bool new_rules(jx_discharge *d, jx_program *to)
{
    const jx_rule **table =
        JX_NEW_ARRAY(arena_of(d), to->nrules + 1, const jx_rule *);

    if (!table)
        return false;
    for (int i = 0; i < to->nrules; i++)
        if (!new_rule(d, d->program->rules[i], &d->rules[i]))
            return false;
        else
            table[i] = &d->rules[i];
    to->rules = table;
    return true;
}

static bool new_closed_of(void *discharge, const jx_closed *from, jx_closed *to)
{
    return new_closed(discharge, from, to);
}

static bool new_definitions(jx_discharge *d, jx_program *to)
{
    for (int i = 0; i < to->ndefinitions; i++)
        if (!jx_definition_remade(arena_of(d), &d->definitions[i],
                                  new_closed_of, d))
            return false;
    return true;
}

static bool new_retraces(jx_discharge *d, jx_program *to)
{
    jx_retrace *all =
        jx_arena_copy(arena_of(d), to->retraces,
                      (size_t)to->nretraces * sizeof *to->retraces);

    for (int i = 0; all && i < to->nretraces; i++)
        if (!new_entry(d, &d->program->retraces[i].closed, &all[i].closed))
            return false;
    to->retraces = all;
    return all != NULL;
}

static bool new_linear(jx_discharge *d, jx_program *to)
{
    const jx_linear_program *from = d->program->linear;
    jx_linear_program *linear =
        from ? jx_arena_copy(arena_of(d), from, sizeof *from) : NULL;

    to->linear = linear;
    return !from || (linear && new_entry(d, &from->closed, &linear->closed));
}

/* Names of the outputs that the entry has got: those of the inputs whose last
 * contents they are. */
static bool new_paths(jx_discharge *d, jx_program *to)
{
    const jx_program *from = d->program;
    const jx_jaxpr *jaxpr = from->entry.jaxpr;
    const bool *writes = jx_discharge_writes(d, jaxpr);
    const char **paths =
        JX_NEW_ARRAY(arena_of(d), to->entry.jaxpr->nouts + 1, const char *);
    int count = jaxpr->nouts;

    if (!writes || !paths || !from->out_paths)
        return !from->out_paths;
    for (int i = 0; i < jaxpr->nouts; i++)
        paths[i] = from->out_paths[i];
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++) {
        int input = i - jaxpr->nconsts;
        if (!writes[i] || !jx_is_ref(jaxpr->vars[i]))
            continue;
        paths[count++] =
            input < 0 ? jx_arena_printf(arena_of(d), ".constant %d", i)
            : from->in_paths
                ? jx_arena_printf(arena_of(d), ".reference%s",
                                  from->in_paths[input])
                : jx_arena_printf(arena_of(d), ".reference[%d]", input);
    }
    to->out_paths = paths;
    return true;
}

static bool has_state(const jx_jaxpr *jaxpr, bool open)
{
    for (int i = 0; i < jaxpr->nvars; i++)
        if (jx_is_ref(jaxpr->vars[i]))
            return true;
    for (int i = 0; i < jaxpr->neqns; i++)
        switch (jaxpr->eqns[i].prim->id) {
        case JX_PRIM_new_ref:
        case JX_PRIM_empty_ref:
        case JX_PRIM_free_ref:
        case JX_PRIM_freeze:
        case JX_PRIM_get:
        case JX_PRIM_swap:
        case JX_PRIM_addupdate:
        case JX_PRIM_run_state:
        case JX_PRIM_broadcast_to: return true;
        default:
            if (jx_discharge_has_module(&jaxpr->eqns[i], open))
                return true;
        }
    return false;
}

bool jx_program_discharge(jx_program *program)
{
    jx_discharge d = {.ctx = program->ctx};
    jx_program *written;
    bool found = false;

    for (int i = 0; i < program->njaxprs && !d.open; i++)
        d.open = jx_discharge_is_open(program->jaxprs[i]);
    for (int i = 0; i < program->njaxprs && !found; i++)
        found = has_state(program->jaxprs[i], d.open);
    if (!found)
        return true;
    written = program->written ? program->written
                               : jx_arena_copy(program->ctx->arena, program,
                                               sizeof *program);
    d.program = program;
    d.writes =
        JX_NEW_ARRAY(program->ctx->arena, program->njaxprs, const bool *);
    d.rules = JX_NEW_ARRAY(program->ctx->arena, program->nrules + 1, jx_rule);
    if (!written || !d.writes || !d.rules)
        return false;
    jx_intern_init(&d.made, program->ctx->arena);
    jx_intern_init(&d.read, program->ctx->arena);
    for (int i = 0; i < program->nrules; i++)
        d.rules[i] = *program->rules[i];
    jx_program to = *program;
    d.definitions =
        jx_definition_copies(program->ctx->arena, program->ndefinitions,
                             program->definitions, &to.definitions);
    if (!d.definitions || !new_rules(&d, &to) || !new_definitions(&d, &to) ||
        !new_retraces(&d, &to) || !new_entry(&d, &program->entry, &to.entry) ||
        !new_linear(&d, &to) || !new_paths(&d, &to) || !jx_ok(program->ctx))
        return false;
    jx_program_become(program, &d.build, &to, written);
    return true;
}
