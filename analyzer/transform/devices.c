/* devices.c - see devices.h: which computations of a program are written out,
 * and the program that has them so. */
#include "analyzer/transform/devices_parts.h"

#include "analyzer/infer.h"

#include "frontend/base/assert.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEPTH = 400, MOST_GROWTH = 4096 };

/* Whether a jaxpr runs something that is to be written out. */
enum { UNKNOWN = 0, PLAIN, SPREAD };

/* ---- failures */

/* At the computation, or whatever runs it. */
bool jx_devices_fail(jx_devices *s, const char *format, ...)
{
    char why[400], place[160] = "";
    va_list args;

    if (s->failed)
        return false;
    s->failed = true;
    va_start(args, format);
    jx_vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (s->eqn)
        snprintf(place, sizeof place, "equation %d of jaxpr %d (%s)",
                 (int)(s->eqn - s->jaxpr->eqns), s->jaxpr->id,
                 jx_eqn_name(s->eqn));
    return jx_fail(s->from->ctx, JX_E_INPUT, s->from->path,
                   s->eqn ? place : NULL, "%s", why);
}

bool jx_devices_starved(jx_devices *s)
{
    s->failed = true;
    return jx_starved(s->from->ctx);
}

static bool tell(jx_body *b, const char *why)
{
    return jx_devices_fail(((jx_devices_body *)b)->s, "%s", why);
}

/* ---- what is there */

bool jx_devices_any(const jx_program *program)
{
    /* Without a mesh there is none, or one that can't be. */
    for (int i = 0; program->nmeshes && i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (jx_is_spread(&program->jaxprs[i]->eqns[k]))
                return true;
    return false;
}

static bool leads_to_spread(const jx_jaxpr *jaxpr, bool *seen);

static bool value_leads_to_spread(const jx_value *value, bool *seen)
{
    if (value->tag == JX_V_JAXPR)
        return value->jaxpr && leads_to_spread(value->jaxpr, seen);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_leads_to_spread(value->items[i], seen))
            return true;
    return false;
}

static bool leads_to_spread(const jx_jaxpr *jaxpr, bool *seen)
{
    if (seen[jaxpr->id])
        return false;
    seen[jaxpr->id] = true;
    for (int k = 0; k < jaxpr->neqns; k++) {
        const jx_eqn *eqn = &jaxpr->eqns[k];
        if (jx_is_spread(eqn))
            return true;
        for (int i = 0; i < eqn->nparams; i++)
            if (value_leads_to_spread(eqn->params[i].value, seen))
                return true;
    }
    return false;
}

/* Whether a jaxpr of the program may hold such a thing: a program with rules is
 * larger by far than each of them, and is asked about at every plan. */
static bool may_lead_to_spread(const jx_program *program, const jx_jaxpr *jaxpr)
{
    bool *seen = program->nmeshes
                     ? calloc((size_t)program->njaxprs + 1, sizeof *seen)
                     : NULL;
    bool leads = program->nmeshes && (!seen || leads_to_spread(jaxpr, seen));

    free(seen);
    return leads;
}

static bool runs_spread(jx_devices *s, const jx_jaxpr *jaxpr, int depth);

static bool value_runs_spread(jx_devices *s, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR)
        return value->jaxpr && runs_spread(s, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        if (value_runs_spread(s, value->items[i], depth))
            return true;
    return false;
}

static bool eqn_runs_spread(jx_devices *s, const jx_eqn *eqn, int depth)
{
    bool found = jx_is_spread(eqn);

    for (int i = 0; i < eqn->nparams && !found; i++)
        found = value_runs_spread(s, eqn->params[i].value, depth);
    return found;
}

static bool runs_spread(jx_devices *s, const jx_jaxpr *jaxpr, int depth)
{
    bool found = false;

    if (depth > MOST_DEPTH)
        return jx_devices_fail(s, "it nests too deep");
    if (s->runs[jaxpr->id] == UNKNOWN) {
        for (int i = 0; i < jaxpr->neqns && !found; i++)
            found = eqn_runs_spread(s, &jaxpr->eqns[i], depth + 1);
        s->runs[jaxpr->id] = found ? SPREAD : PLAIN;
    }
    return s->runs[jaxpr->id] == SPREAD;
}

/* ---- devices */

static bool count_devices(jx_devices *s, int64_t devices)
{
    int *all = JX_NEW_ARRAY(s->scratch, devices, int);

    if (!all)
        return jx_devices_starved(s);
    for (int d = 0; d < devices; d++)
        all[d] = d;
    s->count = (int)devices;
    s->team = s->rank == JX_ALL_DEVICES ? (jx_team){(int)devices, all}
                                        : (jx_team){1, &s->rank};
    return true;
}

static bool use_mesh(jx_devices *s, const jx_mesh *mesh)
{
    int64_t devices = 1;

    for (int i = 0; i < mesh->naxes; i++)
        if (mesh->sizes[i] < 1 ||
            __builtin_mul_overflow(devices, mesh->sizes[i], &devices) ||
            devices > JX_MOST_DEVICES)
            return jx_devices_fail(s,
                                   "a mesh of more than %d devices can't "
                                   "be simulated",
                                   JX_MOST_DEVICES);
    if (s->wanted && s->wanted != devices)
        return jx_devices_fail(s, "its mesh has %lld devices, not %lld",
                               (long long)devices, (long long)s->wanted);
    s->mesh = mesh;
    return count_devices(s, devices);
}

bool jx_devices_use_mesh(jx_devices *s, const jx_eqn *eqn)
{
    const jx_mesh *mesh = jx_devices_mesh(s, eqn);

    return mesh && use_mesh(s, mesh);
}

/* ---- jaxprs */

static const jx_jaxpr *written_out(jx_devices *s, const jx_jaxpr *from);

static bool is_one_device(const jx_devices *s)
{
    return s->rank != JX_ALL_DEVICES;
}

/* The computation on the values of its operands, on all of which each device
 * begins, but for what stays on its devices. */
static bool spread(jx_devices_body *m, const jx_eqn *eqn, jx_held **ins,
                   jx_held *outs)
{
    jx_devices *s = m->s;
    bool *there;

    if (!eqn->typed || !jx_typed_accepts(s->typed, s->jaxpr, eqn))
        return jx_devices_fail(s, "its parameters do not fit its operands");
    if (!jx_devices_use_mesh(s, eqn))
        return false;
    jx_device_atoms from = jx_device_atoms_new(s, eqn->nins),
                    to = jx_device_atoms_new(s, eqn->nouts);
    there = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, bool);
    if (!there)
        return jx_devices_starved(s);
    for (int i = 0; i < eqn->nins && !s->failed; i++) {
        there[i] = jx_held_fits(s, eqn, i, ins[i]);
        jx_atom value = there[i] ? ins[i]->part : jx_held_all(m, ins[i]);
        for (int d = 0; d < s->count && !s->failed; d++)
            jx_device_row(&from, d)[i] = value;
    }
    /* what came together may be of another mesh */
    if (s->failed || !jx_devices_use_mesh(s, eqn) ||
        !jx_devices_manual(m, eqn, &from, (jx_team){1, s->team.at},
                           is_one_device(s) ? there : NULL, &to))
        return jx_devices_fail(s, "it can't be written out for all devices");
    for (int i = 0; i < eqn->nouts; i++) {
        jx_atom made = jx_device_row(&to, s->team.at[0])[i];
        if (!is_one_device(s))
            outs[i] = (jx_held){.all = made};
        else if (!jx_held_begin(s, made, eqn, i, &outs[i]))
            return false;
    }
    return true;
}

/* A jaxpr whose equations become others: what is known of its variables, by
 * their numbers. */
typedef struct scope {
    const jx_jaxpr *in;
    jx_held *now;
    /* Whether all processes have to do with it: it is an operand of a
     * computation of the devices, or such a one is made of it. */
    bool *needed;
} scope;

/* What a process has none of may be zeros. */
static bool may_be_zeros(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i]->aval->kind != JX_AVAL_ARRAY ||
            jx_dtype_of(eqn->outs[i]->aval->dtype)->kind == JX_KIND_KEY)
            return false;
    return true;
}

/* Numbers that a program leaves open are counted as they are drawn: all
 * processes draw as many, in one order. */
static bool draws_numbers(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++) {
            jx_prim_id id = program->jaxprs[i]->eqns[k].prim->id;
            if (id == JX_PRIM_stablehlo_rng || id == JX_PRIM_rng_uniform)
                return true;
        }
    return false;
}

/* `outs`: of its results, or (NULL) `all`. */
static bool begin_scope(jx_devices *s, const jx_jaxpr *in, const bool *outs,
                        bool all, scope *to)
{
    *to = (scope){in, JX_NEW_ARRAY(s->scratch, in->nvars + 1, jx_held),
                  JX_NEW_ARRAY(s->scratch, in->nvars + 1, bool)};
    if (!to->now || !to->needed)
        return jx_devices_starved(s);
    for (int i = 0; i < in->nouts; i++)
        if (in->outs[i].var)
            to->needed[in->outs[i].var->id] |= outs ? outs[i] : all;
    for (int i = in->neqns - 1; i >= 0; i--) {
        const jx_eqn *eqn = &in->eqns[i];
        bool needed =
            s->draws || eqn_runs_spread(s, eqn, 0) || !may_be_zeros(eqn);
        for (int k = 0; k < eqn->nouts; k++)
            needed |= to->needed[eqn->outs[k]->id];
        for (int k = 0; k < eqn->nins && needed; k++)
            if (eqn->ins[k].var)
                to->needed[eqn->ins[k].var->id] = true;
    }
    return !s->failed;
}

static void take_place(jx_devices_body *m, const jx_jaxpr *in,
                       const jx_eqn *eqn)
{
    m->s->jaxpr = in;
    m->s->eqn = eqn;
    m->body.place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
}

static bool new_eqn(jx_devices_body *m, const scope *of, const jx_eqn *eqn);

/* The callee's equations in the place of its call. */
static bool inlined(jx_devices_body *m, const bool *needed,
                    const jx_closed *callee, jx_held **ins, jx_held *outs)
{
    const jx_jaxpr *j = callee->jaxpr;
    scope inside;

    if (!begin_scope(m->s, j, needed, false, &inside))
        return false;
    for (int i = 0; i < j->nconsts; i++)
        inside.now[i].all = jx_build_constant(&m->body, callee->consts[i]);
    for (int i = 0; i < j->nins; i++)
        inside.now[j->nconsts + i] = *ins[i];
    for (int i = 0; i < j->neqns; i++)
        if (!new_eqn(m, &inside, &j->eqns[i]))
            return false;
    /* What came together there need not do so again. */
    for (int i = 0; i < j->nins; i++)
        *ins[i] = inside.now[j->nconsts + i];
    for (int i = 0; i < j->nouts; i++)
        outs[i] = j->outs[i].var ? inside.now[j->outs[i].var->id]
                                 : (jx_held){.all = j->outs[i]};
    return !m->s->failed;
}

/* Where this process is one device, the equations of a call that is no more
 * than these stand for it if a computation is among them, or they are done on
 * parts. */
static bool stands_open(jx_devices *s, const jx_eqn *eqn, bool any_part)
{
    const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;

    return callee && callee->nconsts == callee->jaxpr->nconsts &&
           callee->jaxpr->nins == eqn->nins &&
           callee->jaxpr->nouts == eqn->nouts &&
           ((any_part && jx_held_is_light(callee->jaxpr, 0)) ||
            (runs_spread(s, callee->jaxpr, 0) &&
             !jx_growth_shares(&s->growth, callee->jaxpr)));
}

/* By the first process alone, to which its operands come, when all have done
 * what they do together: nobody waits for it meanwhile. */
static bool on_first(jx_devices_body *m, const scope *of, const jx_eqn *eqn,
                     jx_held **ins, jx_held *outs)
{
    jx_devices *s = m->s;
    const jx_devices_late late = {
        of->in, eqn, ins, JX_NEW_ARRAY(s->scratch, eqn->nouts + 1, jx_atom)};

    if (!late.outs)
        return jx_devices_starved(s);
    for (int i = 0; i < eqn->nouts; i++)
        outs[i].first = &late.outs[i];
    JX_PUSH(s->scratch, &m->late, late);
    return !s->failed;
}

static bool do_late(jx_devices_body *m, const jx_devices_late *late)
{
    jx_devices *s = m->s;
    const jx_eqn *eqn = late->eqn;
    jx_atom *all = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_atom);
    const jx_atom *made = NULL;

    if (!all)
        return jx_devices_starved(s);
    take_place(m, late->in, eqn);
    for (int i = 0; i < eqn->nins && !s->failed; i++)
        all[i] = jx_held_reported(m, late->ins[i]);
    if (s->failed || !jx_devices_room(s))
        return false;
    if (s->rank == 0 && !(made = jx_build_like(&m->body, eqn, all, NULL, NULL)))
        return s->failed ? false : jx_devices_starved(s);
    for (int i = 0; i < eqn->nouts; i++)
        late->outs[i] =
            made ? made[i] : jx_build_zeros(&m->body, eqn->outs[i]->aval);
    return !s->failed;
}

/* What stays with the device, or is made on the first one alone, where this
 * process is one of them: false, and nothing is told, if it is none of that. */
static bool on_device(jx_devices_body *m, const scope *of, const bool *needed,
                      const jx_eqn *eqn, jx_held **ins, jx_held *outs)
{
    bool any_part = false, any_first = false, any_needed = false;

    if (!is_one_device(m->s))
        return false;
    for (int i = 0; i < eqn->nins; i++) {
        any_part |= jx_held_is_part(ins[i]);
        any_first |= jx_held_is_first(ins[i]);
    }
    any_needed = m->s->draws;
    for (int i = 0; i < eqn->nouts; i++)
        any_needed |= needed[i];
    if (stands_open(m->s, eqn, any_part))
        return inlined(m, needed, jx_eqn_callee(eqn), ins, outs);
    if (eqn->prim->id == JX_PRIM_optimization_barrier && any_part) {
        for (int i = 0; i < eqn->nouts; i++)
            outs[i] = *ins[i];
        return true;
    }
    if (any_part && jx_held_each(m, eqn, (const jx_held *const *)ins, outs))
        return true;
    return (any_part || any_first) && !m->s->failed && !any_needed &&
           may_be_zeros(eqn) && !eqn_runs_spread(m->s, eqn, 0) &&
           on_first(m, of, eqn, ins, outs);
}

/* On all of its operands. */
static bool on_all(jx_devices_body *m, const jx_eqn *eqn, jx_held **ins,
                   jx_held *outs)
{
    jx_devices *s = m->s;
    jx_atom *all = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_atom);
    const jx_atom *made;
    jx_param *params = NULL;

    if (!all)
        return jx_devices_starved(s);
    for (int i = 0; i < eqn->nins && !s->failed; i++)
        all[i] = jx_held_all(m, ins[i]);
    if (eqn_runs_spread(s, eqn, 0) &&
        !(params = jx_devices_params(s, eqn, written_out)))
        return s->failed ? false : jx_devices_starved(s);
    made = s->failed ? NULL : jx_build_like(&m->body, eqn, all, params, NULL);
    if (!made)
        return s->failed ? false : jx_devices_starved(s);
    for (int i = 0; i < eqn->nouts; i++)
        outs[i].all = made[i];
    return true;
}

static bool new_eqn(jx_devices_body *m, const scope *of, const jx_eqn *eqn)
{
    jx_devices *s = m->s;
    bool *needed = JX_NEW_ARRAY(s->scratch, eqn->nouts + 1, bool);
    jx_held *literals = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_held),
            *outs = JX_NEW_ARRAY(s->scratch, eqn->nouts + 1, jx_held);
    jx_held **ins = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_held *);

    if (!literals || !ins || !outs || !needed)
        return jx_devices_starved(s);
    for (int i = 0; i < eqn->nins; i++) {
        literals[i].all = eqn->ins[i];
        ins[i] = eqn->ins[i].var ? &of->now[eqn->ins[i].var->id] : &literals[i];
    }
    for (int i = 0; i < eqn->nouts; i++)
        needed[i] = of->needed[eqn->outs[i]->id];
    take_place(m, of->in, eqn);
    if (jx_is_spread(eqn)) {
        if (!spread(m, eqn, ins, outs))
            return false;
    } else if (!on_device(m, of, needed, eqn, ins, outs) &&
               (s->failed || !on_all(m, eqn, ins, outs))) {
        return false;
    }
    for (int i = 0; i < eqn->nouts; i++)
        of->now[eqn->outs[i]->id] = outs[i];
    s->eqn = NULL;
    return true;
}

static jx_atom result_of(jx_devices_body *m, const scope *of, bool reports,
                         int number)
{
    const jx_var *var = of->in->outs[number].var;

    return !var      ? of->in->outs[number]
           : reports ? jx_held_reported(m, &of->now[var->id])
                     : jx_held_all(m, &of->now[var->id]);
}

/* A jaxpr that runs a computation: its own equations stay as they are. */
static const jx_jaxpr *new_jaxpr(jx_devices *s, const jx_jaxpr *from)
{
    jx_devices_body m = jx_devices_begin(s);
    bool pairs = s->pairs, reports = from == s->reports;
    jx_jaxpr *to;
    scope of;

    if (!begin_scope(s, from, NULL, !reports, &of))
        return NULL;
    s->pairs = pairs && from == s->from->entry.jaxpr;
    for (int i = 0; i < from->nconsts + from->nins; i++)
        of.now[i].all = (i < from->nconsts ? jx_body_const : jx_body_input)(
            &m.body, from->vars[i]->aval);
    for (int i = 0; i < from->neqns; i++)
        if (!new_eqn(&m, &of, &from->eqns[i]))
            return NULL;
    for (size_t i = 0; i < m.late.count; i++)
        if (!do_late(&m, &m.late.at[i]))
            return NULL;
    s->eqn = NULL;
    for (int i = 0; i < from->nouts && !s->failed; i++)
        jx_body_result(&m.body, result_of(&m, &of, reports, i));
    for (size_t i = 0; s->pairs && i < s->copies.count; i++) {
        jx_body_result(&m.body, s->copies.at[i].first);
        jx_body_result(&m.body, s->copies.at[i].other);
    }
    s->pairs = pairs;
    to = jx_body_finish_like(&m.body, from);
    if (!to)
        jx_devices_starved(s);
    return to;
}

static const jx_jaxpr *written_out(jx_devices *s, const jx_jaxpr *from)
{
    if (s->failed)
        return NULL;
    if (!s->made[from->id])
        s->made[from->id] = runs_spread(s, from, 0) ? new_jaxpr(s, from) : from;
    return s->failed ? NULL : s->made[from->id];
}

/* ---- programs */

/* What every device runs, with inputs and results of its own. */
static const jx_jaxpr *for_each(jx_devices *s, const jx_closed *entry)
{
    const jx_jaxpr *from = entry->jaxpr;
    jx_devices_body m = jx_devices_begin(s);
    jx_device_atoms ins, outs;

    s->whole = true;
    if (!count_devices(s, s->wanted))
        return NULL;
    ins = jx_device_atoms_new(s, from->nins);
    outs = jx_device_atoms_new(s, from->nouts);
    for (int d = 0; d < s->count && !s->failed; d++)
        for (int i = 0; i < from->nins; i++)
            jx_device_row(&ins, d)[i] =
                jx_body_input(&m.body, from->vars[from->nconsts + i]->aval);
    if (s->failed || !jx_devices_expand(&m, entry, &ins, &outs))
        return NULL;
    return jx_devices_finish(&m, s->count * from->nouts, outs.at,
                             from->function);
}

static bool begin_program(jx_devices *s, const jx_typed *typed,
                          const jx_jaxpr *root, jx_assignment sizes)
{
    jx_program *from = typed->program;
    int count = from->njaxprs;

    *s = (jx_devices){.from = from,
                      .typed = typed,
                      .sizes = sizes,
                      .reports = root,
                      .rank = JX_ALL_DEVICES,
                      .scratch = jx_arena_new(&from->ctx->budget),
                      .build = {.program = from,
                                .fail = tell,
                                .infer = jx_infer_results,
                                .with = jx_inferrer_new(from)}};
    if (!s->scratch || !s->build.with)
        return jx_devices_starved(s);
    s->made = JX_NEW_ARRAY(s->scratch, count, const jx_jaxpr *);
    s->runs = JX_NEW_ARRAY(s->scratch, count, char);
    s->holds = JX_NEW_ARRAY(s->scratch, count, char);
    s->build.jaxprs.at =
        JX_NEW_ARRAY(from->ctx->arena, count + 8, const jx_jaxpr *);
    s->plain = JX_NEW_ARRAY(s->scratch, count, const jx_jaxpr *);
    if (!s->made || !s->plain || !s->runs || !s->holds || !s->build.jaxprs.at ||
        !jx_growth_measure(s->scratch, from, root, MOST_GROWTH, &s->growth))
        return jx_devices_starved(s);
    s->build.jaxprs.capacity = (size_t)count + 8;
    s->build.jaxprs.count = (size_t)count;
    for (int i = 0; i < count; i++)
        s->build.jaxprs.at[i] = from->jaxprs[i];
    return true;
}

/* The program with what was made; NULL if that failed on the way. */
static jx_program *end_program(jx_devices *s)
{
    jx_program *from = s->from;
    jx_program *to = jx_arena_copy(from->ctx->arena, from, sizeof *from);

    if (s->scratch)
        jx_arena_free(s->scratch);
    if (s->failed || !to ||
        !jx_intern_copy(&to->avals.table, &from->avals.table) ||
        !jx_intern_copy(&to->values.table, &from->values.table) ||
        !jx_ok(from->ctx))
        return NULL;
    to->njaxprs = (int)s->build.jaxprs.count;
    to->jaxprs = s->build.jaxprs.at;
    to->written = NULL;
    to->linear = NULL;
    return to;
}

static bool holds_collective(jx_devices *s, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        if (jx_devices_hold(s, &jaxpr->eqns[i], 0))
            return true;
    return false;
}

/* The entry as it is now; NULL after a failure. */
static const jx_jaxpr *new_entry(jx_devices *s, int64_t count)
{
    const jx_program *from = s->from;
    const jx_jaxpr *entry = from->entry.jaxpr;

    s->wanted = count;
    if (count < 1 || count > JX_MOST_DEVICES)
        jx_devices_fail(s, "%lld devices can't be simulated, only 1 to %d",
                        (long long)count, JX_MOST_DEVICES);
    else if (runs_spread(s, entry, 0))
        return written_out(s, entry);
    else if (!holds_collective(s, entry))
        return entry;
    else if (from->devices > 1 && from->devices != count)
        jx_devices_fail(s, "the module is for %lld devices, not %lld",
                        (long long)from->devices, (long long)count);
    else if (from->replicas > 1 && from->replicas < from->devices)
        jx_devices_fail(s,
                        "the module is for %lld replicas of %lld partitions: "
                        "only one of the two is written out",
                        (long long)from->replicas,
                        (long long)(from->devices / from->replicas));
    else
        return for_each(s, &from->entry);
    return NULL;
}

/* The program with that entry, if all went well. */
static jx_program *end_entry(jx_devices *s, const jx_jaxpr *now)
{
    const jx_jaxpr *entry = s->from->entry.jaxpr;
    jx_program *to = end_program(s);

    if (!to || !now)
        return NULL;
    to->entry.jaxpr = now;
    to->devices = 0;
    if (now->nins != entry->nins || now->nouts != entry->nouts)
        to->in_paths = to->out_paths = NULL;
    if (now->nconsts != entry->nconsts)
        to->entry.nconsts = 0;
    JX_ASSERT_NONE(jx_program_fault(to));
    return to;
}

jx_program *jx_program_devices(const jx_typed *typed, int64_t count)
{
    const jx_jaxpr *now = NULL;
    jx_devices s;

    jx_ctx_stage(typed->program->ctx, "writing out devices");
    if (!jx_typed_all(typed))
        return NULL;
    if (begin_program(&s, typed, typed->program->entry.jaxpr,
                      (jx_assignment){0, NULL}))
        now = new_entry(&s, count);
    return end_entry(&s, now);
}

static jx_device_pairs pairs_of(const jx_devices *s)
{
    int count = (int)s->copies.count;
    jx_device_pair *to =
        JX_NEW_ARRAY(s->from->ctx->arena, count + 1, jx_device_pair);

    for (int i = 0; to && i < count; i++)
        to[i] = s->copies.at[i].pair;
    return (jx_device_pairs){to ? count : 0, to};
}

jx_program *jx_program_spread(const jx_typed *typed,
                              const jx_device_change *change,
                              jx_device_pairs *pairs)
{
    const jx_program *from = typed->program;
    const jx_jaxpr *now = NULL;
    jx_devices s;

    if (pairs)
        *pairs = (jx_device_pairs){0, NULL};
    jx_ctx_stage(from->ctx, "writing out devices");
    if (!jx_typed_all(typed))
        return NULL;
    if (begin_program(&s, typed, from->entry.jaxpr, (jx_assignment){0, NULL})) {
        s.pairs = pairs != NULL;
        if (change)
            s.change = *change;
        now = runs_spread(&s, from->entry.jaxpr, 0)
                  ? written_out(&s, from->entry.jaxpr)
              : s.failed ? NULL
                         : new_entry(&s, from->devices > 1 ? from->devices : 1);
        if (pairs)
            *pairs = pairs_of(&s);
    }
    return end_entry(&s, now);
}

/* What was looked at before stays so; what is new is made of
 * what was accepted. */
static const jx_looked_at *looked_at(const jx_typed *typed, int count)
{
    int before = typed->program->njaxprs;
    jx_looked_at *to =
        JX_NEW_ARRAY(typed->program->ctx->arena, count, jx_looked_at);

    for (int i = 0; to && i < count; i++)
        to[i] = i < before ? typed->jaxprs[i]
                           : (jx_looked_at){.typed = true, .runs = true};
    return to;
}

bool jx_devices_write_out(const jx_typed **typed, const jx_closed **closed,
                          jx_assignment sizes, int rank, int ranks,
                          bool compares)
{
    jx_program *from = (*typed)->program;
    const jx_jaxpr *jaxpr = (*closed)->jaxpr, *now = NULL;
    jx_program *program;
    jx_typed *to;
    jx_closed *made;
    jx_devices s;

    if (jaxpr->id < 0 || jaxpr->id >= from->njaxprs ||
        from->jaxprs[jaxpr->id] != jaxpr || !may_lead_to_spread(from, jaxpr))
        return true;
    if (begin_program(&s, *typed, jaxpr, sizes)) {
        s.rank = rank;
        s.wanted = rank == JX_ALL_DEVICES ? 0 : ranks;
        s.compares = compares;
        s.draws = rank != JX_ALL_DEVICES && draws_numbers(from);
        now = written_out(&s, jaxpr);
    }
    if (!s.failed && now == jaxpr) { /* nothing to write out */
        jx_arena_free(s.scratch);
        return true;
    }
    program = end_program(&s);
    to = !program ? NULL
                  : jx_arena_copy(from->ctx->arena, *typed, sizeof **typed);
    made = jx_arena_copy(from->ctx->arena, *closed, sizeof **closed);
    if (!to || !made)
        return jx_ok(from->ctx) && jx_starved(from->ctx);
    to->program = program;
    to->jaxprs = looked_at(*typed, to->program->njaxprs);
    made->jaxpr = now;
    *typed = to;
    *closed = made;
    return to->jaxprs || jx_starved(from->ctx);
}
